"""Whatever protects a table or records is published by one call, and nothing hidden leaves with it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.model.errors import BadOption
from tests.publication.conftest import FORMATS
from tests.publication.leaving import SDMX

RNG = np.random.default_rng(11)
N = 60
PEOPLE = {
    "r": [*RNG.choice(list("abc"), N), "d", "d"], "s": [*RNG.choice(list("mw"), N), "m", "w"],
    "x": [*RNG.integers(10**6, 10**7, N), 7654321, 8765432],
}  # fmt: skip
BY: dict[str, dk.Hierarchy | None] = {"r": None, "s": None}


def marked() -> dk.Table:
    return dk.mark(dk.tabulate(PEOPLE, by=BY, value="x"), dk.rules.MinCount(3))


TABLES: dict[str, Callable[[], Any]] = {
    "suppressed by moves": lambda: dk.suppress(marked()),
    "suppressed by cuboids": lambda: dk.suppress(marked(), method=dk.methods.Cuboids()),
    "attacked": lambda: dk.audit(dk.suppress(marked()).table),
    "perturbed": lambda: dk.perturb(marked(), seed=1),
    "rounded": lambda: dk.round_table(marked(), 1000, seed=1),
    "several": lambda: {"x": dk.suppress(marked())},
}


@pytest.mark.parametrize("kind", TABLES)
def test_a_result_is_published_by_one_call_and_no_hidden_value_leaves(kind: str, tmp_path: Path, tools: Any) -> None:
    done = TABLES[kind]()
    table = (done["x"] if isinstance(done, dict) else done).table
    for ending in [e for e in FORMATS if e not in (".csv", ".parquet")] if table.altered else FORMATS:
        dk.publish(done, tmp_path / f"t{ending}", sdmx=SDMX)
        found = tools.read(tmp_path / f"t{ending}", table)
        shown = [value for value in found.values() if value is not None]
        assert len(shown) == int((~table.hidden).sum()), ending
        assert not {*marked().value[table.hidden].tolist()} & {*shown}, ending


def test_an_anonymous_file_is_published_by_one_call(tmp_path: Path) -> None:
    done = dk.anonymise(PEOPLE, BY, seed=1)
    dk.publish(done, tmp_path / "t.csv")
    assert len((tmp_path / "t.csv").read_text().splitlines()) == N + 3


def test_records_and_pools_are_refused_with_what_to_do_instead(tmp_path: Path) -> None:
    noisy = dk.microaggregate(PEOPLE, ["x"], m=3)
    with pytest.raises(BadOption, match="write_records"):
        dk.publish(noisy, tmp_path / "t.csv")  # type: ignore[arg-type]
    regions = dk.mark(dk.tabulate(PEOPLE, by={"r": None}, value="x"), dk.MinCount(3))
    pool = dk.Pool.of({"one": marked(), "two": regions})
    with pytest.raises(BadOption, match="one by one"):
        dk.publish(dk.suppress(pool), tmp_path / "t.csv")
    assert not (tmp_path / "t.csv").exists()
