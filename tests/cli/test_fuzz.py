"""Whatever bytes a file holds, the command does its work or refuses with a message: it never breaks down."""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from unittest.mock import patch

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from diskret.cli import main

FIRMS = b"""region,size,turnover,staff,owner,open
01,small,10.5,4,h1,1
01,small,20,5,h1,0
02,small,-30,6,,0
03,"la,rge",900.25,300,h2,1
02,"la,rge",8e2,200,h2,0
"""
CELLS = b"""region;turnover;n;x1;x2;state;low;high
N;100,5;5;95;3;;0;1000
S;60;9;20;10;never;0;1000
E;-40;4;11;10;primary;-100;1000
Total;120,5;18;95;20;;0;1000
"""
HRC = b"A\n@01\n@02\nB\n@03\n"
PARENTS = b"code,parent,label\n01,A,one\n02,A,two\nA,T,\n03,T,\nT,,all\n"
NESTED = json.dumps({"T": {"A": ["01", "02"], "03": None}}).encode()
LEVELS = json.dumps({"codes": ["01", "02", "A", "03", "T"], "levels": [1, 1, 2, 2, 3], "labels": {"T": "all"}}).encode()
RDA = b'region 1 2 "99"\n<RECODEABLE>\n<HIERCODELIST> "r.hrc"\n<HIERLEADSTRING> "@"\nx 3 6\n<NUMERIC>\n<DECIMALS> 1\n'
ASC = b"01  10.5\n02  -3.0\n03 900.0\n"
RECORDS = """
[data]
microdata = "firms.csv"
[table]
by = ["region", "size"]
value = ["turnover", "staff"]
holding = "owner"
public = "open"
[classifications.region]
hierarchy = "HIERARCHY"
[rules]
min_count = 3
p_percent = 10
dominance = [[1, 85]]
counted_by = ["respondent", "holding"]
[output]
unprotected = true
publish = ["t.csv", "t.json", "t.px", "t.xlsx", "t.parquet"]
working = "v.parquet"
tau_argus = "tau"
"""
OF_CELLS = """
[data]
cells = "cells.csv"
decimal = ","
[table]
by = ["region"]
value = "turnover"
count = "n"
largest = ["x1", "x2"]
status = "state"
lower = "low"
upper = "high"
[rules]
min_count = {n = 3, zeros = true}
pq = [5, 50]
small_cells = 3
[[status]]
cell = {region = "S"}
status = "published"
[output]
unprotected = true
publish = ["t.csv"]
mark = "."
"""
DESCRIBED = '[data]\nmicrodata = "d.asc"\nmetadata = "d.rda"\n[table]\nby = ["region"]\nvalue = "x"\n'
LOADED = (
    '[data]\ntable = "w.parquet"\n[rules]\nmin_count = 3\n'
    '[output]\nunprotected = true\npublish = "t.csv"\nworking = "v.parquet"\n'
)


@dataclass(frozen=True)
class Good:
    """Good files of all kinds, by name; not worth printing."""

    files: dict[str, bytes] = field(repr=False)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Good:
    """Good files of all kinds, by name."""
    folder = tmp_path_factory.mktemp("good")
    files = {
        "firms.csv": FIRMS, "cells.csv": CELLS, "r.hrc": HRC, "r.csv": PARENTS, "nested.json": NESTED,
        "levels.json": LEVELS, "d.rda": RDA, "d.asc": ASC,
        "records.toml": RECORDS.replace("HIERARCHY", "r.hrc").encode(), "cells.toml": OF_CELLS.encode(),
    }  # fmt: skip
    for name, content in files.items():
        (folder / name).write_bytes(content)
    duckdb.sql(f"FROM read_csv('{folder / 'firms.csv'}', all_varchar = true)").write_parquet(str(folder / "f.parquet"))
    assert outcome(folder, "run", "records.toml") == 0
    files |= {"w.parquet": (folder / "v.parquet").read_bytes(), "f.parquet": (folder / "f.parquet").read_bytes()}
    return Good(files)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("broken")


MOST = int(os.environ.get("DISKRET_FUZZ_EXAMPLES", "15"))
TARGETS: dict[str, tuple[str, str]] = {
    "firms.csv": ("records.toml", RECORDS.replace("HIERARCHY", "r.hrc")),
    "cells.csv": ("cells.toml", OF_CELLS),
    "records.toml": ("records.toml", ""),
    "cells.toml": ("cells.toml", ""),
    "r.hrc": ("job.toml", RECORDS.replace("HIERARCHY", "r.hrc")),
    "r.csv": ("job.toml", RECORDS.replace("HIERARCHY", "r.csv")),
    "nested.json": ("job.toml", RECORDS.replace("HIERARCHY", "nested.json")),
    "levels.json": ("job.toml", RECORDS.replace("HIERARCHY", "levels.json")),
    "d.rda": ("job.toml", DESCRIBED),
    "d.asc": ("job.toml", DESCRIBED),
    "f.parquet": ("job.toml", RECORDS.replace("HIERARCHY", "r.hrc").replace("firms.csv", "f.parquet")),
    "w.parquet": ("job.toml", LOADED),
}
"""The file to break, the job that reads it, and that job's text where it is not the file itself."""


