"""A job that makes a scientific-use file of records, and attacks it if asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from diskret.job.data_section import Data
from diskret.job.form import Problem, Section, named
from diskret.job.loading import described_source
from diskret.job.outcome import JobResult, Running
from diskret.job.record_sections import AttackSection, MicrodataSection, RecordsOutput

UNATTACKED = (
    "the protected records were not attacked, so nothing shows that they may leave: groups and noise of one column "
    "at a time often let whoever knows several columns find nearly everybody; add [attack]"
)


class RecordsJob(Section):
    """Records protected for science: coarsened, changed, compared with what they were, and attacked."""

    kind: Literal["records"] = Field("records", description="kind of the job; recognised by its sections if left out")
    data: Data = Field(description="where the data are")
    microdata: MicrodataSection = Field(description="protect records instead of a table")
    attack: AttackSection | None = Field(None, description="attack the protected records")
    output: RecordsOutput = Field(default_factory=lambda: RecordsOutput())

    def problems(self) -> Iterator[Problem]:
        """Records are needed; an attacker has the records before protection and nothing else."""
        theirs = self.attack is not None and self.attack.saying("external", "original", "unit")
        has = "the attacker then has the records before protection"
        yield from named(
            (not self.data.microdata, "data.microdata", "missing", "a job with [microdata] reads records"),
            (theirs, "attack.external", "cannot be combined with [microdata]", has),
        )
        yield from self._not_by_column() if self.microdata.by_column else ()
        for key in self.output.saying("risks", "risk_plot") if self.attack is None else ():
            yield Problem(f"output.{key}", "needs [attack]", "add the section, or leave the key out")

    def _not_by_column(self) -> Iterator[Problem]:
        """A file larger than memory is written, and nothing else: what looks at all of it is another job's."""
        attacked = "attack the written file in a job of its own, with unit, or with aligned and renumber = false"
        yield from named(
            (self.attack is not None, "attack", "cannot be combined with microdata.by_column", attacked),
            (not self.output.records, "output.records", "missing", "by_column writes the file as it goes"),
        )
        for key in self.output.saying("report", "internal_report", "formulas"):
            yield Problem(f"output.{key}", "cannot be combined with microdata.by_column", "nothing is compared then")

    def run(self, running: Running) -> JobResult:
        """Make the file, attack it if asked, write what is asked for or nothing, and say what was done."""
        if self.microdata.by_column:
            from diskret.job.by_column import protect_large

            running.warn([UNATTACKED])
            return protect_large(self, running)
        from diskret.job.microdata import make_microdata, write_microdata

        if self.attack is None:
            running.warn([UNATTACKED])
        source, _ = described_source(self.data, running.here)
        made, found, sections = make_microdata(self, running.here, source, running.progress)
        files = write_microdata(self, running.here, made, sections, found, running.origin) if running.write else ()
        return JobResult(files=files, microdata=made.summary(), attack=found)
