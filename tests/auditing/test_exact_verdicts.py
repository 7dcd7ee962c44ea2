"""No verdict rests on floating point: how far a cell can go is shown by whole numbers, at any size of the numbers."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from benchmarks.rational import Region
from diskret import Hierarchy, Knowledge, Promise, Roles, Status, System, Table, audit, suppress, tabulate, verify
from diskret.auditing.attacker import Attacker, shrunk
from diskret.auditing.certificate import certificate_of
from diskret.auditing.crowd import Crowd
from diskret.auditing.verdicts import Need, verdict
from diskret.model import rollup
from diskret.model.contributors import Contributors
from diskret.model.equations import Equations
from diskret.model.grid import ENDLESS, Whole, fitting
from diskret.model.rational import Exactly, Ratio
from diskret.moves.move import Move, MoveSet


def line(*values: float, status: str = "primary secondary open") -> Table:
    cells = {"s": list("abc"), "x": list(values), "st": status.split()}
    return Table.from_cells(cells, by={"s": None}, value="x", status="st")


@pytest.mark.parametrize("scale", [1e-6, 1e-2, 1.0, 1e3, 1e6])
def test_a_bounded_programme_is_not_believed_to_be_unbounded(scale: float) -> None:
    """b can fall by a tenth of a: the interval of a reaches 1.1 times its value, and 1.5 times are required."""
    table = line(1e9 * scale, 1e8 * scale, 5e9 * scale)
    report = audit(table, Promise(min_relative_range=1.5))
    (found,) = report.exposed
    assert (found.cell, found.lower) == ("s=a", 0.0)
    assert found.upper == pytest.approx(1.1e9 * scale)
    assert audit(table, Promise(min_relative_range=1.0)).safe


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9, 1e12])
@pytest.mark.parametrize(("asked", "safe"), [(1.2, False), (1.199999, True), (1.200001, False)])
def test_what_is_exactly_on_the_border_is_exposed_at_any_scale(scale: float, asked: float, safe: bool) -> None:
    """The interval of a = 100 has the length 120: it must be longer than what is asked for, not as long."""
    assert audit(line(100 * scale, 20 * scale, 7 * scale), Promise(min_relative_range=asked)).safe == safe


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9, 1e12])
@pytest.mark.parametrize(("level", "safe"), [(20.0, True), (20.001, False)])
def test_a_level_is_reached_where_it_is_met_exactly(scale: float, level: float, safe: bool) -> None:
    table = line(100 * scale, 20 * scale, 7 * scale)
    wanted = replace(table, above=np.where(table.status == Status.PRIMARY, level * scale, 0.0))
    assert audit(wanted).safe == safe


def test_levels_on_both_sides_do_not_make_a_range_longer() -> None:
    """Up by 1 and down by 1 is enough for the levels, but the interval must be longer than 2."""
    table = line(4, 1, 7)
    level = np.array([1.0, 0.0, 0.0, 0.0])
    narrow = replace(table, lower=table.value - 1, upper=table.value + 1, above=level, below=level)
    known = Promise(min_relative_range=0.5, knowledge=Knowledge.intervals())
    assert [(e.cell, e.lower, e.upper) for e in audit(narrow, known).exposed] == [("s=a", 3.0, 5.0)]
    assert audit(narrow, replace(known, min_relative_range=0.49)).safe


def test_counts_that_can_rise_and_fall_too_little_together_are_decided() -> None:
    """5 up and 3 down in whole numbers, and more than 8 are asked for."""
    cells = {"s": list("abc"), "x": [3, 5, 4], "st": ["primary", "secondary", "open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st", frequency=True)
    assert [(e.lower, e.upper) for e in audit(table, Promise(min_range=8.0)).exposed] == [(0.0, 8.0)]
    assert audit(table, Promise(min_range=7.5)).safe


def test_what_is_public_counts_with_all_its_decimals() -> None:
    """Cells are multiples of ten, a public contribution is not: a is at least 93, not 90."""
    rows = {"s": list("aabbbccc"), "x": [93, 7, 60, 60, 60, 150, 150, 160], "p": ["yes"] + ["no"] * 7}
    table = tabulate(rows, by={"s": None}, value="x", roles=Roles(public="p"))
    hidden = table.with_status(Status.PRIMARY, [["a"]]).with_status(Status.SECONDARY, [["b"]])
    assert audit(hidden, intervals="primary").intervals == {"s=a": (93.0, 280.0)}
    # whoever gave 93 of 100 to b thinks that 7 of it may be others'
    people = Contributors(np.array([3, 2, 3, 8]), np.array([[40.0], [93.0], [60.0], [93.0]]))
    others = replace(line(100, 100, 180), respondents=people, above=np.array([7.0, 0, 0, 0]))
    assert audit(others, Promise(guard="largest", unions=False)).safe
    wider = replace(others, above=np.array([7.5, 0, 0, 0]))
    assert [e.upper for e in audit(wider, Promise(guard="largest", unions=False)).exposed] == [107.0]


def test_demands_that_do_not_fit_64_bits_are_met_or_not() -> None:
    """Seventeen digits each, over eight orders of magnitude."""
    table = line(1184490.670499286, 104556.965594009, 0.010278776, status="primary primary primary")
    level = np.array([131610.00416942523, 11608.40562676765, 0.0011420862222222238, 0.0])
    report = audit(replace(table, above=level, below=np.zeros(4)))
    assert [e.cell for e in report.exposed] == ["s=a"]
    assert not report.undecided


def test_proofs_about_a_system_name_its_equations() -> None:
    terms: list[dict[str, float]] = [{"a": 1, "T": -1}, {"b": 1, "c": 1, "T": -1}]
    status = ["primary", "open", "open", "open", "open", "secondary"]
    system = System.of(list("abcdeT"), [3, 2, 1, 0, 4, 3], terms, status=status)
    found = verify(system, certificate_of(audit(system, certify=True)))
    assert found.exposed == (("cell=a", "everybody"),)
    assert not found.broken_proofs


def known(values: list[float], lower: list[float], upper: list[float], status: str) -> Table:
    cells = {"s": list("abc"), "x": values, "lo": lower, "up": upper, "st": status.split()}
    return Table.from_cells(cells, by={"s": None}, value="x", status="st", lower="lo", upper="up")


def test_prior_intervals_are_differences_of_decimals() -> None:
    """100,017.100017 less 100,017 is 0.100017, whatever doubles say."""
    wide = known([100017.0, 7.0, 5.0], [100017.0, -1e9, -1e9], [100017.100017, 1e9, 1e9], "primary primary open")
    asked = Promise(guard="public", knowledge=Knowledge.intervals(), min_relative_range=1e-6)
    assert [e.cell for e in audit(wide, asked).exposed] == ["s=a"]
    large = 771830000000.0
    other = known([large, 5.0, 7.0], [large - 0.01, -90.0, -90.0], [large, 90.00001, 90.0], "primary secondary open")
    report = audit(other, replace(asked, min_relative_range=0.0, min_range=0.01), intervals="hidden")
    assert not report.safe
    assert report.intervals["s=b"] == (5.0, 5.01)


def test_a_holding_that_publishes_a_part_is_known_in_that_part() -> None:
    """Q gave 159 of 165, 5 are public: a is at least 164 for him, and b at most 107."""
    rows = {"s": list("aaabbcc"), "x": [159, 1, 5, 60, 46, 30, 40], "o": list("QRRSTUV")}
    rows["p"] = ["no", "no", "yes", "no", "no", "no", "no"]
    table = tabulate(rows, by={"s": None}, value="x", roles=Roles(public="p", holding="o"))
    hidden = table.with_status(Status.PRIMARY, [["b"]]).with_status(Status.SECONDARY, [["a"]])
    asked = Promise(guard="largest", min_range=109.0)
    report = audit(hidden, asked, certify=True)
    assert [(e.cell, e.upper) for e in report.exposed] == [("s=b", 107.0)]
    assert verify(hidden, certificate_of(report), asked).exposed


def test_a_forged_move_that_overflows_is_not_believed() -> None:
    terms: list[dict[str, float]] = [{"a": 4096, "t": -1}, {"b": 1, "c": 1, "u": -1}]
    status = ["primary", "open", "secondary", "secondary", "open"]
    system = System.of(["a", "t", "b", "c", "u"], [5, 20480, 3, 4, 7], terms, status=status)
    forged = Move(cells=np.array([0, 2, 3]), coefficients=np.array([2.0**52, 1.0, -1.0]))
    assert [e.cell for e in audit(system, moves=MoveSet.of([forged])).exposed] == ["cell=a"]


def test_counts_of_a_trillion_have_no_room_below_zero() -> None:
    cells = {"s": list("abc"), "x": [10**12, 10**12, 5], "st": ["primary", "secondary", "open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st", frequency=True)
    assert not audit(table, Promise(guard="public", min_range=2e12)).safe
    assert audit(table, Promise(guard="public", min_range=2e12 - 1)).safe


@pytest.mark.parametrize(("level", "safe"), [(1e9, True), (1e9 + 0.001, False)])
def test_a_level_that_was_given_is_not_rounded(level: float, safe: bool) -> None:
    table = line(5403109674218.0, 1e9, 5.0)
    asked = replace(table, above=np.array([level, 0, 0, 0]), below=np.zeros(4))
    assert audit(asked, Promise(guard="public")).safe == safe


def test_large_coefficients_do_not_leave_an_interval_undecided() -> None:
    terms: list[dict[str, float]] = [{"a": 1000, "b": 1, "t": -1}]
    system = System.of(["a", "b", "t"], [20, 30000, 50000], terms, status=["primary", "secondary", "open"])
    report = audit(system, Promise(guard="public", min_range=40.0), intervals="hidden")
    assert report.safe
    assert report.intervals == {"cell=a": (0.0, 50.0), "cell=b": (0.0, 50000.0)}


def test_a_tiny_room_beside_a_large_demand_does_not_leave_it_undecided() -> None:
    tree = Hierarchy.from_nested({"T": {"A": {"B": ["x0"], "C": ["x2"]}, "D": {"E": ["x3"], "F": ["x5"]}}})
    cells = {"s": ["x0", "x2", "x3", "x5"], "x": [10**9, 10**4, 2 * 10**8, 60]}
    table = Table.from_cells(cells, by={"s": tree}, value="x")
    table = table.with_status(Status.SECONDARY, [["x0"], ["B"], ["T"], ["D"], ["x5"]])
    table = table.with_status(Status.PRIMARY, [["A"]])
    below = np.zeros(table.shape)
    below[table.index("A")] = 5e8
    asked = Promise(guard="public", min_range=1e9, knowledge=Knowledge.relative(0.5))
    report = audit(replace(table, below=below, above=np.zeros(table.shape)), asked)
    assert [e.cell for e in report.exposed] == ["s=A"]
    assert not report.undecided


def test_a_search_among_counts_without_end_is_given_up() -> None:
    """By parity d is 1; splitting never ends."""
    terms: list[dict[str, float]] = [{"d": 1, "a": 2, "b": -2, "t": -1}, {"d": 1, "e": 1, "f": -1}]
    status = ["primary", "secondary", "open", "secondary", "secondary", "open"]
    system = System.of(list("defabt"), [1, 0, 1, 5, 5, 1], terms, status=status, frequency=True)
    assert not audit(system, Promise(guard="public"), seconds=0.2).safe


def test_values_of_every_size_in_one_table_are_decided() -> None:
    rng = np.random.default_rng(5)
    trees = [Hierarchy.flat(list("abcd")), Hierarchy.flat(list("uvwx"))]
    for _ in range(6):
        value = np.zeros((5, 5))
        value[:4, :4] = rng.integers(1, 1000, (4, 4)) * 10.0 ** rng.integers(0, 11, (4, 4))
        rollup.add_up(value, trees)
        status = np.where(rng.random((5, 5)) < 0.5, np.uint8(Status.SECONDARY), np.uint8(Status.OPEN))
        status[(status == Status.SECONDARY) & (rng.random((5, 5)) < 0.5)] = Status.PRIMARY
        table = Table(dict(zip("rc", trees, strict=True)), "x", value, status)
        report = audit(table, Promise(min_relative_range=0.3), intervals="hidden")
        assert not report.undecided
        assert not any(np.isnan(ends).any() for ends in report.intervals.values())


@pytest.mark.parametrize("scale", [1e-6, 0.01, 1e7, 1e12])
def test_a_table_in_another_unit_gets_the_same_pattern(scale: float) -> None:
    rng = np.random.default_rng(11)
    trees = [Hierarchy.from_nested({"T": {"A": ["a", "b", "c"], "B": ["d", "e"]}}), Hierarchy.flat(list("uvwx"))]
    value = np.zeros(tuple(map(len, trees)))
    inner = np.ix_(*(h.is_leaf for h in trees))
    value[inner] = rng.integers(1, 500, (5, 4))
    rollup.add_up(value, trees)
    status = np.where(rng.random(value.shape) < 0.15, np.uint8(Status.PRIMARY), np.uint8(Status.OPEN))
    table = Table(dict(zip("rc", trees, strict=True)), "x", value, status)
    wanted = Promise(min_relative_range=0.4)
    one, other = suppress(table, wanted), suppress(replace(table, value=value * scale), wanted)
    assert (one.table.status == other.table.status).all()
    assert (one.moves.coefficients == other.moves.coefficients).all()
    assert other.moves.up == pytest.approx(one.moves.up * scale)
    assert {u.cell for u in one.unprotected} == {u.cell for u in other.unprotected}


# --- the attacker against a simplex in fractions ----------------------------------------------------------------------


def random_case(rng: np.random.Generator, largest: int) -> tuple[Equations, list[int], list[int]]:
    """A few unknowns in a few lines, with rooms of any size; some without end."""
    unknowns, rows = int(rng.integers(3, 9)), int(rng.integers(1, 5))
    matrix = rng.integers(-1, 2, (rows, unknowns))
    matrix = matrix[(matrix != 0).sum(axis=1) > 1]
    if not len(matrix):
        matrix = np.ones((1, unknowns), dtype=np.int64)
    row, column = np.nonzero(matrix)
    start = np.searchsorted(row, np.arange(len(matrix) + 1))
    nothing = np.zeros(len(matrix), dtype=np.int64)
    system = Equations(np.arange(unknowns), start, column, matrix[row, column].astype(float), nothing, nothing)

    def rooms() -> list[int]:
        sizes = [int(rng.integers(0, 10)) * 10 ** int(rng.integers(0, largest)) for _ in range(unknowns)]
        return [ENDLESS if rng.random() < 0.2 else size for size in sizes]

    return system, rooms(), rooms()


def by_fractions(system: Equations, up: list[int], down: list[int], column: int, upward: bool) -> Fraction | None:
    """The farthest an unknown goes; None without end."""
    rows = [
        {int(c): int(w) for c, w in zip(system.columns[a:b], system.coefficients[a:b], strict=True)}
        for a, b in zip(system.start[:-1], system.start[1:], strict=True)
    ]
    low, high = [None if d == ENDLESS else -d for d in down], [None if u == ENDLESS else u for u in up]
    region = Region.of(rows, low, high)
    assert region is not None
    end = region.most(column, 1 if upward else -1)
    return None if end is None else abs(Fraction(end))


@pytest.mark.parametrize("largest", [1, 6, 12, 18])
def test_extremes_are_those_of_a_simplex_in_fractions(largest: int) -> None:
    rng = np.random.default_rng(largest)
    for _ in range(25):
        system, up, down = random_case(rng, largest)
        attacker = Attacker(system, fitting(up), fitting(down))
        for column in range(len(up)):
            for upward in (True, False):
                truth = by_fractions(system, up, down, column, upward)
                found = attacker.extreme(column, upward)
                assert found == (np.inf if truth is None else truth)


@pytest.mark.parametrize("largest", [1, 12])
def test_a_goal_is_reached_or_refuted_to_the_last_step(largest: int) -> None:
    rng = np.random.default_rng(100 + largest)
    for _ in range(25):
        system, up, down = random_case(rng, largest)
        attacker, exactly = Attacker(system, fitting(up), fitting(down)), Exactly(system)
        for column in range(len(up)):
            truth = by_fractions(system, up, down, column, True)
            if truth is None:
                continue
            for goal in {max(int(truth) - 1, 0), int(truth), int(truth) + 1}:
                found = attacker.farthest(column, True, goal)
                if goal <= truth:
                    assert found.point is not None
                    assert found.reach >= goal
                    assert attacker.keeps(found.point)
                    assert not exactly.sums(found.point.x).any()
                    assert Fraction(int(found.point.x[column]), found.point.q) == found.reach
                else:
                    assert found.proof is not None
                    assert found.proof.refutes(goal)
                    assert found.proof.reach >= truth, "a proof says what is true"


@pytest.mark.parametrize("largest", [1, 9])
def test_a_crowd_is_carried_no_farther_than_possible_and_everybody_gets_a_verdict(largest: int) -> None:
    rng = np.random.default_rng(200 + largest)
    for _ in range(15):
        system, up, down = random_case(rng, largest)
        attacker = Attacker(system, fitting(up), fitting(down))
        columns = np.flatnonzero(rng.random(len(up)) < 0.7)
        if not columns.size:
            continue
        goals: Whole = fitting([int(rng.integers(1, 10)) * 10 ** int(rng.integers(0, largest)) for _ in columns])
        point = Crowd(attacker, columns, goals).push(np.arange(columns.size), bool(rng.random() < 0.5))
        assert point is not None
        assert attacker.keeps(point)
        assert not Exactly(system).sums(point.x).any()
        for column, goal in zip(columns.tolist(), goals.tolist(), strict=True):
            rise, fall = (by_fractions(system, up, down, column, way) for way in (True, False))
            need = Need(up=goal, down=0, length=goal, strict=True)
            found = verdict(attacker, column, need)
            truth = (rise is None or rise >= goal) and (rise is None or fall is None or rise + fall > goal)
            assert (found.safe, found.exposed) == (truth, not truth)


def test_a_point_that_is_off_is_shrunk_until_it_fits() -> None:
    found = shrunk(Ratio(1, np.array([6, -6])), np.array([ENDLESS, ENDLESS]), np.array([0, 4]))
    assert [Fraction(int(x), found.q) for x in found.x] == [4, -4]


@pytest.mark.parametrize(("x", "up", "down"), [(0, -1, ENDLESS), (3, ENDLESS, -4), (2, -1, 5)])
def test_a_point_in_rooms_that_do_not_hold_the_beginning_is_not_shrunk(x: int, up: int, down: int) -> None:
    """Cases of whole numbers; a campaign of requests ended here with a division by zero."""
    point = Ratio(1, np.array([x, 9]))
    assert shrunk(point, np.array([up, ENDLESS]), np.array([down, ENDLESS])) is point
