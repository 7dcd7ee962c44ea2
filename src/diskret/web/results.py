"""What a run leaves in its folder, so that any later server can show it: tables, moves, findings. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from diskret.auditing.audit import audit
from diskret.auditing.report import AuditReport
from diskret.job.outcome import JobResult
from diskret.job.read import job_from
from diskret.job.rules import rules_of
from diskret.job.suppression import knowledge_of, protection_of
from diskret.job.table_job import TableJob
from diskret.publication.working import load_working, save_working
from diskret.suppression.moves import Moves, RoutedMoves
from diskret.suppression.result import Suppression, Unprotected
from diskret.web.runs import read_json, write_json

WORKING, FINDINGS = "working.parquet", "findings.json"
CUBOIDS = ("pivot", "diametral", "up", "down", "subtable", "second")
ROUTED = ("start", "cells", "moved", "up", "down")


def save(done: JobResult, folder: Path) -> None:
    """Write everything a page may want to show of a job on tables."""
    save_working(dict(done.tables), folder / WORKING)
    findings: dict[str, Any] = {"tables": {}}
    for number, (name, each) in enumerate(done.suppressions.items()):
        findings["tables"][name] = {
            "moves": f"moves-{number}.npz",
            "passes": each.passes,
            "unprotected": [[u.cell, [int(i) for i in u.index], u.reached, u.why] for u in each.unprotected],
            "audit": None if each.audit is None else with_times(each.audit),
        }
        _save_moves(each, folder / f"moves-{number}.npz")
    write_json(folder / FINDINGS, findings)


def load(folder: Path) -> dict[str, Suppression]:
    """The tables of a run with the moves that protect them (none, for a job without suppression)."""
    tables = load_working(folder / WORKING)
    found = read_json(folder / FINDINGS)["tables"]
    loaded = {}
    for name, table in tables.items():
        facts = found.get(name)
        if facts is None:
            loaded[name] = Suppression(table, Moves.of(np.empty((0, 6))), (), 0, table)
            continue
        with np.load(folder / facts["moves"], allow_pickle=False) as arrays:
            moves, before = _moves(arrays), replace(table, status=arrays["before"])
        unprotected = tuple(Unprotected(c, tuple(i), r, why) for c, i, r, why in facts["unprotected"])
        loaded[name] = Suppression(table, moves, unprotected, facts["passes"], before)
    return loaded


def findings(folder: Path) -> dict[str, Any]:
    """What the audit of each table found, by name; counts, names and proofs, no values."""
    return {name: facts["audit"] for name, facts in read_json(folder / FINDINGS)["tables"].items() if facts["audit"]}


def audit_facts(report: AuditReport) -> dict[str, Any]:
    """An audit as data without values: what is exposed is named, not shown."""
    return report.plain()


def with_times(report: AuditReport) -> dict[str, Any]:
    """The same with how close the closest call is, which is secret: for the run's own folder."""
    return audit_facts(report) | {"times": report.closest.times if report.closest else None}


def audit_tables(content: Mapping[str, Any], workspace: Path, result: Path, say: Any) -> dict[str, Any]:
    """Attack the tables of an earlier run; ``content`` is its job with the key ``audit``: the folder of its result."""
    given = dict(content)
    folder = workspace / given.pop("audit")
    job = job_from(given, "the page", workspace, TableJob)
    tables = load(folder)
    found: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for number, (name, each) in enumerate(tables.items()):
        say("attacking", number, len(tables))
        asked = job.suppression
        insiders: Any = "single" if asked is None or asked.single_contributors else "none"
        known = [(m.cells, m.coefficients) for m in each.moves.all(each.table)]
        rules = rules_of(job, each.table.names)
        report = audit(
            each.table, protection=None if asked is None else protection_of(asked, each.table),
            knowledge=knowledge_of(job, each.table),
            insiders="largest" if asked and asked.largest_contributors else insiders,
            rule=rules if rules.rules else None, moves=known,
        )  # fmt: skip
        found[name] = audit_facts(report)
        kept[name] = {"audit": with_times(report)}
    write_json(result / FINDINGS, {"tables": kept})
    return {"audits": found, "exposed": not all(facts["safe"] for facts in found.values())}


def _save_moves(done: Suppression, path: Path) -> None:
    moves = done.moves
    if isinstance(moves, RoutedMoves):
        arrays = {name: getattr(moves, name) for name in ROUTED}
        sizes = np.array([len(s) for s in moves.settles], dtype=np.int64)
        settled = [c for s in moves.settles for c in sorted(s)]
        arrays |= {"settled_start": np.append(0, np.cumsum(sizes)), "settled": np.array(settled, dtype=np.int64)}
    else:
        arrays = {name: getattr(moves, name) for name in CUBOIDS}
    with path.open("wb") as file:
        np.savez_compressed(file, before=done.before.status.astype(np.uint8), **arrays)


def _moves(arrays: Any) -> Moves | RoutedMoves:
    if "pivot" in arrays:
        return Moves(*(arrays[name] for name in CUBOIDS))
    ends, settled = arrays["settled_start"], arrays["settled"]
    settles = tuple(frozenset(settled[a:b].tolist()) for a, b in pairwise(ends.tolist()))
    start, cells, moved, up, down = (arrays[name] for name in ROUTED)
    return RoutedMoves(start, cells, moved, up, down, settles)
