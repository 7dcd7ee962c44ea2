"""Fictitious rows: combinations that do not occur, so that not every row of the result need have existed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools
from diskret.model.errors import BadOption
from diskret.model.hierarchy import Hierarchy
from diskret.tabulation.combinations import Combinations, count_combinations

Codes = npt.NDArray[np.int32]
TRIES = 8


def with_fictitious(found: Combinations, fictitious: object, seed: int) -> Combinations:
    """The combinations with fictitious ones of frequency 0 among them, sorted.

    ``fictitious`` is data with such combinations, or how many are to be made: neighbours in the file exchange one
    attribute, so that what is made is plausible.
    """
    if fictitious is None:
        return found
    if isinstance(fictitious, int):
        if fictitious < 0:
            raise BadOption(f"fictitious = {fictitious}", hint="a number of rows, 0 or more, or data with such rows.")
        more = _exchanged(found.codes, fictitious, seed)
    else:
        by: Mapping[str, Hierarchy] = found.by
        more = count_combinations(fictitious, by=dict(by)).codes
    codes = np.concatenate([found.codes, more])
    frequency = np.concatenate([found.frequency, np.zeros(len(more), dtype=np.int64)])
    codes, first = np.unique(codes, axis=0, return_index=True)  # the first of equal rows is the real one
    return replace(found, codes=codes.astype(np.int32), frequency=frequency[first])


def _exchanged(codes: Codes, wanted: int, seed: int) -> Codes:
    """New combinations: a row with one attribute of a row close by."""
    random = np.random.Generator(np.random.Philox(key=[seed, 2]))
    n, attributes = codes.shape
    if n < 2 or wanted == 0:
        return codes[:0]
    made = codes[:0]
    for _ in range(TRIES):
        one = random.integers(0, n, wanted)
        other = np.clip(one + random.integers(1, 50, wanted) * random.choice([-1, 1], wanted), 0, n - 1)
        rows = codes[one].copy()
        at = random.integers(0, attributes, wanted)
        rows[np.arange(wanted), at] = codes[other, at]
        made = np.unique(np.concatenate([made, rows]), axis=0)
        made = made[~_occurs(made, codes)]
        if len(made) >= wanted:
            break
    chosen = np.sort(random.permutation(len(made))[:wanted])
    return made[chosen]


def _occurs(rows: Codes, codes: Codes) -> Bools:
    _, number = np.unique(np.concatenate([codes, rows]), axis=0, return_inverse=True)
    real = np.zeros(int(number.max()) + 1, dtype=np.bool_)
    real[number[: len(codes)]] = True
    return real[number[len(codes) :]]
