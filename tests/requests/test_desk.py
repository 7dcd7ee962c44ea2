"""Requests answered beside a ledger: its tables count as released, answers are remembered and given again."""

from __future__ import annotations

import stat
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import numpy as np
import pytest

import diskret as dk
from diskret.ledger import About, Ledger
from diskret.model.errors import DamagedLedger
from diskret.requests.beside import House
from diskret.requests.desk import Desk
from diskret.requests.located import about_of, located
from diskret.requests.query import Query
from diskret.requests.records import Records
from diskret.requests.register import Register
from diskret.requests.shown import filtered
from tests.requests.test_answering import TREE, firms

HOUSE = House(rules=dk.rules.MinCount(3) | dk.rules.PPercent(10))
ABOUT = About(population="firms", period="2024", unit="EUR")


def desk_in(folder: Path, records: Records | None = None) -> Desk:
    """A desk with a new ledger."""
    return Desk(records=records or firms(), house=HOUSE, about=ABOUT, ledger=dk.open_ledger(folder, create=True))


def one_of(records: Records) -> str:
    """The number of employees of the largest firm, which no other has."""
    return max(records.codes["employees"], key=float)


def test_the_same_question_is_given_the_same_answer_by_whomever_it_is_asked(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    first = desk.answer(Query(by=("region", "sector"), value="x"), who="one")
    later = replace(desk, ledger=dk.open_ledger(tmp_path))
    desk.answer(Query(by=("sector",), value="x"))
    again = later.answer(Query(by=("sector", "region"), value="x"), who="other")
    assert again.earlier == "request 1"
    assert first.table is not None
    assert again.table is not None
    assert again.given == first.given
    assert (again.table.hidden == first.table.hidden).all()
    assert (again.table.value[~again.table.hidden] == first.table.value[~first.table.hidden]).all()


def test_a_refusal_is_remembered_too(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    desk.answer(Query(value="x"))
    less = Query(value="x", without={"employees": (one_of(desk.records),)})
    assert desk.answer(less).kind == "refused"
    assert desk.answer(less).earlier == "request 2"
    assert len(desk.ledger.entries) == 1


def test_a_table_of_the_yearbook_counts_as_released(tmp_path: Path) -> None:
    """Nobody asked for it at the desk: it was entered as it was published."""
    records = firms()
    data = {name: [records.codes[name][i] for i in records.at[name]] for name in ("region", "sector")}
    table = dk.tabulate({**data, "x": records.values["x"].tolist()}, by={"region": TREE}, value="x")
    book = dk.suppress(dk.mark(table, HOUSE.rules)).table
    desk = desk_in(tmp_path, records)
    desk.ledger.add(book, replace(ABOUT, value="x"), name="Yearbook 2024")
    refused = desk.answer(Query(value="x", without={"employees": (one_of(records),)}))
    assert refused.kind == "refused"
    assert any("Yearbook 2024" in reason for reason in refused.reasons)


def test_a_year_before_is_something_else(tmp_path: Path) -> None:
    records = firms()
    before = replace(desk_in(tmp_path, records), about=replace(ABOUT, period="2023"))
    before.answer(Query(value="x"))
    less = Query(value="x", without={"employees": (one_of(records),)})
    assert desk_in(tmp_path, records).answer(less).kind != "refused"


def test_answers_stand_in_the_ledger_with_what_their_filters_mean(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    for query in (
        Query(by=("region",), value="x", where={"sector": ("A", "B")}),
        Query(by=("region",), value="x", where={"region": ("N", "s1")}),
        Query(by=("sector",), value="x", at_least={"employees": 15}),
        Query(by=("sector",)),
    ):
        assert desk.answer(query).table is not None
    ledger = dk.open_ledger(tmp_path)
    assert len(ledger.entries) == 4
    found = located(ledger, desk.records, ABOUT, "x")
    assert len(found.shown) == 3
    assert not found.beyond
    filters = [
        Query(where={"sector": ("A", "B")}), Query(where={"region": ("N", "s1")}), Query(at_least={"employees": 15}),
    ]  # fmt: skip
    for shown, wanted in zip(found.shown, filters, strict=True):
        assert (shown.counted == desk.records.counted(wanted)).all()


def test_what_the_records_cannot_tell_is_left_to_the_check_of_the_ledger(tmp_path: Path) -> None:
    """A table by a classification that the records do not have."""
    cells = {"form": ["a", "b"], "x": [3, 4], "n": [5, 6]}
    other = dk.Table.from_cells(cells, by={"form": None}, value="x", count="n")
    desk = desk_in(tmp_path)
    desk.ledger.add(other, replace(ABOUT, value="x"), name="by legal form")
    assert located(desk.ledger, desk.records, ABOUT, "x").beyond == ("by legal form",)


def test_the_register_is_for_its_owner_alone_and_notices_changes(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    desk.answer(Query(by=("region",), value="x"), who="project 12")
    desk.answer(Query(by=("sector",), value="x"))
    first, _ = sorted((tmp_path / "requests").glob("*.json"))
    assert stat.S_IMODE(first.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "requests").stat().st_mode) == 0o700
    first.write_text(first.read_text(encoding="utf-8").replace("project 12", "project 13"), encoding="utf-8")
    with pytest.raises(DamagedLedger, match="lost or was changed"):
        Register(tmp_path).entries()


def test_the_newest_request_is_missed_too(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    for by in ("region", "sector"):
        desk.answer(Query(by=(by,), value="x"))
    newest = tmp_path / "requests" / "000002.json"
    assert stat.S_IMODE((tmp_path / "requests" / "last").stat().st_mode) == 0o600
    text = newest.read_text(encoding="utf-8")
    newest.write_text(text.replace('"table"', '"other"'), encoding="utf-8")
    with pytest.raises(DamagedLedger, match="request 2 is lost or was changed"):
        Register(tmp_path).entries()
    newest.unlink()
    with pytest.raises(DamagedLedger, match="request 2 is lost or was changed"):
        desk.answer(Query(value="x"))
    newest.write_text(text, encoding="utf-8")
    assert len(Register(tmp_path).entries()) == 2
    # a process that ended between the two files leaves one more than was said
    Register(tmp_path).add({"asked": "more"})
    (tmp_path / "requests" / "last").write_text(f'{{"number": 2, "hash": "{_hash(newest)}"}}', encoding="utf-8")
    assert len(Register(tmp_path).entries()) == 3
    (tmp_path / "requests" / "last").unlink()
    with pytest.raises(DamagedLedger, match="how many requests"):
        Register(tmp_path).entries()


def _hash(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def test_nothing_is_answered_where_nothing_can_be_remembered(tmp_path: Path) -> None:
    desk_in(tmp_path).answer(Query(by=("region",), value="x"))
    closed: Ledger = dk.open_ledger(tmp_path, read_only=True)
    with pytest.raises(DamagedLedger, match="cannot be written"):
        replace(desk_in(tmp_path), ledger=closed).answer(Query(value="x"))


def test_what_a_filter_leaves_of_a_tree_is_called_by_what_is_left() -> None:
    left, called = filtered(TREE, TREE, ["n1", "s1", "s2"])
    assert left.codes == ("n1", "only n1", "s1", "s2", "S", "n1+s1+s2")
    assert called["N"] == "only n1"
    assert filtered(TREE, TREE, ["n1", "n2", "s1", "s2"])[0] is TREE
    assert filtered(TREE, TREE, ["n1"])[0].codes == ("n1", "only n1")


def test_the_filter_of_an_answer_is_a_code_with_its_parts() -> None:
    about = about_of(ABOUT, firms(), Query(by=("sector",), value="x", where={"region": ("n1", "n2")}))
    assert about.fixed == {"region": "N"}
    about = about_of(ABOUT, firms(), Query(by=("sector",), value="x", where={"region": ("n1", "s1")}))
    assert about.fixed == {"region": "n1+s1"}
    assert list(about.groupings["region"]["n1+s1"]) == ["n1", "s1"]


def test_twenty_requests_through_a_ledger_tell_what_they_tell_without(tmp_path: Path) -> None:
    """The same answers as beside a list of what was shown: entering and locating loses nothing."""
    from benchmarks.requests import firms as random_firms
    from benchmarks.requests import fresh
    from diskret.requests.answering import answer

    rng = np.random.default_rng(5)
    data = random_firms(rng, 40)
    records = Records.of(data, ["region", "sector", "size", "employees"], ["turnover"])
    desk = replace(desk_in(tmp_path, records), house=HOUSE)
    released: dict[str | None, list[dk.requests.Shown]] = {"turnover": [], None: []}
    seen: set[str] = set()
    for _ in range(14):
        query = fresh(rng, data)
        strange = [c for codes in query.where.values() for c in codes if c in ("N", "S", "W")]
        if strange or query.key() in seen or not records.counted(query).any():
            continue
        seen.add(query.key())
        one, other = answer(records, query, HOUSE, released[query.value]), desk.answer(query)
        assert one.kind == other.kind
        assert one.given == other.given
        if one.shown is not None and one.table is not None and other.table is not None:
            released[query.value].append(one.shown)
            assert (one.table.hidden == other.table.hidden).all()
    assert len(desk.ledger.entries) >= 4


def test_a_quarter_that_the_year_gives_away_is_refused(tmp_path: Path) -> None:
    """The year and three quarters are out: whatever is hidden in the first one is their difference."""
    data = {"region": [*"aaaaabbbbbc"], "x": [10, 11, 12, 13, 14, 20, 21, 22, 23, 24, 99]}
    records = Records.of(data, ["region"], ["x"])
    quarter = dk.tabulate(data, by={"region": None}, value="x")
    year = dk.tabulate({**data, "x": [4 * x for x in data["x"]]}, by={"region": None}, value="x")
    desk = replace(desk_in(tmp_path, records), about=replace(ABOUT, period="2024-Q1"))
    desk.ledger.add(year, replace(ABOUT, value="x", period="2024"), name="year")
    for number in (2, 3, 4):
        desk.ledger.add(quarter, replace(ABOUT, value="x", period=f"2024-Q{number}"), name=f"quarter {number}")
    assert desk.answer(Query(by=("region",), value="x")).kind == "refused"
    alone = replace(desk_in(tmp_path / "other", records), about=desk.about)
    assert alone.answer(Query(by=("region",), value="x")).kind == "reduced"


def test_a_rounded_table_is_no_exact_one(tmp_path: Path) -> None:
    """Nothing is given exactly because it is out rounded, and what rounding leaves is known."""
    data = {"region": [*"aaaaabbbbbc"], "who": [f"{i:02d}" for i in range(11)],
            "x": [100, 110, 120, 130, 140, 200, 210, 220, 230, 240, 970]}  # fmt: skip
    records = Records.of(data, ["region", "who"], ["x"])
    book = dk.tabulate(data, by={"region": None}, value="x")
    rest = Query(value="x", without={"who": ("10",)})
    coarse = desk_in(tmp_path / "coarse", records)
    coarse.ledger.add(book, replace(ABOUT, value="x", rounded=1000), name="thousands")
    assert coarse.answer(rest).kind == "table"
    asked = coarse.answer(Query(by=("region",), value="x"))
    assert asked.table is not None
    assert "region=c" in asked.table.name_cells(asked.table.hidden)
    fine = desk_in(tmp_path / "fine", records)
    hidden = dk.suppress(dk.mark(book, HOUSE.rules)).table
    fine.ledger.add(hidden, replace(ABOUT, value="x", rounded=10), name="tens")
    assert fine.answer(rest).kind == "refused"


def test_published_intervals_are_known(tmp_path: Path) -> None:
    """The book hides two regions; of the harmless one a narrow interval is out, and so of the other one as well."""
    data = {"region": [*"aaaaabbbbbc"], "x": [100, 110, 120, 130, 140, 200, 210, 220, 230, 240, 970]}
    records = Records.of(data, ["region"], ["x"])
    book = dk.suppress(dk.mark(dk.tabulate(data, by={"region": None}, value="x"), HOUSE.rules)).table
    for name, slack, kind in (("wide", 600.0, "table"), ("narrow", 2.0, "refused")):
        desk = desk_in(tmp_path / name, records)
        ends = book.value - slack, book.value + slack
        desk.ledger.add(book, replace(ABOUT, value="x"), name="book", intervals=ends)
        assert [each.bounds is not None for each in located(desk.ledger, records, ABOUT, "x").shown] == [True]
        assert desk.answer(Query(value="x", where={"region": ("a", "c")})).kind == kind


@pytest.mark.parametrize("late", [True, False])
def test_revised_records_do_not_give_away_who_was_revised(tmp_path: Path, late: bool) -> None:
    """A firm that answered late, or one that corrected itself, is the difference of two answers."""
    data = {"region": [*"aaaaabbbbb"], "x": [100, 110, 120, 130, 140, 200, 210, 220, 230, 240]}
    first = desk_in(tmp_path, Records.of(data, ["region"], ["x"]))
    assert first.answer(Query(value="x")).kind == "table"
    now = {"region": [*data["region"], "b"], "x": [*data["x"], 970]} if late else {**data, "x": [*data["x"][:9], 290]}
    later = replace(first, records=Records.of(now, ["region"], ["x"]))
    for query in (Query(value="x"), Query(by=("region",), value="x")):
        refused = later.answer(query)
        assert refused.kind == "refused"
        assert "records were revised" in " ".join(refused.reasons)
    # what did not change may still be had, but not what is the rest of it
    assert later.answer(Query(value="x", where={"region": ("a",)})).kind == "table"
    assert later.answer(Query(value="x", where={"region": ("b",)})).kind == "refused"


def test_a_sum_that_loses_parts_is_known_to_the_ledger(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    query = Query(by=("region",), value="x", levels={"region": 1}, where={"region": ("n1", "S")})
    assert desk.answer(query).table is not None
    (entry,) = dk.open_ledger(tmp_path).entries
    assert list(entry.about.groupings["region"]["N (only n1)"]) == ["n1"]


@pytest.mark.parametrize("seed", [3, 8])
def test_a_campaign_at_the_desk_tells_an_independent_attacker_nothing(tmp_path: Path, seed: int) -> None:
    """Single numbers too: they have no classification in the ledger, and stand beside the others all the same."""
    from benchmarks.requests import Tally, run

    tally = Tally()
    run(tally, seed, 16, 24, least=5, folder=tmp_path / "ledger")
    assert tally.targets
    assert (tally.exact, tally.close, tally.few, tally.together) == (0, 0, 0, 0)


def test_single_numbers_of_the_ledger_are_located_in_the_records(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    assert desk.answer(Query(value="x", at_least={"employees": 12})).kind == "table"
    found = located(desk.ledger, desk.records, ABOUT, "x")
    assert not found.beyond
    assert (found.shown[0].counted == desk.records.counted(Query(at_least={"employees": 12}))).all()
