"""Codes that look alike: warned of with both spellings, one code on request, and named where one is not found."""

from __future__ import annotations

import unicodedata
import warnings
from pathlib import Path
from typing import Any

import pytest

from diskret import Pool, ProtectionWarning, Table, tabulate
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.model.errors import DuplicateCode, MissingColumn, UnknownCode
from diskret.model.hierarchy import Hierarchy
from diskret.model.source import normalised, open_source
from diskret.model.spelling import plain
from diskret.risk import measure_anonymity
from diskret.suppression.time_series import weighed
from diskret.tabulation.options import Roles, TabulationOptions

NFD = unicodedata.normalize("NFD", "Köln")
ODD = [NFD, "Kö\u200bln", "\ufeffKöln", "Kö\u00adln", "Köln\u00a0", "Kö\u202eln"]
"""Spellings of Köln that look like it."""
NORMALISE = TabulationOptions(normalise=True)


def firms(*cities: str) -> dict[str, Any]:
    return {"city": list(cities), "turnover": [10.0 * (i + 1) for i in range(len(cities))]}


@pytest.mark.parametrize("odd", [*ODD[:4], ODD[5], "New  York", "New\u202fYork"])
def test_codes_that_differ_only_in_what_cannot_be_seen_are_warned_of_with_both_spellings(odd: str) -> None:
    other = plain(odd)
    with pytest.warns(ProtectionWarning, match="look alike but are counted separately") as said:
        table = tabulate(firms("Bonn", other, odd), by={"city": None}, value="turnover")
    assert table.size == 4
    text = str(said[0].message)
    assert repr(other) in text
    assert (odd in text) == ("  " in odd), "what cannot be seen is written out"


@pytest.mark.parametrize("odd", ODD)
def test_on_request_they_are_one_code(odd: str) -> None:
    table = tabulate(firms("Köln", odd, "Bonn"), by={"city": None}, value="turnover", options=NORMALISE)
    assert table.by["city"].codes == ("Bonn", "Köln", "Total")
    assert table.value.tolist() == [30.0, 30.0, 60.0]
    cells = Table.from_cells(firms("Bonn", odd), by={"city": None}, value="turnover", normalise=True)
    assert cells.by["city"].codes == ("Bonn", "Köln", "Total")


@pytest.mark.parametrize("odd", ODD)
def test_a_hierarchy_in_another_spelling_is_told_and_fits_on_request(odd: str) -> None:
    city = Hierarchy.flat([odd, "Bonn"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(UnknownCode, match=r"the hierarchy writes .* for 'Köln': set normalise = true"):
            tabulate(firms("Köln", "Bonn"), by={"city": city}, value="turnover")
        with pytest.raises(UnknownCode, match="set normalise = true"):
            Table.from_cells(firms("Köln", "Bonn"), by={"city": city}, value="turnover")
    table = tabulate(firms("Köln", "Bonn"), by={"city": city}, value="turnover", options=NORMALISE)
    assert table.value.tolist() == [10.0, 20.0, 30.0]


def test_one_owner_in_two_spellings_is_one_contributor_on_request() -> None:
    records = firms("Bonn", "Bonn") | {"owner": ["Köln AG", f"{NFD}\u00a0AG"]}
    table = tabulate(records, by={"city": None}, value="turnover", roles=Roles(holding="owner"), options=NORMALISE)
    assert table.holdings is not None
    assert table.holdings.count.tolist() == [1, 1]


def test_two_spellings_in_one_hierarchy_are_refused_on_request() -> None:
    with pytest.raises(DuplicateCode, match=r"'Köln' and 'Ko\\u0308ln' are one code in two spellings"):
        Hierarchy.flat(["Köln", NFD]).normalised()


def test_linked_tables_that_spell_a_code_differently_are_warned_of() -> None:
    one, two = (Table.from_cells(firms("Bonn", code), by={"city": None}, value="turnover") for code in ("Köln", NFD))
    with pytest.warns(ProtectionWarning, match=r"'Köln' and 'Ko\\u0308ln'"):
        Pool.of({"one": one, "two": two})


def test_last_period_in_another_spelling_is_warned_of() -> None:
    now, before = (Table.from_cells(firms("Bonn", c), by={"city": None}, value="turnover") for c in ("Köln", NFD))
    with pytest.warns(ProtectionWarning, match="look alike"):
        weighed(now, before)


def test_keys_of_records_that_look_alike_are_warned_of() -> None:
    with pytest.warns(ProtectionWarning, match="codes of 'city' look alike"):
        measure_anonymity(firms("Köln", NFD), keys=["city"])


def test_marks_of_direction_are_warned_of_in_codes_and_labels() -> None:
    with pytest.warns(ProtectionWarning, match=r"invisible characters: 'Bonn\\u202e'"):
        Table.from_cells(firms("Bonn\u202e"), by={"city": None}, value="turnover")
    city = Hierarchy.flat(["B"], labels={"B": "nnoB\u202e"})
    with pytest.warns(ProtectionWarning, match="labels of 'city' hold marks that change"):
        Table.from_cells(firms("B"), by={"city": city}, value="turnover")


def test_capitals_other_alphabets_and_other_signs_stay_different_codes() -> None:
    codes = ["a", "A", "\u0430", "m²", "m2", "ﬁn", "fin"]
    assert [plain(code) for code in codes] == codes
    assert tabulate(firms(*codes), by={"city": None}, value="turnover", options=NORMALISE).size == len(codes) + 1


def test_a_column_in_another_spelling_is_named_and_found_on_request(tmp_path: Path) -> None:
    file = tmp_path / "firms.csv"
    file.write_text(f"{NFD},x\nBonn,1\n", encoding="utf-8")
    with pytest.raises(MissingColumn, match=r"the file writes 'Ko\\u0308ln' for 'Köln': set normalise"):
        open_source(file).require(["Köln"])
    open_source(normalised(file)).require(["Köln"])


def test_the_engine_and_python_agree_on_how_texts_look() -> None:
    signs = [
        *"a oö",
        "\u0308",
        "\u0301",
        "\u0327",
        "\u200d",
        "\xa0",
        "\t",
        "\u2028",
        "\u1100",
        "\u1161",
        "\uac00",
        "\ufe0f",
    ]
    texts = [a + b + c for a in signs for b in signs for c in signs]
    data = open_source(normalised({"t": texts}))
    seen = [t for (t,) in data.query(f"SELECT t FROM {data.view}")]
    assert seen == [plain(t) for t in texts]
    assert [plain(t) for t in seen] == seen


def test_a_job_normalises_data_and_hierarchies(tmp_path: Path) -> None:
    (tmp_path / "firms.csv").write_text("city,turnover\nKöln,10\nKo\u0308ln,20\nBonn,5\n", encoding="utf-8")
    (tmp_path / "city.csv").write_text("code;parent\nKo\u0308ln;NRW\nBonn\u00a0;NRW\n", encoding="utf-8")
    content: dict[str, Any] = {
        "data": {"microdata": "firms.csv", "normalise": True},
        "classifications": {"city": {"hierarchy": "city.csv"}},
        "table": {"by": ["city"], "value": "turnover"},
    }
    table = run_job(job_from(content, "job.toml", tmp_path), tmp_path).tables["turnover"]
    assert table.by["city"].codes == ("Köln", "Bonn", "NRW")
    assert table.value.tolist() == [30.0, 5.0, 35.0]
