"""A job that attacks records by linking them with an external file; and the attack for jobs that protect them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from diskret.io.files import all_or_none, whole_file
from diskret.job.data_section import Data
from diskret.job.form import Problem, Section, named
from diskret.job.loading import described_source, file_of
from diskret.job.outcome import JobResult, Running
from diskret.job.record_sections import AttackOutput, AttackSection, RiskFiles
from diskret.model.sheets import unique_names
from diskret.publication.formulas import Formulas, spoken
from diskret.publication.phrases import in_german, section_in_german
from diskret.publication.plots import save_chart
from diskret.publication.report_file import write_report
from diskret.publication.report_head import head_of
from diskret.publication.sections import ReportSection
from diskret.publication.verdict import Reason, Verdict

if TYPE_CHECKING:
    from diskret.risk.judgement import Attack

TITLE = "Attack by record linkage"


class AttackJob(Section):
    """An attack on records that are to be released, by somebody with another file about the same units."""

    kind: Literal["attack"] = Field("attack", description="kind of the job; recognised by its sections if left out")
    data: Data = Field(description="where the data are")
    attack: AttackSection = Field(description="attack records instead of making a table")
    output: AttackOutput = Field(default_factory=lambda: AttackOutput())

    def problems(self) -> Iterator[Problem]:
        """What an attack needs."""
        released = "a job with [attack] reads the records that are to be released"
        return named(
            (not self.data.microdata, "data.microdata", "missing", released),
            (not self.attack.external, "attack.external", "missing", "file the attacker has: .parquet or .csv"),
        )

    def run(self, running: Running) -> JobResult:
        """Attack the records; write what is asked for, or nothing."""
        running.say("attacking", 0, 1)
        released, _ = described_source(self.data, running.here)
        external = self._file(running.here, self.attack.external)
        found = attack_records(self.attack, released, external, self._file(running.here, self.attack.original))
        files: tuple[Path, ...] = ()
        if running.write:
            with all_or_none() as meanwhile:
                files = tuple(write_risks(self.output, running.here, found, meanwhile))
                if self.output.internal_report:
                    files += (running.here / self.output.internal_report,)
                    self._report(found, running, meanwhile(files[-1]))
        return JobResult(files=files, attack=found)

    def _report(self, found: Attack, running: Running, path: Path) -> None:
        """What the attack found, for the house."""
        german = self.output.language == "de"
        section = ReportSection.from_plain(found.section().plain())
        title = self.output.title or (in_german(TITLE) if german else TITLE)
        write_report(
            path, title, [section_in_german(section) if german else section], language=self.output.language,
            head=head_of(attack_verdict(found), running.origin, self.output.language),
        )  # fmt: skip

    def _file(self, here: Path, name: str | None) -> object:
        """Text files are read as the job says of its data."""
        return name and file_of(
            self.data.model_copy(update={"hive": False, "sheet": None, "unpivot": None}), here / name
        )


def attack_verdict(found: Attack | None) -> Verdict:
    """Whether records may leave: only if an attack found nobody too easily."""
    if found is None:
        return Verdict(against=(("records not attacked", {}),))
    reasons: list[Reason] = [("at risk", {"n": len(found.exceeding)})] if found.exceeding else []
    reasons += [] if found.truth_known else [("truth unknown", {})]
    by = " x ".join(found.by) or "-"
    return Verdict(against=tuple(reasons), found=("nobody found", {"by": by, "cap": f"{found.cap:g}"}))


def attack_records(asked: AttackSection, released: object, external: object, original: object = None) -> Attack:
    """The attack as the section of a job describes it, on files or frames."""
    from diskret.risk.linkage_attack import attack
    from diskret.risk.options import LinkageOptions

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
    from diskret.risk.anonymity import measure_anonymity

    found = attack_records(asked.model_copy(update={"unit": [], "aligned": True}), released, original)
    sections = [found.section().plain()]
    if asked.keys:
        sections.append(measure_anonymity(released, keys=asked.keys).section().plain())
    return found, sections


def write_risks(asked: RiskFiles, here: Path, found: Attack, meanwhile: Callable[[Path], Path]) -> Iterator[Path]:
    """The risk of every combination as a file and as a plot, where asked for."""
    if asked.risks:
        with whole_file(meanwhile(here / asked.risks), private=True) as part:
            _write_list(found, part, asked.formulas or "escape")
        yield here / asked.risks
    if asked.risk_plot:
        save_chart(found.chart(), meanwhile(here / asked.risk_plot))
        yield here / asked.risk_plot


def _write_list(found: Attack, path: Path, formulas: Formulas) -> None:
    head = unique_names([*found.by, "units", "correct", *(f"{name} usable" for name in found.usable), "risk"])
    rows = [[*c.codes, c.units, c.correct, *c.usable.values(), c.risk] for c in found.combinations]
    if path.suffix == ".json":
        content = found.summary() | {"risks": [dict(zip(head, row, strict=True)) for row in rows]}
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="")
        return
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(spoken(head, formulas))
        for combination, row in zip(found.combinations, rows, strict=True):
            writer.writerow([*spoken(combination.codes, formulas), *row[len(found.by) :]])
