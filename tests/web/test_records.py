"""Records and plans on the page: what is made there is what a job file makes."""

from __future__ import annotations

import json
import random
import re
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from diskret.job.plan import read_plan, run_plan
from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.publication.working import load_working
from diskret.web.reading import Here
from diskret.web.server import make_app
from diskret.web.table_runs import WORKING
from diskret.web.workbench import Workbench
from tests.web.case import JOB, ORIGIN, PORT, ended, firms

STATIC = Path(__file__).parents[2] / "src" / "diskret" / "web" / "static"
SAFE = {
    "data": {"microdata": "persons.csv"},
    "anonymise": {"attributes": ["region", "age", "sex"], "k": 3, "up_to": 2, "effort": 0.2, "seed": 271828182845904},
    "classifications": {"region": {"prefixes": [2]}},
}
USE = {
    "data": {"microdata": "firms.csv"},
    "microdata": {
        "values": ["turnover"], "classes": ["industry"], "seed": 4321,
        "steps": [{"do": "drop", "columns": ["firm"]}, {"do": "noise", "sd": 0.1357}],
    },
    "attack": {"keys": ["industry", "region"], "values": ["turnover"]},
}  # fmt: skip


def persons(path: Path, number: int = 150) -> None:
    chance = random.Random(5)
    rows = [
        ",".join([chance.choice(["05111", "05112", "06111", "06112"]), chance.choice("abcdef"), chance.choice("mw")])
        for _ in range(number)
    ]
    path.write_text("region,age,sex\n" + "\n".join(rows) + "\n", encoding="utf-8")


@pytest.fixture
def records(bench: Workbench, page: TestClient) -> TestClient:
    persons(bench.workspace.root / "persons.csv")
    return page


@dataclass(frozen=True)
class Finished:
    """A workbench with three finished runs, which no test changes."""

    bench: Workbench
    page: TestClient
    safe: str
    use: str
    table: str


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Finished]:
    """One run of each kind, side by side in processes of their own."""
    folder = tmp_path_factory.mktemp("finished")
    firms(folder / "firms.csv")
    persons(folder / "persons.csv")
    bench = Workbench.at(folder, PORT, reading=Here())
    page = TestClient(make_app(bench), base_url=ORIGIN, headers={"origin": ORIGIN})
    assert page.post("/api/session", json={"token": bench.sessions.token}).status_code == 200
    page.put("/api/draft", json=JOB)
    runs = [page.post("/api/runs", json={"name": "table"}).json()["id"]]
    for name, content in (("safe", SAFE), ("use", USE)):
        assert page.put("/api/choices/records", json=content).status_code == 200
        runs.append(page.post("/api/records/runs", json={"name": name}).json()["id"])
    for run in runs:
        assert ended(page, run)["state"] == "finished"
    yield Finished(bench, page, runs[1], runs[2], runs[0])
    bench.runs.close()


@pytest.mark.parametrize("kind", ["safe", "use"])
def test_a_saved_job_file_repeats_what_the_page_made_to_the_byte(finished: Finished, kind: str) -> None:
    run, page = getattr(finished, kind), finished.page
    saved = page.post("/api/savejob", json={"run": run})
    assert saved.status_code == 201, saved.text
    job = finished.bench.workspace.root / saved.json()["name"]
    done = run_job(read_job(job), job.parent)
    by_ending = {f.suffix: f.read_bytes() for f in done.files}
    assert page.get(f"/api/runs/{run}/records.csv").content == by_ending[".csv"]
    assert page.get(f"/api/runs/{run}/report.html?language=en").content == by_ending[".html"]
    opened = page.post(f"/api/records/jobs/{job.name}").json()["content"]
    assert opened == (SAFE if kind == "safe" else USE)


def test_figures_of_an_anonymous_file(finished: Finished) -> None:
    found = finished.page.get(f"/api/runs/{finished.safe}/figures").json()
    assert found["summary"]["objects"] == 150
    assert found["attack"]["few"][1] == 0
    assert found["attack"]["few"][0] > 0
    assert found["course"]["groups"] == sorted(found["course"]["groups"])
    assert found["course"]["largest"][0][-1] <= found["course"]["largest"][0][0]
    rows = finished.page.get(f"/api/runs/{finished.safe}/records.csv").text.splitlines()[1:]
    assert len(rows) == 150
    assert min(rows.count(row) for row in set(rows)) >= 3


