"""What cells have in common that differ in several classifications at once, and that no line says.

Two cells such as regions a and b of branches k and l together, and region b of branch k alone, stand on no common line.
Cells that are parts of nothing finer are looked at in groups that have nothing in common. Where some cells of a group
vary in some classifications and the others in others, as turnover by region and by size does within a branch, neither
tells more of the other than what all of the group come to: any two sets of values with the same sum fit each other.
What cannot be set apart in this way is taken apart into the largest parts that none of its cells divides. Where these
are too many, each cell is made of the cells inside it and what is left, and the cells are named as not followed up.

A part that everybody can compute is judged like a derived cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from diskret.ledger.about import PERIOD
from diskret.ledger.lines import Sums
from diskret.ledger.nodes import Sets
from diskret.ledger.overlaps import Axis, axes_of, split_by_axes, together
from diskret.ledger.worlds import Held
from diskret.model.arrays import Bools, Ints

MOST_PARTS = 5_000
"""Parts that are attacked, those of groups with new cells first: with 2,880 of them an audit of the simulated statistic
took 4 seconds of CPU time, with 4,500 it took 13 to 100, with 7,000 minutes."""
FEW_PARTS = 300
"""Parts that are protected: with 2,000 of them a table of it took 80 seconds, and half a one without."""
MOST_GRID = 200_000
"""Finest combinations of codes of all classifications in a group; where there are more, parts are not looked for."""
MOST_BYTES = 200_000_000
"""What such combinations take at most, each with every cell."""
MOST_PAIRS = 1_000_000
"""Cells times new cells, to say which groups the new table is part of."""
MOST_NESTED = 2_000
"""Cells of a group among which those inside others are looked for, where parts are too many."""
MOST_TIMES = 3
"""Ways in which a cell is said to be made of those inside it."""


@dataclass(eq=False)
class Boxes:
    """What cells are made of, row by row: the whole, then its parts; negative numbers are parts (~0 the first)."""

    rows: list[tuple[int, ...]] = field(default_factory=list)
    of: list[int] = field(default_factory=list)
    """For every part a cell that it lies in, or that all cells lie in with which it was found."""
    doubtful: dict[int, tuple[int, float]] = field(default_factory=dict)
    """Parts that are what a cell was before or after others were revised: the cell, and by how much it may differ."""
    doubts: bool = False
    """Whether cells were taken for unchanged although revised ones overlap them."""
    many: int = 0
    """Parts in the rows."""
    left: list[int] = field(default_factory=list)
    """Cells whose overlaps were not followed up."""

    def part(self, cell: int) -> int:
        """One more part."""
        self.of.append(cell)
        return ~(len(self.of) - 1)


@dataclass(frozen=True, kw_only=True)
class Following:
    """How far overlaps are followed up."""

    parts: int = MOST_PARTS
    """So many parts at most, in all."""
    doubting: bool = False
    """Whether cells that nobody revised are taken for changed by as much as revised ones that they overlap; otherwise
    they are taken for unchanged."""


def boxes_of(
    sums: Sums, sets: Sets, axes: tuple[str, ...], held: Held, still: Sequence[int] = (),
    following: Following = Following(),
) -> Boxes:  # fmt: skip
    """Cells that overlap others in several classifications, each with what it is made of.

    Cells are named by the nodes of ``held``. Values of the subjects in ``still`` do not add up over periods.
    """
    whole = np.zeros(sums.key.shape[0], dtype=np.bool_)
    whole[sums.cell[sums.start[:-1]]] = True
    of = sums.key[:, :1].copy()
    if PERIOD in axes:
        of = np.column_stack([of, np.where(np.isin(of[:, 0], still), sums.key[:, 1 + axes.index(PERIOD)], 0)])
    boxes = Boxes()
    groups: list[tuple[_Taking, Ints, bool]] = []
    _, subject = np.unique(of, axis=0, return_inverse=True)
    for number in np.unique(subject).tolist():
        own = np.flatnonzero(subject.reshape(-1) == number)
        lowest = np.flatnonzero(~whole[own])
        if lowest.size < 2:
            continue
        taking = _Taking(
            axes=axes_of(sums.key[own, 1:], sets, axes), held=held.of(own), following=following, boxes=boxes
        )
        new = np.append(0, np.cumsum(held.is_new))
        mine = new[held.first[own] + held.versions[own]] > new[held.first[own]]
        several = [group for group in together(taking.axes, lowest) if group.size > 1]
        groups += [(taking, g, bool(mine[g].any()) or taking.touches(g, np.flatnonzero(mine))) for g in several]
    # what the new table is itself part of comes first
    for taking, group, _ in sorted(groups, key=lambda each: not each[2]):
        taking.group(group)
    return boxes


@dataclass(eq=False, kw_only=True)
class _Taking:
    """Cells of one subject, numbered from 0, that are taken apart."""

    axes: list[Axis]
    held: Held
    following: Following
    boxes: Boxes
    stand: dict[int, int] = field(default_factory=dict)
    """The node, or part, that stands for each cell."""
    by_key: dict[bytes, int] = field(default_factory=dict)
    """All cells by their sets."""

    def __post_init__(self) -> None:
        """Find cells by their sets."""
        keys = np.column_stack([axis.at for axis in self.axes])
        self.by_key = {key.tobytes(): cell for cell, key in enumerate(keys)}

    def group(self, cells: Ints) -> None:
        """Take cells apart that have something in common, at every time."""
        for world in self.held.worlds(cells, self._meet):
            doubted = world.changed != 0
            self.boxes.doubts |= bool(doubted.any()) and not self.following.doubting
            there = ~np.isnan(world.changed) | (not self.following.doubting)
            self.boxes.left += world.node[~there].tolist()
            nodes, changed = world.node[there].tolist(), world.changed[there].tolist()
            self.stand = {
                cell: self._doubtful(node, change) if change and self.following.doubting else node
                for cell, node, change in zip(cells[there].tolist(), nodes, changed, strict=True)
            }
            begin, before = len(self.boxes.rows), self.boxes.many
            for inner in together(self.axes, cells[there]):
                if inner.size > 1:
                    self._taken(inner, as_part=False)
            if self.held.known[nodes].all():
                # nothing moves in them: only what follows is of use
                self.boxes.rows[begin:] = _following(self.boxes.rows[begin:])
            self.boxes.many = before + len({part for row in self.boxes.rows[begin:] for part in row if part < 0})

    def touches(self, cells: Ints, others: Ints) -> bool:
        """Whether some cells overlap others; not looked at where both are many."""
        return 0 < cells.size * others.size <= MOST_PAIRS and bool(self._meet(cells, others).any())

    def _meet(self, some: Ints, others: Ints) -> Bools:
        """Which of some cells (rows) overlap which of the others (columns)."""
        found = np.ones((some.size, others.size), dtype=np.bool_)
        for axis in self.axes:
            found &= axis.meet(some, others)
        return found

    def _doubtful(self, node: int, changed: float) -> int:
        """What a cell was at another time than when it was shown."""
        part = self.boxes.part(node)
        self.boxes.doubtful[part] = (node, changed)
        return part

    def _taken(self, cells: Ints, *, as_part: bool) -> int | None:
        """Cells that hang together, taken apart; what they come to, if they are part of more or it is of use."""
        every = [axis.finest_of(cells) for axis in self.axes]
        size = np.array([codes.size for codes in every])
        varied = np.column_stack([axis.many[axis.at[cells]] for axis in self.axes]) < size
        ways = split_by_axes(varied)
        around = cells[~varied.any(axis=1)]
        sum_of = self.stand[int(around[0])] if around.size else self._around(cells, varied)
        if not around.size and len(ways) == 1 and len(together([self.axes[i] for i in ways[0]], cells)) == 1:
            return self._divided(cells, sum_of, as_part=as_part)
        if sum_of is None:
            sum_of = self.boxes.part(self.stand[int(cells[0])])
        for way in ways:
            groups = together([self.axes[i] for i in way], cells[varied[:, way].any(axis=1)])
            if way.size == 1 and sum_of >= 0 and all(group.size == 1 for group in groups):
                # they stand on one line, where what adds up is known
                continue
            parts = [self._one(group) for group in groups]
            inside = self._volume([group for group in groups if group.size == 1], way) + sum(
                prod(self.axes[i].finest_of(group).size for i in way.tolist()) for group in groups if group.size > 1
            )
            if inside < prod(int(size[i]) for i in way.tolist()):
                parts.append(self.boxes.part(self.stand[int(cells[0])]))
            if parts != [sum_of]:
                # otherwise the others in it were found to come to all of it
                self.boxes.rows.append((sum_of, *parts))
        return sum_of

    def _volume(self, single: Sequence[Ints], way: Ints) -> int:
        """How many finest combinations of some classifications single cells have together."""
        cells = np.concatenate([np.empty(0, np.int64), *single])
        # Python's whole numbers have no end
        each = np.prod([self.axes[i].many[self.axes[i].at[cells]].astype(object) for i in way.tolist()], axis=0)
        return int(each.sum())

    def _one(self, group: Ints) -> int:
        """What stands for cells that hang together."""
        if group.size == 1:
            return self.stand[int(group[0])]
        found = self._taken(group, as_part=True)
        assert found is not None
        return found

    def _around(self, cells: Ints, varied: Bools) -> int | None:
        """The node of the cell that is just all of some cells together, if there is one that had one value only."""
        if varied.all(axis=0).any():
            # some classification has no code for all of them
            return None
        key = np.array([axis.at[cells[~varied[:, i]][0]] for i, axis in enumerate(self.axes)])
        cell = self.by_key.get(key.tobytes())
        if cell is None or self.held.revised or self.held.versions[cell] > 1:
            return None
        return int(self.held.first[cell])

    def _divided(self, cells: Ints, sum_of: int | None, *, as_part: bool) -> int | None:
        """Cells taken apart into parts that none of them divides; what they come to, if they are part of more."""
        if as_part and sum_of is None:
            sum_of = self.boxes.part(self.stand[int(cells[0])])
        inside = self._inside(cells)
        empty = np.array([(node := self.stand[cell]) >= 0 and bool(self.held.nothing[node]) for cell in cells.tolist()])
        nobody: Bools = np.zeros(0, dtype=np.bool_)
        if inside is not None:
            nobody = np.logical_not(inside.any(axis=0))
            inside = inside[:, ~nobody & ~inside[empty].any(axis=0)]
        if inside is None or inside.shape[1] > self.following.parts - self.boxes.many:
            standing = (self.stand[cell] for cell in cells.tolist())
            self.boxes.left += [node if node >= 0 else self.boxes.doubtful[node][0] for node in standing]
            self._nested(cells)
            return sum_of
        parts = np.array([self.boxes.part(self.stand[int(cells[row])]) for row in inside.argmax(axis=0).tolist()], int)
        self.boxes.many += parts.size
        for row in np.flatnonzero(~empty).tolist():
            # what has no part that may be more than nothing is as much as a cell that is nothing
            own = parts[inside[row]].tolist() or [self.stand[int(cells[empty.argmax()])]]
            self.boxes.rows.append((self.stand[int(cells[row])], *own))
        if as_part and sum_of is not None:
            rest = [self.boxes.part(self.stand[int(cells[0])])] if nobody.any() else []
            self.boxes.rows.append((sum_of, *parts.tolist(), *rest))
        return sum_of

    def _inside(self, cells: Ints) -> Bools | None:
        """Which cells (rows) are made of which parts (columns), one of which may be nobody's; None for too many."""
        inside = np.ones((cells.size, 1), dtype=np.bool_)
        for axis in self.axes:
            there = axis.inside(cells)
            if inside.shape[1] * there.shape[1] > MOST_GRID or inside.size * there.shape[1] > MOST_BYTES:
                return None
            inside = (inside[:, :, None] & there[:, None, :]).reshape(cells.size, -1)
        packed = np.ascontiguousarray(np.packbits(inside, axis=0).T)
        _, first = np.unique(packed.view(f"V{packed.shape[1]}").reshape(-1), return_index=True)
        parts: Bools = inside[:, np.sort(first)]
        return parts

    def _nested(self, cells: Ints) -> None:
        """Cells made of disjoint ones inside them, and of what is left."""
        if cells.size > MOST_NESTED:
            return
        inside = [axis.inside(cells).astype(np.int64) for axis in self.axes]
        common = [own @ own.T for own in inside]
        many = [own.sum(axis=1) for own in inside]
        within = np.logical_and.reduce([c == m[None, :] for c, m in zip(common, many, strict=True)])
        apart = np.logical_or.reduce([c == 0 for c in common])
        np.fill_diagonal(within, val=False)
        volume = [prod(each) for each in zip(*(m.tolist() for m in many), strict=True)]
        for cell in np.flatnonzero(within.any(axis=1)).tolist():
            there = sorted(np.flatnonzero(within[cell]).tolist(), key=lambda other: -volume[other])
            waiting = [*there]
            for _ in range(MOST_TIMES):
                chosen: list[int] = []
                # first those that no way had before
                for other in (*waiting, *there):
                    if apart[other, chosen].all() and other not in chosen:
                        chosen.append(other)
                row = [self.stand[int(cells[other])] for other in (cell, *chosen)]
                if volume[cell] != sum(volume[other] for other in chosen):
                    row.append(self.boxes.part(row[0]))
                self.boxes.rows.append(tuple(row))
                waiting = [other for other in waiting if other not in chosen]
                if not waiting:
                    break


def _following(rows: Sequence[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Of rows whose cells are all known those by which parts can be computed, one after the other."""
    found: list[tuple[int, ...]] = []
    waiting = [(row, {each for each in row if each < 0}) for row in rows]
    computed: set[int] = set()
    while True:
        fresh = [(row, unknown - computed) for row, unknown in waiting]
        ready = [(row, unknown) for row, unknown in fresh if len(unknown) == 1]
        if not ready:
            return found
        for row, unknown in ready:
            found.append(row)
            computed |= unknown
        waiting = [(row, unknown) for row, unknown in fresh if len(unknown) > 1]
