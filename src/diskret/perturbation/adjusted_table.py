"""What an adjustment gives back: the nearest table outside all protection intervals, and how near it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.perturbation.changed_table import Perturbation

SAME = 2e-7
"""Gaps below this are those a programme is solved up to."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Adjustment(Perturbation):
    """An adjusted table. ``table`` may leave the office; everything else is confidential.

    ``promise`` is what was asked for; of it an adjustment keeps how far every primary value is changed, and nothing
    about what somebody learns who knows the method or is alone in a cell.
    """

    distance: float = field(repr=False)
    """How far the table is from the original."""
    lower_bound: float = field(repr=False)
    """What no such table with these directions (or, where they were chosen, with any) is nearer than."""
    directions: Ints = field(repr=False)
    """Per cell: 1 moved up, -1 moved down by its demand at least, 0 not primary. Confidential."""
    least: Floats = field(repr=False)
    """Per cell: the least change it could have had in its direction; 0 for cells that are not primary. Confidential."""
    promise: Promise = field(repr=False)
    finished: bool = True
    """Whether the search came to its end; otherwise time ran out, and another machine may find another table."""

    @property
    def change(self) -> Floats:
        """Adjusted value minus value, per cell. Confidential."""
        change: Floats = self.table.value - self.before.value
        return change if self.table.decimals is None else np.round(change, self.table.decimals)

    @property
    def gap(self) -> float:
        """How much nearer another table could be at most, as a share of the distance: 0 is proved the nearest."""
        if self.distance <= 0:
            return 0.0
        gap = (self.distance - self.lower_bound) / self.distance
        return 0.0 if gap < SAME else min(gap, 1.0)

    @property
    def barely(self) -> Bools:
        """Primary cells that were changed by no more than they had to be. Confidential."""
        result: Bools = (np.abs(self.change) == self.least) & (self.directions != 0)
        return result

    def summary(self) -> dict[str, Any]:
        """Counts only: fit to be printed or logged."""
        primary = self.before.status == Status.PRIMARY
        return super().summary() | {
            "distance": self.options["distance"],
            "moved up": int((self.directions[primary] > 0).sum()),
            "moved down": int((self.directions[primary] < 0).sum()),
            "told by single contributors": int(self.told.size),
            "changed by no more than demanded": int(self.barely.sum()),
            "gap": round(self.gap, 6),
            "finished": self.finished,
        }

    @property
    def relative_change(self) -> Floats:
        """Change over value, per cell; 0 where nothing changed. Confidential."""
        value = np.abs(self.before.value)
        result: Floats = np.divide(self.change, value, out=np.zeros(value.shape), where=value > 0)
        return result

    def __repr__(self) -> str:
        s, gap = self.summary(), 100 * self.gap
        return f"Adjustment({s['changed']} of {s['cells']} cells changed, {s['primary']} primary, gap {gap:.2g} %)"
