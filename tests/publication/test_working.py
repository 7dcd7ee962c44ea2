"""Working files give back exactly what was saved."""

from __future__ import annotations

import tempfile
from dataclasses import fields, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption, ProtectionWarning, UnreadableFile
from diskret.model.hierarchy import Hierarchy
from diskret.model.rule import Verdict
from diskret.model.table import Table
from diskret.publication import working
from diskret.publication.working import load_working, save_working
from diskret.rules.frequency import OneCategory, SmallCells, SmallMargin
from diskret.rules.further import Given, Request, ZeroCells
from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent
from diskret.rules.rule import Joinable
from diskret.rules.stored import KINDS
from tests.publication.leaving import publish


def same(one: object, two: object) -> bool:
    """Equal to the last bit, arrays and all."""
    if isinstance(one, np.ndarray):
        return (
            isinstance(two, np.ndarray)
            and one.dtype == two.dtype
            and one.shape == two.shape
            and one.tobytes() == two.tobytes()
        )
    if isinstance(one, Table | Contributors):
        return type(one) is type(two) and all(same(getattr(one, f.name), getattr(two, f.name)) for f in fields(one))
    return type(one) is type(two) and one == two


def test_every_field_of_a_table_is_saved() -> None:
    """A new field of Table must find its way into the working file."""
    assert {f.name for f in fields(Table)} == {"by", "judges", *working.ARRAYS, *working.SCALARS, *working.LEVELS}


def test_the_rules_a_table_was_marked_by_come_back(tools: Any, tmp_path: Path) -> None:
    rules = (
        MinCount(3, margin=Decimal("12.50")), Dominance(2, Fraction(250, 3)), PPercent("10", counted_by="holding"),
        PQ(5, 50.5), SmallCells(3, margins=True), SmallMargin(2, ("region",)), OneCategory(),
            ZeroCells(Decimal("0.5")), Given(20), Request((Fraction(1, 3), 50), 3),
    )  # fmt: skip
    table = replace(tools.example(), judges=rules)
    save_working(table, tmp_path / "w.parquet")
    assert same(load_working(tmp_path / "w.parquet")["turnover"], table)
    assert {type(rule) for rule in rules} == set(KINDS.values())


def test_a_file_of_before_there_were_judges_still_loads(tools: Any, tmp_path: Path) -> None:
    """It is the file of a table without judges, to the last byte."""
    marked = replace(tools.example(), judges=(MinCount(3),))
    save_working(tools.example(), tmp_path / "old.parquet")
    save_working(replace(marked, judges=()), tmp_path / "none.parquet")
    assert b"judges" not in (tmp_path / "old.parquet").read_bytes()
    assert (tmp_path / "old.parquet").read_bytes() == (tmp_path / "none.parquet").read_bytes()
    assert load_working(tmp_path / "old.parquet")["turnover"].judges == ()


def test_a_rule_of_the_users_own_is_not_lost_in_silence(tools: Any, tmp_path: Path) -> None:
    class Mine(Joinable):
        name = "my rule"

        def judge(self, table: Table) -> Verdict:
            return Verdict(primary=table.value > 1)

    with pytest.warns(ProtectionWarning, match="not saved: 'my rule'"):
        save_working(replace(tools.example(), judges=(Mine(), MinCount(3))), tmp_path / "w.parquet")
    assert load_working(tmp_path / "w.parquet")["turnover"].judges == (MinCount(3),)


def test_all_arrays_come_back(tools: Any, tmp_path: Path) -> None:
    table = tools.example(decimals=None)
    shape = table.shape
    holdings = Contributors(
        table.count + 1, np.arange(180.0).reshape(*shape, 3), protected_count=table.count,
        protected_largest=np.full(shape, 0.1), public_count=table.count * 0, public_value=np.full(shape, 1e200),
    )  # fmt: skip
    table = replace(table, holdings=holdings, frequency=True, positive=True, weighted=True, additive_counts=False)
    save_working(table, tmp_path / "w.parquet")
    assert same(load_working(tmp_path / "w.parquet")["turnover"], table)


