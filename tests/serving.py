"""The page and the interface for programs in a process of their own, as somebody starts them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(workspace: Path) -> Iterator[None]:
    """`diskret serve --api` for a folder, from when it answers until the block ends."""
    command = [sys.executable, "-c", "from diskret.cli import main; main()", "serve", "--api", "-w", str(workspace)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        while "programs:" not in (line := process.stdout.readline()):
            assert line, process.stderr and process.stderr.read()
        yield
    finally:
        process.terminate()
        process.communicate(timeout=30)
