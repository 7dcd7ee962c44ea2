"""Bounds beside values: only where the rule allows them, in every format."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret import Hierarchy, Status, Table
from diskret.model.errors import BadOption, NotProtected
from tests.publication.leaving import publish


def square() -> Table:
    cells = {"s": list("aabbcc"), "t": list("uvuvuv"), "x": [13, 94, 21, 32, 0, 7]}
    by = {"s": Hierarchy.flat("abc"), "t": Hierarchy.flat("uv")}
    table = Table.from_cells(cells, by=by, value="x").with_status(Status.PRIMARY, [["a", "u"]])
    return table.with_status(Status.SECONDARY, [["a", "v"], ["b", "u"], ["b", "v"]])


def test_bounds_stand_beside_the_values(tmp_path: Path) -> None:
    publish(square(), tmp_path / "t.csv", intervals=True, zero="-")
    lines = (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()
    assert lines[:4] == ["s,t,x,x_lower,x_upper", "a,u,x,0,34", "a,v,x,73,107", "a,Total,107,107,107"]
    assert "c,u,-,0,0" in lines  # a bound of zero is a number, not "nothing"


def test_every_format_takes_bounds(tools: Any, ending: str, tmp_path: Path) -> None:
    table = square()
    publish(table, tmp_path / f"t{ending}", intervals=True)
    seen = tools.read(tmp_path / f"t{ending}", table)
    assert [seen[name, "a", "u"] for name in ("x", "x_lower", "x_upper")] == [None, 0.0, 34.0]
    assert [seen[name, "c", "v"] for name in ("x", "x_lower", "x_upper")] == [7.0, 7.0, 7.0]


def test_a_hidden_cell_without_interval_shows_the_mark(tmp_path: Path) -> None:
    cells = {"s": ["a", "b", "c"], "x": [5, 6, 7], "st": ["primary", "open", "open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    with pytest.warns(dk.ProtectionWarning, match="exposed whether intervals are published or not"):
        publish(table, tmp_path / "t.csv", intervals=True)
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[1] == "a,x,x,x"


def test_ends_finer_than_the_values_are_not_cut_off(tmp_path: Path) -> None:
    table = square()
    found = dk.publishable_intervals(table)
    finer = replace(found, upper=found.upper + 0.4)
    publish(table, tmp_path / "t.csv", intervals=finer)
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").splitlines()[1] == "a,u,x,0,34.4"


def test_intervals_that_do_not_keep_the_range_stay_inside(tmp_path: Path) -> None:
    table = square()
    with pytest.warns(dk.ProtectionWarning, match="protect the table first"):
        wide = dk.publishable_intervals(table, dk.Promise(levels=False, min_relative_range=10.0))
    assert wide.count == 0  # the table itself does not keep that range
    publish(table, tmp_path / "t.csv", intervals=wide)
    other = table.with_status(Status.SECONDARY, [["c", "v"]])
    with pytest.raises(BadOption, match="not those of 'x'"):
        publish(other, tmp_path / "u.csv", intervals=wide)
    assert not (tmp_path / "u.csv").exists()
    last_year = replace(table, value=table.value + np.where(table.hidden, 0, 1))
    with pytest.raises(BadOption, match="not those of 'x'"):
        publish(last_year, tmp_path / "u.csv", intervals=wide)
    assert np.isnan(wide.lower[table.index("c", "v")])


def test_printed_intervals_are_not_published_unless_somebody_says_so(tmp_path: Path) -> None:
    cells = {"s": list("abcd"), "x": [50, 40, 10, 1], "st": ["secondary", "secondary", "primary", "open"]}
    three = dk.audit(Table.from_cells(cells, by={"s": None}, value="x", status="st"))
    with pytest.warns(dk.ProtectionWarning, match="made from hidden values"):
        printed = dk.printed_intervals(three.table)
    for given in (printed, {"x": printed}):
        with pytest.raises(NotProtected, match="hidden values can be computed from them"):
            dk.publish(three, tmp_path / "t.json", intervals=given)
    assert not (tmp_path / "t.json").exists()
    dk.publish(three, tmp_path / "t.json", intervals=printed, unprotected=True)
    assert "can be computed from the intervals" in (tmp_path / "t.json").read_text(encoding="utf-8")
    assert not dk.publishable_intervals(three.table).printed


def test_printed_intervals_of_a_pool_stay_printed_table_by_table() -> None:
    pool = dk.Pool.of({"one": square(), "two": square()})
    with pytest.warns(dk.ProtectionWarning, match="made from hidden values"):
        assert all(found.printed for found in dk.printed_intervals(pool).split().values())
