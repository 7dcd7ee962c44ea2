"""Checking a certificate in whole numbers: every move is added up again, every proof, every line. No solver.

Moves are judged many at once. Amounts are whole multiples of one over the unit of the grounds; a move that can be made
T/L times (L a common multiple of its steps) carries a cell with step d by T d / L, so everything is compared in whole
numbers: 64 bits where they suffice, as many as it takes otherwise. The common multiple of many long steps has as many
digits as all of them together; where it is too long, L is 1 and T a fraction, no longer than one room and one step.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.auditing.exact_proof import EVERYBODY, Interval, Refutation
from diskret.auditing.grounds import Grounds, Reach, Room
from diskret.auditing.knowing import Knowing, Rooms
from diskret.model.arrays import Bools, Ints
from diskret.model.cells import Cells

Wholes = npt.NDArray[Any]
"""Whole numbers of 64 bits, or Python's; fractions where a multiple is too long."""
SAFE = 2**62
Ways = tuple[Reach, Reach]
"""How often a move can be made forward and backward, times its multiple; None: without end."""


@dataclass(frozen=True, kw_only=True)
class WholeMove:
    """A direction in which hidden cells can move together: whole steps that balance in every equation."""

    cells: tuple[int, ...]
    """Flat positions in the table."""
    steps: tuple[int, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Steps:
    """Moves that hold, end to end, without common divisors."""

    start: Ints
    cells: Ints
    steps: Wholes
    multiple: list[int]
    """A common multiple of the steps of every move; 1 where it is too long."""
    broken: int = 0

    def move(self) -> Ints:
        """The move of every entry."""
        return np.repeat(np.arange(self.start.size - 1), np.diff(self.start))


def steps_of(table: Cells, moves: Sequence[WholeMove]) -> Steps:
    """The moves that use hidden cells, each once, and leave every equation true; the others are counted as broken."""
    hidden = table.hidden.reshape(-1)
    good = [move for move in moves if _sound(move, hidden, table.size)]
    start = np.append(0, np.cumsum([len(move.cells) for move in good], dtype=np.int64)).astype(np.int64)
    cells = np.array([c for move in good for c in move.cells], dtype=np.int64)
    steps = _wholes([s for move in good for s in move.steps])
    balanced = _balanced(table, start, cells, steps)
    if not balanced.all():
        left = steps_of(table, [move for move, fine in zip(good, balanced.tolist(), strict=True) if fine])
        return Steps(
            start=left.start, cells=left.cells, steps=left.steps, multiple=left.multiple,
            broken=len(moves) - (left.start.size - 1),
        )  # fmt: skip
    multiples = []
    for i, move in enumerate(good):
        common = gcd(*move.steps)
        if common > 1:
            steps[start[i] : start[i + 1]] //= common
        multiples.append(_multiple({abs(step) // common for step in move.steps}))
    return Steps(start=start, cells=cells, steps=steps, multiple=multiples, broken=len(moves) - len(good))


def _multiple(sizes: set[int]) -> int:
    """The least common multiple of steps; 1 if it is too long. It is left as soon as it is."""
    found = 1
    for size in sizes:
        found = lcm(found, size)
        if found >= SAFE:
            return 1
    return found


def _sound(move: WholeMove, hidden: Bools, size: int) -> bool:
    if not 0 < len(move.cells) == len(move.steps) or len(set(move.cells)) < len(move.cells):
        return False
    return all(move.steps) and all(0 <= c < size and hidden[c] for c in move.cells)


def _wholes(numbers: list[int], most: int = 2**31) -> Wholes:
    small = all(-most < n < most for n in numbers)
    return np.array(numbers, dtype=np.int64 if small else object)


def _balanced(table: Cells, start: Ints, cells: Ints, steps: Wholes) -> Bools:
    """Which moves leave every equation true."""
    good = np.ones(start.size - 1, dtype=np.bool_)
    if not cells.size:
        return good
    system = table.equations()
    first, rows, times = system.by_column()
    column = np.searchsorted(system.cells, cells)
    length = first[column + 1] - first[column]
    entry = np.repeat(np.arange(cells.size), length)
    at = np.repeat(first[column] - (np.cumsum(length) - length), length) + np.arange(entry.size)
    move = np.repeat(np.arange(start.size - 1), np.diff(start))
    key, line = np.unique(move[entry] * max(system.rows, 1) + rows[at], return_inverse=True)
    coefficients = np.rint(times[at]).astype(np.int64)
    largest = int(np.abs(coefficients).max(initial=0)) * max(map(abs, steps.tolist())) * entry.size
    kind = np.int64 if largest < SAFE else object
    off = np.zeros(key.size, dtype=kind)
    np.add.at(off, line, coefficients.astype(kind) * steps[entry].astype(kind))
    good[key[off != 0] // max(system.rows, 1)] = False
    return good


@dataclass(frozen=True, eq=False, kw_only=True)
class Witness:
    """All moves with how often each can be made, against everybody and against those who know some of its cells."""

    grounds: Grounds
    moves: Steps
    public: list[Ways]
    narrow: list[dict[str, Ways]]
    through: dict[int, list[tuple[int, int]]] = field(repr=False)
    """For every cell in a move the moves through it, with its step."""

    @classmethod
    def of(cls, grounds: Grounds, knowing: Knowing, moves: Steps) -> Witness:
        """How often each move can be made."""
        number, cells, steps = moves.move(), moves.cells.tolist(), moves.steps.tolist()
        public = _public(grounds, moves)
        narrow: list[dict[str, Ways]] = [{} for _ in public]
        holders: dict[int, list[tuple[str, Rooms]]] = {}
        for who, known in knowing.known.items():
            for cell, rooms in known.items():
                holders.setdefault(cell, []).append((who, rooms))
        through: dict[int, list[tuple[int, int]]] = {}
        for m, cell, step in zip(number.tolist(), cells, steps, strict=True):
            through.setdefault(cell, []).append((m, step))
            for who, rooms in holders.get(cell, ()):
                own = _times(rooms, step, moves.multiple[m], grounds)
                narrow[m][who] = _both(narrow[m].get(who, public[m]), own)
        return cls(grounds=grounds, moves=moves, public=public, narrow=narrow, through=through)

    def reached(self, cell: int, who: str = EVERYBODY) -> tuple[Fraction | None, Fraction | None]:
        """How far a cell rises and falls at most by the moves, against somebody; None: without end."""
        through = self.through.get(cell, ())
        ways = [self.narrow[m].get(who, self.public[m])[:: 1 if step > 0 else -1] for m, step in through]
        multiples = [self.moves.multiple[m] for m, _ in through]
        sizes = [abs(step) for _, step in through]
        return (
            _farthest([forth for forth, _ in ways], sizes, multiples),
            _farthest([back for _, back in ways], sizes, multiples),
        )

    def kept(self, cell: int, knowing: Knowing) -> bool:
        """Whether a primary cell keeps what is demanded against everybody and every insider it is asked of."""
        through = self.through.get(cell, [])
        enough = [(m, step) for m, step in through if self._enough(cell, m, step)]
        if enough:
            # whoever knows nothing about a move that is enough by itself cannot object
            suspects = set(self.narrow[enough[0][0]]).intersection(*(self.narrow[m] for m, _ in enough[1:]))
        elif self.grounds.keeps(cell, *self.reached(cell)):
            suspects = {who for m, _ in through for who in self.narrow[m]}
        else:
            return False
        return all(
            not knowing.asked(who, cell)
            or any(self._enough(cell, m, step, who) for m, step in enough)
            or self.grounds.keeps(cell, *self.reached(cell, who))
            for who in suspects
        )

    def rises(self, cell: int) -> bool:
        """Whether some move lets a count rise by at least one, against everybody."""
        rise, _ = self.reached(cell)
        return rise is None or rise >= self.grounds.unit

    def _enough(self, cell: int, m: int, step: int, who: str = EVERYBODY) -> bool:
        """Whether a move by itself carries a cell far enough against somebody."""
        ways = self.narrow[m].get(who, self.public[m])[:: 1 if step > 0 else -1]
        rise, fall = (None if t is None else t * abs(step) for t in ways)
        return self.grounds.keeps(cell, rise, fall, self.moves.multiple[m])


def _both(one: Ways, other: Ways) -> Ways:
    return _least(one[0], other[0]), _least(one[1], other[1])


def _least(one: Reach, other: Reach) -> Reach:
    return other if one is None else one if other is None else min(one, other)


def _farthest(times: list[Reach], sizes: list[int], multiples: list[int]) -> Fraction | None:
    """The largest of times x size / multiple, 0 without any; None: without end. Fractions are made once, at the end."""
    best: int | Fraction = 0
    of = 1
    for t, size, multiple in zip(times, sizes, multiples, strict=True):
        if t is None:
            return None
        if t * size * of > best * multiple:
            best, of = t * size, multiple
    return Fraction(best, of)


def _times(rooms: Rooms, step: int, multiple: int, grounds: Grounds) -> Ways:
    """How often a step can be made within rooms, times the multiple; in whole steps for counts."""
    share = _share(multiple, abs(step))
    up, down = (None if room is None else _made(room * share, multiple, grounds) for room in rooms)
    return (up, down) if step > 0 else (down, up)


def _share(multiple: int, size: int) -> int | Fraction:
    """How often a step goes into the multiple of its move."""
    return Fraction(multiple, size) if multiple % size else multiple // size


def _made(times: int | Fraction, multiple: int, grounds: Grounds) -> int | Fraction:
    """How often a move can be made, times its multiple: in whole steps for counts."""
    one = grounds.unit * multiple
    return times // one * one if grounds.whole else times


def _public(grounds: Grounds, moves: Steps) -> list[Ways]:
    """How often each move can be made by what everybody knows."""
    if not moves.cells.size:
        return []
    up, down = (_some(side, moves.cells) for side in (grounds.up, grounds.down))
    farthest = max((room for room in [*up, *down] if room is not None), default=0)
    endless = 1 + farthest * max(moves.multiple)
    factor, rises = _factors(moves), moves.steps > 0
    kind = factor.dtype if endless < SAFE else object

    def scaled(side: list[Room]) -> Wholes:
        rooms = np.array([0 if room is None else room for room in side], dtype=kind)
        return np.where([room is None for room in side], endless, rooms * factor).astype(kind)

    sides = scaled(up), scaled(down)
    forth, back = (
        [
            None if least == endless else _made(least, multiple, grounds)
            for least, multiple in zip(
                np.minimum.reduceat(ahead, moves.start[:-1]).tolist(), moves.multiple, strict=True
            )
        ]
        for ahead in (np.where(rises, *sides), np.where(rises, *sides[::-1]))
    )
    return list(zip(forth, back, strict=True))


def _some(side: list[Room], cells: Ints) -> list[Room]:
    return [side[c] for c in cells.tolist()]


def _factors(moves: Steps) -> Wholes:
    """How often the step of every entry goes into the multiple of its move: 64 bits, or fractions among them."""
    multiple, sizes = np.array(moves.multiple, dtype=np.int64)[moves.move()], np.abs(moves.steps)
    if not (multiple % sizes).any():
        return (multiple // sizes).astype(np.int64)
    pairs = zip(multiple.tolist(), sizes.tolist(), strict=True)
    return np.array([_share(*pair) for pair in pairs], dtype=object)


def bounds_of(
    proofs: Sequence[Refutation], equations: dict[int, dict[int, int]], grounds: Grounds, knowing: Knowing
) -> tuple[dict[int, dict[str, list[Fraction | None]]], int]:
    """For every cell with a proof how far it can go up and down at most, by whom; and how many proofs are broken."""
    found: dict[int, dict[str, list[Fraction | None]]] = {}
    broken = 0
    hidden = set(grounds.hidden)
    for proof in proofs:

        def interval(cell: int, who: str = proof.by) -> Interval:
            if cell not in hidden:
                raise ValueError("a cell that is not hidden")
            own = knowing.rooms(who, cell)
            up, down = _least(grounds.up[cell], own[0]), _least(grounds.down[cell], own[1])
            unit = grounds.unit
            return None if down is None else Fraction(-down, unit), None if up is None else Fraction(up, unit)

        try:
            interval(proof.cell)
            bound = proof.bound(equations, interval, whole=grounds.whole)
        except ValueError:
            broken += 1
            continue
        ends = found.setdefault(proof.cell, {}).setdefault(proof.by, [None, None])
        side = 0 if proof.upward else 1
        reach = None if bound is None else bound * grounds.unit
        ends[side] = _nearer(ends[side], reach)
    return found, broken


def _nearer(one: Fraction | None, other: Fraction | None) -> Fraction | None:
    return other if one is None else one if other is None else min(one, other)


def exposed_to(cell: int, ends: dict[str, list[Fraction | None]], grounds: Grounds, knowing: Knowing) -> list[str]:
    """To whom a primary cell is proven to be exposed."""
    public = ends.get(EVERYBODY, [None, None])
    found = []
    for who, own in ends.items():
        if knowing.asked(who, cell):
            rise, fall = (_nearer(a, b) for a, b in zip(own, public, strict=True))
            if not grounds.keeps(cell, rise, fall):
                found.append(who)
    return found
