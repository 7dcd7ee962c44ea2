"""An attack on a Spark session finds whom the attack on this machine finds."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.microdata.columns import Records
from diskret.model.errors import BadOption, NothingToLink
from diskret.publication.microdata_files import write_records
from diskret.risk.judgement import Attack

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning"),
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]
KEYS, VALUES = ["region", "branch"], {"x0": "sales", "x1": "staff"}
Files = tuple[dict[str, Any], dict[str, Any], dict[str, Any]]


@pytest.fixture(scope="module")
def files() -> Files:
    """Released, external and original records of 700 firms: other orders, gaps, withheld keys, strangers, ties."""
    random = np.random.default_rng(6)
    n = 700
    region = random.choice(np.array(["N", "S", "W"], dtype=object), n)
    branch = random.integers(1, 5, n)
    true = np.exp(random.normal(5, 1, (n, 2))).round(1)
    true[::50] = 20.0
    changed = true * np.exp(random.normal(0, 0.2, true.shape))
    changed[random.random(n) < 0.05, 1] = np.nan
    withheld = region.copy()
    withheld[random.random(n) < 0.01] = None
    order, other = random.permutation(n), random.permutation(n)[:600]
    released = {"id": order, "region": withheld[order], "branch": branch[order]}
    released |= {f"x{i}": changed[order, i] for i in range(2)}
    external = {"id": other.astype(np.float64), "region": region[other], "branch": branch[other].astype(str)}
    external |= {name: true[other, i] for i, name in enumerate(("sales", "staff"))}
    external["id"][:20] += 5000
    original = {"id": np.arange(n), "region": region, "x0": true[:, 0], "x1": true[:, 1]}
    return released, external, original


def same(here: Attack, there: Attack) -> bool:
    """Whether two attacks found the same, to the last bit."""
    return here.summary() == there.summary() and here.combinations == there.combinations and str(here) == str(there)


@pytest.mark.parametrize(
    "how",
    [
        {"keys": KEYS, "values": VALUES, "unit": "id", "optimal_up_to": 40},
        {"keys": ["region"], "values": VALUES, "unit": "id", "method": "single", "scale": "standard",
         "by": {"region": None, "x0": [50, 200]}, "original": True},
    ],
    ids=["one to one", "single units beside an original"],
)  # fmt: skip
def test_a_session_finds_whom_one_machine_finds(files: Files, spark: Any, how: Mapping[str, Any]) -> None:
    released, external, original = files
    named = {name: how[name] for name in ("keys", "values", "unit")}
    said = {name: value for name, value in how.items() if name not in (*named, "original")}
    named["original"] = original if "original" in how else None
    here, there = (
        dk.attack(released, external, **named, options=dk.LinkageOptions(**said, engine=engine))
        for engine in ("duckdb", spark)
    )
    assert here.correct > 50
    assert same(here, there)
    assert not there.partner.size


def test_files_of_a_folder_have_the_order_they_have_here(files: Files, spark: Any, tmp_path: Path) -> None:
    """Aligned files in several pieces, the larger one last: whoever takes another order judges strangers."""
    released, _, _ = files
    columns = {name: np.asarray(released[name]) for name in ("region", "x0", "x1")}
    for number, rows in enumerate((slice(0, 50), slice(50, 200), slice(200, 700))):
        piece = Records(columns={name: column[rows] for name, column in columns.items()})
        write_records(piece, tmp_path / f"{number}.parquet")
    options = {"keys": ["region"], "values": ["x0", "x1"]}
    here, there = (
        dk.attack(
            tmp_path / "*.parquet",
            Records(columns=columns),
            **options,
            options=dk.LinkageOptions(aligned=True, engine=engine),
        )
        for engine in ("duckdb", spark)
    )
    assert here.true_match_rate == 1.0
    assert same(here, there)


def test_a_session_refuses_what_one_machine_refuses(files: Files, spark: Any) -> None:
    released, external, _ = files
    options = dk.LinkageOptions(engine=spark)
    asked: dict[str, Any] = {"keys": KEYS, "values": VALUES, "options": options}
    with pytest.raises(NothingToLink, match="no unit of the external file"):
        dk.attack(released, external | {"id": external["id"] + 9000}, unit="id", **asked)
    with pytest.raises(BadOption, match="more than once"):
        dk.attack(released, external | {"id": external["id"] // 2}, unit="id", **asked)
    with pytest.raises(NothingToLink, match="no code of key 'region' in common"):
        dk.attack(released, external | {"region": ["X"] * 600}, unit="id", **asked)
    with pytest.raises(BadOption, match="same number of records"):
        dk.attack(released, external, keys=KEYS, options=dk.LinkageOptions(engine=spark, aligned=True))
