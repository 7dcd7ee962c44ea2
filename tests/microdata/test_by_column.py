"""Files protected a few columns at a time are the files that protecting all records at once gives."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import duckdb
import numpy as np
import pytest

import diskret as dk
from diskret.microdata.by_column import Part, protect_by_column
from diskret.microdata.columns import Records, read_records
from diskret.model.errors import BadOption, MissingColumn
from diskret.publication.microdata_files import write_records

VALUES = ("x0", "x1", "x2")


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    """A Parquet file with codes, gaps and zeros."""
    random = np.random.default_rng(4)
    n = 500
    values = {name: np.exp(random.normal(8, 1, n)).round(2) for name in VALUES}
    values["x1"][::7], values["x2"][::11] = np.nan, 0
    codes = {"region": random.choice(list("NSW"), n).astype(object), "wave": random.integers(1, 3, n)}
    write_records(Records(columns={"id": np.arange(n), **codes, **values}), tmp_path / "firms.parquet")
    return tmp_path / "firms.parquet"


def read(path: Path) -> list[tuple[object, ...]]:
    found: list[tuple[object, ...]] = duckdb.connect().execute(f"SELECT * FROM '{path}'").fetchall()
    return found


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_the_file_is_the_one_that_all_columns_at_once_give(firms: Path, tmp_path: Path, ending: str) -> None:
    """Values grouped by wave, codes post-randomised: columns, rows, gaps and order as they are without parts."""
    parts = [
        Part(columns=[name], beside=["wave"], protect=partial(dk.microaggregate, columns=[name], wave="wave"))
        for name in VALUES
    ]
    parts.append(
        Part(columns=["region"], numbers=False, protect=lambda r: dk.post_randomise(r, ["region"], keep=0.8, seed=5))
    )
    facts = protect_by_column(firms, tmp_path / f"apart{ending}", parts)
    whole = dk.microaggregate(firms, VALUES, wave="wave")
    both = dk.post_randomise(whole.frame, ["region"], keep=0.8, seed=5)
    write_records(both.frame, tmp_path / f"whole{ending}")
    assert read(tmp_path / f"apart{ending}") == read(tmp_path / f"whole{ending}")
    assert [each.facts["records"] for each in facts] == [500] * 4
    assert [each.facts[name] for each, name in zip(facts, VALUES, strict=False)] == list(whole.facts.values())


def test_only_the_columns_of_a_part_are_read(firms: Path, tmp_path: Path) -> None:
    seen: list[list[str]] = []

    def looking(records: Records) -> dk.microdata.columns.Protected:
        seen.append(list(records))
        return dk.microaggregate(records, ["x0"])

    protect_by_column(firms, tmp_path / "suf.parquet", [Part(columns=["x0"], beside=["wave"], protect=looking)])
    assert seen == [["x0", "wave"]]
    assert list(read_records(firms, only=["wave", "id"])) == ["wave", "id"]


def test_columns_beside_stay_as_they_are(firms: Path, tmp_path: Path) -> None:
    def meddling(records: Records) -> dk.microdata.columns.Protected:
        done = dk.microaggregate(records, ["x0"])
        return dk.microdata.columns.Protected(
            frame=done.frame.with_columns({"wave": np.zeros(500)}), method=done.method, facts=done.facts
        )

    protect_by_column(firms, tmp_path / "suf.parquet", [Part(columns=["x0"], beside=["wave"], protect=meddling)])
    before, after = (read_records(path)["wave"] for path in (firms, tmp_path / "suf.parquet"))
    assert np.array_equal(before, after)


def test_what_cannot_be_is_refused_and_nothing_is_written(firms: Path, tmp_path: Path) -> None:
    one = Part(columns=["x0"], protect=partial(dk.microaggregate, columns=["x0"]))
    fewer = Part(columns=["x1"], protect=lambda r: dk.microaggregate(r.take(slice(0, 100)), ["x1"]))
    for parts, kind, says in (
        ([one, one], BadOption, "is in two parts"),
        ([one, fewer], BadOption, "other records"),
        ([Part(columns=["nothing"], protect=one.protect)], MissingColumn, "nothing"),
    ):
        with pytest.raises(kind, match=says):
            protect_by_column(firms, tmp_path / "suf.parquet", parts)
    with pytest.raises(BadOption, match="not written as"):
        protect_by_column(firms, tmp_path / "suf.xlsx", [one])
    assert {path.name for path in tmp_path.iterdir()} == {"firms.parquet"}
