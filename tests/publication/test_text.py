"""The table in the terminal."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
from rich.console import Console

from diskret.model.hierarchy import Hierarchy
from diskret.model.table import Table
from diskret.publication.text import show, table_text


def small() -> Table:
    return Table.from_cells(
        {"nace": [*"BBCC"], "sex": [*"mwmw"], "x": [1.5, 2, 3, 4], "st": ["primary", *["secondary"] * 3]},
        by={"nace": None, "sex": None}, value="x", status="st",
    )  # fmt: skip


def test_suppressed_cells_show_the_mark_only() -> None:
    assert table_text(small()).splitlines() == [
        "x by nace, sex",
        "nace \\ sex     m     w   Total",
        "──────────────────────────────",
        "B              x     x     3.5",
        "C              x     x     7.0",
        "Total        4.5   6.0    10.5",
        "x = suppressed for confidentiality",
    ]


def test_the_internal_view_says_that_it_is_internal() -> None:
    text = table_text(small(), internal=True)
    assert "1.5 P" in text
    assert "2.0 S" in text
    assert "not for publication" in text


def test_a_big_table_is_cut_politely_and_keeps_its_totals() -> None:
    by = {"a": Hierarchy.flat([f"a{i}" for i in range(100)]), "b": Hierarchy.flat([f"b{i}" for i in range(50)])}
    table = Table(by, "x", np.arange(101 * 51, dtype=float).reshape(101, 51), np.zeros((101, 51), dtype=np.uint8))
    lines = table_text(table, rows=5, columns=4).splitlines()
    assert lines[1].split() == ["a", "\\", "b", "b0", "b1", "b2", "…", "Total"]
    assert [line.split()[0] for line in lines[3:9]] == ["a0", "a1", "a2", "a3", "…", "Total"]
    assert lines[-1] == "left out: 96 rows and 47 columns"
    assert lines[8].split()[-1] == "5150"
    assert table_text(table, rows=0, columns=0).splitlines()[-1] == "left out: 100 rows and 50 columns"


def test_sums_are_bold_and_markup_in_codes_is_no_markup() -> None:
    table = Table.from_cells({"n": ["[red]", "b"], "x": [1, 2]}, by={"n": None}, value="x")
    out = StringIO()
    Console(file=out, width=60, force_terminal=True, color_system="standard").print(show(table))
    assert "[red]" in out.getvalue()
    assert "\x1b[1m" in next(line for line in out.getvalue().splitlines() if "Total" in line)
    assert "\x1b[1m" not in next(line for line in out.getvalue().splitlines() if line.startswith("b"))


def test_three_classifications_and_one_cell(tools: Any) -> None:
    assert table_text(tools.example(), rows=3).splitlines()[1].split()[:4] == ["sex", "nace", "\\", "region"]
    one = Table({"a": Hierarchy.flat([])}, "x", np.array([5.0]), np.array([1], dtype=np.uint8))
    assert "5" not in table_text(one)
    assert "5" in table_text(replace(one, status=np.array([0], dtype=np.uint8)))
