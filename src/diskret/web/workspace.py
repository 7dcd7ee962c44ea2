"""The chosen folder: the only place the page reads from and writes to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskret.model.errors import BadOption, OutsideWorkspace, listed

DATA = (".csv", ".tsv", ".txt", ".parquet", ".pq", ".xlsx")
HIERARCHIES = (".hrc", ".csv", ".json")
OTHERS = (".toml", ".rda", ".tab", ".asc", ".cdl")
ENDINGS = tuple(dict.fromkeys((*DATA, *HIERARCHIES, *OTHERS)))
RUNS = ".diskret-runs"
NO_PATHS = {"mark", "title", "language"}
"""Texts under [output] that name no file."""


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
        path.mkdir(parents=True, exist_ok=True)
        return cls(Path(os.path.realpath(path)))

    @property
    def runs(self) -> Path:
        """Where runs are kept."""
        return self.root / RUNS

    def path(self, name: str) -> Path:
        """The place of a file, wherever links lead; refused outside, and where a name may mean many files."""
        if not name or any(c in name for c in "\0*?[]"):
            raise OutsideWorkspace.named(name)
        place = Path(os.path.realpath(self.root / name))
        if not place.is_relative_to(self.root) or place == self.root:
            raise OutsideWorkspace.named(name)
        return place

    def new(self, name: str) -> Path:
        """The place of a file the user hands in: a plain name with an ending that is known."""
        plain = name == Path(name).name and not name.startswith(".") and name.isprintable() and "\\" not in name
        if not plain or len(name) > 200:
            raise OutsideWorkspace.named(name)
        if Path(name).suffix.lower() not in ENDINGS:
            raise BadOption(
                f"files ending in {Path(name).suffix or 'nothing'} are not taken",
                hint=f"endings: {', '.join(ENDINGS)}.",
            )
        return self.path(name)

    def files(self) -> list[dict[str, Any]]:
        """Files the page can use, hidden ones and links out of the workspace left out."""
        found = []
        for folder, folders, names in os.walk(self.root):
            folders[:] = sorted(f for f in folders if not f.startswith((".", "__")))
            if len(Path(folder).relative_to(self.root).parts) > 2:
                folders[:] = []
            for name in sorted(names):
                place = Path(folder) / name
                inside = Path(os.path.realpath(place)).is_relative_to(self.root)
                if inside and not name.startswith(".") and place.suffix.lower() in ENDINGS and place.is_file():
                    shown = place.relative_to(self.root).as_posix()
                    found.append({"name": shown, "bytes": place.stat().st_size, "kind": kind_of(place)})
        return found

    def refuse_outside(self, content: Mapping[str, Any]) -> None:
        """Refuse a job that reads or writes outside the workspace, or lets another machine read the data."""
        for name in paths_in(content):
            self.path(name)
        engines = [section.get("engine") for section in content.values() if isinstance(section, Mapping)]
        other = [e for e in engines if e not in (None, "duckdb")]
        if other:
            raise BadOption(
                f"engine {listed(other)} on the page", hint="nothing leaves this machine from here: use `diskret run`."
            )


def kind_of(path: Path) -> str:
    """What a file is good for, by its ending."""
    ending = path.suffix.lower()
    if ending == ".toml":
        return "job"
    return "data" if ending in DATA else "hierarchy" if ending in HIERARCHIES else "other"


def paths_in(content: Mapping[str, Any]) -> Iterator[str]:
    """Every file a job names.

    >>> list(paths_in({"data": {"microdata": "a.csv"}, "output": {"publish": ["b.csv"], "title": "T"}}))
    ['a.csv', 'b.csv']
    """
    data, attack, asked = (_section(content, key) for key in ("data", "attack", "anonymise"))
    yield from _texts(data.get(key) for key in ("microdata", "cells", "table", "metadata"))
    yield from _texts(each.get("hierarchy") for each in _section(content, "classifications").values() if _maps(each))
    yield from _texts(
        [_section(content, "suppression").get("previous"), attack.get("external"), attack.get("original")]
    )
    yield from _texts([asked.get("fictitious"), asked.get("checkpoint")])
    for step in _section(content, "microdata").get("steps") or ():
        if _maps(step):
            yield from _texts([step.get("file"), step.get("hierarchy")])
    for key, given in _section(content, "output").items():
        if key not in NO_PATHS:
            yield from _texts(given if isinstance(given, list) else [given])


def _maps(given: object) -> bool:
    return isinstance(given, Mapping)


def _section(content: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    given = content.get(key)
    return given if isinstance(given, Mapping) else {}


def _texts(given: Any) -> Iterator[str]:
    return (each for each in given if isinstance(each, str))
