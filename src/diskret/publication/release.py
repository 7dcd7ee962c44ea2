"""What may leave the office: codes, labels and values, with everything hidden already taken out.

The writers of this room get a `Release` and nothing else, so none of them can print what it was never given.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from diskret.auditing.published_intervals import Intervals, publishable_intervals
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, NotProtected, listed
from diskret.model.exact import decimals_of
from diskret.model.table import Table
from diskret.publication.axes import Axis, arranged, axis_of, occupied_in_order
from diskret.publication.doors import care
from diskret.publication.numbers import meant_decimals, number_words, to_decimals
from diskret.publication.options import Publication

Cells = slice | Ints

CHUNK = 65_536


@dataclass(frozen=True, eq=False, kw_only=True)
class Measure:
    """One published column over all cells, flat and in cell order."""

    name: str
    value: Floats
    """Undefined (NaN) where hidden."""
    hidden: Bools
    decimals: int | None
    is_count: bool = False
    is_bound: bool = False
    """Whether it is a lower or upper bound: a zero then means no less than nothing, not exactly nothing."""
    altered: str = ""
    """How values were changed for confidentiality; empty: they are true."""

    @property
    def is_value(self) -> bool:
        """Whether it is what the table is about, no count and no bound: only there a zero is marked as nothing."""
        return not (self.is_count or self.is_bound)

    def texts(self, cells: Cells, mark: str, zero: str | None = None, point: str = ".") -> list[str]:
        """Chosen cells as text with all decimals, marks where the value is hidden.

        >>> value, hidden = np.array([1.5, np.nan, 0]), np.array([False, True, False])
        >>> Measure(name="x", value=value, hidden=hidden, decimals=1).texts(slice(None), "x", "-")
        ['1.5', 'x', '-']
        """
        value = self.value[cells]
        words = np.array(number_words(value, self.decimals, point), dtype=object)
        words[self.hidden[cells]] = mark
        if zero is not None and not self.is_bound:
            words[value == 0] = zero
        texts: list[str] = words.tolist()
        return texts


@dataclass(frozen=True, eq=False, kw_only=True)
class Release:
    """One or several measures over the same classifications."""

    by: Mapping[str, Axis]
    measures: tuple[Measure, ...]
    care: tuple[str, ...] = ()
    """Why the tables are not protected, by keys of the legend; none for tables that are."""
    occupied: tuple[Ints, ...] | None = None
    """Where only occupied cells are listed, their positions on every axis; all others are zero. None: all are."""

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classifications, in axis order."""
        return tuple(self.by)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of codes on each axis."""
        return tuple(len(h) for h in self.by.values())

    @property
    def size(self) -> int:
        """Number of cells per measure that are listed."""
        return prod(self.shape) if self.occupied is None else int(self.occupied[0].size)

    def refuse_sparse(self, what: str) -> None:
        """Refuse a form that needs all cells where only occupied ones are listed."""
        if self.occupied is not None:
            raise BadOption(
                f"{what} of a table that holds its occupied cells only",
                hint="publish it as .csv or .parquet, which list one cell per row.",
            )

    @property
    def width(self) -> int:
        """Cells per row of the cross table: the last classification; a table of one classification is one column."""
        return self.shape[-1] if len(self.by) > 1 else 1

    @property
    def any_hidden(self) -> bool:
        """Whether a mark stands anywhere."""
        return any(bool(m.hidden.any()) for m in self.measures)

    @property
    def altered(self) -> tuple[str, ...]:
        """The ways in which measures were changed, each once."""
        return tuple(dict.fromkeys(m.altered for m in self.measures if m.altered))

    @property
    def noted(self) -> bool:
        """Whether there is anything for a note about confidentiality."""
        return self.any_hidden or bool(self.altered or self.care)

    def chunks(self, width: int = 1) -> Iterator[slice]:
        """Stretches of cells that fit memory as text, each of whole rows of ``width`` cells."""
        step = max(1, CHUNK // width) * width
        for start in range(0, self.size, step):
            yield slice(start, min(start + step, self.size))

    def positions(self, cells: slice) -> tuple[Ints, ...]:
        """Position of each cell on every axis."""
        if self.occupied is not None:
            return tuple(at[cells] for at in self.occupied)
        return tuple(np.unravel_index(np.arange(cells.start, cells.stop), self.shape))

    def texts_at(self, measure: Measure, places: Ints, options: Publication) -> list[str]:
        """Cells as text, given by their places in the product; those that are not listed are zero."""
        if self.occupied is None:
            return measure.texts(places, options.mark, options.zero)
        listed_at = np.ravel_multi_index(self.occupied, self.shape)
        cells = np.minimum(np.searchsorted(listed_at, places), self.size - 1)
        empty = listed_at[cells] != places
        value, hidden = np.where(empty, 0.0, measure.value[cells]), measure.hidden[cells] & ~empty
        return replace(measure, value=value, hidden=hidden).texts(slice(None), options.mark, options.zero)

    def columns_of_codes(self, *, labels: bool) -> list[tuple[str, int, Sequence[str]]]:
        """Columns that say which cell a row is about: name, axis, and a text for each of its codes."""
        columns: list[tuple[str, int, Sequence[str]]] = []
        for number, (name, axis) in enumerate(self.by.items()):
            columns.append((name, number, axis.codes))
            if labels and axis.labelled:
                columns.append((f"{name}_label", number, axis.labels))
        return columns

    def long_names(self, *, labels: bool, statuses: bool) -> tuple[str, ...]:
        """Column names of the long form; refuses two columns of one name, which readers would confuse."""
        names = [name for name, _, _ in self.columns_of_codes(labels=labels)]
        for m in self.measures:
            names += [m.name, f"{m.name}_status"] if (statuses and not m.is_count) or m.altered else [m.name]
        times = Counter(n.casefold() for n in names)
        double = [n for n in names if times[n.casefold()] > 1]
        if double:
            raise BadOption(
                f"two columns would be called {listed(double)}", hint="rename a response or classification."
            )
        return tuple(names)


def release(tables: Table | Mapping[str, Table], options: Publication) -> Release:
    """Take out of the tables what may be published; primary and secondary cells become alike.

    >>> table = Table.from_cells({"s": ["m", "w"], "x": [3.0, 4.0], "status": ["primary", "secondary"]},
    ...                          by={"s": None}, value="x", status="status")
    >>> release(table, Publication()).measures[0].value.tolist()
    [nan, nan, 7.0]
    """
    several = responses(tables)
    first = next(iter(several.values()))
    by = {name: axis_of(hierarchy, options.sums, options.language) for name, hierarchy in first.by.items()}
    measures: list[Measure] = []
    told: list[str] = []
    for name, table in several.items():
        hidden = table.hidden.reshape(-1)
        decimals = _decimals(table)
        # Adding zero turns -0.0 into 0.0, which would be printed as "-0".
        value = to_decimals(np.where(hidden, np.nan, table.published_value.reshape(-1)), decimals) + 0.0
        measures.append(Measure(name=name, value=value, hidden=hidden, decimals=decimals, altered=table.altered))
        found = _intervals(name, table, options)
        if found is not None:
            measures += _bounds(name, table, value, found)
            told += ["printed"] if found.printed else []
    told = [*(each for table in several.values() if (each := care(table))), *told]
    measures += _counts(several) if options.counts else ()
    axes = tuple(by.values())
    told = list(dict.fromkeys(told))
    if first.sparse:
        order, occupied = occupied_in_order(first.code_numbers, axes)
        listed_only = (replace(m, value=m.value[order], hidden=m.hidden[order]) for m in measures)
        return Release(by=by, measures=tuple(listed_only), care=tuple(told), occupied=occupied)
    shown = (replace(m, value=arranged(m.value, axes), hidden=arranged(m.hidden, axes)) for m in measures)
    return Release(by=by, measures=tuple(shown), care=tuple(told))


def _intervals(name: str, table: Table, options: Publication) -> Intervals | None:
    """The intervals that leave with a table, if any do."""
    found = options.intervals
    if isinstance(found, Mapping):
        found = found.get(name, False)
    if found and table.given is not None:
        raise BadOption(
            f"intervals of {name!r}, whose given sums are kept",
            hint="intervals hold for true sums only: correct the sums, or publish no intervals.",
        )
    if found and table.altered:
        raise BadOption(
            f"intervals of {name!r}, whose values were changed",
            hint="an interval of one number would be false there: publish no intervals of changed values.",
        )
    if isinstance(found, bool):
        return publishable_intervals(table) if found else None
    if found.printed and not options.unprotected:
        raise NotProtected(
            f"the intervals of {name!r} are those of printed_intervals: hidden values can be computed from them",
            hint="publish those of publishable_intervals; or say that this is meant: unprotected=True.",
        )
    if not _same_when_published(found.table, table):
        raise BadOption(
            f"the intervals are not those of {name!r}", hint="make them from the protected table that is published."
        )
    return found


def _bounds(name: str, table: Table, value: Floats, found: Intervals) -> list[Measure]:
    """Lower and upper bounds of all cells: of an open cell its value, of a hidden one the interval it may have."""
    measures, decimals = [], _decimals(table)
    for end, bound in (("lower", found.lower), ("upper", found.upper)):
        # an interval stands only where the value is hidden
        shown = np.where(table.hidden.reshape(-1), bound.reshape(-1), value) + 0.0
        # ends finer than the values are written in full: rounding would cut something off
        places = decimals_of(shown[np.isfinite(shown)])
        both = None if places is None or decimals is None else max(places, decimals)
        measures.append(
            Measure(name=f"{name}_{end}", value=shown, hidden=np.isnan(shown), decimals=both, is_bound=True)
        )
    return measures


def _decimals(table: Table) -> int | None:
    """Decimals of a file: where anything is hidden those of the open values, for those of a hidden one would tell."""
    shown = table.published_value[~table.hidden]
    found = decimals_of(shown)
    if found is None:
        return meant_decimals(shown)
    return found if table.hidden.any() else max(found, table.decimals or 0)


def _same_when_published(one: Table, other: Table) -> bool:
    """Whether a reader sees the same: the same open values, and the same cells hidden."""
    if one.shape != other.shape or not np.array_equal(one.hidden, other.hidden):
        return False
    return np.array_equal(one.value[~one.hidden], other.value[~other.hidden])


def responses(tables: Table | Mapping[str, Table]) -> dict[str, Table]:
    """Tables by their response; refuses tables that do not stand on the same classifications."""
    several = dict(tables) if isinstance(tables, Mapping) else {tables.response: tables}
    if any(table.linked for table in several.values()):
        raise BadOption("a pool is not one table to publish", hint="publish its tables one by one: pool.split().")
    if not several:
        raise BadOption("there is no table", hint="give one table, or several by the name of their response.")
    first = next(iter(several.values()))
    if not first.by:
        raise BadOption(
            "the table has no classification",
            hint="a table needs at least one; a system of equations is written with write_jj.",
        )
    other = [
        name
        for name, t in several.items()
        if list(t.by.items()) != list(first.by.items()) or ((t.sparse or first.sparse) and not first.same_cells(t))
    ]
    if other:
        raise BadOption(
            f"the tables {listed(other)} have other classifications than {next(iter(several))!r}",
            hint="one file holds tables over the same classifications; write the others into files of their own.",
        )
    return several


def _counts(several: Mapping[str, Table]) -> list[Measure]:
    """Contributor counts of all cells: once where all responses share them, else one per response."""
    for name, table in several.items():
        _refuse_telling_counts(name, table, several)
    counts = {f"{name}_count": table.count.reshape(-1) for name, table in several.items()}
    first = next(iter(counts.values()))
    if all(np.array_equal(first, other) for other in counts.values()):
        counts = {"count": first}
    taken = [name for name in counts if name in several]
    if taken:
        raise BadOption(
            f"the counts would have the same name as the response {listed(taken)}", hint="rename the response."
        )
    nothing = np.zeros(first.size, dtype=np.bool_)
    return [
        Measure(name=name, value=count.astype(np.float64), hidden=nothing, decimals=0, is_count=True)
        for name, count in counts.items()
    ]


def _refuse_telling_counts(name: str, table: Table, several: Mapping[str, Table]) -> None:
    """Counts stay open by custom, unless they are the hidden values themselves or show that those are zero."""
    for response, other in several.items():
        if other.hidden.any() and (other.frequency or np.array_equal(other.value, table.count)):
            raise BadOption(
                f"the contributor counts of {name!r} are the values of {response!r}, which has suppressed cells",
                hint="publish without counts.",
            )
    telling = table.hidden & (table.count == 0)
    if telling.any():
        raise BadOption(
            f"{int(telling.sum())} suppressed cells of {name!r} have no contributors, so their count gives away their "
            f"value",
            where=listed(table.name_cells(telling)),
            hint="publish without counts, or suppress other cells.",
        )
