"""Kernels: a small system of equations solved for some of its unknowns, and how far one unknown can be pushed.

``table[i, j]`` says how the basic unknown ``basic[i]`` follows the free one ``free[j]``. Nothing moved is always
possible, so a push begins there, whatever the rooms, and goes on from the last choice of basic unknowns.
"""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part

NOTHING = 1e-10
"""Smaller entries are rounding errors: entries are small fractions."""
PIVOT = 1e-7
SOON = 30
STUCK = 40
"""After this many steps without progress the first unknown is taken, not the best: so it cannot go round in circles."""


@kernel
def solved(matrix, basic, free):
    """Solve equations (dense, destroyed) for as many unknowns as possible; the rank, with the solution in place."""
    rows, columns = matrix.shape
    rank, others = 0, 0
    for column in range(columns):
        best = rank
        for row in range(rank, rows):
            if abs(matrix[row, column]) > abs(matrix[best, column]):
                best = row
        if rank == rows or abs(matrix[best, column]) < PIVOT:
            free[others] = column
            others += 1
            continue
        for j in range(columns):
            matrix[best, j], matrix[rank, j] = matrix[rank, j], matrix[best, j]
        pivot = matrix[rank, column]
        for j in range(columns):
            matrix[rank, j] /= pivot
        for row in range(rows):
            times = matrix[row, column]
            if row != rank and times != 0.0:
                for j in range(columns):
                    matrix[row, j] -= times * matrix[rank, j]
        basic[rank] = column
        rank += 1
    return rank


@part
def _exchange(table, basic, free, row, column, at):
    """Let a basic and a free unknown change places."""
    pivot = table[row, column]
    width, count = table.shape[1], 0
    for j in range(width):
        if table[row, j] != 0.0 and j != column:
            at[count] = j
            count += 1
            table[row, j] /= -pivot
    for i in range(table.shape[0]):
        times = table[i, column]
        if i == row or times == 0.0:
            continue
        for k in range(count):
            j = at[k]
            new = table[i, j] + times * table[row, j]
            table[i, j] = new if abs(new) > NOTHING else 0.0
        table[i, column] = times / pivot
    table[row, column] = 1.0 / pivot
    basic[row], free[column] = free[column], basic[row]


@part
def _costs(table, basic, cost, moved, along, apart):
    """What a step of every free unknown costs for the basic ones: the same both ways turned round, and both ways."""
    for j in range(along.size):
        along[j], apart[j] = 0.0, 0.0
    for i in range(basic.size):
        cell = basic[i]
        if moved[cell] == 0.0:
            for j in range(along.size):
                apart[j] += cost[cell] * abs(table[i, j])
        else:
            weight = cost[cell] if moved[cell] > 0.0 else -cost[cell]
            for j in range(along.size):
                along[j] += weight * table[i, j]


@part
def _cheapest_way(table, free, row, column, sign, low, high, moved, cost, along, apart):
    """The free unknown that takes the target on at the lowest cost; -1 for none."""
    best, chosen = np.inf, -1
    for j in range(free.size):
        rate = table[row, j] if row >= 0 else (1.0 if j == column else 0.0)
        if abs(rate) < NOTHING:
            continue
        cell = free[j]
        up = rate * sign > 0
        room = high[cell] - moved[cell] if up else moved[cell] - low[cell]
        if room > 0.0:
            own = cost[cell] if moved[cell] == 0.0 or (moved[cell] > 0.0) == up else -cost[cell]
            price = (own + apart[j] + (along[j] if up else -along[j])) / abs(rate)
            if price < best:
                best, chosen = price, j
    return chosen


@part
def _entering(table, free, row, column, sign, low, high, moved, first):
    """The free unknown that may take the target farthest, or the first that takes it anywhere; -1 for none.

    And how far all of them could take it, each on its own.
    """
    best, chosen, all_of = 0.0, -1, 0.0
    for j in range(free.size):
        rate = table[row, j] if row >= 0 else (1.0 if j == column else 0.0)
        if abs(rate) < NOTHING:
            continue
        cell = free[j]
        gain = abs(rate) * (high[cell] - moved[cell] if rate * sign > 0 else moved[cell] - low[cell])
        all_of += gain
        if gain > best and not (first and chosen >= 0):
            best, chosen = gain, j
    return chosen, all_of


@part
def _end(side, low, high, up):
    """Where an unknown stops: at nothing moved if costs bend there (it has a side), or where its room ends."""
    if up:
        return 0.0 if side < 0.0 else high
    return 0.0 if side > 0.0 else low


