"""`python -m benchmarks.panel`: examples/panel attacked by an attacker of its own.

The job makes the scientific-use file; who is who is read off unit numbers that are kept for this. Shared with the
package is nothing else: codes are read from the files of the example, SciPy assigns by the logarithms of employees and
turnover, in three ways: records one to one within their year and group of industries, each record to the nearest, and
enterprises one to one by all their waves at once. What counts is the share of records of a combination of region, size
class and group of industries that are found, with a value that is off by at most 10 percent.
"""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

PANEL = Path(__file__).parents[1] / "examples" / "panel"
TARGETS = ("wages", "exports", "rd_expenditure")
SIZES = (20, 50, 100, 250, 500, 1000)
FAR = 1e6
Ints = npt.NDArray[np.int64]
Records = list[dict[str, Any]]


def files(folder: Path) -> tuple[Records, Records]:
    """The records before, recoded by the lists of the example, and the released ones."""
    from diskret.job.read import read_job
    from diskret.job.run import run_job

    for file in PANEL.glob("*.*"):
        shutil.copy(file, folder)
    sys.path.insert(0, str(folder))
    from make_panel import make_panel  # type: ignore[import-not-found]

    made = make_panel()
    con = duckdb.connect()
    con.register("made", made)
    con.execute(f"COPY (SELECT * FROM made) TO '{folder}/panel.parquet'")
    job = folder / "panel.toml"
    text = job.read_text(encoding="utf-8").replace('wave = "year"', 'wave = "year"\nrenumber = false')
    job.write_text(text, encoding="utf-8")
    run_job(read_job(job), folder)
    out = folder / tomllib.loads(text)["output"]["records"]
    released = _records(con, out)
    group, region = _listed(folder / "wz93.csv"), _listed(folder / "regions_east_west.csv")
    before = _records(con, folder / "panel.parquet")
    for each in before:
        each["industry"], each["land"] = group.get(each["industry"][:2]), region[each["land"]]
    return before, released


def _records(con: duckdb.DuckDBPyConnection, file: Path) -> Records:
    found = con.execute(f"SELECT * FROM '{file}'")
    names = [each[0] for each in found.description or ()]
    return [dict(zip(names, row, strict=True)) for row in found.fetchall()]


def _listed(file: Path) -> dict[str, str]:
    with file.open(encoding="utf-8", newline="") as opened:
        return {row[0]: row[1] for row in csv.reader(opened)}


def attack(
    before: Records, released: Records, block: Callable[[Mapping[str, Any]], Any], *, one_to_one: bool
) -> list[int]:
    """For every record before the released record it is taken for, within blocks; a withheld region fits both."""
    theirs: dict[Any, list[int]] = defaultdict(list)
    mine: dict[Any, list[int]] = defaultdict(list)
    for into, records in ((theirs, released), (mine, before)):
        for i, each in enumerate(records):
            into[block(each)].append(i)
    found = [-1] * len(before)
    for key, rows in mine.items():
        some = theirs.get(key, [])
        if not some:
            continue
        a, b = (np.array([r[i]["point"] for i in at]) for r, at in ((before, rows), (released, some)))
        cost = ((a[:, None, :] - b[None]) ** 2).sum(axis=2)
        for i, row in enumerate(rows):
            other = [released[j]["land"] not in (None, before[row]["land"]) for j in some]
            cost[i, other] = FAR
        pairs = zip(*linear_sum_assignment(cost), strict=True) if one_to_one else enumerate(cost.argmin(axis=1))
        for i, j in pairs:
            found[rows[int(i)]] = some[int(j)]
    return found


def risks(before: Records, released: Records, found: list[int]) -> list[tuple[float, int, tuple[Any, ...]]]:
    """The risk of every combination, the highest first; of records that were released."""
    counts: dict[tuple[Any, ...], list[int]] = defaultdict(lambda: [0] * (1 + len(TARGETS)))
    place = {(each["unit"], each["year"]): i for i, each in enumerate(released)}
    for each, guess in zip(before, found, strict=True):
        true = place[each["unit"], each["year"]]
        size = int(np.digitize(each["employees"], SIZES))
        counted = counts[released[true]["land"], size, each["industry"]]
        counted[0] += 1
        for t, name in enumerate(TARGETS):
            counted[1 + t] += guess == true and abs(released[true][name] - each[name]) <= 0.1 * abs(each[name])
    return sorted(((max(c[1:]) / c[0], c[0], key) for key, c in counts.items()), key=lambda r: -r[0])


def main() -> None:
    """All three attacks."""
    with tempfile.TemporaryDirectory() as folder:
        before, released = files(Path(folder))
    there = {(each["unit"], each["year"]) for each in released}
    before = [each for each in before if (each["unit"], each["year"]) in there]
    for records in (before, released):
        for each in records:
            each["point"] = np.arcsinh([each["employees"], each["turnover"]])
    ways: dict[str, list[int]] = {}

    def by_year(each: Mapping[str, Any]) -> Any:
        return each["year"], each["industry"]

    ways["assignment within years"] = attack(before, released, by_year, one_to_one=True)
    ways["the nearest"] = attack(before, released, by_year, one_to_one=False)
    ways["all waves at once"] = _by_waves(before, released)
    for name, found in ways.items():
        worst = risks(before, released, found)
        over = sum(risk > 0.5 for risk, _, _ in worst)
        print(
            f"{name}: {over} of {len(worst)} combinations above 0.5, highest {worst[0][0]:.2f} ({worst[0][1]} records)"
        )


def _by_waves(before: Records, released: Records) -> list[int]:
    """Enterprises one to one by the vector of all their waves; every record then follows its enterprise."""
    units: list[dict[Any, dict[Any, int]]] = [defaultdict(dict), defaultdict(dict)]
    whole: list[Records] = [[], []]
    for side, records in enumerate((before, released)):
        for i, each in enumerate(records):
            units[side][each["unit"]][each["year"]] = i
        for unit, waves in units[side].items():
            first, years = records[next(iter(waves.values()))], tuple(sorted(waves))
            point = np.concatenate([records[waves[year]]["point"] for year in years])
            whole[side].append(
                {"unit": unit, "land": first["land"], "block": (years, first["industry"]), "point": point}
            )
    found = [-1] * len(before)
    guesses = attack(whole[0], whole[1], lambda each: each["block"], one_to_one=True)
    for each, guess in zip(whole[0], guesses, strict=True):
        if guess >= 0:
            theirs = units[1][whole[1][guess]["unit"]]
            for year, i in units[0][each["unit"]].items():
                found[i] = theirs[year]
    return found


if __name__ == "__main__":
    main()
