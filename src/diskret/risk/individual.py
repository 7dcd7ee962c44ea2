"""Individual risk of every record of a sample (Benedetti and Franconi): the mean of 1/F given what the sample shows.

A class has f records in the sample and, by its sampling weights, about F in the population. Given f, F - f is negative
binomial with p = f / sum of weights; the risk is E(1/F | f), in closed form for small f, summed or by recursion beyond.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption, NegativeValue
from diskret.risk._class_kernels import expected_inverse
from diskret.risk.classes import Classes


@dataclass(frozen=True, eq=False, kw_only=True)
class IndividualRisk:
    """The risk of every record, and what it adds up to."""

    risk: Floats
    """One number per record, in the order of the file: confidential."""
    household: Floats | None = None
    """Risk that at least one member of the household is found, per record."""

    @property
    def expected(self) -> float:
        """Expected number of re-identifications if every record is looked for."""
        return float(self.risk.sum())

    @property
    def share(self) -> float:
        """The same as a share of the records: the global risk."""
        return float(self.risk.mean())

    def above(self, threshold: float) -> int:
        """How many records have a greater risk."""
        return int((self.risk > threshold).sum())


def individual_risk(classes: Classes, weights: Floats | None = None, households: Ints | None = None) -> IndividualRisk:
    """Risk of every record; without weights the file is the whole population and the risk is 1/f.

    >>> classes = Classes(ids=np.array([0, 0, 1]), sizes=np.array([2, 1]))
    >>> individual_risk(classes, np.array([5.0, 5.0, 10.0])).risk.round(3)
    array([0.149, 0.149, 0.256])
    """
    sizes = classes.sizes
    if weights is None:
        per_class = 1.0 / sizes
    else:
        refuse_bad_weights(weights)
        population = np.bincount(classes.ids, weights=weights, minlength=classes.count)
        per_class = expected_inverse(sizes, np.minimum(1.0, sizes / population))
    risk = per_class[classes.ids]
    if households is None:
        return IndividualRisk(risk=risk)
    # 1 - product of (1 - r) over the members; logarithms keep small risks apart
    with np.errstate(divide="ignore"):
        safe = np.bincount(households, weights=np.log1p(-risk))
    return IndividualRisk(risk=risk, household=-np.expm1(safe)[households])


def refuse_bad_weights(weights: Floats) -> None:
    """Sampling weights are at least 1 on average, never missing and never negative."""
    if np.isnan(weights).any():
        raise BadOption("sampling weights are missing", hint="fill them, or leave the records out.")
    if (weights <= 0).any():
        raise NegativeValue(
            f"{int((weights <= 0).sum())} sampling weights are zero or negative",
            hint="correct them, or leave them out.",
        )
    if weights.sum() < weights.size:
        raise BadOption(
            "the sampling weights sum to less than the number of records",
            hint="weights say how many units of the population a record stands for; were they standardised to mean 1?",
        )
