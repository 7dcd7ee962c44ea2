"""Intervals that can be published: what every reader computes anyway, from nothing but what is published."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linprog

import diskret as dk
from diskret import Hierarchy, Knowledge, Pool, Promise, Status, Table
from diskret.model.errors import BadOption

GOLDEN = Path(__file__).parents[1] / "golden" / "quader"
EXACT_ONLY = Promise(guard="public", levels=False)
"""Exposed is only what can be computed exactly: everybody can tell whether that is so."""


def golden(name: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))
    return content


def line(x: list[float], status: list[str], **options: Any) -> Table:
    cells = {"s": list("abcdefgh"[: len(x)]), "x": x, "st": status}
    return Table.from_cells(cells, by={"s": None}, value="x", status="st", **options)


def square(status: str = "secondary", times: float = 1.0) -> Table:
    x = [times * each for each in (13, 94, 21, 32)]
    cells = {"s": list("aabb"), "t": list("uvuv"), "x": x, "st": ["primary", *[status] * 3]}
    return Table.from_cells(cells, by={"s": None, "t": None}, value="x", status="st")


def random_table(seed: int) -> Table:
    """One to three classifications, one of them with subtotals; whole numbers, cents, counts, many zeros."""
    rng = np.random.default_rng(seed)
    nested = Hierarchy.from_nested({"T": {"A": ["a", "b", "c"], "B": ["d", "e"]}})
    by = {f"k{i}": nested if i == 0 and seed % 2 else Hierarchy.flat("uvw") for i in range(1 + seed % 3)}
    leaves = [[c for c, leaf in zip(h.codes, h.is_leaf, strict=True) if leaf] for h in by.values()]
    places = list(product(*leaves))
    x = rng.integers(0, 50, len(places)) * (rng.random(len(places)) < 0.8)
    cells: dict[str, Any] = {n: [p[i] for p in places] for i, n in enumerate(by)}
    cells["x"] = (x / 100 if seed % 5 == 0 else x).tolist()
    table = Table.from_cells(cells, by=by, value="x", frequency=seed % 5 == 1)
    pattern = rng.random(table.shape) < 0.5
    pattern.reshape(-1)[:2], pattern.reshape(-1)[-1] = True, False
    hidden = [table.codes(tuple(i)) for i in np.argwhere(pattern).tolist()]
    return table.with_status(Status.SECONDARY, hidden)


# --- a reader with a solver of his own --------------------------------------------------------------------------------


def as_read(table: Table) -> tuple[Any, Any, Any]:
    """The hidden cells, and matrix and right-hand side of what the published cells say about them."""
    everything = table.equations(np.ones(table.size, dtype=np.bool_))
    matrix = np.zeros((everything.rows, table.size))
    matrix[everything.row_of(), everything.columns] = everything.coefficients
    hidden = table.hidden.reshape(-1)
    return np.flatnonzero(hidden), matrix[:, hidden], -matrix[:, ~hidden] @ table.value.reshape(-1)[~hidden]


def computed(table: Table, bounds: list[tuple[float, float | None]] | None = None) -> dict[int, tuple[float, float]]:
    """What the reader computes about every hidden cell, from published cells and bounds that are known."""
    cells, matrix, right = as_read(table)
    found = {}
    for k, cell in enumerate(cells.tolist()):
        goal = np.zeros(cells.size)
        goal[k] = 1.0
        low, high = (linprog(s * goal, A_eq=matrix, b_eq=right, bounds=bounds or (0, None)) for s in (1.0, -1.0))
        found[cell] = (low.fun, -high.fun if high.status == 0 else np.inf)
    return found


def other_values(table: Table, seed: int) -> Table | None:
    """The same published cells around other hidden values; None if the solver's corner is no whole number."""
    cells, matrix, right = as_read(table)
    goal = np.random.default_rng(seed).normal(size=cells.size)
    corner = linprog(goal, A_eq=matrix, b_eq=right, bounds=(0, 10 * table.value.max() + 1)).x
    unit = 0.01 if table.decimals else 1.0
    near = np.rint(corner / unit) * unit
    if np.abs(near - corner).max() > 1e-6:
        return None
    value = table.value.reshape(-1).copy()
    value[cells] = np.round(near, 2)
    return replace(table, value=value.reshape(table.shape))


# --- what goes in -----------------------------------------------------------------------------------------------------


def test_the_intervals_of_three_cells_in_a_line_tell_nothing() -> None:
    found = dk.publishable_intervals(line([50, 40, 10, 1], ["secondary", "secondary", "primary", "open"]))
    assert [found.of(code) for code in "abc"] == [(0.0, 100.0)] * 3


