"""Parts of a pattern chosen anew by the exact method, the rest as it is; what is cheaper is taken over.

Small patterns are one part. Otherwise parts are boxes, the cells of one sum per classification, and then clusters:
secondary cells that share moves, with the open cells that share most equations with them. Budgets count programmes,
so that the same comes out on every machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.cells import Cells
from diskret.model.tolerances import ROUNDING
from diskret.moves.move import Move
from diskret.moves.pattern import Pattern, find_move, missing
from diskret.moves.router import Router
from diskret.suppression.methods import Effort
from diskret.suppression.optimum.part import Part, part_of, solve
from diskret.suppression.optimum.tableau import Tableau

AT_ONCE, ROUNDS = 4, 8
"""Parts whose demands leave fewer programmes for each than this are too large: all at once, and box by box."""
MOST_BOXES = 20_000
LARGE_BOX = 5_000
"""A box with more cells is left to clusters."""
MANY = 1_800
"""Open cells of a whole pattern of few cells in a table that is too large."""
FIRST, FEWEST, MOST = 24, 8, 80
"""Secondary cells of the first cluster, of the smallest and of the largest."""

LESS_HOPE = 0.1
"""What a cluster leaves of the chance that its first cell is drawn again. (`h3` of the benchmarks after
2,000 clusters: 157 of them won something instead of 144, and twice as much.)"""


@dataclass(frozen=True, kw_only=True)
class Budget:
    """How much may be looked at, in programmes."""

    whole: int
    """For the whole problem, if it is small;"""
    programmes: int
    """for all parts together, and"""
    each: int
    """for one of them,"""
    largest: int = 400_000
    """if it has no more coefficients than this, zeros included."""
    branch: bool = True
    """Whether a part is solved until the proof; else only as far as the relaxation leads."""
    failures: int = 15
    """So many clusters in a row without a gain, and it ends."""
    most: float = np.inf
    """Patterns with more secondary cells are left alone."""
    boxes: bool = True
    """Whether boxes come before clusters,"""
    candidates: int = 300
    """and how many open cells a cluster has at most."""
    wider: int = 1
    """When it ends for want of gains: begin again with so many times as many candidates and programmes for each."""


ENOUGH = Budget(whole=1_500, programmes=1_800, each=600, largest=100_000, branch=False, most=1_500)
"""By default: 0.1 to 0.5 ms a programme, so about half a second (measured on tables of 100 to 2,800 cells; of patterns
of 5,000 cells it saved 0.1 %),"""
FEW = 60
SMALL = replace(ENOUGH, whole=6_000, programmes=6_000, failures=60, branch=True)
"""By default where no more than so many cells are secondary: mostly less than a second, seldom more than three. (Of 16
cubes of 100 to 330 cells 1.8 % over the cheapest pattern known by number of cells, 3.6 with half as many programmes;
against single contributors 1.9 instead of 4.7. By value 0.0 instead of 0.1, and 1.2 instead of 1.4.)"""
THOROUGH = Budget(whole=10_000, programmes=20_000, each=5_000)
"""and in economy,"""
PER_CELL = 60
"""with so many programmes more for every secondary cell."""
LARGE = Budget(whole=0, programmes=200_000, each=600, boxes=False, candidates=60, failures=60, wider=4)
"""Of a large pattern many small parts, then larger ones. (`h3` of the benchmarks, 5,121 cells: 4.36 M after two minutes
of CPU time on busy cores; small parts alone win nothing more from 4.37 M on, boxes solved to the proof gave 4.47 M.)"""


def budget_for(effort: Effort, secondaries: int) -> Budget:
    """How much is looked at where so many cells are secondary.

    >>> [budget_for("default", number).programmes for number in (50, 250)], budget_for("economy", 250).programmes
    ([6000, 1800], 35000)
    """
    if effort == "default":
        return SMALL if secondaries <= FEW else ENOUGH
    budget = THOROUGH if secondaries <= ENOUGH.most else LARGE
    return replace(budget, programmes=budget.programmes + PER_CELL * secondaries)


def renewable(pattern: Pattern) -> bool:
    """Whether the exact method can help: it knows who knows a cell exactly, not who knows something about it."""
    people = pattern.cover.insiders
    return not (people.up + people.down > 0).any()


def renew(pattern: Pattern, price: Floats, budget: Budget, running: Callable[[], bool], seed: int = 0) -> None:
    """Make a pattern cheaper part by part; where it is one part, its bound says how cheap any pattern can be."""
    if pattern.added.sum() > budget.most:
        return
    work = Renewal(pattern, price, budget, running)
    if work.all_at_once():
        return
    if budget.boxes:
        work.box_by_box()
    rng = np.random.default_rng(seed)
    work.clusters(rng)
    if budget.wider > 1:
        candidates, each = budget.wider * budget.candidates, budget.wider * budget.each
        work.budget = replace(budget, candidates=candidates, each=each)
        work.clusters(rng)


class Renewal:
    """A pattern on its way, and which of its cells changed when."""

    def __init__(self, pattern: Pattern, price: Floats, budget: Budget, running: Callable[[], bool]) -> None:
        self.pattern, self.price, self.budget, self._running = pattern, price, budget, running
        self.whole = pattern.router.table.equations(pattern.router.movable)
        self.spent = 0
        self._turn = 0
        self._changed = np.zeros(pattern.hidden.size, dtype=np.int64)
        self._hope = np.ones(pattern.hidden.size)
        """What is left of a cell's chance to be drawn since something near it was won."""

    @property
    def running(self) -> bool:
        """Whether the budget is not spent."""
        return self.spent < self.budget.programmes and self._running()

    def all_at_once(self) -> bool:
        """The whole pattern as one part, if it is small; whether nothing cheaper can be found."""
        added = self.pattern.added
        if added.sum() > self.budget.whole:
            return False
        part = part_of(self.pattern, self.whole, self.price, np.ones(added.size, dtype=np.bool_))
        if part is None:
            self.pattern.bound = 0.0
            return True
        if not Tableau.suits(part.system) or AT_ONCE * len(part.lost) > self.budget.whole:
            if added.sum() <= MOST:
                # few cells among very many: those near them, and cheap ones
                self.try_part(added | self._candidates(self.pattern.hidden | added, MANY), self.budget.whole)
            return False
        found = solve(self.pattern, part, self.price, self.budget.whole)
        self.pattern.bound = found.bound
        if found.hidden is not None:
            take_over(self.pattern, part, self.price, found.hidden)
        # what moves in whole numbers make of it may be dearer
        return found.proved and self.price[self.pattern.added].sum() <= found.cost * (1 + ROUNDING)

    def try_part(self, free: Bools, programmes: int = 0) -> tuple[bool, bool]:
        """Solve one part: whether something was saved, and whether the proof ended in time."""
        self._turn += 1
        part = part_of(self.pattern, self.whole, self.price, free)
        limit = programmes or min(self.budget.each, max(self.budget.programmes - self.spent, 1))
        if part is None or not (programmes or self._fits(part, limit)):
            self.spent += 1
            return False, part is None
        found = solve(self.pattern, part, self.price, limit, self.budget.branch or programmes > 0)
        self.spent += 0 if programmes else found.programmes
        if found.hidden is None:
            return False, found.proved
        before = self.pattern.added
        saved = take_over(self.pattern, part, self.price, found.hidden)
        self._changed[before ^ self.pattern.added] = self._turn
        return saved > 0, found.proved

    def _fits(self, part: Part, programmes: int) -> bool:
        size = part.system.rows * part.system.cells.size
        return size <= self.budget.largest and ROUNDS * len(part.lost) <= programmes

    # --- boxes --------------------------------------------------------------------------------------------------------

    def box_by_box(self) -> None:
        """Boxes whose secondary cells cost most first, each again only after something changed in it."""
        boxes = list(boxes_of(self.pattern.router.table))
        if not boxes:
            return
        cells, start = np.concatenate(boxes), np.cumsum([0, *(box.size for box in boxes[:-1])])
        seen = np.full(len(boxes), -1)
        while self.running:
            price = np.where(self.pattern.added, self.price, 0.0)
            worth = np.add.reduceat(price[cells], start)
            worth[np.maximum.reduceat(self._changed[cells], start) <= seen] = 0.0
            first = int(worth.argmax())
            if not worth[first] > 0:
                return
            free = np.zeros(price.size, dtype=np.bool_)
            free[boxes[first]] = True
            self.try_part(free)
            seen[first] = self._turn

    # --- clusters -----------------------------------------------------------------------------------------------------

    def clusters(self, rng: np.random.Generator) -> None:
        """Clusters around secondary cells drawn by their price, larger where proofs end soon, smaller where not."""
        size, failed = float(FIRST), 0
        self._hope[:] = 1.0
        while self.running and failed < self.budget.failures and self.pattern.added.any():
            cells = np.flatnonzero(self.pattern.added)
            chance = np.maximum(self.price[cells] * self._hope[cells], ROUNDING)
            first = int(rng.choice(cells, p=chance / chance.sum()))
            free = self._cluster(rng, int(size), first)
            gained, proved = self.try_part(free)
            failed = 0 if gained else failed + 1
            self._hope[first] *= LESS_HOPE
            if gained:
                self._hope[free] = 1.0
            size = min(max(size * (1.1 if proved else 0.8), FEWEST), MOST)

    def _cluster(self, rng: np.random.Generator, size: int, first: int) -> Bools:
        """Secondary cells that share moves with the first one, or with these, and what may take their place."""
        pattern, cover = self.pattern, self.pattern.cover
        waiting = [first]
        chosen = dict.fromkeys(waiting)
        core = np.zeros(pattern.hidden.size, dtype=np.bool_)
        while waiting and len(chosen) < size:
            moves = sorted(cover.through[waiting.pop(0)])
            for number in (moves[i] for i in rng.permutation(len(moves)).tolist()):
                move = cover.moves[number].cells
                core[move] = True
                fresh = [c for c in move[pattern.added[move]].tolist() if c not in chosen][: size - len(chosen)]
                chosen.update(dict.fromkeys(fresh))
                waiting += fresh
        free = self._candidates(core, self.budget.candidates)
        free[list(chosen)] = True
        return free

    def _candidates(self, core: Bools, most: int) -> Bools:
        """Open cells that share the largest part of their equations with the core, the cheapest first."""
        whole, pattern = self.whole, self.pattern
        row, at = whole.row_of(), whole.cells[whole.columns]
        touched = np.zeros(whole.rows, dtype=np.bool_)
        touched[row[core[at]]] = True
        all_of = np.maximum(np.bincount(at, minlength=core.size), 1)
        share = np.bincount(at, weights=touched[row], minlength=core.size) / all_of
        (near,) = np.nonzero((share > 0) & ~pattern.hidden & ~pattern.cover.in_use)
        best = near[np.lexsort((near, self.price[near], -share[near]))[:most]]
        free = np.zeros(core.size, dtype=np.bool_)
        free[best] = True
        return free


