"""The additive change of least weighted squares within bounds: Newton's method on the multipliers of the equations.

With multipliers y every cell is on its own: it takes the change z that makes w z z - (A'y) z least within its bounds.
The sum of these least values is a concave function of y whose slope is how far the equations are off; where it is
highest they hold. No change can cost less than any of its values (`adjustment_bound`). Each step solves equations with
the cells that stand at no bound, by conjugate gradients. What is still off at the end is mended in whole steps
(`snapping`), and what that costs shows in the gap.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Floats
from diskret.perturbation.adjustment_room import Room

STEPS = 100
INNER = 1_000
CLOSE = 1e-11
"""How far equations may be off, relative to what is changed in them."""
NOTHING = 1e-13
"""What a step must promise to gain, relative to the value: less is the rounding errors of doubles."""
LITTLE, OFTEN = 1e-10, 5
"""Steps that gain less than this, relative to the value, so many times in a row, lead nowhere."""
EXACT = 1e-14
"""How well a step is solved for, by squares."""
DAMPED, LEAST, MOST = 1e-2, 1e-8, 1e8
"""How much of their share cells at a bound have in a step: much at first, where many of them will leave it."""


class _Dual(NamedTuple):
    """The value of some multipliers, the changes they lead to, and what the equations are then off by."""

    value: float
    change: Floats
    off: Floats


class _Squares:
    """The concave function of the multipliers, and steps uphill."""

    def __init__(self, room: Room, low: Floats, high: Floats) -> None:
        equations = room.equations
        self.weight, self.low, self.high, self.rows = room.weight, low, high, equations.rows
        self.row, self.column, self.times = equations.row_of(), equations.columns, equations.coefficients

    def sums(self, change: Floats) -> Floats:
        return np.bincount(self.row, self.times * change[self.column], self.rows).astype(np.float64)

    def pull(self, multipliers: Floats) -> Floats:
        return np.bincount(self.column, self.times * multipliers[self.row], self.weight.size).astype(np.float64)

    def at(self, multipliers: Floats) -> _Dual:
        pull = self.pull(multipliers)
        change = np.clip(pull / (2 * self.weight), self.low, self.high)
        return _Dual(float((self.weight * change * change - pull * change).sum()), change, self.sums(change))

    def holds(self, dual: _Dual) -> bool:
        size = np.bincount(self.row, np.abs(self.times * dual.change[self.column]), self.rows)
        return bool((np.abs(dual.off) <= CLOSE * np.maximum(size, 1.0)).all())

    def step(self, dual: _Dual, damped: float) -> Floats:
        """Multipliers that move the cells at no bound so that the equations hold."""
        free = (dual.change > self.low) & (dual.change < self.high)
        flow = np.where(free, 1.0 + damped, damped) / (2 * self.weight)
        scale = 1.0 / np.maximum(np.bincount(self.row, self.times**2 * flow[self.column], self.rows), 1e-300)
        x, left = np.zeros(self.rows), -dual.off
        direction = scale * left
        size = float(left @ direction)
        enough = EXACT * size
        for _ in range(INNER):
            image = self.sums(flow * self.pull(direction))
            curve = float(direction @ image)
            if size <= enough or curve <= 0:
                break
            x += size / curve * direction
            left = left - size / curve * image
            before, size = size, float(left @ (scale * left))
            direction = scale * left + size / before * direction
        return x


def least_squares(room: Room, low: Floats, high: Floats, begin: Floats | None = None) -> tuple[Floats, Floats]:
    """The nearest change between ``low`` and ``high`` (units), and the multipliers; ``begin``: where to start.

    >>> import numpy as np
    >>> from diskret.perturbation.adjustment_room import small_room
    >>> change, _ = least_squares(small_room("L2"), np.array([2.0, -9.0]), np.array([9.0, 9.0]))
    >>> change.round(6).tolist()
    [2.0, 2.0]
    """
    squares = _Squares(room, low, high)
    y = np.zeros(squares.rows) if begin is None else begin
    now, damped, idle = squares.at(y), DAMPED, 0
    for _ in range(STEPS):
        if squares.holds(now) or damped > MOST or idle >= OFTEN:
            break
        step = squares.step(now, damped)
        gain, then = -float(now.off @ step), squares.at(y + step)
        if gain <= NOTHING * abs(now.value):
            break
        if then.value >= now.value + 1e-4 * gain:
            idle = idle + 1 if then.value - now.value < LITTLE * abs(now.value) else 0
            y, now, damped = y + step, then, max(damped / 10, LEAST)
        else:
            damped *= 30
    return now.change, y
