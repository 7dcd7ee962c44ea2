"""The attacker's linear programme: hidden cells as unknowns, published equations as rows, prior knowledge as bounds.

The solver only proposes. Unknowns are deviations from the true values, counted in whole steps: a cell can go as far as
it must if a point in whole numbers shows it, one that makes every equation true and keeps every bound. It cannot if a
combination of equations in whole numbers leaves it no room. What neither shows is undecided.

Programmes are measured by what is asked for: steps become multiples of a power of two near the goal, and nobody needs
to move much farther than that, so bounds beyond are cut off. (The proof uses the true ones.) Where a point is a hair
off, the programme is centred at it and solved again under a magnifying glass.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import ceil

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.equations import Equations
from diskret.model.grid import ENDLESS, FITS, Whole
from diskret.model.lp import ALL_BUT_OPTIMAL, Answer, Matrix, Programme, Simplex, Way
from diskret.model.rational import DENOMINATORS, Exactly, Ratio, by_digits, corrected, rounded, wide

FAR = 64
"""How many times its goal a programme lets other unknowns move at first."""
TRIES = ((1, FAR), (2, FAR), (2, FAR << 6), (2, FAR << 18))
"""Goal and bounds, as multiples. A goal of twice what is asked for tells apart what lies just below and just above."""
ZOOMS = 4
MOST_GOALS = 100
UNSEEN = 1e-6
"""Steps below this, measured by the goal, are within the solver's tolerance."""
CLOSE = 1e-6
"""How far from a whole number a multiplier may be that is tried as one; it counts only after the check."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Proof:
    """Why an unknown goes no farther: equations times whole numbers leave ``q`` times it, and others with bounds."""

    column: int
    upward: bool
    q: int
    times: Whole
    """One number per equation."""
    total: int
    """What ``q`` times the unknown cannot exceed, in steps; with q = 0, less than nothing: there is no point at all."""

    @property
    def reach(self) -> Fraction:
        """What the unknown cannot exceed, in steps."""
        return Fraction(self.total, self.q) if self.q else Fraction(-1)

    def refutes(self, goal: int) -> bool:
        """Whether the unknown cannot reach a goal."""
        return self.total < self.q * goal


@dataclass(frozen=True, eq=False, kw_only=True)
class Found:
    """How far an unknown was seen to go, and what it cannot exceed."""

    reach: Fraction = Fraction(0)
    point: Ratio | None = None
    proof: Proof | None = None

    @property
    def exact(self) -> bool:
        """Whether it goes exactly so far."""
        return self.proof is not None and self.proof.reach == self.reach


class Attacker:
    """One model of a system of equations and what somebody thinks possible, in whole steps."""

    def __init__(self, system: Equations, up: Whole, down: Whole) -> None:
        self.programmes = 0
        self.system = system
        self.exactly = Exactly(system)
        self.up, self.down = up, down
        nothing = np.zeros(system.cells.size)
        self._cost = nothing
        self._programme = Programme(
            Matrix(*system.by_column()),
            np.zeros(system.rows),
            lower=nothing,
            upper=nothing,
            way=Way(presolve=False, doubted=ALL_BUT_OPTIMAL),
        )

    def narrow(self, up: Whole, down: Whole) -> None:
        """Attack with other knowledge from now on."""
        self.up, self.down = up, down

    # --- one unknown --------------------------------------------------------------------------------------------------

    def farthest(self, column: int, upward: bool, goal: int, strict: bool = False, *, exactly: bool = False) -> Found:
        """Whether an unknown can go as far as a goal (``strict``: farther), or why not.

        Either the point found reaches it, or the proof says that nothing does; neither, if that stays undecided. With
        ``exactly`` the point goes as far as the proof allows, where it does not reach the goal.
        """
        room = int((self.up if upward else self.down)[column])
        if goal == 0 or room == 0:
            return self._at_all(column, upward) if goal == 0 and strict else _nowhere(self, column, upward)
        best = Found()
        for times, far in TRIES:
            cap = (goal + strict) * times
            for found in self._solved(column, upward, cap, far * goal):
                best = _better(best, found)
                if _decides(best, goal, strict) and (best.exact or best.reach >= goal or not exactly):
                    return best
        return best

    def extreme(self, column: int, upward: bool, near: int = 1) -> Fraction | float | None:
        """How far one unknown can go at most, infinite if there is no end; None if that cannot be decided.

        ``near`` is how far it may be; the nearer, the sooner it is found.
        """
        best, goal = _nowhere(self, column, upward), max(near, 1)
        for tries in range(MOST_GOALS):
            if best.exact:
                return best.reach
            if tries == 2 and best.proof is None and self._endless(column, upward):
                return np.inf
            before = best
            sought = self._at_all(column, upward) if tries == 3 else self.farthest(column, upward, goal, exactly=True)
            best = _better(best, sought)
            limit = None if best.proof is None else best.proof.reach
            # ever farther until a proof is near, then as far as it allows
            goal = max(1, ceil(16 * best.reach if limit is None or limit > 64 * best.reach else limit))
            if tries > 4 and best.reach == before.reach and best.proof is before.proof:
                break
        return best.reach if best.exact else None

    def _endless(self, column: int, upward: bool) -> bool:
        """Whether an unknown can go any distance: by moves of unknowns without bounds only."""
        return self._with_signs(column, upward, self.up == ENDLESS, self.down == ENDLESS).reach > 0

    def _at_all(self, column: int, upward: bool) -> Found:
        """Whether an unknown can move at all: sizes do not matter, only which rooms are empty."""
        found = self._with_signs(column, upward, self.up != 0, self.down != 0)
        if found.point is not None and found.point.x[column] != 0:
            part = shrunk(found.point, self.up, self.down)
            return Found(reach=abs(Fraction(int(part.x[column]), part.q)), point=part)
        return Found(proof=found.proof and self.prove(column, upward, found.proof.q, found.proof.times))

    def _with_signs(self, column: int, upward: bool, up: Bools, down: Bools) -> Found:
        """The attack with rooms of one step for some unknowns, none for the others."""
        rooms = self.up, self.down
        self.up, self.down = up.astype(np.int64), down.astype(np.int64)
        found = self.farthest(column, upward, 1)
        self.up, self.down = rooms
        return found

    def optimum(self, column: int, upward: bool) -> Iterator[Found]:
        """The farthest point of an unknown, as far as it goes, with a proof; or a proof that there is no point at all.

        For rooms that do not hold the true values, of which nothing is known beforehand.
        """
        rooms = (int(np.abs(room[room != ENDLESS]).max(initial=1)) for room in (self.up, self.down))
        cap = max(*rooms, 1)
        for times in (1, FAR, FAR << 12):
            yield from self._solved(column, upward, cap * times, cap * times * FAR)
            if self._programme.answer is Answer.INFEASIBLE:
                ray = self._programme.ray
                if ray is not None:
                    yield from (Found(proof=proof) for proof in self._impossible(column, upward, ray))

    # --- points -------------------------------------------------------------------------------------------------------

    def keeps(self, point: Ratio) -> bool:
        """Whether all unknowns stay in their rooms."""
        return not _outside(point, self.up, self.down).any()

    def _solved(self, column: int, upward: bool, cap: int, far: int) -> Iterator[Found]:
        """A point and a proof by one programme, then by others centred where the last point is off."""
        sign = 1 if upward else -1
        cost = np.zeros(self.up.size)
        cost[column] = -sign
        frame = Frame.of(self, cap, far)
        for _ in range(1 + ZOOMS):
            frame.caps(np.array([column]), np.array([cap], dtype=object), sign)
            point = self.run(frame, cost, Simplex.PRIMAL)
            if point is None:
                if self._programme.answer is Answer.OPTIMAL:
                    yield Found(proof=self.proof_of_last(self, column, upward))
                return
            good = self.keeps(point)
            seen = point if good else shrunk(point, self.up, self.down)
            reach = Fraction(sign * int(seen.x[column]), seen.q)
            yield Found(reach=reach, point=seen, proof=self.proof_of_last(self, column, upward))
            if good:
                return
            frame = Frame.at(self, point, violation(point, self.up, self.down))

    def run(self, frame: Frame, cost: Floats, simplex: Simplex) -> Ratio | None:
        """The best point of a programme within a frame, in whole numbers; None if there is none."""
        self.programmes += 1
        self._cost = cost
        low, high = frame.bounds()
        self._programme.use(simplex)
        self._programme.set_costs(cost)
        self._programme.set_bounds(low, high)
        if self._programme.solve() is not Answer.OPTIMAL:
            return None
        moved = self._programme.point * frame.unit
        basic = self._programme.basic
        # what is not basic lies at a bound, exactly
        near_high = np.abs(moved - frame.float_high) < np.abs(moved - frame.float_low)
        x = np.where(near_high, frame.high, frame.low)
        own = basic[basic >= 0]
        guess = rounded(moved[own])
        if guess.dtype == object and x.dtype != object:
            x = wide(x)
        x[own] = guess
        change = corrected(self.exactly, x, basic, self._programme.solve_basis)
        if change is None:
            # a bound too small for the solver to see may stand in the way of an equation
            x[np.abs(moved) < UNSEEN * frame.unit] = 0
            change = corrected(self.exactly, x, basic, self._programme.solve_basis)
        return None if change is None else frame.back(change)

    # --- proofs -------------------------------------------------------------------------------------------------------

    def prove(self, column: int, upward: bool, q: int, times: Whole) -> Proof | None:
        """What a combination of equations proves; None if it leaves an unknown without a bound."""
        left = -self.exactly.combined(times)
        left[column] += q
        over = left if upward else -left
        used = np.flatnonzero(over)
        rooms = np.where(over[used] > 0, self.up[used], self.down[used])
        if (rooms == ENDLESS).any():
            return None
        total = sum(abs(int(z)) * int(room) for z, room in zip(over[used], rooms, strict=True))
        return Proof(column=column, upward=upward, q=q, times=times, total=total)

    def proof_of_last(self, judge: Attacker, column: int, upward: bool) -> Proof | None:
        """The last programme's reason why an unknown goes no farther, as ``judge`` sees it; None if it has none."""
        sign = 1 if upward else -1
        # the solver minimises: its multipliers are those of the goal turned round, on either side
        dual = -sign * self._programme.multipliers
        for q in DENOMINATORS:
            if (np.abs(q * dual - np.rint(q * dual)) <= CLOSE * q).all():
                proof = judge.prove(column, upward, q, rounded(q * dual))
                if proof is not None:
                    return proof
                break
        found = self._multipliers(-sign)
        return None if found is None else judge.prove(column, upward, found.q, found.x)

    def _multipliers(self, sign: int) -> Ratio | None:
        """The multipliers of the basis digit by digit, for costs that are whole numbers."""
        basic = self._programme.basic
        own = basic >= 0
        right = np.zeros(basic.size, dtype=object)
        right[own] = [sign * int(cost) for cost in self._cost[basic[own]]]
        if not right.any():
            return None

        def said(times: Whole) -> Whole:
            of_columns = self.exactly.combined(times)
            result = np.empty(basic.size, dtype=object)
            result[own], result[~own] = of_columns[basic[own]], times[-1 - basic[~own]]
            return result

        return by_digits(right, self._programme.solve_transposed, said, self.exactly.rows)

    def _impossible(self, column: int, upward: bool, ray: Floats) -> Iterator[Proof]:
        """The solver's reason why there is no point, as whole numbers."""
        scale = np.abs(ray).max(initial=0.0)
        smallest = np.abs(ray[np.abs(ray) > CLOSE * scale]).min(initial=np.inf)
        for turned, q in product((1, -1), DENOMINATORS):
            times = rounded(turned * q * ray / smallest)
            proof = self.prove(column, upward, 0, times)
            if proof is not None and proof.total < 0:
                yield proof
                return


