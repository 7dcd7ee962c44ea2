"""Securing the primary cells of a complete table one after the other; secondaries need no protection of their own."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, product
from math import prod

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.trees import strides_of
from diskret.moves.move import Move
from diskret.suppression.complete import _kernels
from diskret.suppression.complete.faces import Faces, Totals, faces_of, first_range
from diskret.suppression.complete.space import IndexSpace
from diskret.suppression.complete.strands import strand_of

Progress = Callable[[str, int, int], None]


@dataclass(eq=False, kw_only=True)
class CompleteTask:
    """Flat arrays over the cells: what the search reads, and what it changes (hidden)."""

    shape: tuple[int, ...]
    primary: Bools
    usable: Bools
    """Cells that may be in a cuboid, the hidden ones included."""
    hidden: Bools
    unit: Floats
    """What a new cell counts: 1, or 0 for what nobody publishes."""
    rank: Floats
    cost: Floats
    up: Floats
    down: Floats
    person: Ints
    """Who is alone in a cell; -1: nobody."""
    needs: tuple[Floats, Floats, Floats]
    barriers: bool = True
    """Whether ranks are never negative: then they can end a branch of the search."""

    def arrays(self, usable: Bools) -> tuple[Bools, Bools, Floats, Floats, Floats, Floats, Floats, Ints]:
        """What the kernels want, with the cells that may be used."""
        return usable, self.hidden, self.unit, self.rank, self.cost, self.up, self.down, self.person

    def needs_of(self, cell: int) -> tuple[float, ...]:
        """What one cell needs: a range, and how far down and up it must reach."""
        return tuple(float(need[cell]) for need in self.needs)

    @property
    def strides(self) -> tuple[int, ...]:
        """Step of each classification in the flat table."""
        return tuple(strides_of(self.shape).tolist())


@dataclass(frozen=True, eq=False, kw_only=True)
class RankedMove(Move):
    """A move over the whole table, with what comes first when one is chosen: new cells, margins among them, price."""

    rank: tuple[float, float, float] = (0.0, 0.0, 0.0)


@dataclass(eq=False, kw_only=True)
class Search:
    """Looks for cuboids around pivots; remembers the faces of codes it has listed."""

    spaces: Sequence[IndexSpace]
    task: CompleteTask
    deformations: int = 1
    strands: bool = True
    totals_last: bool = False
    """Whether a range takes in the total of a classification only as a step of its own, after all other sums."""
    _faces: dict[tuple[int, int, int], Faces] = field(default_factory=dict)
    _joined: dict[tuple[int, int, int], Faces] = field(default_factory=dict)

    def faces(self, c: int, code: int, top: int) -> Faces:
        """Faces of a code of classification c in one candidate range."""
        key = (c, code, top)
        if key not in self._faces:
            space = self.spaces[c]
            total: Totals = "with"
            if self.totals_last and code < len(space.hierarchy) - 1:
                total = "only" if top > space.dimension else "without"
            self._faces[key] = faces_of(space, code, min(top, space.dimension), self.deformations, total)
        return self._faces[key]

    def last_range(self, c: int, code: int) -> int:
        """The widest range of a code; the total of the classification is a step of its own behind the last level."""
        space = self.spaces[c]
        return space.dimension + (self.totals_last and code < len(space.hierarchy) - 1)

    def faces_up_to(self, c: int, code: int, top: int) -> Faces:
        """Faces of a code in all its candidate ranges up to one.

        A cuboid of a larger range is needed only if those of the smaller ones do not do; but two of different ranges
        may make a pair.
        """
        key = (c, code, top)
        if key not in self._joined:
            tops = range(first_range(self.spaces[c], code), top + 1)
            self._joined[key] = _joined([self.faces(c, code, t) for t in tops])
        return self._joined[key]

    def ranges(self, pivot: int) -> Iterator[list[tuple[int, ...]]]:
        """Candidate ranges from the smallest on; all extensions by the same number of steps together (7.1.2.2)."""
        at = self._at(pivot)
        lowest = [first_range(space, code) for space, code in zip(self.spaces, at, strict=True)]
        room = [range(self.last_range(c, code) - low + 1) for c, (code, low) in enumerate(zip(at, lowest, strict=True))]
        grown = sorted(product(*room), key=sum)
        for steps in range(sum(len(r) - 1 for r in room) + 1):
            yield [tuple(a + e for a, e in zip(lowest, g, strict=True)) for g in grown if sum(g) == steps]

    def secured(self, pivot: int) -> list[RankedMove]:
        """Cuboids of hidden cells that protect a pivot already, in whatever range; empty if there are none."""
        at = enumerate(self._at(pivot))
        listed = [self.faces_up_to(c, code, self.last_range(c, code)) for c, code in at]
        return self.best(pivot, listed, self.task.hidden | (self.task.unit == 0))

    def chosen(self, pivot: int) -> list[RankedMove]:
        """The best cuboid or pair in the smallest range that has any: with the strand if possible, else without."""
        at = self._at(pivot)
        strand = strand_of(self.spaces, at, self.task.primary.reshape(self.task.shape)) if self.strands else []
        wanted = [{codes[c] for codes in strand} - {at[c]} for c in range(len(at))]
        for must in [wanted, [set[int]() for _ in at]] if strand else [wanted]:
            for ranges in self.ranges(pivot):
                best = self._best_in(pivot, ranges, must)
                if best:
                    return best
        return []

    def _best_in(self, pivot: int, ranges: Sequence[tuple[int, ...]], must: Sequence[set[int]]) -> list[RankedMove]:
        """The best cuboid or pair of several candidate ranges whose faces hold the codes they must."""
        at, best = self._at(pivot), list[RankedMove]()
        for tops in ranges:
            listed = [self.faces_up_to(c, at[c], top).holding(must[c]) for c, top in enumerate(tops)]
            found = self.best(pivot, listed, self.task.usable)
            if found and (not best or found[0].rank < best[0].rank):
                best = found
        return best

    def in_lowest(self, pivot: int) -> list[RankedMove]:
        """The best cuboid or pair inside the lowest subtable of a pivot, which touches no sum; empty if there is none.

        Of the complete table it is the same cuboid and its projections into star sums: nothing else need be looked at
        (the projection property of 6.2.2).
        """
        at = self._at(pivot)
        if any(int(s.hierarchy.levels[code]) > 1 for s, code in zip(self.spaces, at, strict=True)):
            return []
        listed = [self.faces(c, code, 1) for c, code in enumerate(at)]
        return self.best(pivot, listed, self.task.usable)

    def inside(self, pivot: int) -> Iterator[RankedMove]:
        """All cuboids of hidden cells in the first candidate range of a pivot, whatever their length."""
        at = self._at(pivot)
        tops = next(self.ranges(pivot))[0]
        listed = [self.faces(c, at[c], top) for c, top in enumerate(tops)]
        start, shifts, signs, bends, first = self._packed(listed, at)
        good = _kernels.open_lines(pivot, start, shifts, self.task.hidden)
        for faces in product(*(np.flatnonzero(good[a:b]) + a for a, b in pairwise(first))):
            if bends[list(faces)].sum() > self.deformations:
                continue
            cuboid = self._cuboid(pivot, np.array(faces), start, shifts, signs)
            if self.task.hidden[cuboid.cells].all():
                yield cuboid

    def best(self, pivot: int, listed: Sequence[Faces], usable: Bools) -> list[RankedMove]:
        """One cuboid or a pair: fewest new cells, lowest rank, cheapest; a pair only if it comes before all single."""
        if min(map(len, listed)) == 0:
            return []
        start, shifts, signs, bends, first = self._packed(listed, self._at(pivot))
        n = len(listed)
        buffer = _room_for(int(np.diff(f.start).max()) for f in listed)
        cells_of = self.task.arrays(usable)
        needs = self.task.needs_of(pivot)
        best, found = np.zeros(5), np.empty(n, np.int64)
        room, number = 16, -1
        while number < 0:
            room *= 4
            kept = np.empty((room, 5 + n))
            number = _kernels.walk(
                pivot, first, start, shifts, signs, bends, self.deformations, cells_of, needs, self.task.barriers,
                best, found, kept, buffer,
            )  # fmt: skip
        chosen = [found] if found[0] >= 0 else []
        for_nothing = len(chosen) > 0 and max(best[:2]) <= 0
        if number > 1 and not for_nothing:
            i, j = _kernels.best_pair(
                pivot, start, shifts, signs, cells_of, self.task.barriers, best, found, kept, number, buffer
            )
            chosen = list(kept[[i, j], 5:].astype(np.int64)) if i >= 0 else chosen
        rank = (float(best[0]), float(best[1]), float(best[2]))
        return [self._cuboid(pivot, faces, start, shifts, signs, rank) for faces in chosen]

    def _at(self, pivot: int) -> tuple[int, ...]:
        return tuple(int(i) for i in np.unravel_index(pivot, self.task.shape))

    def _packed(self, listed: Sequence[Faces], at: Sequence[int]) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        """Faces of all classifications end to end, codes turned into steps through the flat table."""
        steps = [(f.codes - code) * s for f, code, s in zip(listed, at, self.task.strides, strict=True)]
        lengths = np.concatenate([np.diff(f.start) for f in listed])
        start = np.append(0, np.cumsum(lengths)).astype(np.int64)
        first = np.append(0, np.cumsum([len(f) for f in listed])).astype(np.int64)
        signs, bends = np.concatenate([f.signs for f in listed]), np.concatenate([f.bends for f in listed])
        return start, np.concatenate(steps), signs, bends, first

    def _cuboid(
        self, pivot: int, faces: Ints, start: Ints, shifts: Ints, signs: Ints,
        rank: tuple[float, float, float] = (0.0, 0.0, 0.0),
    ) -> RankedMove:  # fmt: skip
        cells, parity = _room_for(int(start[f + 1] - start[f]) for f in faces)
        _kernels.product_cells(pivot, faces, start, shifts, signs, cells, parity)
        with_pivot, against = cells[parity > 0], cells[parity < 0]
        up = min(self.task.up[with_pivot].min(), self.task.down[against].min(initial=np.inf))
        down = min(self.task.down[with_pivot].min(), self.task.up[against].min(initial=np.inf))
        return RankedMove(
            cells=cells, coefficients=parity.astype(np.float64), up=float(up), down=float(down), rank=rank
        )


def _room_for(lengths: Iterable[int]) -> tuple[Ints, Ints]:
    """Arrays for the cells and signs of products of faces that are so long, the pivot beside them."""
    most = prod(length + 1 for length in lengths)
    return np.empty(most, np.int64), np.empty(most, np.int64)


def _joined(several: Sequence[Faces]) -> Faces:
    """Faces of several ranges as one list."""
    lengths = np.concatenate([np.diff(f.start) for f in several])
    return Faces(
        start=np.append(0, np.cumsum(lengths)).astype(np.int64),
        codes=np.concatenate([f.codes for f in several]),
        signs=np.concatenate([f.signs for f in several]),
        bends=np.concatenate([f.bends for f in several]),
    )


def in_turn(task: CompleteTask) -> Ints:
    """Primary cells in the order they are secured: file order with the last classification outermost."""
    cells = np.flatnonzero(task.primary)
    at = np.unravel_index(cells, task.shape)
    return cells[np.lexsort(at)]


def secure(
    search: Search, pivots: Ints, progress: Progress | None = None, stages: int = 1
) -> tuple[dict[int, list[RankedMove]], list[int]]:
    """Protect every pivot; returns its cuboids, and those that cannot be protected.

    In two ``stages`` the pivots that find a cuboid inside their lowest subtable come first, and the rest in the
    smallest candidate range that has one (partial raising, 6.2.2.3).
    """
    task = search.task
    protecting: dict[int, list[RankedMove]] = {}

    def keep(pivot: int, cuboids: list[RankedMove]) -> None:
        protecting[pivot] = cuboids
        for cuboid in cuboids:
            task.hidden[cuboid.cells] = True
            task.usable[cuboid.cells] = True

    rest, failed = pivots.tolist(), []
    if stages == 2:
        later = []
        for pivot in rest:
            cuboids = search.in_lowest(pivot)
            if cuboids:
                keep(pivot, cuboids)
            else:
                later.append(pivot)
        rest = later
    for done, pivot in enumerate(rest):
        if progress is not None:
            progress("cuboids", done, len(rest))
        cuboids = search.secured(pivot) or search.chosen(pivot)
        if cuboids:
            keep(pivot, cuboids)
        else:
            failed.append(pivot)
    return protecting, failed
