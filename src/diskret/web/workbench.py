"""Everything a request may need, in one place; made once per start."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import Request

from diskret.web.drafts import Drafts
from diskret.web.guard import Place
from diskret.web.reading import Apart, Reading
from diskret.web.run_folders import Runs
from diskret.web.sessions import Session, Sessions
from diskret.web.shown_tables import Tables
from diskret.web.workspace import Workspace

TABLE, RECORDS, PLAN = "table", "records", "plan"
"""Pages that keep what is chosen on them, with its history."""


@dataclass(frozen=True, eq=False)
class Workbench:
    """Workspace, sessions, choices, tables and runs."""

    workspace: Workspace
    place: Place
    sessions: Sessions
    runs: Runs
    tables: Tables
    choices: Mapping[str, Drafts]
    """What is chosen, by page."""
    reading: Reading
    """Who reads what users hand in."""
    placing: threading.Lock = field(default_factory=threading.Lock, repr=False)
    """Who has it gives a file its place in the workspace."""
    hierarchies: dict[str, tuple[tuple[int, int], bool]] = field(default_factory=dict, repr=False)
    """Which files are hierarchies, each with the version that was looked at."""

    @property
    def drafts(self) -> Drafts:
        """What is chosen on the page of tables."""
        return self.choices[TABLE]

    @classmethod
    def at(cls, folder: str | Path, port: int, *, reading: Reading | None = None) -> Workbench:
        """A workbench on a folder; files are read in a process apart unless said otherwise."""
        workspace = Workspace.at(folder)
        runs, reads = Runs(workspace), reading or Apart()
        choices = {TABLE: Drafts(workspace.runs / "draft.json")}
        choices |= {page: Drafts(workspace.runs / f"{page}.json") for page in (RECORDS, PLAN)}
        tables = Tables(workspace, runs, choices[TABLE], reads)
        return cls(workspace, Place(port), Sessions(), runs, tables, choices, reads)

    def open(self) -> None:
        """Begin: tidy up after servers that were killed, have somebody ready who reads."""
        with suppress(OSError):  # what cannot be tidied up keeps nobody from working
            self.runs.sweep()
        if isinstance(self.reading, Apart):
            threading.Thread(target=self.reading.warm, daemon=True).start()

    def close(self) -> None:
        """End all processes of this server."""
        self.reading.close()
        self.runs.close()


def workbench(request: Request) -> Workbench:
    """The workbench of a request."""
    found: Workbench = request.app.state.workbench
    return found


def session(request: Request) -> Session:
    """Who asks; the guard has let in nobody else."""
    found: Session = request.scope["session"]
    return found
