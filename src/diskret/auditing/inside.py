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
from diskret.moves.move import NO_INSIDERS
from diskret.moves.persons import holds
from diskret.moves.witnesses import search

AT_ONCE = 5_000
"""Demands for which sums of moves are made and judged together."""


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
            rooms = _with_knowledge(case, case.rooms, who)
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
    asked = {demand: pattern.hopeless.get(demand) or NO_INSIDERS for demand in waiting}
    known, left = _known_exactly(case), waiting
    while left:
        # one insider for every demand at a time: a move without him is often one without others, too
        pairs = [(d, min(others)) for d in left if (others := set(cover.left(d)) - asked[d])]
        for demand, who in pairs:
            asked[demand] |= {who}
        for begin in range(0, len(pairs), AT_ONCE):
            fixed = _take_sums(case, np.array(pairs[begin : begin + AT_ONCE], dtype=np.int64), *known)
            for demand, who in fixed.tolist():
                certain.add((int(cover.ways.cell[demand]), who))
                pattern.hopeless[demand] = (pattern.hopeless.get(demand) or NO_INSIDERS) | {who}
        left = [demand for demand, _ in pairs]
    return frozenset(certain)


def _take_sums(case: Case, pairs: Ints, first: Ints, known: Ints) -> Ints:
    """Keep moves for demands that leave alone what an insider knows (from ``first`` on); pairs without such a move."""
    demand, who, columns = _complete(case, pairs, first, known)
    lengths = np.diff(first)[who]
    start = np.append(0, np.cumsum(lengths))
    theirs = known[np.repeat(first[who] - start[:-1], lengths) + np.arange(int(start[-1]))]
    fixed, moves, own = case.basis.apart(columns, start, theirs)
    case.witnesses.cover.take(moves, demand[own], alone=True)
    return np.stack([demand[fixed], who[fixed]], axis=1)


def _complete(case: Case, pairs: Ints, first: Ints, known: Ints) -> tuple[Ints, Ints, Ints]:
    """Demands and insiders of which the basis knows all it needs, and the unknowns of the demands."""
    left_out = np.append(0, np.cumsum(~case.basis.whole[known]))
    columns = np.searchsorted(case.system.cells, case.witnesses.cover.ways.cell[pairs[:, 0]])
    who = pairs[:, 1]
    kept = case.basis.whole[columns] & (left_out[first[who + 1]] == left_out[first[who]])
    return pairs[kept, 0], who[kept], columns[kept]


def _known_exactly(case: Case) -> tuple[Ints, Ints]:
    """Unknowns that insiders know exactly, one after the other: where each begins (one more at the end), and these."""
    at, entry = case.insiders.entries(case.system.cells)
    knows = case.insiders.up[entry] + case.insiders.down[entry] == 0
    at, who = at[knows], case.insiders.who[entry[knows]]
    order = np.argsort(who, kind="stable")
    return np.searchsorted(who[order], np.arange(case.insiders.number + 1)), at[order]


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
        cell = int(case.demands.cells[target])
        first = next((i for i, who in enumerate(people) if (cell, who) in certain), len(people))
        if _judge_together(case, target, people[:first]) and first < len(people):
            rooms = _with_knowledge(case, case.rooms, people[first])
            case.expose(target, case.fixed(target, rooms), rooms, people[first], exactly=True)


def _judge_together(case: Case, target: int, people: list[int]) -> bool:
    """Whether nobody of some people finds a target out. What all of them together cannot exclude, none of them can."""
    if not people:
        return True
    rooms = case.rooms
    for who in people:
        rooms = _with_knowledge(case, rooms, who)
    found = case.verdict(target, rooms, counts=case.table.frequency)
    if found.safe:
        case.note(int(case.columns[target]), found.points)
        return True
    if len(people) > 1:
        half = (len(people) + 1) // 2
        return _judge_together(case, target, people[:half]) and _judge_together(case, target, people[half:])
    if found.exposed:
        case.expose(target, found, rooms, people[0])
        return False
    case.undecided.add(target)
    return True


def _with_knowledge(case: Case, rooms: tuple[Whole, Whole], who: int) -> tuple[Whole, Whole]:
    """What somebody thinks possible for every unknown who knows what one insider knows besides, in whole steps."""
    cells, *known = case.insiders.cells_of(who)
    at = np.minimum(np.searchsorted(case.system.cells, cells), case.system.cells.size - 1)
    inside = case.system.cells[at] == cells
    narrowed = []
    for room, own in zip(rooms, known, strict=True):
        # a count known to lie within half a unit is known
        steps = whole(np.floor(own[inside]) if case.table.frequency else own[inside], case.digits)
        there = at[inside]
        changed = room.astype(object) if steps.dtype == object else room.copy()
        wider = (steps == ENDLESS) | ((changed[there] != ENDLESS) & (changed[there] < steps))
        changed[there] = np.where(wider, changed[there], steps)
        narrowed.append(changed)
    return narrowed[0], narrowed[1]
