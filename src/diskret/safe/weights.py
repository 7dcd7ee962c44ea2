"""How much more a large cell may deviate: the weight g of a cell, from what it holds in the original."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from diskret.model.errors import BadOption

VARIANT_1 = tuple(10**i for i in range(1, 10))
"""Decadic: the number of digits less one, at most 9."""
VARIANT_2 = (10, 20, 50, 100, 200, 1_000, 10_000, 100_000, 1_000_000)
"""Finer between 10 and 1,000, where one unit of deviation is a larger relative error."""

Weights = Literal[0, 1, 2] | Sequence[int]
"""No weights, variant 1, variant 2, or the counts from which a cell gets one more."""


def weight_borders(weights: Weights) -> tuple[int, ...]:
    """The counts from which g is one higher.

    >>> weight_borders(2)[:3], weight_borders([100, 1000])
    ((10, 20, 50), (100, 1000))
    """
    if isinstance(weights, int):
        if weights not in (0, 1, 2):
            raise BadOption(f"weights = {weights}", hint="0, 1, 2, or a list of rising counts.")
        return ((), VARIANT_1, VARIANT_2)[weights]
    borders = tuple(int(w) for w in weights)
    if any(b < 1 for b in borders) or list(borders) != sorted(set(borders)):
        raise BadOption("the borders of the weights do not rise", hint="for example [10, 100, 1000].")
    return borders


def weight_classes(original: npt.NDArray[Any], weights: Weights) -> npt.NDArray[np.int32]:
    """The weight g of each cell. Cells that no object is in have weight 0.

    >>> weight_classes(np.array([0, 9, 10, 99, 1000]), 1).tolist()
    [0, 0, 1, 1, 3]
    """
    return np.searchsorted(np.array(weight_borders(weights), dtype=np.int64), original, side="right").astype(np.int32)
