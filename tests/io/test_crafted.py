"""Small files made to cost much, or to be taken for what they are not."""

from __future__ import annotations

import gzip
import io
import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest

from diskret import read_jj, read_p_table
from diskret.io.arrays import read_arrays
from diskret.io.hierarchies import read_hierarchy
from diskret.io.rda import read_metadata
from diskret.io.structured import from_json, from_toml
from diskret.io.text import read_text
from diskret.job.plan import read_plan, run_plan
from diskret.job.read import read_job
from diskret.model.damage import reading
from diskret.model.errors import BadOption, BadShares, DiskretError, TooLarge, UnreadableFile
from diskret.model.sheets import sheet_names
from diskret.risk.estimate import estimate_reidentifiable
from diskret.rules.magnitude import MinCount, PPercent


def written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


DEEP = {
    "region.json": '{"a":' * 100_000,
    "region.csv": "code,parent\n" + "".join(f"c{i},c{i + 1}\n" for i in range(500)),
    "region.hrc": "".join("@" * i + f"c{i}\n" for i in range(200)),
    "dots.toml": "a." * 50_000 + "a = 1",
    "quoted.toml": "['a'" + """ . 'a'""" * 50_000 + "]",
    "lists.toml": "a = " + "[" * 100_000,
    "tables.toml": "a = " + "{a = " * 100_000,
}


@pytest.mark.parametrize("name", DEEP)
def test_what_nests_without_end_is_refused_before_it_costs_anything(name: str, tmp_path: Path) -> None:
    path = written(tmp_path / name, DEEP[name])
    with pytest.raises(TooLarge, match="the limit 'depth' is 100") as caught:
        read_job(path) if name.endswith(".toml") else read_hierarchy(path)
    assert name in caught.value.where


def test_a_deeper_hierarchy_is_read_when_the_limit_is_raised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKRET_LIMITS", "depth=600")
    assert read_hierarchy(written(tmp_path / "region.csv", DEEP["region.csv"])).depth == 501


def test_lines_rows_and_files_have_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / "region.hrc", "a\n" * 50 + "b" * 500)
    for given, said in (("text=400", "a line has 500"), ("rows=40", "has 50 lines"), ("bytes=500", "bytes or more")):
        monkeypatch.setenv("DISKRET_LIMITS", given)
        with pytest.raises(TooLarge, match=said):
            read_hierarchy(path)


def test_a_limit_beyond_all_memory_costs_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKRET_LIMITS", "bytes=900_000_000_000_000_000")
    assert read_text(written(tmp_path / "region.hrc", "a\n")) == "a\n"


def test_nesting_that_python_cannot_read_is_not_blamed_on_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISKRET_LIMITS", "depth=500_000")
    with pytest.raises(TooLarge) as caught:
        from_json("[" * 100_000 + "]" * 100_000)
    assert "a higher limit does not help" in caught.value.hint


def test_a_pipe_or_a_device_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.hrc")
    for path in (tmp_path / "pipe.hrc", Path("/dev/zero")):
        with pytest.raises(UnreadableFile, match="this is a"):
            read_text(path)
    os.mkfifo(tmp_path / "pipe.xlsx")
    with pytest.raises(UnreadableFile, match="this is a"):
        sheet_names(tmp_path / "pipe.xlsx")
    with pytest.raises(UnreadableFile, match="not a file"):
        read_arrays(tmp_path / "pipe.xlsx", {})


def test_half_a_character_is_refused_where_it_is_read() -> None:
    for text in ('{"T": ["\\ud800"]}', '{"\\udc00": null}'):
        with pytest.raises(UnreadableFile, match="half a character"):
            from_json(text)
    assert from_json('["\\ud83d\\ude00"]') == ["\U0001f600"]


def test_dots_in_texts_and_numbers_are_no_keys() -> None:
    text = "a = [" + "0.5, " * 500 + ']\nb = "' + "1.5 " * 500 + '"\n# ' + ". " * 500
    assert len(from_toml(text)["a"]) == 500


