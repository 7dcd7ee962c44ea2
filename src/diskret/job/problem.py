"""A mistake in a job file."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Problem:
    """One mistake in a job file."""

    key: str
    what: str
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.key}: {self.what}" + (f" ({self.hint})" if self.hint else "")
