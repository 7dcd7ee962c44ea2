"""No table leaves that nobody marked or that nothing protects, unless somebody says so; and then the file says it."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyreadstat
import pytest

import diskret as dk
from diskret.model.errors import BadOption, NotProtected
from diskret.publication.publish import WRITERS, publish
from diskret.publication.working import load_working, save_working
from tests.publication.leaving import SDMX

CELLS = {"s": ["a", "b", "c", "d"], "x": [10, 20, 30, 40], "n": [1, 5, 5, 5]}
NOTE = "not protected: suppressed values may be computed back from sums"


def plain(**columns: Any) -> dk.Table:
    return dk.Table.from_cells(CELLS, by={"s": None}, value="x", count="n", **columns)


def marked() -> dk.Table:
    return dk.mark(plain(), dk.rules.MinCount(3))


def refused(given: Any, folder: Path, match: str) -> None:
    with pytest.raises(NotProtected, match=match):
        dk.publish(given, folder / "t.csv")
    assert not (folder / "t.csv").exists()


def leaves(given: Any, folder: Path) -> None:
    dk.publish(given, folder / "t.json")
    assert "not protected" not in (folder / "t.json").read_text(encoding="utf-8")


# --- refused ---------------------------------------------------------------------------------------------------------


def test_a_table_nobody_marked_does_not_leave(tmp_path: Path) -> None:
    refused(plain(), tmp_path, "never marked")
    refused(dk.suppress(plain()), tmp_path, "never marked")
    refused(dk.audit(plain()), tmp_path, "never marked")


def test_a_marked_table_without_secondary_suppression_does_not_leave(tmp_path: Path) -> None:
    refused(marked(), tmp_path, "has a primary cell")
    refused({"y": marked()}, tmp_path, "'y' has a primary cell")
    refused(dk.audit(marked()), tmp_path, "1 of its cells or lines is exposed")


def test_one_unprotected_table_among_others_does_not_leave(tmp_path: Path) -> None:
    done = dk.suppress(marked())
    refused({"x": done, "y": replace(marked(), response="y")}, tmp_path, "'y' has a primary cell")


def test_a_result_with_exposed_cells_does_not_leave_and_says_how_many(tmp_path: Path) -> None:
    alone = marked().with_status(dk.Status.NEVER, [["b"], ["c"], ["d"], ["Total"]])
    with pytest.warns(dk.ProtectionWarning):
        done = dk.suppress(alone)
    refused(done, tmp_path, "1 of its cells or lines is exposed")
    refused(done.table, tmp_path, "has a primary cell")


@pytest.mark.parametrize(
    "change",
    [
        lambda t: t.with_status(dk.Status.OPEN, [["b"]]),
        lambda t: t.with_status(dk.Status.PRIMARY, [["d"]]),
        lambda t: replace(t, value=t.value * 2),
        lambda t: replace(t, above=np.full(t.shape, 30.0)),
        lambda t: dk.mark(t, dk.rules.MinCount(6)),
        lambda t: dk.mark(t, dk.rules.MinCount(3)),
        lambda t: t.with_status(dk.Status.OPEN, [["a"]]),
        lambda t: t.with_status(dk.Status.PUBLISHED, [["a"]]),
        lambda t: t.with_status(dk.Status.SECONDARY, [["a"]]),
        lambda t: replace(t, status=np.zeros_like(t.status)),
        lambda t: replace(t, lower=t.value - 1),
        lambda t: replace(t, upper=t.value + 1),
        lambda t: replace(t, positive=not t.positive),
        lambda t: replace(t, by={"s": dk.Hierarchy.flat("bacd")}),
    ],
)
def test_what_is_changed_after_it_was_protected_does_not_leave(
    change: Callable[[dk.Table], dk.Table], tmp_path: Path
) -> None:
    done = dk.suppress(marked()).table
    assert done.hidden.sum() == 2
    leaves(done, tmp_path)
    refused(change(done), tmp_path, "nothing shows that it is protected")


@pytest.mark.parametrize("status", [dk.Status.OPEN, dk.Status.PUBLISHED, dk.Status.NEVER, dk.Status.SECONDARY])
def test_a_cell_that_a_rule_caught_is_not_opened_by_hand(status: dk.Status, tmp_path: Path) -> None:
    refused(marked().with_status(status, [["a"]]), tmp_path, "nothing shows that it is protected")


def test_true_values_do_not_leave_as_changed_ones(tmp_path: Path) -> None:
    done = dk.perturb(marked(), seed=1)
    refused(replace(done.table, value=marked().value), tmp_path, "changed since")
    refused(replace(done.table, value=marked().value, seal=""), tmp_path, "changed since")
    people = {"s": list("aab"), "key": [0.11, 0.92, 0.4]}
    counts = dk.tabulate(people, by={"s": None}, roles=dk.Roles(key="key"))
    noise = dk.cellkey.perturb_by_key(counts, dk.cellkey.design_p_table(deviation=2, variance=1))
    leaves(noise, tmp_path)
    refused(replace(noise.table, value=counts.value), tmp_path, "changed since")


def test_contributions_that_cannot_be_protected_do_not_leave(tmp_path: Path) -> None:
    firms = {"s": ["a", "b", "c"], "x": [1000, 900, 800], "n": [3, 9, 9], "x1": [950, 300, 250], "x2": [40, 200, 200]}
    table = dk.Table.from_cells(firms, by={"s": None}, value="x", count="n", largest=["x1", "x2"])
    kept = table.with_status(dk.Status.NEVER, [["a"], ["b"], ["c"], ["Total"]])
    leaves(dk.suppress_contributions(table, min_relative_range=0.1, relative_error=0.5), tmp_path)
    with pytest.warns(dk.ProtectionWarning):
        done = dk.suppress_contributions(kept, min_relative_range=0.1, relative_error=0.5)
    assert done.extended.exposed
    refused(done, tmp_path, "exposed")


def test_no_attack_vouches_for_what_was_opened_or_put_back(tmp_path: Path) -> None:
    opened = marked().with_status(dk.Status.OPEN, [["a"]])
    raw = replace(dk.perturb(marked(), seed=1).table, value=marked().value)
    for table in (opened, raw):
        refused(dk.audit(table), tmp_path, "changed since")
        refused(dk.suppress(table), tmp_path, "changed since")


def test_a_seal_of_a_weaker_promise_does_not_cover_a_result_that_is_exposed(tmp_path: Path) -> None:
    weak = dk.audit(marked().with_status(dk.Status.SECONDARY, [["b"]]), dk.Promise(levels=False))
    assert weak.safe
    strong = dk.audit(weak.table.sealed(), dk.Promise(min_relative_range=50.0))
    assert not strong.safe
    refused(strong, tmp_path, "exposed")


def test_a_foreign_pattern_needs_an_attack(tmp_path: Path) -> None:
    status = ["primary", "secondary", "open", "open"]
    table = dk.Table.from_cells(CELLS | {"st": status}, by={"s": None}, value="x", status="st")
    refused(table, tmp_path, "has a primary cell")
    leaves(dk.audit(table), tmp_path)
    assert np.array_equal(dk.suppress(table).table.status, table.status)
    leaves(dk.suppress(table), tmp_path)


@pytest.mark.parametrize("word", ["no", "yes", 1, None])
def test_that_a_table_is_not_protected_is_said_by_true_and_nothing_else(word: Any, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="neither true nor false"):
        dk.publish(marked(), tmp_path / "t.csv", unprotected=word)
    assert not (tmp_path / "t.csv").exists()


@pytest.mark.parametrize("nothing", [None, "table", {"x": None}, 3])
def test_what_is_no_table_is_not_published(nothing: Any, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="is not a table to publish"):
        dk.publish(nothing, tmp_path / "t.csv")


def test_the_cure_names_the_attack_for_what_was_protected_elsewhere(tmp_path: Path) -> None:
    with pytest.raises(NotProtected, match=r"publish\(audit\(table\), ...\)"):
        dk.publish(marked(), tmp_path / "t.csv")


# --- leaves ----------------------------------------------------------------------------------------------------------


def test_what_was_protected_leaves_as_a_result_or_as_a_table(tmp_path: Path) -> None:
    done = dk.suppress(marked())
    leaves(done, tmp_path)
    leaves(done.table, tmp_path)
    leaves({"x": done}, tmp_path)
    leaves(dk.audit(done.table), tmp_path)
    leaves(dk.thin(done.table), tmp_path)
    printed = dk.suppress(marked(), dk.Promise(levels=False, unions=False), dk.methods.Cuboids())
    leaves(printed, tmp_path)


def test_a_marked_table_with_nothing_primary_leaves(tmp_path: Path) -> None:
    leaves(dk.mark(plain(), dk.rules.MinCount(1)), tmp_path)
    leaves(plain().with_status(dk.Status.PUBLISHED, [["a"]]), tmp_path)


def test_changed_values_leave(tmp_path: Path) -> None:
    by = {"r": None, "s": None}
    records = {"r": list("ab") * 30, "s": list("uuvvw") * 12, "x": list(range(1, 61))}
    table = dk.mark(dk.tabulate(records, by=by, value="x"), dk.rules.SmallCells(6))
    leaves(dk.perturb(table, seed=1), tmp_path)
    leaves(dk.perturb(table, seed=1).table, tmp_path)
    leaves(dk.round_table(dk.tabulate(records, by=by), base=5), tmp_path)
    keys = dk.cellkey.draw_keys(60, seed=1)
    counts = dk.tabulate(records | {"key": keys}, by=by, roles=dk.Roles(key="key"))
    leaves(dk.cellkey.perturb_by_key(counts, dk.cellkey.design_p_table(deviation=3, variance=1)), tmp_path)


def test_linked_tables_leave_when_the_pool_is_protected(tmp_path: Path) -> None:
    pool = dk.Pool.of({"one": marked(), "two": plain()})
    for table in pool.split().values():
        refused(table, tmp_path, "has a primary cell")
    done = dk.suppress(pool)
    for table in done.table.split().values():
        assert table.hidden.sum() == 2
        leaves(table, tmp_path)


def test_responses_protected_jointly_leave_one_by_one(tmp_path: Path) -> None:
    one, two = marked(), replace(marked(), response="y")
    whole = replace(plain(), response="z", value=one.value + two.value)
    joint = dk.suppress(dk.jointly({"x": one, "y": two}, whole)).table
    for table in dk.apart(joint).values():
        leaves(table, tmp_path)


def test_the_next_period_leaves_with_last_periods_pattern(tmp_path: Path) -> None:
    last = dk.suppress(marked()).table
    leaves(dk.suppress(marked(), previous=last), tmp_path)


def test_a_working_file_remembers_that_its_table_was_protected(tmp_path: Path) -> None:
    for name, table in (("done", dk.suppress(marked()).table), ("marked", marked())):
        save_working(table, tmp_path / f"{name}.parquet")
    leaves(load_working(tmp_path / "done.parquet"), tmp_path)
    refused(load_working(tmp_path / "marked.parquet"), tmp_path, "has a primary cell")


def test_a_protected_table_whose_intervals_are_known_leaves(tmp_path: Path) -> None:
    done = dk.suppress(marked()).table
    leaves(dk.publishable_intervals(done).known(), tmp_path)
    with pytest.warns(dk.ProtectionWarning, match="made from hidden values"):
        printed = dk.printed_intervals(done)
    refused(printed.known(), tmp_path, "nothing shows that it is protected")


def test_an_anonymous_file_is_published_as_records(tmp_path: Path) -> None:
    persons = {"sex": list("mw") * 20, "age": ["young", "old", "old", "old"] * 10}
    done = dk.anonymise(persons, {"sex": None, "age": None}, k=3, seed=1)
    dk.publish(done, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()[0] == "sex,age"
    with pytest.raises(BadOption, match="of an anonymous file"):
        dk.publish(done, tmp_path / "b.csv", mark=".")


# --- unprotected, and said -------------------------------------------------------------------------------------------


def said(path: Path) -> str:
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            return "".join(book.read(n).decode() for n in book.namelist() if n.endswith(".xml"))
    if path.suffix == ".parquet":
        found = duckdb.execute(f"SELECT value FROM parquet_kv_metadata('{path}') WHERE key = 'note'").fetchall()
        return "".join(bytes(value).decode() for (value,) in found)
    if path.suffix == ".arrow":
        return (
            pa.ipc.open_stream(path).schema.metadata.get(b"note", b"").decode() if b"note" in path.read_bytes() else ""
        )
    if path.suffix in (".dta", ".sav", ".xpt"):
        read = {".dta": pyreadstat.read_dta, ".sav": pyreadstat.read_sav, ".xpt": pyreadstat.read_xport}[path.suffix]
        about = read(path, metadataonly=True)[1]
        return " ".join([about.file_label or "", *(label or "" for label in about.column_labels)])
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", [e for e in WRITERS if e != ".csv"])
def test_a_file_says_that_its_table_is_not_protected(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{ending}"
    publish(marked(), path, unprotected=True, sdmx=SDMX)
    assert NOTE in said(path)
    publish(marked(), path, unprotected=True, language="de", sdmx=SDMX)
    assert "nicht geschützt: gesperrte Werte" in said(path)
    publish(plain(), path, unprotected=True, sdmx=SDMX)
    assert "not protected: no rule of confidentiality was applied" in said(path)
    publish(dk.suppress(marked()), path, unprotected=True, sdmx=SDMX)
    assert "not protected" not in said(path)


def test_being_told_does_not_change_a_protected_file(tmp_path: Path) -> None:
    for ending in WRITERS:
        one, two = tmp_path / f"one{ending}", tmp_path / f"two{ending}"
        publish(dk.suppress(marked()), one, sdmx=SDMX)
        publish(dk.suppress(marked()), two, unprotected=True, sdmx=SDMX)
        assert one.read_bytes() == two.read_bytes()


def test_json_keeps_the_legend_beside_the_note(tmp_path: Path) -> None:
    publish(marked(), tmp_path / "t.json", unprotected=True)
    assert json.loads((tmp_path / "t.json").read_text())["note"] == [NOTE, "x = suppressed for confidentiality"]
