"""Distributions before and after: classes for plots, and the Hellinger distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats, Ints

CLASSES = 20
BARS = 30
FEWEST = 5
"""No bar of a plot stands for fewer units than this."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Distribution:
    """Shares of units in classes of values, outer classes open; logarithmic where no value is negative."""

    name: str
    logarithmic: bool
    edges: tuple[float, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]


def hellinger(before: npt.ArrayLike, after: npt.ArrayLike) -> float:
    """Hellinger distance of two frequency distributions: 0 for equal ones, 1 for those without common classes.

    >>> hellinger([1, 1], [2, 2]), round(hellinger([1, 1], [1, 3]), 4), hellinger([1, 0], [0, 1])
    (0.0, 0.1846, 1.0)
    """
    p, q = np.asarray(before, dtype=np.float64), np.asarray(after, dtype=np.float64)
    if not p.sum() or not q.sum():
        return 0.0 if p.sum() == q.sum() else 1.0
    return float(np.sqrt(np.square(np.sqrt(p / p.sum()) - np.sqrt(q / q.sum())).sum() / 2))


def hellinger_of_values(before: Floats, after: Floats, classes: int = CLASSES) -> float:
    """Hellinger distance of two columns over classes of equal frequency of the first; missing is left out.

    >>> x = np.arange(1.0, 101.0)
    >>> hellinger_of_values(x, x), round(hellinger_of_values(x, x + 50), 3)
    (0.0, 0.62)
    """
    x, y = before[~np.isnan(before)], after[~np.isnan(after)]
    if not x.size or not y.size:
        return 0.0 if x.size == y.size else 1.0
    inner = np.unique(np.quantile(x, np.arange(1, classes) / classes, method="inverted_cdf"))
    p = np.bincount(np.searchsorted(inner, x, side="left"), minlength=inner.size + 1)
    q = np.bincount(np.searchsorted(inner, y, side="left"), minlength=inner.size + 1)
    return hellinger(p, q)


def distribution(name: str, before: Floats, after: Floats) -> Distribution | None:
    """Bars for a plot: equal widths between the 1st and the 99th percentile, joined until each has five units.

    None if there is too little to show without showing single units. Zeros are left out on a logarithmic scale.
    """
    x, y = (v[~np.isnan(v)] for v in (before, after))
    logarithmic = bool(min(x.min(initial=0), y.min(initial=0)) >= 0)
    if logarithmic:
        x, y = np.log10(x[x > 0]), np.log10(y[y > 0])
    if min(x.size, y.size) < 2 * FEWEST:
        return None
    low, high = np.quantile(x, [0.01, 0.99])
    inner = np.linspace(low, high, BARS - 1)[1:-1] if high > low else np.empty(0)
    p = np.bincount(np.searchsorted(inner, x), minlength=inner.size + 1)
    q = np.bincount(np.searchsorted(inner, y), minlength=inner.size + 1)
    cuts = _joined(p, q)
    if len(cuts) < 2:
        return None
    starts = [0, *cuts[:-1]]
    shares = [np.add.reduceat(n, starts) / n.sum() for n in (p, q)]
    width = inner[1] - inner[0] if inner.size > 1 else 1.0
    edges = np.concatenate([[inner[0] - width], inner[np.array(cuts[:-1]) - 1], [inner[-1] + width]])
    shown = np.power(10.0, edges) if logarithmic else edges
    one, two = (tuple(round(float(v), 6) for v in share) for share in shares)
    rounded = tuple(float(f"{e:.4g}") for e in shown)
    return Distribution(name=name, logarithmic=logarithmic, edges=rounded, before=one, after=two)


def _joined(p: Ints, q: Ints) -> list[int]:
    """Where joined classes end, so that each has enough units before and after; the last takes what is left."""
    cuts: list[int] = []
    a = b = 0
    for i in range(len(p)):
        a, b = a + int(p[i]), b + int(q[i])
        if a >= FEWEST and b >= FEWEST:
            cuts.append(i + 1)
            a = b = 0
    return [*cuts[:-1], len(p)] if cuts else []
