"""Tables of a time series: keep last period's pattern at a stated price.

A suppressed value can be estimated from an open value of the last period, and the other way round. So cells that were
open before cost more than their price. As printed for cuboids (Quaderverfahren, 5.3.2) they get weights instead, and
cells that are easily estimated higher ones.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from diskret.model.alike import warn_of_spellings
from diskret.model.arrays import Bools, Floats
from diskret.model.errors import BadOption, listed
from diskret.model.promise import Promise
from diskret.model.sparse import SparseTable
from diskret.model.table import Table
from diskret.model.trees import strides_of
from diskret.moves.move import Move
from diskret.suppression.consistency import Attempt, Consistency
from diskret.suppression.methods import AnyMethod, Complete, Cuboids, Moves, Optimal, Progress
from diskret.suppression.objective import exact_prices
from diskret.suppression.prices import CLASSES, GIVEN
from diskret.suppression.result import Suppression

FIRST = 1.0
BOUNDLESS = 100.0
"""The bonus if keeping the pattern may cost anything."""
THEN = {1.0: (4.0, 0.25), 4.0: (0.0, 2.0), 0.25: (0.5, 0.0)}
"""What cells that were open before cost more, in mean prices of a secondary cell: the first bonus that is tried, and
what is tried after it, if it was not too dear and if it was. More than 4 keeps hardly more (`benchmarks.years`)."""
Previous = Table | Mapping[str, Table]
Protect = Callable[..., Suppression]
Aligned = tuple[Bools, Floats, Bools]


@dataclass(frozen=True, eq=False, kw_only=True)
class LastPeriod:
    """What was hidden and what was open last period, of the cells there are now, and what keeping it may cost."""

    hidden: Bools
    open: Bools
    at_most: float
    weight: Floats | None = None
    """Weights as printed (Quaderverfahren, 5.3.2), instead of a surcharge."""

    @property
    def first(self) -> float:
        """The bonus that is tried first; infinite for weights as printed."""
        return np.inf if self.weight is not None else FIRST if np.isfinite(self.at_most) else BOUNDLESS


def weighed(table: Table, previous: Previous, *, by_error: bool = True) -> Table:
    """The table or pool with weights that prefer cells suppressed in the previous one.

    Open before: weight 100,000 times the cells of a cuboid, over the squared error of carrying the old value forward;
    suppressed before: the squared error. Codes that are new get weight 1. Of a pool the previous tables are found by
    their names; what none of them shows gets weight 1 too.
    """
    known, value, hidden = _aligned(table, previous)
    weight = np.where(hidden, 1.0, CLASSES * 2.0 ** len(table.names))
    if by_error:
        error = carry_forward_error(table.value, value)
        # an old value that is met exactly gives no finite weight: cap it
        weight = weight * np.where(
            hidden, np.clip(error**2, 1e-6, 1e6), np.clip(1 / np.maximum(error**2, 1e-6), 1e-6, 1e6)
        )
    own = np.ones(table.shape) if table.weight is None else table.weight
    return replace(table, weight=np.where(known, weight, 1.0) * own)


def carry_forward_error(value: Floats, before: Floats) -> Floats:
    """Relative error of taking the old value for the new one; the old value itself where the new one is zero.

    >>> carry_forward_error(np.array([100.0, 0.0]), np.array([90.0, 3.0])).tolist()
    [0.1, 3.0]
    """
    size = np.abs(value)
    return np.where(size > 0, np.abs(value - before) / np.where(size > 0, size, 1.0), np.abs(before))


def _aligned(table: Table, previous: Previous) -> Aligned:
    """The previous table on the codes of the current one: which cells it knows, their values, which were hidden."""
    if table.linked:
        return _aligned_pool(table, previous)
    if isinstance(previous, Mapping) or previous.linked:
        raise BadOption("several previous tables for one table", hint="give the one of the same classifications.")
    if set(previous.names) != set(table.names):
        raise BadOption(
            f"the previous table has other classifications: {listed(previous.names)}",
            hint=f"expected {listed(table.names)}.",
        )
    if not table.by:
        return _aligned_cells(table, previous)
    places, known = np.zeros(table.size, dtype=np.int64), np.ones(table.size, dtype=np.bool_)
    possible = [len(h) for h in previous.hierarchies]
    stride = dict(zip(previous.names, strides_of(possible).tolist(), strict=True))
    for (name, hierarchy), numbers in zip(table.by.items(), table.code_numbers, strict=True):
        before = previous.by[name]
        warn_of_spellings(name, dict.fromkeys([*hierarchy.codes, *before.codes]))
        at = np.array([before.index(c) if c in before else -1 for c in hierarchy.codes])
        known &= (at >= 0)[numbers]
        places += stride[name] * np.maximum(at, 0)[numbers]
    # a cell that a sparse table does not hold was published as zero
    cells = previous.occupied.find(places) if isinstance(previous, SparseTable) else places
    value = np.where(cells >= 0, previous.value.reshape(-1)[cells], 0.0)
    hidden = known & (cells >= 0) & previous.hidden.reshape(-1)[cells]
    return known.reshape(table.shape), value.reshape(table.shape), hidden.reshape(table.shape)


def _aligned_cells(system: Table, previous: Table) -> Aligned:
    """Cell by cell, by their codes."""
    before = {previous.codes((cell,)): cell for cell in range(previous.size)}
    at = np.array([before.get(system.codes((cell,)), -1) for cell in range(system.size)], dtype=np.int64)
    return at >= 0, previous.value[at], previous.hidden[at] & (at >= 0)


def _aligned_pool(pool: Table, previous: Previous) -> Aligned:
    """Table by table, by their names; a cell that any previous table hid was hidden."""
    before = previous if isinstance(previous, Mapping) else previous.split()
    if not before:
        raise BadOption("one previous table for a pool", hint="give the previous pool, or its tables by their names.")
    unknown = [name for name in before if name not in pool.linked]
    if unknown:
        raise BadOption(f"no table {listed(unknown)} in the pool", hint=f"it has {listed(pool.linked)}.")
    known, hidden = np.zeros(pool.size, dtype=np.bool_), np.zeros(pool.size, dtype=np.bool_)
    value = np.zeros(pool.size)
    for name, old in before.items():
        mine, cells = pool.linked[name]
        seen, carried, was_hidden = _aligned(mine, old)
        value[cells] = np.where(seen.reshape(-1), carried.reshape(-1), value[cells])
        known[cells] |= seen.reshape(-1)
        hidden[cells] |= was_hidden.reshape(-1)
    return known, value, hidden


def last_period(table: Table, previous: Previous, at_most: float, *, printed: bool) -> LastPeriod:
    """What last period's table says about the cells of this one; with the weights of the book if it is ``printed``."""
    if not at_most >= 0:
        raise BadOption(f"at most {at_most} dearer", hint="0.1 for a tenth, inf for whatever it costs.")
    known, _, hidden = _aligned(table, previous)
    weight = weighed(table, previous).weight if printed else None
    return LastPeriod(hidden=hidden, open=known & ~hidden, at_most=at_most, weight=weight)


