"""Anonymous microdata and their report as files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from diskret import LadderSearch, anonymise, attack_anonymous
from diskret.model.errors import BadOption
from diskret.publication.microdata_files import write_anonymous_file, write_quality
from diskret.publication.plots import deviation_chart, plot_deviations
from diskret.publication.safe_report import safe_sections
from diskret.safe.anonymisation import Anonymisation


@pytest.fixture(scope="module")
def done() -> Anonymisation:
    random = np.random.default_rng(3)
    columns: dict[str, Any] = {n: random.choice(list("abcdef"), 300) for n in ('a "quoted" name', "frequency", "x")}
    return anonymise(columns, list(columns), search=LadderSearch(effort=0.05))


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("counts", [False, True])
def test_the_file_holds_the_anonymous_objects_and_nothing_else(
    done: Anonymisation, tmp_path: Path, ending: str, counts: bool
) -> None:
    target = tmp_path / f"anonymous{ending}"
    write_anonymous_file(done, target, counts=counts)
    table = duckdb.sql(f"SELECT * FROM '{target}'")
    assert table.columns == [*done.attributes, *(["frequency of the row"] if counts else [])]
    rows = table.fetchall()
    expected = list(zip(*(done.distinct if counts else done.frame).values(), strict=True))
    assert sorted(rows) == sorted(expected)
    first = target.read_bytes()
    write_anonymous_file(done, target, counts=counts)
    assert target.read_bytes() == first


def test_the_report_names_no_cell(done: Anonymisation, tmp_path: Path) -> None:
    write_quality(done, tmp_path / "q.json")
    facts = json.loads((tmp_path / "q.json").read_text(encoding="utf-8"))
    assert facts["quality"]["1"]["maximum"] == done.quality.maxima[1]
    assert set(facts) == {
        "for", "objects", "k", "rows", "control tables", "search", "complete", "largest deviation, at most",
        "control cells", "groups", "steps", "quality"
    }  # fmt: skip
    assert facts["for"] == "internal: confidential"
    write_quality(done, tmp_path / "q.txt")
    assert {f.stat().st_mode & 0o077 for f in tmp_path.glob("q.*")} == {0}
    assert "300 objects, k = 3" in (tmp_path / "q.txt").read_text(encoding="utf-8")


def test_what_is_told_to_everybody_follows_from_the_file_and_its_bounds(done: Anonymisation) -> None:
    """Another original, which the search reached in another way: nothing for everybody says otherwise."""
    random = np.random.default_rng(4)
    other = replace(
        done, original=random.permutation(done.original), groups=7, steps=9, history=(), seed=5, seconds=1.0,
        control=replace(done.control, original=random.permutation(done.control.original)),
    )  # fmt: skip
    other.__dict__["bounds"] = done.bounds
    assert other.quality.means != done.quality.means

    def told(each: Anonymisation) -> list[Any]:
        tables = [(t.frame, t.lower, t.upper, t.known) for t in (each.table(["x"]), each.table(["x", "frequency"]))]
        public = safe_sections(each, attack_anonymous(each))
        return [[s.plain() for s in public], each.summary(), repr(each), each._repr_html_(), repr(tables)]

    assert told(other) == told(done)
    assert safe_sections(other, attack_anonymous(other), internal=True) != safe_sections(
        done, attack_anonymous(done), internal=True
    )


@pytest.mark.parametrize("ending", [".svg", ".html", ".png"])
def test_plots_compare_runs(done: Anonymisation, tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"plot{ending}"
    plot_deviations({"first": done.quality, "second": done.quality}, target)
    assert target.stat().st_size > 1000


def test_shares_in_the_plot_add_up_to_one(done: Anonymisation) -> None:
    values = deviation_chart({"run": done.quality})["data"]["values"]
    for dimension in ("1-dimensional", "2-dimensional", "3-dimensional"):
        assert sum(v["share"] for v in values if v["dimension"] == dimension) == pytest.approx(1)


def test_other_endings_are_refused(done: Anonymisation, tmp_path: Path) -> None:
    for write in (write_anonymous_file, write_quality):
        with pytest.raises(BadOption, match=r"not written as '\.xyz'"):
            write(done, tmp_path / "out.xyz")
    assert not list(tmp_path.iterdir())
