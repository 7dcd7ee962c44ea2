"""Equations and bounds between cells: sums as they hold at every point in time, revisions, published ratios.

Whatever everybody can compute from published numbers is an equation of cells. Where it holds only nearly, because a
number is rounded or was revised, a further cell stands for the difference, and what is known of that are its bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from diskret.ledger.boxes import Boxes
from diskret.ledger.lines import Sums
from diskret.ledger.nodes import Nodes
from diskret.ledger.solving import solved
from diskret.model.arrays import Floats, Ints
from diskret.model.tolerances import ROUNDING


@dataclass(eq=False)
class Relations:
    """Equations row by row, growing; cells are nodes, derived cells, and differences, in this order."""

    value: list[float]
    """True values of all cells; undefined (NaN) where not known yet."""
    rows: list[tuple[Ints, Floats]] = field(default_factory=list)
    axis: list[int] = field(default_factory=list)
    """Along which classification; -1 for what is no sum."""
    told: list[str] = field(default_factory=list)
    differences: dict[int, tuple[float, float, str]] = field(default_factory=dict)
    """Cells that are differences, with their bounds and what they are."""
    parts: set[int] = field(default_factory=set)
    """Those among them that are what some cells have in common."""
    once: dict[int, int] = field(default_factory=dict)
    """Parts that are what a cell was at another time than when it was shown, each with the cell."""

    def add(self, cells: Ints, coefficients: Floats, axis: int = -1, told: str = "") -> None:
        """One more equation."""
        self.rows.append((cells, coefficients))
        self.axis.append(axis)
        self.told.append(told)

    def difference(self, value: float, lower: float, upper: float, what: str) -> int:
        """One more cell that stands for a difference."""
        self.value.append(value)
        self.differences[len(self.value) - 1] = (lower, upper, what)
        return len(self.value) - 1


def parted(
    relations: Relations, boxes: Boxes, words: Callable[[int], str], ends: tuple[float, int], left: list[int]
) -> None:
    """Write down what cells are made of that overlap others in several classifications: of cells and further parts.

    ``words`` are what a node counts; ``ends`` are what no part is below, and its decimals. ``left`` takes what was not
    followed up.
    """
    least, decimals = ends
    used = {part for row in boxes.rows for part in row if part < 0}
    place: dict[int, int] = {}
    for i, cell in enumerate(boxes.of):
        if ~i in used:
            beside = words(cell) if cell >= 0 else "other cells"
            place[~i] = relations.difference(np.nan, least, np.inf, f"part {i + 1}, first of {beside}")
            relations.parts.add(place[~i])
    begin = len(relations.rows)
    for row in boxes.rows:
        own = np.array([place.get(each, each) for each in row], dtype=np.int64)
        relations.add(own, np.append(-1.0, np.ones(own.size - 1)), 0)
    for part, (cell, changed) in boxes.doubtful.items():
        if part in used:
            change = relations.difference(np.nan, -changed, changed, "revision")
            relations.once[place[part]] = cell
            relations.add(np.array([place[part], cell, change]), np.array([-1.0, 1.0, 1.0]), 0)
    rows = relations.rows[begin:]
    if not rows:
        return
    start = np.append(0, np.cumsum([cells.size for cells, _ in rows])).astype(np.int64)
    every, factor = np.concatenate([cells for cells, _ in rows]), np.concatenate([each for _, each in rows])
    found = solved(np.array(relations.value), start, every, factor, decimals, least, left)
    for part in place.values():
        relations.value[part] = float(found[part])


def born(nodes: Nodes, entry: Ints) -> Ints:
    """The first entry that shows every node."""
    found = np.full(nodes.size, np.iinfo(np.int64).max)
    used = nodes.of_row >= 0
    np.minimum.at(found, nodes.of_row[used], entry[used])
    return found


def vintages(sums: Sums, first: Ints, versions: Ints, birth: Ints) -> Iterator[tuple[int, Ints, Floats]]:
    """Every sum with the versions of its cells that held at the same time, once for every time.

    ``first`` is the first node of every cell of the sums, ``versions`` how many it has.
    """
    several = versions > 1
    for row in range(sums.rows):
        cells = sums.cell[sums.start[row] : sums.start[row + 1]]
        coefficients = sums.coefficient[sums.start[row] : sums.start[row + 1]]
        base = first[cells]
        if not several[cells].any():
            yield row, base, coefficients
            continue
        times = sorted({int(t) for c in cells for t in birth[first[c] : first[c] + versions[c]]})
        seen: set[tuple[int, ...]] = set()
        for time in times:
            chosen = np.array([_at(time, int(first[c]), int(versions[c]), birth) for c in cells])
            if tuple(chosen.tolist()) not in seen:
                seen.add(tuple(chosen.tolist()))
                yield row, chosen, coefficients


def _at(time: int, first: int, versions: int, birth: Ints) -> int:
    """The version of a cell that holds at a time: the last one by then, or the first there is."""
    there = [n for n in range(first, first + versions) if birth[n] <= time]
    return there[-1] if there else first


def held_at(time: Ints, first: Ints, versions: Ints, birth: Ints) -> Ints:
    """The version of some cells that held when an entry was made, one time for each cell."""
    found = first.copy()
    for i in np.flatnonzero(versions > 1).tolist():
        found[i] = _at(int(time[i]), int(first[i]), int(versions[i]), birth)
    return found


def held_nearly(relations: Relations) -> None:
    """Give every equation that does not hold a cell for the difference: an attacker knows how large it is at most."""
    for i in range(len(relations.rows)):
        cells, coefficients = relations.rows[i]
        values = np.array([relations.value[c] for c in cells])
        if np.isnan(values).any():
            continue
        off = float(coefficients @ values)
        if abs(off) <= ROUNDING * max(1.0, float(np.abs(coefficients * values).max())):
            continue
        off = float(np.round(off, 6))
        slack = relations.difference(-off, -abs(off), abs(off), "revision")
        relations.rows[i] = (np.append(cells, slack), np.append(coefficients, 1.0))


def bridges(relations: Relations, nodes: Nodes) -> None:
    """Say of every revised cell that its values are near each other: nobody takes a revision for larger than it was."""
    for node in np.flatnonzero(nodes.version > 0).tolist():
        new, old = relations.value[node], relations.value[node - 1]
        if np.isnan(new) or np.isnan(old):
            continue
        off = float(np.round(new - old, 9))
        slack = relations.difference(off, -abs(off), abs(off), "revision")
        # as a sum: whoever is alone in a cell before and after is one person
        relations.add(np.array([node, node - 1, slack]), np.array([-1.0, 1.0, 1.0]), told="the value before revision")
