"""The cells that records are added up in: all cells of the product, or those that are occupied."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from diskret.model import rollup
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.hierarchy import Hierarchy
from diskret.model.occupied import Occupied
from diskret.model.trees import strides_of
from diskret.tabulation import _kernels, _pair_kernels

Array = npt.NDArray[Any]
NO_WEIGHTS = np.empty((0, 0))


class Ground(Protocol):
    """Numbers cells and adds them up over hierarchies, in place."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the arrays of a table."""
        ...

    @property
    def size(self) -> int:
        """Number of cells."""
        ...

    def find(self, places: Ints) -> Ints:
        """Numbers of cells, given by their places in the product; -1 where a cell is not held."""
        ...

    def inner(self) -> Bools:
        """Cells that are not a sum in any classification (flat)."""
        ...

    def add_up(self, cells: Ints, modulus: int = 0) -> None:
        """Fill every sum from its parts, with a modulus above zero modulo."""
        ...

    def merge(self, largest: Ints, weights: Floats | None = None) -> None:
        """Merge the descending lists of largest contributions upward."""
        ...

    def pass_owner_on(self, owner: Ints, largest: Ints) -> None:
        """Give every sum the owner of the part that holds its largest contribution."""
        ...


class Whole:
    """All cells of the product."""

    def __init__(self, hierarchies: Sequence[Hierarchy]) -> None:
        self._hierarchies = tuple(hierarchies)
        self.shape = tuple(len(h) for h in hierarchies)
        self.size = int(np.prod(self.shape, dtype=np.int64))

    def find(self, places: Ints) -> Ints:
        """Every cell is held, in the order of places."""
        return places

    def inner(self) -> Bools:
        """Cells that are not a sum in any classification (flat)."""
        return rollup.inner_cells(self._hierarchies).reshape(-1)

    def add_up(self, cells: Ints, modulus: int = 0) -> None:
        """Fill every sum from its parts."""
        if modulus:
            rollup.add_up_modulo(cells, self._hierarchies, modulus)
        else:
            rollup.add_up(cells, self._hierarchies)

    def merge(self, largest: Ints, weights: Floats | None = None) -> None:
        """Merge the descending lists of largest contributions upward."""
        if weights is None:
            rollup.merge_largest(largest, self._hierarchies)
            return
        for parent, outer, inner in rollup.axes(self._hierarchies):
            _kernels.merge_weighted_to_sums(largest, weights, parent, outer, inner)

    def pass_owner_on(self, owner: Ints, largest: Ints) -> None:
        """Give every sum the owner of the part that holds its largest contribution."""
        rollup.pass_owner_on(owner, largest, self._hierarchies)


class Held:
    """Occupied cells only."""

    def __init__(self, occupied: Occupied) -> None:
        self.occupied = occupied
        self.shape = (occupied.size,)
        self.size = occupied.size

    def find(self, places: Ints) -> Ints:
        """Numbers of cells by their places; -1 where a cell is empty."""
        return self.occupied.find(places)

    def inner(self) -> Bools:
        """Cells that are not a sum in any classification."""
        return self.occupied.inner

    def add_up(self, cells: Ints, modulus: int = 0) -> None:
        """Fill every sum from its parts."""
        self._over_pairs(lambda part, whole: _pair_kernels.add_pairs(cells, part, whole, modulus))

    def merge(self, largest: Ints, weights: Floats | None = None) -> None:
        """Merge the descending lists of largest contributions upward."""
        lists = largest.reshape(self.size, -1)
        own = NO_WEIGHTS if weights is None else weights
        self._over_pairs(lambda part, whole: _pair_kernels.merge_pairs(lists, own, part, whole))

    def pass_owner_on(self, owner: Ints, largest: Ints) -> None:
        """Give every sum the owner of the part that holds its largest contribution."""
        self._over_pairs(lambda part, whole: _pair_kernels.pass_owner_on(owner, largest, part, whole))

    def _over_pairs(self, work: Callable[[Ints, Ints], None]) -> None:
        for part, whole in self._pairs:
            work(part, whole)

    @cached_property
    def _pairs(self) -> list[tuple[Ints, Ints]]:
        return list(self._listed())

    def _listed(self) -> Iterator[tuple[Ints, Ints]]:
        """Parts and their sums, one classification after the other.

        What is a sum in a later classification is still empty, and left out.
        """
        hierarchies, at = self.occupied.hierarchies, self.occupied.at
        still = [np.ones(self.size, dtype=np.bool_)]
        for hierarchy, codes in reversed(list(zip(hierarchies, at, strict=True))):
            still.append(still[-1] & hierarchy.is_leaf[codes])
        strides = strides_of(self.occupied.possible).tolist()
        for axis, (hierarchy, filled) in enumerate(zip(hierarchies, reversed(still[:-1]), strict=True)):
            for parents in hierarchy.fills:
                cells = np.flatnonzero(filled & (parents[at[axis]] >= 0))
                codes = at[axis][cells].astype(np.int64)
                cells = cells[np.argsort(codes, kind="stable")]
                codes = at[axis][cells].astype(np.int64)
                places = self.occupied.places[cells] + (parents[codes] - codes) * strides[axis]
                yield cells.astype(np.int64), np.searchsorted(self.occupied.places, places)
