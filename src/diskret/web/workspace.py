"""The chosen folder: the only place the page reads from and writes to."""

from __future__ import annotations

import hashlib
import json
import os
import re
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskret.job.models import Job
from diskret.job.paths import paths_in, seen_from, with_paths
from diskret.job.read import job_content, job_from
from diskret.job.write import moved
from diskret.model.databases import FILES as DATABASES
from diskret.model.databases import is_server
from diskret.model.errors import BadOption, DiskretError, OutsideWorkspace, UnreadableFile, listed
from diskret.model.places import is_pattern

TEXT = (".csv", ".tsv", ".txt", ".gz", ".zst")
DATA = (*TEXT, ".parquet", ".pq", ".xlsx", ".ods", ".dta", ".sav", ".zsav", ".por", ".sas7bdat", ".xpt",
        *DATABASES)  # fmt: skip
HIERARCHIES = (".hrc", ".csv", ".json")
DESCRIBED = (".asc", ".tab", ".rda")
"""Data of tau-ARGUS, and what describes them."""
OTHERS = (".toml", *DESCRIBED, ".cdl")
ENDINGS = tuple(dict.fromkeys((*DATA, *HIERARCHIES, *OTHERS)))
METADATA, LISTS = ".rda", (".hrc", ".cdl")
"""Metadata name lists of codes that lie beside them."""
RUNS = ".diskret-runs"
STRANGE = re.compile(r'[<>:"|?*\x00-\x1f]')
DEVICE = re.compile(r"(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9¹²³])", re.IGNORECASE)
"""Of Windows: signs that no name has, and names that open a device wherever they stand."""


@dataclass(frozen=True)
class Workspace:
    """A folder, by its real path.

    >>> import tempfile
    >>> workspace = Workspace.at(tempfile.mkdtemp())
    >>> workspace.path("data/firms.csv").relative_to(workspace.root).as_posix()
    'data/firms.csv'
    """

    root: Path

    @classmethod
    def at(cls, folder: str | Path) -> Workspace:
        """The folder, which is made if it is missing."""
        path = Path(folder)
        if path.exists() and not path.is_dir():
            raise BadOption("the workspace is a file", where=str(path), hint="name a folder with --workspace.")
        if not path.exists():
            path.mkdir(parents=True, mode=0o700)
        runs = path / RUNS
        if os.path.lexists(runs) and (runs.is_symlink() or not runs.is_dir()):
            raise BadOption("runs are kept in a folder, and this is not one", where=str(runs), hint="remove it.")
        return cls(Path(os.path.realpath(path)))

    @property
    def runs(self) -> Path:
        """Where runs are kept."""
        return self.root / RUNS

    def path(self, name: str) -> Path:
        """The place of a file, wherever links lead; refused outside, and where a name may mean many files.

        A name with signs of a pattern means the file that is called so, and no other. What is there and is neither a
        file nor a folder is refused too: whoever opens a pipe waits, perhaps for ever.
        """
        place = self._place(name)
        if is_pattern(name) and not os.path.lexists(self.root / name):
            raise OutsideWorkspace.named(shortened(name))
        return place

    def _place(self, name: str) -> Path:
        if not name or "\0" in name or not _is_possible(name) or is_server(name):
            raise OutsideWorkspace.named(shortened(name))
        place = Path(os.path.realpath(self.root / name))
        if not place.is_relative_to(self.root) or place == self.root:
            raise OutsideWorkspace.named(shortened(name))
        if is_special(place):
            raise UnreadableFile("this is not a file", where=name, hint="pipes and devices are not opened.")
        return place

    def new(self, name: str) -> Path:
        """The place of a file the user hands in: a plain name with an ending that is known."""
        plain = name == Path(name).name and not name.startswith(".") and name.isprintable()
        plain = plain and not any(c in name for c in "\\*?")
        if not plain or len(name.encode()) > 200:
            raise OutsideWorkspace.named(shortened(name))
        if Path(name).suffix.lower() not in ENDINGS:
            raise BadOption(
                f"files ending in {Path(name).suffix or 'nothing'} are not taken",
                hint=f"endings: {', '.join(ENDINGS)}.",
            )
        place = self._place(name)
        if (self.root / name).is_symlink() or place.is_dir():
            raise BadOption(f"{name!r} is a link or a folder", hint="give your file another name.")
        return place

    def files(self) -> list[dict[str, Any]]:
        """Files the page can use, hidden ones and links out of the workspace left out."""
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(f for f in folders if not f.startswith((".", "__")))
            if len(Path(folder).relative_to(self.root).parts) > 2:
                folders[:] = []
            for name in sorted(names):
                facts = None if name.startswith(".") else self._facts(Path(folder) / name)
                if facts is not None:
                    place = Path(folder) / name
                    shown = {"name": place.relative_to(self.root).as_posix(), "kind": kind_of(place)}
                    found.append(shown | {"bytes": facts.st_size, "changed": facts.st_mtime})
        return found

    def _facts(self, place: Path) -> os.stat_result | None:
        """Size and age of a file that the page can ask for: one inside, with a name that is text."""
        if place.suffix.lower() not in ENDINGS or not _is_possible(str(place)):
            return None
        real = Path(os.path.realpath(place))
        try:
            found = real.stat()
        except OSError:  # a link to nowhere, or gone meanwhile
            return None
        return found if real.is_relative_to(self.root) and stat.S_ISREG(found.st_mode) else None

    def refuse_outside(self, content: Mapping[str, Any]) -> None:
        """Refuse a job that reads or writes outside the workspace, or lets another machine read the data."""
        for name in paths_in(content):
            self.path(name)
        engines = [section.get("engine") for section in _sections(content)]
        other = [e for e in engines if e not in (None, "duckdb")]
        if other:
            raise BadOption(
                f"engine {listed(other)} on the page", hint="nothing leaves this machine from here: use `diskret run`."
            )

    def state_of(self, content: Mapping[str, Any], *, closely: bool = False) -> str:
        """The state of the files a choice reads: another one as soon as one of them has changed.

        ``closely`` also tells a file from another of the same size and time that took its place; a workspace that was
        copied has another state then.
        """
        state = []
        for name in paths_in({key: each for key, each in content.items() if key != "output"}):
            with suppress(DiskretError, OSError):
                place = self.path(name)
                for each in (place, *_read_along(place)):
                    there = each.stat()
                    further = (there.st_ctime_ns, there.st_ino) if closely else ()
                    state.append((each.name, there.st_size, there.st_mtime_ns, *further))
        return hashlib.sha256(json.dumps(state).encode()).hexdigest()[:8]

    def job(self, name: str) -> Job:
        """The job in a file of the workspace, as seen from its root; where it leads is judged before anybody looks."""
        path = self.path(name)
        content = job_content(path)
        self.refuse_outside(with_paths(content, seen_from(path.parent, self.root)))
        return moved(job_from(content, str(path), path.parent), path.parent, self.root)


