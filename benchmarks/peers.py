"""Other programs on the shared tables: each in a process of its own, by the interpreter of .venv-bench.

They are never dependencies: `make bench` installs them there, apart from everything else.
"""

from __future__ import annotations

import json
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.case import Case
from benchmarks.given import FOLDER, MISSING, given, here
from benchmarks.pattern import judged
from benchmarks.times import seconds

INTERPRETER = Path(__file__).parents[1] / ".venv-bench" / "bin" / "python"
LIMIT = 300
PROGRAMS = {
    "pytauargus": "tau-ARGUS modular (pytauargus)",
    "pytauargus-singles": "tau-ARGUS modular, singles (pytauargus)",
    "gconfid": "gconfid",
}


def cases(table: str, what: str) -> Iterator[Case]:
    """Every peer on one shared table."""
    for name, program in PROGRAMS.items():
        yield Case(f"suppress-{table}-{name}", what, program, partial(run, name, table), judge=partial(_judge, table))


def run(
    program: str, table: str, folder: Path = FOLDER, interpreter: Path = INTERPRETER, limit: float = LIMIT
) -> str | dict[str, Any]:
    """What the other process printed, or why there is nothing."""
    if folder == FOLDER and not here():
        return MISSING
    if not interpreter.exists():
        return "not run: .venv-bench is missing, `make bench` makes it"
    command = [str(interpreter), str(Path(__file__).with_name("peer.py")), program, str(folder), table]
    try:
        # the programs leave logs where they stand: let them stand somewhere else
        with tempfile.TemporaryDirectory() as elsewhere:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False, cwd=elsewhere)
    except subprocess.TimeoutExpired:
        return f"stopped after {limit:g} s"
    if done.returncode != 0:
        return f"failed: {(done.stderr.strip().splitlines() or ['no message'])[-1][:80]}"
    return dict(json.loads(done.stdout.splitlines()[-1]))


def _judge(table: str, found: str | dict[str, Any]) -> Mapping[str, str]:
    if isinstance(found, str):
        return {"CPU s": "", "wall s": "", "peak GB": "", "compile s": "", "quality": found}
    quality = judged(table, given(table).secondary(found["secondary"]))
    return {
        "CPU s": seconds(found["cpu"]),
        "wall s": "",
        "peak GB": f"{found['peak']:.2f}",
        "compile s": "",
        "quality": f"{quality}; version {found['version']}",
    }
