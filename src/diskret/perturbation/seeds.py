"""Random numbers from a seed, or from a fresh one."""

from __future__ import annotations

import secrets

import numpy as np

from diskret.model.errors import BadOption

BITS = 63


def seeded(seed: int | None) -> tuple[int, np.random.Generator]:
    """The seed and its random numbers; None draws a fresh seed, since one that everybody knows would undo the errors.

    >>> seeded(5)[0], bool(seeded(5)[1].random() == seeded(5)[1].random())
    (5, True)
    """
    if seed is None:
        seed = secrets.randbits(BITS)
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise BadOption("the seed is a whole number, not negative", hint="choose a long one, and keep it secret.")
    return int(seed), np.random.default_rng(int(seed))
