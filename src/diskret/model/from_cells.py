"""From a list of cells to a table and back: codes to positions, sums computed or checked."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model import rollup
from diskret.model.alike import warn_of_spellings
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cell_columns import CellColumns as CellColumns
from diskret.model.cell_columns import Frame
from diskret.model.cell_people import People, people_of, warn_of_unranked
from diskret.model.cell_refusals import refuse_codes_of_cells, refuse_duplicates
from diskret.model.cell_sums import summed
from diskret.model.coded import MISSING
from diskret.model.engine import literal
from diskret.model.errors import BadOption, BadPriorKnowledge, DiskretError, NegativeValue, ProtectionWarning, listed
from diskret.model.gaps import Measured, embedded_lookup, refuse_both, refuse_numbers, without_gaps
from diskret.model.hierarchy import Hierarchy
from diskret.model.kept import refuse_lost
from diskret.model.memory import refuse_too_large
from diskret.model.source import Relation, normalised, open_source
from diskret.model.status import CONFIDENTIALITY, CONFIDENTIALITY_COLUMNS, Status, refuse_false_zeros
from diskret.model.table import Table
from diskret.model.totals import Looked, refuse_totals


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

    present = np.zeros(shape, dtype=np.bool_)
    present.reshape(-1)[position] = True
    frame = Frame(tuple(classifications.values()), tuple(classifications), present, given, data, position)
    numbers = (frame.dense(name) for name in [*values, *([given.count] if given.count else [])])
    _refuse_totals(frame, classifications, position, numbers)
    people, status = people_of(frame), _status(frame)
    arrays: dict[str, Any] = {
        "below": _level(frame, given.below, status),
        "above": _level(frame, given.above, status),
        "weight": frame.dense(given.weight, 1.0) if given.weight else None,
    }
    said: dict[str, Any] = {
        "frequency": given.frequency, "positive": given.positive, "additive_counts": people.additive,
        "counted": people.counted,
    }  # fmt: skip
    shadow = summed(frame, given.shadow, frame.dense(given.shadow)).value if given.shadow and given.largest else None
    return {
        name: _table(
            frame, name, people, None if name == given.shadow else shadow, status, arrays, classifications, said
        )
        for name in values
    }


def _table(
    frame: Frame, name: str, people: People, shadow: Floats | None, status: npt.NDArray[np.uint8],
    arrays: Mapping[str, Any], by: Mapping[str, Hierarchy], said: Mapping[str, Any],
) -> Table:  # fmt: skip
    """The table of one value."""
    found = summed(frame, name, frame.dense(name))
    lower, upper = _prior(frame, name, found.value)
    refuse_false_zeros(status, found.value, frame.name, frame.where)
    if shadow is not None and np.array_equal(shadow, found.value):
        shadow = None  # lists of tau-ARGUS have a shadow even where it is the value
    behind = people.behind(found.value, shadow)
    if shadow is None:
        warn_of_unranked(frame, behind, name, found.value)
    return Table(
        by, name, found.value, status, behind, lower=lower, upper=upper, given=found.given, decimals=found.decimals,
        **arrays, **said,
    )  # fmt: skip


def _opened(source: object, by: Mapping[str, Hierarchy | None], values: Sequence[str], given: CellColumns) -> Relation:
    """The list of cells, once it has all columns."""
    if not by or not values:
        raise BadOption("a table needs at least one classification and one value", hint="fill by=... and value=....")
    if given.shadow and not given.largest:
        raise BadOption("a shadow without largest contributions", hint="name those to the shadow with largest=....")
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
    try:
        refuse_numbers(data, _measured(values, given))
        data.refuse_bad_numbers([c for c in given.numeric() if c not in (*given.optional, *given.largest)])
        data.refuse_bad_numbers(given.optional, blanks=True)
        refuse_lost(data, [*values, *given.numeric()])
    except DiskretError:
        occurs = {n: _among(h.codes, _distinct(data, n)) for n, h in by.items()}
        refuse_totals(Looked(by=by, occurs=occurs, categories=given.categories), data.where)
        raise


def _among(codes: Sequence[str], found: Sequence[str | None]) -> Bools:
    known = {*found}
    return np.array([code in known for code in codes], dtype=np.bool_)


def _refuse_totals(frame: Frame, by: Mapping[str, Hierarchy], position: Ints, numbers: Iterable[Floats]) -> None:
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


def _status(frame: Frame) -> npt.NDArray[np.uint8]:
    status = np.zeros(frame.shape, dtype=np.uint8)
    given, data = frame.given, frame.data
    if given.status is None:
        return status
    column = f"coalesce({data.code(given.status)}, '')"
    words = data.arrays(f"SELECT {column} AS s FROM {data.view}")["s"]
    distinct, inverse = np.unique(words, return_inverse=True)
    other = given.status_codes or (CONFIDENTIALITY if given.status.lower() in CONFIDENTIALITY_COLUMNS else {})
    read = [other[w] if w in other else Status.from_text(w) if w else Status.OPEN for w in distinct.tolist()]
    status.reshape(-1)[frame.position] = np.array(read, dtype=np.uint8)[inverse.reshape(-1)]
    return status


def _level(frame: Frame, name: str | None, status: npt.NDArray[np.uint8]) -> Floats | None:
    """How far an attacker's interval must reach, for the primary cells; without statuses, for all that become one."""
    if name is None:
        return None
    level = frame.dense(name, np.nan)
    wanted = frame.present if frame.given.status is None else status == Status.PRIMARY
    negative = wanted & (level < 0)
    if negative.any():
        raise NegativeValue(
            f"column {name!r} has {int(negative.sum())} negative levels",
            where=f"{frame.where}: {listed(frame.name(negative))}",
            hint="levels are distances from the value.",
            rows=frame.rows(negative),
        )
    without = wanted & np.isnan(level) & (status == Status.PRIMARY)
    if without.any():
        warnings.warn(
            f"{int(without.sum())} primary cells have no level in {name!r}: unless a rule asks for more, only their "
            f"exact values are protected: {listed(frame.name(without))}",
            ProtectionWarning,
            stacklevel=4,
        )
    return np.where(wanted, np.nan_to_num(level, nan=0.0), 0.0)


def _prior(frame: Frame, name: str, value: Floats) -> tuple[Floats | None, Floats | None]:
    """Prior knowledge; cells without any get the widest interval their sign allows."""
    given = frame.given
    lower, upper = (frame.dense(c, np.nan) if c else None for c in (given.lower, given.upper))
    low = None if lower is None else np.where(np.isnan(lower), 0.0 if given.positive else -np.inf, lower)
    high = None if upper is None else np.where(np.isnan(upper), np.inf, upper)
    outside = np.zeros(value.shape, dtype=np.bool_)
    if low is not None:
        outside |= low > value
    if high is not None:
        outside |= high < value
    if outside.any():
        number = int(outside.sum())
        raise BadPriorKnowledge(
            f"{number} prior {'interval does' if number == 1 else 'intervals do'} not cover the value of {name!r}",
            where=f"{frame.where}: {listed(frame.name(outside))}",
            hint="what an attacker knows must be true; correct lower and upper.",
            rows=frame.rows(outside),
        )
    return low, high
