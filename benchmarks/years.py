"""Tables followed over a year: how much of last year's pattern is kept, and what that costs.

``python -m benchmarks.years [moves|cuboids]``: twelve tables of 143 to 390 cells and two larger ones. A year later
values have changed by lognormal noise, 8 % of the firms are gone and as many are new.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import Any

import numpy as np

import diskret as dk

SHAPES = (
    (([12], [10]), 900), (([20], [8]), 1_500), (([4, 3], [8]), 1_200), (([6], [5], [5]), 1_500),
    (([3, 3], [3, 3]), 1_500), (([3, 3], [5], [4]), 2_500),
)  # fmt: skip
LARGER = ((([4, 5], [3, 4], [6]), 8_000), (([5, 5], [4, 5], [6]), 30_000))
GROWTH, NOISE, GONE = 0.03, 0.15, 0.08
METHODS = {"moves": dk.methods.Moves(), "cuboids": dk.methods.Cuboids()}


def tree(name: str, branching: list[int]) -> dict[str, str]:
    """Parents of the codes of a classification with so many parts per code, level by level."""
    parents: dict[str, str] = {}
    level = [""]
    for parts in branching:
        level = [f"{above}{part:02d}" for above in level for part in range(1, parts + 1)]
        parents |= {name + code: name + code[:-2] if len(code) > 2 else "Total" for code in level}
    return parents


def firms(shape: Any, records: int, seed: int) -> dict[str, Any]:
    """Firms with skewed values in codes of uneven size."""
    rng, columns = np.random.default_rng(seed), {}
    for axis, branching in enumerate(shape):
        parents = tree(chr(65 + axis), branching)
        leaves = [code for code in parents if code not in parents.values()]
        size = rng.gamma(1.5, size=len(leaves)) + 0.05
        columns[chr(65 + axis)] = rng.choice(leaves, size=records, p=size / size.sum())
    columns["x"] = np.ceil(np.exp(rng.normal(4.0, 1.3, size=records)))
    return columns


def two_years(shape: Any, records: int, seed: int) -> tuple[dk.Table, dk.Table]:
    """The table of a year and that of the next one, marked."""
    rng, first = np.random.default_rng(seed + 1_000), firms(shape, records, seed)
    stay = rng.random(records) > GONE
    born = firms(shape, int(GONE * records), seed + 5_000)
    later = first | {"x": np.ceil(first["x"] * np.exp(rng.normal(GROWTH, NOISE, records)))}
    second = {name: np.concatenate([column[stay], born[name]]) for name, column in later.items()}
    by = {chr(65 + i): dk.Hierarchy.from_parents(tree(chr(65 + i), b)) for i, b in enumerate(shape)}

    def marked(records: dict[str, Any]) -> dk.Table:
        return dk.mark(dk.tabulate(records, by=by, value="x"), dk.rules.PPercent(10) | dk.rules.MinCount(3))

    return marked(first), marked(second)


def measured(shape: Any, records: int, seed: int, method: Any) -> tuple[float, ...]:
    """Secondaries hidden before, without and with last year's table; how much dearer; CPU seconds of both."""
    first, second = two_years(shape, records, seed)
    last = dk.suppress(first, method=method).table
    start = time.process_time()
    free = dk.suppress(second, method=method)
    middle = time.process_time()
    kept = dk.suppress(second, method=method, previous=last)
    end = time.process_time()

    def price(done: Any) -> float:
        return float(second.value[done.secondary].sum())

    def share(done: Any) -> float:
        return float((done.secondary & last.hidden).sum() / max(1, done.secondary.sum()))

    dearer = price(kept) / price(free) - 1 if price(free) else 0.0
    return second.size, share(free), share(kept), dearer, middle - start, end - middle


def main(method: str = "moves") -> None:
    """Print a line per table, and the mean."""
    warnings.simplefilter("ignore")
    cases = [(*SHAPES[k % len(SHAPES)], 40 + k) for k in range(12)] + [(*one, 77) for one in LARGER]
    print("cells   before: without, with   dearer   CPU s: without, with")
    rows = []
    for shape, records, seed in cases:
        rows.append(measured(shape, records, seed, METHODS[method]))
        cells, without, share, dearer, free, both = rows[-1]
        print(f"{cells:6,.0f}  {without:6.1%} {share:6.1%}  {dearer:+7.1%}  {free:5.2f} {both:5.2f}", flush=True)
    mean, most = np.mean(rows[:12], axis=0), max(row[3] for row in rows)
    print(f"mean of 12: {mean[1]:.1%} to {mean[2]:.1%} at {mean[3]:+.1%}; dearest of all {most:+.1%}")


if __name__ == "__main__":
    main(*sys.argv[1:])
