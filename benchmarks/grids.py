"""Tables of seeded firms, or of the shared folder, as plain arrays: an attack on them needs nothing of the package.

Every classification is a list of parents with the total first, as in the files of the shared folder; `Grid.table` says
the same to the package, and `Grid.own` brings its answers back into this order.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import diskret as dk
from diskret.model.contributors import Contributors

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
FOLDER = Path(__file__).parents[2] / "shared" / "bench"
P = 0.1
"""The p% rule with p = 10."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Grid:
    """What everybody may know of a table, and what only the office knows."""

    name: str
    kind: str
    parents: tuple[Ints, ...]
    """Per classification the number of every code's parent, -1 for the total, which comes first."""
    value: Floats
    count: Ints
    top1: Floats
    top2: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        """Codes per classification."""
        return self.value.shape

    @cached_property
    def primary(self) -> Bools:
        """Cells whose second largest contributor estimates the largest closer than p%."""
        rest = self.value - self.top1 - self.top2
        found: Bools = (self.count > 0) & (rest < P * self.top1)
        return found

    @cached_property
    def level(self) -> Floats:
        """How far off a primary cell must be possible, up and down."""
        return np.where(self.primary, P * self.top1 - (self.value - self.top1 - self.top2), 0.0)

    @cached_property
    def fingerprint(self) -> str:
        """Changes with everything that decides which pattern is the cheapest."""
        parts = [*self.parents, self.value, self.count, self.level]
        return hashlib.sha256(b"".join(np.ascontiguousarray(p).tobytes() for p in parts)).hexdigest()[:16]

    @cached_property
    def hierarchies(self) -> dict[str, dk.Hierarchy]:
        """The classifications as the package takes them; codes are the numbers of ours."""
        return {
            f"d{axis}": dk.Hierarchy.from_parents({str(i): str(p) for i, p in enumerate(up.tolist()) if p >= 0})
            for axis, up in enumerate(self.parents)
        }

    @cached_property
    def _places(self) -> tuple[Any, ...]:
        return np.ix_(*([h.index(str(i)) for i in range(len(h))] for h in self.hierarchies.values()))

    @cached_property
    def table(self) -> dk.Table:
        """The marked table."""

        def placed(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
            found = np.empty_like(array)
            found[self._places] = array
            return found

        status = np.where(self.primary, dk.Status.PRIMARY, dk.Status.OPEN).astype(np.uint8)
        level = placed(self.level)
        return dk.Table(
            self.hierarchies, "value", placed(self.value), placed(status), Contributors(placed(self.count)),
            below=level, above=level, positive=True,
        )  # fmt: skip

    def own(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """An array of the package in our order."""
        found: npt.NDArray[Any] = array.reshape(self.shape)[self._places]
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Counted(Grid):
    """A table that was made elsewhere, in its own order: primary are cells of fewer than three, without levels."""

    made: dk.Table

    @classmethod
    def of(cls, made: dk.Table) -> Counted:
        """What everybody may know of it."""
        count = made.count
        nothing = np.zeros(made.shape)
        return cls(
            name="made", kind="made", parents=tuple(_parents(h) for h in made.hierarchies), value=made.value,
            count=count, top1=nothing, top2=nothing, made=made,
        )  # fmt: skip

    @cached_property
    def primary(self) -> Bools:
        """Cells of one or two."""
        found: Bools = (self.count > 0) & (self.count < 3)
        return found

    @cached_property
    def level(self) -> Floats:
        """None: they must not be single numbers."""
        return np.zeros(self.shape)

    @property
    def table(self) -> dk.Table:
        """As it was made."""
        return self.made

    def own(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The same."""
        return array.reshape(self.shape)


def _parents(hierarchy: dk.Hierarchy) -> Ints:
    up = np.full(len(hierarchy), -1)
    for total, parts in enumerate(hierarchy.part_index):
        up[parts] = total
    return up


def parents_of(branching: Sequence[int]) -> Ints:
    """A classification with so many parts below every code, level by level; depth first, total first.

    >>> parents_of([2, 2]).tolist()
    [-1, 0, 1, 1, 0, 4, 4]
    """
    found = [-1]

    def grow(parent: int, level: int) -> None:
        if level < len(branching):
            for _ in range(branching[level]):
                found.append(parent)
                grow(len(found) - 1, level + 1)

    grow(0, 0)
    return np.array(found)


def above(parents: Ints, code: int) -> list[int]:
    """A code and everything it is a part of."""
    found = [code]
    while parents[found[-1]] >= 0:
        found.append(int(parents[found[-1]]))
    return found


def filled(name: str, kind: str, branching: Sequence[Sequence[int]], records: int, *, skew: float, seed: int) -> Grid:
    """Firms with log-normal values in categories of uneven size, like the generator of the shared folder."""
    rng = np.random.default_rng(seed)
    parents = tuple(parents_of(b) for b in branching)
    where = []
    for up in parents:
        leaves = np.setdiff1d(np.arange(up.size), up)
        weight = rng.gamma(1.5, size=leaves.size) + 0.05
        where.append(rng.choice(leaves, size=records, p=weight / weight.sum()))
    # the largest firms come first
    value = np.sort(np.ceil(np.exp(rng.normal(4.0, skew, size=records))))[::-1]
    shape = tuple(up.size for up in parents)
    count, total, top1, top2 = (np.zeros(int(np.prod(shape))) for _ in range(4))
    chains = [levels(up, codes) for up, codes in zip(parents, where, strict=True)]
    for codes in product(*chains):
        cells = np.ravel_multi_index(codes, shape)
        count += np.bincount(cells, minlength=count.size)
        total += np.bincount(cells, value, minlength=count.size)
        some, first = np.unique(cells, return_index=True)
        top1[some] = value[first]
        others = np.delete(np.arange(records), first)
        some, second = np.unique(cells[others], return_index=True)
        top2[some] = value[others[second]]
    return Grid(
        name=name, kind=kind, parents=parents, value=total.reshape(shape), count=count.astype(np.int64).reshape(shape),
        top1=top1.reshape(shape), top2=top2.reshape(shape),
    )  # fmt: skip


def levels(parents: Ints, codes: Ints) -> list[Ints]:
    """Codes of one level, and what they are a part of on every level above."""
    found = [codes]
    while (parents[found[-1]] >= 0).all():
        found.append(parents[found[-1]])
    return found


FLAT = ((9, 9), (9, 11), (11, 11), (12, 9), (10, 12), (12, 11), (9, 13), (12, 12))
CUBES = ((4, 4, 3), (5, 4, 4), (5, 5, 4), (6, 5, 4), (6, 6, 4), (7, 5, 5), (6, 6, 5), (7, 7, 6))
TREES = (
    ((3, 3), (3, 2)), ((3, 4), (2, 4)), ((4, 3), (9,)), ((2, 3, 2), (8,)), ((4, 4), (3, 4)), ((3, 3), (4,), (4,)),
    ((3, 2, 2), (3, 3)), ((3, 3), (3, 2), (2,)),
)  # fmt: skip
DENSITY = (4.0, 8.0, 3.0, 6.0)
"""Firms per inner cell."""
SKEW = (1.3, 1.8, 1.0)


def seeded(kind: str, number: int, first: int = 0) -> Iterator[Grid]:
    """So many tables of a kind: flat (100 to 169 cells), cubes and trees (100 to 500 cells), from the first on."""
    shapes: Sequence[Sequence[Any]] = {"flat": FLAT, "cubes": CUBES, "trees": TREES}[kind]
    for i in range(first, first + number):
        shape = shapes[i % len(shapes)]
        branching = [(b,) if isinstance(b, int) else b for b in shape]
        inner = float(np.prod([np.prod(b) for b in branching]))
        records = int(inner * DENSITY[i % len(DENSITY)])
        yield filled(f"{kind} {i}", kind, branching, records, skew=SKEW[i % len(SKEW)], seed=1000 * len(kind) + i)


def read(name: str, folder: Path = FOLDER) -> Grid | None:
    """A table of the shared folder, if that is there."""
    if not (folder / f"{name}.dims.json").exists():
        return None
    dims = json.loads((folder / f"{name}.dims.json").read_text(encoding="utf-8"))
    parents = tuple(np.array(d["parents"]) for d in dims)
    shape = tuple(p.size for p in parents)
    with gzip.open(folder / f"{name}.csv.gz", "rt", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    at = tuple(np.array([int(row["i" + d["name"]]) for row in rows]) for d in dims)

    def column(title: str) -> Floats:
        found = np.zeros(shape)
        found[at] = [float(row[title]) for row in rows]
        return found

    count = column("freq").astype(np.int64)
    return Grid(
        name=name, kind=name, parents=parents, value=column("value"), count=count, top1=column("top1"),
        top2=column("top2"),
    )  # fmt: skip


def write(grid: Grid, folder: Path, name: str) -> None:
    """As files like those of the shared folder, for programs that read them."""
    dims = []
    for axis, up in enumerate(grid.parents):
        deep = [len(above(up, code)) - 1 for code in range(up.size)]
        codes = ["Total", *(f"{'ABCDEFGH'[axis]}{code}" for code in range(1, up.size))]
        dims.append({"name": "ABCDEFGH"[axis], "codes": codes, "levels": deep, "parents": up.tolist()})
    (folder / f"{name}.dims.json").write_text(json.dumps(dims), encoding="utf-8")
    columns = [grid.count, grid.value, grid.top1, grid.top2, grid.primary]
    numbers = np.column_stack([*(i.reshape(-1) for i in np.indices(grid.shape)), *(c.reshape(-1) for c in columns)])
    with gzip.open(folder / f"{name}.csv.gz", "wt", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow([*(f"i{d['name']}" for d in dims), "freq", "value", "top1", "top2", "primary"])
        writer.writerows(numbers.astype(np.int64).tolist())


def sums(parents: Sequence[Ints], shape: Sequence[int]) -> Iterator[tuple[int, Ints]]:
    """Every sum along every classification with its parts, as flat positions."""
    for axis, up in enumerate(parents):
        whole = [np.arange(n) for n in shape]
        for code in np.unique(up[up >= 0]).tolist():
            parts = np.flatnonzero(up == code)
            others = [whole[a] for a in range(len(shape)) if a != axis]
            for rest in product(*(o.tolist() for o in others)):
                at = [*rest[:axis], code, *rest[axis:]]
                where = np.tile(np.array(at), (parts.size, 1))
                where[:, axis] = parts
                yield int(np.ravel_multi_index(at, tuple(shape))), np.ravel_multi_index(tuple(where.T), tuple(shape))
