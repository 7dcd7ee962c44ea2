"""What the page says about one cell: explanations of hidden ones, and what suppressing an open one would cost."""

from __future__ import annotations

import json
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret import (
    Dominance,
    Hierarchy,
    MinCount,
    Pool,
    Promise,
    Status,
    Table,
    audit,
    mark,
    methods,
    suppress,
    tabulate,
)
from diskret.model.equations import equations_of
from diskret.model.errors import BadOption
from diskret.moves.move import MoveSet
from diskret.suppression.methods import AnyMethod
from diskret.suppression.result import Suppression
from diskret.suppression.weighing import opening_words, weigh

NACE = Hierarchy.from_parents({"a": "A", "b": "A", "c": "A", "d": "B", "e": "B", "f": "B", "A": "T", "B": "T"})
BY_MOVES = methods.Moves()


def grid(seed: int, method: AnyMethod = BY_MOVES, primaries: int = 3) -> Suppression:
    rng = np.random.default_rng(seed)
    leaves = [(n, r) for n in "abcdef" for r in "NESW"]
    primary = set(rng.choice(len(leaves), primaries, replace=False).tolist())
    cells = {
        "nace": [n for n, _ in leaves],
        "region": [r for _, r in leaves],
        "x": rng.integers(100, 900, len(leaves)).astype(float),
        "st": ["primary" if i in primary else "open" for i in range(len(leaves))],
    }
    table = Table.from_cells(cells, by={"nace": NACE, "region": None}, value="x", status="st")
    return suppress(table, Promise(min_relative_range=0.2, levels=False), method)


def hidden(done: Suppression) -> list[tuple[str, ...]]:
    return [done.table.codes(tuple(at)) for at in np.argwhere(done.table.hidden).tolist()]


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_the_remaining_interval_is_the_one_an_attacker_with_a_solver_finds(seed: int) -> None:
    done = grid(seed)
    attacked = audit(done.table, intervals="hidden")
    for codes in hidden(done):
        low, high = attacked.intervals[", ".join(f"{n}={c}" for n, c in zip(done.table.names, codes, strict=True))]
        found = done.explanation(*codes)
        assert found.exact
        assert found.interval == pytest.approx((low, high), abs=1e-5)


@pytest.mark.parametrize("method", [methods.Moves(), methods.Cuboids(), methods.Complete()])
def test_a_move_keeps_every_sum_and_says_who_rises_and_who_falls(method: AnyMethod) -> None:
    by_subtables = isinstance(method, methods.Cuboids)
    with pytest.warns(match="subtotals") if by_subtables else nullcontext():
        done = grid(3, method)
    table = done.table
    for codes in hidden(done):
        found = done.explanation(*codes)
        assert found.moves
        for move in found.moves:
            (me,) = (c for c in move.cells if c.codes == codes)
            assert me.sign == 1
            changed = table.value.copy().reshape(-1)
            for c in move.cells:
                assert np.sign(c.change) == c.sign * np.sign(me.change) or me.change == 0
                changed[c.cell] += c.change
            if not by_subtables:
                whole = equations_of(table, np.ones(table.shape, dtype=np.bool_))
                assert whole.times(changed) == pytest.approx(np.zeros(whole.rows), abs=1e-6)


def test_without_the_internal_view_no_value_and_no_change_is_told() -> None:
    done = grid(5)
    table = done.table
    secret = {f"{v:g}" for v in table.value[table.hidden]}
    for codes in hidden(done):
        found = done.explanation(*codes)
        said = json.dumps(found.plain()) + " ".join(found.words("en") + found.words("de")) + repr(found)
        ends = {f"{end:g}" for end in found.interval or ()}
        for value in secret - ends:
            assert f"{value}.0" not in said
            assert f" {value} " not in said
    assert "change" in json.dumps(done.explanation(*hidden(done)[0]).plain(internal=True))


def test_words_are_there_in_both_languages() -> None:
    done = grid(7)
    codes = next(c for c in hidden(done) if done.table.status[done.table.index(*c)] == Status.SECONDARY)
    english, german = done.explanation(*codes).words("en"), done.explanation(*codes).words("de")
    assert "secondary" in english[0]
    assert "sekundär" in german[0]
    assert len(english) == len(german)


