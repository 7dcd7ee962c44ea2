"""What a process of the page may not do: leave files that others can read, take all memory, compute without end."""

from __future__ import annotations

import os
import time

from diskret.model.processes import cores

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]


def keep_private() -> None:
    """Whatever this process writes is for its owner alone, and no copy of its memory is left if it crashes."""
    os.umask(0o077)
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory(most: int) -> None:
    """Let this process hold no more than so many bytes; 0: as many as there are."""
    if resource is not None and most:
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))


def limit_time(seconds: float) -> None:
    """Let the system end this process if it goes on to compute for so long on every core, whoever still watches it."""
    if resource is not None:
        limit = time.process_time() + (seconds + 5) * cores()
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit) + 1, resource.getrlimit(resource.RLIMIT_CPU)[1]))


def most_memory() -> int:
    """Three quarters of this machine's memory, in bytes."""
    if not hasattr(os, "sysconf"):
        return 0
    return int(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") * 0.75)
