"""What is published can be read back by others, in every format."""

from __future__ import annotations

import csv
import datetime
import json
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from diskret.model.errors import BadOption
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.publication.workbook import sheet_names
from tests.present import present
from tests.publication.leaving import publish


@pytest.mark.parametrize("decimals", [0, 1, 3, None])
def test_every_reader_finds_the_open_values_and_the_marks(
    tools: Any, ending: str, decimals: int, tmp_path: Path
) -> None:
    table = tools.example(decimals=decimals)
    path = tmp_path / f"t{ending}"
    publish(table, path)
    assert tools.read(path, table) == tools.expected(table)


def test_several_responses_stand_in_one_file(tools: Any, ending: str, tmp_path: Path) -> None:
    first, second = tools.example(1, "turnover", 1), tools.example(2, "wages", 0)
    path = tmp_path / f"t{ending}"
    publish({"turnover": first, "wages": second}, path)
    assert tools.read(path, first) == tools.expected(first) | tools.expected(second)


def test_one_and_two_classifications(tools: Any, ending: str, tmp_path: Path) -> None:
    for names in (["region"], ["nace"], ["nace", "region"], ["region", "nace"]):
        whole = tools.example()
        by = {n: whole.by[n] for n in names}
        shape = tuple(len(h) for h in by.values())
        size = int(np.prod(shape))
        part = Table(
            by, "turnover", whole.value.flat[:size].reshape(shape), whole.status.flat[:size].reshape(shape), decimals=1
        )
        path = tmp_path / f"{'_'.join(names)}{ending}"
        publish(part, path)
        assert tools.read(path, part) == tools.expected(part)


@pytest.mark.parametrize("hidden", [False, True])
def test_one_cell(tools: Any, ending: str, hidden: Any, tmp_path: Path) -> None:
    status = np.array([Status.PRIMARY if hidden else Status.OPEN], dtype=np.uint8)
    table = Table({"all": Hierarchy.flat([])}, "x", np.array([12.5]), status, decimals=1)
    publish(table, tmp_path / f"t{ending}")
    assert tools.read(tmp_path / f"t{ending}", table) == {("x", "Total"): None if hidden else 12.5}


def test_a_table_of_zeros(tools: Any, ending: str, tmp_path: Path) -> None:
    table = replace(tools.example(), value=np.full((3, 4, 5), -0.0), status=np.zeros((3, 4, 5), dtype=np.uint8))
    publish(table, tmp_path / f"t{ending}")
    assert set(tools.read(tmp_path / f"t{ending}", table).values()) == {0.0}
    if ending in (".csv", ".px", ".json"):
        assert "-0" not in (tmp_path / f"t{ending}").read_text(encoding="utf-8").replace("utf-8", "")


# --- counts ----------------------------------------------------------------------------------------------------------


def test_counts_are_published_for_all_cells_when_asked(tools: Any, ending: str, tmp_path: Path) -> None:
    table = tools.example()
    path = tmp_path / f"t{ending}"
    publish(table, path, counts=True)
    counts = replace(table, value=table.count.astype(float), status=np.zeros_like(table.status))
    assert tools.read(path, table) == tools.expected(table) | tools.expected(counts, "count")


def test_counts_of_each_response_where_they_differ(tools: Any, tmp_path: Path) -> None:
    tables = {"turnover": tools.example(1), "wages": tools.example(2, "wages")}
    publish(tables, tmp_path / "t.csv", counts=True, labels=False)
    header = (tmp_path / "t.csv").read_text().splitlines()[0]
    assert header == "sex,nace,region,turnover,wages,turnover_count,wages_count"


def test_counts_that_are_the_hidden_values_are_refused(tools: Any, tmp_path: Path) -> None:
    table = tools.example()
    with pytest.raises(BadOption, match="are the values"):
        publish(replace(table, frequency=True), tmp_path / "t.csv", counts=True)
    with pytest.raises(BadOption, match="are the values"):
        publish({"a": table, "n": replace(table, value=table.count.astype(float))}, tmp_path / "t.csv", counts=True)


def test_a_count_of_zero_must_not_tell_a_hidden_zero(tools: Any, tmp_path: Path) -> None:
    table = tools.example()
    table.count[table.index("m", "C", "05")] = 0
    table = table.with_status(Status.SECONDARY, [("m", "C", "05")])
    with pytest.raises(BadOption, match="no contributors") as caught:
        publish(table, tmp_path / "t.csv", counts=True)
    assert "sex=m, nace=C, region=05" in caught.value.where
    publish(table, tmp_path / "t.csv")


def test_counts_need_counts(tools: Any, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="no contributor counts"):
        publish(replace(tools.example(), respondents=None), tmp_path / "t.csv", counts=True)


