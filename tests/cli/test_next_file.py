"""A job file for next year's data: what differs is said first, and last year's files stay."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from diskret.cli import app
from diskret.model.errors import BadOption, MissingColumn, UnknownCode

JOB = """
[data]
microdata = "firms-2023.csv"
[classifications.region]
hierarchy = "region.hrc"
[table]
by = ["region", "size"]
value = "turnover"
[rules]
min_count = 2
[suppression]
[output]
publish = "{name}.csv"
working = "{name}.working.parquet"
unprotected = true
"""
HEAD = "region,size,turnover,note\n"
FIRMS = "".join(
    f"{r},{s},{10 * n + 5},x\n"
    for n, (r, s) in enumerate(
        [*((r, s) for r in ("N1", "N2", "S1", "S2") for s in ("a", "b", "c") for _ in "12"), ("N1", "a")]
    )
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "region.hrc").write_text("North\n@N1\n@N2\nSouth\n@S1\n@S2\n")
    (tmp_path / "firms-2023.csv").write_text(HEAD + FIRMS)
    (tmp_path / "firms-2024.csv").write_text(HEAD + FIRMS.replace(",c,", ",d,"))
    (tmp_path / "job.toml").write_text(JOB.replace("{name}", "table"))
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Callable[..., Result]:
    def go(*words: str) -> Result:
        return CliRunner().invoke(app, ["run", str(folder / "job.toml"), *words])

    return go


def test_what_differs_is_said_before_the_job_starts(run: Callable[..., Result], folder: Path) -> None:
    (folder / "firms-2024.csv").write_text("region,size,turnover,year\n" + FIRMS.replace(",c,", ",d,") * 2)
    done = run("--data", str(folder / "firms-2024.csv"))
    assert done.exit_code == 0, done.output
    assert [line.removeprefix("differs: ") for line in done.stderr.splitlines() if line.startswith("differs")] == [
        "'size' has codes that were not there before: 'd'",
        "'size' no longer has the codes 'c'",
        "further columns, which the job does not use: 'year'",
        "columns that the job does not use are gone: 'note'",
        "50 rows, 25 before",
    ]


def test_last_years_files_are_not_written_over(run: Callable[..., Result], folder: Path) -> None:
    assert run("--quiet").exit_code == 0
    before = (folder / "table.csv").read_bytes()
    refused = run("--data", str(folder / "firms-2024.csv"))
    assert isinstance(refused.exception, BadOption)
    assert "would take the place" in refused.exception.what
    assert isinstance(run("--data", str(folder / "firms-2024.csv"), "--out", str(folder)).exception, BadOption)
    assert run("--data", str(folder / "firms-2024.csv"), "--out", str(folder / "2024")).exit_code == 0
    assert run("--data", str(folder / "firms-2023.csv"), "--quiet").exit_code == 0
    assert (folder / "table.csv").read_bytes() == before
    assert sorted(p.name for p in (folder / "2024").iterdir()) == ["table.csv", "table.working.parquet"]


def test_outputs_may_be_called_after_their_data(run: Callable[..., Result], folder: Path) -> None:
    (folder / "job.toml").write_text(JOB.replace("{name}", "out-{data}"))
    assert run("--quiet").exit_code == 0
    assert run("--data", str(folder / "firms-2024.csv"), "--quiet").exit_code == 0
    assert {p.name for p in folder.glob("out-*.csv")} == {"out-firms-2023.csv", "out-firms-2024.csv"}
    (folder / "job.toml").write_text(JOB.replace("{name}", "{data}"))
    refused = run("--quiet")
    assert "is data.microdata too" in str(refused.exception)
    assert (folder / "firms-2023.csv").read_text() == HEAD + FIRMS


def test_a_missing_column_is_refused_with_the_one_that_is_called_alike(
    run: Callable[..., Result], folder: Path
) -> None:
    (folder / "firms-2024.csv").write_text("region,size,Turnover\nN1,a,5\n")
    refused = run("--data", str(folder / "firms-2024.csv"))
    assert isinstance(refused.exception, MissingColumn)
    assert [(cure.key, cure.value) for cure in refused.exception.cures] == [("table.value", ["Turnover"])]


def test_a_code_the_hierarchy_lacks_is_said_and_asked_about(run: Callable[..., Result], folder: Path) -> None:
    (folder / "firms-2024.csv").write_text(HEAD + FIRMS + "X9,a,5,x\n")
    refused = run("--data", str(folder / "firms-2024.csv"))
    assert "'region' has codes that its hierarchy lacks: 'X9'" in refused.stderr
    assert isinstance(refused.exception, UnknownCode)
    assert "classifications.region.unknown" in [cure.key for cure in refused.exception.cures]


def test_without_last_years_data_its_result_is_compared_and_without_both_that_is_said(
    run: Callable[..., Result], folder: Path
) -> None:
    assert run("--quiet").exit_code == 0
    (folder / "firms-2023.csv").unlink()
    given = ("--data", str(folder / "firms-2024.csv"), "--out", str(folder / "2024"))
    said = run(*given).stderr
    assert "compared with those of its working file" in said
    assert "'size' no longer has the codes 'c'" in said
    (folder / "table.working.parquet").unlink()
    assert "only columns and hierarchies were looked at" in run(*given).stderr


def test_last_years_pattern_is_kept(run: Callable[..., Result], folder: Path) -> None:
    assert run("--quiet").exit_code == 0
    out = ("--data", str(folder / "firms-2024.csv"), "--out", str(folder / "2024"), "--quiet")
    assert run(*out, "--previous", str(folder / "table.working.parquet")).exit_code == 0
    missing = run(*out, "--previous", str(folder / "none.parquet"))
    assert "suppression.previous" in str(missing.exception)


def test_one_of_several_linked_tables_gets_other_data(folder: Path) -> None:
    (folder / "cells.csv").write_text("region,turnover\nN1,5\nN2,6\nS1,7\nS2,8\n")
    (folder / "more.csv").write_text("region,turnover\nN1,9\nN2,6\nS1,7\nS2,8\n")
    (folder / "pool.toml").write_text(
        '[tables.one]\nby = ["region"]\nvalue = "turnover"\ndata = { cells = "cells.csv" }\n'
        '[tables.two]\nby = ["region"]\nvalue = "turnover"\ndata = { cells = "more.csv" }\n[rules]\n[suppression]\n'
    )
    given = [str(folder / "pool.toml"), "--data", f"two={folder / 'cells.csv'}", "--quiet"]
    done = CliRunner().invoke(app, ["run", *given])
    assert done.exit_code == 0, done.output
    wrong = CliRunner().invoke(app, ["run", str(folder / "pool.toml"), "--data", str(folder / "cells.csv")])
    assert "the job has no [data]" in str(wrong.exception)
