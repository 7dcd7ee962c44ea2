"""Where disk or memory run out, it is said in our words, and before the work starts where that can be known."""

from __future__ import annotations

import resource
from pathlib import Path

import duckdb
import numpy as np
import pytest

from diskret import Pool, Table, audit, suppress, tabulate
from diskret.io.columns import copy_columns
from diskret.io.files import whole_file
from diskret.job.models import Job
from diskret.job.outcome import JobResult, Running
from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.job.table_job import TableJob
from diskret.model import engine, errors, memory
from diskret.model.engine import connect, readable

ADVICE = "\nThis limit was set by the 'max_temp_directory_size' setting.\nPRAGMA max_temp_directory_size='10GiB'"
FULL = {
    "spilling": duckdb.OutOfMemoryException(f"Out of Memory Error: failed to offload data block of size 1 KiB{ADVICE}"),
    "writing": duckdb.IOException('IO Error: Could not write file "x": No space left on device'),
    "handing over": RuntimeError('get_next() failed: {"exception_message":"write failed","errno":"28"}'),
}


@pytest.mark.parametrize("doing", FULL)
def test_a_full_disk_is_called_so_whatever_the_engine_calls_it(doing: str) -> None:
    with pytest.raises(errors.CannotWrite, match="the disk is full") as caught, readable("firms.csv"):
        raise FULL[doing]
    assert "firms.csv" in str(caught.value)
    assert "PRAGMA" not in str(caught.value)


def test_memory_that_ran_out_is_called_so_and_a_line_of_data_that_says_it_is_not() -> None:
    with pytest.raises(errors.NotEnoughMemory), readable("firms.csv"):
        raise duckdb.OutOfMemoryException("Out of Memory Error: could not allocate block of size 256 KiB")
    said = "CSV Error on Line: 2\nOriginal Line: out of memory, No space left on device\n"
    with pytest.raises(errors.UnreadableFile, match="more fields") as caught, readable("firms.csv"):
        raise duckdb.InvalidInputException(f"{said}Expected Number of Columns: 1 Found: 2")
    assert "out of memory" not in str(caught.value)


def test_what_the_engine_spills_beyond_the_disk_is_a_full_disk(tmp_path: Path) -> None:
    with connect(threads=1, memory_limit="20MB") as connection:
        connection.execute(f"SET temp_directory = '{tmp_path}'; SET max_temp_directory_size = '1MB'")
        with pytest.raises(errors.CannotWrite, match="disk is full"), readable("firms.csv"):
            connection.execute("CREATE TABLE t AS SELECT hash(range) AS h FROM range(2_000_000) ORDER BY h")


def test_a_file_that_does_not_fit_the_disk_leaves_the_old_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "x.csv"
    target.write_text("before")

    class Full:
        def register(self, name: str, data: object) -> None: ...
        def close(self) -> None: ...
        def execute(self, sql: str) -> None:
            raise duckdb.IOException('IO Error: Async write failed: {"errno":"28"}')

    monkeypatch.setattr("diskret.io.columns.connect", lambda threads: Full())
    with pytest.raises(errors.CannotWrite, match="the disk is full"), whole_file(target) as part:
        copy_columns({"x": np.array([1])}, "SELECT x FROM leaving", part, ending=".csv")
    assert [p.read_text() for p in tmp_path.iterdir()] == ["before"]


def test_the_database_is_not_started_where_a_limit_on_addresses_would_make_it_crash(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda _: (10**9, 10**9))
    with pytest.raises(errors.NotEnoughMemory, match=r"1\.5 GB of addresses"):
        connect()


@pytest.mark.parametrize("version", [0, 1])
def test_a_container_may_leave_less_than_the_machine_has(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _, limit, used, kept = memory.CGROUPS[version]
    for name, content in ((limit, "5000"), (used, "4500"), ("memory.stat", f"anon 7\n{kept} 100\n")):
        (tmp_path / name).write_text(content)
    groups = [("/none", limit, used, kept)] * 2
    groups[version] = (str(tmp_path), limit, used, kept)
    monkeypatch.setattr(memory, "CGROUPS", tuple(groups))
    assert memory.free_memory() == 600


def test_a_machine_that_tells_nothing_refuses_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "_machine", lambda: None)
    monkeypatch.setattr(memory, "_container", lambda: None)
    assert memory.free_memory() is None
    memory.refuse_short(10**18, "anything")


def test_tables_are_refused_before_they_are_made_linked_protected_or_attacked(monkeypatch: pytest.MonkeyPatch) -> None:
    records = {"r": ["a", "b"], "x": [1, 2]}
    table = tabulate(records, by={"r": None}, value="x")
    assert isinstance(table, Table)
    monkeypatch.setattr(memory, "free_memory", lambda: 100)
    with pytest.raises(errors.TableTooLarge):
        tabulate(records, by={"r": None}, value="x")
    with pytest.raises(errors.TableTooLarge):
        Table.from_cells(records, by={"r": None}, value="x")
    for work in (suppress, audit, lambda t: Pool.of({"a": t, "b": t})):
        with pytest.raises(errors.NotEnoughMemory):
            work(table)


def test_little_memory_is_shared_with_the_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "free_memory", lambda: 1_000_000_000)
    (limit,) = connect(memory_limit="2GB").execute("SELECT current_setting('memory_limit')").fetchone()
    assert limit == "476.8 MiB"  # half of it


@pytest.mark.parametrize("ran_out", [MemoryError(), ImportError("libx.so: failed to map segment from shared object")])
def test_a_job_that_runs_out_of_memory_is_refused_in_words(
    ran_out: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(job: Job, running: Running) -> JobResult:
        raise ran_out

    monkeypatch.setattr(TableJob, "run", run)
    (tmp_path / "x.csv").write_text("r,x\na,1\n")
    (tmp_path / "job.toml").write_text('[data]\nmicrodata = "x.csv"\n[table]\nby = ["r"]\nvalue = "x"\n')
    with pytest.raises(errors.NotEnoughMemory, match="not enough memory"):
        run_job(read_job(tmp_path / "job.toml"), tmp_path)