def _read_along(place: Path) -> Iterator[Path]:
    """Files that are read with a file although nobody names them: the last changes of a database, lists of metadata."""
    if place.suffix.lower() in DATABASES:
        for ending in ("-wal", ".wal", "-journal"):
            changes = place.with_name(place.name + ending)
            if changes.is_file() and changes.stat().st_size:  # whoever reads may leave an empty one
                yield changes
    elif place.suffix.lower() == METADATA:
        yield from sorted(each for each in place.parent.iterdir() if each.suffix.lower() in LISTS and each.is_file())


def is_special(place: Path) -> bool:
    """Whether something is there that is neither a file nor a folder."""
    try:
        mode = place.lstat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def shortened(name: str, most: int = 80) -> str:
    """A name as it is shown."""
    return name if len(name) <= most else name[: most - 1] + "…"


def refused_by_windows(name: str) -> bool:
    """Whether a name, of either style, means something else than a file there: a device, a stream, another drive.

    >>> refused_by_windows("data/firms.csv"), refused_by_windows("data/con.csv"), refused_by_windows("f.csv:hidden")
    (False, True, True)
    """
    return any(
        STRANGE.search(part) or part.endswith((".", " ")) or DEVICE.fullmatch(part.split(".")[0].rstrip())
        for part in re.split(r"[\\/]", name)
        if part not in (".", "..", "")
    )


def _is_possible(name: str) -> bool:
    """Whether a name is text, and not longer than file systems take."""
    if os.name == "nt" and refused_by_windows(Path(name).relative_to(Path(name).anchor).as_posix()):
        return False
    try:
        return len(name.encode()) < 4000 and all(len(part.encode()) <= 255 for part in name.split("/"))
    except UnicodeEncodeError:
        return False


def kind_of(path: Path) -> str:
    """What a file is good for, by its ending."""
    ending = path.suffix.lower()
    if ending == ".toml":
        return "job"
    return "data" if ending in (*DATA, *DESCRIBED) else "hierarchy" if ending in HIERARCHIES else "other"


def _sections(content: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The sections of a job, however deep."""
    for each in content.values():
        if isinstance(each, Mapping):
            yield each
            yield from _sections(each)
