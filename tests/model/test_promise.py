"""A promise as a value: written down and read back, in words without secrets, and when one covers another.

``verify`` takes a certificate of one promise for another one that it covers, so covering must be sound: whatever is
safe under the one is safe under the other. An attacker who shares no code with the package looks for counterexamples.
"""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from itertools import product
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret import Knowledge, Promise, Roles, Status, Table, audit, suppress, tabulate, verify
from diskret.auditing.certificate import certificate_of
from diskret.model.errors import BadOption
from diskret.model.words import words
from diskret.moves.demands import demands_of
from tests.worlds import KINDS, World, world

KNOWLEDGE = (
    Knowledge.usual(), Knowledge.none(), Knowledge.positive(), Knowledge.intervals(), Knowledge.relative(0.25),
    Knowledge.relative(0.25, 4.0), Knowledge.relative(0.75, 1.0),
)  # fmt: skip
RANGES = ((0.0, None), (0.0, 0.0), (0.0, 6.0), (0.4, None), (0.4, 0.0), (0.4, 6.0), (0.9, None), (0.9, 3.0))


def promises(guards: tuple[Any, ...] = ("public", "single", "largest"), coalitions: Any = ((),)) -> list[Promise]:
    """All combinations of what a promise can say."""
    return [
        Promise(
            guard=guard, coalitions=known, levels=levels, sliding=sliding, min_relative_range=relative,
            min_range=absolute, knowledge=knowledge, unions=unions,
        )
        for guard, known, levels, sliding, (relative, absolute), knowledge, unions in product(
            guards, coalitions, (True, False), (True, False), RANGES, KNOWLEDGE, (True, False)
        )
    ]  # fmt: skip


codes = st.text("abxyz0159", min_size=1, max_size=3)
any_promise = st.builds(
    Promise,
    guard=st.sampled_from(["public", "single", "largest"]),
    coalitions=st.lists(st.lists(st.tuples(codes, codes), min_size=1, max_size=2).map(tuple), max_size=2).map(tuple),
    levels=st.booleans(),
    sliding=st.booleans(),
    min_relative_range=st.floats(0, 5),
    min_range=st.none() | st.floats(0, 1e6),
    knowledge=st.sampled_from(KNOWLEDGE) | st.builds(Knowledge.relative, st.floats(0.01, 2), st.floats(0, 1e3)),
    unions=st.booleans(),
)


# --- as plain data ---------------------------------------------------------------------------------------------------


@given(any_promise)
def test_a_promise_comes_back_from_plain_data_and_from_json(promise: Promise) -> None:
    assert Promise.from_dict(promise.to_dict()) == promise
    assert Promise.from_dict(json.loads(json.dumps(promise.to_dict()))) == promise
    assert hash(Promise.from_dict(promise.to_dict())) == hash(promise)


OTHER: dict[str, Any] = {
    "guard": "public", "coalitions": ((("a",),),), "levels": False, "sliding": True, "min_relative_range": 0.1,
    "min_range": 1.0, "knowledge": Knowledge.none(), "unions": False,
}  # fmt: skip


def test_promises_are_equal_if_all_their_parts_are() -> None:
    assert OTHER.keys() == {f.name for f in fields(Promise)}
    for name, value in OTHER.items():
        assert replace(Promise(), **{name: value}) != Promise(), name
        assert replace(Promise(), **{name: value}) == Promise(**{name: value})


def test_what_is_not_part_of_a_promise_is_refused() -> None:
    with pytest.raises(BadOption, match="colour") as told:
        Promise.from_dict({"colour": "red"})
    assert "guard" in str(told.value.hint)


@pytest.mark.parametrize("wrong", [{"guard": "all"}, {"min_relative_range": -0.1}, {"min_range": -1.0}])
def test_what_cannot_be_promised_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadOption) as told:
        Promise(**wrong)
    assert told.value.hint


# --- in words --------------------------------------------------------------------------------------------------------


@given(any_promise, st.sampled_from(["en", "de"]))
def test_words_show_no_number_but_how_many_coalitions(promise: Promise, language: Literal["en", "de"]) -> None:
    said = promise.describe(language)
    assert re.findall(r"\d+", said) == ([str(len(promise.coalitions))] if promise.coalitions else [])
    assert "{" not in said
    assert max(map(len, said.splitlines())) <= 120