def followed(
    protect: Protect, last: LastPeriod, table: Table, promise: Promise, method: AnyMethod, progress: Progress | None
) -> Suppression:
    """The pattern that keeps most of last period's and costs at most a given share more than without.

    Cells that were open cost more than their price: a few surcharges are tried, each beginning with the moves of the
    last pattern that was not too dear, as far as they do without such cells. Costs are by the method's own prices.
    """
    price = exact_prices(table, method).reshape(table.shape)
    free = _tried(partial(protect, table, promise, method, progress), price)
    tries, attempts, start = [free], [free.attempt(0.0, last, free)], free.without(last.open)
    bonus = last.first if free.done.secondary.any() else 0.0
    while bonus:
        priced, again = _surcharged(table, method, last, price, bonus * (free.mean or 1.0))
        tries.append(_tried(partial(protect, priced, promise, again, progress, start=start), price))
        attempts.append(tries[-1].attempt(bonus, last, free))
        fits = attempts[-1].dearer <= last.at_most
        start = tries[-1].without(last.open) if fits else start
        bonus = THEN.get(bonus, (0.0, 0.0))[0 if fits else 1]
    found = Consistency.of(tuple(attempts), hidden_before=int(last.hidden.sum()), at_most=last.at_most)
    kept = tries[found.chosen]
    for warning in kept.said:
        warnings.warn(warning.message, warning.category, stacklevel=5)
    hidden = replace(table, status=kept.done.table.status, creator=kept.done.table.creator)
    # no pattern is cheaper than the bound, whatever it keeps
    return replace(kept.done, table=hidden, before=table, consistency=found, cost=kept.cost, bound=free.done.bound)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Try:
    """A pattern, its cost by the method's own prices, and what was said when it was made."""

    done: Suppression
    cost: float
    said: Sequence[warnings.WarningMessage]

    @property
    def mean(self) -> float:
        """What one of its cells costs."""
        return self.cost / max(1, int(self.done.secondary.sum()))

    def attempt(self, bonus: float, last: LastPeriod, free: _Try) -> Attempt:
        """How it compares with the pattern that does not look at last period."""
        mine = self.done.secondary
        dearer = self.cost / free.cost - 1 if free.cost > 0 else 0.0 if self.cost <= 0 else np.inf
        worse = len(self.done.unprotected) > len(free.done.unprotected)
        kept = int((mine & last.hidden).sum())
        return Attempt(bonus=bonus, secondary=int(mine.sum()), kept=kept, dearer=np.inf if worse else float(dearer))

    def without(self, cells: Bools) -> list[Move]:
        """The moves that do without secondary cells among some."""
        avoided = (self.done.secondary & cells).reshape(-1)
        return [move for move in self.done.moves if not avoided[move.cells].any()]


def _tried(protect: Callable[[], Suppression], price: Floats) -> _Try:
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")  # what deserves care is said once, of the pattern that is kept
        done = protect()
    return _Try(done=done, cost=float(price[done.secondary].sum()), said=said)


def _surcharged(
    table: Table, method: AnyMethod, last: LastPeriod, price: Floats, more: float
) -> tuple[Table, AnyMethod]:
    """The table with its prices, higher where a cell was open before, and the method that takes them."""
    if last.weight is not None:
        return replace(table, weight=last.weight), method
    if isinstance(method, Optimal):
        # what is proved is proved of the pattern without last period
        method = Moves(cost=method.cost, zeros=method.zeros, barriers=method.barriers, effort=method.effort)
    given = replace(method.price, **GIVEN)
    # prices lean already where moves look at barriers
    barriers = method.barriers if isinstance(method, Cuboids | Complete) else "on"
    return replace(table, weight=price + more * last.open), replace(method, cost=given, barriers=barriers)
