"""The safe files that Statistics Sweden published with its batches, written again."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from diskret.job.models import job_of
from diskret.job.run import run_job
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.publication.argus.write import write_safe_file

SUITE = Path(__file__).parents[3] / "shared/data/tables/argus-suites/sweden"
LETTERS = {"S": Status.OPEN, "E": Status.OPEN, "U": Status.PRIMARY, "M": Status.SECONDARY}
pytestmark = pytest.mark.skipif(not SUITE.is_dir(), reason="needs the batches of Statistics Sweden beside the project")


def tabulated(name: str, by: list[str], value: str, rules: dict[str, object]) -> Table:
    """The table of a batch, with the pattern tau-ARGUS found."""
    data = {"microdata": f"{name}.CSV", "metadata": f"{name}.RDA"}
    made = run_job(job_of({"data": data, "table": {"by": by, "value": value}, "rules": rules}), SUITE)
    (table,) = made.tables.values()
    status = table.status.copy()
    for line in (SUITE / f"{name}_Out_5_1.csv").read_text().splitlines():
        fields = [field.strip(' "') for field in line.split(";")]
        status[table.index(*fields[: len(by)])] = LETTERS[fields[-3]]
    assert np.array_equal(status == Status.PRIMARY, table.status == Status.PRIMARY)
    return replace(table, status=status)


def test_example_1_comes_out_as_published_but_for_one_rounding_error(tmp_path: Path) -> None:
    table = tabulated("Example1", ["Age", "Omk"], "Resp", {"p_percent": 20})
    files = write_safe_file(
        table, tmp_path / "Example1_Out_5_1.csv", version=3, widths={"Age": 15, "Omk": 12}, report=False
    )
    ours, theirs = (p.read_bytes().split(b"\r\n") for p in (files[0], SUITE / files[0].name))
    other = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    # 264.8 - 257 in binary fractions
    assert [b.replace(b"7.80000000000001", b"7.8") for _, b in other] == [a for a, _ in other]
    assert len(other) == 1
    assert files[1].read_bytes() == (SUITE / files[1].name).read_bytes()


def test_example_3_comes_out_as_published(tmp_path: Path) -> None:
    table = tabulated("Example3", ["Region", "Age", "Sex"], "Count", {"min_count": {"n": 3, "margin": 30}})
    old = {"version": 3, "widths": {"Sex": 15}, "report": False}
    files = [
        *write_safe_file(table, tmp_path / "Example3_Out_5_1.csv", **old),  # type: ignore[arg-type]
        *write_safe_file(table, tmp_path / "Example3_Out_1_0.csv", "csv", unprotected=True, **old),  # type: ignore[arg-type]
    ]
    same = {f.name: f.read_bytes() == (SUITE / f.name).read_bytes() for f in files}
    # their metadata name the hierarchies of another house
    assert same.pop("Example3_Out_5_1.rda") is False
    assert list(same) == [
        "Example3_Out_5_1.csv", "Example3_Out_5_1_1.hrc", "Example3_Out_5_1_2.hrc", "Example3_Out_1_0.csv",
    ]  # fmt: skip
    assert all(same.values())