def test_ten_letters_that_mean_a_gigabyte_are_no_number(tmp_path: Path) -> None:
    for text in ("1e999999999", "1e-999999999"):
        with pytest.raises(BadShares, match="not a number"):
            run_plan(read_plan(written(tmp_path / "plan.toml", f"n = 10\n[shares]\na = [{text}, 1]")))
        for rule in (lambda p: PPercent(p), lambda p: MinCount(3, margin=p)):
            with pytest.raises(BadOption):
                rule(text)


def test_more_persons_than_there_can_be_are_refused() -> None:
    with pytest.raises(BadOption, match="not a number of persons"):
        estimate_reidentifiable({"a": [0.5, 0.5]}, n=2**63)


def test_metadata_with_more_variables_than_columns_can_be_are_refused(tmp_path: Path) -> None:
    with pytest.raises(TooLarge, match="16,385 variables"):
        read_metadata(written(tmp_path / "a.rda", "".join(f"v{i} 1 2\n" for i in range(17_000))))


EQUATION = "0\n1\n0 1 1 s 0 1 0 0 0\n1\n0 1 : "


@pytest.mark.parametrize("rest", ["1" * 900_000, "0 " + " " * 900_000 + "x", "0 (1) x", "0 (1) 0 (1"])
def test_an_equation_is_read_once_from_left_to_right(rest: str, tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile, match="other terms than it has"):
        read_jj(written(tmp_path / "a.jj", EQUATION + rest))


def test_a_packed_file_unpacks_to_no_more_than_it_can_be_worth(tmp_path: Path) -> None:
    with pytest.raises(TooLarge, match="unpacks to many times its size"):
        read_jj(written(tmp_path / "a.jj.gz", gzip.compress(b"0\n" * 3_000_000)))
    with pytest.raises(UnreadableFile):
        read_jj(written(tmp_path / "cut.jj.gz", gzip.compress(EQUATION.encode())[:-9]))


@pytest.mark.parametrize(
    "text", ["i;p;v\n0;nan;0", "i;p;v\n0;1;1e999", "i;p;v;type\n0;1;0;" + "x" * 50, 'i;p;v\n0;1;"', "i;p;v\n0;1", "\n"]
)
def test_a_damaged_p_table_is_refused_in_words(text: str, tmp_path: Path) -> None:
    with pytest.raises(DiskretError):
        read_p_table(written(tmp_path / "p.txt", text))


def part(descr: str, shape: str, content: bytes = b"") -> bytes:
    """An array of NumPy's file format that says of itself what it likes."""
    head = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head + content


ARRAYS = {
    "a pickle": part("'|O'", "(1,)", b"cbuiltins\nexit\n."),
    "a record": part("[('a', '<i4')]", "(1,)", b"abcd"),
    "more than the world": part("'<i4'", "(10**12,)"),
    "larger than all": part("'<i4'", "(100000000000,)"),
    "less than nothing": part("'<i4'", "(-1,)"),
    "less than it says": part("'<i4'", "(3,)", b"abcd"),
    "more than it says": part("'<i4'", "(1,)", b"abcdefgh"),
    "no Python": part("'<i4'", "((((", b"abcd"),
    "another type": part("'<f8'", "(1,)", b"abcdefgh"),
}


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_are_looked_at_before_they_are_read(kind: str, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as file:
        file.writestr("x.npy", ARRAYS[kind])
    path = written(tmp_path / "a.npz", packed.getvalue())
    with pytest.raises(DiskretError), reading(path, "the arrays are damaged"):
        read_arrays(path, {"x": "i"})


def test_an_array_larger_than_it_can_be_is_not_unpacked(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", x=np.zeros(1000, dtype=np.int32))
    assert read_arrays(tmp_path / "a.npz", {"x": "i"}, 4000)["x"].size == 1000
    with pytest.raises(ValueError, match="too large"):
        read_arrays(tmp_path / "a.npz", {"x": "i"}, 3999)
