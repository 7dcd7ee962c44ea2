"""Columns protected on a Spark session are those that one machine gives, to the byte, and no plan tells a secret."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.microdata import cuts, on_spark
from diskret.microdata.columns import Records
from diskret.model.errors import BadOption, NegativeValue, TooFewUnits

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]


@pytest.fixture(scope="module")
def firms() -> dict[str, Any]:
    """Records with gaps, zeros, many equal values, two waves, and codes that stay as they are."""
    random = np.random.default_rng(8)
    n = 3000
    sales = np.exp(random.normal(6, 1, n)).round()
    staff = random.integers(0, 40, n).astype(np.float64)
    sales[::91] = np.nan
    return {"id": np.arange(n), "wave": random.choice(["a", "b"], n), "sales": sales, "staff": staff}


def columns_of(frame: Any) -> dict[str, Any]:
    table = frame.toArrow()
    return {name: table.column(name).to_numpy(zero_copy_only=False) for name in table.column_names}


def same(here: Records, there: Any) -> bool:
    """Whether both have the same bytes in the same rows."""
    found = columns_of(there)
    return list(found) == list(here) and all(
        np.asarray(here[name]).tobytes() == np.asarray(found[name], dtype=here[name].dtype).tobytes()
        if here[name].dtype != object else here[name].tolist() == found[name].tolist()
        for name in here
    )  # fmt: skip


@pytest.mark.parametrize("how", [{"wave": "wave"}, {"method": "fixed", "m": 4}, {"keep_variance": True}], ids=str)
def test_a_session_groups_as_one_machine_does(
    firms: dict[str, Any], spark: Any, monkeypatch: pytest.MonkeyPatch, how: Mapping[str, Any]
) -> None:
    """Columns are cut into stretches and buckets, as large ones are."""
    monkeypatch.setattr(cuts, "STRETCH", 500)
    monkeypatch.setattr(on_spark, "ROWS_TOGETHER", 700)
    here = dk.microaggregate(firms, ["sales"], **how)
    there = on_spark.microaggregate(firms, ["sales"], engine=spark, **how)
    assert same(here.frame, there.frame)
    assert "diskret" not in str(spark.sql("SHOW TABLES").collect())


def test_a_session_draws_the_noise_of_one_machine(
    firms: dict[str, Any], spark: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("correlation", "noise", "on_spark"):
        monkeypatch.setattr(f"diskret.microdata.{module}.TOGETHER", 800)
    plain = dk.NoiseOptions(pairing="none")
    here = dk.add_noise(firms, ["sales", "staff"], sd=0.123457, shift=0.0654321, seed=987654321123, options=plain)
    there = on_spark.add_noise(firms, ["sales", "staff"], engine=spark, sd=0.123457, shift=0.0654321, seed=987654321123)
    assert same(here.frame, there.frame)
    plans = there.frame._jdf.queryExecution().toString()
    assert "mapInArrow" in plans.replace("MapInArrow", "mapInArrow")
    assert not [each for each in ("123457", "654321", "987654321123", "0.0152") if each in plans]


def test_what_cannot_be_is_refused_there_too(firms: dict[str, Any], spark: Any) -> None:
    with pytest.raises(BadOption, match="not known on Spark"):
        on_spark.microaggregate(firms, ["sales"], engine=spark, method="mdav")  # type: ignore[arg-type]
    with pytest.raises(TooFewUnits):
        on_spark.microaggregate({"x": [1.0, 2, 0, None]}, ["x"], engine=spark)
    with pytest.raises(NegativeValue, match="no logarithm"):
        on_spark.add_noise({"x": [1.0, -2, 5, 7]}, ["x"], engine=spark, sd=0.1, seed=4)
