"""What is connected with a new table: all equations there are, and those among them that reach it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from diskret.ledger.boxes import Following, boxes_of
from diskret.ledger.entry import Entry, EntryCells
from diskret.ledger.lines import Sums
from diskret.ledger.nodes import Keys, Nodes, Rows, Sets
from diskret.ledger.ratios import bounds_of, say_ratio
from diskret.ledger.relations import Relations, born, bridges, held_at, held_nearly, parted, vintages
from diskret.ledger.solving import solved
from diskret.ledger.worlds import Held, births
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import Contradiction
from diskret.model.exact import MOST_DECIMALS, decimals_of


@dataclass(frozen=True, eq=False, kw_only=True)
class Connected:
    """Cells and equations, and what of them hangs together with the newest entry.

    Cells are the nodes, then those that are derived, then differences.
    """

    given: Sequence[tuple[Entry, EntryCells]]
    rows: Rows
    nodes: Nodes
    sets: Sets
    key: Keys
    """Of all cells but differences."""
    relations: Relations
    start: Ints
    cell: Ints
    coefficient: Floats
    is_new: Bools
    """Cells that the newest entry shows or hides."""
    own: Ints
    """For every cell of the newest entry the one behind it; -1 for ratios."""
    inside: Bools
    """Cells that are connected with it."""
    told: Bools
    """Equations that are."""
    ratio_of: Mapping[int, int]
    """Of the newest entry the cell whose ratio an equation says."""
    left: Ints
    """Cells whose overlaps with others were not followed up."""
    doubts: bool
    """Whether cells were taken for unchanged although revised ones overlap them."""

    @property
    def size(self) -> int:
        """How many cells."""
        return len(self.relations.value)

    @property
    def difference(self) -> Ints:
        """Cells that are differences."""
        return np.arange(self.key.shape[0], self.size)

    @classmethod
    def of(
        cls, given: Sequence[tuple[Entry, EntryCells]], rows: Rows, nodes: Nodes, sums: Sums,
        ratios: tuple[Bools, Ints], sets: Sets, still: Sequence[int], following: Following,
    ) -> Connected:  # fmt: skip
        """All equations among the cells of some entries; the last entry is the new one.

        ``ratios`` are the rows that say ratios, and the cells of the sums above and below their lines.
        """
        ratio, ratio_cells = ratios
        first = np.flatnonzero(nodes.version == 0)
        further = sums.key.shape[0] - first.size
        # cells of the sums: the first version of each node, then derived cells
        at = np.concatenate([first, nodes.size + np.arange(further)])
        versions = np.concatenate([np.bincount(np.cumsum(nodes.version == 0) - 1), np.ones(further, dtype=np.int64)])
        key = np.concatenate([nodes.key, sums.key[first.size :]])
        newest = rows.entry == len(given) - 1
        own = np.where(ratio[newest], -1, nodes.of_row[newest])
        is_new = np.zeros(key.shape[0], dtype=np.bool_)
        is_new[own[own >= 0]] = True
        known = np.concatenate([~np.isnan(nodes.shown), np.zeros(further, dtype=np.bool_)])
        birth = np.concatenate([born(nodes, rows.entry), np.zeros(further, dtype=np.int64)])
        least = least_of(given)
        left: list[int] = []
        relations = Relations(value=_values(nodes, sums, (at, versions, birth), least, left).tolist())
        dull = known & ~is_new
        telling = _telling(sums, dull, at, versions)
        for row, cells, coefficients in vintages(telling, at, versions, birth):
            relations.add(cells, coefficients, int(telling.axis[row]))
        seen = births(sums, at, birth, nodes.size) if (versions > 1).any() else birth
        value = np.array(relations.value)
        held = Held(
            first=at, versions=versions, birth=seen, value=value, is_new=is_new, known=dull,
            nothing=dull & (value == 0) & (least >= 0),
        )  # fmt: skip
        boxes = boxes_of(sums, sets, rows.axes, held, still, following)
        parted(relations, boxes, lambda node: _words(key[node], rows, sets), (least, _decimals(nodes)), left)
        held_nearly(relations)
        bridges(relations, nodes)
        then = held_at(np.tile(rows.entry[ratio], 2), at[ratio_cells], versions[ratio_cells], birth)
        of_new = _say_ratios(relations, given, (rows.entry[ratio], rows.row[ratio]), then)
        return _reached(
            cls, relations, known, of_new,
            {
                "given": given, "rows": rows, "nodes": nodes, "sets": sets, "key": key, "is_new": is_new, "own": own,
                "left": np.unique(np.array(boxes.left + left, dtype=np.int64)), "doubts": boxes.doubts,
            },
        )  # fmt: skip


def least_of(given: Sequence[tuple[Entry, EntryCells]]) -> float:
    """How small everybody knows values to be at least: not below zero where no entry has such ones."""
    return 0.0 if all(entry.nonnegative or entry.about.ratio is not None for entry, _ in given) else -np.inf


def _values(nodes: Nodes, sums: Sums, versions: tuple[Ints, Ints, Ints], least: float, left: list[int]) -> Floats:
    """True values of all cells as far as they are told, or follow from others, none of which is below ``least``.

    ``versions`` are the first node of every cell, how many it has, and when each node was born. What is left of a sum
    is what it was when the last of its cells was first seen: values from before and after a revision do not add up.
    """
    at, many_at, birth = versions
    value = np.concatenate([nodes.value, np.full(birth.size - nodes.size, np.nan)])
    first, many = at[sums.cell], many_at[sums.cell]
    seen = np.repeat(np.maximum.reduceat(birth[first], sums.start[:-1]), np.diff(sums.start)) if sums.rows else first
    held = held_at(seen, first, many, birth)
    return solved(value, sums.start, held, sums.coefficient, _decimals(nodes), least, left)


def _decimals(nodes: Nodes) -> int:
    """Decimals of all values that were told."""
    found = decimals_of(nodes.value[~np.isnan(nodes.value)])
    return MOST_DECIMALS if found is None else found


def _words(key: Ints, rows: Rows, sets: Sets) -> str:
    """What a cell counts, in words."""
    numbers = [(axis, sets.sets(axis)[number]) for axis, number in zip(rows.axes, key[1:].tolist(), strict=True)]
    named = ((axis, sets.schemes[axis], own) for axis, own in numbers)
    return ", ".join(f"{axis}={scheme.words(own)}" for axis, scheme, own in named if own != scheme.whole) or "the total"


def _telling(sums: Sums, dull: Bools, at: Ints, versions: Ints) -> Sums:
    """The sums that say something: not all of their cells are known for long."""
    row = np.repeat(np.arange(sums.rows), np.diff(sums.start))
    lively = ~dull[at[sums.cell]] | (versions[sums.cell] > 1)
    telling = np.bincount(row, weights=lively, minlength=sums.rows) > 0
    lengths = np.diff(sums.start)[telling]
    return replace(
        sums, start=np.append(0, np.cumsum(lengths)).astype(np.int64), cell=sums.cell[telling[row]],
        coefficient=sums.coefficient[telling[row]], axis=sums.axis[telling],
    )  # fmt: skip


def _say_ratios(
    relations: Relations, given: Sequence[tuple[Entry, EntryCells]], rows: tuple[Ints, Ints], cells: Ints
) -> dict[int, int]:
    """Write down all published ratios; gives the equations of those of the newest entry, each with its cell."""
    if not cells.size:
        return {}
    half = cells.size // 2
    entry, row = rows
    bounds = [bounds_of(one, each) for one, each in given if one.about.ratio is not None]
    low, high = np.concatenate([b[0] for b in bounds]), np.concatenate([b[1] for b in bounds])
    newest: dict[int, int] = {}
    wrong: dict[str, list[int]] = {}
    for i in np.flatnonzero(~np.isnan(low)).tolist():
        before = len(relations.rows)
        name = given[int(entry[i])][0].name
        both = int(cells[i]), int(cells[half + i])
        true = say_ratio(
            relations, both, (float(low[i]), float(high[i])), _ratio_name(given[int(entry[i])], int(row[i]))
        )
        if entry[i] == len(given) - 1:
            newest |= dict.fromkeys(range(before, len(relations.rows)), int(row[i]))
            if not true:
                wrong.setdefault(name, []).append(i)
    for name, ratios in wrong.items():
        raise Contradiction(
            f"{len(ratios)} published ratios of {name!r} are not those of the values they are made of",
            hint="correct the table, or what its ratio is said to be of: value, unit, period and times.",
        )
    return newest


def _ratio_name(given: tuple[Entry, EntryCells], row: int) -> str:
    """A published ratio in words: the table, and its codes."""
    entry, cells = given
    codes = [(n, h, int(at[row])) for (n, h), at in zip(entry.by.items(), cells.at, strict=True)]
    told = [f"{name}={h.codes[i]}" for name, h, i in codes if i < len(h) - 1] or ["the total"]
    return f"{entry.name}, {', '.join(told)}"


def _reached(
    cls: type[Connected], relations: Relations, known: Bools, of_new: Mapping[int, int], more: dict[str, object]
) -> Connected:
    """Which cells and equations hang together with the new entry: by cells that may move, step by step."""
    lengths = np.array([cells.size for cells, _ in relations.rows], dtype=np.int64)
    start = np.append(0, np.cumsum(lengths)).astype(np.int64)
    cell = np.concatenate([np.empty(0, np.int64), *(cells for cells, _ in relations.rows)])
    coefficient = np.concatenate([np.empty(0), *(factors for _, factors in relations.rows)])
    row = np.repeat(np.arange(lengths.size), lengths)
    is_new, own = more["is_new"], more["own"]
    assert isinstance(is_new, np.ndarray)
    assert isinstance(own, np.ndarray)
    movable = np.ones(len(relations.value), dtype=np.bool_)
    movable[: known.size] = ~known | is_new
    touched = np.zeros(movable.size, dtype=np.bool_)
    touched[: is_new.size] = is_new
    told = np.zeros(lengths.size, dtype=np.bool_)
    told[list(of_new)] = True
    while True:
        told |= np.bincount(row, weights=touched[cell] & movable[cell], minlength=told.size) > 0
        fresh = np.zeros(movable.size, dtype=np.bool_)
        fresh[cell[told[row]]] = True
        fresh &= movable & ~touched
        if not fresh.any():
            break
        touched |= fresh
    inside = touched.copy()
    inside[cell[told[row]]] = True
    return cls(
        relations=relations, start=start, cell=cell, coefficient=coefficient, inside=inside, told=told,
        ratio_of=of_new,
        **more,  # type: ignore[arg-type]
    )  # fmt: skip
