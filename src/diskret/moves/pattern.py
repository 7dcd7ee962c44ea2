"""A pattern of hidden cells held together by moves.

Every demand of a primary cell is settled by a cheapest move; later ones use its cells again for nothing. At any time
the cells of the kept moves are a valid pattern. Without further cells to hide it is an attack: demands that nothing
settles are exposed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.merged import Merged
from diskret.model.table import Table
from diskret.moves.cover import Cover
from diskret.moves.demands import DOWN, LENGTH, SETTLED, State
from diskret.moves.equal_cells import LOOKS, of_equal, products_of
from diskret.moves.move import NO_INSIDERS, Move, MoveSet
from diskret.moves.products import Products
from diskret.moves.router import Rooms, Router

KNOWN_BY_SOMEBODY = 1e-2
"""What a hidden cell costs that an insider knows: little, but a move without him needs no second one."""
IN_USE = 1e-7
"""A hidden cell costs nearly nothing; not nothing, so that moves stay short."""
MANY = 200
"""For fewer demands programmes are ready before the search for products is compiled. (On 16 made-up tables of 77 to 576
cells their patterns were 2.7 % cheaper in the mean, on 5 of them dearer.)"""
FEW = 3_000
"""For at most so many demands patterns are built in several orders. (On 5 and 6 classifications with 1,400 demands the
best of three was 0.1 and 4 % cheaper than the first; on `h3` of the benchmarks with 11,000 the first was the best.)"""
SWEEPS = 2
"""How often every move found without a solver is taken out."""
SHAKES, SHAKEN, TOGETHER = 20, 0.5, 4
"""In a long search moves are thinned so often at shaken prices; by how much at first (the deviation of logarithms), and
how many moves are taken out together then. (On two tables in 5 and 6 classifications 3 % and 0.3 % cheaper, on one in 4
1 %; half as many rounds gave half of it.)"""
MANY_AXES = 4
"""In fewer classifications what comes after the thinning saves as much without it."""


@dataclass(eq=False)
class Pattern:
    """The moves of a pattern, and what further cells would cost."""

    cover: Cover
    router: Router
    price: Floats
    hidden: Bools
    """Cells that are hidden anyway: primary ones, and secondary ones that were given."""
    guide: Floats
    """What a search for moves takes for the price; what is kept is decided by the price itself."""
    hopeless: dict[int, frozenset[int] | None] = field(default_factory=dict)
    """Demands that cannot be settled: against these insiders, or (None) not at all."""
    bound: float | None = None
    """What the added cells of any pattern cost at least, where that is known."""

    @property
    def added(self) -> Bools:
        """Cells that are hidden only because moves go through them."""
        result: Bools = self.cover.in_use & ~self.hidden
        return result

    @property
    def by_products(self) -> bool:
        """Whether products of elementary moves are looked for before programmes are solved."""
        return self.router.table.product and self.cover.ways.size >= MANY

    def weight(self, cells: Ints, amount: float) -> Floats:
        """What moving each cell by one unit costs: its guide over what it can give, so that few are used."""
        room = np.minimum(np.minimum(self.router.up[cells], self.router.down[cells]), amount)
        unit = 1.0 / np.maximum(room, 1e-9 * amount)
        free = self.hidden[cells] | self.cover.in_use[cells]
        full = self.guide[cells] * unit
        highest = float(full[~free].max(initial=0.0)) or 1.0
        start = self.cover.insiders.start
        known = start[cells + 1] > start[cells]
        used: Floats = np.where(known, KNOWN_BY_SOMEBODY * np.minimum(unit, highest), IN_USE * highest)
        return np.where(free, used, full)


def build(
    pattern: Pattern, demands: Sequence[int], say: Callable[[int, int], None], thin: bool = False, long: bool = False
) -> None:
    """Settle all demands, of high sums first: against the public, then against every insider.

    In a product of trees by products of elementary moves, which need no solver; with ``thin`` they are taken out again
    where others do for less, with ``long`` at shaken prices too. What is open then, by programmes. The move of a sum
    goes down to the finest cells and settles much of what lies below it on the way. Cells of one neighbourhood come
    together, small amounts first: they share its model. In two rounds, because moves made for the public already keep
    most insiders apart.
    """
    ways, waiting = pattern.cover.ways, np.asarray(demands, dtype=np.int64)
    cells = ways.cell[waiting]
    heights = -pattern.router.heights(cells)
    add_products(pattern, waiting[np.lexsort((waiting, ways.amount[waiting], heights))], thin, long)
    order = waiting[np.lexsort((waiting, cells, ways.amount[waiting], pattern.router.families(cells), heights))]
    still_open = order[~pattern.cover.standing().settled[order]].tolist()
    for done, demand in enumerate(still_open):
        if not missing(pattern, demand).settled:
            found = find_move(pattern, demand, None)
            if found is None:
                pattern.hopeless[demand] = None
            else:
                pattern.cover.add(found)
        say(done + 1, 2 * len(still_open))
    unguarded = order[~pattern.cover.standing().entirely[order]].tolist()
    for done, demand in enumerate(unguarded):
        _guard(pattern, demand)
        say(len(unguarded) + done + 1, 2 * len(unguarded))
    say(1, 1)


def add_products(pattern: Pattern, order: Ints, thin: bool = False, long: bool = False) -> None:
    """Add moves that need no solver, where a table is a product of trees and cells may be hidden, or it is sparse."""
    cover, table = pattern.cover, pattern.router.table
    moves = _of_products(pattern, order[~cover.standing().entirely[order]], thin, long)
    if isinstance(table, Merged):
        moves = of_equal(table, moves)
        through_open = np.bincount(moves.number(), weights=~pattern.router.movable[moves.cells], minlength=len(moves))
        moves = moves.some(np.flatnonzero(through_open == 0))
    cover.take(moves)


def _of_products(pattern: Pattern, demands: Ints, thin: bool, long: bool) -> MoveSet:
    """The moves of the cheapest compiled pattern; the pattern itself, which takes more memory, is let go of."""
    built = [found for each in _orders(pattern, demands) if (found := _settled(pattern, each)) is not None]
    if not built:
        return MoveSet.none()
    lost = [each.lost.size for each in built]  # and stays so when moves are thinned
    if long:
        built = [_shaken(pattern, each) for each in built]
    cost = [float(each.price[each.added].sum()) for each in built]
    found = built[min(range(len(built)), key=lambda i: (lost[i], cost[i]))]
    if thin:
        found.thin_cells()
        found.thin_moves()
    return found.moves()


def _orders(pattern: Pattern, demands: Ints) -> list[Ints]:
    """Orders in which demands are settled: as given; few also by their amounts, and of each sum large ones first."""
    if not 0 < demands.size <= FEW or isinstance(pattern.router.table, Merged):
        return [demands] if demands.size else []
    amount, height = pattern.cover.ways.amount[demands], pattern.router.heights(pattern.cover.ways.cell[demands])
    return [demands, demands[np.lexsort((demands, amount))], demands[np.lexsort((demands, -amount, -height))]]


def _settled(pattern: Pattern, order: Ints) -> Products | None:
    """Demands settled one after the other, and thinned; None where products are not looked for."""
    found, people = _products(pattern, order.size), pattern.cover.insiders.count
    if found is None:
        return None
    found.settle(order, guard=False)
    if people:
        found.settle(order, guard=True)
    if isinstance(pattern.router.table, Merged):
        # what is near a cell is hard to say where equal cells are one: programmes would be large
        found.settle_again(order, people > 0, LOOKS)
    for _ in range(SWEEPS):
        found.thin_moves()
    return found


def _shaken(pattern: Pattern, found: Products, seed: int = 0) -> Products:
    """Thin moves at shaken prices and then at the true ones, less shaken every time; the cheaper of both ends.

    Where no single move can be had for less, several may: dearer ones lead there.
    """
    table, cover, movable, first = pattern.router.table, pattern.cover, pattern.router.movable, found
    if not isinstance(table, Table) or len(table.shape) < MANY_AXES:
        return found
    rng = np.random.default_rng(seed)
    found.thin_cells()
    found.thin_moves()
    for left in range(SHAKES, 0, -1):
        shaken = found.price * np.exp(rng.normal(0.0, SHAKEN * left / SHAKES, found.price.size))
        for price in (shaken, found.price):
            again = Products(table, cover, movable, found.hidden, price, together=TOGETHER)
            again.load(found.moves())
            again.thin_cells()
            again.thin_moves()
            found = again
    return min(first, found, key=lambda each: float(each.price[each.added].sum()))


def _products(pattern: Pattern, number: int) -> Products | None:
    """The compiled pattern, for so many demands; None where there is no product of trees, or nothing can be hidden."""
    cover, router, hidden = pattern.cover, pattern.router, pattern.hidden | pattern.cover.in_use
    nothing_more = not (router.movable & ~pattern.hidden).any()
    if isinstance(router.table, Merged):
        # in an attack products may go through open cells: sums of them bring these to rest again, or do not count
        movable = np.ones_like(hidden) if nothing_more else router.movable
        return products_of(router.table, cover, movable, hidden, pattern.guide, number)
    if not pattern.by_products or not isinstance(router.table, Table) or nothing_more:
        return None
    return Products(router.table, cover, router.movable, hidden, pattern.guide)


def _guard(pattern: Pattern, demand: int) -> None:
    """Add moves until no insider can object to all of them, or nothing helps."""
    while against := missing(pattern, demand).against:
        found = find_move(pattern, demand, against)
        if found is None and len(against) > 1:
            # all at once is too much: one after the other
            against = frozenset([min(against)])
            found = find_move(pattern, demand, against)
        if found is not None:
            pattern.cover.add(found)
        else:
            pattern.hopeless[demand] = (pattern.hopeless.get(demand) or NO_INSIDERS) | against


def missing(pattern: Pattern, demand: int) -> State:
    """Where a demand stands apart from what is hopeless: that counts as settled."""
    state = pattern.cover.state(demand)
    if demand not in pattern.hopeless:
        return state
    lost = pattern.hopeless[demand]
    if lost is None:
        return SETTLED
    return State(settled=True, against=state.against - lost) if state.settled else state


def find_move(
    pattern: Pattern, demand: int, against: frozenset[int] | None, banned: Ints | None = None, widest: float = np.inf
) -> Move | None:
    """A cheapest move for a demand that the insiders cannot object to and that does without banned cells.

    First in whole steps of the table; where that is too much, by what settles the demand.
    """
    cover, ways = pattern.cover, pattern.cover.ways
    cell, asked, amount = int(ways.cell[demand]), float(ways.asked[demand]), float(ways.amount[demand])
    rooms = rooms_without(cover, against, banned)
    least = amount + ways.strict[demand] * 10.0**-cover.digits
    # a search for something cheaper does not need the exception
    goals = [asked, least] if least < asked and banned is None else [asked]
    for goal, (rise, share) in product(goals, directions(cover, cell, int(ways.kind[demand]))):
        found = pattern.router.route(cell, rise, goal, pattern.weight, rooms, widest, share)
        kept = None if found is None else cover.judge(*found)
        objects = None if kept is None else kept.settles.get(demand)
        # what the solver found must hold when looked at again
        if objects is not None and not (against and objects & against):
            return kept
    return None


def directions(cover: Cover, cell: int, kind: int) -> list[tuple[bool, float]]:
    """Which ways a cell may go to settle a demand, and which share of the amount must be possible that way."""
    if kind != LENGTH:
        return [(kind != DOWN, 1.0)]
    up, down = float(cover.up[cell]), float(cover.down[cell])
    both = [(True, up / (up + down))] if 0 < up + down < np.inf and up > 0 else []
    return [(True, 1.0), (False, 1.0), *both]


def rooms_without(cover: Cover, against: frozenset[int] | None, banned: Ints | None) -> Rooms | None:
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
