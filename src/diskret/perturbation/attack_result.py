"""What an attack on a changed table found out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.notebook import Told
from diskret.perturbation.changed_table import Perturbation

CLOSE = 1e-9
"""Numbers nearer to each other than this are one."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class PerturbationAttack(Told):
    """What an attacker who knows the method finds out about some cells. Confidential, except for `summary`."""

    result: Perturbation
    cells: Ints
    """The cells that were attacked (flat)."""
    of: int
    """How many there were to attack."""
    lower: Floats
    upper: Floats
    """Between these the true value of each attacked cell remains possible."""
    alone: Floats
    """Length of the interval that the cell's own published value leaves."""
    one_sided: Bools
    """Whether it is clear that the published value is too high, or too low."""
    too_close: Bools
    """Whether the interval does not reach as far as the rule demands."""
    told: Ints
    """Primary cells (of all, flat) whose error a single contributor elsewhere computes."""
    jointly: bool
    """Whether a solver looked at everything at once; otherwise the attack may be weaker than a real one."""

    @property
    def exact(self) -> Bools:
        """Attacked cells of which only one value is possible."""
        return np.asarray(self.upper - self.lower < CLOSE)

    def __str__(self) -> str:
        return self.report()

    def summary(self) -> dict[str, Any]:
        """Counts only."""
        return {
            "method": self.result.method,
            "attacked": int(self.cells.size),
            "of": self.of,
            "found exactly": int(self.exact.sum()),
            "closer than demanded": int(self.too_close.sum()),
            "direction known": int(self.one_sided.sum()),
            "narrower than its own value says": int((self.upper - self.lower < self.alone - CLOSE).sum()),
            "told by single contributors": int(self.told.size),
            "solved jointly": self.jointly,
        }

    def report(self) -> str:
        """In words, with the names of the cells that are found out; no values."""
        s = self.summary()
        lines = [f"{s['attacked']} of {s['of']} cells attacked, {s['method']} and all its options known"]
        for what, chosen in (
            ("only one value is possible", self.exact),
            ("the interval is shorter than the rule demands", self.too_close & ~self.exact),
            ("it is clear which way the value was changed", self.one_sided & ~self.exact & ~self.too_close),
        ):
            if chosen.any():
                names = [self.result.before.name_of(int(c)) for c in self.cells[chosen][:10]]
                lines.append(f"{int(chosen.sum())} cells: {what}: {'; '.join(names)}")
        if self.told.size:
            names = [self.result.before.name_of(int(c)) for c in self.told[:10]]
            lines.append(
                f"{self.told.size} cells: a single contributor elsewhere computes the error: {'; '.join(names)}"
            )
        if len(lines) == 1:
            lines.append("nothing is found out")
        if not self.jointly:
            lines.append("looked at line by line, not with a solver: a real attack may find more")
        return "\n".join(lines)
