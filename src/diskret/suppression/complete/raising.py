"""Raising a table to a complete one that is really stored, and lowering it again (Quaderverfahren, 6.2.2).

Every level of a classification below the total becomes an axis of its own; segments shorter than the longest are filled
up with dummies, and sums over equal positions of several segments, which nobody publishes, appear as star sums. The
raised table adds up: whoever attacks it attacks the table itself.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Ints
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption, TableTooLarge, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.complete.space import FORBIDDEN, IndexSpace

MOST_CELLS = 50_000_000


@dataclass(frozen=True, eq=False, kw_only=True)
class Raised:
    """A complete table with its origin. Star sums and allowed dummies are secondary: hidden, and never protected."""

    table: Table
    origin: Table
    cells: Ints
    """Where each cell of the origin lies in the raised table (flat)."""
    dummy: Bools
    """Dummies and star sums that may be part of a cuboid (flat)."""

    def lower(self, protected: Table) -> Table:
        """The origin with the statuses its cells have in the raised table after protection.

        >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3]}
        >>> tree = Hierarchy.from_nested({"all": {"AB": ["a", "b"], "c": None}})
        >>> table = Table.from_cells(cells, by={"s": tree}, value="x")
        >>> raised = raise_table(table)
        >>> raised.table.shape, raised.lower(raised.table).status.tolist()
        ((3, 3), [0, 0, 0, 0, 0])
        """
        if protected.shape != self.table.shape:
            raise BadOption("lowering a table other than the one that was raised", hint="protect raised.table.")
        status = protected.status.reshape(-1)[self.cells].reshape(self.origin.shape)
        return replace(self.origin, status=status)


def raise_table(
    table: Table,
    only: Collection[str] | None = None,
    positions: Mapping[str, Mapping[str, int]] | None = None,
) -> Raised:
    """A table without subtotals that says the same, with one axis per level.

    ``only`` names the classifications to raise (left out: all); the others keep their subtotals, and protection is then
    no longer sufficient. ``positions`` moves codes inside their segments, so that dummies lie elsewhere: that changes
    which cells can protect each other, not what is published.
    """
    spaces = _spaces(table, table.names if only is None else only, positions or {})
    sizes = [spaces[name].size if name in spaces else len(h) for name, h in table.by.items()]
    if prod(sizes) > MOST_CELLS:
        raise TableTooLarge(
            f"the raised table would have {prod(sizes):,} cells",
            hint="the method Complete works without storing it, the method Moves without cuboids at all.",
        )
    cells, kind = _places(table, spaces, sizes)
    by = _classifications(table, spaces)
    shape = tuple(len(h) for h in by.values())

    def spread(given: npt.NDArray[Any]) -> npt.NDArray[Any]:
        found = given
        for axis, name in enumerate(table.by):
            if name in spaces:
                found = _along(found, axis, spaces[name])
        flat = found.reshape(-1)
        flat[cells] = given.reshape(-1)  # adding up floats again may differ in the last digit
        return flat.reshape(shape)

    status = np.full(prod(sizes), Status.SECONDARY, dtype=np.uint8)
    status[kind == FORBIDDEN] = Status.STRUCTURAL_ZERO
    status[cells] = table.status.reshape(-1)
    people = None if table.respondents is None else Contributors(spread(table.respondents.count))
    complete = Table(
        by, table.response, spread(table.value), status.reshape(shape), people, decimals=table.decimals,
        frequency=table.frequency, positive=table.positive, additive_counts=table.additive_counts,
    )  # fmt: skip
    dummy = kind != FORBIDDEN
    dummy[cells] = False
    return Raised(table=complete, origin=table, cells=cells, dummy=dummy)


def _spaces(table: Table, only: Collection[str], positions: Mapping[str, Mapping[str, int]]) -> dict[str, IndexSpace]:
    """The elementary indices of the classifications to raise: those with subtotals."""
    unknown = sorted({*only, *positions} - set(table.by))
    if unknown:
        raise BadOption(f"no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}.")
    table.refuse_without_product("a complete table")
    chosen = {name: h for name, h in table.by.items() if h.depth > 2 and name in only}
    return {name: IndexSpace.of(hierarchy, positions.get(name)) for name, hierarchy in chosen.items()}


def _classifications(table: Table, spaces: Mapping[str, IndexSpace]) -> dict[str, Hierarchy]:
    """One flat classification per elementary index, the highest level first."""
    by: dict[str, Hierarchy] = {}
    for name, hierarchy in table.by.items():
        if name not in spaces:
            by[name] = hierarchy
            continue
        for a in range(spaces[name].dimension, 0, -1):
            by[f"{name} {a}"] = Hierarchy.flat([str(k) for k in range(1, spaces[name].lengths[a - 1] + 1)])
    return by


def _grid(space: IndexSpace) -> Ints:
    """All tuples of a classification in the order of the raised axes: the highest level outermost."""
    grid = np.meshgrid(*(np.arange(1, size + 1) for size in reversed(space.sizes)), indexing="ij")
    return np.stack([g.reshape(-1) for g in reversed(grid)], axis=1)


def _place(space: IndexSpace, tuples: Ints) -> Ints:
    """Where tuples stand in that order."""
    places: Ints = np.ravel_multi_index(tuple(tuples[:, ::-1].T - 1), space.sizes[::-1]).astype(np.int64)
    return places


def _places(table: Table, spaces: Mapping[str, IndexSpace], sizes: list[int]) -> tuple[Ints, Ints]:
    """Where the cells lie in the raised table, and which of its cells are forbidden (6.2.2, rule 2).

    A dummy is forbidden if it is added to a published sum together with published cells. Where a dummy of one
    classification crosses a dummy of another, nothing published is added.
    """
    axes, dummies, forbidden = [], [], []
    for (name, hierarchy), size in zip(table.by.items(), sizes, strict=True):
        if name not in spaces:
            axes.append(np.arange(len(hierarchy)))
            dummies.append(np.zeros(size, dtype=np.bool_))
            forbidden.append(np.zeros(size, dtype=np.bool_))
            continue
        found = spaces[name].look_up(_grid(spaces[name]))
        axes.append(_place(spaces[name], spaces[name].tuples))
        dummies.append(found < 0)
        forbidden.append(found == FORBIDDEN)
    cells = np.ravel_multi_index(np.ix_(*axes), sizes).reshape(-1).astype(np.int64)
    crossing, no_partner = np.zeros(sizes, dtype=np.int64), np.zeros(sizes, dtype=np.bool_)
    for axis in range(len(sizes)):
        across = [-1 if i == axis else 1 for i in range(len(sizes))]
        crossing += dummies[axis].reshape(across)
        no_partner |= forbidden[axis].reshape(across)
    return cells, np.where(no_partner & (crossing == 1), FORBIDDEN, 0).reshape(-1)


def _along(given: npt.NDArray[Any], axis: int, space: IndexSpace) -> npt.NDArray[Any]:
    """Spread the leaves of one classification over its positions and add up along every index."""
    lined = np.moveaxis(given, axis, 0)
    leaves = np.flatnonzero(space.hierarchy.is_leaf)
    finest = space.tuples[leaves].copy()
    for a in range(space.dimension):
        # a code without parts lies in its own hinterland, at the first position
        finest[:, a] = np.where(space.hierarchy.levels[leaves] > a + 1, 1, finest[:, a])
    inner = tuple(reversed(space.lengths))
    fine = np.zeros((prod(inner), *lined.shape[1:]), dtype=given.dtype)
    fine[np.ravel_multi_index(tuple(finest[:, ::-1].T - 1), inner)] = lined[leaves]
    full = fine.reshape(*inner, *lined.shape[1:])
    for a in range(len(inner)):
        full = np.concatenate([full, full.sum(axis=a, keepdims=True)], axis=a)
    return np.moveaxis(full.reshape(space.size, *lined.shape[1:]), 0, axis).copy()
