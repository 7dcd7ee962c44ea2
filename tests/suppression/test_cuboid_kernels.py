"""Compiled loops over cuboids against twins that write every cuboid out."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diskret.model.arrays import Floats, Ints
from diskret.suppression.complete import _kernels as complete
from diskret.suppression.cuboid import _thin_kernels as thin

Cell = tuple[int, ...]
HIDDEN, SINGLE = thin.HIDDEN, thin.SINGLE


# --- cuboids of hidden cells in one subtable -------------------------------------------------------------------------


@dataclass(frozen=True)
class Subtable:
    """Two or three classifications without subtotals, the total last; some cells hidden, some of a single firm."""

    state: Any
    up: Floats
    down: Floats
    need: float

    @property
    def shape(self) -> Cell:
        return tuple(self.state.shape)

    def cuboids(self, pivot: Cell) -> dict[Cell, set[Cell]]:
        """The twin: diametral cells of all cuboids of hidden cells with room enough, and the singles they meet."""
        found = {}
        others = (sorted(set(range(n)) - {g}) for g, n in zip(pivot, self.shape, strict=True))
        for diametral in itertools.product(*others):
            corners = list(itertools.product(*zip(pivot, diametral, strict=True)))
            if not all(self.state[c] & HIDDEN for c in corners):
                continue
            up = min(self.up[c] if self.with_pivot(c, pivot, diametral) else self.down[c] for c in corners)
            down = min(self.down[c] if self.with_pivot(c, pivot, diametral) else self.up[c] for c in corners)
            if up + down > self.need:
                found[diametral] = {c for c in corners[1:] if self.state[c] & SINGLE}
        return found

    def with_pivot(self, corner: Cell, pivot: Cell, diametral: Cell) -> bool:
        """Whether a corner rises with the pivot: from part to part the sign turns, from part to total it does not."""
        changed = [a for a, (c, g) in enumerate(zip(corner, pivot, strict=True)) if c != g]
        return sum(self.shape[a] - 1 not in (pivot[a], diametral[a]) for a in changed) % 2 == 0

    def searched(self, pivot: Cell, guarded: bool) -> list[Cell]:
        """Diametral cells of the cuboids the kernel finds: none, a clean one, or two."""
        axes, corners = len(self.shape), 1 << len(self.shape)
        first = np.cumsum([0, *self.shape])
        items = np.concatenate([np.arange(n) for n in self.shape])
        strides = np.array([int(np.prod(self.shape[a + 1 :])) for a in range(axes)])

        def whole(*size: int) -> Ints:
            return np.empty(size, np.int64)

        space = (whole(axes), whole(axes), whole(axes), whole(axes, max(self.shape)), whole(axes), whole(corners),
                 whole(corners), np.empty(axes + 1), np.empty(axes + 1), whole(axes + 1),
                 whole(thin.MOST_WITH_SINGLES, 2), whole(thin.MOST_WITH_SINGLES, corners))  # fmt: skip
        found = whole(2)
        place = int(np.ravel_multi_index(pivot, self.shape))
        number = thin.hidden_cuboids(
            place, np.arange(axes), first, items, strides, self.state.reshape(-1),
            self.up.reshape(-1), self.down.reshape(-1), (self.need, 0.0, 0.0), guarded, found, space,
        )  # fmt: skip
        return [tuple(int(i) for i in np.unravel_index(c, self.shape)) for c in found[:number]]


@st.composite
def subtables(draw: st.DrawFn) -> Subtable:
    shape = draw(st.sampled_from([(3, 3), (3, 4), (4, 4), (3, 3, 3)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    state = np.where(rng.random(shape) < draw(st.sampled_from([0.6, 0.8, 1.0])), HIDDEN, 0)
    inner = np.zeros(shape, dtype=bool)
    inner[tuple(slice(n - 1) for n in shape)] = True
    state |= np.where(inner & (rng.random(shape) < draw(st.sampled_from([0.0, 0.3, 0.6]))), SINGLE, 0)
    up, down = (rng.integers(0, 6, shape).astype(np.float64) for _ in range(2))
    return Subtable(state.astype(np.uint8), up, down, draw(st.sampled_from([0.0, 2.0, 5.0])))


@given(subtables())
def test_a_cuboid_is_found_where_there_is_one_and_two_only_with_no_single_in_common(subtable: Subtable) -> None:
    for pivot in np.ndindex(*subtable.shape):
        if not subtable.state[pivot] & HIDDEN:
            continue
        possible = subtable.cuboids(pivot)
        plain, guarded = subtable.searched(pivot, False), subtable.searched(pivot, True)
        assert len(plain) == bool(possible)
        assert set(plain + guarded) <= set(possible)
        met = [possible[d] for d in guarded]
        assert met in ([], [set()]) or not met[0] & met[1]
        clean = any(not singles for singles in possible.values())
        pairs = itertools.combinations(possible.values(), 2)
        assert bool(guarded) == (clean or any(not one & other for one, other in pairs))


@given(st.data())
def test_corners_of_two_cells_mix_their_codes(data: st.DataObject) -> None:
    shape = data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4).map(tuple))
    one, other = (tuple(data.draw(st.integers(0, n - 1)) for n in shape) for _ in range(2))
    strides = np.array([int(np.prod(shape[a + 1 :])) for a in range(len(shape))])
    cells = np.empty(1 << len(shape), np.int64)
    flat = [int(np.ravel_multi_index(c, shape)) for c in (one, other)]
    number = thin.corners_of(*flat, strides, cells)
    mixed = {int(np.ravel_multi_index(c, shape)) for c in itertools.product(*zip(one, other, strict=True))}
    assert cells[0] == flat[0]
    assert sorted(cells[:number].tolist()) == sorted(mixed)


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
    combined = itertools.product(
        *(
            [(0, 1), *((step * stride, sign) for step, sign in face)]
            for face, stride in zip(faces, strides, strict=True)
        )
    )
    expected = sorted(
        (7 + sum(step for step, _ in each), int(np.prod([sign for _, sign in each]))) for each in combined
    )
    cells, parity = np.empty(len(expected), np.int64), np.empty(len(expected), np.int64)
    number = complete.product_cells(7, np.arange(len(faces)), *packed(faces, strides), cells, parity)
    assert number == len(expected)
    assert sorted(zip(cells.tolist(), parity.tolist(), strict=True)) == expected


@given(FACES, st.sets(st.integers(0, 8)))
def test_a_face_is_open_if_all_its_cells_on_the_line_of_the_pivot_are_usable(
    faces: list[Face], usable: set[int]
) -> None:
    start, shifts, _ = packed(faces, [1] * len(faces))
    allowed = np.array([c in usable for c in range(12)])
    found = complete.open_lines(2, start, shifts, allowed).tolist()
    assert found == [all(2 + step in usable for step, _ in face) for face in faces]
