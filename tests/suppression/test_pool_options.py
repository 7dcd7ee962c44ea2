"""What a user of single tables expects of a pool too: last period's pattern, barriers, a proved optimum, waivers."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import combinations
from math import inf
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret import Hierarchy, Pool, Status, Table
from diskret.model.errors import BadOption
from diskret.suppression.methods import AnyMethod
from tests.present import present

REGIONS = list("abcdefghijkl")
DISTRICTS = Hierarchy.from_nested({"Total": {"N": REGIONS[:6], "S": REGIONS[6:]}})
ZONES = Hierarchy.from_nested({"Total": {"wet": REGIONS[::2], "dry": REGIONS[1::2]}})
SIZES = Hierarchy.flat(["small", "large"])


def tables(seed: int, primary: tuple[tuple[str, str], ...] = (("a", "small"),)) -> dict[str, Table]:
    """Regions by size in two groupings."""
    rng = np.random.default_rng(seed)
    codes = [(r, s) for r in REGIONS for s in ("small", "large")]
    cells = {"region": [r for r, _ in codes], "size": [s for _, s in codes], "x": rng.integers(10, 99, len(codes))}
    result = {}
    for name, region in (("districts", DISTRICTS), ("zones", ZONES)):
        table = Table.from_cells(cells, by={"region": region, "size": SIZES}, value="x")
        result[name] = table.with_status(Status.PRIMARY, primary)
    return result


def hidden(pool: Table) -> set[tuple[str, ...]]:
    return {pool.codes((int(c),)) for c in np.flatnonzero(pool.hidden)}


@pytest.mark.parametrize("method", [dk.methods.Moves(), dk.methods.Cuboids()])
def test_the_pattern_of_last_period_is_kept_in_a_pool(method: AnyMethod) -> None:
    before: Any = dk.suppress(Pool.of(tables(1)), method=method).table
    now = Pool.of(tables(2))
    free = dk.suppress(now, method=method)
    kept = dk.suppress(now, method=method, previous=before, at_most=inf)
    assert hidden(free.table) != hidden(before)  # otherwise there is nothing to keep
    assert hidden(kept.table) == hidden(before)
    assert kept.consistency is not None
    assert kept.consistency.taken.share == 1
    assert kept.audit is not None
    assert kept.audit.safe
    assert kept.table.weight is None
    by_name = dk.suppress(now, method=method, previous=before.split(), at_most=inf)
    assert (by_name.table.status == kept.table.status).all()


def test_a_previous_table_may_be_known_for_some_tables_of_the_pool_only() -> None:
    first: Any = dk.suppress(Pool.of(tables(1))).table
    before = first.split()["zones"]
    now = Pool.of(tables(2))
    kept: Any = dk.suppress(now, previous={"zones": before}, at_most=inf)
    was = {tuple(before.codes(tuple(at))) for at in np.argwhere(before.hidden).tolist()}
    mine = kept.table.split()["zones"]
    assert was <= {tuple(mine.codes(tuple(at))) for at in np.argwhere(mine.hidden).tolist()}


@pytest.mark.parametrize("method", [dk.methods.Moves, dk.methods.Cuboids])
def test_barriers_per_classification_move_the_pattern_of_a_pool(method: type[AnyMethod]) -> None:
    cells = {"r": list("aabb"), "s": list("klkl"), "x": [40, 60, 50, 55]}
    by = {"r": Hierarchy.flat("ab"), "s": Hierarchy.flat("kl")}
    wide = Table.from_cells(cells, by=by, value="x").with_status(Status.PRIMARY, [["a", "Total"]])
    alone = Table.from_cells({"r": list("ab"), "x": [100, 105]}, by={"r": by["r"]}, value="x")
    pool = Pool.of({"wide": wide, "alone": alone})
    done = {sign: dk.suppress(pool, method=method(barriers={"s": sign})) for sign in (1, -1)}
    sums = {s: sum(codes[1] == "Total" for codes in hidden(each.table)) for s, each in done.items()}
    assert sums[-1] >= sums[1] >= 2
    for each in done.values():
        assert each.audit is not None
        assert each.audit.safe
        assert each.table.weight is None


def test_the_optimum_of_a_pool_is_the_cheapest_of_all_patterns() -> None:
    cells = {"region": list("abcd"), "x": [10, 12, 30, 31], "st": ["primary", "open", "open", "open"]}
    one = Hierarchy.from_nested({"T": {"N": ["a", "b"], "S": ["c", "d"]}})
    two = Hierarchy.from_nested({"T": {"wet": ["a", "c"], "dry": ["b", "d"]}})
    groupings = (("one", one), ("two", two))
    pool = Pool.of({n: Table.from_cells(cells, by={"region": h}, value="x", status="st") for n, h in groupings})
    best = dk.suppress(pool, method=dk.methods.Optimal(seconds=20))
    assert best.gap == 0
    found = float(pool.value[best.secondary].sum())
    others = np.flatnonzero(pool.status == Status.OPEN)
    safe = []
    for number in range(others.size + 1):
        for chosen in combinations(others.tolist(), number):
            status = pool.status.copy()
            status[list(chosen)] = Status.SECONDARY
            if dk.audit(replace(pool, status=status)).safe:
                safe.append(float(pool.value[list(chosen)].sum()))
    assert found == min(safe)


def test_everything_known_about_contributors_comes_into_the_pool() -> None:
    records = {
        "region": list("aaabbbcc"),
        "size": list("klklklkl"),
        "x": [50, 1, 3, 20, 30, 5, 8, 9],
        "yes": ["1", "", "", "1", "", "", "", ""],
        "own": ["", "", "1", "", "", "", "", ""],
    }
    by = {"region": Hierarchy.flat("abc")}
    wide = dk.tabulate(
        records, by={**by, "size": Hierarchy.flat("kl")}, value="x", roles=dk.Roles(waiver="yes", public="own")
    )
    alone = dk.tabulate(records, by=by, value="x", roles=dk.Roles(waiver="yes", public="own"))
    pool = Pool.of({"wide": wide, "alone": alone})
    for name, table in (("wide", wide), ("alone", alone)):
        for field in ("count", "largest", "protected_count", "protected_largest", "public_count", "public_value"):
            mine = getattr(table.respondents, field)
            assert mine is not None
            there = getattr(pool.respondents, field)[pool.cells_of[name]]
            assert (there == mine.reshape(there.shape)).all(), field


def test_a_table_without_waivers_beside_one_with_them_is_taken_as_if_nobody_had_agreed() -> None:
    records = {"region": list("aabb"), "x": [5, 7, 8, 9], "yes": ["1", "", "1", ""]}
    by = {"region": Hierarchy.flat("ab")}
    told = dk.tabulate(records, by=by, value="x", roles=dk.Roles(waiver="yes"))
    silent = dk.tabulate(records, by=by, value="x")
    pool = Pool.of({"told": told, "silent": silent})
    assert present(present(pool.respondents).protected_count).tolist() == [2, 2, 4]
    assert present(present(pool.respondents).protected_largest).tolist() == [7.0, 9.0, 9.0]


@pytest.mark.parametrize("method", [dk.methods.Cuboids, dk.methods.Complete, dk.methods.Moves])
def test_a_word_for_zeros_that_is_none_is_refused(method: Any) -> None:
    with pytest.raises(BadOption, match="zeros 'x'"):
        method(zeros="x")


@pytest.mark.parametrize("seed", range(4))
def test_a_pool_of_counts_is_safe_with_no_more_cells_than_its_tables_in_turns_and_what_they_left_open(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    codes = [(r, s) for r in REGIONS for s in ("small", "large")]
    counts = rng.integers(0, 9, len(codes))
    cells = {"region": [r for r, _ in codes], "size": [s for _, s in codes], "n": counts}
    made = {}
    for name, region in (("districts", DISTRICTS), ("zones", ZONES)):
        table = Table.from_cells(cells, by={"region": region, "size": SIZES}, value="n", frequency=True)
        made[name] = dk.mark(table, dk.SmallCells(2))
    pool = Pool.of(made)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        turns = dk.suppress(pool, dk.Promise(levels=False), dk.methods.Cuboids(zeros="allowed"))
        done = dk.suppress(pool, method=dk.methods.Moves(zeros="allowed"))
        by_moves = dk.suppress(turns.table, method=dk.methods.Moves(zeros="allowed"))
    assert done.audit is not None
    assert not done.unprotected
    assert dk.audit(done.table).safe
    assert (done.table.status == Status.SECONDARY).sum() <= (by_moves.table.status == Status.SECONDARY).sum()
    assert done.before is pool
    assert (pool.status[~done.secondary] == done.table.status[~done.secondary]).all()
