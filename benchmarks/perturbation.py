"""Changing values: cuboid perturbation of ten million cells, rounding of large tables, and what an attacker learns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import diskret as dk
from benchmarks import shapes
from benchmarks.case import Case
from diskret.model import rollup
from diskret.perturbation.leeway import finest_cells

BASE = 5
ROUNDED: dict[str, tuple[str, Callable[[], tuple[dk.Hierarchy, ...]]]] = {
    "2d": ("400 x 250, subtotals in both", lambda: (shapes.tree([1, 10, 40], 400), shapes.tree([1, 8], 250))),
    "3d": (
        "200 x 62 x 8, subtotals in two",
        lambda: (shapes.tree([1, 8, 40], 200), shapes.tree([1, 8], 62), shapes.flat(7)),
    ),
    "4d": (
        "60 x 30 x 7 x 8, subtotals in two",
        lambda: (shapes.tree([1, 8], 60), shapes.tree([1, 5], 30), shapes.flat(6), shapes.flat(7)),
    ),
}
FILLED = {"counts": "Poisson counts of mean 1.5", "sparse": "a fifth of the cells occupied", "large": "values to 1,000"}


def cases() -> Iterator[Case]:
    """Cuboids, then rounding."""
    for dimensions in (3, 5):
        for singles, words in ((True, "cuboids"), (False, "cuboids, single contributors not guarded against")):
            yield Case(
                f"perturbation-cuboid-10m-{dimensions}{'' if singles else '-plain'}",
                f"perturb 10 million cells, {dimensions} dimensions",
                f"diskret, {words}",
                partial(_perturb, dimensions, singles),
                partial(_ten_million, dimensions),
                _warm,
                _changed,
            )
    for shape, (words, _) in ROUNDED.items():
        for fill, said in FILLED.items():
            yield Case(
                f"perturbation-rounding-{shape}-{fill}",
                f"controlled rounding, 100,000 cells ({words}), {said}, base {BASE}",
                "diskret",
                partial(_round, shape, fill),
                partial(_counts, shape, fill),
                _warm_rounding,
                _within,
            )
    yield Case(
        "perturbation-random-10m",
        "random rounding of 10 million cells, base 5",
        "diskret",
        lambda: dk.round_table(_ten_million(3), BASE, method="random", seed=1),
        partial(_ten_million, 3),
        _warm_rounding,
        _within,
    )


@cache
def _ten_million(dimensions: int) -> dk.Table:
    return shapes.ten_million(dimensions).table()


def _warm() -> None:
    dk.perturb(shapes.cube(5_000).table(), seed=1)


def _warm_rounding() -> None:
    dk.round_table(shapes.cube(5_000).table(), BASE, seed=1)


def _perturb(dimensions: int, singles: bool) -> Any:
    return dk.perturb(_ten_million(dimensions), dk.Promise(guard="single" if singles else "public"), seed=1)


def _changed(done: Any) -> str:
    """How much was changed, and what the attack of somebody who knows the moves finds."""
    table, s = done.before, done.summary()
    adds = np.where(finest_cells(table).reshape(table.shape), done.change, 0.0)
    rollup.add_up(adds, table.hierarchies)
    attack = dk.attack_perturbed(done).summary()
    open_cells = (table.value > 0) & (table.status != dk.Status.PRIMARY)
    relative = np.abs(done.change[open_cells]) / table.value[open_cells]
    return (
        f"{s['primary changed']:,} of {s['primary']:,} primaries changed by {s['moves']:,} moves, "
        f"{s['moves through a total']:,} through a total; additive: {bool(np.array_equal(adds, done.change))}; "
        f"other cells by {100 * np.median(relative):.2g} % (median), {100 * relative.mean():.2g} % (mean); "
        f"attack on {attack['attacked']}: {attack['closer than demanded']} closer than demanded, "
        f"{attack['direction known']} direction known; told by singles {attack['told by single contributors']:,} of all"
    )


@cache
def _counts(shape: str, fill: str) -> dk.Table:
    hierarchies = ROUNDED[shape][1]()
    rng = np.random.default_rng(1)
    size = tuple(len(h) for h in hierarchies)
    finest = rollup.inner_cells(hierarchies)
    fills: dict[str, Callable[[], Any]] = {
        "counts": lambda: rng.poisson(1.5, size),
        "sparse": lambda: np.where(rng.random(size) < 0.2, 1 + rng.poisson(2, size), 0),
        "large": lambda: rng.integers(0, 1000, size),
    }
    drawn = fills[fill]()
    value = np.where(finest, drawn, 0)
    rollup.add_up(value, hierarchies)
    by = {f"d{i}": h for i, h in enumerate(hierarchies)}
    status = np.zeros(size, dtype=np.uint8)
    return dk.Table(by, "n", value.astype(np.float64), status, frequency=True, positive=True)


def _round(shape: str, fill: str) -> Any:
    return dk.round_table(_counts(shape, fill), BASE, seed=1)


def _within(done: Any) -> str:
    """Cells a base or more away, and whether all sums hold."""
    table = done.before
    inner = np.where(finest_cells(table).reshape(table.shape), done.table.value, 0.0)
    rollup.add_up(inner, table.hierarchies)
    away = np.abs(done.change) >= BASE
    farthest = float(np.abs(done.change).max()) / BASE
    return (
        f"{int(away.sum()):,} of {table.size:,} cells a base or more away, farthest {farthest:.1f} bases; "
        f"additive: {bool(np.array_equal(inner, done.table.value))}; mean change {np.abs(done.change).mean():.2f}"
    )
