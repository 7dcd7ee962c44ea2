"""What an anonymous file gives away, found by an attacker of its own: `python -m benchmarks.given_away --files 30`.

Nothing of what it checks is used but `anonymise`, the attack it is compared with, and what both tell the public. On
files so small that all originals can be written down it counts

- small counts (1 to k - 1) for which fewer than k values are possible: from the file with the public bounds, with the
  exact largest deviations, with numbers of cells by deviation and of uniques (which are internal), and whether the
  attack of the package says the same;
- the same for somebody who knows the method, and that the file is drawn with equal chance from all files within the
  limits: which originals could have given this file, and how likely the true value of a count is for him then;
- the same for somebody who also knows the seed and runs the program on every possible original.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

import diskret as dk

Ints = npt.NDArray[np.int64]
K = 3


@dataclass(kw_only=True)
class World:
    """A tiny file with everything that can be known about it."""

    data: dict[str, list[str]]
    anon: Any
    codes: list[tuple[str, str]]
    """Combinations an attacker takes into account."""
    shown: Ints
    truth: Ints | None
    """The true original over these; None if it held a code that nobody sees any more."""
    matrix: Ints
    dimension: Ints
    objects: int

    def originals(self, bounds: dict[int, int]) -> list[Ints]:
        """All files that deviate by no more, in which every combination of the anonymous file occurs."""
        most = np.array([bounds[d] for d in self.dimension])
        choices = [range(max(int(n > 0), n - bounds[2]), n + bounds[2] + 1) for n in self.shown.tolist()]
        found = (np.array(x) for x in product(*choices) if sum(x) == self.objects)
        return [x for x in found if (np.abs(self.matrix @ (x - self.shown)) <= most).all()]

    def small(self) -> Iterator[Ints]:
        """The rows of every small count that can be named: combinations, and cells of tables."""
        assert self.truth is not None
        for row in [*np.eye(self.shown.size, dtype=np.int64), *self.matrix]:
            if 0 < row @ self.truth < K:
                yield row


def world_of(random: np.random.Generator, seed: int) -> World:
    """A tiny file of persons with two attributes."""
    n = int(random.integers(7, 14))
    data = {
        "a": random.choice(list("xyz"), n, p=[0.5, 0.3, 0.2]).tolist(),
        "b": random.choice(list("pq"), n, p=[0.6, 0.4]).tolist(),
    }
    anon = dk.anonymise(data, ["a", "b"], seed=seed)
    pairs = list(zip(*(list(column) for column in anon.frame.values()), strict=True))
    codes = list(product(*(sorted({pair[i] for pair in pairs}) for i in (0, 1))))
    held = list(zip(data["a"], data["b"], strict=True))
    truth = None if {*held} - {*codes} else np.array([held.count(code) for code in codes])
    matrix, dimension = cells_of(codes)
    return World(
        data=data, anon=anon, codes=codes, shown=np.array([pairs.count(code) for code in codes]), truth=truth,
        matrix=matrix, dimension=dimension, objects=n,
    )  # fmt: skip


def cells_of(codes: Sequence[tuple[str, str]]) -> tuple[Ints, Ints]:
    """Which rows each cell of a table counts, and the dimension of the table."""
    found = {
        (at, tuple(code[i] for i in at)): None for d in (1, 2) for at in combinations((0, 1), d) for code in codes
    }  # fmt: skip
    matrix = [[tuple(code[i] for i in at) == cell for code in codes] for at, cell in found]
    return np.array(matrix, dtype=np.int64), np.array([len(at) for at, _ in found])


def narrowed(world: World, originals: Sequence[Ints]) -> tuple[int, int]:
    """Small counts with fewer than k possible values, and those with one."""
    table = np.array(originals)
    values = [np.unique(table @ row).size for row in world.small()]
    return sum(n < K for n in values), sum(n == 1 for n in values)


@cache
def anonymous(rows: int, objects: int) -> Ints:
    """Every way to spread objects over rows of which none holds 1 to k - 1."""
    if rows == 1:
        return np.array([[objects]] if objects == 0 or objects >= K else np.empty((0, 1)), dtype=np.int64)
    parts = [
        np.insert(rest, 0, first, axis=1)
        for first in (0, *range(K, objects + 1))
        for rest in [anonymous(rows - 1, objects - first)]
    ]
    return np.concatenate(parts)


def files_of(world: World, original: Ints) -> tuple[Ints, dict[int, int]]:
    """All files the method may draw for an original, and the bounds that are published with each of them."""
    there = np.flatnonzero(original)
    found = anonymous(there.size, world.objects)
    hit = world.matrix[:, there].sum(axis=1) > 0
    off = np.abs((found - original[there]) @ world.matrix[np.ix_(hit, there)].T)
    largest = np.stack([off[:, world.dimension[hit] == d].max(axis=1) for d in (1, 2)], axis=1)
    alone = world.matrix[hit & (world.dimension == 1)] @ original
    limits = np.maximum(largest, [K - 1 if alone.min() < K else 1, K - 1])
    key = [(max(row), sum(row), *reversed(row)) for row in limits.tolist()]
    best = limits[min(range(len(key)), key=key.__getitem__)]
    kept = (largest <= best).all(axis=1)
    whole = np.zeros((int(kept.sum()), original.size), dtype=np.int64)
    whole[:, there] = found[kept]
    return whole, {d: max(int(b), K - 1) for d, b in enumerate(best, 1)}


def chances(world: World, originals: Sequence[Ints]) -> npt.NDArray[np.float64]:
    """How likely each original gives this file with these public bounds."""
    found = []
    for original in originals:
        files, told = files_of(world, original)
        here = (files == world.shown).all(axis=1) & (told == world.anon.bounds)
        found.append(here.mean())
    return np.array(found)


def surest(world: World, originals: Sequence[Ints], weight: npt.NDArray[np.float64]) -> float:
    """How likely the true value of a small count is at most, each original being as likely as its weight."""
    assert world.truth is not None
    table, share = np.array(originals), weight / weight.sum()
    return max((float(share[table @ row == row @ world.truth].sum()) for row in world.small()), default=0.0)


def with_seed(world: World, originals: Sequence[Ints], seed: int) -> list[Ints]:
    """The originals of which the program makes this very file with this seed."""
    found = []
    for original in originals:
        rows = [code for code, n in zip(world.codes, original.tolist(), strict=True) for _ in range(n)]
        again = dk.anonymise({"a": [r[0] for r in rows], "b": [r[1] for r in rows]}, ["a", "b"], seed=seed)
        pairs = list(zip(*(list(column) for column in again.frame.values()), strict=True))
        if [pairs.count(code) for code in world.codes] == world.shown.tolist():
            found.append(original)
    return found


def main() -> None:
    """Attack some tiny files and add up."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--files", type=int, default=30)
    asked.add_argument("--seeded", type=int, default=5, help="of these with the seed known: slow")
    given = asked.parse_args()
    warnings.simplefilter("ignore")
    random, done, unseen = np.random.default_rng(20), 0, 0
    sums = dict.fromkeys(("small", "public", "exact", "internal", "pinned", "method", "seed", "seed small"), 0)
    differ, sure, before = 0, 0.0, 0.0
    while done < given.files:
        world = world_of(random, 1000 + done)
        if world.truth is None:
            unseen += 1
            continue
        done += 1
        anon = world.anon
        sets = [world.originals(anon.bounds), world.originals(anon.quality.maxima)]
        counts = [(int((world.matrix @ x > 0).sum()), x) for x in sets[1]]
        figures = [fits(world, x) for _, x in counts]
        internal = [x for (_, x), same in zip(counts, figures, strict=True) if same]
        sums["small"] += len(list(world.small()))
        sums["public"] += narrowed(world, sets[0])[0]
        sums["exact"] += narrowed(world, sets[1])[0]
        sums["internal"] += narrowed(world, internal)[0]
        sums["pinned"] += narrowed(world, internal)[1]
        ours = [
            dk.attack_anonymous(anon, told)
            for told in (None, dk.Published(largest=anon.quality.maxima), dk.Published.everything(anon))
        ]
        mine = [narrowed(world, each)[0] for each in (*sets, internal)]
        differ += [len(each.exposed) for each in ours] != mine
        weight = chances(world, sets[0])
        sums["method"] += narrowed(world, [x for x, w in zip(sets[0], weight, strict=True) if w > 0])[0]
        sure = max(sure, surest(world, sets[0], weight))
        before = max(before, surest(world, sets[0], np.ones(len(sets[0]))))
        if done <= given.seeded:
            sums["seed small"] += len(list(world.small()))
            sums["seed"] += narrowed(world, with_seed(world, sets[0], 999 + done))[0]
    print(f"{done} files ({unseen} passed over, where a code vanished), {sums['small']} small counts")
    print(f"fewer than {K} values possible, from the file and")
    print(f"  public bounds                              {sums['public']}")
    print(f"  exact largest deviations                   {sums['exact']}")
    print(f"  deviations counted, and uniques (internal) {sums['internal']}, of which {sums['pinned']} exactly known")
    print(f"  public bounds and the method               {sums['method']}")
    print(f"  true value of a small count, at most       {before:.2f} likely by the bounds, {sure:.2f} by the method")
    print(f"  public bounds, the method and the seed     {sums['seed']} of {sums['seed small']} ({given.seeded} files)")
    print(f"files in which the attack of the package says otherwise: {differ}")


def fits(world: World, x: Ints) -> bool:
    """Whether an original has the numbers of cells by deviation and of uniques that the internal report tells."""
    told = dk.Published.everything(world.anon)
    hit = world.matrix @ x > 0
    off = np.abs(world.matrix @ (x - world.shown))
    same = all(
        np.bincount(off[hit & (world.dimension == d)], minlength=len(told.deviations[d])).tolist()
        == list(told.deviations[d])
        for d in (1, 2)
    )
    return same and int((x == 1).sum()) == told.uniques


if __name__ == "__main__":
    main()
