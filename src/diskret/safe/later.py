"""Tables made later from the anonymous file, with bounds for the original counts behind them.

Everything here follows from the anonymous file and the published maxima, so that a user of the file can do the same.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, TableTooLarge
from diskret.model.hierarchy import Hierarchy
from diskret.safe.control import ControlTable, KeyLevel, key_levels, parsed_level

Known = Literal["controlled", "sum of controlled cells", "not controlled"]
MOST_CELLS = 50_000_000
Counts = dict[tuple[int, ...], tuple[Ints, int]]


@dataclass(frozen=True, eq=False)
class LaterTable:
    """Counts over key levels; the original count of each cell lies between ``lower`` and ``upper``.

    ``known`` says why: the table was controlled, its cells are sums of controlled cells, or only tables it is made of
    were. ``bound`` is the largest possible deviation where one number holds for all cells.
    """

    by: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    value: Ints
    lower: Ints
    upper: Ints
    known: Known
    bound: int | None

    @property
    def frame(self) -> dict[str, npt.NDArray[Any]]:
        """One row per cell."""
        index = np.indices(self.value.shape).reshape(len(self.by), -1)
        frame: dict[str, npt.NDArray[Any]] = {
            name: np.array(codes, dtype=object)[at] for name, codes, at in zip(self.by, self.codes, index, strict=True)
        }
        arrays = {"count": self.value, "lower": self.lower, "upper": self.upper}
        return frame | {name: array.reshape(-1) for name, array in arrays.items()}

    def __repr__(self) -> str:
        said = f"deviation at most {self.bound}" if self.bound is not None else "bounds cell by cell"
        return f"LaterTable({' x '.join(self.by)}: {self.value.size} cells, {self.known}, {said})"


def later_table(
    attributes: Mapping[str, Hierarchy], codes: npt.NDArray[np.int32], frequency: Ints,
    controlled: Sequence[ControlTable], maxima: Sequence[int], by: Sequence[str],
) -> LaterTable:  # fmt: skip
    """Tabulate the anonymous file and say what its error can be."""
    if not by:
        raise BadOption("a table needs at least one attribute", hint="for example ['region', 'sex'].")
    levels = [parsed_level(text, attributes) for text in by]
    if len({level.attribute for level in levels}) < len(levels):
        raise BadOption("a table crosses different attributes", hint="name each attribute once.")
    names = list(attributes)
    positions, columns = [], []
    for level in levels:
        to = key_levels(level.attribute, attributes[level.attribute])[level]
        occurring = np.unique(to[to >= 0])
        positions.append(occurring)
        columns.append(np.searchsorted(occurring, to)[codes[:, names.index(level.attribute)]])
    shape = tuple(p.size for p in positions)
    if float(np.prod(np.array(shape, dtype=np.float64))) > MOST_CELLS:
        raise TableTooLarge(f"the table {' x '.join(by)} has too many cells", hint="use coarser key levels.")
    value = _count(columns, shape, frequency)
    bounds = {t.levels: m for t, m in zip(controlled, maxima, strict=True) if t.counter is None}
    known, bound, lower, upper = _known(levels, columns, shape, value, frequency, bounds, attributes)
    labels = tuple(
        tuple(attributes[level.attribute].codes[p] for p in at) for level, at in zip(levels, positions, strict=True)
    )
    return LaterTable(tuple(map(str, levels)), labels, value, lower, upper, known, bound)


def _count(columns: Sequence[Ints], shape: tuple[int, ...], frequency: Ints) -> Ints:
    at = np.ravel_multi_index(tuple(columns), shape) if columns else np.zeros(frequency.size, dtype=np.int64)
    size = int(np.prod(shape)) if shape else 1
    return np.bincount(at, weights=frequency, minlength=size).astype(np.int64).reshape(shape)


def _known(
    levels: Sequence[KeyLevel], columns: Sequence[Ints], shape: tuple[int, ...], value: Ints, frequency: Ints,
    bounds: Mapping[tuple[KeyLevel, ...], int], attributes: Mapping[str, Hierarchy],
) -> tuple[Known, int | None, Ints, Ints]:  # fmt: skip
    def controlled_bound(chosen: Sequence[KeyLevel]) -> int | None:
        wanted = set(chosen)
        return min((m for table, m in bounds.items() if set(table) == wanted), default=None)

    direct = controlled_bound(levels)
    if direct is not None:
        return "controlled", direct, np.maximum(value - direct, 0), value + direct
    parts = _finer(levels, bounds, attributes)
    lower, upper = np.zeros(shape, dtype=np.int64), np.full(shape, int(frequency.sum()), dtype=np.int64)
    if parts is not None:
        per_cell, each = parts
        lower, upper = np.maximum(value - per_cell * each, 0), value + per_cell * each
    # cells of the tables this one is made of: a part is no larger than the whole, and two parts of one cell that
    # together are larger than it must overlap
    known: Counts = {(): (_count([], (), frequency), 0)}
    for r in range(1, len(levels)):
        for chosen in combinations(range(len(levels)), r):
            m = controlled_bound([levels[i] for i in chosen])
            if m is not None:
                known[chosen] = _count([columns[i] for i in chosen], tuple(shape[i] for i in chosen), frequency), m
    everything = set(range(len(levels)))
    for one, (count, m) in known.items():
        upper = np.minimum(upper, _spread(count, one, shape) + m)
        for other, (count2, m2) in known.items():
            common = tuple(sorted(set(one) & set(other)))
            if set(one) | set(other) == everything and common in known:
                shared, m3 = known[common]
                overlap = _spread(count, one, shape) + _spread(count2, other, shape) - _spread(shared, common, shape)
                lower = np.maximum(lower, overlap - m - m2 - m3)
    if parts is not None:
        return "sum of controlled cells", int(parts[0].max() * parts[1]), lower, upper
    return "not controlled", None, lower, upper


def _finer(
    levels: Sequence[KeyLevel], bounds: Mapping[tuple[KeyLevel, ...], int], attributes: Mapping[str, Hierarchy]
) -> tuple[Ints, int] | None:
    """Number of cells of a finer controlled table in each cell, and their bound; the table with the least sum."""
    best: tuple[Ints, int] | None = None
    for table, m in bounds.items():
        at = {level.attribute: level for level in table}
        if not all(w.attribute in at and at[w.attribute].level <= w.level for w in levels):
            continue
        counts = []
        for wanted in levels:
            maps = key_levels(wanted.attribute, attributes[wanted.attribute])
            fine, coarse = maps[at[wanted.attribute]], maps[wanted]
            leaves = coarse >= 0
            pairs = np.unique(np.stack([coarse[leaves], fine[leaves]]), axis=1)
            counts.append(np.unique(pairs[0], return_counts=True)[1])
        further = [level for level in table if level.attribute not in {w.attribute for w in levels}]
        size = 1
        for level in further:
            to = key_levels(level.attribute, attributes[level.attribute])[level]
            size *= np.unique(to[to >= 0]).size
        cells = np.array(size, dtype=np.int64)
        for i, each in enumerate(counts):
            cells = cells * each.reshape([-1 if j == i else 1 for j in range(len(counts))])
        if best is None or int(cells.max()) * m < int(best[0].max()) * best[1]:
            best = cells, m
    return best


def _spread(count: Ints, axes: tuple[int, ...], shape: tuple[int, ...]) -> Ints:
    return count.reshape([shape[i] if i in axes else 1 for i in range(len(shape))])
