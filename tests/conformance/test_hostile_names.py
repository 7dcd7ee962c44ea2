"""Columns may be called what they like: every method gives the same under hostile names as under plain ones.

Hostile are the names that statements of our own use, words of SQL, and names with quotes, dots and line breaks.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskret import Hierarchy, RecordKey, Roles, Table, TabulationOptions, tabulate
from diskret.comparison.compare import _records
from diskret.job.recognise import recognise
from diskret.microdata.columns import read_records
from diskret.microdata.microaggregation import microaggregate
from diskret.model.source import open_source
from diskret.publication.microdata_files import write_records
from diskret.publication.publish import publish
from diskret.publication.working import load_working, save_working
from diskret.risk.anonymity import measure_anonymity
from diskret.risk.linkage_attack import attack
from diskret.safe.anonymise import anonymise
from diskret.safe.rematch import rematch
from diskret.tabulation.combinations import count_combinations

PLAIN = ("region", "branch", "turnover", "factor", "owner", "agreed", "draw")
HOSTILE = [
    ("code", "rowid", "position", "n", "t", "b", "line"),
    ("data", "given", "value", "key", "count", "order", "select"),
    ("c", "cell", "holding", "w", "c0", "public", "d0"),
    ('a"b', "a.b", "a\nb", " a b ", "a'b", "a`b", "*"),
]
REGION = Hierarchy.from_parents({"1": "north", "2": "north", "3": "T", "north": "T"})


def records(names: tuple[str, ...]) -> dict[str, Any]:
    rows = np.arange(24)
    columns = [
        (rows % 3 + 1).astype(str).astype(object),
        np.array(["a", "b"], dtype=object)[rows // 2 % 2],
        rows * 1.5 + 1,
        rows % 4 + 1.0,
        np.array([f"o{i // 2}" for i in rows], dtype=object),
        rows % 5 == 0,
        (rows + 0.5) / 24,
    ]
    return dict(zip(names, columns, strict=True))


def tabulated(names: tuple[str, ...], engine: object = "duckdb") -> Table:
    region, branch, turnover, factor, owner, agreed, draw = names
    made = tabulate(
        records(names), by={region: REGION, branch: None}, value=turnover, largest=2,
        roles=Roles(weight=factor, holding=owner, public=agreed, waiver=agreed, key=RecordKey(draw)),
        options=TabulationOptions(engine=engine),
    )  # fmt: skip
    assert isinstance(made, Table)
    return made


def cells_of(table: Table) -> list[list[Any]]:
    return [column.tolist() for column in table.columns().values()]


def from_cells(names: tuple[str, ...]) -> Table:
    region, branch, turnover, factor, owner, agreed, draw = names
    codes = [("1", "a"), ("1", "b"), ("2", "a"), ("3", "b")]
    cells: dict[str, Any] = {region: [r for r, _ in codes], branch: [b for _, b in codes]}
    cells |= {
        turnover: [4, 6, 1, 9.5],
        factor: [1, 2, 3, 4],
        owner: list("abcd"),
        agreed: ["open"] * 4,
        draw: [1.0] * 4,
    }
    by = {region: REGION, branch: None}
    return Table.from_cells(
        cells, by=by, value=turnover, count=factor, owner=owner, status=agreed, weight=draw, largest=[draw]
    )


def on_disk(names: tuple[str, ...], folder: Path) -> list[Any]:
    """What is written and read again: records as CSV and Parquet, a table as Parquet and as a working file."""
    found: list[Any] = []
    for ending in (".csv", ".parquet"):
        write_records(read_records(records(names)), folder / f"records{ending}")
        again = open_source(folder / f"records{ending}")
        found.append([again.query(f"SELECT {again.code(c)} FROM {again.view}") for c in again.columns])
    table = from_cells(names)
    save_working(table, folder / "work.parquet")
    found.append([cells_of(each) for each in load_working(folder / "work.parquet").values()])
    publish(table, folder / "cells.parquet", unprotected=True)
    found.append([[*row] for row in open_source(folder / "cells.parquet").query("SELECT * FROM data")])
    return found


def outcomes(names: tuple[str, ...], folder: Path) -> dict[str, Any]:
    """What every method that reads columns makes of the same records under some names."""
    region, branch, turnover, factor, _, _, draw = names
    data = records(names)
    counted = count_combinations(data, by={region: REGION, branch: None})
    anonymous = anonymise(data, [region, branch], seed=1)
    joined = rematch(data, anonymous).join()
    protected = microaggregate(data, [turnover, factor], m=3).frame
    anonymity = measure_anonymity(data, keys=[region, factor], sensitive=[branch])
    linked = attack(data, data, keys=[region], values=[turnover], unit=draw)
    compared, _ = _records(data, {region: REGION, branch: None}, turnover, None, 7)
    return {
        "tabulate": cells_of(tabulated(names)),
        "cells": cells_of(from_cells(names)),
        "combinations": (counted.codes.tolist(), counted.frequency.tolist()),
        "anonymise": [column.tolist() for column in anonymous.frame.values()],
        "rematch": [column.tolist() for column in joined.values()],
        "records": [column.tolist() for column in read_records(data).columns.values()],
        "microaggregate": [column.tolist() for column in protected.columns.values()],
        "anonymity": anonymity.k,
        "attack": linked.correct,
        "compare": [column.tolist() for column in compared.values()],
        "roles": [column.codes for column in recognise(data).columns],
        "files": on_disk(names, folder),
    }


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return outcomes(PLAIN, tmp_path_factory.mktemp("plain"))


@pytest.mark.parametrize("names", HOSTILE, ids=lambda names: names[0])
def test_every_method_gives_the_same_whatever_the_columns_are_called(
    names: tuple[str, ...], plain: dict[str, Any], tmp_path: Path
) -> None:
    assert outcomes(names, tmp_path) == plain


@pytest.mark.spark
@pytest.mark.parametrize("names", HOSTILE, ids=lambda names: names[0])
def test_spark_gives_the_same_whatever_the_columns_are_called(names: tuple[str, ...], spark: Any) -> None:
    assert cells_of(tabulated(names, spark)) == cells_of(tabulated(PLAIN))
