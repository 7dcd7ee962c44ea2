"""Compiling ahead: once per machine, beside the job, gone with whoever started it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from diskret.job import prepare
from diskret.moves import _cover_kernels, _cuboid_kernels


def test_what_is_compiled_ahead_is_what_a_table_needs() -> None:
    kernels = (_cuboid_kernels.certify, _cover_kernels.judge)
    prepare.compile_ahead()
    assert all(kernel.signatures for kernel in kernels)
    before = [len(kernel.signatures) for kernel in kernels]
    import diskret as dk

    firms = {"region": ["N", "N", "S", "S", "W", "W"], "size": list("abcabc"), "x": [90.0, 1.0, 50.0, 60.0, 70.0, 80.0]}
    table = dk.tabulate(firms, by={"region": None, "size": None}, value="x")
    dk.suppress(dk.mark(table, dk.rules.MinCount(2)))
    assert [len(kernel.signatures) for kernel in kernels] == before


def test_a_machine_is_prepared_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    class Kernel:
        """A kernel with a cache elsewhere."""

        stats = type("Stats", (), {"cache_path": str(tmp_path)})
        py_func = _cuboid_kernels.certify.py_func

    monkeypatch.setattr(_cuboid_kernels, "certify", Kernel)
    assert not prepare.is_prepared()
    kept = tmp_path / "_cuboid_kernels.certify-304.py311.nbi"
    kept.touch()
    assert prepare.is_prepared()
    assert prepare.start_preparing() is None
    os.utime(kept, (0, 0))  # compiled before the kernel was written
    assert not prepare.is_prepared()


def test_who_comes_to_protecting_waits_and_says_why() -> None:
    said: list[str] = []
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with prepare.Preparing(process) as preparing:

        def say(what: str, done: int, of: int) -> None:
            said.append(what)
            if what == prepare.WORDS:
                process.kill()

        told = preparing.before(say)
        told("reading records", 1, 2)
        told("protecting", 1, 2)
    assert said[0] == "reading records"
    assert said[-1] == "protecting"
    assert set(said[1:-1]) == {prepare.WORDS}
    assert process.returncode is not None


def test_it_ends_with_whoever_started_it() -> None:
    words = [sys.executable, "-P", "-m", "diskret.job.prepare", "0"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.close()  # as the system does when a process is killed
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    assert process.returncode in (0, 1)
