"""Compiled sparse Gaussian elimination modulo a prime.

Rows live in one growing pool of (column, value) pairs, sorted by column; a changed row is written anew at the end.
Which rows hold a column is kept in append-only chains: entries may be out of date and are checked against the row.
"""

from __future__ import annotations

import numpy as np

from diskret.model.compiled import kernel, part

LOOK_AT = 8
"""Of how many short rows the cheapest pivot is taken."""


@kernel
def power(base, exponent, p):
    """Base to a power modulo p."""
    result = 1
    base %= p
    while exponent > 0:
        if exponent & 1:
            result = result * base % p
        base = base * base % p
        exponent >>= 1
    return result


@part
def _grown(array, used):
    if used <= array.size:
        return array
    bigger = np.empty(max(used, 2 * array.size), dtype=array.dtype)
    bigger[: array.size] = array
    return bigger


@part
def _take_out(row, length, first, before, after):
    """Unhook a row from the chain of rows of its length."""
    if before[row] >= 0:
        after[before[row]] = after[row]
    else:
        first[length] = after[row]
    if after[row] >= 0:
        before[after[row]] = before[row]


@part
def _put_in(row, length, first, before, after):
    before[row] = -1
    after[row] = first[length]
    if first[length] >= 0:
        before[first[length]] = row
    first[length] = row


@part
def _find(pool_column, start, length, column):
    """Where a sorted row holds a column, or -1."""
    low, high = start, start + length
    while low < high:
        middle = (low + high) // 2
        if pool_column[middle] < column:
            low = middle + 1
        else:
            high = middle
    return low if low < start + length and pool_column[low] == column else -1


@kernel
def eliminate(row_start, columns, values, size, p):
    """Pivots in order, each as a row of the echelon form: pivot columns, row starts, row lengths, and the pool.

    Columns held by one row only go first (nothing to do), then the row and column with the least product of further
    entries among some of the shortest rows. Every row is scaled so that its pivot is one. A row with its pivot
    alone says that its column is zero.
    """
    rows = row_start.size - 1
    start = row_start[:-1].copy()
    length = (row_start[1:] - row_start[:-1]).copy()
    used = columns.size
    pool_column = np.empty(max(16, 2 * used), dtype=np.int64)
    pool_value = np.empty(max(16, 2 * used), dtype=np.int64)
    pool_column[:used] = columns
    pool_value[:used] = values % p
    # chains of rows per column
    head = np.full(size, -1, dtype=np.int64)
    count = np.zeros(size, dtype=np.int64)
    chain_row = np.empty(max(16, 2 * used), dtype=np.int64)
    chain_next = np.empty(max(16, 2 * used), dtype=np.int64)
    links = 0
    for r in range(rows):
        for e in range(start[r], start[r] + length[r]):
            c = pool_column[e]
            chain_row[links] = r
            chain_next[links] = head[c]
            head[c] = links
            links += 1
            count[c] += 1
    # rows by length
    first = np.full(size + 1, -1, dtype=np.int64)
    before = np.full(rows, -1, dtype=np.int64)
    after = np.full(rows, -1, dtype=np.int64)
    for r in range(rows - 1, -1, -1):
        if length[r] > 0:
            _put_in(r, length[r], first, before, after)
    alive = length > 0
    single = np.empty(max(16, 2 * used), dtype=np.int64)
    singles = 0
    for c in range(size - 1, -1, -1):
        if count[c] == 1:
            single[singles] = c
            singles += 1
    pivot_column = np.empty(rows, dtype=np.int64)
    pivot_start = np.empty(rows, dtype=np.int64)
    pivot_length = np.empty(rows, dtype=np.int64)
    pivots = 0
    shortest = 1
    while True:
        row, column = -1, -1
        while singles > 0 and row < 0:
            singles -= 1
            c = single[singles]
            if count[c] == 1:
                link = head[c]
                while link >= 0:
                    r = chain_row[link]
                    if alive[r] and _find(pool_column, start[r], length[r], c) >= 0:
                        row, column = r, c
                        break
                    link = chain_next[link]
        if row < 0:
            least = np.int64(1) << 62
            looked = 0
            while shortest <= size and first[shortest] < 0:
                shortest += 1
            n = shortest
            while n <= size and looked < LOOK_AT and (n - 1) < least:
                r = first[n]
                while r >= 0 and looked < LOOK_AT:
                    for e in range(start[r], start[r] + n):
                        price = (n - 1) * (count[pool_column[e]] - 1)
                        if price < least:
                            least, row, column = price, r, pool_column[e]
                    looked += 1
                    r = after[r]
                n += 1
            if row < 0:
                break
        # take the pivot row out of the game
        at, n = start[row], length[row]
        alive[row] = False
        _take_out(row, n, first, before, after)
        inverse = power(pool_value[_find(pool_column, at, n, column)], p - 2, p)
        for e in range(at, at + n):
            pool_value[e] = pool_value[e] * inverse % p
            c = pool_column[e]
            count[c] -= 1
            if count[c] == 1 and c != column:
                single = _grown(single, singles + 1)
                single[singles] = c
                singles += 1
        pivot_column[pivots], pivot_start[pivots], pivot_length[pivots] = column, at, n
        pivots += 1
        # and its column out of every other row
        link = head[column]
        while link >= 0:
            r = chain_row[link]
            link = chain_next[link]
            if not alive[r]:
                continue
            m = length[r]
            found = _find(pool_column, start[r], m, column)
            if found < 0:
                continue
            factor = p - pool_value[found]
            pool_column = _grown(pool_column, used + n + m)
            pool_value = _grown(pool_value, used + n + m)
            a, a_end, b, b_end, w = start[r], start[r] + m, at, at + n, used
            while a < a_end or b < b_end:
                if b == b_end or (a < a_end and pool_column[a] < pool_column[b]):
                    pool_column[w], pool_value[w] = pool_column[a], pool_value[a]
                    a += 1
                    w += 1
                elif a == a_end or pool_column[b] < pool_column[a]:
                    c = pool_column[b]
                    pool_column[w], pool_value[w] = c, factor * pool_value[b] % p
                    b += 1
                    w += 1
                    count[c] += 1
                    chain_row = _grown(chain_row, links + 1)
                    chain_next = _grown(chain_next, links + 1)
                    chain_row[links], chain_next[links] = r, head[c]
                    head[c] = links
                    links += 1
                else:
                    c = pool_column[a]
                    value = (pool_value[a] + factor * pool_value[b]) % p
                    if value != 0:
                        pool_column[w], pool_value[w] = c, value
                        w += 1
                    else:
                        count[c] -= 1
                        if count[c] == 1 and c != column:
                            single = _grown(single, singles + 1)
                            single[singles] = c
                            singles += 1
                    a += 1
                    b += 1
            _take_out(r, m, first, before, after)
            start[r], length[r] = used, w - used
            used = w
            if length[r] > 0:
                _put_in(r, length[r], first, before, after)
                shortest = min(shortest, length[r])
            else:
                alive[r] = False
    return (pivot_column[:pivots], pivot_start[:pivots], pivot_length[:pivots], pool_column[:used], pool_value[:used])


