"""A table tells where its cells are, what happened to them, and nothing else changes with it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret import Hierarchy, Status, Table
from diskret.model import errors
from tests.present import present


@pytest.fixture
def table() -> Table:
    by = {"region": Hierarchy.from_parents({"05111": "05", "05": "DE", "11": "DE"}), "sex": Hierarchy.flat("mw")}
    cells = {"region": ["05111", "05111", "11"], "sex": ["m", "w", "w"], "x": [1, 2, 4], "n": [1, 2, 3]}
    return Table.from_cells(cells, by=by, value="x", count="n")


def test_codes_and_positions_are_inverse(table: Table) -> None:
    for at in np.ndindex(table.shape):
        assert table.index(*table.codes(at)) == at


def test_a_cell_with_an_unknown_code_is_refused_with_its_classification(table: Table) -> None:
    with pytest.raises(errors.UnknownCode, match=r"'region'.*\n.*did you mean '05111'"):
        table.index("0511", "m")
    with pytest.raises(errors.BadOption, match="'region', 'sex'"):
        table.index("05")


def test_changing_a_status_leaves_the_old_table_as_it_was(table: Table) -> None:
    changed = table.with_status(Status.PRIMARY, [("05111", "m"), ("DE", "Total")])
    assert not table.hidden.any()
    assert table.name_cells(changed.hidden) == ["region=05111, sex=m", "region=DE, sex=Total"]
    assert list(changed.marks()) == [((0, 0), "P"), ((3, 2), "P")]
    assert "2 primary" in repr(changed)


def test_only_primary_and_secondary_cells_are_hidden() -> None:
    assert {s for s in Status if s.hidden} == {Status.PRIMARY, Status.SECONDARY}


@pytest.mark.parametrize("status", Status)
def test_a_status_is_read_from_its_own_word_and_number(status: Status) -> None:
    assert Status.from_text(status.text.upper().replace(" ", "_")) is status
    assert Status.from_text(str(int(status))) is status


def test_a_status_by_hand_is_set_by_its_word_and_an_unknown_one_is_refused(table: Table) -> None:
    assert table.with_status("Never", [("11", "w")]).status[table.index("11", "w")] == Status.NEVER
    with pytest.raises(errors.BadOption, match="is not known"):
        table.with_status("unsafe", [("11", "w")])


def test_a_cell_without_value_but_with_contributors_is_not_empty() -> None:
    cells = {"r": ["a", "b"], "x": [0, 0], "n": [0, 2]}
    assert Table.from_cells(cells, by={"r": None}, value="x", count="n").empty.tolist() == [True, False, False]
    assert Table.from_cells(cells, by={"r": None}, value="x").empty.all()


def test_a_table_without_counts_says_so() -> None:
    table = Table.from_cells({"r": ["a"], "x": [1]}, by={"r": None}, value="x")
    with pytest.raises(errors.BadOption, match="count="):
        _ = table.count


@settings(max_examples=30)
@given(data=st.data())
def test_cells_in_long_form_give_the_table_back(data: st.DataObject, small_trees: Any) -> None:
    by = {name: Hierarchy.from_parents(data.draw(small_trees)) for name in "ab"}
    shape = tuple(len(h) for h in by.values())
    inner = [at for at in np.ndindex(shape) if all(h.is_leaf[i] for h, i in zip(by.values(), at, strict=True))]
    cells: dict[str, list[Any]] = {"a": [], "b": [], "x": [], "n": [], "x1": []}
    for i, j in inner:
        row = (by["a"].codes[i], by["b"].codes[j], data.draw(st.integers(-999, 999)) / 10, data.draw(st.integers(0, 9)))
        for name, entry in zip(cells, (*row, abs(row[2])), strict=True):
            cells[name].append(entry)
    first = Table.from_cells(cells, by=by, value="x", count="n", largest=["x1"])
    long = first.columns()
    again = Table.from_cells(long, by=by, value="x", count="count", largest=["largest_1"], status="status")
    assert np.array_equal(first.value, again.value)
    assert np.array_equal(first.count, again.count)
    assert np.array_equal(present(first.largest), present(again.largest))
    assert again.additive_counts
