"""Random numbers from a seed."""

from __future__ import annotations

import numpy as np

from diskret.model.errors import BadOption


def generator(seed: int) -> np.random.Generator:
    """Random numbers that are the same for the same seed.

    >>> bool(generator(5).random() == generator(5).random())
    True
    """
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise BadOption("the seed is a whole number, not negative", hint="choose a long one, and keep it secret.")
    return np.random.default_rng(int(seed))
