"""Compiled loops of pairing: which two similar records share a pair, and which of them is enlarged.

Distances are squared relative differences, scaled with the mean of the records not yet paired. Where a record has no
value, the column is left out of the distance and the rest stands for it; equals go to the lower record number.
"""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part


@kernel
def distance(a, b, scale, complete):
    """Squared relative difference of two records; ``scale`` is 1 / |mean|, 0 where a column does not count."""
    columns = a.size
    if complete:
        # four sums that do not wait for one another
        d0 = d1 = d2 = d3 = 0.0
        k = 0
        while k + 3 < columns:
            e0 = (a[k] - b[k]) * scale[k]
            e1 = (a[k + 1] - b[k + 1]) * scale[k + 1]
            e2 = (a[k + 2] - b[k + 2]) * scale[k + 2]
            e3 = (a[k + 3] - b[k + 3]) * scale[k + 3]
            d0 += e0 * e0
            d1 += e1 * e1
            d2 += e2 * e2
            d3 += e3 * e3
            k += 4
        while k < columns:
            e0 = (a[k] - b[k]) * scale[k]
            d0 += e0 * e0
            k += 1
        return (d0 + d1) + (d2 + d3)
    total = 0.0
    common = 0
    for k in range(columns):
        e = (a[k] - b[k]) * scale[k]
        if e == e:
            total += e * e
            common += 1
    return total * columns / common if common else np.inf


@kernel
def add_up(x, begin, end, sign, total, have):
    """Add the values of some records to the sums of the columns, or take them away again."""
    for r in range(begin, end):
        for k in range(x.shape[1]):
            if x[r, k] == x[r, k]:
                total[k] += sign * x[r, k]
                have[k] += sign


@kernel
def mean_of(total, have, centre, scale):
    """Means from sums, and their reciprocals as scale."""
    for k in range(total.size):
        centre[k] = total[k] / have[k] if have[k] > 0 else 0.0
        scale[k] = 1.0 / abs(centre[k]) if centre[k] != 0.0 else 0.0


@part
def farthest(x, who, n, centre, scale, complete):
    """The record farthest from the centre; one without any value comes last."""
    best, i = -1.0, 0
    for r in range(n):
        d = distance(x[r], centre, scale, complete)
        if d == np.inf:
            d = -0.5
        if d > best or (d == best and who[r] < who[i]):
            best, i = d, r
    return i


@part
def nearest(x, who, n, scale, complete):
    """The record among the first n that is nearest to the one behind them."""
    best, j = np.inf, 0
    for r in range(n):
        d = distance(x[r], x[n], scale, complete)
        if d < best or (d == best and who[r] < who[j]):
            best, j = d, r
    return j


@kernel
def pair_all(x, who, complete, pairs):
    """Pair the records of ``x`` (changed in place): the farthest from the mean first, with its nearest.

    ``who`` holds the record numbers of the rows. The last of an odd number stays at row 0.
    """
    n, columns = x.shape
    total, have, centre, scale, row = (
        np.empty(columns), np.empty(columns), np.empty(columns), np.empty(columns), np.empty(columns)
    )  # fmt: skip
    step = 0
    while n >= 2:
        if step % 256 == 0:  # anew, because differences of running sums lose their digits
            total[:] = 0.0
            have[:] = 0.0
            add_up(x, 0, n, 1.0, total, have)
        mean_of(total, have, centre, scale)
        i = farthest(x, who, n, centre, scale, complete)
        if n == 2:  # both are equally far from their middle, whatever rounding says
            i = 0 if who[0] < who[1] else 1
        move(x, who, i, n - 1, row)
        move(x, who, nearest(x, who, n - 1, scale, complete), n - 2, row)
        add_up(x, n - 2, n, -1.0, total, have)
        pairs[step, 0] = who[n - 1]
        pairs[step, 1] = who[n - 2]
        step += 1
        n -= 2


@part
def move(x, who, a, b, row):
    """Two rows change places."""
    if a != b:
        row[:] = x[a]
        x[a] = x[b]
        x[b] = row
        who[a], who[b] = who[b], who[a]


@kernel
def from_centre(x, centre, scale, complete, out):
    """Distance of every record from the centre."""
    for r in range(x.shape[0]):
        out[r] = distance(x[r], centre, scale, complete)


@part
def change(x, u):
    """What noise u adds to x; zeros and gaps are not touched."""
    return x * (np.exp(u) - 1.0) if x == x and x != 0.0 else 0.0


@part
def effect(x, i, j, first, second, k):
    """What column k of a pair gains in sum if record i gets the first vector and j (if any) the second."""
    gain = change(x[i, k], first[k])
    return gain + change(x[j, k], second[k]) if j >= 0 else gain


@kernel
def overlay(x, pairs, upper, lower, weight, turned, out):
    """Give each pair its two noise vectors the way round that keeps the sums best, with the errors of those before.

    ``weight`` is 1 / mean of the whole file, 0 where a column does not count. ``turned`` says which pairs have their
    vectors the other way round, ``out`` gets the records with their noise.
    """
    columns = x.shape[1]
    error = np.zeros(columns)
    straight = np.empty(columns)
    crossed = np.empty(columns)
    for p in range(pairs.shape[0]):
        i, j = pairs[p, 0], pairs[p, 1]
        first = 0.0
        second = 0.0
        for k in range(columns):
            straight[k] = error[k] + effect(x, i, j, upper[p], lower[p], k)
            crossed[k] = error[k] + effect(x, i, j, lower[p], upper[p], k)
            first += (straight[k] * weight[k]) ** 2
            second += (crossed[k] * weight[k]) ** 2
        turned[p] = second < first
        error[:] = crossed if turned[p] else straight
        for side in range(2):
            r = pairs[p, side]
            for k in range(columns):
                if r >= 0 and x[r, k] != 0.0:
                    u = lower[p, k] if turned[p] == (side == 0) else upper[p, k]
                    out[r, k] = x[r, k] * np.exp(u)
