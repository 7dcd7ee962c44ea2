"""A batch runs as it is: what it says is done, what is not at its place is said, and nothing ends in a traceback."""

from __future__ import annotations

import random
import re
import stat
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import diskret as dk
from diskret.cli import app
from diskret.cli.batches import argus
from diskret.io.cell_list import read_cell_list
from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.model.errors import DiskretError
from tests.argus.case import BEGIN, BEGIN_CELLS, MICRO, OPEN, READ, RULE, TABLE, house

RUN = (*BEGIN, "<SUPPRESS> GH(1,75)")


def cli(*arguments: str) -> tuple[int, str]:
    done = CliRunner().invoke(app, ["argus", *arguments])
    return done.exit_code, done.output


def test_a_batch_marks_protects_and_audits(tmp_path: Path) -> None:
    done = dk.run_argus(house(tmp_path, *RUN))
    (result,) = done.results
    facts = result.summary()["tables"]["Turnover"]
    assert facts["rules"] == {"minimum count": 2}  # B1 is the only part of B
    assert facts["suppression"]["audit"]["exposed"] == 0
    assert not done.exposed


def test_data_elsewhere_in_other_capitals_are_found_beside_the_batch_and_that_is_said(tmp_path: Path) -> None:
    lines = (r'<OPENMICRODATA> "\\house\surveys 2026\FIRMS.ASC"', r'<OPENMETADATA> "F:\Firms.Rda"', *RUN[2:])
    done = dk.run_argus(house(tmp_path, *lines))
    assert sorted(done.notes) == [
        r"'F:\Firms.Rda' is not there: 'firms.rda' beside the batch is read instead",
        r"'\\house\surveys 2026\FIRMS.ASC' is not there: 'firms.asc' beside the batch is read instead",
    ]


def test_an_a_priori_file_in_which_no_cell_is_named_is_empty_and_that_is_said(tmp_path: Path) -> None:
    batch = house(tmp_path, *BEGIN, '<APRIORI> "none.hst",1,",",0,0', "<SUPPRESS> GH(1,75)")
    (tmp_path / "none.hst").touch()
    done = dk.run_argus(batch)
    assert done.notes == ("line 6: 'none.hst' is empty and says nothing about any cell",)
    assert done.results[0].summary()["tables"]["Turnover"]["rules"] == {"minimum count": 2}


def test_a_hierarchy_at_the_place_that_the_metadata_name_is_nothing_to_speak_of(tmp_path: Path) -> None:
    batch = house(tmp_path, *BEGIN)
    (tmp_path / "region.hrc").write_text("A\n@A1\nB\n@B1\nC\n@C1\n")
    metadata = (tmp_path / "firms.rda").read_text()
    for named, notes in ((tmp_path / "region.hrc", 0), ("./region.hrc", 0), (r"F:\region.hrc", 1)):
        own = metadata.replace("<HIERLEVELS> 1 1", f'<HIERCODELIST> "{named}"\n   <HIERLEADSTRING> "@"')
        (tmp_path / "firms.rda").write_text(own)
        assert len(dk.run_argus(batch).notes) == notes, named


def test_the_logbook_tells_commands_and_counts_but_no_value_and_no_parameter_of_a_rule(tmp_path: Path) -> None:
    lines = ("<SILENT>", "<SOLVER> CPLEX", "<LOGBOOK> C:\\temp\\log.txt", '<VERSIONINFO> "v.txt"', *RUN)
    done = dk.run_argus(house(tmp_path, *lines))
    log = (tmp_path / "log.txt").read_text()
    assert [path.name for path in done.files] == ["log.txt", "v.txt"]
    assert all(re.match(r"\d\d-[a-z]{3}-\d{4} \d\d:\d\d:\d\d : ", line) for line in log.splitlines())
    assert (tmp_path / "log.txt").stat().st_mode & 0o077 == 0, "warnings tell which cells are sensitive"
    assert "Command: <SAFETYRULE> FREQ(...)|" in log
    assert "our own solver is used, not CPLEX" in log
    assert "2 primary" in log
    numbers = {float(line[3:8]) for line in MICRO.splitlines()}
    assert not [number for number in numbers if re.search(rf"\b{number:g}\b", log)]
    assert re.fullmatch(r"diskret version: [\d.]+; build: 0\n", (tmp_path / "v.txt").read_text())


def test_remarks_are_not_logged_because_old_parameters_stand_in_them(tmp_path: Path) -> None:
    lines = ("<LOGBOOK> log.txt", *OPEN, TABLE, '// <SAFETYRULE> "P(17,1)"', RULE + '// "P(17)", p=17', READ + " // 17")
    dk.run_argus(house(tmp_path, *lines))
    log = (tmp_path / "log.txt").read_text()
    assert " : Command: <SAFETYRULE> FREQ(...)|\n" in log
    assert "17" not in re.sub(r"^\S+ \S+ : ", "", log, flags=re.MULTILINE)


