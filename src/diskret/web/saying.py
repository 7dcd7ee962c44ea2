"""How far a run is, as it says itself: words and numbers, and whatever a page can plot meanwhile."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Saying:
    """Called with what is done, how much of it and of how much; ``more`` goes along."""

    tell: Callable[[Mapping[str, Any]], None]
    more: dict[str, Any] = field(default_factory=dict)

    def __call__(self, what: str, done: int, of: int) -> None:
        """Say it."""
        self.tell({"what": what, "done": int(done), "of": int(of), **self.more})