def outcome(folder: Path, *words: str) -> int:
    """Exit code of the command; a mistake of ours is raised with its traceback, not hidden behind a 3."""
    before = os.getcwd()
    quiet = io.StringIO()
    os.chdir(folder)
    try:
        with (
            patch.object(sys, "argv", ["diskret", *words]),
            patch.dict(os.environ, {"DISKRET_DEBUG": "1"}),
            contextlib.redirect_stdout(quiet),
            contextlib.redirect_stderr(quiet),
            warnings.catch_warnings(),
        ):
            warnings.simplefilter("error")
            try:
                main()
            except SystemExit as stopped:
                return int(stopped.code or 0)
    finally:
        os.chdir(before)
    raise AssertionError("the command ended without an exit code")


# --- breaking files --------------------------------------------------------------------------------------------------

ODD = [
    b"\x00", b"\xff", b"\x01", b"\xef\xbb\xbf", "ä".encode(), "\u2028".encode(), "٣".encode(), b'"', b"'", b",", b";",
    b"\t", b"\r", b"\n", b"\n\n", b"@", b"#", b"=", b"[", b"]", b"{", b"}", b"<", b">", b"-", b"+", b".", b"0", b"1",
    b"nan", b"inf", b"1e308", b"-1e-308", b"9" * 25, b"null", b"true", b"Total", b"(missing)", b"*", b"[/bold]", b"%s",
    b"x" * 300,
]  # fmt: skip
Break = Callable[[bytes], bytes]
SHARE = st.floats(0, 1)


def at(content: bytes, share: float) -> int:
    return int(share * len(content))


def flip(share: float, bit: int) -> Break:
    def broken(content: bytes) -> bytes:
        place = min(at(content, share), max(len(content) - 1, 0))
        return content[:place] + bytes(b ^ (1 << bit) for b in content[place : place + 1]) + content[place + 1 :]

    return broken


def insert(share: float, odd: bytes) -> Break:
    return lambda content: content[: at(content, share)] + odd + content[at(content, share) :]


def cut(share: float, length: int) -> Break:
    return lambda content: content[: at(content, share)] + content[at(content, share) + length :]


def end(share: float) -> Break:
    return lambda content: content[: at(content, share)]


def repeat_line(share: float, to: float) -> Break:
    def broken(content: bytes) -> bytes:
        lines = content.split(b"\n")
        place = int(to * len(lines))
        return b"\n".join([*lines[:place], lines[int(share * (len(lines) - 1))], *lines[place:]])

    return broken


def drop_line(share: float) -> Break:
    def broken(content: bytes) -> bytes:
        lines = content.split(b"\n")
        lines.pop(int(share * (len(lines) - 1)))
        return b"\n".join(lines)

    return broken


BREAKS = st.lists(
    st.one_of(
        st.builds(flip, SHARE, st.integers(0, 7)),
        st.builds(insert, SHARE, st.sampled_from(ODD)),
        st.builds(insert, SHARE, st.binary(min_size=1, max_size=4).filter(lambda b: b"/" not in b)),
        st.builds(cut, SHARE, st.integers(1, 12)),
        st.builds(end, SHARE),
        st.builds(repeat_line, SHARE, SHARE),
        st.builds(drop_line, SHARE),
    ),
    min_size=1,
    max_size=4,
)


@pytest.mark.parametrize("target", TARGETS)
def test_the_unbroken_files_are_accepted(good: Good, folder: Path, target: str) -> None:
    assert run_with(good, folder, target, good.files[target]) == 0


@pytest.mark.parametrize("target", TARGETS)
@settings(max_examples=MOST, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(breaks=BREAKS)
def test_a_broken_file_is_read_or_refused(good: Good, folder: Path, target: str, breaks: list[Break]) -> None:
    content = good.files[target]
    for each in breaks:
        content = each(content)
    assert run_with(good, folder, target, content) in (0, 2)


def run_with(good: Good, folder: Path, target: str, content: bytes) -> int:
    for name, whole in good.files.items():
        (folder / name).write_bytes(whole)
    job, text = TARGETS[target]
    if text:
        (folder / job).write_text(text, encoding="utf-8")
    (folder / target).write_bytes(content)
    return outcome(folder, "run", job)
