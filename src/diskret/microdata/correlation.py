"""Correlations of logarithms, and whether a random vector can have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import fsum

import numpy as np

from diskret.microdata import _noise_kernels as kernels
from diskret.microdata.options import Gaps
from diskret.model.arrays import Floats
from diskret.model.errors import BadOption, ConstantColumn, NotPositiveDefinite
from diskret.model.exact_sums import exact_sum

TOLERANCE = 1e-9
TOGETHER = 1 << 16
"""Records whose moments are added up one after the other; those of more records meet exactly, wherever they were."""
FEWEST = 3


@dataclass(frozen=True, eq=False, kw_only=True)
class LogMoments:
    """Correlations and standard deviations of the logarithms of some columns."""

    correlation: Floats
    sd: Floats


def log_moments(matrix: Floats, names: Sequence[str], gaps: Gaps = "pairwise", where: str = "") -> LogMoments:
    """Moments of the logarithms of positive values; zeros and missing are gaps.

    With ``gaps="pairwise"`` a correlation is taken over the rows that have both columns, with ``"complete"`` over the
    rows that have all. Refuses a constant column.

    >>> x = np.array([[1.0, 2.0], [10.0, 15.0], [100.0, 300.0], [0.0, 7.0]])
    >>> log_moments(x, ["a", "b"]).correlation.round(3).tolist()
    [[1.0, 0.994], [0.994, 1.0]]
    """
    logs = logarithms(matrix)
    if gaps == "complete":
        refuse_few(int((~np.isnan(logs)).all(axis=1).sum()), where)
    return checked_moments(correlations(logs, gaps), names, where)


def logarithms(matrix: Floats) -> Floats:
    """Logarithms of what is positive; the rest is missing."""
    logs = np.full(matrix.shape, np.nan)
    np.log(matrix, out=logs, where=matrix > 0)
    return logs


def refuse_few(complete: int, where: str) -> None:
    """Refuse what has too few records without a gap."""
    if complete < FEWEST:
        raise BadOption(
            "fewer than three records have a positive value in every column", where=where, hint="say gaps='pairwise'."
        )


def checked_moments(moments: tuple[Floats, Floats], names: Sequence[str], where: str) -> LogMoments:
    """Correlations and standard deviations, unless a column is constant."""
    found, own = moments
    constant = [name for name, v in zip(names, own, strict=True) if not v > 1e-20]
    if constant:
        raise ConstantColumn.named(constant, where)
    # too few common rows, or constant over them: nothing is known, so nothing is asked
    return LogMoments(correlation=np.nan_to_num(found, nan=0.0), sd=np.sqrt(own))


def correlations(matrix: Floats, gaps: Gaps = "pairwise") -> tuple[Floats, Floats]:
    """Correlations of columns with gaps (NaN where fewer than three rows have both, or all are equal), and variances.

    >>> correlations(np.array([[1.0, 2.0], [2.0, 4.5], [3.0, 5.5], [4.0, np.nan]]))[0].round(3).tolist()
    [[1.0, 0.971], [0.971, 1.0]]
    """
    x = matrix.copy()
    for k in range(x.shape[1]):  # near zero mean, so that squares do not drown differences
        x[:, k] -= exact_sum(x[~np.isnan(x[:, k]), k]).mean
    found = [kernels.pair_moments(x[at : at + TOGETHER], gaps == "complete") for at in range(0, len(x), TOGETHER)]
    return from_moments(found)


def from_moments(found: Sequence[Floats]) -> tuple[Floats, Floats]:
    """Correlations and variances from the moments of records, taken so many together and added up exactly."""
    moments = found[0]
    if len(found) > 1:
        moments = np.apply_along_axis(fsum, 0, np.stack(found))
    count, first, second, squares, other, product = np.moveaxis(moments, -1, 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        covariance = product / count - first / count * (second / count)
        one = squares / count - (first / count) ** 2
        two = other / count - (second / count) ** 2
        made = np.clip(covariance / np.sqrt(one * two), -1.0, 1.0)
    made[count < FEWEST] = np.nan
    made = np.tril(made, -1)
    return made + made.T + np.eye(len(made)), np.diag(one).copy()


def checked(correlation: Floats, nearest: bool, where: str = "") -> Floats:
    """Correlations that a random vector can have: as given, or the nearest ones if allowed, else refused."""
    low = float(kernels.eigen(correlation)[0].min())
    if low >= -TOLERANCE:
        return correlation
    if not nearest:
        raise NotPositiveDefinite(
            f"no random vector has these correlations: their matrix has the eigenvalue {low:.3g}",
            where=where,
            hint="say nearest=True to take the nearest possible ones, or gaps='complete' to take all of them over the "
            "same records.",
        )
    return nearest_with_diagonal(correlation, np.ones(len(correlation)))


def nearest_with_diagonal(matrix: Floats, diagonal: Floats, rounds: int = 100) -> Floats:
    """The nearest positive semidefinite matrix with a given diagonal (Higham 2002, alternating projections).

    >>> bad = np.array([[1.0, 0.9, -0.9], [0.9, 1.0, 0.9], [-0.9, 0.9, 1.0]])
    >>> nearest_with_diagonal(bad, np.ones(3)).round(2).tolist()
    [[1.0, 0.5, -0.5], [0.5, 1.0, 0.5], [-0.5, 0.5, 1.0]]
    """
    current, correction = matrix.copy(), np.zeros_like(matrix)
    scale = float(np.abs(diagonal).max())
    for _ in range(rounds):
        shifted = current - correction
        projected = _positive(shifted)
        correction = projected - shifted
        before = current
        current = projected.copy()
        np.fill_diagonal(current, diagonal)
        if np.abs(current - before).max() <= 1e-7 * scale:
            break
    # the last word has the cone; its diagonal is brought back by scaling, which keeps it in the cone
    inside = _positive(current)
    ratio = np.sqrt(diagonal / np.maximum(np.diag(inside), 1e-300))
    return inside * ratio[:, None] * ratio[None, :]


def _positive(matrix: Floats) -> Floats:
    values, vectors = kernels.eigen(matrix)
    kept: Floats = np.einsum("ik,k,jk->ij", vectors, np.maximum(values, 0.0), vectors)
    return (kept + kept.T) / 2


def root(covariance: Floats) -> Floats:
    """A matrix whose product with its transpose is the covariance; tiny negative eigenvalues count as zero."""
    values, vectors = kernels.eigen(covariance)
    made: Floats = vectors * np.sqrt(np.maximum(values, 0.0))
    return made
