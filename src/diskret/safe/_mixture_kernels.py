"""A compiled sweep over mixtures (see mixtures.py): a row holds several frequencies at once, each with a share."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import inlined, kernel, part
from diskret.safe._cell_kernels import locate

UNIT = 4096
"""Means are whole numbers of this fraction of an object: their sums are then the same in whatever order."""
SPREAD = 4
"""A large frequency may change by so much; a small one may be 0, or k and up to twice as many values."""
FINE = 512
"""Steps in which the price of a deviation is tabled, up and down from none."""
SQUARINGS = 8
"""(1 - z / 256) ** 256 stands for exp(-z): near enough for shares, and products are the same on every machine."""


@inlined
def _share(z):
    """About exp(-z), for z from 0 up."""
    found = max(np.float64(0.0), np.float64(1.0) - z / np.float64(1 << SQUARINGS))
    for _ in range(SQUARINGS):
        found *= found
    return found


@inlined
def allowed_value(i, frequency, k):
    """The i-th frequency of a mixture, 0 to 2 SPREAD."""
    if frequency >= k + SPREAD:
        return frequency - SPREAD + i
    return k + i - 1 if i > 0 else 0


@part
def _shares(frequency, k, pull, stiffness, cold, price):
    """Mean and variance of frequencies whose shares fall with what they cost: pull * x + stiffness / 2 * x * x."""
    least = np.inf
    for i in range(price.size):
        x = np.float64(allowed_value(i, frequency, k))
        price[i] = x * (pull + 0.5 * stiffness * x)
        least = min(least, price[i])
    shares, held, squares = 0.0, 0.0, 0.0
    for i in range(price.size):
        share, x = _share(cold * (price[i] - least)), np.float64(allowed_value(i, frequency, k))
        shares += share
        held += share * x
        squares += share * x * x
    return held / shares, max(0.0, squares / shares - (held / shares) ** 2)


@inlined
def _step(deviation, shift):
    """Where the price of a deviation stands."""
    return np.uint64(min(max((deviation >> shift) + FINE, 0), 2 * FINE - 1))


@kernel
def mix(rows, places, deviation, frequency, mean, k, cold, own, slope, shift):
    """Row by row in this order: each takes the mean it wants as deviations stand, which change with it.

    ``slope`` has the first and second derivative of the price of a deviation, in steps of 2 ** ``shift`` units. Returns
    the sum of the variances of the mixtures. What a row wants follows from its own mean as well: a step towards it, as
    in Newton's method, ends where both agree; the whole way would overshoot.
    """
    level, parent, at, size, base, listed, slots = places
    value, price = np.zeros(base.size, np.int32), np.empty(2 * SPREAD + 1, np.float64)
    cell = np.empty(slots.size, np.int32)
    free, spread = deviation.size - 1, np.int64(0)
    for i in range(rows.size):
        j = np.int64(rows[i])
        locate(j, level, parent, at, size, listed, value)
        pull, stiffness = np.int64(0), np.int64(0)
        for t in range(np.uint64(slots.size)):
            s = np.uint64(slots[t])
            c = value[s] + base[s]
            cell[t] = c
            step = _step(deviation[np.uint64(c)], shift)
            counted = np.int64(c != free)
            pull += counted * slope[step, 0]
            stiffness += counted * slope[step, 1]
        here, whole = np.float64(mean[j]) / UNIT, np.float64(stiffness) / UNIT
        felt = own * whole
        wanted, variance = _shares(frequency[j], k, np.float64(pull) / UNIT - felt * here, felt, cold, price)
        spread += np.int64(np.rint(variance * UNIT))
        answered = 1.0 + variance * cold * (whole - felt)
        change = np.int64(np.rint((here + (wanted - here) / answered) * UNIT)) - mean[j]
        if change != 0:
            mean[j] += change
            for t in range(np.uint64(slots.size)):
                deviation[np.uint64(cell[t])] += change
            deviation[free] = 0
    return spread


@kernel
def stiffness_beyond(deviation, slope, shift):
    """What the second derivatives of all prices are beyond those of squares, added up."""
    total = np.int64(0)
    for c in range(np.uint64(deviation.size)):
        total += slope[_step(deviation[c], shift), 1] - UNIT
    return total


@kernel
def sum_of_squares(deviation):
    """Of deviations in objects, added up in order."""
    total = 0.0
    for c in range(np.uint64(deviation.size)):
        size = np.float64(deviation[c]) / UNIT
        total += size * size
    return total


@kernel
def nearest(frequency, mean, k, found):
    """The frequency of its mixture that each mean is closest to."""
    for j in range(mean.size):
        best = np.int64(0)
        for i in range(2 * SPREAD + 1):
            x = np.int64(allowed_value(i, frequency[j], k))
            if i == 0 or abs(x * UNIT - mean[j]) < abs(best * UNIT - mean[j]):
                best = x
        found[j] = best
