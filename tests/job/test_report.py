"""Reports of jobs: one file, in two languages, with everything but suppressed values and secret parameters."""

from __future__ import annotations

import hashlib
import html
import os
import re
import struct
import sys
import zipfile
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import diskret
from diskret.job.models import job_of
from diskret.job.outcome import JobResult
from diskret.job.read import job_from
from diskret.job.report import table_facts, write_table_report
from diskret.job.run import run_job
from diskret.job.table_job import TableJob
from diskret.model.errors import BadJob, MissingExtra
from diskret.model.status import Status
from tests.present import present

OPEN_FILES = ["t.csv", "t.parquet", "t.xlsx", "t.json", "t.px"]
SECRETS = {"p_percent": "17.31", "min_relative_range": "0.7391"}


def pdf_words(content: bytes) -> str:
    """All words of a PDF: what is shown in its (unpacked) pages."""
    found = []
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", content, re.DOTALL):
        try:
            page = zlib.decompress(stream)
        except zlib.error:
            page = stream
        shown = re.findall(rb"\(((?:\\.|[^\\()])*)\) ?Tj", page)
        found += [re.sub(rb"\\(.)", rb"\1", words).decode("latin-1") for words in shown]
    return "\n".join(found)


def everything(path: Path) -> str:
    """Everything a file tells, unpacked."""
    content = path.read_bytes()
    if path.suffix == ".pdf":
        return pdf_words(content)
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            return "".join(book.read(name).decode() for name in book.namelist())
    if path.suffix == ".parquet":
        return repr(pq.read_table(path).to_pydict())
    return html.unescape(content.decode("utf-8"))


def spellings(value: float) -> set[str]:
    """How a number may be written, in both languages."""
    shown = {f"{value:.{d}f}" for d in (0, 1, 2)} | {repr(value), f"{value:g}"}
    grouped = {f"{value:,.{d}f}" for d in (0, 1, 2)}
    return shown | grouped | {w.translate(str.maketrans(",.", ".,")) for w in shown | grouped}


@pytest.fixture
def firms(tmp_path: Path) -> Path:
    """Records whose numbers are long, so that finding one of them means something."""
    rng = np.random.default_rng(7)
    lines = ["nace,region,turnover,owner"]
    for i in range(260):
        nace = rng.choice(["10", "11", "20", "21", "30"], p=[0.4, 0.3, 0.2, 0.06, 0.04])
        lines.append(f"{nace},{rng.choice(list('NESW'))},{rng.integers(10**8, 9 * 10**8) / 10},o{i}")
    (tmp_path / "firms.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def content(language: str = "en", **output: Any) -> dict[str, Any]:
    return {
        "data": {"microdata": "firms.csv"}, "table": {"by": ["nace", "region"], "value": "turnover"},
        "classifications": {"nace": {"prefixes": [1]}},
        "rules": {"min_count": 4, "p_percent": float(SECRETS["p_percent"])},
        "suppression": {"min_relative_range": float(SECRETS["min_relative_range"])},
        "output": {"language": language} | output,
    }  # fmt: skip


def run(folder: Path, said: dict[str, Any]) -> JobResult:
    return run_job(job_from(said, "here", folder), folder)


def test_no_file_for_others_holds_a_suppressed_value_or_a_secret_parameter(firms: Path) -> None:
    files: list[Path] = []
    for language in ("en", "de"):
        for ending in ("html", "pdf"):
            both = {"report": f"r-{language}.{ending}", "internal_report": f"i-{language}.{ending}"}
            done = run(firms, content(language, publish=OPEN_FILES, **both))
            files += done.files
    table = done.tables["turnover"]
    assert table.hidden.sum() > 5
    assert (table.status == Status.SECONDARY).any()
    open_words = {w for v in table.value[~table.hidden] for w in spellings(float(v))}
    hidden_words = {w for v in table.value[table.hidden] if v for w in spellings(float(v))} - open_words
    largest = {w for v in np.unique(present(table.largest)) if v > 0 for w in spellings(float(v))} - open_words
    for path in dict.fromkeys(files):
        told = everything(path)
        assert not [w for w in (hidden_words | largest) if w in told], path.name
        assert not [s for s in SECRETS.values() if s in told or s.replace(".", ",") in told], path.name
        packed = path.read_bytes()
        assert not [v for v in table.value[table.hidden] if v and struct.pack("<d", v) in packed], path.name


def test_the_extraction_finds_what_is_open(firms: Path) -> None:
    """The search above would find nothing in a file it cannot read."""
    done = run(firms, content(publish=["t.xlsx"], report="r.pdf"))
    total = float(done.tables["turnover"].value[-1, -1])
    assert f"{total:,.1f}" in everything(firms / "r.pdf")
    assert f"{total:.1f}" in everything(firms / "t.xlsx")
    run(firms, content("de", report="r.html"))
    assert f"{total:,.1f}".translate(str.maketrans(",.", ".,")) in everything(firms / "r.html")


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (
            "en",
            [
                "At a glance",
                "Nothing is exposed",
                "p%",
                "moves over the whole table",
                "closest first",
                "Table: turnover",
            ],
        ),
        ("de", ["Auf einen Blick", "Nichts ist aufgedeckt", "p%-Regel", "Mindestfallzahl", "knappste zuerst"]),
    ],
)
def test_page_and_pdf_say_the_same_in_both_languages(firms: Path, language: str, words: list[str]) -> None:
    for ending in ("html", "pdf"):
        run(firms, content(language, internal_report=f"r.{ending}"))
        told = re.sub(r"\s+", " ", everything(firms / f"r.{ending}"))
        for word in words:
            assert word in told, (ending, word)


