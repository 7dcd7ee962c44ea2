"""Two runs side by side."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from diskret import Hierarchy, Promise, Status, Table, compare_suppressions, suppress
from diskret.cli import app
from diskret.model.errors import BadOption
from diskret.publication.working import save_working


def table(seed: int = 1) -> Table:
    rng = np.random.default_rng(seed)
    cells = {
        "nace": [n for n in "abcdef" for _ in "NESW"], "region": list("NESW") * 6,
        "x": rng.integers(100, 900, 24).astype(float),
        "st": ["primary" if i in (2, 9, 17) else "open" for i in range(24)],
    }  # fmt: skip
    nace = Hierarchy.from_parents({"a": "A", "b": "A", "c": "A", "d": "B", "e": "B", "f": "B", "A": "T", "B": "T"})
    return Table.from_cells(cells, by={"nace": nace, "region": None}, value="x", status="st")


def test_what_only_one_hides_is_what_the_other_shows() -> None:
    one = suppress(table(), Promise(levels=False, min_relative_range=0.2))
    two = suppress(table(), Promise(levels=False, min_relative_range=2.0))
    found = compare_suppressions(one, two)
    a, b = one.table.hidden.reshape(-1), two.table.hidden.reshape(-1)
    assert set(found.only_one) == set(np.flatnonzero(a & ~b))
    assert set(found.only_two) == set(np.flatnonzero(b & ~a))
    assert found.both + len(found.only_one) == found.one.hidden
    assert found.one.closest is not None
    assert found.one.audit == one.audit.summary() if one.audit else False


def test_the_share_counts_every_value_once() -> None:
    base = table()
    everything = replace(base, status=np.full(base.shape, np.uint8(Status.SECONDARY)))
    found = compare_suppressions(base, everything)
    assert found.two.share == pytest.approx(1.0)
    assert found.one.share == pytest.approx(sum(base.value[base.hidden]) / base.value[-1, -1])


def test_without_the_internal_view_neither_share_nor_closest_call_is_told() -> None:
    one = suppress(table(), Promise(levels=False, min_relative_range=0.2))
    found = compare_suppressions(one, table())
    said = json.dumps(found.plain()) + " ".join(found.words() + found.words("de")) + repr(found)
    assert "share" not in said
    assert "closest" not in said
    assert f"{found.one.share:.4g}" not in said
    assert "closest call" in " ".join(found.words(internal=True))


def test_other_data_are_noticed_and_other_tables_refused() -> None:
    assert compare_suppressions(table(1), table(2)).changed > 0
    small = Table.from_cells({"s": ["a"], "x": [1]}, by={"s": None}, value="x")
    with pytest.raises(BadOption, match="different tables"):
        compare_suppressions(table(), small)


def test_the_command_compares_working_files(tmp_path: Path) -> None:
    protected = suppress(table(), Promise(levels=False, min_relative_range=0.2)).table
    save_working({"x": table()}, tmp_path / "one.parquet")
    save_working({"x": protected}, tmp_path / "two.parquet")
    files = [str(tmp_path / "one.parquet"), str(tmp_path / "two.parquet")]
    said = CliRunner().invoke(app, ["compare-runs", *files, "--language", "de"])
    assert said.exit_code == 0
    assert "nur der zweite Lauf sperrt" in said.output
    found = json.loads(CliRunner().invoke(app, ["compare-runs", *files, "--attack", "--json"]).output)["x"]
    assert found["one"]["audit"]["exposed"] == 3
    assert found["two"]["audit"]["exposed"] == 0
    assert found["only two"] == int(protected.hidden.sum()) - 3


def test_the_command_writes_a_report_on_a_working_file(tmp_path: Path) -> None:
    protected = suppress(table(), Promise(levels=False, min_relative_range=0.2)).table
    save_working({"x": protected}, tmp_path / "two.parquet")
    asked = ["report", str(tmp_path / "two.parquet"), "--out", str(tmp_path / "r.html"), "--attack", "--title", "T"]
    assert CliRunner().invoke(app, asked).exit_code == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Nothing is exposed" in page
    values = [f">{v:.0f}<" for v in protected.value[protected.hidden]]
    assert not [v for v in values if v in page]
    assert "primary" not in page
    assert CliRunner().invoke(app, [*asked, "--internal"]).exit_code == 0
    assert "Internal: confidential" in (tmp_path / "r.html").read_text(encoding="utf-8")
