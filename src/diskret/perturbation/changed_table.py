"""What a perturbation gives back: the changed table, fit for publication, and what was done, which is not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.framed import Frame, Framed
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.move import MoveSet
from diskret.perturbation.leeway import NOTHING, finest_cells


@dataclass(frozen=True, eq=False, kw_only=True)
class Perturbation(Framed):
    """A table whose values were changed. ``table`` may leave the office; everything else is confidential.

    ``table`` holds no original value, status, rule or contribution, only the changed values (and contributor counts).
    """

    table: Table
    before: Table = field(repr=False)
    method: str
    seed: int | None = field(repr=False)
    """Confidential: with it and the original table the run can be repeated."""
    options: dict[str, Any] = field(repr=False)
    """What the run was told. Confidential, like the parameters of rules."""
    moves: MoveSet | None = field(default=None, repr=False)
    """Those searched for a primary cell protect it; those given by a suppression may serve any. Whole coefficients."""
    step: Ints = field(default_factory=lambda: NOTHING, repr=False)
    """The error of every move, in units of the last decimal. Confidential: whoever has it undoes the perturbation."""
    told: Ints = field(default_factory=lambda: NOTHING, repr=False)
    """Primary cells (flat) whose error a single contributor elsewhere can compute."""
    beyond: Ints = field(default_factory=lambda: NOTHING, repr=False)
    """With rounding: cells (flat) that are a whole base or more away from their value."""

    @property
    def change(self) -> Floats:
        """Changed value minus value, per cell. Confidential."""
        change: Floats = self.table.value - self.before.value
        if self.before.decimals is not None:
            return np.round(change, self.before.decimals)
        return change

    @property
    def taken(self) -> Bools:
        """Moves that were made for a primary cell, or given and used."""
        assert self.moves is not None
        return np.asarray((np.diff(self.moves.first_protected) > 0) | (self.step != 0))

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
            for k in self.moves.using(cell):
                others = self.moves[k].cells if self.taken[k] else ()
                if len(others):
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
            if not self.options["along"]:
                counts["moves through a total"] = _through_totals(self.moves, self.before.shape)
        if "base" in self.options:
            counts["a base or more away"] = int(self.beyond.size)
        return counts

    def shown(self, *, internal: bool = False) -> Frame:
        """The changed table in long form; with ``internal`` what it was made of beside it."""
        return (
            {**self.before.shown(internal=True), "changed": self.table.value.reshape(-1)}
            if internal
            else (self.table.shown())
        )

    def _repr_html_(self) -> str:
        from diskret.model.notebook import as_html, table_html

        return as_html(repr(self), table_html(self.table))

    def __repr__(self) -> str:
        s = self.summary()
        return f"Perturbation(by {self.method}: {s['changed']} of {s['cells']} cells changed, {s['primary']} primary)"


def _through_totals(moves: MoveSet, shape: tuple[int, ...]) -> int:
    """How many moves change the total of a classification."""
    total = np.zeros(moves.cells.size, dtype=np.bool_)
    for axis, size in enumerate(shape):
        total |= moves.cells // int(np.prod(shape[axis + 1 :])) % size == size - 1
    return int(np.unique(moves.number()[total]).size)


def cleared(table: Table, value: Floats, count: Ints | None, altered: str) -> Table:
    """A table with other values, without anything that was concluded from the old ones."""
    parts = {
        name: cleared(each, value[cells].reshape(each.shape), None, altered)
        for name, (each, cells) in table.linked.items()
    }
    table = table.with_tables(parts)
    people = None
    if table.respondents is not None and not table.frequency:
        people = Contributors(table.respondents.count if count is None else count)
    status = np.where(table.hidden | (table.status == Status.ZERO), np.uint8(Status.OPEN), table.status)
    return replace(
        table, value=value + 0.0, status=status, respondents=people, rules=(), altered=altered, holdings=None,
        rule=None, below=None, above=None, lower=None, upper=None, weight=None, creator=None, key=None, given=None,
        judges=(),
    ).sealed()  # fmt: skip
