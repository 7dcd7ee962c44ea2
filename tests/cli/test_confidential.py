"""Nothing hidden and no parameter of a rule leaves the house: not in files, not on the screen, not in a message."""

from __future__ import annotations

import itertools
import json
import random
import re
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from diskret.publication.working import load_working

Call = Callable[..., Any]

JOB = """
[data]
microdata = "firms.csv"
[table]
by = ["region", "size"]
value = ["turnover", "wages"]
[rules]
p_percent = 13.37
dominance = [[1, 81.93]]
pq = [5.27, 41.59]
[output]
unprotected = true
publish = ["out/t.csv", "out/t.xlsx", "out/t.json", "out/t.px", "out/t.parquet"]
title = "Firms"
"""


def firms(seed: int) -> str:
    """Firms whose turnovers are distinctive: no sum of them looks like another, and none looks like anything else."""
    chance = random.Random(seed)
    lines = ["region,size,turnover,wages"]
    for region, size in itertools.product("NSEW", ("small", "large")):
        for _ in range(chance.choice([1, 2, 3, 8])):
            turnover = chance.choice([1, 1, 1, 60]) * (chance.randrange(100_000, 999_999) / 100 + 7919.73)
            lines.append(f"{region},{size},{turnover:.2f},{chance.randrange(10_000, 99_999) + 0.37:.2f}")
    return "\n".join(lines) + "\n"


def unpacked(path: Path) -> bytes:
    """Everything in a file, taken out of its wrapping."""
    found = path.read_bytes()
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            found += b"".join(book.read(name) for name in book.namelist())
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        found += repr(file.read().to_pydict()).encode() + repr(file.metadata.metadata).encode()
        for g, c in itertools.product(range(file.metadata.num_row_groups), range(file.metadata.num_columns)):
            found += repr(file.metadata.row_group(g).column(c).to_dict()).encode()
    return found


def occurs(number: float, content: bytes) -> bool:
    """Whether a number stands there, packed or written out, and not as a piece of a longer one."""
    words = {f"{number:.2f}", f"{number:,.2f}", repr(float(number)), f"{number:.1f}"}
    written = "|".join(re.escape(word) for word in words)
    return struct.pack("<d", number) in content or bool(re.search(rf"(?<![\d.])({written})(?!\d)".encode(), content))


@pytest.mark.parametrize("seed", range(6))
def test_a_run_shows_no_hidden_value_no_contribution_and_no_parameter(typed: Call, folder: Path, seed: int) -> None:
    (folder / "firms.csv").write_text(firms(seed))
    (folder / "job.toml").write_text(JOB + 'working = "w.parquet"\n')
    seen = [typed("run", "job.toml", "--show"), typed("run", "job.toml", "--json"), typed("check", "job.toml")]
    assert [done.code for done in seen] == [0, 0, 0]
    tables = load_working(folder / "w.parquet")
    for table in tables.values():
        assert table.hidden.any()
        assert not table.hidden.all()
    secrets = {float(x) for t in tables.values() for x in t.value[t.hidden]}
    secrets |= {float(x) for t in tables.values() for x in np.asarray(t.largest).reshape(-1) if x}
    secrets |= {float(x) for t in tables.values() for x in np.asarray(t.above).reshape(-1) if x}
    shown = {float(x) for t in tables.values() for x in t.value[~t.hidden]}
    public = {path.name: unpacked(path) for path in (folder / "out").iterdir()}
    public |= {f"screen {i}": done.said.encode() for i, done in enumerate(seen)}
    assert len(public) == 8
    for name, content in public.items():
        for secret in sorted(secrets - shown):
            assert not occurs(secret, content), (name, secret)
        for parameter in (13.37, 81.93, 5.27, 41.59):
            assert not occurs(parameter, content), (name, parameter)
        for word in (b"primary", b"p_percent", b"(1,k)"):
            assert word not in content or name.startswith("screen"), (name, word)


def test_the_test_would_notice(typed: Call, folder: Path) -> None:
    """The working file is confidential and holds it all: what is looked for is found there."""
    (folder / "firms.csv").write_text(firms(0))
    (folder / "job.toml").write_text(JOB + 'working = "w.parquet"\n')
    typed("run", "job.toml")
    table = load_working(folder / "w.parquet")["turnover"]
    content = unpacked(folder / "w.parquet")
    assert all(occurs(float(secret), content) for secret in table.value[table.hidden])


