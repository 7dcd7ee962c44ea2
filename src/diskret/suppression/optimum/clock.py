"""How long a search may take: seconds, or a number of programmes, which is the same on every machine."""

from __future__ import annotations

import time
from collections.abc import Callable

NODES, STEPS = 500, 20
"""Nodes a mixed-integer programme may take where programmes are counted: so many, and one for so many programmes left
(by far most of small tables take fewer)."""


class Clock:
    """Runs from the beginning; nothing is late before a share of the limit is set as the end.

    ``now`` tells how late it is: the time, or the number of programmes solved so far.
    """

    def __init__(self, limit: float, now: Callable[[], float] | None = None) -> None:
        self._now, self._timed = now or time.perf_counter, now is None
        self._begun, self.limit, self._end = self._now(), limit, float("inf")

    def end_after(self, share: float) -> None:
        """The end comes after this share of the limit, counted from the beginning."""
        self._end = self._begun + share * self.limit

    @property
    def past(self) -> float:
        """Seconds, or programmes, since the beginning."""
        return self._now() - self._begun

    @property
    def late(self) -> bool:
        """Whether the end has come."""
        return self._now() > self._end

    @property
    def left(self) -> float:
        """Seconds that a single programme may take."""
        return self._end - self._now() if self._timed else float("inf")

    @property
    def nodes(self) -> int | None:
        """Nodes that a single mixed-integer programme may take; None: only time counts."""
        return None if self._timed else int(min(NODES, max(1.0, (self._end - self._now()) / STEPS)))
