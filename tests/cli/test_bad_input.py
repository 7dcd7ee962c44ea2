"""Bad input is refused with what is wrong, where, and what to do; nothing is written and nothing half-said."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

Call = Callable[..., Any]

MICRODATA = """
[data]
microdata = "firms.csv"
[table]
by = ["region", "size"]
value = "turnover"
[output]
unprotected = true
publish = "old.csv"
"""
HIERARCHY = MICRODATA + '[classifications.region]\nhierarchy = "r.csv"\n'
CELLS = """
[data]
cells = "cells.csv"
[table]
by = ["region"]
value = "turnover"
[output]
unprotected = true
publish = "old.csv"
"""
PARQUET = MICRODATA.replace("firms.csv", "firms.parquet")
GOOD = "region,size,turnover\nN,small,10\nN,large,20\nS,small,30\n"


def parquet(folder: Path) -> bytes:
    """Bytes of a good Parquet file."""
    sql = "SELECT CASE WHEN i % 2 = 0 THEN 'N' ELSE 'S' END AS region, 'small' AS size, i + 0.5 AS turnover"
    duckdb.sql(f"{sql} FROM range(5000) t(i)").write_parquet(str(folder / "good.parquet"))
    return (folder / "good.parquet").read_bytes()


@dataclass(frozen=True)
class Bad:
    """One kind of bad input: the job, its files, and what the message must say."""

    job: str
    files: dict[str, str | bytes | Callable[[Path], bytes]]
    code: str
    what: str
    where: str
    to_do: str


BAD = {
    "unknown code": Bad(
        HIERARCHY, {"firms.csv": GOOD, "r.csv": "code,parent\nN,ML\nSO,ML\n"},
        "H1", "code 'S' in column 'region' is not in its hierarchy", "region", "did you mean 'SO'?",
    ),
    "a sum in the records": Bad(
        HIERARCHY, {"firms.csv": GOOD, "r.csv": "code,parent\nN,ML\nX,S\nS,ML\n"},
        "H6", "which is a sum of finer codes", "firms.csv", "finest code",
    ),
    "a record without a code": Bad(
        HIERARCHY, {"firms.csv": GOOD + ",small,1\n", "r.csv": "code,parent\nN,ML\nS,ML\n"},
        "H7", "1 record has no code in column 'region'", "firms.csv", "missing",
    ),
    "duplicate cell": Bad(
        CELLS, {"cells.csv": "region,turnover\nN,1\nS,2\nN,3\n"},
        "T5", "given more than once: 'region=N'", "cells.csv, rows 1 and 3", "give each cell once",
    ),
    "sums that do not add up": Bad(
        CELLS, {"cells.csv": "region,turnover\nN,1\nS,2\nTotal,4\n"},
        "T6", "1 sum of 'turnover' does not equal its parts", "region=Total", "correct the cells",
    ),
    "cycle in a hierarchy": Bad(
        HIERARCHY, {"firms.csv": GOOD, "r.csv": "code,parent\nN,A\nA,B\nB,A\nS,A\n"},
        "H4", "codes are part of themselves: 'A' -> 'B' -> 'A'", "r.csv", "remove one of these",
    ),
    "two parents": Bad(
        HIERARCHY, {"firms.csv": GOOD, "r.csv": "code,parent\nN,A\nS,A\nN,B\nA,T\nB,T\n"},
        "H3", "code 'N' has two parents, 'A' and 'B'", "r.csv, line 4", "a column parent2",
    ),
    "a code twice": Bad(
        HIERARCHY.replace("r.csv", "r.hrc"), {"firms.csv": GOOD, "r.hrc": "N\nS\nN\n"},
        "H2", "code 'N' is listed twice", "r.hrc, line 3", "its own name",
    ),
    "odd indents": Bad(
        HIERARCHY.replace("r.csv", "r.hrc"), {"firms.csv": GOOD, "r.hrc": "A\n@N\n@@@S\n"},
        "H5", "1 level deeper than the line above allows", "r.hrc, line 3", "one more '@'",
    ),
    "missing column": Bad(
        MICRODATA.replace('"turnover"', '"turnovr"'), {"firms.csv": GOOD},
        "T1", "no column 'turnovr'", "firms.csv", "did you mean 'turnover'?",
    ),
    "text in a number column": Bad(
        MICRODATA, {"firms.csv": GOOD + "S,large,1234 EUR\n"},
        "T2", "text that is not a number, like '#### EUR'", "firms.csv, row 4", "without its currency",
    ),
    "decimal points and commas": Bad(
        MICRODATA, {"firms.csv": (GOOD + "S,large,1.5\n").replace(",", ";") + "S;large;1,5\n"},
        "T14", "decimal points and numbers with decimal commas", "firms.csv", "write all of them alike",
    ),
    "NaN": Bad(
        MICRODATA, {"firms.csv": GOOD + "S,large,NaN\n"},
        "T3", "1 missing, undefined or infinite number", "firms.csv, row 4", "fill them",
    ),
    "infinity": Bad(
        MICRODATA, {"firms.csv": GOOD + "S,large,-inf\nS,large,inf\n"},
        "T3", "2 missing, undefined or infinite numbers", "firms.csv, rows 4, 5", "fill them",
    ),
    "a number missing": Bad(
        MICRODATA, {"firms.csv": GOOD + "S,large,\n"},
        "T3", "1 missing, undefined or infinite number", "firms.csv, row 4", "fill them",
    ),
    "a number beyond measure": Bad(
        MICRODATA, {"firms.csv": GOOD + "S,large,1e300\n"},
        "T13", "cannot be held exactly", "firms.csv", "larger unit",
    ),
    "negative value where the table is declared positive": Bad(
        MICRODATA.replace("[output]", "positive = true\n[output]"), {"firms.csv": GOOD + "S,large,-1\n"},
        "T4", "negative values in a table declared positive", "firms.csv", "positive = false",
    ),
    "negative cell where the table is declared positive": Bad(
        CELLS.replace("[output]", "positive = true\n[output]"), {"cells.csv": "region,turnover\nN,-1\nS,2\n"},
        "T4", "1 negative cell in a table declared positive", "region=N", "positive = false",
    ),
    "knowledge that is not true": Bad(
        CELLS.replace("[output]", 'upper = "most"\n[output]'), {"cells.csv": "region,turnover,most\nN,5,4\nS,2,3\n"},
        "T10", "prior interval does not cover", "region=N", "correct lower and upper",
    ),
    "empty file": Bad(MICRODATA, {"firms.csv": b""}, "T7", "the file is empty", "firms.csv", "written completely"),
    "only blank lines": Bad(MICRODATA, {"firms.csv": "\n\n"}, "T7", "the file is empty", "firms.csv", "completely"),
    "only column names": Bad(
        MICRODATA, {"firms.csv": "region,size,turnover\n"}, "T7", "there are no rows", "firms.csv", "at least one row",
    ),
    "no column names": Bad(
        MICRODATA, {"firms.csv": "N,small,1234.5\nS,small,30\n"},
        "T14", "not certain which row holds the names", "firms.csv", "header",
    ),
    "truncated Parquet": Bad(
        PARQUET, {"firms.parquet": lambda f: parquet(f)[:-300]},
        "T8", "the data cannot be read", "firms.parquet", "is the file complete",
    ),
    "Parquet with a hole in it": Bad(
        PARQUET, {"firms.parquet": lambda f: parquet(f)[:100] + parquet(f)[-1000:]},
        "T8", "cannot be read", "firms.parquet", "is the file complete",
    ),
    "Parquet that is really CSV": Bad(
        PARQUET, {"firms.parquet": GOOD}, "T8", "the data cannot be read", "firms.parquet", "of the kind its name says",
    ),
    "empty Parquet": Bad(
        PARQUET, {"firms.parquet": b""}, "T8", "the data cannot be read", "firms.parquet", "is the file complete",
    ),
    "CSV that is really Parquet": Bad(
        MICRODATA, {"firms.csv": parquet}, "T8", "the file is not plain text", "firms.csv", "its name says",
    ),
    "binary garbage": Bad(
        MICRODATA, {"firms.csv": bytes(range(256)) * 20},
        "T8", "the file is not plain text", "firms.csv", "its name says",
    ),
    "two encodings": Bad(
        MICRODATA, {"firms.csv": (GOOD + "Köln,small,1\n").encode() + "Köln,large,1\n".encode("latin-1")},
        "T14", "text in two encodings", "firms.csv", "say encoding",
    ),
    "a row too short": Bad(
        MICRODATA, {"firms.csv": GOOD + "S\nS,large,40\n"},
        "T8", "a line has fewer fields than there are columns", "firms.csv, line 5", "one field per column",
    ),
    "a row too long": Bad(
        MICRODATA, {"firms.csv": "region,size,turnover\nN,small,1,234\nS,large,40\n"},
        "T14", "column D has values below it but no name", "firms.csv", "header",
    ),
    "a quotation mark left open": Bad(
        MICRODATA, {"firms.csv": GOOD + '"S,large,40\nS,large,50\n'},
        "T8", "a quotation mark is opened but not closed", "firms.csv, line 5", "close it",
    ),
    "a directory as data": Bad(
        MICRODATA.replace("firms.csv", "."), {}, "T8", "this is a folder, not a file", ".", "name a file in it",
    ),
    "a directory as a hierarchy": Bad(
        HIERARCHY.replace("r.csv", "d.csv"), {"firms.csv": GOOD, "d.csv/x": ""},
        "T8", "this is a folder, not a file", "d.csv", "name a file in it",
    ),
    "a data file that is not there": Bad(
        MICRODATA, {"firmen.csv": GOOD}, "J1", "there is no file 'firms.csv'", "job.toml", "correct them and run again",
    ),
    "a hierarchy in no known format": Bad(
        HIERARCHY.replace("r.csv", "r.pdf"), {"firms.csv": GOOD, "r.pdf": "x"},
        "O1", "hierarchies are not read from files ending in .pdf", "r.pdf", "give .hrc",
    ),
    "a separator of two characters": Bad(
        MICRODATA.replace("[table]", 'delimiter = ";;"\n[table]'), {"firms.csv": GOOD},
        "O1", "the separator is not one visible character", "", 'for example ";"',
    ),
    "a damaged job": Bad("[data\n", {}, "J1", "not valid TOML", "job.toml", "text needs quotes"),
    "an empty job": Bad("", {}, "T7", "the file is empty", "job.toml", "written completely"),
}  # fmt: skip


@pytest.mark.parametrize("kind", BAD)
def test_refused(kind: str, typed: Call, folder: Path, everything: Callable[[Path], dict[str, bytes]]) -> None:
    bad = BAD[kind]
    (folder / "firms.csv").unlink()
    (folder / "old.csv").write_bytes(b"earlier")
    (folder / "job.toml").write_text(bad.job, encoding="utf-8")
    for name, content in bad.files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        given = content(folder) if callable(content) else content
        (folder / name).write_bytes(given if isinstance(given, bytes) else given.encode())
    before = everything(folder)
    done = typed("run", "job.toml")
    assert done.code == 2
    assert done.out == ""
    assert done.err.startswith(f"diskret: [{bad.code}] ")
    assert bad.what in done.err
    assert bad.where in done.err
    assert bad.to_do in done.err.partition("what to do: ")[2]
    assert f"more: docs/errors.md#{bad.code.lower()}" in done.err
    assert "Traceback" not in done.err
    assert everything(folder) == before


def test_every_kind_has_its_place_in_the_docs() -> None:
    page = (Path(__file__).parents[2] / "docs" / "errors.md").read_text(encoding="utf-8")
    for code in sorted({bad.code for bad in BAD.values()}):
        assert f"## {code}" in page


def test_no_refusal_quotes_a_number_of_the_data(typed: Call, folder: Path) -> None:
    """Messages name cells by their codes and rows by their number."""
    spoilt = {
        "row too long": "region,size,turnover\nN,small,7919.73,7919.73,1\nS,large,40\n",
        "no header": "7919.73,small,7919.73\nN,large,7919.73\n",
        "text": "region,size,turnover\nN,small,7919.73 EUR\n",
        "huge": "region,size,turnover\nN,small,7919.73e300\n",
        "undefined": "region,size,turnover\nN,small,7919.73\nN,small,nan\n",
        "open quote": 'region,size,turnover\nN,"small,7919.73\n',
        "two encodings": "region,size,turnover\nN,gro\xdf,7919.73\nN,gro\xc3\x9f,7919.73\n",
        "short header": "region,size\nN,small,7919.73\nS,large,7919.73\n",
    }
    (folder / "job.toml").write_text(MICRODATA)
    for kind, text in spoilt.items():
        (folder / "firms.csv").write_bytes(text.encode("latin-1"))
        done = typed("run", "job.toml")
        assert done.code == 2, kind
        assert "7919" not in done.err, kind


# --- as a user meets it: a process of its own ------------------------------------------------------------------------


def test_a_job_file_that_is_not_there(diskret: Call) -> None:
    done = diskret("run", "jobb.toml")
    assert (done.code, done.out) == (2, "")
    assert "[T8] there is no such file" in done.err
    assert "where: jobb.toml" in done.err
    assert "job.toml" in done.err.partition("what to do: ")[2]
    assert "Traceback" not in done.err


def test_a_job_file_with_a_slip_in_its_name_is_the_one_that_was_meant(typed: Call, folder: Path) -> None:
    (folder / "turnover.toml").write_text(MICRODATA, encoding="utf-8")
    assert "did you mean 'turnover.toml'? files there: " in typed("run", "turnvoer.toml").err


@pytest.mark.parametrize("name", ["firms.csv", "firms.XLSX", "firms.parquet", "firms.csv.gz", "firms.sav"])
def test_data_where_a_job_belongs_are_told_from_a_broken_job(typed: Call, folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"region\0;x\n")
    done = typed("run", name)
    assert done.code == 2
    assert "[J1] this is a file of data, not a job" in done.err
    assert f"diskret init {name}" in done.err


def test_a_batch_of_tau_argus_where_a_job_belongs_has_its_own_command(typed: Call, folder: Path) -> None:
    (folder / "job.arb").write_text("<OPENMICRODATA>", encoding="utf-8")
    assert "diskret argus job.arb" in typed("check", "job.arb").err


def test_an_output_folder_that_is_a_file(typed: Call, folder: Path) -> None:
    (folder / "out").write_text("earlier")
    done = typed("run", "job.toml")
    assert (done.code, done.out) == (2, "")
    assert "[W1] cannot write" in done.err
    assert "where: out/t.csv" in done.err
    assert (folder / "out").read_text() == "earlier"


def without_the_powers_of_root() -> None:
    """Root may read and write anything; take that right from the process about to start."""
    if os.geteuid() == 0:
        drop_from_bounding_set, dac_override, dac_read_search = 24, 1, 2
        for right in (dac_override, dac_read_search):
            assert ctypes.CDLL(None).prctl(drop_from_bounding_set, right, 0, 0, 0) == 0


def test_an_unwritable_folder(diskret: Call, folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "t.csv").write_text("earlier")
    (folder / "out").chmod(0o555)
    done = diskret("run", "job.toml", preexec_fn=without_the_powers_of_root)
    assert (done.code, done.out) == (2, "")
    assert "[W1] no permission to write" in done.err
    assert "where: out/t.csv" in done.err
    assert "choose another folder" in done.err
    assert "Traceback" not in done.err
    assert [p.name for p in (folder / "out").iterdir()] == ["t.csv"]
    assert (folder / "out" / "t.csv").read_text() == "earlier"


def test_a_file_nobody_may_read(diskret: Call, folder: Path) -> None:
    (folder / "firms.csv").chmod(0)
    done = diskret("run", "job.toml", preexec_fn=without_the_powers_of_root)
    assert (done.code, done.out) == (2, "")
    assert "[T8]" in done.err
    assert "where: firms.csv" in done.err
    assert "Traceback" not in done.err
