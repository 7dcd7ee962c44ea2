"""What the method Complete promises on random ragged tables, against the exact attack and against a slow twin."""

from __future__ import annotations

import itertools
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import diskret as dk
from diskret import Hierarchy, Knowledge, Promise, Status, Table
from diskret.model.errors import BadOption, ProtectionWarning
from diskret.suppression.complete.by_complete import search_of
from diskret.suppression.complete.engine import in_turn
from diskret.suppression.complete.intervals import printed_protection_intervals
from diskret.suppression.complete.raising import raise_table

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")


def random_table(trees: list[dict[str, str]], seed: int) -> Table:
    """Firms scattered over the product of trees; cells with one or two are primary."""
    by = {f"d{i}": Hierarchy.from_parents(t) for i, t in enumerate(trees)}
    leaves = [[c for c, leaf in zip(h.codes, h.is_leaf, strict=True) if leaf] for h in by.values()]
    rng = np.random.default_rng(seed)
    places = list(itertools.product(*leaves))
    count = rng.integers(0, 6, len(places))
    cells = {name: [p[i] for p in places] for i, name in enumerate(by)}
    cells |= {"n": count.tolist(), "x": np.where(count > 0, rng.integers(1, 100, len(places)), 0).tolist()}
    table = Table.from_cells(cells, by=by, value="x", count="n")
    few = (table.count > 0) & (table.count < 3)
    return replace(table, status=np.where(few, np.uint8(Status.PRIMARY), table.status))


@st.composite
def tables(draw: st.DrawFn, trees: st.SearchStrategy[dict[str, str]], most: int = 3) -> Table:
    found = random_table(draw(st.lists(trees, min_size=1, max_size=most)), draw(st.integers(0, 10_000)))
    assume((found.status == Status.PRIMARY).any())
    return found


def test_no_primary_cell_is_computed_more_closely_than_asked(small_trees: st.SearchStrategy[dict[str, str]]) -> None:
    @settings(max_examples=50)
    @given(tables(small_trees), st.sampled_from([0.0, 0.5, 1.0]), st.booleans(), st.sampled_from([0, 1]))
    def check(table: Table, q: float, thin: bool, deformations: int) -> None:
        asked = Promise(min_relative_range=q, levels=False)
        result = dk.suppress(table, asked, dk.methods.Complete(thin=thin, deformations=deformations))
        report = dk.audit(result.table, asked)
        assert {e.index for e in report.exposed} <= {u.index for u in result.unprotected}

    check()


@pytest.mark.slow
def test_no_primary_cell_leaks_where_one_classification_is_deep(trees: st.SearchStrategy[dict[str, str]]) -> None:
    @settings(max_examples=25)
    @given(tables(trees, most=1), tables(trees, most=1), st.integers(0, 99))
    def check(first: Table, second: Table, seed: int) -> None:
        pairs = [{c: h.codes[p] for c, p in zip(h.codes, h.parents, strict=True) if p >= 0}
                 for t in (first, second) for h in t.hierarchies]  # fmt: skip
        table = random_table(pairs, seed)
        result = dk.suppress(table, dk.Promise(levels=False, min_relative_range=0.5), dk.methods.Complete())
        report = dk.audit(result.table, dk.Promise(levels=False, min_relative_range=0.5))
        assert {e.index for e in report.exposed} <= {u.index for u in result.unprotected}

    check()


def test_intervals_reach_as_far_as_the_primary_rules_demand(small_trees: st.SearchStrategy[dict[str, str]]) -> None:
    @settings(max_examples=25)
    @given(tables(small_trees, most=2), st.sampled_from([0.1, 0.4]), st.sampled_from([0.2, 0.7]))
    def check(table: Table, down: float, up: float) -> None:
        primary = table.status == Status.PRIMARY
        demanding = replace(table, below=down * table.value * primary, above=up * table.value * primary)
        result = dk.suppress(demanding, method=dk.methods.Complete())
        report = dk.audit(result.table)
        assert {e.index for e in report.exposed} <= {u.index for u in result.unprotected}

    check()


def test_every_cuboid_leaves_every_published_sum_as_it_is(small_trees: st.SearchStrategy[dict[str, str]]) -> None:
    @settings(max_examples=30)
    @given(tables(small_trees), st.sampled_from([0, 1, 2]))
    def check(table: Table, deformations: int) -> None:
        result = dk.suppress(table, method=dk.methods.Complete(deformations=deformations))
        for move in result.moves:
            moved = np.zeros(table.size)
            moved[move.cells] = move.coefficients
            moved = moved.reshape(table.shape)
            assert result.table.hidden.reshape(-1)[move.cells].all()
            for axis, hierarchy in enumerate(table.hierarchies):
                for code, parts in enumerate(hierarchy.part_index):
                    if parts.size:
                        assert (moved.take(parts, axis).sum(axis) == moved.take(code, axis)).all()

    check()


