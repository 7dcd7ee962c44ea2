"""Cuts that a point breaks: the attackers' programmes with every room scaled by how far a cell is hidden.

A cell never needs to give more than the target needs, so rooms are cut off there and measured in needs: the programme
is then as sharp as the cut it leads to. What it finds is only a proposal; whether a cut is broken is looked at in the
cut itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.suppression.optimum.attackers import DOWN, RANGE, SIGN, UP, Attackers, Cut
from diskret.suppression.optimum.witnesses import Witnesses

BROKEN = 1e-4
ENOUGH = 60
"""With so many cuts found, the remaining insiders wait for the next point."""
CORE = 1e-3
"""Every cell counts as hidden at least this far: among equally good cuts the one that is good elsewhere is found."""


def broken(
    attackers: Attackers, witnesses: Witnesses, x: Floats, near: Bools, late: Callable[[], bool], who: Sequence[int]
) -> list[Cut]:
    """Capacity cuts broken at a point, at most one for each attacker, target and side; outsiders first."""
    found: list[Cut] = []
    inner = np.where(attackers.always, 1.0, np.maximum(x, CORE * near))
    alive = witnesses.alive(x > 1 - 1e-9)
    for attacker in who:
        if attacker and x[attackers.knows[attacker]].max(initial=0.0) < BROKEN:
            continue
        asked = attackers.demands.asked[attacker] & ~attackers.demands.met(*witnesses.reach(alive, attacker))
        for kinds in ((UP, DOWN), (RANGE,)):
            found += _of(attackers, attacker, asked, kinds, x, inner, late)
        if attacker and len(found) > ENOUGH:
            break
    return found


def _of(
    attackers: Attackers,
    attacker: int,
    asked: Bools,
    kinds: tuple[int, ...],
    x: Floats,
    inner: Floats,
    late: Callable[[], bool],
) -> Iterator[Cut]:
    """Largest needs first: what moves a cell far enough then does so for every smaller need as well."""
    demands = attackers.demands
    columns = demands.columns
    waiting = np.zeros((3, columns.size), dtype=np.bool_)
    for kind in kinds:
        waiting[kind] = asked & (demands.need[kind] > 0)
    kind_of, target_of = np.nonzero(waiting)
    order = np.argsort(-demands.need[kind_of, target_of], kind="stable")
    spread = attackers.up + attackers.down
    for kind, target in zip(kind_of[order].tolist(), target_of[order].tolist(), strict=True):
        if not waiting[kind, target]:
            continue
        if late():
            return
        need = float(demands.need[kind, target])
        rise, fall = (spread, spread) if kind == RANGE else (attackers.up, attackers.down)
        low, high = -np.minimum(fall / need, 1.0) * inner, np.minimum(rise / need, 1.0) * inner
        low[attackers.knows[attacker]] = high[attackers.knows[attacker]] = 0.0
        attackers.within(low, high)
        pushed = attackers.push(int(columns[target]), SIGN[kind])
        if pushed is None:
            continue
        y, combination = pushed
        far = y[columns] * (1 + 1e-7)
        if kind == RANGE:
            waiting[RANGE] &= np.abs(far) < 1.0
        else:
            waiting[UP] &= far < 1.0
            waiting[DOWN] &= far > -1.0
        if waiting[kind, target]:
            cut = attackers.cut(target, kind, combination, attacker)
            if cut is not None and cut.missing(x) > BROKEN:
                yield cut


def lonely(attackers: Attackers, x: Floats) -> list[Cut]:
    """Equations in which a secondary would be hidden alone: it would be known, so an optimal pattern has no such cell.

    ``sum of the others >= x_i``, for the cells and equations where the point breaks it.
    """
    system = attackers.system
    row = system.row_of()
    together = np.bincount(row, weights=x[system.columns], minlength=system.rows)
    alone = 2 * x[system.columns] - together[row]
    (entries,) = np.nonzero((alone > 0.01) & ~attackers.always[system.columns])
    return [_company(system.columns[system.start[r] : system.start[r + 1]], int(system.columns[e]))
            for e, r in zip(entries.tolist(), row[entries].tolist(), strict=True)]  # fmt: skip


def _company(members: Ints, cell: int) -> Cut:
    return Cut(members, np.where(members == cell, -1.0, 1.0), 0.0)
