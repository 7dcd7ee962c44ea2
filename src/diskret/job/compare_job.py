"""A job that compares all methods on the same microdata."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from diskret.io.files import all_or_none
from diskret.job.data_section import Data
from diskret.job.form import Problem, Section, named
from diskret.job.loading import categories_of, classified_source, hierarchies_of
from diskret.job.outcome import JobResult, Running
from diskret.job.record_sections import CompareSection
from diskret.job.rules import rules_of
from diskret.job.table_job import ONLY_RECORDS, TableJob
from diskret.job.table_sections import Classification, Rules, TableSection, gaps_of_tables
from diskret.model.errors import listed
from diskret.publication.comparison_files import write_comparison

if TYPE_CHECKING:
    from diskret.comparison.compare import Comparison


class CompareJob(Section):
    """All methods on the same microdata, side by side."""

    kind: Literal["compare"] = Field("compare", description="kind of the job; recognised by its sections if left out")
    data: Data = Field(description="where the data are")
    classifications: dict[str, Classification] = Field(default_factory=dict)
    table: TableSection = Field(default_factory=lambda: TableSection())
    rules: Rules = Field(default_factory=lambda: Rules())
    compare: CompareSection = Field(description="all methods side by side instead of a table")

    def problems(self) -> Iterator[Problem]:
        """What a comparison needs, and what not all methods know."""
        as_table = TableJob(data=self.data, classifications=self.classifications, table=self.table, rules=self.rules)
        yield from as_table.problems()
        merge, by = self.compare.merge, self.table.by
        yield from named(
            (not self.data.microdata, "data.microdata", "missing", "a job with [compare] reads records"),
            (not self.rules.model_fields_set, "rules", "missing", "which cells are primary, such as min_count = 3"),
            (
                len(self.table.value) > 1,
                "table.value",
                "names several columns",
                "compare methods for one value at a time",
            ),
            (merge and merge not in by, "compare.merge", f"no classification {merge!r}", f"table.by: {listed(by)}"),
        )
        for key in self.table.saying(*ONLY_RECORDS, "shadow"):
            yield Problem(f"table.{key}", "cannot be combined with [compare]", "not all methods know it")
        if self.table.without_value != "refuse":
            yield Problem(
                "table.without_value", "cannot be combined with [compare]", "fill them, or leave the rows out"
            )
        yield from gaps_of_tables(self.classifications)

    def run(self, running: Running) -> JobResult:
        """Every method on the records; written is what the section asks for, or nothing."""
        found = self._compared(running)
        files = []
        with all_or_none() as meanwhile:
            for name in self.compare.files if running.write else ():
                write_comparison(
                    found, meanwhile(running.here / name), language=self.compare.language, origin=running.origin
                )
                files.append(running.here / name)
        return JobResult(files=tuple(files), methods=found)

    def _compared(self, running: Running) -> Comparison:
        from diskret.cellkey.p_table_files import read_p_table
        from diskret.comparison.compare import compare_methods
        from diskret.comparison.options import METHODS, ComparisonOptions

        data, described = classified_source(self.data, self.classifications, running.here)
        by = hierarchies_of(self, running.here, self.table.by, data, described)
        asked = self.compare
        options = ComparisonOptions(
            percent=asked.percent, seed=asked.seed, base=asked.base, k=asked.k, merge=asked.merge,
            p_table=read_p_table(running.here / asked.p_table) if asked.p_table else None,
            ordered=tuple(n for n, c in self.classifications.items() if c.ordered),
            categories=categories_of(self.classifications),
        )  # fmt: skip
        return compare_methods(
            data, by=by, value=self.table.value[0] if self.table.value else None, rules=rules_of(self, self.table.by),
            key=asked.key, methods=asked.methods or METHODS, options=options, progress=running.progress,
        )  # fmt: skip
