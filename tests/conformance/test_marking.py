"""What every rule keeps to that marks cells as sensitive: a new rule joins by one line in `MARKING`.

Marking takes a table and gives one back. It may not touch its input, mark what must be published, open what was
hidden, or depend on anything but the table. Cells are judged one by one or line by line, so the order of codes and the
sign of numbers do not matter either.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from diskret import (
    PQ,
    Dominance,
    Hierarchy,
    MinCount,
    OneCategory,
    PPercent,
    ProtectionWarning,
    Roles,
    SmallCells,
    SmallMargin,
    Status,
    Table,
    mark,
    tabulate,
)
from diskret.model import rollup
from diskret.model.contributors import Contributors
from tests.frozen import frozen

Method = Callable[[Table], Table]
Records = list[tuple[str, str, float, str]]

MARKING: dict[str, Method] = {
    "minimum count": lambda table: mark(table, MinCount(3)),
    "minimum count with zeros": lambda table: mark(table, MinCount(3, zeros=True)),
    "minimum count of holdings": lambda table: mark(table, MinCount(3, counted_by="holding")),
    "dominance": lambda table: mark(table, Dominance(1, 85)),
    "dominance of two": lambda table: mark(table, Dominance(2, 90)),
    "p%": lambda table: mark(table, PPercent(10)),
    "(p,q)": lambda table: mark(table, PQ(5, 50)),
    "small cells": lambda table: mark(table, SmallCells(3)),
    "small margin": lambda table: mark(table, SmallMargin(2)),
    "one category": lambda table: mark(table, OneCategory()),
    "several rules": lambda table: mark(table, MinCount(3) | PPercent(10) | Dominance(1, 85)),
}

FLAT = Hierarchy.flat(["N", "S", "E"])
RAGGED = Hierarchy.from_parents({"a1": "a", "a2": "a", "a": "T", "b": "T", "c1": "c", "c11": "c1", "c": "T"})
FIXED = (Status.NEVER, Status.PUBLISHED)


# --- tables ----------------------------------------------------------------------------------------------------------


def table_of(records: Records, first: Hierarchy = FLAT, second: Hierarchy = RAGGED) -> Table:
    """A table of two classifications, with everything a method may ask for."""
    columns = dict(zip(("first", "second", "x", "owner"), zip(*records, strict=True), strict=True))
    given = {name: list(column) for name, column in columns.items()}
    return tabulate(given, by={"first": first, "second": second}, value="x", roles=Roles(holding="owner"), largest=3)


def records(sign: int = 1, seed: int = 0) -> Records:
    """Firms in cells of one, two and many contributors, some of them giants."""
    rng = np.random.default_rng(seed)
    found = []
    for first in "NSE":
        for second in ("a1", "a2", "b", "c11"):
            for _ in range(int(rng.choice([0, 1, 2, 5, 9]))):
                amount = float(rng.integers(1, 1000)) * (50 if rng.random() < 0.1 else 1)
                signed = amount * (sign if rng.random() < 0.5 else 1)
                found.append((first, second, signed, f"o{rng.integers(0, 20)}"))
    return found


def nobody(table: Table) -> Table:
    """The same table with all cells empty."""

    def nothing(people: Contributors | None) -> Contributors | None:
        if people is None:
            return None
        arrays = {f.name: getattr(people, f.name) for f in fields(people)}
        empty: dict[str, Any] = {n: None if a is None else np.zeros_like(a) for n, a in arrays.items()}
        return Contributors(**empty)

    return replace(
        table, value=np.zeros(table.shape), respondents=nothing(table.respondents), holdings=nothing(table.holdings)
    )


TABLES: dict[str, Callable[[], Table]] = {
    "usual": lambda: table_of(records()),
    "ragged depth on both sides": lambda: table_of(
        [({"N": "a1", "S": "b", "E": "c11"}[f], s, x, o) for f, s, x, o in records(seed=1)], first=RAGGED
    ),
    "negative values": lambda: table_of(records(sign=-1, seed=2)),
    "all cells empty": lambda: nobody(table_of(records())),
    "one record": lambda: table_of([("N", "b", 5.0, "o1")]),
    "one cell": lambda: table_of([("N", "b", 5.0, "o1")], Hierarchy.flat(["N"]), Hierarchy.flat(["b"])),
    "depth 1": lambda: without_parts(5.0),
    "everything sensitive": lambda: usual_with(Status.PRIMARY, every=1),
    "some cells marked before": lambda: usual_with(Status.PRIMARY, Status.SECONDARY),
    "zeros that may be hidden": lambda: usual_with(Status.ZERO, Status.STRUCTURAL_ZERO),
}


def without_parts(value: float) -> Table:
    """A table without parts: two totals, one cell."""
    people = Contributors(np.array([[1]]), np.array([[[value, 0.0, 0.0]]]))
    total = Hierarchy.flat([])
    by = {"first": total, "second": total}
    return Table(by, "x", np.array([[value]]), np.zeros((1, 1), np.uint8), people, people)


def usual_with(*statuses: Status, every: int = 7) -> Table:
    """The usual table with statuses in some cells, or in all."""
    table = table_of(records())
    status = table.status.copy()
    for i, each in enumerate(statuses):
        status.reshape(-1)[i :: every * len(statuses)] = each
    return replace(table, status=status)


def arrays_of(table: Table) -> dict[str, Any]:
    """Every array of a table, contributors included."""
    found = {f.name: getattr(table, f.name) for f in fields(table)}
    for level in ("respondents", "holdings"):
        people = found.pop(level)
        found |= {f"{level}.{f.name}": getattr(people, f.name) for f in fields(people)} if people is not None else {}
    return {name: a for name, a in found.items() if isinstance(a, np.ndarray)}


def same(one: Table, two: Table) -> bool:
    first, second = arrays_of(one), arrays_of(two)
    return first.keys() == second.keys() and all(np.array_equal(first[k], second[k]) for k in first)


def quietly(method: Method, table: Table) -> Table:
    """Run a method; what deserves care is another test's business."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        return method(table)


