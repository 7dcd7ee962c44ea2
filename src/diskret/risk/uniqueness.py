"""Population uniqueness: how many units are alone in the population, estimated from a sample of it.

Only the sizes of the classes in the sample, the sampling fraction and, for the log-linear models, the margins enter.
Each model says how classes of the population came about; where they disagree, the estimate deserves care.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf, lgamma, log, prod

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.risk.classes import Classes, Column

MOST_CELLS = 20_000_000
GOLDEN = 0.6180339887498949


@dataclass(frozen=True, kw_only=True)
class Uniques:
    """Units alone in the population by one model, and how many of them the sample has."""

    population: float
    """Expected number of population uniques."""
    sample: float
    """Expected number of records that are alone in the sample and in the population (tau 1)."""
    matches: float | None = None
    """Expected number of correct matches of sample uniques (tau 2), where the model gives it."""
    parameters: Mapping[str, float] | None = None


@dataclass(frozen=True, eq=False, kw_only=True)
class Frequencies:
    """A sample in a nutshell: how many classes have 1, 2, ... records (positions with zero left out)."""

    sizes: Ints
    counts: Ints
    population: float
    """Units in the population."""

    @property
    def n(self) -> int:
        """Records of the sample."""
        return int((self.sizes * self.counts).sum())

    @property
    def classes(self) -> int:
        """Classes of the sample."""
        return int(self.counts.sum())

    @property
    def alone(self) -> int:
        """Classes of one record."""
        return int(self.counts[self.sizes == 1].sum())

    @property
    def fraction(self) -> float:
        """Sampling fraction."""
        return min(1.0, self.n / self.population)


def frequencies(classes: Classes, population: float) -> Frequencies:
    """Frequencies of the class sizes."""
    sizes, counts = np.unique(classes.sizes, return_counts=True)
    return Frequencies(sizes=sizes.astype(np.int64), counts=counts.astype(np.int64), population=float(population))


def ewens(sample: Frequencies) -> Uniques:
    """Ewens: theta solves sum theta / (theta + i) = classes; N theta / (N + theta - 1) uniques are expected."""
    n, u = sample.n, sample.classes
    if u == n:
        return _all_alone(sample)
    steps = np.arange(n, dtype=np.float64)
    theta: float = _root(lambda t: float((t / (t + steps)).sum()) - u, 1e-9, 1e12)
    size = sample.population
    found = size * theta / (size + theta - 1)
    return _expected(sample, found, theta=theta)


def pitman(sample: Frequencies) -> Uniques:
    """Pitman: theta and alpha by maximum likelihood (Hoshino); alpha = 0 is Ewens.

    E = N G(theta + alpha + N - 1) G(theta + 1) / (G(theta + N) G(theta + alpha)), G the gamma function.
    """
    n, u = sample.n, sample.classes
    if u == n:
        return _all_alone(sample)
    if u == 1:
        return Uniques(population=0.0, sample=0.0, parameters={"theta": 0.0, "alpha": 0.0})

    def likelihood(theta: float, alpha: float) -> float:
        new = (u - 1) * log(alpha) + lgamma(theta / alpha + u) - lgamma(theta / alpha + 1)
        within: float = sum(
            c * (lgamma(s - alpha) - lgamma(1 - alpha))
            for s, c in zip(sample.sizes.tolist(), sample.counts.tolist(), strict=True)
        )
        return new - (lgamma(theta + n) - lgamma(theta + 1)) + within

    def best_theta(alpha: float) -> float:
        return exp(_highest(lambda x: likelihood(exp(x), alpha), log(1e-6), log(1e9)))

    alpha = _highest(lambda a: likelihood(best_theta(a), a), 1e-6, 1 - 1e-6)
    theta = best_theta(alpha)
    size = sample.population
    found = size * exp(
        lgamma(theta + alpha + size - 1) - lgamma(theta + size) + lgamma(theta + 1) - lgamma(theta + alpha)
    )
    return _expected(sample, found, theta=theta, alpha=alpha)


def poisson_gamma(sample: Frequencies, cells: int) -> Uniques:
    """Poisson-gamma (Bethlehem, Keller, Pannekoek): the sizes of ``cells`` possible classes are negative binomial.

    Shares of the population are gamma with mean 1 / cells; beta from the variance of the sizes, empty cells included.
    E = N (1 + N beta)^-(1 + alpha) with alpha beta = 1 / cells.
    """
    n = sample.n
    mean = n / cells
    variance = float((sample.counts * (sample.sizes - mean) ** 2).sum() + (cells - sample.classes) * mean**2) / cells
    beta = cells * (variance - mean) / n**2
    size = sample.population
    if beta <= 0:  # no more spread than pure chance: equal shares
        return _expected(sample, size * exp(-size / cells), alpha=inf, beta=0.0)
    alpha = 1 / (cells * beta)
    return _expected(sample, size * exp(-(1 + alpha) * log(1 + size * beta)), alpha=alpha, beta=beta)


def zayatz(sample: Frequencies) -> Uniques:
    """Zayatz: the class sizes of the population are distributed as those of the sample; Bayes gives the rest."""
    size, n = sample.population, sample.n
    likely = [
        log(c) + log(s) + _log_choose(size - s, n - 1) - _log_choose(size, n) if size - s >= n - 1 else -inf
        for s, c in zip(sample.sizes.tolist(), sample.counts.tolist(), strict=True)
    ]
    if not sample.alone or sample.sizes[0] != 1:
        return Uniques(population=0.0, sample=0.0)
    top = max(likely)
    chance = exp(likely[0] - top) / sum(exp(x - top) for x in likely)
    found = sample.alone * chance
    return Uniques(population=found / sample.fraction, sample=found)


def log_linear(columns: Sequence[Column], classes: Classes, fraction: float, *, pairs: bool = False) -> Uniques:
    """Skinner and Shlomo: sizes are Poisson, their means log-linear in the keys; with ``pairs`` all two-way tables fit.

    For a sample unique with fitted mean m and u = m (1 - fraction) / fraction: tau 1 = sum exp(-u), the chance to be
    alone in the population, and tau 2 = sum (1 - exp(-u)) / u, the chance of a correct match.
    """
    alone = np.flatnonzero(classes.sizes[classes.ids] == 1)
    mean = _fitted_pairs(columns, alone) if pairs else _fitted_margins(columns, alone)
    rest = mean * (1 - fraction) / fraction
    tau1 = float(np.exp(-rest).sum())
    tau2 = float(np.divide(-np.expm1(-rest), rest, out=np.ones(rest.size), where=rest > 0).sum())
    return Uniques(population=tau1 / fraction, sample=tau1, matches=tau2)


def cells_of(columns: Sequence[Column]) -> int:
    """How many combinations of the codes that occur are possible."""
    return prod(len(np.unique(c.codes)) for c in columns)


def _fitted_margins(columns: Sequence[Column], at: Ints) -> Floats:
    n = columns[0].codes.size
    mean = np.full(at.size, float(n))
    for column in columns:
        counts = np.bincount(column.codes + 1)
        mean *= counts[column.codes[at] + 1] / n
    return mean


def _fitted_pairs(columns: Sequence[Column], at: Ints) -> Floats:
    """Iterative proportional fitting of all two-way margins over the dense table."""
    codes = [np.unique(c.codes, return_inverse=True)[1] for c in columns]
    shape = tuple(int(c.max()) + 1 for c in codes)
    observed = np.bincount(np.ravel_multi_index(codes, shape), minlength=prod(shape)).reshape(shape)
    fitted = np.ones(shape)
    margins = [(rest, observed.sum(axis=rest, keepdims=True).astype(np.float64)) for rest in _all_but_two(len(shape))]
    for _ in range(50):
        worst = 0.0
        for rest, wanted in margins:
            now = fitted.sum(axis=rest, keepdims=True)
            worst = max(worst, float(np.abs(now - wanted).max()))
            fitted *= np.divide(wanted, now, out=np.zeros(now.shape), where=now > 0)
        if worst < 1e-6 * observed.sum():
            break
    found: Floats = fitted[tuple(c[at] for c in codes)]
    return found


def _all_but_two(number: int) -> list[tuple[int, ...]]:
    """The axes a table is summed over to get each of its two-way margins."""
    axes = range(number)
    return [tuple(k for k in axes if k not in (i, j)) for i in axes for j in range(i)]


def _expected(sample: Frequencies, population: float, **parameters: float) -> Uniques:
    """So many uniques in the population; the sample has its share of them, and no more than are alone in it."""
    return Uniques(population=population, sample=min(sample.alone, population * sample.fraction), parameters=parameters)


def _all_alone(sample: Frequencies) -> Uniques:
    """Every record is alone: as far as this sample can tell, so is everybody."""
    return Uniques(population=sample.population, sample=float(sample.alone))


def _log_choose(n: float, k: float) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _root(rising: Callable[[float], float], low: float, high: float) -> float:
    """Where a rising function crosses zero, by halving the logarithm."""
    for _ in range(200):
        middle = (low * high) ** 0.5
        if rising(middle) < 0:
            low = middle
        else:
            high = middle
        if high / low < 1 + 1e-12:
            break
    return low


def _highest(of: Callable[[float], float], low: float, high: float) -> float:
    """Where a function with one peak is highest, by golden section."""
    a, b = high - GOLDEN * (high - low), low + GOLDEN * (high - low)
    at_a, at_b = of(a), of(b)
    for _ in range(80):
        if at_a < at_b:
            low, a, at_a = a, b, at_b
            b = low + GOLDEN * (high - low)
            at_b = of(b)
        else:
            high, b, at_b = b, a, at_a
            a = high - GOLDEN * (high - low)
            at_a = of(a)
    return (low + high) / 2
