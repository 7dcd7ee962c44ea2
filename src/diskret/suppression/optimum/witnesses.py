"""Moves that show a pattern to be safe, kept from pattern to pattern, and thinning with their help.

A move is a deviation of some hidden cells that every equation allows. It shows an attacker who knows none of its cells
that its targets may lie elsewhere, in every pattern that hides all its cells. Only what no kept move shows needs a
programme.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.suppression.optimum.attackers import DOWN, RANGE, SIGN, UP, Attackers, Cut
from diskret.suppression.optimum.routing import Routes

MOST_MOVES = 6000


class Gap(NamedTuple):
    """An attacker who comes too close to a target, how far it moves for him, and the cuts that say so."""

    attacker: int
    target: int
    rise: float
    fall: float
    cuts: tuple[Cut, ...]


class Witnesses:
    """The moves found so far, each checked against equations and rooms when it comes in."""

    def __init__(self, attackers: Attackers, price: Floats) -> None:
        self.attackers = attackers
        self.routes = Routes(attackers)
        self.price = price
        """Moves over cheap cells are preferred: dear ones are opened first."""
        n, targets = attackers.system.cells.size, attackers.demands.columns.size
        self._count = 0
        self._cells = np.zeros((256, n), dtype=np.bool_)
        self._bits = np.zeros((256, -(-n // 64)), dtype=np.uint64)
        """The same, 64 cells in a word."""
        self._rise = np.zeros((256, targets))
        self._fall = np.zeros((256, targets))
        self._blind = np.zeros((len(attackers.knows), 256), dtype=np.bool_)
        """Per attacker the moves that use no cell he knows."""

    def add(self, y: Floats) -> int:
        """Keep a move, in both directions as far as the rooms allow; its number."""
        k = self._count
        if k == len(self._cells):
            self._cells = np.concatenate([self._cells, np.zeros_like(self._cells)])
            self._bits = np.concatenate([self._bits, np.zeros_like(self._bits)])
            self._rise = np.concatenate([self._rise, np.zeros_like(self._rise)])
            self._fall = np.concatenate([self._fall, np.zeros_like(self._fall)])
            self._blind = np.concatenate([self._blind, np.zeros_like(self._blind)], axis=1)
        a = self.attackers
        size = np.abs(y)
        largest = float(size.max(initial=0.0))
        used = size > 1e-9 * max(largest, 1e-9)
        off = max(float(np.abs(a.system.times(y)).max(initial=0.0)), float((y - a.up).max(initial=0.0)),
                  float((-y - a.down).max(initial=0.0)))  # fmt: skip
        if off > 1e-7 * max(largest, 1.0):
            used[:] = False  # the equations do not hold, or a room is too small: no move, whatever the solver says
        (at,) = np.nonzero(used)
        # back again: as far as the first cell allows
        back = float((np.where(y[at] > 0, a.far_down[at], a.far_up[at]) / size[at]).min(initial=np.inf))
        moved = y[a.demands.columns]
        self._cells[k], self._bits[k] = used, _packed(used)
        self._rise[k] = np.maximum(moved, -back * moved) if at.size else 0.0
        self._fall[k] = np.maximum(-moved, back * moved) if at.size else 0.0
        self._blind[:, k] = [not used[known].any() for known in a.knows]
        self._count += 1
        return k

    def alive(self, hidden: Bools) -> Bools:
        """Moves whose cells are all hidden."""
        return np.asarray(~np.any(self._bits[: self._count] & _packed(~hidden), axis=1), dtype=np.bool_)

    def cells(self, hidden: Bools) -> Bools:
        """The cells that the best moves of a safe pattern use: a safe pattern, too."""
        used = np.zeros(hidden.size, dtype=np.bool_)
        if self._count:
            up, down = self._best(self.alive(hidden), range(len(self.attackers.knows)))
            for k in np.unique([up[self.attackers.demands.asked], down[self.attackers.demands.asked]]).tolist():
                used |= self._cells[k]
        return used

    def forget(self, hidden: Bools) -> None:
        """Keep only the moves of one pattern if there are very many."""
        if self._count > MOST_MOVES:
            (kept,) = np.nonzero(self.alive(hidden))
            for kind in (self._cells, self._bits, self._rise, self._fall):
                kind[: kept.size] = kind[kept]
            self._blind[:, : kept.size] = self._blind[:, kept]
            self._count = kept.size

    # --- looking at one pattern ---------------------------------------------------------------------------------------

    def gaps(self, hidden: Bools, late: Callable[[], bool], most: int = 10**9) -> list[Gap] | None:
        """Where a pattern is not safe; empty: safe for everybody; None if there was no time to find out."""
        demands = self.attackers.demands
        found: list[Gap] = []
        for attacker, known in enumerate(self.attackers.knows):
            if attacker and not hidden[known].any():
                continue
            rise, fall = self.reach(self.alive(hidden), attacker)
            for target in np.flatnonzero(demands.asked[attacker] & ~demands.met(rise, fall)).tolist():
                if demands.met(rise, fall)[target]:
                    continue
                if late():
                    return None
                first = self._count
                gap = self._gap(hidden, attacker, target, cuts=True)
                new = slice(first, self._count)
                rise = np.maximum(rise, self._rise[new].max(axis=0, initial=0.0))
                fall = np.maximum(fall, self._fall[new].max(axis=0, initial=0.0))
                if gap is not None:
                    found.append(gap)
                    if len(found) >= most:
                        return found
        return found

    def reach(self, alive: Bools, attacker: int) -> tuple[Floats, Floats]:
        """How far the alive moves an attacker cannot see through take the targets, up and down."""
        rows = np.flatnonzero(alive & self._blind[attacker, : alive.size])
        return self._rise[rows].max(axis=0, initial=0.0), self._fall[rows].max(axis=0, initial=0.0)

    def _gap(self, hidden: Bools, attacker: int, target: int, cuts: bool) -> Gap | None:
        """None if some moves give a target what it needs; they are kept then."""
        if self._protected(hidden, self.price, attacker, target) is not None:
            return None
        a, need = self.attackers, self.attackers.demands.need[:, target]
        a.hide(hidden, attacker)
        ways = {kind: a.push(int(a.demands.columns[target]), SIGN[kind]) for kind in (UP, DOWN)}
        rise = fall = 0.0
        for pushed in ways.values():
            if pushed is not None:
                k = self.add(pushed[0])
                rise, fall = max(rise, float(self._rise[k, target])), max(fall, float(self._fall[k, target]))
        if rise >= need[UP] and fall >= need[DOWN] and rise + fall >= need[RANGE]:
            return None
        lacking = [kind for kind, reached in ((UP, rise), (DOWN, fall), (RANGE, rise + fall)) if reached < need[kind]]
        made = [a.cut_of(target, kind, ways, attacker) for kind in lacking] if cuts else []
        return Gap(attacker, target, rise, fall, tuple(cut for cut in made if cut is not None))

    def _protected(self, allowed: Bools, price: Floats, attacker: int, target: int) -> Bools | None:
        """The cells of the cheapest moves over allowed cells that give a target what it needs; None if none do."""
        up, down, span = (float(v) for v in self.attackers.demands.need[:, target])
        column = int(self.attackers.demands.columns[target])
        room = [float(self.attackers.far_up[column]), float(self.attackers.far_down[column])]
        first = [(UP, up), (DOWN, down)] if up or down else [(UP, span)]
        for ways in (first, [(UP, span)], [(DOWN, span)], [(UP, min(span / 2, room[UP])), (DOWN, span / 2)]):
            used = np.zeros(allowed.size, dtype=np.bool_)
            rise = fall = 0.0
            for kind, amount in ways:
                if amount > (rise, fall)[kind]:
                    y = self.routes.cheapest(allowed, price, attacker, column, kind, amount * (1 + 1e-9))
                    if y is None:
                        break
                    k = self.add(y)
                    used |= self._cells[k]
                    rise, fall = max(rise, float(self._rise[k, target])), max(fall, float(self._fall[k, target]))
            if rise >= up and fall >= down and rise + fall >= span:
                return used
            if not span or (ways is first and (up or down)):
                break
        return None

    def route(self, price: Floats, late: Callable[[], bool]) -> Bools | None:
        """A safe pattern, built of one cheapest move after the other; None if there was no time.

        Small needs come first: they take cheap cells, and large ones use them again.
        """
        a, demands = self.attackers, self.attackers.demands
        hidden = a.always.copy()
        order = np.argsort(demands.need.max(axis=0), kind="stable").tolist()
        for attacker in range(len(a.knows)):
            rise, fall = self.reach(self.alive(hidden), attacker)
            for target in order:
                if not demands.asked[attacker, target] or demands.met(rise, fall)[target]:
                    continue
                if late():
                    return None
                least = np.minimum(np.minimum(a.far_up, a.far_down), demands.need[:, target].max())
                per_unit = np.where(hidden, 0.0, price / np.maximum(least, 1e-9))
                used = self._protected(np.ones_like(hidden), per_unit, attacker, target)
                if used is None:
                    return np.ones_like(hidden)  # no such simple moves: let thinning find a way
                hidden |= used
                rise, fall = self.reach(self.alive(hidden), attacker)
        return hidden

    # --- thinning -----------------------------------------------------------------------------------------------------

    def thin(self, hidden: Bools, order: Iterable[int], late: Callable[[], bool]) -> Bools:
        """Open cells of a safe pattern in the given order wherever it stays safe."""
        self.forget(hidden)
        if self.gaps(hidden, late) != []:
            return hidden  # no time to look, or not safe: nothing may be opened
        demands = self.attackers.demands
        hidden = hidden.copy()
        people = range(len(self.attackers.knows))
        alive = self.alive(hidden)
        up, down = self._best(alive, people)
        for cell in order:
            if not hidden[cell] or self.attackers.always[cell]:
                continue
            dead = alive & self._cells[: alive.size, cell]
            if not dead.any():
                hidden[cell] = False
                continue
            if late():
                break
            hidden[cell] = False
            touched = demands.asked & (dead[up] | dead[down])
            if self._still_safe(hidden, alive & ~dead, touched, late):
                alive = self.alive(hidden)
                concerned = np.flatnonzero(touched.any(axis=1)).tolist()
                if concerned:
                    up[concerned], down[concerned] = self._best(alive, concerned)
            else:
                hidden[cell] = True
                alive = self.alive(hidden)
        return hidden

    def _best(self, alive: Bools, people: Iterable[int]) -> tuple[Ints, Ints]:
        """Per attacker and target the alive move that goes farthest up, and down."""
        ups, downs = [], []
        for attacker in people:
            rows = np.flatnonzero(alive & self._blind[attacker, : alive.size])
            if not rows.size:
                rows = np.zeros(1, dtype=np.int64)
            ups.append(rows[self._rise[rows].argmax(axis=0)])
            downs.append(rows[self._fall[rows].argmax(axis=0)])
        return np.array(ups), np.array(downs)

    def _still_safe(self, hidden: Bools, alive: Bools, touched: Bools, late: Callable[[], bool]) -> bool:
        demands = self.attackers.demands
        for attacker in np.flatnonzero(touched.any(axis=1)).tolist():
            rise, fall = self.reach(alive, attacker)
            unmet = np.flatnonzero(touched[attacker] & ~demands.met(rise, fall))
            first = self._count
            for target in unmet.tolist():
                new = slice(first, self._count)
                more_up = max(rise[target], self._rise[new, target].max(initial=0.0))
                more_down = max(fall[target], self._fall[new, target].max(initial=0.0))
                need = demands.need[:, target]
                if more_up >= need[UP] and more_down >= need[DOWN] and more_up + more_down >= need[RANGE]:
                    continue
                if late() or self._gap(hidden, attacker, target, cuts=False) is not None:
                    return False
        return True


def _packed(cells: Bools) -> npt.NDArray[np.uint64]:
    whole = np.zeros(-(-cells.size // 64) * 64, dtype=np.bool_)
    whole[: cells.size] = cells
    return np.packbits(whole).view(np.uint64)
