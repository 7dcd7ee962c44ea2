"""A table: dense arrays over the product of its hierarchies, sums included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, overload

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption, UnknownCode, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.rule import Rule
from diskret.model.status import MARKS, Status

if TYPE_CHECKING:
    from diskret.model.cells import CellColumns

Index = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Table:
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
    decimals: int | None = 0
    """Decimals that hold every value exactly; None for values that are no short decimals."""
    frequency: bool = False
    """Whether the values are counts of units (a frequency table)."""
    positive: bool = False
    """Whether nobody expects negative values."""
    weighted: bool = False
    """Whether values are grossed up from a sample."""
    additive_counts: bool = True
    """Whether contributor counts add up like the values."""
    altered: str = ""
    """How values were changed for confidentiality ("perturbed", "rounded"); empty: they are true."""
    judges: tuple[Rule, ...] = ()
    """The rules the table was marked by, with their parameters: secret, kept in working files only."""

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

    def name_of(self, cell: int) -> str:
        """Name of the cell at a flat position, for messages: ``region=05, nace=10``."""
        at = tuple(int(i) for i in np.unravel_index(cell, self.shape))
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

    def with_status(self, status: Status, cells: Sequence[Sequence[str]]) -> Table:
        """The same table with some cells set to a status, cells given by their codes."""
        changed = self.status.copy()
        for codes in cells:
            changed[self.index(*codes)] = status
        return replace(self, status=changed)

    def check_pattern(self) -> None:
        """Refuse a pattern that does not fit its table."""
        if self.status.shape != self.value.shape:
            raise BadOption(
                f"the pattern has the shape {self.status.shape}, the table {self.value.shape}",
                hint="give one status per cell of this table.",
            )

    # --- making and showing ------------------------------------------------------------------------------------------

    @overload
    @classmethod
    def from_cells(cls, cells: object, *, by: Mapping[str, Hierarchy | None], value: str, **columns: Any) -> Table: ...
    @overload
    @classmethod
    def from_cells(
        cls, cells: object, *, by: Mapping[str, Hierarchy | None], value: Sequence[str], **columns: Any
    ) -> dict[str, Table]: ...
    @classmethod
    def from_cells(
        cls, cells: object, *, by: Mapping[str, Hierarchy | None], value: str | Sequence[str], **columns: Any
    ) -> Table | dict[str, Table]:
        """A table from its cells: a frame, Arrow table, dict of columns, Parquet or CSV file.

        ``by`` maps columns to hierarchies (None: flat, from the data). ``value`` is a column, or several for several
        tables over the same classifications. Further columns by keyword: ``count``, ``largest`` (a list), ``status``,
        ``lower`` and ``upper`` (prior knowledge), ``weight``; further options: ``positive``, ``frequency``,
        ``tolerance`` (differences of given sums up to this much are corrected with a warning) and ``total`` (the code
        of the total where ``by`` gives no hierarchy). Missing inner cells are empty, missing sums are computed, given
        sums are checked exactly.

        >>> Table.from_cells({"s": ["m", "w", "Total"], "x": [0.1, 0.2, 0.3]}, by={"s": None}, value="x").decimals
        1
        """
        from diskret.model.cells import CellColumns, tables_from_cells

        given: CellColumns = CellColumns(**columns)
        tables = tables_from_cells(cells, by, [value] if isinstance(value, str) else list(value), given)
        return tables[value] if isinstance(value, str) else tables

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """All cells in long form, values included: an internal view, not for publication.

        >>> table = Table.from_cells({"s": ["m"], "x": [1]}, by={"s": None}, value="x")
        >>> {k: v.tolist() for k, v in table.columns().items()}
        {'s': ['m', 'Total'], 'x': [1.0, 1.0], 'status': ['open', 'open']}
        """
        from diskret.model.cells import long_columns

        return long_columns(self)

    def marks(self) -> Iterator[tuple[Index, str]]:
        """Suppressed cells with the letter an internal view shows for them."""
        for flat in np.flatnonzero(self.hidden):
            at = tuple(int(i) for i in np.unravel_index(flat, self.shape))
            yield at, MARKS[Status(int(self.status[at]))]

    def __repr__(self) -> str:
        sizes = " x ".join(f"{name} {n}" for name, n in zip(self.names, self.shape, strict=True))
        primary = int((self.status == Status.PRIMARY).sum())
        secondary = int((self.status == Status.SECONDARY).sum())
        return f"Table({self.response!r} by {sizes}: {self.size} cells, {primary} primary, {secondary} secondary)"
