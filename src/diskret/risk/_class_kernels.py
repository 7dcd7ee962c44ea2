"""Loops over records and classes: numbering classes, their diversity, and the individual risk. Plain arrays only."""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part

MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@kernel
def number_classes(keys, bits):
    """Numbers equal keys from 0 in order of first appearance; a hash table of 2**bits places, at most half full."""
    places = np.uint64(1) << np.uint64(bits)
    mask = places - np.uint64(1)
    shift = np.uint64(64) - np.uint64(bits)
    table = np.full(places, -1, np.int64)
    known = np.empty(keys.size, np.int64)
    ids = np.empty(keys.size, np.int64)
    count = 0
    for i in range(keys.size):
        key = keys[i]
        at = (np.uint64(key) * MULTIPLIER) >> shift
        while True:
            found = table[at]
            if found < 0:
                table[at] = count
                known[count] = key
                ids[i] = count
                count += 1
                break
            if known[found] == key:
                ids[i] = found
                break
            at = (at + np.uint64(1)) & mask
    return ids, count


@kernel
def bucket(ids, count, values, sizes, frequency):
    """Values of each class, one after the other and sorted: a counting sort by value, then by class; how often each."""
    start = np.zeros(count + 1, np.int64)
    for i in range(ids.size):
        start[ids[i] + 1] += 1
    for c in range(count):
        start[c + 1] += start[c]
    by_value = np.zeros(sizes + 1, np.int64)
    for i in range(values.size):
        by_value[values[i] + 1] += 1
    for v in range(sizes):
        by_value[v + 1] += by_value[v]
    order = np.empty(ids.size, np.int64)
    for i in range(ids.size):
        order[by_value[values[i]]] = i
        by_value[values[i]] += 1
    place = start[:-1].copy()
    sorted_values, often = np.empty(ids.size, np.int64), np.empty(ids.size, np.int64)
    for r in range(ids.size):
        i = order[r]
        sorted_values[place[ids[i]]], often[place[ids[i]]] = values[i], frequency[i]
        place[ids[i]] += 1
    return start, sorted_values, often


@part
def _stretch(level, first, last, cumulative, prefix):
    """Sum of |level - cumulative[i]| for first <= i < last; cumulative shares ascend, prefix holds their sums."""
    if first >= last:
        return 0.0
    low, high = first, last
    while low < high:
        middle = (low + high) // 2
        if cumulative[middle] < level:
            low = middle + 1
        else:
            high = middle
    below = level * (low - first) - (prefix[low] - prefix[first])
    above = (prefix[last] - prefix[low]) - level * (last - low)
    return below + above


@kernel
def diversity(start, values, often, shares):
    """Per class: different values, largest share, entropy, t for equal and for ordered distances, beta, delta.

    Columns: 0 distinct, 1 largest share, 2 entropy, 3 t equal, 4 t ordered, 5 beta, 6 delta, 7 excess over -ln p.
    """
    m = shares.size
    cumulative = np.empty(m)
    prefix = np.zeros(m + 1)
    total = 0.0
    for v in range(m):
        total += shares[v]
        cumulative[v] = total
        prefix[v + 1] = prefix[v] + total
    found = np.zeros((start.size - 1, 8))
    for c in range(start.size - 1):
        size = 0
        for i in range(start[c], start[c + 1]):
            size += often[i]
        seen, reached, here = 0.0, 0.0, 0.0
        distinct = 0
        last = 0
        i = start[c]
        found[c, 5] = -np.inf
        found[c, 7] = -np.inf
        while i < start[c + 1]:
            v = values[i]
            j, held = i, 0
            while j < start[c + 1] and values[j] == v:
                held += often[j]
                j += 1
            q, p = held / size, shares[v]
            distinct += 1
            found[c, 1] = max(found[c, 1], q)
            found[c, 2] -= q * np.log(q)
            seen += p
            here += abs(q - p)
            found[c, 4] += _stretch(reached, last, v, cumulative, prefix)
            reached += q
            last = v
            excess = (q - p) / p
            found[c, 5] = max(found[c, 5], excess)
            if q > p:
                found[c, 7] = max(found[c, 7], excess + np.log(p))
            found[c, 6] = max(found[c, 6], abs(np.log(q / p)))
            i = j
        found[c, 0] = distinct
        found[c, 3] = 0.5 * (here + max(0.0, 1.0 - seen))
        found[c, 4] += _stretch(reached, last, m, cumulative, prefix)
        found[c, 4] = found[c, 4] / (m - 1) if m > 1 else 0.0
    return found


@kernel
def recursive_c(start, values, often, wanted):
    """Largest ratio of the most frequent value to the sum from the l-th most frequent on; infinite with fewer values.

    Recursive (c,l)-diversity: r1 < c (r_l + ... + r_m), r sorted descending.
    """
    worst = 0.0
    for c in range(start.size - 1):
        size = start[c + 1] - start[c]
        counts = np.empty(size, np.int64)
        distinct = 0
        i = start[c]
        while i < start[c + 1]:
            j, held = i, 0
            while j < start[c + 1] and values[j] == values[i]:
                held += often[j]
                j += 1
            counts[distinct] = held
            distinct += 1
            i = j
        ordered = np.sort(counts[:distinct])
        tail = 0
        for r in range(distinct - wanted + 1):
            tail += ordered[r]
        if tail == 0:
            return np.inf
        worst = max(worst, ordered[distinct - 1] / tail)
    return worst


@kernel
def expected_inverse(frequency, rate):
    """E(1/F | f) where F - f is negative binomial: the individual risk of Benedetti and Franconi.

    With q = 1 - p: r_1 = (p/q) ln(1/p), r_f = (p/q) (1/(f-1) - r_(f-1)), stable while p <= 1/2. Above, the same read
    backwards, r_(f-1) = 1/(f-1) - r_f q/p, from far out, where p / (f - q) is near enough; so it is for large f.
    """
    risk = np.empty(frequency.size)
    for k in range(frequency.size):
        f, p = frequency[k], rate[k]
        if p >= 1.0:
            risk[k] = 1.0 / f
            continue
        q = 1.0 - p
        if p <= 0.5 and f <= 2000:
            odds = p / q
            r = -odds * np.log(p)
            for g in range(2, f + 1):
                r = odds * (1.0 / (g - 1) - r)
            risk[k] = r
        elif p > 0.5 and f <= 2000:
            g = f + 200
            r = p / (g - q)
            while g > f:
                g -= 1
                r = 1.0 / g - r * q / p
            risk[k] = r
        else:
            risk[k] = p / (f - q)
    return risk
