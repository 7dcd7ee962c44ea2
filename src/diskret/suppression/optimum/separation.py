"""Cuts that a point breaks: the attackers' programmes with every room scaled by how far a cell is hidden.

A cell never needs to give more than the target needs, so rooms are cut off there and measured in needs: the programme
is then as sharp as the cut it leads to. What it finds is only a proposal; whether a cut is broken is looked at in the
cut itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from diskret.model.arrays import Bools, Floats
from diskret.model.tolerances import ROUNDING, SOLVER
from diskret.suppression.optimum.attackers import DOWN, RANGE, SIGN, UP, Attackers, Cut
from diskret.suppression.optimum.known_moves import Witnesses

BROKEN = 1e-4
"""A cut must be missed by this much to be worth a row."""
ENOUGH = 60
"""With this many cuts found, the remaining insiders wait for the next point."""
CLEARLY = 0.1
"""A target that gets no farther than this share of its need breaks its cut clearly enough."""
CORE = 1e-3
"""Every cell counts as hidden at least this far: among equally good cuts the one that is good elsewhere is found."""


def broken(witnesses: Witnesses, x: Floats, near: Bools, who: Iterable[int]) -> list[Cut]:
    """Capacity cuts broken at a point, at most one for each attacker, target and side; outsiders first."""
    found: list[Cut] = []
    attackers = witnesses.attackers
    inner = np.where(attackers.always, 1.0, np.maximum(x, CORE * near))
    alive = witnesses.alive(x > 1 - ROUNDING)
    for attacker in who:
        if attacker and x[attackers.knows[attacker]].max(initial=0.0) < BROKEN:
            continue
        asked = attackers.demands.asked[attacker] & ~attackers.demands.met(*witnesses.reach(alive, attacker))
        for kinds in ([UP, DOWN], [RANGE]):
            found += [c for c in _proposed(witnesses, attacker, asked, kinds, inner) if c.missing(x) > BROKEN]
        if attacker and len(found) > ENOUGH:
            break
    return found


def _proposed(witnesses: Witnesses, attacker: int, asked: Bools, kinds: list[int], inner: Floats) -> Iterator[Cut]:
    """Largest needs first: what moves a cell far enough then does so for every smaller need as well."""
    attackers, demands = witnesses.attackers, witnesses.attackers.demands
    waiting = np.zeros(demands.need.shape, dtype=np.bool_)
    waiting[kinds] = asked & (demands.need[kinds] > 0)
    kind_of, target_of = np.nonzero(waiting)
    order = np.argsort(-demands.need[kind_of, target_of], kind="stable")
    for kind, target in zip(kind_of[order].tolist(), target_of[order].tolist(), strict=True):
        if not waiting[kind, target]:
            continue
        if witnesses.clock.late:
            return
        _scale(attackers, attacker, kind, float(demands.need[kind, target]), inner)
        pushed = attackers.push(int(demands.columns[target]), SIGN[kind], CLEARLY)
        if pushed is None:
            continue
        far = pushed.moved[demands.columns] * (1 + SOLVER)
        waiting &= np.array([far < 1.0, far > -1.0, np.abs(far) < 1.0])
        if waiting[kind, target]:
            cut = attackers.cut(target, kind, attackers.limits(kind, pushed.follows), attacker)
            if cut is not None:
                yield cut


def _scale(attackers: Attackers, attacker: int, kind: int, need: float, inner: Floats) -> None:
    """Let cells move as far as they are hidden; the unit is what the target needs."""
    spread = attackers.up + attackers.down
    rise, fall = (spread, spread) if kind == RANGE else (attackers.up, attackers.down)
    attackers.within(-np.minimum(fall / need, 1.0) * inner, np.minimum(rise / need, 1.0) * inner, attacker)


def lonely(attackers: Attackers, x: Floats) -> list[Cut]:
    """Equations in which a secondary would be hidden alone: it would be known, so an optimal pattern has no such cell.

    ``sum of the others >= x_i``, for the cells and equations where the point breaks it.
    """
    system = attackers.system
    row = system.row_of()
    together = np.bincount(row, weights=x[system.columns], minlength=system.rows)
    alone = 2 * x[system.columns] - together[row]
    (entries,) = np.nonzero((alone > 0.01) & ~attackers.always[system.columns])
    found = []
    for cell, r in zip(system.columns[entries], row[entries], strict=True):
        members = system.columns[system.start[r] : system.start[r + 1]]
        found.append(Cut(members, np.where(members == cell, -1.0, 1.0), 0.0))
    return found
