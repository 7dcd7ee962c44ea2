"""The attack on a changed table by somebody who knows how it was changed, and where it succeeds.

Cuboids: the attacker knows the published values, which cells are primary, every move with its cells and signs, the
least and the largest error, but not the errors. What remains possible for a cell while only one error is in doubt
remains possible for him, who knows none of them. Whoever is alone in a cell knows its error, and with it that of all
cells that belong to the same moves.

Rounding: every published multiple is an interval for the true value, and the true values add up. All intervals and all
sums together are narrower than each on its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from diskret.auditing.audit import audit
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import equations_of
from diskret.model.promise import Promise
from diskret.model.protection import Knowledge, Protection
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.insiders import persons_of
from diskret.perturbation import _cuboid_kernels as kernels
from diskret.perturbation.cuboids import most_cells, tree_of
from diskret.perturbation.demands import Units, finest_cells, least_changes, task_of
from diskret.perturbation.given_moves import GivenMoves
from diskret.perturbation.moves import CuboidMoves, interval_within
from diskret.perturbation.result import Perturbation

SOLVED = 3_000
"""Up to so many cells linear programmes look at all intervals and sums at once; beyond, line after line does."""
ROUNDS = 50
CLOSE = 1e-9


@dataclass(frozen=True, eq=False)
class PerturbationAttack:
    """What an attacker who knows the method finds out about some cells. Confidential, except for `summary`."""

    result: Perturbation
    cells: Ints
    """The cells that were attacked (flat)."""
    of: int
    """How many there were to attack."""
    lower: Floats
    upper: Floats
    """Between these the true value of each attacked cell remains possible."""
    alone: Floats
    """Length of the interval that the cell's own published value leaves."""
    one_sided: Bools
    """Whether it is clear that the published value is too high, or too low."""
    too_close: Bools
    """Whether the interval does not reach as far as the rule demands."""
    told: Ints
    """Primary cells (of all, flat) whose error a single contributor elsewhere computes."""
    jointly: bool
    """Whether a solver looked at everything at once; otherwise the attack may be weaker than a real one."""

    @property
    def exact(self) -> Bools:
        """Attacked cells of which only one value is possible."""
        return np.asarray(self.upper - self.lower < CLOSE)

    def summary(self) -> dict[str, Any]:
        """Counts only."""
        return {
            "method": self.result.method,
            "attacked": int(self.cells.size),
            "of": self.of,
            "found exactly": int(self.exact.sum()),
            "closer than demanded": int(self.too_close.sum()),
            "direction known": int(self.one_sided.sum()),
            "narrower than its own value says": int((self.upper - self.lower < self.alone - CLOSE).sum()),
            "told by single contributors": int(self.told.size),
            "solved jointly": self.jointly,
        }

    def report(self) -> str:
        """In words, with the names of the cells that are found out; no values."""
        s = self.summary()
        lines = [f"{s['attacked']} of {s['of']} cells attacked, {s['method']} and all its options known"]
        for what, chosen in (
            ("only one value is possible", self.exact),
            ("the interval is shorter than the rule demands", self.too_close & ~self.exact),
            ("it is clear which way the value was changed", self.one_sided & ~self.exact & ~self.too_close),
        ):
            if chosen.any():
                names = [self.result.before.name_of(int(c)) for c in self.cells[chosen][:10]]
                lines.append(f"{int(chosen.sum())} cells: {what}: {'; '.join(names)}")
        if self.told.size:
            names = [self.result.before.name_of(int(c)) for c in self.told[:10]]
            lines.append(
                f"{self.told.size} cells: a single contributor elsewhere computes the error: {'; '.join(names)}"
            )
        if len(lines) == 1:
            lines.append("nothing is found out")
        if not self.jointly:
            lines.append("looked at line by line, not with a solver: a real attack may find more")
        return "\n".join(lines)


def attack_perturbed(
    result: Perturbation, *, known: Iterable[Sequence[str]] = (), most: int = 500, seconds: float = 10.0
) -> PerturbationAttack:
    """Attack a changed table as somebody who knows the method and its options.

    Attacked are the primary cells (with rounding, if none is marked: all finest cells that are not zero), at most
    ``most`` of them, spread evenly. With rounding ``known`` names cells the attacker knows exactly from elsewhere, such
    as an unrounded total.

    >>> from diskret import round_table
    >>> cells = {"s": ["a", "b", "c"], "n": [1, 1, 1]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="n", frequency=True)
    >>> attack_perturbed(round_table(table, 3, method="deterministic"), known=[("Total",)]).summary()["found exactly"]
    3
    """
    table = result.before
    flat = table.status.reshape(-1)
    wanted = flat == Status.PRIMARY
    if result.moves is None and not wanted.any():
        wanted = finest_cells(table) & (table.value.reshape(-1) != 0)
    cells = np.flatnonzero(wanted)
    of = cells.size
    if of > most:
        cells = cells[np.linspace(0, of - 1, most).astype(np.int64)]
    if result.moves is None:
        return _on_rounding(result, cells, of, known, seconds)
    return _on_moves(result, cells, of)


