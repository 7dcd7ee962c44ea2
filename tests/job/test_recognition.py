"""Codes are told from values, and dates from both, by what columns are called and what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from diskret.job.read import job_from
from diskret.job.recognise import NOTES, WHY, Recognised, recognise
from diskret.job.recognition.known import GROUPS, is_industry
from diskret.job.recognition.names import meaning_of
from diskret.job.recognition.prefixes import prefix_levels
from diskret.job.run import run_job
from diskret.job.template import job_text

ROWS = 400
RANDOM = np.random.default_rng(17)
NACE = ("10.11", "10.12", "10.71", "25.11", "25.12", "28.11", "46.31", "46.32", "01.11", "01.30")
GROUPS_OF_NACE = ("101", "102", "107", "251", "252", "281", "463", "467", "561", "620")
KREISE = ("01001", "01002", "05111", "05112", "05113", "09161", "09162", "16051")


def some(*codes: Any) -> list[Any]:
    """Codes in a random order, each of them often."""
    return [codes[i] for i in RANDOM.permutation(np.resize(np.arange(len(codes)), ROWS))]


def amounts(decimals: int = 2, most: float = 10_000) -> list[float]:
    """Amounts as they are measured: many small, few large."""
    return [round(float(x), decimals) for x in RANDOM.lognormal(5, 1.5, ROWS) % most]


def whole(most: int) -> list[int]:
    return [int(x) for x in RANDOM.integers(0, most, ROWS)]


def texts(values: Sequence[object]) -> list[str]:
    return [str(v) for v in values]


def days(form: str) -> list[str]:
    return [(date(2023, 1, 1) + timedelta(days=int(i))).strftime(form) for i in RANDOM.integers(0, 730, ROWS)]


C, V, ID, NO, W, H = "classification", "value", "identifier", "other", "weight", "holding"

# name, entries, role, reason (None: does not matter)
COLUMNS: list[tuple[str, list[Any], str, str | None]] = [
    # industries: as texts, with and without points, as numbers that lost zeros, without a telling name
    ("WZ", some(*NACE), C, "industry"),
    ("Wirtschaftszweig", some("10.1", "10.2", "25.1", "46.3", "01.1"), C, "industry"),
    ("NACE_code", some("C10", "C25", "G46", "A01", "J62"), C, "industry"),
    ("wz2008", some("01.11.1", "01.11.2", "10.71.0", "47.11.1", "56.10.1"), C, "industry"),
    ("industry", texts(some(*map(float, GROUPS_OF_NACE))), C, None),
    ("Branche", some(*map(int, GROUPS_OF_NACE)), C, "industry"),
    ("sector", some(10.1, 10.2, 25.1, 46.3, 1.1), C, "industry"),
    ("Abschnitt WZ", some("A", "B", "C", "F", "G"), C, "industry"),
    ("V7", some(*GROUPS_OF_NACE), C, "industry"),
    ("V8", some(*NACE), C, "industry"),
    ("V9", some(10.1, 10.2, 25.1, 28.1, 46.3, 56.1, 62.0), C, "industry"),
    ("ISIC4", some("0111", "1071", "4711", "5610"), C, "industry"),
    # regions, countries, postcodes
    ("AGS", some(*KREISE), C, "regions"),
    ("Kreis", some(*map(int, KREISE)), C, "regions"),
    ("Gemeindeschlüssel", some("05111000", "05112000", "09162000", "14612000"), C, "regions"),
    ("Kreisnummer", texts(some(1001, 1002, 5111, 5112, 9162)), C, "regions"),
    ("Land", some("01", "02", "05", "09", "16"), C, "regions"),
    ("Bundesland", some(*range(1, 17)), C, None),
    ("V12", some(*KREISE), C, "regions"),
    ("NUTS3", some("DE111", "DE112", "DEA11", "DEA12", "AT130"), C, "nuts"),
    ("geo", some("DE1", "DE2", "DEA", "FR1", "ITC"), C, "nuts"),
    ("region", some(*(30_000 + 100 * i for i in range(40))), C, "named"),
    ("country", some("DE", "FR", "IT", "PL", "NL", "US"), C, "country"),
    ("Herkunftsland", some("DEU", "FRA", "ITA"), C, "codes"),
    ("PLZ", some("01067", "10115", "20095", "50667", "80331"), C, "postcode"),
    ("Postleitzahl", some(1067, 10115, 20095, 50667, 80331), C, "postcode"),
    ("state", some("AK", "AL", "NY", "CA"), C, "codes"),
    ("Ort", some("Köln", "Bonn", "Aachen"), C, "codes"),
    # occupations, goods, persons, sizes
    ("ISCO08", some(2111, 2112, 2310, 5120, 9112), C, "occupation"),
    ("Beruf", some("11102", "25102", "71302", "84124"), C, "occupation"),
    ("occupation", some(*range(11, 97, 4)), C, "occupation"),
    ("Warennummer", some("01012100", "10019900", "87032110", "99302400"), C, "goods"),
    ("COICOP", some("01.1.1", "01.1.2", "04.5.1", "12.7.0"), C, "consumption"),
    ("Geschlecht", some("m", "w", "d"), C, "sex"),
    ("sex", some(1, 2), C, "named"),
    ("V3", some("männlich", "weiblich"), C, "sex"),
    ("age", some(*range(16, 90)), C, "age"),
    ("Alter", texts(some(*range(18, 66))), C, "age"),
    ("Altersklasse", some("0-4", "5-9", "10-14", "15 und mehr"), C, "classes"),
    ("age group", some("Y15-24", "Y25-54", "Y_GE55", "Y55-64"), C, None),
    ("Größenklasse", some("1 - 9", "10 - 49", "50 - 249", "250 und mehr"), C, "classes"),
    ("Beschäftigtengrößenklasse", some(1, 2, 3, 4, 5), C, "named"),
    ("Umsatzgrößenklasse", some("unter 1 Mio", "1 bis 5 Mio", "über 5 Mio"), C, None),
    ("income_class", some(1, 2, 3), C, "named"),
    ("Familienstand", some("LD", "VH", "GS"), C, "codes"),
    ("Rechtsform", some(11, 12, 35, 71), C, "named"),
    ("group", some("A", "B", "C"), C, "codes"),
    ("main", some(True, False), C, "codes"),
    ("V5", some("1_5", "6_9", "10_12"), C, None),
    ("V6", some("007", "011", "120", "450"), C, "padded"),
    ("V10", some(1, 2, 3, 9), C, "few"),
    ("V11", texts(some(*range(1810, 1820))), C, None),
    # time
    ("Jahr", some(2019, 2020, 2021), C, "year"),
    ("year", some("2014", "2015"), C, "year"),
    ("V13", some(1998, 1999, 2000, 2001), C, "year"),
    ("date", days("%Y-%m-%d"), C, "dates"),
    ("Datum", days("%d.%m.%Y"), C, "dates"),
    ("sold", days("%m/%d/%Y"), C, "dates"),
    ("Zeitpunkt", days("%Y-%m-%dT%H:%M:%S"), C, "dates"),
    ("Monat", some("202301", "202302", "202303"), C, "dates"),
    ("Berichtsmonat", some(202301, 202302, 202303), C, "dates"),
    ("Stichtag", [int(d) for d in days("%Y%m%d")], C, "dates"),
    ("Quartal", some("2025Q1", "2025Q2", "2024-Q4"), C, "dates"),
    ("month", some("2025-03", "2025-04"), C, "dates"),
    ("day", [date(2024, 1, 1) + timedelta(days=int(i)) for i in RANDOM.integers(0, 90, ROWS)], C, "dates"),
    ("delivered", some("3/4/2025", "5/6/2025", "12/1/2024"), C, "order"),
    # values
    ("Umsatz", amounts(), V, "amounts"),
    ("turnover_2024", texts(amounts(1)), V, "amounts"),
    ("Bruttolohn", whole(5000), V, "amounts"),
    ("Beschäftigte", some(1, 2, 3, 4, 7), V, "amounts"),
    ("employees", whole(300), V, "amounts"),
    ("Anzahl Beschäftigte", whole(40), V, "amounts"),
    ("Wert", some(*range(1900, 1960)), V, "amounts"),
    ("val", some(*range(9, 20)), V, "amounts"),
    ("Einfuhrwert (EUR)", amounts(0), V, "amounts"),
    ("n", some(1, 2, 3), V, "numbers"),
    ("freq", some(0, 1, 2, 5), V, "numbers"),
    ("x1", amounts(3), V, "numbers"),
    ("x2", some(0.25, 0.75, 0.50, 0.05), V, "numbers"),
    ("Umsatz je Beschäftigten", amounts(), V, "ratio"),
    ("Anteil", amounts(1, 100), V, "ratio"),
    # weights, owners, names of rows, the rest
    ("Hochrechnungsfaktor", amounts(4, 50), W, "weight"),
    ("sampling_weight", [100] * ROWS, W, "weight"),
    ("Konzern", [f"K{i}" for i in whole(90)], H, "holding"),
    ("firm_id", list(range(ROWS)), ID, "counted"),
    ("UTILITYID", whole(60), ID, "called"),
    ("hid", [i // 3 for i in range(ROWS)], ID, "called"),
    ("Betriebsnummer", [10_000_000 + 7 * i for i in range(ROWS)], ID, None),
    ("V14", texts([100_000_000 + 7919 * i for i in range(ROWS)]), ID, "own"),
    ("Firma", [f"Firma {i}" for i in range(ROWS)], ID, "own"),
    ("Land der Erhebung", ["DE"] * ROWS, NO, "same"),
    ("leer", [None] * ROWS, NO, "empty"),
]  # fmt: skip


@pytest.fixture(scope="module")
def found() -> Recognised:
    return recognise({name: entries for name, entries, _, _ in COLUMNS}, "microdata")


def test_columns_are_what_a_statistician_takes_them_for(found: Recognised) -> None:
    wrong = [
        (name, c.role, c.reason)
        for (name, _, role, reason), c in zip(COLUMNS, found.columns, strict=True)
        if c.role != role or (reason and c.reason not in (reason, "label"))
    ]
    assert not wrong, wrong


def named(found: Recognised, name: str) -> Any:
    return next(c for c in found.columns if c.name == name)


def test_codes_are_never_the_value(found: Recognised) -> None:
    assert found.named("value")[0] in ("Umsatz", "turnover_2024")
    assert found.content("f.csv")["table"]["value"][0] in ("Umsatz", "turnover_2024")


@pytest.mark.parametrize("name", ["V7", "V9", "V10", "V13", "V14", "delivered", "Kreisnummer", "Anteil"])
def test_what_is_uncertain_is_said(found: Recognised, name: str) -> None:
    assert not named(found, name).sure


@pytest.mark.parametrize("name", ["WZ", "Kreis", "NUTS3", "sex", "Umsatz", "Beschäftigte", "Datum", "V8"])
def test_what_name_and_entries_agree_on_is_sure(found: Recognised, name: str) -> None:
    column = named(found, name)
    assert column.sure or column.notes


@pytest.mark.parametrize(
    ("name", "note"),
    [("Kreis", "zeros"), ("Kreisnummer", "zeros"), ("sector", "zeros"), ("Branche", "number"),
     ("Postleitzahl", "zeros"), ("WZ", None), ("V8", None), ("AGS", None)],
)  # fmt: skip
def test_zeros_that_a_number_lost_are_said(found: Recognised, name: str, note: str | None) -> None:
    assert named(found, name).notes == ((note,) if note else ())


def test_zeros_behind_the_point_that_a_number_lost_are_said() -> None:
    as_numbers = recognise({"nace": some(10.11, 10.12, 10.2, 25.11, 25.3)})
    assert named(as_numbers, "nace").notes == ("ends",)
    assert "10.10" in named(as_numbers, "nace").why()
    assert named(as_numbers, "nace").prefixes == ()
    as_texts = recognise({"nace": some("10.11", "10.12", "10.20", "25.11", "25.30")})
    assert named(as_texts, "nace").notes == ()


@pytest.mark.parametrize(
    ("name", "prefixes"),
    [("WZ", (2, 4)), ("AGS", (2,)), ("NUTS3", (2, 3)), ("wz2008", (2,)), ("COICOP", (2,)), ("state", ()), ("Kreis", ()),
     ("Kreisnummer", ()), ("sector", ())],
)  # fmt: skip
def test_prefixes_group_the_codes_that_are_there(found: Recognised, name: str, prefixes: tuple[int, ...]) -> None:
    assert named(found, name).prefixes == prefixes


def test_no_prefix_joins_numbers_that_lost_their_leading_zero() -> None:
    assert prefix_levels(["10100", "10400", "20100", "20200", "100100", "100200"]) == ()
    assert prefix_levels(["010100", "010400", "020100", "020200", "100100", "100200"]) == (2,)
    assert prefix_levels(["11", "101", "102", "251", "252"]) == (2,)


def test_dates_are_offered_by_periods(found: Recognised) -> None:
    column = named(found, "Datum")
    assert column.periods == {"year": 2, "quarter": 8, "month": 24}
    assert (column.period, column.prefixes) == ("month", (4,))
    assert named(found, "Quartal").periods == {"year": 2, "quarter": 3}
    assert named(found, "delivered").period == "year"
    assert column.section == {"period": "month", "prefixes": [4]}


def test_long_series_of_dates_get_coarser_periods() -> None:
    first = date(1990, 1, 1)
    years = {"day": [first + timedelta(days=11 * i) for i in range(1000)], "x": np.arange(1000) * 0.5}
    assert named(recognise(years, "microdata"), "day").period == "year"


def test_dates_of_cells_keep_one_code_each() -> None:
    cells = {"day": [f"2025-0{m}-01" for m in (1, 2, 3)] * 2, "sex": ["m"] * 3 + ["w"] * 3, "x": np.arange(6) * 1.5}
    found = recognise(cells)
    assert (found.kind, named(found, "day").period) == ("cells", "month")
    weeks = cells | {"day": ["2025-01-06", "2025-01-13", "2025-01-20"] * 2}
    assert (recognise(weeks).kind, named(recognise(weeks), "day").period) == ("cells", None)


def test_a_pivot_export_has_values_side_by_side() -> None:
    found = recognise({
        "region": some("N", "S"), "rent_s": amounts(), "cars_s": some(0, 1, 2), "rent_l": amounts(),
        "cars_l": whole(90),
    })  # fmt: skip
    assert [c.role for c in found.columns] == [C, V, V, V, V]
    assert not named(found, "cars_s").sure


def test_remarks_in_a_few_rows_make_no_classification() -> None:
    rows = {"region": ["N", "S"] * 30, "turnover": [1.5 * i for i in range(60)], "note": ["estimated", *[None] * 59]}
    assert recognise(rows, "microdata").content("firms.csv")["table"]["by"] == ["region"]


def test_a_label_beside_its_code_makes_no_second_classification() -> None:
    names = {"01": "Holstein", "02": "Hamburg", "03": "Hannover", "04": "Bremen", "05": "Köln"}
    codes = some(*names)
    found = recognise({"Land": codes, "Landesname": [names[c] for c in codes], "x": amounts()})
    assert found.content("f.csv")["table"]["by"] == ["Land"]
    assert named(found, "Landesname").reason == "label"


def test_a_list_of_keys_with_names_is_a_table_by_the_keys() -> None:
    keys = [f"05{i:03d}" for i in range(60)]
    found = recognise({"AGS": keys, "Gemeinde": [f"Ort {i}" for i in range(60)], "Einwohner": np.arange(60) * 37})
    assert (found.kind, found.named("classification"), found.named("value")) == ("cells", ["AGS"], ["Einwohner"])


def test_the_best_value_comes_first_and_the_others_are_named(tmp_path: Path) -> None:
    lines = ["hours;nr;index_2015;umsatz;wz"] + [f"{i % 40};{i};{i}.5;{i * 3}.25;{NACE[i % 10]}" for i in range(1, 60)]
    (tmp_path / "f.csv").write_text("\n".join(lines))
    found = recognise(tmp_path / "f.csv")
    assert found.named("value") == ["umsatz", "hours"]
    text = job_text(tmp_path / "f.csv", tmp_path)
    assert 'value = ["umsatz"]' in text
    assert 'Other number columns: "hours"' in text


def test_init_says_what_it_is_not_sure_of(tmp_path: Path) -> None:
    lines = ["V1,day,x"] + [f"{i % 5 + 1},2025-0{i % 3 + 1}-1{i % 9},{i}.5" for i in range(60)]
    (tmp_path / "f.csv").write_text("\n".join(lines))
    text = job_text(tmp_path / "f.csv", tmp_path)
    assert '# not sure: it could be a value instead\n[classifications."V1"]' in text
    assert 'period = "month"            # codes of the dates: 1 by year, 1 by quarter, 3 by month' in text


def test_a_first_job_with_dates_runs_as_it_is(tmp_path: Path) -> None:
    lines = ["day;turnover"] + [f"{i % 28 + 1:02d}.{i % 12 + 1:02d}.{2023 + i % 2};{i}.5" for i in range(200)]
    (tmp_path / "f.csv").write_text("\n".join(lines))
    content = recognise(tmp_path / "f.csv").content("f.csv")
    assert content["classifications"] == {"day": {"period": "month", "prefixes": [4]}}
    (table,) = run_job(job_from(content, "page", tmp_path), tmp_path).tables.values()
    assert {"2023", "2024", "2024-12"} <= {*table.by["day"].codes}


def test_names_mean_what_their_last_word_means() -> None:
    meanings = {
        "Umsatzsteuer": "value", "Landwirtschaftsfläche": "value", "overtime": None, "Wirtschaftszweig-Nr.": "industry",
        "Anzahl Unternehmen": "count", "Zahl der Betriebe": "count", "Alternative": None, "Export": "value",
        "report": None, "unpaid": None, "arbeid": None, "PersonID": "identifier", "Monatslohn": "value",
        "earningsMonth": "value", "Gemeindename": "region", "weightsEmployees": "weight", "Beruf_Code": "occupation",
    }  # fmt: skip
    assert {name: meaning_of(name) for name in meanings} == meanings


def test_groups_of_industries_belong_to_divisions_that_exist() -> None:
    assert len(GROUPS) == 88
    assert all(is_industry(f"{division}.{digit}") for division, digits in GROUPS.items() for digit in digits)
    assert not any(map(is_industry, ("04", "34.1", "40", "57.1", "89", "100", "10.0", "W", "10.111")))


def test_reasons_and_notes_have_words_in_both_languages() -> None:
    assert all(en and de and en != de for table in (WHY, NOTES) for en, de in table.values())


@pytest.mark.parametrize(
    "number", ["{},50 €", "EUR {}", "$ {}.5", "{} TEUR", "{},-", "({},5)", "{},5 1)", "{}-", "{} Mio.", "\u2212{}"]
)
def test_numbers_with_units_are_values_that_nobody_leaves_out(number: str) -> None:
    found = recognise({"region": ["N", "S"] * 20, "x": [number.format(1000 + 37 * i) for i in range(40)]})
    assert found.named("value") == ["x"]
    assert not found.columns[1].sure


@pytest.mark.parametrize("mark", ["-", ".", "/", "x", "...", ""])
def test_a_value_with_marks_for_what_is_unknown_is_still_the_value(mark: str) -> None:
    found = recognise({"region": ["N", "S"] * 20, "Umsatz": [mark if i % 2 else f"{1000 + 37 * i}" for i in range(40)]})
    assert found.named("value") == ["Umsatz"]


def test_a_value_with_gaps_stands_behind_a_whole_one() -> None:
    gaps = [None if i == 3 else 2.5 * i for i in range(40)]
    found = recognise({"region": ["N", "S"] * 20, "costs": gaps, "turnover": [1.5 * i for i in range(40)]})
    assert found.named("value") == ["turnover", "costs"]


@pytest.mark.parametrize("text", ["F{}", "Str. {}", "{} Hauptstr.", "{}.1.7", "49 {} 123", "{}:30"])
def test_names_with_figures_in_them_are_no_values(text: str) -> None:
    found = recognise({"region": ["N", "S"] * 20, "x": [text.format(1000 + i) for i in range(40)]})
    assert found.named("value") == []
