"""A table held by its occupied cells is the same table: same numbers, same marks, same verdicts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskret import (
    Hierarchy,
    MinCount,
    PPercent,
    Promise,
    Roles,
    Table,
    TabulationOptions,
    audit,
    mark,
    publish,
    suppress,
    tabulate,
)
from diskret.model import errors
from diskret.model.merged import merged
from diskret.model.sparse import SparseTable
from diskret.model.status import Status
from diskret.publication.working import load_working, save_working
from diskret.suppression import by_cuboids, by_moves
from diskret.suppression.methods import Cuboids, Moves
from diskret.suppression.prices import Cost
from tests.present import present

RULES = MinCount(3) | PPercent(10)


def both(seed: int, **roles: str) -> tuple[Table, SparseTable]:
    """Few records over some classifications, tabulated both ways."""
    draw = np.random.default_rng(seed)
    number, records, by = int(draw.integers(10, 40)), {}, {}
    for axis in range(int(draw.integers(2, 4))):
        codes = [f"{i // 3}{i % 3}" for i in range(int(draw.integers(2, 6)))]
        tree = len(codes) > 3 and draw.random() < 0.5
        by[f"c{axis}"] = Hierarchy.from_prefixes(codes, [1]) if tree else Hierarchy.flat(codes)
        records[f"c{axis}"] = draw.choice(codes, number).tolist()
    records |= {
        "x": np.round(
            draw.lognormal(2, 1, number) * draw.choice([1, 1, 1, -1] if "weight" in roles else [1], number), 1
        ),
        "w": draw.choice([1.0, 1.5, 3.0], number),
        "h": draw.integers(0, number // 2, number),
        "k": draw.random(number).round(6),
        "q": draw.choice(["1", "0"], number),
    }

    def made(sparse: bool) -> Any:
        options = TabulationOptions(sparse=sparse)
        return tabulate(records, by=by, value="x", roles=Roles(**roles), options=options)

    return made(False), made(True)


ROLES: tuple[dict[str, str], ...] = (
    {},
    {"weight": "w", "key": "k"},
    {"holding": "h", "public": "q"},
    {"weight": "w", "holding": "h", "waiver": "q"},
)


@pytest.mark.parametrize("seed", range(8))
def test_occupied_cells_have_the_numbers_of_the_whole_table(seed: int) -> None:
    dense, sparse = both(seed, **ROLES[seed % 4])
    places = sparse.occupied.places
    assert sparse.occupied.complete
    assert (sparse.count > 0).all()
    assert np.count_nonzero(dense.count) == sparse.size
    for name in ("value", "key"):
        one, other = getattr(dense, name), getattr(sparse, name)
        assert (one is None and other is None) or np.array_equal(one.reshape(-1)[places], other)
    for one, other in ((dense.respondents, sparse.respondents), (dense.holdings, sparse.holdings)):
        if one is None or other is None:
            assert one is other
            continue
        for name in one.__dataclass_fields__:
            mine, others = getattr(one, name), getattr(other, name)
            if mine is None:
                assert others is None
            elif name == "owner":
                pairs = {*zip(mine.reshape(-1)[places].tolist(), others.tolist(), strict=True)}
                assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})
            else:
                assert np.array_equal(mine.reshape(dense.size, -1)[places], others.reshape(sparse.size, -1))


@pytest.mark.parametrize("seed", range(6))
def test_marks_and_verdicts_are_those_of_the_whole_table(seed: int) -> None:
    dense, sparse = (mark(table, RULES, special_cases=False) for table in both(seed))
    assert isinstance(sparse, SparseTable)
    places = sparse.occupied.places
    for name in ("status", "rule", "below", "above"):
        assert np.array_equal(getattr(dense, name).reshape(-1)[places], getattr(sparse, name))
    draw = np.random.default_rng(seed)
    more = (sparse.status == Status.OPEN) & (draw.random(sparse.size) < draw.random())
    sparse = replace(sparse, status=np.where(more, np.uint8(Status.SECONDARY), sparse.status))
    status = dense.status.reshape(-1).copy()
    status[places] = sparse.status
    dense = replace(dense, status=status.reshape(dense.shape))
    promise = Promise(guard=("single", "public", "largest")[seed % 3])
    one, other = audit(dense, promise), audit(sparse, promise)
    found = [{(e.cell, e.exact, e.lower, e.upper, e.by) for e in report.exposed} for report in (one, other)]
    assert found[0] == found[1]
    assert (one.checked, one.insiders) == (other.checked, other.insiders)
    assert {*one.undecided} == {*other.undecided}
    assert bool(one.unions) == bool(other.unions)


def test_equal_cells_are_hidden_together_and_the_pattern_holds_in_the_whole_table() -> None:
    dense, sparse = (mark(table, RULES, special_cases=False) for table in both(4))
    assert isinstance(sparse, SparseTable)
    done = suppress(sparse)
    assert done.audit is not None
    assert done.audit.safe
    assert done.table.protected
    small = merged(sparse)
    assert small.size < sparse.size
    assert np.array_equal(small.value[small.number_of], sparse.value)
    status = dense.status.reshape(-1).copy()
    status[sparse.occupied.places] = done.table.status
    assert audit(replace(dense, status=status.reshape(dense.shape))).safe
    # what moved on one of several equal cells moved on all
    assert audit(done.table, moves=done.moves).safe
    assert audit(done.table).safe
    assert not done.table.with_status(
        Status.OPEN, [done.table.codes((int(np.flatnonzero(done.secondary)[0]),))]
    ).protected


def test_an_attack_without_moves_finds_sums_of_products_through_open_cells() -> None:
    draw = np.random.default_rng(1)
    by = {f"c{axis}": Hierarchy.flat("abcdef") for axis in range(5)}
    records = {name: draw.choice(list("abcdef"), 60, p=[0.5, 0.1, 0.1, 0.1, 0.1, 0.1]) for name in by}
    options = TabulationOptions(sparse=True)
    table = tabulate({**records, "x": draw.integers(1, 99, 60)}, by=by, value="x", options=options)
    done = suppress(mark(table, RULES, special_cases=False), method=Moves(effort="quick"))
    report = audit(done.table)
    assert report.safe == (not done.unprotected)
    assert report.without_solver == report.checked
    # what moves show is true of hidden cells only
    assert done.table.hidden[report.moves.cells].all()


def test_a_second_pass_against_unions_begins_with_the_moves_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    rules, given, routed = MinCount(5) | PPercent(30), [], by_moves.routed

    def counted(*args: Any, **named: Any) -> Any:
        given.append(len(named["start"]))
        return routed(*args, **named)

    monkeypatch.setattr(by_moves, "routed", counted)
    dense, sparse = both(52)
    done = suppress(mark(sparse, rules, special_cases=False))
    assert given[0] == 0 < given[1]
    assert done.audit is not None
    assert done.audit.safe
    assert not done.audit.unions
    assert done.cost == pytest.approx(suppress(mark(dense, rules, special_cases=False)).cost)


def test_names_lines_and_equations_are_those_of_the_whole_table() -> None:
    dense, sparse = both(4)
    cell = int(np.flatnonzero(sparse.count == sparse.count.max())[0])
    codes = sparse.codes((cell,))
    assert sparse.index(*codes) == (cell,)
    assert dense.codes(dense.index(*codes)) == codes
    assert sparse.name_of(cell) == dense.name_of(int(sparse.occupied.places[cell]))
    lines = [(line.along, int(sparse.occupied.places[line.sum_cell])) for line in sparse.lines(cell)]
    whole = [(line.along, line.sum_cell) for line in dense.lines(int(sparse.occupied.places[cell]))]
    assert lines == whole
    every = np.ones(sparse.size, dtype=np.bool_)
    assert np.abs(sparse.equations(every).times(sparse.value)).max() < 1e-9
    empty = np.flatnonzero(dense.count.reshape(-1) == 0)[0]
    with pytest.raises(errors.BadOption, match="nobody contributes"):
        sparse.index(*dense.codes(dense.place(int(empty))))


def test_what_is_published_lists_occupied_cells_and_is_read_again(tmp_path: Path) -> None:
    _, sparse = both(4)
    done = suppress(mark(sparse, RULES, special_cases=False))
    publish(done, tmp_path / "table.csv")
    rows = (tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == sparse.size + 1
    assert sum(row.endswith(",x") for row in rows) == 1 + int(done.table.hidden.sum())
    publish(done, tmp_path / "table.parquet")
    for ending in ("xlsx", "json", "px"):
        with pytest.raises(errors.BadOption, match="occupied cells only"):
            publish(done, tmp_path / f"table.{ending}")
    save_working(done.table, tmp_path / "work.parquet")
    (again,) = load_working(tmp_path / "work.parquet").values()
    assert isinstance(again, SparseTable)
    assert again.same_cells(done.table)
    assert again.protected


@pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
@pytest.mark.parametrize("seed", range(6))
def test_cuboids_are_those_of_the_whole_table(seed: int) -> None:
    tables = both(seed, **ROLES[2 * (seed % 2)])
    promise = Promise(guard="single" if seed % 3 else "public")
    method = Cuboids(thin=False, carry="once" if seed == 5 else "off")
    one, other = (suppress(mark(table, RULES, special_cases=False), promise, method) for table in tables)
    places = tables[1].occupied.places
    assert np.array_equal(one.table.hidden.reshape(-1)[places], other.table.hidden)
    assert np.array_equal(one.moves.cells, places[other.moves.cells])
    assert np.array_equal(one.moves.coefficients, other.moves.coefficients)
    assert np.array_equal(present(one.table.creator).reshape(-1)[places], present(other.table.creator))
    assert [each.cell for each in one.unprotected] == [each.cell for each in other.unprotected]


def test_cuboids_in_subtables_that_are_too_large_are_refused_before_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_cuboids, "LARGEST", 5)
    sparse = mark(both(4)[1], RULES, special_cases=False)
    for method in (Cuboids(), Cuboids(non_additive=("c0",)), Cuboids(cost=Cost(distance={"c0": 1.0}))):
        with pytest.raises(errors.BadOption, match="occupied cells only"):
            suppress(sparse, method=method)


def test_hiding_any_zero_is_refused_before_work() -> None:
    _, sparse = both(4)
    with pytest.raises(errors.BadOption, match="needs all cells"):
        suppress(sparse, Promise(), Moves(zeros="allowed"))


def test_many_empty_cells_are_not_held_unless_asked() -> None:
    axis = Hierarchy.flat([str(i) for i in range(300)])
    records = {"a": ["1"], "b": ["2"], "c": ["3"], "x": [4]}
    table = tabulate(records, by=dict.fromkeys("abc", axis), value="x")
    assert table.sparse
    assert table.size == 8
    assert not tabulate(records, by=dict.fromkeys("ab", axis), value="x").sparse
    with pytest.raises(errors.TableTooLarge, match="more than can be numbered"):
        tabulate({"x": [1], **{f"c{i}": ["1"] for i in range(8)}}, by={f"c{i}": axis for i in range(8)}, value="x")


def test_last_periods_pattern_is_found_whether_tables_hold_empty_cells_or_not() -> None:
    records = {"a": list("xxyyzzz"), "b": list("pqpqqpp"), "v": [5, 9, 7, 30, 4, 8, 6]}
    more = {"a": list("xxyyzzzx"), "b": list("pqpqqppr"), "v": [6, 9, 8, 20, 4, 8, 6, 3]}
    tables = [
        mark(tabulate(each, by={n: Hierarchy.flat(c) for n, c in (("a", "xyz"), ("b", "pqr"))}, value="v",
                      options=TabulationOptions(sparse=sparse)), MinCount(2), special_cases=False)
        for sparse in (False, True) for each in (records, more)
    ]  # fmt: skip
    told = []
    for before, now in ((0, 1), (0, 3), (2, 1), (2, 3)):
        done = suppress(tables[now], previous=suppress(tables[before]).table)
        assert done.consistency is not None
        told.append((not done.unprotected, done.consistency.hidden_before, done.consistency.at_most))
    assert told == [told[0]] * 4