def test_intervals_are_what_a_reader_computes() -> None:
    for seed in range(12):
        table = random_table(seed)
        found = dk.publishable_intervals(table)
        unit = 0.01 if table.decimals else 1.0
        for cell, (low, high) in computed(table).items():
            lower, upper = found.lower.reshape(-1)[cell], found.upper.reshape(-1)[cell]
            if not np.isfinite(high) or high - low < 1e-6:
                assert np.isnan(lower)
            elif table.frequency:
                # between whole numbers
                assert (lower, upper) == (np.ceil(low - 1e-6), np.floor(high + 1e-6))
            else:
                assert low - unit < lower <= low + 1e-6
                assert high - 1e-6 <= upper < high + unit


def test_tables_that_are_published_alike_have_the_same_intervals_to_the_byte() -> None:
    compared = 0
    for seed in range(15):
        table = random_table(seed)
        other = other_values(table, seed)
        if other is None or np.array_equal(other.value, table.value):
            continue
        compared += 1
        for digits in (None, 1, 2):
            one, two = (dk.publishable_intervals(each, EXACT_ONLY, digits=digits) for each in (table, other))
            assert one.lower.tobytes() == two.lower.tobytes()
            assert one.upper.tobytes() == two.upper.tobytes()
    assert compared > 8


def test_primary_and_secondary_cells_are_treated_alike() -> None:
    one, two = square(), square().with_status(Status.SECONDARY, [["a", "u"]])
    assert dk.publishable_intervals(one).upper.tobytes() == dk.publishable_intervals(two).upper.tobytes()


def test_who_knows_the_intervals_computes_no_more_than_before() -> None:
    for seed in range(0, 12, 3):
        table = random_table(seed)
        found = dk.publishable_intervals(table)
        bounds: list[tuple[float, float | None]] = [
            (0, None) if np.isnan(low) else (low, high)
            for low, high in zip(found.lower[table.hidden], found.upper[table.hidden], strict=True)
        ]
        before, after = computed(table), computed(table, bounds)
        hair = 1.0 if table.frequency else 1e-6  # between whole numbers he knows more about counts
        for cell, ends in before.items():
            assert after[cell] == pytest.approx(ends, abs=hair)


def test_what_an_attacker_is_taken_to_know_stays_out() -> None:
    table = replace(square(), positive=True)
    known = replace(table, lower=table.value * 0.9, upper=table.value * 1.1)
    usual = dk.publishable_intervals(table).upper
    for knowledge in (Knowledge.relative(0.1), Knowledge.intervals(), Knowledge.positive(), Knowledge.none()):
        found = dk.publishable_intervals(known, replace(EXACT_ONLY, knowledge=knowledge))
        assert found.upper.tobytes() == usual.tobytes()


def test_without_known_signs_there_is_nothing_to_publish() -> None:
    for knowledge in (Knowledge.none(), Knowledge.relative(2.0)):
        assert dk.publishable_intervals(square(), Promise(levels=False, knowledge=knowledge)).count == 0
    mixed = line([50, 40, 10, -1], ["secondary", "secondary", "primary", "open"])
    assert dk.publishable_intervals(mixed).count == 0


def test_an_open_end_or_a_value_that_can_be_computed_gets_no_interval() -> None:
    table = line([50, 40, 10], ["secondary", "open", "open"])
    assert dk.publishable_intervals(table).count == 0
    assert dk.publishable_intervals(table.with_status(Status.SECONDARY, [["Total"]])).count == 0


def test_values_that_are_no_short_decimals_get_ends_outside_what_can_be_computed() -> None:
    table = line([1 / 3, 2 / 7, 1 / 11, np.pi], ["secondary", "secondary", "primary", "open"])
    lower, upper = dk.publishable_intervals(table).of("a") or (np.nan, np.nan)
    hidden = 1 / 3 + 2 / 7 + 1 / 11
    assert lower == 0.0
    assert hidden < upper < hidden + 1e-9


@pytest.mark.parametrize("times", [1e-6, 1e-3, 1e3, 1e7, 1e9, 1e12])
def test_intervals_grow_with_the_table(times: float) -> None:
    one, other = (dk.publishable_intervals(table).of("b", "v") for table in (square(), square(times=times)))
    assert one == (19.0, 53.0)
    assert other == pytest.approx((19.0 * times, 53.0 * times), rel=1e-14)


def test_tiny_and_huge_values_in_one_table_have_exact_intervals() -> None:
    cells = {
        "s": [s for s in "abc" for _ in range(3)], "t": list("uvw") * 3,
        "x": [3, 4e11, 7, 2e12, 5, 6e11, 9, 8e12, 1],
    }  # fmt: skip
    table = Table.from_cells(cells, by={"s": None, "t": None}, value="x")
    hidden = [s + t for s in "abc" for t in "uvw" if s + t not in ("aw", "cu")]
    found = dk.publishable_intervals(table.with_status(Status.SECONDARY, [list(each) for each in hidden]))
    assert found.of("a", "u") == (0.0, 400000000003.0)
    low, high = found.of("c", "w") or (0.0, 0.0)
    assert (low, high) == (0.0, 600000000001.0)


