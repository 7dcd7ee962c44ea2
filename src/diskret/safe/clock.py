"""When to stop: the limit of a run in seconds or in steps, and the user's Ctrl-C."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(kw_only=True)
class Clock:
    """What a run may take; ``over`` also once it was stopped.

    Limits are looked at where a step ends and nowhere else, so that the number of steps says all about where a run
    ended: the same number given as a limit ends it there again.
    """

    limit: float | None = None
    """Seconds."""
    steps: int | None = None
    """Steps, those of earlier runs with the same checkpoint among them."""
    done: int = 0
    """Steps so far."""
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

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return time.monotonic() - self.begun

    @property
    def limited(self) -> bool:
        """Whether a run may have to end early."""
        return self.limit is not None or self.steps is not None

    def step(self, *, may_end: bool = True) -> None:
        """One more step is done, after which the run may have to end."""
        self.done += 1
        if may_end:
            self.look()

    def look(self) -> None:
        """End the run here if a limit is reached."""
        late = self.limit is not None and self.seconds >= self.limit
        self.timed_out = self.timed_out or late or (self.steps is not None and self.done >= self.steps)

    def over(self) -> bool:
        """Whether the run has to end."""
        return self.stopped or self.timed_out