def test_intervals_hold_the_value_and_an_attacker_cannot_narrow_them(
    small_trees: st.SearchStrategy[dict[str, str]],
) -> None:
    @settings(max_examples=20)
    @given(tables(small_trees, most=2))
    def check(table: Table) -> None:
        result = dk.suppress(table, dk.Promise(levels=False, min_relative_range=0.5), dk.methods.Complete())
        with pytest.warns(dk.ProtectionWarning, match="made from hidden values"):
            lower, upper = printed_protection_intervals(result)
        shown = ~np.isnan(lower)
        assert (result.table.hidden | ~shown).all()
        assert (lower[shown] <= table.value[shown]).all()
        assert (upper[shown] >= table.value[shown]).all()
        exact = dk.audit(result.table, dk.Promise(levels=False, min_relative_range=0.5), intervals="hidden").intervals
        for cell in np.flatnonzero(shown).tolist():
            low, high = exact[table.name_of(cell)]
            assert low <= lower.flat[cell] + 1e-6
            assert high >= upper.flat[cell] - 1e-6

    check()


def test_thinning_only_opens_and_keeps_every_primary_protected(small_trees: st.SearchStrategy[dict[str, str]]) -> None:
    @settings(max_examples=25)
    @given(tables(small_trees))
    def check(table: Table) -> None:
        plain = dk.suppress(table, method=dk.methods.Complete(thin=False))
        thin = dk.suppress(table, method=dk.methods.Complete())
        assert (plain.table.hidden | ~thin.table.hidden).all()
        assert {u.index for u in thin.unprotected} == {u.index for u in plain.unprotected}
        again = dk.suppress(thin.table, method=dk.methods.Complete())
        assert not again.secondary.any()

    check()


def test_the_search_agrees_with_trying_every_product_of_faces(small_trees: st.SearchStrategy[dict[str, str]]) -> None:
    """A readable twin of the kernels: all cuboids and all pairs of the whole table, compared by their rank."""

    @settings(max_examples=25)
    @given(tables(small_trees, most=2), st.sampled_from([0.0, 0.5]))
    def check(table: Table, q: float) -> None:
        search = search_of(
            table, Promise(min_relative_range=q, levels=False, knowledge=Knowledge.positive()), dk.methods.Complete()
        )
        task = search.task
        for pivot in in_turn(task)[:3].tolist():
            at = np.unravel_index(pivot, table.shape)
            for tops in next(search.ranges(pivot)), list(search.ranges(pivot))[-1]:
                faces = [search.faces(c, int(at[c]), top) for c, top in enumerate(tops[0])]
                if np.prod([len(f) for f in faces], dtype=float) > 300:
                    continue
                found = search.best(pivot, faces, task.usable)
                best = _best_by_trying(search, pivot, faces)
                assert (found[0].rank if found else None) == best

    check()


def _best_by_trying(search: Any, pivot: int, faces: Any) -> Any:
    task = search.task
    at = [int(i) for i in np.unravel_index(pivot, task.shape)]
    options = []
    for chosen in itertools.product(*(zip(f.sets(), f.bends.tolist(), strict=True) for f in faces)):
        if sum(bends for _, bends in chosen) > search.deformations:
            continue
        axes = [[(code, 1), *face.items()] for code, (face, _) in zip(at, chosen, strict=True)]
        signed = {int(np.ravel_multi_index([c for c, _ in corner], task.shape)): int(np.prod([s for _, s in corner]))
                  for corner in itertools.product(*axes)}  # fmt: skip
        if not all(task.usable[c] for c in signed):
            continue
        up = min(task.up[c] if s > 0 else task.down[c] for c, s in signed.items())
        down = min(task.down[c] if s > 0 else task.up[c] for c, s in signed.items())
        if up + down > task.needs[0][pivot]:
            people = {int(task.person[c]) for c in signed} - {-1, int(task.person[pivot])}
            options.append((frozenset(c for c in signed if not task.hidden[c]), people))
    sets = [new for new, people in options if not people]
    dirty = [o for o in options if o[1]]
    sets += [a[0] | b[0] for a, b in itertools.combinations(dirty, 2) if not a[1] & b[1]]
    ranks = [(float(len(s)), float(sum(task.rank[list(s)])), float(sum(task.cost[list(s)]))) for s in sets]
    return min(ranks, default=None)


# --- raised tables ---------------------------------------------------------------------------------------------------


def test_raising_and_lowering_are_a_pair(small_trees: st.SearchStrategy[dict[str, str]]) -> None:
    @settings(max_examples=40)
    @given(tables(small_trees))
    def check(table: Table) -> None:
        raised = raise_table(table)
        lowered = raised.lower(raised.table)
        assert (lowered.status == table.status).all()
        assert (raised.table.value.reshape(-1)[raised.cells] == table.value.reshape(-1)).all()
        assert (raised.table.count.reshape(-1)[raised.cells] == table.count.reshape(-1)).all()
        for axis in range(raised.table.value.ndim):
            lined = np.moveaxis(raised.table.value, axis, 0)
            assert (lined[:-1].sum(axis=0) == lined[-1]).all()

    check()


