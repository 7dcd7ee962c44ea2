"""Whoever is alone in a hidden cell, or knows part of it, finds out no more than the audit says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from diskret import Hierarchy, Knowledge, MinCount, PPercent, Promise, Status, Table, audit, mark, suppress
from diskret.model.contributors import Contributors
from diskret.moves.insiders import insiders_of
from diskret.moves.persons import persons_of
from tests import by_hand
from tests.present import present

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
POSITIVE = Knowledge.positive()


def line(values: Sequence[float], counts: list[int], status: list[Status], **more: Any) -> Table:
    """One classification a, b, c, ... with its total."""
    codes = [chr(ord("a") + i) for i in range(len(values))]
    cells = {"s": codes, "x": values, "n": counts, "st": [s.text for s in status]}
    return Table.from_cells(cells, by={"s": Hierarchy.flat(codes)}, value="x", count="n", status="st", **more)


PRIMARY, SECONDARY, OPEN = Status.PRIMARY, Status.SECONDARY, Status.OPEN


# --- who is alone ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_firms_are_recognised_through_all_margins_in_which_they_are_alone(seed: int) -> None:
    case = by_hand.firms(seed, axes=1 + seed % 3, empty=0.6, most=2)
    persons = persons_of(case.table).reshape(case.table.shape)
    by_number: dict[int, set[tuple[int, ...]]] = {}
    for cell in np.ndindex(*case.table.shape):
        if persons[cell] >= 0:
            by_number.setdefault(int(persons[cell]), set()).add(cell)
    assert sorted(map(sorted, by_number.values())) == sorted(sorted(case.knows(f)) for f in case.alone())


def test_one_firm_in_two_regions_is_one_person_where_counts_do_not_add_up() -> None:
    tree = Hierarchy.from_parents({"a1": "a", "a2": "a", "a": "T", "b": "T"})
    value, count = np.array([10.0, 20.0, 30.0, 5.0, 35.0]), np.array([1, 1, 1, 3, 4])
    table = Table({"s": tree}, "x", value, np.zeros(5, np.uint8), Contributors(count), additive_counts=False)
    persons = persons_of(table)
    assert persons[tree.index("a1")] == persons[tree.index("a2")] == persons[tree.index("a")] >= 0
    assert persons[tree.index("b")] == persons[tree.index("T")] == -1


def test_a_holding_alone_in_a_cell_knows_it_although_it_has_several_respondents() -> None:
    table = line([10, 20, 30], [3, 4, 5], [PRIMARY, SECONDARY, OPEN])
    assert audit(table).safe
    owned = replace(table, holdings=Contributors(np.array([2, 1, 3, 6])))
    report = audit(owned)
    assert [(e.cell, e.by, e.exact) for e in report.exposed] == [("s=a", "who is alone in s=b", True)]


def test_who_stands_in_an_open_cell_still_has_a_share_in_the_sums_above_it() -> None:
    """Alone in the hidden margin (a1; T) by the open cell (a1; x), he contributes to (a; x)."""
    by = {"r": Hierarchy.from_parents({"a1": "a", "a2": "a", "a": "T", "b": "T"}), "c": Hierarchy.flat("xy")}
    shape = tuple(len(h) for h in by.values())
    table = Table(by, "x", np.ones(shape), np.zeros(shape, np.uint8), Contributors(np.full(shape, 5)))
    count = table.count.copy()
    for codes, n in {("a1", "x"): 1, ("a1", "y"): 0, ("a1", "T"): 1}.items():
        count[table.index(codes[0], codes[1].replace("T", by["c"].codes[-1]))] = n
    table = replace(table, respondents=Contributors(count))
    table = table.with_status(SECONDARY, [["a1", by["c"].codes[-1]]])
    people = insiders_of(table, Promise())
    (alone,) = np.flatnonzero((people.home >= 0).all(axis=1))
    target = np.array([np.ravel_multi_index(table.index("a", "x"), table.shape)])
    assert people.contribute(np.array([alone]), target, table.shape).all()


# --- what single firms find out --------------------------------------------------------------------------------------


def hidden_firms(seed: int) -> tuple[by_hand.Firms, Promise]:
    rng = np.random.default_rng(seed)
    axes = 1 + seed % 3
    trees = tuple(rng.choice([1, 2, 3], 3, replace=False).tolist()) if axes == 3 else None
    case = by_hand.firms(seed, axes=axes, most=3, decimals=seed % 2, trees=trees)
    table = by_hand.hide(mark(case.table, PPercent(10)), seed, 0.0, 0.3)
    status = np.where(mark(case.table, PPercent(10)).status == PRIMARY, PRIMARY, table.status)
    wanted = (Promise(levels=False), Promise(), Promise(min_relative_range=0.4, levels=False))[seed % 3]
    return by_hand.Firms(replace(mark(case.table, PPercent(10)), status=status.astype(np.uint8)), case.behind), wanted


@pytest.mark.parametrize("seed", range(30))
def test_the_audit_finds_exactly_what_single_firms_find_out(seed: int) -> None:
    case, wanted = hidden_firms(seed)
    report = audit(case.table, wanted)
    everybody = by_hand.exposed_to_everybody(case.table, wanted, POSITIVE)
    firms = by_hand.exposed_to_single_firms(case, wanted, POSITIVE)
    assert {e.index for e in report.exposed if not e.by} == everybody
    assert {e.index for e in report.exposed} == everybody | firms
    assert not report.undecided


@pytest.mark.parametrize(
    "wanted", [Promise(min_range=7.5, levels=False), Promise(min_relative_range=0.77, levels=False)]
)
@pytest.mark.parametrize("seed", range(8))
def test_insiders_are_asked_although_no_single_move_shows_what_the_public_can_see(seed: int, wanted: Any) -> None:
    """Intervals beforehand make lengths that only two moves together reach: no witness, but still insiders."""
    case, _ = hidden_firms(3 * seed)
    rng = np.random.default_rng(seed)
    value = case.table.value
    around = [
        np.round(value * rng.choice([0.3, 0.5, 1.0], value.shape) + rng.integers(0, 3, value.shape)) for _ in "lu"
    ]
    table = replace(case.table, lower=value - around[0], upper=value + around[1])
    case = by_hand.Firms(table, case.behind)
    report = audit(table, replace(wanted, knowledge=Knowledge.intervals()))
    everybody = by_hand.exposed_to_everybody(table, wanted, Knowledge.intervals())
    assert {e.index for e in report.exposed if not e.by} == everybody
    firms = by_hand.exposed_to_single_firms(case, wanted, Knowledge.intervals())
    assert {e.index for e in report.exposed} == everybody | firms


def test_an_insider_is_asked_about_a_range_that_no_single_move_reaches() -> None:
    """Range 11 of 10 +- 6: up and down take different partners, so no move is a witness; b alone computes too much."""
    table = line([10, 6, 6, 50], [4, 1, 4, 9], [PRIMARY, SECONDARY, SECONDARY, OPEN])
    room = np.array([[6, 6], [6, 0], [0, 6], [50, 50], [72, 72]], dtype=float)
    table = replace(table, lower=table.value - room[:, 0], upper=table.value + room[:, 1])
    wanted = Promise(min_range=11.0, levels=False)
    report = audit(table, replace(wanted, knowledge=Knowledge.intervals()))
    assert [(e.cell, e.by) for e in report.exposed] == [("s=a", "who is alone in s=b")]


@pytest.mark.parametrize("seed", range(6))
def test_a_reopened_secondary_is_caught_whenever_somebody_finds_something_out(seed: int) -> None:
    case, wanted = hidden_firms(seed)
    primary = np.where(case.table.status == PRIMARY, PRIMARY, OPEN).astype(np.uint8)
    safe = suppress(replace(case.table, status=primary), wanted).table
    for at in map(tuple, np.argwhere(safe.status == SECONDARY).tolist()[:6]):
        status = safe.status.copy()
        status[at] = OPEN
        opened = by_hand.Firms(replace(safe, status=status), case.behind)
        found = {e.index for e in audit(opened.table, wanted).exposed}
        everybody = by_hand.exposed_to_everybody(opened.table, wanted, POSITIVE)
        assert found == everybody | by_hand.exposed_to_single_firms(opened, wanted, POSITIVE)


def test_who_contributes_to_a_cell_is_the_business_of_the_primary_rule() -> None:
    """The firm alone in a1 has a share in a: what it finds out about the others in a is judged there."""
    tree = Hierarchy.from_parents({"a1": "a", "a2": "a", "a": "T", "b": "T"})
    cells = {"s": ["a1", "a2", "b"], "x": [10, 20, 30], "n": [1, 1, 5]}
    table = Table.from_cells(cells, by={"s": tree}, value="x", count="n")
    hidden = table.with_status(PRIMARY, [["a"]]).with_status(SECONDARY, [["a1"], ["b"]])
    assert audit(hidden).safe  # a = a1 + 20: the firm in a1 computes a, but stands in it
    other = table.with_status(PRIMARY, [["a2"]]).with_status(SECONDARY, [["a1"]])
    assert [e.by for e in audit(other).exposed] == ["who is alone in s=a1"]


# --- the largest contributors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(12))
def test_the_largest_contributor_knows_that_a_cell_is_at_least_his_own(seed: int) -> None:
    case, wanted = hidden_firms(seed)
    table = case.table
    report = audit(table, replace(wanted, guard="largest"))
    exposed = by_hand.exposed_to_everybody(table, wanted, POSITIVE)
    exposed |= by_hand.exposed_to_single_firms(case, wanted, POSITIVE)
    for cell in map(tuple, np.argwhere(table.hidden & (table.count > 1)).tolist()):
        attacker = by_hand.Attacker(table, POSITIVE, at_least={cell: float(present(table.largest)[(*cell, 0)])})
        for target in by_hand.primaries(table):
            above = all(t in by_hand.above(h, c) for t, c, h in zip(target, cell, table.hierarchies, strict=True))
            if not above and not by_hand.kept(table, wanted, target, *attacker.interval(target)):
                exposed.add(target)
    assert {e.index for e in report.exposed} == exposed


def test_the_largest_contributor_of_a_negative_cell_bounds_it_from_above() -> None:
    by = {"s": Hierarchy.flat("abc")}
    value, status = np.array([-50.0, -20.0, 10.0, -60.0]), np.array([PRIMARY, SECONDARY, OPEN, OPEN], dtype=np.uint8)
    people = Contributors(np.array([3, 3, 3, 9]), np.array([[20.0], [15.0], [5.0], [20.0]]), np.abs(value))
    table = Table(by, "x", value, status, people)
    wanted = Promise(min_range=10.0, levels=False)
    lower, upper = value - 6.0, value + 6.0
    bounded = replace(table, lower=lower, upper=upper)
    # the largest of b knows: at most -15, so a is at least -55 and [-55, -44] is still wide enough, [-55, -46] is not
    assert audit(bounded, replace(wanted, guard="largest", knowledge=Knowledge.intervals())).safe
    tighter = Promise(min_range=11.5, levels=False)
    report = audit(bounded, replace(tighter, guard="largest", knowledge=Knowledge.intervals()))
    assert [(e.by, e.lower, e.upper) for e in report.exposed] == [("the largest contributor of s=b", -55.0, -44.0)]


# --- coalitions ------------------------------------------------------------------------------------------------------


def test_two_who_put_their_cells_together_compute_a_third() -> None:
    table = line([10, 20, 30, 40], [3, 3, 3, 9], [PRIMARY, SECONDARY, SECONDARY, OPEN])
    assert audit(table).safe
    assert audit(table, Promise(coalitions=((("b",),),))).safe
    report = audit(table, Promise(coalitions=((("d",),), (("b",), ("c",)))))
    assert [(e.cell, e.by, e.exact) for e in report.exposed] == [("s=a", "coalition 2", True)]
    result = suppress(table, Promise(coalitions=((("b",), ("c",)),)))
    assert result.audit is not None
    assert result.audit.safe
    assert result.table.status[table.index("d")] == SECONDARY


def test_a_coalition_does_not_find_out_what_it_was_said_to_know() -> None:
    table = line([10, 20, 30], [3, 3, 9], [PRIMARY, SECONDARY, OPEN])
    assert audit(table, Promise(coalitions=((("a",), ("b",)),))).safe
    assert not audit(table, Promise(coalitions=((("b",),),))).safe


@pytest.mark.parametrize("seed", [s for s in range(11) if s != 6])  # 6 hides too little for a coalition
def test_coalitions_find_out_what_an_attacker_with_their_cells_finds_out(seed: int) -> None:
    case, wanted = hidden_firms(seed)
    rng = np.random.default_rng(seed)
    hidden = np.argwhere(case.table.hidden)
    assert len(hidden) >= 3
    chosen = [tuple(c) for c in rng.permutation(hidden)[:2].tolist()]
    coalition = [case.table.codes(c) for c in chosen]
    report = audit(case.table, replace(wanted, guard="public", coalitions=(tuple(coalition),)))
    attacker = by_hand.Attacker(case.table, POSITIVE, frozenset(chosen))
    exposed = by_hand.exposed_to_everybody(case.table, wanted, POSITIVE)
    for cell in by_hand.primaries(case.table):
        if cell not in chosen and not by_hand.kept(case.table, wanted, cell, *attacker.interval(cell)):
            exposed.add(cell)
    assert {e.index for e in report.exposed} == exposed


@pytest.mark.parametrize("seed", range(6))
def test_a_pattern_made_against_a_coalition_keeps_it_out_or_names_what_it_finds(seed: int) -> None:
    case, wanted = hidden_firms(seed)
    primary = np.where(case.table.status == PRIMARY, PRIMARY, OPEN).astype(np.uint8)
    table = replace(case.table, status=primary)
    cells = [tuple(c) for c in np.argwhere(table.value > 0).tolist()[:: max(1, table.size // 3)]]
    result = suppress(table, replace(wanted, coalitions=(tuple(table.codes(c) for c in cells),)))
    attacker = by_hand.Attacker(result.table, POSITIVE, frozenset(c for c in cells if result.table.hidden[c]))
    found = {
        c for c in by_hand.primaries(result.table)
        if c not in cells and not by_hand.kept(result.table, wanted, c, *attacker.interval(c))
    }  # fmt: skip
    assert found <= {u.index for u in result.unprotected}


# --- words -----------------------------------------------------------------------------------------------------------


def test_reports_show_no_hidden_value_unless_they_are_internal() -> None:
    big = [71_234, 68_765, 53_219, 91_847]
    table = line(big, [1, 1, 4, 4], [PRIMARY, SECONDARY, OPEN, OPEN])
    report = audit(replace(table, judges=(MinCount(3),)), Promise(coalitions=((("b",),),)), intervals="hidden")
    assert report.exposed
    assert report.unions
    for text in (report.report(), repr(report), str(report.summary()), repr(report.exposed)):
        for value in big[:2]:
            assert str(value) not in text
            assert f"{value:,}" not in text
    assert str(big[0]) in report.report(internal=True)
