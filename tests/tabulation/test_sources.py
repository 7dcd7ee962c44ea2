"""Where microdata may come from: frames and files, the same table from each, on each engine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from diskret import Hierarchy, Roles, TabulationOptions, tabulate
from diskret.model import errors
from diskret.model.source import Delimited, FixedWidth
from tests.present import present

COLUMNS = {
    "region": ["05111", "05112", "05111", "11"],
    "x": [1.5, 1234.25, 0.5, 7.0],
    "open": [True, False, False, True],
}
REGION = Hierarchy.from_parents({"05111": "05", "05112": "05", "05": "DE", "11": "DE"})
EXPECTED = [2.0, 1234.25, 1236.25, 7.0, 1243.25]


def parquet(folder: Path) -> Path:
    path = folder / "firms.parquet"
    pl.DataFrame(COLUMNS).write_parquet(path)
    return path


def text(folder: Path) -> Path:
    path = folder / "firms.csv"
    path.write_text("region,x,open\n05111,1.5,true\n05112,1234.25,false\n05111,0.5,false\n11,7,TRUE\n")
    return path


def decimal_comma(folder: Path) -> Delimited:
    path = folder / "firms.csv"
    path.write_text("region;x;open\n05111;1,5;ja\n05112;1.234,25;nein\n05111;0,50;nein\n11;7;JA\n")
    return Delimited(path=path, delimiter=";", decimal=",")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "dict of lists": lambda _: COLUMNS,
    "dict of arrays": lambda _: {name: np.array(column) for name, column in COLUMNS.items()},
    "pandas": lambda _: pd.DataFrame(COLUMNS),
    "pandas categories": lambda _: pd.DataFrame(COLUMNS).astype({"region": "category"}),
    "polars": lambda _: pl.DataFrame(COLUMNS),
    "arrow": lambda _: pa.table(COLUMNS),
    "parquet": parquet,
    "parquet by name": lambda folder: str(parquet(folder)),
    "csv": text,
    "csv with decimal comma": decimal_comma,
}


@pytest.mark.parametrize("kind", SOURCES)
def test_the_same_records_give_the_same_table_from_any_source(kind: str, engine: Any, tmp_path: Path) -> None:
    table = tabulate(
        SOURCES[kind](tmp_path),
        by={"region": REGION},
        value="x",
        roles=Roles(public="open"),
        options=TabulationOptions(engine=engine),
    )
    assert table.value.tolist() == EXPECTED
    assert present(present(table.respondents).public_count).tolist() == [1, 0, 1, 1, 2]


def test_a_decimal_point_in_a_file_with_decimal_commas_is_refused_not_taken_for_thousands(
    engine: Any, tmp_path: Path
) -> None:
    path = tmp_path / "firms.csv"
    path.write_text("region;x\n11;1.5\n11;1,5\n")
    with pytest.raises(errors.NotANumber) as caught:
        tabulate(
            Delimited(path=path, delimiter=";", decimal=","),
            by={"region": REGION},
            value="x",
            options=TabulationOptions(engine=engine),
        )
    assert "'#.#'" in str(caught.value)
    assert "decimal comma" in caught.value.hint


def test_a_decimal_comma_in_a_file_with_decimal_points_says_which_option_to_set(tmp_path: Path) -> None:
    path = tmp_path / "firms.csv"
    path.write_text("region;x\n11;1,5\n")
    with pytest.raises(errors.NotANumber, match="decimal = "):
        tabulate(Delimited(path=path, delimiter=";", decimal="."), by={"region": REGION}, value="x")


def test_fixed_width_records_are_read_by_their_places(tmp_path: Path) -> None:
    path = tmp_path / "firms.asc"
    path.write_text("05111   1.5\n05112 1234.25\n05111   0.5\n   11     7\n")
    table = tabulate(FixedWidth(path=path, fields={"region": (1, 5), "x": (6, 8)}), by={"region": REGION}, value="x")
    assert table.value.tolist() == EXPECTED


def test_several_files_are_read_by_one_pattern(tmp_path: Path) -> None:
    for part, frame in enumerate((pl.DataFrame(COLUMNS)[:2], pl.DataFrame(COLUMNS)[2:])):
        frame.write_parquet(tmp_path / f"part{part}.parquet")
    assert tabulate(tmp_path / "part*.parquet", by={"region": REGION}, value="x").value.tolist() == EXPECTED


def test_decimal_columns_keep_their_decimals(engine: Any) -> None:
    numbers = pa.array(["0.10", "0.20"]).cast(pa.decimal128(12, 2))
    table = tabulate(
        pa.table({"r": ["a", "b"], "x": numbers}), by={"r": None}, value="x", options=TabulationOptions(engine=engine)
    )
    assert table.value.tolist() == [0.1, 0.2, 0.3]
    assert table.decimals == 2


@pytest.mark.spark
def test_a_spark_frame_is_read_where_it_is(spark: Any) -> None:
    frame = spark.createDataFrame(pa.table(COLUMNS))
    assert (
        tabulate(frame, by={"region": REGION}, value="x", options=TabulationOptions(engine=spark)).value.tolist()
        == EXPECTED
    )


@pytest.mark.spark
@pytest.mark.parametrize("name", ["spark", "local[2]"])
def test_a_running_session_is_used_and_left_running_and_tidy(name: str, spark: Any) -> None:
    before = spark.sql("SHOW TABLES").collect()
    table = tabulate(
        COLUMNS, by={"region": REGION}, value="x", roles=Roles(holding="open"), options=TabulationOptions(engine=name)
    )
    assert table.value.tolist() == EXPECTED
    assert spark.range(3).count() == 3
    assert spark.sql("SHOW TABLES").collect() == before


OWN_SESSION = """
from pyspark.sql import SparkSession
from diskret import TabulationOptions, tabulate
spark = TabulationOptions(engine="local[1]")
table = tabulate({"r": ["a", "b"], "x": [0.1, 0.2]}, by={"r": None}, value="x", options=spark)
print(table.value.tolist(), SparkSession.getActiveSession())
"""


@pytest.mark.spark
@pytest.mark.slow
def test_a_session_started_for_a_master_url_is_stopped_again() -> None:
    done = subprocess.run([sys.executable, "-c", OWN_SESSION], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[0.1, 0.2, 0.3] None"


@pytest.mark.parametrize("unknown", ["postgres", 7])
def test_unknown_engines_are_refused(unknown: object) -> None:
    pytest.importorskip("pyspark")
    with pytest.raises(errors.BadOption, match="engine"):
        tabulate(COLUMNS, by={"region": REGION}, value="x", options=TabulationOptions(engine=unknown))


@pytest.mark.spark
def test_spark_refuses_files_it_cannot_read(spark: Any, tmp_path: Path) -> None:
    with pytest.raises(errors.BadOption, match="fixed-width"):
        tabulate(
            FixedWidth(path=tmp_path / "f.asc", fields={"r": (1, 1)}),
            by={"r": None},
            options=TabulationOptions(engine=spark),
        )
    with pytest.raises(errors.BadOption, match="xlsx"):
        tabulate(tmp_path / "f.xlsx", by={"r": None}, options=TabulationOptions(engine=spark))
    with pytest.raises(errors.UnreadableFile):
        tabulate(tmp_path / "none.parquet", by={"r": None}, options=TabulationOptions(engine=spark))


def test_a_file_that_is_not_there_names_its_neighbours(tmp_path: Path) -> None:
    parquet(tmp_path)
    with pytest.raises(errors.UnreadableFile, match=r"firms\.parquet"):
        tabulate(tmp_path / "firm.parquet", by={"region": REGION}, value="x")


def test_parquet_written_by_duckdb_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "range.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT i % 3 AS r, i AS x FROM range(10) t(i)) TO '{path}'")
    assert tabulate(path, by={"r": None}, value="x").value.tolist() == [18, 12, 15, 45]
