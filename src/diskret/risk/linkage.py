"""Distance-based record linkage with blocking: which record of a released file belongs to which external unit.

Records can belong together only if their keys agree; a key that is withheld agrees with every code. Within such a
block the distance of the values decides: by the best assignment of the whole block one to one where the block is small
enough, else by an auction that comes close to it; or for every unit on its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, listed
from diskret.model.exact_sums import ExactSum, exact_sum
from diskret.risk._linkage_kernels import assign_blocks, auction, nearest
from diskret.risk.classes import Column, numbered
from diskret.risk.options import OPTIMAL_UP_TO, SCALES, Scale

CANDIDATES = 8
JITTER = 1e-7
"""Far below any difference that matters, in standard deviations: equal values are told apart at random."""
SAME = 1e-12
"""A spread below this share of the values is none."""
BIDDING = 32
"""For how many of its nearest records a unit bids in an auction."""
STEP = 0.1
"""Least raise of a bid, as a share of the median squared distance to the nearest record."""
MOST_BIDS = 200


@dataclass(frozen=True, eq=False, kw_only=True)
class Side:
    """One of two files, ready to be compared: scaled values and shared codes, one row per record."""

    points: Floats
    keys: npt.NDArray[np.int32]

    def take(self, rows: Ints) -> Side:
        """Some of the records."""
        return Side(points=self.points[rows], keys=self.keys[rows])


@dataclass(frozen=True, eq=False, kw_only=True)
class Links:
    """Partner of every external unit in the released file (-1: none), its distance, and how it came about."""

    partner: Ints
    distance: Floats
    candidates: Ints
    """The nearest records of every unit, the nearest first; -1 where there are fewer."""
    blocks: int
    optimal: int
    """Units in blocks that were assigned optimally."""


def scaled(released: Floats, external: Floats, scale: Scale) -> tuple[Floats, Floats]:
    """Values of both files on one scale, each with standard deviation 1 in the released file.

    "log": arsinh, nearly the logarithm, but fit for zeros and negative values: a relative change weighs the same for
    small and large units. "standard": as they are. "rank": place among the values of the own file.
    """
    if scale not in SCALES:
        raise BadOption(f"no scale {scale!r}", hint=f"one of {listed(SCALES)}.")
    if scale == "rank":
        released, external = _ranks(released), _ranks(external)
    elif scale == "log":
        released, external = np.arcsinh(released), np.arcsinh(external)
    if not released.size:
        return released, external
    known = [c[~np.isnan(c)] for c in released.T]
    centre = np.array([exact_sum(c).mean for c in known])
    size = np.array([np.abs(c).max(initial=0.0) for c in known])
    with np.errstate(all="ignore"):
        squares = [exact_sum((c - middle) ** 2) for c, middle in zip(known, centre, strict=True)]
    spread = spread_of(squares, size)
    return np.ascontiguousarray((released - centre) / spread), np.ascontiguousarray((external - centre) / spread)


def spread_of(squares: Sequence[ExactSum], size: Floats) -> Floats:
    """What columns are divided by, from the squared deviations of each and its largest absolute value.

    What is left of a constant column is the last bits of its mean, beside which the jitter would be lost.
    """
    spread = np.sqrt(np.array([each.mean for each in squares]))
    return np.where(spread > SAME * size, spread, 1.0)


def jittered(points: Floats, generator: np.random.Generator) -> Floats:
    """Points moved by next to nothing, so that ties are decided by chance and not by place; never without a column.

    Files often come in the same order. Decided by place, equal values would then give everybody away. Every number of a
    point takes one draw of the generator, so that whoever has only some of the records can leave the others' out.
    """
    some = points if points.shape[1] else np.zeros((len(points), 1))
    return some + generator.uniform(-JITTER, JITTER, some.shape)


def _ranks(values: Floats) -> Floats:
    """Mid-ranks from 0 to 1 in every column; missing stays missing."""
    made = np.full(values.shape, np.nan)
    for j, column in enumerate(values.T):
        here = ~np.isnan(column)
        _, code, count = np.unique(column[here], return_inverse=True, return_counts=True)
        middle = np.cumsum(count) - count / 2
        made[here, j] = (middle / max(1, here.sum()))[code]
    return made


def blocks_of(released: Sequence[Column], external: Sequence[Column]) -> tuple[Ints, Ints, int]:
    """Block of every record of both files: records whose keys may agree are in one block.

    Without withheld keys, blocks are the combinations of codes. A withheld key joins the blocks it may belong to.
    """
    if not released:
        return np.zeros(0, np.int64), np.zeros(0, np.int64), 1
    split = released[0].codes.size
    both = [np.concatenate([a.codes, b.codes]).astype(np.int64) for a, b in zip(released, external, strict=True)]
    ids, count = numbered(both)
    first = np.full(count, -1, np.int64)
    first[ids[::-1]] = np.arange(ids.size)[::-1]
    shapes = np.stack([codes[first] for codes in both], axis=1)
    if (shapes < 0).any():
        ids, count = numbered([_connected(shapes)[ids]])
    return ids[:split], ids[split:], count


def _connected(shapes: Ints) -> Ints:
    """Combinations of codes in one component where a withheld key (-1) makes them compatible.

    Two combinations with different keys withheld are compatible if they agree on the keys that both have.
    """
    parent = list(range(len(shapes)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    patterns, kind = np.unique(shapes >= 0, axis=0, return_inverse=True)
    kind = kind.reshape(-1)
    for one, other in combinations(range(len(patterns)), 2):
        here = np.flatnonzero((kind == one) | (kind == other))
        shared = shapes[here][:, patterns[one] & patterns[other]]
        group = np.unique(shared, axis=0, return_inverse=True)[1].reshape(-1) if shared.shape[1] else here * 0
        first = np.full(int(group.max()) + 1, -1)
        first[group[::-1]] = here[::-1]
        both = np.bincount(group[kind[here] == one], minlength=first.size) > 0
        both &= np.bincount(group[kind[here] == other], minlength=first.size) > 0
        for i, g in zip(here[both[group]].tolist(), group[both[group]].tolist(), strict=True):
            parent[root(i)] = root(int(first[g]))
    return np.array([root(i) for i in range(len(shapes))])


def link(
    released: Side,
    external: Side,
    blocks: tuple[Ints, Ints, int],
    *,
    one_to_one: bool,
    optimal_up_to: int = OPTIMAL_UP_TO,
) -> Links:
    """Find a partner in the released file for every external unit; what is found in a block depends on it alone.

    >>> def side(*values):
    ...     return Side(points=np.array(values, dtype=float)[:, None], keys=np.zeros((len(values), 0), np.int32))
    >>> both = (np.zeros(3, np.int64), np.zeros(2, np.int64), 1)
    >>> link(side(1.0, 2.0, 5.0), side(2.1, 2.2), both, one_to_one=True).partner
    array([0, 1])
    """
    own, other, count = blocks
    a_order, b_order = np.argsort(own, kind="stable"), np.argsort(other, kind="stable")
    a_start = np.searchsorted(own[a_order], np.arange(count + 1))
    b_start = np.searchsorted(other[b_order], np.arange(count + 1))
    a, b = released.take(a_order), external.take(b_order)
    gaps = np.zeros(count, np.bool_)
    for side, block in ((a, own[a_order]), (b, other[b_order])):
        gaps[block[np.isnan(side.points).any(axis=1)]] = True
    where, _ = nearest(a.points, a.keys, a_start, b.points, b.keys, b_start, CANDIDATES, gaps)
    partner, optimal = where[:, 0].copy(), 0
    if one_to_one:
        small = np.maximum(np.diff(a_start), np.diff(b_start)) <= optimal_up_to
        optimal = int(np.diff(b_start)[small].sum())
        partner = assign_blocks(a.points, a.keys, a_start, b.points, b.keys, b_start, optimal_up_to)
        for large in np.flatnonzero(~small).tolist():
            records, rows = (np.arange(start[large], start[large + 1]) for start in (a_start, b_start))
            found = _by_auction(a.take(records), b.take(rows), gaps[large : large + 1])
            partner[rows] = np.where(found >= 0, found + a_start[large], -1)
    distance = np.full(partner.size, np.nan)
    here = np.flatnonzero(partner >= 0)
    distance[here] = distances(a, b, partner[here], here)
    back = np.empty(b_order.size, np.int64)
    back[b_order] = np.arange(b_order.size)
    return Links(
        partner=_original(partner, a_order)[back],
        distance=distance[back],
        candidates=_original(where, a_order)[back],
        blocks=count,
        optimal=optimal,
    )


def _by_auction(a: Side, b: Side, gaps: Bools) -> Ints:
    """Units of a block bid for their nearest records; who gives up bids for the nearest of what is left, next round."""
    partner = np.full(len(b.points), -1, np.int64)
    left, free = np.arange(len(b.points)), np.arange(len(a.points))
    while left.size and free.size:
        some, rest = a.take(free), b.take(left)
        ends = np.array([0, free.size]), np.array([0, left.size])
        where, cost = nearest(some.points, some.keys, ends[0], rest.points, rest.keys, ends[1], BIDDING, gaps)
        able = where[:, 0] >= 0
        if not able.any():
            break
        step = max(STEP * float(np.median(cost[able, 0])), 1e-12)
        found = auction(where, cost, free.size, step, MOST_BIDS * left.size)
        done = found >= 0
        if not done.any():
            break
        partner[left[done]] = free[found[done]]
        taken = np.zeros(free.size, np.bool_)
        taken[found[done]] = True
        left, free = left[~done], free[~taken]
    return partner


def distances(a: Side, b: Side, records: Ints, rows: Ints) -> Floats:
    """Distance of pairs, over the values both have."""
    with np.errstate(invalid="ignore"):
        square = (a.points[records] - b.points[rows]) ** 2
    here = ~np.isnan(square)
    total = np.where(here, square, 0.0).sum(axis=1) * square.shape[1] / np.maximum(here.sum(axis=1), 1)
    found: Floats = np.sqrt(total)
    return found


def _original(places: Ints, order: Ints) -> Ints:
    """Places in the sorted file as rows of the file itself."""
    return np.where(places >= 0, order[np.maximum(places, 0)], -1)
