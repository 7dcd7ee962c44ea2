"""What a job says about SDMX: what its tables are called there, and what goes to an authority."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BeforeValidator, Field

from diskret.job.form import Problem, Section, Writes
from diskret.model.errors import BadOption, listed
from diskret.model.places import ending_of
from diskret.publication.publish import WRITERS
from diskret.publication.sdmx import Sdmx, Version
from diskret.publication.transmission import WRITERS as TRANSMISSIONS

if TYPE_CHECKING:
    from diskret.job.output_sections import TableOutput


def _as_text(given: Any) -> Any:
    return str(given) if type(given) is int else given


Texts = dict[str, Annotated[str, BeforeValidator(_as_text)]]
"""Names with codes; a year may stand without quotation marks."""


class SdmxSection(Section):
    """What a table is called in SDMX."""

    dataflow: str = Field(description="agency, identifier and version of the dataflow, such as 'ESTAT:SBS(1.0)'")
    dimensions: Texts = Field(
        default_factory=dict,
        description="names of dimensions by classification, such as { nace = 'ACTIVITY' }; the same if left out",
    )
    codes: dict[str, Texts] = Field(
        default_factory=dict,
        description="other codes by classification, or by indicator, such as { size = { small = 'E0T9' } }",
    )
    total: str = Field("_T", min_length=1, description="code of the totals that nobody named")
    indicator: str | None = Field(
        None, description="dimension that says which value a row holds; needed if files hold several"
    )
    constants: Texts = Field(
        default_factory=dict, description="dimensions with one code, such as { FREQ = 'A', TIME_PERIOD = '2025' }"
    )
    attributes: Texts = Field(
        default_factory=dict, description="attributes with one value, such as { UNIT_MEASURE = 'EUR' }"
    )
    sender: str = Field("unknown", description="who sends it (SDMX-ML)")
    version: Version = Field("2.1", description="version of SDMX-ML: '2.1' or '3.0'")

    @property
    def options(self) -> Sdmx:
        """The same as an option of `publish`."""
        return Sdmx(**self.model_dump())

    def among(self, by: Sequence[str]) -> SdmxSection:
        """What is said of these classifications, and of values; all of it where they are not known yet."""
        if not by:
            return self
        known = {*by, self.indicator}
        said = {key: {n: v for n, v in getattr(self, key).items() if n in known} for key in ("dimensions", "codes")}
        return self.model_copy(update=said)

    def unknown(self, by: Sequence[str]) -> Iterator[Problem]:
        """Names of classifications that no table has."""
        for key in ("dimensions", "codes"):
            for name in getattr(self, key):
                if name not in (*by, self.indicator):
                    yield Problem(f"output.sdmx.{key}", f"no classification {name!r}", f"there are {listed(by)}")

    def problems(self) -> Iterator[Problem]:
        """What the types cannot say."""
        try:
            _ = self.options
        except BadOption as e:
            yield Problem("", e.what, e.hint.rstrip("."))


class Transmission(Section):
    """A file for an authority, with the reason of every hidden cell. Confidential."""

    file: Annotated[str, Writes(tuple(TRANSMISSIONS), any_case=True)] = Field(
        description="file to write, SDMX: .csv .xml; confidential"
    )
    values: bool = Field(True, description="whether the authority gets the values of hidden cells, too")


def sdmx_problems(output: TableOutput, by: Sequence[str], values: int) -> Iterator[Problem]:
    """What SDMX files need and a job does not say; ``by`` is empty where a working file or metadata know it."""
    files = [name for name in output.publish if ending_of(name, WRITERS).startswith(".sdmx")]
    if not files and not output.transmission:
        return
    if output.sdmx is None:
        hint = "[output.sdmx] with dataflow = 'AGENCY:ID(1.0)'"
        yield Problem("output.sdmx", "an SDMX file names its dataflow", hint)
        return
    several = values > 1 or (files and (output.counts or output.intervals))
    if several and output.sdmx.indicator is None:
        hint = "the dimension that tells the values of a cell apart, such as 'INDICATOR'"
        yield Problem("output.sdmx.indicator", "missing", hint)
    try:
        _ = output.sdmx.options.columns(by) if by else ()
    except BadOption as e:
        yield Problem("output.sdmx", e.what, e.hint.rstrip("."))
