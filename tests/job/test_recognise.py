"""What a file's columns are is proposed with its reason; nothing is proposed that the data contradict."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskret.job.read import job_from
from diskret.job.recognise import WHY, recognise
from diskret.job.run import run_job

EXAMPLES = Path(__file__).parents[2] / "examples"


def roles(source: object, **options: Any) -> dict[str, str]:
    return {c.name: c.role for c in recognise(source, **options).columns}


def test_microdata_of_firms() -> None:
    assert roles(EXAMPLES / "firms.csv") == {
        "firm": "identifier", "owner": "holding", "region": "classification", "industry": "classification",
        "size": "classification", "employees": "value", "turnover": "value",
    }  # fmt: skip
    assert {c.name: c.prefixes for c in recognise(EXAMPLES / "firms.csv").columns if c.prefixes} == {
        "region": (2,), "industry": (2,),
    }  # fmt: skip


def test_a_list_of_cells_is_told_from_records() -> None:
    found = recognise(EXAMPLES / "diagnoses.csv")
    assert (found.kind, found.frequency) == ("cells", True)
    doubled: dict[str, list[Any]] = {
        "a": ["x", "y"] * 4,
        "b": ["u", "u", "v", "v"] * 2,
        "n": [1.5 * i for i in range(8)],
    }
    assert recognise(doubled).kind == "microdata"
    assert recognise({k: v[:4] for k, v in doubled.items()}).kind == "cells"
    assert recognise({k: v[:4] for k, v in doubled.items()}, "microdata").kind == "microdata"


def test_counts_and_statuses_of_cells() -> None:
    cells = {
        "nace": ["A", "A", "B", "B", "C", "C"], "region": ["N", "S"] * 3, "turnover": [10.5, 3, 4, 5, 6, 7],
        "firms": [4, 1, 3, 9, 3, 8], "status": ["open", "primary", "open", "open", "open", "open"],
    }  # fmt: skip
    found = recognise(cells)
    assert roles(cells)["firms"] == "count"
    assert roles(cells)["status"] == "status"
    assert found.content("c.csv")["table"] == {
        "by": ["nace", "region"], "value": ["turnover"], "count": "firms", "status": "status",
    }  # fmt: skip


def test_codes_that_occur_once_each_make_a_table_of_one_classification() -> None:
    found = recognise({"nace": ["A", "B", "C"], "turnover": [1.5, 2, 3]})
    assert (found.kind, found.named("classification"), found.named("value")) == ("cells", ["nace"], ["turnover"])


def test_numbers_that_number_the_rows_are_no_values() -> None:
    ids = {"firm_id": np.arange(1, 41), "region": ["N", "S"] * 20, "x": np.arange(40) * 0.5}
    assert roles(ids) == {"firm_id": "identifier", "region": "classification", "x": "value"}


def test_gaps_and_empty_columns_are_said() -> None:
    found = recognise({"r": ["N", "S"] * 4, "x": [1.5, None, 2, 3, 4, 5, 6, 7.0], "nothing": [None] * 8})
    said = {c.name: (c.role, c.chosen, c.why(), c.why("de")) for c in found.columns}
    assert said["x"][:2] == ("value", True)  # what becomes of the gaps is asked when it is added up
    assert "1 rows" in said["x"][2]
    assert said["nothing"][:3] == ("other", False, "nothing in it")


def test_decimal_commas_are_recognised_where_only_they_make_numbers(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_text("region;turnover\n" + "".join(f"{'NS'[i % 2]};{i},5\n" for i in range(12)))
    found = recognise(tmp_path / "e.csv")
    assert found.decimal == ","
    assert found.named("value") == ["turnover"]
    assert found.content("e.csv")["data"] == {"microdata": "e.csv", "decimal": ","}
    (tmp_path / "f.csv").write_text("region;x\n" + "".join(f"{'NS'[i % 2]};{i}.5\n" for i in range(12)))
    assert recognise(tmp_path / "f.csv").decimal == "."


def test_every_reason_has_words_in_both_languages() -> None:
    assert all(en and de and en != de for en, de in WHY.values())


@pytest.mark.parametrize("name", ["firms.csv", "diagnoses.csv", "care.csv"])
def test_the_first_job_runs_as_it_is(name: str) -> None:
    found = recognise(EXAMPLES / name)
    result = run_job(job_from(found.content(name), "page", EXAMPLES), EXAMPLES)
    assert result.tables
