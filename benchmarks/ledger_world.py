"""A made-up business statistic of ten years, and what is released of it: the world of the ledger's simulation.

Firms in 24 municipalities, ten branches and three sizes report turnover by quarters. Municipalities stand in six
districts and three states, and, cutting across them, in five labour markets. Every year yearbook tables, quarterly
results, growth rates, means and special tables are released, last year's results are revised, and requests answered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import diskret as dk
from diskret import Hierarchy, Table
from diskret.ledger import About, Ratio

AREAS = [f"m{i:02d}" for i in range(24)]
BRANCHES = [f"b{i}" for i in range(10)]
SIZES = ["small", "medium", "large"]
DISTRICT = {a: f"d{i // 4}" for i, a in enumerate(AREAS)}
STATE = {f"d{i}": f"s{i // 2}" for i in range(6)}
MARKET = {a: f"l{(i * 7 + i // 5) % 5}" for i, a in enumerate(AREAS)}
SECTION = {b: f"S{i // 3}" for i, b in enumerate(BRANCHES)}
RULES = dk.rules.MinCount(3) | dk.rules.PPercent(10)


def _tree(parent: Mapping[str, str], top: str, above: Mapping[str, str] | None = None) -> Hierarchy:
    parents = dict(parent) | {p: (above or {}).get(p, top) for p in parent.values()}
    parents |= dict.fromkeys((above or {}).values(), top)
    return Hierarchy.from_parents(parents)


TREES = {
    "area": _tree(DISTRICT, "DE", STATE),
    "market": _tree(MARKET, "DE"),
    "branch": _tree(SECTION, "all branches"),
    "size": Hierarchy.flat(SIZES, total="all sizes"),
}


@dataclass(frozen=True)
class Firms:
    """Who reports, and what."""

    area: np.ndarray
    branch: np.ndarray
    size: np.ndarray
    turnover: np.ndarray
    """By year and quarter."""


def firms(seed: int, years: int, units: int = 700) -> Firms:
    """Firms, many small ones and few large ones, that grow and shrink."""
    draw = np.random.default_rng(seed)
    weight = draw.dirichlet(np.full(24, 0.7))
    area = draw.choice(24, units, p=weight)
    branch = draw.choice(10, units, p=draw.dirichlet(np.full(10, 1.0)))
    level = draw.lognormal(5, 1.6, units)
    size = np.digitize(level, np.quantile(level, [0.7, 0.93]))
    growth = np.cumsum(draw.normal(0.02, 0.15, (years, units)), axis=0)
    quarters = draw.dirichlet(np.full(4, 30.0), (years, units)).transpose(0, 2, 1)
    turnover = np.rint(level * np.exp(growth)[:, None, :] * quarters * 4) + 1
    return Firms(area, branch, size, turnover.astype(np.int64))


@dataclass(frozen=True, kw_only=True)
class Issue:
    """One table that is to be released."""

    name: str
    year: int
    about: About
    table: Table
    """Marked by the rules; of rates and means: with their values, nothing hidden."""
    ratio_of: tuple[Table, Table] | None = None
    """Of rates and means: the tables of what stands above and below the line, marked."""
    codes: Mapping[str, str] = field(default_factory=dict)


def coarse(axis: str, level: str) -> Hierarchy:
    """A classification without its finest codes."""
    if level == "district":
        return _tree(STATE, "DE")
    if level == "state":
        return Hierarchy.flat(sorted(set(STATE.values())), total="DE")
    if level == "market":
        return Hierarchy.flat(sorted(set(MARKET.values())), total="DE")
    assert level == "section"
    assert axis == "branch"
    return Hierarchy.flat(sorted(set(SECTION.values())), total="all branches")


def about(period: str, **more: Any) -> About:
    """What every table of the statistic counts."""
    return About(population="firms", value="turnover", period=period, unit="1000 EUR", **more)


def issues(seed: int, years: int) -> Iterator[Issue]:
    """Everything that is released, in order."""
    records = firms(seed, years)
    draw = np.random.default_rng(seed + 1)
    before: dict[str, Table] = {}
    for year in range(years):
        yield from _of_year(records, year, draw, before)


LEVEL = {"district": DISTRICT, "state": {a: STATE[d] for a, d in DISTRICT.items()}, "market": MARKET}


def _renamed(records: Firms, level: dict[str, str]) -> np.ndarray:
    codes: np.ndarray = np.array([level[a] for a in AREAS])[records.area]
    return codes


def _table(
    records: Firms, values: np.ndarray, axes: Mapping[str, str], chosen: np.ndarray | None = None
) -> Table:  # fmt: skip
    """A marked table by levels of classifications, such as {"area": "district", "branch": ""}."""
    codes: dict[str, list[str]] = {}
    by: dict[str, Hierarchy] = {}
    kept = np.flatnonzero(np.ones(values.size, dtype=bool) if chosen is None else chosen)
    for axis, level in axes.items():
        if axis == "area" and level:
            column = _renamed(records, LEVEL[level])
            by[axis] = coarse("area", level)
        elif axis == "area":
            column, by[axis] = np.array(AREAS)[records.area], TREES["area"]
        elif axis == "branch" and level:
            column = np.array([SECTION[b] for b in BRANCHES])[records.branch]
            by[axis] = coarse("branch", "section")
        elif axis == "branch":
            column, by[axis] = np.array(BRANCHES)[records.branch], TREES["branch"]
        else:
            column, by[axis] = np.array(SIZES)[records.size], TREES["size"]
        codes[axis] = column[kept].tolist()
    data = codes | {"turnover": values[kept].tolist()}
    return dk.mark(dk.tabulate(data, by=by, value="turnover"), RULES, special_cases=False)


GROUPS = {
    "area": {d: [a for a in AREAS if DISTRICT[a] == d] for d in STATE}
    | {m: [a for a in AREAS if MARKET[a] == m] for m in sorted(set(MARKET.values()))},
    "branch": {s: [b for b in BRANCHES if SECTION[b] == s] for s in sorted(set(SECTION.values()))},
}  # fmt: skip


def _of_year(records: Firms, year: int, draw: np.random.Generator, before: dict[str, Table]) -> Iterator[Issue]:
    period = str(2015 + year)
    values = records.turnover[year].sum(axis=0)
    kinds: list[tuple[str, dict[str, str]]] = [
        ("yearbook 1", {"area": "district", "branch": ""}),
        ("yearbook 2", {"area": "state", "branch": "section", "size": ""}),
        ("yearbook 3", {"area": "market", "branch": "section"}),
        ("yearbook 4", {"area": "market", "size": ""}),
        ("yearbook 5", {"area": ""}),
        ("branches", {"branch": "", "size": ""}),
        ("districts", {"area": "district", "size": ""}),
        ("municipalities", {"area": "", "branch": "section"}),
    ]

    def said(at: str, **more: Any) -> About:
        return about(at, groupings=GROUPS, **more)

    made = {}
    for name, axes in kinds:
        made[name] = _table(records, values, axes)
        yield Issue(name=f"{name} {period}", year=year, about=said(period), table=made[name])
    for quarter in range(4):
        own = records.turnover[year, quarter]
        at = f"{period}-Q{quarter + 1}"
        yield Issue(
            name=f"quarter {at}",
            year=year,
            about=said(at),
            table=_table(records, own, {"area": "state", "branch": "section"}),
        )
        yield Issue(name=f"markets {at}", year=year, about=said(at), table=_table(records, own, {"area": "market"}))
    if year:
        last = str(2014 + year)
        old, new = before["yearbook 1"], made["yearbook 1"]
        yield _rates(
            f"growth {period}", year, new, old, said(period, ratio=Ratio(under={"period": last}, times=100, plus=-100))
        )
        yield from _revision(records, year, draw, said(last, revises=f"yearbook 3 {last}"))
    yield from _special(records, year, values, draw, said)
    before.clear()
    before.update(made)


def _rates(name: str, year: int, new: Table, old: Table, what: About) -> Issue:
    """Growth rates with one decimal, where there was something last year."""
    under = np.where(old.value > 0, old.value, 1)
    rate = np.where(old.value > 0, np.round(100 * new.value / under - 100, 1), 0.0)
    given = Table(
        by=new.by,
        response="growth",
        value=rate,
        status=np.where(old.value > 0, 0, 1).astype(np.uint8),
        given=rate,
        decimals=1,
    )
    return Issue(name=name, year=year, about=what, table=given, ratio_of=(new, old))


def _revision(records: Firms, year: int, draw: np.random.Generator, what: About) -> Iterator[Issue]:
    """Some firms corrected what they reported last year."""
    values = records.turnover[year - 1].sum(axis=0).copy()
    late = draw.choice(values.size, values.size // 50, replace=False)
    values[late] = np.rint(values[late] * draw.uniform(0.9, 1.12, late.size)) + 1
    table = _table(records, values, {"area": "market", "branch": "section"})
    yield Issue(name=f"revised {what.period}", year=year, about=what, table=table)


def _special(records: Firms, year: int, values: np.ndarray, draw: np.random.Generator, said: Any) -> Iterator[Issue]:
    """Five requests: one or two codes, taken apart by something else."""
    period = str(2015 + year)
    for number in range(5):
        kind = int(draw.integers(4))
        if kind == 0:
            district = f"d{int(draw.integers(6))}"
            chosen = _renamed(records, DISTRICT) == district
            fixed, axes = {"area": district}, {"branch": "section", "size": ""}
        elif kind == 1:
            section = f"S{int(draw.integers(4))}"
            chosen = np.array([SECTION[b] for b in BRANCHES])[records.branch] == section
            fixed, axes = {"branch": section}, {"area": "district", "size": ""}
        elif kind == 2:
            some = sorted(draw.choice(AREAS, int(draw.integers(2, 6)), replace=False).tolist())
            chosen = np.isin(np.array(AREAS)[records.area], some)
            fixed, axes = {"area": "+".join(some)}, {"branch": "section"}
        else:
            size = SIZES[int(draw.integers(3))]
            chosen = np.array(SIZES)[records.size] == size
            fixed, axes = {"size": size}, {"area": "market", "branch": "section"}
        what = said(period, fixed=fixed)
        if kind == 2:
            groups = {**what.groupings, "area": {**what.groupings["area"], fixed["area"]: some}}
            what = about(period, fixed=fixed, groupings=groups)
        yield Issue(
            name=f"request {period} {number + 1}", year=year, about=what, table=_table(records, values, axes, chosen)
        )
