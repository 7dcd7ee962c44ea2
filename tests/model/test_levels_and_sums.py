"""Lists of cells with protection levels, with contributions and no counts, with sums that are not true."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.model.cell_columns import GivenSums
from diskret.model.errors import BadOption, NegativeValue, ProtectionWarning, WrongSum
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.persons import alone_in
from diskret.publication.working import load_working, save_working

CELLS: dict[str, list[Any]] = {
    "s": ["a", "b", "c", "d"],
    "x": [10, 20, 30, 40],
    "x1": [10, 12, 11, 10],
    "x2": [0, 8, 10, 10],
}


def ranked(**more: Any) -> Table:
    return Table.from_cells(CELLS | more, by={"s": None}, value="x", largest=["x1", "x2"])


# --- protection levels -----------------------------------------------------------------------------------------------


def levels(below: list[Any], **columns: Any) -> Table:
    cells = {"s": ["a", "b", "c"], "x": [10, 20, 30], "low": below, "high": [2, 3, 4], "st": ["primary", "open", ""]}
    return Table.from_cells(cells, by={"s": None}, value="x", below="low", above="high", **columns)


def test_levels_count_for_primary_cells() -> None:
    table = levels(["1", "", "7"], status="st")
    assert table.below is not None
    assert table.above is not None
    assert (table.below.tolist(), table.above.tolist()) == ([1, 0, 0, 0], [2, 0, 0, 0])


def test_levels_without_statuses_count_for_whatever_becomes_primary() -> None:
    table = levels([1, 5, 7])
    assert table.below is not None
    assert table.below.tolist() == [1, 5, 7, 0]


def test_a_primary_cell_without_a_level_is_named() -> None:
    with pytest.warns(ProtectionWarning, match="1 primary cells have no level in 'low'.*'s=a'"):
        table = levels([None, 1, 1], status="st")
    assert table.below is not None
    assert table.below[0] == 0


def test_negative_levels_are_refused_where_they_count() -> None:
    with pytest.raises(NegativeValue, match="negative levels"):
        levels([-1, 1, 1], status="st")
    assert levels([1, -1, 1], status="st").below is not None


def test_what_is_not_known_beforehand_has_no_end() -> None:
    cells = {"s": ["a", "b"], "x": [10, 20], "low": ["", "5"], "high": ["12", ""]}
    table = Table.from_cells(cells, by={"s": None}, value="x", lower="low", upper="high")
    assert table.lower is not None
    assert table.upper is not None
    assert (table.lower.tolist(), table.upper.tolist()) == ([-np.inf, 5, -np.inf], [12, np.inf, np.inf])


def test_a_job_reads_levels_from_any_list(tmp_path: Path) -> None:
    (tmp_path / "cells.csv").write_text("s,x,st,low,high\na,10,primary,4,4\nb,20,open,,\nc,30,open,,\nd,5,open,,\n")
    (tmp_path / "job.toml").write_text(
        '[data]\ncells = "cells.csv"\n[table]\nby = ["s"]\nvalue = "x"\nstatus = "st"\nbelow = "low"\nabove = "high"\n'
        '[suppression]\n[output]\nworking = "work.parquet"\n'
    )
    run_job(read_job(tmp_path / "job.toml"), tmp_path)
    table = load_working(tmp_path / "work.parquet")["x"]
    assert table.below is not None
    assert table.below.tolist() == [4, 0, 0, 0, 0]
    # d could carry 5, and does
    assert Status(table.status[3]) == Status.SECONDARY


# --- contributions without counts ------------------------------------------------------------------------------------


def test_dominance_and_p_percent_need_no_counts() -> None:
    counted = Table.from_cells(CELLS | {"n": [1, 2, 5, 9]}, by={"s": None}, value="x", largest=["x1", "x2"], count="n")
    rules = dk.PPercent(10) | dk.Dominance(2, 85)
    with_counts, without = dk.mark(counted, rules), dk.mark(ranked(), rules)
    assert without.status.tolist() == with_counts.status.tolist() == [1, 1, 0, 0, 0]
    assert without.above is not None
    assert with_counts.above is not None
    assert without.above.tolist() == with_counts.above.tolist()


@pytest.mark.parametrize("rule", [dk.MinCount(3), dk.MinCount(3) | dk.PPercent(10), dk.SmallCells(3)])
def test_what_needs_counts_says_that_they_are_missing(rule: Any) -> None:
    with pytest.raises(BadOption, match=r"number of contributors per cell|counts of units"):
        dk.mark(ranked(), rule)
    with pytest.raises(BadOption, match="no contributor counts"):
        _ = ranked().count
    assert "count" not in ranked().columns()


def test_whoever_contributes_all_of_a_cell_is_alone_in_it() -> None:
    assert alone_in(ranked()).tolist() == [True, False, False, False, False]
    assert "whoever contributes all of a cell is assumed to be alone" in dk.Promise().assumed(ranked())


def test_patterns_are_safe_against_single_contributors_who_were_not_counted() -> None:
    table = dk.mark(ranked(), dk.PPercent(10))
    result = dk.suppress(table)
    assert dk.audit(result.table, dk.Promise()).safe
    hidden = result.table.hidden.reshape(-1)
    # a alone could subtract itself: its only partner must not be b
    assert hidden[:2].all()
    assert hidden[:4].sum() > 2


def test_sums_without_contributions_of_their_own_get_those_of_their_parts() -> None:
    table = Table.from_cells(
        {"s": ["a", "b", "Total"], "x": [10, 20, 30], "x1": [9, 12, 0]}, by={"s": None}, value="x", largest=["x1"]
    )
    assert table.largest is not None
    assert table.largest[:, 0].tolist() == [9, 12, 12]


def test_cells_with_a_value_and_no_contribution_are_named() -> None:
    with pytest.warns(ProtectionWarning, match="1 cells of 'x' have a value and no largest contribution.*'s=a'"):
        ranked(x1=[0, 12, 11, 10])


def test_whoever_contributes_nothing_to_the_shadow_may_be_alone_all_the_same() -> None:
    cells = {
        "s": [*"abcd"],
        "x": [10, 20, 70, 900],
        "y": [0, 20, 70, 900],
        "y1": [0, 19, 20, 100],
        "y2": [0, 1, 20, 99],
    }
    table = Table.from_cells(cells, by={"s": None}, value="x", largest=["y1", "y2"], shadow="y")
    assert alone_in(table).tolist() == [True, False, False, False, False]


def test_levels_of_a_list_outlive_a_second_marking() -> None:
    cells = {
        "s": [*"abc"], "x": [95, 80, 60], "x1": [90, 30, 50], "x2": [4, 20, 10], "below": [30, 20, 20],
        "above": [30, 20, 20],
    }  # fmt: skip
    table = Table.from_cells(cells, by="s", value="x", largest=["x1", "x2"], below="below", above="above")
    once = dk.mark(table, dk.rules.PPercent(10))
    again = dk.mark(once, dk.rules.PPercent(12))
    assert once.above is not None
    assert once.above.tolist() == [30, 20, 20, 0]
    assert again.above is not None
    assert again.above.tolist() == [30, 20, 20, 0]


def test_a_larger_margin_of_cells_set_by_hand_counts_on_a_second_marking() -> None:
    cells = {"s": ["a", "b"], "x": [50, 60], "status": ["primary", ""]}
    table = Table.from_cells(cells, by="s", value="x", status="status")
    marked = dk.mark(dk.mark(table, dk.rules.Given(20)), dk.rules.Given(50))
    assert marked.above is not None
    assert marked.above.tolist() == [25, 0, 0]


def test_a_working_file_remembers_that_nobody_was_counted(tmp_path: Path) -> None:
    save_working(ranked(), tmp_path / "w.parquet")
    assert not load_working(tmp_path / "w.parquet")["x"].counted


def test_rules_judge_contributions_to_a_shadow_and_ask_the_same_share_of_the_value() -> None:
    cells = {"s": ["a", "b"], "x": [10, 20], "staff": [100, 100], "x1": [95, 20], "x2": [4, 20]}
    table = Table.from_cells(cells, by={"s": None}, value="x", largest=["x1", "x2"], shadow="staff")
    marked = dk.mark(table, dk.PPercent(10))
    assert marked.status.tolist() == [1, 0, 0]
    assert marked.above is not None
    assert marked.above[0] == pytest.approx((9.5 - 1) / 10, abs=1e-3)
    assert table.largest is None
    assert alone_in(table).tolist() == [False, False, False]


def test_a_shadow_that_is_the_value_is_none() -> None:
    table = Table.from_cells(CELLS | {"y": CELLS["x"]}, by={"s": None}, value="x", largest=["x1"], shadow="y")
    assert table.largest is not None
    assert table.respondents is not None
    assert table.respondents.shadow_absolute is None
    with pytest.raises(BadOption, match="a shadow without largest"):
        Table.from_cells(CELLS, by={"s": None}, value="x", shadow="x1")


# --- sums that are not true ------------------------------------------------------------------------------------------

OFF = {"s": ["a", "b", "c", "Total"], "x": [10, 20, 30, 61], "st": ["primary", "secondary", "open", "open"]}


def kept(**more: Any) -> Table:
    with pytest.warns(ProtectionWarning, match="1 sums of 'x' are not the sums of their parts.*'s=Total'"):
        return Table.from_cells(OFF | more, by={"s": None}, value="x", status="st", sums="keep")


def test_sums_that_are_not_true_are_refused_unless_they_are_to_be_kept() -> None:
    with pytest.raises(WrongSum):
        Table.from_cells(OFF, by={"s": None}, value="x")
    with pytest.raises(BadOption, match="sums is 'keeping'"):
        Table.from_cells(OFF, by={"s": None}, value="x", sums="keeping")
    assert kept().value[-1] == 60


def test_kept_sums_are_published_as_they_were_given_and_nothing_else_is(tmp_path: Path) -> None:
    table = dk.suppress(kept()).table
    dk.publish(table, tmp_path / "t.csv")
    rows = [line.split(",") for line in (tmp_path / "t.csv").read_text().splitlines()]
    assert [row[1] for row in rows[1:5]] == ["x", "x", "30", "61"]
    assert table.shown()["x"].tolist()[2:] == [30, 61]
    save_working(table, tmp_path / "w.parquet")
    assert load_working(tmp_path / "w.parquet")["x"].published_value.tolist() == [10, 20, 30, 61]


def test_changed_values_are_published_changed_whatever_was_given() -> None:
    rounded = dk.round_table(kept(), base=5).table
    assert rounded.published_value.tolist() == rounded.value.tolist()


def test_kept_sums_go_along_where_a_classification_is_closed() -> None:
    tree = dk.Hierarchy.from_nested({"Total": {"A": ["a", "b"], "C": ["c"]}})
    cells = {"s": ["a", "b", "c", "A", "Total"], "x": [10, 20, 30, 31, 61]}
    with pytest.warns(ProtectionWarning, match="2 sums"):
        table = Table.from_cells(cells, by={"s": tree}, value="x", sums="keep")
    closed = dk.closed(table, {"s": dk.close_codes(tree, ["A"])})
    assert dict(zip(closed.by["s"].codes, closed.published_value.tolist(), strict=True))["A"] == 31


def test_another_sum_in_the_place_of_a_kept_one_breaks_the_seal() -> None:
    table = kept().sealed()
    assert table.given is not None
    table.given[-1] = 62
    assert not table.seal_holds


def test_intervals_are_not_published_with_sums_that_are_not_true(tmp_path: Path) -> None:
    table = dk.suppress(kept()).table
    with pytest.raises(BadOption, match="given sums are kept"):
        dk.publish(table, tmp_path / "t.csv", intervals=True)


def test_sums_that_are_not_true_are_computed_anew_on_request_which_is_said() -> None:
    with pytest.warns(ProtectionWarning, match="1 sums of 'x' are not the sums of their parts and are computed anew: "):
        table = Table.from_cells(OFF, by={"s": None}, value="x", sums="compute")
    assert table.value.tolist() == table.published_value.tolist() == [10, 20, 30, 60]


@pytest.mark.parametrize("sums", ["keep", "compute"])
def test_a_sum_without_any_part_cannot_be_kept_nor_computed(sums: GivenSums) -> None:
    tree = dk.Hierarchy.from_nested({"Total": {"A": ["a"], "B": ["b"]}})
    cells = {"s": ["a", "B", "Total"], "x": [10, 20, 30]}
    with pytest.raises(WrongSum, match="have no parts in the list"):
        Table.from_cells(cells, by={"s": tree}, value="x", sums=sums)