def test_whoever_attacks_the_raised_table_learns_what_the_table_itself_tells(
    small_trees: st.SearchStrategy[dict[str, str]],
) -> None:
    @settings(max_examples=20)
    @given(tables(small_trees, most=2))
    def check(table: Table) -> None:
        raised = raise_table(table)
        here = {
            int(np.ravel_multi_index(e.index, table.shape)) for e in dk.audit(table, dk.Promise(guard="public")).exposed
        }
        there = {int(np.ravel_multi_index(e.index, raised.table.shape))
                 for e in dk.audit(raised.table, dk.Promise(guard="public")).exposed}  # fmt: skip
        assert {int(raised.cells[c]) for c in here} == there

    check()


# --- what is refused, and what is said -------------------------------------------------------------------------------


@pytest.fixture
def lonely() -> Table:
    """One cell that adds to its sum alone, and a sum with nothing beside it."""
    tree = Hierarchy.from_nested({"all": {"A": ["a"], "B": ["b"]}})
    table = Table.from_cells({"s": ["a", "b"], "x": [5, 0]}, by={"s": tree}, value="x")
    return table.with_status(Status.PRIMARY, [["a"]])


def test_a_cell_beyond_the_deformation_limit_is_named(lonely: Table) -> None:
    locked = lonely.with_status(Status.NEVER, [["all"]])
    with pytest.warns(ProtectionWarning, match="at most 1 deformation protects it; allow more"):
        result = dk.suppress(locked, method=dk.methods.Complete())
    (left,) = result.unprotected
    assert left.cell == "s=a"
    assert "use the method Moves" in left.why
    assert not result.secondary.any()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        dk.suppress(locked, method=dk.methods.Complete(deformations=2))
    assert any("at most 2 deformations" in str(w.message) for w in said)


@pytest.mark.parametrize("deformations", [-1, 4])
def test_deformation_limits_out_of_reach_are_refused(lonely: Table, deformations: Any) -> None:
    with pytest.raises(BadOption, match="deformations per cuboid"):
        dk.suppress(lonely, method=dk.methods.Complete(deformations=deformations))


def test_options_of_subtables_are_refused() -> None:
    with pytest.raises(BadOption, match="method Cuboids"):
        dk.methods.Complete(cost=dk.Cost(distance={"a": 1}))


def test_prior_knowledge_closer_than_the_range_is_said() -> None:
    table = random_table([{"a": "t", "b": "t", "c": "t"}], 3)
    marked = table.with_status(Status.PRIMARY, [["a"]])
    with pytest.warns(ProtectionWarning, match="known beforehand"):
        dk.suppress(
            marked,
            dk.Promise(levels=False, min_relative_range=0.5, knowledge=Knowledge.relative(0.1)),
            dk.methods.Complete(),
        )


def test_intervals_are_for_complete_cuboids_only() -> None:
    table = random_table([{"a": "t", "b": "t", "c": "t"}], 3)
    with pytest.raises(BadOption, match="subtable by subtable"):
        printed_protection_intervals(dk.suppress(table, dk.Promise(levels=False), dk.methods.Cuboids()))


def test_the_printed_intervals_of_complete_cuboids_tell_hidden_values() -> None:
    cells = {"s": list("abcd"), "x": [50, 40, 10, 1], "st": ["secondary", "secondary", "primary", "open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    result = dk.suppress(table, dk.Promise(guard="public", levels=False), dk.methods.Complete(thin=False))
    with pytest.warns(dk.ProtectionWarning, match="publish those of publishable_intervals instead"):
        _, upper = printed_protection_intervals(result)
    assert upper[:3].tolist() == [60.0, 50.0, 60.0]  # made of pairs: 60 + 50 - 100 is the primary
    with (
        pytest.warns(DeprecationWarning, match="now called printed_protection_intervals"),
        pytest.warns(dk.ProtectionWarning, match="made from hidden values"),
    ):
        older = dk.protection_intervals(result)
    assert older[1].tobytes() == upper.tobytes()
    found = dk.publishable_intervals(result.table)
    assert [found.of(code) for code in "abc"] == [(0.0, 100.0)] * 3


def test_positions_of_codes_are_checked() -> None:
    table = random_table([{"a": "A", "b": "A", "c": "B", "A": "t", "B": "t"}], 1)
    with pytest.raises(BadOption, match="position 3"):
        raise_table(table, positions={"d0": {"c": 3}})
    with pytest.raises(BadOption, match="at one position"):
        raise_table(table, positions={"d0": {"a": 2}})
    with pytest.raises(BadOption, match="no classification"):
        raise_table(table, only=["d7"])
    with pytest.raises(BadOption, match="other than the one that was raised"):
        raise_table(table).lower(table)


def test_the_reasons_of_a_cell_are_told(lonely: Table) -> None:
    result = dk.suppress(lonely, method=dk.methods.Complete())
    assert "protected together with" in result.explain("a")
