"""From a list of cells to a table and back: codes to positions, sums computed or checked."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model import rollup
from diskret.model.alike import warn_of_spellings
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cell_refusals import (
    MISSING as MISSING,
)
from diskret.model.cell_refusals import (
    refuse_codes_of_cells,
    refuse_duplicates,
    rounding_cures,
    row_numbers,
)
from diskret.model.contributors import Contributors
from diskret.model.engine import literal
from diskret.model.errors import (
    BadOption,
    BadPriorKnowledge,
    DiskretError,
    NegativeValue,
    NotExact,
    NotFinite,
    ProtectionWarning,
    WrongSum,
    listed,
)
from diskret.model.exact import (
    AMOUNTS,
    EXACT_LIMIT,
    beyond,
    decimals_of,
    from_units,
    most_units,
    short_decimals,
    to_units,
    zeros_of,
)
from diskret.model.gaps import (
    NEGATIVE_ALLOWED,
    Gaps,
    Measured,
    Without,
    WithoutValue,
    embedded_lookup,
    refuse_both,
    refuse_numbers,
    without_gaps,
)
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.kept import refuse_lost
from diskret.model.memory import refuse_too_large
from diskret.model.source import Relation, normalised, open_source
from diskret.model.status import CONFIDENTIALITY, CONFIDENTIALITY_COLUMNS, Status, refuse_false_zeros
from diskret.model.table import Table
from diskret.model.totals import Looked, refuse_totals


@dataclass(frozen=True)
class CellColumns:
    """Which columns of a list of cells hold what, and how strictly it is read."""

    count: str | None = None
    largest: Sequence[str] = ()
    owner: str | None = None
    """Who contributes most to a cell: names or numbers that are only compared."""
    status: str | None = None
    lower: str | None = None
    upper: str | None = None
    weight: str | None = None
    positive: bool = False
    frequency: bool = False
    tolerance: float = 0.0
    total: str = TOTAL
    totals: Mapping[str, str] | None = None
    """Codes of the totals of single classifications, where they have no hierarchy."""
    categories: Mapping[str, Sequence[str]] | None = None
    """Codes of classifications that look like totals and are none."""
    normalise: bool = False
    """Whether codes that differ only in what cannot be seen are one code."""
    status_codes: Mapping[str, Status] | None = None
    """Other words for the statuses, such as the letters of tau-ARGUS; those of SDMX are known in its columns."""
    missing: Mapping[str, str] | None = None
    """Code that a blank stands for, per classification, such as that of the total."""
    without_value: WithoutValue = "refuse"
    without_code: Mapping[str, Without] | None = None
    unknown: Mapping[str, Without] | None = None

    def numeric(self) -> list[str]:
        """The columns that must hold numbers."""
        named = [self.count, *self.largest, self.lower, self.upper, self.weight]
        return [c for c in named if c is not None]

    @property
    def gaps(self) -> Gaps:
        """What becomes of rows without a value or a code."""
        return Gaps(without_value=self.without_value, without_code=self.without_code or {}, unknown=self.unknown or {})


def tables_from_cells(
    source: object, by: Mapping[str, Hierarchy | None], values: Sequence[str], given: CellColumns
) -> dict[str, Table]:
    """Build one table per value column; all share classifications, counts and status."""
    if given.normalise:
        source = normalised(source)
        by = {name: hierarchy and hierarchy.normalised() for name, hierarchy in by.items()}
    data = _opened(source, by, values, given)
    blanks = {n: (given.missing or {}).get(n, MISSING) for n in by}
    totals = {n: (given.totals or {}).get(n, given.total) for n in by}
    classifications = {n: h or _flat_from_data(data, n, totals[n], blanks[n]) for n, h in by.items()}
    _refuse_bad_numbers(data, classifications, values, given)
    for name, hierarchy in classifications.items():
        warn_of_spellings(name, hierarchy.codes, hierarchy.labels)
    refuse_too_large(classifications, 4 * len(values) + 2 * len(given.largest) + 6)
    shape = tuple(len(h) for h in classifications.values())
    position = _positions(data, classifications, shape, blanks)
    used = [*by, *values, *given.numeric(), *filter(None, (given.status, given.owner))]
    refuse_duplicates(data, position, classifications, shape, used)

    def column(name: str) -> Floats:
        return data.arrays(f"SELECT CAST({data.number(name)} AS DOUBLE) AS x FROM {data.view}")["x"].astype(np.float64)

    def spread(values: Floats, fill: float = 0.0) -> Floats:
        dense = np.full(shape, fill)
        dense.reshape(-1)[position] = values
        return dense

    present = np.zeros(shape, dtype=np.bool_)
    present.reshape(-1)[position] = True
    frame = _Frame(tuple(classifications.values()), tuple(classifications), present, given, data, position)
    numbers = (spread(column(name)) for name in [*values, *([given.count] if given.count else [])])
    _refuse_totals(frame, classifications, position, numbers)
    contributors = _contributors(frame, spread, column, given, _owners(data, position, shape, given))
    status = _status(data, position, shape, given)
    lower, upper = (spread(column(c), np.nan) if c else None for c in (given.lower, given.upper))
    weight = spread(column(given.weight), 1.0) if given.weight else None
    tables = {}
    for name in values:
        value, decimals = _sums(frame, name, spread(column(name)))
        low, high = _prior(frame, name, value, lower, upper)
        refuse_false_zeros(status, value, frame.name, frame.where)
        tables[name] = Table(
            classifications, name, value, status, contributors[0],
            lower=low, upper=high, weight=weight, decimals=decimals,
            frequency=given.frequency, positive=given.positive, additive_counts=contributors[1],
        )  # fmt: skip
    return tables


def _opened(source: object, by: Mapping[str, Hierarchy | None], values: Sequence[str], given: CellColumns) -> Relation:
    """The list of cells, once it has all columns."""
    if not by or not values:
        raise BadOption("a table needs at least one classification and one value", hint="fill by=... and value=....")
    if given.largest and not given.count:
        raise BadOption("largest contributions without contributor counts", hint="name the counts with count=....")
    data = open_source(source)
    if given.owner and not given.count:
        raise BadOption("owners without contributor counts", hint="name the counts with count=....")
    others = [c for c in (given.status, given.owner) if c is not None]
    data.require([*by, *values, *given.numeric(), *others])
    refuse_both(given.missing or {}, given.gaps)
    return without_gaps(data, given.gaps, _measured(values, given), by, embedded_lookup(data))


def _measured(values: Sequence[str], given: CellColumns) -> Measured:
    return Measured(row=values, zero=[*values, *given.largest])


def _refuse_bad_numbers(
    data: Relation, by: Mapping[str, Hierarchy], values: Sequence[str], given: CellColumns
) -> None:  # fmt: skip
    """Refuse columns that do not hold what they should; what is wrong with the row of a total is that it is one."""
    bounds = [c for c in (given.lower, given.upper) if c is not None]
    try:
        refuse_numbers(data, _measured(values, given))
        data.refuse_bad_numbers([c for c in given.numeric() if c not in (*bounds, *given.largest)])
        data.refuse_bad_numbers(bounds, blanks=True)
        refuse_lost(data, [*values, *given.numeric()])
    except DiskretError:
        occurs = {n: _among(h.codes, _distinct(data, n)) for n, h in by.items()}
        refuse_totals(Looked(by=by, occurs=occurs, categories=given.categories), data.where)
        raise


def _among(codes: Sequence[str], found: Sequence[str | None]) -> Bools:
    known = {*found}
    return np.array([code in known for code in codes], dtype=np.bool_)


def _refuse_totals(frame: _Frame, by: Mapping[str, Hierarchy], position: Ints, numbers: Iterable[Floats]) -> None:
    """Refuse codes that look like totals, before their cells are added to the others."""
    occurs, order = {}, {}
    for name, at in zip(by, np.unravel_index(position, frame.present.shape), strict=True):
        codes, first = np.unique(at, return_index=True)
        occurs[name] = np.isin(np.arange(len(by[name])), codes)
        order[name] = codes[np.argsort(first)].tolist()
    filled = []
    for number in numbers:
        parts = np.where(frame.inner, number, 0.0)
        rollup.add_up(parts, frame.hierarchies)
        filled.append(parts)
    looked = Looked(by=by, occurs=occurs, numbers=filled, order=order.get, categories=frame.given.categories)
    refuse_totals(looked, frame.where)


@dataclass(frozen=True, eq=False)
class _Frame:
    """What every column of one list of cells shares."""

    hierarchies: tuple[Hierarchy, ...]
    names: tuple[str, ...]
    present: Bools
    given: CellColumns
    data: Relation
    position: Ints

    @property
    def where(self) -> str:
        """How to speak of the list."""
        return self.data.where

    def rows(self, chosen: Bools) -> list[int]:
        """Numbers of the rows that give the chosen cells."""
        return row_numbers(self.data, np.flatnonzero(chosen.reshape(-1)[self.position]))

    def name(self, chosen: Bools, most: int = 10) -> list[str]:
        """Names of the first chosen cells."""
        cells = np.argwhere(chosen)[:most]
        return [
            ", ".join(f"{n}={h.codes[i]}" for n, h, i in zip(self.names, self.hierarchies, cell, strict=True))
            for cell in cells
        ]

    @property
    def inner(self) -> Bools:
        """Cells that are not sums in any classification."""
        return rollup.inner_cells(self.hierarchies)


def _flat_from_data(data: Relation, name: str, total: str, blank: str) -> Hierarchy:
    codes = dict.fromkeys(c if c is not None else blank for c in _distinct(data, name))
    return Hierarchy.flat([c for c in codes if c != total], total=total)


def _distinct(data: Relation, name: str) -> list[str | None]:
    """The codes of a column, None for a blank."""
    found = data.query(f"SELECT DISTINCT {data.code(name)} AS c FROM {data.view} ORDER BY c NULLS LAST")
    return [code for (code,) in found]


def _positions(data: Relation, by: Mapping[str, Hierarchy], shape: tuple[int, ...], blanks: Mapping[str, str]) -> Ints:
    """Flat position of every row's cell; refuses unknown and missing codes."""
    position = np.zeros((), dtype=np.int64)
    for (name, hierarchy), length in zip(by.items(), shape, strict=True):
        code = f"coalesce({data.code(name)}, {literal(blanks[name])})"
        # texts stay Python's: an array of them would be as wide as the longest, for every row
        found = data.arrays(f"SELECT {code} AS c FROM {data.view}")["c"].tolist()
        known = {c: hierarchy.index(c) if c in hierarchy else -1 for c in dict.fromkeys(found)}
        unknown = sorted(c for c, at in known.items() if at < 0)
        if unknown:
            refuse_codes_of_cells(data, name, hierarchy, found, unknown)
        position = position * length + np.array([known[c] for c in found], dtype=np.int64)
    return position


