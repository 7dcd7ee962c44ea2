"""A job turns records into a scientific-use file with a report; its mistakes are named at once."""

from __future__ import annotations

import importlib.util
import json
import re
import shutil
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskret.job.outcome import JobResult
from diskret.job.read import job_from, read_job
from diskret.job.run import run_job
from diskret.microdata.columns import read_records
from diskret.model.errors import BadJob
from diskret.publication.microdata_files import write_records

PANEL = Path(__file__).parents[2] / "examples" / "panel"
UNITS = 900


@pytest.fixture(scope="module")
def make_panel() -> Any:
    spec = importlib.util.spec_from_file_location("make_panel", PANEL / "make_panel.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.make_panel


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, make_panel: Any) -> Path:
    """The example beside a smaller panel."""
    place = tmp_path_factory.mktemp("panel")
    for file in (*PANEL.glob("*.toml"), *PANEL.glob("*.csv")):
        shutil.copy(file, place)
    write_records(read_records(make_panel(UNITS)), place / "panel.parquet")
    return place


@pytest.fixture(scope="module")
def noise(folder: Path) -> JobResult:
    return run_job(read_job(folder / "panel.toml"), folder)


def test_the_panel_is_seeded_and_has_thirty_columns_and_gaps(make_panel: Any) -> None:
    one, two = make_panel(50), make_panel(50)
    assert all(np.array_equal(one[n], two[n]) for n in one)
    values = tomllib.loads((PANEL / "panel.toml").read_text(encoding="utf-8"))["microdata"]["values"]
    assert len(values) == 30
    assert set(values) < set(one)
    assert np.unique(one["year"]).tolist() == [1999, 2000, 2001, 2002]
    assert 150 < len(one["unit"]) < 200
    assert (one["subsidies"] == 0).mean() > 0.5


def test_noise_variant_keeps_means_zeros_and_absent_waves(folder: Path, noise: JobResult) -> None:
    before, after = read_records(folder / "panel.parquet"), read_records(folder / "out" / "panel.parquet")
    assert "active_owners" not in after
    assert noise.microdata is not None
    assert noise.microdata["utility"]["largest change of a mean"] < 0.02
    assert noise.microdata["utility"]["largest change of a correlation of logs"] < 0.05
    assert set(after["industry"]) <= {str(n) for n in range(1, 18)}
    assert set(after["land"]) <= {"East", "West", None}
    kept = np.isin(before["industry"].astype("U2"), ["37"], invert=True)
    assert after.rows <= kept.sum()
    waves = [np.unique(np.unique(f["unit"], return_counts=True)[1], return_counts=True) for f in (before, after)]
    assert waves[0][0].tolist() == waves[1][0].tolist()  # units with 1, 2, 3 and 4 waves, as before
    assert (after["subsidies"] == 0).mean() == pytest.approx((before["subsidies"] == 0).mean(), rel=0.05)
    sizes = before["employees"]
    outside = np.unique(before["unit"][(sizes < 20) | (sizes >= 250) | ~kept])
    assert np.unique(after["unit"]).size == np.setdiff1d(before["unit"], outside).size


def test_units_get_new_numbers_and_a_new_order(folder: Path, noise: JobResult) -> None:
    after = read_records(folder / "out" / "panel.parquet")
    units = np.unique(after["unit"])
    assert np.array_equal(units, np.arange(1, len(units) + 1))
    assert np.array_equal(np.lexsort((after["year"], after["unit"])), np.arange(after.rows))
    before = read_records(folder / "panel.parquet")
    order = np.corrcoef(before["employees"][: after.rows], after["employees"])[0, 1]
    assert abs(order) < 0.2


def test_report_has_its_sections_and_no_secret(folder: Path, noise: JobResult) -> None:
    text = (folder / "out" / "panel.html").read_text(encoding="utf-8")
    for title in ("What was done", "Classes before and after", "Utility in numbers", "Regressions", "Distributions"):
        assert f">{title}</h2>" in text
    assert "719208345561902734" not in text
    assert "0.15<" not in text
    assert text.count("<img") > 20


def test_microaggregation_variant_releases_small_units_and_keeps_variance(folder: Path) -> None:
    result = run_job(read_job(folder / "microaggregation.toml"), folder)
    assert result.microdata is not None
    found = result.microdata["utility"]
    assert found["largest change of a mean"] < 1e-9
    before, after = (read_records(folder / f) for f in ("panel.parquet", "out/microaggregated.parquet"))
    large = np.unique(before["unit"][before["employees"] >= 250])
    removed = np.unique(before["unit"][before["industry"].astype("U2") == "37"])
    assert np.unique(after["unit"]).size == UNITS - np.union1d(large, removed).size
    assert {p.name for p in result.files} == {"microaggregated.parquet", "microaggregated.html"}


