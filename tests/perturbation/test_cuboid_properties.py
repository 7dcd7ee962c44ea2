"""What cuboid perturbation promises, on random tables: additive, whole, positive, far enough, repeatable."""

from __future__ import annotations

import warnings
from dataclasses import fields, replace
from itertools import product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import (
    CuboidOptions,
    Hierarchy,
    Knowledge,
    MinCount,
    Pool,
    PPercent,
    Promise,
    ProtectionWarning,
    Status,
    Table,
    mark,
    methods,
    perturb,
    suppress,
)
from diskret.model.errors import BadOption, ChangeOutOfReach
from diskret.perturbation import _move_kernels as kernels
from diskret.perturbation.changed_table import Perturbation
from diskret.perturbation.cuboids import most_cells, tree_of
from diskret.perturbation.leeway import Leeway
from tests import by_hand
from tests.present import present

seeds = st.integers(0, 10**6)


def marked(seed: int, **options: Any) -> Table:
    """A random table of firms with its primary cells."""
    table = by_hand.firms(seed, **options).table
    return mark(table, MinCount(3) | PPercent(10), special_cases=False)


def quietly(table: Table, options: CuboidOptions = CuboidOptions(), **more: Any) -> Perturbation:  # noqa: B008
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        return perturb(table, options=options, **more)


def adds_up(table: Table) -> bool:
    """Every printed sum equals its printed parts, in whole units."""
    units = np.rint(table.value * 10 ** (table.decimals or 0)).astype(np.int64)
    return all(units[whole] == sum(units[p] for p in parts) for whole, parts in by_hand.equations(table))


@given(seeds, st.integers(1, 3), st.sampled_from([0, 2]), st.booleans(), st.sampled_from(["uniform", "normal"]))
def test_sums_hold_and_demands_are_met(
    seed: int, axes: int, decimals: int, negative: bool, distribution: Literal["uniform", "normal"]
) -> None:
    table = marked(seed, axes=axes, decimals=decimals, negative=negative)
    done = quietly(table, CuboidOptions(distribution=distribution), seed=seed)
    after, change = done.table, done.change
    assert adds_up(after)
    assert np.array_equal(np.round(after.value, decimals), after.value)
    if not negative:
        assert (after.value >= 0).all()
        assert (after.value[table.value == 0] == 0).all()
    primary = table.status == Status.PRIMARY
    assert (change[primary] != 0).all()
    up, down = change >= present(table.above) - 1e-9, -change >= present(table.below) - 1e-9
    assert (up | down)[primary].all()


@given(seeds, st.integers(1, 3))
def test_same_seed_same_table(seed: int, axes: int) -> None:
    table = marked(seed, axes=axes)
    one, two = (quietly(table, seed=seed) for _ in range(2))
    assert np.array_equal(one.table.value, two.table.value)
    assert one.summary() == two.summary()


@given(seeds, st.integers(1, 3))
def test_moves_explain_every_change(seed: int, axes: int) -> None:
    table = marked(seed, axes=axes)
    done = quietly(table, seed=seed)
    moves = present(done.moves)
    change = np.zeros(table.size)
    for k in range(len(moves)):
        change[moves[k].cells] += moves[k].coefficients * done.step[k]
        assert all(k in moves.using(cell) for cell in moves[k].cells.tolist())
    assert np.array_equal(change.reshape(table.shape), done.change)


@given(seeds, st.floats(0.05, 0.5))
def test_range_of_the_protection_is_kept_on_both_sides_of_the_published_value(seed: int, q: float) -> None:
    table = marked(seed)
    done = quietly(
        table,
        CuboidOptions(max_relative_change=None),
        seed=seed,
        promise=Promise(levels=False, min_relative_range=q),
    )
    primary = table.status == Status.PRIMARY
    assert (2 * np.abs(done.change) > q * table.value)[primary].all()


@given(seeds)
def test_no_value_leaves_what_is_known_beforehand(seed: int) -> None:
    table = marked(seed)
    known = Knowledge.relative(3.0)
    try:
        done = quietly(table, seed=seed, promise=Promise(knowledge=known))
    except ChangeOutOfReach:
        return
    assert (done.table.value <= 4 * table.value + 1e-9).all()
    assert (done.table.value >= 0).all()


