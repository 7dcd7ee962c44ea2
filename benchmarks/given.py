"""The tables shared with other programs, with the patterns those programs found."""

from __future__ import annotations

import csv
import gzip
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import diskret as dk
from diskret.model.contributors import Contributors

FOLDER = Path(__file__).parents[2] / "shared" / "bench"
MISSING = "not run: the tables of shared/bench are not here"
P = 0.1


@dataclass(frozen=True, eq=False)
class Given:
    """A table, and where the rows of its file lie in it."""

    table: dk.Table
    at: tuple[npt.NDArray[np.int64], ...]
    rows: list[dict[str, str]]

    def pattern(self, column: str) -> npt.NDArray[np.bool_]:
        """Cells another program made secondary (x, or M as tau-ARGUS writes it)."""
        return self.secondary(i for i, row in enumerate(self.rows) if row[column] in ("x", "M"))

    def secondary(self, numbers: Any) -> npt.NDArray[np.bool_]:
        """Cells given by the numbers of their rows."""
        chosen = np.array(list(numbers), dtype=np.int64)
        found = np.zeros(self.table.shape, dtype=np.bool_)
        found[tuple(a[chosen] for a in self.at)] = True
        return found


def here() -> bool:
    """Whether the shared folder is there."""
    return FOLDER.exists()


@cache
def given(name: str) -> Given:
    """One of small, mid, h3: sums follow their parts here, in the file they come first."""
    dims = json.loads((FOLDER / f"{name}.dims.json").read_text(encoding="utf-8"))
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    by, at = {}, []
    for dim in dims:
        codes = dim["codes"]
        up = {code: codes[parent] for code, parent in zip(codes, dim["parents"], strict=True) if parent >= 0}
        hierarchy = by[dim["name"]] = dk.Hierarchy.from_parents(up)
        place = np.array([hierarchy.index(code) for code in codes])
        at.append(place[[int(row["i" + dim["name"]]) for row in rows]])

    def column(name: str) -> npt.NDArray[np.float64]:
        filled = np.zeros(tuple(len(h) for h in by.values()))
        filled[tuple(at)] = [float(row[name]) for row in rows]
        return filled

    value, top1, top2 = column("value"), column("top1"), column("top2")
    primary = column("primary") > 0
    # p% rule: the second largest must not estimate the largest closer than p%
    level = np.where(primary, P * top1 - (value - top1 - top2), 0.0)
    status = np.where(primary, dk.Status.PRIMARY, dk.Status.OPEN).astype(np.uint8)
    people = Contributors(column("freq").astype(np.int64))
    return Given(dk.Table(by, "value", value, status, people, below=level, above=level, positive=True), tuple(at), rows)
