"""Jobs that write safe files of tau-ARGUS."""

from __future__ import annotations

from pathlib import Path

import pytest

from diskret.job.models import job_of
from diskret.job.outcome import JobResult
from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.job.write import job_as_text
from diskret.model.errors import DiskretError

JOB = """
[data]
cells = "cells.csv"
[table]
by = ["s"]
value = "x"
count = "n"
[rules]
min_count = 3
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "cells.csv").write_text("s,x,n\na,10,1\nb,20,5\nc,70,9\n")
    return tmp_path


def run(folder: Path, text: str) -> JobResult:
    (folder / "job.toml").write_text(JOB + text)
    return run_job(read_job(folder / "job.toml"), folder)


def test_a_job_writes_every_safe_file_it_asks_for_with_what_lies_beside_it(folder: Path) -> None:
    result = run(
        folder,
        """
        [suppression]
        [[output.safe_files]]
        file = "out/t.txt"
        format = "code-value"
        names_first = true
        quotes = false
        [[output.safe_files]]
        file = "out/all.tab"
        report = false
        """,
    )
    assert [f.name for f in result.files] == ["t.txt", "t.html", "all.tab", "all.rda"]
    assert (folder / "out/t.txt").read_text() == "s,x\nTotal,100\na,x\nb,x\nc,70\n"
    assert '"a";10;1;10;10;U;1;1' in (folder / "out/all.tab").read_text()


def test_a_table_that_is_not_protected_is_written_for_the_house_only(folder: Path) -> None:
    with pytest.raises(DiskretError, match="nothing shows that it is protected"):
        run(folder, '[[output.safe_files]]\nfile = "t.csv"\nformat = "csv"\n')
    assert not (folder / "t.csv").exists()
    run(folder, '[[output.safe_files]]\nfile = "t.tab"\n')
    run(folder, '[output]\nunprotected = true\n[[output.safe_files]]\nfile = "t.csv"\nformat = "csv"\n')
    assert (folder / "t.csv").read_text() == ',"Total","a","b","c"\n,100,x,20,70'


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ('file = "t.txt"\nformat = "jj"\nstatus = true', r"safe_files.0.status: means nothing with format 'jj'"),
        ('file = "t.txt"\nformat = "word"', r"safe_files.0.format"),
        ('file = "cells.csv"', r"'cells.csv' is data.cells too"),
        ('file = "t.tab"\n[[output.safe_files]]\nfile = "t.csv"', r"'t.rda' is output.safe_files.0.file too"),
        ('file = "t.tab"\nresponse = "y"', r"safe_files.0.response: a safe file holds one response"),
        ('file = "t.tab"\nwidths = { z = 3 }', r"safe_files.0.widths: no classification .z"),
        ('file = "t.tab"\nformat = "cell-keys"', r"safe_files.0.format: .*cell-key noise"),
        (
            'file = "t.tab"\n[perturbation]\nmethod = "rounding"\nbase = 5',
            r"safe_files.0.format: 'intermediate' holds true",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_before_anything_runs(folder: Path, said: str, complaint: str) -> None:
    with pytest.raises(DiskretError, match=complaint):
        run(folder, f"[[output.safe_files]]\n{said}\n")
    assert {f.name for f in folder.iterdir()} == {"cells.csv", "job.toml"}


def test_every_table_of_a_pool_has_safe_files_of_its_own(folder: Path) -> None:
    (folder / "more.csv").write_text("s,t,x,n\na,1,4,1\na,2,6,1\nb,1,20,5\nb,2,0,0\nc,1,30,4\nc,2,40,5\n")
    (folder / "job.toml").write_text(
        """
        [table]
        value = "x"
        count = "n"
        [rules]
        min_count = 3
        [suppression]
        [tables.one]
        data = { cells = "cells.csv" }
        by = ["s"]
        value = "x"
        count = "n"
        [[tables.one.output.safe_files]]
        file = "one.txt"
        format = "code-value"
        report = false
        [tables.two]
        data = { cells = "more.csv" }
        by = ["s", "t"]
        value = "x"
        count = "n"
        [[tables.two.output.safe_files]]
        file = "two.csv"
        format = "csv"
        """
    )
    result = run_job(read_job(folder / "job.toml"), folder)
    assert [f.name for f in result.files] == ["one.txt", "two.csv", "two.html"]
    assert '"a",x' in (folder / "one.txt").read_text()


def test_metadata_that_the_job_reads_are_not_replaced_by_those_it_writes(folder: Path) -> None:
    (folder / "t.rda").write_text("s\n<RECODEABLE>\nx\n<NUMERIC>\n")
    (folder / "in.tab").write_text("a;1\nTotal;1\n")
    (folder / "job.toml").write_text(
        '[data]\ncells = "in.tab"\nmetadata = "t.rda"\n[[output.safe_files]]\nfile = "t.csv"\n'
    )
    with pytest.raises(DiskretError, match=r"'t.rda' is data.metadata too"):
        read_job(folder / "job.toml")


def test_a_job_with_safe_files_is_written_and_read_again(folder: Path) -> None:
    safe_files = [{"file": "t.csv", "format": "csv", "widths": {"s": 4}}]
    job = job_of(
        {"data": {"cells": "cells.csv"}, "table": {"by": ["s"], "value": "x"}, "output": {"safe_files": safe_files}}
    )
    (folder / "again.toml").write_text(job_as_text(job))
    assert read_job(folder / "again.toml") == job
