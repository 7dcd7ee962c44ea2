"""Kept moves, and which demands they settle against whom.

A move settles a demand if it carries the cell far enough without making any cell impossible; where doubles cannot tell,
whole numbers decide. Against an insider it does
so only if the cells he knows something about stay within what he thinks possible. A demand is settled against everybody
when no insider can object to all of its moves: with two moves that share no single contributor nobody is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from fractions import Fraction
from math import floor
from typing import Any, Protocol

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.grid import ENDLESS, digits_of, whole
from diskret.moves import _cover_kernels
from diskret.moves.demands import LENGTH, OPEN, SETTLED, UP, Demands, State, Ways
from diskret.moves.insiders import Insiders
from diskret.moves.move import Move, MoveSet
from diskret.moves.standing import Ledger, Rows, Standing

MANY = 2_000
"""So many demands or moves are worth the kernels for many: compiling them takes two seconds, once on a machine."""
AT_ONCE = 10_000
"""Moves that are judged together: more would need more memory, and not be faster."""


class Judging(Protocol):
    """What moves are judged by: a `Cover` has it."""

    @property
    def ways(self) -> Ways:
        """The demands."""
        ...

    @property
    def insiders(self) -> Insiders:
        """Who knows what."""
        ...

    @property
    def up(self) -> Floats:
        """How far every cell can rise."""
        ...

    @property
    def down(self) -> Floats:
        """How far every cell can fall."""
        ...

    @property
    def whole(self) -> bool:
        """Whether moves count in whole numbers only."""
        ...

    @property
    def homes(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Where insiders stand."""
        ...


def asked_of(judging: Judging) -> tuple[Any, ...]:
    """What kernels need to know to judge a move."""
    ways, people = judging.ways, judging.insiders
    return (
        judging.up, judging.down, ways.at, ways.kind, ways.amount, ways.strict, judging.whole,
        people.start, people.who, people.up, people.down, *judging.homes,
    )  # fmt: skip


