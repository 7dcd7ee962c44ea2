"""All the SQL that microdata are read with: a handful of statements that DuckDB and Spark both understand.

Records become whole numbers at the door: the flat position of their finest cell, their contributions in units of the
last decimal. Whole numbers add up to the same sum in any order, so engines and numbers of threads cannot differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.coded import MISSING
from diskret.model.engine import literal
from diskret.model.exact import AMOUNTS
from diskret.model.kept import lost
from diskret.model.source import Relation
from diskret.tabulation.plan import Plan, RecordKey, Units

Batch = dict[str, npt.NDArray[Any]]


def read_only(batch: Batch) -> Batch:
    """The same columns, not to be written to: a kernel is compiled for such columns and not a second time for others.

    >>> import numpy as np
    >>> read_only({"cell": np.arange(3)})["cell"].flags.writeable
    False
    """
    seen = {name: column.view() for name, column in batch.items()}
    for column in seen.values():
        column.flags.writeable = False
    return seen


DECIMALS_TRIED = range(AMOUNTS + 1)
RECORDS, RECORDS_NUMBERED = "diskret_records", "diskret_records_numbered"
"""Views of what is read, where rows of given totals are left out."""


class Backend(Protocol):
    """Where the microdata are: runs statements and hands back columns."""

    data: Relation
    aggregates: bool
    """Whether finest cells come back (a cluster), or single records in batches (embedded, where that is faster)."""

    def lookup(self, name: str, codes: Sequence[str], positions: Ints) -> None:
        """Make a small table of codes and positions."""
        ...

    def keep(self, name: str, sql: str) -> None:
        """Keep the result of a statement under a name."""
        ...

    def batches(self, sql: str) -> Iterator[Batch]:
        """The columns of a large result, in batches."""
        ...

    def close(self) -> None:
        """Give everything back."""
        ...


def profile_sql(data: Relation, plan: Plan) -> str:
    """One row: number of records, then per number column what `_column_profile` says."""
    parts = ["count(*)"]
    for name in plan.values:
        weighted = f" * CAST({data.number(plan.weight)} AS DOUBLE)" if plan.weight else ""
        parts += _column_profile(data, name, f"abs({_double(data, name)}{weighted})")
    if plan.weight:
        parts += _column_profile(data, plan.weight, _double(data, plan.weight))
    return f"SELECT {', '.join(parts)} FROM {data.view}"


def _column_profile(data: Relation, name: str, size: str) -> list[str]:
    """How many numbers are bad, how many would lose digits, the smallest, the size, the largest, and the decimals."""
    number = _double(data, name)
    bad = f"count(CASE WHEN {data.bad_number(name)} THEN 1 END)"
    # Whole-number sums: the bound, and with it the units, must not depend on the order of addition.
    bound = f"sum(CAST(ceil(least({size}, 1e17)) AS DECIMAL(38, 0)))"
    flags = [f"bool_and({_has_decimals(data, name, d)})" for d in DECIMALS_TRIED]
    digits = f"count(CASE WHEN {lost(data, name)} THEN 1 END)"
    return [bad, digits, f"CAST(min({number}) AS DOUBLE)", bound, f"CAST(max(abs({number})) AS DOUBLE)", *flags]


def _has_decimals(data: Relation, name: str, decimals: int) -> str:
    """The condition that a number has at most so many decimals; a type that says it is believed."""
    scale = 0 if data.is_whole(name) else data.scale(name)
    if scale is not None and scale <= DECIMALS_TRIED[-1]:
        return str(scale <= decimals).lower()
    if scale is not None:
        return f"round({data.column(name)}, {decimals}) = {data.column(name)}"
    number = _double(data, name)
    return f"round({number} * 1e{decimals}) / 1e{decimals} = {number}"


def _double(data: Relation, name: str) -> str:
    return f"CAST({data.number(name)} AS DOUBLE)"


def records_sql(data: Relation, plan: Plan, units: Sequence[Units]) -> str:
    """Every record as numbers: ``cell``, per response ``t`` (adds up) and ``x`` (is ranked), and its roles."""
    columns = [f"{_place(plan)} AS cell"]
    columns += _amounts(data, plan, units)
    if plan.selective:
        columns.append(f"CAST({_protected(data, plan)} AS BIGINT) AS protected")
    if plan.public:
        columns.append(f"CAST({data.flag(plan.public.column, plan.public.codes)} AS BIGINT) AS public")
    for name, flag in zip(kinds_asked(plan), plan.asked, strict=True):
        columns.append(f"CAST({data.flag(flag.column, flag.codes)} AS BIGINT) AS {name}")
    columns += [f"{_record_key(data, plan, k)} AS k{k}" for k in range(plan.keys)]
    if plan.holding:
        columns.append(f"{holding_key(data, plan.holding)} AS holding")
    return f"SELECT {', '.join(columns)} FROM {data.view} {_lookups(data, plan)}"


def finest_places_sql(data: Relation, plan: Plan) -> str:
    """The places of all finest cells that have records; -1 for those that fit none."""
    return f"SELECT DISTINCT CAST({_place(plan)} AS BIGINT) AS cell FROM {data.view} {_lookups(data, plan)}"


def _place(plan: Plan) -> str:
    """The place of a record's finest cell in the product, -1 if it fits none."""
    known = " AND ".join(f"d{i}.position IS NOT NULL" for i in range(len(plan.by)))
    place = " + ".join(f"d{i}.position * {stride}" for i, stride in enumerate(plan.strides))
    return f"CASE WHEN {known} THEN {place} ELSE -1 END"


