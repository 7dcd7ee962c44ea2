"""The same file from any source and on any engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from diskret.safe.anonymisation import Anonymisation
from diskret.safe.anonymise import anonymise
from diskret.safe.options import AnonymiseOptions, LadderSearch
from tests.safe.conftest import ATTRIBUTES

QUICK = LadderSearch(effort=0.02)


def same(one: Anonymisation, other: Anonymisation) -> bool:
    return np.array_equal(one.codes, other.codes) and np.array_equal(one.frequency, other.frequency)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "csv", "parquet", "shuffled"])
def test_any_source_gives_the_same_file(persons: dict[str, Any], tmp_path: Path, kind: str) -> None:
    plain = anonymise(persons, ATTRIBUTES, search=QUICK, seed=2)
    frame = pl.DataFrame({name: list(column) for name, column in persons.items()})
    frame.write_csv(tmp_path / "persons.csv")
    frame.write_parquet(tmp_path / "persons.parquet")
    source: Any = {
        "pandas": pd.DataFrame(persons), "polars": frame, "arrow": frame.to_arrow(), "csv": tmp_path / "persons.csv",
        "parquet": tmp_path / "persons.parquet", "shuffled": frame.sample(fraction=1.0, shuffle=True, seed=1),
    }[kind]  # fmt: skip
    assert same(plain, anonymise(source, ATTRIBUTES, search=QUICK, seed=2))


@pytest.mark.spark
def test_combinations_counted_on_a_cluster_are_the_same(persons: dict[str, Any], spark: Any) -> None:
    by = {name: ATTRIBUTES[name] for name in ("region", "sex")}
    frame = pl.DataFrame({name: list(persons[name]) for name in by})
    assert same(
        anonymise(persons, by, search=QUICK, seed=2),
        anonymise(frame, by, search=QUICK, seed=2, options=AnonymiseOptions(engine=spark)),
    )


def test_blanks_are_a_category_of_their_own(persons: dict[str, Any]) -> None:
    with_blanks = {**persons, "job": np.where(np.arange(900) % 3 == 0, None, persons["job"])}
    anon = anonymise(with_blanks, {"job": None, "sex": None}, search=QUICK, seed=2)
    assert "(missing)" in anon.attributes["job"].codes
    given = anonymise(
        with_blanks, {"job": None, "sex": None}, search=QUICK, seed=2, options=AnonymiseOptions(missing={"job": "j1"})
    )
    assert "(missing)" not in given.attributes["job"].codes


def test_the_input_is_left_as_it_was(persons: dict[str, Any]) -> None:
    before = {name: column.copy() for name, column in persons.items()}
    anonymise(persons, ATTRIBUTES, search=QUICK, seed=2, options=AnonymiseOptions(fictitious=20))
    assert all(np.array_equal(persons[name], column) for name, column in before.items())


def test_dates_are_codes(persons: dict[str, Any]) -> None:
    days = np.datetime64("2026-11-01") + np.arange(900) % 4
    frame = pl.DataFrame({"day": days.astype("datetime64[D]"), "sex": list(persons["sex"])})
    anon = anonymise(frame, ["day", "sex"], search=QUICK, seed=2)
    assert anon.table(["day"]).codes == (("2026-11-01", "2026-11-02", "2026-11-03", "2026-11-04"),)
