"""The compiled steps of the cuboid searches against readable twins, cell for cell on random subtables."""

from __future__ import annotations

from itertools import combinations, product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Knowledge, MinCount, PPercent, Promise, Status, mark
from diskret.model.arrays import Ints
from diskret.model.trees import strides_of
from diskret.suppression import _corner_kernels, by_cuboids
from diskret.suppression._corner_kernels import HIDDEN, PRIMARY, SINGLE, USABLE, Asked, System, corners_of, person
from diskret.suppression.complete import _kernels as complete_kernels
from diskret.suppression.complete.by_complete import search_of
from diskret.suppression.complete.engine import in_turn
from diskret.suppression.cuboid import _kernels, _thin_kernels
from diskret.suppression.methods import Complete
from tests import by_hand

Cell = tuple[int, ...]
SHAPE = (4, 3, 3)
"""One subtable, its totals last on every axis."""


class Twin:
    """A subtable as sets of cells, with the cuboids of a pivot listed one by one."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.state = rng.choice([0, USABLE, HIDDEN, HIDDEN, HIDDEN], size=SHAPE).astype(np.uint8)
        self.state[rng.random(SHAPE) < 0.3] |= SINGLE
        self.state[(self.state & HIDDEN > 0) & (rng.random(SHAPE) < 0.4)] |= PRIMARY
        self.up, self.down = (rng.integers(0, 20, SHAPE).astype(np.float64) for _ in range(2))
        self.number = np.arange(prod(SHAPE)).reshape(SHAPE)
        if seed % 2:
            # a few owners share the single cells; the first of his cells is the number of each
            owner = np.where(self.state & SINGLE, rng.integers(0, 6, SHAPE), -1)
            for one in range(6):
                self.number[owner == one] = self.number[owner == one].min(initial=prod(SHAPE))

    @property
    def system(self) -> System:
        first = np.append(0, np.cumsum(SHAPE)).astype(np.int64)
        items = np.concatenate([np.arange(n) for n in SHAPE])
        return System(first=first, items=items, strides=strides_of(SHAPE), person=self.number.reshape(-1))

    def person(self, cell: Cell) -> int | None:
        """Who is alone in a cell: the one owner of the singles inside, unless one and it are protected together."""
        parts = list(product(*(range(n - 1) if i == n - 1 else [i] for i, n in zip(cell, SHAPE, strict=True))))
        if parts == [cell]:
            return int(self.number[cell])
        singles = [c for c in parts if self.state[c] & SINGLE]
        others = [c for c in parts if not self.state[c] & SINGLE and self.state[c] & (USABLE | HIDDEN)]
        owners = {int(self.number[c]) for c in singles}
        if len(owners) != 1 or (len(singles) == 1 and not others and self.state[singles[0]] & PRIMARY):
            return None
        return owners.pop()

    def cuboids(self, pivot: Cell) -> list[tuple[list[Cell], float, float]]:
        """Cells, rise and fall of every cuboid of hidden cells."""
        found = []
        for diametral in product(*([i for i in range(n) if i != p] for n, p in zip(SHAPE, pivot, strict=True))):
            cells = list(product(*zip(pivot, diametral, strict=True)))
            if not all(self.state[c] & HIDDEN for c in cells):
                continue
            rise = fall = np.inf
            for c in cells:
                moved = [i for i in range(3) if c[i] != pivot[i] and SHAPE[i] - 1 not in (pivot[i], diametral[i])]
                with_pivot = len(moved) % 2 == 0
                rise = min(rise, (self.up if with_pivot else self.down)[c])
                fall = min(fall, (self.down if with_pivot else self.up)[c])
            found.append((cells, float(rise), float(fall)))
        return found

    def others_in(self, cells: list[Cell], pivot: Cell) -> set[int]:
        """Single contributors of a cuboid that are somebody else than the pivot's own."""
        own = self.person(pivot) if self.state[pivot] & SINGLE else flat(pivot)
        people = {self.person(c) for c in cells if c != pivot and self.state[c] & SINGLE}
        return {p for p in people if p is not None and p != own}


