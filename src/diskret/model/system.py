"""A system: cells that stand in any linear equations, such as a table with holes, or linked tables of somebody else.

What subtables and trees are to a table, equations are to a system: a list of cells and a list of sums. An equation may
have any whole coefficients; whatever it says must be true of the values. Where one cell of an equation stands alone on
its side, it is a sum and the others are its parts.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.equations import Entries, Equations
from diskret.model.errors import BadOption, BadPriorKnowledge, DuplicateCell, NotExact, UnknownCode, WrongSum, listed
from diskret.model.exact import (
    AMOUNTS,
    EXACT_LIMIT,
    beyond,
    decimals_of,
    most_units,
    short_decimals,
    to_units,
    zeros_of,
)
from diskret.model.hierarchy import Hierarchy
from diskret.model.near import InEquations, Near
from diskret.model.product import Line
from diskret.model.status import Status
from diskret.model.table import Index, Table
from diskret.model.tolerances import ROUNDING

COLUMNS = ("below", "above", "lower", "upper", "weight")
PEOPLE = ("status", "count", "owner")


@dataclass(frozen=True, eq=False)
class Space:
    """The codes of all classifications, and the cells by their codes."""

    names: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    """For each classification every code that is shown."""
    tops: tuple[str, ...]
    """For each classification the code of its total; empty where it has none or several."""
    at: tuple[Ints, ...]
    """For each classification the number of the code of every cell."""

    @cached_property
    def place(self) -> tuple[dict[str, int], ...]:
        """For each classification every code with its number."""
        return tuple({code: i for i, code in enumerate(codes)} for codes in self.codes)

    def name_of(self, cell: int) -> str:
        """A cell in words; a classification of which it shows the total is left out, unless it shows nothing else."""
        codes = [(n, c[int(at[cell])]) for n, c, at in zip(self.names, self.codes, self.at, strict=True)]
        shown = [(n, c) for (n, c), top in zip(codes, self.tops, strict=True) if c != top]
        return ", ".join(f"{n}={c}" for n, c in shown or codes)


@dataclass(frozen=True, eq=False, kw_only=True)
class System(Table):
    """Cells in a list, and the equations between them. Audit and suppression take it like a table.

    >>> system = System.of(
    ...     ["wages", "other", "costs", "sales", "profit"], [5, 2, 7, 9, 2],
    ...     [{"wages": 1, "other": 1, "costs": -1}, {"sales": 1, "costs": -1, "profit": -1}],
    ...     status=["primary", *["open"] * 4])
    >>> system
    System('value': 5 cells, 2 equations, 1 primary, 0 secondary)
    >>> system.name_of(0), system.line_name(0, 2)
    ('cell=wages', '(cell=costs)')
    """

    space: Space
    system: Equations
    """Everything that adds up, over all cells."""
    axes: tuple[tuple[str, str], ...] = (("", ""),)
    """Behind ``axis`` of the equations: the classification they add along, and where that is said; empty: nowhere."""

    nowhere: ClassVar[str] = "there is no cell"

    @classmethod
    def of(
        cls,
        cells: Sequence[str],
        value: Sequence[float] | Floats,
        equations: Sequence[Mapping[str, float]],
        *,
        response: str = "value",
        **columns: Any,
    ) -> System:
        """A system of named cells; every equation maps cells to coefficients, and all of it adds up to zero.

        Further by keyword, one entry per cell: ``status`` (words or `Status`), ``count`` (contributors), ``owner``
        (numbers that only compare, -1 for nobody), ``below`` and ``above`` (protection levels), ``lower`` and ``upper``
        (prior knowledge), ``weight``; and ``positive``, ``frequency``. Coefficients are decimals; equations are
        multiplied until they are whole numbers.
        """
        position = {str(name): i for i, name in enumerate(cells)}
        terms = [(row, str(name), c) for row, terms in enumerate(equations) for name, c in terms.items()]
        unknown = [name for _, name, _ in terms if name not in position]
        if unknown:
            raise UnknownCode.in_column("cell", unknown, tuple(position))
        entries = (
            np.array([row for row, _, _ in terms], dtype=np.int64),
            np.array([position[name] for _, name, _ in terms], dtype=np.int64),
            np.array([c for _, _, c in terms], dtype=np.float64),
        )
        return cls.from_entries([str(c) for c in cells], value, entries, response, **columns)

    @classmethod
    def from_entries(
        cls,
        cells: Sequence[str],
        value: Sequence[float] | Floats,
        entries: tuple[Ints, Ints, Floats],
        response: str = "value",
        **columns: Any,
    ) -> System:
        """The same with the equations as entries: number of the equation (ascending), of the cell, and coefficient."""
        values = np.array(value, dtype=np.float64)
        names = tuple(cells)
        space = Space(("cell",), (names,), ("",), (np.arange(len(names)),))
        given = {name: columns.pop(name) for name in (*COLUMNS, *PEOPLE) if name in columns}
        odd = [n for n in columns if n not in ("positive", "frequency", "weighted", "additive_counts")]
        if odd:
            raise BadOption(f"a system has no {listed(odd)}", hint=f"{listed([*COLUMNS, *PEOPLE])}.")
        _refuse_lists(names, values, given)
        arrays: dict[str, Any] = {n: np.array(given[n], dtype=np.float64) for n in COLUMNS if given.get(n) is not None}
        system = _rows(values, *entries)
        decimals = _checked(system, values, space)
        _refuse_bounds(values, arrays, space)
        return cls(
            by={}, response=response, value=values, status=_statuses(given.get("status"), values.size),
            respondents=_people(given.get("count"), given.get("owner")),
            decimals=decimals, space=space, system=system, **arrays, **columns,
        )  # fmt: skip

    # --- names -------------------------------------------------------------------------------------------------------

    @property
    def names(self) -> tuple[str, ...]:
        """Classifications of the cells."""
        return self.space.names

    @property
    def tops(self) -> tuple[str, ...]:
        """For each classification the code of its total; empty where there is none or several."""
        return self.space.tops

    @property
    def hierarchies(self) -> tuple[Hierarchy, ...]:
        """There are none: what walks along hierarchies must use the equations."""
        raise BadOption("a system of equations has no trees", hint="use the method Moves or Optimal.")

    @property
    def kind(self) -> str:
        """What it is, for messages."""
        return "system of equations"

    @property
    def total(self) -> int | None:
        """There may be none, or several."""
        return None

    def sums_along(self, name: str) -> Bools:
        """Cells that are sums along a classification."""
        axis = np.array([along in (name, "") for along, _ in self.axes])
        is_sum = np.zeros(self.size, dtype=np.bool_)
        is_sum[self.system.sum_cell[axis[self.system.axis]]] = True
        return is_sum

    @property
    def product(self) -> bool:
        """A system is not a product of trees."""
        return False

    def index(self, *codes: str) -> Index:
        """Position of a cell, by one code per classification."""
        if len(codes) != len(self.names):
            raise BadOption(
                f"{len(codes)} codes for {len(self.names)} classifications", hint=f"order: {listed(self.names)}."
            )
        found = np.ones(self.size, dtype=np.bool_)
        for name, known, at, code in zip(self.names, self.space.place, self.space.at, codes, strict=True):
            if code not in known:
                raise UnknownCode.in_column(name, [str(code)], known)
            found &= at == known[code]
        if not found.any():
            raise BadOption(f"{self.nowhere} {listed(codes)}", hint="see columns() for what is there.")
        return (int(np.flatnonzero(found)[0]),)

    @property
    def code_numbers(self) -> tuple[Ints, ...]:
        """For each classification the number of the code of every cell."""
        return self.space.at

    def codes(self, index: Index) -> tuple[str, ...]:
        """Codes of a cell."""
        return tuple(c[int(at[index[0]])] for c, at in zip(self.space.codes, self.space.at, strict=True))

    def name_of(self, cell: int) -> str:
        """Name of a cell, for messages; classifications of which it shows the total are left out."""
        return self.space.name_of(cell)

    def cell_name(self, cell: int) -> str:
        """A cell by its codes, for proofs."""
        return f"({self.name_of(cell)})"

    def line_name(self, axis: int, sum_cell: int, through: Sequence[str] = ()) -> str:
        """An equation in words: what is taken apart, and along which classification."""
        along, table = self.axes[axis]
        several = sum(name == along for name, _ in self.axes) > 1
        how = f" along {along}{f' as in {table}' if several else ''}" if along else ""
        return f"({self.name_of(sum_cell)}{how})"

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """All cells in long form, values included: an internal view, not for publication."""
        codes = zip(self.names, self.space.codes, self.space.at, strict=True)
        return {name: np.array(known, dtype=object)[at] for name, known, at in codes} | {
            self.response: self.value,
            "status": np.array([s.text for s in Status])[self.status],
        }

    # --- what adds up ------------------------------------------------------------------------------------------------

    @cached_property
    def by_cell(self) -> tuple[Ints, Ints, Floats]:
        """The equations cell by cell: where the entries of each cell begin, rows, coefficients."""
        return self.system.by_column()

    @property
    def inner(self) -> Bools:
        """Cells that are not a sum of anything."""
        inner = np.ones(self.size, dtype=np.bool_)
        inner[self.system.sum_cell] = False
        return inner

    def equations(self, hidden: Bools | None = None) -> Equations:
        """All equations that hold a hidden cell (or one of others that are given), the other cells being known."""
        return self.system.among(self.hidden if hidden is None else hidden)

    def entries(self, cells: Ints) -> Iterator[Entries]:
        """Where some cells stand in equations."""
        start, row, coefficient = self.by_cell
        length = start[cells + 1] - start[cells]
        entry = np.repeat(np.arange(cells.size), length)
        at = start[cells][entry] + np.arange(entry.size) - np.repeat(np.cumsum(length) - length, length)
        yield Entries(entry, row[at], coefficient[at], self.system.rows)

    def lines(self, cell: int) -> Iterator[Line]:
        """The equations a cell stands in: along what, their sum, and all their cells but this one."""
        start, rows, _ = self.by_cell
        for row in rows[start[cell] : start[cell + 1]].tolist():
            cells = self.system.columns[self.system.start[row] : self.system.start[row + 1]]
            along = self.axes[int(self.system.axis[row])][0]
            yield Line(along, int(self.system.sum_cell[row]), cells[cells != cell])

    @cached_property
    def sums_of(self) -> tuple[Ints, Ints]:
        """All pairs of a part and a sum it adds to; equations with several cells on both sides have no sum."""
        row, columns = self.system.row_of(), self.system.columns
        negative = np.bincount(row, weights=self.system.coefficients < 0, minlength=self.system.rows)
        sums = self.system.sum_cell[row]
        part = (columns != sums) & (negative == 1)[row]
        return columns[part], sums[part]

    def one_person(self, alone: Bools) -> Ints:
        """Numbers of those who are ``alone`` in cells, one for all parts and sums of one person; else -1."""
        person = np.where(alone, np.arange(self.size), self.size)
        part, whole = self.sums_of
        both = alone[part] & alone[whole]
        part, whole = part[both], whole[both]
        while True:
            before = person.copy()
            np.minimum.at(person, whole, person[part])
            np.minimum.at(person, part, person[whole])
            if (person == before).all():
                return np.where(alone, person, -1)

    def near(self, movable: Bools) -> Near:
        """Neighbourhoods of the cells that may move: walks along equations."""
        return InEquations(self.equations(movable), np.abs(self.value.reshape(-1)), self.hidden.reshape(-1))

    def same_cells(self, other: object) -> bool:
        """Whether something stands on the same cells."""
        return (
            isinstance(other, System)
            and self.space.names == other.space.names
            and self.space.codes == other.space.codes
            and all(np.array_equal(a, b) for a, b in zip(self.space.at, other.space.at, strict=True))
        )

    def refuse_without_product(self, what: str) -> None:
        """Refuse what only a product of trees can do."""
        raise BadOption(
            f"{what} needs one tree per classification; a system of equations has none",
            hint="use the method Moves or Optimal.",
        )

    def __repr__(self) -> str:
        primary, secondary = int((self.status == Status.PRIMARY).sum()), int((self.status == Status.SECONDARY).sum())
        return (
            f"System({self.response!r}: {self.size} cells, {self.system.rows} equations, "
            f"{primary} primary, {secondary} secondary)"
        )


def _refuse_lists(names: tuple[str, ...], value: Floats, given: Mapping[str, Any]) -> None:
    """Every list must have one entry per cell, and every cell one name."""
    lengths = {"value": value.size} | {name: len(column) for name, column in given.items() if column is not None}
    wrong = [f"{length} of {name}" for name, length in lengths.items() if length != len(names)]
    if wrong or not names:
        raise BadOption(f"{len(names)} cells but {listed(wrong)}", hint="give one entry per cell.")
    if not np.isfinite(value).all():
        raise BadOption("values of cells are missing or infinite", hint="a system needs a number in every cell.")
    double = [name for name, times in Counter(names).items() if times > 1]
    if double:
        raise DuplicateCell(f"cells are given more than once: {listed(double)}", hint="give every cell its own name.")


def _statuses(given: Sequence[Any] | None, size: int) -> npt.NDArray[np.uint8]:
    if given is None:
        return np.zeros(size, dtype=np.uint8)
    return np.array([s if isinstance(s, int) else Status.from_text(s) for s in np.asarray(given).tolist()], np.uint8)


def _people(count: Sequence[int] | None, owner: Sequence[int] | None) -> Contributors | None:
    if count is None:
        if owner is not None:
            raise BadOption("owners without contributor counts", hint="give count=....")
        return None
    numbers = None if owner is None else np.maximum(np.array(owner, dtype=np.int64), -1)
    return Contributors(np.array(count, dtype=np.int64), owner=numbers)


def _rows(value: Floats, row: Ints, cell: Ints, coefficient: Floats) -> Equations:
    """Equations in whole coefficients, every cell once, the sum with the negative one."""
    key, at = np.unique(row * value.size + cell, return_inverse=True)
    added = np.bincount(at, weights=coefficient, minlength=key.size)
    key, added = key[added != 0], added[added != 0]
    number, columns = key // value.size, key % value.size
    _, begin, number = np.unique(number, return_index=True, return_inverse=True)
    start = np.append(begin, key.size).astype(np.int64)
    rows = begin.size
    whole = _whole(added, start, number)
    negative = np.bincount(number, weights=whole < 0, minlength=rows)
    turned = (np.diff(start) - negative == 1) & (negative != 1)
    whole = np.where(turned[number], -whole, whole)
    # of several cells on the side of the sum the largest gives the equation its name
    order = np.lexsort((np.abs(value[columns]), whole < 0, number))
    return Equations(
        np.arange(value.size), start, columns, whole, np.zeros(rows, np.int64), columns[order[start[1:] - 1]]
    )


def _whole(coefficients: Floats, start: Ints, row: Ints) -> Floats:
    """Every equation multiplied so that its coefficients are whole numbers without a common divisor."""
    decimals = decimals_of(coefficients) if np.isfinite(coefficients).all() else None
    if decimals is None:
        raise BadOption(
            "coefficients of equations are not short decimals",
            hint="multiply the equation until its coefficients have at most 9 decimals.",
        )
    units = to_units(coefficients, decimals)
    divisor = np.gcd.reduceat(np.abs(units), start[:-1]) if units.size else units
    return (units // divisor[row] if units.size else units).astype(np.float64)


def _checked(system: Equations, value: Floats, space: Space) -> int | None:
    """The decimals of the values; refuses equations that do not hold (exactly, if there are decimals)."""
    decimals = decimals_of(value)
    row = system.row_of()
    terms = system.coefficients * value[system.columns]
    size = np.bincount(row, weights=np.abs(terms), minlength=system.rows)
    short, most = short_decimals(value, AMOUNTS), float(np.abs(value).max(initial=0.0))
    reached = max(most, float(size.max(initial=0.0)) / 2)
    fits = short == 0 and reached < most_units(1) * 10.0 ** zeros_of(value)
    if short is not None and not fits and beyond(short, most, reached):
        raise NotExact.sums("value", short, most_units(short) // 10**short, "the system")
    if decimals is not None and size.max(initial=0.0) * 10.0**decimals < EXACT_LIMIT:
        off = np.zeros(system.rows, dtype=np.int64)
        np.add.at(off, row, system.coefficients.astype(np.int64) * to_units(value, decimals)[system.columns])
        wrong = off != 0
    else:
        wrong = np.abs(system.times(value)) > ROUNDING * size
    if wrong.any():
        raise WrongSum(
            f"{int(wrong.sum())} equations do not hold",
            where=listed([space.name_of(int(c)) for c in system.sum_cell[wrong]], most=10),
            hint="every equation must be true of the values; correct them, or leave the equation out.",
        )
    return decimals


def _refuse_bounds(value: Floats, arrays: Mapping[str, Floats], space: Space) -> None:
    outside = (arrays.get("lower", value) > value) | (arrays.get("upper", value) < value)
    if outside.any():
        number = int(outside.sum())
        raise BadPriorKnowledge(
            f"{number} prior {'interval does' if number == 1 else 'intervals do'} not cover the value",
            where=listed([space.name_of(int(c)) for c in np.flatnonzero(outside)], most=10),
            hint="what an attacker knows must be true; correct lower and upper.",
        )
