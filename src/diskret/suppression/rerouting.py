"""Making a pattern cheaper without ever losing protection: take moves out and route them again.

What was dear when a move was made may be in use by others now, and a cell that a few moves share may be replaced by
others altogether. Every step keeps all demands settled, so it can end at any time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.equations import Equations
from diskret.model.table import Table
from diskret.model.tolerances import ROUNDING
from diskret.moves.move import Move
from diskret.moves.pattern import Pattern, find_move, missing
from diskret.moves.sparing import spare_cells

SWEEPS = 2
NEIGHBOURS = 3
SHAKEN = 0.3
MANY = 5000
"""For fewer demands programmes are done before the kernels that save most of them are compiled."""
FEW_EACH = 6
"""Where moves settle more demands each, too many wait for each cell that is done without."""
FEW_AXES = 3
"""In more classifications cells have so many equations that programmes answer sooner. (A table in four: 13.4 M in 17 s
instead of 13.8 M in 6 s.)"""
WORTH, WITHIN = 0.002, 50_000
"""A sweep over hidden cells ends when programmes of so many unknowns (for single cells of twice as many) saved less
than this part of the price. (Tuned on `h3` of the benchmarks, where all are worth it, and on tables of 4 to 6
classifications, where a third are.)"""


def adds_up(pattern: Pattern) -> bool:
    """Whether cells are done without by adding up moves: demands are many, and moves settle few of them each."""
    table = pattern.router.table
    few = isinstance(table, Table) and len(table.shape) <= FEW_AXES
    return few and MANY <= pattern.cover.ways.size <= FEW_EACH * len(pattern.cover.moves)


def over_hidden(
    pattern: Pattern, widest: float, running: Callable[[], bool], in_time: Callable[[], bool] = lambda: True
) -> None:
    """Reroute over hidden cells only: small programmes, which bring moves together on fewer cells.

    In large patterns (see `adds_up`) most is done without programmes, in compiled code.
    """
    if adds_up(pattern):
        spare_cells(pattern, widest, running, in_time)
        return
    every = pattern.router
    for _ in range(SWEEPS):
        pattern.router = pattern.router.among(pattern.hidden | pattern.cover.in_use)
        going_on = _while_worth_it(pattern, WITHIN, running)
        reroute_moves(pattern, widest, going_on)
        if not going_on():
            break
    pattern.router = pattern.router.among(pattern.hidden | pattern.cover.in_use)
    asked = np.delete(pattern.cover.ways.cell, np.array(list(pattern.hopeless), dtype=np.int64))
    ties = Ties(every.table.equations(pattern.router.movable), asked)
    reroute_cells(pattern, widest, _while_worth_it(pattern, 2 * WITHIN, running), {}, ties.needed)
    every.count(pattern.router)
    pattern.router = every


def _while_worth_it(pattern: Pattern, within: float, running: Callable[[], bool]) -> Callable[[], bool]:
    """Running, as long as programmes of so many unknowns save something to speak of."""
    price, until = np.inf, float(pattern.router.unknowns)

    def going_on() -> bool:
        nonlocal price, until
        if pattern.router.unknowns >= until:
            before, price = price, float(pattern.price[pattern.added].sum())
            until = np.inf if price > (1 - WORTH) * before else pattern.router.unknowns + within
        return until < np.inf and running()

    return going_on


def reroute_moves(pattern: Pattern, widest: float, running: Callable[[], bool] = lambda: True) -> float:
    """Take every move out once and route its demands again; returns what was saved.

    Equal costs are accepted: another way round may open a saving next time.
    """
    saved = 0.0
    only = {number: _price_of_own(pattern, number) for number in pattern.cover.moves}
    for number in sorted(only, key=lambda n: (-only[n], n)):
        if not running():
            break
        if number not in pattern.cover.moves:
            continue
        if not pattern.cover.open_without(number):
            saved += _price_of_own(pattern, number)
            pattern.cover.drop(number)
        elif _price_of_own(pattern, number) > 0:
            saved += redo(pattern, [number], None, widest, accept_equal=True)
    return saved


class Ties:
    """What must stand still when one of the cells of a system does: a cell that is alone in an equation then.

    Of the 500 dearest cells of a pattern of `h3` more than half were needed for that reason: no programme need say so.
    """

    def __init__(self, system: Equations, asked: Ints) -> None:
        self._asked = set(asked.tolist())
        first, row, _ = system.by_column()
        rows, members = row.tolist(), system.cells[system.columns].tolist()
        self._rows = {c: rows[a:b] for c, a, b in zip(system.cells.tolist(), first[:-1], first[1:], strict=True)}
        self._members = [members[a:b] for a, b in zip(system.start[:-1], system.start[1:], strict=True)]

    def needed(self, cell: int) -> bool:
        """Whether without this cell another one stands still that has to move."""
        still, waiting = {cell}, [cell]
        while waiting:
            for row in self._rows[waiting.pop()]:
                left = [other for other in self._members[row] if other not in still]
                if len(left) == 1:
                    if left[0] in self._asked:
                        return True
                    still.add(left[0])
                    waiting.append(left[0])
        return False


def reroute_cells(
    pattern: Pattern, widest: float, running: Callable[[], bool], failed: dict[int, list[int]],
    needed: Callable[[int], bool] = lambda cell: False,
) -> int:  # fmt: skip
    """Try to do without each cell that was added, the most expensive first; returns how many are open again.

    ``failed`` remembers cells that could not be done without, with the moves that went through them then; cells that
    are ``needed`` are not tried.
    """
    won = 0
    cells = np.flatnonzero(pattern.added)
    for cell in cells[np.argsort(-pattern.price[cells], kind="stable")].tolist():
        if not running():
            break
        users = sorted(pattern.cover.through.get(cell, ()))
        if not users or failed.get(cell) == users or needed(cell):
            continue
        if redo(pattern, users, np.array([cell]), widest) > 0:
            won += 1
        else:
            failed[cell] = users
    return won


def shake_up(pattern: Pattern, widest: float, running: Callable[[], bool], seed: int = 0) -> None:
    """Take out moves around a random cell, do without it, and route again at shaken prices; keep what costs no more.

    Equal costs are accepted, so the pattern drifts to where something can be won.
    """
    rng = np.random.default_rng(seed)
    guide = pattern.guide
    while running():
        cells = np.flatnonzero(pattern.added)
        if not cells.size:
            return
        first = int(rng.choice(cells))
        numbers = set(pattern.cover.through[first])
        for _ in range(int(rng.integers(1, NEIGHBOURS + 1))):
            near = pattern.cover.moves[int(rng.choice(sorted(numbers)))].cells
            near = near[~pattern.hidden[near]]
            if near.size:
                numbers |= pattern.cover.through[int(rng.choice(near))]
        pattern.guide = guide * np.exp(rng.normal(0.0, SHAKEN, guide.size))
        redo(pattern, sorted(numbers), np.array([first]), widest, accept_equal=True)
        pattern.guide = guide


def redo(
    pattern: Pattern, numbers: Sequence[int], banned: Ints | None, widest: float, accept_equal: bool = False
) -> float:
    """Take moves out, settle their demands again, keep the cheaper of both; returns what was saved."""
    cover, price = pattern.cover, pattern.price
    old = [cover.drop(number) for number in numbers]
    touched = np.unique(np.concatenate([kept.cells for kept in old]))
    gain = float(price[touched[~pattern.hidden[touched] & ~cover.in_use[touched]]].sum())
    limit = gain * (1 + ROUNDING) if accept_equal else gain * (1 - ROUNDING)
    new: list[int] = []
    cost = _settle_again(pattern, old, banned, widest, limit, new)
    if cost is not None:
        return gain - cost
    for number in new:
        cover.drop(number)
    for number, kept in zip(numbers, old, strict=True):
        cover.restore(number, kept)
    return 0.0


def _settle_again(
    pattern: Pattern, old: Sequence[Move], banned: Ints | None, widest: float, limit: float, new: list[int]
) -> float | None:
    """Settle what is open without the old moves; what that costs, or None if it is more than the limit."""
    cover, price, amount, cost = pattern.cover, pattern.price, pattern.cover.ways.amount, 0.0
    lost = {d for kept in old for d in kept.settles if not missing(pattern, d).entirely}
    for demand in sorted(lost, key=lambda d: (amount[d], d)):
        while not (state := missing(pattern, demand)).entirely:
            move = find_move(pattern, demand, state.against, banned, widest)
            if move is None:
                return None
            cost += float(price[move.cells[~pattern.hidden[move.cells] & ~cover.in_use[move.cells]]].sum())
            if cost > limit:
                return None
            new.append(cover.add(move))
    return cost


def _price_of_own(pattern: Pattern, number: int) -> float:
    """Price of the cells no other move needs."""
    cells = pattern.cover.moves[number].cells
    own = [c for c in cells[~pattern.hidden[cells]].tolist() if len(pattern.cover.through[c]) == 1]
    return float(pattern.price[own].sum())