@cache
def table_called(name: str) -> Table:
    return frozen(TABLES[name]())


@pytest.fixture(params=MARKING)
def marking(request: pytest.FixtureRequest) -> Method:
    return MARKING[request.param]


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> Table:
    return table_called(request.param)


# --- what holds for every rule on every table ------------------------------------------------------------------------


def test_the_input_stays_untouched(marking: Method, table: Table) -> None:
    before = {name: a.copy() for name, a in arrays_of(table).items()}
    quietly(marking, table)
    after = arrays_of(table)
    assert before.keys() == after.keys()
    assert all(np.array_equal(before[name], after[name]) for name in before)


def test_the_same_table_gives_the_same_result(marking: Method, table: Table) -> None:
    assert same(quietly(marking, table), quietly(marking, table))


def test_a_second_time_changes_nothing_more(marking: Method, table: Table) -> None:
    once = quietly(marking, table)
    assert np.array_equal(quietly(marking, once).status, once.status)


def test_shape_and_classifications_stay(marking: Method, table: Table) -> None:
    result = quietly(marking, table)
    assert result.by == table.by
    assert all(a.shape[:2] == table.shape for a in arrays_of(result).values())


def test_every_sum_stays_the_sum_of_its_parts(marking: Method, table: Table) -> None:
    result = quietly(marking, table)
    again = np.where(rollup.inner_cells(result.hierarchies), result.value, 0.0)
    rollup.add_up(again, result.hierarchies)
    assert np.allclose(again, result.value)


def test_what_was_hidden_stays_hidden(marking: Method, table: Table) -> None:
    result = quietly(marking, table)
    assert result.hidden[table.hidden].all()
    assert (result.status[table.status == Status.PRIMARY] == Status.PRIMARY).all()


def test_cells_that_must_be_published_stay_visible(marking: Method, table: Table) -> None:
    for status in FIXED:
        shown = replace(table, status=np.full(table.shape, status, dtype=np.uint8))
        result = quietly(marking, shown)
        assert not result.hidden.any()
        assert (result.status == status).all()


def test_every_primary_cell_says_why(marking: Method, table: Table) -> None:
    result = quietly(marking, table)
    for cell in map(tuple, np.argwhere(result.status == Status.PRIMARY).tolist()):
        assert result.rules_of(cell)
    for array in (result.below, result.above):
        assert array is not None
        assert (np.isfinite(array) & (array >= 0)).all()


# --- what holds on tables of one kind --------------------------------------------------------------------------------


def test_a_sensitive_cell_that_must_be_published_is_named_in_a_warning(marking: Method) -> None:
    table = table_called("usual")
    caught = quietly(marking, table).status == Status.PRIMARY
    assert caught.any(), "the usual table has something for every rule"
    cell = tuple(np.argwhere(caught)[0].tolist())
    name = ", ".join(f"{n}={c}" for n, c in zip(table.names, table.codes(cell), strict=True))
    for status in FIXED:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always", ProtectionWarning)
            result = marking(table.with_status(status, [table.codes(cell)]))
        assert result.status[cell] == status
        assert [w for w in told if "must be published" in str(w.message) and name in str(w.message)]


def test_where_there_is_nothing_nothing_is_hidden(marking: Method) -> None:
    assert not quietly(marking, table_called("all cells empty")).hidden.any()


# --- what does not matter --------------------------------------------------------------------------------------------


@cache
def both_ways(seed: int) -> tuple[Table, Table]:
    """One table with its first classification in two orders, from records in two orders."""
    given = records(seed=seed)
    return table_of(given), table_of(given[::-1], first=Hierarchy.flat(["E", "S", "N"]))


@cache
def both_signs() -> tuple[Table, Table]:
    """One table with every sign turned."""
    given = records(sign=-1, seed=3)
    return table_of(given), table_of([(first, second, -x, owner) for first, second, x, owner in given])


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_records_and_codes_does_not_matter(marking: Method, seed: int) -> None:
    forward, backward = (quietly(marking, table) for table in both_ways(seed))
    for code in FLAT.codes:
        there, back = forward.by["first"].index(code), backward.by["first"].index(code)
        assert np.array_equal(forward.hidden[there], backward.hidden[back])


def test_signs_do_not_matter_to_who_is_large(marking: Method) -> None:
    one, two = (quietly(marking, table) for table in both_signs())
    assert np.array_equal(one.hidden, two.hidden)


def test_one_firm_is_hidden_in_every_finest_cell_and_no_empty_cell_with_it(marking: Method) -> None:
    """One firm in every cell it reaches: whoever looks at cells hides them all, whoever looks at lines their parts."""
    result = quietly(marking, table_called("one record"))
    occupied = result.value > 0
    assert result.hidden[occupied & rollup.inner_cells(result.hierarchies)].all()
    assert not result.hidden[~occupied].any()
