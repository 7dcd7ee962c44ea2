"""Pairs of similar records for noise that cancels out: one of a pair is enlarged, the other reduced.

Exact: the record farthest from the mean of the unpaired takes its nearest neighbour, and so on; the effort grows with
the square of the number of records. Blocks: the farthest records are paired exactly; the others are split at medians of
the widest column into blocks of similar ones, and paired exactly inside each block; the effort grows with the number of
records times its logarithm.
"""

from __future__ import annotations

import numpy as np

from diskret.microdata import _pairing_kernels as kernels
from diskret.microdata.options import Pairing
from diskret.model.arrays import Floats, Ints

BLOCK = 64
FIRST = 512
"""This many of the farthest records are paired without blocks: they decide about the means."""
MOST_EXACT = 5_000
"""Up to here "auto" pairs exactly."""


def pair_records(matrix: Floats, how: Pairing = "auto", block: int = BLOCK, first: int = FIRST) -> Ints:
    """Rows of similar records, two by two, large ones first; with an odd number the last partner is -1.

    >>> pair_records(np.array([[1000.0, 50], [100, 10], [900, 60], [90, 12], [95, 11]])).tolist()
    [[2, 0], [1, 4], [3, -1]]
    """
    if how == "exact" or (how == "auto" and len(matrix) <= MOST_EXACT):
        return _paired(matrix, np.arange(len(matrix)))
    return _in_blocks(matrix, block, first)


def _paired(matrix: Floats, rows: Ints) -> Ints:
    """Exact pairing of some rows."""
    x, who = np.ascontiguousarray(matrix[rows]), rows.copy()
    pairs = np.full(((len(rows) + 1) // 2, 2), -1, dtype=np.int64)
    kernels.pair_all(x, who, not np.isnan(x).any(), pairs)
    if len(rows) % 2:
        pairs[-1, 0] = who[0]
    return pairs


def _in_blocks(matrix: Floats, block: int, first: int) -> Ints:
    """The farthest from the mean of the file; then pairs inside blocks, from the farthest to the nearest."""
    total, have, centre, scale = np.zeros((4, matrix.shape[1]))
    kernels.add_up(matrix, 0, len(matrix), 1.0, total, have)
    kernels.mean_of(total, have, centre, scale)
    far = np.empty(len(matrix))
    kernels.from_centre(matrix, centre, scale, not np.isnan(matrix).any(), far)
    order = np.argsort(-far, kind="stable")
    even = first // 2 * 2
    rest = np.sort(order[even:])
    if not rest.size:
        return _paired(matrix, order)
    pairs = np.concatenate([_paired(matrix, rows) for rows in _blocks(matrix, rest, scale, block)])
    # at most one record is single, and comes last
    ranks = np.argsort(-np.where(pairs[:, 1] < 0, -1.0, far[pairs[:, 0]]), kind="stable")
    return np.concatenate([_paired(matrix, order[:even]), pairs[ranks]])


def _blocks(matrix: Floats, rows: Ints, scale: Floats, block: int) -> list[Ints]:
    """Rows split at the middle of the column with the largest relative variance until blocks are small."""
    waiting, done = [rows], []
    while waiting:
        rows = waiting.pop()
        if len(rows) <= block:
            done.append(rows)
            continue
        # a gap counts as zero here: units absent in a wave belong together
        part = np.nan_to_num(matrix[rows], nan=0.0) * scale
        widest = int(np.argmax(part.var(axis=0)))
        order = np.argsort(part[:, widest], kind="stable")
        middle = len(rows) // 4 * 2  # an even number, so that at most one record of the file stays single
        waiting += [rows[order[:middle]], rows[order[middle:]]]
    return done
