"""Systems of equations: what is refused, how they are named, and that they say what the table they come from says."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret import Hierarchy, Pool, Table
from diskret.model import errors
from diskret.model.arrays import Bools
from diskret.model.cells import Cells
from diskret.model.near import ENOUGH
from diskret.model.system import System

CELLS = ["a", "b", "sum", "c", "d"]
VALUE = [1.5, 2.5, 4, 3, 1]
EQUATIONS: list[dict[str, float]] = [{"a": 1, "b": 1, "sum": -1}, {"sum": 1, "c": -1, "d": -1}]


def as_system(table: Cells, **columns: Any) -> System:
    """The same cells and equations as any others."""
    system = table.equations(np.ones(table.size, dtype=np.bool_))
    names = [f"{i}" for i in range(table.size)]
    entries = system.row_of(), system.columns, system.coefficients
    return System.from_entries(names, table.value.reshape(-1), entries, status=table.status.reshape(-1), **columns)


def square(status: list[str], count: list[int]) -> Table:
    cells = {"s": list("aabbcc"), "t": list("uvuvuv"), "x": [1, 2, 3, 4, 5, 6], "st": status, "n": count}
    by = {"s": Hierarchy.from_parents({"a": "A", "b": "A", "A": "T", "c": "T"}), "t": Hierarchy.flat("uv")}
    return Table.from_cells(cells, by=by, value="x", status="st", count="n")


def test_equations_are_turned_so_that_the_sum_is_negative_and_made_whole() -> None:
    system = System.of(CELLS, VALUE, [{"a": -0.5, "b": -0.5, "sum": 0.5}, {"d": 2, "c": 2, "sum": -2, "a": 0}])
    assert system.system.coefficients.tolist() == [1, 1, -1, -1, 1, 1]
    assert system.system.sum_cell.tolist() == [2, 2]
    assert system.decimals == 1


def test_other_coefficients_stay_and_an_equation_of_two_sides_has_no_sum() -> None:
    system = System.of(["a", "b", "c", "d"], [1, 2, 3, 3], [{"a": 2, "b": 2, "c": -1, "d": -1}])
    assert system.system.coefficients.tolist() == [2, 2, -1, -1]
    assert system.sums_of[0].size == 0
    assert System.of(["a", "b"], [1, 3], [{"a": 3, "b": -1}]).sums_of[0].tolist() == [0]


WRONG: dict[str, tuple[type[errors.DiskretError], dict[str, Any]]] = {
    "a cell nobody knows": (errors.UnknownCode, {"equations": [{"a": 1, "x": -1}]}),
    "a sum that is off by a cent": (errors.WrongSum, {"value": [1.51, 2.5, 4, 3, 1]}),
    "a value too few": (errors.BadOption, {"value": [1.5, 2.5, 4, 3]}),
    "a value that is missing": (errors.BadOption, {"value": [1.5, 2.5, 4, 3, np.nan]}),
    "a status too few": (errors.BadOption, {"status": ["open"]}),
    "a status nobody knows": (errors.BadOption, {"status": ["shut"] * 5}),
    "a name twice": (errors.DuplicateCell, {"cells": ["a", "b", "sum", "c", "d", "a"], "value": [*VALUE, 1]}),
    "bounds that miss the value": (errors.BadPriorKnowledge, {"lower": [2, 0, 0, 0, 0]}),
    "a column nobody knows": (errors.BadOption, {"colour": ["red"] * 5}),
    "coefficients that are not decimals": (errors.BadOption, {"equations": [{"a": 1 / 3, "b": 1}]}),
}


@pytest.mark.parametrize("how", WRONG)
def test_what_cannot_be_a_system_is_refused(how: str) -> None:
    kind, changed = WRONG[how]
    given_: dict[str, Any] = {"cells": CELLS, "value": VALUE, "equations": EQUATIONS} | changed
    with pytest.raises(kind):
        System.of(given_.pop("cells"), given_.pop("value"), given_.pop("equations"), **given_)


def test_a_system_has_no_trees() -> None:
    system = System.of(CELLS, VALUE, EQUATIONS)
    with pytest.raises(errors.BadOption, match="no trees"):
        _ = system.hierarchies
    with pytest.raises(errors.BadOption, match="needs one tree"):
        system.refuse_without_product("the cuboid method")
    with pytest.raises(errors.UnknownCode):
        system.index("x")
    with pytest.raises(errors.BadOption, match="2 codes for 1"):
        system.index("a", "b")


def test_cells_go_by_their_names() -> None:
    system = System.of(CELLS, VALUE, EQUATIONS, status=["primary", "secondary", "open", "open", "open"])
    assert system.codes(system.index("sum")) == ("sum",)
    assert system.columns()["cell"].tolist() == CELLS
    assert system.inner.tolist() == [True, True, False, True, True]
    assert system.name_cells(system.hidden) == ["cell=a", "cell=b"]
    assert system.same_cells(System.of(CELLS, VALUE, EQUATIONS))
    assert not system.same_cells(square(["open"] * 6, [2] * 6))


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.sampled_from(["open", "primary", "secondary"]), min_size=6, max_size=6),
    st.lists(st.integers(0, 2), min_size=6, max_size=6),
)
def test_a_table_a_pool_and_a_system_of_the_same_cells_say_the_same(status: list[str], count: list[int]) -> None:
    table = square(status, count)
    alone: Bools = table.count.reshape(-1) == 1
    pool = Pool.of({"one": table, "margin": square(["open"] * 6, count)})
    for other in (as_system(table), pool):
        assert np.array_equal(other.inner, table.inner.reshape(-1))
        assert np.array_equal(other.one_person(alone), table.one_person(alone))
        assert _pairs(other) == _pairs(table)
        for cells in (np.flatnonzero(table.hidden.reshape(-1)), np.arange(table.size)):
            assert _entries(other, cells) == _entries(table, cells)
        assert _rows(other) == _rows(table)
        for cell in range(table.size):
            mine = sorted((line.sum_cell, *sorted(line.cells.tolist())) for line in table.lines(cell))
            assert sorted((line.sum_cell, *sorted(line.cells.tolist())) for line in other.lines(cell)) == mine


def _pairs(cells: Cells) -> list[tuple[int, int]]:
    part, whole = cells.sums_of
    return sorted(zip(part.tolist(), whole.tolist(), strict=True))


def _entries(cells: Cells, chosen: Any) -> list[list[tuple[int, float]]]:
    """Which cells stand in one equation together, with their coefficients."""
    found: dict[tuple[int, int], list[tuple[int, float]]] = {}
    for kind, each in enumerate(cells.entries(chosen)):
        for at, equation, coefficient in zip(each.position, each.equation, each.coefficient, strict=True):
            found.setdefault((kind, int(equation)), []).append((int(chosen[at]), float(coefficient)))
    return sorted(sorted(row) for row in found.values())


def _rows(cells: Cells) -> list[list[tuple[int, float]]]:
    system = cells.equations()
    entries = list(zip(system.cells[system.columns].tolist(), system.coefficients.tolist(), strict=True))
    return sorted(entries[a:b] for a, b in pairwise(system.start.tolist()))


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 3599))
def test_neighbourhoods_grow_from_the_cell_to_everything(cell: int) -> None:
    by = {n: Hierarchy.flat([f"{n}{i}" for i in range(59)]) for n in "st"}
    cells = {n: [f"{n}{i}" for i in range(59)] for n in "st"} | {"x": [1] * 59}
    system = as_system(Table.from_cells(cells, by=by, value="x"))
    movable = np.arange(3600) % 7 != 0
    movable[cell] = True
    near = system.near(movable)
    ladder = near.ladder(cell)
    inside = [near.inside(key) for key in ladder]
    assert [int(each.sum()) for each in inside] == [near.size(key) for key in ladder]
    assert np.array_equal(inside[-1], movable)
    for smaller, larger in pairwise(inside):
        assert smaller[cell]
        assert 2 * smaller.sum() <= larger.sum()
    assert len(inside) > 1
    assert inside[0].sum() >= ENOUGH
    assert near.heights(np.array([0, 59, 3599])).tolist() == [1, 2, 3]


def test_cells_in_one_equation_are_a_family() -> None:
    system = System.of(CELLS, VALUE, EQUATIONS)
    near = system.near(np.array([True, True, False, True, False]))
    family = near.families(np.arange(5)).tolist()
    assert family[0] == family[1]
    assert len(set(family)) == 4
