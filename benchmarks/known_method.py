"""Who knows the method: which originals may have given a tiny file? `python -m benchmarks.known_method --files 20`.

As `given_away`, and with nothing of the package but `anonymise` and what it tells the public, for files of all kinds:
k from 2 to 5, one to three attributes, with and without lists of codes, levels, weights, all dimensions controlled or
one. Counted are small counts for which fewer than k values are possible for somebody who knows the file, the public
bounds, the lists, and the method: any file within the best limits, each with some chance.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

import numpy as np
import numpy.typing as npt

import diskret as dk

Ints = npt.NDArray[np.int64]
MOST = 50_000
"""Anonymous files of an original up to which the method draws from all of them."""
BORDERS: Mapping[int, Sequence[int]] = {0: (), 1: (10, 100), 2: (10, 20, 50)}


@dataclass(frozen=True, kw_only=True)
class Kind:
    """What files are like."""

    shape: tuple[int, ...]
    """Codes of each attribute."""
    k: int = 3
    objects: int = 12
    weights: int = 0
    levels: bool = False
    """Whether codes of the first attribute are summed by twos."""
    listed: bool = True
    up_to: int = 3

    def __str__(self) -> str:
        words = [" x ".join(map(str, self.shape)) + " codes", f"k = {self.k}", f"{self.objects} objects"]
        words += [f"weights {self.weights}"] if self.weights else []
        words += ["levels"] if self.levels else []
        words += [] if self.listed else ["no lists"]
        return ", ".join(words + ([] if self.up_to >= len(self.shape) else [f"tables of {self.up_to}"]))


KINDS = [
    *(Kind(shape=(5,), k=k, objects=12 + 2 * k) for k in (2, 3, 4)),
    *(Kind(shape=(4,), k=k, objects=14, levels=True) for k in (3, 4, 5)),
    *(Kind(shape=(3, 2), k=k, objects=11) for k in (2, 3, 4)),
    *(Kind(shape=(3, 2), k=k, objects=13, weights=2) for k in (2, 3, 4)),
    *(Kind(shape=(3, 2), k=k, objects=11, up_to=1) for k in (3, 4)),
    Kind(shape=(3, 2), objects=11, listed=False), Kind(shape=(3, 2), objects=11, levels=True),
    *(Kind(shape=(2, 2, 2), k=k, objects=10) for k in (2, 3)),
]  # fmt: skip


class World:
    """A tiny file, what is published of it, and every cell of its tables over the codes an attacker knows."""

    def __init__(self, kind: Kind, seed: int) -> None:
        random = np.random.default_rng(seed)
        self.kind, self.names = kind, [f"a{i}" for i in range(len(kind.shape))]
        codes = [[f"{name}.{j}" for j in range(size)] for name, size in zip(self.names, kind.shape, strict=True)]
        data = {}
        for name, known in zip(self.names, codes, strict=True):
            chance = 0.5 ** np.arange(len(known))
            data[name] = random.choice(known, kind.objects, p=chance / chance.sum()).tolist()
        by = {n: dk.Hierarchy.flat(c) if kind.listed else None for n, c in zip(self.names, codes, strict=True)}
        twos = {code: f"two {j // 2}" for j, code in enumerate(codes[0])}
        if kind.levels:
            by[self.names[0]] = dk.Hierarchy.from_parents(twos | dict.fromkeys(twos.values(), "all"))
        control = dk.Control(up_to=kind.up_to, weights=kind.weights)  # type: ignore[arg-type]
        self.anon = dk.anonymise(data, by, k=kind.k, seed=seed, control=control)
        shown = self.anon.frame
        if not kind.listed:
            codes = [sorted({*shown[name].tolist()}) for name in self.names]
        self.rows = list(product(*codes))
        self.shown, self.truth = self.counted(shown), self.counted(data)
        self.bounds = dict(self.anon.bounds)
        up: list[list[Mapping[str, str]]] = [[{code: code for code in known}] for known in codes]
        if kind.levels and len({*twos.values()}) < len(twos):
            up[0].append(twos)
        self.matrix, self.dimension = self._cells(up)

    def counted(self, frame: Mapping[str, Any]) -> Ints:
        """How often each combination occurs."""
        held = list(zip(*(list(frame[name]) for name in self.names), strict=True))
        return np.array([held.count(row) for row in self.rows])

    def _cells(self, up: Sequence[Sequence[Mapping[str, str]]]) -> tuple[Ints, Ints]:
        """Which rows each cell counts, and the dimension of its table."""
        found, dimension = [], []
        for d in range(1, min(self.kind.up_to, len(up)) + 1):
            for at in combinations(range(len(up)), d):
                for levels in product(*(up[a] for a in at)):
                    named = [tuple(level[row[a]] for a, level in zip(at, levels, strict=True)) for row in self.rows]
                    for cell in dict.fromkeys(named):
                        found.append([each == cell for each in named])
                        dimension.append(d)
        return np.array(found, dtype=np.int64), np.array(dimension)

    def originals(self) -> Iterator[Ints]:
        """All files that deviate by no more than is told, in which every combination that is shown occurs."""
        most = np.array([self.bounds[int(d)] for d in self.dimension])

        def spread(left: int, at: int) -> Iterator[list[int]]:
            if at == len(self.rows):
                yield from [[]] if left == 0 else []
                return
            for n in range(int(self.shown[at] > 0), left + 1):
                yield from ([n, *rest] for rest in spread(left - n, at + 1))

        for each in spread(self.kind.objects, 0):
            x = np.array(each)
            if (np.abs(self.matrix @ (x - self.shown)) <= most).all():
                yield x

    def may_give(self, original: Ints) -> bool:
        """Whether the method may draw this file of an original and tell these bounds; true if that is not known."""
        k, there = self.kind.k, np.flatnonzero(original)
        if self.shown.sum() != self.shown[there].sum():
            return False
        room = [[n for n in range(max(0, x - 2 * k), x + 2 * k + 1) if n == 0 or n >= k] for x in original[there]]
        if np.prod([float(len(each)) for each in room]) > MOST:
            return True  # here it searches
        files = np.array([x for x in product(*room) if sum(x) == self.kind.objects], dtype=np.int64)
        hit = self.matrix[:, there].any(axis=1)
        cells, dimension = self.matrix[np.ix_(hit, there)], self.dimension[hit]
        held = cells @ original[there]
        weight = np.searchsorted(BORDERS[self.kind.weights], held, side="right")
        size = np.maximum(np.abs((files - original[there]) @ cells.T) - weight, 0)
        largest = np.stack([size[:, dimension == d].max(axis=1) for d in np.unique(dimension)], axis=1)
        floor = np.full(largest.shape[1], k - 1)
        floor[0] = k - 1 if held[dimension == 1].min() < max(k, 2 * k - 4) else 1
        limits = np.maximum(largest, floor)
        best = min(map(tuple, limits.tolist()), key=lambda each: (max(each), sum(each), *reversed(each)))
        mine = (files == self.shown[there]).all(axis=1)
        drawn = bool((largest[mine] <= np.array(best)).all(axis=1).any())
        return drawn and self.told(best) == self.bounds

    def told(self, limits: Sequence[int]) -> dict[int, int]:
        """What the public report says of these limits."""
        found = {}
        for d, limit in enumerate(limits, 1):
            most = int((self.matrix @ self.shown)[self.dimension == d].max()) + limit
            more = [g for g, least in enumerate(BORDERS[self.kind.weights], 1) if least <= most + g]
            found[d] = max(limit + max(more, default=0), self.kind.k - 1)
        return found

    def small(self) -> Iterator[Ints]:
        """The rows of every small count: combinations, and cells of tables."""
        for row in [*np.eye(self.shown.size, dtype=np.int64), *self.matrix]:
            if 0 < row @ self.truth < self.kind.k:
                yield row


def attacked(kind: Kind, files: int) -> list[int]:
    """Files, small counts, those with fewer than k values by the bounds and by the method, other verdicts of ours."""
    done = [0] * 5
    for seed in range(files):
        world = World(kind, seed)
        if world.truth.sum() < kind.objects:
            continue  # a code vanished that nobody can name
        allowed = list(world.originals())
        given = [x for x in allowed if world.may_give(x)]
        assert any((x == world.truth).all() for x in given), "the method is not the one that is described"
        few = [sum(np.unique(np.array(each) @ row).size < kind.k for row in world.small()) for each in (allowed, given)]
        safe = dk.attack_anonymous(world.anon).safe
        for i, n in enumerate([1, sum(1 for _ in world.small()), *few, safe != (few[0] == 0)]):
            done[i] += int(n)
    return done


def main() -> None:
    """A line per kind."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--files", type=int, default=20)
    given = asked.parse_args()
    warnings.simplefilter("ignore")
    print("| files | checked | small counts | by bounds | by bounds and method | attack says otherwise |")
    for kind in KINDS:
        print(f"| {kind} | " + " | ".join(map(str, attacked(kind, given.files))) + " |", flush=True)


if __name__ == "__main__":
    main()