def test_equal_jobs_give_equal_reports(firms: Path) -> None:
    for ending in ("html", "pdf"):
        run(firms, content(report=f"one.{ending}", internal_report=f"i-one.{ending}"))
        run(firms, content(report=f"two.{ending}", internal_report=f"i-two.{ending}"))
        for mark in ("", "i-"):
            assert (firms / f"{mark}one.{ending}").read_bytes() == (firms / f"{mark}two.{ending}").read_bytes()


def test_a_page_fetches_nothing_runs_nothing_and_speaks_to_screen_readers(firms: Path) -> None:
    run(firms, content(report="r.html"))
    page = (firms / "r.html").read_text(encoding="utf-8")
    assert not re.search(r"https?:|<script|<link|@import|url\(", page)
    assert "<html lang='en'>" in page
    assert "role='img' aria-label='Suppressed cells by nace." in page
    assert "<th scope='col'" in page


def test_an_exposed_table_is_not_ready_for_release(firms: Path) -> None:
    said = content(report="r.html") | {"suppression": None}
    del said["suppression"]
    done = run(firms, said)
    assert "not attacked with a solver" in (firms / "r.html").read_text(encoding="utf-8")
    assert any("before secondary suppression" in w for w in done.warnings) or not done.warnings
    assert "not ready for release" in (firms / "r.html").read_text(encoding="utf-8")
    weak = content(report="r.html", internal_report="i.html")
    weak["suppression"] |= {"guarantee": "subtables"}
    run(firms, weak)
    assert "What deserves care" in (firms / "i.html").read_text(encoding="utf-8")
    assert "What deserves care" not in (firms / "r.html").read_text(encoding="utf-8")


def test_a_pdf_without_its_extra_is_refused_before_anything_is_written(
    firms: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fpdf", None)
    with pytest.raises(MissingExtra, match="report"):
        run(firms, content(report="r.pdf", publish=["t.csv"]))
    assert not (firms / "r.pdf").exists()
    assert not (firms / "t.csv").exists()


def test_other_endings_are_refused(firms: Path) -> None:
    with pytest.raises(BadJob, match=r"endings: \.html, \.pdf"):
        job_from(content(report="r.docx"), "here", firms)


def test_a_report_on_an_anonymous_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    rows = [
        f"{rng.choice(['05111', '05112', '06111'])},{rng.choice(list('abc'))},{rng.choice(list('mw'))}"
        for _ in range(150)
    ]
    (tmp_path / "p.csv").write_text("region,age,sex\n" + "\n".join(rows) + "\n", encoding="utf-8")
    said: dict[str, Any] = {
        "data": {"microdata": "p.csv"}, "anonymise": {"attributes": ["region", "age", "sex"], "effort": 0.1},
        "output": {"report": "p.html", "internal_report": "r.html", "language": "de", "microdata": "a.csv"},
    }  # fmt: skip
    done = run(tmp_path, said)
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert done.anonymisation is not None
    most = done.anonymisation.quality.maxima[1]
    assert f"{most} in" in page
    assert "Abweichungen der Kontrolltabellen" in page
    assert "Größte Abweichung je Dimension" in page
    told = everything(tmp_path / "p.html")
    assert f"höchstens ab um: {max(2, most)} in Dimension 1, " in told
    for secret in ("Abweichungen der Kontrolltabellen", "Suche", "Mittel", "Kontrollzellen", "Startzahl"):
        assert secret not in told
    for report in (page, told):
        assert "Darf veröffentlicht werden" in report
        assert "für jede kleine Fallzahl des Originals mindestens 3 Werte für möglich" in report
    run(tmp_path, said | {"output": {"internal_report": "r.pdf"}})
    assert "Deviations of the control tables" in everything(tmp_path / "r.pdf")
    assert "The course of the search" in everything(tmp_path / "r.pdf")


def scientific_use(folder: Path, language: str, report: str) -> JobResult:
    rng = np.random.default_rng(5)
    draws = [(rng.choice(["15", "20", "25"]), rng.choice(list("NS")), *rng.lognormal([8, 6])) for _ in range(300)]
    rows = [f"{industry},{region},{x:.2f},{y:.2f}" for industry, region, x, y in draws]
    (folder / "r.csv").write_text("industry,region,turnover,wages\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return run(folder, {
        "data": {"microdata": "r.csv"},
        "microdata": {
            "values": ["turnover", "wages"], "classes": ["industry"], "seed": 987654321,
            "steps": [{"do": "drop", "columns": ["region"]}, {"do": "noise", "sd": 0.1237, "shift": 0.05}],
        },
        "attack": {"keys": ["industry"], "values": ["turnover", "wages"]},
        "output": {"internal_report": report, "report": f"public-{report}", "records": "out.csv", "language": language},
    })  # fmt: skip


