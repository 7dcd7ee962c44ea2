"""The process of one run: does its job, says how far it is, leaves a whole result or none.

``python -m diskret.web.worker FOLDER KIND``. Ends by itself when its standard input ends, that is with the server.
"""

from __future__ import annotations

import os
import shutil
import sys
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from diskret.model.errors import DiskretError
from diskret.web.answers import plain
from diskret.web.runs import JOB, PART, RESULT, STATUS, TEMPORARY, read_json, write_json
from diskret.web.saying import Saying

EVERY = 0.15
"""Seconds between two words about progress."""

Work = Callable[[Mapping[str, Any], Path, Path, Saying], dict[str, Any]]
"""What a kind of run does: job, workspace, folder for the result, progress; gives counts for the status."""


def run_table_job(content: Mapping[str, Any], workspace: Path, result: Path, say: Saying) -> dict[str, Any]:
    """Do a job on tables; what it asks to be written is made on the page's request."""
    from diskret.job.read import job_from
    from diskret.job.run import run_job
    from diskret.web.results import save

    job = job_from(dict(content), "the page", workspace)
    done = run_job(job, workspace, say, write=False)
    say("writing", 0, 1)
    save(done, result)
    return {"summary": done.summary(), "exposed": done.exposed}


def audit_run(content: Mapping[str, Any], workspace: Path, result: Path, say: Saying) -> dict[str, Any]:
    """Attack the tables of an earlier run."""
    from diskret.web.results import audit_tables

    return audit_tables(workspace / content["audit"], result, say)


def run_records_job(content: Mapping[str, Any], workspace: Path, result: Path, say: Saying) -> dict[str, Any]:
    """Make an anonymous file or a scientific-use file."""
    from diskret.web.records import run_records

    return run_records(content, workspace, result, say)


KINDS: dict[str, Work] = {"job": run_table_job, "audit": audit_run, "records": run_records_job}


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

    say = Saying(tell)

    part = folder / PART
    part.mkdir()
    start = time.process_time()
    ended: dict[str, Any]
    try:
        found = KINDS[kind](read_json(folder / JOB), workspace, part, say)
        part.rename(folder / RESULT)
        ended = {"state": "finished"} | found
    except KeyboardInterrupt:  # asked to stop where there is nothing to keep yet
        ended = {"state": "cancelled"}
    except DiskretError as e:
        ended = {"state": "refused", "error": plain(e)}
    except Exception as e:
        if os.environ.get("DISKRET_DEBUG"):
            raise
        broken = DiskretError(
            f"a mistake in diskret itself ({type(e).__name__}); please report it",
            hint="set DISKRET_DEBUG=1 and run the job with `diskret run` to see where.",
        )
        ended = {"state": "failed", "error": plain(broken)}
    shutil.rmtree(part, ignore_errors=True)
    shutil.rmtree(folder / TEMPORARY, ignore_errors=True)
    write_json(folder / STATUS, status | ended | {"ended": time.time(), "cpu": time.process_time() - start})


def _end_with_server() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    threading.Thread(target=_end_with_server, daemon=True).start()
    main(Path(sys.argv[1]), sys.argv[2])
