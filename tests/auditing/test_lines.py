"""What the sum of a line says about its hidden cells taken together."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from diskret import Dominance, Hierarchy, MinCount, Pool, PPercent, Promise, Roles, Status, Table, audit, mark, tabulate
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption
from diskret.rules.rule import Rule
from tests import by_hand

Cell = tuple[int, ...]


# --- unions ----------------------------------------------------------------------------------------------------------


def broken(rule: Rule, shares: list[float]) -> bool:
    """The rules once more, over the contributions themselves."""
    sizes = sorted((abs(x) for x in shares), reverse=True)
    total = sum(sizes)
    if not total:
        return False
    if isinstance(rule, MinCount):
        return 0 < len(sizes) < rule.n
    if isinstance(rule, Dominance):
        return sum(sizes[: rule.n]) * 100 > float(rule.k) * total
    assert isinstance(rule, PPercent)
    return (total - sum(sizes[:2])) * 100 < float(rule.p) * sizes[0]


def lines_that_break(table: Table, shares: dict[Cell, list[float]], rule: Rule) -> int:
    """Count published sums whose two or more hidden parts together break a rule."""
    found = 0
    for whole, parts in by_hand.equations(table):
        hidden = [p for p in parts if table.hidden[p]]
        if not table.hidden[whole] and len(hidden) > 1:
            found += broken(rule, [x for p in hidden for x in shares[p]])
    return found


@pytest.mark.parametrize("negative", [False, True])
@pytest.mark.parametrize("rule", [MinCount(4), Dominance(1, 60), Dominance(2, 80), PPercent(20)], ids=str)
def test_hidden_cells_that_break_the_rule_together_are_reported(rule: Rule, negative: bool) -> None:
    seen = 0
    for seed in range(12):
        # up to three firms per inner cell: the three largest are all there are
        case = by_hand.firms(seed, axes=2, most=3, empty=0.3, negative=negative)
        table = by_hand.hide(case.table, seed, 0.1, 0.25)
        # only inner cells: in sums more than three firms stand, of which the table does not know all
        inner = np.ones(table.shape, dtype=bool)
        for axis, h in enumerate(table.hierarchies):
            inner &= np.moveaxis(h.is_leaf.reshape(-1, *[1] * (len(table.by) - 1)), 0, axis)
        table = replace(table, status=np.where(inner, table.status, 0).astype(np.uint8))
        assert table.largest is not None
        shares = {c: [x for x in table.largest[c].tolist() if x] for c in np.ndindex(*table.shape)}
        expected = lines_that_break(table, shares, rule)
        assert len(audit(replace(table, judges=(rule,)), Promise(guard="public")).unions) == expected
        seen += expected
    assert seen


def test_the_line_is_named_and_its_values_are_not() -> None:
    cells = {"s": ["a", "b", "c"], "x": [9000, 50, 7777], "n": [2, 2, 30], "l": [8800, 30, 500], "m": [200, 20, 400]}
    table = Table.from_cells(cells, by={"s": Hierarchy.flat("abc")}, value="x", count="n", largest=["l", "m"])
    hidden = table.with_status(Status.PRIMARY, [["a"]]).with_status(Status.SECONDARY, [["b"]])
    report = audit(replace(hidden, judges=(Dominance(1, 80),)))
    assert report.unions == ("parts of s Total",)
    assert not report.safe
    assert "9000" not in report.report()
    assert audit(replace(hidden.with_status(Status.SECONDARY, [["c"]]), judges=(Dominance(1, 80),))).unions == ()


def test_values_of_both_signs_do_not_cancel_in_a_union() -> None:
    """100 and -90 make 10, but nobody holds more than 60 % of the 190 that stand behind it."""
    value = np.array([100.0, -90.0, 500.0, 510.0])
    largest = np.array([[50.0, 50.0], [45.0, 45.0], [100.0, 100.0], [100.0, 100.0]])
    people = Contributors(np.array([2, 2, 9, 13]), largest, np.abs(value))
    status = np.array([1, 2, 0, 0], dtype=np.uint8)
    table = Table({"s": Hierarchy.flat("abc")}, "x", value, status, people)
    assert audit(replace(table, judges=(Dominance(1, 60),)), Promise(guard="public")).unions == ()


def test_a_rule_about_holdings_looks_at_the_holdings_of_the_union() -> None:
    records = {"s": list("aabbccc"), "x": [5, 6, 7, 8, 9, 10, 11], "owner": list("uuvvwxy")}
    table = tabulate(records, by={"s": Hierarchy.flat("abc")}, value="x", roles=Roles(holding="owner"))
    hidden = table.with_status(Status.PRIMARY, [["a"]]).with_status(Status.SECONDARY, [["b"]])
    assert audit(replace(hidden, judges=(MinCount(3),)), Promise(guard="public")).unions == ()
    assert audit(replace(hidden, judges=(MinCount(3, counted_by="holding"),)), Promise(guard="public")).unions == (
        "parts of s Total",
    )


# --- counts ----------------------------------------------------------------------------------------------------------


def whole_number_tables(table: Table) -> list[np.ndarray]:
    """All tables of whole numbers that agree with what is published; inner cells up to the total."""
    inner = list(product(*[np.flatnonzero(h.is_leaf).tolist() for h in table.hierarchies]))
    sums = [[list(by_hand.above(h, c)) for h, c in zip(table.hierarchies, cell, strict=True)] for cell in inner]
    above = [list(product(*s)) for s in sums]
    limits = [
        (int(table.value[c]), int(table.value[c])) if not table.hidden[c] else
        (0, int(min((table.value[u] for u in ups if not table.hidden[u]), default=5)))
        for c, ups in zip(inner, above, strict=True)
    ]  # fmt: skip
    found = []
    for numbers in product(*[range(a, b + 1) for a, b in limits]):
        value = np.zeros(table.shape)
        for n, ups in zip(numbers, above, strict=True):
            for u in ups:
                value[u] += n
        if (value == table.value)[~table.hidden].all():
            found.append(value)
    return found


def tiny(seed: int) -> Table:
    table = by_hand.counts(seed, (3, 3) if seed % 2 else (1, 3), most=2)
    hidden = by_hand.hide(table, seed, 0.3, 0.3, zeros=True)
    status = hidden.status.copy()
    status[-1, -1] = Status.OPEN  # the number of persons is known: finitely many tables
    return replace(hidden, status=status)


@pytest.mark.parametrize("seed", range(40))
def test_whole_number_intervals_equal_those_over_all_tables(seed: int) -> None:
    table = tiny(seed)
    every: Any = np.array(whole_number_tables(table))
    wanted = Promise(min_range=float(seed % 3), levels=False)
    report = audit(table, replace(wanted, guard="public"), intervals="hidden")
    for name, (low, high) in report.intervals.items():
        at = table.index(*(part.split("=")[1] for part in name.split(", ")))
        assert (low, high) == (every[:, *at].min(), every[:, *at].max())
    length = every.max(axis=0) - every.min(axis=0)
    expected = {c for c in by_hand.primaries(table) if not length[c] > (wanted.min_range or 0.0)}
    assert {e.index for e in report.exposed} == expected


@pytest.mark.parametrize("seed", range(40))
def test_a_line_that_must_be_all_zero_is_reported_and_no_other(seed: int) -> None:
    table = tiny(seed)
    most = np.array(whole_number_tables(table)).max(axis=0)
    expected = 0
    for _, parts in by_hand.equations(table):
        hidden = [p for p in parts if table.hidden[p]]
        expected += len(hidden) > 1 and all(most[p] == 0 for p in hidden)
    assert len(audit(table, Promise(guard="public")).zeros) == expected


@pytest.mark.parametrize("seed", range(20))
def test_persons_who_count_in_whole_numbers_find_out_what_all_tables_say(seed: int) -> None:
    """Every person who is alone in a hidden cell keeps only the tables in which it is one."""
    table = tiny(seed)
    every: Any = np.array(whole_number_tables(table))
    expected = set()
    for inner in product(*[np.flatnonzero(h.is_leaf).tolist() for h in table.hierarchies]):
        chains = [list(by_hand.above(h, c)) for h, c in zip(table.hierarchies, inner, strict=True)]
        behind = list(product(*chains))
        known = [c for c in behind if table.value[c] == 1 and table.hidden[c]]
        if table.value[inner] != 1 or not known:
            continue
        left = every[np.all([every[:, *c] == 1 for c in known], axis=0)]
        fixed = left.max(axis=0) == left.min(axis=0)
        expected |= {c for c in by_hand.primaries(table) if c not in behind and fixed[c]}
    fixed = every.max(axis=0) == every.min(axis=0)
    everybody = {c for c in by_hand.primaries(table) if fixed[c]}
    assert {e.index for e in audit(table).exposed} == everybody | expected


def test_a_rule_that_looks_deeper_than_other_tables_know_is_kept_in_a_pool() -> None:
    deep = {"s": ["a", "b", "c"], "x": [90, 16, 500], "n": [9, 9, 99], "x1": [45, 5.5, 10], "x2": [44, 5.4, 10]}
    one = Table.from_cells(
        deep | {"x3": [0.5, 5, 10]}, by={"s": None}, value="x", count="n", largest=["x1", "x2", "x3"]
    )
    flat = {"t": ["u", "v", "w"], "x": [200, 206, 200], "n": [39] * 3, "x1": [85, 30, 10], "x2": [20, 30, 10]}
    other = Table.from_cells(flat, by={"t": None}, value="x", count="n", largest=["x1", "x2"])
    marked = mark(one, Dominance(3, 85))
    # 45, 44 and 5.5 of the 106 that a and b hold together
    assert audit(marked).unions
    pool = Pool.of({"one": marked, "other": mark(other, Dominance(2, 99))})
    assert audit(pool).unions
    with pytest.raises(BadOption, match="the table knows 2"):
        mark(pool, Dominance(3, 85))
