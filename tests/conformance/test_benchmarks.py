"""The benchmarks' own bookkeeping: what is long, what is older than the code, what is left to measure."""

from __future__ import annotations

import argparse
from fnmatch import fnmatch
from pathlib import Path

import pytest

from benchmarks import __main__ as bench
from benchmarks.cases import CASES, LONG, is_long

WANTED = ["suppress-small-both-printed", "suppress-small-gconfid", "safe-census1m-default"]


def _given(*, long: bool = False, go_on: bool = False) -> argparse.Namespace:
    return argparse.Namespace(long=long, go_on=go_on, words=WANTED)


def _row(name: str, commit: str) -> bench.Row:
    case = CASES[name]
    return dict.fromkeys(bench.COLUMNS, "1") | {"case": case.what, "program": case.program, "commit": commit}


def test_every_long_case_exists() -> None:
    assert not [each for each in LONG if not any(fnmatch(name, each) for name in CASES)]
    assert len({(case.what, case.program) for case in CASES.values()}) == len(CASES)


def test_long_cases_wait_and_other_programs_come_last() -> None:
    assert bench.chosen({}, _given()) == WANTED[:2]
    assert is_long(WANTED[2])
    assert {*bench.chosen({}, _given(long=True))} == {*WANTED}


def test_going_on_leaves_out_what_was_measured_on_this_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench, "is_of_now", lambda version: version == "now")
    rows = {(row["case"], row["program"]): row for row in (_row(WANTED[0], "now"), _row(WANTED[1], "before"))}
    assert bench.chosen(rows, _given(go_on=True)) == [WANTED[1]]


def test_older_rows_stand_apart_and_rows_without_a_case_disappear(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench, "is_of_now", lambda version: version == "now")
    old = tmp_path / "results.csv"
    old.write_text("case,program,CPU s\n" + ",".join((*bench._key(WANTED[1]), "7")).join(["", "\n"]), encoding="utf-8")
    rows = bench.known(old) | {bench._key(WANTED[0]): _row(WANTED[0], "now"), ("gone", "gone"): {"case": "gone"}}
    bench._write(rows, tmp_path)
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    new, older = text.split("## Older than the code")
    assert "commit now" in new
    assert CASES[WANTED[0]].what in new
    assert f"| gconfid | 7 |  |  |  |  | {bench.EARLIER} |" in older
    assert "gone" not in old.read_text(encoding="utf-8")
