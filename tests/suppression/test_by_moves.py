"""Patterns by moves: an attacker written by hand finds nothing that is not named."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from diskret import (
    Hierarchy,
    Knowledge,
    MinCount,
    PPercent,
    Promise,
    ProtectionWarning,
    Status,
    Table,
    audit,
    mark,
    methods,
    suppress,
)
from diskret.model import near
from diskret.model.contributors import Contributors
from diskret.moves import pattern
from diskret.suppression.by_cuboids import usable_cells
from tests import by_hand
from tests.present import present

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
PROTECTIONS = {
    "levels": Promise(),
    "relative": Promise(min_relative_range=0.77, levels=False),
    "absolute": Promise(min_range=7.5, levels=False),
    "sliding": Promise(sliding=True),
    "exact values only": Promise(levels=False),
    "everything": Promise(min_relative_range=0.25, min_range=2.0),
}
KNOWLEDGE = {
    "positive": Knowledge.positive(),
    "none": Knowledge.none(),
    "relative": Knowledge.relative(0.5, 2.0),
    "intervals": Knowledge.intervals(),
}


@pytest.fixture(autouse=True)
def searched_both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Few demands do without the compiled search for products; with every other seed they count as many."""
    given = getattr(request.node, "callspec", None)
    if given is not None and given.params.get("seed", 0) % 2:
        monkeypatch.setattr(pattern, "MANY", 0)


