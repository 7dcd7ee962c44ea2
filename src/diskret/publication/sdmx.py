"""How a table is called in SDMX: its dataflow, the names of its dimensions, its codes, and what is the same throughout.

What cells are flagged with is no choice and stands in `observations` (files for the public) and `reasons` (files for an
authority).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from diskret.model.errors import BadOption, listed, masked
from diskret.model.hierarchy import TOTAL
from diskret.publication.axes import Axis

DATAFLOW = re.compile(
    r"(?P<agency>[A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*)*):(?P<id>[\w@$-]+)\((?P<version>\d[\w.+-]*)\)", re.ASCII
)
COMPONENT = re.compile(r"[A-Za-z][\w-]*", re.ASCII)
"""What columns, and attributes of XML, may be called."""
Version = Literal["2.1", "3.0"]
TIME = "TIME_PERIOD"
VALUE, OBS_STATUS, CONF_STATUS, NOTE = "OBS_VALUE", "OBS_STATUS", "CONF_STATUS", "COMMENT_DSET"
OWN = ("STRUCTURE", "STRUCTURE_ID", "ACTION", VALUE, OBS_STATUS, CONF_STATUS, NOTE)
"""Columns that every file has, or may have, by the standard."""


@dataclass(frozen=True, kw_only=True)
class Sdmx:
    """What an office has to say once so that its tables become SDMX.

    >>> Sdmx(dataflow="ESTAT:SBS(1.0)", dimensions={"nace": "ACTIVITY"}, constants={"FREQ": "A"}).agency
    'ESTAT'
    """

    dataflow: str
    """Agency, identifier and version, such as ``ESTAT:SBS(1.0)``."""
    dimensions: Mapping[str, str] = field(default_factory=dict)
    """Names of the dimensions by classification, where they differ."""
    codes: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Codes by classification, or by ``indicator``, where they differ."""
    total: str = "_T"
    """Code of the totals that nobody named."""
    indicator: str | None = None
    """Dimension that says which value an observation is of; needed where a file holds several."""
    constants: Mapping[str, str] = field(default_factory=dict)
    """Dimensions that have one code throughout, such as ``FREQ`` and ``TIME_PERIOD``."""
    attributes: Mapping[str, str] = field(default_factory=dict)
    """Attributes that have one value throughout, such as ``UNIT_MEASURE``."""
    sender: str = "unknown"
    """Who sends it (SDMX-ML)."""
    version: Version = "2.1"
    """Version of SDMX-ML."""

    def __post_init__(self) -> None:
        self._refuse_other()
        if not DATAFLOW.fullmatch(self.dataflow):
            raise BadOption(
                f"{masked(self.dataflow)!r} is not a dataflow", hint="agency, identifier and version: 'ESTAT:SBS(1.0)'."
            )
        if self.version not in get_args(Version):
            raise BadOption(f"SDMX-ML {self.version!r} is not written", hint=f"one of {listed(get_args(Version))}.")
        named = [*self.dimensions.values(), *self.constants, *self.attributes, self.sender]
        for name in [*named, *([] if self.indicator is None else [self.indicator])]:
            refuse_name(name)

    def _refuse_other(self) -> None:
        """Refuse what is no text: a year must be written '2025'."""
        tables = [self.dimensions, self.constants, self.attributes, *self.codes.values()]
        texts = [self.dataflow, self.total, self.sender, *(t for each in tables for pair in each.items() for t in pair)]
        other = [str(text) for text in texts if not isinstance(text, str) or not text]
        if other:
            raise BadOption(
                f"sdmx: {masked(other[0])!r} is not a text, or is blank", hint="write codes as text: '2025'."
            )

    @property
    def agency(self) -> str:
        """Who keeps the dataflow."""
        return self._part("agency")

    @property
    def id(self) -> str:
        """The identifier of the dataflow alone."""
        return self._part("id")

    @property
    def flow_version(self) -> str:
        """The version of the dataflow."""
        return self._part("version")

    def _part(self, name: str) -> str:
        found = DATAFLOW.fullmatch(self.dataflow)
        assert found
        return found[name]

    def dimension(self, classification: str) -> str:
        """What a classification is called."""
        name = self.dimensions.get(classification, classification)
        refuse_name(name, classification)
        return name

    def axis(self, classification: str, axis: Axis) -> tuple[str, ...]:
        """The codes of a classification as the dataflow has them."""
        named = {code: self.total for code in (axis.codes[axis.total],) if code == TOTAL}
        return self.recoded(classification, axis.codes, named)

    def recoded(self, name: str, codes: Sequence[str], known: Mapping[str, str] | None = None) -> tuple[str, ...]:
        """Codes as the dataflow has them; refuses codes nobody has, and two that would become one."""
        said = self.codes.get(name, {})
        unknown = [code for code in said if code not in codes]
        if unknown:
            raise BadOption(f"sdmx codes: {name!r} has no code {listed(unknown)}", hint="correct or leave them out.")
        names = {**(known or {}), **said}
        found = tuple(names.get(code, code) for code in codes)
        double = _twice(found)
        if double:
            raise BadOption(
                f"sdmx: two codes of {name!r} would be {listed(double)}", hint="choose others with codes or total."
            )
        return found

    def columns(self, classifications: Sequence[str]) -> tuple[str, ...]:
        """Names of all columns of observations: dimensions with time at their end, the value, attributes."""
        unknown = [name for name in self.dimensions if name not in classifications]
        unknown += [n for n in self.codes if n not in classifications and n != self.indicator]
        if unknown:
            raise BadOption(
                f"sdmx: the table has no classification {listed(unknown)}",
                hint=f"it has {listed(classifications)}.",
            )
        shown = [self.dimension(name) for name in classifications]
        fixed = [name for name in self.constants if name != TIME]
        last = [TIME] if TIME in self.constants else []
        indicator = [] if self.indicator is None else [self.indicator]
        found = (*fixed, *shown, *indicator, *last, VALUE, OBS_STATUS, CONF_STATUS, *self.attributes)
        double = _twice([name.upper() for name in (*found, *(set(OWN) - {*found}))])
        if double:
            raise BadOption(f"sdmx: two columns would be {listed(double)}", hint="choose another name with dimensions.")
        return found


def refuse_name(name: str, classification: str = "") -> None:
    """Refuse what SDMX does not take for the name of a component."""
    if not COMPONENT.fullmatch(name):
        raise BadOption(
            f"{masked(name)!r} cannot be a name in SDMX",
            hint="letters, digits and _ after a letter"
            + (f': sdmx dimensions = {{ "{classification}" = "..." }}.' if classification else "."),
        )


def _twice(names: Sequence[str]) -> list[str]:
    """Names that occur more than once."""
    return sorted(name for name, times in Counter(names).items() if times > 1)
