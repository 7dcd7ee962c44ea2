"""When to stop: the time limit of a run, and the user's Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Clock:
    """Seconds a run may take; ``over`` also once it was stopped."""

    limit: float | None = None
    begun: float = field(default_factory=time.monotonic)
    stopped: bool = False
    timed_out: bool = False

    @contextmanager
    def listening(self) -> Iterator[None]:
        """While the block runs, Ctrl-C stops the clock; pressed again it interrupts as usual.

        An exception could be raised, and lost, anywhere; a flag is looked at where the search is valid.
        """
        before = signal.getsignal(signal.SIGINT)
        if threading.current_thread() is not threading.main_thread() or before is signal.SIG_IGN:
            yield
            return

        def pressed(*_: object) -> None:
            self.stop()
            signal.signal(signal.SIGINT, before)

        signal.signal(signal.SIGINT, pressed)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

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
