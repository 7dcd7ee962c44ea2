"""How many persons can be singled out, estimated before anything is collected (Rauterberg).

Four estimators of the number of singly occupied cells: degrees of freedom (FG), marginal distribution with truncation
(RT) and with rounding (RR), and the ORWELL coefficient (OR), the product of the effective numbers of levels. Beside
them what sampling theory expects, and the true worst case by integer programming, which OR does not always cover.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor, lcm, prod
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, listed
from diskret.model.limits import refuse_more
from diskret.model.notebook import Told
from diskret.risk.section import Section
from diskret.risk.shares import Block, Population, read_shares
from diskret.risk.worst_case import WorstCase, worst_case

Estimator = Literal["degrees_of_freedom", "truncated", "rounded", "orwell"]
ESTIMATORS: tuple[Estimator, ...] = ("degrees_of_freedom", "truncated", "rounded", "orwell")
MOST_PERSONS = 10**12
MOST_PRODUCTS = 4_000_000
MOST_EXPECTED = 50_000_000


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """Singly occupied cells (EZ) for one number of persons, by every estimator."""

    n: int
    singles: Mapping[str, int]
    expected: float | None
    """Singly occupied cells that a random sample of the population has on average; None if there are too many cells."""
    worst: WorstCase | None = None

    def percent(self, by: str = "orwell") -> int:
        """Percentage of re-identifiable persons (DA): capped at 100, half rounds up (formula 3)."""
        return percent_of(self._singles(by), self.n)

    def share(self, by: str = "orwell") -> float:
        """The same as a share, not rounded."""
        return min(1.0, self._singles(by) / self.n)

    def _singles(self, by: str) -> float:
        if by == "expected" and self.expected is not None:
            return self.expected
        if by == "worst_case" and self.worst is not None:
            return self.worst.most
        if by not in self.singles:
            raise BadOption(f"no estimate by {by!r}", hint=f"there is {listed(self.singles)}.")
        return self.singles[by]

    @property
    def by_guessing(self) -> float:
        """Probability 1/N of hitting a person of a known group by guessing, whatever is collected."""
        return 1 / self.n


@dataclass(frozen=True, kw_only=True, repr=False)
class Reidentifiable(Told):
    """Estimates for one or several numbers of persons."""

    levels: Mapping[str, int]
    effective_levels: Mapping[str, float]
    orwell: float
    """The ORWELL coefficient, not rounded."""
    estimates: tuple[Estimate, ...]

    @property
    def cells(self) -> int:
        """Number of cells of the table of all attributes (ZZ, formula 2)."""
        return prod(self.levels.values())

    def at(self, n: int) -> Estimate:
        """The estimate for one number of persons."""
        found = next((e for e in self.estimates if e.n == n), None)
        if found is None:
            raise BadOption(f"no estimate for {n} persons", hint=f"there are {listed(e.n for e in self.estimates)}.")
        return found

    def percent(self, by: str = "orwell") -> int:
        """Percentage of re-identifiable persons, for the first number of persons."""
        return self.estimates[0].percent(by)

    def __str__(self) -> str:
        section = self.section()
        rows = [section.columns, *section.rows]
        widths = [max(len(str(row[i])) for row in rows) for i in range(len(section.columns))]
        lines = [section.text]
        lines += ["  ".join(f"{x!s:>{w}}" for x, w in zip(row, widths, strict=True)) for row in rows]
        return "\n".join(lines)

    def section(self) -> Section:
        """What a report says about it: singly occupied cells and percentages over N."""
        worst = {e.n: e.worst.most - e.singles["orwell"] for e in self.estimates if e.worst is not None}
        named = [*ESTIMATORS, "expected", *["worst_case"] * bool(worst)]
        rows = tuple((e.n, *(_shown(e, by) for by in named)) for e in self.estimates)
        used = ", ".join(f"{n} {a:.2f}" for n, a in self.effective_levels.items())
        text = (
            f"{self.cells} cells; ORWELL coefficient {self.orwell:.2f} (effective levels: {used}). "
            "Singly occupied cells and, behind them, the percentage of re-identifiable persons."
        )
        below = [n for n, beyond in worst.items() if beyond > 0]
        if below:
            text += f" The ORWELL coefficient is below the true worst case for N = {listed(below)}."
        columns = ("N", *(by.replace("_", " ") for by in named))
        return Section(
            title="Re-identifiable persons before collection", text=text, columns=columns, rows=rows, chart=self.chart()
        )

    def chart(self) -> dict[str, Any]:
        """The curves over N as a Vega-Lite chart."""
        named = [*ESTIMATORS, "expected", "worst_case"]
        points = [
            {"n": e.n, "percent": 100 * e.share(by), "estimator": by.replace("_", " ")}
            for e in self.estimates
            for by in named
            if by in e.singles or (by == "expected" and e.expected is not None) or (by == "worst_case" and e.worst)
        ]
        return {
            "title": "Re-identifiable persons before collection",
            "width": 520,
            "height": 300,
            "data": {"values": points},
            "mark": {"type": "line", "point": True},
            "encoding": {
                "x": {"field": "n", "type": "quantitative", "title": "number of persons N"},
                "y": {"field": "percent", "type": "quantitative", "title": "re-identifiable, percent"},
                "color": {"field": "estimator", "type": "nominal", "title": "estimated by"},
            },
        }


def _shown(estimate: Estimate, by: str) -> str:
    if by == "expected":
        if estimate.expected is None:
            return ""
        return f"{estimate.expected:.1f} ({estimate.percent('expected')} %)"
    if by == "worst_case":
        return "" if estimate.worst is None else f"{estimate.worst} ({estimate.percent('worst_case')} %)"
    return f"{estimate.singles[by]} ({estimate.percent(by)} %)"


def estimate_reidentifiable(
    shares: Mapping[Any, Any],
    *,
    n: int | Sequence[int],
    worst: bool = False,
    fixed: Sequence[Sequence[str]] = (),
    seconds: float = 60.0,
) -> Reidentifiable:
    """Estimate how many of ``n`` persons will be alone in their cell, from known population shares only.

    ``shares`` gives for every attribute the shares of its levels, as a list or as a dict by level; a tuple of names
    gives a joint table of correlated attributes. ``n`` is one number of persons or several (for a curve). ``worst``
    computes the true largest number of singly occupied cells by integer programming as well (small cases only), with
    the margins of every attribute, of every joint table and of the combinations in ``fixed`` rounded up or down;
    ``seconds`` limits the time for each N.

    >>> found = estimate_reidentifiable({"age": [0.4, 0.3, 0.2, 0.1], "sex": [0.5, 0.5]}, n=130)
    >>> found.cells, round(found.orwell, 2), found.at(130).singles["orwell"], found.percent()
    (8, 7.19, 7, 5)
    """
    numbers = list(n) if isinstance(n, Sequence | np.ndarray) else [n]
    refuse_more("columns", len(numbers), "there are {} numbers of persons")
    whole = all(isinstance(x, int | np.integer) and not isinstance(x, bool) for x in numbers)
    if not numbers or not whole or not all(1 <= x <= MOST_PERSONS for x in numbers):
        raise BadOption("n is not a number of persons", hint="give whole numbers from 1, such as n=130.")
    population = read_shares(shares)
    known = fixed_margins(population, shares, fixed)
    products = cell_products(population)
    estimates = []
    for each in map(int, numbers):
        found = worst_case(population, each, known, seconds) if worst else None
        estimates.append(
            Estimate(
                n=each,
                singles=_singles(population, products, each),
                expected=expected_singles(products, each),
                worst=found,
            )
        )
    effective = {" x ".join(b.names): b.effective_levels for b in population.blocks}
    return Reidentifiable(
        levels=population.levels, effective_levels=effective, orwell=population.orwell, estimates=tuple(estimates)
    )


def fixed_margins(
    population: Population, shares: Mapping[Any, Any], fixed: Sequence[Sequence[str]]
) -> list[tuple[str, ...]]:
    """The margins a worst case has to keep: every attribute, every joint table, and what was asked for."""
    asked = [tuple(each) for each in fixed]
    unknown = [n for each in asked for n in each if n not in population.names]
    if unknown:
        raise BadOption(f"no attribute {listed(unknown)}", hint=f"there are {listed(population.names)}.")
    tables = [tuple(str(k) for k in key) for key in shares if not isinstance(key, str)]
    return list(dict.fromkeys([*((name,) for name in population.names), *tables, *asked]))


def percent_of(singles: float, n: int) -> int:
    """Percentage of persons that are alone, half up, at most 100 (formula 3).

    >>> percent_of(7, 40), percent_of(24, 10)
    (18, 100)
    """
    share = Fraction(singles) / n
    return min(100, floor(100 * share + Fraction(1, 2)))


def degrees_of_freedom(levels: Sequence[int]) -> int:
    """EZ(FG): the two largest numbers of levels enter reduced by one (formula 6); for one attribute, n - 1.

    >>> degrees_of_freedom([4, 3, 2]), degrees_of_freedom([5])
    (12, 4)
    """
    ordered = sorted(levels)
    return prod(ordered[:-2]) * prod(x - 1 for x in ordered[-2:])


# --- expectations of all cells, without writing all cells down -------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class CellProducts:
    """Numerators of the shares of all cells as products of two short lists, each with how often it occurs."""

    first: npt.NDArray[Any]
    first_count: Ints
    second: npt.NDArray[Any]
    second_count: Ints
    denominator: int

    def between(self, low: Fraction, high: Fraction) -> int:
        """How many cells have a share of at least ``low`` and below ``high``."""
        sums = np.concatenate([[0], np.cumsum(self.second_count)])
        bounds = []
        for edge in (low, high):
            wanted = edge.numerator * self.denominator
            # the smallest whole number b with a * b / denominator >= edge, exactly
            least = np.array([-(-wanted // (edge.denominator * int(a))) for a in self.first], dtype=object)
            bounds.append(sums[np.searchsorted(self.second.astype(object), least)])
        return int(((bounds[1] - bounds[0]) * self.first_count).sum())


def cell_products(population: Population) -> CellProducts:
    """Shares of all cells in two halves whose products they are: long lists of cells need not be written down."""
    halves: list[dict[int, int]] = [{1: 1}, {1: 1}]
    denominator = 1
    for block in sorted(population.blocks, key=lambda b: -b.shares.size):
        numerators, common = _numerators(block)
        denominator *= common
        shorter = min((0, 1), key=lambda i: len(halves[i]))
        halves[shorter] = _times(halves[shorter], numerators)
    (a, a_count), (b, b_count) = (_sorted(half) for half in halves)
    return CellProducts(first=a, first_count=a_count, second=b, second_count=b_count, denominator=denominator)


def _numerators(block: Block) -> tuple[dict[int, int], int]:
    shares = [p for p in block.shares.reshape(-1) if p > 0]
    common = lcm(*(p.denominator for p in shares))
    counted: dict[int, int] = {}
    for p in shares:
        whole = p.numerator * (common // p.denominator)
        counted[whole] = counted.get(whole, 0) + 1
    return counted, common


def _times(one: dict[int, int], other: dict[int, int]) -> dict[int, int]:
    if len(one) * len(other) > MOST_PRODUCTS:
        raise BadOption(
            "the attributes make too many different cells to go through",
            hint="leave attributes out, use fewer levels, or round the shares.",
        )
    made: dict[int, int] = {}
    for a, n in one.items():
        for b, m in other.items():
            made[a * b] = made.get(a * b, 0) + n * m
    return made


def _sorted(half: dict[int, int]) -> tuple[npt.NDArray[Any], Ints]:
    values = np.array(sorted(half), dtype=object)
    return values, np.array([half[v] for v in values], dtype=np.int64)


def _singles(population: Population, products: CellProducts, n: int) -> dict[str, int]:
    half = Fraction(1, 2)
    return {
        "degrees_of_freedom": degrees_of_freedom(list(population.levels.values())),
        "truncated": products.between(Fraction(1, n), Fraction(2, n)),
        "rounded": products.between(half / n, 3 * half / n),
        "orwell": floor(population.orwell + 0.5),
    }


def expected_singles(products: CellProducts, n: int) -> float | None:
    """The sum of N p (1 - p)^(N - 1) over all cells."""
    if products.first.size * products.second.size > MOST_EXPECTED:
        return None
    a = np.array([float(Fraction(int(x), products.denominator)) for x in products.first])
    b = products.second.astype(np.float64)
    total = 0.0
    for p, count in zip(a, products.first_count, strict=True):
        share = np.minimum(p * b, 1.0)
        total += count * float((products.second_count * n * share * (1 - share) ** (n - 1)).sum())
    return total
