"""Published rates, indices, means and shares as bounds between two cells.

A rate r that is rounded by h at most says that the cell above the line lies between two multiples of the one below:
``low * under <= over <= high * under``. Each side is an equation with a further cell that is not negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from math import ceil, floor

import numpy as np

from diskret.ledger.entry import Entry, EntryCells
from diskret.ledger.nodes import Keys, Sets, key_of
from diskret.ledger.relations import Relations
from diskret.model.arrays import Floats
from diskret.model.errors import BadOption
from diskret.model.exact import decimals_of

FINEST = 9
"""Decimals of the multiples."""


def keys_of_ratio(
    entry: Entry, cells: EntryCells, axes: tuple[str, ...], sets: Sets, subjects: Mapping[tuple[str, str, str], int]
) -> tuple[Keys, Keys]:
    """What stands above and below the line of every published ratio."""
    assert entry.about.ratio is not None
    over = key_of(entry, cells, axes, sets, subjects)
    under = over.copy()
    under[:, 0] = subjects[under_subject(entry)]
    for name, code in entry.about.ratio.under.items():
        if name not in SUBJECT:
            under[:, 1 + axes.index(name)] = sets.of_codes(name, [code])[0]
    return over, under


SUBJECT = ("population", "value", "unit")


def under_subject(entry: Entry) -> tuple[str, str, str]:
    """Population, value and unit of the cell below the line."""
    assert entry.about.ratio is not None
    under, about = entry.about.ratio.under, entry.about
    below = replace(
        about,
        population=under.get("population", about.population),
        value=under.get("value", about.value),
        unit=under.get("unit", about.unit),
    )
    return replace(entry, about=below).subject


def bounds_of(entry: Entry, cells: EntryCells) -> tuple[Floats, Floats]:
    """Between which multiples of the cell below the line the one above lies, by every published ratio."""
    ratio = entry.about.ratio
    assert ratio is not None
    if ratio.times <= 0:
        raise BadOption("a ratio times zero or less", hint="give times, such as 100 for percent.")
    shown = cells.shown
    decimals = decimals_of(shown[~np.isnan(shown)])
    half = entry.about.rounded / 2 if entry.about.rounded else 0.5 * 10.0 ** -(FINEST if decimals is None else decimals)
    low, high = (shown - half - ratio.plus) / ratio.times, (shown + half - ratio.plus) / ratio.times
    step = 10.0**FINEST
    return (
        np.array([np.nan if np.isnan(x) else floor(round(x * step, 3)) / step for x in low.tolist()]),
        np.array([np.nan if np.isnan(x) else ceil(round(x * step, 3)) / step for x in high.tolist()]),
    )


def say_ratio(relations: Relations, cells: tuple[int, int], low: float, high: float, what: str) -> None:
    """Both sides of one ratio."""
    over, under = cells
    above, below = relations.value[over], relations.value[under]
    one = relations.difference(_round(above - low * below), 0.0, np.inf, what)
    other = relations.difference(_round(high * below - above), 0.0, np.inf, what)
    relations.add(np.array([over, under, one]), np.array([1.0, -low, -1.0]), told=what)
    relations.add(np.array([under, over, other]), np.array([high, -1.0, -1.0]), told=what)


def _round(value: float) -> float:
    return float(np.round(value, FINEST))
