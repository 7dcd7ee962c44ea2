"""Everything a request may need, in one place; made once per start."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from starlette.requests import Request

from diskret.job.prepare import start_preparing
from diskret.web.guard import Place
from diskret.web.reading import Apart, Reading
from diskret.web.run_folders import Runs
from diskret.web.sessions import Session, Sessions, View
from diskret.web.shown_tables import Tables
from diskret.web.tabs import COPY, PAGES, SEEN, TAB, Choice, Tabs, seen_on
from diskret.web.workspace import Workspace

TABLE, RECORDS, PLAN = PAGES


@dataclass(frozen=True, eq=False)
class Workbench:
    """Workspace, sessions, choices, tables and runs."""

    workspace: Workspace
    place: Place
    sessions: Sessions
    runs: Runs
    tables: Tables
    tabs: Tabs
    """What is chosen, by tab and page."""
    reading: Reading
    """Who reads what users hand in."""
    key: str | None = None
    """The token of programs; without one there is nothing for them."""
    placing: threading.Lock = field(default_factory=threading.Lock, repr=False)
    """Who has it gives a file its place in the workspace."""
    hierarchies: dict[str, tuple[tuple[int, int], bool]] = field(default_factory=dict, repr=False)
    """Which files are hierarchies, each with the version that was looked at."""

    @classmethod
    def at(cls, folder: str | Path, port: int, *, reading: Reading | None = None, key: str | None = None) -> Workbench:
        """A workbench on a folder; files are read in a process apart unless said otherwise."""
        workspace = Workspace.at(folder)
        runs, reads = Runs(workspace), reading or Apart()
        tables = Tables(workspace, runs, reads)
        return cls(workspace, Place(port), Sessions(), runs, tables, Tabs(workspace), reads, key)

    def open(self) -> None:
        """Begin: tidy up after servers that were killed, have somebody ready who reads."""
        with suppress(OSError):  # what cannot be tidied up keeps nobody from working
            self.runs.sweep()
        if isinstance(self.reading, Apart):
            threading.Thread(target=self.reading.warm, daemon=True).start()
            self.runs.preparing = start_preparing()

    def close(self) -> None:
        """End all processes of this server."""
        self.reading.close()
        self.runs.close()


def workbench(request: Request) -> Workbench:
    """The workbench of a request."""
    found: Workbench = request.app.state.workbench
    return found


def session(request: Request) -> View:
    """How the tab that asks wants to see; the guard has let in nobody without a session."""
    found: Session = request.scope["session"]
    return found.view(request.headers.get(TAB, ""))


def choice(request: Request, page: str = TABLE) -> Choice:
    """What is chosen on a page of the tab that asks, and which version of it that tab shows."""
    bench, said = workbench(request), request.headers
    tab, seen = said.get(TAB, ""), seen_on(page, said.get(SEEN))
    found = bench.tabs.choices(tab, said.get(COPY, ""))
    # a tab that does not say what it shows has seen nothing: only whoever asks without a tab takes what is there
    return Choice(drafts=found[page], workspace=bench.workspace, seen=seen or ("" if tab else None))