class Cover:
    """All kept moves of a pattern; knows at any time which demands are settled and which cells are in use."""

    def __init__(
        self, demands: Demands, insiders: Insiders, up: Floats, down: Floats, shape: tuple[int, ...],
        whole: bool = False,
    ) -> None:  # fmt: skip
        self.shape = shape
        self.whole = whole
        """Whether moves count in whole numbers only."""
        self.ways, self.insiders, self.up, self.down = demands.ways, insiders, up, down
        self.digits = demands.digits
        self.moves: dict[int, Move] = {}
        self.settled_by: list[list[int]] = [[] for _ in range(self.ways.size)]
        self.in_use = np.zeros(up.size, dtype=np.bool_)
        self._next = 0
        self.homes = _homes(insiders, shape)
        self._through: dict[int, set[int]] | None = None
        self._book: Ledger | None = None
        self._unbooked: list[Move] = []

    @property
    def through(self) -> dict[int, set[int]]:
        """Moves through every cell in use: kept only if somebody asks."""
        if self._through is None:
            self._through = {}
            for number, kept in self.moves.items():
                for cell in kept.cells.tolist():
                    self._through.setdefault(cell, set()).add(number)
        return self._through

    def limits(self, cells: Ints, moved: Floats) -> tuple[float, float]:
        """How many times a move can be made, and how many times backwards, before a cell becomes impossible."""
        up, down, size, rises = self.up[cells], self.down[cells], np.abs(moved), moved > 0
        return float((np.where(rises, up, down) / size).min()), float((np.where(rises, down, up) / size).min())

    @property
    def asked(self) -> tuple[Any, ...]:
        """What kernels need to know to judge a move."""
        return asked_of(self)

    def judge(self, cells: Ints, moved: Floats) -> Move:
        """A move with what it settles and who can object."""
        if self.whole:
            if (moved != np.rint(moved)).any():
                return Move(cells=cells, coefficients=moved)
            moved = moved / float(np.gcd.reduce(np.abs(moved).astype(np.int64)))
        settled, tied, first, objectors = _cover_kernels.judge(cells, moved, *self.asked)
        who, start, doubtful = objectors.tolist(), first.tolist(), tied.tolist()
        clear = int(objectors.min(initial=0)) >= 0
        settles = {
            n: frozenset(who[start[i] : start[i + 1]])
            if clear
            else self._objecting(cells, moved, n, who[start[i] : start[i + 1]])
            for i, n in enumerate(settled.tolist())
            if not doubtful[i] or self._settles(cells, moved, n)
        }
        return Move(cells=cells, coefficients=moved, settles=settles)

    def _objecting(self, cells: Ints, moved: Floats, demand: int, people: Sequence[int]) -> frozenset[int]:
        """Insiders who can object to a move; where that is a tie (-1 minus the number), whole numbers decide."""
        return frozenset(
            who if who >= 0 else -1 - who
            for who in people
            if who >= 0 or not self._settles(cells, moved, demand, self.insiders.cells_of(-1 - who))
        )

    def _settles(
        self, cells: Ints, moved: Floats, demand: int, known: tuple[Ints, Floats, Floats] | None = None
    ) -> bool:
        """Whether a move settles a demand, in whole numbers; against somebody who knows something about some cells."""
        up, down = self.up[cells], self.down[cells]
        if known is not None:
            _, mine, his = np.intersect1d(cells, known[0], return_indices=True)
            up[mine], down[mine] = np.minimum(up[mine], known[1][his]), np.minimum(down[mine], known[2][his])
        by = float(moved[cells == self.ways.cell[demand]][0])
        pivot, rises = Fraction(abs(by)), by > 0
        digits = digits_of(np.concatenate([up, down]), first=self.digits) or self.digits
        # of all cells that change alike only the one with least room counts
        sizes, alike = np.unique(np.abs(moved), return_inverse=True)
        steps = [Fraction(size) for size in sizes.tolist()]
        forth, back = (
            _times(steps, whole(_least(room, alike, sizes.size), digits).tolist())
            for room in (np.where(moved > 0, up, down), np.where(moved > 0, down, up))
        )
        kind = int(self.ways.kind[demand])
        if self.whole:
            forth, back = (None if each is None else Fraction(floor(each)) for each in (forth, back))
        sides = [forth, back] if kind == LENGTH else [forth if rises == (kind == UP) else back]
        if None in sides:
            return True
        reach = pivot * sum(side for side in sides if side is not None)
        (amount,) = whole(self.ways.amount[[demand]], digits).tolist()
        return reach > amount or (reach == amount and not self.ways.strict[demand])

    def add(self, kept: Move, booked: bool = False) -> int:
        """Keep a move."""
        number = self._next
        self._next += 1
        self.restore(number, kept, booked)
        return number

    def take(self, moves: MoveSet, own: Ints | None = None, *, alone: bool = False) -> None:
        """Judge many moves in whole steps and keep those that settle something.

        If every move was made for a demand of its ``own``, it is kept only while that one is not settled entirely;
        ``alone``: wide moves of many are judged for that one only.
        """
        if self.whole or (len(moves) < MANY and self._book is None and not alone):
            for number, move in enumerate(moves):
                if own is None or not self.state(int(own[number])).entirely:
                    self._add_judged(move)
            return
        ledger, only = self._ledger(), np.full_like(self.ways.at if alone else self.ways.at[:0], -1)
        nothing = np.full(len(moves), -1, dtype=np.int64) if own is None else own
        for first in range(0, len(moves), AT_ONCE):
            some = moves.some(np.arange(first, min(first + AT_ONCE, len(moves))))
            cells, moved = some.cells.astype(np.int64, copy=False), some.coefficients.astype(np.float64, copy=False)
            asked = self.asked, nothing[first : first + AT_ONCE], only
            rows = Rows(*_cover_kernels.judge_many(some.start, cells, moved, *asked))
            kept = ledger.note(rows, None if own is None else own[first : first + AT_ONCE])
            for move, settles in zip(some.some(np.flatnonzero(kept)), rows.some(kept), strict=True):
                if settles is None:
                    self._add_judged(move)
                else:
                    self.add(replace(move, settles=settles), booked=True)

    def _add_judged(self, move: Move) -> None:
        judged = self.judge(move.cells, move.coefficients)
        if judged.settles:
            self.add(judged)

    def again(self, moves: MoveSet) -> Cover:
        """A cover of other moves, and of those kept here for what they do not settle against everybody."""
        other = copy(self)
        other.moves, other.settled_by = {}, [[] for _ in range(self.ways.size)]
        other.in_use, other._through, other._book, other._unbooked = np.zeros_like(self.in_use), None, None, []
        other.take(moves)
        needed = {n for d in np.flatnonzero(~other.standing().entirely).tolist() for n in self.settled_by[d]}
        for number in sorted(needed):
            other.add(self.moves[number])
        return other

    def standing(self) -> Standing:
        """Where every demand stands with the kept moves."""
        if self.ways.size >= MANY:
            return self._ledger().standing
        states = [self.state(demand) for demand in range(self.ways.size)]
        settled, entirely = [each.settled for each in states], [each.entirely for each in states]
        return Standing(np.array(settled, dtype=np.bool_), np.array(entirely, dtype=np.bool_))

    def left(self, demand: int) -> list[int]:
        """Insiders who can object to all moves of a demand that is settled; none if it is not."""
        if self.ways.size >= MANY:
            return self._ledger().left(demand)
        return sorted(self.state(demand).against)

    def _ledger(self) -> Ledger:
        """Who is left that can object, brought up to date."""
        if self._book is None:
            self._book, self._unbooked = Ledger(self.ways.size, self.insiders.number), list(self.moves.values())
        if self._unbooked:
            self._book.note(Rows.of(kept.settles for kept in self._unbooked))
            self._unbooked = []
        return self._book

    def restore(self, number: int, kept: Move, booked: bool = False) -> None:
        """Take back a move that was dropped, under its old number; ``booked`` if the ledger knows it already."""
        self.moves[number] = kept
        if self._book is not None and not booked:
            self._unbooked.append(kept)
        for demand in kept.settles:
            self.settled_by[demand].append(number)
        if self._through is not None:
            for cell in kept.cells.tolist():
                self._through.setdefault(cell, set()).add(number)
        self.in_use[kept.cells] = True

    def drop(self, number: int) -> Move:
        """Do without a move."""
        through, kept = self.through, self.moves.pop(number)
        self._book = None  # who is left again nobody knows
        for demand in kept.settles:
            self.settled_by[demand].remove(number)
        for cell in kept.cells.tolist():
            users = through[cell]
            users.remove(number)
            if not users:
                del through[cell]
                self.in_use[cell] = False
        return kept

    def state(self, demand: int, without: int = -1) -> State:
        """Where a demand stands with the kept moves (all, or all but one)."""
        left: frozenset[int] | None = None
        for number in self.settled_by[demand]:
            if number != without:
                objects = self.moves[number].settles[demand]
                left = objects if left is None else left & objects
                if not left:
                    return SETTLED
        return OPEN if left is None else State(settled=True, against=left)

    def gathered(self) -> MoveSet:
        """The kept moves in the order they were made, and how far each goes."""
        moves = MoveSet.of([self.moves[number] for number in sorted(self.moves)])
        if not len(moves):
            return moves
        rises, size = moves.coefficients > 0, np.abs(moves.coefficients)
        up, down = self.up[moves.cells], self.down[moves.cells]
        return replace(
            moves,
            up=np.minimum.reduceat(np.where(rises, up, down) / size, moves.start[:-1]),
            down=np.minimum.reduceat(np.where(rises, down, up) / size, moves.start[:-1]),
        )

    def all(self) -> MoveSet:
        """The same, each with the cells whose demands it settles."""
        rows = Rows.of(self.moves[number].settles for number in sorted(self.moves))
        of_move = np.repeat(np.arange(rows.ends.size), np.diff(rows.ends, prepend=0))
        settled = np.unique(of_move * self.up.size + self.ways.cell[rows.demands])
        return replace(
            self.gathered(),
            first_protected=np.searchsorted(settled, np.arange(rows.ends.size + 1) * self.up.size),
            protected_cells=settled % self.up.size,
        )

    def open_without(self, number: int) -> list[int]:
        """Demands that are settled now and would not be without a move."""
        return [d for d in self.moves[number].settles if not self.state(d, without=number).entirely]


def _times(steps: Sequence[Fraction], rooms: Sequence[int]) -> Fraction | None:
    """How many times a move can be made before a cell leaves its room; None without end."""
    limits = [Fraction(room) / step for step, room in zip(steps, rooms, strict=True) if room != ENDLESS]
    return min(limits) if limits else None


def _least(rooms: Floats, group: Ints, groups: int) -> Floats:
    """The least room of every group."""
    found = np.full(groups, np.inf)
    np.minimum.at(found, group, rooms)
    return found


def _homes(insiders: Insiders, shape: tuple[int, ...]) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Where insiders stand, as plain arrays: home, codes below every code axis by axis, shape, and for pools who."""
    below = np.concatenate(insiders.below) if insiders.below else np.empty(0, np.int64)
    offset = np.cumsum([0, *(each.size for each in insiders.below)])
    # in a pool somebody may stand behind nothing: no number is -1
    behind = np.empty(0, np.int64) if insiders.behind is None else np.concatenate([[-1], insiders.behind])
    return insiders.home, below, offset, np.array(shape, dtype=np.int64), behind
