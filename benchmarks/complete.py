"""Complete tables: the extracts of A.4.2 beside what is printed there, and the ways of candidate ranges compared."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from benchmarks import shapes
from benchmarks.case import Case
from diskret.model.contributors import Contributors

PRINTED = Path(__file__).parents[1] / "tests" / "golden" / "quader"
WAYS: dict[str, dict[str, Any]] = {
    "totals with the last level": {},
    "totals last": {"totals_last": True},
    "two stages": {"stages": 2},
}
Make = Callable[[], dk.Table]


def cases() -> Iterator[Case]:
    """The printed extracts by both guarantees, then the ways of ranges, then series of small tables."""
    for number in (1, 2, 3, 4):
        make = partial(extract, number)
        for guarantee in ("complete", "audit"):
            yield Case(
                f"complete-extract{number}-{guarantee}",
                f"A.4.2 extract {number}, nothing known beforehand, guarantee {guarantee}", "diskret",
                partial(protect, make, 0.0, guarantee), make, warm, judge,
            )  # fmt: skip
        yield Case(
            f"complete-extract{number}-printed", f"A.4.2 extract {number}, as printed (Pentium/400, 2003)",
            "GHQUAR, GHMITER, QUIT", partial(record, number),
        )  # fmt: skip
    for guarantee in ("subtables", "complete", "audit"):
        yield Case(
            f"complete-example-{guarantee}", f"example of the source, 240 cells, q = 0.5, guarantee {guarantee}",
            "diskret", partial(protect, example, 0.5, guarantee), example, warm, judge, repeats=3,
        )  # fmt: skip
    for (name, (what, make, q)), (way, options) in product(RANGES.items(), WAYS.items()):
        yield Case(
            f"complete-ranges-{name}-{way.replace(' ', '-')}", f"complete, {what}", f"diskret, {way}",
            partial(protect, make, q, "complete", **options), make, warm, judge,
        )  # fmt: skip
    for name, (what, classifications, frequency) in SERIES.items():
        for guarantee in ("complete", "audit"):
            yield Case(
                f"complete-series-{name}-{guarantee}", f"{NUMBER} small tables, {what}, q = 0.3",
                f"diskret, {guarantee}", partial(series, guarantee, classifications, frequency), warm=warm,
            )  # fmt: skip


@cache
def extract(number: int) -> dk.Table:
    """An extract of A.4.2, made once."""
    return shapes.extract(number).table()


@cache
def cube(wide: bool) -> dk.Table:
    """Three classifications, two of them with subtotals: 4,960 or 19,840 cells."""
    shape = (shapes.tree([1, 5], 31), shapes.tree([1, 4], 20), shapes.flat(7))
    large = (shapes.tree([1, 8], 62), shapes.tree([1, 5], 40), shapes.flat(7))
    return shapes.Shape(large if wide else shape, 6000 if wide else 1500).table()


@cache
def five() -> dk.Table:
    """Five classifications, two of them with subtotals: 22,400 cells."""
    by = (shapes.tree([1, 4], 10), shapes.tree([1, 3], 8), shapes.flat(6), shapes.flat(4), shapes.flat(7))
    return shapes.Shape(by, 3000).table()


@cache
def tourism() -> dk.Table:
    """433 x 9 x 6."""
    return shapes.tourism(6).table()


RANGES: dict[str, tuple[str, Make, float]] = {
    **{f"extract{n}": (f"A.4.2 extract {n}, q = 0", partial(extract, n), 0.0) for n in (1, 2, 3, 4)},
    "cube": ("three classifications, 4,960 cells, q = 0.3", partial(cube, False), 0.3),
    "large-cube": ("three classifications, 19,840 cells, q = 0.3", partial(cube, True), 0.3),
    "tourism": ("tourism 433 x 9 x 6, q = 0.3", tourism, 0.3),
    "five": ("five classifications, 22,400 cells, q = 0.3", five, 0.3),
}
SERIES: dict[str, tuple[str, int, bool]] = {
    "two": ("two classifications, values", 2, False),
    "three": ("three classifications, values", 3, False),
    "counts": ("two classifications, counts", 2, True),
}
NUMBER = 60


@cache
def example() -> dk.Table:
    """The 16 x 15 table of the source before protection."""
    said = json.loads((PRINTED / "ch7-closing-protection-intervals.json").read_text(encoding="utf-8"))["table"]
    by = {
        d["name"]: dk.Hierarchy.from_levels(d["order"], [d["level"][c] for c in d["order"]]) for d in said["dimensions"]
    }
    shape = tuple(len(h) for h in by.values())
    value, count = np.zeros(shape), np.zeros(shape, dtype=np.int64)
    status = np.zeros(shape, dtype=np.uint8)
    for cell in said["cells"]:
        at = tuple(h.index(c) for h, c in zip(by.values(), cell["coord"], strict=True))
        value[at], count[at] = cell["value"], cell["contributors"]
        status[at] = dk.Status.PRIMARY if cell["status"] == "primary" else dk.Status.OPEN
    return dk.Table(by, "value", value, status, Contributors(count))


def protect(make: Make, q: float, guarantee: Any, **options: Any) -> Any:
    """One suppression; nothing is known beforehand unless a range is asked for."""
    known = dk.Knowledge.positive() if q else dk.Knowledge.none()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = dk.Promise(min_relative_range=q, levels=False)
        return dk.suppress(make(), protection=wanted, knowledge=known, guarantee=guarantee, **options)


def warm() -> None:
    """Everything compiled."""
    for guarantee in ("subtables", "complete", "audit"):
        protect(partial(small, 0, 2, False), 0.3, guarantee)


def judge(result: Any) -> str:
    """Cells, and the share of all values that is hidden: altogether, and by secondaries alone."""
    table = result.table
    primary, secondary = (table.status == s for s in (dk.Status.PRIMARY, dk.Status.SECONDARY))
    whole = float(np.abs(table.value).sum())
    share = 100 * float(np.abs(table.value[secondary]).sum()) / whole
    text = (
        f"{table.size:,} cells, {int(primary.sum()):,} primary, {int(secondary.sum()):,} secondary, "
        f"{100 * result.hidden_share():.2f} % of value hidden ({share:.2f} % by secondaries)"
    )
    return text + (f", {len(result.unprotected):,} unprotected" if result.unprotected else "")


def record(number: int) -> str:
    """What is printed of the three programs."""
    said = json.loads((PRINTED / "appA4-2-simulated-vat-benchmarks.json").read_text(encoding="utf-8"))
    layout = said["table"]["extracts"][number - 1]
    parts = []
    for program in ("GHQUAR", "GHMITER", "QUIT"):
        row = said["expected"][program][number - 1]
        if row["secondary"] is None:
            parts.append(f"{program} not run")
            continue
        parts.append(f"{program} {row['secondary']:,} secondary, {row['share_percent']:.2f} %, {row['cpu_s']:,} s")
    primary = layout["primary"] + layout["singles"]
    return f"{layout['fields']:,} cells, {primary:,} primary; " + "; ".join(parts)


def small(seed: int, classifications: int, frequency: bool) -> dk.Table:
    """A small ragged table with many primary cells."""
    rng = np.random.default_rng(seed)
    by = {}
    for axis in range(classifications):
        sums = int(rng.integers(2, 4))
        by[f"d{axis}"] = shapes.tree([1, sums], int(rng.integers(8, 13)) - 3 * (classifications > 2))
    made = shapes.Shape(tuple(by.values()), 90 if classifications == 2 else 250).table(seed)
    if not frequency:
        return made
    count = made.count.astype(np.float64)
    return dk.Table(made.by, "count", count, made.status, frequency=True, positive=True)


def series(guarantee: str, classifications: int, frequency: bool) -> str:
    """Cells and shares over many small tables."""
    cells, hidden, whole, left = 0, 0.0, 0.0, 0
    for seed in range(NUMBER):
        result = protect(partial(small, seed, classifications, frequency), 0.3, guarantee)
        cells += int(result.secondary.sum())
        hidden += float(np.abs(result.table.value[result.table.hidden]).sum())
        whole += float(np.abs(result.table.value).sum())
        left += len(result.unprotected)
    return f"{cells:,} secondary, {100 * hidden / whole:.2f} % of value hidden, {left} unprotected"
