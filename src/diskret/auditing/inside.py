"""The attack of insiders: everybody who knows more than the public tries to find out the others.

What one of them computes exactly follows from the null space of the equations, without any solver. For the rest moves
are looked for that he cannot object to; only where there is none, a linear programme with his knowledge decides.
"""

from __future__ import annotations

import numpy as np

from diskret.auditing.case import Case
from diskret.auditing.elimination import proportional
from diskret.model.arrays import Ints
from diskret.model.grid import ENDLESS, Whole, whole
from diskret.moves.move import NO_INSIDERS, Move, MoveSet
from diskret.moves.persons import holds
from diskret.moves.witnesses import search

AT_ONCE = 1_000
"""Demands for which sums of moves are made before they are judged together."""


def attack_from_inside(case: Case) -> None:
    """Let every insider loose on every primary cell that the public cannot find out."""
    pattern, ways = case.witnesses, case.witnesses.cover.ways
    case.give_up()
    target_of = {int(c): k for k, c in enumerate(case.demands.cells.tolist())}
    gone = case.lost | case.undecided
    left = np.flatnonzero(~pattern.cover.standing().entirely)
    waiting = [
        d for d, cell in zip(left.tolist(), ways.cell[left].tolist(), strict=True) if target_of[cell] not in gone
    ]
    if not waiting:
        return
    exactly = _exactly(case)
    for cell, people in sorted(exactly.items()):
        for who in sorted(people):
            rooms = _with_knowledge(case, who)
            case.expose(target_of[cell], case.fixed(target_of[cell], rooms), rooms, who, exactly=True)
    for demand in waiting:
        surely = exactly.get(int(ways.cell[demand]))
        if surely:
            pattern.hopeless[demand] = surely
    certain = _add_sums(case, waiting) if "basis" in case.__dict__ else frozenset()
    search(pattern)
    suspects: dict[int, dict[int, None]] = {}
    for demand in waiting:
        cell = int(ways.cell[demand])
        doubtful = _doubtful(case, demand, cell) - exactly.get(cell, NO_INSIDERS)
        suspects.setdefault(target_of[cell], {}).update(dict.fromkeys(sorted(doubtful)))
    _judge(case, {target: list(people) for target, people in suspects.items()}, certain)


def _add_sums(case: Case, waiting: list[int]) -> frozenset[tuple[int, int]]:
    """Sums of the basis that leave alone what an insider knows; where there is none, he computes the cell exactly.

    Returns cells with insiders who do.
    """
    pattern, cover, certain = case.witnesses, case.witnesses.cover, set()
    for first in range(0, len(waiting), AT_ONCE):
        own, found = [], []
        for demand in waiting[first : first + AT_ONCE]:
            cell = int(cover.ways.cell[demand])
            for who in sorted(set(cover.left(demand)) - (pattern.hopeless.get(demand) or NO_INSIDERS)):
                move = _sum_without(case, cell, who)
                if move is None:
                    certain.add((cell, who))
                    pattern.hopeless[demand] = (pattern.hopeless.get(demand) or NO_INSIDERS) | {who}
                elif move.cells.size:
                    own.append(demand)
                    found.append(move)
        cover.take(MoveSet.of(found), np.array(own, dtype=np.int64), alone=True)
    return frozenset(certain)


def _sum_without(case: Case, cell: int, who: int) -> Move | None:
    """A move of a cell that leaves alone what an insider knows; None if there is none, empty if nothing can be said."""
    column, known = int(np.searchsorted(case.system.cells, cell)), _columns_known(case, who)
    if not case.basis.whole[np.append(known, column)].all():
        return Move(cells=known[:0], coefficients=np.empty(0))
    found = case.basis.apart(column, known)
    return None if found is None else Move(cells=found[0], coefficients=found[1])


def _columns_known(case: Case, who: int) -> Ints:
    """Unknowns that an insider knows exactly."""
    cells, up, down = case.insiders.cells_of(who)
    cells = cells[up + down == 0]
    at = np.minimum(np.searchsorted(case.system.cells, cells), case.system.cells.size - 1)
    found: Ints = at[case.system.cells[at] == cells]
    return found