def case(seed: int) -> tuple[by_hand.Firms, Promise, Knowledge]:
    """A random table, what must be kept, and what is known."""
    rng = np.random.default_rng(seed + 10**6)
    axes = 1 + seed % 3
    knowledge = KNOWLEDGE[list(KNOWLEDGE)[seed // 3 % 4]]
    negative = knowledge.kind != "positive" and seed % 5 == 0
    trees = tuple(rng.choice([1, 2, 3], 3, replace=False).tolist()) if axes == 3 else None
    firms = by_hand.firms(seed, axes=axes, decimals=seed % 3, negative=negative, trees=trees, empty=0.25)
    table = mark(firms.table, PPercent(int(rng.choice([5, 15, 40]))) | MinCount(int(rng.choice([2, 3]))))
    if knowledge.kind == "intervals":
        size = np.abs(table.value)
        around = [np.round(size * rng.choice([0.3, 0.5, 1.0, 2.0], table.shape) + rng.integers(0, 3, table.shape), 1)
                  for _ in range(2)]  # fmt: skip
        table = replace(table, lower=table.value - around[0], upper=table.value + around[1])
    return by_hand.Firms(table, firms.behind), PROTECTIONS[list(PROTECTIONS)[seed // 2 % 6]], knowledge


def found_by_hand(firms: by_hand.Firms, protection: Promise, knowledge: Knowledge) -> set[tuple[int, ...]]:
    everybody = by_hand.exposed_to_everybody(firms.table, protection, knowledge)
    return everybody | by_hand.exposed_to_single_firms(firms, protection, knowledge)


@pytest.mark.parametrize("seed", [*range(30), *(pytest.param(s, marks=pytest.mark.slow) for s in range(30, 60))])
def test_nothing_is_exposed_that_is_not_named(seed: int) -> None:
    firms, protection, knowledge = case(seed)
    result = suppress(firms.table, replace(protection, knowledge=knowledge, unions=False))
    found = found_by_hand(by_hand.Firms(result.table, firms.behind), protection, knowledge)
    assert found == {u.index for u in result.unprotected}


@pytest.mark.parametrize(
    ("seed", "effort"),
    [
        (0, "quick"),
        (3, "quick"),
        (6, "quick"),
        (3, "economy"),
        (6, "economy"),
        pytest.param(0, "economy", marks=pytest.mark.slow),
    ],
)
def test_less_and_more_effort_protect_alike(seed: int, effort: Any) -> None:
    firms, protection, knowledge = case(seed)  # one classification: economy takes long
    result = suppress(firms.table, replace(protection, knowledge=knowledge, unions=False), methods.Moves(effort=effort))
    found = found_by_hand(by_hand.Firms(result.table, firms.behind), protection, knowledge)
    assert found == {u.index for u in result.unprotected}


@pytest.mark.parametrize(
    "seed", [s for s in range(15) if s % 3] + [pytest.param(s, marks=pytest.mark.slow) for s in range(15, 30) if s % 3]
)
def test_thinned_neighbourhoods_come_first_and_never_instead(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is only for large tables, made to happen in small ones: the same cells are left unprotected."""
    firms, protection, knowledge = case(seed)
    given = replace(protection, knowledge=knowledge, unions=False)
    usual = suppress(firms.table, given)
    monkeypatch.setattr(near, "WIDE", 3)
    monkeypatch.setattr(near, "FEW", 1)
    monkeypatch.setattr(near, "GROWTH", 1)
    thinned = suppress(firms.table, given)
    found = found_by_hand(by_hand.Firms(thinned.table, firms.behind), protection, knowledge)
    assert found == {u.index for u in thinned.unprotected} == {u.index for u in usual.unprotected}


# ranges over unequal intervals (every fourth three) can need two moves, which are not looked for
@pytest.mark.parametrize("seed", [s for s in range(36) if s // 3 % 4 != 3])
def test_what_is_named_cannot_be_protected_by_hiding_everything(seed: int) -> None:
    firms, protection, knowledge = case(seed)
    result = suppress(firms.table, replace(protection, knowledge=knowledge, unions=False))
    if not result.unprotected:
        return
    usable = usable_cells(firms.table, "marked").reshape(firms.table.shape)
    everything = firms.other_hidden(np.where(usable, Status.SECONDARY, firms.table.status))
    assert {u.index for u in result.unprotected} <= found_by_hand(everything, protection, knowledge)


@pytest.mark.parametrize("seed", range(8))
def test_firms_are_not_guarded_against_only_where_that_was_asked_for(seed: int) -> None:
    firms, protection, _ = case(12 * seed)
    table = firms.table
    single = (table.count == 1) & table.hidden
    promise = replace(protection, guard="public", unions=False)
    if single.any():
        with pytest.warns(ProtectionWarning, match="single contributors are not guarded against"):
            result = suppress(table, promise)
    else:
        result = suppress(table, promise)
    everybody = by_hand.exposed_to_everybody(result.table, protection, Knowledge.positive())
    assert everybody == {u.index for u in result.unprotected}
    guarded = suppress(table, replace(protection, unions=False))
    assert guarded.secondary.sum() >= result.secondary.sum() or guarded.unprotected


@pytest.mark.parametrize(("partner", "protected"), [(20, True), (19, False)])
def test_sliding_levels_are_reached_when_the_interval_is_as_long_as_both(partner: int, protected: bool) -> None:
    """5 below and 20 above ask for 25 together: from 0 to 5 + 20, but not to 5 + 19."""
    table = Table.from_cells({"s": list("abc"), "x": [5, partner, 90]}, by={"s": Hierarchy.flat("abc")}, value="x")
    hidden = table.with_status(Status.PRIMARY, [["a"]]).with_status(Status.SECONDARY, [["b"]])
    hidden = replace(hidden, below=np.full(4, 5.0), above=np.full(4, 20.0))
    wanted = Promise(sliding=True)
    assert audit(hidden, wanted).safe == protected
    assert suppress(hidden, wanted).secondary.any() == (not protected)


# --- the same again --------------------------------------------------------------------------------------------------


def frozen(table: Table) -> Table:
    for f in fields(table):
        array = getattr(table, f.name)
        if isinstance(array, np.ndarray):
            array.setflags(write=False)
    return table


@pytest.mark.parametrize("effort", ["quick", "default", "economy"])
def test_the_same_table_gives_the_same_bytes_and_stays_as_it_was(effort: Any) -> None:
    firms, protection, knowledge = case(7)
    table = frozen(firms.table)
    before = table.status.tobytes(), table.value.tobytes()
    one, two = (
        suppress(table, replace(protection, knowledge=knowledge, unions=False), methods.Moves(effort=effort))
        for _ in range(2)
    )
    assert (table.status.tobytes(), table.value.tobytes()) == before
    assert one.table.status.tobytes() == two.table.status.tobytes()
    assert one.moves.cells.tobytes() == two.moves.cells.tobytes()
    assert one.moves.coefficients.tobytes() == two.moves.coefficients.tobytes()
    assert one.audit is not None
    assert two.audit is not None
    assert one.audit.report(internal=True) == two.audit.report(internal=True)


# --- repair ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(24))
def test_a_pattern_from_elsewhere_is_kept_and_extended_until_it_is_safe(seed: int) -> None:
    firms, protection, knowledge = case(seed)
    given = np.random.default_rng(seed).random(firms.table.shape) < 0.15
    given &= (firms.table.status == Status.OPEN) & (firms.table.value != 0)
    table = replace(firms.table, status=np.where(given, Status.SECONDARY, firms.table.status).astype(np.uint8))
    result = suppress(table, replace(protection, knowledge=knowledge, unions=False))
    assert (result.table.status[given] == Status.SECONDARY).all()
    assert (result.table.status[table.status == Status.PRIMARY] == Status.PRIMARY).all()
    found = found_by_hand(by_hand.Firms(result.table, firms.behind), protection, knowledge)
    assert found == {u.index for u in result.unprotected}


@pytest.mark.parametrize("seed", range(24))
def test_a_safe_pattern_gets_nothing_added(seed: int) -> None:
    firms, protection, knowledge = case(seed)
    once = suppress(firms.table, replace(protection, knowledge=knowledge, unions=False))
    again = suppress(once.table, replace(protection, knowledge=knowledge, unions=False))
    assert not again.secondary.any()
    assert again.unprotected == once.unprotected


@pytest.mark.parametrize("seed", range(12))
def test_any_safe_pattern_gets_nothing_added(seed: int) -> None:
    """Not ours: random cells are hidden until an audit finds nothing, which is the pattern's only proof."""
    firms, _, _ = case(3 * seed + 1)
    table, rng = firms.table, np.random.default_rng(seed)
    order = [tuple(c) for c in rng.permutation(np.argwhere((table.status == 0) & (table.value != 0))).tolist()]
    status = table.status.copy()
    for at in order:
        if audit(replace(table, status=status), Promise(levels=False)).safe:
            break
        status[at] = Status.SECONDARY
    pattern = replace(table, status=status)
    assert audit(pattern, Promise(levels=False)).safe
    assert not suppress(pattern, Promise(levels=False)).secondary.any()


# --- counts and people -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_counts_are_protected_in_whole_numbers(seed: int) -> None:
    table = by_hand.hide(by_hand.counts(seed, (1, 2)), seed, 0.25, zeros=bool(seed % 2))
    result = suppress(table, method=methods.Moves(zeros="allowed"))
    everybody = by_hand.exposed_to_everybody(result.table, Promise(levels=False), Knowledge.positive(), whole=True)
    named = {u.index for u in result.unprotected}
    assert everybody <= named
    assert {e.index for e in present(result.audit).exposed if not e.by} == everybody


def test_the_largest_contributor_of_a_partner_is_kept_out_when_asked() -> None:
    """b is nearly all its largest contributor's: it tells him what a is to within 2; c does not."""
    by = {"s": Hierarchy.flat("abcd")}
    value = np.array([50.0, 60.0, 90.0, 900.0, 1100.0])
    largest = np.array([[30.0], [58.0], [20.0], [300.0], [300.0]])
    table = Table(
        by, "x", value, np.array([1, 0, 0, 0, 0], dtype=np.uint8), Contributors(np.full(5, 5), largest), positive=True
    )
    wanted = Promise()
    table = replace(table, below=np.full(5, 10.0), above=np.full(5, 10.0))
    plain = suppress(table, wanted).table
    assert plain.hidden.tolist() == [True, True, False, False, False]
    assert [e.by for e in audit(plain, Promise(guard="largest")).exposed] == ["the largest contributor of s=b"]
    kept_out = suppress(table, replace(wanted, guard="largest"))
    assert not kept_out.unprotected
    assert audit(kept_out.table, Promise(guard="largest")).safe
