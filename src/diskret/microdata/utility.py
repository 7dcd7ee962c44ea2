"""What protection costs: original and protected records compared as a researcher would use them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskret.microdata.columns import Records, coded, read_records
from diskret.microdata.correlation import correlations
from diskret.microdata.distribution import Distribution, distribution, hellinger, hellinger_of_values
from diskret.microdata.propensity import Propensity, propensity
from diskret.microdata.regression import Coefficients, Regression, compare_regression
from diskret.model.arrays import Floats
from diskret.model.errors import BadOption
from diskret.model.notebook import Told

__all__ = ["ColumnUtility", "ClassUtility", "Regression", "Utility", "measure_utility"]


@dataclass(frozen=True, kw_only=True)
class ColumnUtility:
    """One column of numbers before and after."""

    name: str
    mean: tuple[float, float]
    variance: tuple[float, float]
    il1s: float
    """Mean absolute change over sqrt(2) standard deviations (Yancey, Winkler and Creecy 2002)."""
    hellinger: float
    distribution: Distribution | None

    @property
    def mean_change(self) -> float:
        """Relative change of the mean."""
        return _relative(*self.mean)

    @property
    def variance_change(self) -> float:
        """Relative change of the variance."""
        return _relative(*self.variance)


@dataclass(frozen=True, kw_only=True)
class ClassUtility:
    """One column of codes before and after."""

    name: str
    before: dict[str, int]
    after: dict[str, int]
    hellinger: float
    changed: float
    """Share of records whose code changed."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Utility(Told):
    """Everything measured; `summary` holds the measures without the statistics of the original file."""

    records: int
    columns: tuple[ColumnUtility, ...]
    classes: tuple[ClassUtility, ...]
    correlation: tuple[Floats, Floats]
    log_correlation: tuple[Floats, Floats]
    regressions: tuple[Coefficients, ...]
    propensity: Propensity

    @property
    def il1s(self) -> float:
        """IL1s over all columns."""
        return float(np.mean([c.il1s for c in self.columns])) if self.columns else 0.0

    @property
    def correlation_change(self) -> float:
        """Largest change of a correlation."""
        return _largest_change(*self.correlation)

    @property
    def log_correlation_change(self) -> float:
        """Largest change of a correlation of the logarithms."""
        return _largest_change(*self.log_correlation)

    def summary(self) -> dict[str, Any]:
        """The measures, rounded: fit to be printed or logged."""
        distances = [c.hellinger for c in self.columns] + [c.hellinger for c in self.classes]
        return {
            "records": self.records,
            "largest change of a mean": _rounded(max((abs(c.mean_change) for c in self.columns), default=0.0)),
            "largest change of a variance": _rounded(max((abs(c.variance_change) for c in self.columns), default=0.0)),
            "largest change of a correlation": _rounded(self.correlation_change),
            "largest change of a correlation of logs": _rounded(self.log_correlation_change),
            "IL1s": _rounded(self.il1s),
            "largest Hellinger distance": _rounded(max(distances, default=0.0)),
            "pMSE": _rounded(self.propensity.pmse),
            "pMSE over chance": _rounded(self.propensity.ratio),
        }

    def __repr__(self) -> str:
        return f"Utility({self.records} records)"

    def __str__(self) -> str:
        return "\n".join(["Utility", *(f"  {name}: {value}" for name, value in self.summary().items())])


def measure_utility(
    original: object,
    protected: object,
    columns: Sequence[str],
    *,
    classes: Sequence[str] = (),
    regressions: Sequence[Regression] = (),
) -> Utility:
    """Compare two files with the same records in the same order.

    ``columns`` are numbers: means, variances, correlations, IL1s, Hellinger distance over classes of equal frequency;
    ``classes`` are codes: frequencies and Hellinger distance. ``regressions`` are estimated twice. The propensity
    score uses all of them.

    >>> x = {"turnover": [10.0, 20, 30, 40, 50, 60], "wages": [1.0, 3, 2, 5, 4, 6]}
    >>> y = {"turnover": [20.0, 20, 20, 50, 50, 50], "wages": [2.0, 2, 2, 5, 5, 5]}
    >>> measure_utility(x, y, ["turnover", "wages"]).columns[0].variance_change.__round__(3)
    -0.229
    """
    used = list(dict.fromkeys([*columns, *(n for r in regressions for n in (r.response, *r.on))]))
    before, after = read_records(original, used), read_records(protected, used)
    if not (used or classes):
        raise BadOption("nothing to compare", hint="name columns or classes.")
    before.require(classes)
    after.require(classes)
    if before.rows != after.rows:
        raise BadOption(
            f"the original has {before.rows} records, the protected file {after.rows}",
            hint="compare the same units in the same order; leave units that are not released out of the original.",
        )
    return Utility(
        records=before.rows,
        columns=tuple(_column(name, before[name], after[name]) for name in columns),
        classes=tuple(_class(name, before, after) for name in classes),
        correlation=(_correlation(before, columns), _correlation(after, columns)),
        log_correlation=(_correlation(before, columns, logs=True), _correlation(after, columns, logs=True)),
        regressions=tuple(compare_regression(r, before, after) for r in regressions),
        propensity=propensity(before, after, columns, classes),
    )


def _column(name: str, x: Floats, y: Floats) -> ColumnUtility:
    a, b = x[~np.isnan(x)], y[~np.isnan(y)]
    both = ~np.isnan(x) & ~np.isnan(y)
    sd = float(a.std()) if a.size else 0.0
    il1s = float(np.abs(x[both] - y[both]).mean() / (np.sqrt(2) * sd)) if sd > 0 and both.any() else 0.0
    (mean, variance), (mean2, variance2) = ((float(v.mean()), float(v.var())) if v.size else (0.0, 0.0) for v in (a, b))
    return ColumnUtility(
        name=name, mean=(mean, mean2), variance=(variance, variance2), il1s=il1s,
        hellinger=hellinger_of_values(x, y), distribution=distribution(name, x, y),
    )  # fmt: skip


def _class(name: str, before: Records, after: Records) -> ClassUtility:
    old, new = coded(before[name]), coded(after[name])
    place = {c: i for i, c in enumerate(new.codes)}
    over = np.array([place.get(c, -2) for c in old.codes] + [-1])[old.index]
    one, two = old.counts(), new.counts()
    every = sorted(one | two)
    distance = hellinger([one.get(c, 0) for c in every], [two.get(c, 0) for c in every])
    changed = float((over != new.index).mean())
    return ClassUtility(name=name, before=one, after=two, hellinger=distance, changed=changed)


def _correlation(records: Records, columns: Sequence[str], logs: bool = False) -> Floats:
    if not columns:
        return np.empty((0, 0))
    matrix = np.column_stack([records[name] for name in columns])
    if logs:
        matrix = np.log(np.where(matrix > 0, matrix, np.nan))
    sd = np.array([np.nanstd(c) if (~np.isnan(c)).any() else 1.0 for c in matrix.T])
    return correlations(matrix / np.where(sd > 0, sd, 1.0))[0]


def _largest_change(before: Floats, after: Floats) -> float:
    change = np.abs(after - before)
    known = change[~np.isnan(change)]
    return float(known.max()) if known.size else 0.0


def _relative(before: float, after: float) -> float:
    return (after - before) / abs(before) if before else 0.0 if after == before else float("inf")


def _rounded(value: float) -> float:
    return float(f"{value:.4g}") if abs(value) > 1e-12 else 0.0  # nothing but rounding
