"""What is chosen on the page, with a history: a job as plain data, one step back or forth at a time."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diskret.io.structured import from_json
from diskret.model.errors import ChangedElsewhere, DiskretError
from diskret.web.run_files import folder_of_runs, read_json, write_json

MOST = 200
"""Steps that can be undone."""
MOST_BYTES = 3_000_000
"""Bytes of all of them together."""


def version_of(content: Mapping[str, Any]) -> str:
    """What a choice is called: the same choice has the same version, whoever made it and when.

    >>> version_of({"rules": {"min_count": 3}}), version_of({})
    ('7c66d0f8fb8d7da9', '44136fa355b3678a')
    """
    plain = json.dumps(content, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()[:16]


@dataclass
class Drafts:
    """The history of choices, kept in a file so that a reload and a restart find it.

    >>> import tempfile
    >>> drafts = Drafts(Path(tempfile.mkdtemp()) / "draft.json")
    >>> _ = drafts.put({"rules": {"min_count": 3}}), drafts.put({"rules": {"min_count": 5}})
    >>> drafts.move(-1)["content"], drafts.move(1)["content"]
    ({'rules': {'min_count': 3}}, {'rules': {'min_count': 5}})
    """

    path: Path
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def get(self) -> dict[str, Any]:
        """The present choice, and whether there is a way back and forth."""
        return _shown(self._history())

    def put(self, content: Mapping[str, Any], *, seen: str | None = None) -> dict[str, Any]:
        """A new choice; what was undone is forgotten. Refused if it starts from another one than was ``seen``."""
        from_json(json.dumps({"states": [content]}))  # what could not be read again would take the history with it
        with self.lock:
            history = self._seen(seen)
            states, at = history["states"], history["at"]
            if states[at] == content:
                return _shown(history)
            states = _latest([*states[: at + 1], dict(content)])
            return self._keep({"states": states, "at": len(states) - 1})

    def move(self, steps: int, *, seen: str | None = None) -> dict[str, Any]:
        """Back (negative) or forth in the history, as far as it goes."""
        with self.lock:
            history = self._seen(seen)
            at = min(max(history["at"] + steps, 0), len(history["states"]) - 1)
            return self._keep(history | {"at": at})

    def _seen(self, version: str | None) -> dict[str, Any]:
        """The history, if it stands where somebody saw it."""
        history = self._history()
        if version is not None and version != version_of(history["states"][history["at"]]):
            raise ChangedElsewhere.choice()
        return history

    def _history(self) -> dict[str, Any]:
        """What was kept; a damaged file is as good as none."""
        try:
            found = read_json(self.path)
        except DiskretError:
            found = {}
        states, at = found.get("states"), found.get("at")
        if not (isinstance(states, list) and isinstance(at, int) and 0 <= at < len(states)):
            return {"states": [{}], "at": 0}
        return {"states": [each if isinstance(each, dict) else {} for each in states], "at": at}

    def _keep(self, history: dict[str, Any]) -> dict[str, Any]:
        folder_of_runs(self.path.parent)
        write_json(self.path, history)
        return _shown(history)


def _latest(states: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The last choice and as many before it as are kept."""
    kept, size = 0, 0
    for state in reversed(states[-MOST:]):
        size += len(json.dumps(state, ensure_ascii=False).encode())
        if kept and size > MOST_BYTES:
            break
        kept += 1
    return states[-kept:]


def _shown(history: Mapping[str, Any]) -> dict[str, Any]:
    states, at = history["states"], history["at"]
    content = states[at]
    return {"content": content, "undo": at > 0, "redo": at < len(states) - 1, "version": version_of(content)}