def test_an_explained_batch_is_a_job_with_every_line_of_it_that_gives_the_same_pattern(tmp_path: Path) -> None:
    batch = house(tmp_path, "<SOLVER> FREE", *RUN)
    (file,) = dk.explain_argus(batch)
    text = file.read_text(encoding="utf-8")
    assert file.name == "job.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    for number, line in enumerate(batch.read_text().splitlines(), start=1):
        assert f"# line {number}: {line}" in text
    again = run_job(read_job(file), tmp_path).tables["Turnover"]
    (result,) = dk.run_argus(batch).results
    assert (again.status == result.tables["Turnover"].status).all()
    with pytest.raises(DiskretError, match="exists already"):
        dk.explain_argus(batch)
    assert dk.explain_argus(batch, force=True) == (file,)


def test_an_explanation_elsewhere_names_the_data_from_there(tmp_path: Path) -> None:
    out = tmp_path / "jobs"
    lines = ('<WRITETABLE> (1,2,,"one.csv")', "<SUPPRESS> MOD(1)", '<WRITETABLE> (1,2,,"two.csv")')
    one, two = dk.explain_argus(house(tmp_path, *RUN, *lines), out=out)
    assert [one.name, two.name] == ["job-1.toml", "job-2.toml"]
    assert read_job(two).model_dump()["data"]["microdata"] == "../firms.asc"


def test_linked_tables_are_protected_together(tmp_path: Path) -> None:
    second = '<SPECIFYTABLE> "Size"|"Turnover"||'
    batch = house(tmp_path, *OPEN, TABLE, RULE, second, RULE, READ, "<SUPPRESS> GH(0,75)")
    (result,) = dk.run_argus(batch).results
    assert set(result.tables) == {"table1", "table2"}
    assert result.suppressions["Turnover"].audit is not None


def test_linked_tables_are_recoded_together_also_where_nobody_is_alone(tmp_path: Path) -> None:
    tables = (TABLE, RULE, '<SPECIFYTABLE> "Size"|"Turnover"', "<SAFETYRULE> FREQ(9,10)")
    batch = house(tmp_path, *OPEN, *tables, READ, '<RECODE> 1,"Size","s.grc"', "<SUPPRESS> MOD(0)")
    (tmp_path / "s.grc").write_text("X:1,2\n")
    facts = dk.run_argus(batch).results[0].summary()["tables"]
    assert {name: facts[name]["cells"] for name in ("table1", "table2")} == {"table1": 24, "table2": 3}


def test_a_list_of_cells_gives_its_tables_in_any_order_of_classifications_also_margins_and_frequencies(
    tmp_path: Path,
) -> None:
    tables = ('"Size""Region"|"Turnover"||', '"Size"|"Turnover"||', '"Region""Size"|<freq>||')
    lines = [
        line for table in tables for line in ("<CLEAR>", *BEGIN_CELLS[:2], f"<SPECIFYTABLE> {table}", "<READTABLE>")
    ]
    first, margin, counts = (next(iter(each.tables.values())) for each in dk.run_argus(house(tmp_path, *lines)).results)
    assert (first.names, first.shape) == (("Size", "Region"), (4, 4))
    assert margin.value.tolist() == [70, 95, 165, 330]
    assert counts.frequency


def test_a_cell_that_a_file_calls_unsafe_is_open_where_rules_judge_and_find_it_safe(tmp_path: Path) -> None:
    for rules, status in {"": {"open": 15, "primary": 1}, "FREQ(1,10)": {"open": 16}}.items():
        done = dk.run_argus(house(tmp_path, *BEGIN_CELLS[:3], f"<SAFETYRULE> {rules}", "<READTABLE>"))
        assert done.results[0].summary()["tables"]["Turnover"]["status"] == status


def test_what_is_written_is_read_back_with_the_same_pattern(tmp_path: Path) -> None:
    done = dk.run_argus(house(tmp_path, *RUN, '<WRITETABLE> (1,5,,"out.csv")', '<WRITETABLE> (1,2,AS-,"pivot.csv")'))
    table = done.results[0].tables["Turnover"]
    again = read_cell_list(tmp_path / "out.csv", tmp_path / "out.rda")
    order = np.ix_(*([table.by[name].index(code) for code in again.by[name].codes] for name in again.names))
    assert (table.status[order] == again.status).all()
    assert int((again.status == dk.Status.SECONDARY).sum()) == 6
    values = [line.split(",")[-1] for line in (tmp_path / "pivot.csv").read_text().splitlines()[1:]]
    assert values.count("x") == int((table.status > 0).sum())
    assert values.count("-") == 4  # nobody has the missing code


def test_frequencies_are_tabulated_and_several_parts_of_a_batch_run_one_after_the_other(tmp_path: Path) -> None:
    table = '<SPECIFYTABLE> "Region""Size"|<freq>||'
    done = dk.run_argus(house(tmp_path, *OPEN, table, RULE, READ, "<CLEAR>", *RUN))
    assert [list(result.tables) for result in done.results] == [["count"], ["Turnover"]]