def _lookups(data: Relation, plan: Plan) -> str:
    """What joins the positions of a record's codes to it."""
    return " ".join(
        f"LEFT JOIN {lookup_name(i)} d{i} ON d{i}.code = coalesce({data.code(name)}, {literal(MISSING)})"
        for i, name in enumerate(plan.by)
    )


def _amounts(data: Relation, plan: Plan, units: Sequence[Units]) -> list[str]:
    """What a record adds to every response, what is ranked there, and its weight."""
    columns = []
    weight = _double(data, plan.weight) if plan.weight else ""
    for j, (name, unit) in enumerate(zip(plan.values, units, strict=False)):
        number = _double(data, name)
        contribution = f"CAST(round({number} * 1e{unit.contribution}) AS BIGINT)"
        weighted = f"CAST(round({number} * {weight} * 1e{unit.total}) AS BIGINT)"
        columns += [f"{weighted if weight else contribution} AS t{j}", f"{contribution} AS x{j}"]
    if weight and not plan.values:
        columns.append(f"CAST(round({weight} * 1e{units[0].total}) AS BIGINT) AS t0")
    elif weight:
        columns.append(f"{weight} AS w")
    return columns


def _record_key(data: Relation, plan: Plan, k: int) -> str:
    """The key of a record in whole numbers; zero, which changes no sum, where a value of zero does not count."""
    assert plan.key is not None
    unit = "" if plan.key.modulus else f" * {float(plan.key.units)!r}"
    key = f"CAST(round({_double(data, plan.key.column)}{unit}) AS BIGINT) % {plan.key.units}"
    if plan.key.zeros or not plan.values:
        return key
    zero = f"{_double(data, plan.values[k])} = 0"
    return f"CASE WHEN {zero} THEN CAST(0 AS BIGINT) ELSE {key} END"


def key_profile_sql(data: Relation, key: RecordKey) -> str:
    """One row: how many records, how many keys are not numbers or out of range, the smallest and largest."""
    number = _double(data, key.column)
    beyond = f"{number} < 0 OR {number} >= {key.modulus or 1}"
    if key.modulus:
        beyond += f" OR {number} <> round({number})"
    bad = f"count(CASE WHEN {data.bad_number(key.column)} THEN 1 END)"
    out = f"count(CASE WHEN {beyond} THEN 1 END)"
    return f"SELECT count(*), {bad}, {out}, min({number}), max({number}) FROM {data.view}"


