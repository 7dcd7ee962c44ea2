"""Intervals that can be published beside the marks of hidden cells.

The interval of a hidden cell is what every reader of the published table can compute, and nothing else goes into it:
the open values, which cells are hidden (not why), how cells add up, and that no value is negative where everybody knows
it. So whoever knows how the intervals are made, and knows the published table, learns nothing from them: he can make
them himself, to the last digit. The same holds of intervals widened to round numbers by a fixed rule, and of insiders.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf, nextafter
from typing import Any

import numpy as np

from diskret.auditing.audit import audit
from diskret.auditing.reader import ends_of, published
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.exact import exact
from diskret.model.knowledge import Knowledge
from diskret.model.older import older_attack
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table

Progress = Callable[[str, int, int], None]
MOST = 20_000
"""Hidden cells that equations link, up to which all lines are looked at together: two minutes for 13,000 of them."""


@dataclass(frozen=True, eq=False)
class Intervals:
    """What may be published about hidden cells: lower and upper bounds, undefined (NaN) where only the mark may."""

    table: Table
    lower: Floats
    upper: Floats
    knowledge: Knowledge
    """What everybody knows besides."""
    printed: bool = False
    """Whether they were made from hidden values, to repeat printed results: such intervals are not for readers."""

    @property
    def count(self) -> int:
        """Number of cells with an interval."""
        return int(np.isfinite(self.lower).sum())

    def of(self, *codes: str) -> tuple[float, float] | None:
        """The interval of a cell; None if it may not have one."""
        at = self.table.index(*codes)
        return (float(self.lower[at]), float(self.upper[at])) if np.isfinite(self.lower[at]) else None

    def known(self) -> Table:
        """The same table once the intervals are out: they narrow what everybody knows (``lower`` and ``upper``).

        What is known besides stays in. Put the table into a pool with the next one: prior knowledge of shared cells is
        intersected there. Use ``Knowledge.intervals()``.
        """
        up, down = (room.reshape(self.table.shape) for room in self.knowledge.room(self.table))
        lower, upper = self.table.value - down, self.table.value + up
        lower, upper = np.fmax(lower, self.lower), np.fmin(upper, self.upper)
        return replace(self.table, lower=lower, upper=upper) if self.printed else _knowing(self.table, lower, upper)

    def split(self) -> dict[str, Intervals]:
        """The intervals of a pool, table by table."""
        if not self.table.linked:
            raise BadOption("these are intervals of a single table", hint="only those of a pool can be split.")
        pool, result = self.table, {}
        up, down = self.knowledge.room(pool)
        for name, table in pool.split().items():
            cells, shape = pool.linked[name][1], table.shape
            if self.knowledge.kind == "intervals":
                # what is known about a shared cell from another table is known here too
                low, high = (pool.value - down)[cells].reshape(shape), (pool.value + up)[cells].reshape(shape)
                table = _knowing(table, low, high)
            lower, upper = (end[cells].reshape(shape) for end in (self.lower, self.upper))
            result[name] = Intervals(table, lower, upper, self.knowledge, self.printed)
        return result


def _knowing(table: Table, lower: Floats, upper: Floats) -> Table:
    """A table with prior knowledge that every reader has anyway: a seal holds as before."""
    known = replace(table, lower=lower, upper=upper)
    return known.sealed() if table.seal_holds else known


def publishable_intervals(
    table: Table,
    promise: Promise = Promise(),
    *,
    decimals: int | None = None,
    digits: int | None = None,
    most: int = MOST,
    progress: Progress | None = None,
    **older: Any,
) -> Intervals:
    """The intervals of hidden cells that every reader of the published table or pool can compute.

    Ends have the decimals of the published values. Two fixed rules widen them to round numbers: ``decimals`` (to
    multiples of 0.1, or with negative ones of 10, 100 and so on), or ``digits`` (as many leading digits as the longer
    end may have). Counts lie between whole numbers. Cells whose value can be computed, and those without an upper or a
    lower end, have none.

    ``promise`` is that of the suppression; of what an attacker is taken to know, only the signs go in: usually that
    nothing is negative if no open value is. A hidden value that is negative then is refused. Where the promise is
    broken already there is a warning, and no interval for cells that equations link with the exposed ones. Where
    equations link more than ``most`` hidden cells, lines are looked at one by one and intervals may be wider than a
    reader's.

    >>> cells = {"s": list("abcd"), "x": [50, 40, 10, 1], "st": ["secondary", "secondary", "primary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> found = publishable_intervals(table)
    >>> found.of("a"), found.of("c"), found.count
    ((0.0, 100.0), (0.0, 100.0), 3)
    """
    table.refuse_sparse("published intervals")
    if older:
        table, promise = older_attack(table, promise, older)
    widen = _Widening(decimals=decimals, digits=digits)
    signs = _signs_known(table, promise.knowledge)
    if signs:
        _refuse_wrong_signs(table)
    cells = {cell for cell, _ in exposed_to(table, promise)}
    seen = published(table, signs)
    low, high, large = ends_of(seen, most, progress and (lambda done, of: progress("intervals", done, of)))
    if large.any():
        warnings.warn(
            f"{int(large.sum())} hidden cells are linked in groups of more than {most:,}: published lines are looked "
            "at one by one there, and intervals may be wider than what can be computed; raise most to have them exact",
            ProtectionWarning,
            stacklevel=2,
        )
    lower, upper = np.full(table.size, np.nan), np.full(table.size, np.nan)
    for cell, one, other in zip(seen.system.cells.tolist(), low, high, strict=True):
        if one is not None and other is not None and one < other:
            lower[cell], upper[cell] = widen.ends(one, other, seen.decimals)
    secret = near_exposed(table, groups_of(table), cells)
    lower[secret], upper[secret] = np.nan, np.nan
    return Intervals(table, lower.reshape(table.shape), upper.reshape(table.shape), promise.knowledge)


def if_range_is_known(lower: float, upper: float, min_relative_range: float) -> tuple[float, float]:
    """What is left of an interval for somebody who knows the required relative range (Quaderverfahren, 3.2.4).

    The interval is what he computes from the published table, as `publishable_intervals` gives it without widening: it
    protects a primary cell, so it is longer than the range times the value, and the value is below length over range.
    So the parameter must stay secret, whether intervals are published or not. The new upper end does not belong to the
    interval.

    >>> if_range_is_known(99.9, 150.1, 0.5)[1]
    100.4
    """
    bound = (exact(float(upper)) - exact(float(lower))) / exact(min_relative_range)
    if bound <= exact(float(lower)):
        raise BadOption(
            "no value of the interval has the required relative range", hint="the interval was not protected with it."
        )
    return lower, min(upper, float(bound))


@dataclass(frozen=True, kw_only=True)
class _Widening:
    """The rule that makes ends round: the same for everybody, and without any number of the table in it."""

    decimals: int | None
    digits: int | None

    def __post_init__(self) -> None:
        if self.decimals is not None and self.digits is not None:
            raise BadOption("both decimals and digits of intervals", hint="give one of them.")
        if self.digits is not None and self.digits < 1:
            raise BadOption(f"intervals with {self.digits} digits", hint="at least 1.")

    def ends(self, low: int, high: int, decimals: int) -> tuple[float, float]:
        """Both ends, given in units of ``10 ** -decimals``, as numbers: rounded outwards, never inwards."""
        places = 0
        if self.decimals is not None:
            places = decimals - self.decimals
        elif self.digits is not None:
            places = len(str(max(abs(low), abs(high)))) - self.digits
        step = 10 ** max(places, 0)
        return _number(low // step * step, decimals, -inf), _number(-(-high // step) * step, decimals, inf)


def _number(units: int, decimals: int, outwards: float) -> float:
    """A number of units as the double that means it; where none does, the next one outwards."""
    meant = exact(units) / exact(10) ** decimals
    near = float(meant)
    inside = exact(near) < meant if outwards > 0 else exact(near) > meant
    return nextafter(near, outwards) if inside else near + 0.0


def _signs_known(table: Table, knowledge: Knowledge) -> bool:
    """Whether every reader knows that no value is negative.

    What an attacker is taken to know besides is not in what is published. Whoever knows an interval for every cell
    knows the signs, if no interval begins below zero.
    """
    if table.positive or knowledge.kind == "positive":
        return True
    if knowledge.kind == "usual":
        # a reader sees the open values; that all hidden ones had the same sign would tell something about them
        return not bool((table.value[~table.hidden] < 0).any())
    return knowledge.kind == "intervals" and table.lower is not None and bool((table.lower >= 0).all())


def _refuse_wrong_signs(table: Table) -> None:
    """Intervals made as if nothing were negative would leave out the value of a hidden cell that is."""
    if (table.value[table.hidden] < 0).any():
        because = "the table is declared positive" if table.positive else "no open one is"
        cure = "make the table without positive" if table.positive else "take the signs as unknown"
        raise BadOption(
            f"readers take no value of {table.response!r} to be negative ({because}), but a hidden one is",
            hint=f"{cure}: publishable_intervals(table, Promise(knowledge=Knowledge.none())); or publish no intervals.",
        )


# --- what is exposed anyway -----------------------------------------------------------------------------------------


def exposed_to(table: Table, promise: Promise) -> set[tuple[int, str]]:
    """Primary cells that are found out (or not decided), and by whom."""
    if not (table.status == Status.PRIMARY).any():
        return set()
    report = audit(table, replace(promise, unions=False))
    found = {(int(np.ravel_multi_index(e.index, table.shape)), e.by) for e in report.exposed}
    names = {table.name_of(int(c)): int(c) for c in np.flatnonzero(table.hidden.reshape(-1))}
    return found | {(names[name], "?") for name in report.undecided}


def groups_of(table: Table) -> Ints:
    """A number per cell: equal for hidden cells that equations link, directly or over others; -1 for open ones."""
    system = table.equations()
    result = np.full(table.size, -1, dtype=np.int64)
    result[system.cells] = system.components()
    return result


def near_exposed(table: Table, groups: Ints, cells: set[int]) -> Bools:
    """Hidden cells that equations link with exposed ones; warns if there are any."""
    if not cells:
        return np.zeros(table.size, dtype=np.bool_)
    exposed = sorted(cells)
    warnings.warn(
        f"{len(exposed)} cells are exposed whether intervals are published or not: "
        f"{listed([table.name_of(c) for c in exposed])}; no intervals are given near them; protect the table first",
        ProtectionWarning,
        stacklevel=3,
    )
    return np.isin(groups, groups[exposed])
