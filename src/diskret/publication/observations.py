"""A table as SDMX sees it: observations with their dimensions, a value, and what flags it.

In a file for the public every hidden cell has the same two flags and no value, whatever the reason: a code that told
primary from secondary cells would tell where to attack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import repeat

import numpy as np
import numpy.typing as npt

from diskret.model.errors import BadOption
from diskret.publication.options import Publication
from diskret.publication.release import Measure, Release
from diskret.publication.sdmx import CONF_STATUS, NOTE, OBS_STATUS, VALUE, Sdmx

NORMAL, SUPPRESSED = "A", "Q"
"""Of CL_OBS_STATUS: normal value; missing value, suppressed."""
FREE, CONFIDENTIAL = "F", "C"
"""Of CL_CONF_STATUS: free for publication; confidential statistical information, whatever the reason."""

Put = Callable[[str, str], str]
"""How a text stands in a file, given the column it belongs to."""
Numbers = npt.NDArray[np.uint8]


@dataclass(frozen=True, eq=False, kw_only=True)
class Flags:
    """One flag per cell, as numbers into a few codes."""

    codes: tuple[str, ...]
    at: Numbers

    def texts(self, name: str, cells: slice, put: Put) -> list[str]:
        """The flags of some cells as they stand in a file."""
        found: list[str] = np.array([put(name, code) for code in self.codes], dtype=object)[self.at[cells]].tolist()
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Flagged:
    """One measure with the flags of its cells."""

    measure: Measure
    obs_status: Flags
    conf_status: Flags


@dataclass(frozen=True, eq=False, kw_only=True)
class Observations:
    """Everything a file says about its cells, in the order in which it says it."""

    release: Release
    flagged: tuple[Flagged, ...]
    sdmx: Sdmx
    note: str = ""
    """What readers must know about the values."""
    prepared: date | None = None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return (*self.sdmx.columns(self.release.names), *([NOTE] if self.note else []))

    def rows(self, put: Put) -> Iterator[tuple[str, ...]]:
        """The fields of each observation, each as ``put`` writes it; a text that occurs often is put once."""
        measures = tuple(each.measure.name for each in self.flagged)
        if len(measures) > 1 and self.sdmx.indicator is None:
            raise BadOption(
                f"the file holds {len(measures)} values of each cell",
                hint='name the dimension that tells them apart: sdmx indicator = "INDICATOR".',
            )
        axes = [
            (name, number, self.sdmx.axis(classification, axis))
            for number, (classification, axis) in enumerate(self.release.by.items())
            for name in (self.sdmx.dimension(classification),)
        ]
        codes = {name: (n, np.array([put(name, text) for text in texts], dtype=object)) for name, n, texts in axes}
        indicator = self.sdmx.indicator or ""
        spoken = self.sdmx.recoded(indicator, measures) if indicator else measures
        for name, each in zip(spoken, self.flagged, strict=True):
            fixed = self._fixed(put) | ({indicator: put(indicator, name)} if indicator else {})
            for cells in self.release.chunks():
                positions = self.release.positions(cells)
                found: dict[str, Sequence[str]] = {n: texts[positions[at]].tolist() for n, (at, texts) in codes.items()}
                found[VALUE] = [put(VALUE, _xsd(word)) for word in each.measure.texts(cells, "")]
                found[OBS_STATUS] = each.obs_status.texts(OBS_STATUS, cells, put)
                found[CONF_STATUS] = each.conf_status.texts(CONF_STATUS, cells, put)
                yield from zip(*(found[n] if n in found else repeat(fixed[n]) for n in self.names), strict=False)

    def _fixed(self, put: Put) -> dict[str, str]:
        same = {**self.sdmx.constants, **self.sdmx.attributes, **({NOTE: self.note} if self.note else {})}
        return {name: put(name, text) for name, text in same.items()}


def _xsd(word: str) -> str:
    """A bound without end is written as XML writes it."""
    return word.upper() if word in ("inf", "-inf") else word


def public_observations(release: Release, options: Publication) -> Observations:
    """What everybody may see: values that are open, and one pair of flags for all that is hidden."""
    if options.sdmx is None:
        raise BadOption(
            "an SDMX file names its dataflow",
            hint="sdmx=Sdmx(dataflow='AGENCY:ID(1.0)'), [output.sdmx] in a job.",
        )
    flagged = tuple(
        Flagged(
            measure=m,
            obs_status=Flags(codes=(NORMAL, SUPPRESSED), at=m.hidden.astype(np.uint8)),
            conf_status=Flags(codes=(FREE, CONFIDENTIAL), at=m.hidden.astype(np.uint8)),
        )
        for m in release.measures
    )
    return Observations(
        release=release, flagged=flagged, sdmx=options.sdmx, note=note_of(release, options), prepared=options.updated
    )


def note_of(release: Release, options: Publication) -> str:
    """What flags cannot say: that values were changed, or that nothing is known to protect them."""
    said = options.legend(suppressed=False, zeros=False, altered=release.altered, care=release.care)
    return " ".join(said)
