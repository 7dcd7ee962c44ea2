"""Recodings of tau-ARGUS: which codes are merged or closed, and that what is left is what records say."""

from __future__ import annotations

import warnings
from pathlib import Path
from random import Random
from typing import Any

import pytest

import diskret as dk
from diskret.io.grc import Recoding
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.model.errors import BadOption, DiskretError, UnknownCode, UnreadableFile

SIZES = dk.Hierarchy.flat(["1", "2", "3", "10", "11", "99"])
REGION = dk.Hierarchy.from_nested({"DE": {"05": {"051": ["a", "b"], "052": ["c"]}, "11": ["d"]}})


def recoding(folder: Path, text: str) -> Recoding:
    (folder / "x.grc").write_bytes(text.encode("latin-1"))
    return dk.read_recoding(folder / "x.grc")


def groups(folder: Path, text: str, missing: tuple[str, ...] = ()) -> dict[str, tuple[str, ...]]:
    """New codes with their old ones."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = recoding(folder, text).of(SIZES, "size", missing)
    return {new: found.tree.parts(old) or (old,) for old, new in found.kept.items() if new != "Total"}


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("A : 1, 2, 3\nB : 10 - 99\n", {"A": ("1", "2", "3"), "B": ("10", "11", "99")}),
        ("1:-3\r\r\n2:10-\r\r\n", {"1": ("1", "2", "3"), "2": ("10", "11", "99")}),
        ('// own\n"A b" : "1",2-3\nB:10,11 , 99', {"B": ("10", "11", "99"), "A b": ("1", "2", "3")}),
        ("1 : 1, 2\n", {"1": ("1", "2"), "3": ("3",), "10": ("10",), "11": ("11",), "99": ("99",)}),
        ("10 : 2\n", {"1": ("1",), "3": ("3",), "10": ("2", "10"), "11": ("11",), "99": ("99",)}),
        ("A : 1 - 10\nB : 10 -\n", {"A": ("1", "2", "3"), "B": ("10", "11", "99")}),
    ],
)
def test_codes_are_merged_as_the_file_says(tmp_path: Path, text: str, made: dict[str, tuple[str, ...]]) -> None:
    assert groups(tmp_path, text) == made


def test_codes_for_what_is_missing_get_their_own_and_stand_last(tmp_path: Path) -> None:
    found = groups(tmp_path, "<MISSING> x\nzz : 1 - 11\n", missing=("99",))
    assert list(found.items()) == [("zz", ("1", "2", "3", "10", "11")), ("x", ("99",))]
    with pytest.raises(BadOption, match="'99' for what is missing becomes the code 'A'") as caught:
        groups(tmp_path, "A : 1\nA : 99\n", missing=("99",))
    assert caught.value.where.endswith("x.grc, line 2")


def test_what_a_file_leaves_out_or_names_in_vain_or_twice_is_told(tmp_path: Path) -> None:
    found = recoding(tmp_path, "A : 1, 2, 77\nB : 2 - 3\n")
    with pytest.warns(dk.ProtectionWarning) as told:
        found.of(SIZES, "size")
    assert [str(each.message).removeprefix("x.grc ") for each in told] == [
        "names 1 codes or ranges that 'size' does not have: '77'",
        "names 1 codes of 'size' more than once, the last line counts: '2'",
        "leaves 3 codes of 'size' as they are: '10', '11', '99'",
    ]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A 1, 2\n", "a line is not a recoding"),
        ("A : 1\nB : 2 3\n", "old codes cannot be read"),
        ("A : 1\nB :\n", "old codes cannot be read"),
        ("A : 1\nB : 3 - 2\n", "ends before it begins"),
        ('A : 1\nB : "3\n', "a line is not a recoding"),
        ("A : 1\n: 3\n", "a line is not a recoding"),
        ("A : 1--3\n", "old codes cannot be read"),
        ("<MISSING> 9\n", "the recoding says nothing"),
        ("<TREERECODE>\n", "the recoding says nothing"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_line(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(DiskretError, match=words) as caught:
        recoding(tmp_path, text)
    assert "x.grc" in caught.value.where
    assert not isinstance(caught.value, UnreadableFile) or "line" in caught.value.where


def test_sums_of_a_hierarchy_are_closed(tmp_path: Path) -> None:
    found = recoding(tmp_path, "<TREERECODE>\r\n051\r\n11\r\n").of(REGION, "region")
    assert list(found.kept) == ["051", "c", "052", "05", "11", "DE"]
    with pytest.raises(UnknownCode, match="'053'") as caught:
        recoding(tmp_path, "<TREERECODE>\n051\n053\n").of(REGION, "region")
    assert caught.value.where.endswith("line 3")
    with pytest.raises(BadOption, match="'a' of 'region' has no parts to close"):
        recoding(tmp_path, "<TREERECODE>\na\n").of(REGION, "region")
    with pytest.raises(BadOption, match="codes of a hierarchy are merged"):
        recoding(tmp_path, "A : a\n").of(REGION, "region")


def test_new_codes_have_the_labels_of_the_code_list(tmp_path: Path) -> None:
    (tmp_path / "new.cdl").write_text("A,small\nB,large\n", encoding="utf-8")
    found = recoding(tmp_path, 'A : - 3\nB : 10 -\n<CODELIST> "C:\\old\\new.cdl"\n').of(SIZES, "size")
    cells = {"size": ["1", "2", "10"], "x": [1, 2, 4]}
    coarse = dk.closed(dk.Table.from_cells(cells, by={"size": found.tree}, value="x"), {"size": found})
    assert coarse.by["size"].labels == ("small", "large", "Total")
    assert coarse.value.tolist() == [3.0, 4.0, 7.0]


# --- in jobs ---------------------------------------------------------------------------------------------------------

RECORDS = [("a", "1", 5, "p"), ("a", "2", 9, "q"), ("b", "1", 4, "p"), ("c", "10", 7, "q"), ("d", "3", 2, "r")]
RECORDS += [("a", "10", 3, "p"), ("d", "11", 8, "s"), ("b", "2", 6, "q")]
COARSE = {"a": "051", "b": "051", "c": "052", "d": "11", "1": "s", "2": "s", "3": "s", "10": "l", "11": "l"}


def run(folder: Path, classifications: dict[str, Any], records: list[tuple[Any, ...]] = RECORDS) -> dk.Table:
    lines = "".join(f"{r},{s},{x},{o}\n" for r, s, x, o in records)
    (folder / "firms.csv").write_text(f"region,size,x,owner\n{lines}", encoding="utf-8")
    dk.write_hierarchy(REGION, folder / "region.hrc")
    content = {
        "data": {"microdata": "firms.csv"},
        "table": {"by": ["region", "size"], "value": "x", "holding": "owner"},
        "classifications": classifications,
        "rules": {"p_percent": 10, "counted_by": ["respondent", "holding"]},
    }
    return run_job(job_from(content, "job", folder), folder, write=False).tables["x"]


def test_a_recoded_table_is_that_of_recoded_records(tmp_path: Path) -> None:
    (tmp_path / "size.grc").write_text("s : - 3\nl : 10 -\n", encoding="utf-8")
    tree = {"hierarchy": "region.hrc", "total": "DE"}
    found = run(tmp_path, {"region": tree | {"levels": 2}, "size": {"recode": "size.grc"}})
    plain = [(COARSE[r], COARSE[s], x, o) for r, s, x, o in RECORDS]
    (tmp_path / "coarse.hrc").write_text("05\n@051\n@052\n11\n", encoding="utf-8")
    wanted = run(tmp_path, {"region": tree | {"hierarchy": "coarse.hrc"}}, [(r, s, x, o) for r, s, x, o in plain if r])
    assert found.by["region"].codes[:-1] == ("051", "052", "05", "d", "11")  # 11 is on the first level, d on the second
    kept = [i for i, code in enumerate(found.by["region"].codes) if code != "d"]
    assert (found.value[kept] == wanted.value).all()
    assert (found.status[kept] == wanted.status).all()
    assert found.holdings is not None
    assert wanted.holdings is not None
    assert (found.holdings.count[kept] == wanted.holdings.count).all()
    assert found.holdings.largest is not None
    assert wanted.holdings.largest is not None
    assert (found.holdings.largest[kept] == wanted.holdings.largest).all()


def test_cells_are_merged_where_they_add_up(tmp_path: Path) -> None:
    (tmp_path / "cells.tab").write_text("1;10;3;U\n2;20;4;S\n3;5;3;S\nTotal;35;10;S\n", encoding="utf-8")
    (tmp_path / "cells.rda").write_text(
        '<SEPARATOR> ";"\nsize\n<RECODEABLE>\n<TOTCODE> "Total"\nx\n<NUMERIC>\nn\n<FREQUENCY>\nst\n<STATUS>\n',
        encoding="utf-8",
    )
    (tmp_path / "size.grc").write_text("1 : 1, 2\n", encoding="utf-8")
    content = {
        "data": {"cells": "cells.tab", "metadata": "cells.rda"},
        "classifications": {"size": {"recode": "size.grc"}},
    }
    done = run_job(job_from(content, "job", tmp_path), tmp_path, write=False)
    table = done.tables["x"]
    assert (table.by["size"].codes, table.value.tolist(), table.count.tolist()) == (
        ("1", "3", "Total"), [30.0, 5.0, 35.0], [7, 3, 10],
    )  # fmt: skip
    assert any("1 cells with a status of their own are closed" in each for each in done.warnings)


def test_levels_and_recode_do_not_go_together(tmp_path: Path) -> None:
    (tmp_path / "size.grc").write_text("1 : 1, 2\n", encoding="utf-8")
    with pytest.raises(DiskretError, match="give either recode or levels"):
        run(tmp_path, {"size": {"recode": "size.grc", "levels": 1}})


def test_mutated_files_end_in_a_result_or_a_message(tmp_path: Path) -> None:
    whole = '// own\n1 : 1, 2 - 3\n"b c" : 10 -\n<MISSING> 99\n'
    random = Random(18)
    for _ in range(200):
        text = list(whole)
        for _ in range(random.randint(1, 4)):
            at = random.randrange(len(text))
            text[at : at + random.randint(0, 2)] = random.choice(["", ":", '"', "\n", "9", "-", ",", "\r", " ", "ü"])
        found = _outcome(tmp_path, "".join(text))
        assert found is None or "x.grc" in found.where


def _outcome(folder: Path, text: str) -> dk.DiskretError | None:
    try:
        groups(folder, text, missing=("99",))
    except dk.DiskretError as e:
        return e
    return None
