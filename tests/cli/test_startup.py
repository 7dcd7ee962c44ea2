"""Help is there at once: nobody waits for a compiler and a database to read a line of text."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

Call = Callable[..., Any]
HEAVY = ("numba", "duckdb", "numpy", "vl_convert", "pyspark")
MOST_MODULES = 500
"""Nobody waits long for so many modules; with a compiler and a database there are far more."""
OWN = ("cli", "cli.app", "cli.attacks", "cli.batches", "cli.changing", "cli.comparing", "cli.examples", "cli.jobs",
       "cli.page", "cli.persons", "cli.next_file", "cli.runs", "cli.sections", "cli.show", "cli.tables", "cli.warming",
       "cli.ledger", "cli.requests", "cli.zoning",
       "model", "model.cures", "model.errors", "model.spelling")  # fmt: skip
SCRIPT = """
import sys
from diskret.cli import main
sys.argv = ["diskret", *{words!r}]
try:
    main()
except SystemExit as stopped:
    assert not stopped.code, stopped.code
print(sorted(sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["tabulate", "--help"], ["publish", "--help"]])
def test_help_loads_neither_compiler_nor_database(words: list[str]) -> None:
    script = SCRIPT.format(words=words)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "Usage: diskret" in done.stdout
    assert "'diskret.cli'" in done.stderr
    loaded = ast.literal_eval(done.stderr.splitlines()[-1])
    assert not {*HEAVY} & {*loaded}
    assert len(loaded) < MOST_MODULES
    assert {name for name in loaded if name.startswith("diskret.")} <= {f"diskret.{part}" for part in OWN}


def test_help_names_every_command(diskret: Call) -> None:
    done = diskret("--help")
    assert done.code == 0
    for command in ("run", "check", "init", "tabulate", "mark"):
        assert f" {command} " in done.out


def test_without_a_command_the_help_is_shown(diskret: Call) -> None:
    done = diskret()
    assert done.code == 2
    assert "Usage: diskret" in done.said


def test_an_unknown_command_is_refused_in_a_line(diskret: Call) -> None:
    done = diskret("runn", "job.toml")
    assert done.code == 2
    assert "No such command 'runn'" in done.err
    assert "Traceback" not in done.err
