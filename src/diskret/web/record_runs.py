"""Runs about records on the page: anonymous files (SAFE) and scientific-use files.

What a run leaves: the protected file as CSV and Parquet, the sections of its two reports, and figures for the page.
Everything is made by the same functions as `diskret run` uses.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from diskret.job.anonymise_job import AnonymiseJob
from diskret.job.attack_job import attack_verdict
from diskret.job.loading import source_of
from diskret.job.microdata import (
    ScientificUse,
    make_microdata,
    write_microdata,
    write_records_report,
)
from diskret.job.origin import job_origin
from diskret.job.read import job_from
from diskret.job.records_job import RecordsJob
from diskret.job.report import TITLES, safe_verdict
from diskret.job.run import run_job
from diskret.model.damage import reading
from diskret.model.errors import BadOption
from diskret.publication.microdata_files import write_anonymous_file
from diskret.publication.report_file import write_report
from diskret.publication.report_head import head_of
from diskret.publication.safe_report import attack_figures, safe_sections
from diskret.publication.sections import ReportSection
from diskret.publication.verdict import Verdict
from diskret.risk.judgement import Attack
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.history import Moment
from diskret.web.run_files import MOST_APART, read_json, write_json
from diskret.web.run_folders import RunProgress
from diskret.web.table_runs import load_origin, save_origin

FIGURES, SECTIONS = "figures.json", "sections.json"
VERDICT = "verdict"
"""Stands beside the sections of the reports."""
AUDIENCES = INTERNAL, PUBLIC = "internal", "public"
FILES = {".csv": "records.csv", ".parquet": "records.parquet"}
MOST_MOMENTS = 160
MOST_COMBINATIONS = 300


def run_records(content: Mapping[str, Any], workspace: Path, result: Path, say: RunProgress) -> dict[str, Any]:
    """Do a job on records; gives counts for the status of the run."""
    job = job_from(dict(content), "the page", workspace)
    if isinstance(job, AnonymiseJob):
        return _anonymise(job, workspace, result, say)
    assert isinstance(job, RecordsJob)
    return _protect(job, workspace, result, say)


# --- anonymous files -------------------------------------------------------------------------------------------------


def _anonymise(job: AnonymiseJob, workspace: Path, result: Path, say: RunProgress) -> dict[str, Any]:
    moments: list[Moment] = []

    def watch(now: Moment) -> None:
        moments.append(now)
        say.more["course"] = course(moments)
        say.more["can stop"] = True

    done = run_job(job, workspace, say, write=False, watch=watch, traced=True)
    found, attack = done.anonymisation, done.file_attack
    assert found is not None
    assert attack is not None
    say.more.clear()
    say("writing", 0, 1)
    for name in FILES.values():
        write_anonymous_file(found, result / name, formulas=job.output.formulas or "keep")
    sections: dict[str, Any] = {
        f"{audience} {language}": [
            s.plain() for s in safe_sections(found, attack, language, internal=audience == INTERNAL)
        ]
        for audience, language in product(AUDIENCES, ("en", "de"))
    }
    verdict = safe_verdict(found, attack)
    told = {language: verdict.words(language, internal=True) for language in ("en", "de")}
    figures = safe_figures(found) | {"warnings": list(done.warnings), "verdict": told, "ready": verdict.ready}
    _keep(result, sections | {VERDICT: verdict.plain()}, figures)
    save_origin(done.origin, result)
    return {"summary": done.summary(), "exposed": done.exposed}


def safe_figures(done: Anonymisation) -> dict[str, Any]:
    """What the page shows of an anonymous file: counts, deviations, what an attacker finds, the course."""
    return {
        "kind": "anonymise",
        "summary": done.internal_summary(),
        "deviations": done.quality.summary(),
        "attack": {key: list(pair) for key, pair in attack_figures(done).items()},
        "course": course(done.history),
    }


def course(moments: Sequence[Moment]) -> dict[str, Any]:
    """The course of a search in columns, thinned to what a plot can show."""
    step = max(1, len(moments) // MOST_MOMENTS)
    kept = [*moments[::step]] + ([] if (len(moments) - 1) % step == 0 else [moments[-1]])
    dimensions = max((len(m.largest) for m in kept), default=0)
    return {
        "groups": [m.groups for m in kept],
        "cases": [m.cases for m in kept],
        "largest": [[m.largest[d] if d < len(m.largest) else None for m in kept] for d in range(dimensions)],
        "stage": kept[-1].stage if kept else "",
        "limits": list(kept[-1].limits) if kept else [],
    }


# --- scientific-use files --------------------------------------------------------------------------------------------


def _protect(job: RecordsJob, workspace: Path, result: Path, say: RunProgress) -> dict[str, Any]:
    origin = job_origin(job, workspace, hashed=True)
    made, attack, further = make_microdata(job, workspace, source_of(job, workspace), say)
    say("writing", 0, 1)
    for name in FILES.values():
        output = job.output.model_copy(update={"records": name, "report": None, "internal_report": None})
        write_microdata(job.model_copy(update={"output": output}), result, made)
    told = {INTERNAL: made.sections(further), PUBLIC: made.public_sections()}
    sections: dict[str, Any] = {f"{audience} en": [s.plain() for s in english] for audience, english in told.items()}
    _keep(result, sections | {VERDICT: attack_verdict(attack).plain()}, use_figures(made, attack))
    save_origin(origin, result)
    facts: dict[str, Any] = {"microdata": made.summary(), "tables": {}}
    return {"summary": facts, "exposed": attack is not None and not attack.safe}


def use_figures(made: ScientificUse, attack: Attack | None) -> dict[str, Any]:
    """What the page shows of a scientific-use file: what was done, what it costs, what an attacker finds."""
    utility = made.utility
    found: dict[str, Any] = {
        "kind": "microdata",
        "summary": made.summary(),
        "columns": [
            {
                "name": c.name, "mean": list(c.mean), "variance": list(c.variance), "il1s": c.il1s,
                "hellinger": c.hellinger,
            }
            for c in utility.columns
        ],
        "utility": utility.summary(),
        "attack": None,
    }  # fmt: skip
    if attack is not None:
        shown = attack.combinations[:MOST_COMBINATIONS]
        found["attack"] = attack.summary() | {
            "cap": attack.cap,
            "by": list(attack.by),
            "risks": [{"codes": list(c.codes), "units": c.units, "correct": c.correct, "risk": c.risk} for c in shown],
        }
    return found


# --- reports ---------------------------------------------------------------------------------------------------------


def _keep(result: Path, sections: Mapping[str, Any], figures: Mapping[str, Any]) -> None:
    write_json(result / SECTIONS, json.loads(json.dumps(sections)), MOST_APART)
    write_json(result / FIGURES, figures, MOST_APART)


def write_kept_report(
    job: AnonymiseJob | RecordsJob, folder: Path, path: Path, language: str, *, internal: bool
) -> None:
    """The report of a finished run, the same bytes as its job file gives."""
    audience = INTERNAL if internal else PUBLIC
    name = f"{audience} {'en' if isinstance(job, RecordsJob) else language}"
    with reading(folder / SECTIONS, f"{SECTIONS} does not say what it should"):
        kept = read_json(folder / SECTIONS, MOST_APART)
        if name not in kept or VERDICT not in kept:
            raise BadOption("the run was made before reports began with a verdict", hint="run it again.")
        sections = [ReportSection.from_plain(each) for each in kept[name]]
        verdict = Verdict.from_plain(kept[VERDICT])
    origin = load_origin(folder)
    if isinstance(job, RecordsJob):
        write_records_report(job.output, sections, path, language, internal=internal, verdict=verdict, origin=origin)
    else:
        title = job.output.title or TITLES[language]["safe"]
        head = head_of(verdict, origin, language, internal=internal)
        write_report(path, title, sections, language=language, head=head)
