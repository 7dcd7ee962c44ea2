"""`python -m benchmarks.quality [--tables 16]`: how far every method is from the cheapest safe pattern.

Tables with a known optimum: flat ones of 100 to 169 cells, cubes and trees of 100 to 500 cells, all of seeded firms,
then mid and the classical instances where the shared folder is. The optimum is proved by the method Optimal once and
kept in optima.json beside the results, under the fingerprint of its table; a pattern that is cheaper than a proved
optimum is an error of the package and ends the run. Every pattern is attacked by `benchmarks.lone`, which shares
nothing with the package: by everybody, and where the promise says so by whoever is alone in a cell.

Written are quality.md (one table), quality.svg (gap against CPU seconds) and quality.csv (every run).
Barriers are off, so that the objective is the value, or the number of cells, and nothing else.
"""

from __future__ import annotations

import argparse
import csv
import json
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from math import ceil
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

import diskret as dk
from benchmarks import grids, lone, systems
from benchmarks.times import seconds as in_words
from diskret.publication.plots import save_chart
from diskret.suppression.methods import AnyMethod, Cuboids, Moves, Optimal
from diskret.suppression.prices import Cost
from diskret.suppression.result import Suppression

HERE = Path(__file__).parent
OPTIMA = HERE / "optima.json"
KINDS = ("flat", "cubes", "trees")
GUARDS = ("public", "single")
COSTS = ("value", "cells")
METHODS = ("cuboids", "quick", "default", "economy", "optimal")
CSP = ("targus", "table7", "table8", "table1", "osorio")
"""Instances that are small enough for a proof, or nearly. The bounds of their files are left aside, as in the optima
that are printed: an attacker knows that no value is negative."""
CLOSE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Yardstick:
    """One table to be protected, and how its patterns are judged."""

    name: str
    kind: str
    fingerprint: str
    table: Callable[[], dk.Table]
    exposed: Callable[[Any, bool], int]
    """Primary cells that are exposed if these cells are hidden, to single contributors too if that is said."""
    given: bool = False
    """Whether cells have prices of their own, which take the place of values."""
    guards: tuple[str, ...] = GUARDS


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one method made of one table."""

    kind: str
    table: str
    guard: str
    cost: str
    method: str
    price: float
    secondaries: int
    cpu: float
    exposed: int
    unprotected: int
    optimum: float | None
    """Proved; None where only a bound is known."""
    bound: float

    @property
    def gap(self) -> float:
        """Percent over the optimum, or over the bound where no optimum is known."""
        least = self.bound if self.optimum is None else self.optimum
        return 100 * (self.price / least - 1) if least > 0 else 0.0 if self.price <= 0 else 100.0


# --- tables -----------------------------------------------------------------------------------------------------------


def yardsticks(number: int, kinds: Sequence[str], first: int) -> Iterator[Yardstick]:
    """The tables of the kinds that are wanted."""
    for kind in KINDS:
        for grid in grids.seeded(kind, number if kind in kinds else 0, first):
            yield of_grid(grid)
    mid = grids.read("mid") if "mid" in kinds else None
    if mid is not None:
        yield of_grid(mid)
    for name in CSP if "csp" in kinds else ():
        if systems.system(name) is not None:
            yield Yardstick(
                name=name, kind="csp", fingerprint=f"csp {name}", table=partial(_classical, name),
                exposed=partial(_classical_exposed, name), given=True, guards=("public",),
            )  # fmt: skip


def of_grid(grid: grids.Grid) -> Yardstick:
    """A table of firms."""
    return Yardstick(
        name=grid.name, kind=grid.kind, fingerprint=grid.fingerprint, table=lambda: grid.table,
        exposed=lambda hidden, singles: len(lone.exposed(grid, grid.own(hidden), singles=singles)),
    )  # fmt: skip


def _classical(name: str) -> dk.Table:
    found = systems.table(name)
    assert found is not None
    return found


def _classical_exposed(name: str, hidden: Any, singles: bool) -> int:
    assert not singles
    file = systems.FOLDER / f"{name}.jj.gz"
    return systems.exposed(file, systems.as_in_file(name, _classical(name), hidden), bounds=False)


# --- optima -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Optimum:
    """What is known of the cheapest pattern."""

    table: str
    price: float
    bound: float
    proved: bool
    seconds: float
    """How long was looked for a proof."""

    def better(self, other: Optimum) -> Optimum:
        """What both know together."""
        for one, two in ((self, other), (other, self)):
            if one.proved and two.price < one.price * (1 - CLOSE) - CLOSE:
                raise RuntimeError(f"{self.table}: a safe pattern is cheaper than a proved optimum")
        price, bound = min(self.price, other.price), max(self.bound, other.bound)
        proved = self.proved or other.proved or bound >= price * (1 - CLOSE)
        return replace(
            self, price=price, bound=price if proved else bound, proved=proved, seconds=max(self.seconds, other.seconds)
        )


class Optima(dict[str, Optimum]):
    """The optima that are known, kept in a file."""

    @classmethod
    def kept(cls) -> Optima:
        """As they were left."""
        plain = json.loads(OPTIMA.read_text(encoding="utf-8")) if OPTIMA.exists() else {}
        return cls({key: Optimum(**found) for key, found in plain.items()})

    def learn(self, key: str, found: Optimum) -> None:
        """One more finding."""
        self[key] = self[key].better(found) if key in self else found

    def keep(self) -> None:
        """Written line by line, so that a change is seen."""
        lines = [f"{json.dumps(k)}: {json.dumps(asdict(self[k]))}" for k in sorted(self)]
        OPTIMA.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def proved_bound(done: Suppression, price: float, *, whole: bool) -> tuple[float, bool]:
    """A lower bound on the price (a ``whole`` number?), as the result says it, and whether it is reached."""
    if done.bound is None:
        return 0.0, False
    bound = float(ceil(done.bound - CLOSE) if whole else done.bound)
    return bound, bound >= price * (1 - CLOSE)


# --- runs -------------------------------------------------------------------------------------------------------------


def method_of(name: str, stick: Yardstick, cost: str, seconds: float) -> AnyMethod:
    """A method with nothing but the objective that is asked for."""
    by = Cost(by="unity", weighted=False) if cost == "cells" else Cost(by="given" if stick.given else "value")
    options: dict[str, Any] = {"cost": by, "barriers": "off"}
    if name == "cuboids":
        return Cuboids(**options)
    return Optimal(**options, seconds=seconds) if name == "optimal" else Moves(**options, effort=name)  # type: ignore[arg-type]


def run(stick: Yardstick, guard: str, cost: str, name: str, seconds: float) -> tuple[Run, Any]:
    """One table protected, timed and attacked."""
    table = stick.table()
    method = method_of(name, stick, cost, seconds)
    promise = dk.Promise(guard=guard, knowledge=dk.Knowledge.positive())  # type: ignore[arg-type]
    start = time.process_time()
    done = dk.suppress(table, promise, method)
    cpu = time.process_time() - start
    new = done.secondary.reshape(-1)
    price = float(method.price.of(table)[new].sum())
    found = Run(
        kind=stick.kind, table=stick.name, guard=guard, cost=cost, method=name, price=price,
        secondaries=int(new.sum()), cpu=cpu, exposed=stick.exposed(done.table.hidden, guard == "single"),
        unprotected=len(done.unprotected), optimum=None, bound=0.0,
    )  # fmt: skip
    return found, done


def measured(sticks: Sequence[Yardstick], given: argparse.Namespace) -> Iterator[Run]:
    """All runs, with what is known of the optimum; optima are proved where they are not known yet."""
    optima = Optima.kept()
    for stick in sticks:
        for guard, cost in ((g, c) for g in stick.guards if g in given.guards for c in given.costs):
            key = f"{stick.fingerprint} {guard} {cost}"
            known = optima.get(key)
            again = known is None or (not known.proved and given.seconds > known.seconds)
            names = [*given.methods] if "optimal" in given.methods or not again else [*given.methods, "optimal"]
            runs = []
            for name in names:
                found, done = run(stick, guard, cost, name, given.seconds)
                runs.append(found)
                if found.exposed or found.unprotected:
                    continue
                bound, proved = proved_bound(done, found.price, whole=cost == "cells")
                took = given.seconds if name == "optimal" else 0.0
                optima.learn(
                    key, Optimum(table=stick.name, price=found.price, bound=bound, proved=proved, seconds=took)
                )
            best = optima.get(key)
            optima.keep()
            for found in runs:
                if best is not None and found.method in given.methods:
                    yield replace(found, optimum=best.price if best.proved else None, bound=best.bound)


@cache
def warm() -> None:
    """Everything compiled."""
    small = of_grid(grids.filled("small", "flat", [(3, 2), (4,)], 60, skew=1.3, seed=1))
    for guard in GUARDS:
        for name in METHODS:
            run(small, guard, "value", name, 5.0)


# --- what is shown ----------------------------------------------------------------------------------------------------

COLUMNS = (
    "tables", "against", "cost", "method", "optimum known", "mean gap %", "worst gap %", "reached", "over bound %",
    "CPU s", "most CPU s", "exposed in",
)  # fmt: skip


def rows_of(runs: Sequence[Run]) -> Iterator[dict[str, str]]:
    """One row per kind of tables, guard, cost and method; mid and the classical instances stand alone."""
    groups: dict[tuple[str, ...], list[Run]] = {}
    for r in runs:
        group = r.table if r.kind == "csp" else r.kind
        groups.setdefault((group, r.guard, r.cost, r.method), []).append(r)
    for (kind, guard, cost, method), found in groups.items():
        known = [r.gap for r in found if r.optimum is not None]
        others = [r.gap for r in found if r.optimum is None]
        words = (
            f"{kind}, {len(found)}" if len(found) > 1 else kind,
            "everybody" if guard == "public" else "single contributors",
            cost, method, str(len(known)), f"{mean(known):.2f}" if known else "", f"{max(known):.2f}" if known else "",
            str(sum(g < 1e-6 for g in known)), f"{mean(others):.2f}" if others else "",
            in_words(mean(r.cpu for r in found)), in_words(max(r.cpu for r in found)),
            str(sum(r.exposed > 0 for r in found)),
        )  # fmt: skip
        yield dict(zip(COLUMNS, words, strict=True))


def text_of(rows: Sequence[Mapping[str, str]]) -> str:
    """The table with what its columns mean."""
    said = [
        "# How far from the cheapest safe pattern",
        "Written by `python -m benchmarks.quality`. Gaps are percent over a proved optimum (`optimum known` says for "
        "how many tables there is one, `reached` how often it was hit), over the best bound where there is none. "
        "`exposed in` counts tables in which the independent attack of `benchmarks/lone.py` finds a primary cell "
        "exposed; cuboids promise nothing across subtables. Barriers are off.",
        "![Gap against CPU seconds](quality.svg)",
    ]  # fmt: skip
    lines = [" | ".join(COLUMNS), " | ".join("---" for _ in COLUMNS), *(" | ".join(r.values()) for r in rows)]
    return "\n\n".join([*said, "\n".join(f"| {line} |" for line in lines)]) + "\n"


def chart_of(rows: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Mean gap against mean CPU seconds; one panel per guard and cost."""
    points = [
        {
            "CPU s": float(r["CPU s"]), "gap": float(r["mean gap %"]), "tables": r["tables"], "method": r["method"],
            "panel": f"{r['against']}, cost = {r['cost']}",
        }
        for r in rows
        if r["mean gap %"]
    ]  # fmt: skip
    x = {"field": "CPU s", "type": "quantitative", "scale": {"type": "log"}, "title": "CPU s"}
    y = {"field": "gap", "type": "quantitative", "scale": {"type": "symlog"}, "title": "mean gap to the optimum, %"}
    order = [*METHODS]
    marks = {"field": "tables", "type": "nominal", "title": "tables"}
    colour = {"field": "method", "type": "nominal", "title": "method", "sort": order, "scale": {"domain": order}}
    line = {
        "mark": {"type": "line", "color": "#bbb", "size": 1},
        "encoding": {"x": x, "y": y, "detail": {"field": "tables"}, "order": {"field": "CPU s"}},
    }
    dots = {"mark": {"type": "point", "filled": True, "size": 60},
            "encoding": {"x": x, "y": y, "shape": marks, "color": colour}}  # fmt: skip
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "title": "Gap to the optimum against CPU seconds",
        "data": {"values": points},
        "facet": {"field": "panel", "type": "nominal", "title": None},
        "columns": 2,
        "spec": {"width": 330, "height": 220, "layer": [line, dots]},
    }