def boxes_of(table: Cells) -> Iterator[Ints]:
    """The cells of one sum per classification and of its parts; none where classifications are no trees."""
    if not table.product:
        return
    sums = [[np.append(parts, top) for top, parts in enumerate(h.part_index) if parts.size] for h in table.hierarchies]
    if np.prod([float(len(each)) for each in sums]) > MOST_BOXES:
        return
    for codes in product(*sums):
        if np.prod([each.size for each in codes]) <= LARGE_BOX:
            yield np.ravel_multi_index(np.ix_(*codes), table.shape).reshape(-1)


# --- taking over ------------------------------------------------------------------------------------------------------


def take_over(pattern: Pattern, part: Part, price: Floats, hidden: Ints) -> float:
    """Hide these cells of a part and no others; returns what was saved, 0 if moves in whole numbers do not follow.

    The exact method finds cells; that they protect is shown by moves again, as everything in a pattern is.
    """
    cover, before = pattern.cover, pattern.added
    kept = pattern.hidden | cover.in_use
    kept[part.system.cells[~part.always]] = False
    kept[hidden] = True
    old = [n for n in part.moves if not kept[cover.moves[n].cells].all()]
    dropped = [(number, cover.drop(number)) for number in old]
    router = pattern.router
    near = replace(pattern, router=Router(router.table, kept, router.up, router.down))
    new: list[int] = []
    settled = _settle(near, [move for _, move in dropped], new)
    router.programmes += near.router.programmes
    if settled and price[before].sum() - price[pattern.added].sum() > ROUNDING * part.gain:
        _prune(pattern, [*part.moves, *new])
        return float(price[before].sum() - price[pattern.added].sum())
    for number in new:
        cover.drop(number)
    for number, move in dropped:
        cover.restore(number, move)
    return 0.0


def _settle(pattern: Pattern, old: Sequence[Move], new: list[int]) -> bool:
    """Settle by the cells of the pattern what is open without the old moves; whether that was possible."""
    cover, amount = pattern.cover, pattern.cover.ways.amount
    lost = {d for move in old for d in move.settles if not missing(pattern, d).entirely}
    for demand in sorted(lost, key=lambda d: (-amount[d], d)):
        while not (state := missing(pattern, demand)).entirely:
            move = find_move(pattern, demand, state.against)
            if move is None and len(state.against) > 1:
                move = find_move(pattern, demand, frozenset([min(state.against)]))
            if move is None:
                return False
            new.append(cover.add(move))
    return True


def _prune(pattern: Pattern, numbers: Sequence[int]) -> None:
    """Do without moves nobody needs."""
    cover = pattern.cover
    for number in numbers:
        if number in cover.moves and not cover.open_without(number):
            cover.drop(number)
