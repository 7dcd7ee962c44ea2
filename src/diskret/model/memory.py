"""Refusing work that the memory cannot hold which is free now, before it starts.

What runs out of memory in the middle of its work may be ended by the system without a word, and some libraries crash
where an allocation fails. So whoever is about to need much asks here first.
"""

from __future__ import annotations

import contextlib
import os
import re
import sys
from collections.abc import Iterator, Mapping
from math import prod
from pathlib import Path

from diskret.model.errors import NotEnoughMemory, TableTooLarge
from diskret.model.hierarchy import Hierarchy

ENGINE_SPACE = 1_500_000_000
"""Addresses the database wants to reserve; it crashes where a limit on them leaves it less."""
WORKING_BYTES = 200
"""What protecting or attacking a table needs for each of its cells: bounds, demands, statuses, prices, equations."""
HINT = "use coarser hierarchies, fewer classifications, or several linked tables."
CGROUPS = (
    ("/sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"),
    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
NO_MEMORY = "cannot allocate memory|failed to map segment|not enough memory|bad_alloc|paging file is too small"


def refuse_too_large(by: Mapping[str, Hierarchy], numbers_per_cell: int) -> None:
    """Refuse a table whose dense arrays do not fit the memory; ``numbers_per_cell`` are of eight bytes.

    >>> refuse_too_large({"sex": Hierarchy.flat(["m", "w"])}, 5)
    """
    cells = prod(len(h) for h in by.values())
    needed, free = cells * 8 * numbers_per_cell, free_memory()
    if free is not None and needed > free:
        raise TableTooLarge(
            f"the table has {cells:,} cells and needs {_amount(needed)}, more than the memory that is free",
            where=" x ".join(f"{n} {len(h)}" for n, h in by.items()),
            hint=HINT,
        )


def refuse_short(cells: int, what: str, bytes_per_cell: int = WORKING_BYTES) -> None:
    """Refuse work on a table for which the memory does not suffice; it may need more, but never less.

    >>> refuse_short(1000, "protecting a table")
    """
    needed, free = cells * bytes_per_cell, free_memory()
    if free is not None and needed > free:
        raise NotEnoughMemory(
            f"{what} of {cells:,} cells needs {_amount(needed)} at least, more than the memory that is free",
            hint=f"end other programs, or {HINT}",
        )


def refuse_short_addresses(needed: int = ENGINE_SPACE) -> None:
    """Refuse to start the database where a limit on the program's addresses (``ulimit -v``) would make it crash."""
    left = _addresses()
    if left is not None and left < needed:
        raise NotEnoughMemory(
            f"the limit on this program's memory leaves it less than {_amount(needed)} of addresses",
            hint="raise the limit (ulimit -v); it counts addresses, of which far more are reserved than used.",
        )


@contextlib.contextmanager
def in_words() -> Iterator[None]:
    """Say in our words that the memory ran out, wherever it did."""
    try:
        yield
    except MemoryError as e:
        raise NotEnoughMemory.at() from e
    except (ImportError, OSError, RuntimeError) as e:
        if re.search(NO_MEMORY, str(e), re.IGNORECASE) is None:
            raise
        raise NotEnoughMemory.at() from e


def free_memory() -> int | None:
    """Bytes that this program may still use: of the machine, of its container, of its limits. None if nobody knows.

    >>> free_memory() is None or free_memory() > 0
    True
    """
    found = [_machine(), _container(), _addresses()]
    return min((each for each in found if each is not None), default=None)


def _machine() -> int | None:
    """What the machine has left, its swap space included; where it does not tell, all it has."""
    if sys.platform == "win32":
        return _windows()
    told = dict(re.findall(r"^(\w+):\s+(\d+) kB", _text(Path("/proc/meminfo")), re.MULTILINE))
    if "MemAvailable" in told:
        return 1024 * (int(told["MemAvailable"]) + int(told.get("SwapFree", 0)))
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return None


def _windows() -> int | None:
    import ctypes

    class Status(ctypes.Structure):
        _fields_ = (
            [("length", ctypes.c_uint32), ("load", ctypes.c_uint32)]
            + [(name, ctypes.c_uint64) for name in ("all", "free", "pages", "free_pages", "space", "left", "more")]
        )  # fmt: skip

    status = Status(length=ctypes.sizeof(Status))
    known = ctypes.windll.kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # type: ignore[attr-defined]
    return min(int(status.free_pages), int(status.left)) if known else None


def _container() -> int | None:
    """What the groups of processes that this one belongs to may still use; files kept in memory can give way."""
    own = [line.split(":", 2) for line in _text(Path("/proc/self/cgroup")).splitlines()]
    found = []
    for (root, limit, used, kept), belongs in zip(CGROUPS, ("", "memory"), strict=True):
        place = next((path for _, kinds, path in own if belongs in kinds.split(",")), "/")
        group = Path(root + place)
        for folder in [group, *group.parents]:
            if folder.is_relative_to(root):
                most, now = _text(folder / limit).strip(), _text(folder / used).strip()
                idle = re.search(rf"^{kept} (\d+)$", _text(folder / "memory.stat"), re.MULTILINE)
                if most.isdecimal() and now.isdecimal():
                    found.append(max(int(most) - int(now) + (int(idle[1]) if idle else 0), 0))
    return min(found, default=None)


def _addresses() -> int | None:
    """What the limit on this program's addresses leaves it, if it has one."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    size = _text(Path("/proc/self/statm")).split()
    if most == resource.RLIM_INFINITY:
        return None
    return max(most - int(size[0]) * os.sysconf("SC_PAGE_SIZE"), 0) if size else most


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return ""


def _amount(number: int) -> str:
    """Bytes for a reader.

    >>> _amount(1_500_000_000), _amount(48_000_000_000_000_000), _amount(1000)
    ('1.5 GB', '48000000 GB', '1 MB')
    """
    return f"{max(number / 1e6, 1):.0f} MB" if number < 1e9 else f"{number / 1e9:.{1 if number < 1e10 else 0}f} GB"