@pytest.mark.slow
def test_the_whole_panel_passes_its_own_attack(tmp_path: Path, make_panel: Any) -> None:
    """By region, size and industry, against whoever has employees and turnover as they were, for every record."""
    for file in (*PANEL.glob("*.toml"), *PANEL.glob("*.csv")):
        shutil.copy(file, tmp_path)
    write_records(read_records(make_panel()), tmp_path / "panel.parquet")
    found = run_job(read_job(tmp_path / "panel.toml"), tmp_path)
    assert found.attack is not None
    assert found.microdata is not None
    assert found.attack.by == ("land", "employees", "industry")
    assert found.attack.cap == 0.5
    assert found.attack.safe
    assert len(found.attack.combinations) > 80
    assert found.microdata["utility"]["largest change of a mean"] < 0.02


def test_records_that_nobody_attacked_say_so_before_all_else(people: Path) -> None:
    said = content(values=["income"], steps=[{"do": "noise", "sd": 0.1}])
    said["output"] = {"records": "out.csv", "report": "out.html", "internal_report": "in.html"}
    found = run_job(job_from(said, "here", people), people)
    assert any("were not attacked, so nothing shows that they may leave" in str(each) for each in found.warnings)
    for name in ("out.html", "in.html"):
        text = re.sub(r"<[^>]+>", "|", (people / name).read_text(encoding="utf-8").split("</h1>")[1])
        assert text.strip("| \n").startswith("Not yet: the records were not attacked")


def test_check_writes_nothing(folder: Path, tmp_path: Path) -> None:
    for file in folder.glob("*.*"):
        shutil.copy(file, tmp_path)
    result = run_job(read_job(tmp_path / "microaggregation.toml"), tmp_path, write=False)
    assert result.files == ()
    assert not (tmp_path / "out").exists()
    json.dumps(result.summary())


