"""Merging of categories: the coarsening of one classification that removes all primary cells at the least loss.

Codes merge with others under the same sum. A code whose row is safe may stay, with whatever is kept below it; a group
of codes becomes one finest code, and what was below its members goes. Both together make a search from the bottom up:
the best that can be kept below a sum is the best partition of its parts, each part by itself or in a group.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from diskret.model import rollup
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption, ProtectionWarning, UnknownCode
from diskret.model.hierarchy import Hierarchy
from diskret.model.notebook import Told
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.perturbation.merged_rows import merged_rows
from diskret.perturbation.partitions import Cost, Group, best_intervals, best_partition, good_partition
from diskret.rules.mark import mark
from diskret.rules.rule import AnyOf, Rule, rules_in

Loss = Literal["entropy", "cells"]

EXACT = 10
"""Parts of one sum up to which all partitions are compared."""
ROUNDS = 20
BATCH = 4_000_000


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Merging(Told):
    """A coarsening of one classification. ``before`` and ``after`` are marked tables: internal."""

    classification: str
    groups: tuple[tuple[str, ...], ...]
    """Codes that become one."""
    hierarchy: Hierarchy
    recode: dict[str, str]
    """For every old finest code the finest code it is counted under now."""
    before: Table
    after: Table
    loss: float
    """Of what was asked for: bits per unit of value, or cells."""
    measure: Loss
    exact: bool
    """Whether no other merging loses less; otherwise a good one that a search found."""

    @property
    def removed(self) -> bool:
        """Whether no primary cell is left."""
        return not bool((self.after.status == Status.PRIMARY).any())

    @property
    def remaining(self) -> list[str]:
        """Names of the first primary cells that no merging of this classification removes."""
        return self.after.name_cells(self.after.status == Status.PRIMARY)

    def summary(self) -> dict[str, Any]:
        """Counts of codes and cells."""
        return {
            "classification": self.classification,
            "codes before": len(self.before.by[self.classification]),
            "codes after": len(self.hierarchy),
            "cells before": self.before.size,
            "cells after": self.after.size,
            "primary before": int((self.before.status == Status.PRIMARY).sum()),
            "primary after": int((self.after.status == Status.PRIMARY).sum()),
            "loss": self.loss,
            "measure": "bits per unit of value" if self.measure == "entropy" else "cells",
            "least possible": self.exact,
        }

    def rows(self) -> list[tuple[str, str, int, int]]:
        """Before and after: every old finest code, where it is counted now, primary cells in either row."""
        axis = self.before.names.index(self.classification)
        old, new = (
            (t.status == Status.PRIMARY).sum(axis=tuple(a for a in range(t.status.ndim) if a != axis))
            for t in (self.before, self.after)
        )
        known = self.before.by[self.classification]
        return [
            (code, self.recode[code], int(old[known.index(code)]), int(new[self.hierarchy.index(self.recode[code])]))
            for code, leaf in zip(known.codes, known.is_leaf, strict=True)
            if leaf
        ]

    def __str__(self) -> str:
        rows = self.rows()
        wide = [max(len(self.classification), *(len(str(r[i])) for r in rows)) for i in (0, 1)]
        lines = [f"{self.classification:<{wide[0]}}  {'becomes':<{wide[1]}}  {'primary before':>14}  {'after':>5}"]
        lines += [f"{a:<{wide[0]}}  {b:<{wide[1]}}  {p:>14}  {q:>5}" for a, b, p, q in rows]
        said = self.summary()
        left = "none left" if self.removed else f"{said['primary after']} left"
        lines.append(
            f"{said['codes before']} codes become {said['codes after']}, {said['cells before']} cells "
            f"{said['cells after']}; primary cells {said['primary before']}, {left}; "
            f"loss {self.loss:.4g} {said['measure']}"
        )
        return "\n".join(lines)


def propose_merging(
    table: Table, classification: str, rules: Rule | AnyOf, *, ordered: bool = False, loss: Loss = "entropy"
) -> Merging:
    """Propose which codes of a classification to merge so that no rule marks a cell any more.

    Codes merge under the same sum; with ``ordered`` only neighbours do, and the proposal is the best there is. Without
    it all partitions of up to ten parts are compared, for more a search finds a good one. ``loss`` is the entropy, the
    bits per unit of value by which less is known about where it belongs, or the number of occupied cells that go.
    What merging this classification cannot remove (cells of its total) stays in the proposal, which says so.

    Counts and largest contributions of merged cells are those of all contributors, taken as different ones. Where one
    holding, or one respondent, may stand in two of the codes, that is not known from the table, and a
    `ProtectionWarning` says so: tabulate again with the hierarchy of the proposal.

    >>> from diskret import MinCount, Table
    >>> sizes = {"size": ["1-9", "10-49", "50-249", "250+"], "x": [40, 30, 20, 90], "n": [9, 5, 2, 3]}
    >>> table = Table.from_cells(sizes, by={"size": Hierarchy.flat(sizes["size"])}, value="x", count="n")
    >>> print(propose_merging(table, "size", MinCount(3), ordered=True))
    size    becomes        primary before  after
    1-9     1-9                         0      0
    10-49   10-49..50-249               0      0
    50-249  10-49..50-249               1      0
    250+    250+                        0      0
    5 codes become 4, 5 cells 4; primary cells 1, none left; loss 0.2697 bits per unit of value
    """
    if classification not in table.by:
        raise UnknownCode.in_column("(classifications)", [classification], table.names)
    table.by[classification].refuse_overlapping("merging codes")
    if loss not in ("entropy", "cells"):
        raise BadOption(f"loss = {loss!r}", hint="'entropy' or 'cells'.")
    _warn_shared(table, rules)
    before = mark(table, rules, special_cases=False)
    old = table.by[classification]
    search = _Search(table=before, axis=table.names.index(classification), rules=rules, ordered=ordered, loss=loss)
    for _ in range(ROUNDS):
        tree = search.solve()
        hierarchy, members = _rebuilt(old, tree, ordered)
        after = mark(merged_rows(before, search.axis, members, hierarchy), rules, special_cases=False)
        # rules that look along lines judge a group by its neighbours too: what they still mark may not stay so
        if not search.ban(after, members):
            break
    return Merging(
        classification=classification,
        groups=tuple(tuple(old.codes[i] for i in group) for group in _groups(tree)),
        hierarchy=hierarchy,
        recode=_recoded(old, hierarchy, members),
        before=before,
        after=after,
        loss=search.total_loss(tree),
        measure=loss,
        exact=search.exact,
    )


def _recoded(old: Hierarchy, new: Hierarchy, members: Sequence[Group]) -> dict[str, str]:
    """For every old finest code the finest code it is counted under now."""
    finest = [(new.codes[n], group) for n, group in enumerate(members) if new.is_leaf[n]]
    return {old.codes[leaf]: code for code, group in finest for i in group for leaf in _leaves(old, i)}


def _warn_shared(table: Table, rules: Rule | AnyOf) -> None:
    by_holding = any(getattr(rule, "counted_by", "respondent") == "holding" for rule in rules_in(rules))
    if by_holding or not table.additive_counts:
        who = "one holding" if by_holding else "one respondent"
        warnings.warn(
            f"{who} may stand in several of the merged codes: counts of merged cells are upper bounds, largest "
            "contributions lower bounds; tabulate again with the hierarchy of the proposal",
            ProtectionWarning,
            stacklevel=3,
        )


@dataclass(frozen=True, kw_only=True)
class _Kept:
    """A code that stays, with what becomes of its parts: codes that stay, and groups of codes that merge."""

    code: int
    parts: tuple[_Kept | Group, ...] = ()


@dataclass(eq=False, kw_only=True)
class _Search:
    """The best merging from the bottom up. Which groups are safe is asked in batches and remembered."""

    table: Table
    axis: int
    rules: Rule | AnyOf
    ordered: bool
    loss: Loss
    exact: bool = True
    banned: set[Group] = field(default_factory=set)
    safety: dict[Group, bool] = field(default_factory=dict)
    losses: dict[Group, float] = field(default_factory=dict)

    @property
    def hierarchy(self) -> Hierarchy:
        return self.table.hierarchies[self.axis]

    def solve(self) -> _Kept:
        """The best merging below the total."""
        self.exact = True
        return self._below(len(self.hierarchy) - 1)[1]

    def _below(self, code: int) -> tuple[float, _Kept]:
        """The least loss below a code that stays, and what it keeps."""
        parts = [int(p) for p in self.hierarchy.part_index[code]]
        if not parts:
            return 0.0, _Kept(code=code)
        below = {p: self._below(p) for p in parts}

        def named(groups: Sequence[Group]) -> list[Group]:
            return [tuple(parts[i] for i in g) for g in groups]

        def price(codes: Group) -> float:
            if len(codes) == 1 and self._safe(codes):
                return below[codes[0]][0]
            # everything under one sum is that sum, which stays anyway
            whole = len(codes) == len(parts)
            return self.losses[codes] if whole or (len(codes) > 1 and self._safe(codes)) else np.inf

        def cost(groups: Sequence[Group]) -> list[float]:
            self._judge(named(groups))
            return [price(codes) for codes in named(groups)]

        chosen = named(self._partition(len(parts), cost))
        kept = tuple(below[g[0]][1] if len(g) == 1 and self._safe(g) else g for g in chosen)
        return sum(map(price, chosen)), _Kept(code=code, parts=kept)

    def _partition(self, n: int, cost: Cost) -> list[Group]:
        if self.ordered:
            return best_intervals(n, cost)
        if n <= EXACT:
            return best_partition(n, cost)
        self.exact = False
        return good_partition(n, cost)

    def _safe(self, codes: Group) -> bool:
        return self.safety[codes] and codes not in self.banned

    def _judge(self, groups: Sequence[Group]) -> None:
        """Ask the rules about groups not asked about before, many at a time."""
        new = [g for g in dict.fromkeys(groups) if g not in self.safety]
        others = self.table.size // len(self.hierarchy)
        batch = max(1, BATCH // others)
        for start in range(0, len(new), batch):
            piece = new[start : start + batch]
            # a last row for the total: rules leave totals out
            rows = merged_rows(
                self.table, self.axis, [*piece, (len(self.hierarchy) - 1,)], Hierarchy.flat(map(str, range(len(piece))))
            )
            primary = mark(rows, self.rules, special_cases=False).status == Status.PRIMARY
            marked = np.moveaxis(primary, self.axis, 0).reshape(len(piece) + 1, -1).any(axis=1)
            for g, bad, lost in zip(piece, marked, self._losses(piece, rows), strict=False):
                self.safety[g] = not bool(bad)
                self.losses[g] = lost

    def _losses(self, groups: Sequence[Group], rows: Table) -> list[float]:
        """What every group loses; ``rows`` holds one row per group and a last one for the total."""
        if self.loss == "cells":
            now = np.moveaxis(~rows.empty, self.axis, 0).reshape(len(groups) + 1, -1).sum(axis=1)
            return [
                float(sum(self._occupied[_from(self.hierarchy, code) : code + 1].sum() for code in g) - now[n])
                for n, g in enumerate(groups)
            ]
        now = _x_log_x(self._finest(rows)).sum(axis=1)
        parts = [[leaf for code in g for leaf in _leaves(self.hierarchy, code)] for g in groups]
        return [float(now[n] - self._uncertainty[p].sum()) / self._whole for n, p in enumerate(parts)]

    @cached_property
    def _occupied(self) -> Ints:
        """Occupied cells per code."""
        some = np.moveaxis(~self.table.empty, self.axis, 0).reshape(len(self.hierarchy), -1)
        found: Ints = some.sum(axis=1, dtype=np.int64)
        return found

    @cached_property
    def _uncertainty(self) -> Floats:
        """x log2 x over the finest cells of every code."""
        found: Floats = _x_log_x(self._finest(self.table)).sum(axis=1)
        return found

    @cached_property
    def _whole(self) -> float:
        """Size of the whole table."""
        return float(self._finest(self.table)[self.hierarchy.is_leaf].sum()) or 1.0

    def _finest(self, table: Table) -> Floats:
        """Sizes of the finest cells, one row per code of the axis."""
        others = [h for a, h in enumerate(table.hierarchies) if a != self.axis]
        size = np.moveaxis(np.abs(table.value), self.axis, 0)
        finest = rollup.inner_cells(others) if others else np.ones((), dtype=np.bool_)
        return np.where(finest, size, 0.0).reshape(size.shape[0], -1)

    def ban(self, after: Table, members: Sequence[Group]) -> bool:
        """Forbid groups in whose rows something is still primary; whether that is anything new."""
        primary = np.moveaxis(after.status == Status.PRIMARY, self.axis, 0).reshape(len(members), -1).any(axis=1)
        bad = {tuple(m) for m, p in zip(members[:-1], primary[:-1], strict=True) if p}
        new = bad - self.banned
        self.banned |= bad
        return bool(new)

    def total_loss(self, tree: _Kept) -> float:
        groups = _groups(tree)
        self._judge(groups)
        return float(sum(self.losses[g] for g in groups))


def _x_log_x(x: Floats) -> Floats:
    positive = np.where(x > 0, x, 1.0)
    found: Floats = positive * np.log2(positive)
    return np.where(x > 0, found, 0.0)


def _from(hierarchy: Hierarchy, code: int) -> int:
    return int(hierarchy.first_below[code])


def _leaves(hierarchy: Hierarchy, code: int) -> list[int]:
    return [i for i in range(_from(hierarchy, code), code + 1) if hierarchy.is_leaf[i]]


def _groups(tree: _Kept) -> list[Group]:
    """All groups of codes that merge."""
    return [g for part in tree.parts for g in (_groups(part) if isinstance(part, _Kept) else [part])]


def _rebuilt(old: Hierarchy, tree: _Kept, ordered: bool) -> tuple[Hierarchy, list[Group]]:
    """The new hierarchy, and for each of its codes the old ones that it is made of."""
    codes: list[str] = []
    labels: list[str] = []
    parents: dict[int, int] = {}
    members: list[Group] = []

    def add(code: str, label: str, made_of: Group) -> int:
        while code in codes:
            code += "'"
        codes.append(code)
        labels.append(label)
        members.append(made_of)
        return len(codes) - 1

    def visit(kept: _Kept) -> int:
        below = []
        for part in kept.parts:
            if isinstance(part, _Kept):
                below.append(visit(part))
            elif len(part) < old.part_index[kept.code].size or old.parents[kept.code] < 0:
                name = _name([old.codes[i] for i in part], ordered)
                below.append(add(name, _name([old.labels[i] for i in part], ordered), part))
            # all parts of a subtotal in one group: the subtotal itself is the finest code now
        at = add(old.codes[kept.code], old.labels[kept.code], (kept.code,))
        parents.update(dict.fromkeys(below, at))
        return at

    visit(tree)
    return Hierarchy(tuple(codes), tuple(parents.get(i, -1) for i in range(len(codes))), tuple(labels)), members


def _name(codes: Sequence[str], ordered: bool) -> str:
    if ordered and len(codes) > 1:
        return f"{codes[0]}..{codes[-1]}"
    return "+".join(codes) if len(codes) <= 4 else f"{codes[0]}+{len(codes) - 1} others"
