"""The attack on a changed table by somebody who knows how it was changed, and where it succeeds.

Cuboids: the attacker knows the published values, which cells are primary, every move with its cells and signs, the
least and the largest error, but not the errors. What remains possible for a cell while only one error is in doubt
remains possible for him, who knows none of them. Whoever is alone in a cell knows its error, and with it that of all
cells that belong to the same moves.

Adjustment: see `adjustment_attack`.

Rounding: every published multiple is an interval for the true value, and the true values add up. All intervals and all
sums together are narrower than each on its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from diskret.auditing.audit import exact_intervals
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.demands import demands_of
from diskret.moves.move import MoveSet
from diskret.moves.persons import persons_of
from diskret.perturbation import _move_kernels as kernels
from diskret.perturbation.adjusted_table import Adjustment
from diskret.perturbation.adjustment_attack import on_adjustment
from diskret.perturbation.attack_result import CLOSE
from diskret.perturbation.attack_result import PerturbationAttack as PerturbationAttack
from diskret.perturbation.bounds import tightened
from diskret.perturbation.changed_table import Perturbation
from diskret.perturbation.cuboids import told_elsewhere, tree_of
from diskret.perturbation.leeway import NOTHING, Leeway, Units, finest_cells, least_changes, leeway_of, nonnegative

SOLVED = 3_000
"""Up to this many cells linear programmes look at all intervals and sums at once; beyond, line after line does."""


def attack_perturbed(
    result: Perturbation, *, known: Iterable[Sequence[str]] = (), most: int = 500, seconds: float = 10.0,
    whole: bool = True,
) -> PerturbationAttack:  # fmt: skip
    """Attack a changed table as somebody who knows the method and its options.

    Attacked are the primary cells (with rounding, if none is marked: all finest cells that are not zero), at most
    ``most`` of them, spread evenly. With rounding ``known`` names cells the attacker knows exactly from elsewhere, such
    as an unrounded total. Without ``whole`` rounded counts are taken for real numbers and their ends rounded inwards,
    which is much quicker on large tables, and now and then a unit too wide.

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
    if isinstance(result, Adjustment):
        return on_adjustment(result, cells, of)
    if result.moves is None:
        return _on_rounding(result, cells, of, known, seconds, whole)
    return _on_moves(result, result.moves, cells, of)


# --- cuboids ----------------------------------------------------------------------------------------------------------


def _on_moves(result: Perturbation, moves: MoveSet, cells: Ints, of: int) -> PerturbationAttack:
    table, units, promise = result.before, Units.of(result.before), result.options["promise"]
    leeway = leeway_of(table, units, promise, result.options["max_relative_change"])
    demands = demands_of(table, promise)
    demands = demands.some(np.searchsorted(demands.cells, cells))
    need_down, need_up = (units.change(n) for n in least_changes(demands, units))
    value, published = table.value.reshape(-1)[cells], result.table.value.reshape(-1)[cells]
    lower, upper = value.copy(), value.copy()
    number, at, own = _entries(result, moves, cells)
    fall, rise = (ends[number] for ends in steps_within(moves, *promise.knowledge.room(table)))
    pivot = moves.protected_cells[number] if moves.protected_cells.size else cells[at]
    step = units.change(result.step)[number]
    cap = np.maximum(units.change(leeway.cap)[leeway.place[pivot]], np.abs(step))
    # the error may have been any other that is no larger; the true value then lies elsewhere
    ends = own * np.maximum(fall, step - cap), own * np.minimum(rise, step + cap)
    np.minimum.at(lower, at, value[at] + np.minimum(*ends))
    np.maximum.at(upper, at, value[at] + np.maximum(*ends))
    # the published value is at least the demand away from the true one
    below, above = lower <= published - need_up + CLOSE, upper >= published + need_down - CLOSE
    lower = np.where(below, lower, np.maximum(lower, published + need_down))
    upper = np.where(above, upper, np.minimum(upper, published - need_up))
    down, up = value - lower < demands.down - CLOSE, upper - value < demands.up - CLOSE
    return PerturbationAttack(
        result=result, cells=cells, of=of, lower=lower, upper=upper, alone=np.full(cells.size, np.inf),
        one_sided=~(below & above), told=_told(result, moves, leeway), jointly=False,
        too_close=down | up | (upper - lower <= demands.length),
    )  # fmt: skip


def _entries(result: Perturbation, moves: MoveSet, cells: Ints) -> tuple[Ints, Ints, Floats]:
    """Where moves that were taken change some cells: the move, which of the cells (by position), its coefficient."""
    hits = np.flatnonzero(np.isin(moves.cells, cells))
    number = np.searchsorted(moves.start, hits, side="right") - 1
    hits, number = hits[result.taken[number]], number[result.taken[number]]
    return number, np.searchsorted(cells, moves.cells[hits]), moves.coefficients[hits].astype(np.float64)