@pytest.fixture
def people(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    write_records(
        read_records(
            {
                "region": rng.choice(["N", "S", "W"], 400).tolist(),
                "age": rng.choice(["y", "o"], 400).tolist(),
                "job": rng.choice(list("abcde"), 400, p=[0.6, 0.3, 0.06, 0.03, 0.01]).tolist(),
                "income": np.exp(rng.normal(7, 0.5, 400)),
            }
        ),
        tmp_path / "people.csv",
    )
    return tmp_path


def content(**microdata: Any) -> dict[str, Any]:
    return {
        "data": {"microdata": "people.csv"},
        "microdata": {"seed": 5, **microdata},
        "output": {"records": "out.csv"},
    }


def test_codes_are_swapped_and_randomised(people: Path) -> None:
    steps = [
        {"do": "swap", "regions": "region", "risk": ["age", "job"], "similar": [["age"]], "rate": 0.2},
        {"do": "pram", "columns": "job", "keep": 0.8},
    ]
    job = job_from(content(values=["income"], classes=["region", "job"], steps=steps), "here", people)
    result = run_job(job, people)
    assert result.microdata is not None
    swapped, randomised = result.microdata["steps"][1:]
    assert swapped["units swapped"] >= 78
    assert randomised["job"]["codes changed"] > 0
    assert result.microdata["utility"]["largest Hellinger distance"] < 0.1
    after = read_records(people / "out.csv", ["income"])
    before = read_records(people / "people.csv", ["income"])
    assert np.sort(after["income"]) == pytest.approx(np.sort(before["income"]))
    assert not np.array_equal(after["income"], before["income"])  # another order


def test_same_job_same_bytes(people: Path) -> None:
    said = content(
        values=["income"],
        classes=["job"],
        steps=[{"do": "noise", "sd": 0.1}, {"do": "pram", "columns": "job", "keep": 0.9}],
    )
    said["output"] = {"records": "out.parquet", "report": "out.html", "internal_report": "in.html"}
    runs = []
    for _ in range(2):
        run_job(job_from(said, "here", people), people)
        runs.append([(people / name).read_bytes() for name in ("out.parquet", "out.html", "in.html")])
    assert runs[0] == runs[1]


def test_one_more_step_leaves_the_others_as_they_were(people: Path) -> None:
    noise = {"do": "noise", "sd": 0.1}
    outs = []
    for steps in ([noise], [noise, {"do": "pram", "columns": "job", "keep": 0.5}]):
        job = job_from(content(values=["income"], steps=steps, renumber=False), "here", people)
        run_job(job, people)
        outs.append(read_records(people / "out.csv", ["income"])["income"].tolist())
    assert outs[0] == outs[1]


@pytest.mark.parametrize(
    ("microdata", "said"),
    [
        ({"steps": []}, "microdata.steps"),
        ({"steps": [{"do": "shuffle"}]}, "microdata.steps.0.do: is not a kind of step (one of drop, recode"),
        ({"steps": [{"do": "noise", "sd": 0.1}]}, "microdata.steps.0.columns: missing"),
        ({"steps": [{"do": "noise", "columns": "income"}]}, "give exactly one of sd and amount"),
        ({"steps": [{"do": "noise", "columns": "income", "sd": -1}]}, "microdata.steps.0.sd: should be greater than 0"),
        ({"steps": [{"do": "noise", "columns": "income", "shft": 1, "sd": 1}]}, "did you mean 'shift'?"),
        ({"steps": [{"do": "recode", "column": "job"}]}, "give exactly one of mapping, file, hierarchy"),
        ({"steps": [{"do": "recode", "column": "job", "file": "jobs.csv"}]}, "there is no file 'jobs.csv'"),
        ({"steps": [{"do": "pram", "columns": "job"}]}, "give exactly one of keep, matrix"),
        ({"steps": [{"do": "pram", "columns": "job", "keep": 0.9}, {"do": "drop", "columns": "age"}]}, "comes after"),
        ({"seed": None, "steps": [{"do": "drop", "columns": "age"}]}, "microdata.seed: missing"),
        ({"wave": "year", "steps": [{"do": "drop", "columns": "age"}]}, "microdata.unit: missing"),
    ],
)
def test_mistakes_in_the_job_are_named(people: Path, microdata: dict[str, Any], said: str) -> None:
    with pytest.raises(BadJob) as caught:
        job_from(content(**microdata), "here", people)
    assert said in str(caught.value)


def test_records_and_tables_are_two_jobs(people: Path) -> None:
    both = content(steps=[{"do": "drop", "columns": "age"}]) | {"table": {"by": ["job"]}, "rules": {"min_count": 3}}
    both["output"] = {"records": "out.xlsx", "report": "report.txt", "publish": "t.csv"}
    with pytest.raises(BadJob) as caught:
        job_from(both, "here", people)
    for said in (
        "table: belongs to a job of kind 'table'",
        "rules: belongs to",
        "output.publish: belongs to a job of kind 'table'",
        "'out.xlsx'",
        "endings: .html, .pdf",
    ):
        assert said in str(caught.value)
    table = {"data": {"microdata": "people.csv"}, "table": {"by": ["job"]}, "output": {"records": "x.csv"}}
    with pytest.raises(BadJob, match="belongs to a job of kind 'records'"):
        job_from(table, "here", people)


def test_the_file_that_is_read_is_not_overwritten(people: Path) -> None:
    job = content(steps=[{"do": "drop", "columns": "age"}]) | {"output": {"records": "people.csv"}}
    with pytest.raises(BadJob, match=r"is data\.microdata too"):
        job_from(job, "here", people)


def test_the_command_refuses_and_leaves_nothing(
    people: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from diskret.cli import main

    (people / "people.csv").write_text("region,profit\nN,10.5\nS,-3717.25\nN,8\nW,9\n")
    (people / "job.toml").write_text(
        '[data]\nmicrodata = "people.csv"\n[microdata]\nvalues = "profit"\nseed = 4\n[[microdata.steps]]\n'
        'do = "noise"\nsd = 0.1\n[output]\nrecords = "out.csv"\nreport = "out.html"\n'
    )
    monkeypatch.setattr("sys.argv", ["diskret", "run", str(people / "job.toml")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    assert "[T4] column 'profit' has negative values, which have no logarithm" in said
    assert "3717" not in said
    assert sorted(p.name for p in people.iterdir()) == ["job.toml", "people.csv"]


def test_the_command_runs_it(people: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from diskret.cli import main

    (people / "job.toml").write_text(
        '[data]\nmicrodata = "people.csv"\n[microdata]\nvalues = "income"\nseed = 4\n[[microdata.steps]]\n'
        'do = "microaggregate"\nm = 5\n[output]\nrecords = "out.csv"\n'
    )
    monkeypatch.setattr("sys.argv", ["diskret", "run", str(people / "job.toml")])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    said = capsys.readouterr().out
    assert "microaggregation (optimal groups): 400 records" in said
    assert "IL1s" in said
