"""Information reduction: the rules of the cost-structure panel, panels, and classes before and after."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret.microdata.condition import Condition
from diskret.model.errors import BadOption, MissingCode, MissingColumn, NotANumber, UnknownCode

Golden = Callable[[str], Any]
EXAMPLES = Path(__file__).parents[2] / "examples" / "panel"


def mapping(name: str) -> dict[str, str]:
    with (EXAMPLES / name).open(encoding="utf-8", newline="") as file:
        return {row["code"]: row["class"] for row in csv.DictReader(file)}


# --- golden ----------------------------------------------------------------------------------------------------------


def test_wz93_grouping_is_the_printed_one(golden: Golden) -> None:
    case = golden("panel/wz93_grouping")
    groups, expected = mapping("wz93.csv"), case["expected"]
    step = dk.Recode(column="wz", mapping=groups, prefix=2, removed=tuple(map(str, expected["dropped"])))
    known = {d: v for d, v in expected["value_by_division"].items() if int(d) not in expected["not_mentioned"]}
    done = dk.coarsen({"wz": [f"{d}11" for d in known]}, [step]).frame["wz"]
    assert done.tolist() == [str(v) for v in known.values() if v is not None]
    assert [d for d, v in known.items() if v is None] == ["37"]
    for division in expected["not_mentioned"]:
        with pytest.raises(UnknownCode):
            dk.coarsen({"wz": [f"{division}11"]}, [step])
    assert {int(c) for c in groups.values()} == {g["value"] for g in case["groups"]}


def test_region_and_size_are_coarsened_as_printed(golden: Golden) -> None:
    rows = golden("panel/information_reduction")["expected"]
    names = {"East": "Ost", "West": "West", None: None}
    recode, drop = (
        dk.Recode(column="land", mapping=mapping("regions_east_west.csv")),
        dk.Drop(columns=("active owners",)),
    )
    given = {"land": [r["land"] for r in rows], "employees": [r["employees"] for r in rows], "active owners": [1] * 6}
    noise = dk.coarsen(given, [recode, dk.Withhold(columns=("land",), where="employees >= 1000"), drop]).frame
    assert [names[r] for r in noise["land"]] == [r["noise"] for r in rows]
    assert "active owners" not in noise
    small = dk.coarsen(given, [recode, dk.ReleaseUnits(where="employees < 250"), drop])
    regions = iter(small.frame["land"])
    shown = [names[next(regions)] if kept else "record not released" for kept in small.kept]
    assert shown == [r["microaggregation"] for r in rows]


# --- steps -----------------------------------------------------------------------------------------------------------


def test_hierarchy_level_takes_the_place_of_codes_below_it() -> None:
    region = dk.Hierarchy.from_parents({"05111": "05", "05112": "05", "05": "DE", "11": "DE"})
    frame = {"region": ["05111", "11", "05112"]}
    at = [
        dk.coarsen(frame, [dk.Recode(column="region", hierarchy=region, level=n)]).frame["region"].tolist()
        for n in (1, 2, 3)
    ]
    assert at == [["05111", "11", "05112"], ["05", "11", "05"], ["DE"] * 3]
    with pytest.raises(BadOption, match="1 to 3"):
        dk.coarsen(frame, [dk.Recode(column="region", hierarchy=region, level=4)])


def test_classes_are_counted_before_and_after() -> None:
    frame = {"r": ["a", "b", "c", "c"], "n": [1, 2, 3, 4]}
    done = dk.coarsen(
        frame,
        [dk.Recode(column="r", mapping={"a": "X", "b": "X", "c": "Y"}), dk.Withhold(columns=("r",), where="n >= 4")],
    )
    assert done.before["r"] == {"a": 1, "b": 1, "c": 2}
    assert done.after["r"] == {"X": 2, "Y": 1, "(missing)": 1}
    assert done.summary()["classes"] == {"r": [3, 3]}


def test_a_unit_that_is_large_in_any_wave_counts_as_large() -> None:
    panel = {"id": [1, 1, 2, 2, 3], "n": [240, 260, 100, 110, None], "land": ["B"] * 5}
    released = dk.coarsen(panel, [dk.ReleaseUnits(where="n < 250")], unit="id")
    assert released.frame["id"].tolist() == [2, 2]  # unit 3 is unknown, so it stays in the house
    assert released.kept.tolist() == [False, False, True, True, False]
    by_record = dk.coarsen(panel, [dk.ReleaseUnits(where="n < 250", decides="record")], unit="id")
    assert by_record.frame["id"].tolist() == [1, 2, 2]
    withheld = dk.coarsen(panel, [dk.Withhold(columns=("land",), where="n >= 250")], unit="id")
    assert withheld.frame["land"].tolist() == [None, None, "B", "B", None]


def test_a_wave_without_a_number_lets_the_others_decide() -> None:
    panel = {"id": [1, 1, 2], "n": [100, None, 300]}
    assert dk.coarsen(panel, [dk.ReleaseUnits(where="n < 250")], unit="id").frame["id"].tolist() == [1, 1]


def test_a_unit_with_a_removed_code_goes_as_a_whole() -> None:
    panel = {"id": [1, 1, 2], "wz": ["37", "20", "20"]}
    step = dk.Recode(column="wz", mapping={"20": "4"}, removed=("37",))
    assert dk.coarsen(panel, [step], unit="id").frame["id"].tolist() == [2]


def test_steps_compose_and_rows_are_remembered() -> None:
    frame = {"id": list("abcdef"), "n": [1, 2, 3, 4, 5, 6]}
    done = dk.coarsen(
        frame, [dk.ReleaseUnits(where="n > 1"), dk.ReleaseUnits(where="n != 4"), dk.ReleaseUnits(where="n < 6")]
    )
    assert done.frame["id"].tolist() == ["b", "c", "e"]
    assert np.flatnonzero(done.kept).tolist() == [1, 2, 4]


def test_withheld_numbers_are_missing() -> None:
    done = dk.coarsen({"x": [1.5, 2.5], "k": ["a", "b"]}, [dk.Withhold(columns=("x",), where="k = b")])
    assert np.isnan(done.frame["x"]).tolist() == [False, True]


# --- conditions ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("n >= 3", [False, False, True, True]),
        ("n<=2", [True, True, False, False]),
        ("n = 2", [False, True, False, False]),
        ("k in a, b", [True, True, False, False]),
        ("k != a", [False, True, True, True]),
        ("k = c and n > 3", [False, False, False, True]),
        ("some name == 7", [False, True, False, False]),
    ],
)
def test_conditions_say_what_they_mean(text: str, expected: list[bool]) -> None:
    from diskret.microdata.columns import read_records

    records = read_records({"n": ["1", "2", "3", "10"], "k": list("abcc"), "some name": [1, 7, 1, 1]})
    assert Condition.parse(text).holds(records)[0].tolist() == expected


@pytest.mark.parametrize("text", ["", "employees", "employees >= many", "n => 3 4", ">= 3"])
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(BadOption):
        dk.coarsen({"n": [1], "employees": [1]}, [dk.ReleaseUnits(where=text)])


# --- refusals --------------------------------------------------------------------------------------------------------


def test_mistakes_are_refused() -> None:
    frame = {"r": ["a", None], "n": ["1", "x"]}
    with pytest.raises(MissingColumn):
        dk.coarsen(frame, [dk.Drop(columns=("q",))])
    with pytest.raises(MissingCode, match="'r'"):
        dk.coarsen(frame, [dk.Recode(column="r", mapping={"a": "A"})])
    with pytest.raises(BadOption, match="mapping or a hierarchy"):
        dk.coarsen(frame, [dk.Recode(column="r")])
    with pytest.raises(NotANumber):
        dk.coarsen(frame, [dk.ReleaseUnits(where="n > 3")])
    with pytest.raises(BadOption, match="no record would be released"):
        dk.coarsen({"n": [1, 2]}, [dk.ReleaseUnits(where="n > 3")])


def test_the_name_from_before_still_works_with_a_warning() -> None:
    with pytest.warns(DeprecationWarning, match="say ReleaseUnits"):
        assert dk.Release is dk.ReleaseUnits
