"""What is chosen on the page, with a history: a job as plain data, one step back or forth at a time."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from diskret.web.run_folders import read_json, write_json

MOST = 200
"""Steps that can be undone."""


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

    def put(self, content: Mapping[str, Any]) -> dict[str, Any]:
        """A new choice; what was undone before is forgotten."""
        with self.lock:
            history = self._history()
            states, at = history["states"], history["at"]
            if states[at] == content:
                return _shown(history)
            states = [*states[: at + 1], dict(content)][-MOST:]
            return self._keep({"states": states, "at": len(states) - 1})

    def move(self, steps: int) -> dict[str, Any]:
        """Back (negative) or forth in the history, as far as it goes."""
        with self.lock:
            history = self._history()
            at = min(max(history["at"] + steps, 0), len(history["states"]) - 1)
            return self._keep(history | {"at": at})

    def _history(self) -> dict[str, Any]:
        try:
            found = read_json(self.path)
            return {"states": list(found["states"]), "at": min(int(found["at"]), len(found["states"]) - 1)}
        except (OSError, ValueError, LookupError, TypeError):
            return {"states": [{}], "at": 0}

    def _keep(self, history: dict[str, Any]) -> dict[str, Any]:
        write_json(self.path, history)
        return _shown(history)


def _shown(history: Mapping[str, Any]) -> dict[str, Any]:
    states, at = history["states"], history["at"]
    return {"content": states[at], "undo": at > 0, "redo": at < len(states) - 1}
