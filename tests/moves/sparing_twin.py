"""Doing without cells, move by move in plain sets and dictionaries: what the kernels of `sparing` do, to be read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import gcd

import numpy as np

from diskret.model.arrays import Bools
from diskret.moves.cover import Cover
from diskret.moves.move import MoveSet

TRIED, USERS, AT_ONCE = 60, 24, 32
Steps = dict[int, int]
Ask = Callable[[int, frozenset[int], int], Steps]


@dataclass(eq=False)
class Known:
    """A move that was made once; whether it is kept, and what it settles against whose objection."""

    steps: Steps
    settles: dict[int, frozenset[int]]
    kept: bool = True


class Twin:
    """The moves of a pattern, all that ever were, in the order they were made."""

    def __init__(self, cover: Cover, moves: MoveSet, hidden: Bools, movable: Bools) -> None:
        self.cover, self.hidden = cover, hidden
        self.may = movable & ((cover.up > 0) | (cover.down > 0))
        self.moves: list[Known] = []
        self.won = 0
        for move in moves:
            self.moves.append(self._judged(dict(zip(move.cells.tolist(), map(int, move.coefficients), strict=True))))

    def kept(self) -> list[Steps]:
        """The moves that are kept now."""
        return [move.steps for move in self.moves if move.kept]

    def spare(self, order: list[int], ask: Ask) -> None:
        """Do without cells one after the other; ``ask`` is asked where two moves do not add up to what is needed."""
        for cell in order:
            self._without(cell, ask)

    def _without(self, cell: int, ask: Ask) -> None:
        out = [move for move in self._through(cell) if move.kept]
        first_new = len(self.moves)
        if not 0 < len(out) <= USERS:
            return
        for move in out:
            move.kept = False
        opened = [d for move in out for d in sorted(move.settles) if self._missing(d) is not None]
        opened.sort(key=lambda d: float(self.cover.ways.asked[d]))
        if len(opened) > AT_ONCE or not all(self._settled_again(d, out, cell, ask) for d in opened[::-1]):
            del self.moves[first_new:]
            for move in out:
                move.kept = True
            return
        rested = {c for move in out for c in move.steps if not self.hidden[c] and not self._used(c)}
        self.may[sorted(rested)] = False
        self.won += len(rested)

    def _settled_again(self, demand: int, out: list[Known], cell: int, ask: Ask) -> bool:
        while (missing := self._missing(demand)) is not None:
            if not self._summed(demand, out, cell):
                answer = ask(demand, frozenset(missing or ()), cell)
                if not answer or not self._helps(demand, answer):
                    return False
                self._remember(demand, out)
        return True

    def _summed(self, demand: int, out: list[Known], cell: int) -> bool:
        """Two moves through the cell, one of which settled the demand, so often that the cell rests."""
        tried = 0
        for move in (each for each in out if demand in each.settles):
            for other in self._through(cell):
                if other is move or tried == TRIED:
                    continue
                tried += 1
                if self._helps(demand, _together(move.steps, other.steps[cell], other.steps, move.steps[cell])):
                    return True
        return False

    def _helps(self, demand: int, steps: Steps) -> bool:
        """Keep a move if it settles a demand, against somebody more at least."""
        if not all(self.may[c] for c in steps):
            return False
        before, new = self._missing(demand), self._judged(steps)
        self.moves.append(new)
        after = self._missing(demand)
        if after is None or (after and (not before or len(after) < len(before))):
            return True
        self.moves.pop()
        return False

    def _remember(self, demand: int, out: list[Known]) -> None:
        """What an answer differs by from a move that goes through the cell goes through it too: others may need it."""
        new, pivot = self.moves[-1], int(self.cover.ways.cell[demand])
        for move in out:
            if move.steps.get(pivot) and new.steps.get(pivot):
                apart = _together(move.steps, new.steps[pivot], new.steps, move.steps[pivot])
                if all(self.may[c] for c in {*move.steps, *new.steps}):
                    self.moves.append(Known(_smallest(apart), {}, kept=False))
                    return

    def _missing(self, demand: int) -> frozenset[int] | None:
        """Who objects to every kept move of a demand; None: nobody. Empty if there is no move."""
        objecting = [move.settles[demand] for move in self.moves if move.kept and demand in move.settles]
        return (frozenset.intersection(*objecting) or None) if objecting else frozenset()

    def _through(self, cell: int) -> list[Known]:
        return [move for move in self.moves[::-1] if cell in move.steps]

    def _used(self, cell: int) -> bool:
        return any(move.kept and cell in move.steps for move in self.moves)

    def _judged(self, steps: Steps) -> Known:
        steps = _smallest(steps)
        cells = np.array(sorted(steps), dtype=np.int64)
        judged = self.cover.judge(cells, np.array([float(steps[c]) for c in cells.tolist()]))
        return Known(steps, dict(judged.settles))


def _together(one: Steps, by: int, other: Steps, less: int) -> Steps:
    """One move ``by`` times, less another so many times, by no common factor; cells that come to rest are zero."""
    common = gcd(by, less)
    cells = [*one, *(c for c in other if c not in one)]
    return {c: one.get(c, 0) * (by // common) - other.get(c, 0) * (less // common) for c in cells}


def _smallest(steps: Steps) -> Steps:
    common = gcd(*steps.values())
    return {c: by // common for c, by in steps.items() if by}