# --- cuboids ----------------------------------------------------------------------------------------------------------


def _on_moves(result: Perturbation, cells: Ints, of: int) -> PerturbationAttack:
    table, moves = result.before, result.moves
    assert moves is not None
    protection, knowledge = result.options["protection"], result.options["knowledge"]
    units = Units.of(table)
    task = task_of(table, units, protection, knowledge, result.options["max_relative_change"])
    need_down, need_up = (units.change(n) for n in least_changes(table, units, protection, cells))
    hierarchies = () if isinstance(moves, GivenMoves) else table.hierarchies
    value, published = table.value.reshape(-1)[cells], result.table.value.reshape(-1)[cells]
    lower, upper = value.copy(), value.copy()
    room_up, room_down = knowledge.room(table)
    for i, cell in enumerate(cells.tolist()):
        for k in moves.using(cell, hierarchies).tolist():
            members, signs = moves.cells(k, hierarchies)
            fall, rise = interval_within(room_up[members], room_down[members], signs)
            own = float(signs[members == cell][0])
            pivot = moves.pivot[k] if isinstance(moves, CuboidMoves) else cell
            cap, step = float(units.change(task.cap[task.place[pivot]])), float(units.change(moves.step[k]))
            cap = max(cap, abs(step))
            # the error may have been any other that is no larger; the true value then lies elsewhere
            ends = sorted((own * max(fall, step - cap), own * min(rise, step + cap)))
            lower[i], upper[i] = min(lower[i], value[i] + ends[0]), max(upper[i], value[i] + ends[1])
    # the published value is at least the demand away from the true one
    below, above = lower <= published - need_up + CLOSE, upper >= published + need_down - CLOSE
    lower = np.where(below, lower, np.maximum(lower, published + need_down))
    upper = np.where(above, upper, np.minimum(upper, published - need_up))
    span, down, up = (need[cells] for need in protection.needs(table))
    close = (value - lower < down - CLOSE) | (upper - value < up - CLOSE) | (upper - lower <= span)
    own_interval = np.full(cells.size, np.inf)
    return PerturbationAttack(
        result, cells, of, lower, upper, own_interval, ~(below & above), close, _told(result), jointly=False
    )


def _told(result: Perturbation) -> Ints:
    """Primary cells whose error equals, up to its sign, that of a cell with a single contributor elsewhere."""
    table, moves = result.before, result.moves
    primary = np.flatnonzero(table.status.reshape(-1) == Status.PRIMARY)
    signature = np.zeros(table.size, dtype=np.int64)
    if isinstance(moves, CuboidMoves):
        tree, room = tree_of(table), most_cells(table)
        kernels.sign(moves.rows(), tree, room, signature)
        task = task_of(table, Units.of(table), Protection(), Knowledge.none(), None)
        told = np.zeros(table.size, dtype=np.bool_)
        kernels.told_by_singles(moves.rows(), tree, room, task.state, signature, told)
        return primary[told[primary]]
    assert isinstance(moves, GivenMoves)
    rng = np.random.default_rng(len(moves))
    owner = np.repeat(np.arange(len(moves)), np.diff(moves.start))
    taken = moves.step[owner] != 0
    number = rng.integers(1, 2**61, max(len(moves), 1))
    np.add.at(signature, moves.all_cells[taken], (moves.signs * number[owner])[taken])
    same, persons = np.abs(signature), persons_of(table)
    single = np.flatnonzero((persons >= 0) & (same > 0))
    pairs = {(int(s), int(p)) for s, p in zip(same[single], persons[single], strict=True)}
    by_class: dict[int, set[int]] = {}
    for key, person in pairs:
        by_class.setdefault(key, set()).add(person)
    found = [c for c in primary.tolist() if by_class.get(int(same[c]), set()) - {int(persons[c])}]
    return np.array(found, dtype=np.int64)


# --- rounding ---------------------------------------------------------------------------------------------------------