def steps_within(moves: MoveSet, up: Floats, down: Floats) -> tuple[Floats, Floats]:
    """Between which errors each move goes, by how far up and down every cell of the table can go: (7a), (7b).

    >>> from diskret.moves.move import Move
    >>> three = MoveSet.of([Move(cells=np.array([0, 1, 2]), coefficients=np.array([1.0, -1, -1]))])
    >>> steps_within(three, np.array([np.inf, np.inf, 9.0]), np.array([100.0, 80, 1]))
    (array([-9.]), array([1.]))
    """
    more, less = (np.append(ends[moves.cells] / np.abs(moves.coefficients), np.inf) for ends in (up, down))
    rises = np.append(moves.coefficients > 0, True)
    rise, fall = np.where(rises, more, less), np.where(rises, less, more)
    return -np.minimum.reduceat(fall, moves.start[:-1]), np.minimum.reduceat(rise, moves.start[:-1])


def _told(result: Perturbation, moves: MoveSet, leeway: Leeway) -> Ints:
    """Primary cells whose error equals, up to its sign, that of a cell with a single contributor elsewhere."""
    table, signature = result.before, np.zeros(result.before.size, dtype=np.int64)
    kernels.sign(moves.start, moves.cells, moves.coefficients, result.taken, signature)
    if moves.protected_cells.size:
        return leeway.primary[told_elsewhere(moves, tree_of(table), leeway, signature)[leeway.primary]]
    same, persons = np.abs(signature), persons_of(table)
    knowing: dict[int, set[int]] = {}
    for cell in np.flatnonzero((persons >= 0) & (same > 0)).tolist():
        knowing.setdefault(int(same[cell]), set()).add(int(persons[cell]))
    found = [c for c in leeway.primary.tolist() if knowing.get(int(same[c]), set()) - {int(persons[c])}]
    return np.array(found, dtype=np.int64)


# --- rounding ---------------------------------------------------------------------------------------------------------


def _on_rounding(
    result: Perturbation, cells: Ints, of: int, known: Iterable[Sequence[str]], seconds: float, whole: bool
) -> PerturbationAttack:
    table = result.before
    value, published = table.value.reshape(-1), result.table.value.reshape(-1)
    sure = np.zeros(table.size, dtype=np.bool_)
    for codes in known:
        sure[int(np.ravel_multi_index(table.index(*codes), table.shape))] = True
    lower, upper = _rounding_leaves(result)
    lower, upper = np.where(sure, value, lower), np.where(sure, value, upper)
    if table.frequency and table.decimals is not None:
        lower, upper = np.ceil(lower - CLOSE), np.floor(upper + CLOSE)
    jointly = table.size <= SOLVED
    if jointly:
        low, high = _solved(table, cells, lower, upper, sure, seconds, whole)
    elif not table.product:
        low, high = (ends[cells] for ends in tightened(lower, upper, table.equations(np.ones(table.size, np.bool_))))
    else:
        ends = tightened(lower.reshape(table.shape), upper.reshape(table.shape), table.hierarchies)
        low, high = (end.reshape(-1)[cells] for end in ends)
    span, down, up = (need[cells] for need in Promise().needs(table))
    at, shown = value[cells], published[cells]
    return PerturbationAttack(
        result=result, cells=cells, of=of, lower=low, upper=high, alone=(upper - lower)[cells], jointly=jointly,
        one_sided=(high <= shown + CLOSE) | (low >= shown - CLOSE), told=NOTHING,
        too_close=(at - low < down - CLOSE) | (high - at < up - CLOSE) | (high - low <= np.maximum(span, CLOSE)),
    )  # fmt: skip


def _rounding_leaves(result: Perturbation) -> tuple[Floats, Floats]:
    """What every published multiple leaves for its value, cell by cell."""
    table, base = result.before, float(result.options["base"])
    unit = 0.0 if table.decimals is None else 10.0**-table.decimals
    reach = base / 2 if result.options["rounding"] == "deterministic" else base - unit
    value, published = table.value.reshape(-1), result.table.value.reshape(-1)
    lower, upper = published - reach, published + reach
    if nonnegative(table):
        lower = np.maximum(lower, 0.0)
    # cells that were not found next to their value are farther away, and the attacker knows which
    lower[result.beyond], upper[result.beyond] = value[result.beyond] - base, value[result.beyond] + base
    return lower, upper


def _solved(
    table: Table, cells: Ints, lower: Floats, upper: Floats, sure: Bools, seconds: float, whole: bool
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
    ends = exact_intervals(hidden, promise, seconds=seconds, whole=whole)
    low, high = lower[cells].copy(), upper[cells].copy()
    known = sure[cells]
    low[known] = high[known] = table.value.reshape(-1)[cells[known]]
    low[~known], high[~known] = np.fmax(low[~known], ends[0]), np.fmin(high[~known], ends[1])
    return low, high
