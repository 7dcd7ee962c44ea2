"""The benchmarks' own bookkeeping: what is long, what is older than the code, what is left to measure."""

from __future__ import annotations

import argparse
import subprocess
from fnmatch import fnmatch
from pathlib import Path

import pytest

from benchmarks import __main__ as bench
from benchmarks.cases import CASES, LONG, is_long

WANTED = ["suppress-small-both-printed", "suppress-small-gconfid", "safe-census1m-default"]
MORE = ["suppress-small-both-thinned"]


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
    order = [bench.EARLIER, "whole", "later"]
    monkeypatch.setattr(bench, "is_before", lambda version, whole: order.index(version) < order.index(whole))
    old = tmp_path / "results.csv"
    old.write_text("case,program,CPU s\n" + ",".join((*bench._key(WANTED[1]), "7")).join(["", "\n"]), encoding="utf-8")
    measured = dict(zip([*WANTED[::2], *MORE], ["later", "whole", "whole"], strict=True))
    rows = bench.known(old) | {("gone", "gone"): {"case": "gone"}}
    bench._write(rows | {bench._key(name): _row(name, commit) for name, commit in measured.items()}, tmp_path)
    text = (tmp_path / "results.md").read_text(encoding="utf-8")
    new, older = text.split("## Older rows")
    assert "commit whole" in new
    assert "1 of them once more on a later commit" in new
    assert all(CASES[name].what in new for name in measured)
    assert f"| gconfid | 7 |  |  |  |  | {bench.EARLIER} |" in older
    assert "gone" not in old.read_text(encoding="utf-8")


def test_a_commit_is_before_those_that_follow_it(monkeypatch: pytest.MonkeyPatch) -> None:
    follows = {("one", "two"): 0, ("two", "one"): 1}
    monkeypatch.setattr(
        bench, "_git", lambda *words: subprocess.CompletedProcess(words, follows[words[2], words[3]], "", "")
    )
    assert bench.is_before("one", "two")
    assert not bench.is_before("two+", "one")
    assert not bench.is_before("one+", "one")
    assert bench.is_before(bench.EARLIER, "one")
