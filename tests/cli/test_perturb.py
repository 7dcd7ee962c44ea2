"""`diskret perturb` and `[perturbation]` as a user calls them: what is written, said, and refused."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskret.publication.working import load_working

Call = Callable[..., Any]
SENSITIVE = ("7919.73", "6021.37")
CUBOIDS = """
[perturbation]
seed = 5
attack = true
[output]
publish = ["p.csv", "p.json", "p.px", "p.xlsx", "p.parquet"]
"""


@pytest.fixture
def marked(typed: Call, folder: Path) -> Path:
    """A working file with marked cells."""
    typed("tabulate", "firms.csv", "--by", "region", "--by", "size", "--value", "turnover", "--out", "w.parquet")
    typed("mark", "w.parquet", "--min-count", "3", "--p-percent", "10", "--out", "m.parquet")
    return folder / "m.parquet"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_cuboids_change_what_is_sensitive_and_keep_the_sums(typed: Call, marked: Path, folder: Path) -> None:
    done = typed("perturb", "m.parquet", "--seed", "5", "--attack", "--out", "p.csv")
    assert done.code == 0
    assert "cuboids: " in done.out
    assert "attacked by somebody who knows the method" in done.out
    rows = rows_of(folder / "p.csv")
    value = {(r["region"], r["size"]): float(r["turnover"]) for r in rows}
    assert {r["turnover_status"] for r in rows} == {"perturbed"}
    assert not {r["turnover"] for r in rows} & set(SENSITIVE)
    for region in ("N", "S", "Total"):
        parts = value[region, "large"] + value[region, "small"]
        assert round(parts, 2) == value[region, "Total"]
    assert not any(number in done.said for number in SENSITIVE)


def test_rounding_writes_multiples_that_add_up(typed: Call, folder: Path) -> None:
    typed("tabulate", "firms.csv", "--by", "region", "--by", "size", "--out", "n.parquet")
    words = ("--method", "rounding", "--base", "3", "--seed", "1")
    assert typed("perturb", "n.parquet", *words, "--out", "r.parquet").code == 0
    (table,) = load_working(folder / "r.parquet").values()
    assert table.altered == "rounded"
    assert (table.value % 3 == 0).all()
    assert np.array_equal(table.value[:2].sum(axis=0), table.value[2])


def test_an_attack_that_comes_too_close_ends_with_exit_code_1(typed: Call, marked: Path, folder: Path) -> None:
    words = ("--method", "rounding", "--base", "2", "--seed", "1", "--out", "r.csv")
    assert typed("perturb", "m.parquet", *words).code == 0
    assert typed("perturb", "m.parquet", *words, "--attack").code == 1


def test_same_seed_writes_the_same_bytes(typed: Call, marked: Path, folder: Path) -> None:
    for name in ("one.csv", "two.csv"):
        typed("perturb", "m.parquet", "--seed", "9", "--out", name)
    assert (folder / "one.csv").read_bytes() == (folder / "two.csv").read_bytes()


def test_summary_as_json_holds_counts_only(typed: Call, marked: Path) -> None:
    done = typed("perturb", "m.parquet", "--seed", "4711", "--attack", "--out", "p.csv", "--json")
    (facts,) = json.loads(done.out)["tables"].values()
    assert facts["perturbation"]["primary changed"] == facts["perturbation"]["primary"] > 0
    assert facts["perturbation attack"]["told by single contributors"] == 0
    assert "4711" not in done.out
    assert not any(number in done.out for number in SENSITIVE)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--method", "rounding"), "rounding needs a base"),
        (("--base", "5"), "only rounding has one"),
        (("--method", "swapping"), "perturbation.method"),
        (("--max-relative-change", "0"), "max_relative_change"),
        (("--seed", "-1"), "perturbation.seed"),
        (("--method", "rounding", "--base", "0.001"), "two units of the last decimal"),
    ],
)
def test_refusals(typed: Call, marked: Path, folder: Path, words: tuple[str, ...], said: str) -> None:
    done = typed("perturb", "m.parquet", *words, "--out", "p.csv")
    assert done.code == 2
    assert said in done.err
    assert not (folder / "p.csv").exists()


def job(folder: Path, more: str) -> None:
    text = '[data]\nmicrodata = "firms.csv"\n[table]\nby = ["region", "size"]\nvalue = ["turnover", "wages"]\n'
    (folder / "p.toml").write_text(text + "[rules]\nmin_count = {n = 3, margin = 0}\n" + more, encoding="utf-8")


def test_job_publishes_changed_tables_and_says_so_in_every_format(typed: Call, folder: Path) -> None:
    job(folder, CUBOIDS)
    assert typed("run", "p.toml").code == 0
    words = "values were changed at random for confidentiality"
    assert words in (folder / "p.json").read_text(encoding="utf-8")
    assert words in (folder / "p.px").read_text(encoding="utf-8")
    import zipfile

    with zipfile.ZipFile(folder / "p.xlsx") as book:
        assert any(words in book.read(n).decode() for n in book.namelist() if n.endswith(".xml"))
    import duckdb

    statuses = duckdb.execute(f"SELECT DISTINCT turnover_status FROM '{folder / 'p.parquet'}'").fetchall()
    assert statuses == [("perturbed",)]
    for name in ("p.csv", "p.json", "p.px"):
        text = (folder / name).read_text(encoding="utf-8")
        assert not any(number in text for number in SENSITIVE)


def test_responses_of_one_job_get_errors_of_their_own(typed: Call, folder: Path) -> None:
    job(folder, CUBOIDS)
    typed("run", "p.toml")
    rows = rows_of(folder / "p.csv")
    before = {("N", "large"): (7919.73, 300), ("S", "large"): (6021.37, 203)}
    shifts = [
        (float(r["turnover"]) / before[k][0], float(r["wages"]) / before[k][1])
        for r in rows
        if (k := (r["region"], r["size"])) in before
    ]
    assert all(abs(a - b) > 1e-6 for a, b in shifts)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("[perturbation]\n[suppression]\n", "cannot be combined with [suppression]"),
        ("[perturbation]\n[output]\nintervals = true\n", "cannot be combined with [perturbation]"),
        ('[perturbation]\nmethod = "rounding"\n', "needs a base"),
        ("[perturbation]\nsed = 1\n", "did you mean 'seed'"),
    ],
)
def test_job_mistakes(typed: Call, folder: Path, more: str, said: str) -> None:
    job(folder, more)
    done = typed("check", "p.toml")
    assert done.code == 2
    assert said in done.err


def test_cell_that_cannot_be_changed_ends_the_job_by_name(typed: Call, folder: Path) -> None:
    shut = "".join(
        f'[[status]]\ncell = {{ region = "{r}", size = "{s}" }}\nstatus = "published"\n'
        for r in ("N", "S", "Total")
        for s in ("small", "large", "Total")
        if (r, s) not in {("N", "large"), ("S", "large")}
    )
    job(folder, shut + CUBOIDS)
    done = typed("run", "p.toml")
    assert done.code == 2
    assert "[P1]" in done.err
    assert "region=N, size=large" in done.err
    assert not (folder / "p.csv").exists()


def test_a_table_nobody_marked_does_not_leave_without_a_word(typed: Call, marked: Path, folder: Path) -> None:
    for words in (("perturb", "w.parquet"), ("suppress", "w.parquet"), ("publish", "w.parquet")):
        assert "no rule was applied" in typed(*words, "--out", "x.csv").err, words
    assert "no rule was applied" in typed("report", "w.parquet", "--out", "x.html").err
    assert "no rule of confidentiality was applied" in (folder / "x.html").read_text(encoding="utf-8")
    assert "computed back from sums" in typed("report", "m.parquet", "--out", "x.html").err
    typed("perturb", "m.parquet", "--out", "p.parquet")
    assert "care" not in typed("publish", "p.parquet", "--out", "x.csv").err  # changed values may leave
    rounding = ("perturb", "w.parquet", "--method", "rounding", "--base", "5")
    assert "care" not in typed(*rounding, "--out", "x.csv").err
