"""A slow, readable tabulation in pure Python with exact fractions, and the engines it is compared with.

Conventions: a sampled contributor of weight w stands for w units of the population of its own size, at least for one.
A holding is the sum of its units in the cell at hand; its weight is its grossed-up sum over its own sum. It needs
protection if one of its units there does, and is public only if all of them are. Only contributors who are not public
are ranked, by absolute size, or are a target.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from diskret.model.contributors import Contributors
from diskret.model.table import Table

Record = dict[str, Any]
Cell = tuple[str, ...]


@dataclass(frozen=True)
class Unit:
    """One contributor to one cell: a respondent, or a holding."""

    own: Fraction
    grossed_up: Fraction
    protected: bool
    public: bool
    who: Any

    @property
    def weight(self) -> Fraction:
        return max(Fraction(1), abs(self.grossed_up) / abs(self.own)) if self.own else Fraction(1)


@dataclass
class Reference:
    """What the table should say, cell by cell."""

    value: dict[Cell, Fraction] = field(default_factory=dict)
    respondents: dict[Cell, dict[str, Any]] = field(default_factory=dict)
    holdings: dict[Cell, dict[str, Any]] = field(default_factory=dict)


def exact(number: Any) -> Fraction:
    return Fraction(str(number))


def chain(code: str, parents: Mapping[str, str]) -> list[str]:
    found = [code]
    while found[-1] in parents:
        found.append(parents[found[-1]])
    return found


def population(units: Sequence[Unit], n: int) -> list[Fraction]:
    """Sizes of the n largest units of the population; a unit may be shared between two contributors."""
    waiting = sorted(((abs(u.own), u.weight) for u in units), reverse=True)
    sizes = []
    for _ in range(n):
        needed, size = Fraction(1), Fraction(0)
        while needed and waiting:
            contribution, weight = waiting.pop(0)
            taken = min(needed, weight)
            size += taken * contribution
            needed -= taken
            if weight > taken:
                waiting.insert(0, (contribution, weight - taken))
        sizes.append(size)
    return sizes


def described(units: Sequence[Unit], n: int) -> dict[str, Any]:
    protected = [u for u in units if u.protected]
    public = [u for u in units if u.public]
    most = max((abs(u.own) for u in units if not u.public), default=Fraction(0))
    return {
        "count": len(units),
        "largest": population([u for u in units if not u.public], n),
        "absolute": sum((abs(u.grossed_up) for u in units), Fraction(0)),
        "protected_count": len(protected),
        "protected_largest": max((abs(u.own) for u in protected if not u.public), default=Fraction(0)),
        "public_count": len(public),
        "public_value": sum((abs(u.grossed_up) for u in public), Fraction(0)),
        # whoever contributes as much as nobody else; several, if they contribute equally much
        "owner": {u.who for u in units if not u.public and abs(u.own) == most},
    }


def joined(named: Sequence[tuple[Any, Unit]]) -> list[Unit]:
    """Units of one owner as one; those without an owner stay alone."""
    owners: dict[Any, list[Unit]] = defaultdict(list)
    for owner, unit in named:
        owners[("alone", unit.who) if owner is None else ("owner", owner)].append(unit)
    return [
        Unit(
            sum((u.own for u in units), Fraction(0)),
            sum((u.grossed_up for u in units), Fraction(0)),
            any(u.protected for u in units),
            all(u.public for u in units),
            owner,
        )
        for owner, units in owners.items()
    ]


def reference_table(
    records: Sequence[Record], parents: Mapping[str, Mapping[str, str]], *, value: str | None = None, largest: int = 2,
    weight: str | None = None, holding: str | None = None, waiver: tuple[str, Sequence[str]] | None = None,
    request: tuple[str, Sequence[str]] | None = None, public: tuple[str, Sequence[str]] | None = None,
    missing: Mapping[str, str] | None = None,
) -> Reference:  # fmt: skip
    """Send every record to all cells above it, then describe each cell from its full list of units."""

    def says(record: Record, flag: tuple[str, Sequence[str]] | None, otherwise: bool) -> bool:
        return otherwise if flag is None else str(record[flag[0]]) in flag[1]

    behind: dict[Cell, list[tuple[Any, Unit]]] = defaultdict(list)
    for number, record in enumerate(records):
        own = Fraction(1) if value is None else exact(record[value])
        grossed_up = own * (exact(record[weight]) if weight else 1)
        needs = says(record, request, True) and not says(record, waiver, False)
        unit = Unit(own, grossed_up, needs, says(record, public, False), number)
        codes = [record[name] if record[name] is not None else (missing or {})[name] for name in parents]
        for cell in itertools.product(*(chain(c, parents[n]) for c, n in zip(codes, parents, strict=True))):
            behind[cell].append((record[holding] if holding else None, unit))
    found = Reference()
    for cell, named in behind.items():
        units = [unit for _, unit in named]
        found.value[cell] = sum((u.grossed_up for u in units), Fraction(0))
        found.respondents[cell] = described(units, largest)
        found.holdings[cell] = described(joined(named), largest)
    return found


def assert_same_people(
    people: Contributors, expected: Mapping[Cell, Mapping[str, Any]], table: Table, close: bool
) -> None:
    empty = described([], people.ranked)
    for at in np.ndindex(table.shape):
        cell = table.codes(at)
        wanted = expected.get(cell, empty)
        for name in people.__dataclass_fields__:
            array = getattr(people, name)
            if array is None or name == "owner":
                continue
            got = array[at].tolist()
            want = [float(x) for x in wanted[name]] if name == "largest" else float(wanted[name])
            assert got == (pytest.approx(want, rel=1e-13) if close else want), (cell, name)
    assert_same_owners(people, expected, table)


def assert_same_owners(people: Contributors, expected: Mapping[Cell, Mapping[str, Any]], table: Table) -> None:
    """Equal numbers mean the same owner, different ones different owners."""
    assert people.owner is not None
    possible: dict[int, set[Any]] = {}
    numbers: dict[Any, set[int]] = defaultdict(set)
    for at in np.ndindex(table.shape):
        wanted = expected.get(table.codes(at), described([], 0))
        number, someone = int(people.owner[at]), wanted["owner"]
        others = wanted["count"] - (wanted["public_count"] if people.public_count is not None else 0)
        assert (number >= 0) == (others == 1 if people.ranked == 0 else others > 0), table.codes(at)
        if number >= 0:
            possible[number] = possible.get(number, someone) & someone
        if number >= 0 and len(someone) == 1:
            numbers[next(iter(someone))].add(number)
    assert all(possible.values())
    assert all(len(known) == 1 for known in numbers.values())


def assert_as_expected(table: Table, expected: Reference, *, close: bool = False) -> None:
    """Every cell of the table is what the reference says; ``close`` where quotients cannot be exact."""
    for at in np.ndindex(table.shape):
        assert table.value[at] == float(expected.value.get(table.codes(at), 0)), table.codes(at)
    assert table.respondents is not None
    assert_same_people(table.respondents, expected.respondents, table, close=False)
    if table.holdings is not None:
        assert_same_people(table.holdings, expected.holdings, table, close)


def arrays_of(table: Table) -> dict[str, np.ndarray]:
    """Every array of a table by name."""
    found: dict[str, np.ndarray] = {"value": table.value, "status": table.status}
    for level in ("respondents", "holdings"):
        people = getattr(table, level)
        for name in people.__dataclass_fields__ if people is not None else ():
            if getattr(people, name) is not None:
                found[f"{level}.{name}"] = getattr(people, name)
    return found


def assert_identical(one: Table, other: Table) -> None:
    """Not one bit differs."""
    left, right = arrays_of(one), arrays_of(other)
    assert left.keys() == right.keys()
    for name in left:
        assert left[name].dtype == right[name].dtype, name
        assert left[name].tobytes() == right[name].tobytes(), name
    assert one.by == other.by
    for name in ("response", "decimals", "frequency", "positive", "weighted"):
        assert getattr(one, name) == getattr(other, name), name


class Tools:
    """What the tests of this folder share."""

    reference: Callable[..., Reference] = staticmethod(reference_table)
    chain = staticmethod(chain)
    same = staticmethod(assert_as_expected)
    identical = staticmethod(assert_identical)


@pytest.fixture(scope="session")
def tools() -> Any:
    return Tools


@pytest.fixture(params=["duckdb", pytest.param("spark", marks=pytest.mark.spark)])
def engine(request: pytest.FixtureRequest) -> Any:
    """Each engine in turn."""
    return "duckdb" if request.param == "duckdb" else request.getfixturevalue("spark")
