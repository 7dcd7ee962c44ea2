"""Cell-key noise on 10 million cells, and what keys cost in tabulation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np

import diskret as dk
from benchmarks.case import Case
from benchmarks.key_leak import leak
from diskret.model.contributors import Contributors

CELLS = 10_000_000
RECORDS = 10_000_000
COUNTS: dict[str, Any] = {"deviation": 5, "variance": 2, "smallest": 3}
VALUES: dict[str, Any] = {"deviation": 5, "variance": 1, "step": 0.5, "cells": (1, 5)}
SCALING = dk.Scaling(small=0.3, large=0.03, flex_point=1000)


def cases() -> Iterator[Case]:
    """Counts, magnitudes, records with and without keys, and the attack."""
    yield Case("perturbation-cell-key-counts", "cell key, 10 M counts", "diskret", counts, count_table, warm)
    yield Case("perturbation-cell-key-values", "cell key, 10 M values, 3 largest", "diskret", values, value_table, warm)
    yield Case("perturbation-cell-key-attack", "attack on 10 M cell-key counts", "diskret", attack, noisy, warm)
    what = "guessing a part of 1,500 lines of two parts with cell-key noise"
    yield Case("perturbation-cell-key-leak", what, "diskret", leak)
    for key, what in ((True, "with"), (False, "without")):
        yield Case(
            f"perturbation-cell-key-tabulate-{what}", f"tabulate 10 M records to 10 M cells {what} keys", "diskret",
            tabulate_with if key else tabulate_without, records, warm,
        )  # fmt: skip


@cache
def _by() -> dict[str, dk.Hierarchy]:
    """100 x 100 x 1000 codes with sums."""
    coarse = dk.Hierarchy.from_prefixes([f"{i:02}" for i in range(89)], [1])
    return {"a": coarse, "b": coarse, "c": dk.Hierarchy.from_prefixes([f"{i:03}" for i in range(900)], [1, 2])}


def _shape() -> tuple[int, ...]:
    return tuple(len(h) for h in _by().values())


@cache
def count_table() -> dk.Table:
    dice = np.random.default_rng(1)
    shape = _shape()
    count = dice.poisson(3, shape)
    status = np.zeros(shape, dtype=np.uint8)
    key = np.where(count > 0, dice.random(shape), 0.0)
    return dk.Table(_by(), "count", count.astype(np.float64), status, Contributors(count), key=key, frequency=True,
                    positive=True)  # fmt: skip


@cache
def value_table() -> dk.Table:
    table = count_table()
    dice = np.random.default_rng(2)
    largest = -np.sort(-dice.lognormal(6, 2, (*table.shape, 3)), axis=-1) * (table.count > 0)[..., None]
    value = largest.sum(axis=-1) * 1.5
    return dk.Table(table.by, "x", value, table.status, Contributors(table.count, largest), key=table.key,
                    decimals=None, positive=True)  # fmt: skip


def counts() -> str:
    result = dk.perturb_by_key(count_table(), dk.design_p_table(**COUNTS))
    return f"{result.table.size:,} cells, mean deviation {result.deviation.mean():.5f}"


def values() -> str:
    result = dk.perturb_by_key(value_table(), dk.design_p_table(**VALUES), scaling=SCALING)
    return f"{result.table.size:,} cells, mean relative deviation {_relative(result.deviation):.5f}"


def _relative(deviation: np.ndarray) -> float:
    value = value_table().value
    return float((deviation[value > 0] / value[value > 0]).mean())


@cache
def noisy() -> dk.Table:
    true = count_table()
    inner = true.count.astype(np.float64).copy()
    from diskret.model import rollup

    inner[~rollup.inner_cells(true.hierarchies)] = 0
    rollup.add_up(inner, true.hierarchies)
    additive = dk.Table(true.by, "count", inner, true.status, Contributors(inner.astype(np.int64)), key=true.key,
                        frequency=True, positive=True)  # fmt: skip
    return dk.perturb_by_key(additive, dk.design_p_table(**COUNTS)).table


def attack() -> str:
    found = dk.attack_cell_keys(noisy(), dk.design_p_table(**COUNTS))
    return f"{int(found.exact.sum()):,} certain, {int((found.line_confidence >= 0.95).sum()):,} guessed with 95 %"


@cache
def records() -> dict[str, np.ndarray]:
    dice = np.random.default_rng(3)
    leaves = [[c for c, leaf in zip(h.codes, h.is_leaf, strict=True) if leaf] for h in _by().values()]
    columns = {
        n: np.array(c, dtype=object)[dice.integers(0, len(c), RECORDS)] for n, c in zip(_by(), leaves, strict=True)
    }
    return columns | {"rkey": dk.draw_keys(RECORDS, 4)}


def tabulate_with() -> str:
    table = dk.tabulate(records(), by=_by(), roles=dk.Roles(key="rkey"))
    return f"{table.size:,} cells"


def tabulate_without() -> str:
    table = dk.tabulate(records(), by=_by())
    return f"{table.size:,} cells"


def warm() -> None:
    data = {"s": ["a", "b"], "x": [1, 2], "k": [0.1, 0.2]}
    table = dk.tabulate(data, by={"s": None}, value="x", largest=3, roles=dk.Roles(key="k"))
    dk.perturb_by_key(table, dk.design_p_table(**VALUES), scaling=SCALING)
    plain = dk.perturb_by_key(dk.tabulate(data, by={"s": None}, roles=dk.Roles(key="k")), dk.design_p_table(**COUNTS))
    dk.attack_cell_keys(plain)
