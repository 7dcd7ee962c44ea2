"""Geographic differences in thousands of zones: ``python -m benchmarks.zonings``. CPU seconds, after warming up.

``python -m benchmarks.zonings --attack 300`` closes small random zonings and lets scipy's solver look for overlaps that
must have too few units: what it finds in those that are called closed, and how many are said to be left.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.optimize import linprog
from scipy.spatial import cKDTree

import diskret as dk
from diskret.zoning.closing import close_differences
from diskret.zoning.differences import find_differences
from diskret.zoning.zones import Zoning

SIZES = ((400, 80), (1000, 100), (3000, 150))
PERSONS, CENTRES = 400_000, 300


def city(districts: int, side: int, seed: int = 1) -> Zoning:
    """Persons around centres, in districts (the nearest of random points) and in a square grid."""
    rng = np.random.default_rng(seed)
    centres = rng.random((CENTRES, 2))
    where = np.clip(centres[rng.integers(0, CENTRES, PERSONS)] + rng.normal(0, 0.03, (PERSONS, 2)), 0, 0.9999)
    district = cKDTree(rng.random((districts, 2))).query(where)[1]
    cell = (where[:, 0] * side).astype(int) * side + (where[:, 1] * side).astype(int)
    pair, units = np.unique(district * side * side + cell, return_counts=True)
    first, second = [f"D{p}" for p in pair // (side * side)], [f"G{p}" for p in pair % (side * side)]
    return Zoning.from_overlaps(("district", "grid"), first, second, units)


def attack(many: int) -> None:
    """Close random zonings of a few zones, and look for what is open in them."""
    asked = closed = opened = 0
    for seed in range(many):
        rng = np.random.default_rng(seed)
        counts = rng.integers(0, 7, rng.integers(3, 7, 2)) * (rng.random() < 0.9)
        counts *= rng.random(counts.shape) < rng.uniform(0.4, 0.9)
        a, b = np.nonzero(counts)
        if not a.size:
            continue
        zoning = Zoning.from_overlaps(("d", "g"), [str(i) for i in a], [str(i) for i in b], counts[a, b])
        if find_differences(zoning).safe:
            opened += _opened(zoning)
            continue
        asked += 1
        done = close_differences(zoning)
        closed += done.safe
        opened += done.safe and _opened(done.zoning)
    print(
        f"{asked} zonings with differences, {asked - closed} not closed, {opened} of those called safe opened by scipy"
    )


def _opened(zoning: Zoning) -> bool:
    """Whether an overlap must have fewer than three units, by all published totals."""
    zones = zip((zoning.first, zoning.second), zoning.withheld, strict=True)
    rows = [at == zone for at, hidden in zones for zone in np.flatnonzero(~hidden)]
    rows.append(np.ones(zoning.units.size, dtype=np.bool_))
    known = np.array(rows, dtype=np.float64)
    for overlap in np.flatnonzero(zoning.units < 3).tolist():
        cost = np.zeros(zoning.units.size)
        cost[overlap] = -1
        done = linprog(cost, A_eq=known, b_eq=known @ zoning.units, bounds=(0, None), method="highs")
        if done.status == 0 and -done.fun < 3 - 1e-6:
            return True
    return False


def main() -> None:
    """Print one row per size, or what the attack found."""
    said = argparse.ArgumentParser(description=__doc__)
    said.add_argument("--attack", type=int, default=0)
    many = said.parse_args().attack
    warnings.simplefilter("ignore", dk.ProtectionWarning)
    if many:
        attack(many)
        return
    close_differences(city(10, 5))
    for districts, side in SIZES:
        zoning = city(districts, side)
        start = time.process_time()
        found = find_differences(zoning)
        finding = time.process_time() - start
        start = time.process_time()
        done = close_differences(zoning)
        closing = time.process_time() - start
        left = "" if done.safe else ", NOT CLOSED"
        zones, withheld = " + ".join(f"{len(c):,}" for c in zoning.codes), sum(map(len, done.withheld))
        alone = sum(each.alone for each in found.list)
        print(
            f"| {zones} | {zoning.units.size:,} | {found.checked:,} | {len(found.list):,}, of which {alone:,} are "
            f"zones by themselves | {finding:.1f} s | {closing:.1f} s | {withheld:,}{left} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
