"""An anonymous file judged from its rows alone: DuckDB counts both files anew, with nothing of the search's figures."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import diskret as dk


@dataclass(frozen=True)
class Recount:
    """Smallest frequency, whether the total is kept, and per dimension the largest and the mean deviation."""

    smallest: int
    total: bool
    largest: tuple[int, ...]
    mean: tuple[float, ...]
    within: tuple[float, ...]
    """Share of three-way cells within 2 and 3."""

    def __str__(self) -> str:
        kept = "total kept" if self.total else "TOTAL NOT KEPT"
        largest = "/".join(map(str, self.largest))
        mean = "/".join(f"{m:.2f}" for m in self.mean)
        near = " / ".join(f"{100 * w:.1f} %" for w in self.within)
        return f"{largest}, mean {mean}, 3-way within 2 / 3: {near}; smallest {self.smallest}, {kept}"


def above(hierarchy: dk.Hierarchy) -> list[dict[str, str]]:
    """Per level below the total the code of every finest code there, climbing parent by parent."""
    up = {c: hierarchy.codes[p] for c, p in zip(hierarchy.codes, hierarchy.parents, strict=True) if p >= 0}
    leaves = [c for c in hierarchy.codes if c not in set(up.values())]
    chains = {c: [c] for c in leaves}
    for chain in chains.values():
        while chain[-1] in up and up[chain[-1]] in up:
            chain.append(up[chain[-1]])
    depth = max(map(len, chains.values()))
    # a short chain stands for itself on the levels it lacks
    return [{c: chain[max(0, level - (depth - len(chain)))] for c, chain in chains.items()} for level in range(depth)]


def recount(
    attributes: Mapping[str, dk.Hierarchy], codes: Any, original: Any, anonymous: Any, up_to: int = 3
) -> Recount:
    """Tabulate both files in every control table up to a dimension."""
    con = duckdb.connect()
    levels: dict[str, list[str]] = {}
    frame: dict[str, Any] = {"o": np.asarray(original), "a": np.asarray(anonymous)}
    for axis, (name, hierarchy) in enumerate(attributes.items()):
        levels[name] = []
        text = np.array(hierarchy.codes, dtype=object)
        for number, to in enumerate(above(hierarchy)):
            column = f"c{axis}_{number}"
            code = {c: i for i, c in enumerate(sorted(set(to.values())))}
            # places that no finest code has are never looked up
            place = np.array([code[to[c]] if c in to else -1 for c in text], dtype=np.int32)
            frame[column] = place[codes[:, axis]]
            levels[name].append(column)
    con.register("given", frame)
    con.execute("CREATE TABLE rows AS SELECT * FROM given")
    # the anonymous file is grouped by its finest codes once more: equal rows might stand apart
    finest = ", ".join(each[0] for each in levels.values())
    smallest = con.execute(
        f"SELECT min(n) FROM (SELECT sum(a) AS n FROM rows GROUP BY {finest}) WHERE n > 0"
    ).fetchall()[0][0]
    totals = con.execute("SELECT sum(o), sum(a) FROM rows").fetchall()[0]
    largest: list[int] = []
    mean: list[float] = []
    within: tuple[float, ...] = ()
    for r in range(1, up_to + 1):
        top, cells, off = 0, 0, 0
        near = [0, 0]
        for chosen in combinations(levels, r):
            for by in product(*(levels[name] for name in chosen)):
                found = con.execute(
                    "SELECT max(d), count(*), sum(d), count(*) FILTER (d <= 2), count(*) FILTER (d <= 3) FROM "
                    f"(SELECT abs(sum(a) - sum(o)) AS d FROM rows GROUP BY {', '.join(by)})"
                ).fetchall()[0]
                top, cells, off = max(top, int(found[0])), cells + int(found[1]), off + int(found[2])
                near = [near[0] + int(found[3]), near[1] + int(found[4])]
        largest.append(top)
        mean.append(off / cells)
        within = (near[0] / cells, near[1] / cells)
    con.close()
    return Recount(int(smallest), totals[0] == totals[1], tuple(largest), tuple(mean), within)


@dataclass(frozen=True, kw_only=True)
class FileRecount:
    """What two files on disk say: smallest frequency, objects of both, and cells by dimension, class and deviation."""

    smallest: int
    objects: tuple[int, int]
    rows: int
    """Combinations of the original."""
    cells: Mapping[tuple[int, int, int], int]
    """By dimension, the lower border of the class of the original count, and the absolute deviation."""

    @property
    def largest(self) -> tuple[int, ...]:
        """The largest deviation per dimension."""
        return tuple(max(off for d, _, off in self.cells if d == r) for r in sorted({d for d, _, _ in self.cells}))


BORDERS = (0, 1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000)
"""Sizes of counts that are looked at apart."""


def recount_files(
    original: Path, anonymous: Path, attributes: Mapping[str, dk.Hierarchy], up_to: int = 3, memory: str = "6GB"
) -> FileRecount:
    """Count both files in every control table up to a dimension, from nothing but their rows."""
    con = duckdb.connect()
    con.execute(f"SET memory_limit = '{memory}'")
    names = ", ".join(attributes)
    parts = (
        f"SELECT {names}, {o} AS o, {a} AS a FROM (SELECT {names}, count(*) AS n FROM '{file}' GROUP BY ALL)"
        for file, o, a in ((original, "n", "0"), (anonymous, "0", "n"))
    )
    con.execute(
        f"CREATE TABLE counted AS SELECT {names}, CAST(sum(o) AS BIGINT) AS o, CAST(sum(a) AS BIGINT) AS a "
        f"FROM ({' UNION ALL '.join(parts)}) GROUP BY ALL"
    )
    levels: dict[str, list[str]] = {}
    joins, shown = [], []
    for axis, (name, hierarchy) in enumerate(attributes.items()):
        tops = above(hierarchy)
        levels[name] = [f"c{axis}_{number}" for number in range(len(tops))]
        codes = [{c: i for i, c in enumerate(sorted(set(to.values())))} for to in tops]
        table = {"code": np.array(list(tops[0]), dtype=object)}
        for column, to, code in zip(levels[name], tops, codes, strict=True):
            table[column] = np.array([code[to[leaf]] for leaf in tops[0]], dtype=np.int16)
        con.register(f"given{axis}", table)
        joins.append(f"JOIN given{axis} ON counted.{name} = given{axis}.code")
        shown += levels[name]
    con.execute(f"CREATE TABLE rows AS SELECT {', '.join(shown)}, o, a FROM counted {' '.join(joins)}")
    (smallest, objects, new, rows, all_rows), *_ = con.execute(
        "SELECT min(a) FILTER (a > 0), CAST(sum(o) AS BIGINT), CAST(sum(a) AS BIGINT), count(*) FILTER (o > 0), "
        "(SELECT count(*) FROM counted) - count(*) FROM rows"
    ).fetchall()
    if all_rows:
        raise AssertionError("a code that is in no list")
    border = " ".join(f"WHEN o >= {least} THEN {least}" for least in reversed(BORDERS))
    cells: dict[tuple[int, int, int], int] = {}
    for r in range(1, up_to + 1):
        for chosen in combinations(levels, r):
            for by in product(*(levels[name] for name in chosen)):
                found = con.execute(
                    f"SELECT CASE {border} END AS size, abs(a - o) AS off, count(*) FROM "
                    f"(SELECT sum(o) AS o, sum(a) AS a FROM rows GROUP BY {', '.join(by)}) GROUP BY ALL"
                ).fetchall()
                for size, off, n in found:
                    at = r, int(size), int(off)
                    cells[at] = cells.get(at, 0) + int(n)
    con.close()
    return FileRecount(smallest=int(smallest), objects=(int(objects), int(new)), rows=int(rows), cells=cells)
