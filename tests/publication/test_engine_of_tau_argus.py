"""The engine of tau-ARGUS reads our files, and writes the same safe files; skipped where it is not installed."""

from __future__ import annotations

import csv
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import diskret as dk
from diskret.model.errors import ProtectionWarning
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.publication.argus.options import Format
from diskret.publication.argus.write import write_safe_file
from diskret.rules.magnitude import PPercent

pytest.importorskip("pytauargus")
BATCH = """
<OPENTABLEDATA> "in.tab"
<OPENMETADATA> "in.rda"
<SPECIFYTABLE> "region""sex"|"x"||
<SAFETYRULE> MAN(20)
<READTABLE>
<SUPPRESS> MOD(1,5,0,0,0)
<WRITETABLE> (1,1,,"matrix.csv")
<WRITETABLE> (1,2,SE+,"pivot.csv")
<WRITETABLE> (1,3,AS+,"status.csv")
<WRITETABLE> (1,3,QU-,"code.csv")
<WRITETABLE> (1,4,HL+,"sbs.csv")
"""
FILES: dict[str, tuple[Format, dict[str, Any]]] = {
    "matrix.csv": ("csv", {}),
    "pivot.csv": ("pivot", {"suppress_empty": True}),
    "status.csv": ("code-value", {"status": True}),
    "code.csv": ("code-value", {"quotes": False}),
    "sbs.csv": ("sbs", {"hierarchical_levels": True}),
}


def small() -> Table:
    region = Hierarchy.from_nested({"Total": {"N": {"N1": ["N11", "N12"]}, "S": ["S1", "S2"]}})
    cells = {
        "region": ["N11", "N12", "S1", "S2"] * 3,
        "sex": ["a"] * 4 + ["b"] * 4 + ["c"] * 4,
        "x": [105, 45, 66, 70, 185, 182, 0, 319, 290, 143, 207, 237],
        "n": [2, 4, 5, 7, 4, 3, 0, 5, 6, 3, 5, 6],
        "x1": [62, 20, 20, 20, 73, 88, 0, 93, 90, 66, 74, 70],
        "x2": [43, 10, 10, 10, 69, 52, 0, 92, 80, 59, 49, 52],
    }
    table = Table.from_cells(cells, by={"region": region, "sex": None}, value="x", count="n", largest=["x1", "x2"])
    return dk.mark(table, PPercent(10), special_cases=False)


def test_the_engine_goes_on_with_our_table_and_writes_the_same_files(tmp_path: Path) -> None:
    table = small()
    write_safe_file(table, tmp_path / "in.tab", report=False)
    (tmp_path / "batch.arb").write_text(BATCH.lstrip())
    command = "from pytauargus.engine import Engine; Engine().run_batch('batch.arb')"
    subprocess.run([sys.executable, "-c", command], cwd=tmp_path, check=True, capture_output=True, timeout=60)
    status = table.status.copy()
    for region, sex, _, number in csv.reader((tmp_path / "status.csv").read_text().splitlines()):
        if number == "12":
            status[table.index(region, sex)] = Status.SECONDARY
    assert (status == Status.SECONDARY).any()
    # the engine took the statuses from our file, and knows no rules
    given = replace(table, status=status, rule=None, rules=(), judges=())
    for name, (format, options) in FILES.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProtectionWarning)
            ours, *_ = write_safe_file(given, tmp_path / "ours" / name, format, unprotected=True, **options)
        assert ours.read_text() == (tmp_path / name).read_text(), name
