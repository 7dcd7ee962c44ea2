"""What a benchmark is."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any


def nothing() -> None:
    """No preparation, no warm-up."""


def in_words(result: Any) -> str:
    """A result that is its own quality text."""
    return str(result)


@dataclass(frozen=True)
class Case:
    """One measured thing: ``run`` is timed, ``judge`` says afterwards, untimed, how good its result is.

    ``judge`` gives the quality in words, or a mapping that sets further columns as well (for what ran elsewhere).
    """

    name: str
    what: str
    program: str
    run: Callable[[], Any]
    prepare: Callable[[], object] = nothing
    warm: Callable[[], object] = nothing
    judge: Callable[[Any], str | Mapping[str, str]] = in_words
    limit: int = 900
    """Seconds after which it is stopped."""
    repeats: int = 1
    """Short ones run several times; the median counts."""
