"""Random numbers of a search: all of them follow from one seed, which whoever knows the method must not know."""

from __future__ import annotations

import hashlib
import secrets

import numpy as np

BITS = 63
"""Bits of a seed that is drawn: as many as a job file can hold."""
GUESSABLE = 2**40
"""Seeds below can be tried one after the other."""


def drawn_seed() -> int:
    """A seed nobody can guess."""
    return secrets.randbits(BITS)


def round_seed(seed: int, purpose: str, number: int) -> int:
    """What the random numbers of a round start from, in 63 bits.

    >>> round_seed(1, "groups", 0) == round_seed(1, "groups", 0) != round_seed(1, "groups", 1)
    True
    """
    digest = hashlib.blake2b(f"{seed} {purpose} {number}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) >> 1


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Random numbers for one purpose."""
    return np.random.Generator(np.random.Philox(key=[round_seed(seed, purpose, 0), round_seed(seed, purpose, 1)]))