# --- what is special about one format --------------------------------------------------------------------------------


def test_csv_has_exactly_the_decimals_of_the_table_and_labels(tmp_path: Path) -> None:
    table = Table.from_cells(
        {"s": ["m", "w"], "x": [1.5, 2.25], "st": ["primary", "secondary"]},
        by={"s": Hierarchy.flat(["m", "w"], labels={"m": "Männer, alle"})}, value="x", status="st",
    )  # fmt: skip
    publish(table, tmp_path / "t.csv", mark='"', zero="-")
    assert (tmp_path / "t.csv").read_bytes().decode() == (
        's,s_label,x\nm,"Männer, alle",""""\nw,w,""""\nTotal,Total,3.75\n'
    )
    publish(replace(table, value=np.array([0.0, 0.0, 0.0])), tmp_path / "z.csv", zero="-", labels=False)
    with (tmp_path / "z.csv").open(newline="") as file:
        assert [r["x"] for r in csv.DictReader(file)] == ["x", "x", "-"]


def test_xlsx_has_numbers_marks_bold_sums_frozen_panes_and_a_legend(tools: Any, tmp_path: Path) -> None:
    table = tools.example()
    publish(table, tmp_path / "t.xlsx", title="Umsatz <2024>", source="Amt", unit="EUR", zero="-", language="de")
    rows = tools.sheets(tmp_path / "t.xlsx")["turnover"]
    texts = [[v[1] for v in row.values()] for row in rows]
    assert texts[0] == ["Umsatz <2024>"]
    assert texts[1] == ["turnover, Einheit: EUR"]
    assert texts[-3:] == [
        ["x = Zahlenwert geheim zu halten"], ["- = nichts vorhanden (genau null)"], ["Quelle: Amt"]
    ]  # fmt: skip
    assert texts[4][-1] == "Größe"
    assert texts[5][:3] == ["m", "B", "-"]
    with zipfile.ZipFile(tmp_path / "t.xlsx") as book:
        sheet = book.read("xl/worksheets/sheet1.xml").decode()
        styles = ElementTree.fromstring(book.read("xl/styles.xml"))
        for name in book.namelist():
            ElementTree.fromstring(book.read(name))
    assert '<pane xSplit="2" ySplit="5" topLeftCell="C6"' in sheet
    main = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    formats = present(styles.find(f"{main}cellXfs"))
    bold = [x.attrib["fontId"] == "1" for x in formats]
    codes = {f.attrib["numFmtId"]: f.attrib["formatCode"] for f in styles.iter(f"{main}numFmt")}
    for row, values in zip(rows[5 : 5 + 12], table.value.reshape(12, 5), strict=True):
        cells = list(row.values())
        is_sum = "Insgesamt" in (cells[0][1], cells[1][1])
        assert [bold[s] for _, _, s in cells[2:]] == [
            is_sum or code in ("05", "DE") for code in table.hierarchies[2].codes
        ]
        for kind, text, style in cells[2:]:
            if kind == "n":
                assert float(text) in values
                assert codes[formats[style].attrib["numFmtId"]] == "#,##0.0"


def test_sheet_names_fit_excel() -> None:
    names = sheet_names(["a" * 40, "a" * 50, "A" * 31, "'q'", "history", "[]:*?/\\", ""])
    assert len({n.casefold() for n in names}) == len(names)
    assert all(0 < len(n) <= 31 and not set("[]:*?/\\") & set(n) for n in names)
    assert "history" not in names


def test_a_table_too_long_for_excel_is_refused(tmp_path: Path) -> None:
    long = Hierarchy.flat([str(i) for i in range(1_048_570)])
    table = Table({"c": long}, "x", np.zeros(len(long)), np.zeros(len(long), dtype=np.uint8))
    with pytest.raises(BadOption, match="Excel"):
        publish(table, tmp_path / "t.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_jsonstat_tells_hierarchies_labels_and_what_the_mark_means(tools: Any, tmp_path: Path) -> None:
    publish(tools.example(), tmp_path / "t.json", source="Amt", updated=datetime.date(2024, 5, 31), title="T")
    data = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    region = data["dimension"]["region"]["category"]
    assert region["child"] == {"05": ["05111", "05112"], "DE": ["05", "11"]}
    assert region["label"]["11"] == 'Berlin, "Stadt" & <Land>'
    assert (data["source"], data["updated"], data["label"]) == ("Amt", "2024-05-31", "T")
    assert data["note"] == ["x = suppressed for confidentiality"]


def test_jsonstat_without_suppressed_cells_has_no_status(tools: Any, tmp_path: Path) -> None:
    table = tools.example()
    publish(replace(table, status=np.zeros_like(table.status)), tmp_path / "t.json")
    assert "status" not in json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))


