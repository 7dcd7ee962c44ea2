"""What every protecting method of microdata gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from diskret.microdata.records import Records


@dataclass(frozen=True, eq=False)
class Protected:
    """Protected records, and facts about the protecting that may be shown: counts, never values or parameters."""

    frame: Records
    method: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def summary(self) -> dict[str, Any]:
        """Counts and names only: fit to be printed or logged."""
        return {"method": self.method, "records": self.frame.rows, **self.facts}

    def __repr__(self) -> str:
        lines = [f"Protected by {self.method}: {self.frame!r}"]
        return "\n".join(lines + [f"  {name}: {fact}" for name, fact in self.facts.items()])