def flat(cell: Cell) -> int:
    return int(np.ravel_multi_index(cell, SHAPE))


@pytest.mark.parametrize("seed", range(20))
def test_the_single_behind_a_margin_is_the_one_that_feeds_it(seed: int) -> None:
    twin = Twin(seed)
    row = np.arange(3)
    for cell in product(*map(range, SHAPE)):
        expected = twin.person(cell)
        found = person(flat(cell), row, twin.system, twin.state.reshape(-1))
        assert found == (-1 if expected is None else expected)


def test_the_corners_of_two_cells_are_all_mixtures_of_their_codes() -> None:
    cells: Ints = np.empty(8, dtype=np.int64)
    for g, d in product(product(*map(range, SHAPE)), repeat=2):
        number = corners_of(flat(g), flat(d), strides_of(SHAPE), cells)
        assert set(cells[:number].tolist()) == {flat(c) for c in product(*zip(g, d, strict=True))}
        assert (cells[0], cells[number - 1]) == (flat(g), flat(d))


@pytest.mark.parametrize("guarded", [True, False])
@pytest.mark.parametrize("seed", range(20))
def test_thinning_finds_other_cuboids_exactly_where_there_are_any(seed: int, guarded: bool) -> None:
    twin, need = Twin(seed), 3.0
    asked: Any = (need, 0.0, 0.0)
    axes, corners = 3, 8
    space = (
        *(np.empty(axes, np.int64) for _ in range(3)), np.empty((axes, 4), np.int64), np.empty(axes, np.int64),
        np.empty(corners, np.int64), np.empty(corners, np.int64), np.empty(axes + 1), np.empty(axes + 1),
        np.empty(axes + 1, np.int64), np.empty((_thin_kernels.MOST_WITH_SINGLES, 2), np.int64),
        np.empty((_thin_kernels.MOST_WITH_SINGLES, corners), np.int64),
    )  # fmt: skip
    nothing = np.zeros(twin.state.size)
    cells = (twin.state.reshape(-1), twin.up.reshape(-1), twin.down.reshape(-1), (nothing, nothing, nothing))
    for pivot in product(*map(range, SHAPE)):
        if not twin.state[pivot] & HIDDEN:
            continue
        wide = [c for c, rise, fall in twin.cuboids(pivot) if rise + fall > need]
        people = [twin.others_in(c, pivot) if guarded else set() for c in wide]
        expected = 1 if any(not p for p in people) else 2 if any(not a & b for a, b in combinations(people, 2)) else 0
        found = _thin_kernels.hidden_cuboids(
            flat(pivot), np.arange(3), twin.system, cells, Asked(*asked), guarded, np.empty(2, np.int64), space
        )
        # a pair may be met before a clean cuboid: either protects
        assert (found > 0) == (expected > 0)
        assert found == 1 or expected != 1 or found == 2


@pytest.mark.parametrize("seed", range(6))
def test_the_best_cuboid_of_a_complete_table_is_the_first_of_all(seed: int) -> None:
    table = mark(by_hand.firms(seed, axes=2, empty=0.1).table, MinCount(3) | PPercent(10), special_cases=False)
    promise = Promise(guard="public", levels=False, knowledge=Knowledge.positive())
    search = search_of(table, promise, Complete(deformations=0))
    task = search.task
    for pivot in in_turn(task).tolist():
        at = np.unravel_index(pivot, task.shape)
        listed = [search.faces_up_to(c, int(code), search.last_range(c, int(code))) for c, code in enumerate(at)]
        ranks = []
        for faces in product(*(f.sets() for f in listed)):
            signed = [{int(code): 1} | face for code, face in zip(at, faces, strict=True)]
            cells = {int(np.ravel_multi_index(c, task.shape)): s for c, s in products(signed)}
            rise = min(task.up[c] if s > 0 else task.down[c] for c, s in cells.items())
            fall = min(task.down[c] if s > 0 else task.up[c] for c, s in cells.items())
            if all(task.usable[c] for c in cells) and rise + fall > task.needs[0][pivot]:
                fresh = [c for c in cells if not task.hidden[c]]
                ranks.append((len(fresh), task.rank[fresh].sum(), task.cost[fresh].sum()))
        found = search.best(pivot, listed, task.usable)
        assert bool(found) == bool(ranks)
        if found:
            assert found[0].rank == pytest.approx(min(ranks))


