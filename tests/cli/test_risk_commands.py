"""`diskret plan` and `diskret attack` as a user calls them, and the examples of risk."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from diskret.job.read import read_job
from diskret.job.run import run_job

Call = Callable[..., Any]
EXAMPLES = Path(__file__).parents[2] / "examples" / "risk"
RELEASED = "id,region,turnover\n1,N,105\n2,N,260\n3,S,900\n4,S,41\n"
REGISTER = "id,land,sales\n1,N,100\n2,N,200\n3,S,880\n4,S,40\n"


@pytest.fixture
def files(folder: Path) -> Path:
    (folder / "released.csv").write_text(RELEASED, encoding="utf-8")
    (folder / "register.csv").write_text(REGISTER, encoding="utf-8")
    return folder


ATTACK = ("attack", "released.csv", "--external", "register.csv", "--key", "region=land", "--value", "turnover=sales")


def test_an_attack_that_finds_too_many_ends_with_code_1(diskret: Call, files: Path) -> None:
    done = diskret(*ATTACK, "--unit", "id", "--out", "risks.csv")
    assert done.code == 1
    assert "4 checkable, 4 correct: true match rate 1.000" in done.out
    assert "2 combinations of land: 1 above the cap of 0.5" in done.out
    rows = list(csv.DictReader((files / "risks.csv").read_text(encoding="utf-8").splitlines()))
    assert [(r["land"], r["units"], r["correct"], r["turnover usable"], r["risk"]) for r in rows] == [
        ("S", "2", "2", "2", "1.0"),
        ("N", "2", "2", "1", "0.5"),
    ]


def test_a_higher_cap_lets_it_pass(typed: Call, files: Path) -> None:
    assert typed(*ATTACK, "--unit", "id", "--cap", "1", "--quiet").code == 0


def test_without_knowing_who_is_who_nothing_passes(typed: Call, files: Path) -> None:
    done = typed(*ATTACK)
    assert done.code == 1
    assert "who is who is not known" in done.out


def test_the_summary_as_json_holds_counts_only(typed: Call, files: Path) -> None:
    found = json.loads(typed(*ATTACK, "--unit", "id", "--json").out)["attack"]
    assert (found["correct"], found["exceeding"], found["safe"]) == (4, 1, False)
    assert "partner" not in found


def test_risks_as_json_and_as_a_plot(typed: Call, files: Path) -> None:
    typed(
        *ATTACK, "--unit", "id", "--out", "risks.json", "--plot", "risks.svg", "--by", "land", "--by", "sales=100,500"
    )
    content = json.loads((files / "risks.json").read_text(encoding="utf-8"))
    assert {r["sales"] for r in content["risks"]} == {"under 100", "100 to under 500", "500 and more"}
    assert "internal" in (files / "risks.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("attack", "released.csv", "--external", "none.csv", "--key", "region"), "there is no file"),
        (("attack", "released.csv", "--external", "register.csv"), "give keys that must agree"),
        (("attack", "released.csv", "--external", "register.csv", "--key", "region"), "[R2]"),
        ((*ATTACK, "--unit", "id", "--out", "risks.xlsx"), "endings: .csv, .json"),
        ((*ATTACK, "--unit", "id", "--aligned"), "both say who is who"),
        ((*ATTACK, "--unit", "id", "--method", "magic"), "attack.method"),
        (("plan", "--shares", "sex=0.5,0.4", "-n", "10"), "[R1]"),
        (("plan", "--shares", "sex=0.5,0.5"), "n: missing"),
        (("plan", "--shares", "sex", "-n", "10"), "are not shares"),
        (("plan", "--shares", "sex=0.5,half", "-n", "10"), "not a number"),
        (("plan", "none.toml"), "no such file"),
        (("plan", "--shares", "sex=0.5,0.5", "-n", "10", "--keep", "sex"), "nothing is tolerated"),
        (("plan", "--shares", "sex=0.5,0.5", "-n", "10", "--plot", "curve.gif"), "plots are not written as"),
    ],
)
def test_bad_input_is_refused(typed: Call, files: Path, words: tuple[str, ...], says: str) -> None:
    done = typed(*words)
    assert done.code == 2
    assert says in done.err
    assert not (files / "risks.xlsx").exists()


def test_an_attack_and_a_table_are_two_jobs(typed: Call, files: Path) -> None:
    (files / "bad.toml").write_text(
        '[data]\nmicrodata = "released.csv"\n[table]\nby = ["region"]\n[attack]\nkeys = ["region"]\n'
        'classes = { size = [1] }\nnames = { town = "stadt" }\n[output]\npublish = "t.csv"\n',
        encoding="utf-8",
    )
    done = typed("run", "bad.toml")
    assert done.code == 2
    for key in (
        "table: belongs to",
        "output.publish: belongs to",
        "attack.external: missing",
        "attack.names",
        "attack.classes",
    ):
        assert key in done.err


# --- plan ------------------------------------------------------------------------------------------------------------


def test_a_plan_from_options(diskret: Call, folder: Path) -> None:
    done = diskret("plan", "--shares", "sex=0.5,0.5", "--shares", "age=0.4,0.3,0.2,0.1", "-n", "130", "--plot", "c.svg")
    assert done.code == 0
    assert "8 cells; ORWELL coefficient 7.19" in done.out
    assert "7 (5 %)" in done.out
    assert "internal" not in (folder / "c.svg").read_text(encoding="utf-8")


def test_a_plan_says_what_to_merge(typed: Call) -> None:
    words = ("plan", "--shares", "a=0.4,0.3,0.2,0.1", "-n", "30", "--tolerated", "0.1", "--ordered", "a", "--json")
    found = json.loads(typed(*words).out)
    assert found["reached"]
    assert found["merges"][0]["levels"] == ["1", "2"]
    assert found["estimates"][0]["singles"]["orwell"] == 4


def test_options_go_before_the_file(typed: Call, folder: Path) -> None:
    shutil.copy(EXAMPLES / "survey.toml", folder / "survey.toml")
    whole = json.loads(typed("plan", "survey.toml", "--json").out)
    assert [e["n"] for e in whole["estimates"]] == [100, 200, 400, 800, 1600]
    assert whole["cells"] == 96
    other = json.loads(typed("plan", "survey.toml", "-n", "50", "--shares", "region=1", "--json").out)
    assert [e["n"] for e in other["estimates"]] == [50]
    assert other["cells"] == 24


def test_mistakes_in_a_plan_are_named(typed: Call, folder: Path) -> None:
    (folder / "plan.toml").write_text('n = "many"\ntolerate = 0.1\n[shares]\nsex = [0.5, 0.5]\n', encoding="utf-8")
    done = typed("plan", "plan.toml")
    assert done.code == 2
    assert "tolerate: unknown key" in done.err
    assert "2 mistakes" in done.err


# --- examples --------------------------------------------------------------------------------------------------------


def test_the_example_of_an_attack_runs(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "risk", ignore=shutil.ignore_patterns("out"))
    folder = tmp_path / "risk"
    result = run_job(read_job(folder / "attack.toml"), folder)
    assert result.attack is not None
    assert result.exposed
    assert (result.attack.checkable, result.attack.by) == (110, ("region", "employees", "industry"))
    assert set(result.attack.usable) == {"turnover", "wages", "research"}
    assert result.files == (folder / "out" / "risks.csv",)
    assert sum(int(r["units"]) for r in csv.DictReader(result.files[0].read_text(encoding="utf-8").splitlines())) == 110