# --- how it looks -----------------------------------------------------------------------------------------------------


def test_intervals_are_widened_by_fixed_rules() -> None:
    assert dk.publishable_intervals(square()).of("a", "v") == (73.0, 107.0)
    assert dk.publishable_intervals(square(), decimals=-1).of("a", "v") == (70.0, 110.0)
    assert dk.publishable_intervals(square(), decimals=2).of("a", "v") == (73.0, 107.0)
    assert dk.publishable_intervals(square(), digits=1).of("a", "v") == (0.0, 200.0)
    assert dk.publishable_intervals(square(), digits=2).of("b", "u") == (0.0, 34.0)
    with pytest.raises(BadOption, match="both decimals and digits"):
        dk.publishable_intervals(square(), decimals=0, digits=1)
    with pytest.raises(BadOption, match="0 digits"):
        dk.publishable_intervals(square(), digits=0)


def test_in_large_groups_lines_are_looked_at_one_by_one() -> None:
    for seed in range(6):
        table = random_table(seed)
        exact = dk.publishable_intervals(table)
        with pytest.warns(dk.ProtectionWarning, match="wider than what can be computed"):
            found = dk.publishable_intervals(table, most=1)
        inside = np.isfinite(exact.lower) & np.isfinite(found.lower)
        assert (found.lower[inside] <= exact.lower[inside]).all()
        assert (found.upper[inside] >= exact.upper[inside]).all()


def test_how_far_the_work_has_come_is_told() -> None:
    told: list[tuple[str, int, int]] = []
    dk.publishable_intervals(square(), progress=lambda *said: told.append(said))
    assert told == [("intervals", 4, 4)]


def test_a_table_that_is_exposed_already_gets_a_warning_and_no_intervals_near_the_exposed_cells(tmp_path: Path) -> None:
    cells = {"s": list("aabbccdd"), "t": list("uv") * 4, "x": [13, 94, 21, 32, 40, 50, 60, 70]}
    by = {"s": Hierarchy.from_nested({"T": {"A": ["a", "b"], "B": ["c", "d"]}}), "t": None}
    table = Table.from_cells(cells, by=by, value="x")
    table = table.with_status(Status.PRIMARY, [["a", "u"], ["c", "u"]])
    table = table.with_status(Status.SECONDARY, [["a", "v"], ["b", "u"], ["b", "v"]])  # c stands alone
    with pytest.warns(dk.ProtectionWarning, match="1 cells are exposed whether .*'s=c, t=u'"):
        found = dk.publishable_intervals(table)
    assert found.of("a", "u") == (0.0, 34.0)  # nothing links it with what is exposed
    assert found.of("c", "u") is None
    with pytest.warns(dk.ProtectionWarning, match="protect the table first"):
        dk.publish(table, tmp_path / "t.csv", intervals=True, unprotected=True)
    linked = table.with_status(Status.SECONDARY, [["c", "v"], ["B", "u"], ["B", "v"], ["A", "u"], ["A", "v"]])
    linked = linked.with_status(Status.OPEN, [["c", "v"]])
    with pytest.warns(dk.ProtectionWarning, match="exposed"):
        assert dk.publishable_intervals(linked).count == 0


# --- other tables -----------------------------------------------------------------------------------------------------


def finer(status: str = "secondary") -> Table:
    cells = {"w": ["x", "y"], "x": [5, 8], "st": [status, status]}
    return Table.from_cells(cells, by={"w": Hierarchy.flat("xy")}, value="x", status="st")


def test_intervals_of_a_pool_are_those_of_whoever_reads_all_its_tables() -> None:
    pool = Pool.of({"square": square(), "finer": finer()}, fixed={"finer": {"s": "a", "t": "u"}})
    found = dk.publishable_intervals(pool).split()
    assert found["square"].of("a", "u") == found["finer"].of("Total") == (0.0, 34.0)
    assert found["finer"].of("x") == (0.0, 34.0)
    half = Pool.of(
        {"square": square(), "finer": finer().with_status(Status.OPEN, [["x"]])}, fixed={"finer": {"s": "a", "t": "u"}}
    )
    found = dk.publishable_intervals(half).split()
    assert found["square"].of("a", "u") == (5.0, 34.0)  # the finer table says that it is at least 5


