"""Regressions before and after: whether a researcher finds the same coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.microdata.columns import Records
from diskret.model.arrays import Floats
from diskret.model.errors import BadOption


@dataclass(frozen=True, kw_only=True)
class Regression:
    """Least squares of ``response`` on the columns ``on``, with a constant; in logarithms unless said otherwise."""

    response: str
    on: tuple[str, ...]
    logs: bool = True

    @property
    def text(self) -> str:
        """The equation in words."""
        return f"{'log ' * self.logs}{self.response} on {', '.join(('log ' * self.logs) + name for name in self.on)}"


@dataclass(frozen=True, eq=False, kw_only=True)
class Coefficients:
    """Estimates of one regression before and after protection."""

    regression: Regression
    names: tuple[str, ...]
    before: Floats
    after: Floats
    error_before: Floats
    error_after: Floats

    @property
    def overlap(self) -> Floats:
        """Overlap of the 95 % confidence intervals, 1 for equal ones, below 0 for disjoint ones (Karr et al. 2006)."""
        half, other = 1.96 * self.error_before, 1.96 * self.error_after
        common = np.minimum(self.before + half, self.after + other) - np.maximum(self.before - half, self.after - other)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where((half > 0) & (other > 0), (common / (2 * half) + common / (2 * other)) / 2, np.nan)


def compare_regression(regression: Regression, before: Records, after: Records) -> Coefficients:
    """Estimate a regression twice; rows with a gap (in logarithms: without a positive value) are left out."""
    (b, eb), (a, ea) = (_estimate(regression, records) for records in (before, after))
    names = ("constant", *regression.on)
    return Coefficients(regression=regression, names=names, before=b, after=a, error_before=eb, error_after=ea)


def _estimate(regression: Regression, records: Records) -> tuple[Floats, Floats]:
    columns = np.column_stack([records[name] for name in (regression.response, *regression.on)])
    if regression.logs:
        columns = np.log(np.where(columns > 0, columns, np.nan))
    columns = columns[~np.isnan(columns).any(axis=1)]
    parameters = len(regression.on) + 1
    if len(columns) <= parameters:
        raise BadOption(
            f"regression of {regression.text}: too few records have all columns", hint="leave this regression out."
        )
    # centred and scaled, so that columns of very different size do not spoil the normal equations
    centre, scale = columns.mean(axis=0), columns.std(axis=0)
    scale[scale == 0] = 1.0
    z = (columns - centre) / scale
    x, y = z[:, 1:], z[:, 0]
    inverse = np.linalg.pinv(np.einsum("ij,ik->jk", x, x))
    slopes = np.einsum("ij,kj,k->i", inverse, x, y)
    residual = y - np.einsum("ij,j->i", x, slopes)
    noise = float(np.square(residual).sum()) / (len(y) - parameters)
    spread = np.sqrt(noise * np.diag(inverse))
    real = slopes * scale[0] / scale[1:]
    constant = centre[0] - float((real * centre[1:]).sum())
    turn = centre[1:] / scale[1:] * scale[0]
    error = np.sqrt(noise * scale[0] ** 2 / len(y) + noise * float(np.einsum("i,ij,j", turn, inverse, turn)))
    return np.concatenate([[constant], real]), np.concatenate([[error], spread * scale[0] / scale[1:]])
