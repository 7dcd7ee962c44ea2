"""A compiled sweep over mixtures (see mixtures.py): a row holds several frequencies at once, each with a share."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import inlined, kernel, part
from diskret.safe._cell_kernels import locate

UNIT = 4096
"""Means are whole numbers of this fraction of an object: their sums are then the same in whatever order."""
SPREAD = 4
"""A large frequency may change by so much; a small one may be 0, or k and up to twice as many values."""
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
def _mean_of(frequency, k, pull, stiffness, cold, price):
    """The mean of frequencies whose shares fall with what they cost: pull * x + stiffness / 2 * x * x."""
    least = np.inf
    for i in range(price.size):
        x = np.float64(allowed_value(i, frequency, k))
        price[i] = x * (pull + 0.5 * stiffness * x)
        least = min(least, price[i])
    shares, held = 0.0, 0.0
    for i in range(price.size):
        share = _share(cold * (price[i] - least))
        shares += share
        held += share * np.float64(allowed_value(i, frequency, k))
    return np.int64(np.rint(held / shares * UNIT))


@kernel
def mix(rows, places, deviation, frequency, mean, k, cold, own):
    """Row by row in this order: each takes the mean it wants as deviations stand, which change with it."""
    level, parent, at, size, base, listed, slots = places
    value, price = np.zeros(base.size, np.int32), np.empty(2 * SPREAD + 1, np.float64)
    cell = np.empty(slots.size, np.int32)
    free = deviation.size - 1
    for i in range(rows.size):
        j = np.int64(rows[i])
        locate(j, level, parent, at, size, listed, value)
        felt, counted = np.int64(0), 0
        for t in range(np.uint64(slots.size)):
            s = np.uint64(slots[t])
            cell[t] = value[s] + base[s]
            felt += deviation[np.uint64(cell[t])]
            counted += cell[t] != free
        stiffness = own * counted
        pull = (np.float64(felt) - stiffness * np.float64(mean[j])) / UNIT
        change = _mean_of(frequency[j], k, pull, stiffness, cold, price) - mean[j]
        if change != 0:
            mean[j] += change
            for t in range(np.uint64(slots.size)):
                deviation[np.uint64(cell[t])] += change
            deviation[free] = 0


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
