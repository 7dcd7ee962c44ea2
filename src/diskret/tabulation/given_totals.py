"""Totals that stand among the records: codes that look like one are asked about, rows of given ones are compared.

Rows of a code that the user calls a total are no records. They are left out, and what they say is held against the sums
of the records, combination by combination.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cures import Cure, key_of
from diskret.model.engine import literal
from diskret.model.errors import BadOption, DiskretError, EmptyData, ProtectionWarning, UnknownCode, WrongSum, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.source import Relation
from diskret.model.table import Table
from diskret.model.totals import Looked, refuse_totals
from diskret.tabulation.accumulate import Level
from diskret.tabulation.backend import RECORDS, RECORDS_NUMBERED, Backend
from diskret.tabulation.ground import Ground
from diskret.tabulation.plan import Plan

Totals = Mapping[str, tuple[str, ...]]
MOST_IN_ORDER = 100_000
"""Records up to which the order of the file is looked at."""
FEWEST_IN_ORDER = 4
NEAR = 1e-12
"""What sums of doubles may be off by, relative to their size."""


def totals_of(given: Mapping[str, str | Sequence[str]] | None, by: Mapping[str, Hierarchy | None]) -> Totals:
    """The codes of given totals per classification; each must be a sum of its hierarchy, if there is one.

    >>> totals_of({"region": "All"}, {"region": None})
    {'region': ('All',)}
    """
    found = {name: (codes,) if isinstance(codes, str) else tuple(codes) for name, codes in (given or {}).items()}
    for name, codes in found.items():
        if name not in by:
            raise BadOption(f"totals: no classification {name!r}", hint=f"the table has {listed(by)}.")
        hierarchy = by[name]
        if hierarchy is not None:
            _refuse_no_sums(name, codes, hierarchy)
        elif len(codes) > 1:
            hint = "give a hierarchy that tells what the others are the sums of."
            raise BadOption(f"{name!r} has {len(codes)} totals and no hierarchy", hint=hint)
    return found


def _refuse_no_sums(name: str, codes: Sequence[str], hierarchy: Hierarchy) -> None:
    for code in codes:
        if code not in hierarchy:
            raise UnknownCode.in_column(name, [code], hierarchy.codes)
        if hierarchy.is_leaf[hierarchy.index(code)]:
            hint = "take it out of the hierarchy, or name its total."
            raise BadOption(f"{code!r} is to be a total and is a finest code of {name!r}", hint=hint)


def sum_cures(name: str, codes: Sequence[str], hierarchy: Hierarchy) -> list[Cure]:
    """What can be said of rows that are coded to sums of a hierarchy: that they are totals.

    >>> [c.key for c in sum_cures("region", ["N", "All"], Hierarchy.from_nested({"All": {"N": ["N1"], "S": None}}))]
    ['classifications.region.total', 'classifications.region.subtotals']
    """
    below = [code for code in codes if code != hierarchy.total]
    whole = Cure(key=key_of("classifications", name, "total"), value=hierarchy.total, label="take it as the total")
    label = "take their rows as given subtotals"
    parts = Cure(key=key_of("classifications", name, "subtotals"), value=below, label=label)
    return [whole] * (len(below) < len(codes)) + [parts] * bool(below)


@dataclass(frozen=True, kw_only=True)
class GivenRows:
    """The rows of given totals, apart from the records."""

    data: Relation
    condition: str


def records_only(engine: Backend, totals: Totals) -> GivenRows | None:
    """Leave the rows of given totals out of what the engine reads; None if there are none."""
    data = engine.data

    def is_given(data: Relation) -> str:
        each = [f"coalesce({data.code(n)} IN ({_literals(codes)}), false)" for n, codes in totals.items() if codes]
        return f"({' OR '.join(each)})"

    if not any(totals.values()):
        return None
    given = GivenRows(data=data, condition=is_given(data))
    if not data.query(f"SELECT 1 FROM {data.view} WHERE {given.condition} LIMIT 1"):
        return None
    engine.data = data.kept_where(lambda data: f"NOT {is_given(data)}", RECORDS, RECORDS_NUMBERED)
    if not engine.data.query(f"SELECT 1 FROM {RECORDS} LIMIT 1"):
        raise EmptyData("there are only totals", where=data.where, hint="a table needs at least one record.")
    return given


def _literals(codes: Iterable[str]) -> str:
    return ", ".join(map(literal, codes))


def refuse_total_codes(
    engine: Backend, plan: Plan, counted: Level, categories: Mapping[str, Sequence[str]] | None
) -> None:
    """Refuse finest codes that look like totals, once records are added up."""
    occurs = {name: counted_codes(counted, plan.shape, axis) for axis, name in enumerate(plan.by)}
    # where most cells are empty, codes are known as totals by their names only
    dense = counted.ground.shape == plan.shape
    numbers = [response.total for response in counted.responses if response.total is not None and dense]
    few = int(counted.count[-1]) <= MOST_IN_ORDER and not engine.aggregates

    def order(name: str) -> list[int] | None:
        return _in_order(engine.data, plan.by[name], name) if few and len(plan.by[name]) > FEWEST_IN_ORDER else None

    looked = Looked(by=plan.by, occurs=occurs, numbers=numbers, order=order, categories=categories)
    refuse_totals(looked, engine.data.where)


def _in_order(data: Relation, hierarchy: Hierarchy, name: str) -> list[int]:
    """The codes of a column by their first row: a list of cells may be read as records, with its subtotals between."""
    rows = f"SELECT {data.row_number} AS n, {data.code(name)} AS c FROM {data.view}"
    found = data.query(f"SELECT c FROM ({rows}) AS r WHERE c IS NOT NULL GROUP BY c ORDER BY min(n)")
    return [hierarchy.index(code) for (code,) in found if code in hierarchy]


@contextmanager
def asking_first(engine: Backend, plan: Plan, categories: Mapping[str, Sequence[str]] | None) -> Iterator[None]:
    """Ask about codes that are named like totals before other things are refused: their rows may be the reason."""
    try:
        yield
    except DiskretError:
        data = engine.data
        found = {n: data.query(f"SELECT DISTINCT {data.code(n)} FROM {data.view}") for n in plan.by}
        codes = {name: {code for (code,) in rows} for name, rows in found.items()}
        occurs = {name: np.array([c in codes[name] for c in h.codes]) for name, h in plan.by.items()}
        refuse_totals(Looked(by=plan.by, occurs=occurs, categories=categories), data.where)
        raise


def counted_codes(counted: Level, shape: tuple[int, ...], axis: int) -> Bools:
    """Which codes of a classification have records: what stands beside the totals of all others."""
    cells = counted.ground.find(prod(shape) - 1 - np.arange(shape[axis])[::-1] * prod(shape[axis + 1 :]))
    found: Bools = (cells >= 0) & (counted.count[cells] > 0)
    return found


# --- comparing -------------------------------------------------------------------------------------------------------


def check_given(given: GivenRows, plan: Plan, tables: Sequence[Table], ground: Ground, tolerance: float) -> None:
    """Hold the rows of given totals against the sums of the records; refuse what differs, warn of what has no number.

    A blank in another classification of such a row stands for its total.
    """
    position, rows, sums = _read(given, plan)
    cells = ground.find(position)
    unchecked = int(rows.sum()) if not sums else 0
    for table, ways in zip(tables, sums, strict=False):
        computed = np.where(cells >= 0, table.value.reshape(-1)[cells], 0.0)
        known = np.isfinite(ways[0])
        unchecked = max(unchecked, int(rows[~known].sum()))
        off = np.min([np.abs(way - computed) for way in ways], axis=0)
        size = np.maximum(np.abs(computed), np.abs(ways[0]))
        wrong = known & (off > np.maximum(tolerance * (1 + NEAR), NEAR * size))
        if wrong.any():
            _refuse(given.data.where, table, position[wrong], ways[0][wrong], computed[wrong])
    if unchecked:
        warnings.warn(
            f"{unchecked} rows of totals are left out that hold no number to check them by",
            ProtectionWarning,
            stacklevel=3,
        )


def _read(given: GivenRows, plan: Plan) -> tuple[Ints, Ints, list[list[Floats]]]:
    """Cells of given totals, how many rows each has, and per response what they may mean: weighted, or as they are."""
    data, groups = given.data, len(plan.by)
    columns = [f"{data.code(name)} AS c{i}" for i, name in enumerate(plan.by)] + ["count(*) AS n"]
    weight = f"CAST({data.number(plan.weight)} AS DOUBLE)" if plan.weight else ""
    asked = [_ways(f"CAST({data.number(name)} AS DOUBLE)", weight) for name in plan.values] or [[weight]] * bool(weight)
    for ways in asked:
        # one row without a number makes the sum of its cell unknown
        columns += [f"CASE WHEN count({way}) = count(*) THEN sum({way}) END" for way in ways]
    keys = ", ".join(str(i + 1) for i in range(groups))
    found = data.query(f"SELECT {', '.join(columns)} FROM {data.view} WHERE {given.condition} GROUP BY {keys}")
    position = np.array([_position(plan, row[:groups]) for row in found], dtype=np.int64)
    numbers = iter(np.array([row[groups + 1 :] for row in found], dtype=np.float64).reshape(len(found), -1).T)
    return position, np.array([row[groups] for row in found]), [[next(numbers) for _ in ways] for ways in asked]


def _ways(number: str, weight: str) -> list[str]:
    return [f"{number} * {weight}", number] if weight else [number]


def _position(plan: Plan, codes: Sequence[Any]) -> int:
    """Where a row of a total stands in the table."""
    at = 0
    for code, (name, hierarchy), stride in zip(codes, plan.by.items(), plan.strides, strict=True):
        if code is not None and code not in hierarchy:
            raise UnknownCode.in_column(name, [code], hierarchy.codes)
        at += stride * (len(hierarchy) - 1 if code is None else hierarchy.index(code))
    return at


def _refuse(where: str, table: Table, position: Ints, value: Floats, computed: Floats) -> None:
    lines, shape = [], tuple(len(h) for h in table.hierarchies)
    for at, given, parts in list(zip(position.tolist(), value.tolist(), computed.tolist(), strict=True))[:10]:
        cell = np.unravel_index(at, shape)
        name = ", ".join(f"{n}={h.codes[i]}" for (n, h), i in zip(table.by.items(), cell, strict=True))
        # The difference itself may be the value of a missing record: only its size relative to the sum is told.
        share = float(f"{100 * abs(parts - given) / max(abs(parts), abs(given)):.1g}")
        lines.append(f"{name}: the records add up to {'more' if parts > given else 'less'}, by about {share:g} %")
    raise WrongSum(
        f"{position.size} given totals of {table.response!r} do not equal the sums of the records",
        where="\n    ".join([f"{where}:", *lines]),
        hint="correct the data, leave the rows of the total out, or allow rounding with tolerance=....",
    )
