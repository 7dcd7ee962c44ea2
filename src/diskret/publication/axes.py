"""Classifications as readers see them: sums before or after their parts, totals named in their language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Ints
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.words import words

Sums = Literal["before", "after"]
"""Whether sums stand before their parts or after them."""
Of = TypeVar("Of", bound=np.generic)
Named = TypeVar("Named")


@dataclass(frozen=True, eq=False, kw_only=True)
class Axis:
    """The codes of one classification in the order in which they are shown."""

    order: Ints
    """Where each of them stands in the table."""
    codes: tuple[str, ...]
    labels: tuple[str, ...]
    labelled: bool
    """Whether somebody gave labels other than the codes."""
    levels: Ints
    depth: int
    is_leaf: Bools
    parts: tuple[Ints, ...]
    """Positions of the parts of each code."""
    total: int
    """Position of the total."""

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def names(self) -> tuple[str, ...]:
        """The codes for the eye: a total nobody named has its name."""
        named = self.labels[self.total] if self.codes[self.total] == TOTAL else self.codes[self.total]
        return tuple(named if i == self.total else code for i, code in enumerate(self.codes))

    def full_name(self, position: int) -> str:
        """A code with its label."""
        name, label = self.names[position], self.labels[position]
        return name if name == label else f"{name} {label}"


def axis_of(hierarchy: Hierarchy, sums: Sums = "after", language: str = "en") -> Axis:
    """A classification as it is shown; codes stay as they are, a total nobody named is named in the language.

    >>> region = Hierarchy.from_prefixes(["N1", "N2", "S1"], [1])
    >>> axis = axis_of(region, "before", "de")
    >>> axis.codes, axis.labels[0]
    (('Total', 'N', 'N1', 'N2', 'S', 'S1'), 'Insgesamt')
    """
    size = len(hierarchy)
    order = np.arange(size) if sums == "after" else _sums_first(hierarchy)
    place = np.empty(size, dtype=np.int64)
    place[order] = np.arange(size)
    labels = list(hierarchy.labels)
    if hierarchy.total == labels[-1] == TOTAL:
        labels[-1] = words("legend", language)["total"]
    return Axis(
        order=order,
        codes=tuple(hierarchy.codes[i] for i in order),
        labels=tuple(labels[i] for i in order),
        labelled=hierarchy.labels != hierarchy.codes,
        levels=hierarchy.levels[order],
        depth=hierarchy.depth,
        is_leaf=hierarchy.is_leaf[order],
        parts=tuple(np.sort(place[hierarchy.part_index[i]]) for i in order),
        total=int(place[-1]),
    )


def _sums_first(hierarchy: Hierarchy) -> Ints:
    """Positions with every sum directly before its parts, which keep their order; the total comes first."""
    below: list[list[int]] = [[] for _ in hierarchy.codes]
    last = len(hierarchy) - 1
    for i, parent in enumerate(hierarchy.parents[:-1]):
        below[parent if parent >= 0 else last].append(i)  # codes outside the tree stand with the total
    found, waiting = [], [last]
    while waiting:
        found.append(waiting.pop())
        waiting += reversed(below[found[-1]])
    return np.array(found, dtype=np.int64)


def arranged(array: npt.NDArray[Of], axes: Sequence[Axis]) -> npt.NDArray[Of]:
    """An array over all cells as the axes show them, flat."""
    found: npt.NDArray[Of] = array.reshape([len(axis) for axis in axes])[np.ix_(*(axis.order for axis in axes))]
    return found.reshape(-1)


def occupied_in_order(at: Sequence[Ints], axes: Sequence[Axis]) -> tuple[Ints, tuple[Ints, ...]]:
    """Cells given by their codes as the axes show them: their order, and then their positions on every axis."""
    shown = []
    for codes, axis in zip(at, axes, strict=True):
        place = np.empty(len(axis), dtype=np.int64)
        place[axis.order] = np.arange(len(axis))
        shown.append(place[codes])
    order = np.lexsort(shown[::-1])
    return order, tuple(each[order] for each in shown)


def cross(by: Mapping[str, Named]) -> tuple[dict[str, Named], Named | None]:
    """The classifications beside the rows of a cross table, and the one across; one alone stands beside."""
    *beside, last = by.items()
    return (dict(beside), last[1]) if beside else (dict(by), None)
