"""What is wrong with records, in words: codes, keys and negative numbers, each with its rows and with what cures it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diskret.model.cures import Cure, key_of
from diskret.model.engine import literal
from diskret.model.errors import (
    BadRecordKeys,
    DiskretError,
    MissingCode,
    NegativeValue,
    SumInRecords,
    UnknownCode,
    listed,
)
from diskret.model.gaps import NEGATIVE_ALLOWED, code_cures, missing_cures
from diskret.model.hierarchy import Hierarchy
from diskret.model.source import Relation
from diskret.tabulation import backend as sql
from diskret.tabulation.backend import Backend
from diskret.tabulation.given_totals import sum_cures
from diskret.tabulation.plan import Plan, RecordKey


def refuse_bad_keys(engine: Backend, key: RecordKey) -> None:
    """Refuse record keys that are out of their range, or all the same."""
    records, bad, beyond, smallest, largest = engine.data.query(sql.key_profile_sql(engine.data, key))[0]
    if bad:
        engine.data.refuse_bad_numbers([key.column])
    if beyond:
        allowed = f"whole numbers from 0 up to {key.modulus} - 1" if key.modulus else "fractions from 0 up to below 1"
        raise BadRecordKeys(
            f"{beyond} record key in column {key.column!r} is out of its range"
            if beyond == 1
            else f"{beyond} record keys in column {key.column!r} are out of their range",
            where=engine.data.where,
            hint=f"give {allowed}; name the modulus of other keys: key=RecordKey({key.column!r}, modulus=...).",
        )
    if records > 1 and smallest == largest:
        raise BadRecordKeys(
            f"all record keys in column {key.column!r} are equal",
            where=engine.data.where,
            hint="draw a key for every record: draw_keys.",
        )


def refuse_negative(engine: Backend, plan: Plan, found: Mapping[str, list[Any]], positive: bool) -> None:
    """Sampling weights are never negative, values not in a table declared positive; the smallest stands third."""
    if plan.weight and found[plan.weight][2] < 0:
        what = f"column {plan.weight!r} has negative sampling weights"
        rows = _rows_below_zero(engine.data, plan.weight)
        raise NegativeValue(what, where=engine.data.where, hint="correct the data.", rows=rows)
    for name in plan.values if positive else ():
        if found[name][2] < 0:
            what = f"column {name!r} has negative values in a table declared positive"
            hint = "declare positive = false, or correct the data."
            rows = _rows_below_zero(engine.data, name)
            raise NegativeValue(what, where=engine.data.where, hint=hint, rows=rows, cures=[NEGATIVE_ALLOWED])


def _rows_below_zero(data: Relation, name: str) -> list[int]:
    return data.rows_where(lambda data: f"CAST({data.number(name)} AS DOUBLE) < 0")


def refuse_codes(engine: Backend, plan: Plan) -> None:
    """Refuse records that fit no finest cell, by the first classification in which they do not."""
    for axis, (name, hierarchy) in enumerate(plan.by.items()):
        found = engine.data.query(sql.unknown_codes_sql(engine.data, name, axis))
        if found:
            raise _stray(name, hierarchy, found, engine.data)


def _stray(name: str, hierarchy: Hierarchy, found: Sequence[tuple[Any, ...]], data: Relation) -> DiskretError:
    """What is wrong with codes of records that are not finest codes; each with how many records have it."""
    codes, where = [code for code, _ in found if code is not None], data.where
    unknown = [c for c in codes if c not in hierarchy]
    if unknown:
        rows = data.rows_where(lambda data: f"coalesce({data.code(name)} IN ({_listing(unknown)}), false)")
        error = UnknownCode.in_column(name, unknown, hierarchy.codes, rows)
        return error.cured_by(*code_cures(name, of="unknown"))
    if codes:
        return SumInRecords(
            f"records in column {name!r} carry {listed(codes)}, which is a sum of finer codes",
            where=where,
            hint="code every record to a finest code; add a code such as 'unknown' below the sum if need be.",
            cures=[*sum_cures(name, codes, hierarchy), *(c for c in code_cures(name, of="unknown") if c.value is None)],
            rows=data.rows_where(lambda data: f"coalesce({data.code(name)} IN ({_listing(codes)}), false)"),
        )
    number = found[0][1]
    return MissingCode(
        f"{number} {'record has' if number == 1 else 'records have'} no code in column {name!r}",
        where=where,
        hint=f"say under which code they count: missing={{{name!r}: ...}}.",
        cures=[*code_cures(name, of="without_code"), *missing_cures(name, hierarchy)],
        rows=data.rows_where(lambda data: f"({data.code(name)} IS NULL)"),
    )


def refuse_outline(data: Relation, name: str) -> None:
    """Refuse a classification that most records have no code of: outlines name a group in its first row only."""
    code = data.code(name)
    ((rows, filled),) = data.query(f"SELECT count(*), count({code}) FROM {data.view}")
    if 2 * filled >= rows:
        return
    missing = Cure(key=key_of("classifications", name, "missing"), value="unknown", label="count them as unknown")
    raise MissingCode(
        f"{rows - filled} of {rows} records have no code in column {name!r}",
        where=data.where,
        hint="does only the first row of each group have its code? Fill it in below; or say what blanks are. If the "
        "column holds remarks, take it out of the classifications.",
        cures=[*(each for each in code_cures(name, of="without_code") if each.value is not None), missing],
        rows=data.rows_where(lambda data: f"({data.code(name)} IS NULL)"),
    )


def _listing(codes: Sequence[str]) -> str:
    return ", ".join(map(literal, codes))
