"""A run that was attacked later: its report knows what was found."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from diskret.web.run_files import sizes, write_json
from diskret.web.run_folders import RunProgress
from diskret.web.table_runs import audit_tables, run_tables
from diskret.web.workbench import Workbench
from tests.web import case

RUN, ATTACK = "20260102-030405-aaaa", "20260102-030406-bbbb"
CUBOIDS = case.JOB | {"suppression": {"method": "cuboids"}}
Work = Callable[[Mapping[str, Any], Path, Path, RunProgress], dict[str, Any]]


def put(bench: Workbench, run: str, kind: str, work: Work, content: Mapping[str, Any]) -> None:
    """A finished run in the workspace, made in this process."""
    folder = bench.workspace.runs / run
    (folder / "result").mkdir(parents=True)
    found = work(content, bench.workspace.root, folder / "result", RunProgress(lambda said: None))
    status = {
        "id": run, "name": "firms", "kind": kind, "of": RUN if kind == "audit" else "", "state": "finished",
        "started": 1.0, "progress": {"what": "", "done": 0, "of": 0}, "files": sizes(folder / "result"),
    }  # fmt: skip
    write_json(folder / "job.json", content)
    write_json(folder / "status.json", status | json.loads(json.dumps(found)))


def test_a_report_knows_what_a_later_attack_found(page: TestClient, bench: Workbench) -> None:
    put(bench, RUN, "job", run_tables, CUBOIDS)
    assert "Not yet: not attacked with a solver." in page.get(f"/api/runs/{RUN}/report.html").text
    put(bench, ATTACK, "audit", audit_tables, CUBOIDS | {"audit": f".diskret-runs/{RUN}/result"})
    safe = all(facts["safe"] for facts in page.get(f"/api/runs/{ATTACK}").json()["audits"].values())
    report = page.get(f"/api/runs/{RUN}/report.html").text
    assert ("May be released." if safe else "Not yet: not protected") in report
    assert "not attacked with a solver" not in report
