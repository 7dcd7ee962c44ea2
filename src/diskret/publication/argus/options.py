"""How a safe file of tau-ARGUS is to look: its format, and what WRITETABLE can say about it, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from diskret.model.errors import BadOption, listed
from diskret.model.words import LANGUAGES
from diskret.suppression.prices import Cost, CostBy

Format = Literal["csv", "pivot", "code-value", "sbs", "intermediate", "jj", "cell-keys"]
"""The types 1 to 7 of WRITETABLE."""
Version = Literal[3, 4]

KNOWN: Mapping[Format, tuple[str, ...]] = {
    "csv": ("quotes",),
    "pivot": ("status", "suppress_empty", "quotes"),
    "code-value": ("status", "suppress_empty", "names_first", "quotes"),
    "sbs": ("hierarchical_levels", "quotes"),
    "intermediate": ("status_only", "audit", "holding", "suppress_empty", "quotes"),
    "jj": ("remove_trivial",),
    "cell-keys": ("original", "differences", "keys", "suppress_empty", "quotes"),
}
"""What can be said about each format, beyond what can be said about all."""
ALL = ("format", "version", "quotes", "widths", "unpadded", "decimals", "cost", "power", "report", "language")
WIDEST = 200
"""Characters of a code that anybody fills up to."""
TELLING = ("status", "original", "differences", "keys")
"""Options with which a file tells what the public must not know."""
CONFIDENTIAL: tuple[Format, ...] = ("sbs", "intermediate", "jj")
"""Formats that hold every value, hidden or not."""


@dataclass(frozen=True, kw_only=True)
class SafeFile:
    """One WRITETABLE: the format, and its options by name instead of by two letters."""

    format: Format = "intermediate"
    version: Version = 4
    """Whether the file looks as tau-ARGUS 4 writes it, or as tau-ARGUS 3 did."""
    status: bool = False
    """AS: the status of every cell as a number, and with it the values of suppressed cells; confidential."""
    suppress_empty: bool = False
    """SE: without the cells nobody contributes to."""
    names_first: bool | None = None
    """FL: names of the columns in the first line; left out, a pivot file has them."""
    quotes: bool = True
    """QU: codes in quotation marks."""
    hierarchical_levels: bool = False
    """HL: the level of every code beside it."""
    status_only: bool = False
    """SO: without the shadow variable and the largest contributions."""
    audit: bool = False
    """AR: what the attack found possible for suppressed cells."""
    holding: bool = False
    """HI: counts and largest contributions of holdings instead of respondents."""
    remove_trivial: bool = False
    """TR: without codes that are the only part of another one."""
    original: bool = False
    """AO: the values before the noise; confidential."""
    differences: bool = False
    """AD: the noise itself; confidential."""
    keys: bool = False
    """AC: the cell keys; confidential."""
    widths: Mapping[str, int | Literal["longest"]] = field(default_factory=dict)
    """Characters of the codes of a classification, by its name, or as many as its longest code has: shorter codes are
    filled up with blanks on their left, as tau-ARGUS does with codes that have no hierarchy."""
    unpadded: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Codes of a classification that stay as they are, by its name: sums of a hierarchy that its file writes so."""
    decimals: int | None = None
    """Decimals of all values, as <DECIMALS> of the metadata says: longer ones are rounded, which a warning tells.
    Left out: those the values have."""
    cost: CostBy | None = None
    """What it costs to suppress a cell, as a file of type 5 or 6 says it; left out: its weight, or its value."""
    power: float = 1.0
    """Lambda: to which power the cost is paid."""
    report: bool = True
    """Whether an HTML page beside the file sums up what was done; confidential."""
    language: str = "en"
    """Language of that page: ``en`` or ``de``."""

    @property
    def price(self) -> Cost | None:
        """What a cell costs, where that is said."""
        said = self.cost is not None or self.power != 1.0
        return Cost(by=self.cost or "value", weighted=False, power=self.power) if said else None

    @property
    def confidential(self) -> bool:
        """Whether the file holds what the public must not see.

        >>> [SafeFile(format=f).confidential for f in ("csv", "intermediate")], SafeFile(format="csv").confidential
        ([False, True], False)
        """
        return self.format in CONFIDENTIAL or any(getattr(self, name) for name in TELLING)


def safe_file(**options: Any) -> SafeFile:
    """Options by name, refused where the format does not know them.

    >>> safe_file(format="code-value", status=True).confidential
    True
    """
    unknown = [name for name in options if name not in {f.name for f in fields(SafeFile)}]
    if unknown:
        known = listed([f.name for f in fields(SafeFile)], 30)
        raise BadOption(f"no option {listed(unknown)} of a safe file", hint=f"the options are {known}.")
    chosen = SafeFile(**options)
    if chosen.format not in get_args(Format):
        raise BadOption(f"no safe file of format {chosen.format!r}", hint=f"one of {listed(get_args(Format))}.")
    if chosen.version not in get_args(Version):
        raise BadOption(f"no safe file of version {chosen.version!r}", hint=f"one of {listed(get_args(Version))}.")
    strange = options_beside(chosen.format, {name for name, said in options.items() if said})
    if strange:
        raise BadOption(
            f"a safe file of format {chosen.format!r} has no {listed(strange)}",
            hint=f"it has {listed(KNOWN[chosen.format])}.",
        )
    if chosen.language not in LANGUAGES:
        raise BadOption(f"no legend in language {chosen.language!r}", hint=f"one of {listed(LANGUAGES)}.")
    if any(width != "longest" and not 0 <= width <= WIDEST for width in chosen.widths.values()):
        raise BadOption("codes of a safe file have another width", hint=f"between 0 and {WIDEST}.")
    if chosen.decimals is not None and not 0 <= chosen.decimals <= 9:
        raise BadOption(f"a safe file cannot have {chosen.decimals} decimals", hint="between 0 and 9.")
    return chosen


def options_beside(format: Format, said: set[str]) -> list[str]:
    """What was said that the format does not know."""
    return sorted(said - {*KNOWN[format], *ALL} - ({"names_first"} if format == "pivot" else set()))
