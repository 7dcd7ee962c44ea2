"""Requests answered beside everything released, attacked by somebody who shares nothing with the answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import diskret as dk
from benchmarks.requests import Tally, fresh, run, seen
from benchmarks.requests import firms as random_firms
from diskret.model.errors import BadOption, UnknownCode
from diskret.requests.answering import Answer, answer
from diskret.requests.beside import House
from diskret.requests.query import Query
from diskret.requests.records import Records
from diskret.requests.shown import Shown, atoms_of, members, shown_by
from diskret.rules.rule import AnyOf

HOUSE = House(rules=dk.rules.MinCount(3) | dk.rules.PPercent(10))
TREE = dk.Hierarchy.from_nested({"DE": {"N": ["n1", "n2"], "S": ["s1", "s2"]}})


def firms(seed: int = 1, size: int = 60) -> Records:
    """Firms in four regions and three sectors."""
    rng = np.random.default_rng(seed)
    data = {
        "region": rng.choice(["n1", "n2", "s1", "s2"], size).tolist(),
        "sector": rng.choice(["A", "B", "C"], size).tolist(),
        "employees": np.rint(np.exp(rng.normal(3, 1, size))).tolist(),
        "x": np.rint(np.exp(rng.normal(5, 0.7, size))).tolist(),
    }
    return Records.of(data, ["region", "sector", "employees"], ["x"], {"region": TREE})


def asked(records: Records, *queries: Query, house: House = HOUSE) -> list[Answer]:
    """One request after the other, each beside all answers before."""
    released: list[Shown] = []
    answers = []
    for query in queries:
        done = answer(records, query, house, released)
        answers.append(done)
        if done.shown is not None:
            released.append(done.shown)
    return answers


@pytest.mark.parametrize("seed", [0, 2, 4])
def test_requests_after_one_another_tell_an_independent_attacker_nothing(seed: int) -> None:
    tally = Tally()
    run(tally, seed, 24, 30)
    assert tally.targets > 5
    assert (tally.exact, tally.close, tally.few) == (0, 0, 0)


def test_the_complement_of_one_firm_is_refused() -> None:
    records = firms()
    one = max(records.codes["employees"], key=float)
    assert (records.at["employees"] == records.codes["employees"].index(one)).sum() == 1
    total, rest = asked(records, Query(value="x"), Query(value="x", without={"employees": (one,)}))
    assert total.kind == "table"
    assert rest.kind == "refused"
    assert any("differs by too few units" in reason for reason in rest.reasons)


def test_one_unit_more_is_refused_whichever_came_first() -> None:
    records = firms()
    sizes = sorted({float(code) for code in records.codes["employees"]})
    wide, narrow = (Query(value="x", at_least={"employees": low}) for low in sizes[:2])
    counted = [int(records.counted(each).sum()) for each in (wide, narrow)]
    assert 0 < counted[0] - counted[1] < 3
    assert [each.kind for each in asked(records, wide, narrow)] == ["table", "refused"]
    assert [each.kind for each in asked(records, narrow, wide)] == ["table", "refused"]


def test_a_cell_that_is_out_is_given_again_in_any_table() -> None:
    records = firms()
    first, second = asked(
        records, Query(by=("region",), value="x"), Query(by=("region",), value="x", levels={"region": 1})
    )
    assert (first.kind, second.kind) == ("table", "table")


def test_a_reduced_table_is_coarser_and_says_so() -> None:
    records = firms(size=25)
    (done,) = asked(records, Query(by=("region", "sector"), value="x"))
    assert done.kind == "reduced"
    assert done.given is not None
    assert done.given != done.asked
    assert any(word.startswith("given instead") for word in done.words)


def test_what_whoever_asks_is_told_names_no_cell_and_no_number() -> None:
    records = firms()
    one = max(records.codes["employees"], key=float)
    _, rest = asked(records, Query(value="x"), Query(value="x", without={"employees": (one,)}))
    assert "differs" not in rest.report()
    assert "differs" in rest.report(internal=True)
    assert "differs" not in str(rest.summary())


def test_counts_of_few_units_cannot_be_had_by_a_difference() -> None:
    records = firms()
    sizes = sorted({float(code) for code in records.codes["employees"]})
    all_of, rest = asked(records, Query(), Query(at_least={"employees": sizes[1]}))
    assert all_of.kind == "table"
    assert rest.kind == "refused"


def test_a_house_without_a_rule_for_counts_refuses_them() -> None:
    with pytest.raises(BadOption, match="no rule about numbers of units"):
        answer(firms(), Query(), House(rules=AnyOf((dk.rules.PPercent(10),))))


def test_the_same_question_has_the_same_key_however_it_is_put() -> None:
    one = Query(by=("region", "sector"), value="x", where={"region": ("N", "s1")})
    other = Query(by=("sector", "region"), value="x", where={"region": ("s1", "N", "N")})
    assert one.key() == other.key()
    assert Query(at_least={"employees": 50}).key() == Query(at_least={"employees": 50.0}).key()
    assert one.key() != Query(by=("region",), value="x").key()
    assert Query.from_dict(one.to_dict()) == one


def test_filters_take_sums_numbers_and_what_is_left_out() -> None:
    records = firms()
    north = records.counted(Query(where={"region": ("N",)}))
    assert north.sum() == np.isin(records.at["region"], [0, 1]).sum()
    assert (records.counted(Query(without={"region": ("N",)})) == ~north).all()
    large = records.counted(Query(at_least={"employees": 20}))
    small = records.counted(Query(at_most={"employees": 19}))
    assert (large ^ small).all()


def test_mistakes_in_requests_say_what_to_do() -> None:
    records = firms()
    with pytest.raises(UnknownCode):
        answer(records, Query(where={"region": ("X",)}), HOUSE)
    with pytest.raises(BadOption, match="no column"):
        answer(records, Query(by=("colour",)), HOUSE)
    with pytest.raises(BadOption, match="no value"):
        answer(records, Query(value="profit"), HOUSE)
    with pytest.raises(BadOption, match="without codes"):
        Query(where={"region": ()})
    with pytest.raises(BadOption, match="twice"):
        Query(by=("region", "region"))
    with pytest.raises(BadOption, match="has no numbers"):
        records.counted(Query(at_least={"sector": 2}))


def test_atoms_are_the_finest_groups_and_cells_their_sums() -> None:
    records = firms()
    tables = [shown_by(records, Query(by=("region",))), shown_by(records, Query(where={"sector": ("A",)}))]
    atoms = atoms_of(tables, records.value("x"), 2)
    assert atoms.size == 8
    rows = members(tables[0], atoms)
    total = rows[tables[0].axes[0].codes.index("DE")]
    assert total.all()
    assert (rows @ atoms.value)[tables[0].axes[0].codes.index("DE")] == records.value("x").sum()


@pytest.mark.parametrize("seed", range(4))
def test_open_cells_are_the_sums_of_whom_they_count(seed: int) -> None:
    """Filters by the same column, coarser levels, thresholds: read off the raw data by code that shares nothing."""
    rng = np.random.default_rng(seed)
    data = random_firms(rng, 50)
    tree = dk.Hierarchy.from_nested({"Total": {"N": ["N1", "N2", "N3"], "S": ["S1", "S2"], "W": ["W1"]}})
    records = Records.of(data, ["region", "sector", "size", "employees"], ["turnover"], {"region": tree})
    for _ in range(12):
        query = fresh(rng, data)
        if "region" in query.by and rng.random() < 0.6:
            query = replace(query, levels={"region": 1}, without={"region": (str(rng.choice(data["region"])),)})
        if not records.counted(query).any():
            continue
        done = answer(records, query, HOUSE)
        contributions = np.array(data["turnover"]) if query.value else np.ones(50)
        for rows, low, high in seen(data, done) if done.table is not None else ():
            assert low == contributions[rows].sum() == high


@pytest.mark.parametrize(
    ("rules", "few"),
    [
        (AnyOf((dk.rules.MinCount(5),)), [40, 50, 60, 70]),
        (dk.rules.MinCount(3) | dk.rules.Dominance(2, 85), [100, 100, 20]),
        (dk.rules.MinCount(3) | dk.rules.PPercent(10, n=2), [50, 50, 60]),
    ],
)
def test_a_group_that_breaks_a_rule_only_together_cannot_be_subtracted(rules: AnyOf, few: list[float]) -> None:
    """Each firm is an atom of its own, known to nobody; but the sum of all of them is the difference of two answers."""
    x = [*few, *[100.0] * 12]
    data = {"who": [str(i) for i in range(len(x))], "x": x}
    records = Records.of(data, ["who"], ["x"])
    house = House(rules=rules)
    rest = Query(value="x", without={"who": tuple(str(i) for i in range(len(few)))})
    by_one = Query(by=("who",), value="x", where={"who": tuple(str(i) for i in range(len(few) + 3))})
    for two in ((Query(value="x"), rest), (rest, Query(value="x"))):
        assert [each.kind for each in asked(records, by_one, *two, house=house)][1:] == ["table", "refused"]


def test_contributions_of_both_signs_are_no_nothing() -> None:
    """Two firms whose profits and losses cancel: each reads the other one off the sum."""
    data = {"region": list("aabbbccc"), "x": [5, -5, 7, 8, -9, 3, 4, 5]}
    records = Records.of(data, ["region"], ["x"])
    (done,) = asked(records, Query(by=("region",), value="x"), house=House(rules=AnyOf((dk.rules.MinCount(3),))))
    assert done.table is None or "region=a" in done.table.name_cells(done.table.hidden)
    (alone,) = asked(
        records, Query(value="x", where={"region": ("a",)}), house=House(rules=AnyOf((dk.rules.MinCount(3),)))
    )
    assert alone.kind == "refused"
