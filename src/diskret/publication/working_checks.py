"""What a working file may hold: everything is looked at before any other part of diskret trusts it blindly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model import rollup
from diskret.model.contributors import Contributors
from diskret.model.exact import EXACT_LIMIT, to_units
from diskret.model.hierarchy import Hierarchy
from diskret.model.limits import refuse_more
from diskret.model.promise import FARTHEST
from diskret.model.sparse import SparseTable
from diskret.model.status import Status
from diskret.model.table import Table

Array = npt.NDArray[Any]
LARGEST_COUNT = 2**53
MOST_DECIMALS = 40
SLACK = 1e-12
"""What adding up doubles may lose, relative to what is added."""
MOST_RULES = 32
FLOATS = ("value", "below", "above", "lower", "upper", "weight", "key", "given")
RANKED = ("largest", "shadow_largest", "asked")
"""Arrays with one further axis."""
SUMS = (*RANKED, "absolute", "protected_largest", "public_value", "shadow_absolute", "weight")
COUNTS = ("count", "protected_count", "public_count")
TRUTHS = ("frequency", "positive", "weighted", "additive_counts", "counted")
TEXTS = ("response", "altered", "seal")


def kind_of(field: str) -> str:
    """The one type that an array of a table has, as NumPy spells it.

    >>> kind_of("value"), kind_of("status"), kind_of("respondents.owner")
    ('<f8', '|u1', '<i8')
    """
    name = field.rpartition(".")[2]
    return {"status": "|u1", "rule": "<u4"}.get(name, "<f8" if name in (*FLOATS, *SUMS, "shadow_total") else "<i8")


def refuse_bad_place(field: str, place: Mapping[str, Any]) -> None:
    """Refuse an array that says of itself what it cannot be: raises ValueError."""
    columns, further = place["columns"], place["further"]
    _need(place["dtype"] == kind_of(field), "an array has another type")
    _need(isinstance(columns, list) and all(isinstance(name, str) for name in columns), "an array has no columns")
    _need(
        isinstance(further, list) and all(type(size) is int and size >= 0 for size in further), "an array has no size"
    )
    ranked = field.rpartition(".")[2] in RANKED
    _need(len(further) == ranked and prod(further) == len(columns), "an array has another size")
    refuse_more("columns", len(columns), "an array has {} columns")


def restored_by(described: Any) -> dict[str, Hierarchy]:
    """Classifications as a file describes them: raises ValueError, or refuses, if they are none."""
    _need(isinstance(described, list) and len(described) > 0, "there are no classifications")
    refuse_more("columns", len(described), "the table has {} classifications")
    by: dict[str, Hierarchy] = {}
    for each in described:
        _need(_is_name(each["name"]) and each["name"] not in by, "a classification has no name")
        refuse_more("rows", len(each["codes"]), "a classification has {} codes")
        _need(all(map(_is_name, each["codes"])), "a code is not a text, or is empty")
        by[each["name"]] = Hierarchy.restored(each["codes"], each["parents"], each["labels"], each.get("further", ()))
    return by


def refuse_bad_tables(described: Any) -> None:
    """Refuse tables that cannot be told apart, or none at all: raises ValueError."""
    _need(isinstance(described, list) and len(described) > 0, "there are no tables")
    refuse_more("columns", len(described), "the working file has {} tables")
    names = [each["name"] for each in described]
    _need(all(map(_is_name, names)) and len({*names}) == len(names), "a table has no name of its own")
    _need(all("value" in each["arrays"] and "status" in each["arrays"] for each in described), "a table has no values")


def _is_name(text: object) -> bool:
    return isinstance(text, str) and text != ""


def flaw_of(table: Table) -> str:
    """What is wrong with a table, in a few words; empty for a sound one.

    >>> flaw_of(Table.from_cells({"s": ["m"], "x": [1]}, by={"s": None}, value="x"))
    ''
    """
    try:
        _look(table)
    except ValueError as e:
        return str(e)
    return ""


def _look(table: Table) -> None:
    for name in TEXTS:
        _need(isinstance(getattr(table, name), str), f"{name} is not a text")
    _need(table.response != "", "the response has no name")
    for name in TRUTHS:
        _need(isinstance(getattr(table, name), bool), f"{name} is neither true nor false")
    _need(all(isinstance(name, str) for name in table.rules) and len(table.rules) <= MOST_RULES, "rules have no names")
    decimals = table.decimals
    _need(
        decimals is None or (type(decimals) is int and 0 <= decimals <= MOST_DECIMALS), "the decimals are not a number"
    )
    cells = tuple(len(h) for h in table.hierarchies)
    if isinstance(table, SparseTable):
        cells = (table.occupied.size,)
        _need(table.occupied.complete, "the occupied cells are not those of a table")
    for name, possible in POSSIBLE.items():
        _look_at(getattr(table, name), cells, name, possible)
    _need(_within_decimals(table), "a value has more decimals than the table")
    _need(bool(table.altered) or _adds_up(table), "the sums do not equal their parts")
    for people in (table.respondents, table.holdings):
        if people is not None:
            for field in fields(Contributors):
                own = getattr(people, field.name)
                further = own.shape[len(cells) :] if field.name in RANKED and own is not None else ()
                _need(len(further) == (field.name in RANKED and own is not None), f"{field.name!r} has another form")
                _look_at(own, (*cells, *further), field.name, POSSIBLE_OF_PEOPLE[field.name])


def _within_decimals(table: Table) -> bool:
    """Whether the decimals the table says it has hold its values, as far as doubles tell decimals apart."""
    if table.decimals is None:
        return True
    scaled = table.value * 10.0**table.decimals
    return bool((np.abs(scaled - np.rint(scaled)) <= SLACK * (1 + np.abs(scaled))).all())


def _adds_up(table: Table) -> bool:
    """Whether every sum equals its parts: in the last decimal, or nearly so for measurements."""
    if isinstance(table, SparseTable):
        return _adds_up_sparsely(table)
    inner = table.inner.reshape(table.shape)
    computed, size = np.where(inner, table.value, 0.0), np.where(inner, np.abs(table.value), 0.0)
    for each in (computed, size):
        rollup.add_up(each, table.hierarchies)
    if table.decimals is None or size.max(initial=0.0) * 10.0**table.decimals >= EXACT_LIMIT:
        return bool((np.abs(table.value - computed) <= SLACK * size).all())
    units = to_units(table.value, table.decimals)
    parts = np.where(inner, units, 0)
    rollup.add_up(parts, table.hierarchies)
    return bool((units == parts).all())


def _adds_up_sparsely(table: SparseTable) -> bool:
    """The same of a table that holds occupied cells only."""
    size = np.abs(table.value)
    if table.decimals is None or size.max(initial=0.0) * table.size * 10.0**table.decimals >= EXACT_LIMIT:
        of_size = (parts for _, parts in table.occupied.sums(size))
        found = zip(table.occupied.sums(table.value), of_size, strict=True)
        return all(bool((np.abs(table.value[at] - parts) <= SLACK * most).all()) for (at, parts), most in found)
    units = to_units(table.value, table.decimals)
    return all(bool((units[at] == parts).all()) for at, parts in table.occupied.sums(units))


def _look_at(array: Array | None, shape: tuple[int, ...], name: str, possible: Callable[[Array], Any]) -> None:
    if array is None:
        return
    _need(array.shape == shape and array.dtype.str == kind_of(name), f"{name!r} has another form")
    _need(bool(np.all(possible(array))), f"{name!r} has a number that cannot be")


def _need(holds: bool, otherwise: str) -> None:
    if not holds:
        raise ValueError(otherwise)


def _value(a: Array) -> Any:
    return np.abs(a) <= FARTHEST


def _distance(a: Array) -> Any:
    return (a >= 0) & (a <= FARTHEST)


def _number(a: Array) -> Any:
    return (np.abs(a) <= FARTHEST) | np.isinf(a)


def _count(a: Array) -> Any:
    return (a >= 0) & (a < LARGEST_COUNT)


def _mark(a: Array) -> Any:
    return a >= -1


POSSIBLE: dict[str, Callable[[Array], Any]] = {
    "value": _value,
    "status": lambda a: a < len(Status),
    "rule": lambda a: True,
    "below": _distance,
    "above": _distance,
    "lower": _number,
    "upper": _number,
    "weight": _distance,
    "creator": _mark,
    "key": np.isfinite,
    "given": _value,
}
"""For every array of a table which of its numbers can be."""
POSSIBLE_OF_PEOPLE: dict[str, Callable[[Array], Any]] = {
    **dict.fromkeys(COUNTS, _count),
    **dict.fromkeys(SUMS, _distance),
    "owner": _mark,
    "shadow_total": _value,
}
