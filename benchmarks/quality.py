"""`python -m benchmarks.quality [--tables 16] [--folder ../shared/bench]`: how far from the cheapest safe pattern.

Tables with a known optimum: flat ones of 100 to 169 cells, cubes and trees of 100 to 500 cells, all of seeded firms,
then mid, h3 and the classical instances where the folder is (see yardsticks.py). The optimum is proved by the method
Optimal once and kept in optima.json beside the results, under the fingerprint of its table (that of mid against
everybody by value was proved elsewhere and entered by hand); a pattern that is cheaper
than a proved optimum is an error of the package and ends the run. Every pattern is attacked by solvers that share
nothing with the package (`benchmarks.lone`, `benchmarks.systems`): by everybody, and where the promise says so by
whoever is alone in a cell.

Written are quality.md (one table), quality.svg (gap against CPU seconds) and quality.csv (every run).
Barriers are off, so that the objective is the value, or the number of cells, and nothing else.
"""

from __future__ import annotations

import argparse
import csv
import json
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np

from benchmarks import grids, yardsticks
from benchmarks.__main__ import commit
from benchmarks.times import seconds as in_words
from benchmarks.yardsticks import COSTS, GUARDS, KINDS, METHODS, Asked, Made, Yardstick
from diskret.publication.plots import save_chart