@part
def _go(table, basic, free, at, column, direction, low, high, moved, side):
    """Let a free unknown go until it, or a basic one, comes to its end, and that one be free: how far, and its row."""
    cell = free[column]
    end = _end(side[cell], low[cell], high[cell], direction > 0)
    step, chosen, size = abs(end - moved[cell]), np.int64(-1), 0.0  # see `push`
    for i in range(basic.size):
        rate = direction * table[i, column]
        if abs(rate) < PIVOT:
            continue
        met = basic[i]
        left = (_end(side[met], low[met], high[met], rate > 0) - moved[met]) / rate
        if left < 0.0:
            left = 0.0
        if left < step or (left == step and abs(rate) > size):
            step, chosen, size = left, i, abs(rate)
    for i in range(basic.size):
        if table[i, column] != 0.0:
            moved[basic[i]] += direction * step * table[i, column]
    moved[cell] = end if chosen < 0 else moved[cell] + direction * step
    if chosen >= 0:
        out = basic[chosen]
        moved[out] = _end(side[out], low[out], high[out], direction * table[chosen, column] > 0)
        _exchange(table, basic, free, chosen, column, at)
    return step, chosen


@kernel
def push(table, basic, free, target, sign, low, high, cost, enough, most):
    """Move one unknown up (or down) as far as rooms allow: what moves, what its way depends on, and steps taken.

    More than ``most`` steps: given up. After some steps it is enough to know that it cannot get as far as ``enough``.
    With a cost per unknown cheap ways come first.
    """
    moved, side = np.zeros(low.size), np.zeros(low.size)
    along, apart, at = np.zeros(free.size), np.zeros(free.size), np.empty(free.size, np.int64)
    row, column, idle = np.int64(-1), np.int64(-1), 0  # no constants: what is called would be compiled for them again
    for i in range(basic.size):
        if basic[i] == target:
            row = i
    for j in range(free.size):
        if free[j] == target:
            column = j
    steps = 0
    while steps <= most:
        if cost.size and idle <= STUCK:
            _costs(table, basic, cost, moved, along, apart)
            j = _cheapest_way(table, free, row, column, sign, low, high, moved, cost, along, apart)
        else:
            j, left = _entering(table, free, row, column, sign, low, high, moved, idle > STUCK)
            if steps >= SOON and sign * moved[target] + left < enough:
                break
        if j < 0:
            break
        steps += 1
        rate = table[row, j] if row >= 0 else 1.0
        # without sides: how costs bend is no matter here
        step, i = _go(table, basic, free, at, j, 1.0 if rate * sign > 0 else -1.0, low, high, moved, side)
        idle = idle + 1 if step <= NOTHING else 0
        if i < 0:
            continue
        if i == row:
            row, column = -1, j
        elif j == column:
            row, column = i, -1
    share = np.zeros(low.size)
    if row >= 0:
        for j in range(free.size):
            share[free[j]] = table[row, j]
    else:
        share[target] = 1.0
    return moved, share, steps


@part
def _downhill(table, basic, free, low, high, cost, moved, side, slope, first):
    """The free unknown, and the way, along which costs fall most per step, or the first with any; -1 if nowhere."""
    best, chosen, direction = -NOTHING, -1, 1.0
    for j in range(slope.size):
        slope[j] = 0.0
    for i in range(basic.size):
        weight = side[basic[i]] * cost[basic[i]]
        for j in range(free.size):
            slope[j] += weight * table[i, j]
    for j in range(free.size):
        cell = free[j]
        if low[cell] == high[cell]:
            continue
        up = slope[j] + (cost[cell] if moved[cell] >= 0.0 else -cost[cell])
        down = -slope[j] + (cost[cell] if moved[cell] <= 0.0 else -cost[cell])
        if up < best and moved[cell] < high[cell]:
            best, chosen, direction = up, j, 1.0
        if down < best and moved[cell] > low[cell]:
            best, chosen, direction = down, j, -1.0
        if first and chosen >= 0:
            break
    return chosen, direction


@kernel
def cheapen(table, basic, free, low, high, cost, moved, most):
    """Make what has moved cheaper, one unknown after the other, until no single one helps; the steps taken.

    An unknown that moves up is another one than one that moves down: whichever is basic has a side.
    """
    at, slope, side, idle = np.empty(free.size, np.int64), np.zeros(free.size), np.zeros(moved.size), 0
    for i in range(moved.size):
        side[i] = -1.0 if moved[i] < 0.0 else 1.0
    for steps in range(most):
        j, direction = _downhill(table, basic, free, low, high, cost, moved, side, slope, idle > STUCK)
        if j < 0:
            return steps
        cell = free[j]
        side[cell] = direction if moved[cell] == 0.0 else (1.0 if moved[cell] > 0.0 else -1.0)
        step, _ = _go(table, basic, free, at, j, direction, low, high, moved, side)
        idle = idle + 1 if step <= NOTHING else 0
    return most