@pytest.mark.parametrize("language", ["en", "de"])
def test_internal_words_show_the_numbers(language: Literal["en", "de"]) -> None:
    promise = Promise(min_relative_range=0.37, min_range=41.5, knowledge=Knowledge.relative(0.62, 19))
    said = promise.describe(language, internal=True)
    sign = {"en": ".", "de": ","}[language]
    assert all(number in said for number in (f"0{sign}37", f"41{sign}5", "62 %", "19"))


@pytest.mark.parametrize("language", ["en", "de"])
def test_promises_that_differ_read_differently(language: Literal["en", "de"]) -> None:
    said = {
        promise.describe(language, internal=True)
        for promise in (Promise(), *(Promise(**{n: v}) for n, v in OTHER.items()))
    }
    assert len(said) == 1 + len(OTHER)


def test_what_is_printed_holds_no_secret() -> None:
    promise = Promise(min_relative_range=0.37, min_range=41.5)
    assert "0.37" not in repr(promise) + str(promise)
    assert "41.5" not in repr(promise) + str(promise)


# --- one that covers another -----------------------------------------------------------------------------------------


@given(any_promise)
def test_every_promise_covers_itself(promise: Promise) -> None:
    assert promise.covers(promise)


@given(st.lists(st.sampled_from(promises()), min_size=3, max_size=12))
def test_what_is_covered_by_the_covered_is_covered(some: list[Promise]) -> None:
    for one, two, three in product(some, repeat=3):
        if one.covers(two) and two.covers(three):
            assert one.covers(three)


WEAKER: dict[str, Promise] = {
    "against fewer": Promise(guard="public"),
    "without levels": Promise(levels=False),
    "levels that slide": Promise(sliding=True),
    "no unions": Promise(unions=False),
    "who knows less": Promise(knowledge=Knowledge.none()),
}


@pytest.mark.parametrize("how", WEAKER)
def test_the_usual_promise_covers_weaker_ones_and_is_not_covered_by_them(how: str) -> None:
    assert Promise().covers(WEAKER[how])
    assert not WEAKER[how].covers(Promise())


def test_stronger_ones_cover_the_usual() -> None:
    for more in (
        Promise(guard="largest"), Promise(coalitions=((("a",),),)), Promise(min_relative_range=0.1),
        Promise(min_range=1.0), Promise(min_relative_range=0.1, min_range=1.0),
    ):  # fmt: skip
        assert more.covers(Promise())
        assert not Promise().covers(more)


def exposed(given_world: World, some: list[Promise]) -> list[set[int]]:
    return [given_world.exposed(promise)[1] for promise in some]


def coalitions_of(cells: Table) -> tuple[Any, ...]:
    """None, one, and two of them."""
    hidden = [cells.codes(tuple(at.tolist())) for at in np.argwhere(cells.hidden)[:3]]
    one, two = tuple(hidden[:1]), tuple(hidden[1:3])
    return (), (one,), (two, one)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(2))
def test_what_is_safe_under_a_promise_is_safe_under_all_it_covers(kind: str, seed: int) -> None:
    """Cell by cell, on random patterns: nothing is exposed under the covered promise alone."""
    negative = seed % 2 == 1 and kind != "counts"
    hidden = world(kind, 20 + seed, negative=negative, secondary=0.4)
    guards = ("public", "single") if kind in ("system", "counts") else ("public", "single", "largest")
    every = [
        p for p in promises(guards, coalitions_of(hidden.cells))
        if not (negative and p.knowledge.kind == "positive") and p.unions
    ]  # fmt: skip
    chosen = np.random.default_rng(seed).choice(len(every), 150, replace=False).tolist()
    some = [every[k] for k in chosen]
    found = exposed(hidden, some)
    pairs = 0
    for (one, by_one), (other, by_other) in product(zip(some, found, strict=True), repeat=2):
        if one is not other and one.covers(other):
            pairs += 1
            assert by_other <= by_one, (one.to_dict(), other.to_dict())
    assert pairs > 100, "the claim was put to the test"


