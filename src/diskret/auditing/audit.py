"""What an attacker can find out about the hidden cells of a table, exactly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from diskret.auditing.attacker import Attacker
from diskret.model.equations import Equations, equations_of
from diskret.model.protection import Knowledge, Protection
from diskret.model.status import Status
from diskret.model.table import Table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
TOLERANCE = 1e-7
WORTH_A_BATCH = 0.3


@dataclass(frozen=True, eq=False)
class Needs:
    """What each target must keep: how far its interval reaches up and down, and how long it is (strictly)."""

    columns: Ints
    up: Floats
    down: Floats
    range: Floats
    size: Floats

    def met(self, reached_up: Floats, reached_down: Floats) -> npt.NDArray[np.bool_]:
        """Which targets keep what they need, given how far every unknown was seen to move."""
        rise, fall = reached_up[self.columns], reached_down[self.columns]
        slack = TOLERANCE * np.maximum(self.size, 1.0)
        long_enough = rise + fall > self.range + slack
        result: npt.NDArray[np.bool_] = (rise >= self.up - slack) & (fall >= self.down - slack) & long_enough
        return result


@dataclass(frozen=True)
class Exposure:
    """A primary cell that can be found out too closely."""

    cell: str
    index: tuple[int, ...]
    lower: float
    upper: float
    exact: bool


@dataclass(frozen=True, eq=False)
class AuditReport:
    """What the attack found."""

    table: Table
    exposed: tuple[Exposure, ...]
    undecided: tuple[str, ...]
    programmes: int
    checked: int
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Exact intervals of the cells that were asked for; internal, like every interval."""

    @property
    def safe(self) -> bool:
        """Whether nothing is exposed and nothing left undecided."""
        return not self.exposed and not self.undecided

    def summary(self) -> dict[str, Any]:
        """Counts only: fit to be printed or logged."""
        return {
            "checked": self.checked,
            "exposed": len(self.exposed),
            "exactly": sum(e.exact for e in self.exposed),
            "undecided": len(self.undecided),
            "linear programmes": self.programmes,
        }

    def report(self, *, internal: bool = False) -> str:
        """In words: the exposed cells by name, with their intervals (which tell values) only if ``internal``."""
        lines = [f"{self.checked} primary cells checked with {self.programmes} linear programmes"]
        for e in self.exposed:
            how = "can be computed exactly" if e.exact else "can be computed too closely"
            lines.append(f"exposed: {e.cell} {how}" + (f": [{e.lower:.10g}; {e.upper:.10g}]" if internal else ""))
        lines += [f"undecided: {name} (the solver gave up; do not treat it as safe)" for name in self.undecided]
        if self.safe:
            lines.append("nothing is exposed")
        return "\n".join(lines)


def audit(
    table: Table,
    *,
    protection: Protection | None = None,
    knowledge: Knowledge | None = None,
    intervals: Literal["none", "primary", "hidden"] = "none",
) -> AuditReport:
    """Attack a table with a solver: find the primary cells that can be computed more closely than they may be.

    ``protection`` says what must be kept (left out: the levels the primary rules demand, or that no value can be
    computed exactly), ``knowledge`` what the attacker knows beforehand (left out: that values are positive, if they
    are). ``intervals`` asks for the exact interval of every primary or every hidden cell as well, which takes two
    programmes each.

    >>> from diskret import Hierarchy
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st")
    >>> report = audit(table)
    >>> [(e.cell, e.lower, e.upper, e.exact) for e in report.exposed]
    [('s=a', 1.0, 1.0, True)]
    """
    wanted = protection or Protection(levels=table.below is not None)
    nonnegative = table.positive or not (table.value < 0).any()
    known = knowledge or (Knowledge.positive() if nonnegative else Knowledge.none())
    up, down = known.room(table)
    system = equations_of(table)
    primary = np.flatnonzero(table.status.reshape(-1)[system.cells] == Status.PRIMARY)
    needs = _needs(table, wanted, system, primary)
    attacker, undecided = attack(system, up[system.cells], down[system.cells], needs)
    failed = np.flatnonzero(~needs.met(attacker.reached_up, attacker.reached_down))
    exposed = tuple(_exposure(table, system, int(primary[k]), attacker) for k in failed if int(k) not in undecided)
    names = tuple(_name(table, int(system.cells[primary[k]])) for k in sorted(undecided))
    asked = primary if intervals == "primary" else np.arange(system.cells.size if intervals == "hidden" else 0)
    exact = {
        _name(table, int(system.cells[c])): (e.lower, e.upper)
        for c in asked
        for e in [_exposure(table, system, int(c), attacker)]
    }
    return AuditReport(table, exposed, names, attacker.programmes, primary.size, exact)


def _needs(table: Table, protection: Protection, system: Equations, columns: Ints) -> Needs:
    need, below, above = protection.needs(table)
    cells = system.cells[columns]
    size = np.abs(table.value.reshape(-1)[cells])
    return Needs(columns, above[cells], below[cells], need[cells], size)


def attack(system: Equations, up: Floats, down: Floats, needs: Needs) -> tuple[Attacker, set[int]]:
    """Push all targets up and down in batches, then the stubborn ones alone; the rest is exposed or undecided."""
    least = np.maximum(needs.size, 1.0) * 1e-3
    cap_up = np.maximum(np.maximum(needs.up, needs.range) * (1 + 1e-6), least)
    cap_down = np.maximum(np.maximum(needs.down, needs.range) * (1 + 1e-6), least)
    attacker = Attacker(system, up, down, needs.columns, cap_up, cap_down)
    undecided: set[int] = set()
    for upward in (True, False):
        waiting = _waiting(attacker, needs)
        while waiting.size > 1:
            attacker.push(waiting, upward)
            still = _waiting(attacker, needs)
            reached = attacker.reached_up if upward else attacker.reached_down
            cap = cap_up if upward else cap_down
            still = still[reached[needs.columns[still]] < cap[still] * (1 - 1e-9)]
            if still.size > (1 - WORTH_A_BATCH) * waiting.size:
                break
            waiting = still
    for k in _waiting(attacker, needs):
        for upward in (True, False):
            done = needs.met(attacker.reached_up, attacker.reached_down)[k]
            if not done and attacker.push(np.array([k]), upward) is None:
                undecided.add(int(k))
    return attacker, undecided


def _waiting(attacker: Attacker, needs: Needs) -> Ints:
    return np.flatnonzero(~needs.met(attacker.reached_up, attacker.reached_down))


def _exposure(table: Table, system: Equations, column: int, attacker: Attacker) -> Exposure:
    """The exact interval of an exposed cell."""
    cell = int(system.cells[column])
    value = float(table.value.reshape(-1)[cell])
    rise, fall = attacker.extreme(column, True), attacker.extreme(column, False)
    rise = attacker.reached_up[column] if rise is None else rise
    fall = attacker.reached_down[column] if fall is None else fall
    exact = rise + fall <= TOLERANCE * max(1.0, abs(value))
    lower, upper = (value, value) if exact else (value - fall, value + rise)
    index = tuple(int(i) for i in np.unravel_index(cell, table.shape))
    return Exposure(_name(table, cell), index, float(lower), float(upper), bool(exact))


def _name(table: Table, cell: int) -> str:
    index = tuple(int(i) for i in np.unravel_index(cell, table.shape))
    return ", ".join(f"{n}={c}" for n, c in zip(table.names, table.codes(index), strict=True))
