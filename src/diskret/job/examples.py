"""Made-up data with their jobs, to begin with: where they are, and a copy to work on."""

from __future__ import annotations

import shutil
from pathlib import Path

NOT_COPIED = ("out", "__pycache__", "*.parquet")
"""What running the examples where they are may have left there."""


def here() -> Path:
    """Where the examples are: in the installed package, or beside the source."""
    inside = Path(__file__).parents[1] / "examples"
    return inside if inside.is_dir() else Path(__file__).parents[3] / "examples"


def copy_to(folder: Path) -> None:
    """Copy all of them into a folder."""
    shutil.copytree(here(), folder, ignore=shutil.ignore_patterns(*NOT_COPIED), dirs_exist_ok=True)
