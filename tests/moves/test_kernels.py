"""The compiled loops of moves against twins that write everything out: elementary moves, and who objects to a move."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diskret import Hierarchy
from diskret.model.compiled import kernel
from diskret.model.trees import trees_of
from diskret.moves import _cover_kernels, _cuboid_kernels
from diskret.moves.demands import DOWN, LENGTH, UP

# --- elementary moves ------------------------------------------------------------------------------------------------


@kernel
def ways_of(*given: Any) -> Any:
    """The kernel's own step, which only kernels can call."""
    return _cuboid_kernels._ways(*given)


@kernel
def shifted(*given: Any) -> Any:
    """Another one."""
    return _cuboid_kernels._shifted(*given)


Codes = frozenset[tuple[int, int]]
"""Codes with +1 or -1."""


def chain(tree: Hierarchy, code: int) -> list[int]:
    """A code and everything above it."""
    return [code, *chain(tree, tree.parents[code])] if code >= 0 else []


def written_out(tree: Hierarchy, code: int, usable: list[bool]) -> set[Codes]:
    """The twin: a leaf's way up to the total, or without what it shares with another leaf's, which changes back."""
    ways = [chain(tree, leaf) for leaf in np.flatnonzero(tree.is_leaf).tolist()]
    found = {frozenset((c, 1) for c in way) for way in ways}
    for one in ways:
        for other in ways:
            rises, falls = set(one) - set(other), set(other) - set(one)
            if one != other:
                found.add(frozenset([(c, 1) for c in rises] + [(c, -1) for c in falls]))
    return {move for move in found if (code, 1) in move and all(usable[c] for c, _ in move)}


def walked(tree: Hierarchy, code: int, usable: list[bool]) -> set[Codes]:
    """What the kernel finds for one classification: ways down from the code, and up or across, each with each."""
    parent, start, parts = trees_of([tree])
    size = len(tree) + 1
    nothing = np.zeros(0, np.int64)
    people = np.zeros(len(tree) + 1, np.int64), nothing, np.zeros((0, 2)), np.zeros(1, np.int64), np.zeros(1, np.int64)
    room = np.where(np.array(usable)[:, None], 1.0, -np.inf) * np.ones((1, 2))
    pivot, sign = np.array([code]), np.zeros(1, np.int8)
    both = []
    for flip in (0, 1):
        ways, far = np.empty((size, 3), np.int64), np.empty((size, 2))
        number, _ = ways_of(
            1, code, flip, pivot, sign, 1, np.array([1.0, 1.0]), room, UP, 1.0, (parent, start, parts), False, people,
            np.zeros(2, np.int64), np.zeros(1, np.int64), 0, ways, far,
            np.empty((size, 3), np.int64), np.empty((size, 2)),
        )  # fmt: skip
        both.append(ways[:number].tolist())
    found = set()
    for low, below, _ in both[0]:
        for leaf, top, _ in both[1]:
            cells, signs = np.empty(size, np.int64), np.empty(size, np.int8)
            cells[0], signs[0], used = code, 0, 1
            for first, end, flip in ((low, below, 0), (code, top, 0), (leaf, top, 1)):
                used = shifted(
                    pivot, sign, 1, code, 1, parent, first, end, flip, cells, signs, used
                )  # fmt: skip
            found.add(frozenset(zip(cells[:used].tolist(), (1 - 2 * signs[:used]).tolist(), strict=True)))
    return found


@given(data=st.data())
def test_the_ways_of_a_code_are_all_elementary_moves_through_usable_codes(
    trees: st.SearchStrategy[dict[str, str]], data: st.DataObject
) -> None:
    tree = Hierarchy.from_parents(data.draw(trees))
    code = data.draw(st.integers(0, len(tree) - 1))
    usable = data.draw(st.lists(st.booleans(), min_size=len(tree), max_size=len(tree)))
    usable[code] = True
    assert walked(tree, code, usable) == written_out(tree, code, usable)


