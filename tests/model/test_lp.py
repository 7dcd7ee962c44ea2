"""Programmes: what the solver says in four words, starts that do not matter, whole numbers, and one door to it."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret
from diskret.model.arrays import Floats
from diskret.model.lp import ALL_BUT_OPTIMAL, UNCLEAR, Answer, Matrix, Programme, Simplex, Start, Way
from diskret.model.tolerances import SOLVER, WHOLE

INF = np.inf


def line(*values: float) -> Matrix:
    """One row over as many columns as there are values."""
    return Matrix(np.array([0, len(values)]), np.arange(len(values)), np.array(values), by_rows=True)


def of(lower: list[float], upper: list[float], cost: list[float], total: float, **more: object) -> Programme:
    """The columns add up to a total."""
    ends = np.array(lower, dtype=np.float64), np.array(upper, dtype=np.float64)
    costs = np.array(cost, dtype=np.float64)
    return Programme(line(*[1.0] * len(lower)), np.array([total]), lower=ends[0], upper=ends[1], cost=costs, **more)  # type: ignore[arg-type]


# --- answers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.parametrize("doubted", [frozenset(), UNCLEAR, ALL_BUT_OPTIMAL])
@pytest.mark.parametrize(
    ("lower", "upper", "total", "answer"),
    [
        ([0, 0], [3, 3], 4.0, Answer.OPTIMAL),
        ([0, 0], [1, 1], 4.0, Answer.INFEASIBLE),
        ([2, 0], [1, 9], 4.0, Answer.INFEASIBLE),
        ([-INF, 0], [INF, INF], 4.0, Answer.UNBOUNDED),
        ([-1e30, 0], [1e30, 1e30], 4.0, Answer.UNBOUNDED),
    ],
)
def test_every_way_gives_the_same_answer(
    lower: list[float], upper: list[float], total: float, answer: Answer, presolve: bool, doubted: frozenset[Answer]
) -> None:
    programme = of(lower, upper, [0, -1], total, way=Way(presolve=presolve, doubted=doubted))
    found = programme.best()
    assert programme.answer is answer
    assert (found is None) == (answer is not Answer.OPTIMAL)


@pytest.mark.parametrize("whole", [True, False])
def test_an_unbounded_goal_is_called_so_in_whole_numbers_too(whole: bool) -> None:
    assert of([-INF, 0], [INF, INF], [0, -1], 0.0, whole=whole).solve() is Answer.UNBOUNDED


THINGS = np.random.default_rng(1).integers(10_000, 20_000, (3, 40)).astype(np.float64)


def knapsack(way: Way) -> Programme:
    """Many similar things for a bag that holds half of them: nothing a solver proves at once."""
    rows = Matrix(np.array([0, 40, 80, 120]), np.tile(np.arange(40), 3), THINGS.reshape(-1), by_rows=True)
    limits = np.full(3, -INF), THINGS.sum(axis=1) / 2
    cost = -THINGS.sum(axis=0)
    return Programme(rows, limits, lower=np.zeros(40), upper=np.ones(40), cost=cost, whole=True, way=way)


@pytest.mark.parametrize("way", [Way(nodes=1), Way(seconds=0.0)])
def test_a_limit_means_giving_up_and_the_bound_still_holds(way: Way) -> None:
    short = knapsack(way)
    assert short.solve() is Answer.GAVE_UP
    assert short.best() is None
    if short.has_point:
        assert short.point == pytest.approx(np.rint(short.point), abs=WHOLE)
        assert short.bound <= short.value


def test_iterations_are_a_limit() -> None:
    rng = np.random.default_rng(2)
    rows = Matrix(np.arange(0, 401, 20), np.tile(np.arange(20), 20), rng.random(400), by_rows=True)
    limits = np.ones(20), np.full(20, INF)
    for iterations, answer in ((1, Answer.GAVE_UP), (10_000, Answer.OPTIMAL)):
        way = Way(presolve=False, only_simplex=True, iterations=iterations)
        programme = Programme(rows, limits, lower=np.zeros(20), upper=np.ones(20), cost=rng.random(20) + 1, way=way)
        assert programme.solve() is answer


def test_before_it_is_solved_nothing_is_known() -> None:
    programme = of([0, 0], [3, 3], [1, 2], 4.0)
    assert programme.answer is Answer.GAVE_UP
    assert not programme.has_point


def test_a_doubted_answer_is_looked_for_again_from_scratch(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[Programme] = []
    run = Programme._run

    def counted(self: Programme) -> None:
        runs.append(self)
        run(self)

    monkeypatch.setattr(Programme, "_run", counted)
    for doubted, times in ((frozenset[Answer](), 1), (UNCLEAR, 1), (ALL_BUT_OPTIMAL, 2)):
        runs.clear()
        assert of([0, 0], [1, 1], [1, 1], 4.0, way=Way(doubted=doubted)).solve() is Answer.INFEASIBLE
        assert len(runs) == times


# --- warm and cold ----------------------------------------------------------------------------------------------------


def transport(seed: int) -> tuple[Matrix, Floats, Floats, Floats]:
    """A table of 5 x 6 with given margins: coefficients, margins, bounds, costs."""
    rng = np.random.default_rng(seed)
    value = rng.integers(0, 9, (5, 6))
    rows = [[6 * i + j for j in range(6)] for i in range(5)] + [[6 * i + j for i in range(5)] for j in range(6)]
    start = np.cumsum([0, *map(len, rows)])
    matrix = Matrix(start, np.concatenate([np.array(r) for r in rows]), np.ones(int(start[-1])), by_rows=True)
    margins = np.concatenate([value.sum(axis=1), value.sum(axis=0)]).astype(np.float64)
    return matrix, margins, np.full(30, 20.0), rng.random(30)


@given(st.integers(0, 50), st.sampled_from(["last", "slack", "scratch"]), st.sampled_from(list(Simplex)))
def test_warm_equals_cold(seed: int, start: Start, simplex: Simplex) -> None:
    matrix, margins, upper, cost = transport(seed)
    rng = np.random.default_rng(seed + 1)
    way = Way(presolve=False, simplex=simplex)
    warm = Programme(matrix, margins, lower=np.zeros(30), upper=upper, cost=cost, way=way)
    for _ in range(4):
        cost, upper = rng.random(30), rng.integers(8, 20, 30).astype(np.float64)
        warm.set_costs(cost)
        warm.set_bounds(np.zeros(30), upper)
        cold = Programme(matrix, margins, lower=np.zeros(30), upper=upper, cost=cost)
        assert warm.solve(start) is cold.solve()
        if cold.answer is Answer.OPTIMAL:
            assert warm.value == pytest.approx(cold.value, rel=SOLVER)
            assert warm.point == pytest.approx(cold.point, abs=SOLVER)


def test_changes_of_some_columns_and_of_the_method() -> None:
    programme = of([0, 0, 0], [3, 3, 3], [1, 2, 3], 4.0)
    assert programme.best() == pytest.approx([3, 1, 0])
    programme.set_costs(np.array([9.0]), np.array([0]))
    assert programme.best() == pytest.approx([0, 3, 1])
    programme.set_bounds(np.array([2.0]), np.array([INF]), np.array([2]))
    programme.use(Simplex.PRIMAL)
    assert programme.best() == pytest.approx([0, 2, 2])
    assert programme.value == pytest.approx(2 * 2 + 3 * 2)


def test_rows_come_and_go() -> None:
    programme = of([0, 0], [3, 3], [1, 2], 4.0)
    programme.add_rows(line(1.0, -1.0), np.zeros(1), np.full(1, INF))
    programme.add_rows(line(1.0, -1.0), np.full(1, -INF), np.zeros(1))
    assert programme.best() == pytest.approx([2, 2])
    assert programme.sums == pytest.approx([4, 0, 0])
    programme.delete_rows(np.array([2]))
    assert programme.best() == pytest.approx([3, 1])
    assert programme.sums == pytest.approx([4, 2])


def test_a_time_limit_counts_from_now_on() -> None:
    programme = of([0, 0], [3, 3], [1, 2], 4.0, way=Way(presolve=False))
    for seconds, answer in ((0.0, Answer.GAVE_UP), (60.0, Answer.OPTIMAL)):
        programme.limit(seconds)
        assert programme.solve("scratch") is answer


@given(st.integers(0, 30))
def test_multipliers_and_reduced_costs_prove_the_point(seed: int) -> None:
    matrix, margins, upper, cost = transport(seed)
    programme = Programme(matrix, margins, lower=np.zeros(30), upper=upper, cost=cost)
    point = programme.best()
    assert point is not None
    row = np.repeat(np.arange(margins.size), np.diff(matrix.start))
    combined = np.bincount(matrix.at, weights=programme.multipliers[row] * matrix.value, minlength=30)
    assert programme.reduced_costs == pytest.approx(cost - combined, abs=1e-6)
    left = np.where(programme.reduced_costs < 0, upper, 0.0) @ programme.reduced_costs
    assert programme.multipliers @ margins + left == pytest.approx(programme.value, abs=1e-6)


def test_by_rows_and_by_columns_are_the_same_programme() -> None:
    matrix, margins, upper, cost = transport(3)
    row = np.repeat(np.arange(margins.size), np.diff(matrix.start))
    order = np.lexsort((row, matrix.at))
    columns = Matrix(np.searchsorted(matrix.at[order], np.arange(31)), row[order], matrix.value[order])
    one, two = (Programme(m, margins, lower=np.zeros(30), upper=upper, cost=cost) for m in (matrix, columns))
    assert one.best() == pytest.approx(two.best())


# --- whole numbers ----------------------------------------------------------------------------------------------------


@given(st.lists(st.integers(1, 9), min_size=2, max_size=4), st.integers(1, 20), st.integers(0, 99))
def test_whole_numbers_against_all_there_are(sizes: list[int], total: int, seed: int) -> None:
    cost = np.random.default_rng(seed).integers(1, 9, len(sizes)).astype(np.float64)
    points = [p for p in product(range(4), repeat=len(sizes)) if np.dot(p, sizes) >= total]
    programme = Programme(
        line(*map(float, sizes)),
        (np.array([float(total)]), np.full(1, INF)),
        lower=np.zeros(len(sizes)),
        upper=np.full(len(sizes), 3.0),
        cost=cost,
        whole=True,
        way=Way(relative_gap=0.0),
    )
    found = programme.best()
    if not points:
        assert programme.answer is Answer.INFEASIBLE
        return
    assert found is not None
    assert programme.value == pytest.approx(min(float(np.dot(p, cost)) for p in points))
    assert programme.bound == pytest.approx(programme.value)
    assert tuple(np.rint(found).astype(int).tolist()) in points


def test_a_suggestion_is_used_and_better_points_are_seen() -> None:
    programme = knapsack(Way(nodes=1, relative_gap=0.0))
    some = np.zeros(40)
    some[:15] = 1.0
    programme.suggest(some)
    seen = programme.watch()
    programme.solve()
    assert programme.has_point
    assert programme.value <= -THINGS.sum(axis=0) @ some
    assert programme.value == pytest.approx(-THINGS.sum(axis=0) @ programme.point)
    assert all(each.size == 40 for each in seen)


# --- one door ---------------------------------------------------------------------------------------------------------


def test_no_other_module_imports_the_solver() -> None:
    package = Path(diskret.__file__).parent
    imports = re.compile(r"^\s*(import highspy|from highspy)", re.MULTILINE)
    found = {p.relative_to(package).as_posix() for p in package.rglob("*.py") if imports.search(p.read_text("utf-8"))}
    assert found == {"model/lp.py"}