def _sums(frame: _Frame, name: str, value: Floats) -> tuple[Floats, int | None]:
    """Compute missing sums, check given ones: exactly for decimals, to 12 digits for other numbers."""
    if frame.given.positive:
        negative = frame.present & (value < 0)
        if negative.any():
            raise NegativeValue(
                f"column {name!r} has {int(negative.sum())} negative cells in a table declared positive",
                where=f"{frame.where}: {listed(frame.name(negative))}",
                hint="declare positive = false, or correct the data.",
                cures=[NEGATIVE_ALLOWED],
                rows=frame.rows(negative),
            )
    inner = frame.inner
    decimals = _exact_decimals(frame, name, value)
    if decimals is not None:
        units = to_units(np.where(inner, value, 0.0), decimals)
        rollup.add_up(units, frame.hierarchies)
        computed = from_units(units, decimals)
        off = to_units(value, decimals) != units
    else:
        computed = np.where(inner, value, 0.0)
        rollup.add_up(computed, frame.hierarchies)
        if float(np.abs(computed).max(initial=0.0)) >= EXACT_LIMIT:
            zeros = 10.0 ** zeros_of(value)
            computed = np.rint(computed / zeros) * zeros
        size = np.abs(np.where(inner, value, 0.0))
        rollup.add_up(size, frame.hierarchies)
        off = np.abs(value - computed) > 1e-12 * size
    if not np.isfinite(computed).all():
        raise NotFinite(f"sums of {name!r} are too large", where=frame.where, hint="use a larger unit.")
    wrong = off & frame.present & ~inner
    beyond = wrong & (np.abs(value - computed) > frame.given.tolerance * (1 + 1e-12))
    if beyond.any():
        _refuse_sums(frame, name, value, computed, beyond)
    if wrong.any():
        warnings.warn(
            f"{int(wrong.sum())} sums of {name!r} differed from their parts within the tolerance and were recomputed: "
            f"{listed(frame.name(wrong))}",
            ProtectionWarning,
            stacklevel=2,
        )
    return computed, decimals


