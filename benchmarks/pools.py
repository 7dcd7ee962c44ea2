"""Pools of linked tables: groupings that cut across each other, made up and public, and two ways to protect them."""

from __future__ import annotations

import csv
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from benchmarks.case import Case

SSB = Path(__file__).parents[2] / "shared" / "data" / "tables" / "ssbtools"
MISSING = "not run: the tables of shared/data are not here"
Tables = tuple[dict[str, dk.Table], dict[str, Any]]
WAYS = {"alone": "each table alone, audit", "subtables": "pool, subtables", "audit": "pool, audit"}
MADE_UP = {"400": (400, 60, 34), "1000": (1000, 100, 51)}
"""Regions, sectors, and the largest number of respondents: every so-manieth inner cell is primary."""


def cases() -> Iterator[Case]:
    """Made-up regions in two groupings, then the public files."""
    for name, (regions, sectors, most) in MADE_UP.items():
        make_up = partial(groupings, regions, sectors, most)
        for way, words in WAYS.items():
            if way == "alone" and regions > 400:
                continue  # says nothing new, and takes minutes
            yield Case(
                f"pools-{name}-{way}", f"{regions:,} regions in two groupings by {sectors} sectors, q = 0.3",
                f"diskret, {words}", partial(protect, make_up, way, 0.3), make_up, warm, judge,
            )  # fmt: skip
    for name, (what, make) in PUBLIC.items():
        for way, words in WAYS.items():
            yield Case(
                f"pools-{name}-{way}", what, f"diskret, {words}", partial(protect, make, way, 0.0, zeros="allowed"),
                make, warm, judge,
            )  # fmt: skip


