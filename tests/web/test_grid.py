"""Windows show what the table holds, and of hidden cells nothing but their status."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.model.errors import BadOption
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.web.grid import MOST_CELLS, described, window

SHAPE = (4, 3, 5)


def table(seed: int) -> Table:
    random = np.random.default_rng(seed)
    by = {name: Hierarchy.flat([f"{name}{i}" for i in range(n - 1)]) for name, n in zip("abc", SHAPE, strict=True)}
    status = random.integers(0, len(Status), SHAPE).astype(np.uint8)
    return Table(by, "x", random.uniform(1, 100, SHAPE), status)


@given(st.integers(0, 100), st.permutations("abc"), st.booleans(), st.data())
def test_a_window_is_a_part_of_the_table(seed: int, axes: list[str], internal: bool, data: st.DataObject) -> None:
    whole = table(seed)
    size = dict(zip("abc", SHAPE, strict=True))
    rows, columns = (data.draw(st.lists(st.integers(0, size[axis] - 1), min_size=1, max_size=6)) for axis in axes[:2])
    third = data.draw(st.integers(0, size[axes[2]] - 1))
    shown = window(whole, rows, columns, row_axis=axes[0], column_axis=axes[1], at={axes[2]: third}, internal=internal)
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            at = tuple({axes[0]: row, axes[1]: column, axes[2]: third}[name] for name in "abc")
            expected = None if whole.hidden[at] and not internal else whole.value[at]
            assert shown["value"][i][j] == expected
            assert shown["status"][i][j] == whole.status[at]


def test_a_table_that_is_not_protected_shows_marks_and_no_values() -> None:
    whole = table(1)
    every = [list(range(n)) for n in SHAPE[:2]]
    asked: dict[str, Any] = {"row_axis": "a", "column_axis": "b", "at": {}, "protected": False}
    shown = window(whole, *every, **asked)
    assert {value for row in shown["value"] for value in row} == {None}
    assert shown["status"] == whole.status[:, :, -1].tolist()
    assert window(whole, *every, **asked, internal=True)["value"] == whole.value[:, :, -1].tolist()


def test_a_description_holds_no_value_of_a_hidden_cell() -> None:
    whole = table(1)
    said = repr(described({"x": whole}))
    assert not any(repr(float(v)) in said for v in whole.value[whole.hidden])
    assert described({"x": whole})["responses"][0]["largest"] == whole.value[~whole.hidden].max()


@pytest.mark.parametrize(
    "given",
    [
        {"rows": [9], "columns": [0]}, {"rows": [-1], "columns": [0]}, {"row_axis": "z"}, {"column_axis": "a"},
        {"at": {"c": 99}}, {"at": {"z": 0}}, {"rows": [0] * MOST_CELLS, "columns": [0, 1]},
    ],
)  # fmt: skip
def test_a_window_that_is_none_is_refused(given: dict[str, Any]) -> None:
    asked = {"rows": [0], "columns": [0], "row_axis": "a", "column_axis": "b", "at": {}} | given
    with pytest.raises(BadOption):
        window(table(1), asked.pop("rows"), asked.pop("columns"), **asked)