def write(runs: Sequence[Run], into: Path) -> None:
    """The three files."""
    rows = list(rows_of(runs))
    (into / "quality.md").write_text(text_of(rows), encoding="utf-8")
    with (into / "quality.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*asdict(runs[0]), "gap"])
        for r in runs:
            writer.writerow(
                [*asdict(replace(r, cpu=round(r.cpu, 4), bound=round(r.bound, 2))).values(), f"{r.gap:.3f}"]
            )
    save_chart(chart_of(rows), into / "quality.svg", internal=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write what was found; 1 if a pattern that was called safe is not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=16, help="of every kind that is made")
    parser.add_argument("--first", type=int, default=0, help="number of the first of them: other tables")
    parser.add_argument("--kinds", nargs="+", default=[*KINDS, "mid", "csp"])
    parser.add_argument("--guards", nargs="+", default=[*GUARDS])
    parser.add_argument("--costs", nargs="+", default=[*COSTS])
    parser.add_argument("--methods", nargs="+", default=[*METHODS])
    parser.add_argument("--seconds", type=float, default=10.0, help="for a proof by Optimal")
    parser.add_argument("--into", type=Path, help="folder for the results; left out: they are printed only")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    warm()
    runs = []
    for found in measured(list(yardsticks(given.tables, given.kinds, given.first)), given):
        runs.append(found)
        gap = f"{found.gap:8.2f} %" + (" " if found.optimum is not None else " over a bound")
        print(
            f"{found.table:10} {found.guard:7} {found.cost:6} {found.method:8} {found.price:13,.0f} {gap} "
            f"{found.cpu:7.2f} s, {found.exposed} exposed, {found.unprotected} unprotected", flush=True,
        )  # fmt: skip
    if not runs:
        return 0
    print("\n" + "\n".join(" | ".join(row.values()) for row in rows_of(runs)))
    if given.into is not None:
        write(runs, given.into)
    return int(any(r.exposed and not r.unprotected and r.method != "cuboids" for r in runs))


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    raise SystemExit(main())
