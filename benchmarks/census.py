"""A synthetic census: the same persons on every machine, made by hashing their number.

    python -m benchmarks.census make 83000000 [--municipalities 240]     a Parquet file, streamed
    python -m benchmarks.census protect 83000000 [--threads 2] [--checkpoint] [--folder .]
    python -m benchmarks.census growth [1000000 3000000 ...]             the same for several sizes, each in its process
    python -m benchmarks.census resume 1000000 [--kills 3] [--every 60]  killed with SIGKILL, started again: same bytes?

`protect` runs SAFE from file to file, attacks the result, counts both files again with DuckDB, and enters its figures
in census.json and census.md (benchmarks/country.py); `show` writes census.md anew.

Eight attributes that hang together: region (municipality, county, state), age (5-year classes, broad classes), sex,
nationality, marital status, employment, education, household type. Ages and nationalities differ between
municipalities; marital status, employment and education follow age and sex, the household follows marital status.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import duckdb

import diskret as dk

FOLDER = Path(__file__).parent / "data"
MUNICIPALITIES, SIX, FIVE = 240, 6, 5
"""Of them six make a county, and five counties a state."""
NATIONALITIES = 25
AGES, BROAD = 18, 5
ATTRIBUTES = ("region", "age", "sex", "nationality", "marital", "employment", "education", "household")


def attributes(municipalities: int = MUNICIPALITIES) -> dict[str, dk.Hierarchy]:
    """The eight attributes with 11 key levels; a county has six municipalities, a state five counties."""
    counties = -(-municipalities // SIX)
    states = -(-counties // FIVE)
    region = {f"M{m:03d}": f"C{m // SIX:02d}" for m in range(municipalities)}
    region |= {f"C{c:02d}": f"S{c // FIVE}" for c in range(counties)}
    region |= {f"S{s}": "country" for s in range(states)}
    age = {f"A{a:02d}": f"B{a * BROAD // AGES}" for a in range(AGES)} | {f"B{b}": "all ages" for b in range(BROAD)}
    flat = {"sex": 2, "nationality": NATIONALITIES, "marital": 5, "employment": 6, "education": 7, "household": 6}
    found = {"region": dk.Hierarchy.from_parents(region), "age": dk.Hierarchy.from_parents(age)}
    return found | {n: dk.Hierarchy.flat(f"{n[0].upper()}{i:02d}" for i in range(k)) for n, k in flat.items()}


def persons(number: int, municipalities: int = MUNICIPALITIES, even: float = 0.0) -> Path:
    """A Parquet file of so many persons; made once, row group by row group: memory does not grow with it.

    The share ``even`` of them have attributes that do not hang together, every code as likely as any other: hardly two
    are alike, so that 0.61 makes 809,000 combinations of a million persons.
    """
    path = FOLDER / f"{name_of(number, municipalities, even)}.parquet"
    if path.exists():
        return path
    FOLDER.mkdir(exist_ok=True)

    def u(salt: int) -> str:
        return f"((hash(i * 64 + {salt}) >> 11)::DOUBLE / 9007199254740992.0)"

    def near(centre: str, number: int, salt: int) -> str:
        """A class close to a centre between 0 and 1, now and then any other."""
        place = f"({centre}) + ({u(salt)} - 0.5) * 0.3"
        return (
            f"CASE WHEN {u(salt + 1)} < 0.06 THEN floor({number} * {u(salt + 2)}) "
            f"ELSE least({number - 1}, greatest(0, floor({number} * ({place})))) END::INT"
        )

    urban = f"m < {municipalities // 4}"
    first = f"""SELECT i, floor({municipalities} * pow({u(1)}, 2.6))::INT AS m,
        least(0.999, greatest(0, {u(2)} * 0.7 + {u(3)} * 0.35)) AS a, ({u(4)} < 0.51)::INT AS s
        FROM range({number}) t(i)"""
    second = f"""SELECT *, least(0.999, greatest(0.0, a + (m % 7 - 3) * 0.02)) AS y,
        CASE WHEN {u(5)} < 0.93 - (m % 5) * 0.02 THEN 0
            ELSE 1 + floor({NATIONALITIES - 1} * pow({u(6)}, 3.0))::INT END AS n FROM ({first})"""
    third = f"""SELECT *, CASE WHEN y < 0.2 THEN 0 ELSE {near("0.1 + 0.7 * y", 5, 7)} END AS ms,
        CASE WHEN y < 0.16 THEN 0 WHEN y > 0.72 AND {u(9)} < 0.97 THEN 5
            ELSE {near("0.3 - 0.12 * s + 0.05 * (n > 0)::INT", 6, 10)} END AS em,
        CASE WHEN y < 0.15 THEN 0 ELSE {near(f"0.6 - 0.3 * y + 0.05 * ({urban})::INT", 7, 13)} END AS ed
        FROM ({second})"""
    fourth = f"""SELECT *, {near("0.15 + 0.14 * ms + 0.3 * (y < 0.2)::INT", 6, 16)} AS hh FROM ({third})"""
    codes: tuple[tuple[str, str, int, str, int], ...] = (
        ("region", "M", 3, "m", municipalities), ("age", "A", 2, f"floor({AGES} * y)::INT", AGES),
        ("sex", "S", 2, "s", 2), ("nationality", "N", 2, "n", NATIONALITIES), ("marital", "M", 2, "ms", 5),
        ("employment", "E", 2, "em", 6), ("education", "E", 2, "ed", 7), ("household", "H", 2, "hh", 6),
    )  # fmt: skip
    if even:
        codes = tuple(
            (n, p, d, f"CASE WHEN {u(30)} < {even} THEN floor({k} * {u(31 + at)})::INT ELSE {c} END", k)
            for at, (n, p, d, c, k) in enumerate(codes)
        )  # fmt: skip
    text = ", ".join(f"'{p}' || lpad(({c})::VARCHAR, {d}, '0') AS {n}" for n, p, d, c, _ in codes)
    part = path.with_suffix(".part")
    duckdb.connect().execute(f"COPY (SELECT i AS person, {text} FROM ({fourth})) TO '{part}' (FORMAT parquet)")
    part.replace(path)
    return path


def name_of(number: int, municipalities: int = MUNICIPALITIES, even: float = 0.0) -> str:
    """What a census is called."""
    more = "" if municipalities == MUNICIPALITIES else f"-{municipalities}"
    return f"census-{number}{more}" + (f"-even-{even:g}" if even else "")


# --- the size the description prints: 100,000 objects, 7 attributes, 16 key levels, about 150,000 control cells ------

SHAPES = {
    "region": (4, 9, 18, 34), "industry": (4, 9, 20), "job": (3, 7, 14), "age": (4, 9), "size": (3, 6), "sex": (2,),
    "form": (4,),
}  # fmt: skip
"""Codes per key level, the coarsest first."""


def establishment_attributes() -> dict[str, dk.Hierarchy]:
    """Seven attributes with 4, 3, 3, 2, 2, 1 and 1 key levels."""
    found = {}
    for name, shape in SHAPES.items():
        up = {}
        for level, size in enumerate(shape):
            for i in range(size):
                parent = f"{level - 1}.{i * shape[level - 1] // size}" if level else "all"
                up[f"{level}.{i}"] = parent
        found[name] = dk.Hierarchy.from_parents(up)
    return found


def establishments(number: int = 100_000) -> Path:
    """A Parquet file of so many employees; made once."""
    path = FOLDER / f"establishments-{number}.parquet"
    if path.exists():
        return path
    FOLDER.mkdir(exist_ok=True)
    columns = []
    for salt, (name, shape) in enumerate(SHAPES.items()):
        u = f"((hash(i * 64 + {salt + 40}) >> 11)::DOUBLE / 9007199254740992.0)"
        # one number in common makes the attributes hang together
        common = "((hash(i * 64 + 60) >> 11)::DOUBLE / 9007199254740992.0)"
        place = f"floor({shape[-1]} * (0.55 * pow({u}, 2.5) + 0.45 * pow({common}, 3)))::INT"
        columns.append(f"'{len(shape) - 1}.' || least({shape[-1] - 1}, {place})::VARCHAR AS {name}")
    part = path.with_suffix(".part")
    duckdb.connect().execute(
        f"COPY (SELECT {', '.join(columns)} FROM range({number}) t(i)) TO '{part}' (FORMAT parquet)"
    )
    part.replace(path)
    return path


# --- from the command line -------------------------------------------------------------------------------------------

SIZES = (1_000_000, 3_000_000, 10_000_000, 30_000_000, 83_000_000)


def main(words: Sequence[str]) -> None:
    """Do what was asked for."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("what", choices=["make", "protect", "growth", "resume", "show"])
    asked.add_argument("numbers", type=int, nargs="*")
    asked.add_argument("--municipalities", type=int, default=MUNICIPALITIES)
    asked.add_argument("--even", type=float, default=0.0, help="share of persons whose attributes do not hang together")
    asked.add_argument("--threads", type=int, default=2)
    asked.add_argument("--checkpoint", action="store_true", help="what is killed goes on when started again")
    asked.add_argument("--every", type=float, default=60.0, help="seconds between two checkpoints, at least")
    asked.add_argument("--kills", type=int, default=3)
    asked.add_argument("--folder", type=Path, default=FOLDER)
    given = asked.parse_args(words)
    if given.what == "make":
        for number in given.numbers or SIZES:
            print(persons(number, given.municipalities, given.even))
        return
    from benchmarks import country  # which takes its persons from here

    given.folder.mkdir(parents=True, exist_ok=True)
    country.run(given, given.numbers or SIZES)


if __name__ == "__main__":
    main(sys.argv[1:])