def products(signed: list[dict[int, int]]) -> list[tuple[Cell, int]]:
    """All combinations of the codes of several faces, with the products of their signs."""
    return [
        (tuple(code for code, _ in chosen), int(np.prod([sign for _, sign in chosen])))
        for chosen in product(*(face.items() for face in signed))
    ]


def test_no_compiled_kernel_is_older_than_the_steps_it_calls() -> None:
    """A kernel on disk does not notice that a function it calls was changed in another file."""
    steps = Path(str(_corner_kernels.__file__))
    kernels = [Path(str(module.__file__)) for module in (_kernels, _thin_kernels, complete_kernels)]
    stale = [
        index.name
        for kernel in kernels
        for index in (kernel.parent / "__pycache__").glob(f"{kernel.stem}.*.nbi")
        if kernel.stat().st_mtime < index.stat().st_mtime < steps.stat().st_mtime
    ]
    assert not stale, "compiled before the last change of _corner_kernels.py; find src -name '*.nb[ic]' -delete"


def test_a_pattern_has_hidden_its_primaries() -> None:
    table = mark(by_hand.firms(1, axes=2, empty=0.1).table, MinCount(3), special_cases=False)
    state = by_cuboids.state_of(table, "marked")
    assert ((state & PRIMARY > 0) == (table.status == Status.PRIMARY).reshape(-1)).all()
    assert ((state & HIDDEN > 0) == table.hidden.reshape(-1)).all()


# --- products of faces -----------------------------------------------------------------------------------------------

Face = list[tuple[int, int]]
"""Steps away from the pivot with their signs."""
FACES = st.lists(st.lists(st.tuples(st.integers(1, 4), st.sampled_from([1, -1])), min_size=1, max_size=3), max_size=3)


def packed(faces: list[Face], strides: list[int]) -> tuple[Ints, Ints, Ints]:
    """Faces end to end, steps through a flat table."""
    start = np.cumsum([0, *map(len, faces)])
    shifts = [step * stride for face, stride in zip(faces, strides, strict=True) for step, _ in face]
    return start, np.array(shifts, dtype=np.int64), np.array([s for face in faces for _, s in face], dtype=np.int64)


@given(FACES)
def test_the_cells_of_a_product_are_all_combinations_of_its_faces(faces: list[Face]) -> None:
    strides = [10**a for a in range(len(faces))]
    combined = product(
        *(
            [(0, 1), *((step * stride, sign) for step, sign in face)]
            for face, stride in zip(faces, strides, strict=True)
        )
    )
    expected = sorted(
        (7 + sum(step for step, _ in each), int(np.prod([sign for _, sign in each]))) for each in combined
    )
    cells, parity = np.empty(len(expected), np.int64), np.empty(len(expected), np.int64)
    number = complete_kernels.product_cells(7, np.arange(len(faces)), *packed(faces, strides), cells, parity)
    assert number == len(expected)
    assert sorted(zip(cells.tolist(), parity.tolist(), strict=True)) == expected


@given(FACES, st.sets(st.integers(0, 8)))
def test_a_face_is_open_if_all_its_cells_on_the_line_of_the_pivot_are_usable(
    faces: list[Face], usable: set[int]
) -> None:
    start, shifts, _ = packed(faces, [1] * len(faces))
    allowed = np.array([c in usable for c in range(12)])
    found = complete_kernels.open_lines(2, start, shifts, allowed).tolist()
    assert found == [all(2 + step in usable for step, _ in face) for face in faces]