def _protected(data: Relation, plan: Plan) -> str:
    """Who asked for protection, and gave no waiver."""
    asked = data.flag(plan.request.column, plan.request.codes) if plan.request else "true"
    waived = data.flag(plan.waiver.column, plan.waiver.codes) if plan.waiver else "false"
    return f"({asked} AND NOT {waived})"


def lookup_name(axis: int) -> str:
    """Name of the lookup table of a classification."""
    return f"diskret_codes_{axis}"


def finest_cells_sql(records: str, plan: Plan) -> str:
    """Records added up to finest cells, with the largest contributions of each by one window per response."""
    first = "public, " if plan.public else ""
    second = ", w DESC" if plan.weight else ""
    columns, ranks = ["cell", "count(*) AS count"], []
    for j in range(len(plan.values)):
        ranks.append(f"row_number() OVER (PARTITION BY cell ORDER BY {first}abs(x{j}) DESC{second}) AS r{j}")
        columns += _response_sums(plan, j)
    if plan.weight and not plan.values:
        columns.append("sum(t0) AS t0")
    columns += [f"sum({role}) AS {role}" for role in roles(plan)]
    columns += _key_sums(plan)
    ranked = f"SELECT *, {', '.join(ranks)} FROM ({records}) AS r" if ranks else records
    casts = ", ".join(_as_whole(c) for c in columns)
    return f"SELECT {casts} FROM ({ranked}) AS s GROUP BY cell"


def _response_sums(plan: Plan, j: int) -> list[str]:
    """What one response adds up to in a cell, and its largest contributions, public ones left out."""
    shown = "public = 0 AND " if plan.public else ""
    columns = [f"sum(t{j}) AS t{j}", f"sum(abs(t{j})) AS a{j}"]
    for k in range(1, plan.largest + 1):
        at = f"CASE WHEN {shown}r{j} = {k} THEN"
        columns.append(f"coalesce(max({at} abs(x{j}) END), 0) AS x{j}_{k}")
        if plan.weight:
            columns.append(f"coalesce(max({at} w END), CAST(1 AS DOUBLE)) AS w{j}_{k}")
    if plan.selective:
        columns.append(f"coalesce(max(CASE WHEN {shown}protected = 1 THEN abs(x{j}) END), 0) AS protected_x{j}")
    if plan.public:
        columns.append(f"coalesce(sum(CASE WHEN public = 1 THEN abs(t{j}) END), 0) AS public_t{j}")
    largest = "coalesce(max(CASE WHEN {shown}{name} = 1 THEN abs(x{j}) END), 0) AS {name}_x{j}"
    return [*columns, *(largest.format(shown=shown, name=name, j=j) for name in kinds_asked(plan))]


def _key_sums(plan: Plan) -> list[str]:
    """Cell keys; in decimals, because the sum of a million keys of 15 digits leaves the range of whole numbers."""
    if plan.key is None:
        return []
    return [f"sum(CAST(k{k} AS DECIMAL(38, 0))) % {plan.key.units} AS k{k}" for k in range(plan.keys)]


def _as_whole(column: str) -> str:
    """DuckDB adds BIGINT up to HUGEINT; sums were bounded below 2**53 before."""
    expression, _, name = column.rpartition(" AS ")
    if not expression or name.startswith("w"):
        return column
    return f"CAST({expression} AS BIGINT) AS {name}"


def roles(plan: Plan) -> list[str]:
    """Names of the yes-or-no columns of a record."""
    return ["protected"] * plan.selective + ["public"] * (plan.public is not None)


def kinds_asked(plan: Plan) -> list[str]:
    """Names of the columns that say who made a request of which kind."""
    return [f"asked{kind}" for kind in range(len(plan.asked))]


def holding_key(data: Relation, name: str) -> str:
    """What identifies a holding: the column itself, text without outer blanks, blank and NaN as none."""
    return data.column(name) if data.is_whole(name) else data.code(name)