def test_jsonstat_names_the_measures_apart_from_the_classifications(tools: Any, tmp_path: Path) -> None:
    table = tools.example()
    table = replace(table, by={"contents": table.by["sex"], "nace": table.by["nace"], "region": table.by["region"]})
    publish({"a": table, "b": table}, tmp_path / "t.json", unit="EUR")
    data = json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))
    assert data["id"] == ["contents_", "contents", "nace", "region"]
    assert data["role"] == {"metric": ["contents_"]}
    assert data["dimension"]["contents_"]["category"]["unit"]["a"] == {"label": "EUR", "decimals": 1}


def test_px_has_the_mandatory_keywords(tools: Any, tmp_path: Path) -> None:
    publish(
        {"turnover": tools.example(), "wages": tools.example(1, "wages", 0)}, tmp_path / "t.px",
        updated=datetime.date(2024, 5, 31), subject="Industry", unit="EUR", source="Amt",
    )  # fmt: skip
    keywords, data = tools.px_keywords(tmp_path / "t.px")
    assert keywords["CHARSET"] == ["ANSI"]
    assert keywords["CODEPAGE"] == ["utf-8"]
    assert next(iter(keywords)) == "CHARSET"
    assert list(keywords)[:2] == ["CHARSET", "AXIS-VERSION"]
    for key in ("LANGUAGE", "MATRIX", "SUBJECT-CODE", "SUBJECT-AREA", "TITLE", "CONTENTS", "UNITS", "STUB", "HEADING"):
        assert keywords[key] != [""]
    assert keywords["CREATION-DATE"] == ["20240531 00:00"]
    assert (keywords["DECIMALS"], keywords["SHOWDECIMALS"]) == (["1"], ["0"])
    assert keywords['PRECISION("contents","turnover")'] == ["1"]
    assert keywords["DATASYMBOL2"] == ["x"]
    assert keywords['ELIMINATION("region")'] == ["Größe"]
    assert keywords['VALUES("region")'][3] == "Berlin, 'Stadt' & <Land>"
    assert len(data) == 2 * 3 * 4 * 5


def test_px_writes_no_exponents_and_tells_equal_labels_apart(tools: Any, tmp_path: Path) -> None:
    place = Hierarchy.flat(["1", "2"], labels={"1": "Neustadt", "2": "Neustadt"})
    table = Table({"p": place}, "x", np.array([1e22, 1e-7, 1e22]), np.zeros(3, dtype=np.uint8), decimals=None)
    publish(table, tmp_path / "t.px")
    keywords, data = tools.px_keywords(tmp_path / "t.px")
    assert keywords['VALUES("p")'] == ["Neustadt (1)", "Neustadt (2)", "Total"]
    assert data == ["10000000000000000000000", "0.0000001", "10000000000000000000000"]


# --- refusals --------------------------------------------------------------------------------------------------------


def test_an_unknown_ending_names_the_known_ones(tools: Any, tmp_path: Path) -> None:
    with pytest.raises(BadOption) as caught:
        publish(tools.example(), tmp_path / "t.doc")
    assert all(ending in caught.value.hint for ending in tools.formats)
    with pytest.raises(BadOption, match="without ending"):
        publish(tools.example(), tmp_path / "t")


@pytest.mark.parametrize(
    "options",
    [{"mark": ""}, {"mark": "0"}, {"mark": "1,5"}, {"mark": "nan"}, {"mark": "a\nb"}, {"mark": "-", "zero": "-"},
     {"zero": " "}, {"language": "xx"}, {"intervall": True}],
)  # fmt: skip
def test_options_that_would_mislead_are_refused(tools: Any, options: Any, tmp_path: Path) -> None:
    with pytest.raises(BadOption):
        publish(tools.example(), tmp_path / "t.csv", **options)
    assert list(tmp_path.iterdir()) == []


def test_tables_of_different_classifications_do_not_share_a_file(tools: Any, tmp_path: Path) -> None:
    table = tools.example()
    other = Table({"sex": table.by["sex"]}, "n", np.zeros(3), np.zeros(3, dtype=np.uint8))
    with pytest.raises(BadOption, match="other classifications"):
        publish({"a": table, "b": other}, tmp_path / "t.csv")
    with pytest.raises(BadOption, match="no table"):
        publish({}, tmp_path / "t.csv")


def test_two_columns_of_one_name_are_refused(tools: Any, tmp_path: Path) -> None:
    for name in ("sex", "region_label"):
        for ending in (".csv", ".parquet"):
            with pytest.raises(BadOption, match="two columns"):
                publish({name: tools.example()}, tmp_path / f"t{ending}")
    with pytest.raises(BadOption, match="counts would have the same name"):
        publish({"count": tools.example()}, tmp_path / "t.px", counts=True)
