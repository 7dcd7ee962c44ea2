"""The process of one run: does its job, says how far it is, leaves a whole result or none.

``python -m diskret.web.worker FOLDER KIND``. Ends by itself when its standard input ends, that is with the
server, and stops with the best it has when a word comes from there.
"""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from diskret.job.prepare import WORDS, compiling_said
from diskret.model.errors import DiskretError
from diskret.model.processes import heed
from diskret.web.answers import our_mistake, plain
from diskret.web.confined import keep_private
from diskret.web.run_files import JOB, RESULT, STATUS, read_json, sizes, write_json
from diskret.web.run_folders import PART, TEMPORARY, RunProgress

EVERY = 0.15
"""Seconds between two words about progress."""

Work = Callable[[Mapping[str, Any], Path, Path, RunProgress], dict[str, Any]]
"""What a kind of run does: job, workspace, folder for the result, progress; gives counts for the status."""
KINDS = {
    "job": "table_runs:run_tables", "audit": "table_runs:audit_tables", "records": "record_runs:run_records",
    "files": "program_runs:run_files", "check": "program_runs:run_check",
}  # fmt: skip
"""Where the work of each kind is; imported when it begins, so that a run shows itself at once."""


def work_of(kind: str) -> Work:
    """What a kind of run does."""
    module, name = KINDS[kind].split(":")
    work: Work = getattr(import_module(f"diskret.web.{module}"), name)
    return work


def main(folder: Path, kind: str) -> None:
    """Do the work and write down how it ended."""
    workspace = folder.parent.parent
    status = read_json(folder / STATUS) | {"pid": os.getpid()}
    write_json(folder / STATUS, status)
    last = 0.0

    def tell(progress: Mapping[str, Any]) -> None:
        nonlocal last
        if time.monotonic() - last > EVERY:
            last = time.monotonic()
            write_json(folder / STATUS, status | {"progress": progress})

    part = folder / PART
    part.mkdir()
    start = time.process_time()
    ended: dict[str, Any]
    try:
        say = RunProgress(tell)
        with compiling_said(lambda: tell({"what": WORDS, "done": 0, "of": 0})):
            found = work_of(kind)(read_json(folder / JOB), workspace, part, say)
        part.rename(folder / RESULT)
        ended = {"state": "finished", "files": sizes(folder / RESULT)} | found
    except KeyboardInterrupt:  # asked to stop where there is nothing to keep yet
        ended = {"state": "cancelled"}
    except DiskretError as e:
        ended = {"state": "refused", "error": plain(e)}
    except Exception as e:
        if os.environ.get("DISKRET_DEBUG"):
            raise
        ended = {"state": "failed", "error": plain(our_mistake(e, "run the job with `diskret run`"))}
    shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(folder / TEMPORARY, ignore_errors=True)
    write_json(folder / STATUS, status | ended | {"ended": time.time(), "cpu": time.process_time() - start})


if __name__ == "__main__":
    keep_private()
    heed(sys.stdin.buffer)
    main(Path(sys.argv[1]), sys.argv[2])
