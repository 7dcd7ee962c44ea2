"""The commands as a user calls them."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xlsxwriter

from diskret import Status
from diskret.publication.working import load_working
from tests.present import present

Call = Callable[..., Any]
HIDDEN = ("7919.73", "6021.37")


# --- run and check ---------------------------------------------------------------------------------------------------


def test_a_job_is_run_as_a_user_runs_it(diskret: Call, folder: Path) -> None:
    done = diskret("run", "job.toml")
    assert done.code == 0
    assert "turnover: 9 cells, 9 occupied: 7 open, 2 primary" in done.out
    assert "  2 by minimum count" in done.out
    for name in ("t.csv", "t.xlsx", "t.json", "t.px", "t.parquet", "w.parquet"):
        assert f"wrote out/{name}" in done.out.splitlines()
        assert (folder / "out" / name).stat().st_size > 0
    assert done.err.startswith("care: ")
    assert "secondary suppression" in done.err


def test_hidden_cells_that_break_a_rule_together_are_said_and_end_with_code_1(typed: Call, folder: Path) -> None:
    rows = zip("aaabbccc", [90, 1, 1, 6, 2, 30, 30, 30], strict=True)
    (folder / "few.csv").write_text("r,x\n" + "".join(f"{r},{x}\n" for r, x in rows))
    shown = "".join(f'[[status]]\nstatus = "never"\ncell = {{ r = "{code}" }}\n' for code in ("c", "Total"))
    job = '[data]\nmicrodata = "few.csv"\n[table]\nby = ["r"]\nvalue = "x"\n[rules]\np_percent = 10\n[suppression]\n'
    (folder / "few.toml").write_text(job + shown)
    done = typed("run", "few.toml")
    assert "attacked with a solver: 0 exposed, 0 undecided, 1 lines breaking the rule" in done.out
    assert done.code == 1


def test_quiet_prints_nothing(diskret: Call, folder: Path) -> None:
    done = diskret("run", "job.toml", "--quiet")
    assert (done.code, done.said) == (0, "")
    assert (folder / "out" / "t.csv").is_file()


@pytest.mark.parametrize(
    "words",
    [
        ("run", "job.toml", "-q"),
        ("check", "job.toml", "--quiet"),
        ("init", "firms.csv", "--out", "new.toml", "--quiet"),
        ("tabulate", "firms.csv", "--by", "region", "--value", "wages", "--out", "n.parquet", "--quiet"),
        ("mark", "w.parquet", "--min-count", "3", "--unprotected", "--out", "n.csv", "--quiet"),
    ],
)
def test_every_command_can_be_quiet(typed: Call, words: tuple[str, ...]) -> None:
    typed("tabulate", "firms.csv", "--by", "region", "--value", "turnover", "--out", "w.parquet")
    done = typed(*words)
    assert (done.code, done.said) == (0, "")


@pytest.mark.parametrize(
    "words",
    [
        ("run", "job.toml", "--json"),
        ("run", "job.toml", "--json", "--show"),
        ("check", "job.toml", "--json"),
        ("tabulate", "firms.csv", "--by", "region", "--value", "wages", "--out", "n.parquet", "--json"),
        ("mark", "w.parquet", "--min-count", "3", "--unprotected", "--out", "n.csv", "--json"),
    ],
)
def test_json_is_one_valid_document_and_nothing_else(typed: Call, words: tuple[str, ...]) -> None:
    typed("tabulate", "firms.csv", "--by", "region", "--value", "turnover", "--out", "w.parquet")
    done = typed(*words)
    assert (done.code, done.err) == (0, "")
    summary = json.loads(done.out)
    assert summary.keys() == {"tables", "files", "warnings"}
    assert all(Path(f).is_file() for f in summary["files"])
    assert all(sum(t["status"].values()) == t["cells"] for t in summary["tables"].values())


def test_show_prints_marks_but_no_hidden_value(typed: Call) -> None:
    done = typed("run", "job.toml", "--show")
    lines = done.out.splitlines()
    assert "turnover by region, size" in lines[0]
    (north,) = [line.split() for line in lines[:8] if line.startswith("N ")]
    assert north == ["N", "x", "60.50", "7980.23"]
    assert not [h for h in HIDDEN if h in done.said]


def test_nothing_is_said_of_the_price_where_nothing_is_hidden(typed: Call, folder: Path) -> None:
    job = folder / "job.toml"
    said = job.read_text(encoding="utf-8").replace('["region", "size"]', '["region"]')
    job.write_text(said.replace("unprotected = true\n", "") + "[suppression]\n", encoding="utf-8")
    done = typed("run", str(job))
    assert done.code == 0
    assert "no cell is primary" in done.out
    assert "cheaper" not in done.out


def test_check_writes_nothing_and_finds_what_running_would(typed: Call, folder: Path) -> None:
    done = typed("check", "job.toml")
    assert done.code == 0
    assert "2 primary" in done.out
    assert "wrote" not in done.out
    assert sorted(p.name for p in folder.iterdir()) == ["firms.csv", "job.toml"]
    (folder / "firms.csv").write_text("region,size,turnover,wages\nN,small,a lot,1\n")
    assert typed("check", "job.toml").err == typed("run", "job.toml").err
    assert typed("check", "job.toml").code == 2


def test_files_of_a_job_are_sought_and_written_where_the_job_stands(
    typed: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "elsewhere").mkdir()
    monkeypatch.chdir(folder / "elsewhere")
    done = typed("run", "../job.toml")
    assert "wrote ../out/t.csv" in done.out
    assert (folder / "out" / "t.csv").is_file()


def test_a_long_path_is_printed_in_one_piece(typed: Call, folder: Path) -> None:
    long = "a-rather-long-name-" * 10 + ".csv"
    (folder / "job.toml").write_text((folder / "job.toml").read_text().replace("out/t.csv", long))
    assert f"wrote {long}" in typed("run", "job.toml").out.splitlines()


@pytest.mark.parametrize("name", ["[/bold]", "[red]x", "{0}", "%s", "a\\[b]"])
def test_a_column_of_any_name_is_printed_as_it_is(typed: Call, folder: Path, name: str) -> None:
    (folder / "firms.csv").write_text(f"region,{name}\nN,1\nS,2\n")
    done = typed("tabulate", "firms.csv", "--by", "region", "--value", name, "--out", "w.parquet")
    assert done.code == 0
    assert done.out.startswith(f"{name}: 3 cells")


# --- init ------------------------------------------------------------------------------------------------------------


def test_a_job_made_for_a_file_runs(typed: Call, folder: Path) -> None:
    made = typed("init", "firms.csv", "--out", "new.toml")
    assert (made.code, made.err) == (0, "")
    assert "diskret run new.toml" in made.out
    assert typed("run", "new.toml", "-q").code == 0
    assert (folder / "out" / "firms.xlsx").is_file()


def test_init_is_cured_by_its_own_options(typed: Call, folder: Path) -> None:
    with xlsxwriter.Workbook(folder / "firms.xlsx") as book:
        book.add_worksheet("about us").write(0, 0, "made on Monday")
        sheet = book.add_worksheet("firms")
        for i, row in enumerate([("region", "turnover"), *[("N", 5 + i) for i in range(9)]]):
            sheet.write_row(i, 0, row)
    asked = typed("init", "firms.xlsx", "--out", "new.toml").err
    assert "to take this sheet: --sheet 'about us'\n" in asked
    assert (
        "to take this sheet: --sheet firms\n" in typed("init", "firms.xlsx", "--sheet", "firm", "--out", "new.toml").err
    )
    assert typed("init", "firms.xlsx", "--sheet", "firms", "--out", "new.toml").code == 0


def test_an_existing_job_is_not_overwritten_unless_forced(typed: Call, folder: Path) -> None:
    before = (folder / "job.toml").read_bytes()
    done = typed("init", "firms.csv")
    assert done.code == 2
    assert "[O1] the job file exists already" in done.err
    assert "--force" in done.err
    assert (folder / "job.toml").read_bytes() == before
    assert typed("init", "firms.csv", "--force").code == 0
    assert (folder / "job.toml").read_bytes() != before


def test_a_separator_and_a_decimal_comma_go_into_the_job(typed: Call, folder: Path) -> None:
    (folder / "g.csv").write_text("region;x\nN;1,5\nN;2,5\nS;1\nS;2\n")
    assert typed("init", "g.csv", "--out", "g.toml", "--delimiter", ";", "--decimal", ",").code == 0
    assert tomllib.loads((folder / "g.toml").read_text())["data"]["decimal"] == ","
    refused = typed("init", "g.csv", "--out", "h.toml", "--decimal", ";")
    assert refused.code == 2
    assert "--decimal ';' is not known" in refused.err


# --- tabulate and mark -----------------------------------------------------------------------------------------------


def test_a_table_is_made_then_marked_then_published(typed: Call, folder: Path) -> None:
    (folder / "r.hrc").write_text("N\nS\n")
    made = typed(
        "tabulate", "firms.csv", "--by", "region=r.hrc", "--by", "size", "--value", "turnover", "--value", "wages",
        "--holding", "owner", "--out", "w.parquet",
    )  # fmt: skip
    assert made.code == 0
    assert "wrote" in made.out
    assert not load_working(folder / "w.parquet")["turnover"].hidden.any()
    marked = typed("mark", "w.parquet", "--min-count", "3", "--counted-by", "holding", "--out", "m.parquet")
    assert "  4 by minimum count of holdings" in marked.out
    table = load_working(folder / "m.parquet")["turnover"]
    assert (table.status == Status.PRIMARY).sum() == 4
    words = ("--dominance", "1,85", "--compare", "c.svg", "--unprotected", "--out", "t.csv")
    published = typed("mark", "m.parquet", *words)
    assert published.code == 0
    assert "1. (1,k) dominance" in published.out
    assert (folder / "c.svg").read_text().startswith("<svg")
    assert "N,large,x,x" in (folder / "t.csv").read_text()


def test_codes_add_up_by_their_prefixes(typed: Call, folder: Path) -> None:
    (folder / "n.csv").write_text("nace,x\n0111,1\n0112,2\n0210,4\n")
    typed("tabulate", "n.csv", "--by", "nace=2,3", "--value", "x", "--out", "w.parquet")
    table = load_working(folder / "w.parquet")["x"]
    assert {c: v for c, v in zip(table.by["nace"].codes, table.value.tolist(), strict=True) if len(c) == 2} == {
        "01": 3.0,
        "02": 4.0,
    }


def test_units_are_counted_without_a_value_and_grossed_up_with_a_weight(typed: Call, folder: Path) -> None:
    typed("tabulate", "firms.csv", "--by", "region", "--weight", "wages", "--out", "w.parquet")
    (table,) = load_working(folder / "w.parquet").values()
    assert table.value.tolist() == [315.0, 236.0, 551.0]
    assert table.frequency


@pytest.mark.parametrize("kept", [2, 4])
def test_as_many_largest_contributions_are_kept_as_asked_for(typed: Call, folder: Path, kept: int) -> None:
    words = ("--by", "region", "--value", "turnover", "--largest", kept, "--out", "w.parquet")
    assert typed("tabulate", "firms.csv", *words).code == 0
    table = load_working(folder / "w.parquet")["turnover"]
    assert present(table.respondents).ranked == kept
    assert np.array_equal(present(table.largest)[..., 0], [7919.73, 6011.37, 7919.73])


def test_german_files_are_read_with_their_signs(typed: Call, folder: Path) -> None:
    (folder / "g.csv").write_text("region;x\nN;1.234,5\nS;0,5\n")
    words = ("--by", "region", "--value", "x", "--delimiter", ";", "--decimal", ",", "--out", "w.parquet")
    assert typed("tabulate", "g.csv", *words).code == 0
    assert load_working(folder / "w.parquet")["x"].value.tolist() == [1234.5, 0.5, 1235.0]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("tabulate", "firms.csv", "--by", "region", "--out", "t.csv"), "endings: .parquet"),
        (("tabulate", "firms.csv", "--by", "region=r.hrc", "--out", "w.parquet"), "there is no file"),
        (("tabulate", "firms.csv", "--by", "region", "--decimal", ";", "--out", "w.parquet"), "data.decimal"),
        (("tabulate", "firms.csv", "--by", "region", "--engine", "abacus", "--out", "w.parquet"), "engine 'abacus'"),
        (("tabulate", "firms.csv", "--by", "region", "--largest", "-1", "--out", "w.parquet"), "--largest"),
        (("tabulate", "firms.csv", "--by", "region=²", "--out", "w.parquet"), "there is no file"),
        (("tabulate", "firms.csv", "--out", "w.parquet"), "--by"),
        (("mark", "w.parquet", "--dominance", "85", "--out", "t.csv"), "rules.dominance"),
        (("mark", "w.parquet", "--dominance", "one,85", "--out", "t.csv"), "rules.dominance"),
        (("mark", "w.parquet", "--dominance", "1,2,3", "--out", "t.csv"), "rules.dominance"),
        (("mark", "w.parquet", "--counted-by", "owner", "--out", "t.csv"), "'respondent' or 'holding'"),
        (("mark", "w.parquet", "--min-count", "3", "--counted-by", "holding", "--out", "t.csv"), "needs the number"),
        (("mark", "w.parquet", "--dominance", "5,90", "--out", "t.csv"), "5 largest contributions"),
        (("mark", "w.parquet", "--min-count", "three", "--out", "t.csv"), "--min-count"),
        (("mark", "w.parquet", "--small-cells", "0", "--out", "t.csv"), "rules.small_cells"),
        (("mark", "w.parquet", "--min-count", "3", "--out", "t.docx"), ".docx"),
        (("mark", "firms.csv", "--min-count", "3", "--out", "t.csv"), "firms.csv"),
        (("mark", "w.parq", "--min-count", "3", "--out", "t.csv"), "did you mean 'w.parquet'?"),
        (("mark", "w.parquet", "--min-count", "3", "--out", "firms.csv/t.csv"), "[W1]"),
        (("frobnicate",), "frobnicate"),
    ],
)
def test_options_that_make_no_sense_are_refused(typed: Call, folder: Path, words: tuple[str, ...], said: str) -> None:
    typed("tabulate", "firms.csv", "--by", "region", "--by", "size", "--value", "turnover", "--out", "w.parquet")
    before = sorted(p.name for p in folder.iterdir())
    done = typed(*words)
    assert done.code == 2
    assert done.out == ""
    assert said in done.err
    assert "Traceback" not in done.err
    assert sorted(p.name for p in folder.iterdir()) == before


def test_a_mistake_of_ours_is_called_one_and_has_its_own_exit_code(
    typed: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down(*_: object, **__: object) -> None:
        raise ZeroDivisionError("7919.73")

    monkeypatch.setattr("diskret.job.run.run_job", break_down)
    done = typed("run", "job.toml")
    assert done.code == 3
    assert "a mistake in diskret itself (ZeroDivisionError)" in done.err
    assert "DISKRET_DEBUG=1" in done.err
    assert "7919.73" not in done.err
    assert "Traceback" not in done.err
    monkeypatch.setenv("DISKRET_DEBUG", "1")
    monkeypatch.setattr("sys.argv", ["diskret", "run", "job.toml"])
    from diskret.cli import main

    with pytest.raises(ZeroDivisionError):
        main()


def test_nothing_unprotected_is_published_by_a_command(typed: Call, folder: Path) -> None:
    typed("tabulate", "firms.csv", "--by", "region", "--by", "size", "--value", "turnover", "--out", "w.parquet")
    unmarked = typed("publish", "w.parquet", "--out", "t.csv")
    marked = typed("mark", "w.parquet", "--min-count", "3", "--margin", "5", "--out", "t.csv")
    for done in (unmarked, marked):
        assert done.code == 2
        assert "[W5]" in done.err
        assert "--unprotected" in done.err
    assert not (folder / "t.csv").exists()
    told = typed("publish", "w.parquet", "--unprotected", "--out", "t.json")
    assert told.code == 0
    assert "care: " in told.err
    assert "not protected" in (folder / "t.json").read_text(encoding="utf-8")
    typed("mark", "w.parquet", "--min-count", "3", "--out", "m.parquet")
    assert typed("publish", "m.parquet", "--out", "t.csv").code == 2
    assert typed("suppress", "m.parquet", "--out", "p.parquet").code == 0
    assert typed("publish", "p.parquet", "--out", "t.csv").code == 0


def test_a_command_publishes_as_sdmx_if_it_names_the_dataflow(typed: Call, folder: Path) -> None:
    typed("tabulate", "firms.csv", "--by", "region", "--by", "size", "--value", "turnover", "--out", "w.parquet")
    unnamed = typed("publish", "w.parquet", "--unprotected", "--out", "t.sdmx.csv")
    assert (unnamed.code, "an SDMX file names its dataflow" in unnamed.err) == (2, True)
    named = ("--dataflow", "XX:FIRMS(1.0)")
    assert typed("publish", "w.parquet", "--unprotected", *named, "--out", "t.sdmx.csv").code == 0
    assert "dataflow,XX:FIRMS(1.0),I," in (folder / "t.sdmx.csv").read_text()


def test_a_margin_belongs_to_a_minimum_count(typed: Call, folder: Path) -> None:
    typed("tabulate", "firms.csv", "--by", "region", "--value", "turnover", "--out", "w.parquet")
    refused = typed("mark", "w.parquet", "--p-percent", "10", "--margin", "5", "--out", "m.parquet")
    assert (refused.code, "margin without a minimum count" in refused.err) == (2, True)


def test_the_version_is_told_without_doing_anything(capsys: pytest.CaptureFixture[str]) -> None:
    from diskret import __version__
    from diskret.cli import app

    assert app(["--version"], standalone_mode=False) in (None, 0)
    assert capsys.readouterr().out.strip() == f"diskret {__version__}"


def test_what_is_found_of_a_file_and_what_is_said_of_it_go_into_the_job(typed: Call, folder: Path) -> None:
    rows = "".join(f"{land};1.{i}00,5\n" for i in range(1, 9) for land in ("Köln", "Jülich"))
    (folder / "g.csv").write_bytes(f"Umsatz – nach Land\n\nland;x\n{rows}".encode("cp1252"))
    assert typed("init", "g.csv", "--out", "g.toml").code == 0
    data = tomllib.loads((folder / "g.toml").read_text(encoding="utf-8"))["data"]
    assert data == {"microdata": "g.csv", "encoding": "windows-1252", "header": 3, "decimal": ","}
    (folder / "g.toml").write_text('[data]\nmicrodata = "g.csv"\n[table]\nby = ["land"]\nvalue = "x"\n')
    assert "found in the data: encoding = 'windows-1252', header = 3" in typed("check", "g.toml").out
    said = ("--encoding", "windows-1252", "--header", "3", "--decimal", ",", "--thousands", ".")
    assert typed("init", "g.csv", "--out", "h.toml", *said).code == 0
    assert tomllib.loads((folder / "h.toml").read_text(encoding="utf-8"))["data"] == {**data, "thousands": "."}
    for wrong in (("--header", "x"), ("--header", "0"), ("--encoding", "ebcdic"), ("--range", "B4:C9")):
        refused = typed("init", "g.csv", "--out", "i.toml", *wrong)
        assert (refused.code, (folder / "i.toml").exists()) == (2, False)