def _exact_decimals(frame: _Frame, name: str, value: Floats) -> int | None:
    """The decimals in which everything adds up exactly; None for measurements, decimals that do not are refused."""
    decimals = decimals_of(value)
    meant = short_decimals(value, AMOUNTS) if decimals is None else decimals
    finest = np.abs(np.where(frame.inner, value, 0.0))
    size = finest.copy()
    rollup.add_up(size, frame.hierarchies)
    most = float(size.max(initial=0.0))
    if meant is None or most * 10.0**meant < most_units(meant):
        return decimals
    if meant == 0 and most < most_units(1) * 10.0 ** zeros_of(value):
        return None  # whole numbers of millions or more, such as 12 * 10**15
    if meant <= AMOUNTS:
        if beyond(meant, float(finest.max(initial=0.0)), most):
            raise NotExact.sums(name, meant, most_units(meant) // 10**meant, frame.where)
        what = f"the sums of {name!r} are too large for its {meant} decimals and are not exact in the last ones"
        warnings.warn(what, ProtectionWarning, stacklevel=2)
    return None


def _refuse_sums(frame: _Frame, name: str, value: Floats, computed: Floats, wrong: Bools) -> None:
    lines = []
    for at, cell in zip(np.argwhere(wrong)[:10], frame.name(wrong), strict=True):
        parts, given = computed[tuple(at)], value[tuple(at)]
        # The difference itself may be the value of a missing part: only its size relative to the sum is told.
        share = float(f"{100 * abs(parts - given) / max(abs(parts), abs(given)):.1g}")
        lines.append(f"{cell}: the parts add up to {'more' if parts > given else 'less'}, by about {share:g} %")
    raise WrongSum(
        f"{int(wrong.sum())} sums of {name!r} do not equal their parts",
        where=f"{frame.where}:\n    " + "\n    ".join(lines),
        hint="correct the cells, leave the sums out to have them computed, or allow rounding with tolerance=....",
        cures=rounding_cures(value, computed, wrong, frame.hierarchies),
        rows=frame.rows(wrong),
    )


def _contributors(
    frame: _Frame, spread: Any, column: Any, given: CellColumns, owner: Ints | None
) -> tuple[Contributors | None, bool]:
    """Counts, largest contributions and owners with missing sums filled in; whether the counts add up."""
    if given.count is None:
        return None, True
    raw = column(given.count)
    odd = (raw < 0) | (raw != np.rint(raw)) | (raw > EXACT_LIMIT)
    if odd.any():
        bad = spread(odd.astype(np.float64)) > 0
        raise NegativeValue(
            f"column {given.count!r} holds counts that are negative, impossibly large or not whole numbers",
            where=f"{frame.where}: {listed(frame.name(bad))}",
            hint="count contributors, unweighted, in whole numbers.",
            rows=frame.rows(bad),
        )
    counts = spread(raw).astype(np.int64)
    computed = np.where(frame.inner, counts, 0)
    rollup.add_up(computed, frame.hierarchies)
    additive = not ((counts != computed) & frame.present).any()
    counts = np.where(frame.present, counts, computed)
    largest = None
    if given.largest:
        stacked = np.stack([spread(np.abs(column(c))) for c in given.largest], axis=-1)
        given_lists = -np.sort(-stacked, axis=-1)
        # From the finest cells only: a given sum merged along one axis would come in again along the other.
        largest = np.where(frame.inner[..., None], given_lists, 0.0)
        rollup.merge_largest(largest, frame.hierarchies)
        largest = np.where(frame.present[..., None], given_lists, largest)
    if owner is not None and largest is not None:
        # whoever contributes most to a sum that is not given does so in one of its finest cells
        passed_on = np.where(frame.inner, owner, -1)
        rollup.pass_owner_on(passed_on, largest, frame.hierarchies)
        owner = np.where(frame.present, owner, passed_on)
    return Contributors(counts, largest, owner=None if owner is None else np.where(counts > 0, owner, -1)), additive


def _owners(data: Relation, position: Ints, shape: tuple[int, ...], given: CellColumns) -> Ints | None:
    """Who contributes most to each cell, by numbers in the order of the cells that do not tell the names; blank: -1."""
    if given.owner is None:
        return None
    names = data.arrays(f"SELECT coalesce({data.code(given.owner)}, '') AS o FROM {data.view}")["o"]
    owner = np.full(shape, -1, dtype=np.int64)
    order = np.argsort(position)
    distinct, first, number = np.unique(names[order], return_index=True, return_inverse=True)
    place = np.argsort(np.argsort(first))
    place[distinct == ""] = -1
    owner.reshape(-1)[position[order]] = place[number.reshape(-1)]
    return owner


def _status(data: Relation, position: Ints, shape: tuple[int, ...], given: CellColumns) -> npt.NDArray[np.uint8]:
    status = np.zeros(shape, dtype=np.uint8)
    if given.status is None:
        return status
    column = f"coalesce({data.code(given.status)}, '')"
    words = data.arrays(f"SELECT {column} AS s FROM {data.view}")["s"]
    distinct, inverse = np.unique(words, return_inverse=True)
    other = given.status_codes or (CONFIDENTIALITY if given.status.lower() in CONFIDENTIALITY_COLUMNS else {})
    read = [other[w] if w in other else Status.from_text(w) if w else Status.OPEN for w in distinct.tolist()]
    status.reshape(-1)[position] = np.array(read, dtype=np.uint8)[inverse.reshape(-1)]
    return status


def _prior(
    frame: _Frame, name: str, value: Floats, lower: Floats | None, upper: Floats | None
) -> tuple[Floats | None, Floats | None]:
    """Prior knowledge; cells without any get the widest interval their sign allows."""
    low = None if lower is None else np.where(np.isnan(lower), 0.0 if frame.given.positive else -np.inf, lower)
    high = None if upper is None else np.where(np.isnan(upper), np.inf, upper)
    outside = np.zeros(value.shape, dtype=np.bool_)
    if low is not None:
        outside |= low > value
    if high is not None:
        outside |= high < value
    if outside.any():
        raise BadPriorKnowledge(
            f"{int(outside.sum())} prior intervals do not cover the value of {name!r}",
            where=f"{frame.where}: {listed(frame.name(outside))}",
            hint="what an attacker knows must be true; correct lower and upper.",
            rows=frame.rows(outside),
        )
    return low, high
