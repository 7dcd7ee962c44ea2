"""A reader who takes all published files and computes what he can: no code of the package, scipy's solver only.

The unknowns are the values of the finest cells (municipality, branch, size, quarter), which nobody publishes; every
published number is an equation of them, every published rate two inequalities. For every cell the rules call sensitive
he asks how small and how large it may be. He knows no more than the files say, and that no value is negative. A revised
value says of the old one that it lies as near as the largest revision that was seen.
"""

from __future__ import annotations

import csv
import json
from itertools import product
from pathlib import Path
from typing import Any

import highspy  # noqa: F401  (scipy's solver is the same library; named so that it is seen)
import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array, vstack

HAIR = 1e-6


def attack(folder: Path) -> dict[str, Any]:
    """What is found: sensitive cells that are computed exactly, or closer than the rules allow."""
    catalogue = json.loads((folder / "catalogue.json").read_text())
    years = sorted({table["period"][:4] for table in catalogue["tables"]})
    told = {"targets": 0, "exact": 0, "too close": 0, "programmes": 0}
    for year in years:
        for name, number in _Year(folder, catalogue, year).found().items():
            told[name] += number
    return told


class _Year:
    """One year, and the year before as far as rates lead there."""

    def __init__(self, folder: Path, catalogue: dict[str, Any], year: str) -> None:
        self.folder, self.catalogue, self.year = folder, catalogue, year
        self.last = str(int(year) - 1)
        finest = catalogue["finest"]
        self.axes = list(finest)
        self.place = {axis: {code: i for i, code in enumerate(codes)} for axis, codes in finest.items()}
        self.shape = tuple(len(codes) for codes in finest.values())
        self.size = int(np.prod(self.shape))
        self.periods = [f"{y}-Q{q}" for y in (self.last, year) for q in range(1, 5)]
        self.sets: dict[frozenset[int], list[float]] = {}
        self.rows: list[np.ndarray] = []
        self.value: list[float] = []
        self.ratios: list[tuple[np.ndarray, np.ndarray, float, float]] = []
        self.targets: dict[bytes, tuple[np.ndarray, float, float, float]] = {}
        self._read()

    def members(self, codes: dict[str, str], period: str, groups: dict[str, list[str]]) -> np.ndarray:
        """The finest cells behind a published one."""
        own = []
        for axis in self.axes:
            code = codes.get(axis)
            if code is None or code in ("DE", "all branches", "all sizes"):
                own.append(list(range(len(self.place[axis]))))
            else:
                own.append([self.place[axis][c] for c in self._finest(axis, code, groups)])
        cells = np.ravel_multi_index(np.array(list(product(*own))).T, self.shape)
        quarters = [i for i, each in enumerate(self.periods) if each == period or each[:4] == period]
        return np.sort(np.concatenate([cells + q * self.size for q in quarters]))

    def _finest(self, axis: str, code: str, groups: dict[str, list[str]]) -> list[str]:
        if code in self.place[axis]:
            return [code]
        return [f for part in groups[code] for f in self._finest(axis, part, groups)]

    def _read(self) -> None:
        every = {c: p for g in self.catalogue["groups"].values() for c, p in g.items()}
        states = {"s0": ["d0", "d1"], "s1": ["d2", "d3"], "s2": ["d4", "d5"]}
        revised: list[tuple[np.ndarray, float]] = []
        known: dict[bytes, float] = {}
        for table in self.catalogue["tables"]:
            if table["period"][:4] not in (self.year, self.last):
                continue
            if table["ratio"] and table["period"] != self.year:
                continue
            groups = every | states | table["groups"]
            lines = []
            if table["released"]:
                with (self.folder / table["file"]).open() as file:
                    lines = list(csv.DictReader(file))
            for line in lines:
                codes = {**table["fixed"], **{a: line[a] for a in table["axes"]}}
                own = self.members(codes, table["period"], groups)
                shown = line[table["response"]]
                if shown == "x":
                    continue
                if table["ratio"]:
                    under = self.members(codes, table["ratio"]["under"]["period"], groups)
                    times, plus = table["ratio"]["times"], table["ratio"]["plus"]
                    low, high = ((float(shown) + e - plus) / times for e in (-0.05, 0.05))
                    self.ratios.append((own, under, low, high))
                elif table["revised"]:
                    revised.append((own, float(shown)))
                elif own.tobytes() not in known:
                    known[own.tobytes()] = float(shown)
                    self.rows.append(own)
                    self.value.append(float(shown))
            secret = self.folder / table["file"].replace(".csv", ".secret.json")
            if secret.exists() and table["period"][:4] == self.year and not table["revised"]:
                for each in json.loads(secret.read_text()):
                    own = self.members({**table["fixed"], **each["codes"]}, table["period"], groups)
                    self.targets[own.tobytes()] = (own, each["value"], each["below"], each["above"])
        self._revisions(revised, known)

    def _revisions(self, revised: list[tuple[np.ndarray, float]], known: dict[bytes, float]) -> None:
        """A revised value: near the old one; how near is seen where both are published."""
        seen = [abs(v / known[o.tobytes()] - 1) for o, v in revised if known.get(o.tobytes(), 0) > 0]
        most = max(seen, default=0.0)
        self.near = [(o, v / (1 + most), v * (1 + most)) for o, v in revised if o.tobytes() not in known]

    def found(self) -> dict[str, int]:
        """How many targets are exposed."""
        size = self.size * len(self.periods)
        rows, value = _matrix(self.rows, size), np.array(self.value)
        upper, most = [], []
        for over, under, low, high in self.ratios:
            one, other = _row(over, size), _row(under, size)
            upper += [one - high * other, low * other - one]
            most += [0.0, 0.0]
        for own, low, high in self.near:
            upper += [_row(own, size), -_row(own, size)]
            most += [high, -low]
        above = vstack(upper).tocsr() if upper else None
        told = {"targets": len(self.targets), "exact": 0, "too close": 0, "programmes": 0}
        targets = list(self.targets.values())
        reach = np.zeros((len(targets), 2))
        for k, (own, _, below, up) in enumerate(targets):
            for side, sign, need in ((0, 1.0, below), (1, -1.0, up)):
                if reach[k, side] >= need - HAIR and reach[k, side] > HAIR:
                    continue
                cost = np.zeros(size)
                cost[own] = sign
                done = linprog(
                    cost, A_ub=above, b_ub=most or None, A_eq=rows, b_eq=value, bounds=(0, None), method="highs"
                )
                told["programmes"] += 1
                if done.status != 0:
                    if done.status == 3:
                        reach[k, side] = np.inf
                        continue
                    msg = f"{self.year}: {done.message}"
                    raise RuntimeError(msg)
                # a point of the reader shows how far other cells go, too
                for other, (theirs, value_there, _, _) in enumerate(targets):
                    at = float(done.x[theirs].sum())
                    reach[other, 0] = max(reach[other, 0], value_there - at)
                    reach[other, 1] = max(reach[other, 1], at - value_there)
        for k, (_, true, below, up) in enumerate(targets):
            scale = HAIR * max(1.0, abs(true))
            exact = reach[k].max() <= scale and true > 0
            close = reach[k, 0] < min(below, true) - scale or reach[k, 1] < up - scale
            told["exact"] += int(exact)
            told["too close"] += int(close and not exact)
        return told


def _matrix(rows: list[np.ndarray], size: int) -> csr_array:
    start = np.append(0, np.cumsum([row.size for row in rows]))
    return csr_array((np.ones(start[-1]), np.concatenate(rows), start), shape=(len(rows), size))


def _row(own: np.ndarray, size: int) -> csr_array:
    return csr_array((np.ones(own.size), own, [0, own.size]), shape=(1, size))
