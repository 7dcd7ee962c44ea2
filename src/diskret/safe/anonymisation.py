"""What anonymising gives back: the anonymous file, what is known about its tables, and how it was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.framed import Framed
from diskret.model.hierarchy import Hierarchy
from diskret.safe.control import Weights, weight_borders, weight_classes
from diskret.safe.control_cells import ControlCells
from diskret.safe.deviations import DeviationTable, Quality
from diskret.safe.history import Moment
from diskret.safe.ladder import floor_of
from diskret.safe.later import LaterTable, later_table
from diskret.safe.options import LadderSearch
from diskret.tabulation.combinations import Combinations

Frame = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, eq=False, kw_only=True)
class Anonymisation(Framed):
    """A k-anonymous file with the same number of objects; ``frame`` is the file, ``quality`` the report.

    ``frame``, ``distinct``, ``table``, ``bounds`` and ``k`` are for everybody. The rest is confidential: with the file,
    even counts of deviations can pin small counts of the original, and so can the seed.
    """

    attributes: Mapping[str, Hierarchy]
    codes: npt.NDArray[np.int32]
    original: Ints
    frequency: Ints
    control: ControlCells
    k: int
    limits: tuple[int, ...]
    """How far control cells might deviate beyond their weight when the file was drawn, from one dimension up."""
    weights: Weights
    search: str
    groups: int
    seconds: float
    seed: int
    """What all random numbers followed from. Confidential: whoever knows it can run the search again."""
    complete: bool
    """False if time was over or the user stopped the search: the file is anonymous, but could be better."""
    stopped: bool = False
    """Whether it was the user who ended the search."""
    history: tuple[Moment, ...] = ()
    """The course of the search."""
    steps: int = 0
    """After which step the search ended: the same number as a limit ends it there again."""
    listed: frozenset[str] = frozenset()
    """Attributes whose codes were given as a list: the others' codes are known only as far as the file shows them."""
    fictitious: bool = False
    """Whether combinations that do not occur were added."""

    @property
    def objects(self) -> int:
        """Number of objects, the same as in the original."""
        return int(self.frequency.sum())

    @property
    def distinct(self) -> Frame:
        """One row per combination that occurs, with its ``frequency``."""
        kept = self.frequency > 0
        frame = self.decoded(self.codes[kept])
        return {**frame, self.frequency_name: self.frequency[kept]}

    @property
    def frequency_name(self) -> str:
        """What the column of frequencies is called, beside the attributes."""
        return "frequency" if "frequency" not in self.attributes else "frequency of the row"

    @property
    def frame(self) -> Frame:
        """The anonymous file: one row per object, a column per attribute."""
        return self.decoded(np.repeat(self.codes, self.frequency, axis=0))

    def decoded(self, codes: npt.NDArray[np.int32]) -> Frame:
        """Codes in the place of their positions, a column per attribute."""
        return {
            name: np.array(hierarchy.codes, dtype=object)[codes[:, i]]
            for i, (name, hierarchy) in enumerate(self.attributes.items())
        }

    @cached_property
    def deviations(self) -> Ints:
        """Anonymous minus original of every control cell. Confidential: it gives the original back."""
        return self.control.deviation(self.frequency)

    @cached_property
    def bounds(self) -> dict[int, int]:
        """How far control tables deviate at most, by dimension, as everybody may know it.

        The limits within which the file was drawn, with the weight that the largest count of the file allows: whether a
        table comes as far depends on the original, and is not told. Never closer than k - 1, so that any k - 1 objects
        may have been anywhere else.
        """
        return {d: max(self._bound(d), self.k - 1) for d in self.quality.by_dimension}

    @property
    def closer(self) -> bool:
        """Whether limits were asked for that are below the floor: the file then says more to who knows the method."""
        return any(map(int.__lt__, self.limits, floor_of(self.control, LadderSearch(), self.k)))

    def _bound(self, dimension: int) -> int:
        limit = self.limits[dimension - 1]
        here = self.control.dimension == dimension
        most = int((self.control.original + self.deviations)[here].max(initial=0)) + limit
        borders = weight_borders(self.weights)
        return limit + max((g for g, least in enumerate(borders, 1) if least <= most + g), default=0)

    @cached_property
    def quality(self) -> Quality:
        """Deviations of the control cells by dimension and weight class (variant 2 if no weights were used)."""
        g = weight_classes(self.control.original, self.weights if self.weights != 0 else 2)
        at = {int(d): self.control.dimension == d for d in np.unique(self.control.dimension)}
        return Quality(by_dimension={d: DeviationTable.of(self.deviations[on], g[on]) for d, on in at.items()})

    def table(self, by: Sequence[str]) -> LaterTable:
        """A table tabulated from the anonymous file, with what is known about its error.

        ``by`` names attributes, or key levels such as ``"region:2"``.
        """
        bounds = {t: self.bounds[max(t.dimension, 1)] for t in self.control.tables}
        return later_table(self._file(self.frequency), by, bounds, self.listed)

    def _file(self, frequency: Ints) -> Combinations:
        return Combinations(by=self.attributes, codes=self.codes, frequency=frequency)

    def error_of(self, by: Sequence[str]) -> dict[str, float]:
        """Largest and mean deviation of any table, measured against the original. Internal until you publish it."""
        after, before = (later_table(self._file(x), by).value for x in (self.frequency, self.original))
        size = np.abs(after - before)
        return {"maximum": float(size.max()), "mean": float(size.mean())}

    def summary(self) -> dict[str, Any]:
        """What everybody may know: fit to be printed or logged."""
        return {
            "objects": self.objects,
            "k": self.k,
            "rows": int((self.frequency > 0).sum()),
            "control tables": len(self.control.tables),
            "search": self.search,
            "complete": self.complete,
            "largest deviation, at most": {str(d): bound for d, bound in self.bounds.items()},
        }

    def internal_summary(self) -> dict[str, Any]:
        """The same with what is not for everybody: control cells, the course of the search, deviations."""
        return self.summary() | {
            "control cells": self.control.size,
            "groups": self.groups,
            "steps": self.steps,
            "quality": {
                str(d): {"cells": t.cells, "largest deviation": t.maximum, "mean deviation": round(t.mean, 3)}
                for d, t in self.quality.by_dimension.items()
            },
        }

    def shown(self, *, internal: bool = False) -> Frame:
        """The anonymous file, which is for everybody; what is confidential about it is no file of records."""
        return self.frame

    def _repr_html_(self) -> str:
        from diskret.model.notebook import as_html, frame_html, paragraphs

        title = f"{self.objects:,} objects, every combination at least {self.k} times or not at all"
        note = f"the first of {int((self.frequency > 0).sum()):,} combinations; to_pandas() has one row per object"
        return as_html(title, frame_html(self.distinct), paragraphs([note]))

    def __repr__(self) -> str:
        bounds = "/".join(str(bound) for bound in self.bounds.values())
        return f"Anonymisation({self.objects:,} objects, k = {self.k}, largest deviation at most {bounds})"