def test_numbers_with_three_decimals_are_no_question_for_there_are_no_thousands_in_such_data(tmp_path: Path) -> None:
    batch = house(tmp_path, *BEGIN)
    (tmp_path / "firms.asc").write_text("".join(f"{line[:3]}1.{line[5:8]}{line[8:]}\n" for line in MICRO.splitlines()))
    done = dk.run_argus(batch)
    assert done.notes == ("numbers with three digits after a '.' are taken as decimals, as by tau-ARGUS",)
    assert done.results[0].tables["Turnover"].value.max() < 100


def test_the_page_opens_with_the_job_where_the_batch_goes_on_at_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[Path] = []
    monkeypatch.setattr("diskret.web.serve.serve", lambda folder, say: opened.append(folder))
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    batch = house(tmp_path, *RUN, "<GOINTERACTIVE>")
    argus(batch, page=False)
    assert opened == []
    argus(batch)
    assert opened == [tmp_path]
    assert (tmp_path / "job.toml").is_file()


def test_a_mistake_in_the_data_is_told_with_the_line_that_needs_them(tmp_path: Path) -> None:
    batch = house(tmp_path, *RUN)
    (tmp_path / "firms.asc").write_text(MICRO.replace("  118", "  11x"))
    with pytest.raises(DiskretError) as refusal:
        dk.run_argus(batch)
    assert refusal.value.where.endswith("job.arb, line 6")


def test_the_command_runs_explains_and_refuses(tmp_path: Path) -> None:
    batch = house(tmp_path, *RUN, "<GOINTERACTIVE>")
    code, said = cli(str(batch))
    assert code == 0
    assert "2 by minimum count" in said
    assert "the batch goes on at the screen" in said
    code, said = cli(str(batch), "--explain", "--out", str(tmp_path / "new"))
    assert (code, (tmp_path / "new" / "job.toml").is_file()) == (0, True)
    code, said = cli(str(batch), "--json", "--quiet")
    assert '"notes": []' in said


# --- damage ----------------------------------------------------------------------------------------------------------

BATCHES = (
    (*RUN, '<LOGBOOK> "log.txt"'),
    (*OPEN, TABLE, "<SAFETYRULE> P(20,2)|NK(2,75)|FREQ(3,10)|ZERO(5)|MIS(1)|WGT(1)", READ, "<SUPPRESS> MOD(1,5,1,1,0)"),
    (*BEGIN_CELLS, "<SUPPRESS> NET(1)"),
    (*OPEN, TABLE, RULE, '<SPECIFYTABLE> "Size"|<freq>|""|-2,0.5', RULE, READ, "<RECODE> 2,Size,1", "<SUPPRESS> GH(2)"),
    (*BEGIN_CELLS[:4], "<READTABLE> 1T", '<APRIORI> "cells.tab",1,";",1,0', "<CLEAR>", *BEGIN),
)


def mutated(lines: tuple[str, ...], draw: random.Random) -> list[str]:
    """A batch with a mistake or two: characters lost, doubled, replaced, lines lost, doubled, swapped."""
    found = list(lines)
    for _ in range(draw.randint(1, 2)):
        at = draw.randrange(len(found))
        line, kind = found[at], draw.randrange(6)
        place = draw.randrange(max(len(line), 1))
        if kind == 0:
            found[at] = line[:place] + line[place + 1 :]
        elif kind == 1:
            found[at] = line[:place] + line[place : place + 1] * 2 + line[place + 1 :]
        elif kind == 2:
            found[at] = line[:place] + draw.choice('0189,;|()"<>/\\.x \t') + line[place + 1 :]
        elif kind == 3:
            del found[at]
        elif kind == 4:
            found.insert(draw.randrange(len(found)), line)
        else:
            other = draw.randrange(len(found))
            found[at], found[other] = found[other], found[at]
        found = found or ["<CLEAR>"]
    return found


def outcome(folder: Path, lines: list[str], lost: str | None) -> str:
    """What a batch ends in: nothing if it runs, or a message."""
    batch = house(folder, *lines)
    if lost:
        (folder / lost).unlink()
    try:
        dk.run_argus(batch, out=folder / "out")
    except DiskretError as e:
        return f"{e.what} {e.where}"
    return ""


@pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
@pytest.mark.parametrize("number", [40, pytest.param(200, marks=pytest.mark.slow)])
def test_damaged_batches_end_in_a_result_or_a_message_with_the_line(number: int, tmp_path: Path) -> None:
    draw = random.Random(18)
    found = []
    for each in range(number):
        lost = draw.choice(["firms.asc", "firms.rda", "cells.tab"]) if each % 10 == 0 else None
        found.append(outcome(tmp_path, mutated(BATCHES[each % len(BATCHES)], draw), lost))
    assert [said for said in found if said and "line" not in said] == []
    assert 0 < found.count("") < number * 0.75
