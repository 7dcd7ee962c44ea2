"""Moves that show a pattern to be safe, kept from pattern to pattern, and thinning with their help.

A move is a deviation of some hidden cells that every equation allows. It shows an attacker who knows none of its cells
that its targets may lie elsewhere, in every pattern that hides all its cells. Only what no kept move shows needs a
programme.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.tolerances import ROUNDING, SOLVER
from diskret.suppression.optimum.attackers import DOWN, RANGE, SIGN, UP, Attackers, Cut, Pushed
from diskret.suppression.optimum.clock import Clock
from diskret.suppression.optimum.routing import Routes

MOST_MOVES = 6000
"""With more moves than this, only those of one pattern are kept."""


class Gap(NamedTuple):
    """An attacker who comes too close to a target, how far it moves for him, and the cuts that say so."""

    attacker: int
    target: int
    rise: float
    fall: float
    cuts: tuple[Cut, ...]


class Kept(NamedTuple):
    """One row per move, with room for more."""

    cells: Bools
    bits: npt.NDArray[np.uint64]
    """The same, 64 cells in a word."""
    rise: Floats
    """How far it takes every target up,"""
    fall: Floats
    """and down."""
    blind: Bools
    """Per attacker whether it uses no cell he knows."""

    def doubled(self) -> Kept:
        """Twice the room."""
        return Kept(*(np.concatenate([part, np.zeros_like(part)]) for part in self))


class Witnesses:
    """The moves found so far, each checked against equations and rooms when it comes in."""

    def __init__(self, attackers: Attackers, price: Floats, clock: Clock) -> None:
        self.attackers, self.clock = attackers, clock
        self.routes = Routes(attackers)
        self.price = price
        """Moves over cheap cells are preferred: expensive ones are opened first."""
        n, reach = attackers.system.cells.size, np.zeros((256, attackers.demands.columns.size))
        bits = np.zeros((256, -(-n // 64)), dtype=np.uint64)
        blind = np.zeros((256, len(attackers.knows)), dtype=np.bool_)
        self._kept = Kept(np.zeros((256, n), dtype=np.bool_), bits, reach, reach.copy(), blind)
        self._count = 0

    def add(self, y: Floats) -> int:
        """Keep a move, in both directions as far as the rooms allow; its number."""
        a, k = self.attackers, self._count
        if k == len(self._kept.cells):
            self._kept = self._kept.doubled()
        size = np.abs(y)
        largest = float(size.max(initial=0.0))
        used = size > ROUNDING * max(largest, ROUNDING)
        off = np.concatenate([np.abs(a.system.times(y)), y - a.up, -y - a.down]).max(initial=0.0)
        if off > SOLVER * max(largest, 1.0):
            used[:] = False  # the equations do not hold, or a room is too small: no move, whatever the solver says
        (at,) = np.nonzero(used)
        # back again: as far as the first cell allows
        back = float((np.where(y[at] > 0, a.far_down[at], a.far_up[at]) / size[at]).min(initial=np.inf))
        moved = y[a.demands.columns]
        kept = self._kept
        kept.cells[k], kept.bits[k] = used, _packed(used)
        kept.rise[k] = np.maximum(moved, -back * moved) if at.size else 0.0
        kept.fall[k] = np.maximum(-moved, back * moved) if at.size else 0.0
        kept.blind[k] = [not used[known].any() for known in a.knows]
        self._count += 1
        return k

    def alive(self, hidden: Bools) -> Bools:
        """Moves whose cells are all hidden."""
        return np.asarray(~np.any(self._kept.bits[: self._count] & _packed(~hidden), axis=1), dtype=np.bool_)

    def cells(self, hidden: Bools) -> Bools:
        """The cells that the best moves of a safe pattern use: a safe pattern, too."""
        if not self._count:
            return np.zeros(hidden.size, dtype=np.bool_)
        best, asked = self._best(self.alive(hidden), range(len(self.attackers.knows))), self.attackers.demands.asked
        return np.asarray(self._kept.cells[np.unique(best[:, asked])].any(axis=0))

    def _forget(self, hidden: Bools) -> None:
        """Keep only the moves of one pattern if there are very many."""
        if self._count > MOST_MOVES:
            (rows,) = np.nonzero(self.alive(hidden))
            for part in self._kept:
                part[: rows.size] = part[rows]
            self._count = rows.size

    def reach(self, alive: Bools, attacker: int) -> tuple[Floats, Floats]:
        """How far the alive moves an attacker cannot see through take the targets, up and down."""
        rows = np.flatnonzero(alive & self._kept.blind[: alive.size, attacker])
        return self._kept.rise[rows].max(axis=0, initial=0.0), self._kept.fall[rows].max(axis=0, initial=0.0)

    def _reached(self, moves: list[int] | slice, target: int) -> tuple[float, float]:
        """How far some moves take one target."""
        rise, fall = self._kept.rise[moves, target], self._kept.fall[moves, target]
        return float(rise.max(initial=0.0)), float(fall.max(initial=0.0))

    # --- looking at one pattern ---------------------------------------------------------------------------------------

    def gaps(self, hidden: Bools, most: int = 10**9) -> list[Gap] | None:
        """Where a pattern is not safe; empty: safe for everybody; None if there was no time to find out."""
        found: list[Gap] = []
        for attacker, known in enumerate(self.attackers.knows):
            if attacker and not hidden[known].any():
                continue
            for target in self._unmet(self.alive(hidden), attacker, self.attackers.demands.asked[attacker]):
                if self.clock.late:
                    return None
                gap = self._gap(hidden, attacker, target)
                if gap is not None:
                    found.append(gap)
                    if len(found) >= most:
                        return found
        return found

    def _unmet(self, alive: Bools, attacker: int, asked: Bools) -> Iterator[int]:
        """Targets for which no move is known; what is found for one of them on the way may do for the next."""
        demands, first = self.attackers.demands, self._count
        rise, fall = self.reach(alive, attacker)
        for target in np.flatnonzero(asked & ~demands.met(rise, fall)).tolist():
            up, down = self._reached(slice(first, self._count), target)
            if demands.lacking(target, max(rise[target], up), max(fall[target], down)):
                yield target

    def _gap(self, hidden: Bools, attacker: int, target: int, cuts: bool = True) -> Gap | None:
        """None if some moves give a target what it needs; they are kept then. ``cuts`` are made only if wanted."""
        if self._protected(hidden, self.price, attacker, target) is not None:
            return None
        a = self.attackers
        a.hide(hidden, attacker)
        ways = [a.push(int(a.demands.columns[target]), SIGN[kind]) for kind in (UP, DOWN)]
        rise, fall = self._reached([self.add(pushed.moved) for pushed in ways if pushed is not None], target)
        lacking = a.demands.lacking(target, rise, fall)
        if not lacking:
            return None
        made = [self._cut(attacker, target, kind, ways) for kind in lacking] if cuts else []
        return Gap(attacker, target, rise, fall, tuple(cut for cut in made if cut is not None))

    def _cut(self, attacker: int, target: int, kind: int, ways: list[Pushed | None]) -> Cut | None:
        """The cut that the farthest ways up and down prove; for a range what limits both, together."""
        limits = np.zeros(self.price.size)
        for side in (UP, DOWN) if kind == RANGE else (kind,):
            pushed = ways[side]
            if pushed is None:
                return None
            limits += self.attackers.limits(side, pushed.follows)
        return self.attackers.cut(target, kind, limits, attacker)

    def _protected(self, allowed: Bools, price: Floats, attacker: int, target: int) -> Bools | None:
        """The cells of the cheapest moves over allowed cells that give a target what it needs; None if none do."""
        demands, column = self.attackers.demands, int(self.attackers.demands.columns[target])
        up, down, span = (float(v) for v in demands.need[:, target])
        half = min(span / 2, float(self.attackers.far_up[column]))
        tries = [((UP, up), (DOWN, down))]
        if not (up or down):
            tries = [((UP, span), (DOWN, 0.0)), ((UP, 0.0), (DOWN, span)), ((UP, half), (DOWN, span / 2))]
        for ways in tries:
            moves: list[int] = []
            for kind, amount in ways:
                if amount > self._reached(moves, target)[kind]:
                    y = self.routes.cheapest(allowed, price, attacker, column, kind, amount * (1 + ROUNDING))
                    if y is None:
                        break
                    moves.append(self.add(y))
            if not demands.lacking(target, *self._reached(moves, target)):
                return np.asarray(self._kept.cells[moves].any(axis=0))
        return None

    def route(self, price: Floats) -> Bools | None:
        """A safe pattern, built of one cheapest move after the other; None if there was no time.

        Small needs come first: they take cheap cells, and large ones use them again.
        """
        a, demands = self.attackers, self.attackers.demands
        hidden = a.always.copy()
        order = np.argsort(demands.need.max(axis=0), kind="stable").tolist()
        for attacker in range(len(a.knows)):
            met = demands.met(*self.reach(self.alive(hidden), attacker))
            for target in order:
                if not demands.asked[attacker, target] or met[target]:
                    continue
                if self.clock.late:
                    return None
                least = np.minimum(np.minimum(a.far_up, a.far_down), demands.need[:, target].max())
                per_unit = np.where(hidden, 0.0, price / np.maximum(least, ROUNDING))
                used = self._protected(np.ones_like(hidden), per_unit, attacker, target)
                if used is None:
                    return np.ones_like(hidden)  # no such simple moves: let thinning find a way
                hidden |= used
                met = demands.met(*self.reach(self.alive(hidden), attacker))
        return hidden

    # --- thinning -----------------------------------------------------------------------------------------------------

    def thin(self, hidden: Bools, order: Iterable[int]) -> Bools:
        """Open cells of a safe pattern in the given order wherever it stays safe."""
        self._forget(hidden)
        if self.gaps(hidden) != []:
            return hidden  # no time to look, or not safe: nothing may be opened
        hidden = hidden.copy()
        alive = self.alive(hidden)
        best = self._best(alive, range(len(self.attackers.knows)))
        for cell in order:
            if not hidden[cell] or self.attackers.always[cell]:
                continue
            dead = alive & self._kept.cells[: alive.size, cell]
            if dead.any() and self.clock.late:
                break
            hidden[cell] = False
            if not dead.any():
                continue
            touched = self.attackers.demands.asked & dead[best].any(axis=0)
            hidden[cell] = not self._still_safe(hidden, alive & ~dead, touched)
            alive = self.alive(hidden)
            concerned = np.flatnonzero(touched.any(axis=1))
            if not hidden[cell] and concerned.size:
                best[:, concerned] = self._best(alive, concerned.tolist())
        return hidden

    def _best(self, alive: Bools, people: Iterable[int]) -> Ints:
        """The alive move that goes farthest up, and the one that goes farthest down, per attacker and target."""
        found = []
        for attacker in people:
            rows = np.flatnonzero(alive & self._kept.blind[: alive.size, attacker])
            if not rows.size:
                rows = np.zeros(1, dtype=np.int64)
            found.append([rows[reach[rows].argmax(axis=0)] for reach in (self._kept.rise, self._kept.fall)])
        return np.array(found).swapaxes(0, 1)

    def _still_safe(self, hidden: Bools, alive: Bools, touched: Bools) -> bool:
        for attacker in np.flatnonzero(touched.any(axis=1)).tolist():
            for target in self._unmet(alive, attacker, touched[attacker]):
                if self.clock.late or self._gap(hidden, attacker, target, cuts=False) is not None:
                    return False
        return True


def _packed(cells: Bools) -> npt.NDArray[np.uint64]:
    whole = np.zeros(-(-cells.size // 64) * 64, dtype=np.bool_)
    whole[: cells.size] = cells
    return np.packbits(whole).view(np.uint64)
