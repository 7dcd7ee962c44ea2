"""Settling demands without a solver: cheapest products of elementary moves, sums of few of them, detours.

A whole pattern of such moves is built and thinned in compiled code. What comes out of it is judged again, move by move,
by `Cover`, in whole numbers where it is close: nothing that was found here has to be believed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.sparse import SparseTable
from diskret.model.table import Table
from diskret.model.trees import strides_of, trees_of
from diskret.moves import _sparing_kernels as sparing
from diskret.moves import _thinning_kernels as kernels
from diskret.moves._draft_kernels import Draft
from diskret.moves._product_kernels import Search, fill
from diskret.moves._store_kernels import FULL, Store
from diskret.moves.cover import Judging, asked_of
from diskret.moves.demands import unit
from diskret.moves.move import MoveSet

EFFORT = 20_000
"""Cells a search looks at before it ends with the best it has."""
FARTHER, FARTHEST = 2, 1_000_000
"""How many times as far a search looks for what was lost at least, and how far at most."""
KICKS = 6
"""Dear cells that are forced out of a draft one after the other, in case something cheaper lies behind."""
TOGETHER = 3
"""Moves that are taken out together at most: a cell that more of them share is hardly ever done without."""
WIDEST = 4096
"""Cells of a product or a draft at most."""
KNOWN_BY_SOMEBODY = 0.3
"""What a hidden cell costs that an insider knows, in parts of what a cell costs at least: he will object."""
IN_USE = 1e-6
"""A hidden cell costs nearly nothing; not nothing, so that moves stay short."""
STEPS = 2.0**20
"""Where values are no decimals, amounts are counted in so many steps."""
MOVES = 4096
"""Moves a store has room for at first."""


class Products:
    """The compiled pattern: moves over the movable cells of a table, and what further cells cost."""

    def __init__(
        self, table: Table, cover: Judging, movable: Bools, hidden: Bools, price: Floats, *, effort: int = EFFORT,
        kicks: int = KICKS, detours: float = np.inf, together: int = TOGETHER,
    ) -> None:  # fmt: skip
        self.hidden, self.price = hidden, price
        self.store = _store(table, cover, movable, hidden, price)
        numbers = self.store.draft.search.numbers
        numbers[3:5], numbers[7:9] = (effort, kicks), (together, detours)

    def settle(self, order: Ints, guard: bool) -> None:
        """Settle demands one after the other, against the public or against everybody."""
        self._run(kernels.GUARD if guard else kernels.PUBLIC, order)

    def settle_again(self, order: Ints, guard: bool, looks: int) -> None:
        """Look farther for what was lost, by so many cells in all, but at least twice as far."""
        numbers = self.store.draft.search.numbers
        lost = order[self.store.demands[order, 5] > 0]
        before, kicks = numbers[3:5].tolist()
        self.store.demands[lost, 5] = 0
        numbers[3:5] = min(max(FARTHER * before, looks // max(lost.size, 1)), FARTHEST), 0
        self.settle(lost, guard=False)
        if guard:
            self.settle(lost, guard=True)
        numbers[3:5] = before, kicks

    def thin_moves(self) -> float:
        """Take every move out once, dearest first, and settle its demands for less; returns what was saved."""
        own, kept = self.own_price(), self.kept()
        return self._run(kernels.BY_MOVE, kept[np.lexsort((kept, -own[kept]))])

    def thin_cells(self) -> float:
        """Try to do without every cell that was added, dearest first; returns what was saved."""
        cells = np.flatnonzero(self.added)
        return self._run(kernels.BY_CELL, cells[np.lexsort((cells, -self.price[cells]))])

    def _run(self, what: int, order: Ints) -> float:
        """Let the kernel go through a list; the store grows whenever it is full."""
        at, total = 0, 0.0
        while at < order.size:
            at, saved = kernels.run(what, order, at, self.store)
            total += saved
            if at < order.size:
                self.grow()
        return total

    def load(self, moves: MoveSet) -> None:
        """Add moves that were made elsewhere."""
        at, steps = 0, moves.coefficients.astype(np.int64)
        while at < len(moves):
            at = sparing.load(moves.start, moves.cells, steps, at, self.store)
            if at < len(moves):
                self.grow()

    def grow(self) -> None:
        """Make more room."""
        self.store = _grown(self.store)

    @property
    def added(self) -> Bools:
        """Cells that are hidden only because moves go through them."""
        result: Bools = (self.store.links[:, 1] > 0) & ~self.hidden
        return result

    @property
    def lost(self) -> Ints:
        """Demands for which nothing was found."""
        return np.flatnonzero(self.store.demands[:, 5])

    def kept(self) -> Ints:
        """Numbers of the kept moves, in the order they were made."""
        found: Ints = np.flatnonzero(self.store.moves[: self.store.counts[0], 2])
        return found

    def own_price(self) -> Floats:
        """What the cells cost that only one move uses, for every move."""
        store = self.store
        number, entries = store.counts[:2].tolist()
        cells = store.entries[:entries, 0]
        own = (store.links[cells, 1] == 1) & ~self.hidden[cells]
        total = np.append(0.0, np.cumsum(np.where(own, self.price[cells], 0.0)))
        start = store.moves[: number + 1, 0]
        result: Floats = total[start[1:]] - total[start[:-1]]
        return result

    def moves(self) -> MoveSet:
        """The kept moves, in whole steps."""
        store = self.store
        number, entries = store.counts[:2].tolist()
        endless = np.full(number, np.inf)
        every = MoveSet(
            start=store.moves[: number + 1, 0],
            cells=store.entries[:entries, 0],
            coefficients=store.entries[:entries, 3].astype(np.float64),
            up=endless,
            down=endless,
            first_protected=np.zeros(number + 1, dtype=np.int64),
            protected_cells=np.empty(0, dtype=np.int64),
        )
        return every.some(self.kept())


def _store(table: Table, cover: Judging, movable: Bools, hidden: Bools, price: Floats) -> Store:
    """An empty store."""
    ways, people = cover.ways, cover.insiders
    least = float(price[movable & ~hidden].min(initial=float(price.max(initial=1.0))))
    free = np.where(np.diff(people.start) > 0, KNOWN_BY_SOMEBODY, IN_USE) * least
    step = unit(table) or 2.0 ** np.ceil(np.log2(ways.asked / STEPS))
    demands = np.zeros((ways.size, 6), dtype=np.int64)
    demands[:, 0], demands[:, 1], demands[:, 2] = ways.cell, ways.kind, ways.strict
    demands[:, 3] = np.ceil(ways.asked / step * (1 - 1e-9))
    demands[:, 4] = -1
    search = _search(table, cover, movable, np.where(hidden, free, price), free, least)
    links = np.zeros((table.size, 2), dtype=np.int64)
    links[:, 0] = -1
    return Store(
        draft=Draft(search, np.zeros((table.size, 2), dtype=np.int64), np.zeros(3, dtype=np.int64)),
        links=links,
        demands=demands,
        units=np.broadcast_to(step, ways.size).copy(),
        moves=np.zeros((MOVES, 3), dtype=np.int64),
        entries=np.zeros((32 * MOVES, 4), dtype=np.int64),
        settled=np.zeros((16 * MOVES, 5), dtype=np.int64),
        objectors=np.zeros(256 * MOVES, dtype=np.int64),
        counts=np.zeros(6, dtype=np.int64),
        saved=np.zeros((WIDEST, 2)),
        **_by_person(cover),
        judging=asked_of(cover),
    )


def _search(table: Table, cover: Judging, movable: Bools, price: Floats, free: Floats, least: float) -> Search:
    """What the search for products needs."""
    shape = tuple(len(h) for h in table.hierarchies)
    tops = np.cumsum([0, *shape]).astype(np.int64)
    number, codes = len(shape), int(tops[-1])
    places, slots = _held(table, movable)
    first = np.concatenate([h.first_below + top for h, top in zip(table.hierarchies, tops[:-1], strict=True)])
    room = np.where(movable[:, None], np.stack([cover.up, cover.down], axis=1), -np.inf)
    cells = np.concatenate(
        [room, np.stack([price, price], axis=1), room, np.stack([price, price, free], axis=1)], axis=1
    )
    return Search(
        cells=np.ascontiguousarray(cells),
        codes=np.stack([trees_of(table.hierarchies).parent, first], axis=1).astype(np.int64),
        axes=np.stack([tops[:-1], tops[1:], strides_of(shape), tops[:-1]], axis=1),
        margins=np.zeros((2, number + 2, codes)),
        levels=np.zeros((number + 2, 5), dtype=np.int64),
        costs=np.zeros((number + 2, 5)),
        lists=np.zeros((13, WIDEST), dtype=np.int64),
        numbers=np.array([0.0, 0.0, 0.0, EFFORT, KICKS, (1 - 1e-3) * least, 1.0, TOGETHER, np.inf]),
        places=places,
        slots=slots,
    )


def _held(table: Table, movable: Bools) -> tuple[Ints, Ints]:
    """Where only occupied cells are held, their places, and those that may move hashed by their places."""
    if not isinstance(table, SparseTable):
        return np.empty(0, dtype=np.int64), np.empty((0, 2), dtype=np.int64)
    cells = np.flatnonzero(movable)
    slots = np.full((1 << int(max(4 * cells.size, 4) - 1).bit_length(), 2), -1, dtype=np.int64)
    fill(table.occupied.places, cells, slots)
    return table.occupied.places, slots


def _by_person(cover: Judging) -> dict[str, Any]:
    """What every insider knows, insider by insider."""
    people = cover.insiders
    order = np.argsort(people.who, kind="stable")
    first = np.searchsorted(people.who[order], np.arange(int(people.who.max(initial=-1)) + 2)).astype(np.int64)
    cells = np.repeat(np.arange(people.start.size - 1), np.diff(people.start))[order]
    return {"persons": first, "known": cells, "narrow": np.stack([people.up, people.down], axis=1)[order]}


def _grown(store: Store) -> Store:
    """The same store with twice the room for all that is more than half full; for everything if that is nothing."""
    arrays = store.moves, store.entries, store.settled, store.objectors
    short = [2 * used > len(array) for used, array in zip(store.counts.tolist(), arrays, strict=False)]
    everything = bool(store.counts[FULL]) or not any(short)
    store.counts[FULL] = 0
    moves, entries, settled, objectors = (
        _twice(array) if everything or grows else array for array, grows in zip(arrays, short, strict=True)
    )
    return store._replace(moves=moves, entries=entries, settled=settled, objectors=objectors)


def _twice(array: Ints) -> Ints:
    """The same rows with as much room again, which takes no memory before it is written to."""
    larger = np.zeros((2 * len(array), *array.shape[1:]), dtype=array.dtype)
    larger[: len(array)] = array
    return larger
