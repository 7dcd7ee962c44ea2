"""When to stop: the time limit of a run, and the user's Ctrl-C."""

from __future__ import annotations

import time
from dataclasses import dataclass, field


@dataclass
class Clock:
    """Seconds a run may take; ``over`` also once it was stopped."""

    limit: float | None = None
    begun: float = field(default_factory=time.monotonic)
    stopped: bool = False
    timed_out: bool = False

    def stop(self) -> None:
        """End the run at the next moment at which it is valid."""
        self.stopped = True

    def over(self) -> bool:
        """Whether the run has to end."""
        if self.limit is not None and time.monotonic() - self.begun >= self.limit:
            self.timed_out = True
        return self.stopped or self.timed_out

    def share(self) -> float:
        """Share of the time that is used up; 0 without a limit."""
        return 0.0 if self.limit is None else min(1.0, (time.monotonic() - self.begun) / self.limit)
