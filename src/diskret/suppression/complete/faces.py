"""The faces of cuboids: what one classification contributes to a cuboid of the fictitious complete table.

A cuboid is the product of one face per classification. A face holds the codes at the corners that two diametral tuples
span, with their signs; dummies among the corners are left out, because nobody publishes them. As long as the signs of a
face add up in every sum of its classification, those of the product add up in every published sum of the table.

Shifting part of a cuboid along one classification is shifting part of a face. A shift of one classification against
another would need star sums all over the shifted part; the cuboid then falls into two that have no published sum in
common, and the one with the pivot protects it alone. So deformation is a matter of faces as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.errors import BadOption
from diskret.suppression.complete.space import FORBIDDEN, IndexSpace

MOST_CORNERS = 200_000_000
"""Faces with more corners than this are not listed: the classification is too deep and too wide."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Faces:
    """Faces of one code end to end, in file order; the code itself (sign +1) is left out of each."""

    start: Ints
    codes: Ints
    signs: Ints
    bends: Ints
    """How often each was deformed."""

    def __len__(self) -> int:
        return int(self.bends.size)

    def sets(self) -> list[dict[int, int]]:
        """Every face as codes with signs."""
        parts = zip(self.start[:-1], self.start[1:], strict=True)
        return [dict(zip(self.codes[a:b].tolist(), self.signs[a:b].tolist(), strict=True)) for a, b in parts]

    def holding(self, wanted: set[int]) -> Faces:
        """Only the faces that hold all wanted codes."""
        if not wanted:
            return self
        at = np.repeat(np.arange(len(self)), np.diff(self.start))
        hits = np.bincount(at[np.isin(self.codes, list(wanted))], minlength=len(self))
        return self.chosen(np.flatnonzero(hits == len(wanted)))

    def chosen(self, which: Ints) -> Faces:
        """Some of the faces."""
        lengths = np.diff(self.start)[which]
        start = np.append(0, np.cumsum(lengths)).astype(np.int64)
        at = np.arange(start[-1]) - np.repeat(start[:-1], lengths) + np.repeat(self.start[which], lengths)
        return Faces(start=start, codes=self.codes[at], signs=self.signs[at], bends=self.bends[which])


def first_range(space: IndexSpace, code: int) -> int:
    """The top index of a code's first candidate range: the lowest in which it is not a sum, or all for the total."""
    return min(int(space.hierarchy.levels[code]), space.dimension)


Totals = Literal["with", "without", "only"]


def diametrals(space: IndexSpace, code: int, top: int, coupled: bool = False, total: Totals = "with") -> Ints:
    """The diametral tuples of a candidate range: indices up to ``top`` vary, the higher ones are the code's own.

    The bounding sum of the range is left out, except that of the whole classification (7.1.2.2); ``total`` leaves that
    out too, or everything else. ``coupled`` leaves out
    tuples that are inside, like the code itself, in an index below the top one: nothing published connects the two
    halves of such a cuboid, and the code's half is a cuboid of a smaller range.
    """
    pivot = space.tuples[code]
    choices = []
    for a in range(top):
        if coupled and first_range(space, code) <= a + 1 < top:
            choices.append(np.array([space.lengths[a] + 1]))
        else:
            first, last = (1, space.lengths[a] + 1) if a + 1 < top else _bounding(space, top, total)
            choices.append(np.setdiff1d(np.arange(first, last + 1), pivot[a : a + 1]))
    number = int(np.prod([c.size for c in choices], dtype=np.float64))
    if number << top > MOST_CORNERS:
        raise BadOption(
            f"too many cuboids around code {space.hierarchy.codes[code]!r} ({number:,} in one classification)",
            hint="use the method Moves, which lists no cuboids.",
        )
    found = np.tile(pivot, (number, 1))
    if not top or not number:  # a classification of one code, or nothing beside it
        return found
    grid = np.meshgrid(*choices, indexing="ij")
    found[:, :top] = np.stack([g.reshape(-1) for g in grid], axis=1)
    return found


def _bounding(space: IndexSpace, top: int, total: Totals) -> tuple[int, int]:
    """First and last value of the top index of a range."""
    last = space.lengths[top - 1] + (top == space.dimension and total != "without")
    return (last if total == "only" else 1), last


def corners(space: IndexSpace, code: int, diametral: Ints, top: int) -> tuple[Ints, Ints]:
    """The 2**top corners between a code and diametral tuples, the code first, and their signs relative to it."""
    pivot = space.tuples[code]
    digits = (np.arange(1 << top)[:, None] >> np.arange(top)) & 1
    tuples = np.tile(pivot, (len(diametral), 1 << top, 1))
    tuples[:, :, :top] = np.where(digits[None] == 1, diametral[:, None, :top], pivot[:top])
    margin = np.array(space.lengths[:top]) + 1
    flips = (pivot[:top] != margin) & (diametral[:, :top] != margin)
    odd = (digits[None] * flips[:, None, :]).sum(axis=2) % 2
    return tuples, 1 - 2 * odd.astype(np.int64)


def shifts(top: int) -> Iterator[tuple[int, int, int]]:
    """All ways to shift: the star index that stays (normal), the index that is shifted, and by how much."""
    return ((v, u, by) for v, u, by in product(range(top), range(top), (-1, 1)) if v != u)


