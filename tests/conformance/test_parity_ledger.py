"""A job beside a ledger by Python, job file, command and page: the same pattern and bytes, the same entry."""

from __future__ import annotations

import shutil
import sys
from dataclasses import replace
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
from diskret.ledger.about import About
from diskret.web.reading import Here
from diskret.web.server import make_app
from diskret.web.workbench import Workbench
from tests.conformance.test_parity import BASE, REGIONS, SECTORS, firms
from tests.web.case import ORIGIN, PORT, ended

ABOUT = About(population="firms", period="2024", unit="EUR")
BESIDE = {"population": "firms", "period": "2024", "unit": "EUR", "name": "Regions 2024"}
ZONES = {"Total": {"wet": ["N1", "S1"], "dry": ["N2", "S2"]}}
WAYS = ("python", "job", "command", "page")


def marked(folder: Path, tree: dk.Hierarchy) -> dk.Table:
    by = {"sector": dk.Hierarchy.flat(SECTORS), "region": tree}
    return replace(dk.mark(dk.tabulate(folder / "firms.csv", by=by, value="turnover"), dk.MinCount(3)), positive=True)


def job_in(ledger: str, **output: Any) -> dict[str, Any]:
    return BASE | {"suppression": {}, "ledger": BESIDE | {"folder": ledger}} | ({"output": output} if output else {})


def told(folder: Path) -> dict[Any, Any]:
    """What the last entry says, without the day, the promise and the hash of the data, which Python was not given."""
    ledger = dk.open_ledger(folder)
    entry = ledger.entries[-1]
    cells = ledger.cells(entry)
    codes = [[h.codes[i] for i in at.tolist()] for h, at in zip(entry.by.values(), cells.at, strict=True)]
    columns = (cells.shown, cells.lower, cells.upper, cells.value, cells.status, cells.below, cells.above, cells.count)
    rows = zip(*(each.tolist() for each in columns), strict=True)
    return {"name": entry.name, "about": entry.about} | dict(zip(zip(*codes, strict=True), rows, strict=True))


def test_four_ways_to_protect_beside_a_ledger_give_one_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    firms(tmp_path / "firms.csv")
    first = marked(tmp_path, dk.Hierarchy.from_nested(ZONES))
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    ledger.add(dk.suppress(first).table, ABOUT, name="Zones 2024", on="2025-01-01")
    for way in WAYS:
        shutil.copytree(tmp_path / "ledger", tmp_path / way)

    region = dk.Hierarchy.from_nested({"Total": {"N": REGIONS[:2], "S": REGIONS[2:]}})
    own = dk.open_ledger(tmp_path / "python")
    done = dk.suppress(marked(tmp_path, region), ledger=own.about(ABOUT, "Regions 2024"))
    dk.publish(done, tmp_path / "python.csv")
    own.add(done.table, ABOUT, name="Regions 2024")
    assert done.table.hidden.any()

    run_job(job_from(job_in("job", publish=["job.csv"]), "the test", tmp_path), tmp_path)
    (tmp_path / "job.toml").write_text(
        job_as_text(job_from(job_in("command", publish=["command.csv"]), "the test", tmp_path)), encoding="utf-8"
    )
    assert read_job(tmp_path / "job.toml")
    monkeypatch.setattr(sys, "argv", ["diskret", "run", str(tmp_path / "job.toml"), "--quiet"])
    with pytest.raises(SystemExit) as stopped:
        main()
    assert stopped.value.code == 0

    bench = Workbench.at(tmp_path, PORT, reading=Here())
    page = TestClient(make_app(bench), base_url=ORIGIN, headers={"origin": ORIGIN})
    page.post("/api/session", json={"token": bench.sessions.token})
    assert page.put("/api/draft", json=job_in("page")).status_code == 200
    run = page.post("/api/runs", json={"name": "parity"}).json()["id"]
    assert ended(page, run)["state"] == "finished"
    (tmp_path / "page.csv").write_bytes(page.get(f"/api/runs/{run}/export.csv").content)
    bench.runs.close()

    files = {(tmp_path / f"{way}.csv").read_bytes() for way in WAYS}
    assert len(files) == 1
    for way in WAYS[1:3]:
        np.testing.assert_equal(told(tmp_path / way), told(tmp_path / "python"), err_msg=way)
    assert told(tmp_path / "page")["name"] == "Zones 2024", "a run on the page publishes nothing, so nothing is entered"
