"""The optimum as a yardstick: how far cuboids and repaired cuboids are from the cheapest safe pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np
import numpy.typing as npt

import diskret as dk
from benchmarks import printed, shapes
from benchmarks.case import Case
from benchmarks.exact import under
from diskret.model import rollup
from diskret.suppression.optimum.optimal import Optimum, optimal

Bools = npt.NDArray[np.bool_]
P = 0.1
"""Protection level over the value: a single contributor under the p% rule with p = 10."""
SHAPES: dict[str, shapes.Shape] = {
    "20 x 20": shapes.Shape((shapes.flat(19), shapes.flat(19)), 12_000, 1.0),
    "8 x 8 x 6": shapes.Shape((shapes.flat(7), shapes.flat(7), shapes.flat(5)), 4_000, 1.0),
    "20 x 12, subtotals": shapes.Shape((shapes.tree([1, 4], 20), shapes.tree([1, 3], 12)), 2_500, 1.0),
    "12 x 8 x 5, subtotals": shapes.Shape(
        (shapes.tree([1, 3], 12), shapes.tree([1, 2], 8), shapes.flat(4)), 4_000, 1.0
    ),
}
SECONDS = 180.0
WANTED = dk.Promise()


@cache
def table(shape: str, seed: int) -> dk.Table:
    """Firms, the rule of three, and protection levels of ten percent."""
    made = SHAPES[shape].table(seed)
    level = np.where(made.status == dk.Status.PRIMARY, P * made.value, 0.0)
    return dk.Table(
        made.by, made.response, made.value, made.status, made.respondents, below=level, above=level, positive=True
    )


def cases() -> Iterator[Case]:
    """Each shape with two seeds: cuboids, audited and repaired, optimal, optimal against single contributors too."""
    for shape in SHAPES:
        for seed in (1, 2):
            what = f"optimum, {shape}, seed {seed}: p% levels"
            name = f"optimal-{shape.replace(', ', '-').replace(' ', '')}-{seed}"
            prepare = partial(table, shape, seed)
            for program, run in RUNS.items():
                judge = partial(_judge, shape, seed)
                yield Case(f"{name}-{program}", what, f"diskret, {program}", partial(run, shape, seed), prepare,
                           printed.warm, judge)  # fmt: skip


def _suppressed(guarantee: Any, shape: str, seed: int) -> Bools:
    done = dk.suppress(
        table(shape, seed), protection=WANTED, knowledge=dk.Knowledge.positive(), guarantee=guarantee,
        single_contributors=False,
    )  # fmt: skip
    hidden: Bools = done.table.hidden.reshape(-1)
    return hidden


def _optimal(singles: bool, shape: str, seed: int) -> Optimum:
    made = table(shape, seed)
    value = made.value.reshape(-1)
    usable = (made.status.reshape(-1) == dk.Status.OPEN) & (value > 0)
    persons = alone(made) if singles else None
    return optimal(made, usable, value, WANTED, persons=persons, seconds=SECONDS)


def alone(made: dk.Table) -> npt.NDArray[np.int64]:
    """Who is alone in a cell, named by his inner cell: he is the same in the margins above."""
    single = made.count == 1
    number = np.where(single & rollup.inner_cells(made.hierarchies), np.arange(made.size).reshape(made.shape), 0)
    rollup.add_up(number, made.hierarchies)
    return np.where(single, number, -1).reshape(-1)


RUNS: dict[str, Callable[..., Any]] = {
    "subtables": partial(_suppressed, "subtables"),
    "audited": partial(_suppressed, "audit"),
    "optimal": partial(_optimal, False),
    "optimal with singles": partial(_optimal, True),
}


def _judge(shape: str, seed: int, result: Any) -> str:
    made = table(shape, seed)
    hidden = result.hidden if isinstance(result, Optimum) else result
    new = hidden & ~made.hidden.reshape(-1)
    exposed = under(made, hidden.reshape(made.shape))
    said = f"{int(new.sum()):,} secondary, value {made.value.reshape(-1)[new].sum():,.0f}, under {exposed}"
    if isinstance(result, Optimum):
        said += ", optimal" if result.proved_optimal else f", gap {result.gap:.2%}"
        said += f", {len(result.unprotectable)} unprotectable" if result.unprotectable else ""
    return said
