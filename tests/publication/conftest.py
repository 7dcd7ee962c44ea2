"""Readers of the published formats that share no code with the writers."""

from __future__ import annotations

import csv
import itertools
import json
import re
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest

from diskret.model.contributors import Contributors
from diskret.model.hierarchy import Hierarchy
from diskret.model.rollup import add_up, inner_cells
from diskret.model.table import Table

FORMATS = [".csv", ".parquet", ".xlsx", ".json", ".px", ".sdmx.csv", ".sdmx.xml", ".arrow", ".dta", ".sav", ".xpt"]
MARK = "x"
Cells = dict[tuple[str, ...], float | None]
"""(response, code, code, ...) -> value, None where suppressed."""

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def example_table(seed: int = 0, response: str = "turnover", decimals: int | None = 1) -> Table:
    """3 x 4 x 5 cells with labels, all statuses, all arrays."""
    region = Hierarchy.from_parents(
        {"05111": "05", "05112": "05", "05": "DE", "11": "DE"},
        labels={"05": "NRW", "11": 'Berlin, "Stadt" & <Land>', "DE": "Größe"},
    )
    by = {"sex": Hierarchy.flat(["m", "w"]), "nace": Hierarchy.flat(["B", "C", "F"]), "region": region}
    rng = np.random.default_rng(seed)
    shape = (3, 4, 5)
    units = rng.integers(-(10**9), 10**9, shape)
    status = rng.integers(0, 7, shape).astype(np.uint8)
    units[0, 0, 0], status[0, 0, 0] = 0, 0
    units[~inner_cells([*by.values()])] = 0
    add_up(units, [*by.values()])
    value = units / (10.0**decimals if decimals is not None else 7.0)
    count = rng.integers(1, 50, shape)
    people = Contributors(count, -np.sort(-rng.random((*shape, 2)), axis=-1), absolute=np.abs(value))
    return Table(
        by, response, value, status, people,
        rules=("n<3", "p%"), rule=rng.integers(0, 4, shape).astype(np.uint32),
        below=rng.random(shape), above=rng.random(shape), lower=rng.random(shape), upper=rng.random(shape),
        weight=rng.random(shape), decimals=decimals,
    )  # fmt: skip


def expected(table: Table, response: str | None = None) -> Cells:
    found: Cells = {}
    for at in itertools.product(*(range(n) for n in table.shape)):
        found[(response or table.response, *table.codes(at))] = None if table.hidden[at] else float(table.value[at])
    return found


def read_csv(path: Path, table: Table) -> Cells:
    cells: Cells = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            codes = tuple(row.pop(name) for name in table.names)
            for response, text in row.items():
                if not response.endswith("_label"):
                    cells[(response, *codes)] = None if text == MARK else float(text)
    return cells


def read_parquet(path: Path, table: Table) -> Cells:
    connection = duckdb.connect()
    result = connection.execute(f"SELECT * FROM read_parquet('{path}')")
    names = [d[0] for d in result.description]
    cells: Cells = {}
    for values in result.fetchall():
        row = dict(zip(names, values, strict=True))
        codes = tuple(row.pop(name) for name in table.names)
        for response, value in row.items():
            if response.endswith(("_label", "_status")):
                continue
            status = row.get(f"{response}_status", "published")
            assert (value is None) == (status == "suppressed")
            cells[(response, *codes)] = value
    connection.close()
    return cells


def sheets(path: Path) -> dict[str, list[dict[str, tuple[str, str, int]]]]:
    """Sheet name -> rows, each column letter -> (kind, text, style)."""
    with zipfile.ZipFile(path) as book:
        assert book.testzip() is None
        workbook = ElementTree.fromstring(book.read("xl/workbook.xml"))
        found = {}
        for number, sheet in enumerate(workbook.iter(f"{MAIN}sheet"), start=1):
            rows: list[dict[str, tuple[str, str, int]]] = []
            for row in ElementTree.fromstring(book.read(f"xl/worksheets/sheet{number}.xml")).iter(f"{MAIN}row"):
                cells = {}
                for cell in row:
                    letters, digits = re.fullmatch(r"([A-Z]+)(\d+)", cell.attrib["r"]).groups()  # type: ignore[union-attr]
                    assert digits == row.attrib["r"]
                    text = "".join(t.text or "" for t in (*cell.iter(f"{MAIN}t"), *cell.iter(f"{MAIN}v")))
                    cells[letters] = (cell.attrib.get("t", "n"), text, int(cell.attrib.get("s", 0)))
                rows += [{}] * (int(row.attrib["r"]) - 1 - len(rows))  # blank rows may be left out
                rows.append(cells)
            found[sheet.attrib["name"]] = rows
        return found


