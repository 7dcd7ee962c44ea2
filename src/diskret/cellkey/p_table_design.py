"""Designing perturbation tables: the most uncertain distributions that have the wanted mean, variance and range.

Row i is a distribution over deviations v with -i <= v <= D, mean 0 and variance V. Among all of them the one of
maximal entropy is taken: it gives nothing away beyond what was asked for. Maximal entropy has the form
p(v) = exp(a + b v + c v^2); a, b and c are found by Newton's method on the convex dual
log sum exp(b v + c v^2) - c V.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from diskret.cellkey.p_table import PTable
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption, BadPTable

PRECISION = 1e-12
STEPS = 200


def design_p_table(
    *,
    deviation: float = 5,
    variance: float | Sequence[float] = 2.0,
    smallest: int = 1,
    stay: float | None = None,
    monotone: bool = True,
    step: float = 1.0,
    cells: Sequence[float] | None = None,
) -> PTable:
    """A perturbation table by maximal entropy: unbiased, zeros stay zero, nothing becomes negative.

    ``deviation`` is the largest deviation D and ``variance`` V that of every row; a sequence gives one for each of the
    rows 1, 2, ..., its last one for all others. ``smallest`` is the smallest positive count that may be published: 3
    keeps ones and twos out. ``stay`` fixes the probability that a count is published as it is, where it may be.
    ``monotone``: a smaller deviation downwards is at least as probable as a larger one, where 0 is possible. For
    magnitudes take a ``step`` below 1 and the rows ``cells``, such as (1, 5). Rows that no distribution fills are
    refused, with the variances that are possible.

    >>> table = design_p_table(deviation=2, variance=0.5)
    >>> [round(float(p), 4) for p in table.rows().row(2)[1]]
    [0.0105, 0.208, 0.563, 0.208, 0.0105]
    >>> print(design_p_table(deviation=3, variance=2, smallest=2))   # doctest: +ELLIPSIS
        i      mean  variance  p(stay)   published
        0   0.00000   0.00000   1.0000   itself
        1   0.00000   2.00000   0.0000   0, 2, 3, 4
    ...
    """
    _refuse(deviation, smallest, stay, step)
    wanted = [float(v) for v in variance] if isinstance(variance, Sequence) else [float(variance)]
    if not wanted or min(wanted) <= 0:
        raise BadOption("the variance must be positive", hint="give one for all rows, or one per row.")
    labels = _labels(deviation, smallest) if cells is None else _given_labels(cells)
    i, v, p = [0.0], [0.0], [1.0]
    for number, label in enumerate(labels):
        allowed = _allowed(label, deviation, step, smallest)
        found = _row(label, allowed, wanted[min(number, len(wanted) - 1)], stay, monotone)
        i += [label] * allowed.size
        v += allowed.tolist()
        p += found.tolist()
    return PTable.of(i, v, p)


def _refuse(deviation: float, smallest: int, stay: float | None, step: float) -> None:
    if deviation <= 0 or step <= 0 or abs(deviation / step - round(deviation / step)) > PRECISION:
        raise BadOption(
            f"deviations up to {deviation:g} in steps of {step:g}", hint="both positive; the first a multiple."
        )
    if stay is not None and not 0 <= stay < 1:
        raise BadOption(f"stay = {stay}", hint="the probability that a count is not changed: from 0 to below 1.")
    if smallest < 1 or (smallest > 1 and step != 1):
        raise BadOption(f"smallest = {smallest}", hint="1 or more, and 1 for magnitudes.")


def _given_labels(cells: Sequence[float]) -> list[float]:
    labels = [float(c) for c in cells]
    if not labels or min(labels) <= 0 or sorted(set(labels)) != labels:
        raise BadOption("cells are positive and ascending", hint="such as (1, 5); the row of 0 comes by itself.")
    return labels


def _labels(deviation: float, smallest: int) -> list[float]:
    """Counts up to the first whose deviations are restricted by nothing."""
    last = int(np.ceil(deviation)) + (smallest if smallest > 1 else 0)
    return [float(i) for i in range(1, last + 1)]


def _allowed(label: float, deviation: float, step: float, smallest: int) -> Floats:
    most = round(deviation / step)
    v = np.arange(-most, most + 1) * step
    result = label + v
    allowed: Floats = v[(result >= 0) & ((result == 0) | (result >= smallest) | (smallest == 1))]
    return allowed


def _row(label: float, v: Floats, variance: float, stay: float | None, monotone: bool) -> Floats:
    """The distribution of one row."""
    changed = v != 0 if stay is not None else np.ones(v.size, dtype=np.bool_)
    free, stays = v[changed], ~changed
    share = 1 - stay if stay is not None and stays.any() else 1.0
    low, high = possible_variances(free)
    wanted = variance / share
    if not np.isfinite(low):
        raise BadPTable(
            f"row {label:g}: no distribution over its deviations has mean 0, because they all have one sign",
            hint="a count must be able to rise and to fall: take a larger deviation or a smaller smallest.",
        )
    if not low - PRECISION <= wanted <= high + PRECISION:
        raise BadPTable(
            f"row {label:g}: no distribution over its deviations has mean 0 and variance {variance:g}",
            hint=f"possible are variances from {low * share:g} to {high * share:g}; give one variance per row, or "
            "change deviation, smallest or stay.",
        )
    p = np.full(v.size, 0.0 if stay is None else stay)
    p[changed] = share * maximal_entropy(free, wanted, monotone and bool((v == 0).any()))
    return p


def possible_variances(v: Floats) -> tuple[float, float]:
    """Smallest and largest variance of a distribution over ``v`` with mean 0; (inf, -inf) where there is none.

    All its weight on the two deviations next to zero gives the smallest, on the two outermost the largest.

    >>> possible_variances(np.array([-1.0, 2.0, 3.0]))
    (2.0, 3.0)
    """
    if v.size == 0 or v.min() > 0 or v.max() < 0:
        return np.inf, -np.inf
    return float(-v[v <= 0].max() * v[v >= 0].min()), float(-v.min() * v.max())


def maximal_entropy(v: Floats, variance: float, monotone: bool = False) -> Floats:
    """The distribution over ascending ``v`` with mean 0 and the variance that has the largest entropy.

    With ``monotone`` its probabilities do not fall on the way up to v = 0: neighbours that do are made equal, and the
    rest is solved again.

    >>> maximal_entropy(np.array([-1.0, 0.0, 1.0]), 0.5).round(6).tolist()
    [0.25, 0.5, 0.25]
    """
    low, high = possible_variances(v)
    for edge, pair in ((low, (v[v <= 0].max(), v[v >= 0].min())), (high, (v.min(), v.max()))):
        if abs(variance - edge) <= 1e-9 * max(1.0, edge):
            return _two_points(v, *pair)
    block = np.arange(v.size)
    p = _solve(v, variance, block)
    while monotone:
        rising = v[1:] <= 0
        falls = np.flatnonzero(rising & (p[1:] < p[:-1] * (1 - 1e-9)))
        if not falls.size:
            break
        for at in falls:
            block[block == block[at + 1]] = block[at]
        p = _solve(v, variance, block)
    return p


def _solve(v: Floats, variance: float, block: Ints) -> Floats:
    """The same where deviations of one block have equal probabilities: a block counts by its mean v and v^2."""
    _, at, size = np.unique(block, return_inverse=True, return_counts=True)
    scale = float(np.abs(v).max())
    features = np.stack([np.bincount(at, v / scale) / size, np.bincount(at, (v / scale) ** 2) / size])
    target = np.array([0.0, variance / scale**2])
    nothing = BadPTable(
        f"no distribution with variance {variance:g} rises up to deviation 0",
        hint="ask for a larger variance, or for monotone=False.",
    )
    if features.shape[1] < 3:
        raise nothing
    multipliers = np.zeros(2)
    for _ in range(STEPS):
        p, value = _dual(features, target, multipliers, size)
        gradient = features @ p - target
        if np.abs(gradient).max() < PRECISION:
            break
        centred = features - (features @ p)[:, None]
        curvature = (centred * p) @ centred.T
        direction = np.linalg.solve(curvature + 1e-14 * np.eye(2), -gradient)
        slope, length = float(gradient @ direction), 1.0
        while length > 1e-12 and (
            _dual(features, target, multipliers + length * direction, size)[1] > value + 1e-4 * length * slope
        ):
            length /= 2
        multipliers = multipliers + length * direction
    p, _ = _dual(features, target, multipliers, size)
    if np.abs(features @ p - target).max() > 1e-9:
        # near the end what a step gains drowns in rounding, and the search above may stand still: one full step more
        p, _ = _dual(features, target, multipliers + direction, size)
    if np.abs(features @ p - target).max() > 1e-9:
        raise nothing
    spread: Floats = (p / size)[at]
    return spread


def _dual(features: Floats, target: Floats, multipliers: Floats, size: Ints) -> tuple[Floats, float]:
    """The distribution over blocks that belongs to multipliers, and the value of the dual there."""
    exponent = multipliers @ features
    top = float(exponent.max())
    weight = size * np.exp(exponent - top)
    whole = float(weight.sum())
    return weight / whole, float(np.log(whole)) + top - float(multipliers @ target)


def _two_points(v: Floats, left: float, right: float) -> Floats:
    """All weight on two deviations, mean 0."""
    p = np.zeros(v.size)
    if left == right:
        p[v == left] = 1.0
        return p
    p[v == left] = right / (right - left)
    p[v == right] = -left / (right - left)
    return p
