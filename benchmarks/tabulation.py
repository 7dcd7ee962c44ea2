"""Microdata to all sums: value, count and the two largest contributions over four hierarchies (25.5 million cells)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import diskret as dk
from benchmarks.business import classifications, records
from benchmarks.case import Case

SIZES = {"1M": 1_000_000, "10M": 10_000_000, "50M": 50_000_000}
PEER_SIZES = ("1M", "10M")


def cases() -> Iterator[Case]:
    """Us at every size, peers where they finish."""
    for label, rows in SIZES.items():
        prepare = partial(records, rows)
        what = f"tabulate {label} records, 80 level combinations"
        yield Case(f"tabulate-{label}", what, "diskret", partial(ours, rows), prepare, warm)
        if label in PEER_SIZES:
            yield Case(f"tabulate-{label}-duckdb", what, "DuckDB, grouping sets", partial(duckdb_cube, rows), prepare)
            yield Case(f"tabulate-{label}-polars", what, "polars, group-bys", partial(polars_cube, rows), prepare)
    for label, rows in SIZES.items():
        what = f"tabulate {label} records with holdings"
        yield Case(
            f"holdings-{label}",
            what,
            "diskret",
            partial(ours, rows, roles=dk.Roles(holding="owner")),
            partial(records, rows),
            partial(warm, roles=dk.Roles(holding="owner")),
        )


def warm(**options: Any) -> dk.Table:
    """The same on two records, so that everything is compiled."""
    two = {"region": ["00000", "00001"], "nace": ["N0000"] * 2, "size": ["S0"] * 2, "legal": ["L0"] * 2}
    small = {name: dk.Hierarchy.flat(sorted(set(codes))) for name, codes in two.items()}
    data = {**two, "turnover": [1.5, 2.25], "owner": [1, 1]}
    table: dk.Table = dk.tabulate(data, by=small, value="turnover", **options)
    return table


def ours(rows: int, **options: Any) -> str:
    """Read, add up, roll up."""
    table = dk.tabulate(records(rows), by=classifications(), value="turnover", **options)
    people = table.holdings or table.respondents
    assert people is not None
    assert people.largest is not None
    filled = int((table.count > 0).sum())
    return f"{table.size / 1e6:.1f} M cells, {filled / 1e6:.1f} M occupied; {_figures(table, people.largest)}"


def _figures(table: dk.Table, largest: Any) -> str:
    top = largest.reshape(-1, largest.shape[-1])[-1]
    return f"total {table.value.flat[-1]:.2f}, largest {top[0]:.2f} {top[1]:.2f}"


def _levels() -> list[list[Any]]:
    """Per classification the maps from finest code to the code of each level."""
    result = []
    for name, hierarchy in classifications().items():
        chains, starts = hierarchy.ancestors
        leaves = np.flatnonzero(hierarchy.is_leaf)
        result.append([(name, leaves, chains[starts[leaves] + step], hierarchy) for step in range(hierarchy.depth)])
    return result


def duckdb_cube(rows: int) -> str:
    """One query with all grouping sets, on columns that hold the code of every level."""
    import duckdb

    con = duckdb.connect()
    joins, sets = [], []
    for maps in _levels():
        name, leaves, _, hierarchy = maps[0]
        codes = np.array(hierarchy.codes, dtype=object)
        table = {"code": codes[leaves], **{f"{name}_{i}": m[2].astype(np.int32) for i, m in enumerate(maps)}}
        con.register(f"given_{name}", table)
        con.execute(f"CREATE TABLE d_{name} AS SELECT * FROM given_{name}")
        joins.append(f"JOIN d_{name} ON d_{name}.code = m.{name}")
        sets.append([f"{name}_{i}" for i in range(len(maps))])
    combinations = ", ".join(f"({', '.join(c)})" for c in itertools.product(*sets))
    query = f"""SELECT count(*), max(t), max(m) FROM (SELECT count(*) n, sum(turnover) t, max(turnover, 2) m
        FROM '{records(rows)}' m {" ".join(joins)} GROUP BY GROUPING SETS ({combinations}))"""
    found = con.execute(query).fetchall()[0]
    return f"{found[0] / 1e6:.1f} M occupied; total {found[1]:.2f}, largest {found[2][0]:.2f} {found[2][1]:.2f}"


def polars_cube(rows: int) -> str:
    """One group-by for every combination of levels."""
    import polars as pl

    frame = pl.read_parquet(records(rows), columns=["region", "nace", "size", "legal", "turnover"])
    sets = []
    for maps in _levels():
        name, leaves, _, hierarchy = maps[0]
        table = pl.DataFrame(
            {
                "code": [hierarchy.codes[i] for i in leaves],
                **{f"{name}_{i}": m[2].astype(np.int32) for i, m in enumerate(maps)},
            }
        )
        frame = frame.join(table, left_on=name, right_on="code").drop(name)
        sets.append([f"{name}_{i}" for i in range(len(maps))])
    occupied, last = 0, None
    for keys in itertools.product(*sets):
        value = pl.col("turnover")
        last = frame.group_by(keys).agg(pl.len(), value.sum().alias("t"), value.top_k(2).alias("m"))
        occupied += last.height
    assert last is not None
    top = last["m"][0]
    return f"{occupied / 1e6:.1f} M occupied; total {last['t'][0]:.2f}, largest {top[0]:.2f} {top[1]:.2f}"
