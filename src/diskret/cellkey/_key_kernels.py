"""Compiled loops of the cell-key method: looking deviations up, and the noise of magnitudes."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def deviations_of_counts(count, key, start, upper, deviation, out):
    """The deviation of every cell: the first in the row of its count whose cumulated probability exceeds the key."""
    last = start.size - 2
    for c in range(count.size):
        r = min(count[c], last)
        e = start[r]
        stop = start[r + 1] - 1
        while e < stop and key[c] >= upper[e]:
            e += 1
        out[c] = deviation[e]


@numba.njit(cache=True, nogil=True)
def mixed(key, number):
    """Another key made of a cell key, as good as independent of it (splitmix64 over its 53 bits)."""
    z = np.uint64(key * 9007199254740992.0) + np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0


@numba.njit(cache=True, nogil=True)
def between_rows(size, key, cell, start, upper, deviation):
    """The deviation of a scaled value: between two rows looked up with the same key; beyond the last, the last."""
    last = cell.size - 1
    r = 0
    while r < last and cell[r + 1] <= size:
        r += 1
    e = start[r]
    while e < start[r + 1] - 1 and key >= upper[e]:
        e += 1
    if r == last:
        return deviation[e]
    f = start[r + 1]
    while f < start[r + 2] - 1 and key >= upper[f]:
        f += 1
    share = (size - cell[r]) / (cell[r + 1] - cell[r])
    return (1.0 - share) * deviation[e] + share * deviation[f]


@numba.njit(cache=True, nogil=True)
def noise_of_magnitudes(
    value, largest, key, chosen, sensitive, small, large, flex_point, q, weights, extra, separation,
    cell, start, upper, deviation, s_cell, s_start, s_upper, s_deviation, out,
):  # fmt: skip
    """The noise of every chosen cell: each of the largest contributions times its share times its deviation.

    Below the separation point the cell gets a deviation of the table of small values instead, as a count would.
    """
    for c in range(value.size):
        if not chosen[c] or largest[c, 0] <= 0.0:
            continue
        if largest[c, 0] < separation:
            out[c] = between_rows(abs(value[c]), mixed(key[c], 1), s_cell, s_start, s_upper, s_deviation)
            continue
        noise = 0.0
        for j in range(min(weights.size, largest.shape[1])):
            x = largest[c, j]
            if x <= 0.0 or x < separation:
                break
            share = small
            if x > flex_point:
                share = large * (
                    1.0
                    + (small * x - large * flex_point)
                    / (large * flex_point)
                    * (2.0 * flex_point / (flex_point + x)) ** q
                )
            share *= weights[j]
            v = between_rows(1.0 / share, mixed(key[c], j + 1), cell, start, upper, deviation)
            if j == 0 and sensitive[c]:
                v += extra if v > 0.0 else (-extra if v < 0.0 else 0.0)
            noise += x * share * v
        out[c] = noise


@numba.njit(cache=True, nogil=True)
def family_posteriors(parts, total, prior, rows, reach, best, confidence):
    """For every line the most probable true count of each part, given all published counts of the line.

    ``rows[i, v + reach]`` is the probability that the count i is published as i + v; its last row stands for all
    larger counts, as the last entry of ``prior`` does. True counts of the parts add up to that of the total. Messages
    run along the parts: ``forward[k, s]`` weighs sums s of the first k parts, ``backward[k, s]`` what still has to
    happen when the first k add up to s.
    """
    lines, n = parts.shape
    last = rows.shape[0] - 1
    width = 2 * reach + 1
    span = n * (width - 1) + 1
    weight = np.zeros((n, width))
    first = np.zeros(n, np.int64)
    forward = np.zeros((n + 1, span))
    backward = np.zeros((n + 1, span))
    for line in range(lines):
        least = 0
        for k in range(n):
            j = parts[line, k]
            first[k] = max(0, j - reach)
            least += first[k]
            for w in range(width):
                i = first[k] + w
                v = j - i
                weight[k, w] = 0.0
                if -reach <= v <= reach:
                    weight[k, w] = rows[min(i, last), v + reach] * prior[min(i, prior.size - 1)]
        forward[:] = 0.0
        backward[:] = 0.0
        forward[0, 0] = 1.0
        for k in range(n):
            scale = 0.0
            for s in range(k * (width - 1) + 1):
                if forward[k, s] > 0.0:
                    for w in range(width):
                        forward[k + 1, s + w] += forward[k, s] * weight[k, w]
            for s in range((k + 1) * (width - 1) + 1):
                scale = max(scale, forward[k + 1, s])
            if scale > 0.0:
                for s in range((k + 1) * (width - 1) + 1):
                    forward[k + 1, s] /= scale
        for s in range(span):
            i = least + s
            v = total[line] - i
            if -reach <= v <= reach:
                backward[n, s] = rows[min(i, last), v + reach]
        for k in range(n - 1, -1, -1):
            scale = 0.0
            for s in range(k * (width - 1) + 1):
                for w in range(width):
                    backward[k, s] += weight[k, w] * backward[k + 1, s + w]
                scale = max(scale, backward[k, s])
            if scale > 0.0:
                for s in range(k * (width - 1) + 1):
                    backward[k, s] /= scale
        for k in range(n):
            whole = 0.0
            top = -1.0
            for w in range(width):
                p = 0.0
                if weight[k, w] > 0.0:
                    for s in range(k * (width - 1) + 1):
                        p += forward[k, s] * backward[k + 1, s + w]
                    p *= weight[k, w]
                whole += p
                if p > top:
                    top = p
                    best[line, k] = first[k] + w
            confidence[line, k] = top / whole if whole > 0.0 else 0.0
