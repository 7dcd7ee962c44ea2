"""The time a search may take."""

from __future__ import annotations

import time


class Clock:
    """Runs from the beginning; nothing is late before a share of the seconds is set as the end."""

    def __init__(self, seconds: float) -> None:
        self._begun, self.seconds, self._end = time.perf_counter(), seconds, float("inf")

    def end_after(self, share: float) -> None:
        """Time is up after this share of the seconds, counted from the beginning."""
        self._end = self._begun + share * self.seconds

    @property
    def past(self) -> float:
        """Seconds since the beginning."""
        return time.perf_counter() - self._begun

    @property
    def left(self) -> float:
        """Seconds left."""
        return self._end - time.perf_counter()

    @property
    def late(self) -> bool:
        """Whether the time is up."""
        return self.left < 0
