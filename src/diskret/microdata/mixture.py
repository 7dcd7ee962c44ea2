"""The two-peak mixture of noise on the log scale: U = +f or -f, plus a component with covariance s^2 R - f^2 J.

All columns of a record share the sign. The column's total standard deviation is s and the correlations of U are R,
those of the logarithms, if and only if s^2 R - f^2 J (J all ones) is positive semidefinite: f^2 1'R^-1 1 <= s^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from diskret.microdata import _noise_kernels as kernels
from diskret.microdata.correlation import TOLERANCE, nearest_with_diagonal
from diskret.model.arrays import Floats
from diskret.model.errors import BadOption, InfeasibleNoise


@dataclass(frozen=True, eq=False, kw_only=True)
class Mixture:
    """Shift of the peaks, covariance around each, and how far the correlations of the whole are from those asked."""

    shift: float
    covariance: Floats
    deviation: float = 0.0


def largest_ratio(correlation: Floats) -> float:
    """The largest feasible shift divided by sd, 1 / sqrt(1'R^-1 1); with uncorrelated columns 1 / sqrt(columns).

    >>> round(largest_ratio(np.eye(4)), 3)
    0.5
    """
    values, vectors = kernels.eigen(correlation)
    weights = np.square(vectors.sum(axis=0))
    null = values <= TOLERANCE
    # a direction without variance must not be needed for the shift
    if weights[null].sum() > TOLERANCE * len(values):
        return 0.0
    return 1.0 / math.sqrt(float((weights[~null] / values[~null]).sum()))


def mixture(correlation: Floats, shift: float, sd: float, nearest: bool = False) -> Mixture:
    """The mixture with total standard deviation ``sd`` (s), peaks at plus and minus ``shift`` (f) and correlations R.

    An infeasible pair is refused with what would be feasible; with ``nearest`` the nearest positive semidefinite
    matrix with the same diagonal takes the place of s^2 R - f^2 J: sd and shift are kept, the correlations give way.

    >>> made = mixture(np.array([[1.0, 0.9], [0.9, 1.0]]), shift=0.1, sd=0.12)
    >>> made.covariance.round(4).tolist()
    [[0.0044, 0.003], [0.003, 0.0044]]
    """
    if not (math.isfinite(sd) and sd > 0 and math.isfinite(shift) and shift >= 0):
        raise BadOption("the shift and the sd of noise are finite numbers, sd above zero", hint="such as 0.1 and 0.12.")
    if shift >= sd:
        raise InfeasibleNoise(
            "the shift is not below the sd, which is the standard deviation of the whole mixture",
            hint="the spread around each peak is sqrt(sd^2 - shift^2): raise sd, or lower the shift.",
        )
    covariance = sd**2 * correlation - shift**2
    ratio = largest_ratio(correlation)
    if shift <= sd * ratio * (1 + TOLERANCE):
        return Mixture(shift=shift, covariance=covariance)
    if not nearest:
        if ratio == 0:
            raise InfeasibleNoise(
                "with these correlations no noise has a shift: columns move against each other without any freedom",
                hint="say shift=0, leave a column out, or say nearest=True to let the noise's correlations give way.",
            )
        low, high = math.floor(ratio * 10_000) / 10_000, math.ceil(10_000 / ratio) / 10_000
        bound = f"at most {low:.4f} times the sd, or raise sd to at least {high:.4f} times the shift"
        raise InfeasibleNoise(
            "no noise has this shift, this sd and the correlations of the logarithms: sd^2 R - shift^2 J has a "
            "negative eigenvalue",
            hint=f"lower the shift to {bound}, or say nearest=True to keep both and let the correlations of the noise "
            "give way.",
        )
    found = nearest_with_diagonal(covariance, np.full(len(covariance), sd**2 - shift**2))
    return Mixture(shift=shift, covariance=found, deviation=float(np.abs(found - covariance).max()) / sd**2)
