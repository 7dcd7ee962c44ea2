"""The scientific-use file a job asks for: coarsen, change values, compare, write records and report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.io.files import all_or_none
from diskret.io.hierarchies import read_hierarchy
from diskret.io.mappings import read_mapping
from diskret.job.attack_job import attack_verdict, risk_sections, write_risks
from diskret.job.record_sections import (
    REDUCING,
    DropStep,
    MicroaggregateStep,
    MicrodataSection,
    NoiseStep,
    PramStep,
    RecodeStep,
    RecordsOutput,
    ReleaseStep,
    SwapStep,
    WithholdStep,
)
from diskret.microdata.coarsening import Coarsened, Drop, Recode, ReleaseUnits, Step, Withhold, coarsen
from diskret.microdata.columns import Protected, Records, read_records
from diskret.microdata.microaggregation import microaggregate
from diskret.microdata.noise import add_noise
from diskret.microdata.options import NoiseOptions
from diskret.microdata.panel import renumber
from diskret.microdata.pram import post_randomise
from diskret.microdata.swapping import swap_records
from diskret.microdata.utility import Regression, Utility, measure_utility
from diskret.model.source import Normalised
from diskret.publication.microdata_files import write_records
from diskret.publication.origin import Origin
from diskret.publication.phrases import in_german, section_in_german
from diskret.publication.report_file import write_report
from diskret.publication.report_head import head_of
from diskret.publication.sections import ReportSection
from diskret.publication.utility_report import classes_section, protection_section, public_section, utility_sections
from diskret.publication.verdict import Verdict
from diskret.risk.judgement import Attack
from diskret.tabulation.tabulate import Progress

if TYPE_CHECKING:
    from diskret.job.records_job import RecordsJob

NOTE = "This report holds statistics of the original records. It is not for publication."
TITLE = "Scientific-use file"


@dataclass(frozen=True, kw_only=True, eq=False)
class ScientificUse:
    """A finished file beside its original: the same units in the same order, before they are renumbered."""

    original: Records
    """The coarsened records before any value was changed."""
    protected: Records
    coarsened: Coarsened
    steps: tuple[Protected, ...]
    utility: Utility

    def summary(self) -> dict[str, Any]:
        """Counts and measures."""
        done = [self.coarsened.summary(), *(step.summary() for step in self.steps)]
        return {"records": self.protected.rows, "steps": done, "utility": self.utility.summary()}

    def public_sections(self) -> list[ReportSection]:
        """The report for everybody: what the released file shows itself, and the names of the methods."""
        return [public_section(self.protected, self.coarsened, self.steps)]

    def sections(self, further: Sequence[Mapping[str, Any]] = ()) -> list[ReportSection]:
        """The internal report; ``further`` sections, such as those on risk, as plain data."""
        classes = [classes_section(self.coarsened)] if self.coarsened.after else []
        own = [protection_section(self.coarsened, self.steps), *classes, *utility_sections(self.utility)]
        return own + [ReportSection.from_plain(each) for each in further]


def make_microdata(
    job: RecordsJob, here: Path, source: object, progress: Progress | None = None
) -> tuple[ScientificUse, Attack | None, list[dict[str, Any]]]:
    """The file, the attack if one is asked for, and what a report says about its risk; nothing is written."""
    made = protect(job.microdata, here, source, progress)
    if job.attack is None:
        return made, None, []
    (progress or (lambda what, done, of: None))("attacking", 0, 1)
    found, sections = risk_sections(job.attack, made.protected, made.original)
    return made, found, sections


def protect(asked: MicrodataSection, here: Path, source: object, progress: Progress | None = None) -> ScientificUse:
    """All steps in order."""
    say = progress or (lambda what, done, of: None)
    records = read_records(source, asked.values)
    records.require([c for c in (*asked.classes, asked.unit, asked.wave) if c])
    say("coarsening", 0, len(asked.steps))
    steps = reducing_steps(asked, here, source)
    reduced = coarsen(records, steps, unit=asked.unit)
    current, done = reduced.frame, []
    for number, step in enumerate(asked.steps):
        if not isinstance(step, REDUCING):
            say(step.do, number, len(asked.steps))
            done.append(changed(asked, step, current, seed_of(asked, number)))
            current = done[-1].frame
    say("comparing", len(asked.steps), len(asked.steps))
    kept = [name for name in asked.values if name in current]
    classes = [name for name in asked.classes if name in current]
    regressions = [Regression(response=r.response, on=tuple(r.on), logs=r.logs) for r in asked.regressions]
    utility = measure_utility(reduced.frame, current, kept, classes=classes, regressions=regressions)
    return ScientificUse(
        original=reduced.frame, protected=current, coarsened=reduced, steps=tuple(done), utility=utility
    )


def reducing_steps(asked: MicrodataSection, here: Path, source: object) -> list[Step]:
    """The steps that take information away, for codes as this source has them."""
    steps = list(_reducing(asked, here))
    if isinstance(source, Normalised):
        return [step.normalised() if isinstance(step, Recode) else step for step in steps]
    return steps


def _reducing(asked: MicrodataSection, here: Path) -> Iterator[Step]:
    """The steps that take information away."""
    for step in asked.steps:
        if isinstance(step, DropStep):
            yield Drop(columns=tuple(step.columns))
        elif isinstance(step, WithholdStep):
            yield Withhold(columns=tuple(step.columns), where=step.where, decides=step.decides)
        elif isinstance(step, ReleaseStep):
            yield ReleaseUnits(where=step.where, decides=step.decides)
        elif isinstance(step, RecodeStep):
            mapping: Mapping[str, str] | None = read_mapping(here / step.file) if step.file else step.mapping
            tree = read_hierarchy(here / step.hierarchy) if step.hierarchy else None
            yield Recode(
                column=step.column, mapping=mapping, hierarchy=tree, level=step.level, prefix=step.prefix,
                removed=tuple(step.removed),
            )  # fmt: skip


def changed(
    asked: MicrodataSection, step: MicroaggregateStep | NoiseStep | SwapStep | PramStep, records: Records, seed: int
) -> Protected:
    """One step that changes values."""
    if isinstance(step, MicroaggregateStep):
        return microaggregate(
            records, _columns(asked, step.columns, records), m=step.m, method=step.method,
            keep_variance=step.keep_variance, wave=None if step.pooled else asked.wave,
        )  # fmt: skip
    if isinstance(step, NoiseStep):
        unit, wave = (asked.unit, asked.wave) if asked.unit and asked.wave else (None, None)
        options = NoiseOptions(pairing=step.pairing, unit=unit, wave=wave, gaps=step.gaps, nearest=step.nearest)
        return add_noise(
            records, _columns(asked, step.columns, records), seed=seed, sd=step.sd, shift=step.shift,
            amount=step.amount, options=options,
        )  # fmt: skip
    if isinstance(step, SwapStep):
        return swap_records(
            records, step.regions, risk=step.risk, similar=step.similar, k=step.k, rate=step.rate,
            household=step.household, seed=seed,
        )  # fmt: skip
    return post_randomise(
        records,
        step.columns,
        keep=step.keep,
        matrix=step.matrix,
        invariant=step.invariant,
        within=step.within,
        seed=seed,
    )


def _columns(asked: MicrodataSection, said: Sequence[str], records: Records) -> list[str]:
    return list(said) if said else [name for name in asked.values if name in records]


def seed_of(asked: MicrodataSection, number: int) -> int:
    """Each step has random numbers of its own, so that one more step leaves the others as they were."""
    words = np.random.SeedSequence([asked.seed or 0, number]).generate_state(2, np.uint64)
    return int(words[0]) << 64 | int(words[1])


def write_records_report(
    asked: RecordsOutput, sections: Sequence[ReportSection], path: Path, language: str, *, internal: bool,
    verdict: Verdict, origin: Origin,
) -> None:  # fmt: skip
    """A report on a scientific-use file as .html or .pdf, its sections still in English."""
    title, note = asked.title or TITLE, NOTE if internal else ""
    if language == "de":
        title, note = asked.title or in_german(TITLE), in_german(note)
        sections = [section_in_german(each) for each in sections]
    head = head_of(verdict, origin, language, note=note, internal=internal)
    write_report(path, title, sections, language=language, head=head)


def write_microdata(
    job: RecordsJob, here: Path, made: ScientificUse, further: Sequence[Mapping[str, Any]] = (),
    found: Attack | None = None, origin: Origin | None = None,
) -> tuple[Path, ...]:  # fmt: skip
    """Write what the job asks for, or nothing."""
    asked, said = job.microdata, job.output
    files: list[Path] = []
    with all_or_none() as meanwhile:
        if said.records:
            leaving = made.protected
            if asked.renumber:
                leaving = renumber(leaving, asked.unit, asked.wave, seed_of(asked, len(asked.steps)))
            write_records(leaving, meanwhile(here / said.records), formulas=said.formulas or "keep")
            files.append(here / said.records)
        for name, internal in said.reports:
            sections = made.sections(further) if internal else made.public_sections()
            write_records_report(
                said, sections, meanwhile(here / name), said.language, internal=internal,
                verdict=attack_verdict(found), origin=origin or Origin(),
            )  # fmt: skip
            files.append(here / name)
        if found is not None:
            files += write_risks(said, here, found, meanwhile)
    return tuple(files)
