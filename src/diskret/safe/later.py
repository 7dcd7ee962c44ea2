"""Tables made later from the anonymous file, with bounds for the original counts behind them.

Everything here follows from the anonymous file and the published maxima, so that a user of the file can do the same.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import combinations, product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, TableTooLarge
from diskret.safe.control import ControlTable, KeyLevel, key_levels, parsed_level
from diskret.tabulation.combinations import Combinations

Known = Literal["controlled", "sum of controlled cells", "not controlled"]
Bounds = Mapping[frozenset[KeyLevel], int]
"""The largest deviation of each controlled table."""
MOST_CELLS = 50_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
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
    file: Combinations, by: Sequence[str], controlled: Mapping[ControlTable, int] | None = None,
    listed: Collection[str] | None = None,
) -> LaterTable:  # fmt: skip
    """Tabulate an anonymous file and say what its error can be, from the published bounds of its controlled tables.

    Of attributes that are not ``listed`` only codes are named that occur in the file: what vanished is known to nobody.
    """
    levels = _parsed(file, by)
    given = set(file.by) if listed is None else set(listed)
    if listed is not None:
        occurs = file.frequency > 0
        file = replace(file, codes=file.codes[occurs], frequency=file.frequency[occurs])
    names, positions, columns = list(file.by), [], []
    for level in levels:
        to = _codes_at(file, level)
        own = file.codes[:, names.index(level.attribute)]
        shown = to if level.attribute in given else to[np.unique(own)]
        positions.append(np.unique(shown[shown >= 0]))
        columns.append(np.searchsorted(positions[-1], to[own]))
    shape = tuple(p.size for p in positions)
    if float(np.prod(np.array(shape, dtype=np.float64))) > MOST_CELLS:
        raise TableTooLarge(f"the table {' x '.join(by)} has too many cells", hint="use coarser key levels.")
    value = _count(columns, shape, file.frequency)
    bounds = {frozenset(t.levels): m for t, m in (controlled or {}).items() if t.counter is None}
    bound = bounds.get(frozenset(levels))
    known: Known = "controlled"
    if bound is not None:
        lower, upper = np.maximum(value - bound, 0), value + bound
    else:
        lower, upper = np.zeros_like(value), np.full_like(value, file.objects)
        # how many parts there were is known of lists of codes alone
        summed = {table: m for table, m in bounds.items() if _coarser(table, levels) <= given}
        parts, known = _sum_bound(file, levels, summed), "not controlled"
        if parts is not None:
            bound, known = int(parts.max()), "sum of controlled cells"
            lower, upper = np.maximum(value - parts, 0), value + parts
        margins = _controlled_margins(file, levels, columns, shape, bounds)
        lower, upper = _narrowed(lower, upper, margins, len(levels))
    codes = [np.array(file.by[level.attribute].codes, dtype=object) for level in levels]
    labels = [tuple(of[at].tolist()) for of, at in zip(codes, positions, strict=True)]
    return LaterTable(
        by=tuple(map(str, levels)), codes=tuple(labels), value=value, lower=lower, upper=upper, known=known, bound=bound
    )


def _coarser(table: Iterable[KeyLevel], levels: Sequence[KeyLevel]) -> set[str]:
    """The attributes of a table over whose codes it is summed to give a table over these levels."""
    return {level.attribute for level in table if level not in levels}


def _parsed(file: Combinations, by: Sequence[str]) -> list[KeyLevel]:
    if not by:
        raise BadOption("a table needs at least one attribute", hint="for example ['region', 'sex'].")
    levels = [parsed_level(text, file.by) for text in by]
    if len({level.attribute for level in levels}) < len(levels):
        raise BadOption("a table crosses different attributes", hint="name each attribute once.")
    return levels


def _codes_at(file: Combinations, level: KeyLevel) -> Ints:
    return key_levels(level.attribute, file.by[level.attribute])[level]


def _count(columns: Sequence[Ints], shape: tuple[int, ...], frequency: Ints) -> Ints:
    at = np.ravel_multi_index(tuple(columns), shape) if columns else np.zeros(frequency.size, dtype=np.int64)
    return np.bincount(at, weights=frequency, minlength=int(np.prod(shape))).astype(np.int64).reshape(shape)


Margins = Mapping[tuple[int, ...], tuple[Ints, int]]
"""Counts over some axes, spread over the whole table, and their largest deviation."""


def _controlled_margins(
    file: Combinations, levels: Sequence[KeyLevel], columns: Sequence[Ints], shape: tuple[int, ...], bounds: Bounds
) -> Margins:
    """The controlled tables over some of the axes; the number of objects is one without axes."""
    found, known = {}, {frozenset[KeyLevel](): 0, **bounds}
    for r in range(len(levels)):
        for axes in combinations(range(len(levels)), r):
            chosen = frozenset(levels[i] for i in axes)
            if chosen in known:
                flat = [n if i in axes else 1 for i, n in enumerate(shape)]
                count = _count([columns[i] for i in axes], tuple(shape[i] for i in axes), file.frequency)
                found[axes] = count.reshape(flat), known[chosen]
    return found


def _narrowed(lower: Ints, upper: Ints, margins: Margins, dimension: int) -> tuple[Ints, Ints]:
    """A part is no larger than the whole, and two parts of one cell that together are larger than it overlap."""
    for count, m in margins.values():
        upper = np.minimum(upper, count + m)
    for (one, (count, m)), (other, (count2, m2)) in product(margins.items(), repeat=2):
        common = tuple(sorted({*one} & {*other}))
        if len({*one, *other}) == dimension and common in margins:
            shared, m3 = margins[common]
            lower = np.maximum(lower, count + count2 - shared - m - m2 - m3)
    return lower, upper


def _sum_bound(file: Combinations, levels: Sequence[KeyLevel], bounds: Bounds) -> Ints | None:
    """By how much each cell may deviate as a sum of cells of a finer controlled table; the table with the least.

    None if there is no such table.
    """
    found = []
    for table, m in bounds.items():
        at = {level.attribute: level for level in table}
        if all(w.attribute in at and at[w.attribute].level <= w.level for w in levels):
            further = [_codes_at(file, at[name]) for name in at.keys() - {w.attribute for w in levels}]
            sizes = [np.unique(to[to >= 0]).size for to in further]
            parts = [_parts(file, at[w.attribute], w) for w in levels]
            found.append(reduce(np.multiply.outer, parts) * int(np.prod(sizes, dtype=np.int64)) * m)
    return min(found, key=np.max, default=None)


def _parts(file: Combinations, fine: KeyLevel, coarse: KeyLevel) -> Ints:
    """How many codes of the finer level each code of the coarser one has."""
    pairs = np.stack([_codes_at(file, coarse), _codes_at(file, fine)])
    return np.unique(np.unique(pairs[:, pairs[0] >= 0], axis=1)[0], return_counts=True)[1]