def test_figures_of_a_scientific_use_file(finished: Finished) -> None:
    found = finished.page.get(f"/api/runs/{finished.use}/figures").json()
    assert found["columns"][0]["name"] == "turnover"
    assert 0 <= found["attack"]["true match rate"] <= 1
    head = finished.page.get(f"/api/runs/{finished.use}/records.csv").text.splitlines()[0]
    assert "firm" not in head.split(",")
    told = json.dumps(found)
    assert "4321" not in told
    assert "0.1357" not in told


def test_mistakes_are_told_before_anything_starts(records: TestClient) -> None:
    wrong = {"data": {"microdata": "persons.csv"}, "anonymise": {"attributes": ["region"], "k": 1}}
    records.put("/api/choices/records", json=wrong)
    answer = records.post("/api/records/runs", json={})
    assert answer.status_code == 422
    assert "anonymise.k" in answer.json()["error"]["what"]
    assert records.get("/api/runs").json()["runs"] == []


def test_choices_stay_inside_the_workspace_and_can_be_undone(records: TestClient) -> None:
    outside = {"data": {"microdata": "../secret.csv"}, "anonymise": {"attributes": ["a"]}}
    assert records.put("/api/choices/records", json=outside).status_code == 422
    records.put("/api/choices/records", json=SAFE)
    records.put("/api/choices/records", json=USE)
    assert records.post("/api/choices/records/undo").json()["content"] == SAFE
    assert records.post("/api/choices/records/redo").json()["content"] == USE
    assert records.get("/api/choices/elsewhere").status_code == 422


def long_search(records: TestClient) -> str:
    """A search that would take very long, watched until its course begins."""
    asked = {**SAFE, "anonymise": {**SAFE["anonymise"], "effort": 5000, "up_to": 3}}  # type: ignore[dict-item]
    records.put("/api/choices/records", json=asked)
    run = str(records.post("/api/records/runs", json={"name": "long"}).json()["id"])
    until = time.monotonic() + 60
    while time.monotonic() < until:
        progress = records.get(f"/api/runs/{run}").json().get("progress", {})
        if progress.get("course") and len(progress["course"]["groups"]) > 3:
            return run
        time.sleep(0.1)
    raise AssertionError("the search said nothing about its course")


def test_a_search_gives_the_best_so_far_when_asked(records: TestClient) -> None:
    run = long_search(records)
    assert records.post(f"/api/runs/{run}/stop").status_code == 200
    assert ended(records, run)["state"] == "finished"
    found = records.get(f"/api/runs/{run}/figures").json()
    assert not found["summary"]["complete"]
    assert found["attack"]["few"][1] == 0


def test_a_search_that_is_cancelled_leaves_no_file(bench: Workbench, records: TestClient) -> None:
    run = long_search(records)
    assert records.post(f"/api/runs/{run}/cancel").json()["state"] == "cancelled"
    assert sorted(p.name for p in bench.runs.folder(run).iterdir()) == ["job.json", "status.json"]
    assert records.get(f"/api/runs/{run}/records.csv").status_code == 422


def test_job_files_about_tables_are_refused(bench: Workbench, records: TestClient) -> None:
    job = '[data]\nmicrodata = "firms.csv"\n[table]\nby = ["industry"]\n'
    (bench.workspace.root / "t.toml").write_text(job, encoding="utf-8")
    assert "tables" in records.post("/api/records/jobs/t.toml").json()["error"]["what"]


@pytest.mark.parametrize("name", ["care", "firms"])
def test_examples_are_taken(records: TestClient, name: str) -> None:
    content = records.post(f"/api/records/examples/{name}").json()["content"]
    assert content["data"]["microdata"].startswith("examples/")
    assert ("anonymise" in content) == (name == "care")


# --- reports ---------------------------------------------------------------------------------------------------------