def shift(
    space: IndexSpace, tuples: Ints, normal: int, moved: int, at: Ints, old: Ints, by: int, last: bool = True
) -> tuple[Ints, Ints]:
    """Shift the part of each set of corners with values ``at`` in the normal and ``old`` in the moved index.

    Returns the sets for which that is allowed, and which they are (7.3.3, 7.3.4): inside the segment, never from or to
    a margin, not onto another corner, never the pivot, and the normal index must lead to star sums before and after.
    """
    inner = (old <= space.lengths[moved]) & (old + by >= 1) & (old + by <= space.lengths[moved])
    which = np.flatnonzero(inner)
    before = tuples[which]
    part = (before[..., normal] == at[which, None]) & (before[..., moved] == old[which, None])
    keep = part.any(axis=1) & ~part[:, 0]
    if last:
        # most sets have forbidden dummies where the shift does not reach; they need no further look
        keep &= ~((space.look_up(before) == FORBIDDEN) & ~part).any(axis=1)
    which, part, before = which[keep], part[keep], before[keep]
    after = before.copy()
    after[..., moved] += by * part
    legal = (~part | (space.is_star(before, normal) & space.is_star(after, normal))).all(axis=1)
    keys = np.sort(space.keys_of(after), axis=1)
    legal &= (np.diff(keys, axis=1) != 0).all(axis=1)
    return after[legal], which[legal]


def balanced(space: IndexSpace, codes: Ints, signs: Ints) -> Bools:
    """The safety check of 7.3: in every sum that is touched, the signs of the parts add up to that of the sum."""
    number = len(codes)
    row = np.repeat(np.arange(number), codes.shape[1])[codes.reshape(-1) >= 0]
    code, sign = codes[codes >= 0], signs[codes >= 0]
    parent = space.hierarchy.parent_index[code]
    whole = ~space.hierarchy.is_leaf[code]
    size = len(space.hierarchy)
    keys = np.concatenate([(row * size + parent)[parent >= 0], (row * size + code)[whole]])
    weights = np.concatenate([sign[parent >= 0], -sign[whole]])
    sums, place = np.unique(keys, return_inverse=True)
    off = np.bincount(place, weights=weights, minlength=sums.size)
    fine = np.ones(number, dtype=np.bool_)
    fine[sums[off != 0] // size] = False
    return fine


def faces_of(space: IndexSpace, code: int, top: int, deformations: int = 1, total: Totals = "with") -> Faces:
    """All faces of a code in one candidate range, deformed at most so often, each set of codes once.

    >>> from diskret import Hierarchy
    >>> space = IndexSpace.of(Hierarchy.from_levels(["a", "b", "AB", "c", "d", "CD", "all"], [1, 1, 2, 1, 1, 2, 3]))
    >>> faces_of(space, 0, 1).sets()
    [{1: -1}]
    >>> faces_of(space, 0, 2).sets()[-1]     # a, AB against d, CD: one deformation
    {2: 1, 4: -1, 5: -1}
    """
    tuples, signs = corners(space, code, diametrals(space, code, top, True, total), top)
    found: dict[tuple[int, ...], int] = {}
    _collect(space, tuples, signs, 0, found)
    for bends in range(1, deformations + 1):
        rounds_t, rounds_s = [tuples[:0]], [signs[:0]]
        for normal, moved, by in shifts(top):
            # two corners name the part to shift by their values; before the first shift all values are in these
            others = range(tuples.shape[1]) if bends > 1 else (0, 1 << moved)
            for k, m in product((0, 1 << normal), others):
                at, old = tuples[:, k, normal], tuples[:, m, moved]
                after, which = shift(space, tuples, normal, moved, at, old, by, last=bends == deformations)
                rounds_t.append(after)
                rounds_s.append(signs[which])
        tuples, signs = np.concatenate(rounds_t), np.concatenate(rounds_s)
        if not len(tuples):
            break
        unique = np.unique(np.sort(space.keys_of(tuples) * 2 + (signs > 0), axis=1), axis=0, return_index=True)[1]
        tuples, signs = tuples[np.sort(unique)], signs[np.sort(unique)]
        _collect(space, tuples, signs, bends, found)
    return _packed(found)


def _collect(space: IndexSpace, tuples: Ints, signs: Ints, bends: int, found: dict[tuple[int, ...], int]) -> None:
    """Add the usable sets of corners, as codes shifted by one and signed, in order."""
    codes = space.look_up(tuples)
    usable = (codes != FORBIDDEN).all(axis=1)
    codes, signs = codes[usable], signs[usable]
    fine = balanced(space, codes, signs)
    signed = np.where(codes[fine, 1:] >= 0, (codes[fine, 1:] + 1) * signs[fine, 1:], 0)
    order = np.argsort(np.abs(signed), axis=1, kind="stable")
    signed = np.take_along_axis(signed, order, axis=1)
    _, first = np.unique(signed, axis=0, return_index=True)
    for row in signed[np.sort(first)].tolist():
        found.setdefault(tuple(s for s in row if s), bends)


def _packed(found: dict[tuple[int, ...], int]) -> Faces:
    start = np.append(0, np.cumsum([len(f) for f in found])).astype(np.int64)
    signed = np.array([s for f in found for s in f], dtype=np.int64)
    return Faces(
        start=start,
        codes=np.abs(signed) - 1,
        signs=np.sign(signed),
        bends=np.array(list(found.values()), dtype=np.int64),
    )
