"""Anonymous frequencies to begin with, and the number of objects put right."""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Ints


def rounded_start(frequency: Ints, k: int) -> Ints:
    """Round the rows below k to 0 or k along the file, so that their running total is kept; the rest goes to one row.

    >>> rounded_start(np.array([1, 1, 2, 5, 1, 1]), 3).tolist()
    [0, 0, 3, 5, 0, 3]
    """
    x = frequency.astype(np.int64)
    small = np.flatnonzero((x > 0) & (x < k))
    filled = np.cumsum(x[small]) // k
    x[small] = np.diff(filled, prepend=0) * k
    return with_total(x, int(frequency.sum()), k)


def with_total(frequency: Ints, objects: int, k: int) -> Ints:
    """Anonymous frequencies with the number of objects put right at the largest rows.

    >>> with_total(np.array([3, 3, 3]), 8, 3).tolist(), with_total(np.array([0, 0]), 4, 3).tolist()
    ([0, 4, 4], [4, 0])
    """
    x = frequency.copy()
    missing = objects - int(x.sum())
    while missing < 0:
        largest = int(np.argmax(x))
        spare = int(x[largest]) - k
        if spare > 0:
            taken = min(spare, -missing)
            x[largest] -= taken
        else:  # every row is at k: one of them goes, and what is then missing is spread
            x[largest] = 0
            taken = k
        missing += taken
    while missing > 0:
        occupied = np.flatnonzero(x >= k)
        if occupied.size == 0:
            x[0] = missing
            break
        each, rest = divmod(missing, occupied.size)
        x[occupied] += each
        x[occupied[:rest]] += 1
        missing = 0
    return x
