"""Working files whose seal is right and whose content is not: nothing in them is trusted."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.fuzz_readers import opened, sealed, working_file
from diskret.model.errors import DiskretError, UnreadableFile
from diskret.publication.working import load_working

Change = Callable[[Any, dict[str, Any]], object]


def in_tree(**fields: Any) -> Change:
    return lambda head, arrays: head["by"][0].update(fields)


def in_table(**fields: Any) -> Change:
    return lambda head, arrays: head["tables"][0].update(fields)


def in_array(name: str, **fields: Any) -> Change:
    return lambda head, arrays: head["tables"][0]["arrays"][name].update(fields)


def number(name: str, value: Any) -> Change:
    def change(head: Any, arrays: dict[str, Any]) -> None:
        (column,) = (each for each in arrays if each.partition(".")[2] == name)
        arrays[column][0] = value

    return change


CRAFTED: dict[str, Change] = {
    "codes that are part of themselves": in_tree(parents=[2, 2, 0, 5, 5, -1]),
    "a code that is its own part": in_tree(parents=[0, 2, 5, 4, 5, -1]),
    "a position beyond the codes": in_tree(parents=[2, 2, 5, 4, 10**9, -1]),
    "a negative position": in_tree(parents=[2, 2, 5, 4, -7, -1]),
    "parts behind their sum": in_tree(parents=[5, 0, 0, 5, 5, -1]),
    "a further grouping that runs in a circle": in_tree(further=[[1, 0, -1, -1, -1, -1]]),
    "a further grouping beyond the codes": in_tree(further=[[10**12] * 6]),
    "codes that come twice": in_tree(codes=["N1", "N1", "N", "S1", "S", "All"]),
    "codes that are no text": in_tree(codes=[[], {}, None, 1, 2, 3]),
    "fewer labels than codes": in_tree(labels=["N1"]),
    "no classification": lambda head, arrays: head.update(by=[]),
    "objects instead of numbers": in_array("value", dtype="|O"),
    "a type that is none": in_array("value", dtype="x"),
    "a type of its own": in_array("value", dtype=[["a", "<f8"]]),
    "shorter numbers": in_array("value", dtype="<f4"),
    "an array as large as the world": in_array("value", further=[10**12], columns=[]),
    "a negative size": in_array("value", further=[-1]),
    "a column that is not there": in_array("value", columns=["nothing"]),
    "a field that no table has": lambda head, arrays: head["tables"][0]["arrays"].update(
        {"respondents.x": head["tables"][0]["arrays"]["value"]}
    ),
    "a status that does not exist": number("status", 200),
    "a value that is none": number("value", np.nan),
    "an endless value": number("value", np.inf),
    "a value beyond all numbers": number("value", 1e308),
    "sums that do not equal their parts": number("value", 1e9),
    "a level beyond all numbers": number("below", 1e308),
    "more decimals than the table has": lambda head, arrays: [
        arrays.update({name: array / 8}) for name, array in arrays.items() if name.endswith(".value")
    ],
    "a table without a name": in_table(name=None),
    "a table with an empty name": in_table(name=""),
    "a response without a name": in_table(response=""),
    "no table": lambda head, arrays: head.update(tables=[]),
    "a code without a letter": in_tree(codes=["", "N2", "N", "S1", "S", "All"]),
    "a classification without a name": in_tree(name=""),
    "a negative level": number("below", -1.0),
    "fewer than no contributors": number("respondents.count", -1),
    "an owner before the first": number("respondents.owner", -5),
    "decimals without end": in_table(decimals=10**9),
    "decimals that are true": in_table(decimals=True),
    "a truth that is a word": in_table(frequency="yes"),
    "a name that is a list": in_table(response=["x"]),
    "rules by the thousand": in_table(rules=["x"] * 1000),
    "a rule with a number without end": in_table(judges=[{"kind": "PPercent", "p": {"Decimal": "1e999999999"}}]),
    "a rule that is none": in_table(judges=[{"kind": "Exec", "p": 1}]),
    "a rule that looks at everybody": in_table(judges=[{"kind": "MinCount", "n": 10**30}]),
}


@pytest.mark.parametrize("kind", CRAFTED)
def test_a_crafted_working_file_is_refused(kind: str, tmp_path: Path) -> None:
    head, arrays = opened(working_file(tmp_path))
    CRAFTED[kind](head, arrays)
    path = sealed(head, arrays, tmp_path / "crafted.parquet")
    with pytest.raises(DiskretError) as caught:
        load_working(path)
    assert "crafted.parquet" in caught.value.where
    assert caught.value.hint


def test_what_was_only_taken_apart_and_put_together_is_loaded(tmp_path: Path) -> None:
    path = working_file(tmp_path)
    assert [*load_working(sealed(*opened(path), tmp_path / "again.parquet"))] == [*load_working(path)]


def test_missing_numbers_and_columns_of_another_type_are_refused(tmp_path: Path) -> None:
    head, arrays = opened(working_file(tmp_path))
    column = next(name for name in arrays if name.endswith(".value"))
    for other in (np.ma.masked_equal(arrays[column], arrays[column][0]), arrays[column].astype(str).astype(object)):
        path = sealed(head, arrays | {column: other}, tmp_path / "other.parquet")
        with pytest.raises(UnreadableFile, match="the working file"):
            load_working(path)


def test_owners_with_huge_numbers_are_only_compared(tmp_path: Path) -> None:
    from diskret import Pool, suppress

    head, arrays = opened(working_file(tmp_path))
    number("respondents.owner", 2**62)(head, arrays)
    (table,) = load_working(sealed(head, arrays, tmp_path / "owners.parquet")).values()
    suppress(table)
    Pool.of({"one": table, "two": table})
