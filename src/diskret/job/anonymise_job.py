"""A job that makes an anonymous file: microdata in which every combination occurs not at all or often enough."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from diskret.io.files import all_or_none
from diskret.job.data_section import Data
from diskret.job.form import Problem, Section, named
from diskret.job.loading import classified_source, hierarchies_of, missing_codes
from diskret.job.outcome import JobResult, Running
from diskret.job.record_sections import AnonymiseOutput, AnonymiseSection, FileAttackSection
from diskret.job.report import write_safe_report
from diskret.job.table_sections import Classification, gaps_of_tables
from diskret.model.errors import listed
from diskret.publication.microdata_files import write_anonymous_file, write_quality, write_rematched
from diskret.publication.plots import plot_deviations

if TYPE_CHECKING:
    from diskret.safe.anonymisation import Anonymisation
    from diskret.safe.file_attack import FileAttack


class AnonymiseJob(Section):
    """Anonymous microdata whose tables stay as they are, as far as possible (SAFE)."""

    kind: Literal["anonymise"] = Field(
        "anonymise", description="kind of the job; recognised by its sections if left out"
    )
    data: Data = Field(description="where the data are")
    classifications: dict[str, Classification] = Field(default_factory=dict)
    anonymise: AnonymiseSection = Field(description="anonymous microdata instead of a table")
    file_attack: FileAttackSection = Field(default_factory=lambda: FileAttackSection())
    output: AnonymiseOutput = Field(default_factory=lambda: AnonymiseOutput())

    def problems(self) -> Iterator[Problem]:
        """Records are needed, and classifications of attributes only."""
        hint = "a job with [anonymise] reads one record per object"
        yield from named((not self.data.microdata, "data.microdata", "missing", hint))
        for name in self.classifications:
            if name not in self.anonymise.attributes:
                hint = f"attributes are {listed(self.anonymise.attributes)}"
                yield Problem(f"classifications.{name}", "is not an attribute", hint)
        yield from gaps_of_tables(self.classifications)

    def run(self, running: Running) -> JobResult:
        """Search for the file; write it with its report."""
        from diskret.safe.anonymise import anonymise
        from diskret.safe.control import Control
        from diskret.safe.options import AnonymiseOptions

        asked, here = self.anonymise, running.here
        data, described = classified_source(self.data, self.classifications, here)
        by = hierarchies_of(self, here, asked.attributes, data, described)
        fictitious: object = here / asked.fictitious if isinstance(asked.fictitious, str) else asked.fictitious or None
        control = Control(up_to=asked.up_to, tables=asked.tables, counters=asked.counters, weights=asked.weights)
        options = AnonymiseOptions(
            from_data=made_of_data(self),
            missing=missing_codes(self.classifications, self.data.normalise), fictitious=fictitious,
            time_limit=asked.time_limit, steps=asked.steps,
            checkpoint=None if asked.checkpoint is None else here / asked.checkpoint, engine=self.data.engine,
            progress=running.progress, watch=running.watch,
        )  # fmt: skip
        search = asked.options()
        done = anonymise(data, by, control=control, k=asked.k, search=search, seed=asked.seed, options=options)
        running.say("attacking", 0, 1)
        found = self._attacked(done, here)
        files = self._written(running, data, done, found) if running.write else ()
        return JobResult(files=files, anonymisation=done, file_attack=found)

    def _attacked(self, done: Anonymisation, here: Path) -> FileAttack:
        from diskret.safe.file_attack import attack_anonymous
        from diskret.safe.published import FileKnowledge

        asked = self.file_attack
        knowledge = FileKnowledge(
            codes=asked.codes, existed=asked.existed, tables=asked.known_tables,
            records=None if asked.records is None else here / asked.records,
        )  # fmt: skip
        return attack_anonymous(done, knowledge=knowledge, least=asked.least)

    def _written(self, running: Running, data: object, done: Anonymisation, found: FileAttack) -> tuple[Path, ...]:
        """Everything the job asks for, or nothing."""
        from diskret.safe.rematch import rematch

        asked, here = self.output, running.here
        files: list[Path] = []
        with all_or_none() as meanwhile:

            def place(name: str) -> Path:
                files.append(here / name)
                return meanwhile(here / name)

            if asked.microdata:
                write_anonymous_file(done, place(asked.microdata), formulas=asked.formulas or "keep")
            if asked.quality:
                write_quality(done, place(asked.quality))
            if asked.deviations:
                plot_deviations({done.search: done.quality}, place(asked.deviations))
            for name, internal in asked.reports:
                write_safe_report(asked, done, found, place(name), internal=internal, origin=running.origin)
            if asked.rematched:
                pairs = rematch(data, done, self.anonymise.priority)
                write_rematched(pairs, place(asked.rematched), formulas=asked.formulas or "keep")
        return tuple(files)


def made_of_data(job: AnonymiseJob) -> set[str]:
    """Attributes whose codes were taken from the data, and not from a list."""
    named = {name for name, said in job.classifications.items() if said.hierarchy}
    return {*job.anonymise.attributes} - named
