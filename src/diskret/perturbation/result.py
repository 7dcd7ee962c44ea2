"""What a perturbation gives back: the changed table, fit for publication, and what was done, which is not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.perturbation.demands import finest_cells
from diskret.perturbation.given_moves import GivenMoves
from diskret.perturbation.moves import CuboidMoves


@dataclass(frozen=True, eq=False)
class Perturbation:
    """A table whose values were changed. ``table`` may leave the house; everything else is confidential.

    ``table`` holds no original value, status, rule or contribution, only the changed values (and contributor counts).
    """

    table: Table
    before: Table = field(repr=False)
    method: str
    seed: int | None = field(repr=False)
    """Confidential: with it and the original table the run can be repeated."""
    options: dict[str, Any] = field(repr=False)
    """What the run was told. Confidential, like the parameters of rules."""
    moves: CuboidMoves | GivenMoves | None = field(default=None, repr=False)
    told: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    """Primary cells (flat) whose error a single contributor elsewhere can compute."""
    beyond: Ints = field(default_factory=lambda: np.empty(0, dtype=np.int64), repr=False)
    """With rounding: cells (flat) that are a whole base or more away from their value."""

    @property
    def change(self) -> Floats:
        """Changed value minus value, per cell. Confidential."""
        change: Floats = self.table.value - self.before.value
        if self.before.decimals is not None:
            return np.round(change, self.before.decimals)
        return change

    def explain(self, *codes: str) -> str:
        """In words what happened to a cell: which moves changed it together with which others. No values.

        >>> from diskret import perturb
        >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "open", "open"]}
        >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
        >>> print(perturb(table, seed=1).explain("a"))
        (a): primary, changed
          moved together with (c)
        """
        at = self.before.index(*codes)
        cell = int(np.ravel_multi_index(at, self.before.shape))
        changed = "changed" if self.change[at] != 0 else "not changed"
        lines = [f"{self._name(cell)}: {Status(int(self.before.status[at])).text}, {changed}"]
        rules = self.before.rules_of(at)
        lines += [f"  caught by {', '.join(rules)}"] if rules else []
        if self.moves is not None:
            hierarchies = () if isinstance(self.moves, GivenMoves) else self.before.hierarchies
            for k in self.moves.using(cell, hierarchies).tolist():
                others, _ = self.moves.cells(k, hierarchies)
                lines.append(f"  moved together with {', '.join(self._name(int(c)) for c in others if c != cell)}")
        if cell in self.told:
            lines.append("  a single contributor of another cell can compute the error")
        if cell in self.beyond:
            lines.append("  a whole base or more away from its value")
        return "\n".join(lines)

    def _name(self, cell: int) -> str:
        at = self.before.place(cell)
        return "(" + "; ".join(self.before.codes(at)) + ")"

    def summary(self) -> dict[str, Any]:
        """Counts only: fit to be printed or logged."""
        changed = self.change != 0
        finest = finest_cells(self.before).reshape(self.before.shape)
        primary = self.before.status == Status.PRIMARY
        counts = {
            "method": self.method,
            "cells": self.before.size,
            "primary": int(primary.sum()),
            "primary changed": int((primary & changed).sum()),
            "changed": int(changed.sum()),
            "sums changed": int((changed & ~finest).sum()),
        }
        if self.moves is not None:
            counts |= {"moves": len(self.moves), "told by single contributors": int(self.told.size)}
            if isinstance(self.moves, CuboidMoves):
                counts["moves through a total"] = int((~self.moves.inside).sum())
        if "base" in self.options:
            counts["a base or more away"] = int(self.beyond.size)
        return counts

    def __repr__(self) -> str:
        s = self.summary()
        return f"Perturbation(by {self.method}: {s['changed']} of {s['cells']} cells changed, {s['primary']} primary)"
