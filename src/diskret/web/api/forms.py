"""What the interface takes and gives, as models: every answer is made by one, and the OpenAPI document of them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

State = Literal["running", "finished", "refused", "failed", "cancelled", "interrupted", "damaged"]


class Form(BaseModel):
    """A request or an answer; nothing else stands in it."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Cure(Form):
    """A key of the job and what to set it to."""

    key: str
    path: list[str]
    value: Any = None
    label: str
    words: str


class Problem(Form):
    """What is wrong, where, and what to do; no value of the data is in it."""

    code: str = Field(description="code of docs/errors.md, such as T1")
    what: str
    where: str = ""
    hint: str = ""
    docs: str = ""
    cures: list[Cure] = []
    rows: list[int] = Field([], description="first rows of the data it is about, from 1")


class Refusal(Form):
    """Why a request is not answered."""

    error: Problem


class About(Form):
    """Who answers."""

    name: Literal["diskret"] = "diskret"
    version: str
    interface: Literal[1] = Field(1, description="version of this interface")


class WorkspaceFile(Form):
    """A file of the workspace that jobs can read."""

    name: str
    kind: Literal["data", "hierarchy", "job", "other"]
    bytes: int
    changed: float = Field(description="seconds since 1970")


class WorkspaceFiles(Form):
    """What is there."""

    files: list[WorkspaceFile]


class Taken(Form):
    """A file that was handed in."""

    name: str
    bytes: int


class Removed(Form):
    """What is gone."""

    removed: str


class Progress(Form):
    """How much is done, of how much; 0 of 0 where that is not known."""

    what: str
    done: int
    of: int


class PublicFile(Form):
    """A file that is for everybody, and where to fetch it."""

    name: str
    bytes: int
    media: str
    href: str


class ConfidentialFile(Form):
    """A file that does not leave by this interface: where it lies, in the workspace, for its owner alone."""

    name: str
    path: str


class Run(Form):
    """How far a run is and what came of it: counts, names and files."""

    id: str
    name: str
    check: bool = Field(description="whether nothing is written")
    state: State
    started: float
    ended: float | None = None
    progress: Progress
    exposed: bool = Field(False, description="whether an attack found something; then nothing should be released")
    warnings: list[str] = Field([], description="what deserves care")
    summary: dict[str, Any] = Field({}, description="what diskret run --json prints, without its files")
    files: list[PublicFile] = []
    confidential: list[ConfidentialFile] = []
    error: Problem | None = None


class Runs(Form):
    """All runs of programs, the newest first."""

    runs: list[Run]


class Asked(Form):
    """A job to be done."""

    job: dict[str, Any] = Field(description="a job as job files say it; paths are seen from the workspace")
    name: str = Field("", max_length=80)
    check: bool = Field(False, description="do everything but write")