@dataclass(eq=False)
class Frame:
    """Bounds of a programme around a centre, in the centre's own steps, and the power of two it is measured by."""

    centre: Ratio
    low: Whole
    high: Whole
    unit: float
    far: int

    @classmethod
    def of(cls, attacker: Attacker, goal: int, far: int) -> Frame:
        """Around the true values."""
        nothing = np.zeros(attacker.up.size, dtype=np.int64)
        return cls._around(attacker, Ratio(1, nothing), goal, far)

    @classmethod
    def at(cls, attacker: Attacker, point: Ratio, off: int) -> Frame:
        """Around a point that is off by so much (in steps of the point)."""
        return cls._around(attacker, point, off, off << 20)

    @classmethod
    def _around(cls, attacker: Attacker, centre: Ratio, goal: int, far: int) -> Frame:
        q, x = centre
        up, down = _measured(attacker.up, q), _measured(attacker.down, q)
        if far >= FITS or x.dtype == object:
            x, up, down = wide(x), wide(up), wide(down)
        high = np.where(up == ENDLESS, far, np.minimum(up - x, far))
        low = np.where(down == ENDLESS, -far, np.maximum(-down - x, -far))
        return cls(centre, low, high, 2.0 ** (max(goal, 1).bit_length() - 1), far)

    def caps(self, columns: Ints, goals: Whole, sign: int) -> None:
        """Let some unknowns go no farther than asked for."""
        limit = goals * self.centre.q - sign * self.centre.x[columns]
        low, high = self.low[columns], self.high[columns]
        if sign > 0:
            self.high[columns] = np.maximum(np.minimum(high, limit), low)
        else:
            self.low[columns] = np.minimum(np.maximum(low, -limit), high)

    def bounds(self) -> tuple[Floats, Floats]:
        """For the solver."""
        self.float_low, self.float_high = self.low.astype(np.float64), self.high.astype(np.float64)
        return self.float_low / self.unit, self.float_high / self.unit

    def back(self, change: Ratio) -> Ratio:
        """A point of the frame as seen from the true values."""
        q, x = self.centre
        if q == 1 and x.dtype != object and not x.any():
            return change
        return Ratio(q * change.q, wide(x) * change.q + wide(change.x))


