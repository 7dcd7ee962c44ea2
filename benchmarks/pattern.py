"""How good a suppression pattern of a shared table is."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from benchmarks.exact import under
from benchmarks.given import given

SAMPLE = {"h3": 500}
"""Where there are too many primaries for two linear programs each."""


def judged(name: str, secondary: npt.NDArray[np.bool_]) -> str:
    """Number and value of the secondary cells, and primaries an attacker gets too close to."""
    table = given(name).table
    exposed = under(table, table.hidden | secondary, SAMPLE.get(name))
    return f"{int(secondary.sum()):,} secondary, value {table.value[secondary].sum():,.0f}, under {exposed}"
