"""Propensity score: can a model tell protected records from original ones? (Woo et al. 2009, Snoke et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diskret.microdata.columns import Records, coded
from diskret.model.arrays import Floats

MOST_CLASSES = 40
ROUNDS = 50
MOST_RECORDS = 200_000
"""Of larger files every n-th record is used; the model does not become better with more."""


@dataclass(frozen=True, kw_only=True)
class Propensity:
    """Mean squared distance of the propensity scores from one half, and the same over what pure chance would give."""

    pmse: float
    ratio: float
    parameters: int


def propensity(before: Records, after: Records, numbers: Sequence[str], classes: Sequence[str] = ()) -> Propensity:
    """Logistic regression of "is protected" on the columns of both files, one below the other.

    Numbers enter as signed logarithms with their squares, classes as indicators. pMSE is 0 if nothing tells the files
    apart and 0.25 if everything does. The ratio compares with what a file drawn anew from a
    perfect model of the original would have, (k - 1)(1 - c)^2 c / N (Snoke et al. 2018); two independent samples of one
    population come to about 2.
    """
    before, after = _thinned(before), _thinned(after)
    design = np.column_stack([np.ones(before.rows + after.rows), *_columns(before, after, numbers, classes)])
    label = np.repeat([0.0, 1.0], [before.rows, after.rows])
    score = _scores(design, label)
    share = after.rows / len(label)
    pmse = float(np.square(score - share).mean())
    k = design.shape[1]
    chance = (k - 1) * (1 - share) ** 2 * share / len(label)
    return Propensity(pmse=pmse, ratio=pmse / chance if chance > 0 else 0.0, parameters=k)


def _thinned(records: Records) -> Records:
    step = -(-records.rows // MOST_RECORDS)
    return records if step <= 1 else records.take(slice(None, None, step))


def _columns(before: Records, after: Records, numbers: Sequence[str], classes: Sequence[str]) -> list[Floats]:
    found: list[Floats] = []
    for name in numbers:
        both = np.concatenate([before[name], after[name]])
        z = np.sign(both) * np.log1p(np.abs(both))
        there = ~np.isnan(z)
        sd = z[there].std() if there.any() else 0.0
        if sd > 0:
            z = np.where(there, (z - z[there].mean()) / sd, 0.0)
            found += [z, np.square(z)]
    for name in classes:
        both_codes = coded(np.concatenate([before[name].astype(object), after[name].astype(object)]))
        common = np.argsort(-both_codes.frequencies, kind="stable")[1:MOST_CLASSES]
        found += [(both_codes.index == code).astype(np.float64) for code in common]
    return found


def _scores(design: Floats, label: Floats) -> Floats:
    """Fitted probabilities by iteratively reweighted least squares, with a touch of ridge against collinear columns."""
    weights = np.zeros(design.shape[1])
    ridge = 1e-6 * len(label) * np.eye(design.shape[1])
    score = np.full(len(label), 0.5)
    for _ in range(ROUNDS):
        spread = score * (1 - score)
        step = np.linalg.solve(
            (design * spread[:, None]).T @ design + ridge, design.T @ (label - score) - ridge @ weights
        )
        weights = weights + step
        score = 1 / (1 + np.exp(-np.clip(design @ weights, -30, 30)))
        if np.abs(step).max() < 1e-8:
            break
    return score
