"""Suppression of tables with the shapes printed in the Quaderverfahren, and of larger ones; made-up firms."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import numpy as np

import diskret as dk
from benchmarks import shapes
from benchmarks.case import Case

RANGES = (0.0, 0.5, 1.0, 1.5, 2.0)
THIN = {False: "diskret, as printed", True: "diskret, thinned"}
LARGE: dict[str, tuple[Callable[[], shapes.Shape], tuple[bool, ...]]] = {
    "10M cells, 3 dimensions": (partial(shapes.ten_million, 3), (False, True)),
    "10M cells, 5 dimensions": (partial(shapes.ten_million, 5), (False,)),
}


@cache
def table(shape: Callable[[], shapes.Shape]) -> dk.Table:
    """The table of a shape, made once."""
    return shape().table()


def warm() -> None:
    """Everything compiled, on a small table."""
    small = shapes.cube(1000).table()
    for thin in THIN:
        dk.suppress(small, dk.Promise(levels=False, min_relative_range=0.2), dk.methods.Cuboids(thin=thin))


def cases() -> Iterator[Case]:
    """The source's tables, then size."""
    for q in (0.0, 1.5):
        for thin in THIN:
            yield _case("turnover-tax", "turnover tax 433 x 1658", shapes.turnover_tax, q=q, thin=thin, repeats=3)
    yield Case(
        "suppress-turnover-tax-ranges",
        "suppress turnover tax 433 x 1658, q = 0 to 2 (five runs)",
        THIN[False],
        ranges,
        partial(table, shapes.turnover_tax),
        warm,
    )
    for third in (6, 8):
        for q in (0.0, 1.5):
            shape = partial(shapes.tourism, third)
            yield _case(f"tourism-{third}", f"tourism 433 x 9 x {third}", shape, q=q, repeats=5)
    for number in (1, 2, 3, 4):
        shape = partial(shapes.extract, number)
        yield _case(f"extract-{number}", f"A.4.2 extract {number}, no barriers", shape, barriers="off", repeats=5)
    for what, (large, thins) in LARGE.items():
        for thin in thins:
            yield _case(what.replace(" ", "-").replace(",", ""), what, large, thin=thin)
    for deep in (True, False):
        for power in (4, 5, 6, 7):
            words = "about 10 parts to every sum" if deep else "3 levels, top sums grow"
            shape = partial(shapes.cube, 10**power, deep)
            yield _case(f"cube-{'deep' if deep else 'wide'}-1e{power}", f"cube 10^{power}, {words}", shape)


def _case(
    name: str,
    what: str,
    shape: Callable[[], shapes.Shape],
    q: float = 0.0,
    thin: bool = False,
    barriers: str = "on",
    repeats: int = 1,
) -> Case:
    return Case(
        f"suppress-{name}-q{q:g}{'-thinned' if thin else ''}",
        f"suppress {what}, q = {q:g}",
        THIN[thin],
        partial(run, shape, q, thin, barriers),
        partial(table, shape),
        warm,
        judge,
        repeats=repeats,
    )


def run(shape: Callable[[], shapes.Shape], q: float, thin: bool, barriers: Any = "on") -> tuple[Any, float]:
    """One suppression with the CPU seconds it took."""
    start = time.process_time()
    wanted = dk.Promise(min_relative_range=q, levels=False)
    result = dk.suppress(table(shape), wanted, dk.methods.Cuboids(barriers=barriers, thin=thin))
    return result, time.process_time() - start


def judge(found: tuple[Any, float]) -> str:
    """Counts, shares and microseconds per cell."""
    result, cpu = found
    before = result.before
    occupied, primary = int((before.count > 0).sum()), int((before.status == dk.Status.PRIMARY).sum())
    text = (
        f"{before.size:,} cells, {occupied:,} occupied, {primary:,} primary, {int(result.secondary.sum()):,} secondary"
    )
    text += f", {share(result.table):.1%} of value hidden, {result.passes} passes"
    text += f", {cpu / before.size * 1e6:.2f} us/cell"
    return text + (f", {len(result.unprotected):,} unprotected" if result.unprotected else "")


def share(of: dk.Table) -> float:
    """Hidden part of the value of all cells, sums included."""
    return float(of.value[of.hidden].sum() / of.value.sum())


def ranges() -> str:
    """How the pattern grows with the range asked for."""
    parts = []
    for q in RANGES:
        result, cpu = run(shapes.turnover_tax, q, thin=False)
        margins = int(_margins(result.table)[result.secondary].sum())
        hidden = share(result.table)
        parts.append(f"q {q:g}: {int(result.secondary.sum()):,} ({margins:,} sums), {hidden:.1%}, {cpu:.2f} s")
    return "secondary (of them sums), value hidden, CPU: " + "; ".join(parts)


def _margins(of: dk.Table) -> Any:
    """Cells that are a sum on some axis."""
    sums = np.ones(of.shape, dtype=np.bool_)
    sums[np.ix_(*(h.is_leaf for h in of.hierarchies))] = False
    return sums