def shared_holdings_sql(data: Relation, name: str) -> str:
    """Holdings behind more than one record, numbered from 1."""
    key = f"SELECT {holding_key(data, name)} AS holding FROM {data.view}"
    shared = f"SELECT holding FROM ({key}) AS r WHERE holding IS NOT NULL GROUP BY holding HAVING count(*) > 1"
    return f"SELECT holding, row_number() OVER (ORDER BY holding) AS number FROM ({shared}) AS s"


def numbered_records_sql(records: str, shared: str, plan: Plan) -> str:
    """Records with the number of their shared holding instead of its name, 0 where a record stands alone."""
    columns = ["cell"] + [f"{c}{j}" for j in range(len(plan.values)) for c in ("t", "x")]
    columns += (["w"] if plan.values else ["t0"]) if plan.weight else []
    columns += [f"k{k}" for k in range(plan.keys)]
    listing = ", ".join(f"r.{c}" for c in columns + roles(plan) + kinds_asked(plan))
    join = f"LEFT JOIN {shared} s ON r.holding = s.holding"
    return f"SELECT {listing}, coalesce(s.number, 0) AS number FROM ({records}) AS r {join}"


def holding_parts_sql(records: str, plan: Plan) -> str:
    """What each shared holding contributes to each finest cell, holding by holding, from numbered records."""
    columns = ["number", "cell"]
    for j in range(len(plan.values)):
        columns += [f"CAST(sum(t{j}) AS BIGINT) AS t{j}", f"CAST(sum(x{j}) AS BIGINT) AS x{j}"]
    columns += ["CAST(max(protected) AS BIGINT) AS protected"] * plan.selective
    columns += ["CAST(min(public) AS BIGINT) AS public"] * (plan.public is not None)
    columns += [f"CAST(max({name}) AS BIGINT) AS {name}" for name in kinds_asked(plan)]
    chosen = f"({records}) AS n WHERE number > 0"
    return f"SELECT {', '.join(columns)} FROM {chosen} GROUP BY number, cell ORDER BY number, cell"


def unknown_codes_sql(data: Relation, name: str, axis: int) -> str:
    """Codes of one column that its lookup table does not hold, the most frequent first."""
    code = data.code(name)
    return (
        f"SELECT {code} AS code, count(*) AS n FROM {data.view} LEFT JOIN {lookup_name(axis)} d "
        f"ON d.code = coalesce({code}, {literal(MISSING)}) WHERE d.position IS NULL "
        "GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT 100"
    )


def combinations_sql(data: Relation, plan: Plan) -> str:
    """Distinct combinations: per classification the position ``p`` of the code, -1 where it is not known, and ``n``."""
    groups = ", ".join(f"p{i}" for i in range(len(plan.by)))
    coded = _positions(data, plan, [])
    return f"SELECT {groups}, CAST(count(*) AS BIGINT) AS n FROM ({coded}) AS r GROUP BY {groups}"


def record_codes_sql(data: Relation, plan: Plan) -> str:
    """Every record with its number ``n``, and per classification the position ``p`` of its code."""
    return _positions(data, plan, [f"CAST({data.row_number} AS BIGINT) AS n"])


def _positions(data: Relation, plan: Plan, more: list[str]) -> str:
    # The data's own names stand in the innermost statement only: a column may be called as one of ours.
    coded = [f"coalesce({data.code(name)}, {literal(MISSING)}) AS c{i}" for i, name in enumerate(plan.by)]
    inner = f"SELECT {', '.join(more + coded)} FROM {data.view}"
    columns = ["v.n AS n"] * len(more)
    columns += [f"coalesce(d{i}.position, CAST(-1 AS BIGINT)) AS p{i}" for i in range(len(plan.by))]
    joins = [f"LEFT JOIN {lookup_name(i)} d{i} ON d{i}.code = v.c{i}" for i in range(len(plan.by))]
    return f"SELECT {', '.join(columns)} FROM ({inner}) AS v {' '.join(joins)}"
