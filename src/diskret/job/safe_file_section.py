"""The section of a job that asks for a safe file of tau-ARGUS."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import Field

from diskret.job.form import Names, Problem, Section, Writes, named
from diskret.model.errors import listed
from diskret.publication.argus.options import CONFIDENTIAL, KNOWN, Format, options_beside
from diskret.suppression.prices import CostBy

MOST_AXES = 10
"""Classifications of a table of tau-ARGUS."""


class SafeFileSection(Section):
    """A safe file of tau-ARGUS: one WRITETABLE, its options in words."""

    file: Annotated[str, Writes()] = Field(description="file to write; metadata, hierarchies and a page lie beside it")
    format: Format = Field(
        "intermediate", description="types 1 to 7: csv, pivot, code-value, sbs, intermediate, jj, cell-keys"
    )
    response: str | None = Field(None, description="value column; left out where the table has one")
    version: Literal[3, 4] = Field(
        4, description="whether the file looks as tau-ARGUS 4 writes it, or as tau-ARGUS 3 did"
    )
    status: bool = Field(False, description="pivot, code-value: every value with its status (AS); confidential")
    suppress_empty: bool = Field(False, description="leave out cells without contributors (SE)")
    names_first: bool | None = Field(
        None, description="pivot, code-value: names of the columns in the first line (FL); left out: of a pivot file"
    )
    quotes: bool = Field(True, description="codes in quotation marks (QU)")
    hierarchical_levels: bool = Field(False, description="sbs: the level of every code beside it (HL)")
    status_only: bool = Field(False, description="intermediate: leave out shadow and largest contributions (SO)")
    audit: bool = Field(False, description="intermediate: what an attack finds possible for suppressed cells (AR)")
    holding: bool = Field(False, description="intermediate: holdings instead of respondents (HI)")
    remove_trivial: bool = Field(False, description="jj: leave out codes that are the only part of another (TR)")
    original: bool = Field(False, description="cell-keys: the values before the noise (AO); confidential")
    differences: bool = Field(False, description="cell-keys: the noise (AD); confidential")
    keys: bool = Field(False, description="cell-keys: the cell keys (AC); confidential")
    widths: dict[str, int | Literal["longest"]] = Field(
        default_factory=dict,
        description="width to which codes of a classification are padded on the left; 'longest': that of its longest "
        "code",
    )
    unpadded: dict[str, Names] = Field(
        default_factory=dict, description="codes of a classification that are not padded, such as sums"
    )
    decimals: int | None = Field(None, ge=0, le=9, description="decimals of the values; left out: their own")
    cost: CostBy | None = Field(None, description="intermediate, jj: what a hidden cell costs, as in [suppression]")
    power: float = Field(1.0, ge=0, description="intermediate, jj: the power to which the cost is raised")
    report: bool = Field(True, description="whether a page .html beside the file sums up the table; confidential")

    def problems(self) -> Iterator[Problem]:
        """Options that the format does not know."""
        for key in options_beside(self.format, set(self.saying(*self.options))):
            yield Problem(key, f"means nothing with format {self.format!r}", f"it has {listed(KNOWN[self.format])}")

    def further_files(self) -> Iterator[tuple[str, str]]:
        """Metadata and hierarchies, and the page."""
        target = PurePath(self.file)
        if self.format in ("intermediate", "cell-keys"):
            yield "file", str(target.with_suffix(".rda"))
            for number in range(1, MOST_AXES + 1):
                yield from (("file", str(target.with_name(f"{target.stem}_{number}{end}"))) for end in (".hrc", ".cdl"))
        if self.report:
            yield "report", str(target.with_suffix(".html"))

    @property
    def options(self) -> dict[str, Any]:
        """What was said, as options of `write_safe_file`."""
        said = self.model_fields_set - {"file", "response", "format"}
        return {key: getattr(self, key) for key in type(self).model_fields if key in said}


def unfit(
    files: Sequence[SafeFileSection], values: Sequence[str], by: Sequence[str], changes: str, *, holdings: bool
) -> Iterator[Problem]:
    """Safe files that do not go with the table: ``changes`` is the section that changes its values, if one does.

    Values and classifications that the data tell only when they are read are none here.
    """
    for number, each in enumerate(files):
        key = f"output.safe_files.{number}"
        several, other = len(values) > 1 and not each.response, each.response and each.response not in values
        unknown = [name for name in (*each.widths, *each.unpadded) if name not in by]
        true_values = each.format in CONFIDENTIAL and changes
        yield from named(
            (values and (several or other), f"{key}.response", "a safe file holds one response", listed(values)),
            (by and unknown, f"{key}.widths", f"no classification {listed(unknown)}", f"table.by lists {listed(by)}"),
            (true_values, f"{key}.format", f"{each.format!r} holds true values", f"[{changes}] changes them"),
            (
                each.format == "cell-keys" and changes != "cell_key",
                f"{key}.format", "'cell-keys' holds a table with cell-key noise", "add [cell_key]",
            ),
            (each.holding and not holdings, f"{key}.holding", "needs table.holding", "name the column"),
        )  # fmt: skip
