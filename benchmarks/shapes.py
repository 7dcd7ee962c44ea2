"""Tables of the shapes printed in the Quaderverfahren, and larger ones, filled with made-up firms; seeded."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

import diskret as dk
from diskret.model import rollup
from diskret.model.contributors import Contributors


def tree(parents_per_level: list[int], codes: int) -> dk.Hierarchy:
    """A ragged hierarchy: so many sums on each level from the top, so many codes in all; leaves below the last sums."""
    up: dict[str, str] = {}
    above = ["0"]
    number = 1
    for count in parents_per_level[1:]:
        level = [f"{number + i}" for i in range(count)]
        for i, code in enumerate(level):
            up[code] = above[i * len(above) // count]
        number += count
        above = level
    leaves = codes - number
    weights = np.random.default_rng(len(above)).gamma(0.8, size=len(above)) + 0.15
    shares = np.maximum(1, np.round(weights / weights.sum() * leaves)).astype(int)
    while shares.sum() != leaves:
        shares[int(np.argmax(shares))] += 1 if shares.sum() < leaves else -1
    for parent, share in zip(above, shares, strict=True):
        for _ in range(int(share)):
            up[f"{number}"] = parent
            number += 1
    return dk.Hierarchy.from_parents(up)


@dataclass(frozen=True)
class Shape:
    """A table to be made: hierarchies and the number of firms.

    Firms come ``alone`` or in pairs, so that there may be more cells with two of them than with one.
    """

    hierarchies: tuple[dk.Hierarchy, ...]
    records: int
    skew: float = 1.5
    alone: float = 1.0

    def table(self, seed: int = 1) -> dk.Table:
        """Values, counts and primary cells by the rule of three."""
        rng = np.random.default_rng(seed)
        shape = tuple(len(h) for h in self.hierarchies)
        cell: npt.NDArray[np.int64] = np.zeros(self.records, dtype=np.int64)
        for hierarchy, length in zip(self.hierarchies, shape, strict=True):
            leaves = np.flatnonzero(hierarchy.is_leaf)
            weight = rng.gamma(1 / self.skew, size=leaves.size) + 1e-3
            cell = cell * length + rng.choice(leaves, size=self.records, p=weight / weight.sum())
        if self.alone < 1.0:
            cell = np.repeat(cell, 1 + (rng.random(self.records) >= self.alone))
        value = np.ceil(np.exp(rng.normal(4.0, 1.3, size=cell.size))).astype(np.int64)
        count, total = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        np.add.at(count.reshape(-1), cell, 1)
        np.add.at(total.reshape(-1), cell, value)
        rollup.add_up(count, self.hierarchies)
        rollup.add_up(total, self.hierarchies)
        status = np.where((count > 0) & (count < 3), dk.Status.PRIMARY, dk.Status.OPEN).astype(np.uint8)
        by = {f"d{i}": h for i, h in enumerate(self.hierarchies)}
        return dk.Table(by, "turnover", total.astype(np.float64), status, Contributors(count), positive=True)


def region() -> dk.Hierarchy:
    """North Rhine-Westphalia: 373 municipalities, 54 counties and cities, 5 districts: 433 codes, 37 of them sums."""
    up = {f"D{i}": "NRW" for i in range(5)}
    up |= {f"C{i:02d}": f"D{i % 5}" for i in range(54)}
    up |= {f"M{i:03d}": f"C{i % 31:02d}" for i in range(373)}
    return dk.Hierarchy.from_parents(up)


def counties() -> dk.Hierarchy:
    """The same without municipalities: 60 codes."""
    up = {f"D{i}": "NRW" for i in range(5)}
    return dk.Hierarchy.from_parents(up | {f"C{i:02d}": f"D{i % 5}" for i in range(54)})


def turnover_tax() -> Shape:
    """A.1, turnover tax 1994: 433 x 1658 cells on 4 x 7 levels; printed are 260,656 occupied and 159,051 primary."""
    return Shape((region(), tree([1, 12, 60, 150, 250, 351], 1658)), 98_000, 1.0)


def tourism(third: int) -> Shape:
    """A.2, tourism 1995: 433 x 9 x third; printed are 6,218 occupied, 3,465 primary (6) and 7,929, 4,826 (8)."""
    records, skew = (4_671, 1.3) if third == 6 else (4_138, 1.0)
    return Shape((region(), flat(8), flat(third - 1)), records, skew)


def extract(number: int) -> Shape:
    """A.4.2, extracts 1 to 4: occupied cells, primaries and singles are fitted to the printed numbers.

    Printed are 2,552 / 5,529 / 15,482 / 75,450 occupied, 298 / 844 / 4,566 / 36,590 primary (the source counts singles
    apart and adds them up itself: 4,566 in the third), 81 / 227 / 1,417 / 15,741 of them single contributors.
    """
    sums, codes, places, skew, alone = {
        1: ([1, 14], 45, 6_278, 0.178945, 0.314714),
        2: ([1, 14, 30], 103, 12_286, 0.445908, 0.323169),
        3: ([1, 14, 30, 58], 323, 16_447, 0.144281, 0.313702),
        4: ([1, 14, 30, 58], 323, 42_834, 0.104687, 0.488281),
    }[number]
    return Shape((region() if number == 4 else counties(), tree(sums, codes)), places, skew, alone)


def flat(n: int) -> dk.Hierarchy:
    """One total over n codes."""
    return dk.Hierarchy.flat([f"{i}" for i in range(n)])


def ten_million(dimensions: int) -> Shape:
    """Ten million cells in 3 or 5 dimensions."""
    if dimensions == 3:
        return Shape((tree([1, 10, 60], 560), tree([1, 8, 40], 360), tree([1, 8], 50)), 1_500_000, 1.5)
    return Shape((tree([1, 8], 60), tree([1, 6], 40), tree([1, 5], 30), flat(12), flat(10)), 1_500_000, 1.5)


def cube(cells: int, deep: bool = True) -> Shape:
    """A 3-dimensional table of about so many cells, a seventh as many firms.

    ``deep``: as many levels as it takes to have about ten parts to every sum; otherwise three, and the top sums have
    more parts the larger the table is.
    """
    side = (cells / 8) ** 0.5

    def axis(codes: int) -> dk.Hierarchy:
        sums = [max(2, codes // 10)]
        while deep and sums[0] > 15:
            sums.insert(0, sums[0] // 10)
        return tree([1, *sums], codes)

    return Shape((axis(int(side * 1.25)), axis(int(side / 1.25)), flat(7)), cells // 7, 1.5)
