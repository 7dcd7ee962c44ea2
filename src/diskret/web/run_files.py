"""What stands in the folder of a run, read as if anybody had written it: judged before it is used."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, AllowInfNan, BaseModel, ConfigDict, Field

from diskret.io.files import whole_file
from diskret.io.structured import from_json
from diskret.model.damage import reading
from diskret.model.errors import DamagedRun, DiskretError, UnreadableFile
from diskret.model.limits import refuse_more
from diskret.model.locks import AS_THEY_ARE

JOB, STATUS, RESULT = "job.json", "status.json", "result"
OF_PROGRAMS = ("files", "check")
"""Kinds of runs that programs start."""
MOST = 4_000_000
"""Bytes of a file that the server reads itself: its content takes thirty times as much memory."""
MOST_APART = 100_000_000
"""Bytes of a file of a result, which is read in a process apart."""

Count = Annotated[int, Field(ge=0, lt=1 << 53)]
Share = Annotated[float, Field(ge=0, le=1)]
Moment = Annotated[float, Field(ge=0, le=1e11)]


class _Said(BaseModel):
    """What is said in a file, at least; there may be more."""

    model_config = ConfigDict(strict=True, frozen=True, extra="allow", allow_inf_nan=False)


class _Progress(_Said):
    what: str
    done: Count
    of: Count


class _Error(_Said):
    code: str
    what: str
    where: str
    hint: str
    docs: str


class _Attack(_Said):
    exposed: Count = 0
    undecided: Count = 0


class _Point(_Said):
    bonus: float | None
    share: Share
    dearer: float | None


class _Kept(_Said):
    share: Share
    without: Share = Field(alias="share without")
    dearer: float | None
    allowed: float | None = Field(alias="at most")
    curve: Annotated[list[_Point], Field(max_length=20)]


class _Suppression(_Said):
    unprotected: Count = 0
    audit: _Attack | None = None
    gap: Share | None = None
    consistency: _Kept | None = None


class _Facts(_Said):
    status: dict[str, Count]
    suppression: _Suppression | None = None


class _Summary(_Said):
    tables: dict[str, _Facts] = {}
    warnings: list[str] = []


def _counted(summary: dict[str, int]) -> dict[str, int]:
    """Counts of an audit with those that decide."""
    if not {"exposed", "undecided"} <= summary.keys():
        raise ValueError("what an audit decided is missing")
    return summary


class Exposure(_Said):
    """An exposed cell by name."""

    cell: str
    exact: bool
    by: str


class AuditFacts(_Said):
    """What an audit found: counts, names and proofs."""

    safe: bool
    summary: Annotated[dict[str, Count], AfterValidator(_counted)]
    exposed: list[Exposure]
    undecided: list[str]
    lines: list[str]
    closest: str | None
    times: Annotated[float, AllowInfNan(True)] | None = None


class _Axis(_Said):
    name: str
    codes: str


class RunStatus(_Said):
    """How far a run is and what came of it, as the page shows it."""

    id: str
    name: str
    kind: Literal["job", "audit", "records", "files", "check"]
    of: str
    state: Literal["running", "finished", "refused", "failed", "cancelled", "interrupted"]
    started: Moment
    progress: _Progress
    ended: Moment | None = None
    pid: Annotated[int, Field(gt=0, lt=1 << 31)] | None = None
    error: _Error | None = None
    summary: _Summary = _Summary()
    audits: dict[str, AuditFacts] = {}
    promises: dict[Literal["en", "de"], list[str]] = {}
    axes: dict[str, list[_Axis]] = {}
    """The classifications of its tables; a run of an earlier version does not say them."""
    exposed: bool = False
    files: dict[str, Count] = {}
    """The files of its result with their sizes."""
    public: list[str] = []
    """Those of them that are for everybody; no other leaves by the interface for programs."""


def read_status(folder: Path) -> dict[str, Any]:
    """The state of a run, as far as it can be told without opening its result; refuses a damaged one."""
    try:
        if not _is_folder(folder):
            raise UnreadableFile("it is not a folder")
        said = read_json(folder / STATUS)
        with reading(STATUS, f"{STATUS} does not say what it should"):
            status = RunStatus.model_validate(said)
        if status.id != folder.name:
            raise UnreadableFile(f"{STATUS} is of another run")
        _refuse_no_job(read_json(folder / JOB))
        if status.state == "finished":
            _refuse_other_files(folder / RESULT, status.files)
    except DiskretError as e:
        raise DamagedRun.found(folder.name, e.what) from e
    return said


def _refuse_no_job(content: Mapping[str, Any]) -> None:
    """Refuse what does not consist of sections; what is said in them is judged by whoever uses it."""
    if not all(isinstance(each, str if key in ("kind", "audit") else (dict, list)) for key, each in content.items()):
        raise UnreadableFile(f"{JOB} is not a job")


def _refuse_other_files(result: Path, files: Mapping[str, int]) -> None:
    """Refuse a result that has lost a file or a part of one."""
    if not _is_folder(result):
        raise UnreadableFile("its result is missing")
    for name, size in files.items():
        if real_file(result / name).lstat().st_size != size:
            raise UnreadableFile(f"{name!r} is not as it was written")


def sizes(result: Path) -> dict[str, int]:
    """The files of a result with their sizes, to be found out if one is lost or cut off."""
    return {each.name: each.stat().st_size for each in sorted(result.iterdir()) if not each.is_dir()}


def read_json(path: Path, most: int = MOST) -> dict[str, Any]:
    """The object in a small file; a larger one is refused before it is opened."""
    with reading(path, f"{path.name} is not a JSON object"):
        _refuse_large(path, real_file(path).stat().st_size, most)
        content = from_json(read_bytes(path).decode())
        if not isinstance(content, dict):
            raise TypeError
    return content


def real_file(path: Path) -> Path:
    """The same path, if a file is there: not a link, a pipe or a device."""
    with reading(path):
        if not stat.S_ISREG(path.lstat().st_mode):
            raise UnreadableFile(f"{path.name} is not a file")
    return path


def read_bytes(path: Path) -> bytes:
    """The content of a file of a run."""
    refuse_more("bytes", real_file(path).stat().st_size, "the file has {} bytes")
    with reading(path):
        # if a pipe has taken its place meanwhile, nobody waits for it
        handle = os.open(path, os.O_RDONLY | AS_THEY_ARE | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with open(handle, "rb") as file:
            return file.read()


def write_json(path: Path, content: Mapping[str, Any], most: int = MOST) -> None:
    """A small file, whole, for its owner alone; what could not be read again is not written."""
    written = (json.dumps(content, ensure_ascii=False) + "\n").encode()
    _refuse_large(path, len(written), most)
    with whole_file(path, private=True) as part:
        part.write_bytes(written)


def _refuse_large(path: Path, size: int, most: int) -> None:
    if size > most:
        raise UnreadableFile(f"{path.name} has {size:,} bytes, more than {most:,}", hint="make it smaller.")


def make_private(folder: Path) -> None:
    """A folder for its owner alone, whatever the umask."""
    folder.mkdir(mode=0o700, exist_ok=True)
    folder.chmod(0o700)


def folder_of_runs(folder: Path) -> Path:
    """The folder of all runs, made if it is missing: confidential, and out of version control."""
    make_private(folder)
    ignored = folder / ".gitignore"
    if not ignored.exists():
        ignored.touch(mode=0o600)
        ignored.write_text("*\n", encoding="utf-8", newline="")
    return folder


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()
