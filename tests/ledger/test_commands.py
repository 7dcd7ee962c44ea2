"""The ledger on the command line, in a job and in Python: one and the same; and nothing of it tells a hidden value."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import diskret as dk
from diskret.cli import app
from diskret.job.ledger_section import enter_tables
from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.ledger.about import About
from diskret.model.errors import BadJob, CannotWrite, LedgerBusy
from diskret.publication.working import load_working, save_working
from tests.leaks import Secrets

REGION = dk.Hierarchy.from_nested({"DE": {"N": ["a", "b"], "S": ["c", "d"]}})
ZONES = dk.Hierarchy.from_nested({"DE": {"wet": ["a", "c"], "dry": ["b", "d"]}})
X = [73019.25, 21011.5, 90017.75, 40013.5]
JOB = """
[data]
table = "zones.parquet"
[suppression]
[ledger]
folder = "ledger"
name = "Zones 2024"
population = "firms"
period = "2024"
[output]
working = "zones.working.parquet"
publish = "zones.csv"
"""


def of(tree: dk.Hierarchy) -> dk.Table:
    cells = {"region": list("abcd"), "x": X, "n": [1, 5, 5, 5]}
    table = dk.Table.from_cells(cells, by={"region": tree}, value="x", count="n")
    return table.with_status("primary", [["a"]])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    save_working(dk.suppress(of(REGION)).table, "yearbook.parquet")
    save_working(dk.suppress(of(ZONES)).table, "zones alone.parquet")
    save_working(of(ZONES), "zones.parquet")
    Path("job.toml").write_text(JOB)
    Path("about.toml").write_text('population = "firms"\nperiod = "2024"\n')
    return tmp_path


def said(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["ledger", *words], catch_exceptions=False)
    assert done.exit_code == code, done.output
    return done.output


def entered() -> None:
    said("add", "yearbook.parquet", "-l", "ledger", "--name", "Yearbook", "--about", "about.toml")


def test_enter_list_show_check_and_ask(here: Path) -> None:
    entered()
    assert "Yearbook: firms, x, 2024 by region" in said("list", "-l", "ledger")
    assert "c,90017.75" in said("show", "Yearbook", "-l", "ledger")
    out = said("check", "zones alone.parquet", "-l", "ledger", "--about", "about.toml", code=1)
    assert "exposed: region=a can be computed exactly" in out
    assert "Yearbook" in out
    told = said("history", "region=c", "period=2024", "-l", "ledger")
    assert "Yearbook: x 90017.75" in told
    assert "1 entries, the last hash is" in said("verify", "-l", "ledger")


def test_a_lost_entry_ends_list_with_exit_code_1(here: Path) -> None:
    entered()
    Path("ledger/entries/000001.parquet").unlink()
    assert "flaw: entry 1 (Yearbook) is lost" in said("list", "-l", "ledger", code=1)


def test_beside_a_lost_entry_nothing_is_called_safe(here: Path) -> None:
    said("add", "yearbook.parquet", "-l", "ledger", "--name", "Yearbook", "--about", "about.toml")
    Path("ledger/entries/000001.parquet").unlink()
    out = said("check", "zones alone.parquet", "-l", "ledger", "--about", "about.toml", code=1)
    assert "entry 1 (Yearbook) is lost" in out
    out = said("check", "zones alone.parquet", "-l", "ledger", "--about", "about.toml", "--json", code=1)
    assert json.loads(out)["x"]["safe"] is False


def test_job_and_python_give_the_same_pattern_verdict_and_entry(here: Path) -> None:
    entered()
    ledger = dk.open_ledger("ledger")
    about = About(population="firms", period="2024")
    by_hand = dk.suppress(of(ZONES), ledger=ledger.about(about, "Zones 2024"))
    run_job(read_job("job.toml"), ".")
    again = dk.open_ledger("ledger")
    assert again.entries[-1].name == "Zones 2024"
    assert again.entries[-1].data, "by which hash the data are known"
    [by_job] = load_working("zones.working.parquet").values()
    assert by_job.status.tolist() == by_hand.table.status.tolist()
    assert json.loads(said("check", "zones.working.parquet", "-l", "ledger", "--about", "about.toml", "--json"))["x"][
        "safe"
    ]


def test_json_is_one_object_and_says_no_number_that_json_does_not_know(here: Path) -> None:
    own = ("-l", "ledger", "--json")
    added = said("add", "yearbook.parquet", *own, "--name", "Yearbook", "--about", "about.toml")
    assert json.loads(added)["entries"][0]["name"] == "Yearbook"
    Path("bulletin.csv").write_text("region,x,x_lower,x_upper\na,x,70000,\n", encoding="utf-8")
    tree = Path("tree.csv")
    tree.write_text("code,parent\nDE,\nN,DE\nS,DE\na,N\nb,N\nc,S\nd,S\n", encoding="utf-8")
    words = ("--published", "bulletin.csv", "--by", "region=tree.csv", "--value", "x", "--about", "about.toml")
    said("add", *words, "--name", "Bulletin", *own)
    for asked in (("list",), ("show", "Bulletin"), ("verify",)):
        assert isinstance(json.loads(said(*asked, *own)), dict)
    out = said("history", "region=a", "period=2024", *own)
    assert "Infinity" not in out
    assert [each.get("interval") for each in json.loads(out)["told"]] == [None, [70000, None]]


def test_a_job_that_is_refused_writes_nothing_and_enters_nothing(here: Path) -> None:
    entered()
    Path("job.toml").write_text(JOB.replace('population = "firms"', 'population = "farms"'))
    with pytest.raises(dk.DiskretError, match="farms"):
        run_job(read_job("job.toml"), ".")
    assert not Path("zones.csv").exists()
    assert len(dk.open_ledger("ledger").entries) == 1


def test_a_job_whose_file_has_no_place_enters_nothing(here: Path) -> None:
    Path("zones.csv").mkdir()
    with pytest.raises(CannotWrite):
        run_job(read_job("job.toml"), here)
    assert dk.open_ledger("ledger").entries == ()
    Path("zones.csv").rmdir()
    run_job(read_job("job.toml"), here)
    assert [entry.name for entry in dk.open_ledger("ledger").entries] == ["Zones 2024"]


def test_a_job_does_not_enter_what_was_not_looked_at_beside_all_that_is_out(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = dk.open_ledger("ledger", create=True)

    def later(*asked: Any) -> None:
        ledger.add(load_working("yearbook.parquet")["x"], About(population="firms", period="2024"), name="meanwhile")
        enter_tables(*asked)

    monkeypatch.setattr("diskret.job.table_job.enter_tables", later)
    with pytest.raises(LedgerBusy, match="other tables were entered"):
        run_job(read_job("job.toml"), here)
    assert [entry.name for entry in dk.open_ledger("ledger").entries] == ["meanwhile"]
    assert not Path("zones.csv").exists()
    monkeypatch.undo()
    monkeypatch.chdir(here)
    run_job(read_job("job.toml"), here)
    assert [entry.name for entry in dk.open_ledger("ledger").entries] == ["meanwhile", "Zones 2024"]


@pytest.mark.parametrize("without", ["", '[suppression]\nmethod = "thin"'])
def test_a_job_that_would_not_protect_beside_the_ledger_is_refused(here: Path, without: str) -> None:
    Path("job.toml").write_text(JOB.replace("[suppression]", without).replace("zones.parquet", "zones alone.parquet"))
    with pytest.raises(BadJob, match="suppression"):
        run_job(read_job("job.toml"), here)
    assert not Path("zones.csv").exists()


def test_no_hidden_value_stands_in_what_the_ledger_says(here: Path) -> None:
    entered()
    table = load_working("yearbook.parquet")["x"]
    secrets = Secrets.of([X[0], X[1]], told=[float(v) for v in table.value[~table.hidden]])
    outputs = [
        said("list", "-l", "ledger", "--json"),
        said("show", "Yearbook", "-l", "ledger"),
        said("show", "1", "-l", "ledger", "--json"),
        said("check", "zones alone.parquet", "-l", "ledger", "--about", "about.toml", code=1),
        said("check", "zones alone.parquet", "-l", "ledger", "--about", "about.toml", "--json", code=1),
        said("history", "region=a", "period=2024", "-l", "ledger", "--json"),
        said("verify", "-l", "ledger", "--json"),
        repr(dk.open_ledger("ledger").entries),
        repr(dk.open_ledger("ledger").link(of(ZONES), About(population="firms", period="2024"))[1].cells),
    ]
    ledger = dk.open_ledger("ledger")
    told = About(population="firms", period="2024")
    late = of(dk.Hierarchy.from_nested({"DE": {"N": ["a", "b"], "S": ["c", "d"]}})).with_status("open", [["a"]])
    for wrong in (late.with_status("primary", [["c"]]), replace(late, value=late.value * 3)):
        with pytest.raises(dk.DiskretError) as refused:
            dk.suppress(wrong, ledger=ledger.about(told))
        outputs.append(str(refused.value))
    for output in outputs:
        assert not secrets.found_in("output", output.encode())