def read_xlsx(path: Path, table: Table) -> Cells:
    """Find the table by its frozen panes; the codes across stand in the fourth row."""
    cells: Cells = {}
    beside = table.names[:-1] or table.names
    with zipfile.ZipFile(path) as book:
        pane = next(ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml")).iter(f"{MAIN}pane"))
    top, stub = int(pane.attrib["ySplit"]), int(pane.attrib["xSplit"])
    for response, rows in sheets(path).items():
        heads = [text for _, text, _ in rows[3].values()]
        names = [text for _, text, _ in rows[top - 1].values()][:stub] if len(beside) > 1 or stub > 1 else list(beside)
        for row in rows[top : top + table.size // (len(heads) - stub)]:
            values = list(row.values())
            codes = tuple(values[names.index(name)][1] for name in beside)
            for head, (kind, text, _) in zip(heads[stub:], values[stub:], strict=True):
                assert kind == "n" or text == MARK
                key = (response, *codes, head) if len(table.names) > 1 else (response, *codes)
                cells[key] = float(text) if kind == "n" else None
    return cells


def read_json(path: Path, table: Table) -> Cells:
    data = json.loads(path.read_text(encoding="utf-8"))
    assert data["version"] == "2.0"
    assert data["class"] == "dataset"
    assert data["size"] == [len(data["dimension"][d]["category"]["index"]) for d in data["id"]]
    codes = [data["dimension"][d]["category"]["index"] for d in data["id"]]
    if len(codes) == len(table.names):
        codes = [[data["label"].split(" by ")[0]], *codes]
    cells: Cells = dict(zip(itertools.product(*codes), data["value"], strict=True))
    marked = {int(i) for i, mark in data.get("status", {}).items() if mark == MARK}
    assert marked == {i for i, v in enumerate(data["value"]) if v is None}
    return cells


def px_keywords(path: Path) -> tuple[dict[str, list[str]], list[str]]:
    """A tiny PX reader: statements end with a semicolon outside quotation marks."""
    text = path.read_bytes().decode("utf-8")
    statements = re.findall(r'((?:[^";]|"[^"]*")*);', text)
    keywords: dict[str, list[str]] = {}
    for statement in statements:
        key, value = re.fullmatch(r'\s*([A-Z0-9-]+(?:\((?:"[^"]*",?)+\))?)=(.*)', statement, re.S).groups()  # type: ignore[union-attr]
        if key == "DATA":
            return keywords, re.findall(r'"[^"]*"|[^\s"]+', value)
        keywords[key] = re.findall(r'"([^"]*)"', value) or [value]
    raise AssertionError("no DATA")


def read_px(path: Path, table: Table) -> Cells:
    keywords, data = px_keywords(path)
    variables = keywords["STUB"] + keywords.get("HEADING", [])
    codes = [keywords[f'CODES("{v}")'] for v in variables]
    if "CONTVARIABLE" not in keywords:
        codes = [keywords["CONTENTS"], *codes]
    values = [None if word == '".."' else float(word) for word in data]
    return dict(zip(itertools.product(*codes), values, strict=True))


def observation(row: dict[str, str], table: Table) -> tuple[tuple[str, ...], float | None]:
    """One observation of SDMX; a hidden one has no value, one pair of flags, and nothing else."""
    hidden = "OBS_VALUE" not in row or not row["OBS_VALUE"]
    assert (row["OBS_STATUS"], row["CONF_STATUS"]) == (("Q", "C") if hidden else ("A", "F"))
    codes = [row[name] for name in table.names]
    codes = [h.total if code == "_T" else code for code, h in zip(codes, table.by.values(), strict=True)]
    return (row["INDICATOR"], *codes), None if hidden else float(row["OBS_VALUE"])


def read_sdmx_csv(path: Path, table: Table) -> Cells:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert {(row["STRUCTURE"], row["STRUCTURE_ID"], row["ACTION"]) for row in rows} == {("dataflow", "XX:T(1.0)", "I")}
    return dict(observation(row, table) for row in rows)


def read_sdmx_xml(path: Path, table: Table) -> Cells:
    return dict(observation(dict(each.attrib), table) for each in ElementTree.parse(path).iter("Obs"))


def read_rows(columns: dict[str, list[Any]], table: Table) -> Cells:
    """Columns by name, as programs read them; missing numbers are None or NaN."""
    cells: Cells = {}
    for values in zip(*columns.values(), strict=True):
        row = dict(zip(columns, values, strict=True))
        codes = tuple(row.pop(name) for name in table.names)
        for response, value in row.items():
            if not response.endswith(("_label", "_status")):
                hidden = row.get(f"{response}_status", "published") == "suppressed"
                assert (value is None or np.isnan(value)) == hidden
                cells[(response, *codes)] = None if hidden else float(value)
    return cells


def read_arrow(path: Path, table: Table) -> Cells:
    found = pa.ipc.open_stream(path).read_all()
    found.validate(full=True)
    return read_rows(found.to_pydict(), table)


def read_dta(path: Path, table: Table) -> Cells:
    return read_rows({n: c.tolist() for n, c in pd.read_stata(path).items()}, table)


def read_sav(path: Path, table: Table) -> Cells:
    return read_rows(pyreadstat.read_sav(path, output_format="dict")[0], table)


def read_xpt(path: Path, table: Table) -> Cells:
    return read_rows(pyreadstat.read_xport(path, output_format="dict")[0], table)


READERS: dict[str, Callable[[Path, Table], Cells]] = {
    ".csv": read_csv,
    ".parquet": read_parquet,
    ".xlsx": read_xlsx,
    ".json": read_json,
    ".px": read_px,
    ".sdmx.csv": read_sdmx_csv,
    ".sdmx.xml": read_sdmx_xml,
    ".arrow": read_arrow,
    ".dta": read_dta,
    ".sav": read_sav,
    ".xpt": read_xpt,
}


class Tools:
    """What the tests of this folder share."""

    formats = FORMATS
    example = staticmethod(example_table)
    expected = staticmethod(expected)
    sheets = staticmethod(sheets)
    px_keywords = staticmethod(px_keywords)

    @staticmethod
    def read(path: Path, table: Table) -> Cells:
        ending = "".join(path.suffixes[-2:])
        return READERS[ending if ending in READERS else path.suffix](path, table)


@pytest.fixture(scope="session")
def tools() -> Any:
    return Tools


@pytest.fixture(params=FORMATS)
def ending(request: pytest.FixtureRequest) -> str:
    return str(request.param)