@pytest.mark.parametrize("sides", [*product((True, False), repeat=2)])
def test_demands_of_a_covering_promise_are_not_met_by_less(sides: tuple[bool, bool]) -> None:
    """The same for what the package itself asks for, on the edges: an interval is just long enough, or one side is."""
    cells = {"s": list("abcd"), "x": [0, 10, 7, 100], "st": ["primary"] * 3 + ["open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    level = np.array([0.0, 3.0, 2.0, 0.0, 0.0])
    table = replace(table, below=level if sides[0] else None, above=2 * level if sides[1] else None)
    ends = np.array(list(product([0.0, 2.0, 3.0, 4.0, 6.0, 9.0, 90.0], repeat=2)))
    some = [p for p in promises(("single",)) if p.unions and p.knowledge == Knowledge.usual()]
    for one, other in product(some, repeat=2):
        if one.covers(other):
            mine, theirs = demands_of(table, one), demands_of(table, other)
            for rise, fall in ends:
                reached = np.full(3, rise), np.full(3, fall)
                assert (mine.kept(*reached) <= theirs.kept(*reached)).all(), (
                    one.to_dict(),
                    other.to_dict(),
                    rise,
                    fall,
                )


@pytest.mark.parametrize(
    "damaged",
    [
        {"guard": "all"},
        {"levels": "no"},
        {"unions": 0},
        {"min_relative_range": float("nan")},
        {"min_range": float("inf")},
        {"knowledge": {"kind": "much"}},
        {"knowledge": {"kind": "relative", "error": -1.0}},
        {"knowledge": {"kind": "relative", "error": 0.5, "absolute": float("nan")}},
        {"knowledge": {"kind": "usual", "error": 0.5}},
    ],
)
def test_a_promise_from_a_damaged_file_is_refused(damaged: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        Promise.from_dict(damaged)


def test_coalitions_stand_in_the_sentence_without_a_stumble() -> None:
    said = " ".join(Promise(coalitions=((("a",),),)).describe().split())
    assert "alone in one of its cells, nor any of 1 named coalitions, can narrow" in said
    assert ",," not in said


def known_to(owners: str, public: bool) -> Table:
    """A small table that knows as much about those behind its cells as said."""
    rows: dict[str, list[Any]] = {"s": ["a", "b"], "x": [1, 2], "n": [1, 1], "o": ["P", "Q"], "open": ["yes", "no"]}
    if owners in ("uncounted", "unknown"):
        return Table.from_cells(rows, by={"s": None}, value="x", count="n" if owners == "unknown" else None)
    roles = Roles(holding="o" if owners == "holdings" else None, public="open" if public else None)
    return tabulate(rows, by={"s": None}, value="x", roles=roles)


@pytest.mark.parametrize("language", ["en", "de"])
def test_a_promise_about_a_table_says_whether_it_knows_owners_and_public_values(language: Literal["en", "de"]) -> None:
    say = words("promise", language)
    for owners, public in product(("uncounted", "unknown", "respondents", "holdings"), (False, True)):
        table = known_to(owners, public and owners in ("respondents", "holdings"))
        known = "known" if public and owners in ("respondents", "holdings") else "unknown"
        said = " ".join(Promise().describe(language, table=table).split())
        assert said.endswith(f"{say[f'owners {owners}']} {say[f'public {known}']}")
        # where nobody from inside is guarded against, it does not matter who he is
        assert say[f"owners {owners}"] not in Promise(guard="public").describe(language, table=table)


def test_audits_and_verifications_say_what_they_take_for_granted() -> None:
    table = known_to("unknown", public=False).with_status(Status.PRIMARY, [["a"], ["b"]])
    report = audit(table, Promise(levels=False))
    assumed = "two cells of one owner count as two owners"
    assert assumed in report.report()
    assert assumed in verify(table, certificate_of(report)).report().splitlines()[0]


def test_a_certificate_is_not_about_a_table_that_knows_other_owners() -> None:
    table = known_to("holdings", public=True).with_status(Status.PRIMARY, [["a"], ["b"]])
    proof = certificate_of(audit(table, Promise(levels=False)))
    assert verify(table, proof).same_table
    people = table.holdings
    assert people is not None
    for other in (replace(people, owner=None), replace(people, public_count=None), replace(people, public_value=None)):
        assert not verify(replace(table, holdings=other), proof).same_table


def test_a_range_beyond_all_numbers_is_refused_and_not_taken_for_none() -> None:
    cells = {"s": ["a", "b", "c"], "x": [1.5, 2, 3], "st": ["primary", "open", "open"]}
    table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    level = np.array([1e308, 0, 0, 0])
    for asked, known in ((Promise(), replace(table, above=level, below=level)), (Promise(min_range=1e308), table)):
        for act in (suppress, audit):
            with pytest.raises(BadOption, match="beyond all numbers"):
                act(known, asked)
