"""Closing what the audit finds: further suppressions along a protecting move, the cheapest a linear programme finds.

A protecting move of an exposed cell changes it by as much as its protection demands and leaves every published equation
true. The cheapest one is looked for near the cell, among its brothers in every classification; only if there is none
the neighbourhood grows. The cells of the move that are still open become secondary.
"""

from __future__ import annotations

from dataclasses import replace

import highspy
import numpy as np
import numpy.typing as npt

from diskret.auditing.audit import AuditReport, Exposure, audit
from diskret.model.equations import Equations, equations_of
from diskret.model.hierarchy import Hierarchy
from diskret.model.protection import Knowledge, Protection
from diskret.model.status import Status
from diskret.model.table import Table

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
MOST_ROUNDS = 20
FREE = 1e30


def repair(
    table: Table, usable: Bools, cost: Floats, protection: Protection, knowledge: Knowledge
) -> tuple[Table, AuditReport, tuple[str, ...]]:
    """Suppress further until the audit finds nothing; returns the table, the last audit, and what cannot be protected.

    ``usable`` says which open cells may be suppressed, ``cost`` what each costs (flat arrays).
    """
    up, down = knowledge.room(table)
    hopeless: dict[str, None] = {}
    report = audit(table, protection=protection, knowledge=knowledge)
    for _ in range(MOST_ROUNDS):
        open_cases = [e for e in report.exposed if e.cell not in hopeless]
        if not open_cases:
            break
        status = table.status.reshape(-1).copy()
        for exposure in open_cases:
            more = _closing(table, exposure, status, usable, cost, up, down, protection)
            if more is None:
                hopeless[exposure.cell] = None
            else:
                status[more] = Status.SECONDARY
        table = replace(table, status=status.reshape(table.shape))
        report = audit(table, protection=protection, knowledge=knowledge)
    return table, report, tuple(hopeless)


def _closing(
    table: Table, exposure: Exposure, status: npt.NDArray[np.uint8], usable: Bools, cost: Floats, up: Floats,
    down: Floats, protection: Protection,
) -> Ints | None:  # fmt: skip
    """Open cells to suppress for one exposed cell; None if no move anywhere protects it."""
    cell = int(np.ravel_multi_index(exposure.index, table.shape))
    need, below, above = (float(a[cell]) for a in protection.needs(table))
    least = 1e-3 * max(1.0, abs(float(table.value.reshape(-1)[cell])))
    hidden = (status == Status.PRIMARY) | (status == Status.SECONDARY)
    wanted = [(True, above), (False, below)] if above or below else [(True, max(need * (1 + 1e-9), least))]
    found: list[Ints] = []
    for upward, amount in wanted:
        if amount <= 0:
            continue
        step = _cheapest(table, cell, amount, upward, hidden, usable, cost, up, down)
        if step is None and not (above or below):
            step = _cheapest(table, cell, amount, False, hidden, usable, cost, up, down)
        if step is None:
            return None
        found.append(step)
        hidden = hidden.copy()
        hidden[step] = True
    new = np.unique(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)
    still_open: Ints = new[(status[new] != Status.PRIMARY) & (status[new] != Status.SECONDARY)]
    return still_open


def _cheapest(
    table: Table, cell: int, amount: float, upward: bool, hidden: Bools, usable: Bools, cost: Floats, up: Floats,
    down: Floats,
) -> Ints | None:  # fmt: skip
    """Cells of the cheapest move of one cell by an amount, in the smallest neighbourhood that has one."""
    if amount > (up if upward else down)[cell]:
        return None
    movable = hidden | usable
    for near in neighbourhoods(table, cell):
        mask = np.zeros(table.shape, dtype=np.bool_)
        mask[np.ix_(*near)] = True
        mask &= movable.reshape(table.shape)
        system = equations_of(table, mask)
        price = np.where(hidden[system.cells], 0.0, cost[system.cells])
        step = _solve(system, cell, amount, upward, price, up[system.cells], down[system.cells])
        if step is not None:
            return step
    return None


def neighbourhoods(table: Table, cell: int) -> list[list[Ints]]:
    """Growing products of codes around a cell: per classification everything below its parent, then one level more."""
    at = [int(i) for i in np.unravel_index(cell, table.shape)]
    chains = []
    for i, hierarchy in zip(at, table.hierarchies, strict=True):
        chain = [hierarchy.parents[i]] if hierarchy.parents[i] >= 0 else []
        while chain and hierarchy.parents[chain[-1]] >= 0:
            chain.append(hierarchy.parents[chain[-1]])
        chains.append([*chain, -1])
    steps = max(len(c) for c in chains)
    result = []
    for step in range(steps):
        tops = [chain[min(step, len(chain) - 1)] for chain in chains]
        result.append([_below(h, top) for h, top in zip(table.hierarchies, tops, strict=True)])
    return result


def _below(hierarchy: Hierarchy, top: int) -> Ints:
    """Codes strictly below a code; all codes for -1."""
    parents = hierarchy.parent_index
    if top < 0:
        return np.arange(parents.size)
    inside = np.zeros(parents.size, dtype=np.bool_)
    inside[top] = True
    for i in range(top - 1, -1, -1):
        inside[i] = inside[parents[i]]
    inside[top] = False
    return np.flatnonzero(inside)


def _solve(
    system: Equations, cell: int, amount: float, upward: bool, price: Floats, up: Floats, down: Floats
) -> Ints | None:
    """The cells that move in the cheapest move, or None if there is none."""
    n = system.cells.size
    (at,) = np.flatnonzero(system.cells == cell)
    # what a cell must give relative to what it can: a price per unit that favours few cells
    room = np.minimum(np.minimum(up, down) + 1e-9, amount)
    weight = np.where(price > 0, price / np.maximum(room, 1e-9 * amount), 1e-7)
    weight /= weight.max()
    start, row, value = system.by_column()
    rise, fall = np.minimum(up, FREE), np.minimum(down, FREE)
    low_rise, low_fall = np.zeros(n), np.zeros(n)
    rise[at], fall[at] = (amount, 0.0) if upward else (0.0, amount)
    low_rise[at], low_fall[at] = rise[at], fall[at]
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = 2 * n, system.rows
    lp.col_cost_ = np.concatenate([weight, weight])
    lp.col_lower_, lp.col_upper_ = np.concatenate([low_rise, low_fall]), np.concatenate([rise, fall])
    lp.row_lower_ = lp.row_upper_ = np.zeros(system.rows)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.concatenate([start, start[-1] + start[1:]]).astype(np.int32)
    lp.a_matrix_.index_ = np.concatenate([row, row]).astype(np.int32)
    lp.a_matrix_.value_ = np.concatenate([value, -value])
    model = highspy.Highs()
    model.setOptionValue("output_flag", False)
    model.setOptionValue("threads", 1)
    model.passModel(lp)
    model.run()
    if model.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    found = np.array(model.getSolution().col_value)
    moved: Ints = system.cells[np.abs(found[:n] - found[n:]) > 1e-9 * max(1.0, amount)]
    return moved