def test_a_report_on_a_scientific_use_file_in_german_has_no_english_left(tmp_path: Path) -> None:
    scientific_use(tmp_path, "de", "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    texts = re.findall(r"<(?:h1|h2|p|th|td|caption|figcaption|summary)[^>]*>([^<]+)<", page)
    english = re.compile(r"\b(the|of|records|units|before|after|change|with|correct|mean)\b")
    assert not [t for t in texts if english.search(html.unescape(t))]
    assert "Trefferquote 0," in page
    assert "0.1237" not in page
    assert "987654321" not in page
    told = everything(tmp_path / "public-r.html")
    assert "Öffentlich" in told
    assert "Überlagerung" in told
    shown = set(re.findall(r"<td[^>]*>([^<]*\d[^<]*)</td>", told))
    assert shown == {"300"}


def test_a_report_on_a_scientific_use_file_as_pdf(tmp_path: Path) -> None:
    scientific_use(tmp_path, "en", "r.pdf")
    told = everything(tmp_path / "r.pdf")
    assert "Attack by record linkage" in told
    assert "Utility in numbers" in told
    assert "0.1237" not in told
    assert (tmp_path / "r.pdf").read_bytes().count(b"/Subtype /Image") >= 2


def test_what_was_asked_is_told_without_numbers() -> None:
    from diskret.job.report import asked_of

    said = content() | {"data": {"cells": "x.csv"}}
    said["suppression"] |= {"knowledge": {"relative": 0.4321}, "barriers": {"nace": 1}}
    job = job_of(said)
    assert isinstance(job, TableJob)
    told = dict(asked_of(job))
    assert told["knowledge"] == "relative"
    assert told["barriers"] == "chosen"
    assert not any(re.search(r"\d", choice) for choice in told.values())


# --- two reports, one for everybody ----------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["html", "pdf"])
@pytest.mark.parametrize(
    ("language", "marks"),
    [("en", ("Public", "Internal: confidential")), ("de", ("Öffentlich", "Intern: vertraulich"))],
)
def test_each_report_carries_its_mark_and_the_internal_one_is_for_its_owner(
    firms: Path, ending: str, language: str, marks: tuple[str, str]
) -> None:
    run(firms, content(language, report=f"p.{ending}", internal_report=f"i.{ending}"))
    public, internal = (everything(firms / f"{name}.{ending}") for name in "pi")
    assert marks[0] in public
    assert marks[1] not in public
    assert marks[1] in internal
    assert (firms / f"i.{ending}").stat().st_mode & 0o077 == 0


def test_the_internal_report_names_the_closest_cells_and_the_public_one_no_cell(firms: Path) -> None:
    done = run(firms, content(report="p.html", internal_report="i.html"))
    audit = present(done.suppressions["turnover"].audit)
    closest = [call.cell for call in audit.close_calls]
    public, internal = everything(firms / "p.html"), everything(firms / "i.html")
    assert closest
    assert all(cell in internal for cell in closest)
    every = done.tables["turnover"].name_cells(np.ones(done.tables["turnover"].shape, dtype=np.bool_))
    assert not [cell for cell in every if cell in public]


def test_the_public_report_depends_on_nothing_that_is_hidden(firms: Path) -> None:
    """Other hidden values, reasons, contributors, findings and warnings: the same bytes."""
    done = run(firms, content())
    table, audit = done.tables["turnover"], present(done.suppressions["turnover"].audit).plain()
    rng = np.random.default_rng(0)
    value = np.where(table.hidden, rng.integers(0, 10**9, table.shape) / 10, table.value)
    status = np.where(table.hidden, rng.integers(1, 3, table.shape), Status.NEVER).astype(np.uint8)
    other = replace(table, value=value, status=status, respondents=None, rule=None).sealed()
    found = {"safe": True, "summary": {"checked": 99, "insiders": 98}, "exposed": [], "close calls": ["nace=1"]}
    job = job_of(content())
    assert isinstance(job, TableJob)
    one = table_facts(job, {}, {"turnover": audit}, ["warned"])
    two = table_facts(job, {}, {"turnover": found}, ["of something else"])
    for ending in ("html", "pdf"):
        write_table_report(job.output, {"turnover": table}, one, firms / f"one.{ending}")
        write_table_report(job.output, {"turnover": other}, two, firms / f"two.{ending}")
        assert (firms / f"one.{ending}").read_bytes() == (firms / f"two.{ending}").read_bytes()


def test_a_job_on_risk_that_says_report_means_the_internal_one(tmp_path: Path) -> None:
    (tmp_path / "p.csv").write_text("a,b\n1,2\n1,2\n2,2\n")
    for key in ("report", "internal_report"):
        said = {"data": {"microdata": "p.csv"}, "risk": {"keys": ["a", "b"]}, "output": {key: f"{key}.html"}}
        run(tmp_path, said)
        assert "Internal: confidential" in (tmp_path / f"{key}.html").read_text(encoding="utf-8")
        assert (tmp_path / f"{key}.html").stat().st_mode & 0o077 == 0


# --- what a report is about ------------------------------------------------------------------------------------------


def test_a_report_names_data_program_and_date_and_the_public_one_no_hash(firms: Path) -> None:
    both = {"report": "p.html", "internal_report": "i.html"}
    run(firms, content("de", date="2026-03-31", **both))
    found = hashlib.sha256((firms / "firms.csv").read_bytes()).hexdigest()
    public, internal = everything(firms / "p.html"), everything(firms / "i.html")
    for told in (public, internal):
        assert "<dt>Datum</dt><dd>31.03.2026</dd>" in told
        assert f"<dd>diskret {diskret.__version__}</dd>" in told
        assert "Was versprochen ist" in told
    assert f"firms.csv, SHA-256 {found}" in internal
    assert found not in public
    assert "firms.csv" not in public


def test_no_report_looks_at_the_clock(firms: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.utime(firms / "firms.csv", (0, 86400 * 365))
    run(firms, content(report="p.html", internal_report="i.html"))
    assert "<dt>Data written on</dt><dd>1971-01-01</dd>" in everything(firms / "i.html")
    assert "1971" not in everything(firms / "p.html")
    monkeypatch.setenv("SOURCE_DATE_EPOCH", str(86400 * 730))
    run(firms, content(report="p.html"))
    assert "<dt>Date</dt><dd>1972-01-01</dd>" in everything(firms / "p.html")


def test_a_large_table_appears_as_a_summary_that_says_so(firms: Path) -> None:
    lines = ["k,r,x", *(f"{i:03d},{r},{i}" for i in range(300) for r in "abcdefg")]
    (firms / "cells.csv").write_text("\n".join(lines) + "\n")
    said = {
        "data": {"cells": "cells.csv"}, "table": {"by": ["k", "r"], "value": "x"},
        "classifications": {"k": {"prefixes": [1]}}, "output": {"report": "p.pdf", "unprotected": True},
    }  # fmt: skip
    run(firms, said)
    told = re.sub(r"\s+", " ", everything(firms / "p.pdf"))
    assert "A summary: 32 of 2,432 cells, on the coarsest levels. The published file holds the whole table." in told


@pytest.mark.parametrize(
    ("language", "kept", "cheapest"),
    [("en", "were hidden last period too", "no pattern that keeps the promise is cheaper"),
     ("de", "waren schon in der Vorperiode gesperrt", "Kein Muster, das die Zusicherung einhält, ist günstiger")],
)  # fmt: skip
def test_the_price_of_last_periods_pattern_stands_in_the_internal_report_alone(
    firms: Path, language: str, kept: str, cheapest: str
) -> None:
    """Shares, and the curve; what the cells cost is a sum of hidden values."""
    run(firms, content(working="last.parquet"))
    said = content(language, report="all.html", internal_report="house.html")
    said["suppression"] = {"previous": "last.parquet", "at_most": 0.2, "method": "optimal", "seconds": 5.0}
    done = run(firms, said).suppressions["turnover"]
    house, public = ((firms / name).read_text(encoding="utf-8") for name in ("house.html", "all.html"))
    assert kept in house
    assert (cheapest in house) == (done.gap == 0)
    assert "20.0 %".replace(".", "," if language == "de" else ".") in house
    assert kept not in public
    assert cheapest not in public
    assert not any(word in house for word in spellings(done.cost))
