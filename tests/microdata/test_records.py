"""Records are what was given, whatever frame it came in."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import diskret as dk
from diskret.microdata.columns import Records, coded, crossed, read_records
from diskret.microdata.panel import renumber
from diskret.model.errors import BadOption, EmptyData, NotANumber, NotFinite

GIVEN: dict[str, Any] = {
    "id": [1, 2, 3],
    "x": [1.5, None, 3.0],
    "k": ["a", None, "b"],
    "day": [datetime.date(2020, 1, n) for n in (1, 2, 3)],
    "flag": [True, None, False],
}


@pytest.mark.parametrize(
    "frame", [GIVEN, pd.DataFrame(GIVEN), pl.DataFrame(GIVEN), pa.table(GIVEN)], ids=lambda f: type(f).__name__
)
def test_every_frame_gives_the_same_records(frame: Any) -> None:
    records = read_records(frame, ["x"])
    assert list(records) == list(GIVEN)
    assert records["id"].tolist() == [1, 2, 3]
    assert np.isnan(records["x"]).tolist() == [False, True, False]
    assert records["k"].tolist() == ["a", None, "b"]
    assert [str(d)[:10] for d in records["day"]] == ["2020-01-01", "2020-01-02", "2020-01-03"]
    assert coded(records["flag"]).counts() == {"false": 1, "true": 1, "(missing)": 1}
    assert pd.DataFrame(dict(records)).shape == (3, 5)


def test_files_give_records_in_their_order(tmp_path: Any) -> None:
    x = np.random.default_rng(0).permutation(300_000).astype(float)
    pd.DataFrame({"x": x}).to_csv(tmp_path / "x.csv", index=False)
    assert np.array_equal(read_records(tmp_path / "x.csv", ["x"])["x"], x)
    assert np.array_equal(read_records({"x": x[::-1]}, ["x"])["x"], x[::-1])


def test_codes_are_texts_without_blanks() -> None:
    assert coded(np.array([5.0, np.nan, 12.0])).codes == ("12", "5")
    assert coded(np.array(["05", " 05", "", "5"], dtype=object)).index.tolist() == [0, 0, -1, 1]
    assert coded(np.array([None, None], dtype=object)).codes == ()


def test_crossed_classes_are_equal_where_all_columns_are() -> None:
    records = Records(columns={"a": np.array([1, 1, 2, 2, 1]), "b": np.array(["x", "y", "x", "x", "x"], dtype=object)})
    cell = crossed(records, ["a", "b"])
    assert cell[0] == cell[4]
    assert cell[2] == cell[3]
    assert len(set(cell.tolist())) == 3


def test_new_numbers_keep_units_together_and_tell_nothing() -> None:
    n = 500
    panel = Records(columns={"u": np.repeat(np.arange(n), 2), "w": np.tile([2, 1], n), "x": np.arange(2.0 * n)})
    done = renumber(panel, "u", "w", seed=3)
    assert done["w"].tolist() == [1, 2] * n
    pairs = done["x"].reshape(-1, 2)
    assert (pairs[:, 0] == pairs[:, 1] + 1).all()
    assert abs(np.corrcoef(done["u"], done["x"])[0, 1]) < 0.2
    assert sorted(renumber(panel, None, None, seed=3)["x"].tolist()) == panel["x"].tolist()
    with pytest.raises(BadOption, match="blank"):
        renumber(Records(columns={"u": np.array(["a", None], dtype=object)}), "u", None, seed=1)


def test_bad_numbers_are_refused() -> None:
    with pytest.raises(NotANumber):
        read_records({"x": ["1", "1,5"]}, ["x"])
    with pytest.raises(NotFinite):
        read_records({"x": [1.0, np.inf]}, ["x"])
    with pytest.raises(EmptyData):
        read_records({"x": []}, ["x"])


@pytest.mark.parametrize("seed", [-1, True, "7", 1.5])
def test_what_is_no_seed_is_refused(seed: Any) -> None:
    with pytest.raises(BadOption, match="seed"):
        dk.post_randomise({"k": ["a", "b"]}, ["k"], keep=0.5, seed=seed)
    dk.post_randomise({"k": ["a", "b"]}, ["k"], keep=0.5, seed=np.int64(7))  # type: ignore[arg-type]