@settings(max_examples=40, deadline=None)
@given(
    hnp.arrays(np.float64, (3, 2), elements=st.floats(-1e200, 1e200)),
    hnp.arrays(np.float64, (3, 2), elements=st.floats(-1e200, 1e200) | st.sampled_from([-np.inf, np.inf])),
    hnp.arrays(np.uint32, (3, 2)),
)
def test_floats_come_back_bit_for_bit(values: Any, lower: Any, bits: Any) -> None:
    by = {"a": Hierarchy.flat(["1", "2"]), "b": Hierarchy.flat(['it\'s "ü" 日本'])}
    table = Table(
        by, "x", values, np.zeros((3, 2), dtype=np.uint8), rules=("r'1",), rule=bits, lower=lower.T.copy().T,
        decimals=None, altered="perturbed",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        save_working(table, Path(folder) / "w.parquet")
        assert same(load_working(Path(folder) / "w.parquet")["x"], table)


def test_several_tables_share_what_they_shared(tools: Any, tmp_path: Path) -> None:
    first = tools.example()
    second = replace(first, response="wages", value=first.value * 2)
    save_working({"A": first, "a": second}, tmp_path / "w.parquet")
    loaded = load_working(tmp_path / "w.parquet")
    assert list(loaded) == ["A", "a"]
    assert same(loaded["A"], first)
    assert same(loaded["a"], second)
    assert loaded["A"].status is loaded["a"].status
    columns = duckdb.connect().execute(f"DESCRIBE SELECT * FROM read_parquet('{tmp_path / 'w.parquet'}')").fetchall()
    assert len([c for c in columns if "status" in c[0]]) == 1


def test_a_table_without_anything_optional(tmp_path: Path) -> None:
    table = Table({"a": Hierarchy.flat([])}, "x", np.array([-0.0]), np.array([1], dtype=np.uint8))
    save_working(table, tmp_path / "w [1].parquet")
    assert same(load_working(tmp_path / "w [1].parquet")["x"], table)


def test_an_array_without_contributions(tmp_path: Path) -> None:
    people = Contributors(np.array([1]), np.empty((1, 0)))
    table = Table({"a": Hierarchy.flat([])}, "x", np.array([2.0]), np.array([1], dtype=np.uint8), people)
    save_working(table, tmp_path / "w.parquet")
    assert same(load_working(tmp_path / "w.parquet")["x"], table)


def test_something_else_is_refused_with_a_hint(tools: Any, tmp_path: Path) -> None:
    publish(tools.example(), tmp_path / "published.parquet")
    (tmp_path / "text.parquet").write_text("no parquet")
    (tmp_path / "empty.parquet").write_bytes(b"")
    save_working(tools.example(), tmp_path / "cut.parquet")
    whole = (tmp_path / "cut.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    for name in ("published", "text", "empty", "cut", "missing"):
        with pytest.raises(UnreadableFile) as caught:
            load_working(tmp_path / f"{name}.parquet")
        assert caught.value.hint
    with pytest.raises(UnreadableFile, match="not a working file"):
        load_working(tmp_path / "published.parquet")


def test_another_version_and_lost_rows_are_refused(tools: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(working, "VERSION", 99)
    save_working(tools.example(), tmp_path / "new.parquet")
    monkeypatch.undo()
    with pytest.raises(UnreadableFile, match="version 99"):
        load_working(tmp_path / "new.parquet")
    save_working(tools.example(), tmp_path / "w.parquet")
    connection = duckdb.connect()
    value = connection.execute(f"SELECT value FROM parquet_kv_metadata('{tmp_path / 'w.parquet'}')").fetchall()[0][0]
    text = bytes(value).decode().replace("'", "''")
    connection.execute(
        f"COPY (SELECT * FROM read_parquet('{tmp_path / 'w.parquet'}') LIMIT 3) TO '{tmp_path / 'short.parquet'}' "
        f"(FORMAT parquet, KV_METADATA {{{working.KEY}: '{text}'}})"
    )
    with pytest.raises(UnreadableFile, match="lost columns or rows"):
        load_working(tmp_path / "short.parquet")


def test_tables_of_different_classifications_are_refused(tools: Any, tmp_path: Path) -> None:
    other = Table({"a": Hierarchy.flat([])}, "x", np.array([2.0]), np.array([1], dtype=np.uint8))
    with pytest.raises(BadOption):
        save_working({"a": tools.example(), "b": other}, tmp_path / "w.parquet")
