"""One table under attack: its equations, what is known, what must be kept, and the witnesses so far."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from diskret.auditing.proof import proof_of
from diskret.auditing.report import Exposure
from diskret.model.arrays import Floats, Ints
from diskret.model.equations import Equations
from diskret.model.table import Table
from diskret.model.tolerances import SOLVER
from diskret.moves.demands import Demands
from diskret.moves.insiders import Insiders
from diskret.moves.pattern import Pattern

MOST_PROOFS = 200
"""Beyond this many exposed cells a proof each would only take time: the pattern is no good."""


@dataclass(eq=False, kw_only=True)
class Case:
    """Everything an attack looks at; columns are the hidden cells, targets the primary ones among them."""

    table: Table
    system: Equations
    up: Floats
    down: Floats
    demands: Demands
    columns: Ints
    """Where the primary cells stand among the hidden ones."""
    insiders: Insiders
    witnesses: Pattern
    undecided: set[int] = field(default_factory=set)
    """Targets a solver gave up on."""
    exposed: list[Exposure] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    """Targets that are exposed to everybody."""
    programmes: int = 0

    def name(self, column: int) -> str:
        """A hidden cell in words."""
        return self.table.name_of(int(self.system.cells[column]))

    def interval(self, column: int, rise: float, fall: float) -> tuple[float, float]:
        """What a cell can be."""
        value = float(self.table.value.reshape(-1)[self.system.cells[column]])
        return (value, value) if self.is_exact(column, rise, fall) else (value - fall, value + rise)

    def is_exact(self, column: int, rise: float, fall: float) -> bool:
        """Whether nothing but the value itself is left."""
        size = abs(float(self.table.value.reshape(-1)[self.system.cells[column]]))
        return bool(rise + fall <= SOLVER * max(1.0, size))

    def expose(self, target: int, rise: float, fall: float, up: Floats, down: Floats, by: str = "") -> None:
        """Note down an exposed target, with the lines that give it away."""
        column = int(self.columns[target])
        cell = int(self.system.cells[column])
        exact = self.is_exact(column, rise, fall)
        # the side that is too short is what has to be explained
        upward = rise - self.demands.up[target] <= fall - self.demands.down[target]
        proof = None
        if len(self.exposed) < MOST_PROOFS:
            proof = proof_of(self.system, up, down, column, bool(upward), rise if upward else fall)
        index = self.table.place(cell)
        lower, upper = self.interval(column, rise, fall)
        required = float(self.demands.down[target]), float(max(self.demands.up[target], self.demands.length[target]))
        words = "" if proof is None else proof.text(self.table, self.system)
        self.exposed.append(
            Exposure(
                cell=self.name(column), index=index, lower=lower, upper=upper, exact=exact, by=by, proof=words,
                required=required,
            )
        )  # fmt: skip

    def give_up(self) -> None:
        """Look for no moves of targets that are exposed to everybody, or undecided."""
        gone = self.demands.cells[sorted(self.lost | self.undecided)]
        mine = np.isin(self.witnesses.cover.ways.cell, gone)
        self.witnesses.hopeless |= dict.fromkeys(np.flatnonzero(mine).tolist())

    def keeps(self, target: int, rise: float, fall: float) -> bool:
        """Whether a target keeps what it needs, given how far it moves."""
        return bool(self.demands.some(np.array([target])).kept(np.array([rise]), np.array([fall]))[0])
