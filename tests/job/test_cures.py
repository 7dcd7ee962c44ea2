"""Every error that a data file can cause comes with what cures it, and every cure cures."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import pytest

from diskret.job.cures import with_cure
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.model.errors import Cure, DiskretError, ProtectionWarning

HEAD = "region,size,turnover,year\n"
TREE = "North\n@N1\n@N2\nSouth\n@S1\n@S2\n"
RECORDS: dict[str, Any] = {
    "data": {"microdata": "data.csv"},
    "classifications": {"region": {"hierarchy": "region.hrc"}},
    "table": {"by": ["region", "size"], "value": ["turnover"]},
}
CELLS = {**RECORDS, "data": {"cells": "data.csv"}}

POSITIVE = {"by": ["region", "size"], "value": ["turnover"], "positive": True}
MISNAMED = {"by": ["region", "Size"], "value": ["turnovr"]}
LEFT, ZERO = {"leave those rows out": "leave out"}, {"take them as zero": "zero"}
SUBTOTALS: dict[str, Any] = {"take their rows as given subtotals": ["North"]}
EDIT: dict[str, Any] = {"edit the hierarchy": None}
ALIKE = "take the column with a similar name"

CASES: dict[str, tuple[dict[str, Any], str, dict[str, Any]]] = {
    "a missing number": (RECORDS, "N1,a,1,1\nN2,b,,1\nS1,a,5,1\n", LEFT | ZERO),
    "a word for no number": (RECORDS, "N1,a,1,1\nN2,b,k.A.,1\n", LEFT | ZERO),
    "an infinite number": (RECORDS, "N1,a,1,1\nN2,b,inf,1\n", LEFT),
    "a number nobody can read": (RECORDS, "N1,a,1,1\nN2,b,5 EUR,1\n", {}),
    "a missing code": (RECORDS, "N1,a,1,1\n,b,2,1\n", LEFT),
    "a code the hierarchy lacks": (RECORDS, "N1,a,1,1\nX9,b,2,1\n", LEFT | EDIT),
    "a code in another spelling": (
        RECORDS, "N1,a,1,1\nN\u200b1,b,2,1\n", LEFT | EDIT | {"take spellings that look alike as one code": True},
    ),
    "a record coded to a sum": (RECORDS, "N1,a,1,1\nNorth,b,2,1\n", EDIT | SUBTOTALS),
    "a negative number": ({**RECORDS, "table": POSITIVE}, "N1,a,1,1\nN2,b,-2,1\n", {"allow negative values": False}),
    "columns of other names": ({**RECORDS, "table": MISNAMED}, "N1,a,1,1\n", {ALIKE: ["turnover"]}),
    "a cell without a number": (CELLS, "N1,a,1,1\nN2,b,,1\n", LEFT | ZERO),
    "a cell without a code": (CELLS, "N1,a,1,1\n,a,1,1\n", LEFT | {"take blanks as the total": "Total"}),
    "a cell with an unknown code": (CELLS, "N1,a,1,1\nX9,a,2,1\n", LEFT | EDIT),
    "a negative cell": ({**CELLS, "table": POSITIVE}, "N1,a,1,1\nN2,b,-2,1\n", {"allow negative values": False}),
    "a cell given twice": (
        CELLS, "N1,a,1,2023\nN1,a,2,2024\n",
        {
            "classify by a further column": ["region", "size", "year"],
            "take the rows as records": {"microdata": "data.csv"},
        },
    ),
    "a rounded sum": (CELLS, "N1,a,1,1\nN2,a,2,1\nNorth,a,4,1\n", {"allow differences by rounding": 1.0}),
    "a sum that is wrong": (CELLS, "N1,a,1,1\nN2,a,2,1\nNorth,a,9,1\n", {}),
}  # fmt: skip


def refused(content: dict[str, Any], folder: Path) -> DiskretError | None:
    """What a job refuses, if it does."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProtectionWarning)
            run_job(job_from(content, "a test", folder), folder, write=False)
    except DiskretError as e:
        return e
    return None


