"""The course of a search, moment by moment, for whoever watches it live or plots it afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, kw_only=True)
class Moment:
    """Where a search stands. Internal: with the file, counts of cells can tell small counts of the original."""

    stage: str
    """"annealing", "ladder", "polishing"; "phase 1" and "phase 2" of the printed search."""
    groups: int
    """Groups of rows tested so far: the same for any number of threads."""
    cases: int | None
    """Cells beyond the limits being sought, or rows that occur fewer than k times (phase 1); None where neither is."""
    limits: tuple[int, ...]
    """Limits being sought, per dimension; empty where there are none."""
    largest: tuple[int, ...]
    """Largest deviation beyond its weight now, per dimension from one up (printed search: one, and several)."""


Watch = Callable[[Moment], None]


@dataclass(kw_only=True)
class History:
    """All moments; hands each on to a listener."""

    watch: Watch | None = None
    moments: list[Moment] = field(default_factory=list)

    def note(
        self, stage: str, groups: int, cases: int | None, limits: tuple[int, ...], largest: tuple[int, ...]
    ) -> None:
        """Write a moment down; one that says the same as the last is left out."""
        if self.moments:
            last = self.moments[-1]
            if (cases, limits, largest) == (last.cases, last.limits, last.largest):
                return
        self.moments.append(Moment(stage=stage, groups=groups, cases=cases, limits=limits, largest=largest))
        if self.watch is not None:
            self.watch(self.moments[-1])
