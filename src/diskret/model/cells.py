"""What protecting and attacking need to know of a table, whatever it is made of.

Four things have it: a `Table` (a product of trees), a `SparseTable` (its occupied cells only), a `Pool` (linked
tables), and a `System` (cells in any linear equations). Whoever protects, attacks, rounds or adjusts asks for `Cells`
and never which of them it is. Cells are numbered from 0 on (their flat positions); arrays over them may have a shape.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.equations import Entries, Equations
from diskret.model.hierarchy import Hierarchy
from diskret.model.near import Near
from diskret.model.product import Line
from diskret.model.rule import Rule
from diskret.model.status import Status

if TYPE_CHECKING:
    from diskret.model.table import Table

Index = tuple[int, ...]


class Cells(Protocol):
    """Values, statuses, names, equations, neighbourhoods, and who stands behind which cell."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    """All are frozen dataclasses: ``dataclasses.replace`` makes the same cells with another pattern."""

    # --- one entry per cell; see `Table` -----------------------------------------------------------------------------

    @property
    def response(self) -> str:
        """What the values are of."""
        ...

    @property
    def value(self) -> Floats:
        """The values."""
        ...

    @property
    def status(self) -> npt.NDArray[np.uint8]:
        """What may happen to each cell, and what has; see `Status`."""
        ...

    @property
    def respondents(self) -> Contributors | None:
        """Who stands behind the cells, counted by respondent."""
        ...

    @property
    def holdings(self) -> Contributors | None:
        """The same counted by owner."""
        ...

    @property
    def rules(self) -> tuple[str, ...]:
        """Names of the rules that were applied."""
        ...

    @property
    def rule(self) -> npt.NDArray[np.uint32] | None:
        """Which rules made each cell primary, one bit per rule."""
        ...

    @property
    def judges(self) -> tuple[Rule, ...]:
        """The rules it was marked by."""
        ...

    @property
    def below(self) -> Floats | None:
        """How far below the value an attacker's interval must reach."""
        ...

    @property
    def above(self) -> Floats | None:
        """How far above the value it must reach."""
        ...

    @property
    def lower(self) -> Floats | None:
        """Prior knowledge: smallest value thought possible."""
        ...

    @property
    def upper(self) -> Floats | None:
        """Prior knowledge: largest value thought possible."""
        ...

    @property
    def weight(self) -> Floats | None:
        """Price of suppressing each cell."""
        ...

    @property
    def decimals(self) -> int | None:
        """Decimals that hold every value exactly; None for values that are not short decimals."""
        ...

    @property
    def frequency(self) -> bool:
        """Whether the values are counts of units."""
        ...

    @property
    def positive(self) -> bool:
        """Whether nobody expects negative values."""
        ...

    @property
    def weighted(self) -> bool:
        """Whether values are grossed up from a sample."""
        ...

    @property
    def additive_counts(self) -> bool:
        """Whether contributor counts add up like the values."""
        ...

    @property
    def counted(self) -> bool:
        """Whether contributors were counted; else their numbers are the least that largest contributions allow."""
        ...

    @property
    def altered(self) -> str:
        """How values were changed for confidentiality; empty: they are true."""
        ...

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the arrays."""
        ...

    @property
    def size(self) -> int:
        """Number of cells, sums included."""
        ...

    @property
    def count(self) -> Ints:
        """Number of respondents per cell."""
        ...

    @property
    def largest(self) -> Floats | None:
        """Largest contributions per cell."""
        ...

    @property
    def empty(self) -> Bools:
        """Cells nobody contributes to."""
        ...

    @property
    def hidden(self) -> Bools:
        """Cells whose value is withheld."""
        ...

    @property
    def inner(self) -> Bools:
        """Cells that are not a sum of anything: their values make up the whole."""
        ...

    # --- names -------------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classifications: a cell has one code in each."""
        ...

    @property
    def tops(self) -> tuple[str, ...]:
        """For each classification the code of its total; empty where there is none or several."""
        ...

    def index(self, *codes: str) -> Index:
        """Position of a cell given by one code per classification."""
        ...

    def place(self, cell: int) -> Index:
        """Position of a cell (flat), one number per axis."""
        ...

    def codes(self, index: Index) -> tuple[str, ...]:
        """Codes of the cell at a position."""
        ...

    def name_of(self, cell: int) -> str:
        """Name of a cell (flat), for messages."""
        ...

    def name_cells(self, chosen: Bools, most: int = 10) -> list[str]:
        """Names of the first chosen cells."""
        ...

    def cell_name(self, cell: int) -> str:
        """A cell by its codes, for proofs."""
        ...

    def line_name(self, axis: int, sum_cell: int, through: Sequence[str] = ()) -> str:
        """An equation in words, by its ``axis`` and ``sum_cell``; ``through``: subtotals taken apart on the way."""
        ...

    def rules_of(self, index: Index) -> tuple[str, ...]:
        """The rules that made a cell primary."""
        ...

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """All cells in long form, values included: an internal view."""
        ...

    # --- what adds up ------------------------------------------------------------------------------------------------

    def equations(self, hidden: Bools | None = None) -> Equations:
        """All equations that hold a hidden cell (or one of others that are given), the other cells being known."""
        ...

    def entries(self, cells: Ints) -> Iterator[Entries]:
        """Where some cells (flat) stand in equations, one kind of equations after the other."""
        ...

    def lines(self, cell: int) -> Iterator[Line]:
        """The equations a cell stands in, each with its sum and its other cells."""
        ...

    def near(self, movable: Bools) -> Near:
        """Neighbourhoods of the cells that may move (flat)."""
        ...

    # --- who stands behind -------------------------------------------------------------------------------------------

    def one_person(self, alone: Bools) -> Ints:
        """Numbers of those who are ``alone`` in cells (flat), one for all parts and sums of one person; else -1."""
        ...

    @property
    def sums_of(self) -> tuple[Ints, Ints]:
        """All pairs of a part and a sum it adds to (flat): whoever stands behind a part stands behind the sum."""
        ...

    # --- what it is made of ------------------------------------------------------------------------------------------

    @property
    def product(self) -> bool:
        """Whether the cells form a product of trees: what subtables and cuboids need."""
        ...

    def refuse_without_product(self, what: str) -> None:
        """Refuse what only a product of trees can do."""
        ...

    @property
    def sparse(self) -> bool:
        """Whether only occupied cells are held."""
        ...

    def refuse_sparse(self, what: str) -> None:
        """Refuse what needs all cells, where only occupied ones are held."""
        ...

    def stands_for(self, cells: Ints) -> Ints:
        """How many cells of a table each of some cells stands for."""
        ...

    @property
    def by(self) -> Mapping[str, Hierarchy]:
        """The classifications of a product with their hierarchies; empty for everything else."""
        ...

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """The same, without their names; refused where there are none."""
        ...

    @property
    def linked(self) -> Mapping[str, tuple[Table, Ints]]:
        """The linked tables it is made of, each with the cells behind its own; empty if it is not made of tables."""
        ...

    @property
    def shared(self) -> Bools:
        """Cells that more than one linked table shows (flat)."""
        ...

    @property
    def out(self) -> tuple[str, ...]:
        """Linked tables that are published already: nothing in them can be changed."""
        ...

    def split(self) -> dict[str, Table]:
        """The linked tables with the common pattern: what is hidden in one is hidden in all."""
        ...

    def with_tables(self, tables: Mapping[str, Table]) -> Self:
        """The same with other linked tables, if there are any."""
        ...

    @property
    def kind(self) -> str:
        """What it is, for messages."""
        ...

    @property
    def total(self) -> int | None:
        """The cell everything adds up to (flat), if there is one."""
        ...

    def sums_along(self, name: str) -> Bools:
        """Cells that are sums along a classification (flat)."""
        ...

    def same_cells(self, other: object) -> bool:
        """Whether something stands on the same cells."""
        ...

    def with_status(self, status: Status | str, cells: Sequence[Sequence[str]]) -> Self:
        """The same with some cells set to a status or its word, cells given by their codes."""
        ...

    def check_pattern(self) -> None:
        """Refuse a pattern that does not fit."""
        ...
