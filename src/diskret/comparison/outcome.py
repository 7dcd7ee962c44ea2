"""What a method gives to the public and to an attacker, and how both are measured against the original."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diskret.model.arrays import Bools, Floats
from diskret.model.errors import ProtectionWarning
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.model.tolerances import ROUNDING

SIZES = ((1, 2), (3, 9), (10, 99), (100, None))
"""Classes of cells by their number of contributors."""
DEVIATION = ("contributors", "cells", "mean absolute", "mean relative", "largest")
IN_WHOLE = 1_000
"""Cells of a table up to which counts are attacked in whole numbers. (Of 376 ends of a rounded table with 1,517 cells
real numbers left one a person wider, in 1.5 CPU seconds instead of 78.)"""
REAL = "counts are bounded like real numbers: an end may be a unit too wide"


@dataclass(frozen=True, eq=False, kw_only=True)
class Outcome:
    """One method on one table, cell by cell of the original. Internal."""

    method: str
    shown: Floats
    """Published values; undefined (NaN) where there is none."""
    lower: Floats
    """What an attacker who knows the method can be certain of: the smallest value that fits everything published."""
    upper: Floats
    guesses: tuple[Floats, ...]
    """Ways to guess at every cell, undefined where there is none; the one that works best counts."""
    seconds: float = 0.0
    interval_only: int = 0
    """Cells without a value for which an interval is published."""
    notes: tuple[str, ...] = ()
    off: int | None = None
    """Sums that differ from their parts, where the published table has other cells than the original."""


@dataclass(frozen=True, kw_only=True)
class SizeClass:
    """Deviations of the published cells of one size."""

    label: str
    cells: int
    mean_absolute: float | None
    mean_relative: float | None
    largest: float | None

    def row(self) -> tuple[str | int | float | None, ...]:
        """In the order of `DEVIATION`."""
        return self.label, self.cells, self.mean_absolute, self.mean_relative, self.largest


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A method in numbers: shares and counts, no value of a cell."""

    method: str
    cells: int
    """Occupied cells of the original."""
    lost: int
    interval_only: int
    deviations: tuple[SizeClass, ...]
    sums: int
    """Published sums whose parts are all published."""
    sums_off: int
    primary: int
    exact: int
    """Primary cells whose value is certain."""
    within: int
    """Primary cells certain to within the percentage asked for."""
    below_demand: int
    """Primary cells whose interval reaches less far than their rule demands."""
    guessed: int
    """Primary cells the best guess comes within the percentage of; the attacker cannot tell which."""
    seconds: float
    notes: tuple[str, ...] = field(default=())

    @property
    def overall(self) -> SizeClass:
        """All published cells together."""
        return self.deviations[-1]

    def share(self, what: str) -> float:
        """A count of primary cells as a share of them."""
        return float(getattr(self, what)) / self.primary if self.primary else 0.0

    def plain(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "method": self.method,
            "occupied cells": self.cells,
            "cells lost": self.lost,
            "of them with an interval": self.interval_only,
            "deviation by size": [dict(zip(DEVIATION, s.row(), strict=True)) for s in self.deviations],
            "sums checked": self.sums,
            "sums off": self.sums_off,
            "primary cells": self.primary,
            "known exactly": self.exact,
            "known within the percentage": self.within,
            "below the demand of their rule": self.below_demand,
            "guessed within the percentage": self.guessed,
            "CPU seconds": round(self.seconds, 3),
            "notes": list(self.notes),
        }


