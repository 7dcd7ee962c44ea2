"""Compiled loops of the cell-key method: deviations looked up, the noise of magnitudes, posteriors along a line."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.compiled import kernel, part


class Contributions(NamedTuple):
    """Cells of a magnitude: values, largest contributions, keys, and which are chosen and sensitive (flat)."""

    value: Floats
    largest: Floats
    key: Floats
    chosen: Bools
    sensitive: Bools


class Shares(NamedTuple):
    """How far the noise of a contribution reaches, see `Scaling`; an infinite flex point for one share everywhere."""

    small: float
    large: float
    flex_point: float
    q: float
    weights: Floats
    extra: float
    separation: float


class Messages(NamedTuple):
    """Weights along a line: of the true counts of part k, of sums of the first k parts, and of what must follow."""

    first: Ints
    weight: Floats
    forward: Floats
    backward: Floats


@part
def _looked_up(row, key, start, upper):
    """The first entry of a row whose cumulated probability exceeds the key."""
    e, stop = start[row], start[row + 1] - 1
    while e < stop and key >= upper[e]:
        e += 1
    return e


@kernel
def deviations_of_counts(count, key, start, upper, deviation, out):
    """The deviation of every cell, from the row of its count; the last row is for all larger ones."""
    last = start.size - 2
    for c in range(count.size):
        out[c] = deviation[_looked_up(min(count[c], last), key[c], start, upper)]


@kernel
def mixed(key, number):
    """Another key made of a cell key, as good as independent of it (splitmix64 over its 53 bits)."""
    z = np.uint64(key * 9007199254740992.0) + np.uint64(number) * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0


@part
def between_rows(size, key, rows):
    """The deviation of a scaled value: between two rows looked up with the same key; beyond the last, the last."""
    cell = rows.cell
    last, r = cell.size - 1, 0
    while r < last and cell[r + 1] <= size:
        r += 1
    here = rows.deviation[_looked_up(r, key, rows.start, rows.upper)]
    if r == last:
        return here
    share = (size - cell[r]) / (cell[r + 1] - cell[r])
    return (1.0 - share) * here + share * rows.deviation[_looked_up(r + 1, key, rows.start, rows.upper)]


@part
def _share_of(x, by):
    """The share of a contribution by which it may be changed, per unit of deviation."""
    if x <= by.flex_point:
        return by.small
    passage = (by.small * x - by.large * by.flex_point) / (by.large * by.flex_point)
    return by.large * (1.0 + passage * (2.0 * by.flex_point / (by.flex_point + x)) ** by.q)


@part
def _noise_of(largest, key, sensitive, by, rows):
    """The noise of a cell: each of its largest contributions times its share times a deviation of its own."""
    noise = 0.0
    for j in range(min(by.weights.size, largest.size)):
        x = largest[j]
        if x <= 0.0 or x < by.separation:
            break
        share = _share_of(x, by) * by.weights[j]
        v = between_rows(1.0 / share, mixed(key, j + 1), rows)
        if j == 0 and sensitive:
            v += np.sign(v) * by.extra
        noise += x * share * v
    return noise


@kernel
def noise_of_magnitudes(cells, by, rows, small_rows, out):
    """The noise of every chosen cell; below the separation point that of the table of small values, as for a count."""
    for c in range(cells.value.size):
        if not cells.chosen[c] or cells.largest[c, 0] <= 0.0:
            continue
        if cells.largest[c, 0] < by.separation:
            out[c] = between_rows(abs(cells.value[c]), mixed(cells.key[c], 1), small_rows)
        else:
            out[c] = _noise_of(cells.largest[c], cells.key[c], cells.sensitive[c], by, rows)


# --- a line: a sum and its parts --------------------------------------------------------------------------------------


@part
def _probability(rows, count, shown, reach):
    """That a count is published as ``shown``; the last row stands for all larger counts."""
    v = shown - count
    return rows[min(count, rows.shape[0] - 1), v + reach] if -reach <= v <= reach else 0.0


@part
def _weigh(parts, prior, rows, reach, m):
    """How probable each true count of each part is, looking at the part alone."""
    for k in range(parts.size):
        m.first[k] = max(0, parts[k] - reach)
        for w in range(2 * reach + 1):
            i = m.first[k] + w
            m.weight[k, w] = _probability(rows, i, parts[k], reach) * prior[min(i, prior.size - 1)]


@part
def _scale(message):
    """Make the largest weight 1, against underflow."""
    largest = message.max()
    if largest > 0.0:
        message /= largest


@part
def _pass_forward(m):
    m.forward[:] = 0.0
    m.forward[0, 0] = 1.0
    n, width = m.weight.shape
    for k in range(n):
        for s in range(k * (width - 1) + 1):
            if m.forward[k, s] > 0.0:
                for w in range(width):
                    m.forward[k + 1, s + w] += m.forward[k, s] * m.weight[k, w]
        _scale(m.forward[k + 1])


@part
def _pass_backward(total, rows, reach, m):
    m.backward[:] = 0.0
    n, width = m.weight.shape
    least = m.first.sum()
    for s in range(m.backward.shape[1]):
        m.backward[n, s] = _probability(rows, least + s, total, reach)
    for k in range(n - 1, -1, -1):
        for s in range(k * (width - 1) + 1):
            for w in range(width):
                m.backward[k, s] += m.weight[k, w] * m.backward[k + 1, s + w]
        _scale(m.backward[k])


@part
def _most_probable(k, m):
    """The most probable true count of a part, and its probability."""
    width = m.weight.shape[1]
    whole, top, best = 0.0, -1.0, 0
    for w in range(width):
        p = 0.0
        if m.weight[k, w] > 0.0:
            for s in range(k * (width - 1) + 1):
                p += m.forward[k, s] * m.backward[k + 1, s + w]
            p *= m.weight[k, w]
        whole += p
        if p > top:
            top, best = p, m.first[k] + w
    return best, top / whole if whole > 0.0 else 0.0


@kernel
def family_posteriors(parts, total, prior, rows, reach, best, confidence):
    """For every line the most probable true count of each part, given all published counts of the line.

    ``rows[i, v + reach]`` is the probability that the count i is published as i + v; its last row stands for all
    larger counts, as the last entry of ``prior`` does. True counts of the parts add up to that of the total. Messages
    run along the parts: ``forward[k, s]`` weighs sums s of the first k parts, ``backward[k, s]`` what still has to
    happen when the first k add up to s.
    """
    lines, n = parts.shape
    width = 2 * reach + 1
    span = n * (width - 1) + 1
    m = Messages(np.zeros(n, np.int64), np.zeros((n, width)), np.zeros((n + 1, span)), np.zeros((n + 1, span)))
    for line in range(lines):
        _weigh(parts[line], prior, rows, reach, m)
        _pass_forward(m)
        _pass_backward(total[line], rows, reach, m)
        for k in range(n):
            best[line, k], confidence[line, k] = _most_probable(k, m)
