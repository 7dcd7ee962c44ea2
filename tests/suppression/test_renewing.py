"""Parts of a pattern are chosen anew: cheaper or as before, always safe; and the tableau agrees with the solver."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from diskret import Hierarchy, Promise, Table, audit, suppress
from diskret.model.lp import Matrix, Programme, Way
from diskret.moves.pattern import Pattern
from diskret.suppression.methods import Moves
from diskret.suppression.objective import exact_prices
from diskret.suppression.optimum.attackers import WAY
from diskret.suppression.optimum.part import part_of, solve
from diskret.suppression.optimum.tableau import Tableau
from diskret.suppression.renewing import Budget, Renewal, boxes_of, renew, renewable, take_over
from tests.suppression.test_rerouting import is_sound, pattern, table, unsettled

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
FEW = Budget(whole=300, programmes=600, each=200)


def prices_of(made: Pattern) -> Any:
    return exact_prices(made.router.table, Moves())  # type: ignore[arg-type]


@pytest.mark.parametrize("guard", ["single", "public"])
@pytest.mark.parametrize("seed", range(3))
def test_no_part_makes_a_pattern_dearer_or_unsafe(seed: int, guard: Any) -> None:
    made = pattern(seed, "quick", guard, axes=2 + seed % 2)
    price, open_before = prices_of(made), unsettled(made)
    work = Renewal(made, price, FEW, lambda: True)
    rng = np.random.default_rng(seed)
    for turn in range(6):
        before = float(price[made.added].sum())
        saved, _ = work.try_part(rng.random(price.size) < 0.5 if turn else np.ones(price.size, dtype=np.bool_))
        after = float(price[made.added].sum())
        assert after < before if saved else after == before
        assert unsettled(made) == open_before
        assert is_sound(made)


@pytest.mark.parametrize("seed", range(2))
def test_what_comes_of_parts_passes_the_audit(seed: int) -> None:
    given = table(seed, axes=3)
    done = suppress(given, Promise(), Moves(effort="economy"))
    assert audit(done.table, Promise()).exposed == () or done.unprotected
    assert done.bound is None or done.bound <= done.cost * (1 + 1e-9)


def test_a_part_that_moves_cannot_follow_is_left_as_it_was() -> None:
    made = pattern(1, "quick", "public")
    price = prices_of(made)
    whole = made.router.table.equations(made.router.movable)
    part = part_of(made, whole, price, np.ones(price.size, dtype=np.bool_))
    assert part is not None
    before = made.added.copy()
    assert take_over(made, part, price, np.empty(0, dtype=np.int64)) == 0.0
    assert (made.added == before).all()
    assert is_sound(made)


def test_without_programmes_nothing_changes() -> None:
    made = pattern(2, "quick")
    before = made.added.copy()
    renew(made, prices_of(made), Budget(whole=0, programmes=0, each=0), lambda: True)
    assert (made.added == before).all()
    assert renewable(made)


def turned(made: Table) -> Table:
    """The same table with its classifications in another order."""
    names = made.names[::-1]
    by = {name: made.by[name] for name in names}

    def other(array: Any) -> Any:
        return None if array is None else np.ascontiguousarray(np.transpose(array))

    return Table(
        by, made.response, other(made.value), other(made.status), below=other(made.below), above=other(made.above),
        positive=True,
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(3))
def test_where_the_optimum_is_proved_the_order_of_classifications_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    value = np.zeros((6, 7))
    value[:-1, :-1] = np.ceil(rng.lognormal(3, 1, (5, 6)))
    value[:-1, -1], value[-1, :] = value[:-1, :-1].sum(axis=1), value[:-1, :].sum(axis=0)
    status = np.zeros(value.shape, dtype=np.uint8)
    status[:-1, :-1] = rng.random((5, 6)) < 0.2
    level = np.where(status == 1, np.ceil(0.3 * value), 0.0)
    by = {"a": Hierarchy.flat("vwxyz"), "b": Hierarchy.flat("mnopqr")}
    given = Table(by, "x", value, status, below=level, above=level, positive=True)
    one, other = (suppress(t, Promise(guard="public")) for t in (given, turned(given)))
    assert one.gap == other.gap == 0.0
    assert one.cost == other.cost


def test_boxes_are_one_sum_per_classification_with_its_parts() -> None:
    tree = Hierarchy.from_parents({"a1": "a", "a2": "a", "b1": "b", "b2": "b", "a": "T", "b": "T"})
    cells = {"s": ["a1", "a2", "b1", "b2"] * 2, "r": list("xxxxyyyy"), "v": list(range(8))}
    made = Table.from_cells(cells, by={"s": tree, "r": None}, value="v")
    sizes = sorted(box.size for box in boxes_of(made))
    assert sizes == [9, 9, 9]
    assert np.unique(np.concatenate(list(boxes_of(made)))).size == made.size


@pytest.mark.parametrize("axes", [2, 3])
def test_the_tableau_pushes_and_routes_as_the_solver_does(axes: int) -> None:
    given = table(3, axes)
    system = given.equations(given.value.reshape(-1) > 0)
    n, rng = system.cells.size, np.random.default_rng(axes)
    ours, matrix = Tableau(system), Matrix(*system.by_column())
    farthest = Programme(matrix, np.zeros(system.rows), lower=np.zeros(n), upper=np.zeros(n), way=WAY)
    both = matrix.both_ways()
    way = Programme(both, np.zeros(system.rows), lower=np.zeros(2 * n), upper=np.zeros(2 * n), way=Way(presolve=False))
    for target in rng.choice(n, 12).tolist():
        low, high = -np.ceil(rng.exponential(9, n)), np.ceil(rng.exponential(9, n))
        low[rng.random(n) < 0.3] = 0.0
        farthest.set_bounds(low, high)
        farthest.set_costs(-1.0 * (np.arange(n) == target))
        best, found = farthest.best(), ours.push(target, 1.0, low, high)
        assert best is not None
        assert found is not None
        moved, follows = found
        assert moved[target] == pytest.approx(best[target], abs=1e-7)
        assert np.abs(system.times(moved)).max(initial=0.0) < 1e-7
        assert (moved >= low - 1e-7).all()
        assert (moved <= high + 1e-7).all()
        # what it follows proves that it gets no farther
        assert np.where(follows > 0, follows * high, follows * low).sum() == pytest.approx(moved[target], abs=1e-7)
        cost, amount = rng.random(n), moved[target] / 2
        if amount > 0:
            upper = np.concatenate([high, -low])
            upper[[target, target + n]] = amount, 0.0
            way.set_bounds(np.where(np.arange(2 * n) == target, amount, 0.0), upper)
            way.set_costs(np.tile(cost, 2))
            cheapest, route = way.best(), ours.cheapest(target, amount, low.copy(), high.copy(), cost)
            assert cheapest is not None
            assert route is not None
            assert cost @ np.abs(route) == pytest.approx(np.tile(cost, 2) @ cheapest, rel=1e-6)


def test_parts_are_solved_to_a_proof_where_programmes_suffice() -> None:
    made = pattern(0, "quick", "public")
    price = prices_of(made)
    whole = made.router.table.equations(made.router.movable)
    part = part_of(made, whole, price, np.ones(price.size, dtype=np.bool_))
    assert part is not None
    found = solve(made, part, price, 5_000)
    assert found.proved
    assert found.bound <= found.cost <= part.gain * (1 + 1e-9)


def test_no_bound_is_said_where_moves_are_asked_for_more_than_was_promised() -> None:
    """A range that is longer than both levels may be reached by falling alone, which moves do not look for."""
    cells = {
        "s": ["a", "b", "c", "d"], "x": [10, 1, 5, 50], "st": ["primary", "open", "open", "open"],
        "below": [1, 0, 0, 0], "above": [1, 0, 0, 0],
    }  # fmt: skip
    given = Table.from_cells(cells, by={"s": None}, value="x", status="st", below="below", above="above")
    promise = Promise(min_range=5.0, guard="public")
    cheapest = given.with_status("secondary", [["b"]])
    assert audit(cheapest, promise).safe
    done = suppress(given, promise)
    assert done.cost is not None
    assert done.bound is None or done.bound <= 1.0
    assert suppress(given, Promise(guard="public")).bound == 1.0
