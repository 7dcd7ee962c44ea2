"""What a search begins with: rows, fictitious ones among them, and anonymous frequencies with the right total."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption
from diskret.safe.chance import generator
from diskret.tabulation.combinations import Combinations, count_combinations

Codes = npt.NDArray[np.int32]
TRIES = 32
NEAR = 50
"""Rows below which another row of the file is close by."""


def with_fictitious(found: Combinations, fictitious: object, seed: int) -> Combinations:
    """The combinations with fictitious ones of frequency 0 among them, sorted.

    ``fictitious`` is data with such combinations, or how many are to be made: neighbours in the file exchange one
    attribute, so that what is made is plausible.
    """
    if fictitious is None:
        return found
    if not isinstance(fictitious, int):
        more = count_combinations(fictitious, by=dict(found.by)).codes
    elif fictitious >= 0:
        more = _exchanged(found.codes, fictitious, seed)
    else:
        raise BadOption(f"fictitious = {fictitious}", hint="a number of rows, 0 or more, or data with such rows.")
    codes, first = _distinct(found.codes, more)
    frequency = np.concatenate([found.frequency, np.zeros(len(more), dtype=np.int64)])
    return replace(found, codes=codes.astype(np.int32), frequency=frequency[first])


def _distinct(codes: Codes, more: Codes) -> tuple[Codes, npt.NDArray[np.intp]]:
    """All rows, sorted, and where each stands first: below the number of real rows if it is real."""
    return np.unique(np.concatenate([codes, more]), axis=0, return_index=True)


def _exchanged(codes: Codes, wanted: int, seed: int) -> Codes:
    """New combinations: a row with one attribute of a row close by."""
    random = generator(seed, "fictitious")
    n, attributes = codes.shape
    made = codes[:0]
    if n < 2 or wanted == 0:
        return made
    for _ in range(TRIES):
        one = random.integers(0, n, wanted)
        other = np.clip(one + random.integers(1, NEAR, wanted) * random.choice([-1, 1], wanted), 0, n - 1)
        rows = codes[one].copy()
        at = random.integers(0, attributes, wanted)
        rows[np.arange(wanted), at] = codes[other, at]
        every, first = _distinct(codes, np.concatenate([made, rows]))
        made = every[first >= n]
        if len(made) >= wanted:
            break
    return made[np.sort(random.permutation(len(made))[:wanted])]


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
    if missing > 0:
        occupied = np.flatnonzero(x >= k)
        if occupied.size == 0:
            occupied = np.array([0])
        each, rest = divmod(missing, occupied.size)
        x[occupied] += each
        x[occupied[:rest]] += 1
    return x