HERE = Path(__file__).parent
OPTIMA = HERE / "optima.json"
CLOSE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one method made of one table, and what is known of that."""

    kind: str
    table: str
    guard: str
    cost: str
    method: str
    price: float
    secondaries: int
    cpu: float
    exposed: int | None
    unprotected: int
    optimum: float | None
    """Proved; None where only a bound is known."""
    bound: float
    best: float
    """The cheapest safe pattern that is known."""

    @property
    def gap(self) -> float:
        """Percent over the optimum, or over the bound where no optimum is known."""
        return _over(self.price, self.bound if self.optimum is None else self.optimum)

    @property
    def over_best(self) -> float:
        """Percent over the cheapest pattern that is known."""
        return _over(self.price, self.best)


def _least(run: Run) -> str:
    return "the optimum" if run.optimum is not None else "a bound" if run.bound > 0 else "the best"


def _over(price: float, least: float) -> float:
    return 100 * (price / least - 1) if least > 0 else 0.0 if price <= 0 else 100.0


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


def proved_bound(made: Made, *, whole: bool) -> tuple[float, bool]:
    """A lower bound on the price (a ``whole`` number?), as the result says it, and whether it is reached."""
    if made.bound is None:
        return 0.0, False
    bound = float(ceil(made.bound - CLOSE) if whole else made.bound)
    return bound, bound >= made.price * (1 - CLOSE)


# --- runs -------------------------------------------------------------------------------------------------------------


def measured(stick: Yardstick, given: argparse.Namespace) -> Iterator[Run]:
    """All runs of a table, with what is known of the optimum; optima are proved where they are not known yet."""
    optima = Optima.kept()
    asked = [
        Asked(guard=guard, cost=cost, method=method, seconds=max(given.seconds, stick.seconds))
        for guard, cost in ((g, c) for g in stick.guards if g in given.guards for c in stick.costs if c in given.costs)
        for method in _methods(stick, optima.get(_key(stick, guard, cost)), given)
    ]
    found = yardsticks.runs(stick, asked, given.folder)
    for each, made in zip(asked, found, strict=True):
        if made is not None and not made.exposed and not made.unprotected:
            bound, proved = proved_bound(made, whole=each.cost == "cells")
            took = each.seconds if each.method == "optimal" else 0.0
            known = Optimum(table=stick.name, price=made.price, bound=bound, proved=proved, seconds=took)
            optima.learn(_key(stick, each.guard, each.cost), known)
    optima.keep()
    for each, made in zip(asked, found, strict=True):
        best = optima.get(_key(stick, each.guard, each.cost))
        if each.method not in given.methods or best is None:
            continue
        if made is None:
            print(f"{stick.name:10} {each.guard:7} {each.cost:6} {each.method:8} did not end in {stick.limit} CPU s")
            continue
        yield Run(
            kind=stick.kind, table=stick.name, guard=each.guard, cost=each.cost, method=each.method, price=made.price,
            secondaries=made.secondaries, cpu=made.cpu, exposed=made.exposed, unprotected=made.unprotected,
            optimum=best.price if best.proved else None, bound=best.bound, best=best.price,
        )  # fmt: skip


def _key(stick: Yardstick, guard: str, cost: str) -> str:
    return f"{stick.fingerprint} {guard} {cost}"


def _methods(stick: Yardstick, known: Optimum | None, given: argparse.Namespace) -> list[str]:
    """The methods that are wanted, and Optimal where it may still prove something."""
    again = known is None or (not known.proved and max(given.seconds, stick.seconds) > known.seconds)
    return [m for m in stick.methods if m in given.methods or (m == "optimal" and again)]


# --- what is shown ----------------------------------------------------------------------------------------------------

COLUMNS = (
    "tables", "against", "cost", "method", "optimum known", "mean gap %", "worst gap %", "reached", "over bound %",
    "over best %", "price", "secondaries", "CPU s", "most CPU s", "exposed in",
)  # fmt: skip


def rows_of(runs: Sequence[Run], *, apart: bool = True) -> Iterator[dict[str, str]]:
    """One row per kind of tables, guard, cost and method; classical instances stand ``apart``, or together."""
    groups: dict[tuple[str, ...], list[Run]] = {}
    for r in runs:
        group = r.table if r.kind == "csp" and apart else r.kind
        groups.setdefault((group, r.guard, r.cost, r.method), []).append(r)
    for (kind, guard, cost, method), found in groups.items():
        known = [r.gap for r in found if r.optimum is not None]
        bounded = [r.gap for r in found if r.optimum is None and r.bound > 0]
        others = [r.over_best for r in found if r.optimum is None]
        one = found[0] if len(found) == 1 else None
        words = (
            kind if one is not None else f"{kind}, {len(found)}",
            "everybody" if guard == "public" else "single contributors",
            cost, method, str(len(known)), f"{mean(known):.2f}" if known else "", f"{max(known):.2f}" if known else "",
            str(sum(g < 1e-6 for g in known)), f"{mean(bounded):.2f}" if bounded else "",
            f"{mean(others):.2f}" if others else "", "" if one is None else f"{one.price:,.0f}",
            "" if one is None else f"{one.secondaries:,}", in_words(mean(r.cpu for r in found)),
            in_words(max(r.cpu for r in found)), _exposed_in(found),
        )  # fmt: skip
        yield dict(zip(COLUMNS, words, strict=True))


def _exposed_in(runs: Sequence[Run]) -> str:
    waiting = sum(r.exposed is None for r in runs)
    return str(sum((r.exposed or 0) > 0 for r in runs)) + (f" ({waiting} not attacked)" if waiting else "")


def text_of(rows: Sequence[Mapping[str, str]]) -> str:
    """The table with what its columns mean."""
    said = [
        "# How far from the cheapest safe pattern",
        f"Written by `python -m benchmarks.quality` on commit {commit()}. Gaps are percent over a proved optimum "
        "(`optimum known` says for how many tables there is one, `reached` how often it was hit; that of mid against "
        "everybody by value, 160,276, was proved elsewhere and is taken over, not proved by these runs). Of tables "
        "without "
        "one `over bound` is the gap to the best bound that is known (the optimum lies between), `over best` to the "
        "cheapest pattern that any run found so far. `price` is what is minimised. `exposed in` counts tables in which "
        "the independent attack finds a primary cell exposed (h3: a sample of persons "
        "and demands, as far as 20 CPU seconds go); cuboids "
        "promise nothing across subtables. Barriers are off.",
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
    save_chart(chart_of(list(rows_of(runs, apart=False))), into / "quality.svg", internal=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write what was found; 1 if a pattern that was called safe is not."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=16, help="of every kind that is made")
    parser.add_argument("--first", type=int, default=0, help="number of the first of them: other tables")
    parser.add_argument("--kinds", nargs="+", default=[*KINDS, "mid", "h3", "csp"], help="or names of csp")
    parser.add_argument("--guards", nargs="+", default=[*GUARDS])
    parser.add_argument("--costs", nargs="+", default=[*COSTS])
    parser.add_argument("--methods", nargs="+", default=[*METHODS])
    parser.add_argument("--seconds", type=float, default=10.0, help="for a proof by Optimal")
    parser.add_argument("--folder", type=Path, default=grids.FOLDER, help="with mid, h3 and csp/")
    parser.add_argument("--into", type=Path, help="folder for the results; left out: they are printed only")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    yardsticks.warm()
    runs: list[Run] = []
    made = yardsticks.made(given.tables, given.kinds, given.first)
    for stick in (*made, *yardsticks.shared(given.kinds, given.folder)):
        for found in measured(stick, given):
            runs.append(found)
            known = found.optimum is not None or found.bound > 0
            gap = f"{found.gap if known else found.over_best:8.2f} % over " + _least(found)
            print(
                f"{found.table:10} {found.guard:7} {found.cost:6} {found.method:8} {found.price:13,.0f} {gap} "
                f"{found.cpu:7.2f} s, {found.exposed} exposed, {found.unprotected} unprotected", flush=True,
            )  # fmt: skip
        if given.into is not None and runs:
            write(runs, given.into)
    print("\n" + "\n".join(" | ".join(row.values()) for row in rows_of(runs)))
    return int(any(r.exposed and not r.unprotected and r.method != "cuboids" for r in runs))


if __name__ == "__main__":
    np.seterr(all="raise", under="ignore")
    raise SystemExit(main())
