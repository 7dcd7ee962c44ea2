"""A job that measures the risk of records: who could be found by what an attacker may know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from diskret.io.files import all_or_none
from diskret.job.data_section import Data
from diskret.job.form import Problem, Section, named
from diskret.job.loading import described_source
from diskret.job.outcome import JobResult, Running
from diskret.job.record_sections import RiskOutput, RiskSection
from diskret.publication.phrases import in_german, section_in_german
from diskret.publication.report_file import write_report
from diskret.publication.report_head import head_of
from diskret.publication.sections import ReportSection
from diskret.publication.verdict import Verdict

TITLE = "Risk of the file"


class RiskJob(Section):
    """The risk of records: k-anonymity, uniques of the file and of the population, special uniques."""

    kind: Literal["risk"] = Field("risk", description="kind of the job; recognised by its sections if left out")
    data: Data = Field(description="where the data are")
    risk: RiskSection = Field(description="measure the risk of records")
    output: RiskOutput = Field(default_factory=lambda: RiskOutput())

    def problems(self) -> Iterator[Problem]:
        """Records are needed."""
        return named((not self.data.microdata, "data.microdata", "missing", "a job with [risk] reads records"))

    def run(self, running: Running) -> JobResult:
        """Measure both; write a report if one is asked for."""
        from diskret.risk.anonymity import measure_anonymity
        from diskret.risk.measure import measure_risk

        asked = self.risk
        source, _ = described_source(self.data, running.here)
        running.say("measuring", 0, 2)
        anonymity = measure_anonymity(
            source, keys=asked.keys, sensitive=asked.sensitive, others_known=asked.others_known
        )
        running.say("measuring", 1, 2)
        risk = measure_risk(
            source, keys=asked.keys, weight=asked.weight, population=asked.population, household=asked.household,
            special=asked.special, largest=asked.largest,
        )  # fmt: skip
        done = JobResult(anonymity=anonymity, risk=risk)
        return done if not (running.write and self.output.internal_report) else self._reported(running, done)

    def _reported(self, running: Running, done: JobResult) -> JobResult:
        assert done.anonymity is not None
        assert done.risk is not None
        german, path = self.output.language == "de", running.here / (self.output.internal_report or "")
        sections = [ReportSection.from_plain(each.section().plain()) for each in (done.anonymity, done.risk)]
        title = self.output.title or (in_german(TITLE) if german else TITLE)
        alone = done.anonymity.alone
        verdict = Verdict(against=(("alone", {"n": alone}),) if alone else ())
        with all_or_none() as meanwhile:
            write_report(
                meanwhile(path), title, [section_in_german(s) if german else s for s in sections],
                language=self.output.language, head=head_of(verdict, running.origin, self.output.language),
            )  # fmt: skip
        return JobResult(anonymity=done.anonymity, risk=done.risk, files=(path,))
