"""The same job by Python, job file, command and page: the same pattern, the same verdict, the same published bytes."""

from __future__ import annotations

import csv
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import diskret as dk
from diskret.cli import main
from diskret.job.read import job_from, read_job
from diskret.job.run import run_job
from diskret.job.write import job_as_text
from diskret.publication.working import load_working
from diskret.web.reading import Here
from diskret.web.server import make_app
from diskret.web.workbench import Workbench
from tests.web.case import ORIGIN, PORT, ended

SECTORS, REGIONS = ["A", "B", "C"], ["N1", "N2", "S1", "S2"]
BASE: dict[str, Any] = {
    "data": {"microdata": "firms.csv"},
    "table": {"by": ["sector", "region"], "value": ["turnover"], "positive": True},
    "classifications": {"region": {"prefixes": [1]}},
    "rules": {"min_count": 3},
}
COALITIONS: dict[str, list[list[dict[str, str]]]] = {
    "nobody": [],
    "owners of two cells": [[{"sector": "A", "region": "N2"}, {"sector": "B", "region": "N1"}]],
    "who knows the rest of the row and column": [
        [{"sector": "A", "region": r} for r in ("N", "N2", "S", "S1", "S2")]
        + [{"sector": "A"}]
        + [{"sector": s, "region": "N1"} for s in ("B", "C")]
        + [{"region": "N1"}]
    ],
}
"""Who knows which cells together; against the last nothing helps: the first cell is the rest of its row."""


@dataclass(frozen=True)
class Came:
    """What came of a job, by one of the four ways."""

    hidden: frozenset[tuple[str, ...]]
    exposed: bool
    published: bytes


def firms(path: Path) -> None:
    """One to six firms in every cell; one alone in the first."""
    rng = np.random.default_rng(4)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["sector", "region", "turnover"])
        for sector in SECTORS:
            for region in REGIONS:
                several = 1 if (sector, region) == ("A", "N1") else int(rng.integers(3, 7))
                writer.writerows([sector, region, int(x)] for x in rng.integers(100, 900, several))


def hidden(table: dk.Table) -> frozenset[tuple[str, ...]]:
    return frozenset(table.codes(tuple(at)) for at in np.argwhere(table.hidden).tolist())


def job_of(coalitions: list[list[dict[str, str]]]) -> dict[str, Any]:
    return BASE | {"suppression": {"guarantee": "audit", "coalitions": coalitions}}


# --- four ways -------------------------------------------------------------------------------------------------------


def by_python(folder: Path, coalitions: list[list[dict[str, str]]]) -> Came:
    region = dk.Hierarchy.from_nested({"Total": {"N": ["N1", "N2"], "S": ["S1", "S2"]}})
    by = {"sector": dk.Hierarchy.flat(SECTORS), "region": region}
    table = dk.mark(dk.tabulate(folder / "firms.csv", by=by, value="turnover"), dk.MinCount(3))
    table = replace(table, positive=True)
    known = (tuple((c.get("sector", "Total"), c.get("region", "Total")) for c in cells) for cells in coalitions)
    done = dk.suppress(table, dk.Promise(coalitions=tuple(known)))
    assert done.audit is not None
    dk.publish(done, folder / "python.csv", unprotected=not done.audit.safe)
    return Came(hidden(done.table), not done.audit.safe, (folder / "python.csv").read_bytes())


def _job_file(folder: Path, coalitions: list[list[dict[str, str]]]) -> Path:
    outputs = {"publish": ["out.csv"], "working": "out.parquet"}
    job = job_from(job_of(coalitions) | {"output": outputs}, "the test", folder)
    (folder / "job.toml").write_text(job_as_text(job), encoding="utf-8")
    return folder / "job.toml"


def by_job_file(folder: Path, coalitions: list[list[dict[str, str]]]) -> Came:
    done = run_job(read_job(_job_file(folder, coalitions)), folder)
    return Came(hidden(done.tables["turnover"]), done.exposed, (folder / "out.csv").read_bytes())


def by_command(folder: Path, coalitions: list[list[dict[str, str]]], monkeypatch: pytest.MonkeyPatch) -> Came:
    monkeypatch.setattr(sys, "argv", ["diskret", "run", str(_job_file(folder, coalitions)), "--quiet"])
    with pytest.raises(SystemExit) as stopped:
        main()
    table = load_working(folder / "out.parquet")["turnover"]
    return Came(hidden(table), stopped.value.code == 1, (folder / "out.csv").read_bytes())


@pytest.fixture
def page(tmp_path: Path) -> Iterator[TestClient]:
    """The page after it has shown its token, on a folder with firms."""
    firms(tmp_path / "firms.csv")
    bench = Workbench.at(tmp_path, PORT, reading=Here())
    asked = TestClient(make_app(bench), base_url=ORIGIN, headers={"origin": ORIGIN})
    assert asked.post("/api/session", json={"token": bench.sessions.token}).status_code == 200
    yield asked
    bench.runs.close()


def run_on(page: TestClient, coalitions: list[list[dict[str, str]]]) -> str:
    assert page.put("/api/draft", json=job_of(coalitions)).status_code == 200
    run: str = page.post("/api/runs", json={"name": "parity"}).json()["id"]
    assert ended(page, run)["state"] == "finished"
    return run


def by_page(page: TestClient, folder: Path, run: str) -> Came:
    exposed = page.get(f"/api/runs/{run}").json()["exposed"]
    table = load_working(folder / ".diskret-runs" / run / "result" / "working.parquet")["turnover"]
    return Came(hidden(table), exposed, page.get(f"/api/runs/{run}/export.csv").content)


# --- the claims ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("who", COALITIONS)
def test_four_ways_to_run_a_job_give_one_result(
    who: str, page: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    coalitions = COALITIONS[who]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        expected = by_python(tmp_path, coalitions)
        assert by_job_file(tmp_path, coalitions) == expected
        assert by_command(tmp_path, coalitions, monkeypatch) == expected
    assert by_page(page, tmp_path, run_on(page, coalitions)) == expected
    assert expected.exposed == (who == "who knows the rest of the row and column")


def test_the_attack_of_the_page_looks_for_whatever_the_run_promised(page: TestClient) -> None:
    run = run_on(page, COALITIONS["who knows the rest of the row and column"])
    attacked = ended(page, page.post(f"/api/runs/{run}/audit").json()["id"])
    assert attacked["state"] == "finished"
    assert attacked["exposed"] == page.get(f"/api/runs/{run}").json()["exposed"]


def test_the_reports_of_the_page_are_those_of_the_job(page: TestClient, tmp_path: Path) -> None:
    output = {"report": "public.html", "internal_report": "internal.html", "date": "2026-03-31"}
    said = job_of([]) | {"output": output}
    run_job(job_from(said, "the test", tmp_path), tmp_path)
    assert page.put("/api/draft", json=said).status_code == 200
    run: str = page.post("/api/runs", json={"name": "parity"}).json()["id"]
    assert ended(page, run)["state"] == "finished"
    (tmp_path / "firms.csv").write_text("sector,region,turnover\n")  # the report is about what the run has read
    for audience in ("public", "internal"):
        made = page.get(f"/api/runs/{run}/report.html?for={audience}").content
        assert made == (tmp_path / f"{audience}.html").read_bytes()