@kernel
def substitute_back(pivot_column, pivot_start, pivot_length, pool_column, pool_value, vectors, p):
    """Null vectors (one per column of ``vectors``, in place) from chosen values of the columns without pivot."""
    for k in range(pivot_column.size - 1, -1, -1):
        column = pivot_column[k]
        for v in range(vectors.shape[1]):
            total = 0
            for e in range(pivot_start[k], pivot_start[k] + pivot_length[k]):
                if pool_column[e] != column:
                    total = (total + pool_value[e] * vectors[pool_column[e], v]) % p
            vectors[column, v] = (p - total) % p


@kernel
def ratios(vectors, p):
    """Second over first entry of every row modulo p; p where the first is zero, and zero where both are."""
    ratio = np.zeros(vectors.shape[0], dtype=np.int64)
    for c in range(vectors.shape[0]):
        if vectors[c, 0] != 0:
            ratio[c] = vectors[c, 1] * power(vectors[c, 0], p - 2, p) % p
        elif vectors[c, 1] != 0:
            ratio[c] = p
    return ratio


@kernel
def combined(pivot_column, pivot_start, pivot_length, pool_column, pool_value, size, p, longest, most):
    """Every column as a combination of those without pivot: where each begins, these columns, and how many times each.

    A free column is itself. How many times is said modulo the prime, by the number of least size. Empty are columns
    that are zero, and those made of more than ``longest`` columns, or of such, and all from ``most`` entries on; which
    are not says the last array.
    """
    begin, length, short = np.zeros(size, np.int64), np.zeros(size, np.int64), np.ones(size, np.bool_)
    short[pivot_column] = False
    pool, times, used = np.empty(2 * size + 16, np.int64), np.empty(2 * size + 16, np.int64), 0
    for c in range(size):
        if short[c]:
            begin[c], length[c] = used, 1
            pool[used], times[used] = c, 1
            used += 1
    added, met = np.zeros(size, np.int64), np.zeros(size, np.int64)
    for k in range(pivot_column.size - 1, -1, -1):
        column, number, fits = pivot_column[k], 0, True
        for e in range(pivot_start[k], pivot_start[k] + pivot_length[k]):
            c = pool_column[e]
            if c == column:
                continue
            fits = fits and short[c] and number <= 4 * longest
            if not fits:
                break
            for i in range(begin[c], begin[c] + length[c]):
                free = pool[i]
                if added[free] == 0:
                    met[number] = free
                    number += 1
                # never zero while it is counted: p stands for zero
                value = (added[free] + (p - pool_value[e]) * (times[i] % p)) % p
                added[free] = p if value == 0 else value
        pool, times = _grown(pool, used + number), _grown(times, used + number)
        begin[column] = used
        for i in range(number):
            value = added[met[i]] % p
            added[met[i]] = 0
            value = value if value <= p // 2 else value - p
            if value != 0:
                pool[used + length[column]], times[used + length[column]] = met[i], value
                length[column] += 1
        fits = fits and length[column] <= longest and used < most
        short[column] = fits
        length[column] = length[column] if fits else 0
        used += length[column]
    start = np.zeros(size + 1, np.int64)
    for c in range(size):
        start[c + 1] = start[c] + length[c]
    columns, numbers = np.empty(start[size], np.int64), np.empty(start[size], np.int64)
    for c in range(size):
        for i in range(length[c]):
            columns[start[c] + i], numbers[start[c] + i] = pool[begin[c] + i], times[begin[c] + i]
    return start, columns, numbers, short
