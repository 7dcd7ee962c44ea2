"""Publishing for tests that are about files: whatever pattern a table has counts as made to protect it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import diskret as dk

SDMX = dk.Sdmx(dataflow="XX:T(1.0)", indicator="INDICATOR")
"""What tables are called in SDMX, for tests that are about something else."""


def as_protected(table: dk.Table) -> dk.Table:
    """The table as if it had been marked and protected as it is."""
    return replace(table, rules=table.rules or ("given",), rule=None).sealed()


def publish(tables: dk.Table | Mapping[str, dk.Table], path: Path, **options: Any) -> None:
    """`diskret.publish` of tables as if they had been protected."""
    given = {n: as_protected(t) for n, t in tables.items()} if isinstance(tables, Mapping) else as_protected(tables)
    if ".sdmx" in path.suffixes:
        options = {"sdmx": SDMX, **options}
    dk.publish(given, path, **options)
