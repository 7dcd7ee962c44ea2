"""Tabs of a browser: each has choices of its own, kept on disk, and says with every request which of them it saw."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diskret.io.files import whole_file
from diskret.model.errors import ChangedElsewhere, DiskretError, OutsideWorkspace
from diskret.web.drafts import Drafts
from diskret.web.run_files import folder_of_runs, make_private, read_bytes
from diskret.web.workspace import Workspace

TAB, COPY, SEEN = "x-diskret-tab", "x-diskret-copy", "x-diskret-seen"
"""Headers: the tab that asks, the tab it is a copy of, the versions of its choices that it shows, by page."""
PAGES = {"table": "draft.json", "records": "records.json", "plan": "plan.json"}
"""Pages that keep what is chosen on them, with its history, and the files they keep it in."""
FOLDER = "tabs"
MOST = 50
"""Tabs whose choices are kept: those that were used last."""
NAME = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


@dataclass
class Tabs:
    """The choices of every tab of every browser.

    A new tab begins with a copy of what was changed last, a duplicated one with a copy of the tab it came from; from
    then on they have nothing to do with each other. Whoever names no tab has choices of his own, too.

    >>> import tempfile
    >>> tabs = Tabs(Workspace.at(tempfile.mkdtemp()))
    >>> one, two = (f"{i:08x}-0000-0000-0000-000000000000" for i in (1, 2))
    >>> _ = tabs.choices(one)["table"].put({"rules": {}})
    >>> _ = tabs.choices(two)["table"].put(tabs.choices(two)["table"].get()["content"] | {"table": {}})
    >>> tabs.choices(one)["table"].get()["content"]
    {'rules': {}}
    """

    workspace: Workspace
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def choices(self, tab: str = "", copy: str = "") -> Mapping[str, Drafts]:
        """What is chosen in a tab, by page; an unknown one is begun, as a ``copy`` of another if that is said."""
        if tab and not NAME.fullmatch(tab):
            raise OutsideWorkspace.named(tab[:40])
        folder = self._folder(tab)
        if tab:
            with self.lock:
                if not folder.is_dir():
                    self._begin(folder, copy)
                else:
                    with suppress(OSError):
                        os.utime(folder)  # it is in use: others are forgotten first
        return {page: Drafts(folder / file, self.lock) for page, file in PAGES.items()}

    def _folder(self, tab: str) -> Path:
        return self.workspace.runs / FOLDER / tab if tab else self.workspace.runs

    def _begin(self, folder: Path, copy: str) -> None:
        make_private(folder_of_runs(self.workspace.runs) / FOLDER)
        kept = sorted(self._known(), key=_moment)
        before = [self._folder(copy)] if NAME.fullmatch(copy) and self._folder(copy).is_dir() else []
        sources = {file: before or [*kept, self.workspace.runs] for file in PAGES.values()}
        found = {file: max((f / file for f in each), key=_moment) for file, each in sources.items()}
        copies = {}
        for file, source in found.items():
            with suppress(DiskretError, OSError):  # a damaged one is as good as none
                copies[file] = read_bytes(source)
        make_private(folder)
        for file, content in copies.items():
            with whole_file(folder / file, private=True) as part:
                part.write_bytes(content)
            with suppress(OSError):  # a copy is not what was changed last
                os.utime(folder / file, ns=(_moment(found[file]),) * 2)
        for old in kept[: max(0, len(kept) + 1 - MOST)]:
            _remove(old)

    def _known(self) -> Iterator[Path]:
        with suppress(OSError):
            for each in (self.workspace.runs / FOLDER).iterdir():
                if NAME.fullmatch(each.name) and each.is_dir() and not each.is_symlink():
                    yield each


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What is chosen on one page of one tab, and which version of it the tab shows (none, if it does not say)."""

    drafts: Drafts
    workspace: Workspace
    seen: str | None = None

    def get(self) -> dict[str, Any]:
        """The present choice with its version, whatever was seen."""
        return self._shown(self.drafts.get())

    def content(self) -> dict[str, Any]:
        """The choice that was seen; refused if it, or a file that it names, is another one now."""
        found = self.drafts.get()
        if self.seen is not None:
            if self._part(0) != found["version"]:
                raise ChangedElsewhere.choice()
            if self._part(1) != self._state(found):
                raise ChangedElsewhere.data()
        content: dict[str, Any] = found["content"]
        return content

    def put(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """A new choice in the place of the one that was seen."""
        return self._shown(self.drafts.put(content, seen=self._part(0)))

    def move(self, steps: int) -> dict[str, Any]:
        """Back or forth from the one that was seen."""
        return self._shown(self.drafts.move(steps, seen=self._part(0)))

    def _part(self, which: int) -> str | None:
        return None if self.seen is None else (self.seen.split(".") + [""])[which]

    def _shown(self, found: dict[str, Any]) -> dict[str, Any]:
        return found | {"version": f"{found['version']}.{self._state(found)}"}

    def _state(self, found: Mapping[str, Any]) -> str:
        return self.workspace.state_of(found["content"], closely=True)


def seen_on(page: str, said: str | None) -> str | None:
    """The version that is shown on a page, from the header that says it for all.

    >>> seen_on("records", "table=ab.12;records=cd.34"), seen_on("plan", "table=ab.12"), seen_on("table", None)
    ('cd.34', None, None)
    """
    return dict(each.partition("=")[::2] for each in (said or "").split(";")).get(page)


def _moment(path: Path) -> int:
    try:
        return path.lstat().st_mtime_ns
    except OSError:
        return 0


def _remove(folder: Path) -> None:
    """Forget a tab; nothing stands in its folder but its choices."""
    with suppress(OSError):
        for each in folder.iterdir():
            each.unlink()
        folder.rmdir()