def test_a_published_interval_is_prior_knowledge_for_the_next_table() -> None:
    out = dk.publishable_intervals(square(), decimals=-1).known()
    late = Table.from_cells(
        {"w": ["x", "y", "z"], "x": [5, 6, 2], "st": ["primary", "secondary", "open"]},
        by={"w": Hierarchy.flat("xyz")}, value="x", status="st",
    )  # fmt: skip
    pool = Pool.of({"out": out, "late": late}, fixed={"late": {"s": "a", "t": "u"}}, published=["out"])
    (cell,) = pool.index("a", "u", "Total")
    assert pool.lower is not None
    assert pool.upper is not None
    assert (pool.lower[cell], pool.upper[cell]) == (0.0, 40.0)
    assert (pool.lower >= 0).all()
    report = dk.audit(pool, dk.Promise(knowledge=Knowledge.intervals()), intervals="hidden")
    assert report.intervals["s=a, t=u"][1] <= 34.0  # the table itself says more than the widened interval
    found = dk.publishable_intervals(pool, dk.Promise(knowledge=Knowledge.intervals())).split()
    assert found["late"].of("x") == (0.0, 32.0)


def test_intervals_of_one_table_narrow_cells_of_another_that_is_attacked_alone() -> None:
    known = dk.publishable_intervals(square()).known()
    at = known.index("a", "u")
    assert known.upper is not None
    late = replace(finer().with_status(Status.SECONDARY, [["Total"]]), lower=np.zeros(3), upper=np.full(3, np.inf))
    assert late.upper is not None
    late.upper[late.index("Total")] = known.upper[at]
    report = dk.audit(late, dk.Promise(knowledge=Knowledge.intervals()), intervals="hidden")
    assert report.intervals["w=x"] == pytest.approx((0.0, 34.0))


# --- whoever knows the required range ---------------------------------------------------------------------------------


def test_whoever_knows_the_required_range_comes_closer() -> None:
    said = golden("ch3-fig3.11-known-q-table")["expected"]
    x1 = 100.0  # any value below the bound is consistent with what is printed
    cells = {
        "district": ["1", "1", "2", "2"],
        "group": list("ABAB"),
        "x": [x1, 100.0, 50.1, 0.1],
        "status": ["primary", *["secondary"] * 3],
    }
    table = Table.from_cells(cells, by={"district": None, "group": None}, value="x", status="status")
    interval = dk.publishable_intervals(table, dk.Promise(levels=False, min_relative_range=0.5)).of("1", "A")
    assert interval == tuple(said["positive_interval_X1"])
    low, high = said["positive_interval_X1"]
    lower, upper = dk.if_range_is_known(low, high, said["q"])
    assert [lower, upper] == said["known_q_interval_X1"]
    assert (upper - lower) / x1 == pytest.approx(said["relative_span_after_known_q"])


def test_a_known_range_narrows_or_not_or_cannot_be() -> None:
    said = golden("ch3-known-q-interval")
    (cell,) = said["table"]["cells"]
    for case in said["expected"]["cases"]:
        if case.get("possible") is False:
            with pytest.raises(BadOption):
                dk.if_range_is_known(cell["lower"], cell["upper"], case["q"])
            continue
        lower, upper = dk.if_range_is_known(cell["lower"], cell["upper"], case["q"])
        assert [lower, round(upper, 3)] == case["attacker_interval"]
        assert upper == pytest.approx(case["attacker_upper_bound_exclusive"], abs=1e-6)


def test_a_known_range_narrows_tiny_values_as_it_does_large_ones() -> None:
    assert dk.if_range_is_known(99.9e-12, 150.1e-12, 0.5) == pytest.approx((99.9e-12, 100.4e-12), rel=1e-12)


# --- signs ------------------------------------------------------------------------------------------------------------


def test_a_hidden_sign_changes_no_interval_but_is_refused_with_a_cure() -> None:
    hidden = ["primary", "secondary", "secondary", "open"]
    with pytest.raises(BadOption, match=r"a hidden one is(.|\n)*Knowledge.none\(\)"):
        dk.publishable_intervals(line([-5, 60, 45, 1], hidden))
    with pytest.raises(BadOption, match="a hidden one is"):
        dk.publishable_intervals(line([-5, 60, 45, 1], hidden), Promise(knowledge=Knowledge.positive()))
    unknown = [
        dk.publishable_intervals(line(x, hidden), Promise(knowledge=Knowledge.none()))
        for x in ([-5.0, 60, 45, 1], [50.0, 40, 10, 1])
    ]
    assert [found.count for found in unknown] == [0, 0]


def test_an_open_negative_value_leaves_all_signs_unknown() -> None:
    hidden = ["primary", "secondary", "secondary", "open"]
    assert dk.publishable_intervals(line([5, 60, 45, -1], hidden)).count == 0
    assert dk.publishable_intervals(line([-5, 60, 45, -1], hidden)).count == 0
