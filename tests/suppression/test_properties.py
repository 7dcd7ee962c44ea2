"""What holds for every suppression, whatever the table: nothing twice, nothing lost, nothing that was forbidden."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from itertools import product
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Cost, Hierarchy, Knowledge, Promise, Status, Table, methods, suppress
from diskret.model import rollup
from diskret.model.contributors import Contributors
from diskret.model.promise import Guard
from diskret.publication.working import load_working, save_working
from diskret.suppression.result import Suppression
from tests import by_hand
from tests.present import present

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")


Cell = tuple[int, ...]
Draw = Callable[[int, int], int]
CODES = {1: 10, 2: 7, 3: 5}
FORBIDDEN = (Status.NEVER, Status.PUBLISHED, Status.STRUCTURAL_ZERO)


def seeded(seed: int) -> Draw:
    rng = np.random.default_rng(seed)
    return lambda low, high: int(rng.integers(low, high + 1))


def some_table(draw: Draw, *, subtotals: bool = True) -> Table:
    """Positive, with zeros, singles, cells that must stay open, and prior intervals."""
    by = {}
    dimensions = draw(1, 3)
    for name in "abc"[:dimensions]:
        size = draw(2, CODES[dimensions])
        by[name] = (
            Hierarchy.from_parents({f"c{i}": f"c{draw(0, i - 1)}" for i in range(1, size)})
            if subtotals
            else Hierarchy.flat([f"c{i}" for i in range(1, size)])
        )
    hierarchies = tuple(by.values())
    inner = rollup.inner_cells(hierarchies)
    value, count = np.zeros(inner.shape), np.zeros(inner.shape, dtype=np.int64)
    for at in map(tuple, np.argwhere(inner)):
        if draw(0, 4):
            value[at], count[at] = draw(1, 25), draw(1, 6)
    rollup.add_up(value, hierarchies)
    rollup.add_up(count, hierarchies)
    status = np.where((count == 1) | (count == 2), Status.PRIMARY, Status.OPEN).astype(np.uint8)
    lower, upper = value.copy(), value.copy()
    for at in np.ndindex(inner.shape):
        if value[at] == 0:
            status[at] = (Status.OPEN, Status.ZERO, Status.STRUCTURAL_ZERO)[draw(0, 2)]
        elif status[at] == Status.OPEN:
            status[at] = {0: Status.PRIMARY, 1: Status.NEVER, 2: Status.PUBLISHED}.get(draw(0, 24), Status.OPEN)
        lower[at] -= draw(0, 20)
        upper[at] += draw(0, 20)
    return Table(by, "x", value, status, Contributors(count), lower=np.maximum(lower, 0), upper=upper)


def some_options(draw: Draw) -> dict[str, Any]:
    return {
        "knowledge": (Knowledge.positive(), Knowledge.relative(0.5, 1.0), Knowledge.intervals(), Knowledge.none())[
            draw(0, 3)
        ],
        "q": (0.0, 0.25, 0.75, 1.5)[draw(0, 3)],
        "cost": Cost(("value", "log", "count", "unity")[draw(0, 3)]),
        "zeros": ("marked", "allowed", "forbidden")[draw(0, 2)],
        "barriers": ("on", "off")[draw(0, 1)],
        "thin": draw(0, 1) == 1,
        "threads": 1,
    }


def protected(
    table: Table, *, knowledge: Knowledge, q: float = 0.0, guard: Guard = "single", previous: Table | None = None,
    at_most: float = inf, **options: Any,
) -> Suppression:  # fmt: skip
    """By cuboids, with a relative range and what else the method can be told."""
    promise = Promise(guard=guard, levels=False, min_relative_range=q, knowledge=knowledge)
    return suppress(table, promise, methods.Cuboids(**options), previous=previous, at_most=at_most)


def cells_where(chosen: Any) -> list[Cell]:
    return [tuple(int(i) for i in at) for at in np.argwhere(chosen)]


def same_status(one: Table, other: Table) -> bool:
    return bool((one.status == other.status).all())


# --- once is enough ---------------------------------------------------------------------------------------------------


def runs_twice(draw: Draw) -> None:
    table, options = some_table(draw), some_options(draw)
    if draw(0, 3) == 0:
        options["non_additive"] = (table.names[0],)
    first = protected(table, **options)
    second = protected(first.table, **options)
    assert same_status(second.table, first.table)
    assert not second.secondary.any()
    assert {u.index for u in second.unprotected} == {u.index for u in first.unprotected}


@given(st.data())
def test_a_second_run_adds_nothing(data: st.DataObject) -> None:
    runs_twice(lambda low, high: data.draw(st.integers(low, high)))


def test_a_second_run_adds_nothing_in_seeded_tables() -> None:
    for seed in range(300):
        runs_twice(seeded(seed))


def test_a_second_run_adds_nothing_after_a_working_file(tmp_path: Path) -> None:
    for seed in range(12):
        draw = seeded(seed)
        table, options = some_table(draw), some_options(draw)
        first = protected(table, **options)
        save_working(first.table, tmp_path / "work.parquet")
        loaded = load_working(tmp_path / "work.parquet")["x"]
        assert same_status(loaded, first.table)
        assert not protected(loaded, **options).secondary.any()


def test_without_its_creator_a_secondary_is_protected_again(printed: Any) -> None:
    """Why the creator is kept: figure 1.7 would get two more cells (part 1, L2)."""
    table = printed("ch1-hierarchical-two-dims").table
    first = suppress(table, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(barriers="off"))
    forgotten = replace(first.table, creator=None)
    again = suppress(forgotten, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(barriers="off"))
    assert {table.codes(c) for c in cells_where(again.secondary)} == {("122", "ACB"), ("124", "ACB")}


def test_the_input_is_not_touched() -> None:
    for seed in range(40):
        draw = seeded(seed)
        table, options = some_table(draw), some_options(draw)
        carry: Any = ("off", "once", "always")[draw(0, 2)]
        arrays = {f.name: getattr(table, f.name) for f in fields(table)}
        arrays = {name: a for name, a in arrays.items() if isinstance(a, np.ndarray)}
        copies = {name: a.copy() for name, a in arrays.items()}
        result = protected(table, carry=carry, **options)
        assert result.before is table
        for name, a in arrays.items():
            assert (a == copies[name]).all(), name
        assert not np.shares_memory(result.table.status, table.status)


# --- scale, range, counts ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("factor", [0.1, 1 / 3, 1000.0])
def test_the_unit_of_measurement_changes_nothing(factor: float) -> None:
    for seed in range(150):
        draw = seeded(seed)
        table, options = some_table(draw), some_options(draw)
        lower, upper = present(table.lower) * factor, present(table.upper) * factor
        scaled = replace(table, value=table.value * factor, lower=lower, upper=upper, decimals=None)
        known = options["knowledge"]
        if known.kind == "relative":
            known = Knowledge.relative(known.error, known.absolute * factor)
        plain, other = protected(table, **options), protected(scaled, **options | {"knowledge": known})
        assert same_status(plain.table, other.table), seed
        assert other.moves.up.tolist() == pytest.approx((plain.moves.up * factor).tolist())
        assert [u.reached for u in other.unprotected] == pytest.approx([u.reached * factor for u in plain.unprotected])


def test_rounding_breaks_no_tie() -> None:
    """0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 cost the same: the first in file order is taken."""
    value = np.array([[5, 0.2, 0.2, 0], [0.1, 0.3, 50, 0], [0.3, 50, 0.1, 0], [0, 0, 0, 0]])
    value[3, :3], value[:, 3] = value[:3, :3].sum(axis=0), value.sum(axis=1)
    value[3, 3] = value[3, :3].sum()
    result = suppress(
        replace(square(), value=value, decimals=1), Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids()
    )
    assert cells_where(result.secondary) == [(0, 1), (1, 0), (1, 1)]


def one_primary(draw: Draw) -> Table:
    """One subtable, one primary cell, nobody alone: the choice is one of a set of cuboids."""
    table = some_table(draw, subtotals=False)
    status = np.where(table.status == Status.PRIMARY, Status.OPEN, table.status)
    inside = cells_where(table.value > 0)
    if inside:
        status[inside[draw(0, len(inside) - 1)]] = Status.PRIMARY
    return replace(table, status=status, respondents=None)


def price(result: Any) -> tuple[float, ...]:
    """Rank of what was suppressed; nothing is more expensive than no protection at all."""
    if result.unprotected:
        return (np.inf,)
    new = cells_where(result.secondary)
    margins = sum(i == n - 1 for c in new for i, n in zip(c, result.table.shape, strict=True))
    return len(new), margins, sum(result.table.value[c] for c in new)


def test_asking_for_more_range_never_admits_more_cuboids() -> None:
    """A smaller set of cuboids has no better best one (part 2, property 10)."""
    rising = 0
    for seed in range(120):
        draw = seeded(seed)
        table, knowledge = one_primary(draw), some_options(draw)["knowledge"]
        prices = [
            price(
                suppress(
                    table, Promise(levels=False, min_relative_range=q, knowledge=knowledge), methods.Cuboids(threads=1)
                )
            )
            for q in (0.0, 0.25, 0.5, 1.0, 1.5, 3.0)
        ]
        assert prices == sorted(prices)
        rising += prices[0] < prices[-1]
    assert rising > 20


def test_knowing_less_never_makes_protection_more_expensive() -> None:
    """Wider prior intervals never decrease a range (part 2, property 10)."""
    for seed in range(120):
        draw = seeded(seed)
        table = one_primary(draw)
        wide = replace(table, lower=present(table.lower) - draw(1, 5), upper=present(table.upper) + draw(1, 5))
        asked: dict[str, Any] = {
            "knowledge": Knowledge.intervals(),
            "q": 0.75,
            "threads": 1,
        }
        assert price(protected(wide, **asked)) <= price(protected(table, **asked))


def test_two_contributors_instead_of_one_turn_the_single_rule_off() -> None:
    doubles = 0
    for seed in range(150):
        draw = seeded(seed)
        table, options = some_table(draw), some_options(draw) | {"cost": Cost()}
        two = replace(table, respondents=Contributors(np.where(table.count == 1, 2, table.count)))
        off = protected(two, **options)
        assert same_status(off.table, protected(table, guard="public", **options).table)
        assert not by_hand.pairs_of(off.moves)
        doubles += by_hand.pairs_of(protected(table, **options).moves)
    assert doubles > 5


# --- what may and may not be suppressed -------------------------------------------------------------------------------


@pytest.mark.parametrize("zeros", ["marked", "allowed", "forbidden"])
def test_only_cells_that_may_be_suppressed_are(zeros: Any) -> None:
    used = 0
    for seed in range(200):
        draw = seeded(seed)
        table = some_table(draw)
        options = some_options(draw) | {"zeros": zeros}
        result = protected(table, **options)
        new = table.status[result.secondary]
        assert set(new.tolist()) <= {Status.OPEN, Status.ZERO}
        changed = table.status != result.table.status
        assert (changed == result.secondary).all()
        assert not np.isin(table.status[changed], FORBIDDEN).any()
        empty = result.secondary & (table.value == 0)
        if zeros == "forbidden":
            assert not empty.any()
        elif zeros == "marked":
            assert (table.status[empty] == Status.ZERO).all()
        used += int(empty.sum())
    assert (used > 0) == (zeros != "forbidden")


def test_no_primary_cell_no_suppression() -> None:
    table = some_table(seeded(1))
    table = replace(table, status=np.zeros(table.shape, dtype=np.uint8))
    result = suppress(table, Promise(levels=False), methods.Cuboids())
    assert same_status(result.table, table)
    assert (len(result.moves), result.unprotected, result.passes) == (0, (), 0)
    assert result.notes == ("no cell is primary: nothing to protect",)


def test_where_everything_is_primary_nothing_is_left_to_do() -> None:
    for seed in range(40):
        table = some_table(seeded(seed))
        table = replace(table, status=np.full(table.shape, Status.PRIMARY, dtype=np.uint8))
        result = suppress(table, Promise(guard="public", levels=False, knowledge=Knowledge.none()), methods.Cuboids())
        assert same_status(result.table, table)
        assert result.unprotected == ()


# --- what cannot be protected -----------------------------------------------------------------------------------------


def widest(table: Table, pivot: Cell, up: Any, down: Any, zeros: str) -> float:
    """The longest interval any cuboid of usable cells would give, by trying them all (no subtotals)."""
    usable = table.hidden | ((table.status == Status.OPEN) & ((table.value != 0) | (zeros == "allowed")))
    if zeros != "forbidden":
        usable |= table.status == Status.ZERO
    last = [n - 1 for n in table.shape]
    best = 0.0
    for other in product(*([i for i in range(n) if i != g] for n, g in zip(table.shape, pivot, strict=True))):
        rise, fall = np.inf, np.inf
        for cell in product(*zip(pivot, other, strict=True)):
            against = sum(c != g and end not in (g, d) for c, g, d, end in zip(cell, pivot, other, last, strict=True))
            pair = (up[cell], down[cell]) if against % 2 == 0 else (down[cell], up[cell])
            rise, fall = (min(rise, pair[0]), min(fall, pair[1])) if usable[cell] else (0.0, 0.0)
        best = max(best, rise + fall)
    return best


def test_unprotectable_cells_are_named_with_the_range_they_reach() -> None:
    named = 0
    for seed in range(200):
        draw = seeded(seed)
        table, options = some_table(draw, subtotals=False), some_options(draw)
        result = protected(table, **options)
        up, down = (a.reshape(table.shape) for a in options["knowledge"].room(table))
        q = options["q"]
        for u in result.unprotected:
            assert u.cell == ", ".join(f"{n}={c}" for n, c in zip(table.names, table.codes(u.index), strict=True))
            assert u.reached == widest(table, u.index, up, down, options["zeros"])
            named += 1
            if (table.count != 1).all():
                assert u.reached <= q * table.value[u.index]
    assert named > 50


def test_a_value_known_too_well_beforehand_is_reported_as_such() -> None:
    """If the prior interval is not longer than required, no method can protect the cell (part 2, 9.3)."""
    cells = {"s": list("abcd"), "x": [40, 30, 20, 50], "status": ["primary", "primary", "open", "open"]}
    prior = {"low": [35, 0, 0, 0], "high": [45, 90, 90, 90]}
    table = Table.from_cells(cells | prior, by={"s": None}, value="x", status="status", lower="low", upper="high")
    asked: dict[str, Any] = {"knowledge": Knowledge.intervals(), "zeros": "allowed", "threads": 1}
    with pytest.warns(match="cannot be protected"):
        result = protected(table, q=0.25, **asked)
    assert [(u.cell, u.reached) for u in result.unprotected] == [("s=a", 10.0)]
    assert result.unprotected[0].why == "what is known beforehand is closer than the required range"
    assert protected(table, q=0.249, **asked).unprotected == ()


def test_a_lone_cell_among_published_ones_is_unprotectable_for_want_of_partners() -> None:
    cells = {"s": list("abc"), "x": [4, 30, 20], "status": ["primary", "never", "published"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="status").with_status(Status.NEVER, [["Total"]])
    with pytest.warns(match="s=a"):
        (failed,) = suppress(table, Promise(levels=False), methods.Cuboids()).unprotected
    assert (failed.index, failed.reached) == ((0,), 0.0)
    assert failed.why == "no cuboid of usable cells leaves a wide enough interval"


# --- steering ---------------------------------------------------------------------------------------------------------


def square() -> Table:
    """All inner cells 10, one of them primary: margins are dear, but equal in number."""
    value = np.full((4, 4), 10.0)
    value[3], value[:, 3] = 30.0, 30.0
    value[3, 3] = 90.0
    status = np.zeros((4, 4), dtype=np.uint8)
    status[0, 0] = Status.PRIMARY
    return Table({"r": Hierarchy.flat("123"), "c": Hierarchy.flat("ABC")}, "x", value, status)


@pytest.mark.parametrize(
    ("barriers", "diametral"),
    [("on", (1, 1)), ("off", (1, 1)), ({"r": -1}, (3, 1)), ({"c": -1}, (1, 3)), ({"r": -1, "c": -1}, (3, 3))],
)
def test_a_negative_barrier_prefers_margins(barriers: Any, diametral: Cell) -> None:
    result = suppress(square(), Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(barriers=barriers))
    assert np.unravel_index(result.moves[0].cells[-1], (4, 4)) == diametral


def test_a_barrier_keeps_cheap_margins_open() -> None:
    """With both signs a total can be smaller than its parts: the cost alone would take it, the barrier does not."""
    value = np.array([[10, 10, 1, 21], [-9, -9, 20, 2], [20, -9, -20, -9], [21, -8, 1, 14]], dtype=np.float64)
    table = replace(square(), value=value)
    on, off = (
        suppress(table, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(barriers=b)).secondary
        for b in ("on", "off")
    )
    assert not on[3].any()
    assert not on[:, 3].any()
    assert off[3].any() or off[:, 3].any()


@pytest.mark.parametrize("dimensions", [5, 6, 7])
def test_many_dimensions(dimensions: int) -> None:
    rng = np.random.default_rng(dimensions)
    by = {f"d{i}": Hierarchy.flat("ab") for i in range(dimensions)}
    inner = rollup.inner_cells(tuple(by.values()))
    value = np.where(inner, rng.integers(1, 100, inner.shape), 0).astype(np.float64)
    rollup.add_up(value, tuple(by.values()))
    status = np.zeros(inner.shape, dtype=np.uint8)
    chosen = [(0,) * dimensions, (1, 0) + (2,) * (dimensions - 2)]
    for at in chosen:
        status[at] = Status.PRIMARY
    table = Table(by, "x", value, status)
    result = suppress(table, Promise(levels=False, min_relative_range=0.1), methods.Cuboids())
    assert result.unprotected == ()
    for at in chosen:
        (move,) = result.moves_of(*table.codes(at))
        assert move.cells.size == 2**dimensions
        assert result.table.hidden.reshape(-1)[move.cells].all()
        assert move.range > 0.1 * value[at]


# --- time series ------------------------------------------------------------------------------------------------------


def test_last_periods_pattern_is_kept_where_that_costs_nothing() -> None:
    """All partners are equally good; only the previous table says which to take."""
    now = square()
    before = replace(now, value=now.value * 0.9).with_status(Status.SECONDARY, [["3", "A"], ["1", "C"], ["3", "C"]])
    alone = suppress(now, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids())
    kept = suppress(
        now, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(), previous=before, at_most=inf
    )
    assert not same_status(alone.table, before)
    assert same_status(kept.table, before)
    told = kept.consistency
    assert told is not None
    assert (told.hidden_before, told.taken.kept, told.without.kept, told.taken.dearer) == (4, 3, 0, 0.0)
    assert kept.table.weight is None
    assert same_status(kept.before, now)


def test_more_of_last_periods_pattern_is_kept_and_its_price_is_told() -> None:
    with_it = without = extra = 0.0
    for seed in range(60):
        draw = seeded(seed)
        last = one_primary(draw)
        value = np.where(rollup.inner_cells(last.hierarchies), last.value, 0.0)
        for at in cells_where(value > 0):
            value[at] = draw(1, 25)
        rollup.add_up(value, last.hierarchies)
        asked: dict[str, Any] = {"knowledge": Knowledge.none(), "cost": Cost("log"), "threads": 1}
        before = protected(last, **asked).table
        now = replace(last, value=value, lower=None, upper=None)
        result, free = protected(now, previous=before, **asked), protected(now, **asked)
        told = result.consistency
        assert told is not None
        assert told.taken.kept == (before.hidden & result.secondary).sum()
        assert told.without.kept == (before.hidden & free.secondary).sum()
        assert (told.taken.secondary, told.without.secondary) == (result.secondary.sum(), free.secondary.sum())
        assert result.cost == pytest.approx(free.cost * (1 + told.taken.dearer))
        with_it += told.taken.kept
        without += told.without.kept
        extra += result.cost - free.cost
    assert with_it > 1.2 * without
    assert extra > 0


# --- counts that do not add up ----------------------------------------------------------------------------------------


def split_turnover(draw: Draw) -> Table:
    """Every firm reports domestic and foreign turnover: values add up along the rows, counts do not."""
    firms = [draw(1, 4) for _ in range(draw(2, 6))]
    by = {"kind": Hierarchy.flat(["home", "abroad"]), "branch": Hierarchy.flat([f"b{i}" for i in range(len(firms))])}
    value = np.zeros((3, len(firms) + 1))
    for at in product(range(2), range(len(firms))):
        value[at] = draw(1, 50)
    rollup.add_up(value, tuple(by.values()))
    count = np.tile(np.array([*firms, sum(firms)]), (3, 1))
    status = np.where(count < 3, Status.PRIMARY, Status.OPEN).astype(np.uint8)
    return Table(by, "x", value, status, Contributors(count), additive_counts=False)


def protected_as_a_line(totals: Table) -> bool:
    """Whether the primaries among the totals need nothing more when the totals are taken as a table of their own."""
    line = Table(
        {"branch": totals.by["branch"]}, "x", totals.value[2], totals.status[2], Contributors(totals.count[2]),
        creator=np.zeros(totals.shape[1], dtype=np.int64),
    )  # fmt: skip
    return not suppress(line, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids()).secondary.any()


def test_tables_of_totals_are_protected_where_counts_do_not_add_up() -> None:
    """A respondent alone in a total knows it; he must not compute another total from it (2.1.2.2)."""
    needed = 0
    for seed in range(150):
        table = split_turnover(seeded(seed))
        alone = suppress(table, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(threads=1))
        pooled = suppress(
            table, Promise(levels=False, knowledge=Knowledge.none()), methods.Cuboids(non_additive=("kind",), threads=1)
        )
        assert protected_as_a_line(pooled.table)
        assert pooled.table.hidden[alone.table.hidden].all() or pooled.table.hidden.sum() >= alone.table.hidden.sum()
        needed += not protected_as_a_line(alone.table)
    assert needed > 5
