"""Synthetic business records: the same rows on every machine, made by hashing the row number.

Four hierarchical classifications shaped like the German ones: 401 counties in 38 districts in 16 states; 615 classes in
272 groups in 88 divisions in 21 sections; 7 size classes; 6 legal forms. 20 % of the firms belong to n/25 owners.
"""

from __future__ import annotations

from pathlib import Path

import duckdb

import diskret as dk

FOLDER = Path(__file__).parent / "data"
COUNTIES, DISTRICTS, STATES = 401, 38, 16
CLASSES, GROUPS, DIVISIONS, SECTIONS = 615, 272, 88, 21


def records(rows: int) -> Path:
    """A Parquet file of so many records; made once."""
    path = FOLDER / f"business-{rows}.parquet"
    if path.exists():
        return path
    FOLDER.mkdir(exist_ok=True)

    def uniform(salt: int) -> str:
        return f"((hash(i * 64 + {salt}) >> 11)::DOUBLE / 9007199254740992.0)"

    def code(prefix: str, digits: int, number: int, skew: float, salt: int) -> str:
        return f"'{prefix}' || lpad((floor({number} * pow({uniform(salt)}, {skew})))::INT::VARCHAR, {digits}, '0')"

    normal = f"sqrt(-2 * ln({uniform(5)} + 1e-12)) * cos(6.283185307 * {uniform(6)})"
    part = path.with_suffix(".part")
    duckdb.connect().execute(
        f"""COPY (SELECT {code("", 5, COUNTIES, 1.7, 1)} AS region, {code("N", 4, CLASSES, 2.0, 2)} AS nace,
        {code("S", 1, 7, 2.5, 3)} AS size, {code("L", 1, 6, 2.0, 4)} AS legal,
        round(exp(4 + 1.6 * {normal}), 2) AS turnover,
        CASE WHEN {uniform(7)} < 0.2 THEN (floor({uniform(8)} * {max(1, rows // 25)}))::BIGINT
            ELSE i + {rows} END AS owner
        FROM range({rows}) t(i)) TO '{part}' (FORMAT parquet)"""
    )
    part.replace(path)
    return path


def regions() -> dk.Hierarchy:
    """Counties, districts, states, country: 4 levels."""
    up: dict[str, str] = {}
    for i in range(COUNTIES):
        district = i * DISTRICTS // COUNTIES
        up[f"{i:05d}"] = f"D{district:02d}"
        up[f"D{district:02d}"] = f"S{district * STATES // DISTRICTS:02d}"
    return dk.Hierarchy.from_parents(up, total="DE")


def industries() -> dk.Hierarchy:
    """Classes, groups, divisions, sections, all: 5 levels."""
    up: dict[str, str] = {}
    for i in range(CLASSES):
        group = i * GROUPS // CLASSES
        division = group * DIVISIONS // GROUPS
        up[f"N{i:04d}"] = f"G{group:03d}"
        up[f"G{group:03d}"] = f"V{division:02d}"
        up[f"V{division:02d}"] = f"A{division * SECTIONS // DIVISIONS:02d}"
    return dk.Hierarchy.from_parents(up, total="all")


def classifications() -> dict[str, dk.Hierarchy]:
    """The four of them."""
    sizes = dk.Hierarchy.flat([f"S{i}" for i in range(7)])
    forms = dk.Hierarchy.flat([f"L{i}" for i in range(6)])
    return {"region": regions(), "nace": industries(), "size": sizes, "legal": forms}
