"""A report is one file that needs nothing else, shows what it is given, and nothing of the records."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import diskret as dk
from diskret.microdata.columns import Records, read_records
from diskret.model.errors import BadOption
from diskret.publication.microdata_files import write_records
from diskret.publication.report_file import write_report
from diskret.publication.report_head import ReportHead
from diskret.publication.report_html import report_text
from diskret.publication.sections import ReportSection
from diskret.publication.utility_report import classes_section, protection_section, utility_sections

CHART = {
    "data": {"values": [{"a": 1, "b": 2}]},
    "mark": "point",
    "encoding": {"x": {"field": "a", "type": "quantitative"}, "y": {"field": "b", "type": "quantitative"}},
}


def test_plain_data_becomes_a_section_with_tables_and_pictures(tmp_path: Path) -> None:
    risk = {
        "title": "Risk <by> cell",
        "text": ["One & two."],
        "tables": [
            {"head": ["cell", "risk", "units"], "rows": [["West", 0.25, 1200], ["East", None, 3]], "caption": "cap"}
        ],
        "charts": [{"spec": CHART, "caption": "a 'plot'"}],
    }
    write_report(tmp_path / "r.html", "File", [ReportSection.from_plain(risk)], head=ReportHead(note="internal"))
    text = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "Risk &lt;by&gt; cell" in text
    assert "<td class='n'>1,200</td>" in text
    assert "<td class='n'>–</td>" in text
    assert "data:image/svg+xml;base64," in text
    assert "internal" in text


def test_a_broad_plot_without_caption_gets_its_own_line_and_its_title_in_words() -> None:
    spec = {**CHART, "width": 520, "title": "Records by risk"}
    text = report_text("t", [ReportSection.from_plain({"title": "x", "charts": [{"spec": spec}]})])
    assert "<figure class='broad'><img alt='Records by risk'" in text
    assert "<figcaption>" not in text


def test_a_report_fetches_nothing_and_runs_nothing() -> None:
    text = report_text("File", [ReportSection.from_plain({"title": "x", "charts": [{"spec": CHART, "caption": ""}]})])
    without_pictures = re.sub(r"base64,[^']*", "", text)
    assert not re.search(r"https?:|<script|<link|@import|url\(", without_pictures)


def test_long_tables_are_folded() -> None:
    plain = {"title": "x", "tables": [{"head": ["a"], "rows": [[i] for i in range(100)], "caption": "many"}]}
    assert "<details open><summary>many: 100 rows</summary>" in report_text("t", [ReportSection.from_plain(plain)])


def test_without_the_extra_the_report_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    plain = {"title": "x", "charts": [{"spec": CHART, "caption": "shares"}]}
    assert "shares: plots need the extra" in report_text("t", [ReportSection.from_plain(plain)])


def test_what_is_no_section_is_refused() -> None:
    with pytest.raises(BadOption):
        ReportSection.from_plain({"text": "no title"})
    with pytest.raises(BadOption):
        ReportSection.from_plain({"title": "x", "picture": 1})


def test_report_on_utility_shows_no_parameter_and_no_record() -> None:
    rng = np.random.default_rng(4)
    firms = {
        "industry": rng.choice(["1511", "2010"], 300).tolist(),
        "turnover": np.round(np.exp(rng.normal(8, 1, 300)), 2),
        "wages": np.round(np.exp(rng.normal(6, 1, 300)), 2),
    }
    coarse = dk.coarsen(firms, [dk.Recode(column="industry", mapping={"15": "2", "20": "4"}, prefix=2)])
    noisy = dk.add_noise(coarse.frame, ["turnover", "wages"], shift=0.071939, sd=0.123717, seed=918273)
    found = dk.measure_utility(
        coarse.frame,
        noisy.frame,
        ["turnover", "wages"],
        regressions=[dk.Regression(response="wages", on=("turnover",))],
    )
    sections = [protection_section(coarse, [noisy]), classes_section(coarse), *utility_sections(found)]
    text = report_text("File", sections)
    for secret in ("0.071939", "0.123717", "918273"):
        assert secret not in text
    plain = re.sub(r"base64,[^']*", "", text)
    values = {f"{v:,.4g}" for v in np.concatenate([firms["turnover"], firms["wages"]]) if v > 1e4}
    shown = set(re.findall(r"<td class='n'>([^<]*)</td>", plain))
    assert not values & shown
    for title in ("Means and variances", "Correlations", "Regressions", "Distributions", "Classes before and after"):
        assert title in text
    assert text.count("<img") == 4


# --- records ---------------------------------------------------------------------------------------------------------


def test_records_are_written_and_read_again(tmp_path: Path) -> None:
    records = Records(
        columns={
            "id": np.array([3, 1, 2]),
            'odd "name", x': np.array(["05", "a,b", None], dtype=object),
            "x": np.array([1.5, np.nan, 0.1 + 0.2]),
        }
    )
    for name in ("r.csv", "r.parquet"):
        write_records(records, tmp_path / name)
        again = read_records(tmp_path / name, ["x", "id"])
        assert list(again) == list(records)
        assert again["x"].tolist()[::2] == [1.5, 0.1 + 0.2]
        assert np.isnan(again["x"][1])
        assert again['odd "name", x'].tolist() == ["05", "a,b", None]
        assert again["id"].tolist() == [3, 1, 2]


def test_same_records_same_bytes(tmp_path: Path) -> None:
    records = Records(columns={"x": np.random.default_rng(0).normal(size=50_000)})
    for ending in ("csv", "parquet"):
        for name in "ab":
            write_records(records, tmp_path / f"{name}.{ending}")
        assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


def test_other_endings_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match=r"\.xlsx"):
        write_records(Records(columns={"x": np.array([1.0])}), tmp_path / "r.xlsx")
    assert not list(tmp_path.iterdir())