def test_the_report_on_a_table_holds_no_suppressed_value_and_is_the_job_files(finished: Finished) -> None:
    bench, chosen, run = finished.bench, finished.page, finished.table
    tables = load_working(bench.runs.finished(run) / WORKING)
    hidden = tables["turnover"].value[tables["turnover"].hidden]
    assert hidden.size > 2
    spelled = {f"{v:,.2f}" for v in hidden} | {f"{v:.2f}" for v in hidden}
    spelled |= {s.translate(str.maketrans(",.", ".,")) for s in spelled}
    for language in ("en", "de"):
        page = chosen.get(f"/api/runs/{run}/report.html?language={language}")
        assert page.headers["content-disposition"].startswith("attachment")
        assert not [s for s in spelled if s in page.text]
        assert str(JOB["rules"]["p_percent"]) not in page.text
        pdf = chosen.get(f"/api/runs/{run}/report.pdf?language={language}").content
        streams = re.findall(rb"stream\r?\n(.*?)\r?\nendstream", pdf, re.DOTALL)
        told = b"".join(zlib.decompress(s) for s in streams if s[:1] == b"x").decode("latin-1")
        assert "Firms of Musterland" in told
        assert not [s for s in spelled if s in told]
    name = chosen.post("/api/savejob", json={"run": run}).json()["name"]
    done = run_job(read_job(bench.workspace.root / name), bench.workspace.root)
    (report,) = (f for f in done.files if f.suffix == ".html")
    assert chosen.get(f"/api/runs/{run}/report.html").content == report.read_bytes()


def test_no_report_in_other_languages_and_endings(finished: Finished) -> None:
    page, run = finished.page, finished.table
    assert page.get(f"/api/runs/{run}/report.docx").status_code == 422
    assert page.get(f"/api/runs/{run}/report.html?language=fr").status_code == 422
    assert page.get(f"/api/runs/{run}/figures").status_code == 422
    assert page.get(f"/api/runs/{finished.safe}/records.xlsx").status_code == 422


# --- plans -----------------------------------------------------------------------------------------------------------

PLAN = {
    "n": [200], "tolerated": 0.1, "ordered": ["age"], "keep": ["sex"],
    "shares": {"sex": {"m": "0.5000", "w": "0.5000"}, "age": {"a": "0.3333", "b": "0.3333", "c": "0.3334"},
               "land": ["0.25", "0.25", "0.25", "0.25"]},
}  # fmt: skip


def test_a_saved_plan_gives_the_same_estimates(bench: Workbench, page: TestClient) -> None:
    found = page.post("/api/plan", json=PLAN).json()
    saved = page.post("/api/plan/save", json={"name": "my plan", "plan": PLAN}).json()["name"]
    again = run_plan(read_plan(bench.workspace.root / saved)).summary()
    assert {k: found[k] for k in again} == json.loads(json.dumps(again))
    assert found["shares"][0]["orwell"] == pytest.approx(24 / 200, abs=0.01)
    assert page.post("/api/plan/save", json={"name": "my plan", "plan": PLAN}).status_code == 422
    page.put("/api/choices/plan", json=PLAN)
    assert page.get("/api/plan/plan.toml").content == (bench.workspace.root / saved).read_bytes()


def test_a_plan_beyond_measure_is_left_to_the_command_line(page: TestClient) -> None:
    many = {f"a{i}": ["0.1"] * 10 for i in range(8)}
    answer = page.post("/api/plan", json={"n": [100], "shares": many})
    assert answer.status_code == 422
    assert "diskret plan" in answer.json()["error"]["hint"]


# --- words -----------------------------------------------------------------------------------------------------------


def test_every_word_of_the_pages_is_there_in_both_languages() -> None:
    books = {
        language: {
            **json.loads((STATIC / "i18n" / f"{language}.json").read_text(encoding="utf-8")),
            **json.loads((STATIC / "i18n" / f"{language}-records.json").read_text(encoding="utf-8")),
        }
        for language in ("en", "de")
    }
    own = [json.loads((STATIC / "i18n" / f"{lang}-records.json").read_text(encoding="utf-8")) for lang in ("en", "de")]
    assert own[0].keys() == own[1].keys()
    files = [STATIC / "pages" / n for n in ("records.js", "plan.js")]
    files += [*(STATIC / "pages" / "records").glob("*.js"), *(STATIC / "pages" / "plan").glob("*.js")]
    used = {key for f in files for key in re.findall(r"\bt\(\"([\w.]+)\"", f.read_text(encoding="utf-8"))}
    assert len(used) > 60
    for language, book in books.items():
        assert not used - book.keys(), language
        for key in own[0]:
            assert set(re.findall(r"\{\w+\}", books["en"][key])) == set(re.findall(r"\{\w+\}", book[key])), key
