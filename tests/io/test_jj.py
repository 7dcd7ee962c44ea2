"""JJ files: what is written reads back, and every broken file is refused with the line it is broken in."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

from diskret import Table, write_safe_file
from diskret.io.jj import CONSTANT, read_jj, write_jj
from diskret.model import errors
from diskret.model.status import Status
from diskret.model.system import System

CELLS = ["0 7 7 s 0 20 0 0 0", "1 3 2.5 u 0 20 1 2 0", "2 4 4 z 4 4 0 0 0"]
GOOD = ["0", "3", *CELLS, "1", "0 3 : 0 (-1) 1 (1) 2 (1)"]


def _file(folder: Path, lines: list[str]) -> Path:
    path = folder / "small.jj"
    path.write_text("\n".join(lines))
    return path


def test_cells_and_equations_are_read_with_everything_known_about_them(tmp_path: Path) -> None:
    system = read_jj(_file(tmp_path, GOOD))
    assert system.value.tolist() == [7, 3, 4]
    assert [Status(s) for s in system.status.tolist()] == [Status.OPEN, Status.PRIMARY, Status.NEVER]
    arrays = system.weight, system.lower, system.upper, system.below, system.above
    assert [a.tolist() for a in arrays if a is not None] == [[7, 2.5, 4], [0, 0, 4], [20, 20, 4], [0, 1, 0], [0, 2, 0]]
    assert system.system.columns.tolist() == [0, 1, 2]
    assert system.system.coefficients.tolist() == [-1, 1, 1]
    assert system.system.sum_cell.tolist() == [0]
    assert system.positive


def test_a_packed_file_is_the_same(tmp_path: Path) -> None:
    packed = tmp_path / "small.jj.gz"
    packed.write_bytes(gzip.compress("\n".join(GOOD).encode()))
    assert read_jj(packed).value.tolist() == read_jj(_file(tmp_path, GOOD)).value.tolist()


@pytest.mark.parametrize("name", ["out.jj", "out.jj.gz"])
def test_what_is_written_reads_back(tmp_path: Path, name: str) -> None:
    lines = ["0", "3", "0 1.5 1 s 0 9 0 0 0", "1 3 3 u -5 inf 1 2 0", "2 0 1 m 0 8 0 0 0"]
    before = read_jj(_file(tmp_path, [*lines, "2", "7.5 3 : 0 (1) 1 (2) 2 (4)", "0 2 : 0 (2) 1 (-1)"]))
    write_jj(before, tmp_path / name)
    after = read_jj(tmp_path / name)
    assert after.space.codes == before.space.codes
    for field in ("value", "status", "weight", "lower", "upper", "below", "above"):
        assert np.array_equal(getattr(after, field), getattr(before, field)), field
    for field in ("start", "columns", "coefficients", "sum_cell"):
        assert np.array_equal(getattr(after.system, field), getattr(before.system, field)), field


def test_a_system_made_by_hand_is_written_with_what_it_does_not_say(tmp_path: Path) -> None:
    write_jj(System.of(["a", "b"], [2, 2], [{"a": 1, "b": -1}]), tmp_path / "out.jj")
    assert (tmp_path / "out.jj").read_text().splitlines() == [
        "0", "2", "0 2 2 s 0 inf 0 0 0", "1 2 2 s 0 inf 0 0 0", "1", "0 2 : 0 (1) 1 (-1)",
    ]  # fmt: skip


def test_a_right_hand_side_is_a_multiple_of_a_published_one(tmp_path: Path) -> None:
    system = read_jj(_file(tmp_path, ["0", "3", *CELLS, "2", "7 2 : 1 (1) 2 (1)", "0 3 : 0 (-1) 1 (1) 2 (1)"]))
    at = system.index(CONSTANT)
    assert system.value[at] == 1
    assert system.status[at] == Status.PUBLISHED
    assert system.equations(np.ones(4, dtype=np.bool_)).coefficients.tolist() == [1, 1, -7, -1, 1, 1]


def test_a_sliding_level_raises_the_upper_one(tmp_path: Path) -> None:
    lines = [line.replace("1 2 0", "1 2 9") for line in GOOD]
    with pytest.warns(errors.ProtectionWarning, match="1 cells have a sliding level"):
        system = read_jj(_file(tmp_path, lines))
    assert system.above is not None
    assert system.above.tolist() == [0, 8, 0]


BROKEN = {
    "another first line": (0, "7", "line 1"),
    "no number of cells": (1, "many", "line 2"),
    "a cell with 8 entries": (3, "1 3 3 u 0 20 1 2", "line 4"),
    "an unknown status": (3, "1 3 3 x 0 20 1 2 0", "line 4"),
    "text for a number": (3, "1 three 3 u 0 20 1 2 0", "line 4"),
    "nothing for a number": (3, "1 nan 3 u 0 20 1 2 0", "line 4"),
    "a cell too few": (1, "4", "line 6"),
    "a cell too many": (1, "2", "line 5"),
    "no colon": (6, "0 3 0 (-1) 1 (1) 2 (1)", "line 7"),
    "a term too few": (6, "0 3 : 0 (-1) 1 (1)", "line 7"),
    "a term without coefficient": (6, "0 3 : 0 (-1) 1 (1) 2", "line 7"),
    "a cell nobody knows": (6, "0 3 : 0 (-1) 1 (1) 9 (1)", "line 7"),
    "an equation too few": (5, "2", "line 7"),
    "an equation too many": (5, "0", "line 7"),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_file_is_refused_with_its_line(tmp_path: Path, how: str) -> None:
    at, line, where = BROKEN[how]
    path = _file(tmp_path, [line if i == at else other for i, other in enumerate(GOOD)])
    with pytest.raises(errors.UnreadableFile) as refused:
        read_jj(path)
    assert str(path) in refused.value.where
    assert where in refused.value.where


def test_equations_must_hold_and_bounds_must_cover_the_value(tmp_path: Path) -> None:
    with pytest.raises(errors.WrongSum, match="1 equations do not hold"):
        read_jj(_file(tmp_path, [line.replace("1 3 2.5", "1 3.01 2.5") for line in GOOD]))
    with pytest.raises(errors.BadPriorKnowledge, match="1 prior interval does"):
        read_jj(_file(tmp_path, [line.replace("u 0 20", "u 4 20") for line in GOOD]))


def test_a_missing_or_empty_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(errors.UnreadableFile, match="no such file"):
        read_jj(tmp_path / "nowhere.jj")
    with pytest.raises(errors.EmptyData):
        read_jj(_file(tmp_path, [""]))
    (tmp_path / "half.jj.gz").write_bytes(gzip.compress(b"0\n3\n")[:-6])
    with pytest.raises(errors.UnreadableFile, match="cannot be read"):
        read_jj(tmp_path / "half.jj.gz")


def test_a_table_is_refused_with_the_way_to_write_it(tmp_path: Path) -> None:
    table = Table.from_cells({"s": ["a", "b"], "x": [1, 2]}, by={"s": None}, value="x")
    with pytest.raises(errors.BadOption, match="is not a system") as refused:
        write_jj(table, tmp_path / "t.jj")  # type: ignore[arg-type]
    assert "format='jj'" in refused.value.hint
    write_safe_file(table, tmp_path / "t.jj", format="jj")
    assert read_jj(tmp_path / "t.jj").size >= 3