def test_rules_are_named_in_the_language_asked_for() -> None:
    records = {"s": list("aaab"), "x": [1.0, 2, 3, 50]}
    table = mark(tabulate(records, by={"s": None}, value="x"), MinCount(2) | Dominance(1, 85))
    done = suppress(table, Promise(levels=False), methods.Cuboids())
    assert "Caught by minimum count, (1,k) dominance." in done.explanation("b").words("en")
    assert "Erfasst von: Mindestfallzahl, (1,k)-Dominanzregel." in done.explanation("b").words("de")


def test_lines_around_a_cell_are_the_equations_it_stands_in() -> None:
    table = grid(1).table
    whole = equations_of(table, np.ones(table.shape, dtype=np.bool_))
    for cell in range(table.size):
        expected = {
            (int(whole.sum_cell[row]), frozenset(cells.tolist()) - {cell})
            for row in range(whole.rows)
            if cell in (cells := whole.columns[whole.start[row] : whole.start[row + 1]])
        }
        assert {(total, frozenset(cells.tolist())) for _, total, cells in table.lines(cell)} == expected


def test_a_cell_alone_in_its_lines_is_computed_back() -> None:
    done = grid(2)
    table = done.table
    for at in np.argwhere(~table.hidden).tolist():
        found = done.weigh(*table.codes(tuple(at)))
        status = table.status.copy()
        status[tuple(at)] = Status.SECONDARY
        if found.bare:  # the audit agrees: whatever is hidden elsewhere, this one can be computed exactly
            changed = Table(**{**table.__dict__, "status": status})
            name = changed.name_of(found.cell)
            low, high = audit(changed, intervals="hidden").intervals[name]
            assert low == pytest.approx(high)
            return
    raise AssertionError("no bare line in this table")


def test_cost_share_and_margins_of_an_open_cell() -> None:
    done = grid(2)
    total = done.weigh("T", "Total")
    assert total.share == pytest.approx(1.0)
    assert total.margin == ("nace", "region")
    assert total.parts == 2 * 4
    assert any("margin" in line for line in total.words())
    with pytest.raises(BadOption, match="hidden already"):
        done.weigh(*hidden(done)[0])


def test_cells_that_must_stay_are_said_to_stay() -> None:
    cells = {"s": ["a", "b", "c", "d"], "x": [10, 20, 70, 5], "st": ["primary", "open", "never", "published"]}
    done = suppress(
        Table.from_cells(cells, by={"s": None}, value="x", status="st"), Promise(levels=False), methods.Cuboids()
    )
    assert not done.weigh("c").allowed
    assert "stay open" in " ".join(done.weigh("c").words())
    assert "earlier" in " ".join(done.weigh("d").words())


def test_what_may_open_in_its_place_is_tried_with_the_audit() -> None:
    cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "open", "open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    dear = suppress(
        table.with_status(Status.SECONDARY, [["c"]]),
        Promise(levels=False, min_relative_range=0.2),
        methods.Moves(thin=False),
    )
    found = dear.openings("b")
    assert found.opened == ("(c)",)
    assert found.saved == 50
    assert "(c)" in opening_words(found, "de")
    with pytest.raises(BadOption, match="not attacked"):
        suppress(table, Promise(levels=False), methods.Cuboids()).openings("c")


def test_linked_tables_that_show_a_cell_are_named() -> None:
    one = Table.from_cells({"r": ["a", "b"], "x": [10, 20]}, by={"r": None}, value="x")
    cells = {"r": ["a", "a", "b", "b"], "s": ["k", "l", "k", "l"], "x": [4, 6, 5, 15], "st": ["primary"] + ["open"] * 3}
    two = Table.from_cells(cells, by={"r": None, "s": None}, value="x", status="st")
    done = suppress(Pool.of({"one": one, "two": two}), Promise(levels=False, min_relative_range=0.1))
    assert done.weigh("Total", "Total").tables == ("one", "two")
    assert done.explanation("a", "k").exact


def test_a_share_is_told_only_where_the_whole_is_known() -> None:
    """Open values over their shares would give the whole, and with it what is hidden."""
    cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "secondary", "open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    assert weigh(unprotected(table), 2).share == pytest.approx(0.7)
    hidden_total = table.with_status(Status.SECONDARY, [["Total"]])
    signed = Table.from_cells(cells | {"x": [-10, 20, 70]}, by={"s": None}, value="x", status="st")
    for each in (hidden_total, signed):
        found = weigh(unprotected(each), 2)
        assert found.share is None
        assert not any("%" in line for language in ("en", "de") for line in found.words(language))


def unprotected(table: Table) -> Suppression:
    return Suppression(table=table, before=table, promise=Promise(), moves=MoveSet.none())
