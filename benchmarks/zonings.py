"""Geographic differences in thousands of zones: ``python -m benchmarks.zonings``. CPU seconds, after warming up."""

from __future__ import annotations

import time
import warnings

import numpy as np
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


def main() -> None:
    """Print one row per size."""
    warnings.simplefilter("ignore", dk.ProtectionWarning)
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
