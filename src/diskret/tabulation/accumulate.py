"""Sums on one level of counting, respondents or holdings: filled by batches, then rolled up over hierarchies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.exact import EXACT_LIMIT
from diskret.tabulation import _kernels
from diskret.tabulation.backend import Batch, kinds_asked, read_only
from diskret.tabulation.ground import Ground
from diskret.tabulation.plan import Plan, Units


@dataclass(eq=False, kw_only=True)
class Response:
    """What one response variable adds up to, in units of its last decimal."""

    units: Units
    total: Ints | None
    absolute: Ints | None
    largest: Ints | None
    weights: Floats | None
    protected: Ints | None
    public: Ints | None
    asked: list[Ints]


@dataclass(eq=False, kw_only=True)
class Level:
    """Accumulators over all cells of the table that are held."""

    plan: Plan
    ground: Ground
    count: Ints
    responses: list[Response]
    protected_count: Ints | None = None
    public_count: Ints | None = None
    keys: list[Ints] = field(default_factory=list)
    """What the record keys add up to, modulo."""
    owners: list[Ints] = field(default_factory=list)
    """Who contributes most to each cell, one for every response (one if there is none), from the sums on."""

    @classmethod
    def empty(cls, plan: Plan, units: Sequence[Units], ground: Ground, *, totals: bool) -> Level:
        """All zero; only the respondents' level keeps the totals."""
        n, ranked, public = ground.size, bool(plan.largest and plan.values), plan.public is not None

        def zeros(wanted: bool) -> Ints | None:
            return np.zeros(n, dtype=np.int64) if wanted else None

        responses = [
            Response(
                units=unit,
                total=zeros(totals),
                absolute=zeros(unit.negative),
                largest=np.zeros((n, plan.largest), dtype=np.int64) if ranked else None,
                weights=np.ones((n, plan.largest)) if ranked and plan.weight else None,
                protected=zeros(plan.selective and bool(plan.values)),
                public=zeros(public and bool(plan.values)),
                asked=[np.zeros(n, dtype=np.int64) for _ in plan.asked if plan.values],
            )
            for unit in units
        ]
        count = np.zeros(n, dtype=np.int64)
        keys = [np.zeros(n, dtype=np.int64) for _ in range(plan.keys if totals else 0)]
        return cls(
            plan=plan,
            ground=ground,
            count=count,
            responses=responses,
            protected_count=zeros(plan.selective),
            public_count=zeros(public),
            keys=keys,
        )

    def _numbered(self, batch: Batch) -> Batch:
        """A batch with the numbers of its cells instead of their places in the product."""
        return read_only(batch | {"cell": self.ground.find(batch["cell"])})

    def add_records(self, batch: Batch) -> None:
        """Add single records, or single holdings."""
        batch = self._numbered(batch)
        cell = batch["cell"]
        _kernels.add_one(cell, self.count)
        self._add_keys(batch)
        self._enter_holdings(batch)
        protected = batch["protected"] == 1 if self.protected_count is not None else None
        public = batch["public"] == 1 if self.public_count is not None else None
        for chosen, count in ((protected, self.protected_count), (public, self.public_count)):
            if chosen is not None:
                _kernels.add_one(cell[chosen], count)
        for j, response in enumerate(self.responses):
            amount = batch[f"t{j}"]
            if response.total is not None:
                _kernels.add(cell, amount, response.total)
            if response.absolute is not None:
                _kernels.add_absolute(cell, amount, response.absolute)
            if response.public is not None:
                _kernels.add_absolute(cell[public], amount[public], response.public)
            if f"x{j}" in batch:
                self._rank_records(response, j, batch, protected, public)

    def _rank_records(
        self, response: Response, j: int, batch: Batch, protected: Bools | None, public: Bools | None
    ) -> None:
        """Enter the contributions of single records; public ones are left out, so a rule's target is none of them."""
        kinds = kinds_asked(self.plan)
        ranked = {name: batch[name] for name in ("cell", f"x{j}", f"w{j}", "w", *kinds) if name in batch}
        if public is not None:
            ranked = {name: column[~public] for name, column in ranked.items()}
            protected = None if protected is None else protected[~public]
        cell, size = ranked["cell"], ranked[f"x{j}"].reshape(-1, 1)
        if response.protected is not None:
            _kernels.rank(cell[protected], size[protected], response.protected.reshape(-1, 1))
        for name, largest in zip(kinds, response.asked, strict=True):
            own = ranked[name] == 1
            _kernels.rank(cell[own], size[own], largest.reshape(-1, 1))
        weight = ranked.get(f"w{j}", ranked.get("w"))
        self._rank(response, cell, size, None if weight is None else weight.reshape(-1, 1))

    def add_cells(self, batch: Batch) -> None:
        """Add finest cells that the engine has added up already."""
        batch = self._numbered(batch)
        cell = batch["cell"]
        _kernels.add(cell, batch["count"], self.count)
        self._add_keys(batch)
        sums = {"protected": self.protected_count, "public": self.public_count}
        for j, response in enumerate(self.responses):
            sums |= {f"t{j}": response.total, f"a{j}": response.absolute, f"public_t{j}": response.public}
            self._rank_cells(response, j, batch)
        for name, total in sums.items():
            if total is not None:
                _kernels.add(cell, batch[name], total)

    def _rank_cells(self, response: Response, j: int, batch: Batch) -> None:
        """Enter the largest contributions of finest cells."""
        if response.protected is not None:
            size = batch[f"protected_x{j}"].reshape(-1, 1)
            _kernels.rank(batch["cell"], size, response.protected.reshape(-1, 1))
        for name, largest in zip(kinds_asked(self.plan), response.asked, strict=True):
            _kernels.rank(batch["cell"], batch[f"{name}_x{j}"].reshape(-1, 1), largest.reshape(-1, 1))
        if response.largest is not None:
            places = range(1, self.plan.largest + 1)
            size = np.stack([batch[f"x{j}_{k}"] for k in places], axis=1)
            weighted = response.weights is not None
            weight = np.stack([batch[f"w{j}_{k}"] for k in places], axis=1) if weighted else None
            self._rank(response, batch["cell"], size, weight)

    def _add_keys(self, batch: Batch) -> None:
        if self.plan.key is not None:
            for k, key in enumerate(self.keys):
                _kernels.add_modulo(batch["cell"], batch[f"k{k}"], key, self.plan.key.units)

    @staticmethod
    def _rank(response: Response, cell: Ints, size: Ints, weight: Floats | None) -> None:
        if response.largest is None:
            return
        if response.weights is None:
            _kernels.rank(cell, size, response.largest)
        else:
            _kernels.rank_weighted(cell, size, weight, response.largest, response.weights)

    def roll_up(self) -> None:
        """From the finest cells to all sums. Contributors of different cells are taken as different."""
        sums = [self.count, self.protected_count, self.public_count]
        sums += [a for response in self.responses for a in (response.total, response.absolute, response.public)]
        for array in sums:
            if array is not None:
                self.ground.add_up(array)
        for key in self.keys:
            assert self.plan.key is not None
            self.ground.add_up(key, self.plan.key.units)
        for response in self.responses:
            self._merge_largest(response)
        self.owners = [self._owner(self._largest(j)) for j in range(max(1, len(self.responses)))]

    def _largest(self, j: int) -> Ints:
        """Lists of largest contributions to a response; without any entry where they are not kept."""
        found = self.responses[j].largest if self.responses else None
        return np.empty((self.ground.size, 0), dtype=np.int64) if found is None else found

    def _owner(self, largest: Ints) -> Ints:
        """Who contributes most to each cell, if nobody owns records of several cells.

        Whoever contributes most to a sum does so in one of its finest cells: he has the number of that cell, which
        tells nothing about him.
        """
        owner = np.full(self.ground.size, -1, dtype=np.int64)
        others = self.count if self.public_count is None else self.count - self.public_count
        finest = np.flatnonzero(self.ground.inner() & (others > 0))
        owner[finest] = finest
        self.ground.pass_owner_on(owner, largest)
        return owner

    def _enter_holdings(self, batch: Batch) -> None:
        """Enter holdings that have records of several cells, in cells and sums they contribute most to."""
        if not self.owners:
            return  # these are records, or holdings with one
        chosen = slice(None) if self.public_count is None else batch["public"] == 0
        cell, number = batch["cell"][chosen], batch["number"][chosen]
        for j, owner in enumerate(self.owners):
            size = batch[f"x{j}"][chosen] if f"x{j}" in batch else cell
            _kernels.own(cell, size, number, self._largest(j), owner)

    def _owned(self, j: int) -> Ints:
        """Owners of a response by numbers that do not tell in which order the names of holdings stand."""
        owner = self.owners[min(j, len(self.owners) - 1)]
        if not self._largest(j).shape[1]:
            # nobody knows who of several contributes most
            owner[(self.count if self.public_count is None else self.count - self.public_count) > 1] = -1
        joint = np.flatnonzero(owner >= owner.size)
        if joint.size:
            # holdings are numbered anew by the first cell each of them owns
            holding = owner[joint] - owner.size
            first = np.full(int(holding.max()) + 1, owner.size, dtype=np.int64)
            np.minimum.at(first, holding, joint)
            place = np.empty_like(first)
            place[np.argsort(first, kind="stable")] = np.arange(first.size)
            owner[joint] = owner.size + place[holding]
        return owner

    def _merge_largest(self, response: Response) -> None:
        if response.largest is not None and response.weights is not None:
            self.ground.merge(response.largest, response.weights)
        for array in (response.protected, *response.asked, response.largest if response.weights is None else None):
            if array is not None:
                self.ground.merge(array)

    def contributors(self, j: int) -> Contributors:
        """What the rules want to know about one response. Uses the accumulators up."""
        shape = self.ground.shape
        response = self.responses[j] if self.responses else None

        def whole(array: Ints | None) -> Ints | None:
            return None if array is None else array.reshape(shape)

        def number(array: Ints | None, decimals: int) -> Floats | None:
            return None if array is None else in_floats(array, decimals).reshape(shape)

        count = self.count.reshape(shape)
        if response is None or not self.plan.values:
            return Contributors(
                count, protected_count=whole(self.protected_count), public_count=whole(self.public_count),
                owner=self._owned(j).reshape(shape),
            )  # fmt: skip
        units = response.units
        largest = None
        if response.largest is not None:
            n = self.plan.largest
            flat = in_floats(response.largest.reshape(-1), units.contribution).reshape(-1, n)
            if response.weights is not None:
                # Respondents' shares have the decimals of the weights; those of holdings are quotients.
                decimals = units.total if units.exact and response.total is not None else None
                flat = population_units(flat, response.weights, decimals)
            largest = flat.reshape(*shape, n)
        return Contributors(
            count, largest, number(response.absolute, units.total),
            whole(self.protected_count), number(response.protected, units.contribution),
            whole(self.public_count), number(response.public, units.total), self._owned(j).reshape(shape),
            asked=_stacked([number(each, units.contribution) for each in response.asked]),
        )  # fmt: skip


