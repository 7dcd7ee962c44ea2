"""Running a job: from any kind of data to files, or to nothing at all."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from diskret import Status, Table
from diskret.io.cell_list import read_cell_list
from diskret.job.outcome import JobResult
from diskret.model import errors
from diskret.model.errors import NotProtected
from diskret.publication.working import load_working

Run = Callable[..., JobResult]
Published = Callable[[Path, int], dict[tuple[str, ...], list[str]]]

MICRODATA = """
[data]
microdata = "firms.csv"
[table]
by = ["region", "size"]
value = "turnover"
"""
MARKED = MICRODATA + "[rules]\nmin_count = 3\n"


def only(result: JobResult) -> Table:
    (table,) = result.tables.values()
    return table


def hidden(table: Table) -> set[tuple[str, ...]]:
    return {table.codes(tuple(at)) for at in np.argwhere(table.hidden).tolist()}


def value(table: Table, *codes: str) -> float:
    return float(table.value[table.index(*codes)])


# --- microdata -------------------------------------------------------------------------------------------------------


def test_microdata_become_a_published_table_with_few_contributors_hidden(
    run: Run, folder: Path, published: Published
) -> None:
    result = run(MARKED + '[output]\nunprotected = true\npublish = "out/t.csv"\n')
    assert result.files == (folder / "out" / "t.csv",)
    assert hidden(only(result)) == {("N", "large"), ("S", "large")}
    cells = published(folder / "out" / "t.csv", 2)
    assert cells["N", "large"] == ["x"]
    assert cells["N", "small"] == ["60.5"]
    assert cells["Total", "Total"] == ["1990.5"]
    assert len(cells) == 9


def test_a_job_can_ask_for_the_complete_table(run: Run) -> None:
    exact_only = MARKED.replace("min_count = 3", "min_count = {n = 3, margin = 0}")
    result = run(exact_only + '[suppression]\nguarantee = "complete"\ndeformations = 2\n')
    assert {("N", "small"), ("S", "small")} <= hidden(only(result))


def test_without_a_value_units_are_counted(run: Run) -> None:
    table = only(run(MICRODATA.replace('value = "turnover"\n', "") + "[rules]\nsmall_cells = 2\n"))
    assert table.frequency
    assert value(table, "Total", "Total") == 10
    assert hidden(table) == {("N", "large")}


def test_several_values_are_judged_one_by_one_and_published_side_by_side(
    run: Run, folder: Path, published: Published
) -> None:
    text = MICRODATA.replace('"turnover"', '["turnover", "wages"]') + "[rules]\np_percent = 20\n"
    result = run(text + '[output]\nunprotected = true\npublish = ["t.csv", "t.json"]\nworking = "w.parquet"\n')
    assert list(result.tables) == ["turnover", "wages"]
    assert hidden(result.tables["turnover"]) != hidden(result.tables["wages"])
    cells = published(folder / "t.csv", 2)
    for j, table in enumerate(result.tables.values()):
        assert {codes for codes, words in cells.items() if words[j] == "x"} == hidden(table)
    cube = json.loads((folder / "t.json").read_text(encoding="utf-8"))
    assert cube["dimension"]["contents"]["category"]["index"] == ["turnover", "wages"]
    assert list(load_working(folder / "w.parquet")) == ["turnover", "wages"]


def test_weights_gross_up_values_and_leave_counts_alone(run: Run) -> None:
    table = only(run(MICRODATA.replace('"turnover"\n', '"turnover"\nweight = "weight"\n')))
    assert value(table, "N", "small") == 2 * 10.5 + 20 + 30
    assert table.count[table.index("N", "small")] == 3
    assert table.weighted


def test_records_of_one_owner_count_as_one(run: Run) -> None:
    text = MICRODATA.replace('"turnover"\n', '"turnover"\nholding = "owner"\n')
    assert ("N", "small") not in hidden(only(run(text + "[rules]\nmin_count = 3\n")))
    table = only(run(text + '[rules]\nmin_count = 3\ncounted_by = "holding"\n'))
    assert ("N", "small") in hidden(table)
    both = only(run(text + '[rules]\nmin_count = 3\ncounted_by = ["respondent", "holding"]\n'))
    assert both.rules_of(both.index("N", "small")) == ("minimum count of holdings",)


def test_only_who_asked_for_protection_gets_it(run: Run, folder: Path) -> None:
    lines = (folder / "firms.csv").read_text().splitlines()
    asked = ["asked", *("2" if "N,large" in line else "0" for line in lines[1:])]
    (folder / "firms.csv").write_text("\n".join(",".join(pair) for pair in zip(lines, asked, strict=True)))
    text = MICRODATA.replace('"turnover"\n', '"turnover"\nrequest = {column = "asked", codes = ["1", "2"]}\n')
    assert hidden(only(run(text + "[rules]\nmin_count = 3\n"))) == {("N", "large")}
    waived = text.replace("request", "waiver") + "[rules]\nmin_count = 3\n"
    assert hidden(only(run(waived))) == {("S", "large")}


def test_records_without_a_code_count_where_the_job_says(run: Run, folder: Path) -> None:
    with (folder / "firms.csv").open("a") as file:
        file.write(",small,,5,1,1\n")
    known = only(run(MICRODATA + '[classifications.region]\nmissing = "N"\n'))
    assert value(known, "N", "small") == 65.5
    unknown = only(run(MICRODATA + '[classifications.region]\nmissing = "unknown"\n'))
    assert value(unknown, "unknown", "small") == 5


@pytest.mark.parametrize("section", ["", "[classifications.region]\n"])
def test_records_without_a_code_stand_alone_where_the_job_says_nothing(run: Run, folder: Path, section: str) -> None:
    with (folder / "firms.csv").open("a") as file:
        file.write(",small,,5,1,1\n")
    assert value(only(run(MICRODATA + section)), "(missing)", "small") == 5


@pytest.mark.parametrize(
    ("rows", "table", "section"),
    [
        ("All,,,2056,1,1\n", "", '[classifications.region]\ntotal = "All"\n[classifications.size]\n'),
        (",,,,1,1\nX,y,,,1,1\n", 'without_value = "leave out"\n', "[classifications.region]\n[classifications.size]\n"),
        (",,,,1,1\nX,y,,,1,1\n", 'without_value = "leave out"\n', ""),
    ],
    ids=["a row of totals", "rows without a value", "rows without a value, nothing said"],
)
def test_codes_that_only_rows_have_that_do_not_count_are_no_categories(
    run: Run, folder: Path, rows: str, table: str, section: str
) -> None:
    before = only(run(MICRODATA))
    total = float(before.value[-1, -1])
    with (folder / "firms.csv").open("a") as file:
        file.write(rows.replace("2056", str(total)))
    with warnings.catch_warnings(action="ignore"):
        after = only(run(MICRODATA.replace('"turnover"\n', f'"turnover"\n{table}') + section))
    assert [h.codes[:-1] for h in after.hierarchies] == [h.codes[:-1] for h in before.hierarchies]
    assert after.value.tolist() == before.value.tolist()


def test_a_missing_code_must_stand_in_a_hierarchy_that_is_given(run: Run, folder: Path) -> None:
    (folder / "r.hrc").write_text("N\nS\n")
    with pytest.raises(errors.UnknownCode, match="'unknown'"):
        run(MICRODATA + '[classifications.region]\nhierarchy = "r.hrc"\nmissing = "unknown"\n')


def test_hierarchies_come_from_files_or_prefixes(run: Run, folder: Path) -> None:
    (folder / "size.csv").write_text("code,parent,label\nsmall,all,Small firms\nlarge,all,\nall,,\n")
    (folder / "firms.csv").write_text("region,size,turnover\n011,small,1\n012,large,2\n021,small,4\n")
    table = only(
        run(MICRODATA + '[classifications.region]\nprefixes = [2]\n[classifications.size]\nhierarchy = "size.csv"\n')
    )
    assert table.by["region"].codes == ("011", "012", "01", "021", "02", "Total")
    assert table.by["size"].codes == ("small", "large", "all")
    assert table.by["size"].labels[0] == "Small firms"
    assert value(table, "01", "all") == 3


def test_a_hierarchy_file_that_names_its_total_gets_no_second_one(run: Run, folder: Path) -> None:
    (folder / "r.csv").write_text("code,parent\nN,ML\nS,ML\n")
    table = only(run(MICRODATA + '[classifications.region]\nhierarchy = "r.csv"\n'))
    assert table.by["region"].codes == ("N", "S", "ML")


def test_a_total_may_have_any_name(run: Run, folder: Path) -> None:
    (folder / "r.hrc").write_text("N\nS\n")
    named = MICRODATA + '[classifications.region]\nhierarchy = "r.hrc"\ntotal = "all regions"\n'
    table = only(run(named + '[classifications.size]\ntotal = "all sizes"\n'))
    assert value(table, "all regions", "all sizes") == 1990.5


def test_parquet_and_csv_with_a_decimal_comma_give_the_same_table(run: Run, folder: Path) -> None:
    expected = only(run(MARKED))
    duckdb.sql(f"SELECT * FROM read_csv('{folder / 'firms.csv'}')").write_parquet(str(folder / "firms.parquet"))
    german = (folder / "firms.csv").read_text().replace(",", ";").replace(".", ",")
    (folder / "german.csv").write_text(german)
    for name in ('"firms.parquet"', '"german.csv"\ndecimal = ","', '"german.csv"\ndelimiter = ";"\ndecimal = ","'):
        table = only(run(MARKED.replace('"firms.csv"', name)))
        assert np.array_equal(table.value, expected.value)
        assert np.array_equal(table.status, expected.status)


def test_tau_argus_microdata_are_read_by_their_metadata(run: Run, folder: Path) -> None:
    (folder / "firms.asc").write_text("01A  10.5 2\n01B  20.0 1\n02A   5.5 1\n99A   1.0 1\n")
    (folder / "firms.rda").write_text(
        'Region 1 2 "99"\n<RECODEABLE>\n<TOTCODE> "NL"\n<HIERCODELIST> "region.hrc"\n<HIERLEADSTRING> "@"\n'
        '<HIERARCHICAL>\nSize 3 1\n<RECODEABLE>\n<CODELIST> "size.cdl"\nTurnover 4 6\n<NUMERIC>\n<DECIMALS> 1\n'
        "Weight 10 2\n<WEIGHT>\n"
    )
    (folder / "region.hrc").write_text("Nr\n@01\n@02\n")
    (folder / "size.cdl").write_text("A,small\nB,large\n")
    text = '[data]\nmicrodata = "firms.asc"\nmetadata = "firms.rda"\n[table]\nby = ["Region", "Size"]\n'
    table = only(run(text + 'value = "Turnover"\nweight = "Weight"\n'))
    assert table.by["Region"].codes == ("01", "02", "Nr", "99", "NL")
    assert table.by["Size"].labels == ("small", "large", "Total")
    assert value(table, "Nr", "A") == 2 * 10.5 + 5.5
    assert value(table, "NL", "Total") == 2 * 10.5 + 20 + 5.5 + 1


# --- cells and working files -----------------------------------------------------------------------------------------

CELLS = """region,turnover,firms,x1,x2,state,low,high,price
N,100,5,95,3,,0,1000,1
S,60,9,20,10,never,0,1000,5
E,40,4,11,10,primary,0,1000,1
Total,200,18,95,20,,0,1000,2
"""


def test_cells_bring_counts_contributions_status_knowledge_and_prices(run: Run, folder: Path) -> None:
    (folder / "cells.csv").write_text(CELLS)
    table = only(
        run(
            """
            [data]
            cells = "cells.csv"
            [table]
            by = ["region"]
            value = "turnover"
            count = "firms"
            largest = ["x1", "x2"]
            status = "state"
            lower = "low"
            upper = "high"
            cost = "price"
            positive = true
            [rules]
            p_percent = 10
            """
        )
    )
    by_code = dict(zip(table.by["region"].codes, table.status.tolist(), strict=True))
    assert by_code == {"N": Status.PRIMARY, "S": Status.NEVER, "E": Status.PRIMARY, "Total": Status.OPEN}
    assert table.rules_of(table.index("E")) == ("given",)
    assert table.rules_of(table.index("N")) == ("p%",)
    assert table.weight is not None
    assert table.weight.tolist() == [1.0, 1.0, 5.0, 2.0]
    assert table.upper is not None
    assert table.upper.max() == 1000


def test_small_differences_of_sums_are_corrected_where_the_job_allows_it(run: Run, folder: Path) -> None:
    (folder / "cells.csv").write_text("region,turnover\nN,10\nS,20\nTotal,31\n")
    text = '[data]\ncells = "cells.csv"\n[table]\nby = ["region"]\nvalue = "turnover"\n'
    with pytest.raises(errors.WrongSum):
        run(text)
    result = run(text + "tolerance = 1\n")
    assert value(only(result), "Total") == 30
    assert ["recomputed" in w for w in result.warnings] == [True]


def test_a_working_file_goes_on_where_the_last_run_ended(run: Run, folder: Path) -> None:
    first = only(run(MARKED + '[output]\nworking = "w.parquet"\n'))
    again = only(run('[data]\ntable = "w.parquet"\n'))
    assert np.array_equal(again.status, first.status)
    more = only(run('[data]\ntable = "w.parquet"\n[rules]\nsmall_cells = 4\n[output]\nworking = "w.parquet"\n'))
    assert hidden(first) < hidden(more)
    assert hidden(load_working(folder / "w.parquet")["turnover"]) == hidden(more)


def test_a_frequency_rule_looks_along_the_sensitive_classification_of_a_working_file(run: Run, folder: Path) -> None:
    (folder / "cells.csv").write_text("sex,ill,persons\nm,yes,0\nm,no,9\nw,yes,4\nw,no,5\n")
    text = '[data]\ncells = "cells.csv"\n[table]\nby = ["sex", "ill"]\nvalue = "persons"\nfrequency = true\n'
    run(text + '[output]\nworking = "w.parquet"\n')
    rule = '[data]\ntable = "w.parquet"\n[rules]\none_category = true\n'
    assert hidden(only(run(rule + "[classifications.ill]\nsensitive = true\n"))) == {("m", "no")}
    assert hidden(only(run(rule + "[classifications.sex]\nsensitive = false\n"))) == {("m", "no")}
    assert hidden(only(run(rule))) == {("m", "no"), ("w", "yes")}


def test_a_table_travels_through_tau_argus_files_unchanged(run: Run, folder: Path) -> None:
    result = run(MARKED + '[output]\ntau_argus = "tau"\n')
    assert [f.name for f in result.files] == ["turnover.tab", "turnover.rda"]
    back = read_cell_list(*result.files)
    assert np.array_equal(back.value, only(result).value)
    assert hidden(back) == hidden(only(result))
    as_job = '[data]\ncells = "tau/turnover.tab"\nmetadata = "tau/turnover.rda"\n'
    again = only(run(as_job + '[table]\nvalue = "turnover"\npositive = true\n'))
    assert hidden(again) == hidden(only(result))
    assert again.positive
    with pytest.raises(errors.BadOption, match=r"table.by"):
        run(as_job + '[table]\nby = ["sizes"]\n')


def test_a_response_with_an_odd_name_stays_in_its_folder(run: Run, folder: Path) -> None:
    (folder / "firms.csv").write_text("region,size,../turn/over\nN,small,1\nS,small,2\n")
    result = run(MICRODATA.replace("turnover", "../turn/over") + '[output]\ntau_argus = "tau"\n')
    assert {f.parent for f in result.files} == {folder / "tau"}


# --- by hand ---------------------------------------------------------------------------------------------------------


def test_statuses_are_set_by_hand_with_the_total_where_a_code_is_left_out(run: Run) -> None:
    by_hand = """
    [[status]]
    cell = {region = "N"}
    status = "primary"
    [[status]]
    cell = {region = "S", size = "small"}
    status = "published"
    """
    table = only(run(MICRODATA + by_hand))
    assert hidden(table) == {("N", "Total")}
    assert table.status[table.index("S", "small")] == Status.PUBLISHED


def test_a_status_may_be_for_one_value_only(run: Run) -> None:
    by_hand = '[[status]]\ncell = {region = "N"}\nstatus = "primary"\nresponse = "wages"\n'
    result = run(MICRODATA.replace('"turnover"', '["turnover", "wages"]') + by_hand)
    assert [len(hidden(t)) for t in result.tables.values()] == [0, 1]


@pytest.mark.parametrize(
    ("by_hand", "error", "said"),
    [
        ('cell = {regio = "N"}\nstatus = "open"', errors.BadOption, "no classification 'regio'"),
        ('cell = {region = "M"}\nstatus = "open"', errors.UnknownCode, "'M'"),
        ('cell = {region = "N"}\nstatus = "primary"\nresponse = "turnovr"', errors.BadOption, "no response 'turnovr'"),
        ('cell = {region = "N"}\nstatus = "structural zero"', errors.BadOption, "status of a zero and another value"),
    ],
)
def test_a_status_for_nothing_is_refused(run: Run, by_hand: str, error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        run(f"{MICRODATA}[[status]]\n{by_hand}\n")


# --- what deserves care ----------------------------------------------------------------------------------------------


def test_a_table_without_secondary_suppression_is_not_called_safe(run: Run) -> None:
    result = run(MARKED + '[output]\nunprotected = true\npublish = "t.csv"\n')
    assert ["computed back" in w for w in result.warnings] == [True]
    result = run(MICRODATA + '[output]\nunprotected = true\npublish = "t.csv"\n')
    assert ["no rule was applied" in w for w in result.warnings] == [True]
    assert run(MARKED + '[output]\nworking = "w.parquet"\n').warnings == ()


def test_a_job_does_not_publish_what_nothing_protects(run: Run, folder: Path) -> None:
    (folder / "t.csv").write_text("earlier", encoding="utf-8")
    with pytest.raises(NotProtected, match="'turnover' has 2 primary cells"):
        run(MARKED + '[output]\npublish = "t.csv"\nworking = "w.parquet"\n')
    with pytest.raises(NotProtected, match="'turnover' was never marked"):
        run(MICRODATA + '[output]\npublish = "t.csv"\n')
    assert (folder / "t.csv").read_text(encoding="utf-8") == "earlier"
    assert not (folder / "w.parquet").exists()
    run(MARKED + '[suppression]\n[output]\npublish = "t.csv"\nworking = "w.parquet"\n')
    run('[data]\ntable = "w.parquet"\n[output]\npublish = "u.csv"\n')  # protected by the job before
    assert (folder / "u.csv").read_bytes() == (folder / "t.csv").read_bytes()


def test_what_a_job_could_not_protect_leaves_with_a_note_and_the_report_stays_inside(run: Run, folder: Path) -> None:
    open_cells = "".join(
        f'[[status]]\ncell = {{region = "{r}", size = "{s}"}}\nstatus = "never"\n'
        for r, s in (("N", "small"), ("S", "small"), ("N", "Total"), ("S", "Total"), ("Total", "large"))
    )
    asked = '[suppression]\n[output]\npublish = ["t.json", "t.px"]\nreport = "r.html"\n'
    result = run(MARKED + asked + open_cells)
    assert result.exposed
    for name in ("t.json", "t.px"):
        assert "not protected" in (folder / name).read_text(encoding="utf-8")
    assert "Do not publish the table or this report" in (folder / "r.html").read_text(encoding="utf-8")


def test_a_report_on_an_unprotected_table_says_so(run: Run, folder: Path) -> None:
    run(MARKED + '[output]\nreport = "r.html"\n')
    text = (folder / "r.html").read_text(encoding="utf-8")
    assert "Do not publish the table or this report" in text
    assert "not protected: suppressed values may be computed back" in text


def test_warnings_are_collected_each_once_and_not_raised(run: Run) -> None:
    by_hand = '[[status]]\ncell = {region = "N", size = "large"}\nstatus = "never"\n'
    text = MARKED.replace('"turnover"', '["turnover", "wages"]') + by_hand
    with warnings.catch_warnings(record=True) as passed_on:
        warnings.simplefilter("always")
        result = run(text)
    assert passed_on == []
    assert len(result.warnings) == len(set(result.warnings)) == 1
    assert "region=N, size=large" in result.warnings[0]
    assert result.summary()["warnings"] == list(result.warnings)


def test_ordered_classes_are_looked_at_for_far_neighbours(run: Run, folder: Path) -> None:
    sizes = "".join(f"N,{size},{x}\n" for size, x in (("1", 4), ("2", 0), ("3", 0), ("4", 9)))
    (folder / "cells.csv").write_text("region,size,persons\n" + sizes)
    text = '[data]\ncells = "cells.csv"\n[table]\nby = ["region", "size"]\nvalue = "persons"\nfrequency = true\n'
    text += "[rules]\nsmall_cells = 3\n[classifications.size]\n"
    assert not [w for w in run(text).warnings if "far classes" in w]
    assert [w for w in run(text + "ordered = true\n").warnings if "far classes" in w]


def test_the_summary_counts_and_names_no_value(run: Run) -> None:
    summary = run(MARKED).summary()
    assert summary["tables"]["turnover"] == {
        "cells": 9,
        "occupied": 9,
        "status": {"open": 7, "primary": 2},
        "rules": {"minimum count": 2},
    }
    json.dumps(summary)


# --- comparison ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ending", "begins"), [(".svg", b"<svg"), (".html", b"<!DOCTYPE html>"), (".png", b"\x89PNG")])
def test_rules_are_compared_in_a_plot_that_says_it_is_internal(
    run: Run, folder: Path, ending: str, begins: bytes
) -> None:
    result = run(MICRODATA + f'[rules]\np_percent = 15\ndominance = [[1, 85]]\n[output]\ncomparison = "c{ending}"\n')
    content = (folder / f"c{ending}").read_bytes()
    assert content.strip().startswith(begins)
    if ending != ".png":
        assert b"internal: confidential" in content
    assert result.comparison is not None
    assert result.comparison.names == ("1. (1,k) dominance", "2. p%")
    assert "any of them" in str(result.comparison)


def test_a_plot_without_its_extra_is_refused_by_name(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    with pytest.raises(errors.MissingExtra, match="plots"):
        run(MARKED + '[output]\nunprotected = true\npublish = "t.csv"\ncomparison = "c.svg"\n')
    assert not (folder / "t.csv").exists()


# --- whole or not at all ---------------------------------------------------------------------------------------------

EARLIER = ("out/t.csv", "out/t.xlsx", "out/w.parquet", "tau/turnover.tab", "tau/turnover.rda", "c.svg")
OUTPUT = """
[output]
unprotected = true
publish = ["out/t.csv", "out/t.xlsx"]
working = "out/w.parquet"
tau_argus = "tau"
comparison = "c.svg"
"""


def everything(folder: Path) -> dict[str, bytes]:
    return {
        str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file() and p.suffix != ".toml"
    }


LATE: dict[str, tuple[Callable[[Path], Any], str]] = {
    "bad data": (lambda f: (f / "firms.csv").write_text("region,size,turnover\nN,small,a lot\n"), MARKED + OUTPUT),
    "a mark that reads as a number": (lambda f: None, MARKED + OUTPUT + 'mark = "0"\n'),
    "codes tau-ARGUS cannot take, after the public files were made": (
        lambda f: (f / "firms.csv").write_text("region,size,turnover\nN;1,small,1\nS,small,2\n"), MARKED + OUTPUT,
    ),
    "a folder in the place of the last file": (
        lambda f: (f / "d.svg").mkdir(), MARKED + OUTPUT.replace("c.svg", "d.svg"),
    ),
    "a file in the place of a folder": (lambda f: None, MARKED + OUTPUT.replace("c.svg", "firms.csv/c.svg")),
    "a name no file can have": (lambda f: None, MARKED + OUTPUT.replace("c.svg", "c\\u0000.svg")),
}  # fmt: skip


@pytest.mark.parametrize("case", LATE)
def test_refused_late_nothing_is_written_and_earlier_files_stay(run: Run, folder: Path, case: str) -> None:
    run(MARKED + OUTPUT)
    assert set(EARLIER) <= everything(folder).keys()
    spoil, text = LATE[case]
    spoil(folder)
    before = everything(folder)
    with pytest.raises(errors.DiskretError) as caught:
        run(text)
    assert ".part" not in str(caught.value)
    assert everything(folder) == before
    assert not [p for p in folder.rglob("*") if ".part" in p.name]


def test_checking_does_everything_but_write(run: Run, folder: Path) -> None:
    before = everything(folder)
    result = run(MARKED + OUTPUT, write=False)
    assert result.files == ()
    assert hidden(only(result))
    assert everything(folder) == before
    with pytest.raises(errors.NotANumber):
        run(MICRODATA.replace('"turnover"', '"size"').replace('"region", "size"', '"region"'), write=False)


def test_the_same_job_gives_the_same_bytes(run: Run, folder: Path) -> None:
    run(MARKED + OUTPUT)
    first = everything(folder)
    run(MARKED + OUTPUT)
    assert everything(folder) == first


def test_progress_is_told_from_none_to_all(run: Run) -> None:
    told: list[tuple[str, int, int]] = []
    run(MARKED, progress=lambda *now: told.append(now))
    assert ("reading records", 10, 10) in told
    assert all(done <= of for _, done, of in told if of)


# --- several responses, intervals ------------------------------------------------------------------------------------

TWO = """
[data]
cells = "two.csv"
[table]
by = ["region", "size"]
value = ["turnover", "wages"]
"""


def two_responses(folder: Path) -> None:
    rows = ["region,size,turnover,wages"]
    rows += [
        f"{r},{s},{10 * i + 13},{7 * ((i * 5) % 9) + 4}"
        for i, (r, s) in enumerate((r, s) for r in "abc" for s in "klm")
    ]
    (folder / "two.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")


def test_a_leading_response_passes_its_pattern_on(run: Run, folder: Path) -> None:
    two_responses(folder)
    marked = '[[status]]\ncell = {region = "a", size = "k"}\nstatus = "primary"\nresponse = "turnover"\n'
    marked += '[[status]]\ncell = {region = "c", size = "m"}\nstatus = "primary"\nresponse = "wages"\n'
    result = run(TWO + marked + '[suppression]\nleading = "turnover"\n')
    turnover, wages = result.tables["turnover"], result.tables["wages"]
    assert hidden(turnover) <= hidden(wages)
    assert {("a", "k"), ("c", "m")} <= hidden(turnover)
    with pytest.raises(errors.BadOption, match="no response 'profit' to lead"):
        run(TWO + marked + '[suppression]\nleading = "profit"\n')


def test_intervals_stand_beside_what_is_published(run: Run, folder: Path) -> None:
    two_responses(folder)
    marked = '[[status]]\ncell = {region = "a", size = "k"}\nstatus = "primary"\n'
    run(TWO + marked + '[suppression]\nmin_relative_range = 0.5\n[output]\npublish = "t.csv"\nintervals = true\n')
    head, first, *_ = (folder / "t.csv").read_text(encoding="utf-8").splitlines()
    assert head == "region,size,turnover,turnover_lower,turnover_upper,wages,wages_lower,wages_upper"
    _, _, mark, lower, upper, *_ = first.split(",")
    assert mark == "x"
    assert float(lower) < 13 < float(upper)
    widened = '[suppression]\nmin_relative_range = 0.5\n[output]\npublish = "t.csv"\ninterval_digits = 1\n'
    with pytest.raises(errors.BadJob, match="no intervals to widen"):
        run(TWO + marked + widened)
    run(TWO + marked + widened + "intervals = true\n")
    _, first, *_ = (folder / "t.csv").read_text(encoding="utf-8").splitlines()
    _, _, mark, less, more, *_ = first.split(",")
    assert float(less) <= float(lower) < float(upper) <= float(more)
    assert len(more.strip("0")) == 1


@pytest.mark.parametrize("owner", ["", 'owner = "firm"\n'])
def test_a_cell_list_may_say_who_owns_its_cells_and_the_report_whether_it_does(
    run: Run, folder: Path, owner: str
) -> None:
    rows = ["s,x,n,st,firm", "a,10,1,primary,Quax", "b,20,1,primary,Quax", "c,30,1,primary,Rex", "d,40,4,open,"]
    (folder / "owned.csv").write_text("\n".join([*rows, "e,50,4,open,"]) + "\n", encoding="utf-8")
    result = run(
        '[data]\ncells = "owned.csv"\n[table]\nby = ["s"]\nvalue = "x"\ncount = "n"\nstatus = "st"\n'
        f'{owner}[suppression]\nmethod = "moves"\n[output]\ninternal_report = "report.html"\n'
    )
    # Quax knows two of the three hidden cells
    assert int(only(result).hidden.sum()) == (4 if owner else 3)
    said = (folder / "report.html").read_text(encoding="utf-8")
    assert ("two cells of one owner count as two owners" in said) != bool(owner)
    assert "Quax" not in said
