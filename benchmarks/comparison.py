"""All methods side by side on public data, and merging of a large classification."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import diskret as dk
from benchmarks.case import Case
from diskret.io.metadata import classification, source
from diskret.io.rda import read_metadata
from diskret.model.source import open_source

SHARED = Path(__file__).parents[2] / "shared" / "data"
TAU = SHARED / "tables" / "tau-argus"
ADULT = SHARED / "micro" / "adult.parquet"
MISSING = "not run: the files of shared/data are not here"
RULES: Any = dk.PPercent(10) | dk.MinCount(3)


def cases() -> Iterator[Case]:
    """Values of firms, counts of persons, and 710 industries to merge."""
    yield Case(
        "comparison-values",
        "all methods: tau_testW, Var2 by size x region, p% 10 and minimum count 3",
        "diskret",
        values,
    )
    yield Case(
        "comparison-counts", "all methods: adult by marital status x occupation x sex, small cells under 3", "diskret",
        counts,
    )  # fmt: skip
    yield Case(
        "comparison-four",
        "all methods: adult by marital status x occupation x sex x race, small cells under 3, 1,517 occupied cells",
        "diskret", partial(counts, "race"),
    )  # fmt: skip
    for ordered in (True, False):
        words = "ordered" if ordered else "unordered"
        yield Case(
            f"comparison-merging-{words}", f"merge 710 industry codes ({words}) of tau_testW by region, p% 10",
            "diskret", partial(merging, ordered),
        )  # fmt: skip


@cache
def firms(*names: str) -> tuple[Any, dict[str, dk.Hierarchy]]:
    described = read_metadata(TAU / "Tau_TestW.rda")
    data = source(described, TAU / "tau_testW.asc")
    relation = open_source(data)

    def codes(name: str) -> list[str]:
        return [c for (c,) in relation.query(f"SELECT DISTINCT {relation.code(name)} FROM {relation.view} ORDER BY 1")]

    return data, {name: classification(described, name, codes(name)) for name in names}


def values() -> str:
    if not TAU.exists():
        return MISSING
    data, by = firms("Size", "Region")
    options = dk.ComparisonOptions(ordered=("Size",))
    return in_short(dk.compare_methods(data, by=by, value="Var2", rules=RULES, options=options))


def counts(*more: str) -> str:
    if not ADULT.exists():
        return MISSING
    by = dict.fromkeys(("marital-status", "occupation", "sex", *more))
    return in_short(dk.compare_methods(ADULT, by=by, rules=dk.SmallCells(3)))


def merging(ordered: bool) -> str:
    if not TAU.exists():
        return MISSING
    data, by = firms("Region", "IndustryCode")
    table = dk.tabulate(data, by=by, value="Var2", largest=2)
    said = dk.propose_merging(table, "IndustryCode", RULES, ordered=ordered).summary()
    left = f"{said['primary before']} primary become {said['primary after']}"
    return f"{said['codes before']} codes become {said['codes after']}, {left}, loss {said['loss']:.4f} bits"


def in_short(found: Any) -> str:
    """Per method: cells lost, mean relative deviation, sums off, primaries exactly known, below demand, guessed."""
    parts = []
    for m in found.methods:
        off = 100 * (m.overall.mean_relative or 0.0)
        attack = f"{m.exact} exact, {m.below_demand} below demand, {m.guessed} guessed of {m.primary}"
        parts.append(f"{m.method}: {m.lost} lost, {off:.1f} % off, {m.sums_off} sums off, {attack}")
    return "; ".join(parts)
