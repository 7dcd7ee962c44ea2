"""Everything a request may need, in one place; made once per start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from diskret.web.drafts import Drafts
from diskret.web.guard import Place
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

    @property
    def drafts(self) -> Drafts:
        """What is chosen on the page of tables."""
        return self.choices[TABLE]

    @classmethod
    def at(cls, folder: str | Path, port: int) -> Workbench:
        """A workbench on a folder."""
        workspace = Workspace.at(folder)
        runs = Runs(workspace)
        choices = {TABLE: Drafts(workspace.runs / "draft.json")}
        choices |= {page: Drafts(workspace.runs / f"{page}.json") for page in (RECORDS, PLAN)}
        return cls(workspace, Place(port), Sessions(), runs, Tables(workspace, runs, choices[TABLE]), choices)


def workbench(request: Request) -> Workbench:
    """The workbench of a request."""
    found: Workbench = request.app.state.workbench
    return found


def session(request: Request) -> Session:
    """Who asks; the guard has let in nobody else."""
    found: Session = request.scope["session"]
    return found
