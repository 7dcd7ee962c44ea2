"""The sections of a job about what is written of tables: files, how they look, reports.

Every field says in its description what it is for; the same words are the hint of an error and stand in the published
JSON Schema.
"""

from __future__ import annotations

import datetime
from typing import Annotated, Any, Literal

from pydantic import Field

from diskret.job.form import PLOTS, Names, Section, Writes
from diskret.job.safe_file_section import SafeFileSection
from diskret.job.sdmx_section import SdmxSection, Transmission
from diskret.publication.axes import Sums
from diskret.publication.formulas import Formulas
from diskret.publication.publish import WRITERS
from diskret.publication.report_file import ENDINGS as REPORTS

Language = Literal["en", "de"]
REPORT = Writes(REPORTS, any_case=True)
FormulasInFile = Annotated[
    Formulas | None,
    Field(
        description="texts in .csv that a spreadsheet would compute: 'escape' puts an apostrophe before them, 'keep' "
        "writes them as they are; left out: escape in tables and lists, keep in records"
    ),
]


class TableFiles(Section):
    """Files of one table, or of several over the same classifications."""

    publish: Annotated[Names, Writes(tuple(WRITERS), any_case=True, public=True)] = Field(
        default_factory=list,
        description="files for the public: .csv .parquet .xlsx .json .px .sdmx.csv .sdmx.xml .arrow .dta .sav .xpt",
    )
    working: Annotated[str | None, Writes((".parquet",))] = Field(
        None, description="working file with all values, for further work; confidential"
    )
    tau_argus: Annotated[str | None, Writes()] = Field(
        None, description="folder for a tau-ARGUS cell list with hierarchies; confidential"
    )
    apriori: Annotated[str | None, Writes((".hst",))] = Field(
        None, description="a-priori file with statuses, protection levels and prices of all cells, .hst; confidential"
    )
    safe_files: list[SafeFileSection] = Field(default_factory=list, description="safe files of tau-ARGUS")
    transmission: list[Transmission] = Field(
        default_factory=list, description="files for an authority, with the reasons of hidden cells; confidential"
    )

    @property
    def leaves(self) -> bool:
        """Whether anything is written for others: for the public, or for an authority."""
        return bool(self.publish or self.transmission)


class Dated(Section):
    """When something is released."""

    date: datetime.date | None = Field(
        None,
        description="date of the release, such as 2026-03-31, in reports, .json, .px and SDMX; left out: the internal "
        "report gives the day the data file was written",
    )


class Appearance(Dated):
    """How published tables look."""

    mark: str = Field("x", description="what stands for a suppressed value")
    counts: bool = Field(False, description="whether contributor counts are published too")
    title: str = Field("", description="title of the table")
    unprotected: bool = Field(
        False, description="publish even tables that no rule marked or that nothing protects; their files say so"
    )
    formulas: FormulasInFile = None
    language: Language = Field("en", description="language of legend and report, and of totals that nobody named")
    sums: Sums = Field("after", description="whether sums stand 'before' their parts or 'after' them")
    decimal: Literal[".", ","] = Field(
        ".", description="decimal sign of .csv; with a comma, semicolons separate the fields"
    )

    sdmx: SdmxSection | None = Field(None, description="what the table is called in SDMX")

    @property
    def looks(self) -> dict[str, Any]:
        """What shapes a table for the eye as well."""
        return {"mark": self.mark, "sums": self.sums, "language": self.language}

    @property
    def options(self) -> dict[str, Any]:
        """The same as options of `publish`."""
        more = {"counts": self.counts, "title": self.title, "decimal": self.decimal, "updated": self.date}
        named = None if self.sdmx is None else self.sdmx.options
        return {**self.looks, **more, "formulas": self.formulas or "escape", "sdmx": named}


class PoolTableOutput(Appearance, TableFiles):
    """What is written of one table of a pool. What is not said here is said in `[output]`."""


class PoolOutput(Appearance):
    """What is written of a pool as a whole, and how its tables look. Paths are relative to the job file."""

    certificate: Annotated[str | None, Writes((".json",))] = Field(
        None, description="certificate of the audit that diskret verify checks, .json; confidential"
    )
    plain: Annotated[str | None, Writes((".json",))] = Field(
        None, description="the table as plain JSON, by which others check the certificate, .json; confidential"
    )
    intervals: bool = Field(
        False, description="whether to publish the bounds of hidden cells that every reader can compute anyway"
    )
    interval_digits: int | None = Field(
        None,
        ge=1,
        description="leading digits to which the bounds are widened; left out: as computed",
    )


class Reports(Section):
    """Reports on what was done: one for everybody, one for the house."""

    report: Annotated[str | None, Writes(REPORTS, any_case=True, public=True)] = Field(
        None, description="self-contained report for everybody, .html or .pdf; names no cell and gives no reasons"
    )
    internal_report: Annotated[str | None, REPORT] = Field(
        None, description="self-contained report for the house, .html or .pdf; confidential"
    )

    @property
    def reports(self) -> list[tuple[str, bool]]:
        """Every report asked for, and whether it is internal."""
        both = ((self.report, False), (self.internal_report, True))
        return [(name, internal) for name, internal in both if name]


class TableOutput(Reports, PoolOutput, PoolTableOutput):
    """What is written of a table. Paths are relative to the job file."""

    comparison: Annotated[str | None, PLOTS] = Field(
        None, description="plot of the rules' regions, .svg .html .png; confidential"
    )
