"""What is refused, or looked at, is so in time that grows with its size: work is counted, not measured.

Lists so long that looking through all of them for each of their entries would not end are refused like short ones.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from diskret.io.hierarchies import read_hierarchy
from diskret.io.mappings import read_mapping
from diskret.job import read as job_reading
from diskret.job.read import job_from
from diskret.job.recognise import recognise
from diskret.model.errors import BadJob, DuplicateCode, HierarchyCycle, MissingColumn, UnknownCode, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.sheets import unique_names
from diskret.model.source import Relation
from diskret.model.spelling import COMPARED, again, nearest

MANY = 30_000


class Counted(str):
    """A text that counts how often it is compared."""

    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


def test_texts_that_come_again_are_found_by_as_many_comparisons_as_there_are_texts() -> None:
    Counted.compared = 0
    texts = [Counted(i) for i in range(2000)]
    assert again([*texts, Counted(1999)]) == [2000]
    assert Counted.compared <= len(texts)


def test_a_duplicate_at_the_end_of_a_long_hierarchy_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    lines = [f"{i:06d};all" for i in range(MANY)]
    file.write_text("\n".join(["code;parent", *lines, lines[-1]]))
    with pytest.raises(DuplicateCode, match="'029999' is listed twice") as refused:
        read_hierarchy(file)
    assert refused.value.where.endswith(f"line {MANY + 2}")


def test_a_duplicate_key_at_the_end_of_a_long_object_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "long.json"
    inner = json.dumps({f"{i:06d}": None for i in range(MANY)})
    file.write_text('{"all": ' + inner[:-1] + ', "029999": null}}')
    with pytest.raises(DuplicateCode, match="'029999' occurs twice"):
        read_hierarchy(file)


def test_a_duplicate_at_the_end_of_a_long_mapping_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("\n".join(["code,class", *(f"{i:06d},1" for i in range(MANY)), "029999,2"]))
    with pytest.raises(DuplicateCode, match="'029999'"):
        read_mapping(file)


def test_levels_that_only_descend_are_looked_at_once() -> None:
    codes, levels = [str(i) for i in range(MANY)], list(range(MANY, 0, -1))
    with pytest.raises(Exception, match="add to nothing"):
        Hierarchy.from_levels(codes, levels)


def test_a_long_cycle_is_not_told_from_end_to_end() -> None:
    pairs = [(str(i), str((i + 1) % MANY)) for i in range(MANY)]
    with pytest.raises(HierarchyCycle) as refused:
        Hierarchy.from_parents(pairs)
    assert len(refused.value.what) < 300


def test_sums_of_sums_of_sums_are_put_in_order_in_one_walk() -> None:
    first = Hierarchy.flat(["a", "b"], total="all")
    chain = {f"s{i}": [f"s{i + 1}"] for i in range(2000)} | {"s2000": ["a"]}
    codes = Hierarchy.from_groupings(first, chain).codes
    assert codes[2:5] == ("s2000", "s1999", "s1998")


def test_columns_of_one_name_get_their_own_without_counting_from_one_again() -> None:
    assert unique_names(["x"] * MANY)[-1] == f"x_{MANY - 1}"


@pytest.mark.parametrize("known", [[f"{i:06d}" for i in range(5000)], ["x" * 5000] * 3])
def test_only_a_few_words_are_compared_letter_by_letter(known: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def close(word: str, candidates: Sequence[str], n: int, cutoff: float) -> list[str]:
        seen.append(len(candidates))
        assert all(len(each) <= 100 for each in candidates)
        return []

    monkeypatch.setattr(difflib, "get_close_matches", close)
    nearest("00123x", known)
    UnknownCode.in_column("region", ["00123x"], known)
    MissingColumn.named(["00123x"], known, "a file")
    nearest("x" * 5000, known)
    assert max(seen) <= COMPARED


def test_the_nearest_of_many_codes_is_still_found() -> None:
    known = [f"{i:06d}" for i in range(5000)]
    assert nearest("x04711", known) == "004711"
    assert nearest("004711-", known) == "004711"


def test_a_list_in_a_message_shows_its_first_items_only() -> None:
    class Shown:
        times = 0

        def __str__(self) -> str:
            Shown.times += 1
            return "one"

    assert listed(Shown() for _ in range(1000)).endswith("and 990 more")
    assert Shown.times == 10
    assert len(listed(["x" * 10_000])) < 200


def test_thousands_of_unknown_keys_are_not_all_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def guess(word: str, keys: Sequence[str]) -> None:
        asked.append(word)

    monkeypatch.setattr(job_reading, "nearest", guess)
    content: dict[str, Any] = {"data": {"cells": "a.csv"}, "table": {f"key{i}": 1 for i in range(2000)}}
    with pytest.raises(BadJob, match="a great many mistakes") as refused:
        job_from(content, "job.toml", Path())
    assert len(asked) == job_reading.MOST_SHOWN
    assert len(refused.value.what.splitlines()) == job_reading.MOST_SHOWN + 1


def test_recognising_columns_takes_the_same_number_of_statements_however_many_there_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[str] = []
    query = Relation.query

    def counted(self: Relation, sql: str) -> list[tuple[Any, ...]]:
        asked.append(sql)
        return query(self, sql)

    monkeypatch.setattr(Relation, "query", counted)

    def statements(columns: int) -> int:
        asked.clear()
        given: dict[str, Any] = {f"c{i}": ["a", "b", "a", "c"] for i in range(columns)}
        given |= {f"x{i}_id": [1, 2, 3, 4] for i in range(columns)} | {
            f"y{i}": [1.5, 2.5, 0.1, 2.0] for i in range(columns)
        }
        found = recognise(given)
        assert [c.role for c in found.columns[::columns]] == ["classification", "identifier", "value"]
        return len(asked)

    assert statements(40) == statements(80)


def test_many_columns_are_recognised_like_few(monkeypatch: pytest.MonkeyPatch) -> None:
    firms: dict[str, Any] = {
        "firm": [f"F{i}" for i in range(40)], "region": ["05111", "05112", "06111", "06112"] * 10,
        "turnover": [1.5 * i for i in range(40)], "firm_nr": list(range(40)), "blank": [None] * 40,
        "price": ["1,5", "2,25"] * 20,
    }  # fmt: skip
    few = recognise(firms)
    wide = recognise(firms | {f"more{i}": ["a", "b"] * 20 for i in range(60)})
    assert few.columns == wide.columns[:6]
    assert few.decimal == wide.decimal == ","
