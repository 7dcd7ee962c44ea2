"""Cells that make no table: each mistake its own message, with what, where and what to do, and never a value."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret import DiskretError, Hierarchy, Table
from diskret.model import errors

BY = {"r": Hierarchy.flat(["05911", "05912"], total="05")}
CELLS: dict[str, Any] = {"r": ["05911", "05912", "05"], "x": [1.0, 2.0, 3.0], "n": [3, 4, 7]}


def cells(**changed: Any) -> dict[str, Any]:
    return {**CELLS, **changed}


NAN, INF = float("nan"), float("inf")
MISTAKES: dict[str, tuple[type[DiskretError], dict[str, Any], dict[str, Any], str]] = {
    "duplicate cell": (errors.DuplicateCell, cells(r=["05911", "05911", "05"]), {}, "r=05911"),
    "duplicate rows": (errors.DuplicateCell, cells(r=["05911", "05", "05"]), {}, "rows 2 and 3"),
    "unknown code": (errors.UnknownCode, cells(r=["05911", "o5912", "05"]), {}, "did you mean '05912'"),
    "missing code": (errors.MissingCode, cells(r=["05911", None, "05"]), {}, "row 2"),
    "missing column": (errors.MissingColumn, CELLS, {"count": "m"}, "'m'"),
    "column misspelt": (errors.MissingColumn, cells(firms=[1, 2, 3]), {"weight": "frims"}, "did you mean 'firms'"),
    "text": (errors.NotANumber, cells(x=["1", "about 77", "3"]), {}, "'about ##'"),
    "decimal comma": (errors.NotANumber, cells(x=["1", "2,5", "3"]), {}, 'decimal = ","'),
    "nan": (errors.NotFinite, cells(x=[1.0, NAN, 3.0]), {}, "row 2"),
    "infinite": (errors.NotFinite, cells(x=[1.0, INF, 3.0]), {}, "row 2"),
    "minus infinite": (errors.NotFinite, cells(x=["1", "-inf", "3"]), {}, "row 2"),
    "nothing": (errors.NotFinite, cells(x=[1.0, None, 3.0]), {}, "row 2"),
    "blank text": (errors.NotFinite, cells(x=["1", " ", "3"]), {}, "row 2"),
    "negative": (errors.NegativeValue, cells(x=[5.0, -2.0, 3.0]), {"positive": True}, "r=05912"),
    "negative count": (errors.NegativeValue, cells(n=[3, -4, -1]), {"count": "n"}, "r=05912"),
    "broken count": (errors.NegativeValue, cells(n=[3, 4.5, 7.5]), {"count": "n"}, "r=05912"),
    "wrong sum": (errors.WrongSum, cells(x=[1.0, 2.0, 4.0]), {}, "r=05:"),
    "lower over value": (errors.BadPriorKnowledge, cells(lo=[1.0, 2.5, 0.0]), {"lower": "lo"}, "r=05912"),
    "upper under value": (errors.BadPriorKnowledge, cells(hi=[1.0, 2.5, 2.9]), {"upper": "hi"}, "r=05"),
    "status": (errors.BadOption, cells(s=["open", "opne", "open"]), {"status": "s"}, "'structural zero'"),
    "owner without count": (errors.BadOption, CELLS, {"owner": "r"}, "count="),
    "negative levels": (errors.NegativeValue, cells(lo=[1.0, -2.0, 0.0]), {"below": "lo"}, "r=05912"),
    "no value": (errors.BadOption, CELLS, {"value": []}, "value"),
    "no classification": (errors.BadOption, CELLS, {"by": {}}, "classification"),
    "uneven columns": (errors.BadOption, cells(x=[1.0]), {}, "lengths"),
    "no columns": (errors.EmptyData, {}, {}, "no rows"),
    "no rows": (errors.EmptyData, {"r": [], "x": []}, {}, "no rows"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", MISTAKES)
def test_each_mistake_has_its_own_message(mistake: str) -> None:
    kind, given, options, named = MISTAKES[mistake]
    with pytest.raises(kind) as caught:
        Table.from_cells(given, **{"by": BY, "value": "x", **options})
    error = caught.value
    assert type(error) is kind
    assert named in str(error)
    assert error.hint
    assert error.docs == f"docs/errors.md#{kind.code.lower()}"


def test_every_kind_of_error_has_its_own_code() -> None:
    kinds = [k for k in vars(errors).values() if isinstance(k, type) and issubclass(k, DiskretError)]
    assert len({k.code for k in kinds}) == len(kinds)


def test_unknown_things_are_not_read_as_data() -> None:
    with pytest.raises(errors.BadOption, match="int"):
        Table.from_cells(7, by=BY, value="x")


MIXED = "r,x\nKöln,1\n".encode() + "Köln,2\n".encode("latin-1")
FILES: dict[str, tuple[type[DiskretError], Callable[[Path], Path]]] = {
    "nothing there": (errors.UnreadableFile, lambda folder: folder / "none.csv"),
    "empty text": (errors.EmptyData, lambda folder: written(folder / "a.csv", b"")),
    "header only": (errors.EmptyData, lambda folder: written(folder / "a.csv", b"r,x\n")),
    "no parquet": (errors.UnreadableFile, lambda folder: written(folder / "a.parquet", b"r,x\n05911,1\n")),
    "cut off parquet": (errors.UnreadableFile, lambda folder: cut_off(folder / "a.parquet")),
    "empty parquet": (errors.EmptyData, lambda folder: empty(folder / "a.parquet")),
    "two encodings": (errors.UnclearFile, lambda folder: written(folder / "a.csv", MIXED)),
    "other ending": (errors.BadOption, lambda folder: written(folder / "a.doc", b"?")),
    "no file of SPSS": (errors.UnreadableFile, lambda folder: written(folder / "a.sav", b"?")),
}


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def cut_off(path: Path) -> Path:
    pl.DataFrame({"r": ["05911"] * 1000, "x": range(1000)}).write_parquet(path)
    return written(path, path.read_bytes()[:-20])


def empty(path: Path) -> Path:
    pl.DataFrame({"r": [], "x": []}, schema={"r": pl.String, "x": pl.Float64}).write_parquet(path)
    return path


@pytest.mark.parametrize("case", FILES)
def test_broken_files_are_refused_with_their_name(case: str, tmp_path: Path) -> None:
    kind, make = FILES[case]
    path = make(tmp_path)
    with pytest.raises(kind) as caught:
        Table.from_cells(path, by=BY, value="x")
    assert str(path) in str(caught.value)


# --- no message tells a value ----------------------------------------------------------------------------------------

SPOILED: dict[str, Callable[[float], tuple[dict[str, Any], dict[str, Any]]]] = {
    "wrong sum": lambda v: (cells(x=[v, 2.0, 3.0]), {}),
    "part left out": lambda v: ({"r": ["05911", "05"], "x": [1.0, v]}, {}),
    "duplicate cell": lambda v: (cells(r=["05911"] * 3, x=[v, v, v]), {}),
    "unknown code": lambda v: (cells(r=["05911", "o", "05"], x=[v, v, v]), {}),
    "text beside it": lambda v: (cells(x=[repr(v), "?", repr(v)]), {}),
    "text around it": lambda v: (cells(x=["1", f"{v!r} EUR", "2"]), {}),
    "nan beside it": lambda v: (cells(x=[v, NAN, v]), {}),
    "negative": lambda v: (cells(x=[-v, v, 0.0]), {"positive": True}),
    "negative count": lambda v: (cells(n=[-v, v, 0.0], x=[1.0, 2.0, 3.0]), {"count": "n"}),
    "prior knowledge": lambda v: (cells(x=[v, 0.0, v], lo=[2 * v, 0, 0]), {"lower": "lo"}),
    "value column as status": lambda v: (cells(x=[v, 0.0, v]), {"status": "x"}),
    "missing column": lambda v: (cells(x=[v, 0.0, v]), {"count": "m"}),
}


@pytest.mark.parametrize("case", SPOILED)
@settings(max_examples=10)
@given(value=st.integers(1_000_000, 9_999_999).map(lambda n: n + 0.5))
def test_no_message_contains_a_value_of_the_data(case: str, value: float) -> None:
    given_cells, options = SPOILED[case](value)
    with pytest.raises(DiskretError) as caught:
        Table.from_cells(given_cells, **{"by": BY, "value": "x", **options})
    assert str(int(value)) not in str(caught.value)
    assert str(int(2 * value)) not in str(caught.value)
