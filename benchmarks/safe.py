"""SAFE: quality per CPU second on one core, both searches, simple ways beside them; speed of the moves.

Growth up to a whole country stands in census.md (`python -m benchmarks.census growth`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import diskret as dk
from benchmarks import baselines, census
from benchmarks.case import Case
from benchmarks.recount import recount
from diskret.safe import _search_kernels
from diskret.safe._search_kernels import Chance, Groups
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.control import control_tables
from diskret.safe.control_cells import ControlCells, control_cells
from diskret.safe.field import Field
from diskret.tabulation.combinations import Combinations, count_combinations

MICRO = Path(__file__).parents[2] / "shared" / "data" / "micro"
MISSING = "not run: the files of shared/data/micro are not here"
SMALL = {
    "eusilc": f"""SELECT region, age // 5 AS age, gender, "ecoStat", citizenship, least(hsize, 6) AS hsize
        FROM '{MICRO}/eusilc_population.parquet'""",
    "adult": f"""SELECT sex, age // 5 AS age, race, "marital-status" AS marital, education, "salary-class" AS salary
        FROM '{MICRO}/adult.parquet'""",
    "ses": f"""SELECT "NACE1", size, sex, age, education, "Occupation" FROM '{MICRO}/ses.parquet'""",
}
PERSONS = {"census100k": 100_000, "census1m": 1_000_000, "census10m": 10_000_000}
GOALS = {
    "eusilc": [(1, 2, 2), (0, 2, 2)], "adult": [(0, 2, 3), (1, 2, 2)], "ses": [(1, 2, 3), (1, 2, 2)],
    "census100k": [(2, 7, 7), (2, 6, 6)], "census1m": [(2, 7, 7), (2, 6, 6)],
}  # fmt: skip
MORE: dict[tuple[str, tuple[int, ...]], dict[str, float]] = {
    ("adult", (1, 2, 2)): {"effort": 10.0},
    ("ses", (1, 2, 2)): {"effort": 10.0, "swaps": 0.0},
    ("census100k", (2, 6, 6)): {"effort": 3.0},
}
"""Options other than the default where a goal needs them."""


@cache
def given(name: str) -> tuple[Any, dict[str, dk.Hierarchy | None]]:
    """Data and attributes of a file."""
    if name == "printed size":
        return census.establishments(), dict(census.establishment_attributes())
    if name in PERSONS or name.startswith("census"):
        return census.persons(PERSONS.get(name) or int(name.removeprefix("census"))), dict(census.attributes())
    if not MICRO.exists():
        raise SystemExit(MISSING)
    made = duckdb.sql(SMALL[name])
    return made.to_arrow_table(), dict.fromkeys(made.columns)


@cache
def counted(name: str) -> tuple[Combinations, ControlCells]:
    """The file as combinations with its control cells."""
    data, attributes = given(name)
    found = count_combinations(data, by=attributes)
    return found, control_cells(found, control_tables(dk.Control(), found.by))


def cases() -> Iterator[Case]:
    """Goals, default runs, the printed method, simple ways; speed."""
    for name, goals in GOALS.items():
        what = f"anonymise {name}, tables up to 3 ways"
        prepare = partial(given, name)
        for limits in goals:
            more = MORE.get((name, limits), {})
            asked = dk.LadderSearch(limits=limits, **more)  # type: ignore[arg-type]
            label = f"diskret, ladder to {'/'.join(map(str, limits))}"
            label += "".join(f", {option} {value:g}" for option, value in more.items())
            case = f"safe-{name}-{''.join(map(str, limits))}"
            yield Case(case, what, label, partial(ours, name, asked), prepare, warm, judged, limit=1800)
        yield Case(
            f"safe-{name}-default", what, "diskret, ladder", partial(ours, name), prepare, warm, judged, limit=3000
        )
        if name != "census1m":
            run = partial(ours, name, dk.PrintedSearch())
            yield Case(f"safe-{name}-printed", what, "diskret, printed", run, prepare, warm, judged, limit=1800)
        for label, way in SIMPLE.items():
            yield Case(f"safe-{name}-{way}", what, label, partial(simple, name, label), partial(counted, name))
    for weights in (1, 2):
        what, run = (
            f"anonymise census100k, weights {weights}",
            partial(ours, "census100k", dk.LadderSearch(), weights=weights),
        )
        yield Case(
            f"safe-weights-{weights}", what, "diskret, ladder", run, partial(given, "census100k"), warm, weighted
        )
    what = "anonymise printed size: 7 attributes, 16 key levels"
    searches = {"diskret, printed": dk.PrintedSearch(), "diskret, ladder": dk.LadderSearch()}
    for label, search in searches.items():
        run, prepare = partial(ours, "printed size", search), partial(given, "printed size")
        yield Case(f"safe-size-{label[9:]}", what, label, run, prepare, warm, judged, limit=1800)
    what = "anonymise 200 records with 40 attributes, 10,700 tables"
    yield Case("safe-wide", what, "diskret, ladder", wide, warm=warm, judge=judged)
    for name in ("eusilc", "census100k", "census1m"):
        what = f"moves of {name}"
        yield Case(
            f"safe-moves-{name}", what, "diskret", partial(moves, name), partial(counted, name), partial(moves, name)
        )


def ours(name: str, search: Any = "ladder", weights: Any = 0, threads: int = 1) -> Anonymisation:
    """From data to an anonymous file; reading and counting included."""
    data, attributes = given(name)
    options = dk.AnonymiseOptions(threads=threads)
    return dk.anonymise(data, attributes, search=search, control=dk.Control(weights=weights), options=options)


def wide() -> Anonymisation:
    """Few records, many attributes."""
    random = np.random.default_rng(3)
    data = {f"a{i}": random.choice(list("abc"), 200) for i in range(40)}
    return dk.anonymise(data, list(data), seed=1, options=dk.AnonymiseOptions(threads=1))


def warm() -> None:
    """Both searches on a tiny file, so that everything is compiled."""
    tiny = {"a": list("aabbccddeeff"), "b": list("xyxyxyxyxyxx"), "c": list("ppqqppqqppqq")}
    for search in (dk.LadderSearch(), dk.PrintedSearch()):
        dk.anonymise(tiny, ["a", "b", "c"], search=search, options=dk.AnonymiseOptions(threads=1))


def judged(done: Anonymisation) -> str:
    """Counted again from the rows."""
    again = recount(done.attributes, done.codes, done.original, done.frequency)
    told = tuple(done.quality.maxima.values())
    assert again.largest == told, (again, told)
    return f"{again}; {done.control.size:,} cells, {done.groups / 1e6:.1f} M groups"


def weighted(done: Anonymisation) -> str:
    """The same, with the largest deviation of small cells apart."""
    small = [int(t.maxima[0]) for t in done.quality.by_dimension.values()]
    return f"{judged(done)}; cells below 10: {'/'.join(map(str, small))}"


SIMPLE = {"every third row tripled": "tripled", "k-member grouping": "grouped", "local suppression": "suppressed"}


def simple(name: str, way: str) -> str:
    """A simple way; its file counted again in the same way."""
    found, cells = counted(name)
    if way == "local suppression":
        left = baselines.suppressed(found.codes, found.frequency)
        off = baselines.suppressed_deviation(cells, found.codes, left, found.frequency, list(found.by))
        by = [off[cells.dimension == r] for r in (1, 2, 3)]
        gone = (left < 0).any(axis=1)
        share = found.frequency[gone].sum() / found.objects
        largest, mean = "/".join(str(d.max()) for d in by), "/".join(f"{d.mean():.2f}" for d in by)
        return f"{largest}, mean {mean} objects missing; {share:.1%} of the objects touched"
    x = (
        baselines.tripled(found.frequency)
        if way.startswith("every")
        else baselines.grouped(found.codes, found.frequency)
    )
    return str(recount(found.by, found.codes, found.frequency, x))


def moves(name: str) -> str:
    """Groups priced per second in random order and along the file."""
    import time

    found, cells = counted(name)
    field = Field(found, cells, np.zeros(cells.size, np.int32), 3, dk.LadderSearch(swaps=0.0), 1)
    x = np.zeros(len(found), np.int32)
    cold = Chance(seed=7, warmth=np.float32(0), noise=np.zeros(4096, np.float32))
    weight = np.ones(cells.places_size + 1, np.float32)
    said = []
    for kind in ("squares", "ladder"):
        if kind == "squares":
            field.squares(x)
        else:
            field.ladder(x, (2, 7, 7), weight, (9, 9, 9))
        for order in ("random", "along the file"):
            rows = np.arange(min(len(found), 100_000), dtype=np.int32)
            rows = (
                np.random.default_rng(1).permutation(len(found))[: rows.size].astype(np.int32)
                if order == "random"
                else rows
            )
            which = np.full(rows.size, -1 if order == "random" else len(found.by) - 1, np.int16)
            groups = Groups(rows=rows, which=which, wanted=np.zeros(rows.size, np.uint8))
            begun = time.process_time()
            _search_kernels.run_groups(groups, 0, rows.size, field.ground, field.places, field.penalty, cold, x, False)
            said.append(f"{kind} {order} {rows.size / (time.process_time() - begun) / 1e6:.2f} M/s")
    places = cells.places
    each = places.level.shape[1] * places.level.itemsize + 4 * places.listed.shape[1]
    said.append(f"{each} bytes of codes per row; {places.listed.shape[1]} tables listed, {cells.places_size:,} places")
    return "; ".join(said)
