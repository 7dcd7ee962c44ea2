"""Kept moves, and which demands they settle against whom.

A move settles a demand if it carries the cell far enough without making any cell impossible. Against an insider it does
so only if the cells he knows something about stay within what he thinks possible. A demand is settled against everybody
when no insider can object to all of its moves: with two moves that share no single contributor nobody is left.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.auditing.insiders import Insiders
from diskret.auditing.targets import DOWN, LENGTH, Targets

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Nobody: frozenset[int] = frozenset()


@dataclass(frozen=True, eq=False)
class Kept:
    """A move that is kept: cells, by how much each moves, and the demands it settles with those who can object."""

    cells: Ints
    moved: Floats
    settles: dict[int, frozenset[int]]


class Cover:
    """All kept moves of a pattern; knows at any time which demands are settled and which cells are in use."""

    def __init__(
        self, targets: Targets, insiders: Insiders, up: Floats, down: Floats, shape: tuple[int, ...],
        whole: bool = False,
    ) -> None:  # fmt: skip
        self.shape = shape
        self.whole = whole
        """Whether moves count in whole numbers only."""
        self.targets, self.insiders, self.up, self.down = targets, insiders, up, down
        self.moves: dict[int, Kept] = {}
        self.settled_by: list[list[int]] = [[] for _ in range(targets.count)]
        self.through: dict[int, set[int]] = {}
        """Moves through every cell in use."""
        self.in_use = np.zeros(up.size, dtype=np.bool_)
        self._next = 0

    def limits(self, cells: Ints, moved: Floats) -> tuple[float, float]:
        """How many times a move can be made, and how many times backwards, before a cell becomes impossible."""
        up, down, size, rises = self.up[cells], self.down[cells], np.abs(moved), moved > 0
        return float((np.where(rises, up, down) / size).min()), float((np.where(rises, down, up) / size).min())

    def judge(self, cells: Ints, moved: Floats) -> Kept:
        """What a move settles, and who can object."""
        size, rises = np.abs(moved), moved > 0
        times = _divisor(moved) if self.whole else 0
        if self.whole and not times:
            return Kept(cells, moved, {})
        forth, reverse = (float(_steps(limit, times)) for limit in self.limits(cells, moved))
        numbers = self.targets.at[cells]
        place, slot = np.nonzero(numbers >= 0)
        number = numbers[place, slot].astype(np.int64)
        kind, amount = self.targets.kind[number], self.targets.amount[number] * (1 - 1e-12)
        enough = _reach(kind, rises[place], size[place], forth, reverse) >= amount
        place, number, kind, amount = place[enough], number[enough], kind[enough], amount[enough]
        settles = dict.fromkeys(number.tolist(), Nobody)
        at, entry = self.insiders.entries(cells) if self.insiders.count and number.size else (number, number)
        if self.insiders.count and at.size:
            who = self.insiders.who[entry]
            tight_up, tight_down = self.insiders.up[entry], self.insiders.down[entry]
            limit = np.minimum(forth, _steps(np.where(rises[at], tight_up, tight_down) / size[at], times))
            limit_back = np.minimum(reverse, _steps(np.where(rises[at], tight_down, tight_up) / size[at], times))
            reach = _reach(kind[:, None], rises[place][:, None], size[place][:, None], limit, limit_back)
            objects = (reach < amount[:, None]) & ~self.insiders.contribute(who, cells[place], self.shape)
            # nor does a coalition find out what it was said to know
            objects &= ~np.isin(place[:, None] * self.insiders.number + who, at * self.insiders.number + who)
            settles = {n: frozenset(who[row].tolist()) for n, row in zip(number.tolist(), objects, strict=True)}
        return Kept(cells, moved, settles)

    def add(self, kept: Kept) -> int:
        """Keep a move."""
        number = self._next
        self._next += 1
        self.restore(number, kept)
        return number

    def restore(self, number: int, kept: Kept) -> None:
        """Take back a move that was dropped, under its old number."""
        self.moves[number] = kept
        for demand in kept.settles:
            self.settled_by[demand].append(number)
        for cell in kept.cells.tolist():
            self.through.setdefault(cell, set()).add(number)
        self.in_use[kept.cells] = True

    def drop(self, number: int) -> Kept:
        """Do without a move."""
        kept = self.moves.pop(number)
        for demand in kept.settles:
            self.settled_by[demand].remove(number)
        for cell in kept.cells.tolist():
            users = self.through[cell]
            users.remove(number)
            if not users:
                del self.through[cell]
                self.in_use[cell] = False
        return kept

    def objectors(self, demand: int, without: int = -1) -> frozenset[int] | None:
        """Who can object to every move of a demand; None if it has no move at all."""
        left: frozenset[int] | None = None
        for number in self.settled_by[demand]:
            if number != without:
                objects = self.moves[number].settles[demand]
                left = objects if left is None else left & objects
                if not left:
                    return Nobody
        return left

    def open_without(self, number: int) -> list[int]:
        """Demands that are settled now and would not be without a move."""
        return [d for d in self.moves[number].settles if self.objectors(d, without=number) != Nobody]


def _divisor(moved: Floats) -> int:
    """The largest whole number that divides every amount of a move; 0 if they are no whole numbers."""
    amounts = np.abs(moved)
    if not (np.isfinite(amounts) & (amounts == np.rint(amounts)) & (amounts < 2.0**53)).all():
        return 0
    return int(np.gcd.reduce(amounts.astype(np.int64)))


def _steps(limit: Floats | float, times: int) -> Floats | float:
    """How many times a move can be made if only every ``times``-th part of it is a whole step (0: any part)."""
    result: Floats | float = np.floor(np.asarray(limit) * times * (1 + 1e-12)) / times if times else limit
    return result


def _reach(
    kind: npt.NDArray[np.int8],
    rises: npt.NDArray[np.bool_],
    size: Floats,
    forth: Floats | float,
    reverse: Floats | float,
) -> Floats:
    """How far a cell is carried the way its demand asks for."""
    upward = np.where(rises, forth, reverse)
    downward = np.where(rises, reverse, forth)
    result: Floats = size * np.where(kind == LENGTH, upward + downward, np.where(kind == DOWN, downward, upward))
    return result
