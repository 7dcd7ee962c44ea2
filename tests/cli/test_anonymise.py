"""`diskret anonymise` as a user calls it: with options, with a job file, with mistakes, with Ctrl-C."""

from __future__ import annotations

import json
import os
import pty
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import pytest

from diskret.safe.ladder import LadderRun

Call = Callable[..., Any]
COMMAND = Path(sys.executable).parent / "diskret"
JOB = """
[data]
microdata = "persons.csv"
[anonymise]
attributes = ["region", "age", "sex", "job"]
effort = 0.05
seed = 1
[classifications.region]
prefixes = [1]
[output]
microdata = "out/anonymous.csv"
quality = "out/quality.json"
rematched = "out/internal.csv"
"""


@pytest.fixture
def persons(folder: Path) -> Path:
    """Persons with rare combinations."""
    sql = """SELECT i AS person, 'N' || hash(i) % 5 AS region, 'a' || hash(i + 7) % 6 AS age,
        CASE WHEN hash(i + 13) % 2 = 0 THEN 'm' ELSE 'w' END AS sex, 'j' || hash(i * 3) % 9 AS job,
        hash(i) % 5000 / 10 AS income FROM range(700) t(i)"""
    duckdb.sql(sql).write_csv(str(folder / "persons.csv"))
    (folder / "job.toml").write_text(JOB, encoding="utf-8")
    return folder


def rows(file: Path) -> Counter[tuple[str, ...]]:
    columns = "region, age, sex, job"
    found = duckdb.sql(f"SELECT {columns} FROM read_csv('{file}', all_varchar = true)").fetchall()
    return Counter(found)


def check(file: Path, k: int = 3) -> None:
    found = rows(file)
    assert found.total() == 700
    assert min(found.values()) >= k


def test_options_make_an_anonymous_file(diskret: Call, persons: Path) -> None:
    words = [w for name in ("region=1", "age", "sex", "job") for w in ("--attribute", name)]
    done = diskret(
        "anonymise", "persons.csv", *words, "--out", "a.csv", "--k", 4, "--effort", 0.05, "--quality", "q.txt"
    )
    assert done.code == 0, done.err
    assert "700 objects" in done.out
    assert "each at least 4 times" in done.out
    assert "3-dimensional: largest deviation" in done.out
    check(persons / "a.csv", 4)
    assert "in 90% of the cells" in (persons / "q.txt").read_text()


@pytest.mark.parametrize("command", ["run", "anonymise"])
def test_a_job_does_the_same(typed: Call, persons: Path, command: str) -> None:
    done = typed(command, "job.toml", "--json")
    assert done.code == 0, done.err
    facts = json.loads(done.out)
    assert facts["anonymisation"]["objects"] == 700
    assert facts["anonymisation"]["complete"]
    check(persons / "out" / "anonymous.csv")
    report = json.loads((persons / "out" / "quality.json").read_text())
    assert max(2, report["quality"]["1"]["maximum"]) == facts["anonymisation"]["largest deviation, at most"]["1"]
    assert facts["file attack"] == {"safe": True, "at least": 3}
    check(persons / "out" / "internal.csv")
    joined = f"read_csv('{persons}/out/internal.csv', all_varchar = true)"
    given = f"read_csv('{persons}/persons.csv', all_varchar = true)"
    same = duckdb.sql(f"SELECT count(*) FROM {joined} JOIN {given} USING (person, income)").fetchall()
    assert same == [(700,)]


def test_the_same_job_writes_the_same_bytes(typed: Call, persons: Path, everything: Call) -> None:
    typed("run", "job.toml", "--quiet")
    first = everything(persons / "out")
    typed("run", "job.toml", "--quiet")
    assert everything(persons / "out") == first


