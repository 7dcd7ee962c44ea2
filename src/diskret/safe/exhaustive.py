"""Files so small that all anonymous ones can be looked at: the best limits for certain, a file drawn within them."""

from __future__ import annotations

from math import prod

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.safe.chance import generator
from diskret.safe.control_cells import ControlCells

MOST_FILES = 50_000
"""Anonymous files up to which all of them are looked at."""
REACH = 2
"""How far a combination may move, in units of k. A file always exists within: what is left over is below k."""


def options_of(original: Ints, k: int) -> list[Ints]:
    """What each combination may hold: nothing, or k and more, not too far from the original.

    >>> [found.tolist() for found in options_of(np.array([1, 9]), 3)]
    [[0, 3, 4, 5, 6, 7], [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]]
    """
    found = []
    for x in original.tolist():
        near = np.arange(max(0, x - REACH * k), x + REACH * k + 1)
        found.append(near[(near == 0) | (near >= k)])
    return found


def few_files(original: Ints, k: int) -> bool:
    """Whether all anonymous files can be looked at."""
    return original.size < 3 or prod(each.size for each in options_of(original[:64], k)) <= MOST_FILES >= original.size


def every_file(original: Ints, k: int) -> Ints:
    """All anonymous files with as many objects, one per row.

    >>> every_file(np.array([1, 1, 2]), 3).tolist()
    [[0, 0, 4], [0, 4, 0], [4, 0, 0]]
    """
    axes = np.meshgrid(*options_of(original, k), indexing="ij")
    files = np.stack([axis.reshape(-1) for axis in axes], axis=1)
    right: Ints = files[files.sum(axis=1) == original.sum()]
    return right


def drawn_file(
    original: Ints, cells: ControlCells, weight: npt.NDArray[np.int32], k: int, floor: Ints, seed: int
) -> tuple[Ints, tuple[int, ...]]:
    """One of all files within the best limits there are, each as likely as any other; and these limits.

    The best limits: first the largest, then their sum is smallest; below ``floor`` (per dimension) nothing is gained.
    """
    files = every_file(original, k)
    counts = np.zeros((original.size, cells.size + 1), dtype=np.int64)
    np.add.at(counts, (np.arange(original.size)[:, None], cells.number.astype(np.int64)), 1)
    size = np.abs((files - original) @ counts[:, :-1]) - weight
    at = [np.flatnonzero(cells.dimension == d) for d in range(1, int(cells.dimension.max()) + 1)]
    largest = np.stack([size[:, c].max(axis=1, initial=0) for c in at], axis=1)
    limits = np.maximum(largest, floor)
    best = limits[np.lexsort([*limits.T, limits.sum(axis=1), limits.max(axis=1)])[0]]
    within = np.flatnonzero((largest <= best).all(axis=1))
    chosen: Ints = files[within[int(generator(seed, "draw").integers(within.size))]]
    return chosen, tuple(best.tolist())
