"""Compiling ahead: once per machine, beside the page, gone with whoever started it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from diskret.job import prepare, warm
from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.moves import _cover_kernels, _cuboid_kernels, _thinning_kernels

TURNOVER = Path(__file__).parents[2] / "examples" / "turnover.toml"


def test_what_is_compiled_ahead_is_what_a_table_needs() -> None:
    kernels = (_cuboid_kernels.certify, _cover_kernels.judge, _thinning_kernels.run)
    warm.first_steps()
    assert all(kernel.signatures for kernel in kernels)
    compiled: list[str] = []
    with prepare.compiling_said(lambda: compiled.append("one more")):
        run_job(read_job(TURNOVER), TURNOVER.parent, write=False)
    assert not compiled


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


def test_it_ends_with_whoever_started_it() -> None:
    words = [sys.executable, "-P", "-m", "diskret.job.prepare"]
    process = subprocess.Popen(words, stdin=subprocess.PIPE)
    assert process.stdin is not None
    process.stdin.close()  # as the system does when a process is killed
    until = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < until:
        time.sleep(0.05)
    assert process.returncode in (0, 1)