SPOILT: dict[str, tuple[str, Callable[[str], str]]] = {
    "a number that is none": (JOB, lambda firms: firms.replace("7919.73", "7919.73 EUR")),
    "an undefined number": (JOB, lambda firms: firms + "N,small,nan,1\n"),
    "a row too long": (JOB, lambda firms: firms + "N,small,7919.73,7919.73,1\n"),
    "a row too short": (JOB, lambda firms: firms + "7919.73\n"),
    "no column names": (JOB, lambda firms: firms.partition("\n")[2]),
    "a negative number": (
        JOB.replace("[rules]", "positive = true\n[rules]"), lambda firms: firms + "N,small,-7919.73,1\n",
    ),
    "a number beyond measure": (JOB, lambda firms: firms + "N,small,7919.73e280,1\n"),
    "a code nobody knows": (
        JOB + '[classifications.region]\nhierarchy = "r.hrc"\n', lambda firms: firms + "X,small,7919.73,1\n",
    ),
    "a mark that is a number": (JOB + 'mark = "13"\n', lambda firms: firms),
    "counts of holdings nobody knows": (
        JOB.replace("[output]", 'counted_by = "holding"\n[output]'), lambda firms: firms,
    ),
    "a rule beyond its bounds": (JOB.replace("81.93", "181.93"), lambda firms: firms),
    "a rule that is no number": (JOB.replace("13.37", '"13.37 percent"'), lambda firms: firms),
    "a rule with too many numbers": (JOB.replace("41.59]", "41.59, 13.37]"), lambda firms: firms),
    "a rule beyond all bounds": (JOB.replace("13.37", "1337000.0"), lambda firms: firms),
    "a key that is unknown": (JOB.replace("p_percent", "percent_p"), lambda firms: firms),
    "a job that is no TOML": (JOB.replace("p_percent = 13.37", "p_percent = 13.37 percent"), lambda firms: firms),
}  # fmt: skip


@pytest.mark.parametrize("kind", SPOILT)
def test_a_refusal_tells_neither_values_nor_parameters(typed: Call, folder: Path, kind: str) -> None:
    job, spoil = SPOILT[kind]
    data = "region,size,turnover,wages\nN,small,7919.73,1\nN,large,20,2\nS,small,30,3\nS,large,40,4\n"
    (folder / "r.hrc").write_text("N\nS\n")
    (folder / "firms.csv").write_text(spoil(data))
    (folder / "job.toml").write_text(job)
    done = typed("run", "job.toml")
    assert done.code == 2
    assert done.out == ""
    for secret in ("7919", "13.37", "81.93", "41.59", "5.27", "1337000"):
        assert secret not in done.err


def test_sums_that_do_not_add_up_are_named_without_what_they_lack(typed: Call, folder: Path) -> None:
    (folder / "cells.csv").write_text("region,turnover\nN,7919.73\nS,20.11\nTotal,8000\n")
    (folder / "job.toml").write_text('[data]\ncells = "cells.csv"\n[table]\nby = ["region"]\nvalue = "turnover"\n')
    done = typed("run", "job.toml")
    assert done.code == 2
    assert "region=Total" in done.err
    for secret in ("7919", "20.11", "7939.84", "60.16", "8000"):
        assert secret not in done.err


def test_marking_from_the_command_line_tells_no_parameter(typed: Call, folder: Path) -> None:
    (folder / "firms.csv").write_text(firms(1))
    words = ("--by", "region", "--by", "size", "--value", "turnover", "--out", "w.parquet")
    typed("tabulate", "firms.csv", *words)
    marked = typed(
        "mark", "w.parquet", "--min-count", "17", "--p-percent", "13.37", "--dominance", "2,81.93", "--out", "m.parquet"
    )
    published = typed("publish", "m.parquet", "--unprotected", "--out", "t.json")
    assert (marked.code, published.code) == (0, 0)
    for content in (marked.said, published.said, (folder / "t.json").read_text()):
        for parameter in ("13.37", "81.93"):
            assert parameter not in content
    # the working file is as confidential as the values and levels in it, and later steps need the rules
    assert b"13.37" in unpacked(folder / "m.parquet")
    assert json.loads((folder / "t.json").read_text())["status"]