def _doubtful(case: Case, demand: int, cell: int) -> frozenset[int]:
    """Insiders against whom no move settles a demand.

    What no single move shows, but programmes did for the public, says nothing about any insider.
    """
    state = case.witnesses.cover.state(demand)
    return state.against if state.settled else _strangers(case, cell)


def _strangers(case: Case, cell: int) -> frozenset[int]:
    """All insiders who have no share in a cell and do not know it already."""
    everybody = np.arange(case.insiders.number)
    own = case.insiders.contribute(everybody, np.array([cell]), case.table.shape)[0]
    _, known = case.insiders.entries(np.array([cell]))
    return frozenset(everybody[~own].tolist()) - frozenset(case.insiders.who[known].tolist())


def _exactly(case: Case) -> dict[int, frozenset[int]]:
    """For every cell those insiders who compute it exactly from one cell they know."""
    at, entry = case.insiders.entries(case.system.cells)
    knows = case.insiders.up[entry] + case.insiders.down[entry] == 0
    at, who = at[knows], case.insiders.who[entry[knows]]
    holder, other = proportional(case.system, np.unique(at), case.kinds).T
    primary = np.zeros(case.system.cells.size, dtype=np.bool_)
    primary[case.columns] = True
    holder, other = holder[primary[other]], other[primary[other]]
    # everybody who knows the first one, with the second
    first = np.searchsorted(at, holder)
    number = np.searchsorted(at, holder, side="right") - first
    entries = np.repeat(first - (np.cumsum(number) - number), number) + np.arange(int(number.sum()))
    cells, people = case.system.cells[np.repeat(other, number)], who[entries]
    inside = case.insiders.contribute_to(people, cells, case.table.shape)
    # nor does a coalition find out what it was said to know
    mine = holds(np.unique(who * case.table.size + case.system.cells[at]), people * case.table.size + cells)
    found: dict[int, set[int]] = {}
    for cell, person in zip(cells[~inside & ~mine].tolist(), people[~inside & ~mine].tolist(), strict=True):
        found.setdefault(cell, set()).add(person)
    return {cell: frozenset(some) for cell, some in found.items()}


def _judge(case: Case, suspects: dict[int, list[int]], certain: frozenset[tuple[int, int]]) -> None:
    """Programmes with an insider's knowledge over the whole table, for what no move settled.

    One insider who finds a cell out is enough; the others are not asked any more. ``certain`` are cells with insiders
    who compute them from the equations alone.
    """
    for target, people in suspects.items():
        for who in people:
            rooms = _with_knowledge(case, who)
            if (int(case.demands.cells[target]), who) in certain:
                case.expose(target, case.fixed(target, rooms), rooms, who, exactly=True)
                break
            found = case.verdict(target, rooms, counts=case.table.frequency)
            if found.exposed:
                case.expose(target, found, rooms, who)
                break
            if found.safe:
                case.note(int(case.columns[target]), found.points)
            else:
                case.undecided.add(target)


def _with_knowledge(case: Case, who: int) -> tuple[Whole, Whole]:
    """What one insider thinks possible for every unknown, in whole steps."""
    cells, *known = case.insiders.cells_of(who)
    at = np.minimum(np.searchsorted(case.system.cells, cells), case.system.cells.size - 1)
    inside = case.system.cells[at] == cells
    narrowed = []
    for room, own in zip(case.rooms, known, strict=True):
        # a count known to lie within half a unit is known
        steps = whole(np.floor(own[inside]) if case.table.frequency else own[inside], case.digits)
        there = at[inside]
        changed = room.astype(object) if steps.dtype == object else room.copy()
        wider = (steps == ENDLESS) | ((changed[there] != ENDLESS) & (changed[there] < steps))
        changed[there] = np.where(wider, changed[there], steps)
        narrowed.append(changed)
    return narrowed[0], narrowed[1]
