"""Totals that stand among the codes are never added to their parts: they are asked about, and checked once answered."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diskret as dk
from diskret.model.errors import TotalInData, WrongSum
from diskret.model.total_names import named_total
from diskret.tabulation.combinations import count_combinations
from diskret.tabulation.options import TabulationOptions

CODES = {"region": ["N", "S", "W"], "size": ["1", "2"], "sex": ["f", "m"], "kind": ["x", "y"]}
Columns = dict[str, list[Any]]


def clean(classifications: int, seed: int) -> Columns:
    """One row per cell, with a value of six digits and a count."""
    random = np.random.default_rng(seed)
    names = list(CODES)[:classifications]
    cells = list(product(*(CODES[n] for n in names)))
    columns: Columns = {n: [cell[i] for cell in cells] for i, n in enumerate(names)}
    columns["x"] = random.integers(1, 1_000_000, len(cells)).tolist()
    columns["n"] = random.integers(1, 9, len(cells)).tolist()
    return columns


def with_totals(columns: Columns, names: Mapping[str, str]) -> Columns:
    """The same with rows for the totals of some classifications, as published tables have them."""
    rows = list(zip(*columns.values(), strict=True))
    keys = list(columns)
    for name, code in names.items():
        at = keys.index(name)
        sums: dict[tuple[Any, ...], tuple[int, int]] = {}
        for row in rows:
            cell = (*row[:at], code, *row[at + 1 : -2])
            before = sums.get(cell, (0, 0))
            sums[cell] = (before[0] + row[-2], before[1] + row[-1])
        rows += [(*cell, *numbers) for cell, numbers in sums.items()]
    return {key: [row[i] for row in rows] for i, key in enumerate(keys)}


def cells(columns: Columns, **answers: Any) -> dk.Table:
    by = dict.fromkeys(list(columns)[:-2])
    return dk.Table.from_cells(columns, by=by, value="x", count="n", **answers)


def records(columns: Columns, engine: object = "duckdb", **answers: Any) -> dk.Table:
    by = dict.fromkeys(list(columns)[:-2])
    return dk.tabulate(columns, by=by, value="x", options=TabulationOptions(engine=engine, **answers))


@pytest.mark.parametrize("made", [cells, records])
@settings(max_examples=5, deadline=None)
@given(number=st.integers(1, 4), seed=st.integers(0, 10**6), data=st.data())
def test_a_table_with_its_own_totals_is_refused_and_answered_it_is_the_clean_one(
    made: Any, number: int, seed: int, data: st.DataObject
) -> None:
    columns = clean(number, seed)
    names = data.draw(st.lists(st.sampled_from(list(CODES)[:number]), min_size=1, unique=True))
    # every other total has a code that only arithmetic betrays
    totals = {name: ("Insgesamt", "00")[i % 2] if number > 1 else "Insgesamt" for i, name in enumerate(names)}
    doubled = with_totals(columns, totals)
    with pytest.raises(TotalInData) as refused:
        made(doubled)
    answers = {cure.path[1]: cure.value for cure in refused.value.cures if cure.path[2] == "total"}
    assert answers == totals
    answered, expected = made(doubled, totals=totals), made(columns, totals=totals)
    assert answered.by == expected.by
    for field in ("value", "count", "status"):
        np.testing.assert_array_equal(getattr(answered, field), getattr(expected, field))
    kept = made(doubled, categories={name: [code] for name, code in totals.items()})
    assert kept.value.reshape(-1)[-1] == 2 ** len(totals) * expected.value.reshape(-1)[-1]


def test_protecting_the_answered_table_hides_what_is_hidden_in_the_clean_one() -> None:
    columns = clean(2, 7)
    doubled = with_totals(columns, {"region": "Insgesamt"})
    made = [cells(doubled, totals={"region": "Insgesamt"}), cells(columns, totals={"region": "Insgesamt"})]
    one, other = (dk.suppress(dk.mark(table, dk.rules.MinCount(6))).table.status for table in made)
    np.testing.assert_array_equal(one, other)
    assert (one > 0).any()


@pytest.mark.parametrize("made", [cells, records])
def test_totals_that_are_slightly_wrong_are_refused_with_their_cell(made: Any) -> None:
    columns = with_totals(clean(2, 3), {"region": "Insgesamt"})
    columns["x"][-1] += 1
    with pytest.raises(TotalInData):
        made(columns)
    with pytest.raises(WrongSum, match="region=Insgesamt, size=2"):
        made(columns, totals={"region": "Insgesamt"})
    with pytest.warns(dk.ProtectionWarning) if made is cells else _nothing():
        made(columns, totals={"region": "Insgesamt"}, tolerance=1.0)


def _nothing() -> Any:
    from contextlib import nullcontext

    return nullcontext()


@pytest.mark.spark
def test_totals_among_records_are_asked_about_and_checked_on_spark(spark: Any) -> None:
    columns = clean(2, 5)
    doubled = with_totals(columns, {"region": "00"})
    with pytest.raises(TotalInData, match="the 3 others in 2 of 2 combinations"):
        records(doubled, spark)
    answered = records(doubled, spark, totals={"region": "00"})
    np.testing.assert_array_equal(answered.value, records(columns, totals={"region": "00"}).value)
    doubled["x"][-1] -= 1
    with pytest.raises(WrongSum):
        records(doubled, spark, totals={"region": "00"})


@pytest.mark.parametrize(
    "name",
    ["Insgesamt", " insgesamt ", "Insgesamt 1)", "INSGESAMT*", "I n s g e s a m t", "Gesamtsumme", "Gesamtergebnis",
     "Total", "Total général", "Totale", "Totaal", "Totalt", "Suma", "Summe", "Zusammen", "NRW zusammen", "Nord Total",
     "Zwischensumme", "All", "Alle", "Sum", "_T", "Deutschland insgesamt", "Samtliga"],
)  # fmt: skip
def test_names_of_totals_are_known_in_the_languages_of_offices(name: str) -> None:
    assert named_total(name) == "surely"


@pytest.mark.parametrize(
    "name", ["Gesamtschule", "Deutschland", "all other", "ohne Summe", "05", "Ball", "Sommer", "TotalEnergies"]
)
def test_names_that_only_resemble_a_total_are_left_alone(name: str) -> None:
    assert named_total(name) is None


def test_the_letter_t_is_a_total_beside_men_and_women_and_a_section_of_nace_among_letters() -> None:
    sexes: Columns = {"s": ["F", "M", "T"], "x": [3, 4, 7], "n": [1, 1, 2]}
    with pytest.raises(TotalInData, match="named like one"):
        cells(sexes)
    sections: Columns = {"s": list("RSTU"), "x": [3, 4, 8, 2], "n": [1, 1, 2, 3]}
    assert cells(sections).value[-1] == 17
    assert dk.tabulate({"s": list("RSTU")}, by={"s": None}).value[-1] == 4
    with pytest.raises(TotalInData):
        dk.tabulate({"s": ["F", "M", "T"]}, by={"s": None})


def test_a_total_of_one_category_is_found_by_its_name() -> None:
    with pytest.raises(TotalInData):
        cells({"s": ["D", "M", "T"], "x": [0, 9, 9], "n": [0, 4, 4]})
    with pytest.raises(TotalInData):
        cells({"s": ["M", "T"], "x": [9, 9], "n": [4, 4]})


@pytest.mark.parametrize("code", ["DE", "00"])
def test_totals_are_found_among_negative_numbers_and_where_parts_are_missing(code: str) -> None:
    columns = with_totals(clean(2, 11), {"region": code})
    negative = columns | {"x": [-x if i % 2 else x for i, x in enumerate(columns["x"])]}
    negative["x"][-2:] = [sum(x for x, s in zip(negative["x"][:6], "12" * 3, strict=True) if s == t) for t in "12"]
    missing = {name: column[1:] for name, column in columns.items()}
    for each in (negative, missing):
        with pytest.raises(TotalInData, match=f"'{code}'"):
            records(each)


def test_equalities_by_chance_are_no_totals() -> None:
    small: Columns = {"s": ["a", "b", "c"], "x": [1, 2, 3], "n": [1, 2, 3]}
    assert cells(small).value[-1] == 6
    twins: Columns = {"s": ["a", "b"], "x": [1_234_567, 1_234_567], "n": [1, 1]}
    assert cells(twins).value[-1] == 2 * 1_234_567
    zeros: Columns = {"s": ["a", "b", "c"], "x": [9_999_991, 9_999_991, 0], "n": [1, 1, 0]}
    assert cells(zeros).value[-1] == 2 * 9_999_991


def test_subtotals_are_found_by_their_prefix_and_by_their_place() -> None:
    land = {"s": ["00", "01", "011", "012", "02", "021"], "x": [880_579, 300_123, 100_000, 200_123, 580_456, 580_456]}
    with pytest.raises(TotalInData, match="codes that begin with it") as refused:
        dk.Table.from_cells(land, by={"s": None}, value="x")
    assert {cure.path[2]: cure.value for cure in refused.value.cures} == {
        "total": "00", "prefixes": [2], "categories": ["00", "01", "02"],
    }  # fmt: skip
    tree = dk.Hierarchy.from_prefixes(["011", "012", "021"], [2], total="00")
    assert dk.Table.from_cells(land, by={"s": tree}, value="x").value[-1] == 880_579
    placed = {"s": list("abNcdS"), "x": [300_123, 100_007, 400_130, 500_456, 100_001, 600_457]}
    with pytest.raises(TotalInData, match="'N' in 's' equals the sum of 2 codes beside it"):
        dk.Table.from_cells(placed, by={"s": None}, value="x")


def test_records_of_subtotals_are_checked_and_not_counted_once_they_are_named() -> None:
    tree = dk.Hierarchy.from_nested({"All": {"N": ["N1", "N2"], "S": None}})
    rows = {"r": ["N1", "N2", "N", "S", "All"], "x": [1.5, 2.0, 3.5, 4.0, 7.5]}
    with pytest.raises(dk.DiskretError, match="H6") as refused:
        dk.tabulate(rows, by={"r": tree}, value="x")
    answers = [(c.path[2], c.value) for c in refused.value.cures if c.value is not None]
    assert answers == [("total", "All"), ("subtotals", ["N"])]
    options = TabulationOptions(totals={"r": ["All", "N"]})
    assert dk.tabulate(rows, by={"r": tree}, value="x", options=options).value.tolist() == [1.5, 2, 3.5, 4, 7.5]


def test_a_row_of_a_total_without_a_number_is_told_and_blank_codes_of_it_mean_totals() -> None:
    rows = {"r": ["N", "S", "Total", "Total"], "s": ["a", "b", None, "a"], "x": [1.0, 2.0, 3.0, np.nan]}
    with pytest.raises(TotalInData):
        dk.tabulate(rows, by={"r": None, "s": None}, value="x")
    options = TabulationOptions(totals={"r": "Total"})
    with pytest.warns(dk.ProtectionWarning, match="1 rows of totals are left out that hold no number"):
        table = dk.tabulate(rows, by={"r": None, "s": None}, value="x", options=options)
    assert table.value.tolist() == [[1, 0, 1], [0, 2, 2], [1, 2, 3]]


def test_totals_among_records_that_are_not_added_up_are_told() -> None:
    rows = {"region": ["N", "N", "S", "S", "Insgesamt"], "sex": ["m", "f", "m", "f", "f"]}
    with pytest.warns(dk.ProtectionWarning, match="'Insgesamt' in column 'region' is named like a total"):
        dk.measure_risk(rows, keys=["region", "sex"])
    with pytest.warns(dk.ProtectionWarning, match="leave its rows out"):
        count_combinations(rows, by={"region": None})
