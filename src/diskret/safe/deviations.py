"""How well an anonymous file keeps its control tables: deviation by weight, maxima, means, quantiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints

QUANTILES = (0.5, 0.9, 0.99)


@dataclass(frozen=True, eq=False, kw_only=True)
class DeviationTable:
    """Number of cells by absolute deviation (rows) and weight class (columns).

    >>> table = DeviationTable(counts=np.array([[5, 1], [3, 2], [0, 1]]))
    >>> table.cells, table.maximum, table.maxima.tolist(), table.mean
    (12, 2, [1, 2], 0.5833333333333334)
    >>> table.within(1), table.quantile(0.9)
    (0.9166666666666666, 1)
    """

    counts: Ints

    @classmethod
    def of(cls, deviation: npt.NDArray[Any], weight: npt.NDArray[Any]) -> DeviationTable:
        """Count cells by deviation and weight class."""
        size = np.abs(deviation).astype(np.int64)
        if size.size == 0:
            return cls(counts=np.zeros((1, 1), dtype=np.int64))
        shape = int(size.max()) + 1, int(weight.max()) + 1
        return cls(counts=np.bincount(size * shape[1] + weight, minlength=shape[0] * shape[1]).reshape(shape))

    @property
    def cells(self) -> int:
        """Number of cells."""
        return int(self.counts.sum())

    @property
    def maximum(self) -> int:
        """Largest absolute deviation."""
        return int(self.maxima.max(initial=0))

    @property
    def maxima(self) -> Ints:
        """Largest absolute deviation of each weight class."""
        return np.array([int(np.flatnonzero(c).max(initial=0)) for c in self.counts.T], dtype=np.int64)

    @property
    def mean(self) -> float:
        """Mean absolute deviation."""
        rows = self.counts.sum(axis=1)
        return float((rows * np.arange(rows.size)).sum() / max(1, rows.sum()))

    def within(self, deviation: int) -> float:
        """Share of the cells with at most this deviation."""
        return float(self.counts[: deviation + 1].sum() / max(1, self.cells))

    def quantile(self, share: float) -> int:
        """The deviation that at least this share of the cells does not pass."""
        rows = np.cumsum(self.counts.sum(axis=1))
        return int(np.searchsorted(rows, share * rows[-1] - 1e-9))

    def statement(self, share: float) -> str:
        """In words: in so many percent of the cells the deviation is at most so much."""
        return f"in {share:.0%} of the cells the deviation is at most {self.quantile(share)}"

    def __add__(self, other: DeviationTable) -> DeviationTable:
        shape = np.maximum(self.counts.shape, other.counts.shape)
        total = np.zeros(tuple(shape), dtype=np.int64)
        for each in (self.counts, other.counts):
            total[: each.shape[0], : each.shape[1]] += each
        return DeviationTable(counts=total)


NO_CELLS = DeviationTable(counts=np.zeros((1, 1), dtype=np.int64))


@dataclass(frozen=True, eq=False, kw_only=True)
class Quality:
    """Deviation tables of an anonymous file, one per dimension of the control tables.

    Internal: with the file, numbers of cells by deviation can leave a single original. `Anonymisation.bounds` is what
    may be published.
    """

    by_dimension: Mapping[int, DeviationTable]

    @property
    def one(self) -> DeviationTable:
        """One-dimensional cells."""
        return self.by_dimension.get(1, NO_CELLS)

    @property
    def several(self) -> DeviationTable:
        """Cells of two and more dimensions."""
        return sum((table for dimension, table in self.by_dimension.items() if dimension > 1), start=NO_CELLS)

    @property
    def maxima(self) -> dict[int, int]:
        """Largest absolute deviation per dimension: the bound that holds for every control cell."""
        return {d: t.maximum for d, t in self.by_dimension.items()}

    @property
    def means(self) -> dict[int, float]:
        """Mean absolute deviation per dimension."""
        return {d: t.mean for d, t in self.by_dimension.items()}

    def summary(self) -> dict[str, Any]:
        """Plain data: per dimension cells, maximum, mean, quantiles and the table."""
        return {
            str(d): {
                "cells": t.cells,
                "maximum": t.maximum,
                "mean": round(t.mean, 4),
                "quantiles": {f"{q:.0%}": t.quantile(q) for q in QUANTILES},
                "maximum by weight": t.maxima.tolist(),
                "cells by deviation and weight": t.counts.tolist(),
            }
            for d, t in self.by_dimension.items()
        }

    def __str__(self) -> str:
        lines = []
        for title, table in (("one-dimensional cells", self.one), ("cells of two and more dimensions", self.several)):
            if table.cells == 0:
                continue
            lines.append(f"{title}: {table.cells:,}, largest deviation {table.maximum}, mean {table.mean:.2f}")
            head = ["deviation", *(f"g={g}" for g in range(table.counts.shape[1])), "cells"]
            body = [[str(i), *map(str, row), str(row.sum())] for i, row in enumerate(table.counts)]
            body.append(["largest", *map(str, table.maxima), str(table.maximum)])
            lines += [f"  {line}" for line in _aligned([head, *body])]
            lines += [f"  {table.statement(q)}" for q in QUANTILES]
        return "\n".join(lines)


def compare_runs(runs: Mapping[str, Quality]) -> str:
    """Maxima, means and quantiles of several runs side by side.

    >>> one, two = (DeviationTable(counts=np.array(n)) for n in ([[4], [2]], [[3], [2], [1]]))
    >>> print(compare_runs({"first": Quality(by_dimension={1: one, 2: two})}))
    run    dimension  cells  largest  mean  90% within
    first          1      6        1  0.33           1
                   2      6        2  0.67           2
    """
    head = ["run", "dimension", "cells", "largest", "mean", "90% within"]
    body = []
    for name, quality in runs.items():
        for i, (d, t) in enumerate(quality.by_dimension.items()):
            label = "" if i else name
            body.append([label, str(d), f"{t.cells:,}", str(t.maximum), f"{t.mean:.2f}", str(t.quantile(0.9))])
    names = max(map(len, ["run", *runs]))
    return "\n".join(_aligned([[row[0].ljust(names), *row[1:]] for row in [head, *body]]))


def _aligned(rows: list[list[str]]) -> list[str]:
    """Lines with columns that end below each other."""
    width = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(c.rjust(w) for c, w in zip(row, width, strict=True)) for row in rows]
