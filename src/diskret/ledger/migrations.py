"""Entries of earlier versions in the form of today. Files are never written anew: what is old is read as new.

A version is the number of what an entry file holds. Whoever changes that adds one to it, and here what older files
lack; a test keeps a file of every version.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.errors import UnreadableFile

VERSION = 2
Arrays = dict[str, npt.NDArray[Any]]
Step = Callable[[dict[str, Any], Arrays | None], tuple[dict[str, Any], Arrays | None]]


def _to_2(head: dict[str, Any], arrays: Arrays | None) -> tuple[dict[str, Any], Arrays | None]:
    """Version 1, of the first trials, had no bounds: nothing was published but values."""
    if arrays is not None and "lower" not in arrays:
        size = arrays["shown"].size
        arrays = arrays | {"lower": np.full(size, -np.inf), "upper": np.full(size, np.inf)}
    return head, arrays


STEPS: Mapping[int, Step] = {1: _to_2}


def migrated(version: int, head: dict[str, Any], arrays: Arrays | None) -> tuple[dict[str, Any], Any]:
    """What an entry of some version says and holds, in the form of today.

    >>> migrated(VERSION, {"number": 1}, None)
    ({'number': 1}, None)
    """
    if not 1 <= version <= VERSION:
        raise UnreadableFile(
            f"the entry has version {version}, this diskret reads up to {VERSION}", hint="use a newer diskret."
        )
    for step in range(version, VERSION):
        head, arrays = STEPS[step](head, arrays)
    return head, arrays
