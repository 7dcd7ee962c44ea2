"""Cuts made stronger by the fact that a cell is hidden or not: mixed-integer rounding with complemented cells."""

from __future__ import annotations

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.tolerances import HAIR, ROUNDING, WHOLE
from diskret.suppression.optimum.attackers import Cut

MOST = 12
"""This many divisors are tried for a cut."""


def rounded(cut: Cut, x: Floats) -> Cut | None:
    """The rounding of a cut that a point breaks most clearly, if it breaks one more clearly than the cut itself.

    ``sum(a x) >= 1`` over zeros and ones, divided by some ``a``: two cells that give 0.6 each are both needed.

    >>> cut = Cut(np.array([0, 1, 2]), np.array([0.6, 0.6, 0.6]), 1.0)
    >>> better = rounded(cut, np.array([0.7, 0.7, 0.4]))
    >>> better.weight.round(6).tolist(), round(better.rhs, 6)
    ([1.0, 1.0, 1.0], 2.0)
    """
    at = x[cut.columns]
    split = (at > WHOLE) & (at < 1 - WHOLE)
    divisors = np.unique(np.round(np.abs(cut.weight[split]), 9))[::-1][:MOST]
    divisors = divisors[divisors > 1e-4]
    if not divisors.size:
        return None
    best, clearest = None, 0.02 + max(0.0, cut.missing(x)) / float(np.linalg.norm(cut.weight))
    for turned in (np.zeros(at.size, dtype=np.bool_), at > 0.5):
        sign = np.where(turned, -1.0, 1.0)
        share = (cut.weight * sign)[None, :] / divisors[:, None]
        rhs = (cut.rhs - float(cut.weight[turned].sum())) / divisors
        part = rhs - np.floor(rhs)
        fair = (part > 0.02) & (part < 0.98)
        share, rhs, part = share[fair], rhs[fair], part[fair]
        if not rhs.size:
            continue
        whole = np.floor(share + ROUNDING)
        # rounding up to a whole number is safe: weights may only grow
        weight = (whole + np.clip((share - whole) / part[:, None], 0.0, 1.0)) * sign
        limit = np.ceil(rhs) + weight[:, turned].sum(axis=1)
        clear = (limit - weight @ at) / np.maximum(np.linalg.norm(weight, axis=1), ROUNDING)
        k = int(np.argmax(clear))
        if clear[k] > clearest:
            kept = np.abs(weight[k]) > HAIR
            best, clearest = Cut(cut.columns[kept], weight[k][kept], float(limit[k]) - ROUNDING), float(clear[k])
    return best
