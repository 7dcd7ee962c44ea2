"""A name means the file that is called so, and nothing else is read: no pattern, no folder, no pipe, no network."""

from __future__ import annotations

import gzip
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from diskret import Table, TabulationOptions, tabulate
from diskret.auditing.certificate_files import read_certificate, read_promise
from diskret.cellkey.p_table_files import read_p_table
from diskret.io.hierarchies import read_hierarchy
from diskret.io.hrc import read_codelist
from diskret.io.jj import read_jj
from diskret.io.mappings import read_mapping
from diskret.io.rda import read_metadata
from diskret.job.plan import read_plan
from diskret.job.read import read_job
from diskret.microdata.columns import Records
from diskret.model import errors
from diskret.model.sheets import sheet_names
from diskret.model.source import Delimited, FixedWidth, Parquet, file_source, open_source
from diskret.publication.microdata_files import write_records
from diskret.publication.publish import publish
from diskret.publication.working import load_working, save_working
from diskret.safe.checkpoint import RunSize, load_checkpoint

NAMES = ["firms[1]", "a*b", "a?b", "a[!x]b", "a'b", 'a"b', "a\\b", "a\nb", "-a", "~a", "[", "a{b,c}", "ä ", "a[[]b"]
"""The first of each are patterns that the decoys fit."""
DECOYS = ["firms1", "axb", "ayb", "a", "a[b"]


def rows_of(source: object) -> list[tuple[Any, ...]]:
    return open_source(source).query("SELECT * FROM data")


def text_file(path: Path, code: str, head: str = "region,x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{head}\n{code},1\n")
    return path


