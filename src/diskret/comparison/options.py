"""What the methods of a comparison are told; what is left out, they choose themselves."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from diskret.cellkey.options import Scaling
from diskret.cellkey.p_table import PTable
from diskret.cellkey.p_table_design import design_p_table
from diskret.model import rollup
from diskret.model.errors import BadOption
from diskret.model.table import Table

METHODS = (
    "suppression", "intervals", "cuboid perturbation", "random rounding", "controlled rounding", "cell key", "merging",
    "SAFE",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class ComparisonOptions:
    """Parameters of the methods.

    ``percent`` is how close an attacker must come to be told as successful. ``base`` is that of rounding (left out: 5
    for counts, a round number near a tenth of the median cell for values). ``p_table`` and ``scaling`` belong to the
    cell key, ``k`` to SAFE; ``merge`` names the classification that merging coarsens (left out: the one that does it
    best) and ``ordered`` the ordered ones. ``categories`` names codes that look like totals and are none.
    """

    percent: float = 10.0
    seed: int = 1
    base: float | None = None
    p_table: PTable | None = None
    scaling: Scaling | None = None
    k: int = 3
    merge: str | None = None
    ordered: tuple[str, ...] = ()
    categories: Mapping[str, Sequence[str]] | None = None
    time_limit: float | None = None
    """Seconds for the search of SAFE; with a limit two runs may differ."""

    def __post_init__(self) -> None:
        if not 0 < self.percent <= 100:
            raise BadOption("percent is out of range", hint="how close is close: over 0 and up to 100.")
        if self.base is not None and not self.base > 0:
            raise BadOption("the base of rounding must be positive", hint="such as 3, 5 or 1000.")

    def base_of(self, table: Table) -> float:
        """The base of rounding: 5 for counts, for values 1, 2 or 5 times a power of ten near a tenth of the median."""
        if self.base is not None:
            return self.base
        size = np.abs(table.value[rollup.inner_cells(table.hierarchies) & (table.value != 0)])
        if table.frequency or not size.size:
            return 5.0
        wanted = float(np.median(size)) / 10
        power = 10.0 ** np.floor(np.log10(wanted))
        round_ones = [power, 2 * power, 5 * power, 10 * power]
        nearest = min(round_ones, key=lambda b: abs(np.log(b / wanted)))
        least = 0.0 if table.decimals is None else 10.0**-table.decimals
        return float(max(nearest, least))

    def p_table_of(self, frequency: bool) -> PTable:
        """The perturbation table, or the usual one: counts without ones and twos, values with steps of a half."""
        if self.p_table is not None:
            return self.p_table
        if frequency:
            return design_p_table(deviation=5, variance=2, smallest=3)
        return design_p_table(deviation=5, variance=1, step=0.5, cells=(1, 5))


def __getattr__(name: str) -> Any:
    if name == "Settings":
        warnings.warn("Settings is deprecated: it is ComparisonOptions", DeprecationWarning, stacklevel=3)
        return ComparisonOptions
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
