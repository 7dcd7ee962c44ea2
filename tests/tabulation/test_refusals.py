"""Microdata that cannot be tabulated: refused with what, where and what to do, without a value of the data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pytest

from diskret import Hierarchy, ProtectionWarning, Roles, TabulationOptions, tabulate
from diskret.model import errors
from tests import grouped

REGION = Hierarchy.from_parents({"05111": "05", "05112": "05", "05": "DE", "11": "DE"})
SECRET = 918273.25
DATA: dict[str, list[Any]] = {"region": ["05111", "05112", "11"], "x": [SECRET, 2.0, 3.0], "w": [1.0, 1.0, 2.0]}


def refused(kind: type[errors.DiskretError], engine: Any, changed: dict[str, list[Any]], **options: Any) -> str:
    by = {"region": REGION}
    with pytest.raises(kind) as caught:
        tabulate({**DATA, **changed}, **grouped.tabulated(**{"by": by, "value": "x", "engine": engine, **options}))
    message = str(caught.value)
    assert "what to do" in message
    assert not any(part in message for part in ("918273", "9.18273"))
    return message


def test_unknown_code_names_the_nearest_known_one(engine: Any) -> None:
    message = refused(errors.UnknownCode, engine, {"region": ["05111", "o5112", "11"]})
    assert "'o5112'" in message
    assert "did you mean '05112'" in message


def test_record_coded_to_a_sum_is_refused(engine: Any) -> None:
    assert "'05'" in refused(errors.SumInRecords, engine, {"region": ["05111", "05", "11"]})


@pytest.mark.parametrize("blank", [None, "  "])
def test_record_without_a_code_is_refused(engine: Any, blank: str | None) -> None:
    assert "missing={'region': ...}" in refused(errors.MissingCode, engine, {"region": ["05111", blank, "11"]})


def test_a_code_for_missing_ones_must_be_a_finest_code() -> None:
    assert "'05'" in refused(errors.UnknownCode, "duckdb", {}, missing={"region": "05"})


def test_text_among_numbers_is_shown_by_its_shape_only(engine: Any) -> None:
    message = refused(errors.NotANumber, engine, {"x": ["1.5", "918273 EUR", "2"]})
    assert "'###### EUR'" in message
    assert "'x'" in message


@pytest.mark.parametrize("bad", [float("nan"), -float("inf"), None])
def test_numbers_that_are_none_are_refused(engine: Any, bad: float | None) -> None:
    assert "'x'" in refused(errors.NotFinite, engine, {"x": [SECRET, bad, 1.0]})


def test_negative_value_in_a_positive_table_is_refused(engine: Any) -> None:
    assert "'x'" in refused(errors.NegativeValue, engine, {"x": [1.0, -SECRET, 1.0]}, positive=True)


def test_negative_sampling_weight_is_refused(engine: Any) -> None:
    assert "'w'" in refused(errors.NegativeValue, engine, {"w": [1.0, -SECRET, 1.0]}, weight="w")


def test_missing_column_names_the_nearest(engine: Any) -> None:
    assert "did you mean 'region'" in refused(errors.MissingColumn, engine, {}, by={"regoin": None})


def test_numbers_beyond_reason_are_refused_without_naming_them(engine: Any) -> None:
    refused(errors.NotExact, engine, {"x": [9.18273e200, 1.0, 1.0]})


def test_no_records_are_refused(engine: Any) -> None:
    import pyarrow as pa

    empty = pa.table({"region": pa.array([], pa.string()), "x": pa.array([], pa.float64())})
    with pytest.raises(errors.EmptyData):
        tabulate(empty, by={"region": REGION}, value="x", options=TabulationOptions(engine=engine))


def test_a_table_larger_than_memory_is_refused_before_any_record_is_read() -> None:
    axis = Hierarchy.flat([str(i) for i in range(30_000)])
    data = {"a": ["no such code"], "b": ["0"], "c": ["0"], "x": ["no number"]}
    with pytest.raises(errors.TableTooLarge) as caught:
        tabulate(data, by={"a": axis, "b": axis, "c": axis}, value="x", options=TabulationOptions(sparse=False))
    assert "a 30001 x b 30001 x c 30001" in str(caught.value)


def test_a_table_without_classification_is_refused() -> None:
    refused(errors.BadOption, "duckdb", {}, by={})


def test_a_negative_number_of_largest_contributions_is_refused() -> None:
    refused(errors.BadOption, "duckdb", {}, largest=-1)


def test_sums_too_large_for_their_decimals_are_refused(engine: Any) -> None:
    refused(errors.NotExact, engine, {"x": [95_000_000_000_000.25, 0.25, 1.0]})


def test_measurements_too_large_for_all_their_digits_are_rounded_with_a_warning(engine: Any) -> None:
    data: dict[str, Any] = {"r": ["a", "a"], "x": [12_345_678_901.234567, 12_345_678_901.765432]}
    with pytest.warns(ProtectionWarning, match="'x' are too large for its . decimals"):
        table = tabulate(data, by={"r": None}, value="x", options=TabulationOptions(engine=engine))
    assert table.decimals is None
    assert table.value[-1] == pytest.approx(sum(data["x"]), abs=1e-4)


def test_weighted_sums_are_warned_of_where_they_keep_fewer_decimals_than_the_value() -> None:
    data = {"r": ["a"], "x": [1_000_000_000_000.01], "w": [1.123456]}
    tabulate(data, by={"r": None}, value="x", roles=Roles(weight="w"))  # cents stay; warnings are errors here
    with pytest.warns(ProtectionWarning, match="'x' are too large for its 2 decimals and are rounded to 1"):
        tabulate(data | {"w": [11.123456]}, by={"r": None}, value="x", roles=Roles(weight="w"))


def test_line_breaks_of_two_kinds_are_read_as_spreadsheets_write_them(tmp_path: Path) -> None:
    path = tmp_path / "excel.csv"
    files = {
        's,x\r\n"a\nb",1\r\nc,2\r\n': ("a\nb", "c", "Total"),
        "s,x\r\na,1\nb,2\r\n": ("a", "b", "Total"),
        's,x\n"a\r\nb",1\nc,2\n': ("a\nb", "c", "Total"),
    }
    for content, codes in files.items():
        path.write_bytes(content.encode())
        table = tabulate(path, by={"s": None}, value="x")
        assert table.hierarchies[0].codes == codes
        assert table.value.tolist() == [1, 2, 3]


def test_a_cut_off_parquet_file_is_refused(engine: Any, tmp_path: Path) -> None:
    path = tmp_path / "firms.parquet"
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT '11' AS region, i AS x FROM range(5000) t(i)) TO '{path}'")
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(errors.UnreadableFile) as caught:
        tabulate(path, by={"region": REGION}, value="x", options=TabulationOptions(engine=engine))
    assert "firms.parquet" in str(caught.value)


def test_rows_of_bad_numbers_are_named_as_they_stand_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "firms.parquet"
    rows = "SELECT '11' AS region, CASE WHEN i IN (70000, 150000) THEN NULL ELSE i END AS x FROM range(200000) t(i)"
    with duckdb.connect() as connection:
        connection.execute(f"COPY ({rows}) TO '{path}' (FORMAT parquet, ROW_GROUP_SIZE 10000)")
    with pytest.raises(errors.NotFinite) as caught:
        tabulate(path, by={"region": REGION}, value="x", options=TabulationOptions(threads=2))
    assert "rows 70001, 150001" in caught.value.where