def parquet_file(path: Path, code: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_records(Records(columns={"region": np.array([code], dtype=object), "x": np.array([1.0])}), path)
    return path


MAKERS: dict[str, Callable[[Path, str], Path]] = {".csv": text_file, ".parquet": parquet_file}


@pytest.mark.parametrize("ending", MAKERS)
def test_a_file_is_read_by_its_own_name_although_the_name_is_a_pattern(ending: str, tmp_path: Path) -> None:
    for name in DECOYS:
        MAKERS[ending](tmp_path / f"{name}{ending}", "decoy")
    for name in NAMES:
        path = MAKERS[ending](tmp_path / f"{name}{ending}", "05")
        assert [row[0] for row in rows_of(path)] == ["05"], name
        path.unlink()


def test_folders_that_are_there_are_no_patterns_either(tmp_path: Path) -> None:
    text_file(tmp_path / "data1" / "firms1.csv", "decoy")
    for number in "12":
        text_file(tmp_path / "data[1]" / f"firms{number}.csv", number)
    assert [row[0] for row in rows_of(tmp_path / "data[1]" / "firms*.csv")] == ["1", "2"]
    assert [row[0] for row in rows_of(tmp_path / "data[1]" / "firms[1].csv")] == ["1"]


def test_a_name_is_a_pattern_where_no_file_is_called_so(tmp_path: Path) -> None:
    text_file(tmp_path / "firms1.csv", "05")
    assert rows_of(tmp_path / "firms[1].csv") == [("05", "1")]
    with pytest.raises(errors.UnreadableFile, match="none that fits"):
        open_source(tmp_path / "firms[2].csv")


def test_files_of_one_pattern_must_have_the_same_columns_in_the_same_order(tmp_path: Path) -> None:
    text_file(tmp_path / "firms1.csv", "05")
    text_file(tmp_path / "firms2.csv", "06", head="x,region")
    with pytest.raises(errors.UnreadableFile, match="first lines of the files differ"):
        open_source(tmp_path / "firms*.csv")


def test_lines_of_fixed_width_and_packed_files_are_read_by_their_own_name(tmp_path: Path) -> None:
    (tmp_path / "firms1.asc").write_text("99 8\n")
    (tmp_path / "firms[1].asc").write_text("05 1\n")
    fields = {'a"b': (1, 2), "line": (4, 1)}
    assert rows_of(FixedWidth(path=tmp_path / "firms[1].asc", fields=fields)) == [("05", "1")]
    (tmp_path / "f[1].csv.gz").write_bytes(gzip.compress(b"region,x\n05,1\n"))
    assert rows_of(tmp_path / "f[1].csv.gz") == [("05", "1")]


def test_a_home_folder_and_an_address_are_not_meant(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    text_file(tmp_path / "home" / "firms.csv", "home")
    text_file(tmp_path / "~" / "firms.csv", "05")
    text_file(tmp_path / "s3:" / "b" / "firms.csv", "06")
    monkeypatch.chdir(tmp_path)
    assert rows_of(Path("~/firms.csv")) == [("05", "1")]
    assert rows_of(Path("s3:/b/firms.csv")) == [("06", "1")]
    for address in ("s3://b/firms.csv", "https://example.org/firms.csv", "file:///etc/passwd"):
        with pytest.raises(errors.UnreadableFile, match="address"):
            open_source(address)


def test_links_are_followed_as_the_system_follows_them(tmp_path: Path) -> None:
    text_file(tmp_path / "firms.csv", "decoy")
    text_file(tmp_path / "far" / "firms.csv", "05")
    (tmp_path / "far" / "away").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    assert rows_of(tmp_path / "link" / ".." / "firms.csv") == [("05", "1")]


def test_a_backslash_beside_a_pattern_is_no_folder(tmp_path: Path) -> None:
    path = text_file(tmp_path / "a\\[1].csv", "05")
    text_file(tmp_path / "a" / "1.csv", "decoy")
    assert rows_of(path) == [("05", "1")]


def test_names_that_lie_beside_a_file_do_not_matter(tmp_path: Path) -> None:
    (tmp_path / "\\ ").mkdir()  # the engine's own search for patterns stumbles over it
    assert rows_of(text_file(tmp_path / "firms[1].csv", "05")) == [("05", "1")]


def test_where_no_link_can_be_made_the_literal_file_is_read_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError

    monkeypatch.setattr(os, "symlink", refused)
    text_file(tmp_path / "firms1.csv", "decoy")
    assert rows_of(text_file(tmp_path / "firms[1].csv", "05")) == [("05", "1")]
    with pytest.raises(errors.UnreadableFile, match="backslash"):
        open_source(text_file(tmp_path / "a\\[1].csv", "05"))


def test_names_that_are_no_text_are_refused(tmp_path: Path) -> None:
    (tmp_path / "firms\udcff.csv").write_text("region,x\n05,1\n")
    with pytest.raises(errors.UnreadableFile, match="not UTF-8"):
        open_source(tmp_path / "firms\udcff.csv")
    with pytest.raises(errors.UnreadableFile, match="not a text"):
        open_source({"\ud800": [1]})


# --- folders called column=code --------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", MAKERS)
def test_the_name_of_a_folder_changes_no_column_unless_asked_for(ending: str, tmp_path: Path) -> None:
    path = MAKERS[ending](tmp_path / "region=99" / "year=07" / f"firms{ending}", "05")
    assert open_source(path).columns == ("region", "x")
    assert [row[0] for row in rows_of(path)] == ["05"]
    with pytest.raises(errors.UnreadableFile, match="'region'"):
        open_source(file_source(path, hive=True))
    other = MAKERS[ending](tmp_path / "year=07" / "a=1" / f"firms{ending}", "05")
    asked = open_source(file_source(other, hive=True))
    (row,) = asked.query("SELECT * FROM data")
    assert dict(zip(asked.columns, row, strict=True)) | {"x": 1} == {"region": "05", "x": 1, "year": "07", "a": "1"}


def test_a_job_asks_for_columns_in_folders(tmp_path: Path) -> None:
    for year in ("07", "08"):
        text_file(tmp_path / f"year={year}" / "firms.csv", "05")
    job = tmp_path / "job.toml"
    job.write_text('[data]\nmicrodata = "year=*/firms.csv"\nhive = true\n[table]\nby = ["year"]\nvalue = "x"\n')
    from diskret.job.loading import described_source
    from diskret.job.table_job import TableJob

    read = read_job(job)
    assert isinstance(read, TableJob)
    data, _ = described_source(read.data, tmp_path)
    assert data == Delimited(path=tmp_path / "year=*/firms.csv", hive=True)
    made = tabulate(data, by={"year": None}, value="x")
    assert isinstance(made, Table)
    assert made.by["year"].codes == ("07", "08", "Total")


# --- writing ---------------------------------------------------------------------------------------------------------


def test_files_are_written_and_found_again_under_any_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    table = Table.from_cells({"s": ["m"], "x": [1]}, by={"s": None}, value="x")
    (Path("region=99")).mkdir()
    for name in ("w[1]*?.parquet", "~.parquet", "region=99/a'b\".parquet", "-o\n.parquet"):
        save_working(table, name)
        assert load_working(name)["x"].value.tolist() == [1.0, 1.0]
        publish(table, name, unprotected=True)
        assert open_source(name).query("SELECT count(*) FROM data") == [(2,)]


# --- things that are no files ----------------------------------------------------------------------------------------

SIZE = RunSize(seed=1, rows=3, objects=9, k=3, cells=4, legs=4, dimensions=1)
READERS: dict[str, Callable[[Path], object]] = {
    ".csv": open_source, ".parquet": open_source, ".xlsx": open_source, ".gz": open_source,
    ".asc": lambda path: open_source(FixedWidth(path=path, fields={"a": (1, 1)})),
    ".pq": lambda path: open_source(Parquet(path=path)), ".xlsm": sheet_names, ".hrc": read_hierarchy,
    ".json": read_hierarchy, ".tsv": read_hierarchy, ".cdl": read_codelist, ".rda": read_metadata, ".jj": read_jj,
    ".map.csv": read_mapping, ".toml": read_job, ".plan.toml": read_plan, ".ptable.csv": read_p_table,
    ".work.parquet": load_working, ".npz": lambda path: load_checkpoint(path, "", SIZE), ".cert.json": read_certificate,
    ".promise.json": read_promise,
}  # fmt: skip


@pytest.mark.parametrize("ending", READERS)
def test_pipes_sockets_and_folders_are_refused_at_once_by_every_reader(ending: str, tmp_path: Path) -> None:
    places = [tmp_path / f"{kind}{ending}" for kind in ("pipe", "folder")]
    os.mkfifo(places[0])
    places[1].mkdir()
    for place, words in zip(places, ("this is a pipe", "this is a folder"), strict=True):
        with pytest.raises(errors.UnreadableFile, match=words):
            READERS[ending](place)


def test_sockets_and_devices_are_told_apart_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s.csv")
        with pytest.raises(errors.UnreadableFile, match="this is a socket"):
            open_source("s.csv")
    Path("zero.csv").symlink_to("/dev/zero")
    with pytest.raises(errors.UnreadableFile, match="this is a device"):
        open_source("zero.csv")
    Path("loop.csv").symlink_to("loop.csv")
    with pytest.raises(errors.UnreadableFile):
        open_source("loop.csv")
    os.mkfifo("pipe1.csv")
    assert stat.S_ISFIFO(os.stat("pipe1.csv").st_mode)
    with pytest.raises(errors.UnreadableFile, match="this is a pipe"):
        open_source("pipe*.csv")


@pytest.mark.spark
def test_spark_reads_the_literal_file_and_takes_no_folder_for_a_column(spark: Any, tmp_path: Path) -> None:
    options = TabulationOptions(engine=spark)
    text_file(tmp_path / "firms1.csv", "decoy")
    for name in ("firms[1].csv", "a{b,c}.csv", "a*.csv", "region=99/firms.csv"):
        path = text_file(tmp_path / name, "05")
        made = tabulate(path, by={"region": None}, value="x", options=options)
        assert isinstance(made, Table)
        assert made.by["region"].codes == ("05", "Total")
    with pytest.raises(errors.BadOption, match="not read as columns on Spark"):
        tabulate(file_source(path, hive=True), by={"region": None}, value="x", options=options)


def test_what_stands_below_a_mask_is_no_value() -> None:
    columns = {"a": np.ma.masked_equal([1, 2, 3], 3), "x": np.ma.masked_equal([1.0, 2.0, 4.0], 1.0)}
    assert tabulate(columns, by={"a": None}).by["a"].codes == ("1", "2", "(missing)", "Total")
    with pytest.raises(errors.NotFinite, match="'x' has 1 missing"):
        tabulate({"a": [1, 2, 3], "x": columns["x"]}, by={"a": None}, value="x")


def test_columns_that_differ_in_capitals_only_get_a_number_that_is_no_other_columns_name(tmp_path: Path) -> None:
    columns = {"a": [1], "A": [2], "a_1": [3]}
    pq.write_table(pa.table(columns), tmp_path / "y.parquet")
    for source in (columns, text_file(tmp_path / "y.csv", "1,2", head="a,A,a_1"), tmp_path / "y.parquet"):
        assert open_source(source).columns == ("a", "A_2", "a_1")
        with pytest.raises(errors.MissingColumn, match="capitals"):
            open_source(source).require(["A"])
