"""A full disk and a user who presses Ctrl-C leave everything as it was."""

from __future__ import annotations

import errno
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

Call = Callable[..., Any]
COMMAND = Path(sys.executable).parent / "diskret"

MANY_CELLS = """
[data]
microdata = "many.parquet"
[table]
by = ["a", "b"]
value = "x"
[rules]
min_count = 3
[output]
unprotected = true
"""


@pytest.fixture
def many(folder: Path) -> Path:
    """Microdata whose table is larger than a small disk."""
    sql = "SELECT 'a' || i % 97 AS a, 'b' || i % 89 AS b, hash(i) % 1000000 / 100 AS x FROM range(20000) t(i)"
    duckdb.sql(sql).write_parquet(str(folder / "many.parquet"))
    return folder


@pytest.fixture
def small_disk(folder: Path) -> Iterator[Path]:
    """A disk of 16 kB, where the machine lets us have one."""
    disk = folder / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(disk)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small disk needs root")
    try:
        yield disk
    finally:
        subprocess.run(["umount", str(disk)], check=True)


@pytest.mark.parametrize("ending", [".csv", ".xlsx", ".json", ".px", ".parquet", "working"])
def test_a_full_disk_is_named_and_earlier_files_stay(typed: Call, many: Path, small_disk: Path, ending: str) -> None:
    name = f"t{ending}" if ending != "working" else "w.parquet"
    (small_disk / name).write_bytes(b"earlier")
    key = f'working = "disk/{name}"' if ending == "working" else f'publish = ["small.csv", "disk/{name}"]'
    (many / "job.toml").write_text(f"{MANY_CELLS}{key}\n")
    done = typed("run", "job.toml")
    assert done.code == 2
    assert done.out == ""
    assert "[W1] the disk is full" in done.err
    assert f"where: disk/{name}" in done.err
    assert "free some space" in done.err.partition("what to do: ")[2]
    assert "Traceback" not in done.err
    assert {p.name: p.read_bytes() for p in small_disk.iterdir()} == {name: b"earlier"}
    assert not (many / "small.csv").exists()


def at_most_16_kilobytes() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (16_384, 16_384))


def test_a_file_larger_than_allowed_is_refused_and_the_earlier_one_stays(diskret: Call, many: Path) -> None:
    (many / "t.csv").write_bytes(b"earlier")
    (many / "job.toml").write_text(MANY_CELLS + 'publish = "t.csv"\n')
    done = diskret("run", "job.toml", preexec_fn=at_most_16_kilobytes)
    assert (done.code, done.out) == (2, "")
    assert "[W1] cannot write: File too large" in done.err
    assert "nothing was changed" in done.err
    assert (many / "t.csv").read_bytes() == b"earlier"
    assert not list(many.glob(".*"))


LONG = """
[data]
microdata = "long.parquet"
[table]
by = ["a", "b"]
value = "x"
holding = "owner"
[rules]
p_percent = 10
counted_by = "holding"
[output]
unprotected = true
publish = "out/t.csv"
working = "out/w.parquet"
"""


@pytest.fixture
def long(folder: Path) -> Path:
    """A tabulation that takes several seconds."""
    columns = "i % 97 AS a, i % 89 AS b, hash(i) % 100000 AS x, hash(i + 1) % 1500000 AS owner"
    duckdb.sql(f"SELECT {columns} FROM range(6000000) t(i)").write_parquet(str(folder / "long.parquet"))
    (folder / "job.toml").write_text(LONG)
    (folder / "out").mkdir()
    (folder / "out" / "t.csv").write_bytes(b"earlier")
    return folder


def worked(pid: int, seconds: float) -> None:
    """Waits until a process has had so much of the processor, however busy the machine is."""
    stat = Path(f"/proc/{pid}/stat")
    if not stat.exists():
        time.sleep(seconds)
        return
    ticks = seconds * os.sysconf("SC_CLK_TCK")
    while sum(map(int, stat.read_text().rpartition(")")[2].split()[11:13])) < ticks:
        time.sleep(0.01)


@pytest.mark.parametrize("seconds", [0.9, 1.6])
def test_ctrl_c_stops_at_once_and_leaves_nothing_half_written(long: Path, seconds: float) -> None:
    before = sorted(str(p) for p in long.rglob("*"))
    running = subprocess.Popen(
        [str(COMMAND), "run", "job.toml"], cwd=long, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    worked(running.pid, seconds)
    assert running.poll() is None, "the tabulation was over before it could be stopped"
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out) == (130, "")
    assert err == "diskret: stopped by the user; nothing half-written is left\n"
    assert (long / "out" / "t.csv").read_bytes() == b"earlier"
    assert sorted(str(p) for p in long.rglob("*")) == before


@pytest.mark.parametrize("moment", ["diskret.job.table_job.load_tables", "diskret.job.outputs.save_working"])
def test_ctrl_c_at_any_moment(
    typed: Call, folder: Path, moment: str, monkeypatch: pytest.MonkeyPatch,
    everything: Callable[[Path], dict[str, bytes]],
) -> None:  # fmt: skip
    """While reading, and when the public files are ready but the working file is not."""

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(moment, stopped)
    before = everything(folder)
    done = typed("run", "job.toml")
    assert (done.code, done.out) == (130, "")
    assert "stopped by the user" in done.err
    assert everything(folder) == before


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_a_run_ended_from_outside_tidies_up_and_says_so(
    typed: Call, folder: Path, number: signal.Signals, code: int, monkeypatch: pytest.MonkeyPatch,
    everything: Callable[[Path], dict[str, bytes]],
) -> None:  # fmt: skip
    monkeypatch.setattr("diskret.job.outputs.save_working", lambda *_, **__: signal.raise_signal(number))
    before = everything(folder)
    assert typed("run", "job.toml").code == code
    assert everything(folder) == before
    assert signal.getsignal(number) == signal.SIG_DFL


def test_memory_that_is_not_there_is_refused_in_words(
    typed: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none_left(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("diskret.job.table_job.load_tables", none_left)
    done = typed("run", "job.toml")
    assert (done.code, done.out) == (2, "")
    assert "not enough memory" in done.err
    assert "what to do: " in done.err


def test_a_signal_that_the_engine_takes_for_ctrl_c_is_still_named(
    typed: Call, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_off(*_: object, **__: object) -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except SystemExit:
            raise KeyboardInterrupt from None

    monkeypatch.setattr("diskret.job.table_job.load_tables", broken_off)
    assert typed("run", "job.toml").code == 143


@pytest.mark.parametrize(("number", "code", "said"), [(errno.EPIPE, 141, ""), (errno.ENOSPC, 2, "the disk is full")])
def test_output_that_nobody_takes_does_not_look_like_an_exposed_table(
    typed: Call, folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, code: int, said: str
) -> None:
    def nobody(*_: object, **__: object) -> None:
        raise OSError(number, "nobody")

    monkeypatch.setattr("diskret.cli.jobs.report", nobody)
    done = typed("run", "job.toml")
    assert done.code == code
    assert said in done.err
    assert "mistake in diskret" not in done.err


def test_a_run_started_to_outlive_its_terminal_does(typed: Call, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        monkeypatch.setattr("diskret.job.outputs.save_working", lambda *_, **__: signal.raise_signal(signal.SIGHUP))
        assert typed("run", "job.toml").code == 0
    finally:
        signal.signal(signal.SIGHUP, before)