def _on_rounding(
    result: Perturbation, cells: Ints, of: int, known: Iterable[Sequence[str]], seconds: float
) -> PerturbationAttack:
    table, base = result.before, float(result.options["base"])
    unit = 0.0 if table.decimals is None else 10.0**-table.decimals
    reach = base / 2 if result.options["rounding"] == "deterministic" else base - unit
    value, published = table.value.reshape(-1), result.table.value.reshape(-1)
    lower, upper = published - reach, published + reach
    if table.positive or not (value < 0).any():
        lower = np.maximum(lower, 0.0)
    # cells that were not found next to their value are farther away, and the attacker knows which
    lower[result.beyond], upper[result.beyond] = value[result.beyond] - base, value[result.beyond] + base
    sure = np.zeros(table.size, dtype=np.bool_)
    for codes in known:
        sure[int(np.ravel_multi_index(table.index(*codes), table.shape))] = True
    lower, upper = np.where(sure, value, lower), np.where(sure, value, upper)
    if unit and table.frequency:
        lower, upper = np.ceil(lower - CLOSE), np.floor(upper + CLOSE)
    alone = (upper - lower)[cells]
    jointly = table.size <= SOLVED
    if jointly:
        low, high = _solved(table, cells, lower, upper, sure, seconds)
    else:
        low, high = (bound[cells] for bound in narrowed(table, lower, upper))
    protection = Protection(levels=table.below is not None)
    span, down, up = (need[cells] for need in protection.needs(table))
    at = value[cells]
    close = (at - low < down - CLOSE) | (high - at < up - CLOSE) | (high - low <= np.maximum(span, CLOSE))
    sided = (high <= published[cells] + CLOSE) | (low >= published[cells] - CLOSE)
    nobody = np.empty(0, dtype=np.int64)
    return PerturbationAttack(result, cells, of, low, high, alone, sided, close, nobody, jointly)


def _solved(
    table: Table, cells: Ints, lower: Floats, upper: Floats, sure: Bools, seconds: float
) -> tuple[Floats, Floats]:
    """The exact intervals of some cells, by the attack of the audit: everything is hidden, the intervals are known."""
    status = np.full(table.size, Status.SECONDARY, dtype=np.uint8)
    status[cells] = Status.PRIMARY
    status[sure] = Status.PUBLISHED
    shape = table.shape
    hidden = replace(
        table, status=status.reshape(shape), lower=lower.reshape(shape), upper=upper.reshape(shape), below=None,
        above=None,
    )  # fmt: skip
    promise = Promise(levels=False, guard="public", knowledge=Knowledge.intervals(), unions=False)
    report = audit(hidden, promise, intervals="primary", seconds=seconds)
    value = table.value.reshape(-1)
    low, high = lower[cells].copy(), upper[cells].copy()
    for i, cell in enumerate(cells.tolist()):
        if sure[cell]:
            low[i] = high[i] = value[cell]
            continue
        ends = report.intervals[table.name_of(cell)]
        low[i], high[i] = np.fmax(low[i], ends[0]), np.fmin(high[i], ends[1])
    return low, high


def narrowed(table: Table, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """Intervals that no single line can narrow any more: what a cell can be, given its sum and the other parts.

    >>> cells = {"s": ["a", "b"], "n": [2, 3]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="n")
    >>> [bound.tolist() for bound in narrowed(table, np.array([0.0, 0, 5]), np.array([4.0, 4, 5]))]
    [[1.0, 1.0, 5.0], [4.0, 4.0, 5.0]]
    """
    system = equations_of(table, np.ones(table.size, dtype=np.bool_))
    row, column, coefficient = system.row_of(), system.columns, system.coefficients
    plus = coefficient > 0
    lower, upper = lower.copy(), upper.copy()
    for _ in range(ROUNDS):
        least = np.where(plus, lower[column], -upper[column])
        largest = np.where(plus, upper[column], -lower[column])
        # a line adds up to nothing: a cell is what the others leave
        rest_least = np.bincount(row, weights=least, minlength=system.rows)[row] - least
        rest_largest = np.bincount(row, weights=largest, minlength=system.rows)[row] - largest
        low = np.where(plus, -rest_largest, rest_least)
        high = np.where(plus, -rest_least, rest_largest)
        before = lower.copy(), upper.copy()
        np.maximum.at(lower, column, low)
        np.minimum.at(upper, column, high)
        if np.allclose(before[0], lower, atol=CLOSE) and np.allclose(before[1], upper, atol=CLOSE):
            break
    return lower, upper
