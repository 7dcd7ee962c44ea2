"""The true worst case before collection: how many cells can hold exactly one person, by integer programming.

Every cell gets a whole number of persons. The fixed margins are the expected numbers rounded up or down. A cell is
single (s), holds two or more (y, if z), or is empty: x = s + y, 2 z <= y <= most z, s + z <= 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption
from diskret.model.lp import Answer, Matrix, Programme, Way
from diskret.model.tolerances import WHOLE
from diskret.risk.shares import Population, all_shares

MOST_CELLS = 400


@dataclass(frozen=True, kw_only=True)
class WorstCase:
    """The largest and the smallest possible number of singly occupied cells.

    ``most`` is never too low: where the solver ran out of time, it is a bound that no filling exceeds.
    """

    most: int
    fewest: int
    proven: bool
    """Whether both numbers are reached by a filling; otherwise they are safe bounds."""

    def __str__(self) -> str:
        return f"{'' if self.proven else '<= '}{self.most}"


def worst_case(population: Population, n: int, margins: Sequence[tuple[str, ...]], seconds: float = 60.0) -> WorstCase:
    """Largest and smallest number of singly occupied cells of ``n`` persons with the given margins.

    >>> from diskret.risk.shares import read_shares
    >>> school = read_shares({"education": [0.6, 0.3, 0.1], "age": [0.6, 0.3, 0.1]})
    >>> worst_case(school, 30, [("education",), ("age",)]).most     # the ORWELL coefficient gives 6
    7
    """
    shares = _whole(population)
    if shares.size > MOST_CELLS:
        raise BadOption(
            f"the worst case of {shares.size:,} cells is too large for integer programming",
            hint=f"it is computed for at most {MOST_CELLS} cells; merge levels, or leave attributes out.",
        )
    groups, low, high = _rows(population, shares, n, margins)
    most, reached = _solve(shares.size, n, groups, low, high, seconds, largest=True)
    fewest, also = _solve(shares.size, n, groups, low, high, seconds, largest=False)
    return WorstCase(most=most, fewest=fewest, proven=reached and also)


def _whole(population: Population) -> npt.NDArray[np.object_]:
    """Shares of all cells that sum to exactly one: three times 0.33 leaves one person of a hundred nowhere."""
    shares = all_shares(population)
    whole: npt.NDArray[np.object_] = shares / sum(shares.reshape(-1), Fraction(0))
    return whole


def _rows(
    population: Population, shares: npt.NDArray[np.object_], n: int, margins: Sequence[tuple[str, ...]]
) -> tuple[list[Ints], list[int], list[int]]:
    """For every fixed number its cells, and the expected number rounded down and up; first the total."""
    names = population.names
    place = np.arange(shares.size).reshape(shares.shape)
    groups: list[Ints] = [place.reshape(-1)]
    low, high = [n], [n]
    for margin in margins:
        kept = [names.index(name) for name in margin]
        rest = [i for i in range(len(names)) if i not in kept]
        lines = np.transpose(place, kept + rest).reshape(-1, int(np.prod([shares.shape[i] for i in rest], initial=1)))
        for line in lines:
            expected: Fraction = n * sum(shares.reshape(-1)[line], Fraction(0))
            groups.append(line)
            low.append(floor(expected))
            high.append(ceil(expected))
    return groups, low, high


def _solve(
    cells: int, n: int, groups: list[Ints], low: list[int], high: list[int], seconds: float, largest: bool
) -> tuple[int, bool]:
    """The largest (or smallest) number of singly occupied cells, and whether it is proved to be reached."""
    most = np.full(cells, n)
    for line, top in zip(groups, high, strict=True):
        most[line] = np.minimum(most[line], top)
    # columns: s, z, then y of every cell
    upper = np.concatenate([np.minimum(most, 1), most >= 2, most]).astype(np.float64)
    sign = -1.0 if largest else 1.0
    programme = Programme(
        *_conditions(most, groups, low, high),
        lower=np.zeros(3 * cells),
        upper=upper,
        cost=np.concatenate([np.full(cells, sign), np.zeros(2 * cells)]),
        whole=True,
        way=Way(seconds=seconds, seed=1),
    )
    answer = programme.solve()
    if answer is Answer.INFEASIBLE:
        raise BadOption(
            f"no distribution of {n} persons has these margins",
            hint="fix fewer combinations, or another number of persons.",
        )
    if answer is Answer.OPTIMAL:
        return round(sign * programme.value), True
    bound = sign * programme.bound
    return (min(n, floor(bound + WHOLE)), False) if largest else (max(0, ceil(bound - WHOLE)), False)


def _conditions(
    most: Ints, groups: list[Ints], low: list[int], high: list[int]
) -> tuple[Matrix, tuple[Floats, Floats]]:
    """One row per fixed number, then three per cell that tie s, z and y together."""
    cells = most.size
    rows: list[tuple[Ints, Floats, float, float]] = [
        (np.append(line, line + 2 * cells), np.ones(2 * line.size), a, b)
        for line, a, b in zip(groups, low, high, strict=True)
    ]
    for s, top in enumerate(most.tolist()):
        z, y = cells + s, 2 * cells + s
        rows.append((np.array([y, z]), np.array([1.0, -2.0]), 0.0, np.inf))
        rows.append((np.array([y, z]), np.array([1.0, -float(top)]), -np.inf, 0.0))
        rows.append((np.array([s, z]), np.ones(2), 0.0, 1.0))
    columns, values, least, greatest = zip(*rows, strict=True)
    start = np.cumsum([0, *(each.size for each in columns)])
    matrix = Matrix(start, np.concatenate(columns), np.concatenate(values), by_rows=True)
    return matrix, (np.array(least, dtype=np.float64), np.array(greatest, dtype=np.float64))