@cache
def groupings(regions: int, sectors: int, most: int) -> Tables:
    """The same cells twice: regions in six districts and in five zones that cut across them.

    Counts of respondents only choose the primary cells; against whom to guard besides the public is another matter.
    """
    rng = np.random.default_rng(1)
    names, codes = [f"r{i:04d}" for i in range(regions)], [f"s{i:03d}" for i in range(sectors)]
    districts = {f"D{k}": names[k::6] for k in range(6)}
    zones = {f"Z{k}": names[k * regions // 5 : (k + 1) * regions // 5] for k in range(5)}
    cells = {
        "region": np.repeat(names, sectors), "sector": np.tile(codes, regions),
        "x": np.round(rng.lognormal(3, 1.5, regions * sectors)) + 1, "n": rng.integers(1, most, regions * sectors),
    }  # fmt: skip
    tables = {}
    for name, grouping in (("districts", districts), ("zones", zones)):
        by = {"region": dk.Hierarchy.from_nested({"Total": grouping}), "sector": dk.Hierarchy.flat(codes)}
        marked = dk.mark(dk.Table.from_cells(cells, by=by, value="x", count="n"), dk.MinCount(2))
        tables[name] = replace(marked, respondents=None)
    return tables, {}


def _rows(file: str) -> list[dict[str, str]]:
    with (SSB / file).open(encoding="utf-8", newline="") as opened:
        return list(csv.DictReader(opened))


def _counted(rows: list[dict[str, str]], runs: dict[str, dk.Hierarchy], least: int = 4) -> dk.Table:
    """Persons over some columns; cells with fewer are primary."""
    added: dict[tuple[str, ...], float] = {}
    for row in rows:
        key = tuple(row[name] for name in runs)
        added[key] = added.get(key, 0.0) + float(row["freq"])
    cells = {name: [k[i] for k in added] for i, name in enumerate(runs)} | {"persons": list(added.values())}
    table = dk.Table.from_cells(cells, by=runs, value="persons", frequency=True)
    return dk.mark(table, dk.SmallCells(least))


def _grouped(rows: list[dict[str, str]], column: str, by: str, prefix: str) -> dk.Hierarchy:
    groups: dict[str, list[str]] = {}
    for row in rows:
        codes = groups.setdefault(f"{prefix}{row[by]}", [])
        if row[column] not in codes:
            codes.append(row[column])
    return dk.Hierarchy.from_nested({"Total": groups})


def _flat(rows: list[dict[str, str]], column: str) -> dk.Hierarchy:
    return dk.Hierarchy.flat(list(dict.fromkeys(row[column] for row in rows)))


@cache
def two_groupings(file: str, months: bool = True) -> Tables | None:
    """Regions in counties and in groups of municipalities, maybe months in two groupings; by main income."""
    if not SSB.exists():
        return None
    rows = _rows(file)
    income = _flat(rows, "main_income")
    counties = {"region": _grouped(rows, "region", "county", "county "), "main_income": income}
    groups = {"region": _grouped(rows, "region", "k_group", "group "), "main_income": income}
    if months:
        counties["months"], groups["months"] = _flat(rows, "months"), _grouped(rows, "months", "months2", "half ")
    return {"counties": _counted(rows, counties), "groups": _counted(rows, groups)}, {}


@cache
def counties_apart(file: str) -> Tables | None:
    """Scenario 1: a table per county and one for the country; no table shows that counties add up.

    Counties have no cell with few persons: those with fewer than 60 are taken as primary.
    """
    if not SSB.exists():
        return None
    rows = _rows(file)
    runs = {"main_income": _flat(rows, "main_income"), "months": _flat(rows, "months")}
    counties = list(dict.fromkeys(row["county"] for row in rows))
    tables = {f"county {c}": _counted([r for r in rows if r["county"] == c], runs, 60) for c in counties}
    tables["country"] = _counted(rows, runs)
    fixed = {f"county {c}": {"county": c} for c in counties}
    return tables, {"fixed": fixed, "over": {"county": dk.Hierarchy.flat(counties)}}


@cache
def one_taken_apart(file: str) -> Tables | None:
    """Scenario 2: counties by months, and single counties taken apart by region and main income."""
    if not SSB.exists():
        return None
    rows = _rows(file)
    tables = {"main": _counted(rows, {"county": _flat(rows, "county"), "months": _flat(rows, "months")})}
    fixed = {}
    for county in list(dict.fromkeys(row["county"] for row in rows))[:6]:
        inside = [r for r in rows if r["county"] == county]
        runs = {"region": _flat(inside, "region"), "main_income": _flat(rows, "main_income")}
        # every county has regions of its own: the total of its table is the county
        runs["region"] = dk.Hierarchy.flat(runs["region"].codes[:-1], total="all regions")
        tables[f"county {county}"] = _counted(inside, runs)
        fixed[f"county {county}"] = {"county": county}
    fixed["main"] = {}
    return tables, {"fixed": fixed}


PUBLIC: dict[str, tuple[str, Callable[[], Tables | None]]] = {
    "d3-groupings": ("ssbtools d3, regions and months in two groupings", partial(two_groupings, "d3.csv")),
    "d4-groupings": ("ssbtools d4, regions in two groupings", partial(two_groupings, "d4.csv", months=False)),
    "d4-counties": ("ssbtools d4, scenario 1: counties and the country", partial(counties_apart, "d4.csv")),
    "d4-parts": ("ssbtools d4, scenario 2: counties taken apart", partial(one_taken_apart, "d4.csv")),
}


def protect(make: Callable[[], Tables | None], way: str, q: float, **options: Any) -> Any:
    """The pool with its pattern and the audit of it, and what was asked for."""
    made = make()
    if made is None:
        return None
    tables, how = made
    asked: dict[str, Any] = {"protection": dk.Promise(min_relative_range=q, levels=False), **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if way != "alone":
            done = dk.suppress(dk.Pool.of(tables, **how), guarantee=way, **asked)
            return done.table, done.audit
        single = {name: dk.suppress(t, guarantee="audit", **asked).table for name, t in tables.items()}
        pool = dk.Pool.of(single, **how)
        return pool, dk.audit(pool, asked["protection"])


def warm() -> None:
    """Everything compiled, on a small pool."""
    for way in WAYS:
        protect(partial(groupings, 24, 4, 9), way, 0.3)


def judge(found: Any) -> str:
    """Cells, shared ones, patterns, and what the audit of the pool says."""
    if found is None:
        return MISSING
    pool, report = found
    primary, secondary = (int((pool.status == s).sum()) for s in (dk.Status.PRIMARY, dk.Status.SECONDARY))
    share = 100 * float(pool.value[pool.hidden].sum() / pool.value.sum())
    return (
        f"{len(pool.tables)} tables, {pool.size:,} cells, {int(pool.shared.sum()):,} shared, {primary:,} primary, "
        f"{secondary:,} secondary, {share:.2f} % of value hidden; {len(report.exposed)} exposed, "
        f"{len(report.undecided)} undecided in the pool"
    )
