"""Files come whole or not at all, and the same every time."""

from __future__ import annotations

import contextlib
import resource
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskret.model.errors import CannotWrite, DiskretError
from diskret.model.hierarchy import Hierarchy
from diskret.model.table import Table
from diskret.publication.release import CHUNK
from diskret.publication.working import load_working, save_working
from tests.publication.leaving import publish


def big_table(leaves: int = 200, width: int = 99, digits: int = 9) -> Table:
    region = Hierarchy.from_parents({f"r{i:05d}": f"R{i // 20}" for i in range(leaves)}, total="DE")
    by = {
        "region": region,
        "nace": Hierarchy.flat([f"n{i}" for i in range(width)]),
        "s": Hierarchy.flat([str(i) for i in range(8)]),
    }
    shape = tuple(len(h) for h in by.values())
    rng = np.random.default_rng(5)
    value = rng.integers(0, 10**digits, shape) / 100
    return Table(by, "x", value, rng.integers(0, 5, shape).astype(np.uint8), decimals=2)


@contextlib.contextmanager
def full_disk(room: int = 20_000) -> Iterator[None]:
    """The system refuses to let any file grow beyond some bytes."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_leaves_the_old_file_untouched(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{ending}"
    path.write_text("the old one")
    with full_disk(), pytest.raises(CannotWrite, match="File too large"):
        publish(big_table(), path)
    assert path.read_text() == "the old one"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_a_full_disk_leaves_the_old_working_file_untouched(tools: Any, tmp_path: Path) -> None:
    save_working(tools.example(), tmp_path / "w.parquet")
    with full_disk(), pytest.raises(CannotWrite):
        save_working(replace(big_table(), altered="rounded"), tmp_path / "w.parquet")
    assert list(load_working(tmp_path / "w.parquet")) == ["turnover"]
    assert [p.name for p in tmp_path.iterdir()] == ["w.parquet"]


def test_a_refusal_leaves_the_old_file_untouched(tools: Any, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"t{ending}"
    path.write_text("the old one")
    with pytest.raises(DiskretError):
        publish({"count": tools.example()}, path, counts=True)
    assert path.read_text() == "the old one"


def test_an_interrupt_leaves_the_old_file_untouched(
    tools: Any, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from diskret.publication.release import Release

    path = tmp_path / f"t{ending}"
    path.write_text("the old one")

    def stop(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Release, "chunks", stop)
    monkeypatch.setattr(Release, "positions", stop)
    with pytest.raises(KeyboardInterrupt):
        publish(tools.example(), path)
    assert path.read_text() == "the old one"
    assert [p.name for p in tmp_path.iterdir()] == [path.name]


def test_equal_tables_give_equal_bytes(ending: str, tmp_path: Path) -> None:
    for name in ("a", "b"):
        publish(big_table(40), tmp_path / f"{name}{ending}")
    assert (tmp_path / f"a{ending}").read_bytes() == (tmp_path / f"b{ending}").read_bytes()
    if ending == ".xlsx":
        with zipfile.ZipFile(tmp_path / "a.xlsx") as book:
            assert {info.date_time[0] for info in book.infolist()} == {1980}
            assert b"1980-01-01T00:00:00Z" in book.read("docProps/core.xml")


def test_paths_with_special_signs(tools: Any, ending: str, tmp_path: Path) -> None:
    table = tools.example()
    publish(table, tmp_path / f"it's [1] ü{ending}")
    assert (tmp_path / f"it's [1] ü{ending}").stat().st_size > 0


def test_a_table_of_many_chunks_is_published_whole(tools: Any, ending: str, tmp_path: Path) -> None:
    table = big_table(100, 99)
    assert table.size > CHUNK
    publish(table, tmp_path / f"t{ending}")
    found = tools.read(tmp_path / f"t{ending}", table)
    assert len(found) == table.size
    assert sum(v is None for v in found.values()) == int(table.hidden.sum())


def test_chunks_join_without_a_seam(tools: Any, ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diskret.publication.release.CHUNK", 7)
    monkeypatch.setattr("diskret.publication.jsonstat.CHUNK", 3)
    table = tools.example()
    publish(table, tmp_path / f"t{ending}")
    assert tools.read(tmp_path / f"t{ending}", table) == tools.expected(table)


def test_decimals_of_hidden_values_do_not_show(ending: str, tmp_path: Path) -> None:
    status = ["primary", "secondary", "open"]
    written = []
    for name, x in (("whole", [30.0, 20.0, 7.0]), ("cents", [30.25, 19.75, 7.0]), ("endless", [30 + 1 / 3, 59 / 3, 7])):
        cells = {"s": list("abc"), "x": x, "st": status}
        table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
        table = replace(table, value=np.append(table.value[:-1], 57.0))
        publish(table, tmp_path / f"{name}{ending}", intervals=True)
        written.append((tmp_path / f"{name}{ending}").read_bytes())
    assert written[0] == written[1] == written[2]
