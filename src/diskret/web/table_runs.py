"""What a run leaves in its folder, so that any later server can show it: tables, moves, findings. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, Strict

from diskret.auditing.audit import audit
from diskret.auditing.report import AuditReport
from diskret.job.outcome import JobResult
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.model.damage import reading
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.moves.move import MoveSet
from diskret.publication.origin import Origin
from diskret.publication.working import load_working, save_working
from diskret.suppression.result import Suppression, Unprotected
from diskret.tabulation.tabulate import Progress
from diskret.web.run_differences import axes_of
from diskret.web.run_files import MOST_APART, AuditFacts, read_json, real_file, write_json
from diskret.web.stored_moves import load_moves, save_moves

WORKING, FINDINGS, ORIGIN = "working.parquet", "findings.json", "origin.json"
MOST_NAMES = 100
"""Cells that the state of a run names; the page shows fewer, and all stand in the findings."""
LANGUAGES: tuple[Literal["en", "de"], ...] = ("en", "de")


def run_tables(content: Mapping[str, Any], workspace: Path, result: Path, say: Progress) -> dict[str, Any]:
    """Do a job on tables; what it asks to be written is made on the page's request."""
    done = run_job(job_from(dict(content), "the page", workspace), workspace, say, write=False, traced=True)
    say("writing", 0, 1)
    save(done, result)
    save_origin(done.origin, result)
    made = done.suppressions.values()
    said = {
        language: list(dict.fromkeys(" ".join(s.promise.describe(language, table=s.table).split()) for s in made))
        for language in LANGUAGES
    }
    axes = {name: axes_of(table) for name, table in done.tables.items()}
    return {"summary": done.summary(), "exposed": done.exposed, "promises": said, "axes": axes}


def save_origin(origin: Origin, folder: Path) -> None:
    """Keep what a run has read: its files may be others when a report is asked for."""
    write_json(folder / ORIGIN, origin.plain(), MOST_APART)


def load_origin(folder: Path) -> Origin:
    """What a run has read; nothing is known of runs of earlier versions."""
    if not (folder / ORIGIN).exists():
        return Origin()
    with reading(folder / ORIGIN, f"{ORIGIN} does not say what it should"):
        return Origin.from_plain(read_json(folder / ORIGIN, MOST_APART))


def save(done: JobResult, folder: Path) -> None:
    """Write everything a page may want to show of a job on tables."""
    save_working(dict(done.tables), folder / WORKING)
    findings: dict[str, Any] = {"tables": {}}
    for number, (name, each) in enumerate(done.suppressions.items()):
        findings["tables"][name] = {
            "promise": each.promise.to_dict(),
            "moves": f"moves-{number}.npz",
            "passes": each.passes,
            "unprotected": [[u.cell, [int(i) for i in u.index], u.reached, u.why] for u in each.unprotected],
            "audit": None if each.audit is None else with_times(each.audit),
        }
        save_moves(each, folder / f"moves-{number}.npz")
    write_json(folder / FINDINGS, findings, MOST_APART)


class _Table(BaseModel):
    """What was found out about a table that is protected."""

    model_config = ConfigDict(strict=True, frozen=True)

    promise: dict[str, Any] = {}
    moves: Annotated[str, Field(pattern=r"^moves-[0-9]{1,9}\.npz$")]
    passes: int
    unprotected: list[Annotated[tuple[str, list[int], float, str], Strict(False)]]
    audit: AuditFacts | None


class _Audited(BaseModel):
    """What was found out about a table that was attacked later."""

    model_config = ConfigDict(strict=True, frozen=True)

    audit: AuditFacts | None


def load(folder: Path) -> dict[str, Suppression]:
    """The tables of a run with the moves that protect them (none, for a job without suppression)."""
    tables = load_working(real_file(folder / WORKING))
    found = _read_findings(folder)
    return {name: _loaded(folder, table, found.get(name)) for name, table in tables.items()}


def _loaded(folder: Path, table: Table, said: Any) -> Suppression:
    if said is None:
        return unprotected_table(table)
    with reading(folder / FINDINGS, f"{FINDINGS} does not say what it should"):
        facts = _Table.model_validate(said)
        unprotected = tuple(
            Unprotected(cell=cell, index=tuple(index), reached=reached, why=why)
            for cell, index, reached, why in facts.unprotected
        )
        if not all(_inside(u.index, table) for u in unprotected if u.index):  # an undecided cell has its name only
            raise ValueError
        promise = Promise.from_dict(facts.promise)
    moves, before = load_moves(folder / facts.moves, table.shape)
    return Suppression(
        table=table, before=replace(table, status=before), promise=promise, moves=moves, unprotected=unprotected,
        passes=facts.passes,
    )  # fmt: skip


def _inside(index: tuple[int, ...], table: Table) -> bool:
    return len(index) == len(table.shape) and all(0 <= i < n for i, n in zip(index, table.shape, strict=True))


def _read_findings(folder: Path) -> dict[str, Any]:
    with reading(folder / FINDINGS, f"{FINDINGS} does not say what it should"):
        found: dict[str, Any] = read_json(folder / FINDINGS, MOST_APART)["tables"]
        for each in found.values():
            _Audited.model_validate(each)
    return found


def unprotected_table(table: Table) -> Suppression:
    """A table that nothing was done to, as a run that did nothing."""
    return Suppression(table=table, before=table, promise=Promise(), moves=MoveSet.none(), passes=0)


def findings(folder: Path) -> dict[str, Any]:
    """What the audit of each table found, by name; counts, names and proofs, no values."""
    return {name: facts["audit"] for name, facts in _read_findings(folder).items() if facts["audit"]}


def with_times(report: AuditReport) -> dict[str, Any]:
    """An audit as data, with how close the closest call is, which is secret: for the run's own folder."""
    return report.plain() | {"times": report.closest.times if report.closest else None}


def audit_tables(content: Mapping[str, Any], workspace: Path, result: Path, say: Progress) -> dict[str, Any]:
    """Attack the tables of an earlier run by the promise they were made with.

    ``content`` is the run's job with the key ``audit``: the folder of its result.
    """
    tables = load(workspace / content["audit"])
    found: dict[str, Any] = {}
    kept: dict[str, Any] = {}
    for number, (name, each) in enumerate(tables.items()):
        say("attacking", number, len(tables))
        report = audit(each.table, each.promise, moves=each.moves)
        found[name] = {
            key: each[:MOST_NAMES] if isinstance(each, list) else each for key, each in report.plain().items()
        }
        kept[name] = {"audit": with_times(report)}
    write_json(result / FINDINGS, {"tables": kept}, MOST_APART)
    return {"audits": found, "exposed": not all(facts["safe"] for facts in found.values())}