def measure(outcome: Outcome, table: Table, percent: float) -> Measured:
    """Measure an outcome against the marked original."""
    occupied, primary = ~table.empty, table.status == Status.PRIMARY
    shown = ~np.isnan(outcome.shown)
    unit = 10.0 ** -(table.decimals or 0) if table.decimals is not None else 0.0
    room = np.maximum(ROUNDING * np.maximum(np.abs(table.value), 1.0), unit / 2 * (1 - ROUNDING))
    near = percent / 100 * np.abs(table.value)
    exact = outcome.upper - outcome.lower < room
    certain = (table.value - outcome.lower <= near + ROUNDING) & (outcome.upper - table.value <= near + ROUNDING)
    slack = ROUNDING * np.maximum(np.abs(table.value), 1.0)
    below = 0.0 if table.below is None else table.below
    above = 0.0 if table.above is None else table.above
    short = (table.value - outcome.lower < below - slack) | (outcome.upper - table.value < above - slack)
    with np.errstate(invalid="ignore"):
        guessed = [int((primary & (np.abs(g - table.value) <= near + slack)).sum()) for g in outcome.guesses]
    sums, off = additivity(table, outcome.shown)
    return Measured(
        method=outcome.method,
        cells=int(occupied.sum()),
        lost=int((occupied & ~shown).sum()),
        interval_only=outcome.interval_only,
        deviations=_deviations(table, outcome.shown, occupied & shown),
        sums=sums,
        sums_off=off if outcome.off is None else outcome.off,
        primary=int(primary.sum()),
        exact=int((primary & exact).sum()),
        within=int((primary & (certain | exact)).sum()),
        below_demand=int((primary & (short | exact)).sum()),
        guessed=max(guessed, default=0),
        seconds=outcome.seconds,
        notes=outcome.notes,
    )


def _deviations(table: Table, shown: Floats, chosen: Bools) -> tuple[SizeClass, ...]:
    count = table.count if table.respondents is not None else np.rint(table.value).astype(np.int64)
    classes = [(f"{a}-{b}" if b else f"{a}+", (count >= a) & (count <= (b or np.inf))) for a, b in SIZES]
    return tuple(
        _size_class(label, shown[chosen & where], table.value[chosen & where])
        for label, where in [*classes, ("all", np.ones(table.shape, dtype=np.bool_))]
    )


def _size_class(label: str, shown: Floats, value: Floats) -> SizeClass:
    size, some = np.abs(shown - value), value != 0
    relative = float((size[some] / np.abs(value[some])).mean()) if some.any() else None
    absolute, largest = (float(size.mean()), float(size.max())) if size.size else (None, None)
    return SizeClass(label=label, cells=size.size, mean_absolute=absolute, mean_relative=relative, largest=largest)


def additivity(table: Table, shown: Floats) -> tuple[int, int]:
    """Published lines (a sum and all its parts) and how many of them do not add up."""
    lines = off = 0
    for axis, hierarchy in enumerate(table.hierarchies):
        moved = np.moveaxis(shown, axis, 0)
        for parent, parts in enumerate(hierarchy.part_index):
            if not parts.size:
                continue
            total, whole = moved[parent], moved[parts].sum(axis=0)
            known = ~np.isnan(total) & ~np.isnan(whole)
            lines += int(known.sum())
            wrong = np.abs(total[known] - whole[known]) > 1e-7 * np.maximum(np.abs(total[known]), 1.0)
            off += int(wrong.sum())
    return lines, off


@contextmanager
def without_care() -> Iterator[None]:
    """Warnings that a result deserves care are left out: the comparison says itself what each method lacks."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        yield


def known_exactly(shown: Floats, positive: bool) -> tuple[Floats, Floats]:
    """Bounds where published values are true, and nothing is known of the others but perhaps their sign."""
    gone = np.isnan(shown)
    return np.where(gone, 0.0 if positive else -np.inf, shown), np.where(gone, np.inf, shown)


def middle(lower: Floats, upper: Floats) -> Floats:
    """The middle of an interval; undefined where it has no end."""
    with np.errstate(invalid="ignore"):
        both = (lower + upper) / 2
    return np.where(np.isfinite(lower) & np.isfinite(upper), both, np.nan)


def plain_rows(measured: Sequence[Measured]) -> list[Mapping[str, Any]]:
    """Methods as flat rows, one column per number, for a file."""
    rows: list[Mapping[str, Any]] = []
    for m in measured:
        row = {k: v for k, v in m.plain().items() if k not in ("deviation by size", "notes")}
        for s in m.deviations:
            names = (f"{what} deviation, {s.label}" for what in ("mean absolute", "mean relative", "largest"))
            row |= dict(zip((f"cells of {s.label}", *names), s.row()[1:], strict=True))
        rows.append(row | {"notes": "; ".join(m.notes)})
    return rows
