"""Whatever bytes a file holds, a reader gives a result or one of our errors, never a traceback from below."""

from __future__ import annotations

import contextlib
import random
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret.io.cell_list import read_cell_list
from diskret.io.hierarchies import read_hierarchy
from diskret.io.hrc import read_codelist, read_hrc
from diskret.io.metadata import classification
from diskret.io.rda import read_metadata
from diskret.model.errors import DiskretError, ProtectionWarning

RDA = b"""<SEPARATOR> ";"
A "9"
<RECODEABLE>
<HIERCODELIST> "a.hrc"
<HIERLEADSTRING> "@"
<CODELIST> "a.cdl"
X
<NUMERIC>
N
<FREQUENCY>
T
<MAXSCORE>
S
<STATUS>
L
<NUMERIC> <LOWERPL>
"""
TAB = b'"1";1,5;2;1,0;S;0,1\n"2";2,5;3;1,0;U;0,1\n"B";4,0;5;1,0;S;0\n'
HRC = b"B\n@1\n@2\n"
CDL = b"1,one\n2,two\n"
GOOD = {
    "t.rda": RDA,
    "t.tab": TAB,
    "a.hrc": HRC,
    "a.cdl": CDL,
    "fixed.rda": b"A 1 3\n<RECODEABLE>\n<HIERLEVELS> 1 2\nX 4 2\n<NUMERIC>\n",
    "p.csv": b"code,parent,label\na,A,x\nA,T,y\n",
    "l.csv": b"code;level\na;1\nA;2\n",
    "n.json": b'{"T": {"A": ["a", "b"], "c": null}}',
    "d.json": b'{"codes": ["a", "T"], "parents": ["T", null], "labels": ["x", "y"]}',
}
READERS: dict[str, Callable[[Path], object]] = {
    "t.rda": lambda f: read_cell_list(f / "t.tab", f / "t.rda"),
    "t.tab": lambda f: read_cell_list(f / "t.tab", f / "t.rda"),
    "a.hrc": lambda f: (read_hrc(f / "a.hrc"), read_cell_list(f / "t.tab", f / "t.rda")),
    "a.cdl": lambda f: (read_codelist(f / "a.cdl"), read_cell_list(f / "t.tab", f / "t.rda")),
    "fixed.rda": lambda f: classify_all(f / "fixed.rda"),
    "p.csv": lambda f: read_hierarchy(f / "p.csv"),
    "l.csv": lambda f: read_hierarchy(f / "l.csv"),
    "n.json": lambda f: read_hierarchy(f / "n.json", total="T"),
    "d.json": lambda f: read_hierarchy(f / "d.json"),
}


def classify_all(path: Path) -> None:
    metadata = read_metadata(path)
    for variable in metadata.variables:
        classification(metadata, variable.name, ["101", "102", "2", ""])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("broken")


def read_with(folder: Path, name: str, content: bytes) -> None:
    for other, good in GOOD.items():
        (folder / other).write_bytes(good)
    (folder / name).write_bytes(content)
    with contextlib.suppress(DiskretError), warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)  # of characters that cannot be seen
        READERS[name](folder)


@pytest.mark.parametrize("name", GOOD)
def test_the_unbroken_files_are_read(folder: Path, name: str) -> None:
    for other, good in GOOD.items():
        (folder / other).write_bytes(good)
    READERS[name](folder)


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf\xff", b"\xff\xfe\xd8"])
def test_a_beginning_that_promises_unicode_is_not_believed(folder: Path, name: str, mark: bytes) -> None:
    read_with(folder, name, mark + GOOD[name])


@pytest.mark.parametrize("name", GOOD)
@settings(max_examples=60, deadline=None)
@given(content=st.binary(max_size=200) | st.text(max_size=100).map(lambda t: t.encode("utf-8", "surrogatepass")))
def test_random_bytes(folder: Path, name: str, content: bytes) -> None:
    read_with(folder, name, content)


@pytest.mark.parametrize("name", GOOD)
@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32), times=st.integers(1, 4))
def test_good_files_with_bytes_changed_doubled_and_cut_away(folder: Path, name: str, seed: int, times: int) -> None:
    chance = random.Random(seed)
    content = bytearray(GOOD[name])
    pieces = [
        b'"',
        b";",
        b",",
        b"\n",
        b"<",
        b">",
        b"@",
        b"{",
        b"[",
        b"null",
        b"-",
        b"nan",
        b"1e999",
        b"9" * 30,
        b"\xff",
    ]
    for _ in range(times):
        at = chance.randrange(len(content) + 1)
        to = min(len(content), at + chance.randrange(6))
        content[at:to] = chance.choice([*pieces, b"", bytes(content[to : to + 9]), bytes([chance.randrange(256)])])
    read_with(folder, name, bytes(content))
