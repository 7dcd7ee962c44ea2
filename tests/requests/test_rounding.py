"""Rounded answers where nothing can be given exactly: as fine as is safe, remembered, attacked like all others."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import diskret as dk
from benchmarks.requests import Tally, run
from diskret.io.text import read_text
from diskret.requests.answering import answer
from diskret.requests.beside import House
from diskret.requests.query import Query
from diskret.requests.records import Records
from diskret.requests.rounding import nearest
from tests.requests.test_answering import HOUSE, asked, firms
from tests.requests.test_desk import desk_in, one_of

GIVES = replace(HOUSE, rounding="give")


def without_one(records: Records) -> Query:
    """All firms but the largest: the total of all minus this is that firm."""
    return Query(value="x", without={"employees": (one_of(records),)})


def test_what_one_firm_would_follow_from_is_given_rounded() -> None:
    records = firms()
    query = without_one(records)
    total, rest = asked(records, Query(value="x"), query, house=GIVES)
    assert (total.kind, rest.kind) == ("table", "reduced")
    assert rest.words[0] == f"given instead: {query.words()}, rounded to {rest.rounded:,.10g}"
    assert rest.table is not None
    assert rest.kept is not None
    assert (rest.table.value == nearest(rest.kept.value, rest.rounded)).all()
    largest = float(records.values["x"][~records.counted(query)][0])
    assert rest.rounded >= largest * 0.1, "the firm's own value cannot be told to within ten percent"


def test_the_house_may_want_a_proposal_only_or_nothing() -> None:
    records = firms()
    for house, said in ((replace(HOUSE, rounding="propose"), True), (replace(HOUSE, rounding="never"), False)):
        _, rest = asked(records, Query(value="x"), without_one(records), house=house)
        assert (rest.kind, rest.table) == ("refused", None)
        assert any("could be given instead: the same, rounded to" in each for each in rest.reasons) is said
        assert "rounded" not in rest.report()


def test_whoever_wants_nothing_less_is_given_nothing_rounded() -> None:
    records = firms()
    total = answer(records, Query(value="x"), GIVES)
    assert total.shown is not None
    assert answer(records, without_one(records), GIVES, [total.shown], reduce=False).kind == "refused"


def test_cells_that_are_sensitive_themselves_are_not_given_rounded_either() -> None:
    data = {"region": [*"aaaaabbbbbcd"], "x": [100, 110, 120, 130, 140, 200, 210, 220, 230, 240, 970, 50]}
    records = Records.of(data, ["region"], ["x"])
    done = asked(records, Query(by=("region",), value="x"), Query(value="x", where={"region": ("a", "b", "c")}),
                 Query(by=("region",), value="x", where={"region": ("a", "b", "c")}), house=GIVES)  # fmt: skip
    for each in done:
        for cell in [] if each.table is None else each.table.name_cells(~each.table.hidden):
            assert cell not in ("region=c", "region=d")


def test_rules_that_several_firms_break_together_allow_no_rounding() -> None:
    records = firms()
    house = House(rules=dk.rules.MinCount(5) | dk.rules.PPercent(10), rounding="give")
    _, rest = asked(records, Query(value="x"), without_one(records), house=house)
    assert rest.kind == "refused"


def test_a_rounded_answer_is_remembered_with_its_rounding(tmp_path: Path) -> None:
    desk = replace(desk_in(tmp_path), house=GIVES)
    query = without_one(desk.records)
    desk.answer(Query(value="x"))
    first = desk.answer(query)
    assert first.rounded
    entry = dk.open_ledger(tmp_path).entries[-1]
    assert entry.about.rounded == first.rounded
    cells = desk.ledger.cells(desk.ledger.entries[-1])
    assert (cells.lower <= cells.value).all()
    assert (cells.value <= cells.upper).all()
    again = desk.answer(query)
    assert (again.earlier, again.rounded, again.words) == ("request 2", first.rounded, first.words)
    assert again.table is not None
    assert first.table is not None
    np.testing.assert_array_equal(again.table.value, first.table.value)
    dk.publish(first.table, tmp_path / "a.csv")
    dk.publish(again.table, tmp_path / "b.csv")
    said = read_text(tmp_path / "a.csv")
    assert said == read_text(tmp_path / "b.csv")
    assert "rounded" in said
    assert f"{first.kept.value.max():.0f}" not in said if first.kept is not None else False


@pytest.mark.parametrize(("seed", "desk"), [(1, False), (4, False), (7, True)])
def test_rounded_answers_tell_an_independent_attacker_nothing(tmp_path: Path, seed: int, desk: bool) -> None:
    tally = Tally()
    run(tally, seed, 20, 30, folder=tmp_path / "ledger" if desk else None, rounding="give")
    assert tally.rounded
    assert (tally.exact, tally.close, tally.few, tally.together) == (0, 0, 0, 0)
