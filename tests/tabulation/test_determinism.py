"""The same data give the same bits, whatever the threads and the order of records; and memory stays small."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret import Roles, tabulate
from tests import grouped

AWKWARD = """
SELECT (i * 7919 % 13)::VARCHAR AS r, (i % 5)::VARCHAR AS s, (i * 31 % 97) / 7.0 AS x,
       1 + (i % 11) / 3.0 AS w, CASE WHEN i % 3 = 0 THEN (i * 17 % 4001)::VARCHAR END AS owner
FROM range({rows}) t(i)
"""


def written(path: Path, sql: str) -> str:
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({sql}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 10000)")
    return str(path)


def test_number_of_threads_changes_no_bit(tmp_path: Path, tools: Any) -> None:
    path = written(tmp_path / "firms.parquet", AWKWARD.format(rows=120_000))
    options: dict[str, Any] = {"by": {"r": None, "s": None}, "value": "x", "weight": "w", "holding": "owner"}
    tables = [tabulate(path, **grouped.tabulated(largest=3, threads=n, **options)) for n in (1, 2, 2)]
    tools.identical(tables[0], tables[1])
    tools.identical(tables[0], tables[2])


@settings(max_examples=30)
@given(data=st.data())
def test_order_of_records_changes_no_bit(data: st.DataObject, tools: Any) -> None:
    sizes = st.sampled_from([0.0, 1 / 3, 2 / 7, 5.0, 5.0, 1e6 / 3])
    weights = st.sampled_from([1.0, 4 / 3, 5 / 3, 2.2, 0.3])
    records = data.draw(st.lists(st.tuples(st.sampled_from("ab"), sizes, weights, st.sampled_from("pqrs")), min_size=2))
    shuffled = data.draw(st.permutations(records))

    def made(rows: list[Any]) -> Any:
        columns = dict(zip(["r", "x", "w", "owner"], map(list, zip(*rows, strict=True)), strict=True))
        return tabulate(columns, by={"r": None}, value="x", roles=Roles(weight="w", holding="owner"), largest=3)

    tools.identical(made(records), made(shuffled))


def test_microdata_stay_as_they_are() -> None:
    columns = {"r": np.array(["a", "b"], dtype=object), "x": np.array([1.5, -2.0]), "w": np.array([1.0, 2.5])}
    before = {name: column.copy() for name, column in columns.items()}
    table = tabulate(columns, by={"r": None}, value="x", roles=Roles(weight="w"))
    table.value[:] = 0
    assert all(np.array_equal(before[name], columns[name]) for name in columns)


GROWTH = """
import resource, sys
from diskret import Roles, TabulationOptions, tabulate

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

options = dict(by={"r": None, "s": None}, value="x", roles=Roles(holding="owner"), options=TabulationOptions(threads=2))
tabulate(sys.argv[1], **options)
before = peak()
table = tabulate(sys.argv[2], **options)
print(int(table.count[-1, -1]), peak() - before)
"""


def test_two_million_records_need_less_than_400_megabytes(tmp_path: Path) -> None:
    few = written(tmp_path / "few.parquet", AWKWARD.format(rows=1000))
    many = written(tmp_path / "many.parquet", AWKWARD.format(rows=2_000_000))
    done = subprocess.run([sys.executable, "-c", GROWTH, few, many], capture_output=True, text=True, check=True)
    count, growth = done.stdout.split()
    assert int(count) == 2_000_000
    assert float(growth) < 400
