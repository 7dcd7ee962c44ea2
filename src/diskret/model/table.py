"""A table: dense arrays over the product of its hierarchies, sums included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import sha256
from math import prod
from typing import TYPE_CHECKING, Any, Self, overload

import numpy as np
import numpy.typing as npt

from diskret.model import product
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.equations import Entries, Equations
from diskret.model.errors import BadOption, UnknownCode, listed
from diskret.model.framed import Frame, Framed, columns_of
from diskret.model.given import By, classifications, refuse_unknown
from diskret.model.hierarchy import Hierarchy
from diskret.model.near import InEquations, InTrees, Near
from diskret.model.product import Line
from diskret.model.rule import Rule
from diskret.model.status import MARKS, Status

if TYPE_CHECKING:
    from diskret.model.from_cells import CellColumns

Index = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Table(Framed):
    """One response variable over n classifications, with everything later steps need to know about each cell.

    >>> table = Table.from_cells(
    ...     {"sex": ["m", "w"], "turnover": [70.0, 30.0], "firms": [4, 1]},
    ...     by={"sex": Hierarchy.flat(["m", "w"])}, value="turnover", count="firms")
    >>> table.value.tolist(), table.count.tolist()
    ([70.0, 30.0, 100.0], [4, 1, 5])
    """

    by: Mapping[str, Hierarchy]
    response: str
    value: Floats
    status: npt.NDArray[np.uint8]
    respondents: Contributors | None = None
    holdings: Contributors | None = None
    rules: tuple[str, ...] = ()
    """Names of the rules that were applied; bit i of ``rule`` belongs to rule i."""
    rule: npt.NDArray[np.uint32] | None = None
    below: Floats | None = None
    """How far below the value an attacker's interval must reach (lower protection level)."""
    above: Floats | None = None
    """How far above the value it must reach (upper protection level)."""
    lower: Floats | None = None
    """Prior knowledge: smallest value an attacker thinks possible."""
    upper: Floats | None = None
    """Prior knowledge: largest value an attacker thinks possible."""
    weight: Floats | None = None
    """Price of suppressing a cell."""
    creator: Ints | None = None
    """Which subtable suppressed a secondary cell, -1 where unknown: it needs no protection there a second time."""
    key: Floats | None = None
    """Cell keys: what the keys of the records behind a cell add up to, modulo one."""
    given: Floats | None = None
    """Values with sums as they were given, where these are not the sums of their parts and are published so; see
    `published_value`. Everything else works with ``value``."""
    decimals: int | None = 0
    """Decimals that hold every value exactly; None for values that are not short decimals."""
    frequency: bool = False
    """Whether the values are counts of units (a frequency table)."""
    positive: bool = False
    """Whether nobody expects negative values."""
    weighted: bool = False
    """Whether values are grossed up from a sample."""
    additive_counts: bool = True
    """Whether contributor counts add up like the values."""
    counted: bool = True
    """Whether contributors were counted; else ``respondents`` has the least numbers the largest contributions allow."""
    altered: str = ""
    """How values were changed for confidentiality ("perturbed", "rounded"); empty: they are true."""
    judges: tuple[Rule, ...] = ()
    """The rules the table was marked by, with their parameters: secret, kept in working files only."""
    seal: str = ""
    """Set by what protected the table, see `sealed`; it holds for this table and pattern and no others."""

    # --- shape and access --------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classifications, in axis order."""
        return tuple(self.by)

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """Hierarchies, in axis order."""
        return tuple(self.by.values())

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of codes on each axis."""
        return self.value.shape

    @property
    def size(self) -> int:
        """Number of cells, sums included."""
        return int(self.value.size)

    @property
    def count(self) -> Ints:
        """Number of respondents per cell."""
        if not self.counted:
            raise BadOption(
                "the table has largest contributions and no contributor counts",
                hint="name them with count=... when making it.",
            )
        return self._respondents().count

    @property
    def largest(self) -> Floats | None:
        """Largest contributions per cell, at respondent level."""
        return self._respondents().largest

    def _respondents(self) -> Contributors:
        if self.respondents is None:
            raise BadOption("the table has no contributor counts", hint="name them with count=... when making it.")
        return self.respondents

    @property
    def published_value(self) -> Floats:
        """The values as they are published where nothing is hidden: given sums that were kept are as they were given.

        >>> import warnings
        >>> cells = {"s": ["a", "b", "Total"], "x": [1, 2, 4]}
        >>> with warnings.catch_warnings(action="ignore"):
        ...     table = Table.from_cells(cells, by={"s": None}, value="x", sums="keep")
        >>> table.value.tolist(), table.published_value.tolist()
        ([1.0, 2.0, 3.0], [1.0, 2.0, 4.0])
        """
        # changed values are published instead of true ones, whatever these were
        return self.value if self.given is None or self.altered else self.given

    @property
    def empty(self) -> Bools:
        """Cells nobody contributes to (without counts: cells with value zero)."""
        zero: Bools = self.value == 0
        return zero if self.respondents is None else zero & (self.respondents.count == 0)

    @property
    def hidden(self) -> Bools:
        """Cells whose value is withheld."""
        result: Bools = (self.status == Status.PRIMARY) | (self.status == Status.SECONDARY)
        return result

    def index(self, *codes: str) -> Index:
        """Position of a cell given by one code per classification.

        >>> Table.from_cells({"s": ["m"], "x": [1]}, by={"s": None}, value="x").index("Total")
        (1,)
        """
        if len(codes) != len(self.by):
            raise BadOption(
                f"{len(codes)} codes for {len(self.by)} classifications", hint=f"order: {listed(self.names)}."
            )
        at: list[int] = []
        for (name, hierarchy), code in zip(self.by.items(), codes, strict=True):
            if code not in hierarchy:
                raise UnknownCode.in_column(name, [str(code)], hierarchy.codes)
            at.append(hierarchy.index(code))
        return tuple(at)

    def codes(self, index: Index) -> tuple[str, ...]:
        """Codes of the cell at a position."""
        return tuple(h.codes[i] for h, i in zip(self.hierarchies, index, strict=True))

    @property
    def code_numbers(self) -> tuple[Ints, ...]:
        """For each classification the number of the code of every cell (flat)."""
        return tuple(each.reshape(-1) for each in np.indices(self.shape))

    def place(self, cell: int) -> Index:
        """Position of the cell at a flat position, one number per axis."""
        return tuple(int(i) for i in np.unravel_index(cell, self.shape))

    def name_of(self, cell: int) -> str:
        """Name of the cell at a flat position, for messages: ``region=05, nace=10``."""
        at = self.place(cell)
        return ", ".join(f"{n}={c}" for n, c in zip(self.names, self.codes(at), strict=True))

    def name_cells(self, chosen: Bools, most: int = 10) -> list[str]:
        """Names of the first chosen cells."""
        return [self.name_of(int(cell)) for cell in np.flatnonzero(chosen)[:most]]

    def rules_of(self, index: Index) -> tuple[str, ...]:
        """The rules that made a cell primary."""
        if self.rule is None:
            return ()
        bits = int(self.rule[index])
        return tuple(name for i, name in enumerate(self.rules) if bits >> i & 1)

    def with_status(self, status: Status | str, cells: Sequence[Sequence[str]]) -> Self:
        """The same table with some cells set to a status or its word, cells given by their codes."""
        known = Status.from_text(status) if isinstance(status, str) else status
        changed = self.status.copy()
        for codes in cells:
            changed[self.index(*codes)] = known
        return replace(self, status=changed)

    # --- whether it may leave ----------------------------------------------------------------------------------------

    def sealed(self) -> Self:
        """The same table, remembering that its pattern was made to protect it and nothing was found exposed.

        >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "secondary", "open"]}
        >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st").sealed()
        >>> table.protected, table.with_status(Status.OPEN, [["b"]]).protected
        (True, False)
        """
        return replace(self, seal=self._seal())

    @property
    def protected(self) -> bool:
        """Whether the table is still what was made to protect it, or nothing in it ever needed protection.

        A seal that was broken says that it did; so do hidden cells, changed values, and cells that a rule caught.
        """
        caught = np.zeros(self.shape, dtype=np.bool_) if self.rule is None else self.rule > 0
        if (caught & (self.status == Status.OPEN)).any():
            # no rule lets go of what it caught: somebody opened it, and no attack asks about open cells
            return False
        return self.seal_holds if self.seal else not (caught.any() or self.altered or self.hidden.any())

    @property
    def sealable(self) -> bool:
        """Whether somebody marked it, and changed values are still those a method made: no attack can tell that."""
        return not self.unmarked and (not self.altered or self.seal_holds)

    @property
    def seal_holds(self) -> bool:
        """Whether codes, values, levels, statuses and prior knowledge are those that were sealed."""
        return self.seal != "" and self.seal == self._seal()

    @property
    def unmarked(self) -> bool:
        """Whether nobody looked for sensitive cells: no rule, no status, no changed value, no seal."""
        return not (self.rules or self.altered or (self.status != Status.OPEN).any() or self.seal_holds)

    def _seal(self) -> str:
        """A fingerprint of what a pattern protects, and by what."""
        codes = [(name, hierarchy.codes) for name, hierarchy in self.by.items()]
        found = sha256(repr((codes, self.positive)).encode())
        for array in (self.value, self.status, self.below, self.above, self.lower, self.upper):
            found.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
        if self.given is not None:
            found.update(np.ascontiguousarray(self.given).tobytes())
        for further in self._further_marks():
            found.update(np.ascontiguousarray(further).tobytes())
        return found.hexdigest()

    def _further_marks(self) -> Sequence[Ints]:
        """What else a seal is about."""
        return ()

    def check_pattern(self) -> None:
        """Refuse a pattern that does not fit its table."""
        if self.status.shape != self.value.shape:
            raise BadOption(
                f"the pattern has the shape {self.status.shape}, the table {self.value.shape}",
                hint="give one status per cell of this table.",
            )

    # --- what adds up ------------------------------------------------------------------------------------------------

    @property
    def product(self) -> bool:
        """Whether the cells form a product of trees: what subtables and cuboids need."""
        return not any(h.overlapping for h in self.hierarchies)

    @property
    def sparse(self) -> bool:
        """Whether only occupied cells are held, as in a `SparseTable`."""
        return False

    def stands_for(self, cells: Ints) -> Ints:
        """How many cells of a table each of some cells stands for: itself, unless equal cells are one (`Merged`)."""
        return np.ones(cells.size, dtype=np.int64)

    def refuse_sparse(self, what: str) -> None:
        """Refuse what needs all cells of the product, where only occupied ones are held."""

    @property
    def linked(self) -> Mapping[str, tuple[Table, Ints]]:
        """The linked tables a pool is made of, each with the cells behind its own; a single table has none."""
        return {}

    @property
    def shared(self) -> Bools:
        """Cells that more than one linked table shows (flat)."""
        shown = [cells for _, cells in self.linked.values()]
        result: Bools = np.bincount(np.concatenate([*shown, np.empty(0, np.int64)]), minlength=self.size) > 1
        return result

    @property
    def out(self) -> tuple[str, ...]:
        """Linked tables that are published already: nothing in them can be changed."""
        return ()

    def split(self) -> dict[str, Table]:
        """The linked tables with the common pattern; a single table has none."""
        return {}

    def with_tables(self, tables: Mapping[str, Table]) -> Self:
        """The same with other linked tables, if there are any."""
        return self

    @property
    def kind(self) -> str:
        """What it is, for messages."""
        return "table" if self.product else "table with overlapping groupings"

    @property
    def total(self) -> int | None:
        """The cell everything adds up to (flat), if there is one."""
        return self.size - 1

    def sums_along(self, name: str) -> Bools:
        """Cells that are sums along a classification (flat)."""
        axis = self.names.index(name)
        is_sum: Bools = ~self.hierarchies[axis].is_leaf[self.code_numbers[axis]]
        return is_sum

    @property
    def tops(self) -> tuple[str, ...]:
        """For each classification the code of its total; empty where there is none or several."""
        return tuple(h.total for h in self.hierarchies)

    @property
    def inner(self) -> Bools:
        """Cells that are not a sum of anything: their values make up the whole."""
        return product.inner_cells(self.hierarchies)

    def equations(self, hidden: Bools | None = None) -> Equations:
        """All equations that hold a hidden cell (or one of others that are given), the other cells being known.

        >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
        >>> system = Table.from_cells(cells, by={"s": None}, value="x", status="st").equations()
        >>> system.columns.tolist(), system.coefficients.tolist()
        ([0, 1], [1.0, 1.0])
        """
        return product.equations(self.hierarchies, np.flatnonzero(self.hidden if hidden is None else hidden))

    def entries(self, cells: Ints) -> Iterator[Entries]:
        """Where some cells (flat) stand in equations, one kind of equations after the other."""
        return product.entries_of(self.hierarchies, cells)

    def lines(self, cell: int) -> Iterator[Line]:
        """The equations a cell stands in: along which classification, their sum, and all their cells but this one."""
        return product.lines(self.hierarchies, self.names, cell)

    def line_name(self, axis: int, sum_cell: int, through: Sequence[str] = ()) -> str:
        """The line an equation adds along, by what is fixed: ``region 05``, or ``region 05 within sector C``.

        Subtotals that are taken apart on the way come after ``through``. In a table of one classification the line is
        named by its sum.
        """
        adding = product.axes_of(self.hierarchies)[axis]
        codes = self.codes(self.place(sum_cell))
        along = self.names[adding.place]
        fixed = [f"{n} {c}" for a, (n, c) in enumerate(zip(self.names, codes, strict=True)) if a != adding.place]
        apart = f" through {along} {', '.join(through)}" if through else ""
        if adding.grouping:
            apart += f" by grouping {adding.grouping + 1} of {along}"
        if not fixed:
            return f"parts of {along} {codes[adding.place]}{apart}"
        is_total = codes[adding.place] == self.hierarchies[adding.place].total
        name = ", ".join(fixed) + ("" if is_total else f" within {along} {codes[adding.place]}") + apart
        return f"({name})" if len(fixed) > 1 or len(through) > 1 else name

    def cell_name(self, cell: int) -> str:
        """A cell by its codes, for proofs: ``(region 05; sector C)``."""
        codes = self.codes(self.place(cell))
        return "(" + "; ".join(f"{n} {c}" for n, c in zip(self.names, codes, strict=True)) + ")"

    def one_person(self, alone: Bools) -> Ints:
        """Numbers of those who are ``alone`` in cells (flat), one for all parts and sums of one person; else -1."""
        return product.one_person(self.hierarchies, alone.reshape(self.shape))

    @property
    def sums_of(self) -> tuple[Ints, Ints]:
        """All pairs of a part and a sum it adds to (flat)."""
        system = self.equations(np.ones(self.size, dtype=np.bool_))
        sums = system.sum_cell[system.row_of()]
        part = system.columns != sums
        return system.columns[part], sums[part]

    def near(self, movable: Bools) -> Near:
        """Neighbourhoods of the cells that may move (flat)."""
        if self.product:
            return InTrees(self.hierarchies, movable)
        return InEquations(self.equations(movable), np.abs(self.value.reshape(-1)), self.hidden.reshape(-1))

    def same_cells(self, other: object) -> bool:
        """Whether something stands on the same cells."""
        return type(other) is Table and self.names == other.names and self.by == other.by

    def refuse_without_product(self, what: str) -> None:
        """Refuse what only a product of trees can do."""
        if not self.product:
            several = [name for name, h in self.by.items() if h.overlapping]
            raise BadOption(
                f"{what} needs one tree per classification; {listed(several)} has overlapping groupings",
                hint="use the method Moves or Optimal.",
            )

    # --- making and showing ------------------------------------------------------------------------------------------

    @overload
    @classmethod
    def from_cells(cls, cells: object, *, by: By, value: str, **columns: Any) -> Table: ...
    @overload
    @classmethod
    def from_cells(cls, cells: object, *, by: By, value: Sequence[str], **columns: Any) -> dict[str, Table]: ...
    @classmethod
    def from_cells(
        cls, cells: object, *, by: By, value: str | Sequence[str], **columns: Any
    ) -> Table | dict[str, Table]:
        """A table from its cells: a frame, Arrow table, dict of columns, Parquet or CSV file.

        ``by`` maps columns to hierarchies (None: flat, from the data), or names columns that are all flat. ``value`` is
        a column, or several for several tables over the same classifications. Further columns by keyword: ``count``,
        ``largest`` (a list), ``shadow`` (what those are contributions to, if it is not the value: the rules judge it),
        ``owner`` (who contributes most to the cell, by a name or number that is only compared and not kept),
        ``status``, ``below`` and ``above`` (protection levels of primary cells), ``lower`` and ``upper`` (prior
        knowledge), ``weight``; further options: ``positive``, ``frequency``, ``tolerance`` (differences of given sums
        up to this much are corrected with a warning), ``sums`` (given sums that are not true are refused; "compute":
        they are computed anew, "keep": they are published as they are given), ``total`` (the code of the total where
        ``by`` gives no hierarchy), ``normalise`` (codes that differ only in what cannot be seen are one), ``missing``
        (per classification the code that a blank stands for), and ``without_value``, ``without_code`` and ``unknown``
        as in `TabulationOptions`. Missing inner cells are empty, missing sums are computed, given sums are checked
        exactly.

        >>> Table.from_cells({"s": ["m", "w", "Total"], "x": [0.1, 0.2, 0.3]}, by={"s": None}, value="x").decimals
        1
        """
        from diskret.model.from_cells import CellColumns, tables_from_cells

        refuse_unknown(columns, [each.name for each in fields(CellColumns)], "a list of cells")
        given: CellColumns = CellColumns(**columns)
        tables = tables_from_cells(
            cells, classifications(by), [value] if isinstance(value, str) else list(value), given
        )
        return tables[value] if isinstance(value, str) else tables

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """All cells in long form, values included: an internal view, not for publication.

        >>> table = Table.from_cells({"s": ["m"], "x": [1]}, by={"s": None}, value="x")
        >>> {k: v.tolist() for k, v in table.columns().items()}
        {'s': ['m', 'Total'], 'x': [1.0, 1.0], 'status': ['open', 'open']}
        """
        from diskret.model.long_form import long_columns

        return long_columns(self)

    def shown(self, *, internal: bool = False) -> Frame:
        """All cells in long form with the values that may be shown; with ``internal`` the same as `columns`.

        >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "secondary", "open"]}
        >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st").sealed()
        >>> table.to_pandas()["x"].tolist()
        [nan, nan, 70.0, 100.0]
        """
        return columns_of(self, internal)

    def _repr_html_(self) -> str:
        from diskret.model.notebook import as_html, table_html

        return as_html(repr(self), table_html(self))

    def marks(self) -> Iterator[tuple[Index, str]]:
        """Suppressed cells with the letter an internal view shows for them."""
        for flat in np.flatnonzero(self.hidden):
            at = self.place(int(flat))
            yield at, MARKS[Status(int(self.status[at]))]

    def __repr__(self) -> str:
        sizes = " x ".join(f"{name} {len(h)}" for name, h in self.by.items())
        primary = int((self.status == Status.PRIMARY).sum())
        secondary = int((self.status == Status.SECONDARY).sum())
        cells = f"{self.size} of {prod(len(h) for h in self.by.values())}" if self.sparse else f"{self.size}"
        return (
            f"{type(self).__name__}({self.response!r} by {sizes}: {cells} cells, "
            f"{primary} primary, {secondary} secondary)"
        )
