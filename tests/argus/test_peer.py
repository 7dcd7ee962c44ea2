"""What tau-ARGUS' own engine writes, we write: codes, missing codes, decimals, costs and levels."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import diskret as dk
from benchmarks.argus_batches import case
from benchmarks.argus_peer import compare, there
from diskret.argus.run import run_argus
from diskret.suppression.methods import Moves

RDA = """R 1 2 99
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERCODELIST> "r.hrc"
  <HIERLEADSTRING> "@"
S 3 1
  <RECODEABLE>
X 4 5
  <NUMERIC>
  <DECIMALS> {decimals}
"""
RECORDS = [(r, s, v) for r in (" 1", " 2", "10") for s in "ab" for v in (10, 20, 30)] + [(" 1", "c", 40)]
OPEN = ['<OPENMICRODATA> "d.asc"', '<OPENMETADATA> "d.rda"']


def written(folder: Path, *lines: str, cost: str = "", rules: str = "FREQ(2,30)", decimals: int = 0) -> list[str]:
    """The lines of the file out.csv that a batch writes."""
    (folder / "d.asc").write_text("".join(f"{r}{s}{v:5}\n" for r, s, v in RECORDS))
    (folder / "d.rda").write_text(RDA.format(decimals=decimals))
    (folder / "r.hrc").write_text("N\n@ 1\n@ 2\n10\n")
    table = [f'<SPECIFYTABLE> "R""S"|"X"||{cost}', f"<SAFETYRULE> {rules}", "<READMICRODATA>"]
    (folder / "job.arb").write_text("\n".join([*OPEN, *table, *lines]) + "\n")
    run_argus(folder / "job.arb")
    return (folder / "out.csv").read_text().splitlines()


def test_codes_stand_as_the_file_of_the_hierarchy_has_them_and_missing_ones_stand_last(tmp_path: Path) -> None:
    rows = written(tmp_path, '<WRITETABLE> (1,1,,"out.csv")')
    assert [row.split(",")[0] for row in rows if row] == ["", '"Total"', '"N"', '" 1"', '" 2"', '"10"', '"99"']
    assert rows[6] == '"99",-,-,-,-'


def test_a_closed_sum_is_not_filled_up(tmp_path: Path) -> None:
    rows = written(tmp_path, "<RECODE> 1,R,1", '<WRITETABLE> (1,1,,"out.csv")')
    assert [row.split(",")[0] for row in rows if row] == ["", '"Total"', '"N"', '"10"', '"99"']


def test_merged_codes_are_as_wide_as_the_longest_of_them(tmp_path: Path) -> None:
    (tmp_path / "s.grc").write_text("xyz:a-b\n")
    rows = written(tmp_path, '<RECODE> 1,S,"s.grc"', '<WRITETABLE> (1,1,,"out.csv")')
    assert rows[0] == ',"Total","  c","xyz"'


@pytest.mark.parametrize(("cost", "paid"), [("", "400"), ("-1", "19"), ("-2", "1"), ('"X",0.5', "20")])
def test_a_file_says_what_cells_cost_by_the_cost_the_batch_asks_for(cost: str, paid: str, tmp_path: Path) -> None:
    first, *_ = written(tmp_path, '<WRITETABLE> (1,5,,"out.csv")', cost=cost)
    assert first == f'"Total";"Total";400;19;400;{paid};S;1;1'


def test_values_and_levels_have_the_decimals_of_the_metadata(tmp_path: Path) -> None:
    rows = written(tmp_path, '<WRITETABLE> (1,5,,"out.csv")', decimals=2)
    assert '" 1";"c";40.00;1;40.00;40.00;U;12.00;12.00' in rows
    assert rows[0].endswith("S;0.01;0.01")


def test_a_cell_caught_by_p_percent_and_by_count_has_the_level_of_p_percent(tmp_path: Path) -> None:
    rows = written(tmp_path, '<WRITETABLE> (1,5,,"out.csv")', rules="P(10,1)|FREQ(2,30)")
    assert '" 1";"c";40;1;40;40;40;0;U;4;4' in rows
    table = dk.Table.from_cells(
        {"s": ["a", "b"], "x": [40, 90], "n": [1, 9], "x1": [40, 10], "x2": [0, 10]},
        by={"s": None}, value="x", count="n", largest=["x1", "x2"],
    )  # fmt: skip
    rules = dk.PPercent(10) | dk.MinCount(2, margin=30)
    above = [dk.mark(table, rules, first_level=first).above for first in (False, True)]
    assert [float(np.asarray(each)[0]) for each in above] == [12.0, 4.0]


def test_a_pivot_file_goes_without_names_if_the_batch_says_so(tmp_path: Path) -> None:
    assert written(tmp_path, '<WRITETABLE> (1,2,,"out.csv")')[0] == '"R","S","X"'
    assert written(tmp_path, '<WRITETABLE> (1,2,FL-,"out.csv")')[0] == '"Total","Total",400'


def test_sums_that_are_not_true_are_computed_anew_where_the_batch_says_so(tmp_path: Path) -> None:
    (tmp_path / "d.tab").write_text("a;10;U\nbb;20;S\nT;31;S\n")
    rda = 'A\n<RECODEABLE>\n<TOTCODE> "T"\nX\n<NUMERIC>\nS\n<STATUS>\n'
    (tmp_path / "d.rda").write_text(f'<SEPARATOR> ";"\n{rda}')
    lines = ['<OPENTABLEDATA> "d.tab"', '<OPENMETADATA> "d.rda"', '<SPECIFYTABLE> "A"|"X"||', "<READTABLE> 1T"]
    (tmp_path / "job.arb").write_text("\n".join([*lines, '<WRITETABLE> (1,3,,"out.csv")']) + "\n")
    done = run_argus(tmp_path / "job.arb")
    assert any(
        "1 sums of 'X' are not the sums of their parts and are computed anew" in words
        for words in done.results[0].warnings
    )
    assert (tmp_path / "out.csv").read_text().splitlines() == ['"T",30', '" a",x', '"bb",20']


def test_the_effort_of_a_batch_is_that_of_economy_for_small_tables_only() -> None:
    assert [Moves(effort="fitting").effort_for(cells) for cells in (2_500, 2_501)] == ["economy", "default"]


@pytest.mark.skipif(not there(), reason="pytauargus is not installed")
@pytest.mark.parametrize("seed", [2, 7])
def test_files_are_those_of_the_engine_and_the_pattern_costs_no_more(seed: int) -> None:
    found = compare(case(seed))
    assert found.refused == found.theirs_refused == ""
    assert found.differences == []
    assert not found.pattern.startswith("OURS")
