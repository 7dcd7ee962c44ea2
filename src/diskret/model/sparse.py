"""A table held by its occupied cells, for products of classifications of which most cells are empty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.equations import Entries, Equations
from diskret.model.errors import BadOption, listed
from diskret.model.near import Near
from diskret.model.occupied import Occupied
from diskret.model.occupied_near import InOccupied
from diskret.model.product import Line
from diskret.model.table import Index, Table
from diskret.model.trees import strides_of


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SparseTable(Table):
    """A table whose arrays hold occupied cells only, in the order of their places in the product.

    Cells that are not held are zeros nobody contributes to: they are published, and never hidden. Otherwise marking,
    protecting, attacking and publishing do with it what they do with a `Table`.

    >>> from diskret import TabulationOptions, tabulate
    >>> records = {"region": ["N", "S", "S"], "sector": ["A", "B", "B"], "x": [1, 2, 4]}
    >>> table = tabulate(records, by=["region", "sector"], value="x", options=TabulationOptions(sparse=True))
    >>> table
    SparseTable('x' by region 3 x sector 3: 7 of 9 cells, 0 primary, 0 secondary)
    >>> table.value[table.index("S", "B")].item(), table.name_of(0)
    (6.0, 'region=N, sector=A')
    """

    occupied: Occupied

    # --- names -------------------------------------------------------------------------------------------------------

    def index(self, *codes: str) -> Index:
        """Position of a cell given by one code per classification; a cell that is empty has none."""
        at = super().index(*codes)
        place = int(sum(i * s for i, s in zip(at, strides_of(self.occupied.possible).tolist(), strict=True)))
        (cell,) = self.occupied.find(np.array([place])).tolist()
        if cell < 0:
            raise BadOption(
                f"nobody contributes to the cell {listed(codes)}",
                hint="a sparse table holds occupied cells only; an empty one is published as zero.",
            )
        return (cell,)

    def codes(self, index: Index) -> tuple[str, ...]:
        """Codes of the cell at a position."""
        at = (int(each[index[0]]) for each in self.occupied.at)
        return tuple(h.codes[i] for h, i in zip(self.hierarchies, at, strict=True))

    @property
    def code_numbers(self) -> tuple[Ints, ...]:
        """For each classification the number of the code of every cell."""
        return tuple(at.astype(np.int64) for at in self.occupied.at)

    @property
    def kind(self) -> str:
        """What it is, for messages."""
        return "sparse table"

    # --- what adds up ------------------------------------------------------------------------------------------------

    @property
    def product(self) -> bool:
        """Its cells are only some of a product."""
        return False

    @property
    def sparse(self) -> bool:
        """Whether only occupied cells are held."""
        return True

    @property
    def inner(self) -> Bools:
        """Cells that are not a sum of anything."""
        return self.occupied.inner

    def equations(self, hidden: Bools | None = None) -> Equations:
        """All equations that hold a hidden cell (or one of others that are given), the other cells being known."""
        return self.occupied.equations(np.flatnonzero(self.hidden if hidden is None else hidden))

    def entries(self, cells: Ints) -> Iterator[Entries]:
        """Where some cells stand in equations, one kind of equations after the other."""
        return self.occupied.entries(cells)

    def lines(self, cell: int) -> Iterator[Line]:
        """The equations a cell stands in: along which classification, their sum, and all their other occupied cells."""
        return self.occupied.lines(self.names, cell)

    def one_person(self, alone: Bools) -> Ints:
        """Numbers of those who are ``alone`` in cells, one for all parts and sums of one person; else -1."""
        return self.occupied.one_person(alone)

    @property
    def sums_of(self) -> tuple[Ints, Ints]:
        """All pairs of a part and a sum it adds to."""
        return self.occupied.sums_of

    def near(self, movable: Bools) -> Near:
        """Neighbourhoods of the cells that may move."""
        return InOccupied(self.occupied, movable)

    def same_cells(self, other: object) -> bool:
        """Whether something stands on the same cells."""
        return (
            isinstance(other, SparseTable)
            and self.names == other.names
            and self.by == other.by
            and np.array_equal(self.occupied.places, other.occupied.places)
        )

    def refuse_without_product(self, what: str) -> None:
        """Refuse what only a whole product of trees can do."""
        self.refuse_sparse(what)

    def refuse_sparse(self, what: str) -> None:
        """Refuse what needs all cells of the product."""
        raise BadOption(
            f"{what} needs all cells of a table, and this one holds its occupied cells only",
            hint="tabulate it with sparse=False, if the memory suffices, or with fewer classifications.",
        )

    def _further_marks(self) -> Sequence[Ints]:
        """What else a seal is about: which cells they are."""
        return (self.occupied.places,)
