"""Everything a request may need, in one place; made once per start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.requests import Request

from diskret.web.drafts import Drafts
from diskret.web.guard import Place
from diskret.web.runs import Runs
from diskret.web.sessions import Session, Sessions
from diskret.web.tables import Tables
from diskret.web.workspace import Workspace

CHOICES = ("records", "plan")


@dataclass(frozen=True, eq=False)
class Workbench:
    """Workspace, sessions, choices, tables and runs."""

    workspace: Workspace
    place: Place
    sessions: Sessions
    drafts: Drafts
    runs: Runs
    tables: Tables
    choices: Mapping[str, Drafts]
    """What is chosen on the pages about records and plans, by page."""

    @classmethod
    def at(cls, folder: str | Path, port: int) -> Workbench:
        """A workbench on a folder."""
        workspace = Workspace.at(folder)
        runs = Runs(workspace)
        drafts = Drafts(workspace.runs / "draft.json")
        choices = {name: Drafts(workspace.runs / f"{name}.json") for name in CHOICES}
        return cls(workspace, Place(port), Sessions(), drafts, runs, Tables(workspace, runs, drafts), choices)


def workbench(request: Request) -> Workbench:
    """The workbench of a request."""
    found: Workbench = request.app.state.workbench
    return found


def session(request: Request) -> Session:
    """Who asks; the guard has let in nobody else."""
    found: Session = request.scope["session"]
    return found
