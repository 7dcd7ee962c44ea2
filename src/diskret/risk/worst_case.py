"""The true worst case before collection: how many cells can hold exactly one person, by integer programming.

Every cell gets a whole number of persons. The fixed margins are the expected numbers rounded up or down. A cell is
single (s), holds two or more (y, if z), or is empty: x = s + y, 2 z <= y <= most z, s + z <= 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor

import highspy
import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption
from diskret.risk.shares import Population, all_shares

MOST_CELLS = 400


@dataclass(frozen=True)
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
    most, reached = _solve(shares, n, groups, low, high, seconds, largest=True)
    fewest, also = _solve(shares, n, groups, low, high, seconds, largest=False)
    return WorstCase(most, fewest, reached and also)


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
    shares: npt.NDArray[np.object_], n: int, groups: list[Ints], low: list[int], high: list[int], seconds: float,
    largest: bool,
) -> tuple[int, bool]:  # fmt: skip
    cells = shares.size
    most = np.full(cells, n)
    for line, top in zip(groups, high, strict=True):
        most[line] = np.minimum(most[line], top)
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.setOptionValue("random_seed", 1)
    model.setOptionValue("time_limit", float(seconds))
    # columns: s, z, then y of every cell
    upper = np.concatenate([np.minimum(most, 1), most >= 2, most]).astype(np.float64)
    cost = np.concatenate([np.ones(cells), np.zeros(2 * cells)])
    model.addVars(3 * cells, np.zeros(3 * cells), upper)
    model.changeColsCost(3 * cells, np.arange(3 * cells, dtype=np.int32), cost)
    kinds = np.full(3 * cells, int(highspy.HighsVarType.kInteger), dtype=np.uint8)
    model.changeColsIntegrality(3 * cells, np.arange(3 * cells, dtype=np.int32), kinds)
    model.changeObjectiveSense(highspy.ObjSense.kMaximize if largest else highspy.ObjSense.kMinimize)
    entries: list[tuple[list[int], list[float], float, float]] = []
    for line, a, b in zip(groups, low, high, strict=True):
        columns = [*map(int, line), *(int(c) + 2 * cells for c in line)]
        entries.append((columns, [1.0] * len(columns), a, b))
    for c in range(cells):
        s, z, y = c, cells + c, 2 * cells + c
        entries.append(([y, z], [1.0, -2.0], 0.0, highspy.kHighsInf))
        entries.append(([y, z], [1.0, -float(most[c])], -highspy.kHighsInf, 0.0))
        entries.append(([s, z], [1.0, 1.0], 0.0, 1.0))
    starts = np.cumsum([0, *(len(e[0]) for e in entries)])
    model.addRows(
        len(entries), np.array([e[2] for e in entries], dtype=np.float64),
        np.array([e[3] for e in entries], dtype=np.float64), int(starts[-1]), starts[:-1].astype(np.int32),
        np.array([i for e in entries for i in e[0]], dtype=np.int32),
        np.array([v for e in entries for v in e[1]], dtype=np.float64),
    )  # fmt: skip
    model.run()
    status, info = model.getModelStatus(), model.getInfo()
    if status == highspy.HighsModelStatus.kInfeasible:
        raise BadOption(
            f"no filling of {n} persons has these margins",
            hint="fix fewer combinations, or another number of persons.",
        )
    if status == highspy.HighsModelStatus.kOptimal:
        return round(info.objective_function_value), True
    bound = info.mip_dual_bound
    return (min(n, floor(bound + 1e-6)), False) if largest else (max(0, ceil(bound - 1e-6)), False)
