"""Published rates, indices, means and shares as bounds between two cells.

A rate r that is rounded by h at most says that the cell above the line lies between two multiples of the one below:
``low * under <= over <= high * under``. Each side is an equation with a further cell that is not negative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from math import ceil, floor

import numpy as np

from diskret.ledger.entry import Entry, EntryCells
from diskret.ledger.nodes import Keys, Sets, key_of
from diskret.ledger.relations import Relations
from diskret.model.arrays import Floats
from diskret.model.errors import BadOption
from diskret.model.exact import decimals_of
from diskret.model.tolerances import ROUNDING

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
    shortest = decimals_of(shown[~np.isnan(shown)])
    # 5.0 was rounded to a tenth, even where all rates happen to be whole
    decimals = FINEST if shortest is None else max(shortest, entry.decimals or 0)
    half = entry.about.rounded / 2 if entry.about.rounded else 0.5 * 10.0**-decimals
    low, high = (shown - half - ratio.plus) / ratio.times, (shown + half - ratio.plus) / ratio.times
    step = 10.0**FINEST
    return (
        np.array([np.nan if np.isnan(x) else floor(round(x * step, 3)) / step for x in low.tolist()]),
        np.array([np.nan if np.isnan(x) else ceil(round(x * step, 3)) / step for x in high.tolist()]),
    )


def say_ratio(relations: Relations, cells: tuple[int, int], bounds: tuple[float, float], what: str) -> bool:
    """Both sides of one ratio, in whole multiples; whether it is true of the values.

    Where it is not, because they were revised since, it is taken to be as wrong as it is and no more.
    """
    over, under = cells
    above, below = relations.value[over], relations.value[under]
    true = True
    for side, bound in zip((1, -1), bounds, strict=True):
        multiple, times = _whole(bound)
        # times * over - multiple * under is at least zero for the lower bound, at most zero for the upper
        off = float(np.round(side * (times * above - multiple * below), FINEST))
        fits = not off < -ROUNDING * max(1.0, abs(times * above))
        rest = relations.difference(off, 0.0 if fits else off, np.inf, f"what rounding leaves of {what}")
        relations.add(np.array([over, under, rest]), np.array([side * times, -side * multiple, -1.0]), told=what)
        true = true and fits
    return true


def _whole(bound: float) -> tuple[float, float]:
    """A bound as a fraction of whole numbers: above and below the line.

    >>> _whole(1.0345)
    (2069.0, 2000.0)
    """
    found = Fraction(round(bound * 10**FINEST), 10**FINEST)
    return float(found.numerator), float(found.denominator)