@given(seeds)
def test_what_is_out_stays_as_it_is(seed: int) -> None:
    table = marked(seed)
    rng = np.random.default_rng(seed)
    out = (rng.random(table.shape) < 0.1) & (table.status != Status.PRIMARY)
    table = replace(table, status=np.where(out, np.uint8(Status.PUBLISHED), table.status))
    try:
        done = quietly(table, seed=seed)
    except ChangeOutOfReach:
        return
    assert (done.change[out] == 0).all()


def test_cells_that_cannot_be_changed_are_named() -> None:
    cells = {"s": ["a", "b", "c"], "x": [10, 20, 30], "st": ["primary", "published", "published"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    shut = replace(table, status=np.where(table.status == Status.OPEN, np.uint8(Status.PUBLISHED), table.status))
    with pytest.raises(ChangeOutOfReach, match="s=a"):
        perturb(shut)


@given(seeds)
def test_rebooked_counts_add_up_and_suffice(seed: int) -> None:
    table = marked(seed, most=9, empty=0.0)
    try:
        done = quietly(table, CuboidOptions(min_count=3), seed=seed)
    except ChangeOutOfReach:
        return
    after = replace(done.table, value=done.table.count.astype(float))
    assert adds_up(after)
    primary = table.status == Status.PRIMARY
    assert (done.table.count[primary] >= 3).all()
    assert (done.table.count >= np.minimum(table.count, 3)).all()


def test_no_single_contributor_can_compute_the_error_of_another_cell() -> None:
    """Solved once more by hand: what a firm that knows its own cells can say about the errors of all moves."""
    for seed in range(25):
        case = by_hand.firms(seed, axes=2)
        table = mark(case.table, MinCount(3), special_cases=False)
        done = quietly(table, seed=seed)
        moves = present(done.moves)
        member = np.zeros((table.size, len(moves)))
        for k in range(len(moves)):
            member[moves[k].cells, k] = moves[k].coefficients
        for firm in case.alone():
            own = [int(np.ravel_multi_index(c, table.shape)) for c in case.knows(firm)]
            for cell in by_hand.primaries(table):
                at = int(np.ravel_multi_index(cell, table.shape))
                if firm in case.behind[cell] or at in done.told:
                    continue
                # one known error tells another if both cells belong to the same moves
                assert not any(
                    np.array_equal(member[at], s * member[c]) for c in own for s in (1, -1) if member[c].any()
                )


def test_second_errors_are_as_large_as_the_first_would_have_to_be() -> None:
    cells = {"s": ["a", "b", "c"], "x": [50, 60, 70], "n": [1, 1, 9]}
    table = mark(Table.from_cells(cells, by={"s": None}, value="x", count="n"), MinCount(3, margin=20))
    for seed in range(30):
        done = quietly(table, seed=seed)
        assert not done.told.size
        for codes in (("a",), ("b",)):
            assert abs(done.change[table.index(*codes)]) >= present(table.above)[table.index(*codes)]


@pytest.mark.slow
def test_cuboids_of_a_suppression_are_taken_along() -> None:
    table = mark(by_hand.firms(3, trees=(1, 3)).table, MinCount(3), special_cases=False)
    hidden = suppress(table, Promise(levels=False), methods.Cuboids())
    done = perturb(table, seed=1, along=hidden)
    assert adds_up(done.table)
    assert (done.change[~hidden.table.hidden] == 0).all()
    assert (done.change[table.status == Status.PRIMARY] != 0).all()


def test_moves_inside_subtables_are_refused_where_there_are_subtotals() -> None:
    table = mark(by_hand.firms(3, trees=(0, 1)).table, MinCount(3), special_cases=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hidden = suppress(table, Promise(levels=False), methods.Cuboids())
    with pytest.raises(BadOption, match="subtotals"):
        perturb(table, along=hidden)


@pytest.mark.parametrize("method", [methods.Moves(), methods.Complete()])
def test_moves_over_the_whole_table_are_taken_along(method: Any) -> None:
    table = mark(by_hand.firms(3, trees=(0, 1)).table, MinCount(3), special_cases=False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        hidden = suppress(table, method=method)
    done = perturb(table, seed=1, along=hidden)
    assert adds_up(done.table)
    assert (done.change[table.status == Status.PRIMARY] != 0).all()
    assert (done.change[~hidden.table.hidden] == 0).all()


def test_linked_tables_are_moved_as_one() -> None:
    cells = {"r": list("aaabbbccc"), "s": list("xyz") * 3, "x": [5, 80, 60, 70, 40, 90, 30, 20, 10], "n": [1] + [9] * 8}
    one = mark(Table.from_cells(cells, by={"r": None, "s": None}, value="x", count="n"), MinCount(3))
    two = {"r": list("aabbcc"), "t": list("uv") * 3, "x": [100, 45, 90, 110, 25, 35]}
    pool = Pool.of({"one": one, "two": Table.from_cells(two, by={"r": None, "t": None}, value="x")})
    done: Any = perturb(pool, seed=4, along=suppress(pool))
    parts = done.table.split()
    assert all(adds_up(t) for t in parts.values())
    assert parts["one"].value[0, 0] != 5
    shared = parts["one"].value[:, -1]
    assert np.array_equal(shared, parts["two"].value[:, -1])
    with pytest.raises(BadOption, match="pool without moves"):
        perturb(pool)


def test_published_table_keeps_nothing_that_tells_what_was_primary() -> None:
    table = marked(5)
    done = quietly(table, seed=2).table
    assert done.altered
    assert not (done.status == Status.PRIMARY).any()
    kept = {f.name for f in fields(done) if getattr(done, f.name) is not None}
    assert not kept & {"rule", "below", "above", "lower", "upper", "weight", "creator", "holdings"}
    assert present(done.respondents).largest is None
    with pytest.raises(BadOption, match="already"):
        perturb(done)


def test_nothing_to_do_changes_nothing() -> None:
    table = by_hand.firms(1).table
    assert np.array_equal(perturb(table, seed=1).table.value, table.value)


@pytest.mark.parametrize(
    "options",
    [
        {"distribution": "cauchy"},
        {"max_relative_change": 0},
        {"min_count": 0},
    ],
    ids=str,
)
def test_refused_options(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        CuboidOptions(**options)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(BadOption):
        perturb(marked(1), seed=-1)


def test_older_keywords_mean_the_same_and_say_that_they_are_old() -> None:
    table = marked(1)
    with pytest.warns(DeprecationWarning, match="CuboidOptions"):
        old = perturb(table, method="cuboid", seed=5, distribution="normal", single_contributors=False)
    new = perturb(table, Promise(guard="public"), CuboidOptions(distribution="normal"), seed=5)
    assert np.array_equal(old.table.value, new.table.value)
    with pytest.warns(DeprecationWarning, match="method"), pytest.raises(BadOption, match="round_table"):
        perturb(table, method="rounding")


@pytest.mark.parametrize("promise", [Promise(guard="largest"), Promise(coalitions=((("a", "u"),),))])
def test_what_changed_values_cannot_keep_is_not_promised(promise: Promise) -> None:
    with pytest.raises(BadOption, match="alone in a cell"):
        perturb(marked(1), promise)


def test_older_parts_of_the_promise_mean_the_same() -> None:
    table = marked(2)
    known = Knowledge.relative(3.0)
    with pytest.warns(DeprecationWarning, match="promise"):
        old = quietly(table, seed=5, protection=Promise(min_relative_range=0.1, levels=False), knowledge=known)
    new = quietly(table, seed=5, promise=Promise(min_relative_range=0.1, levels=False, knowledge=known))
    assert np.array_equal(old.table.value, new.table.value)


# --- the kernels against what they say, written out -------------------------------------------------------------------


@given(seeds, st.integers(1, 3))
def test_spread_is_the_change_of_all_sums(seed: int, axes: int) -> None:
    table = by_hand.firms(seed, axes=axes).table
    rng = np.random.default_rng(seed)
    g, d = [], []
    for h in table.hierarchies:
        leaves = np.flatnonzero(h.is_leaf)
        one, other = rng.choice(leaves), rng.choice(leaves)
        g.append(one)
        d.append(-1 if other == one or rng.random() < 0.3 else other)
    change = np.zeros(table.shape, dtype=np.int64)
    for chosen in product(*[[(a, 1)] + ([(b, -1)] if b >= 0 else []) for a, b in zip(g, d, strict=True)]):
        sign = np.prod([s for _, s in chosen])
        above = [list(by_hand.above(h, int(c))) for h, (c, _) in zip(table.hierarchies, chosen, strict=True)]
        for cell in product(*above):
            change[cell] += sign
    room = most_cells(table)
    cells, signs = (np.empty(room, dtype=np.int64) for _ in range(2))
    count = kernels.spread(np.array(g), np.array(d), tree_of(table), cells, signs)
    found = np.zeros(table.size, dtype=np.int64)
    np.add.at(found, cells[:count], signs[:count])
    assert np.array_equal(found.reshape(table.shape), change)
    assert len(set(cells[:count].tolist())) == count


@given(seeds, st.integers(1, 3))
def test_cells_are_nested_where_one_is_part_of_the_other_in_every_classification(seed: int, axes: int) -> None:
    table = by_hand.firms(seed, axes=axes).table
    one, other = np.random.default_rng(seed).integers(0, table.size, 2).tolist()
    at = zip(*(np.unravel_index(c, table.shape) for c in (one, other)), strict=True)
    chains = [
        ({*by_hand.above(h, int(a))}, {*by_hand.above(h, int(b))}, int(a), int(b))
        for h, (a, b) in zip(table.hierarchies, at, strict=True)
    ]
    expected = all(b in above_a or a in above_b for above_a, above_b, a, b in chains)
    assert kernels.nested(one, other, tree_of(table)) == expected


@given(seeds)
def test_open_steps_are_all_steps_that_break_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    change, low = rng.integers(-5, 6, n), -rng.integers(6, 15, n)
    high = rng.integers(6, 15, n)
    state = np.where(rng.random(n) < 0.6, kernels.PRIMARY | kernels.USABLE, kernels.USABLE).astype(np.uint8)
    need_up, need_down = rng.integers(1, 6, n), rng.integers(1, 6, n)
    met = (change >= need_up) | (-change >= need_down)
    state[(state & kernels.PRIMARY > 0) & met] |= kernels.SETTLED
    signs = rng.choice([-2, -1, 1, 3], n)
    place = np.arange(n, dtype=np.int32)
    fresh, before, cap = bool(rng.random() < 0.4), int(rng.integers(-3, 4)), int(rng.integers(1, 20))
    if fresh:
        signs[0] = 1
    nothing = np.zeros(n, dtype=np.int64)
    leeway = Leeway(nothing, change, low, high, state, place, np.arange(n), need_up, need_down, nothing)
    goal, scratch = kernels.Goal(0, 0, 0, fresh, before, cap, 0), kernels.scratch_of(n)
    number = kernels.open_steps(n, np.arange(n), signs, leeway, goal, scratch)
    found = {e for a, b in scratch.opened[:number].tolist() for e in range(a, b + 1)}

    def allowed(e: int) -> bool:
        after = change + signs * e
        if ((after < low) | (after > high)).any() or abs(e) > cap:
            return False
        far = (after >= need_up) | (-after >= need_down)
        watched = (state & kernels.SETTLED > 0) | (np.arange(n) == 0)
        since = after[0] - before
        return bool(far[watched].all()) and (not fresh or since >= need_up[0] or -since >= need_down[0])

    assert found == {e for e in range(-40, 41) if allowed(e)}


@given(st.floats(0, 0.999999), st.sampled_from([0.0, 2.0]))
def test_drawn_step_is_open(u: float, sd: float) -> None:
    opened = np.array([[-9, -4], [3, 3], [6, 11]])
    assert kernels.drawn(u, 3, opened, sd) in {*range(-9, -3), 3, *range(6, 12)}


def test_normal_errors_follow_their_distribution() -> None:
    opened = np.array([[-6, -1], [1, 6]])
    u = (np.arange(200_000) + 0.5) / 200_000
    steps = np.array([kernels.drawn(x, 2, opened, 3.0) for x in u[::20]])
    from math import erfc, sqrt

    share = {e: 0.5 * (erfc((e - 0.5) / 3 / sqrt(2)) - erfc((e + 0.5) / 3 / sqrt(2))) for e in range(-6, 7) if e}
    for e, p in share.items():
        assert abs((steps == e).mean() - p / sum(share.values())) < 0.002


def test_one_dimensional_hierarchy_without_partner_moves_its_sums() -> None:
    by = {"s": Hierarchy.from_parents({"a": "A", "b": "B", "A": "T", "B": "T"})}
    cells = {"s": ["a", "b"], "x": [10, 20], "st": ["primary", "open"]}
    done = perturb(Table.from_cells(cells, by=by, value="x", status="st"), seed=1)
    assert done.change[-1] == 0  # the total is kept, the two sums below it are not
    assert done.change[0] == done.change[1] == -done.change[2] == -done.change[3]
