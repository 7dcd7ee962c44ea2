"""With German chosen, the server speaks German: what it refuses, what it warns of, how it cures."""

from __future__ import annotations

import re
import time
from copy import deepcopy
from typing import Any

import pytest
from starlette.testclient import TestClient

from diskret.model.messages import PLACE, book, message_in
from diskret.publication.phrases import warning_in
from diskret.web.workbench import Workbench
from tests.spoken import spoken
from tests.web.case import JOB

GERMAN = {"x-diskret-language": "de"}
NOT_ON_THE_PAGE = (
    "cli/", "tabulation/spark", "model/given.py", "model/older.py", "cellkey/p_table.py", "suppression/older.py",
    "comparison/options.py", "comparison/compare.py", "perturbation/perturb.py", "perturbation/controlled.py",
    "perturbation/merging.py", "io/arb", "argus/", "microdata/by_column.py", "microdata/on_spark.py",
)  # fmt: skip
"""What only Python and the command line raise: other engines, wrong arguments, older names, methods
without a page, batches."""
KEYS = re.compile(
    r"'levels'|\[\w+\]( \w+)?|[\w.]+ = \{v\}|control\.tables|pip install .*|0 < large <= small <= 1\."
    r"|(intervals|guard|zeros|effort|guarantee) \{v\}|\{v\}, or \{v\}|\{v\} is \{v\}|\{v\} of \{v\} \{v\}"
    r"|\{v\} mistake\{v\} in the (plan|file)\{v\}|.+ is (deprecated|now called).*"
)
"""Keys of a job, and frames around messages that are in the book themselves."""
ENGLISH = {
    "the", "of", "and", "with", "not", "is", "are", "were", "been", "to", "from", "for", "this", "that", "which", "has",
    "have", "cannot", "there", "their", "row", "rows", "column", "codes", "must", "does", "should",
}  # fmt: skip
"""Words that are not German and stand in almost every English sentence."""
QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\([^)]*\)|\{.*\}|\[[^]]*\]|[\w.]+ ?= ?\S+|\w+[_.(]\S+|--\w+")


def english_in(text: str) -> set[str]:
    """English words of a text, without what is quoted or technical."""
    return set(re.findall(r"[a-zäöüß]+", QUOTED.sub(" ", text).lower())) & ENGLISH


def test_every_message_the_page_can_show_is_in_the_german_book() -> None:
    missing = {
        f"{said.place}: {said.text}"
        for said in spoken(NOT_ON_THE_PAGE)
        if not KEYS.fullmatch(said.text)
        if not any(_is_german(PLACE.sub(sample, said.text)) for sample in ("'x'", "7"))
    }
    assert missing == set()


def _is_german(english: str) -> bool:
    german = warning_in(english, "de")
    return german != english and not english_in(german)


def test_the_book_names_nothing_that_its_english_does_not_and_stays_free_of_english_itself() -> None:
    for phrase in book().phrases:
        assert set(PLACE.findall(phrase.german)) <= set(phrase.english.groupindex), phrase.german
        assert not english_in(phrase.german), phrase.german
    assert not [german for german in book().plain.values() if english_in(german)]


@pytest.mark.parametrize(
    ("english", "german"),
    [
        (
            "column 'x' has 1,234 missing, undefined or infinite numbers",
            "Spalte 'x' hat 1.234 fehlende, nicht definierte oder unendliche Zahlen",
        ),
        (
            "2 mistakes in the job file\n    rules.k: unknown key (did you mean 'p_percent'?)\n    table.by: missing",
            "2 Fehler im Auftrag\n    rules.k: unbekannte Angabe (war 'p_percent' gemeint?)\n    table.by: fehlt",
        ),
        ("no column 'turnover' and 3 more", "keine Spalte 'turnover' und 3 weitere"),
        (
            "did you mean 'Umsatz'? The columns are 'a', 'b' and 7 more.",
            "war 'Umsatz' gemeint? Die Spalten sind 'a', 'b' und 7 weitere.",
        ),
        (
            "the run 'r' is damaged: job.json is not a job",
            "der Lauf 'r' ist beschädigt: job.json ist kein Auftrag",
        ),
        ("firms of the north.csv, rows 3, 4", "firms of the north.csv, Zeilen 3, 4"),
    ],
)  # fmt: skip
def test_numbers_lists_and_messages_inside_messages_are_german_and_names_stay(english: str, german: str) -> None:
    assert message_in(english, "en") == english
    assert message_in(english, "de") == german


def test_a_refusal_its_cures_and_what_is_left_out_are_said_in_the_language_of_the_page(
    page: TestClient, bench: Workbench
) -> None:
    (bench.workspace.root / "broken.csv").write_text("industry,region,turnover\nA,N1,9.5\nB,S1,\n")
    content = deepcopy(JOB) | {"data": {"microdata": "broken.csv"}}
    page.put("/api/draft", json=content)
    error = page.get("/api/tables/draft", headers=GERMAN).json()["error"]
    assert error["what"] == "Spalte 'turnover' hat 1 fehlende, nicht definierte oder unendliche Zahl"
    assert error["where"].endswith("broken.csv, Zeile 2")
    assert error["hint"] == "sie füllen, oder die Zeilen weglassen."
    assert [each["words"] for each in error["cures"]] == ["Diese Zeilen weglassen", "Als null zählen"]
    assert [each["label"] for each in error["cures"]] == ["leave those rows out", "take them as zero"]
    content["table"]["without_value"] = "leave out"
    page.put("/api/draft", json=content)
    assert "1 von 2 Zeilen sind weggelassen" in page.get("/api/draft/marks", headers=GERMAN).json()["warnings"][0]
    assert "1 of 2 rows are left out" in page.get("/api/draft/marks").json()["warnings"][0]


def test_a_run_that_was_refused_says_so_in_the_language_of_whoever_looks(page: TestClient, bench: Workbench) -> None:
    (bench.workspace.root / "broken.csv").write_text("industry,region,turnover\nA,N1,-5\nB,S1,7\n")
    page.put("/api/draft", json=deepcopy(JOB) | {"data": {"microdata": "broken.csv"}})
    run = page.post("/api/runs", json={"name": "x"}).json()["id"]
    end = time.monotonic() + 60
    while (found := page.get("/api/runs").json()["runs"][0])["state"] == "running" and time.monotonic() < end:
        time.sleep(0.05)
    german = page.get(f"/api/runs/{run}", headers=GERMAN).json()
    assert found["state"] == german["state"] == "refused"
    assert "negative values" in found["error"]["what"]
    assert "negative Werte" in german["error"]["what"]
    assert "negative Werte" in page.get("/api/runs", headers=GERMAN).json()["runs"][0]["error"]["what"]


@pytest.mark.parametrize("asked", ["", "fr", "de-AT,de;q=0.9", "x" * 9000, "DE"])
def test_a_language_nobody_speaks_is_answered_in_english(page: TestClient, asked: str) -> None:
    said: Any = page.get("/api/runs/none", headers={"x-diskret-language": asked}).json()["error"]
    assert said["what"] == ("es gibt keinen Lauf 'none'" if asked[:2].lower() == "de" else "there is no run 'none'")
