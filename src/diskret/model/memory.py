"""Refusing tables this machine cannot hold, before any work starts."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import prod

from diskret.model.errors import TableTooLarge
from diskret.model.hierarchy import Hierarchy


def refuse_too_large(by: Mapping[str, Hierarchy], numbers_per_cell: int) -> None:
    """Refuse a table whose dense arrays do not fit the memory; ``numbers_per_cell`` are of eight bytes.

    >>> refuse_too_large({"sex": Hierarchy.flat(["m", "w"])}, 5)
    """
    cells = prod(len(h) for h in by.values())
    needed = cells * 8 * numbers_per_cell
    if needed > os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"):
        raise TableTooLarge(
            f"the table has {cells:,} cells and needs {needed / 1e9:.0f} GB, more than this machine's memory",
            where=" x ".join(f"{n} {len(h)}" for n, h in by.items()),
            hint="use coarser hierarchies, fewer classifications, or several linked tables.",
        )
