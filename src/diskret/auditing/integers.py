"""Frequency tables: unknowns are whole numbers, which can say more than any interval of real numbers.

A value that could be anything between 0.5 and 1.5 is a one. So for counts a point counts only if it is whole. Where the
farthest point is not, the room of one unknown is split into what lies below and what lies above its fraction, and both
halves are attacked; a proof is a tree of such splits with a proof in every leaf. Most trees are a single leaf.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from diskret.auditing.attacker import Attacker, Proof
from diskret.model.arrays import Floats, Ints
from diskret.model.equations import Equations
from diskret.model.errors import BadOption
from diskret.model.grid import Whole, floor_of, whole
from diskret.model.rational import Ratio

NODES = 2_000
"""Splits after which a cell is left undecided. On random tables of counts 99 of 100 cells take one, the others 16."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Split:
    """A proof by cases: an unknown is at most ``at``, or at least one more."""

    column: int
    at: int
    below: Tree
    above: Tree


Tree = Proof | Split


@dataclass(frozen=True, eq=False, kw_only=True)
class WholeFound:
    """How far an unknown was seen to go in whole numbers, and why it cannot reach what was asked for."""

    reach: int = 0
    point: Ratio | None = None
    proof: Tree | None = None
    """Why it cannot go farther than ``reach``."""


class _GivesUp(Exception):
    """Too many cases."""


def farthest_whole(
    attacker: Attacker, column: int, upward: bool, goal: int | None = None, seconds: float = np.inf, *,
    splits: int = NODES, start: Ratio | None = None,
) -> WholeFound:  # fmt: skip
    """How far an unknown can go in whole steps, at most up to a goal; with the proof that it goes no farther.

    Neither the goal nor a proof means that it stays undecided: after many splits, or ``seconds``. ``start`` is a point
    in whole numbers that is known already.
    """
    search = _Search(attacker, column, upward, goal, time.monotonic() + seconds, splits)
    if start is not None:
        search.keep(start)
    up, down = attacker.up, attacker.down
    try:
        proof = search.tree(up, down)
    except (_GivesUp, RecursionError):
        proof = None
    attacker.narrow(up, down)
    return WholeFound(reach=search.best, point=search.point, proof=None if search.there else proof)


@dataclass(eq=False)
class _Search:
    """Branch and bound, one unknown at a time."""

    attacker: Attacker
    column: int
    upward: bool
    goal: int | None
    end: float
    splits: int
    best: int = 0
    point: Ratio | None = None
    nodes: int = 0

    @property
    def there(self) -> bool:
        """Whether the goal is reached."""
        return self.goal is not None and self.best >= self.goal

    def tree(self, up: Whole, down: Whole) -> Tree | None:
        """A proof that the unknown goes no farther than the best point; None once the goal is reached."""
        self.nodes += 1
        if self.nodes > self.splits or time.monotonic() > self.end:
            raise _GivesUp
        self.attacker.narrow(up, down)
        found = self._farthest()
        if isinstance(found, Proof):
            return found
        split = _fraction(found)
        if split is None:
            before = self.best
            self.keep(found)
            if self.there:
                return None
            if self.best == before:
                raise _GivesUp
            # a better point narrows what has to be proved
            return self.tree(up, down)
        at, floor = split
        lower_up, upper_down = up.copy(), down.copy()
        lower_up[at], upper_down[at] = floor, -(floor + 1)
        below = self.tree(lower_up, down)
        above = None if self.there else self.tree(up, upper_down)
        if below is None or above is None:
            return None
        return Split(column=at, at=floor, below=below, above=above)

    def _farthest(self) -> Proof | Ratio:
        """The farthest point, or a proof that none is far enough."""
        point = None
        for found in self.attacker.optimum(self.column, self.upward):
            if found.proof is not None and found.proof.refutes(self.best + 1 if self.goal is None else self.goal):
                return found.proof
            point = found.point or point
        if point is None or not self.attacker.keeps(point):
            raise _GivesUp
        return point

    def keep(self, point: Ratio) -> None:
        """Remember a point if it is the farthest so far."""
        reach = abs(int(point.x[self.column])) // point.q
        if reach > self.best:
            self.best, self.point = reach, Ratio(1, point.x // point.q)


def _fraction(point: Ratio) -> tuple[int, int] | None:
    """The unknown whose fraction is nearest to a half, and the whole number below it; None if all are whole."""
    if point.q == 1:
        return None
    part = point.x % point.q
    if not part.any():
        return None
    at = int(np.argmin(np.abs(2 * part - point.q)))
    return at, int(point.x[at]) // point.q


def integer_extreme(
    system: Equations,
    value: Floats,
    room_up: Floats,
    room_down: Floats,
    column: int,
    upward: bool,
    seconds: float = 10.0,
) -> float | None:
    """How far an unknown can go at most if all hidden values are whole numbers; None if that is not found in time.

    ``value``, ``room_up`` and ``room_down`` are per unknown: the true counts, and how far above and below them an
    attacker thinks each possible. The answer is a whole number, or infinite.

    >>> from diskret import Hierarchy, Table
    >>> from diskret.model.equations import equations_of
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> system = equations_of(Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", status="st"))
    >>> integer_extreme(system, np.array([1.0, 2.0]), np.full(2, np.inf), np.array([1.0, 1.5]), 0, True)
    1.0
    """
    if (value != np.rint(value)).any():
        raise BadOption("whole-number intervals of values that are not whole numbers", hint="use them for counts only.")
    label = system.components()
    columns: Ints = np.flatnonzero(label == label[column])
    attacker = Attacker(system.part(columns), whole_room(room_up[columns]), whole_room(room_down[columns]))
    at = int(np.searchsorted(columns, column))
    if attacker.extreme(at, upward) == np.inf:
        # doing nothing is possible, and whole multiples of a rational direction are whole
        return np.inf
    found = farthest_whole(attacker, at, upward, seconds=seconds)
    return None if found.proof is None else float(found.reach)


def whole_room(room: Floats) -> Whole:
    """A room in whole numbers; what is whole up to binary fractions stays whole."""
    return whole(floor_of(room), 0)