def test_check_writes_nothing(typed: Call, persons: Path, everything: Call) -> None:
    before = everything(persons)
    assert typed("check", "job.toml").code == 0
    assert everything(persons) == before


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["persons.csv", "--out", "a.csv"], "attributes or output are missing"),
        (["persons.csv", "-a", "regoin", "--out", "a.csv"], "no column 'regoin'"),
        (["persons.csv", "-a", "income", "--out", "a.csv"], "looks quantitative"),
        (["persons.csv", "-a", "sex", "--out", "a.xlsx"], "cannot write"),
        (["persons.csv", "-a", "sex", "--out", "a.csv", "--k", "1"], "anonymise.k"),
        (["persons.csv", "-a", "sex", "--out", "a.csv", "--up-to", "0"], "no table to control"),
        (["persons.csv", "-a", "sex", "--out", "a.csv", "--search", "best"], "anonymise.search"),
        (["persons.csv", "-a", "sex", "--out", "persons.csv"], "is data.microdata too"),
        (["nobody.csv", "-a", "sex", "--out", "a.csv"], "there is no file"),
    ],
)
def test_mistakes_are_named_and_nothing_is_written(
    typed: Call, persons: Path, everything: Call, words: list[str], said: str
) -> None:
    before = everything(persons)
    done = typed("anonymise", *words)
    assert (done.code, done.out) == (2, "")
    assert said in done.err
    assert "what to do" in done.err
    assert everything(persons) == before


@pytest.mark.parametrize(
    ("added", "said"),
    [
        ("[rules]\nmin_count = 3\n", "rules: belongs to a job of kind 'table' or 'pool' or 'compare'"),
        ("[table]\nby = ['sex']\n", "table: belongs to a job of kind"),
        ("[anonymise.printed]\ngroup = 4\n", "anonymise.printed: cannot be combined with search = 'ladder'"),
        ("[anonymise.counters]\nhead = ['age']\n", "anonymise.counters: 'head' is not an attribute"),
        ("[classifications.colour]\n", "classifications.colour: is not an attribute"),
    ],
)
def test_keys_that_do_not_go_together(typed: Call, persons: Path, added: str, said: str) -> None:
    (persons / "job.toml").write_text(JOB + added, encoding="utf-8")
    done = typed("run", "job.toml")
    assert done.code == 2
    assert said in done.err


def test_outputs_of_anonymous_files_go_with_their_section_only(typed: Call, persons: Path) -> None:
    text = "[data]\nmicrodata='persons.csv'\n[table]\nby=['sex']\n[output]\nmicrodata='a.csv'\n"
    (persons / "job.toml").write_text(text, encoding="utf-8")
    assert "output.microdata: belongs to a job of kind 'anonymise'" in typed("run", "job.toml").err


def test_the_printed_search_by_job(typed: Call, persons: Path) -> None:
    text = JOB.replace("effort = 0.05", 'search = "printed"\nprinted = { group = 4, part = 100 }')
    (persons / "job.toml").write_text(text, encoding="utf-8")
    done = typed("run", "job.toml")
    assert done.code == 0, done.err
    check(persons / "out" / "anonymous.csv")


def test_ctrl_c_gives_the_best_file_so_far_and_a_second_run_goes_on(persons: Path) -> None:
    text = JOB.replace("effort = 0.05", 'effort = 300\ncheckpoint = "run.checkpoint"')
    (persons / "job.toml").write_text(text, encoding="utf-8")
    screen, stderr = pty.openpty()
    running = subprocess.Popen(
        [str(COMMAND), "run", "job.toml"], cwd=persons, stdout=subprocess.PIPE, stderr=stderr, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # tests in the background ignore it
    )  # fmt: skip
    os.close(stderr)
    seen, deadline = b"", time.monotonic() + 120
    while b"annealing" not in seen and b"limits" not in seen and time.monotonic() < deadline:
        if select.select([screen], [], [], 1.0)[0]:
            seen += os.read(screen, 4096)
    assert running.poll() is None, seen
    running.send_signal(signal.SIGINT)
    rest, deadline = b"", time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([screen], [], [], 1.0)[0]:
            continue
        try:
            part = os.read(screen, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        rest += part
    out, _ = running.communicate(timeout=50)
    os.close(screen)
    assert running.returncode == 130, rest
    assert b"stopped by the user; nothing half-written is left" in rest
    assert b"the search was cut short" in rest.replace(b"\r\n", b" ")
    assert "wrote out/anonymous.csv" in out
    check(persons / "out" / "anonymous.csv")
    assert (persons / "run.checkpoint").exists()


def test_a_quiet_run_that_was_stopped_says_so_and_does_not_count_as_done(
    typed: Call, persons: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(self: LadderRun) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LadderRun, "_climb", stopped)
    done = typed("run", "job.toml", "-q")
    assert (done.code, done.out) == (130, "")
    assert done.err == "diskret: stopped by the user; nothing half-written is left\n"
    check(persons / "out" / "anonymous.csv")