def _stacked(arrays: list[Floats | None]) -> Floats | None:
    return np.stack([each for each in arrays if each is not None], axis=-1) if arrays else None


def in_fractions(array: Ints, units: int) -> Floats:
    """Sums modulo ``units`` as fractions of it, in the same memory."""
    result = array.view(np.float64)
    for start in range(0, array.size, 1 << 20):
        result[start : start + (1 << 20)] = array[start : start + (1 << 20)] / units
    return result


def in_floats(array: Ints, decimals: int) -> Floats:
    """Units as floats, in the same memory: large tables must not stand there twice."""
    result = array.view(np.float64)
    scale: Any = 10.0**decimals if decimals >= 0 else 1.0
    shrink: Any = 1.0 if decimals >= 0 else 10.0**-decimals
    for start in range(0, array.size, 1 << 20):
        stop = start + (1 << 20)
        result[start:stop] = array[start:stop] / scale * shrink
    return result


def population_units(largest: Floats, weights: Floats, decimals: int | None) -> Floats:
    """The n largest units of the population: a contribution of weight w stands for w units of its size.

    A unit may be shared: with weights 1.5 and 3 the second unit is half the first contribution, half the second.
    A respondent stands at least for itself, so weights below 1 count as 1 here. ``decimals`` is how many the result
    has, None where that is not known.

    >>> population_units(np.array([[100.0, 10.0]]), np.array([[1.5, 3.0]]), 1).tolist()
    [[100.0, 55.0]]
    """
    n = largest.shape[1]
    result = np.zeros_like(largest)
    end = np.cumsum(np.maximum(weights, 1.0), axis=1)
    for i in range(n):
        begin = end[:, i - 1] if i else np.zeros(len(end))
        for k in range(n):
            share = np.minimum(end[:, i], k + 1) - np.maximum(begin, k)
            result[:, k] += largest[:, i] * np.maximum(share, 0.0)
    # Take the errors of binary fractions out again: to the decimals, or to 15 digits.
    powers = np.array([10.0**d for d in range(16)])
    digits = np.floor(np.log10(np.where(result > 0, result, 1.0))).astype(np.int64)
    scale = powers[np.clip(14 - digits, 0, 15)] if decimals is None else np.float64(10.0**decimals)
    return np.where(result * scale < EXACT_LIMIT, np.rint(result * scale) / scale, result)
