"""Compiled loops do what a slow, readable twin does."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret.safe import _cell_kernels, _printed_kernels, _search_kernels
from diskret.safe._search_kernels import Chance, Groups
from diskret.safe.control import Control, control_tables, key_levels
from diskret.safe.control_cells import ControlCells, control_cells
from diskret.safe.field import Field
from diskret.safe.options import LadderSearch
from diskret.safe.start import rounded_start, with_total
from diskret.tabulation.combinations import Combinations, count_combinations
from tests.safe.conftest import ATTRIBUTES, made_persons
from tests.safe.readable_step import decide, variants

Counted = tuple[Combinations, ControlCells]


@pytest.fixture(params=["worked out", "listed"])
def either(request: pytest.FixtureRequest, counted: Counted, monkeypatch: pytest.MonkeyPatch) -> Counted:
    """The same file, its places worked out from codes or listed row by row."""
    if request.param == "worked out":
        return counted
    monkeypatch.setattr("diskret.safe.control_cells.SMALL", 0)
    monkeypatch.setattr("diskret.safe.control_cells.SPARSE", 0)
    found, cells = counted
    listed = control_cells(found, cells.tables)
    assert listed.places.listed.shape[1] == len(cells.tables) > cells.places.listed.shape[1] == 0
    return found, listed


# --- control cells ---------------------------------------------------------------------------------------------------


def test_cells_are_the_groups_of_a_group_by(persons: dict[str, Any], either: Counted) -> None:
    """Every control table, tabulated object by object from the data."""
    found, cells = either
    position = {name: {c: i for i, c in enumerate(h.codes)} for name, h in found.by.items()}
    maps = {level: to for name, h in found.by.items() for level, to in key_levels(name, h).items()}
    for t, table in enumerate(cells.tables):
        columns = [[int(maps[lv][position[lv.attribute][c]]) for c in persons[lv.attribute]] for lv in table.levels]
        expected = Counter(zip(*columns, strict=True))
        of_rows = list(
            zip(*(maps[lv][found.codes[:, list(found.by).index(lv.attribute)]] for lv in table.levels), strict=True)
        )
        seen = {tuple(int(c) for c in key): int(cells.original[cells.number[j, t]]) for j, key in enumerate(of_rows)}
        assert seen == expected
        assert cells.first[t + 1] - cells.first[t] == len(expected)


def test_cells_are_counted_row_by_row(either: Counted) -> None:
    found, cells = either
    totals = cells.deviation(found.frequency) + cells.original
    expected: Counter[int] = Counter()
    for row, frequency in zip(cells.number.tolist(), found.frequency.tolist(), strict=True):
        for cell in row:
            expected[cell] += frequency
    assert totals.tolist() == [expected[c] for c in range(cells.size)]


def test_large_tables_are_numbered_by_sorting_in_the_same_way(
    counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, cells = counted
    monkeypatch.setattr("diskret.safe.control_cells.MOST_DENSE", 1)
    again = control_cells(found, cells.tables)
    assert np.array_equal(again.number, cells.number)
    assert np.array_equal(again.original, cells.original)


# --- the default search ----------------------------------------------------------------------------------------------


def cold(seed: int) -> Chance:
    """No warmth: the cheapest move is made."""
    return Chance(seed=seed, warmth=np.float32(0), noise=np.zeros(4096, dtype=np.float32))


def penalty(size: float, limit: int) -> float:
    return 3.0 * (size / (limit + 1)) ** 2 + max(0.0, size - limit)


def recounted(field: Field, x: np.ndarray, rows: list[int], change: tuple[int, ...], weight: np.ndarray) -> float:
    """Price of a change by tabulating the whole file before and after."""
    after = x.copy()
    for row, d in zip(rows, change, strict=True):
        after[row] += d
    limits = field.penalty.limit
    before, now = (np.abs(field.deviation(f)) for f in (x, after))
    return sum(
        float(weight[c]) * (penalty(float(now[c]), int(limits[c])) - penalty(float(before[c]), int(limits[c])))
        for c in np.flatnonzero(before != now)
    )


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("kind", ["ladder", "squares"])
def test_a_group_makes_the_cheapest_of_all_moves(either: Counted, k: int, kind: str) -> None:
    """One walk over the cells prices what recounting the file prices, for any weights."""
    found, cells = either
    random = np.random.default_rng(k)
    g = np.zeros(cells.size, dtype=np.int32)
    field = Field(found, cells, g, k, LadderSearch(swaps=0.0), seed=1)
    x = rounded_start(found.frequency, k).astype(np.int32)
    weight = random.integers(1, 9, cells.places_size + 1).astype(np.float32)
    weight[-1] = 0
    moved = 0
    for i in range(60):
        if kind == "ladder":
            field.ladder(x, (1, 2, 3), weight, (9, 9, 9))
        else:
            field.squares(x)
        rows = random.integers(0, len(x), 1).astype(np.int32)
        which = np.full(1, -1, dtype=np.int16)
        bits = np.uint64(_search_kernels._mixed(np.uint64(i)))
        r2, r3 = _search_kernels._neighbours(int(rows[0]), -1, bits, *field.ground[:3])
        if r2 < 0:
            continue
        group = [int(rows[0]), int(r2), int(r3)]
        prices: dict[tuple[int, ...], float] = {}
        for d1, d2 in product(range(-k, k + 1), repeat=2):
            change = (d1, d2, -d1 - d2)
            after = [int(x[r]) + d for r, d in zip(group, change, strict=True)]
            if abs(d1 + d2) > k or any(a != 0 and a < k for a in after):
                continue
            if kind == "ladder":
                prices[change] = recounted(field, x, group, change, weight)
            else:
                new = x.copy()
                new[group] = after
                heavy = np.where(cells.dimension == 1, 3, 1)
                squares = [(heavy * cells.deviation(f) ** 2).sum() for f in (x, new)]
                prices[change] = float(squares[1] - squares[0])
        groups = Groups(rows=rows, which=which, wanted=np.zeros(1, dtype=np.uint8))
        rest = field.ground, field.places, field.penalty, cold(i), x
        before = x.copy()
        _search_kernels.run_groups(groups, 0, 1, *rest, False)
        assert np.array_equal(x, before)
        _search_kernels.run_groups(groups, 0, 1, *rest, True)
        made = tuple(int(x[r] - before[r]) for r in group)
        assert prices[made] == pytest.approx(min(prices.values()), abs=0.02)
        assert (made != (0, 0, 0)) == (min(prices.values()) < -0.01) or abs(min(prices.values())) < 0.02
        moved += made != (0, 0, 0)
        deviation = field.penalty.state[:-1] - field.penalty.base
        assert np.array_equal(deviation, field.deviation(x))
    assert moved > 5


@pytest.mark.parametrize("kind", ["ladder", "squares"])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_swap_makes_the_cheapest_of_all_exchanges(either: Counted, k: int, kind: str) -> None:
    """Four rows: what rows 1 and 4 gain rows 2 and 3 lose, and objects exchange the attributes in which they differ."""
    found, cells = either
    random = np.random.default_rng(k)
    field = Field(found, cells, np.zeros(cells.size, dtype=np.int32), k, LadderSearch(), seed=1)
    assert (np.diff(field.ground.key) > 0).all()
    x = rounded_start(found.frequency, k).astype(np.int32)
    weight = np.append(random.integers(1, 9, cells.places_size), 0).astype(np.float32)
    h = np.empty(field.penalty.step.shape[1], dtype=np.float32)
    seen = 0
    while seen < 25:
        r1, r2, r3 = (int(r) for r in random.integers(0, len(x), 3))
        r4 = int(_search_kernels._fourth(r1, r2, r3, found.codes, field.ground.key))
        one, two, three = (found.codes[r] for r in (r1, r2, r3))
        fits = bool(np.where(one != two, one == three, True).all()) and bool((one != three).any())
        wanted = np.where(one != two, two, three)
        there = np.flatnonzero((found.codes == wanted).all(axis=1))
        assert r4 == (int(there[0]) if fits and there.size else -1)
        if r4 < 0 or len({r1, r2, r3, r4}) < 4:
            continue
        seen += 1
        if kind == "ladder":
            field.ladder(x, (1, 2, 3), weight, (9, 9, 9))
        else:
            field.squares(x)
        state, heavy, weights, step = (field.penalty[i] for i in (0, 4, 5, 6))
        places = cells.places
        value, lists = np.zeros((4, places.base.size), np.int32), np.zeros((7, 2 * len(cells.tables) + 2), np.int32)
        for lane, row in enumerate((r1, r2, r3, r4)):
            _cell_kernels.locate.py_func(
                row, places.level, places.parent, places.at, places.size, places.listed, value[lane]
            )
        _search_kernels._walk_swap(
            r1, r2, k, *field.ground[5:7], places.base, value, state, heavy, weights, step, lists, h
        )
        prices = {0: 0.0}
        for d in range(-k, k + 1):
            change = (d, -d, -d, d)
            after = x.copy()
            after[[r1, r2, r3, r4]] += np.array(change, dtype=np.int32)
            if kind == "ladder":
                price = recounted(field, x, [r1, r2, r3, r4], change, weight)
            else:
                heavy = np.where(cells.dimension == 1, 3, 1)
                price = float(np.subtract(*[(heavy * cells.deviation(f) ** 2).sum() for f in (after, x)]))
            assert h[d + k] == pytest.approx(price, rel=1e-4, abs=0.02)
            if all(v == 0 or v >= k for v in after[[r1, r2, r3, r4]]):
                prices[d] = price
        frequencies = (x[r1], x[r2], x[r3], x[r4])
        chosen = int(_search_kernels._choose_swap(frequencies, k, h, np.float32(0), cold(0).noise, np.uint64(1)))
        assert prices[chosen] == pytest.approx(min(prices.values()), abs=0.02)


def test_cells_beyond_their_limit() -> None:
    state = np.arange(-5, 6, dtype=np.int32)
    listed = np.empty(11, dtype=np.int32)
    n = _search_kernels.find_over(state, np.zeros(11, np.int32), np.full(11, 3, np.int32), listed)
    assert listed[:n].tolist() == [0, 1, 9, 10]


def test_rows_drawn_for_a_cell_are_counted_in_it(either: Counted) -> None:
    """From every cell, whether its rows are found by two of its codes or listed; occupied ones if it is too large."""
    found, cells = either
    field = Field(found, cells, np.zeros(cells.size, dtype=np.int32), 3, LadderSearch(), seed=1)
    x = rounded_start(found.frequency, 3).astype(np.int32)
    field.ladder(x, (0, 0, 0), field.equal_weights(), (99, 99, 99))
    deviation = field.deviation(x)
    names = list(found.by)
    for cell, place in enumerate(cells.occurring.tolist()):
        drawn, which = _search_kernels.draw(
            np.array([place], np.int32), 5, 7 * cell, field.penalty, field.places, field.index, field.exits, x
        )
        table = cells.tables[int(np.searchsorted(cells.first, cell, side="right")) - 1]
        crossed = {names.index(level.attribute) for level in table.levels}
        assert drawn.size == 5 or (deviation[place] > 0 and drawn.size == 0)
        assert all(cell in cells.number[row] for row in drawn)
        assert {int(w) % len(names) for w in which} <= crossed
        assert deviation[place] <= 0 or all(x[row] > 0 for row in drawn)


def test_a_cell_whose_rows_are_few_among_many_is_drawn_from() -> None:
    """Whichever two of its codes lead to it, one row of 301 is in the cell: 64 of them seldom hold it."""
    lines = [("a0", "b0", "c0", "d000")]
    for i in range(300):
        lines += [("a0", "b0", "c1", f"d{i:03}"), ("a0", "b1", "c0", f"d{i:03}"), ("a1", "b0", "c0", f"d{i:03}")]
    columns = dict(zip("abcd", map(list, zip(*lines, strict=True)), strict=True))
    found = count_combinations(columns, by=dict.fromkeys("abcd"))
    cells = control_cells(found, control_tables(Control(), found.by))
    field = Field(found, cells, np.zeros(cells.size, dtype=np.int32), 3, LadderSearch(), seed=1)
    x = np.ones(found.frequency.size, dtype=np.int32)
    field.ladder(x, (0, 0, 0), field.equal_weights(), (99, 99, 99))
    row = int(np.flatnonzero((found.codes == 0).all(axis=1))[0])
    table = next(t for t, each in enumerate(cells.tables) if [lv.attribute for lv in each.levels] == ["a", "b", "c"])
    place = cells.occurring[cells.number[row][table]]
    for seed in range(20):
        drawn, _ = _search_kernels.draw(
            np.array([place], np.int32), 1, seed, field.penalty, field.places, field.index, field.exits, x
        )
        assert drawn.tolist() == [row]


# --- the printed method ----------------------------------------------------------------------------------------------


def printed_pass(
    sequence: list[int], size: int, k: int, phase: int, cells: ControlCells, x: np.ndarray, limit: np.ndarray,
    total: int,
) -> None:  # fmt: skip
    """A pass by the readable step: every group, all variants, the best one."""
    objects = int(x.sum())
    deviation = {str(c): int(f) for c, f in enumerate(cells.deviation(x))} | {"total": 0}
    limits = {str(c): int(b) for c, b in enumerate(limit)} | {"total": total}
    for first in range(len(sequence)):
        rows = sequence[first : first + size]
        touched = [[*map(str, cells.number[r]), "total"] for r in rows]
        deviation |= {str(c): int(f) for c, f in enumerate(cells.deviation(x))} | {"total": int(x.sum()) - objects}
        chosen = decide(variants([int(x[r]) for r in rows], touched, deviation, limits, k=k, phase=phase))
        if chosen is not None:
            x[rows] += np.array(chosen.change)


@given(seed=st.integers(0, 10_000), size=st.sampled_from([3, 4]), k=st.integers(2, 4), phase=st.sampled_from([1, 2]))
@settings(max_examples=25)
def test_a_printed_pass_is_a_pass_by_the_readable_step(seed: int, size: int, k: int, phase: int) -> None:
    found = count_combinations(made_persons(60, seed), by=ATTRIBUTES)
    cells = control_cells(found, control_tables(Control(up_to=2), found.by))
    random = np.random.default_rng(seed)
    x = found.frequency.copy() if phase == 1 else rounded_start(found.frequency, k)
    limit = random.integers(1, 4, cells.size).astype(np.int32)
    if phase == 1:
        limit = np.maximum(limit, 2).astype(np.int32)
    sequence = np.sort(random.permutation(len(x))[:14])
    twin = x.copy()
    printed_pass(sequence.tolist(), size, k, phase, cells, twin, limit, total=k - 1)
    deviation = np.zeros(cells.size + 1, dtype=np.int32)
    deviation[:-1] = cells.deviation(x)
    step = _printed_kernels.Step(
        number=cells.number, deviation=deviation, limit=limit, x=x, total=np.array([0, k - 1]), k=k, phase=phase
    )
    _printed_kernels.run_pass(sequence, 0, sequence.size, size, step)
    assert np.array_equal(x, twin)
    assert np.array_equal(deviation[:-1], cells.deviation(x))


# --- the start -------------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 9), min_size=1, max_size=30), st.integers(2, 6))
def test_the_rounded_start_is_anonymous_and_keeps_the_total(frequency: list[int], k: int) -> None:
    objects = sum(frequency)
    if objects < k:
        return
    x = rounded_start(np.array(frequency), k)
    assert int(x.sum()) == objects
    assert all(v == 0 or v >= k for v in x.tolist())


@given(st.lists(st.integers(0, 4), min_size=1, max_size=12), st.integers(2, 5), st.integers(0, 40))
def test_any_anonymous_file_can_be_given_any_total(rows: list[int], k: int, objects: int) -> None:
    if 0 < objects < k:
        return
    x = with_total(np.array([k + r - 1 if r else 0 for r in rows]), objects, k)
    assert int(x.sum()) == objects
    assert all(v == 0 or v >= k for v in x.tolist())
