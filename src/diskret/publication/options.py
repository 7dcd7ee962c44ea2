"""How a table is to appear when it leaves: marks, texts, language."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Any, Literal, get_args

from diskret.model.errors import BadOption, listed
from diskret.model.words import LANGUAGES, words
from diskret.publication.axes import Sums
from diskret.publication.formulas import Formulas, refuse_unknown
from diskret.publication.sdmx import Sdmx

if TYPE_CHECKING:
    from diskret.auditing.published_intervals import Intervals


@dataclass(frozen=True, kw_only=True)
class Publication:
    """Everything a publication may choose; what it must not show is not a choice and stands in `release`."""

    mark: str = "x"
    """Stands for every suppressed value, primary or secondary."""
    zero: str | None = None
    """What stands for an exact zero in CSV and Excel, such as ``-``; None prints the number."""
    counts: bool = False
    """Whether contributor counts are published too, for all cells."""
    intervals: bool | Intervals | Mapping[str, Intervals] = False
    """Whether bounds are published too: of an open cell its value, of a hidden one what every reader can compute. True
    takes the usual promise to see whether anything is exposed; for another promise, or round numbers, give what
    `publishable_intervals` made, or one per response."""
    labels: bool = True
    """Whether labels stand beside the codes where a classification has any (CSV, Parquet, Excel)."""
    title: str = ""
    source: str = ""
    unit: str = ""
    """Unit of the values, such as ``1000 EUR`` (Excel, JSON-stat, PX)."""
    subject: str = ""
    """Subject area (PX)."""
    language: str = "en"
    """Language of the legend, and of totals that nobody named: ``en`` or ``de``."""
    sums: Sums = "after"
    """Whether sums stand ``before`` their parts or ``after`` them."""
    decimal: Literal[".", ","] = "."
    """Decimal sign of CSV; with a comma fields are parted by semicolons, as spreadsheets in German read them."""
    formulas: Formulas = "escape"
    """Codes, labels and names that a spreadsheet would take for a formula (CSV): ``escape`` puts an apostrophe before
    them, ``keep`` writes them as they are, for programs."""
    unprotected: bool = False
    """Whether tables may leave that nobody marked, or whose primary cells nothing is known to protect; their files say
    so (Excel, JSON-stat, PX, the footer of Parquet)."""
    updated: date | None = None
    """Date of the release (JSON-stat, PX, SDMX-ML); files carry no date of their own, so that equal tables give equal
    bytes."""
    sdmx: Sdmx | None = None
    """What the table is called in SDMX: its dataflow, dimensions and codes."""

    @property
    def words(self) -> Mapping[str, str]:
        """The few words a file needs, in the language of the publication."""
        return words("legend", self.language)

    def title_of(self, responses: Sequence[str], classifications: Sequence[str]) -> str:
        """The title given, or one that says what the table holds.

        >>> Publication().title_of(["turnover"], ["nace", "region"])
        'turnover by nace, region'
        """
        return self.title or f"{', '.join(responses)} {self.words['by']} {', '.join(classifications)}"

    def legend(
        self, *, suppressed: bool = True, zeros: bool = True, altered: Sequence[str] = (), care: Sequence[str] = ()
    ) -> list[str]:
        """What the marks mean, and what readers must know about the values, one line each.

        >>> Publication(zero="-").legend()
        ['x = suppressed for confidentiality', '- = nothing (exactly zero)']
        """
        lines = [self.words[each] for each in care]
        lines += [self.words.get(f"altered {how}", self.words["altered"]) for how in altered]
        lines += [f"{self.mark} = {self.words['suppressed']}"] if suppressed else []
        return lines + ([f"{self.zero} = {self.words['zero']}"] if zeros and self.zero is not None else [])


def publication(**options: Any) -> Publication:
    """Options by name, refused where they make no sense.

    >>> publication(mark=".").mark
    '.'
    """
    known = [f.name for f in fields(Publication)]
    unknown = [name for name in options if name not in known]
    if unknown:
        raise BadOption(f"no option {listed(unknown)} of a publication", hint=f"the options are {listed(known, 20)}.")
    chosen = Publication(**options)
    if chosen.language not in LANGUAGES:
        raise BadOption(f"no legend in language {chosen.language!r}", hint=f"one of {listed(LANGUAGES)}.")
    if chosen.sdmx is not None and not isinstance(chosen.sdmx, Sdmx):
        raise BadOption("sdmx does not say what the table is called", hint="sdmx=Sdmx(dataflow='AGENCY:ID(1.0)').")
    if not isinstance(chosen.unprotected, bool):
        raise BadOption("unprotected is neither true nor false", hint="unprotected=True, or leave it out.")
    for name, known_signs in (("sums", get_args(Sums)), ("decimal", (".", ","))):
        if getattr(chosen, name) not in known_signs:
            raise BadOption(f"{name} cannot be {getattr(chosen, name)!r}", hint=f"one of {listed(known_signs)}.")
    refuse_unknown(chosen.formulas)
    _refuse_mark("mark", chosen.mark)
    if chosen.zero is not None:
        _refuse_mark("zero", chosen.zero)
        if chosen.zero == chosen.mark:
            raise BadOption("suppressed cells and zeros have the same mark", hint="choose two different ones.")
    return chosen


def _refuse_mark(option: str, mark: str) -> None:
    """A mark that is blank or reads as a number would pass for something it is not."""
    if not mark.strip() or not mark.isprintable():
        raise BadOption(f"{option} is blank", hint="a reader must see that something stands there, such as 'x' or '.'.")
    try:
        float(mark.replace(",", "."))
    except ValueError:
        return
    raise BadOption(f"{option} {mark!r} reads as a number", hint="choose a sign or a letter, such as 'x' or '.'.")
