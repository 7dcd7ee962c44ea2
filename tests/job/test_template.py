"""`diskret init` writes a job that runs as it is, whatever the data look like."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import duckdb
import pytest

from diskret import Table
from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.job.template import job_text

ROWS = [(f"{i % 3 + 1:02d}", "AB"[i % 2], i * 10.5, i % 4 + 1) for i in range(24)]


def write(path: Path, header: str, rows: list[str]) -> Path:
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    return path


def comma(folder: Path) -> Path:
    return write(folder / "firms.csv", "region,size,turnover,staff", [",".join(map(str, row)) for row in ROWS])


def semicolon(folder: Path) -> Path:
    rows = [";".join(str(x).replace(".", ",") for x in row) for row in ROWS]
    return write(folder / "firms.csv", "region;size;turnover;staff", rows)


def tabs(folder: Path) -> Path:
    return write(folder / "firms.tsv", "region\tsize\tturnover\tstaff", ["\t".join(map(str, row)) for row in ROWS])


def parquet(folder: Path, name: str = "firms.parquet") -> Path:
    comma(folder)
    columns = "region, size, turnover::DOUBLE AS turnover, staff::INT AS staff"
    given = f"read_csv('{folder / 'firms.csv'}', all_varchar = true)"
    duckdb.sql(f"SELECT {columns} FROM {given}").write_parquet(str(folder / name))
    return folder / name


def made(data: Path, **options: Any) -> tuple[dict[str, Any], Table]:
    """The job as plain data, and the table it makes as it is."""
    job = data.parent / "job.toml"
    job.write_text(job_text(data, data.parent, options), encoding="utf-8")
    result = run_job(read_job(job), data.parent)
    assert all(file.is_file() for file in result.files)
    assert len(result.files) == 3
    return tomllib.loads(job.read_text(encoding="utf-8")), next(iter(result.tables.values()))


@pytest.mark.parametrize(
    ("make", "options"),
    [
        (comma, {}),
        (semicolon, {"decimal": ","}),
        (semicolon, {"delimiter": ";", "decimal": ","}),
        (tabs, {}),
        (parquet, {}),
        (lambda folder: parquet(folder, "firms.pq"), {}),
    ],
    ids=["comma", "semicolon", "semicolon named", "tabs", "parquet", "pq"],
)
def test_the_job_runs_as_it_is_and_guesses_the_same_from_every_format(
    make: Any, options: dict[str, Any], tmp_path: Path
) -> None:
    job, table = made(make(tmp_path), **options)
    assert job["table"]["by"] == ["region", "size", "staff"]
    assert job["table"]["value"] == ["turnover"]
    assert table.by["region"].codes == ("01", "02", "03", "Total")
    assert table.value[-1, -1, -1] == sum(row[2] for row in ROWS)


def test_data_without_numbers_become_a_frequency_table(tmp_path: Path) -> None:
    data = write(tmp_path / "persons.csv", "sex,place", [f"{'mw'[i % 2]},p{i % 3}" for i in range(12)])
    job, table = made(data)
    assert job["table"] == {"by": ["sex", "place"], "value": []}
    assert table.frequency


def test_columns_with_gaps_are_no_values(tmp_path: Path) -> None:
    rows = [f"{'NS'[i % 2]},{i * 1.5 if i else ''},{i * 2.5}" for i in range(12)]
    job, _ = made(write(tmp_path / "d.csv", "region,bonus,turnover", rows))
    assert job["table"]["value"] == ["turnover"]


def test_gaps_in_classifications_are_counted(tmp_path: Path) -> None:
    rows = [f"{'NS'[i % 2] if i else ''},{i * 2.5}" for i in range(12)]
    _, table = made(write(tmp_path / "d.csv", "region,turnover", rows))
    assert "(missing)" in table.by["region"].codes


def test_names_of_records_and_dates_are_no_values(tmp_path: Path) -> None:
    columns = "'F' || i AS firm, CASE WHEN i % 2 = 0 THEN 'N' ELSE 'S' END AS region, DATE '2024-01-01' AS day"
    columns += ", TIMESTAMP '2024-01-01' + i::INT * INTERVAL 1 DAY AS moment, i * 1.5 AS x"
    duckdb.sql(f"SELECT {columns} FROM range(40) t(i)").write_parquet(str(tmp_path / "d.parquet"))
    job, table = made(tmp_path / "d.parquet")
    assert job["table"] == {"by": ["region", "moment"], "value": ["x"]}
    assert table.by["moment"].codes == ("2024-01", "2024-02", "Total")


def test_weights_and_owners_are_offered_not_tabulated(tmp_path: Path) -> None:
    rows = [f"{'NS'[i % 2]},{i % 2 + 1},h{i % 3},{i * 2.5}" for i in range(12)]
    data = write(tmp_path / "d.csv", "region,Gewicht,owner,turnover", rows)
    job, _ = made(data)
    assert job["table"] == {"by": ["region"], "value": ["turnover"]}
    text = (tmp_path / "job.toml").read_text()
    assert '# weight = "Gewicht"' in text
    assert '# holding = "owner"' in text


@pytest.mark.slow
def test_many_classifications_do_not_make_a_table_beyond_measure(tmp_path: Path) -> None:
    columns = ", ".join(f"'c' || (i * {7 + j} % 90) AS c{j}" for j in range(8))
    duckdb.sql(f"SELECT {columns}, i * 1.5 AS x FROM range(2000) t(i)").write_parquet(str(tmp_path / "d.parquet"))
    _, table = made(tmp_path / "d.parquet")
    assert table.size <= 1_000_000


def test_odd_names_do_not_break_the_job(tmp_path: Path) -> None:
    rows = [f"{'NS'[i % 2]},{i * 2.5},{i * 3.5}" for i in range(12)]
    data = write(tmp_path / 'my "firms" ä.csv', '"re.gion ""x""",turn#over,"wa\\ges"', rows)
    job, table = made(data)
    assert job["table"] == {"by": ['re.gion "x"'], "value": ["turn#over"]}
    assert table.names == ('re.gion "x"',)


def test_a_list_of_cells_that_was_guessed_says_why_and_how_it_becomes_records(tmp_path: Path) -> None:
    data = write(tmp_path / "d.csv", "region,size,turnover", ["N,a,5", "N,b,7", "S,a,1", "S,b,9"])
    guessed = job_text(data, tmp_path)
    assert tomllib.loads(guessed)["data"] == {"cells": "d.csv"}
    assert "no combination of codes stands in two rows" in guessed
    assert "no combination" not in job_text(data, tmp_path, kind="cells")
    said = job_text(data, tmp_path, kind="microdata")
    assert tomllib.loads(said)["data"] == {"microdata": "d.csv"}
    assert tomllib.loads(said)["rules"]["min_count"] == 3


def test_the_data_are_named_from_where_the_job_stands(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "jobs").mkdir()
    data = comma(tmp_path / "data")
    assert tomllib.loads(job_text(data, tmp_path))["data"]["microdata"] == "data/firms.csv"
    assert tomllib.loads(job_text(data, tmp_path / "jobs"))["data"]["microdata"] == str(data)