# --- who objects -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Judged:
    """A move in a line a, b, c, ... with its total, demands of its cells, and what insiders know."""

    moved: dict[int, float]
    up: list[float]
    down: list[float]
    demands: dict[int, list[tuple[int, float]]]
    """Of each cell: kind and amount, at most two."""
    knows: dict[int, dict[int, tuple[float, float]]]
    """Of each cell: who knows it, and how far up and down he leaves it."""
    homes: list[int]
    """The cell every insider contributes to; everybody contributes to the total."""
    whole: bool
    """Whether the move can be made in whole numbers only."""
    strict: bool
    """Whether amounts must be exceeded: whoever does not move at all does not exceed any."""

    def carries(self, cell: int, kind: int, amount: float, who: int | None) -> float:
        """How much farther than asked for the move carries a cell, as seen by an insider or (None) by anybody."""
        forth = back = math.inf
        for c, coefficient in self.moved.items():
            up, down = self.up[c] / abs(coefficient), self.down[c] / abs(coefficient)
            if who is not None and who in self.knows[c]:
                mine = self.knows[c][who]
                up, down = min(up, mine[0] / abs(coefficient)), min(down, mine[1] / abs(coefficient))
            forth, back = (min(forth, up), min(back, down)) if coefficient > 0 else (min(forth, down), min(back, up))
        if self.whole:
            forth, back = (x if math.isinf(x) else math.floor(x) for x in (forth, back))
        rise, fall = (forth, back) if self.moved[cell] > 0 else (back, forth)
        farther = abs(self.moved[cell]) * {UP: rise, DOWN: fall, LENGTH: rise + fall}[kind] - amount
        if abs(farther) > 1e-12 * amount:
            return farther
        return -1.0 if farther == amount == 0.0 and self.strict else 0.0

    def by_hand(self) -> dict[int, tuple[bool, set[int]]]:
        """The twin: demands the move settles, numbered cell by cell, whether that is a tie, and those who object.

        Somebody against whom it is a tie is -1 minus his number.
        """
        settled, number = {}, -1
        for cell in range(len(self.up)):
            for kind, amount in self.demands[cell]:
                number += 1
                if cell not in self.moved or self.carries(cell, kind, amount, None) < 0:
                    continue
                others = {who for c in self.moved for who in self.knows[c]} - set(self.knows[cell])
                asked = {who for who in others if cell not in (self.homes[who], len(self.up) - 1)}
                farther = {who: self.carries(cell, kind, amount, who) for who in asked}
                against = {who if far < 0 else -1 - who for who, far in farther.items() if far <= 0}
                settled[number] = self.carries(cell, kind, amount, None) == 0, against
        return settled

    def by_kernel(self) -> dict[int, tuple[bool, set[int]]]:
        """The same from the compiled loops."""
        size = len(self.up)
        asked = [(cell, *each) for cell in range(size) for each in self.demands[cell]]
        numbers = np.full((size, 2), -1, np.int64)
        for number, (cell, _, _) in enumerate(asked):
            numbers[cell, int(numbers[cell, 0] >= 0)] = number
        entries = [(cell, who, *rooms) for cell in range(size) for who, rooms in self.knows[cell].items()]
        start = np.searchsorted([cell for cell, *_ in entries], np.arange(size + 1)).astype(np.int64)

        def column(rows: list[Any], at: int, kind: type) -> Any:
            return np.array([row[at] for row in rows], dtype=kind)

        below = np.append(np.arange(size - 1), 0)
        settled, tied, first, objectors = _cover_kernels.judge(
            np.array(list(self.moved), np.int64), np.array(list(self.moved.values()), float), np.array(self.up),
            np.array(self.down), numbers, column(asked, 1, np.int64), column(asked, 2, float),
            np.full(len(asked), self.strict), self.whole,
            start, column(entries, 1, np.int64), column(entries, 2, float), column(entries, 3, float),
            np.array(self.homes, np.int64).reshape(-1, 1), below, np.zeros(1, np.int64), np.array([size]),
            np.zeros(0, np.int64),
        )  # fmt: skip
        found = {
            int(n): (bool(tied[i]), set(objectors[first[i] : first[i + 1]].tolist())) for i, n in enumerate(settled)
        }
        # of two cells he knows, one may be a tie where the other is not
        return {
            n: (tie, {who for who in against if -1 - who not in against or who >= 0})
            for n, (tie, against) in found.items()
        }


@st.composite
def judged(draw: st.DrawFn) -> Judged:
    """Insiders know cells exactly, as whoever is alone in them, or to within something, as the largest contributor."""
    size, exact, people = draw(st.integers(2, 6)), 2, 5
    amounts, cells = st.integers(0, 12).map(float), st.integers(0, size - 1)
    chosen = draw(st.lists(cells, min_size=1, max_size=size, unique=True))
    numbers = st.lists(amounts, min_size=size, max_size=size)
    demand = st.tuples(st.sampled_from([UP, DOWN, LENGTH]), amounts)
    known = {c: dict.fromkeys(draw(st.sets(st.integers(0, exact - 1))), (0.0, 0.0)) for c in range(size)}
    for who in 2 * [*range(exact, people)]:
        known[draw(cells)][who] = draw(amounts), draw(amounts)
    return Judged(
        moved={c: draw(st.sampled_from([-2.0, -1.0, 0.5, 1.0, 3.0])) for c in chosen},
        up=draw(numbers),
        down=draw(numbers),
        demands={c: draw(st.lists(demand, max_size=2)) for c in range(size)},
        knows=known,
        homes=draw(st.lists(st.integers(0, size - 2), min_size=people, max_size=people)),
        whole=draw(st.booleans()),
        strict=draw(st.booleans()),
    )


@given(judged())
def test_a_move_settles_what_it_carries_far_enough_and_those_object_who_know_better(case: Judged) -> None:
    assert case.by_kernel() == case.by_hand()
