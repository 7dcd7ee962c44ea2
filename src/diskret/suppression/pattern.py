"""A suppression pattern held together by moves: building it, and making it cheaper without ever losing protection.

Every demand of a primary cell is settled by a cheapest move, small demands first: they take cheap cells, large ones use
them again. Moves are then taken out and routed anew, because what was dear when a move was made may be in use by others
now. At any time the cells of the kept moves are a valid pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from diskret.auditing.cover import Cover, Kept, Nobody
from diskret.auditing.routing import Rooms, Router
from diskret.auditing.targets import DOWN, LENGTH

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
KNOWN_BY_SOMEBODY = 1e-2
"""What a hidden cell costs that an insider knows: little, but a move without him needs no second one."""
IN_USE = 1e-7
"""A hidden cell costs nearly nothing; not nothing, so that moves stay short."""
EQUAL = 1e-9


@dataclass(eq=False)
class Pattern:
    """The moves of a pattern, and what further cells would cost."""

    cover: Cover
    router: Router
    price: Floats
    hidden: Bools
    """Cells that are hidden anyway: primary ones, and secondary ones that were given."""
    hopeless: dict[int, frozenset[int] | None] = field(default_factory=dict)
    """Demands that cannot be settled: against these insiders, or (None) not at all."""

    @property
    def added(self) -> Bools:
        """Cells that are hidden only because moves go through them."""
        result: Bools = self.cover.in_use & ~self.hidden
        return result

    def weight(self, cells: Ints, amount: float) -> Floats:
        """What moving each cell by one unit costs: its price over what it can give, so that few cells are used."""
        room = np.minimum(np.minimum(self.router.up[cells], self.router.down[cells]), amount)
        unit = 1.0 / np.maximum(room, 1e-9 * amount)
        free = self.hidden[cells] | self.cover.in_use[cells]
        full = self.price[cells] * unit
        dearest = float(full[~free].max(initial=0.0)) or 1.0
        start = self.cover.insiders.start
        known = start[cells + 1] > start[cells]
        used: Floats = np.where(known, KNOWN_BY_SOMEBODY * np.minimum(unit, dearest), IN_USE * dearest)
        return np.where(free, used, full)


def build(pattern: Pattern, demands: Sequence[int], say: Callable[[int, int], None]) -> None:
    """Settle all demands against everybody, the smallest amounts first."""
    amount = pattern.cover.targets.amount
    order = sorted(demands, key=lambda d: (amount[d], pattern.cover.targets.cell[d], d))
    for done, demand in enumerate(order):
        _settle(pattern, demand)
        say(done + 1, len(order))


def _settle(pattern: Pattern, demand: int) -> None:
    """Add moves until nobody can object to all of them, or nothing helps."""
    while True:
        against = _missing(pattern, demand)
        if against == Nobody:
            return
        found = _move(pattern, demand, against)
        if found is None and against and len(against) > 1:
            # all at once is too much: one after the other
            against = frozenset([min(against)])
            found = _move(pattern, demand, against)
        if found is not None:
            pattern.cover.add(found)
        elif against is None:
            pattern.hopeless[demand] = None
        else:
            pattern.hopeless[demand] = (pattern.hopeless.get(demand) or Nobody) | against


def _missing(pattern: Pattern, demand: int) -> frozenset[int] | None:
    """Against whom a demand is still open (None: against everybody), apart from what is hopeless."""
    left = pattern.cover.objectors(demand)
    if demand not in pattern.hopeless:
        return left
    lost = pattern.hopeless[demand]
    return Nobody if left is None or lost is None else left - lost


def _move(
    pattern: Pattern, demand: int, against: frozenset[int] | None, banned: Ints | None = None, widest: float = np.inf
) -> Kept | None:
    """A cheapest move for a demand that the insiders cannot object to and that does without banned cells."""
    cover, targets = pattern.cover, pattern.cover.targets
    cell, kind, amount = int(targets.cell[demand]), int(targets.kind[demand]), float(targets.amount[demand])
    rooms = _rooms(cover, cell, against, banned)
    up, down = float(cover.up[cell]), float(cover.down[cell])
    ways = [(kind != DOWN, 1.0)]
    if kind == LENGTH:
        ways = [(True, 1.0), (False, 1.0)] + ([(True, up / (up + down))] if 0 < up + down < np.inf else [])
    for rise, share in ways:
        if share <= 0.0:
            continue
        found = pattern.router.route(cell, rise, amount, pattern.weight, rooms, widest, share)
        if found is not None:
            kept = cover.judge(*found)
            objects = kept.settles.get(demand)
            # what the solver found must hold when looked at again
            if objects is not None and not (against and objects & against):
                return kept
    return None


def _rooms(cover: Cover, cell: int, against: frozenset[int] | None, banned: Ints | None) -> Rooms | None:
    """What insiders think possible, and banned cells not at all; ascending."""
    cells, up, down = [np.empty(0, np.int64)], [np.empty(0)], [np.empty(0)]
    for who in sorted(against or ()):
        known = cover.insiders.cells_of(who)
        cells.append(known[0])
        up.append(known[1])
        down.append(known[2])
    if banned is not None:
        cells.append(banned)
        up.append(np.zeros(banned.size))
        down.append(np.zeros(banned.size))
    found = np.concatenate(cells)
    if not found.size:
        return None
    # a cell may be known to several insiders: the narrowest room counts
    order = np.argsort(found, kind="stable")
    first = np.flatnonzero(np.diff(found[order], prepend=-1))
    narrow_up = np.minimum.reduceat(np.concatenate(up)[order], first)
    narrow_down = np.minimum.reduceat(np.concatenate(down)[order], first)
    return found[order][first], narrow_up, narrow_down


# --- making it cheaper ------------------------------------------------------------------------------------------------


def reroute_moves(pattern: Pattern, widest: float) -> float:
    """Take every move out once and route its demands anew; returns what was saved.

    Equal costs are accepted: another way round may open a saving next time.
    """
    saved = 0.0
    only = {number: _price_of_own(pattern, number) for number in pattern.cover.moves}
    for number in sorted(only, key=lambda n: (-only[n], n)):
        if number not in pattern.cover.moves:
            continue
        if not pattern.cover.open_without(number):
            saved += _price_of_own(pattern, number)
            pattern.cover.drop(number)
        elif _price_of_own(pattern, number) > 0:
            saved += redo(pattern, [number], None, widest, accept_equal=True)
    return saved


def reroute_cells(pattern: Pattern, cells: Ints, widest: float, running: Callable[[], bool]) -> Ints:
    """Try to do without each cell, dearest first; returns those that are open again."""
    won = []
    for cell in cells[np.argsort(-pattern.price[cells], kind="stable")].tolist():
        if not running():
            break
        users = pattern.cover.through.get(cell)
        if users and redo(pattern, sorted(users), np.array([cell]), widest) > 0:
            won.append(cell)
    return np.array(won, dtype=np.int64)


def redo(
    pattern: Pattern, numbers: Sequence[int], banned: Ints | None, widest: float, accept_equal: bool = False
) -> float:
    """Take moves out, settle their demands again, keep the cheaper of both; returns what was saved."""
    cover = pattern.cover
    old = [cover.drop(number) for number in numbers]
    touched = np.unique(np.concatenate([kept.cells for kept in old]))
    gain = float(pattern.price[touched[~pattern.hidden[touched] & ~cover.in_use[touched]]].sum())
    limit = gain * (1 + EQUAL) if accept_equal else gain * (1 - EQUAL)
    amount = cover.targets.amount
    lost = {d for kept in old for d in kept.settles if _missing(pattern, d) != Nobody}
    new: list[int] = []
    cost = 0.0
    possible = True
    for demand in sorted(lost, key=lambda d: (amount[d], d)):
        while possible and (against := _missing(pattern, demand)) != Nobody:
            kept_move = _move(pattern, demand, against, banned, widest)
            if kept_move is None:
                possible = False
                break
            fresh = kept_move.cells[~pattern.hidden[kept_move.cells] & ~cover.in_use[kept_move.cells]]
            cost += float(pattern.price[fresh].sum())
            possible = cost <= limit
            if possible:
                new.append(cover.add(kept_move))
        if not possible:
            break
    if possible:
        return gain - cost
    for number in new:
        cover.drop(number)
    for kept in old:
        cover.add(kept)
    return 0.0


def _price_of_own(pattern: Pattern, number: int) -> float:
    """Price of the cells no other move needs."""
    cells = pattern.cover.moves[number].cells
    own = [c for c in cells[~pattern.hidden[cells]].tolist() if len(pattern.cover.through[c]) == 1]
    return float(pattern.price[own].sum())
