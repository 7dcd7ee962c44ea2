"""A pool: several tables of one response that share cells, seen as one set of cells and one system of equations.

All tables are put into one publication space, spanned by the classifications of all of them. A table that lacks a
classification shows its total there, or the code it is fixed at (its pseudo index). Cells with the same codes are the
same cell, and a cell is hidden in all tables or in none. Whatever adds up according to any of the tables adds up for
the reader, wherever all parts are published: also across tables, and in several groupings of one classification.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.errors import BadOption
from diskret.model.given import refuse_no_table, refuse_other
from diskret.model.hierarchy import Hierarchy
from diskret.model.near import InTables, Near
from diskret.model.status import Status
from diskret.model.system import System
from diskret.model.table import Table


@dataclass(frozen=True, eq=False, kw_only=True)
class Pool(System):
    """Several tables as one: a system whose equations come from its tables. Audit and suppression take it like a table.

    >>> cells = {"region": ["a", "b"], "x": [10, 20]}
    >>> one = Table.from_cells(cells, by={"region": None}, value="x")
    >>> cells = {"region": ["a", "a", "b"], "size": ["s", "l", "l"], "x": [4, 6, 20]}
    >>> two = Table.from_cells(cells, by={"region": None, "size": None}, value="x")
    >>> pool = Pool.of({"regions": one, "sizes": two})
    >>> pool
    Pool('x': 2 tables, 9 cells, 3 shared, 0 primary, 0 secondary)
    >>> pool.cells_of["regions"].tolist(), pool.name_of(0)
    ([2, 5, 8], 'region=a, size=l')
    """

    tables: Mapping[str, Table]
    """The tables as they were given; their statuses are those before anything was shared."""
    cells_of: Mapping[str, Ints]
    """For every table the pool cell behind each of its (flat) cells."""
    published: tuple[str, ...] = ()
    """Tables that are out already: nothing in them can be changed."""

    nowhere: ClassVar[str] = "no table of the pool shows the cell"

    @classmethod
    def of(  # type: ignore[override]
        cls,
        tables: Mapping[str, Table],
        *,
        fixed: Mapping[str, Mapping[str, str]] | None = None,
        over: Mapping[str, Hierarchy] | None = None,
        published: Sequence[str] = (),
    ) -> Pool:
        """Recognise shared cells, check that they agree, and give each one status.

        ``fixed`` gives pseudo indices: per table the code of a classification it does not run over (left out: the
        total). ``over`` are hierarchies along which whole tables add up, such as states to the country. ``published``
        names tables that are out already: their open cells cannot be suppressed any more. A cell that is primary in one
        table is primary in all of them. Prior knowledge is intersected, protection levels are the largest.
        """
        from diskret.model.pooling import pooled

        refuse_other(
            tables, Mapping, "tables by their names", 'name them: Pool.of({"by region": one, "by branch": two}).'
        )
        for table in tables.values():
            refuse_no_table(table, "a pool")

        return pooled(tables, fixed or {}, over or {}, tuple(published))

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """A pool has none of its own: what walks along hierarchies must use the equations."""
        raise BadOption(
            "a pool has several tables, this needs one",
            hint="use the method Moves for pools, or take single tables from split().",
        )

    @property
    def linked(self) -> Mapping[str, tuple[Table, Ints]]:
        """The linked tables, each with the cells behind its own."""
        return {name: (table, self.cells_of[name]) for name, table in self.tables.items()}

    @property
    def out(self) -> tuple[str, ...]:
        """Linked tables that are published already."""
        return self.published

    def with_tables(self, tables: Mapping[str, Table]) -> Self:
        """The same with other linked tables."""
        return replace(self, tables=tables)

    @property
    def kind(self) -> str:
        """What it is, for messages."""
        return "pool"

    def sums_along(self, name: str) -> Bools:
        """Cells whose code is a sum of a classification in any table."""
        axis = self.names.index(name)
        sums = {c for t in self.tables.values() if name in t.by for c in t.by[name].codes if t.by[name].parts(c)}
        is_sum: Bools = np.array([c in sums for c in self.space.codes[axis]])[self.space.at[axis]]
        return is_sum

    def near(self, movable: Bools) -> Near:
        """Neighbourhoods: those of all tables that show a cell, together."""
        return InTables([(table.near(movable[cells]), cells) for table, cells in self.linked.values()], movable)

    def refuse_without_product(self, what: str) -> None:
        """Refuse what only a product of trees can do."""
        raise BadOption(
            f"{what} needs a single table, this is a pool",
            hint="use the method Moves or Optimal for pools, or take single tables from split().",
        )

    def split(self) -> dict[str, Table]:
        """The single tables with the pattern of the pool: what is hidden in one is hidden in all.

        >>> cells = {"r": ["a", "b"], "x": [10, 20], "st": ["primary", "open"]}
        >>> one = Table.from_cells(cells, by={"r": None}, value="x", status="st")
        >>> two = Table.from_cells({"r": ["a", "b"], "x": [10, 20]}, by={"r": None}, value="x")
        >>> Pool.of({"one": one, "two": two}).split()["two"].status.tolist()
        [1, 0, 0]
        """
        return dict(self._split())

    def _split(self) -> Iterator[tuple[str, Table]]:
        for name, table in self.tables.items():
            if name in self.published:
                yield name, table
                continue
            mine = self.status[self.cells_of[name]].reshape(table.shape)
            hidden = (mine == Status.PRIMARY) | (mine == Status.SECONDARY)
            one = replace(table, status=np.where(hidden, mine, table.status))
            # protected together, each may leave
            yield name, one.sealed() if self.seal_holds else one

    def __repr__(self) -> str:
        primary, secondary = int((self.status == Status.PRIMARY).sum()), int((self.status == Status.SECONDARY).sum())
        return (
            f"Pool({self.response!r}: {len(self.tables)} tables, {self.size} cells, {int(self.shared.sum())} shared, "
            f"{primary} primary, {secondary} secondary)"
        )
