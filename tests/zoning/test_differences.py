"""What sums and differences of zone totals give away: against all unions, an independent solver, and by hand."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from diskret.model.errors import BadOption, DuplicateCell, UnknownCode
from diskret.zoning._reach_kernels import slacks
from diskret.zoning.differences import Differences, find_differences, reach
from diskret.zoning.zones import Zoning

Counts = npt.NDArray[Any]


def zoning_of(counts: Counts) -> Zoning:
    """One overlap for every pair of zones with units."""
    a, b = np.nonzero(counts)
    return Zoning.from_overlaps(("d", "g"), [str(i) for i in a], [str(i) for i in b], counts[a, b])


counts = (
    st.integers(1, 4)
    .flatmap(
        lambda rows: st.integers(1, 4).flatmap(
            lambda columns: st.lists(
                st.sampled_from([0, 0, 0, 1, 2, 3, 5]), min_size=rows * columns, max_size=rows * columns
            ).map(lambda cells: np.array(cells).reshape(rows, columns))
        )
    )
    .filter(lambda m: bool(m.any()))
)


def unions(size: int) -> chain[tuple[int, ...]]:
    """All sets of zones."""
    return chain.from_iterable(combinations(range(size), k) for k in range(size + 1))


@given(counts)
def test_an_overlap_is_found_exactly_when_some_union_less_another_leaves_few_units_around_it(m: Counts) -> None:
    """All unions of districts that contain unions of grid cells, and the other way round, one by one."""
    inside: set[tuple[int, int]] = set()
    for one in (m, m.T):
        for districts in unions(one.shape[0]):
            for cells in unions(one.shape[1]):
                rows = np.isin(np.arange(one.shape[0]), districts)
                columns = np.isin(np.arange(one.shape[1]), cells)
                if one[np.ix_(~rows, columns)].any():
                    continue  # a cell lies partly outside: the difference is no region
                region = one * np.outer(rows, ~columns)
                if 0 < region.sum() < 3:
                    found = zip(*np.nonzero(region), strict=True)
                    inside |= {(a, b) if one is m else (b, a) for a, b in found}
    zoning = zoning_of(m)
    found_by_flow = find_differences(zoning, 3)
    said = {(int(zoning.codes[0][zoning.first[o]]), int(zoning.codes[1][zoning.second[o]]))
            for o in found_by_flow.exposed.tolist()}  # fmt: skip
    assert said == inside


@given(counts, st.integers(0, 15), st.integers(0, 15))
def test_intervals_and_regions_are_those_of_an_independent_solver(m: Counts, first: int, second: int) -> None:
    """With some totals withheld as well."""
    zoning = zoning_of(m)
    zoning = zoning.withholding(
        [c for i, c in enumerate(zoning.codes[0]) if first >> i & 1],
        [c for i, c in enumerate(zoning.codes[1]) if second >> i & 1],
    )
    found = find_differences(zoning, 3)
    low, high = by_solver(zoning)
    assert found.exposed.tolist() == np.flatnonzero((zoning.units > 0) & (high < 3)).tolist()
    assert found.most.tolist() == high[found.exposed].tolist()
    assert found.least.tolist() == low[found.exposed].tolist()
    regions_add_up(found)


def by_solver(zoning: Zoning) -> tuple[Counts, Counts]:
    """The least and most of every overlap, by linear programmes over published totals."""
    rows, right = [np.ones(zoning.units.size)], [zoning.units.sum()]
    for at, withheld, totals in zip((zoning.first, zoning.second), zoning.withheld, zoning.totals, strict=True):
        for zone in np.flatnonzero(~withheld):
            rows.append((at == zone) * 1.0)
            right.append(totals[zone])
    ends = []
    for sign in (1, -1):
        programmes = [
            linprog(sign * unit, A_eq=np.array(rows), b_eq=right, bounds=(0, None), method="highs")
            for unit in np.eye(zoning.units.size)
        ]
        ends.append(np.array([round(sign * each.fun) for each in programmes]))
    return ends[0], ends[1]


def regions_add_up(found: Differences) -> None:
    """What a difference says is true of published totals, and few."""
    zoning = found.zoning
    shown = {
        (name, code): int(total)
        for name, codes, withheld, totals in zip(
            zoning.names, zoning.codes, zoning.withheld, zoning.totals, strict=True
        )
        for code, hidden, total in zip(codes, withheld, totals, strict=True)
        if not hidden
    } | {("all units", ""): int(zoning.units.sum())}
    for each in found.list:
        value = sum(shown[zone] for zone in each.added) - sum(shown[zone] for zone in each.taken)
        assert value == each.units == zoning.units[each.overlaps].sum()
        assert 0 < each.units < 3
    assert set(found.exposed.tolist()) <= set(np.concatenate([np.zeros(0, int), *[d.overlaps for d in found.list]]))


@given(counts)
def test_the_compiled_search_is_its_readable_twin(m: Counts) -> None:
    """The same function without the compiler, and by whole augmenting paths of one unit each."""
    zoning = zoning_of(m)
    net, overlaps = zoning.network, np.arange(zoning.units.size)
    for down in (False, True):
        limits = np.full(overlaps.size, 4) if not down else zoning.units
        assert reach(zoning, overlaps, limits, down).tolist() == [
            _by_units(net.tail, net.head, net.amount, o, int(limit), down)
            for o, limit in zip(overlaps.tolist(), limits.tolist(), strict=True)
        ]


def _by_units(tail: Counts, head: Counts, amount: Counts, own: int, limit: int, down: bool) -> int:
    now, pushed = amount.copy(), 0
    source, target = (tail[own], head[own]) if down else (head[own], tail[own])
    while pushed < limit:
        ways: dict[int, list[tuple[int, int]]] = {int(source): []}
        waiting = [int(source)]
        while waiting and int(target) not in ways:
            node = waiting.pop(0)
            for arc in range(tail.size):
                step = (int(head[arc]), 1) if tail[arc] == node else (int(tail[arc]), -1)
                allowed = tail[arc] == node or (head[arc] == node and now[arc] > 0)
                if arc != own and allowed and step[0] not in ways:
                    ways[step[0]] = [*ways[node], (arc, step[1])]
                    waiting.append(step[0])
        if int(target) not in ways:
            break
        for arc, sign in ways[int(target)]:
            now[arc] += sign
        pushed += 1
    return pushed


def test_nothing_compiled_is_left_of_an_earlier_search() -> None:
    """Overlaps searched together or alone: the same."""
    rng = np.random.default_rng(3)
    zoning = zoning_of(rng.integers(0, 4, (6, 7)))
    overlaps, limits = np.arange(zoning.units.size), np.full(zoning.units.size, 9)
    alone = [reach(zoning, overlaps[i : i + 1], limits[:1])[0] for i in overlaps]
    assert reach(zoning, overlaps, limits).tolist() == alone
    assert slacks is not None


def test_the_difference_is_named_by_the_fewest_zones() -> None:
    """Two districts hold three grid cells but for two persons, who live in a fourth."""
    records = {
        "district": ["A"] * 20 + ["B"] * 20 + ["C"] * 30,
        "grid": ["3"] * 15 + ["5"] * 15 + ["9"] * 8 + ["4"] * 2 + ["4"] * 30,
    }
    found = find_differences(Zoning.of(records, "district", "grid"))
    assert found.list[0].describe(internal=True) in (
        "grid 4 minus district C = 2 units, in district B with grid 4",
        "district A + B minus grid 3 + 5 + 9 = 2 units, in district B with grid 4",
    )
    assert "2" not in found.list[0].describe().split("=")[1].split(",")[0]


def test_records_and_a_table_of_overlaps_are_the_same() -> None:
    records = {"d": list("AABBB"), "g": list("12122")}
    overlaps = {"d": list("AABB"), "g": list("1212"), "n": [1, 1, 1, 2]}
    one, other = Zoning.of(records, "d", "g"), Zoning.of(overlaps, "d", "g", units="n")
    assert one.units.tolist() == other.units.tolist() == [1, 1, 1, 2]


def test_shares_are_estimates_and_say_so() -> None:
    shares = {"d": ["A", "A", "B"], "g": ["1", "2", "2"], "p": [0.8, 0.2, 1.0]}
    found = find_differences(Zoning.of(shares, "d", "g", share="p", totals={"A": 10, "B": 7}))
    assert found.exposed.size == 1
    assert "estimated" in found.report()


def test_bad_overlaps_are_refused_with_what_to_do() -> None:
    with pytest.raises(DuplicateCell):
        Zoning.of({"d": list("AA"), "g": list("11"), "n": [1, 2]}, "d", "g", units="n")
    with pytest.raises(BadOption, match="not whole"):
        Zoning.of({"d": list("A"), "g": list("1"), "n": [1.5]}, "d", "g", units="n")
    with pytest.raises(BadOption, match="without a code"):
        Zoning.of({"d": ["A", None], "g": list("11")}, "d", "g")
    with pytest.raises(UnknownCode):
        Zoning.of({"d": list("A"), "g": list("1")}, "d", "g").withholding(["Z"])
    with pytest.raises(BadOption, match="without the units"):
        Zoning.of({"d": list("A"), "g": list("1"), "p": [1.0]}, "d", "g", share="p")
