"""What a benchmark is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


def nothing() -> None:
    """No preparation, no warm-up."""


@dataclass(frozen=True)
class Case:
    """One measured thing: ``run`` is timed and returns its quality figures in words."""

    name: str
    what: str
    program: str
    run: Callable[[], str]
    prepare: Callable[[], None] = nothing
    warm: Callable[[], object] = nothing
