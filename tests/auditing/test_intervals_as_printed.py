"""Intervals by the printed rule: its golden numbers, its slow twin, and that it warns."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace
from itertools import combinations, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diskret as dk
from diskret import Hierarchy, Knowledge, Pool, Promise, Status, Table
from diskret.auditing.printed_intervals import complete_cells
from diskret.auditing.published_intervals import Intervals

USUAL = Promise()
GOLDEN = Path(__file__).parents[1] / "golden" / "quader"


def golden(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return content


def as_printed(said: dict[str, Any]) -> Table:
    by = {}
    for d in said["dims"]:
        parts = {p: whole for whole, below in d["children"].items() for p in below}
        by[d["name"]] = Hierarchy.from_parents(parts)
    cells = said["cells"]
    columns: dict[str, Any] = {name: [c["coord"][i] for c in cells] for i, name in enumerate(by)}
    columns |= {"x": [c["value"] for c in cells], "status": [c["status"].replace("empty", "zero") for c in cells]}
    return Table.from_cells(columns, by=by, value="x", status="status", positive=True)


def printed_intervals(table: Table, promise: Promise = USUAL, decimals: int | None = None) -> Intervals:
    with pytest.warns(
        dk.ProtectionWarning, match="whoever knows how they are made can compute hidden values from them"
    ):
        return dk.printed_intervals(table, promise, decimals=decimals)


def test_the_printed_intervals_of_three_cells_in_a_line_tell_all_three_values() -> None:
    cells = {"s": list("abcd"), "x": [50, 40, 10, 1], "st": ["secondary", "secondary", "primary", "open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    found = printed_intervals(table)
    ends = [found.of(code) for code in "abc"]
    assert ends == [(0.0, 90.0), (0.0, 90.0), (0.0, 60.0)]
    # the construction: each upper end is the sum of the two largest partners; three equations, three values
    assert [100.0 - upper for upper in (90.0, 60.0)] == [10.0, 40.0]


def test_the_printed_rule_gives_the_union_over_all_complete_cuboids() -> None:
    table = as_printed(golden("ch3-fig3.0-span125-zero-partners")["table"])
    said = golden("ch3-derived-interval-output-union")["expected"]
    found = printed_intervals(table)
    for cell in said["output_intervals"]:
        lower, upper = found.of(*cell["coord"]) or (np.nan, np.nan)
        assert (lower, upper) == (cell["lower"], cell["upper"]), cell["coord"]
        assert cell["lp_lower"] <= lower <= cell["value"] <= upper <= cell["lp_upper"]
    assert found.count == len(said["output_intervals"])
    assert all(found.of(*codes) is None for codes in said["not_publishable_as_interval"])


def test_with_the_required_range_the_intervals_still_protect() -> None:
    table = as_printed(golden("ch3-fig3.0-span125-zero-partners")["table"])
    wanted = Promise(min_relative_range=1.25, levels=False)
    found = printed_intervals(table, wanted)
    assert dk.audit(found.known(), replace(wanted, knowledge=Knowledge.intervals())).safe


# --- a slow twin, written from the rule ------------------------------------------------------------------------------


def union_by_hand(table: Table) -> dict[tuple[int, ...], tuple[float, float]]:
    """Every set of 2^n hidden cells that form a box inside one subtable, and what it says about its corners."""
    once = complete_cells(table).reshape(table.shape) & table.hidden
    found: dict[tuple[int, ...], tuple[float, float]] = {}
    lines = [list(combinations(range(n), 2)) for n in table.shape]
    for box in product(*lines):
        if not all(_one_subtable(h, pair) for h, pair in zip(table.hierarchies, box, strict=True)):
            continue
        corners = list(product(*box))
        if not all(once[c] and not _below_overlap(table, once, c) for c in corners):
            continue
        odd = {c: _sign(table, box, c) < 0 for c in corners}
        plus = min((float(table.value[c]) for c in corners if odd[c]), default=np.inf)
        minus = min((float(table.value[c]) for c in corners if not odd[c]), default=np.inf)
        if plus + minus > 0:
            for c in corners:
                down, up = (plus, minus) if odd[c] else (minus, plus)
                low, high = found.get(c, (np.inf, -np.inf))
                found[c] = min(low, float(table.value[c]) - down), max(high, float(table.value[c]) + up)
    return {c: ends for c, ends in found.items() if np.isfinite(ends).all()}


def _below_overlap(table: Table, once: Any, corner: tuple[int, ...]) -> bool:
    """Whether a line of the cell adds up to a hidden sum that stands in several subtables."""
    for axis, h in enumerate(table.hierarchies):
        if h.parents[corner[axis]] >= 0:
            above = (*corner[:axis], h.parents[corner[axis]], *corner[axis + 1 :])
            if table.hidden[above] and not once[above]:
                return True
    return False


def _one_subtable(hierarchy: Hierarchy, pair: tuple[int, int]) -> bool:
    one, other = pair
    parents = hierarchy.parents
    return parents[one] == parents[other] or other == parents[one] or one == parents[other]


def _sign(table: Table, box: tuple[tuple[int, int], ...], corner: tuple[int, ...]) -> int:
    sign = 1
    for h, (first, second), at in zip(table.hierarchies, box, corner, strict=True):
        if at == second and h.parents[first] != second:
            sign = -sign
    return sign


@st.composite
def hidden_tables(draw: st.DrawFn) -> Table:
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    names = draw(st.sampled_from([1, 2, 2, 3]))
    nested = Hierarchy.from_nested({"T": {"A": ["a", "b", "c"], "B": ["d", "e"]}})
    by = {f"k{i}": nested if i == 0 and rng.random() < 0.6 else Hierarchy.flat("uvw") for i in range(names)}
    leaves = [[c for c, leaf in zip(h.codes, h.is_leaf, strict=True) if leaf] for h in by.values()]
    cells: dict[str, Any] = {n: [] for n in by} | {"x": []}
    for codes in product(*leaves):
        for n, c in zip(by, codes, strict=True):
            cells[n].append(c)
        cells["x"].append(int(rng.integers(0, 20)))
    table = Table.from_cells(cells, by=by, value="x")
    pattern = rng.random(table.shape) < 0.6
    hidden = [table.codes(tuple(i)) for i in np.argwhere(pattern).tolist()]
    return table.with_status(Status.SECONDARY, hidden)


@settings(max_examples=60, deadline=None)
@given(hidden_tables())
def test_intervals_are_the_union_by_hand(table: Table) -> None:
    found = printed_intervals(table)
    by_hand = union_by_hand(table)
    cells = [tuple(i) for i in np.argwhere(np.isfinite(found.lower)).tolist()]
    got = {c: (found.lower[c], found.upper[c]) for c in cells}
    assert got == by_hand


@settings(max_examples=25, deadline=None)
@given(hidden_tables(), st.integers(0, 10**6))
def test_nothing_is_exposed_by_intervals_that_was_not_before(table: Table, seed: int) -> None:
    rng = np.random.default_rng(seed)
    primary = table.hidden & (rng.random(table.shape) < 0.3)
    table = table.with_status(Status.PRIMARY, [table.codes(tuple(i)) for i in np.argwhere(primary).tolist()])
    wanted = Promise(min_relative_range=0.5, levels=False)
    before = {e.cell for e in dk.audit(table, wanted).exposed}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        found = dk.printed_intervals(table, wanted)
    assert any("exposed" in str(w.message) for w in caught) == bool(before)
    value = table.value
    inside = np.isfinite(found.lower)
    assert (found.lower[inside] <= value[inside]).all()
    assert (found.upper[inside] >= value[inside]).all()
    known = found.known()
    if inside.any():
        assert known.lower is not None
        assert (known.lower >= 0).all()  # nobody forgets that values are positive
        after = {e.cell for e in dk.audit(known, replace(wanted, knowledge=Knowledge.intervals())).exposed}
        assert after <= before


# --- overlaps -------------------------------------------------------------------------------------------------------


def square(status: str = "secondary") -> Table:
    cells = {"s": list("aabb"), "t": list("uvuv"), "x": [13, 94, 21, 32], "st": ["primary", *[status] * 3]}
    return Table.from_cells(cells, by={"s": None, "t": None}, value="x", status="st")


def test_cells_of_overlaps_get_no_interval() -> None:
    cells = {"w": ["x", "y"], "x": [5, 8], "st": ["secondary", "secondary"]}
    finer = Table.from_cells(cells, by={"w": Hierarchy.flat("xy")}, value="x", status="st")
    pool = Pool.of({"square": square(), "finer": finer}, fixed={"finer": {"s": "a", "t": "u"}})
    found = printed_intervals(pool).split()
    assert found["square"].count == 0  # its one cuboid has the shared corner
    assert found["finer"].count == 0  # [0; 13] twice would tell the shared sum
    assert printed_intervals(square()).count == 4


def test_printed_intervals_are_rounded_outwards() -> None:
    assert printed_intervals(square()).of("a", "u") == (0.0, 34.0)
    assert printed_intervals(square(), decimals=-1).of("a", "u") == (0.0, 40.0)
    assert printed_intervals(square(), decimals=-1).of("b", "v") == (10.0, 60.0)
