"""The attack a job asks for: read both files, link, judge, write the risk of every combination."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskret.io.files import all_or_none
from diskret.job.models import AttackSection, Job
from diskret.model.source import file_source
from diskret.publication.plots import save_chart
from diskret.risk.anonymity import measure_anonymity
from diskret.risk.judgement import Attack
from diskret.risk.linkage_attack import attack
from diskret.risk.options import LinkageOptions


def run_attack(job: Job, here: Path, released: object, *, write: bool = True) -> tuple[tuple[Path, ...], Attack]:
    """Attack the records of a job; write what it asks for, or nothing."""
    asked = job.attack
    assert asked is not None
    external = _file(job, here, asked.external)
    original = _file(job, here, asked.original) if asked.original else None
    found = attack_records(asked, released, external, original)
    return (_write(job, here, found) if write else ()), found


def attack_records(asked: AttackSection, released: object, external: object, original: object = None) -> Attack:
    """The attack as the section of a job describes it, on files or frames."""

    def renamed(names: list[str]) -> dict[str, str]:
        return {name: asked.names.get(name, name) for name in names}

    by = {name: asked.classes.get(name) for name in asked.by} or None
    options = LinkageOptions(
        aligned=asked.aligned, targets=asked.targets or None, by=by, method=asked.method, scale=asked.scale,
        usable_within=asked.usable_within, cap=asked.cap, engine=asked.engine,
    )  # fmt: skip
    return attack(
        released, external, keys=renamed(asked.keys), values=renamed(asked.values), unit=asked.unit or None,
        original=original, options=options,
    )  # fmt: skip


def risk_sections(
    asked: AttackSection, released: Mapping[str, Any], original: Mapping[str, Any]
) -> tuple[Attack, list[dict[str, Any]]]:
    """The attack on protected records, and what a report says about their risk, as plain sections.

    Both are the same units in the same order, before and after protection: the strongest attacker has the original.
    """
    found = attack_records(asked.model_copy(update={"unit": [], "aligned": True}), released, original)
    sections = [found.section().plain()]
    if asked.keys:
        sections.append(measure_anonymity(released, keys=asked.keys).section().plain())
    return found, sections


def _file(job: Job, here: Path, name: str | None) -> object:
    """Text files are read as the job says of its data."""
    assert name is not None
    return file_source(here / name, delimiter=job.data.delimiter, decimal=job.data.decimal, encoding=job.data.encoding)


def _write(job: Job, here: Path, found: Attack) -> tuple[Path, ...]:
    files = []
    with all_or_none() as meanwhile:
        if job.output.risks:
            _write_risks(found, meanwhile(here / job.output.risks))
            files.append(here / job.output.risks)
        if job.output.risk_plot:
            save_chart(found.chart(), meanwhile(here / job.output.risk_plot))
            files.append(here / job.output.risk_plot)
    return tuple(files)


def _write_risks(found: Attack, path: Path) -> None:
    head = [*found.by, "units", "correct", *(f"{name} usable" for name in found.usable), "risk"]
    rows = [[*c.codes, c.units, c.correct, *c.usable.values(), c.risk] for c in found.combinations]
    if path.suffix == ".json":
        content = found.summary() | {"risks": [dict(zip(head, row, strict=True)) for row in rows]}
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        writer.writerows(rows)