def _measured(room: Whole, q: int) -> Whole:
    """A room in steps of 1/q."""
    if q == 1:
        return room
    return np.where(room == ENDLESS, ENDLESS, wide(room) * q)


def _outside(point: Ratio, up: Whole, down: Whole) -> Bools:
    """Which unknowns leave their rooms."""
    q, x = point
    if q != 1:
        up, down = _measured(up, q), _measured(down, q)
    above: Bools = (up != ENDLESS) & (x > up)
    below: Bools = (down != ENDLESS) & (-x > down)
    return above | below


def violation(point: Ratio, up: Whole, down: Whole) -> int:
    """How far the farthest unknown is outside its room, in steps of the point."""
    found = 1
    for i in np.flatnonzero(_outside(point, up, down)):
        x = int(point.x[i])
        for sign, room in ((1, int(up[i])), (-1, int(down[i]))):
            found = max(found, 0 if room == ENDLESS else sign * x - point.q * room)
    return found


def shrunk(point: Ratio, up: Whole, down: Whole) -> Ratio:
    """The largest part of a point that stays in all rooms: it need not be all of it.

    Where a room does not hold the beginning (a case of whole numbers), no part need stay: the point is given as it is.
    """
    q, x = point
    part = Fraction(1)
    for i in np.flatnonzero(_outside(point, up, down)):
        if any(room != ENDLESS and room < 0 for room in (int(up[i]), int(down[i]))):
            return point
        room = int(up[i] if x[i] > 0 else down[i])
        part = min(part, Fraction(room * q, abs(int(x[i]))))
    if part == 1:
        return point
    return Ratio(q * part.denominator, wide(x) * part.numerator)


def _nowhere(attacker: Attacker, column: int, upward: bool) -> Found:
    """An unknown without room cannot move; or nothing is asked for."""
    nothing = np.zeros(attacker.exactly.rows, dtype=np.int64)
    return Found(point=Ratio(1, np.zeros(attacker.up.size, np.int64)), proof=attacker.prove(column, upward, 1, nothing))


def _better(one: Found, other: Found) -> Found:
    """The farthest point and the narrowest proof."""
    point = other if other.reach > one.reach or one.point is None else one
    proofs = [p for p in (one.proof, other.proof) if p is not None]
    return Found(reach=point.reach, point=point.point, proof=min(proofs, key=lambda p: p.reach) if proofs else None)


def _decides(found: Found, goal: int, strict: bool) -> bool:
    if found.reach > goal or (found.reach == goal and not strict):
        return True
    return found.proof is not None and (found.proof.reach < goal or (strict and found.proof.reach == goal))
