"""Batches become jobs: every keyword and option as the key that means the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from diskret.argus.translate import Translation, translate
from diskret.io.arb import read_batch
from diskret.model.errors import UnreadableFile
from tests.argus.case import BEGIN, BEGIN_CELLS, CELLS_RDA, OPEN, READ, RULE, TABLE, house


def translated(folder: Path, *lines: str, out: Path | None = None) -> Translation:
    return translate(read_batch(house(folder, *lines)), out)


def jobs(folder: Path, *lines: str) -> list[dict[str, Any]]:
    return [job.content for job in translated(folder, *lines).jobs]


def only(folder: Path, *lines: str) -> dict[str, Any]:
    (job,) = jobs(folder, *lines)
    return job


# --- data, tables, rules ---------------------------------------------------------------------------------------------


AS_IN_ARGUS = {"min_level": 0.1, "signed": True, "first_level": True}
"""Smallest level and the way with negative contributions of tau-ARGUS, which no batch says."""


def test_a_table_of_records_is_what_the_batch_specifies(tmp_path: Path) -> None:
    job = only(tmp_path, *BEGIN)
    assert job == {
        "data": {"microdata": "firms.asc", "metadata": "firms.rda"},
        "table": {"by": ["Region", "Size"], "value": ["Turnover"]},
        "classifications": {"Region": {"missing_codes": ["XX"]}},
        "rules": {"min_count": {"n": 2, "margin": 10, "zeros": True}, **AS_IN_ARGUS},
    }


def test_names_of_variables_are_found_in_any_case_and_frequencies_have_no_value(tmp_path: Path) -> None:
    job = only(tmp_path, *OPEN, '<SPECIFYTABLE> "REGION""size"|<freq>', RULE, READ)
    assert job["table"] == {"by": ["Region", "Size"]}


def test_statuses_of_a_file_count_only_where_no_rule_judges_its_cells(tmp_path: Path) -> None:
    for rules, statuses in {"": True, "MAN(10)|MIS(0)": True, "P(0,0)|NK(0,0)": True, "FREQ(2,10)": False}.items():
        made = translated(tmp_path, *BEGIN_CELLS[:3], f"<SAFETYRULE> {rules}", "<READTABLE>")
        assert made.jobs[0].content["table"].get("statuses", True) is statuses
        assert any("statuses" in words for words in made.places.notes) is not statuses


def test_a_table_of_cells_has_the_statuses_of_its_file_with_the_usual_margin(tmp_path: Path) -> None:
    job = only(tmp_path, *BEGIN_CELLS)
    assert job["data"] == {"cells": "cells.tab", "metadata": "cells.rda"}
    assert job["rules"] == {"given": 20}
    assert "sums" not in job["table"]
    assert only(tmp_path, *BEGIN_CELLS[:4], "<READTABLE> 2")["table"]["sums"] == "keep"
    assert only(tmp_path, *BEGIN_CELLS[:4], "<READTABLE> 1")["table"]["sums"] == "compute"
    assert only(tmp_path, *BEGIN_CELLS[:3], "<READTABLE> 1T")["rules"] == {"given": 20}


@pytest.mark.parametrize(
    ("said", "rules"),
    [
        ("P(20)", {"p_percent": 20}),
        ("P(20,1)", {"p_percent": 20}),
        ("P(20,100,2)", {"p_percent": {"p": 20, "n": 2}}),
        ("P(15,2)", {"p_percent": {"p": 15, "n": 2}}),
        ("P(15,1)|P(5,2)", {"p_percent": [15, {"p": 5, "n": 2}]}),
        ("P(5,50,1)", {"pq": {"p": 5, "q": 50, "n": 1}}),
        ("P(15,1)|P(0,0)|P(10,1)", {"p_percent": 15, "holding": {"p_percent": 10}}),
        ("NK(1,85)|NK(2,90)", {"dominance": [[1, 85], [2, 90]]}),
        ("NK(2,75)|NK(0,0)|NK(1,80)", {"dominance": [[2, 75]], "holding": {"dominance": [[1, 80]]}}),
        ("FREQ(3,30)|FREQ(0,0)", {"min_count": {"n": 3, "margin": 30, "zeros": True}}),
        ("FREQ(0,0)|FREQ(3,30)", {"holding": {"min_count": {"n": 3, "margin": 30, "zeros": True}}}),
        ("FREQ(3,0)|ZERO(2.5)", {"min_count": {"n": 3, "margin": 0, "zeros": True}, "zeros": 2.5}),
        ("REQ(70,50,3,10)", {"request": {"percent": [70, 50], "n": 3, "margin": 10}}),
        ("FREQ(3,10)|MIS(1)", {"min_count": {"n": 3, "margin": 10, "zeros": True}, "missing": "safe"}),
        ("FREQ(3,10)|MIS(0)", {"min_count": {"n": 3, "margin": 10, "zeros": True}, "missing": "judged"}),
        ("FREQ(3,10)|WGT(1)", {"min_count": {"n": 3, "margin": 10, "zeros": True, "weighted": True}}),
        ("REQ(0,0,3,10)", {"request": {"percent": [0, 0], "n": 3, "margin": 10}}),
        (
            "FREQ(3,10)|FREQ(2,30)",
            {
                "min_count": {"n": 3, "margin": 30, "zeros": True},
                "holding": {"min_count": {"n": 2, "margin": 30, "zeros": True}},
            },
        ),
        ("MAN(15)", {"given": 15}),
    ],
)
def test_rules_are_those_of_the_batch(said: str, rules: dict[str, Any], tmp_path: Path) -> None:
    assert only(tmp_path, *OPEN, TABLE, f"<SAFETYRULE> {said}", READ)["rules"] == rules | AS_IN_ARGUS


def test_columns_of_weights_holdings_and_requests_come_from_the_metadata_where_rules_need_them(tmp_path: Path) -> None:
    rules = "<SAFETYRULE> FREQ(2,10)|FREQ(2,10)|REQ(50,50,0,10)|WGT(1)"
    table = only(tmp_path, *OPEN, TABLE, rules, READ)["table"]
    assert (table["weight"], table["holding"]) == ("Weight", "Owner")
    assert table["request"] == {"column": "Asked", "codes": ["1"]}
    assert only(tmp_path, *OPEN, TABLE, "<SAFETYRULE> P(10,1)|WGT(0)", READ)["table"].keys() == {"by", "value"}


@pytest.mark.parametrize(
    ("said", "table", "cost"),
    [
        ('||"Turnover"', {}, None),
        ('|"Turnover"|"turnover",1', {}, None),
        ('|"Weight"|"Turnover",0.5', {"shadow": "Weight"}, {"by": "value", "power": 0.5}),
        ("||-1", {}, "count"),
        ('||"-2",2', {}, {"by": "unity", "power": 2}),
        ("||-3", {}, {"by": "unity", "distance": {"Size": 2.0}}),
        ('||"Weight",0', {"cost": "Weight"}, {"by": "given", "power": 0}),
    ],
)
def test_shadow_and_costs_are_those_of_the_table(
    said: str, table: dict[str, str], cost: object, tmp_path: Path
) -> None:
    job = only(tmp_path, *OPEN, f'<SPECIFYTABLE> "Region""Size"|"Turnover"{said}', RULE, READ, "<SUPPRESS> GH(1)")
    assert {key: each for key, each in job["table"].items() if key not in ("by", "value")} == table
    assert job["suppression"].get("cost") == cost


def test_prices_of_a_file_count_only_where_the_table_asks_for_them(tmp_path: Path) -> None:
    plain = only(tmp_path, *BEGIN_CELLS, "<SUPPRESS> GH(1)")
    assert plain["suppression"]["cost"] == {"by": "value", "weighted": False}
    asked = BEGIN_CELLS[2].replace("||", '||"Price"')
    priced = only(tmp_path, *BEGIN_CELLS[:2], asked, *BEGIN_CELLS[3:], "<SUPPRESS> GH(1)")
    assert priced["suppression"]["cost"] == {"by": "given"}
    with pytest.raises(UnreadableFile, match="the metadata do not call 'Count' a cost variable"):
        jobs(tmp_path, *BEGIN_CELLS[:2], BEGIN_CELLS[2].replace("||", '||"Count"'), *BEGIN_CELLS[3:])


def test_recodings_and_files_of_single_cells_belong_to_their_table(tmp_path: Path) -> None:
    (tmp_path / "S.GRC").write_text("1:1-2\n")
    (tmp_path / "a.hst").write_text("A1;1;s\n")
    recode = ("<RECODE> 1,Region,1", r'<RECODE> 1,"size","X:\old\s.grc"')
    job = only(tmp_path, *BEGIN, *recode, '<APRIORI> "a.hst",1,";",0,1', "<SUPPRESS> MOD(1)")
    assert job["classifications"] == {"Region": {"missing_codes": ["XX"], "levels": 1}, "Size": {"recode": "S.GRC"}}
    assert job["apriori"] == [{"file": "a.hst", "separator": ";", "expand": True, "errors": "refuse"}]
    assert job["rules"]["given"] == 20


def test_a_variable_is_recoded_in_every_table_that_has_it(tmp_path: Path) -> None:
    tables = (TABLE, RULE, '<SPECIFYTABLE> "SIZE"|"Turnover"', RULE, '<SPECIFYTABLE> "Region"|"Turnover"', RULE)
    (tmp_path / "s.grc").write_text("X:1-2\n")
    made = jobs(tmp_path, *OPEN, *tables, READ, '<RECODE> 1,Size,"s.grc"', *(f"<SUPPRESS> GH({n})" for n in (1, 2, 3)))
    recoded = [each.get("classifications", {}).get("Size") for each in made]
    assert recoded == [{"recode": "s.grc"}] * 2 + [None]
    with pytest.raises(UnreadableFile, match="table 2 is already protected") as refused:
        jobs(tmp_path, *OPEN, *tables, READ, "<SUPPRESS> GH(2)", '<RECODE> 1,Size,"s.grc"')
    assert str(refused.value.where).endswith("line 11")


# --- protection ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "unions", "method"),
    [
        ("GH(1,75,0,1)", False, {"method": "moves", "effort": "fitting"}),
        ("MOD(1)", True, {"method": "moves", "effort": "fitting"}),
        ("MOD(1,5,1,1,0)", False, {"method": "moves", "effort": "fitting"}),
        ("MOD(1,5,1,1,1,20000)", True, {"method": "moves", "effort": "fitting"}),
        ("OPT(1,2)", False, {"method": "optimal", "seconds": 120}),
        ("OPT(1)", False, {"method": "optimal", "seconds": 600}),
        ("NET(1)", False, {"method": "moves", "effort": "fitting"}),
    ],
)
def test_methods_that_hide_guard_against_whoever_is_alone_in_a_cell(
    said: str, unions: bool, method: dict[str, Any], tmp_path: Path
) -> None:
    job = only(tmp_path, *BEGIN, f"<SUPPRESS> {said}")
    assert job["promise"] == {"guard": "single", "unions": unions}
    assert job["suppression"] == method


def test_minimum_frequencies_of_lines_need_a_rule_that_counts(tmp_path: Path) -> None:
    job = only(tmp_path, *OPEN, TABLE, "<SAFETYRULE> P(10,1)", READ, "<SUPPRESS> MOD(1,5,1,1,1)")
    assert job["promise"] == {"guard": "single", "unions": False}


def test_rounding_adjustment_and_cell_keys_change_values(tmp_path: Path) -> None:
    (tmp_path / "p.txt").write_text("x")
    rounded = only(tmp_path, *BEGIN, "<SUPPRESS> RND(1,5,0,10)")
    assert rounded["perturbation"] == {"method": "rounding", "base": 5, "rounding": "controlled"}
    assert only(tmp_path, *BEGIN, "<SUPPRESS> CTA(1)")["adjustment"] == {}
    noisy = only(tmp_path, *BEGIN, '<SUPPRESS> CKM(1) "C:\\p.txt" || 2.7')
    assert noisy["cell_key"] == {"p_table": "p.txt", "extra": 2.7}


def test_every_suppression_is_a_job_of_its_own_and_files_belong_to_the_one_before_them(tmp_path: Path) -> None:
    write = '<WRITETABLE> (1,{},,"{}.csv")'
    found = jobs(
        tmp_path, *BEGIN, write.format(2, "marked"), "<SUPPRESS> GH(1)", write.format(2, "gh"), write.format(1, "gh2"),
        "<SUPPRESS> OPT(1,1)", write.format(2, "opt"),
    )  # fmt: skip
    files = [[each["file"] for each in job["output"]["safe_files"]] for job in found]
    assert files == [["marked.csv"], ["gh.csv", "gh2.csv"], ["opt.csv"]]
    assert ["suppression" in job for job in found] == [False, True, True]
    assert [job["output"].get("unprotected") for job in found] == [True, None, None]


def test_table_0_is_all_of_them_together(tmp_path: Path) -> None:
    second = '<SPECIFYTABLE> "Region"|"Turnover"||'
    write = ('<WRITETABLE> (1,2,AS+,"one.csv")', '<WRITETABLE> (2,3,,"two.txt")')
    job = only(tmp_path, *OPEN, TABLE, RULE, second, "<SAFETYRULE> P(10,1)", READ, "<SUPPRESS> MOD(0)", *write)
    assert job["data"] == {"microdata": "firms.asc", "metadata": "firms.rda"}
    assert [table["by"] for table in job["tables"].values()] == [["Region", "Size"], ["Region"]]
    assert job["rules"] == {"min_count": {"n": 2, "margin": 10, "zeros": True}} | AS_IN_ARGUS
    assert job["tables"]["table2"]["rules"] == {"p_percent": 10} | AS_IN_ARGUS
    assert [table["output"]["safe_files"][0]["file"] for table in job["tables"].values()] == ["one.csv", "two.txt"]


def test_several_files_of_cells_are_several_tables(tmp_path: Path) -> None:
    house(tmp_path)
    (tmp_path / "others.tab").write_bytes((tmp_path / "cells.tab").read_bytes())
    job = only(tmp_path, *BEGIN_CELLS[:4], '<OPENTABLEDATA> "others.tab"', *BEGIN_CELLS[1:], "<SUPPRESS> GH(0)")
    assert [table["data"]["cells"] for table in job["tables"].values()] == ["cells.tab", "others.tab"]


def test_a_table_that_nothing_is_done_with_is_said_and_left_alone(tmp_path: Path) -> None:
    made = translated(tmp_path, *OPEN, TABLE, RULE, TABLE, RULE, READ, "<SUPPRESS> GH(2)")
    assert [job.step.tables[0].number for job in made.jobs] == [2]
    assert list(made.places.notes) == ["line 3: nothing is done with table 1"]


def test_a_protection_that_is_undone_before_anything_is_written_is_said_and_left_out(tmp_path: Path) -> None:
    made = translated(tmp_path, *BEGIN, "<SUPPRESS> OPT(1,5)", "<SUPPRESS> GH(1)", '<WRITETABLE> (1,2,,"o.csv")')
    assert [job.step.at for job in made.jobs] == [7]
    assert list(made.places.notes) == ["line 6: undone by line 7 before anything of it is written"]


def test_clear_begins_a_new_job(tmp_path: Path) -> None:
    assert [job["data"].popitem()[0] for job in jobs(tmp_path, *BEGIN, "<CLEAR>", *BEGIN_CELLS)] == ["metadata"] * 2


# --- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ('1,,"o.csv"', {"format": "csv"}),
        ('2,AS+SE-FL+,"o.csv"', {"format": "pivot", "status": True, "suppress_empty": False, "names_first": True}),
        ('3,AS+FL+HL+,"o.csv"', {"format": "code-value", "status": True, "names_first": True}),
        ('4,HL+,"o.csv"', {"format": "sbs", "hierarchical_levels": True}),
        ('5,SO+AR+HI-,"o.csv"', {"format": "intermediate", "status_only": True, "audit": True, "holding": False}),
        ('5,1,"o.csv"', {"format": "intermediate", "version": 3}),
        ('6,TR+,"o.csv"', {"format": "jj", "remove_trivial": True}),
    ],
)
def test_files_have_the_format_and_the_options_of_the_batch(
    said: str, expected: dict[str, Any], tmp_path: Path
) -> None:
    job = only(tmp_path, *BEGIN, "<SUPPRESS> GH(1)", f"<WRITETABLE> (1,{said})")
    layout = {"file": "o.csv", "widths": {"Size": 1}, "decimals": 1}
    assert job["output"]["safe_files"] == [expected | layout]


def test_of_two_files_with_one_name_before_the_ending_the_later_has_the_page(tmp_path: Path) -> None:
    write = ('<WRITETABLE> (1,1,,"o.csv")', '<WRITETABLE> (1,5,,"o.tab")', '<WRITETABLE> (1,3,,"p.txt")')
    files = only(tmp_path, *BEGIN, "<SUPPRESS> GH(1)", *write)["output"]["safe_files"]
    assert [each.get("report") for each in files] == [False, None, None]


def test_a_cell_key_file_follows_the_cell_key_method_only(tmp_path: Path) -> None:
    write = '<WRITETABLE> (1,7,AO+AD+AC-,"o.csv")'
    (file,) = only(tmp_path, *BEGIN, "<SUPPRESS> CKM(1)", write)["output"]["safe_files"]
    assert {key: file[key] for key in ("format", "original", "differences", "keys")} == {
        "format": "cell-keys", "original": True, "differences": True, "keys": False
    }  # fmt: skip
    with pytest.raises(UnreadableFile, match="a file of type 7 is for the cell-key method"):
        jobs(tmp_path, *BEGIN, "<SUPPRESS> GH(1)", write)


def test_files_go_where_the_batch_says_if_the_folder_is_there_else_beside_it_or_to_the_folder_named(
    tmp_path: Path,
) -> None:
    (tmp_path / "Out").mkdir()
    (tmp_path / "elsewhere").mkdir()
    here = [r"Out\a.csv", r"F:\lost\b.csv", r"\\house\c.csv", "gone/d.csv", str(tmp_path / "elsewhere" / "e.csv")]
    lines = [f'<WRITETABLE> (1,2,,"{name}")' for name in here]
    made = translated(tmp_path, *BEGIN, "<SUPPRESS> GH(1)", *lines)
    files = [each["file"] for each in made.jobs[0].content["output"]["safe_files"]]
    assert files == ["Out/a.csv", "b.csv", "c.csv", "d.csv", "elsewhere/e.csv"]
    assert len(made.places.notes) == 3
    out = translated(tmp_path, *BEGIN, "<SUPPRESS> GH(1)", *lines, out=tmp_path / "new")
    files = [each["file"] for each in out.jobs[0].content["output"]["safe_files"]]
    assert files == [f"new/{name}.csv" for name in "abcde"]


# --- what cannot be had ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "line", "words"),
    [
        ((OPEN[1],), 1, "<OPENMETADATA> does not follow any data"),
        ((OPEN[0], OPEN[0]), 2, "data are already open"),
        ((OPEN[0], TABLE), 2, "<SPECIFYTABLE> comes before data and metadata"),
        ((*OPEN, RULE), 3, "<SAFETYRULE> does not follow a table"),
        ((*OPEN, TABLE, RULE, RULE, READ), 5, "<SAFETYRULE> does not follow a table"),
        ((*OPEN, READ), 3, "there is no table to read"),
        ((*OPEN, TABLE, RULE, "<READTABLE>"), 5, "the open data are of the other kind"),
        ((*OPEN, TABLE, RULE, "<SUPPRESS> GH(1)", READ), 5, "table 1 has not been read"),
        ((*OPEN, TABLE, RULE), 4, "the tables are never read"),
        ((*BEGIN, "<SUPPRESS> GH(2)"), 6, "there is no table 2"),
        ((*BEGIN, "<SUPPRESS> OPT(0,1)"), 6, "OPT is not for linked tables"),
        ((*BEGIN, "<SUPPRESS> RND(1)"), 6, "rounding has no base"),
        ((*BEGIN, "<COVER>"), 6, "<COVER> is not supported"),
        ((*BEGIN, "<SUPPRESS> GH(1)", "<RECODE> 1,Region,1"), 7, "table 1 is already protected and cannot be recoded"),
        ((*BEGIN, '<RECODE> 1,Owner,"firms.asc"'), 6, "table 1 has no variable 'Owner'"),
        ((*BEGIN, '<APRIORI> "x.hst",1,";"'), 6, "there is no file 'x.hst'"),
        (('<OPENMICRODATA> "x.asc"', OPEN[1], TABLE, RULE, READ), 1, "there is no file 'x.asc'"),
        ((*OPEN, '<SPECIFYTABLE> "Nace"|"Turnover"', RULE, READ), 3, "no column 'Nace'"),
        ((*OPEN, '<SPECIFYTABLE> "Region"|"Size"', RULE, READ), 3, "the response 'Size' is not a number"),
        ((*OPEN, TABLE, "<SAFETYRULE> FREQ(2,2)|FREQ(2,2)|FREQ(2,2)", READ), 4, "too many FREQ rules"),
        ((*BEGIN_CELLS, "<SUPPRESS> CKM(1)"), 6, "the metadata name no record key"),
        ((*BEGIN, "<SUPPRESS> CTA(1)", '<WRITETABLE> (1,5,,"a")'), 7, "a file of type 5 cannot show what CTA does"),
        ((*BEGIN, "<SUPPRESS> RND(1,5)", '<WRITETABLE> (1,5,,"a")'), 7, "a file of type 5 cannot show what RND does"),
        (
            (*BEGIN_CELLS[:3], "<SAFETYRULE> P(9,2)", "<READTABLE>"),
            4,
            "at the 3 largest contributions, the metadata name 0",
        ),
        ((*BEGIN_CELLS[:3], "<SAFETYRULE> FREQ(0,0)|FREQ(2,9)", "<READTABLE>"), 4, "nothing of holdings and requests"),
        (
            (*OPEN, '<SPECIFYTABLE> "Size"|<freq>', "<SAFETYRULE> P(9)", READ),
            4,
            "P cannot judge a table of frequencies",
        ),
        ((*BEGIN, '<WRITETABLE> (1,2,,"FIRMS.ASC/../firms.asc")'), 6, "'firms.asc' would be overwritten"),
        ((*BEGIN, '<LOGBOOK> "job.arb"'), 6, "'job.arb' would be overwritten"),
        ((*BEGIN, '<WRITETABLE> (1,2,,"..")'), 6, "no file can be called '..'"),
        (("<CLEAR>",), 1, "the batch makes no table"),
    ],
)
def test_what_cannot_be_had_is_named_with_its_line_before_anything_runs(
    lines: tuple[str, ...], line: int, words: str, tmp_path: Path
) -> None:
    with pytest.raises(UnreadableFile) as refusal:
        jobs(tmp_path, *lines)
    told = f"{refusal.value.what}\n{refusal.value.where}"
    assert words in told
    assert f"line {line}" in told or f"lines {line}" in told
    assert refusal.value.hint


def test_weights_have_no_part_in_a_list_of_cells_which_is_said(tmp_path: Path) -> None:
    made = translated(tmp_path, *BEGIN_CELLS[:3], "<SAFETYRULE> FREQ(2,9)|WGT(1)", "<READTABLE>")
    assert "weighted" not in made.jobs[0].content["rules"]["min_count"]
    assert "table 1: WGT has no effect on a list of cells" in made.places.notes


def test_a_minimum_count_of_cells_without_frequencies_is_refused_with_its_line(tmp_path: Path) -> None:
    batch = house(tmp_path, *BEGIN_CELLS[:3], RULE, "<READTABLE>")
    (tmp_path / "cells.rda").write_text(CELLS_RDA.replace("<FREQUENCY>", "<NUMERIC>"))
    with pytest.raises(UnreadableFile, match="the metadata name no frequencies") as refusal:
        translate(read_batch(batch))
    assert str(refusal.value.where).endswith("line 4")


def test_everything_that_cannot_be_had_is_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile) as refusal:
        jobs(tmp_path, *BEGIN, "<COVER>", "<SUPPRESS> NET(0)", '<APRIORI> "x.hst",1,";"', "<SUPPRESS> GH(3)")
    assert [row.split(":")[0].strip() for row in refusal.value.what.splitlines()[1:]] == [
        "line 6", "line 7", "line 8", "line 9"
    ]  # fmt: skip
