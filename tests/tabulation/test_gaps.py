"""Rows without a number or a known code, on both engines: left out, zero, or refused with their rows."""

from __future__ import annotations

from typing import Any

import pytest

from diskret import Hierarchy, ProtectionWarning, TabulationOptions, tabulate
from diskret.model.errors import BadOption, MissingCode, UnknownCode

REGION = Hierarchy.from_nested({"All": {"N": ["N1", "N2"], "S": ["S1"]}})
TEXTS: dict[str, list[Any]] = {
    "region": ["N1", "N2", "S1", None, "X", "N1"],
    "diskret_row": ["1.5", " - ", "2", "4", "8", "inf"],
}
NUMBERS = TEXTS | {"diskret_row": [1.5, float("nan"), 2.0, 4.0, 8.0, float("inf")]}


@pytest.mark.parametrize("records", [TEXTS, NUMBERS], ids=["texts", "numbers"])
def test_rows_left_out_count_nowhere_and_are_counted_in_warnings(records: dict[str, list[Any]], engine: Any) -> None:
    options = TabulationOptions(
        without_value="leave out",
        without_code={"region": "leave out"},
        unknown={"region": "leave out"},
        engine=engine,
    )
    with pytest.warns(ProtectionWarning, match="of 6 rows are left out") as told:
        table = tabulate(records, by={"region": REGION}, value="diskret_row", options=options)
    assert (table.value.max(), table.count.max()) == (3.5, 2)
    assert sorted(str(each.message)[:6] for each in told) == ["1 of 6", "1 of 6", "2 of 6"]


def test_a_missing_number_counts_as_zero_and_its_unit_as_a_contributor(engine: Any) -> None:
    records = {"region": ["N1", "N2", "N2"], "x": ["1.5", "k. A.", "3"]}
    options = TabulationOptions(without_value="zero", engine=engine)
    with pytest.warns(ProtectionWarning, match="1 of 3 rows count as zero"):
        table = tabulate(records, by={"region": REGION}, value="x", options=options)
    assert (table.value.max(), table.count.max()) == (4.5, 3)


def test_rows_keep_the_numbers_they_have_in_the_data(engine: Any) -> None:
    options = TabulationOptions(without_value="leave out", without_code={"region": "leave out"}, engine=engine)
    with pytest.warns(ProtectionWarning), pytest.raises(UnknownCode) as refused:
        tabulate(NUMBERS, by={"region": REGION}, value="diskret_row", options=options)
    assert refused.value.rows == (5,)


def test_a_code_cannot_be_left_out_and_counted() -> None:
    options = TabulationOptions(missing={"region": "N1"}, without_code={"region": "leave out"})
    with pytest.raises(BadOption, match="left out and counted"):
        tabulate(TEXTS, by={"region": REGION}, value="diskret_row", options=options)
    with pytest.raises(BadOption, match="without_value is 'drop'"):
        tabulate(TEXTS, by={"region": REGION}, options=TabulationOptions(without_value="drop"))  # type: ignore[arg-type]


def test_an_outline_with_codes_in_the_first_row_of_each_group_is_asked_about() -> None:
    outline = {"region": ["Nord", None, None, "Süd", None, None], "sex": ["m", "w", "d"] * 2, "x": [1, 2, 3, 4, 5, 6]}
    with pytest.raises(MissingCode, match="4 of 6 records have no code in column 'region'") as asked:
        tabulate(outline, by=["region", "sex"], value="x")
    assert [cure.value for cure in asked.value.cures] == ["leave out", "unknown"]
    told = tabulate(outline, by="region", value="x", options=TabulationOptions(missing={"region": "unknown"}))
    assert dict(zip(told.hierarchies[0].codes, told.value.tolist(), strict=True)) == {
        "Nord": 1, "Süd": 4, "unknown": 16, "Total": 21,
    }  # fmt: skip


@pytest.mark.parametrize("code", ["(missing)", "unknown", "N"])
def test_records_without_a_code_count_once_whatever_their_code_is_called(code: str) -> None:
    records = {"region": ["N", None, None, "S"], "x": [1, 2, 3, 4]}
    flat = tabulate(records, by="region", value="x", options=TabulationOptions(missing={"region": code}))
    tree = Hierarchy.flat(["N", "S", "unknown", "(missing)"])
    told = tabulate(records, by={"region": tree}, value="x", options=TabulationOptions(missing={"region": code}))
    for table in (flat, told):
        assert table.value[table.index(code)] == (6 if code == "N" else 5)
        assert (table.value[-1], table.count[-1]) == (10, 4)