@pytest.mark.parametrize("case", CASES)
def test_an_error_comes_with_what_cures_it(case: str, tmp_path: Path) -> None:
    content, rows, expected = CASES[case]
    (tmp_path / "region.hrc").write_text(TREE)
    (tmp_path / "data.csv").write_text(HEAD + rows)
    error = refused(content, tmp_path)
    assert error is not None
    assert {cure.label: cure.value for cure in error.cures} == expected
    assert error.rows or case == "columns of other names"
    for cure in error.cures:
        if cure.value is not None:
            after = refused(with_cure(content, cure), tmp_path)
            assert after is None or str(after) != str(error), cure


def test_rows_left_out_are_counted_and_named_by_their_number_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "region.hrc").write_text(TREE)
    (tmp_path / "data.csv").write_text(HEAD + "N1,a,,1\nN1,a,2,1\nX9,a,3,1\nS1,b,4,1\n")
    first = with_cure(RECORDS, Cure(key="table.without_value", value="leave out", label=""))
    error = refused(first, tmp_path)
    assert error is not None
    assert error.code == "H1"
    assert error.rows == (3,)
    content = with_cure(first, Cure(key="classifications.region.unknown", value="leave out", label=""))
    done = run_job(job_from(content, "a test", tmp_path), tmp_path, write=False)
    assert done.warnings == (
        "1 of 4 rows are left out: column 'turnover' holds no number there",
        "1 of 4 rows are left out: their code of 'region' is not in its hierarchy",
    )
    assert done.tables["turnover"].value.max() == 6


def test_zero_is_counted_as_a_contributor_and_leaving_out_is_not(tmp_path: Path) -> None:
    (tmp_path / "region.hrc").write_text(TREE)
    (tmp_path / "data.csv").write_text(HEAD + "N1,a,,1\nN1,a,2,1\n")
    counts = {}
    for said in ("zero", "leave out"):
        content = with_cure(RECORDS, Cure(key="table.without_value", value=said, label=""))
        table = run_job(job_from(content, "a test", tmp_path), tmp_path, write=False).tables["turnover"]
        assert table.respondents is not None
        counts[said] = int(table.respondents.count.max())
    assert counts == {"zero": 2, "leave out": 1}


def test_nothing_is_left_is_refused(tmp_path: Path) -> None:
    (tmp_path / "region.hrc").write_text(TREE)
    (tmp_path / "data.csv").write_text(HEAD + "N1,a,,1\n")
    error = refused(with_cure(RECORDS, Cure(key="table.without_value", value="leave out", label="")), tmp_path)
    assert error is not None
    assert error.code == "T7"


def test_a_cure_in_a_pool_is_a_key_of_the_table(tmp_path: Path) -> None:
    (tmp_path / "region.hrc").write_text(TREE)
    (tmp_path / "data.csv").write_text(HEAD + "N1,a,1,1\nN2,b,,1\n")
    content = {key: RECORDS[key] for key in ("data", "classifications")} | {
        "table": {"value": "turnover"},
        "tables": {"small": {"by": ["region"]}, "large": {"by": ["region", "size"]}},
        "suppression": {},
    }
    error = refused(content, tmp_path)
    assert error is not None
    assert {cure.key for cure in error.cures} == {"tables.small.without_value"}


def test_a_job_that_leaves_nothing_out_is_offered_no_such_cure(tmp_path: Path) -> None:
    (tmp_path / "region.hrc").write_text(TREE)
    (tmp_path / "data.csv").write_text(HEAD + "N1,a,1,1\nX9,b,2,1\n")
    content = {key: RECORDS[key] for key in ("data", "classifications")} | {
        "anonymise": {"attributes": ["region", "size"], "k": 2, "up_to": 1}
    }
    error = refused(content, tmp_path)
    assert error is not None
    assert error.code == "H1"
    assert {cure.label for cure in error.cures} == {"edit the hierarchy"}
    wrong = with_cure(content, Cure(key="classifications.region.unknown", value="leave out", label=""))
    assert "belongs to a job of a table" in str(refused(wrong, tmp_path))
