"""Cell-key noise: every cell gets a deviation that depends on its records alone, so the same cell gets the same noise.

Record keys are random numbers that stay with their records. What they add up to in a cell, modulo one, is uniform
between 0 and 1 and looks the deviation up in a perturbation table. Whoever asks twice, in another table or with the
categories in another order, gets the same answer: averaging helps nobody.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diskret.cellkey import _key_kernels as kernels
from diskret.cellkey.options import Scaling
from diskret.cellkey.p_table import ALL, PTable
from diskret.model import rollup
from diskret.model.arrays import Bools, Floats
from diskret.model.errors import BadOption
from diskret.model.framed import Frame, Framed
from diskret.model.status import Status
from diskret.model.table import Table

DECIMALS = 15
NEVER = -1.0
ALTERED = "values changed for confidentiality (cell-key noise)"


@dataclass(frozen=True, eq=False, kw_only=True)
class KeyedNoise(Framed):
    """A table with cell-key noise. ``table`` is fit for publication; ``deviation`` and ``original`` are secret."""

    table: Table
    original: Table = field(repr=False)
    p_table: PTable = field(repr=False)

    @property
    def deviation(self) -> Floats:
        """Published minus original, cell by cell."""
        return self.table.value - self.original.value

    def summary(self) -> dict[str, Any]:
        """How much was changed, over occupied cells; shares and means only."""
        occupied = ~self.original.empty
        size = np.abs(self.deviation[occupied])
        parts = self.original.value[occupied]
        relative = size / np.where(parts == 0, 1.0, np.abs(parts))
        some = bool(occupied.any())
        return {
            "cells": self.table.size,
            "occupied": int(occupied.sum()),
            "changed": int((size > 0).sum()),
            "mean absolute deviation": float(size.mean()) if some else 0.0,
            "mean relative deviation": float(relative.mean()) if some else 0.0,
            "sums that are not the sum of their parts": int((_additivity_gap(self.table) != 0).sum()),
        }

    def shown(self, *, internal: bool = False) -> Frame:
        """The table with noise in long form; with ``internal`` the original beside it."""
        return (
            {**self.original.shown(internal=True), "changed": self.table.value.reshape(-1)}
            if internal
            else (self.table.shown())
        )

    def _repr_html_(self) -> str:
        from diskret.model.notebook import as_html, table_html

        return as_html(repr(self), table_html(self.table))

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: {fact:,.4g}" if isinstance(fact, float) else f"{name}: {fact:,}"
            for name, fact in self.summary().items()
        )


def draw_keys(records: int, seed: int) -> Floats:
    """Record keys: fractions from 0 up to 1 with 15 decimals. Draw them once, keep them with the records, and secret.

    >>> draw_keys(2, seed=1).tolist()
    [0.511821624700256, 0.950463696325935]
    """
    units = np.random.Generator(np.random.PCG64(seed)).integers(0, 10**DECIMALS, records)
    return units / 10.0**DECIMALS


def perturb_by_key(
    table: Table, p_table: PTable, *, scaling: Scaling | None = None, small_values: PTable | None = None
) -> KeyedNoise:
    """Add to every cell the noise that its key looks up; the table must have been tabulated with ``key``.

    Counts get the deviation of their row. Magnitudes get, for each of the largest contributions, its share (see
    `Scaling`) times a deviation, with keys of their own, so that the noise of a count does not tell that of a sum;
    ``small_values`` is the table for cells below the separation point. Empty cells stay empty, nothing positive becomes
    negative, and sums are perturbed like all other cells: they are not the sums of their perturbed parts.

    >>> from diskret import Roles, design_p_table, tabulate
    >>> people = {"sex": ["m", "w", "w", "m", "w"], "rkey": [0.11, 0.92, 0.4, 0.73, 0.5]}
    >>> counts = tabulate(people, by={"sex": None}, roles=Roles(key="rkey"))
    >>> counts.key.round(2).tolist()
    [0.84, 0.82, 0.66]
    >>> noise = perturb_by_key(counts, design_p_table(deviation=2, variance=1))
    >>> counts.value.tolist(), noise.table.value.tolist()
    ([2.0, 3.0, 5.0], [3.0, 4.0, 5.0])
    """
    if table.altered:
        raise BadOption("the values of the table have been changed already", hint="perturb the original table, once.")
    if table.key is None:
        raise BadOption("the table has no cell keys", hint="tabulate with key=...: the column of record keys.")
    if table.frequency:
        value = table.value + _of_counts(table, p_table)
    else:
        if scaling is None:
            raise BadOption(
                "the table holds values, not counts",
                hint="give scaling=Scaling(...): how far the noise reaches.",
            )
        value = table.value + _of_magnitudes(table, p_table, scaling, small_values)
        if table.decimals is not None:
            value = np.round(value, table.decimals)
    if table.positive:
        value = np.maximum(value, 0.0)
    return KeyedNoise(table=_published(table, value), original=table, p_table=p_table)


def _published(table: Table, value: Floats) -> Table:
    """A table with other values and nothing else that could give the original ones away."""
    return Table(
        table.by, table.response, value, np.full(table.shape, Status.OPEN, dtype=np.uint8),
        decimals=table.decimals, frequency=table.frequency, positive=table.positive, weighted=table.weighted,
        altered=ALTERED,
    ).sealed()  # fmt: skip


def _additivity_gap(table: Table) -> Floats:
    """How far the cells are from the sums of the finest cells below them; zero in the finest cells."""
    whole = np.where(rollup.inner_cells(table.hierarchies), table.value, 0.0)
    rollup.add_up(whole, table.hierarchies)
    gap = table.value - whole
    return np.where(np.abs(gap) <= 1e-9 * np.maximum(np.abs(whole), 1.0), 0.0, gap)


def _of_counts(table: Table, p_table: PTable) -> Floats:
    if not p_table.counts:
        raise BadOption(
            "the perturbation table is not one for counts",
            hint="it needs whole deviations and a row for each of 0, 1, 2, ..., without types.",
        )
    assert table.key is not None
    count = table.count if table.respondents is not None else np.rint(table.value).astype(np.int64)
    rows = p_table.rows()
    found = np.empty(table.size)
    kernels.deviations_of_counts(
        count.reshape(-1), table.key.reshape(-1), rows.start, rows.upper, rows.deviation, found
    )
    deviation = found.reshape(table.shape)
    if table.weighted:
        # a unit of the sample stands for the mean weight of its cell
        deviation = deviation * np.divide(table.value, count, out=np.zeros(table.shape), where=count > 0)
    return deviation


def _of_magnitudes(table: Table, p_table: PTable, scaling: Scaling, small_values: PTable | None) -> Floats:
    assert table.key is not None
    if table.largest is None or table.respondents is None:
        raise BadOption("the table has no largest contributions", hint="tabulate with largest=3.")
    if p_table.rows(p_table.kinds[0]).cell.size < 2:
        raise BadOption("the perturbation table has no row other than that of 0", hint="design one: design_p_table.")
    below = p_table if small_values is None else small_values
    small = below.rows(ALL if ALL in below.kinds else below.kinds[0])
    shares = scaling.shares(NEVER if small_values is None else _separation(scaling, p_table, small_values))
    cells = kernels.Contributions(
        value=table.value.reshape(-1),
        largest=np.ascontiguousarray(table.largest.reshape(table.size, -1)),
        key=table.key.reshape(-1),
        chosen=np.ones(table.size, dtype=np.bool_),
        sensitive=(table.status == Status.PRIMARY).reshape(-1),
    )
    found = np.zeros(table.size)
    for kind in p_table.kinds:
        of_kind = cells._replace(chosen=_chosen(table, kind))
        kernels.noise_of_magnitudes(of_kind, shares, p_table.rows(kind), small, found)
    return found.reshape(table.shape)


def _chosen(table: Table, kind: str) -> Bools:
    """The cells a kind of rows is for."""
    if kind == ALL:
        return np.ones(table.size, dtype=np.bool_)
    if kind not in ("even", "odd"):
        raise BadOption(
            f"the perturbation table has rows of the type {kind!r}",
            hint="types are all, or even and odd; give rows of small values as a table of their own: small_values.",
        )
    parity: Bools = table.count.reshape(-1) % 2 == (0 if kind == "even" else 1)
    return parity


def _separation(scaling: Scaling, p_table: PTable, small_values: PTable) -> float:
    """Where a share of the contributions is as noisy as a small value."""
    if scaling.separation is not None:
        return scaling.separation
    spread = float(np.sqrt(p_table.rows(p_table.kinds[0]).variance[-1]))
    fixed = float(np.sqrt(small_values.rows(small_values.kinds[0]).variance[-1]))
    return fixed / (scaling.small * float(np.sqrt(np.sum(np.square(scaling.weights)))) * spread)
