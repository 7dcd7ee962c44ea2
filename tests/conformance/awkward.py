"""Files as offices have them, each with the one table that is right: what an office did, and what it meant.

Every function writes one small file and says what is in it, by hand or by plain sums over the rows it wrote; nothing
here asks diskret. The office's answers are what a person who knows the file says when asked.
"""

from __future__ import annotations

import datetime
import gzip
import sqlite3
import unicodedata
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyreadstat
import xlsxwriter

Codes = tuple[str, ...]
REGIONS = ("Nord", "Süd", "West")
BRANCHES = ("Bau", "Handel", "Verkehr", "IT")
SIZES = ("1-9", "10-49", "50+")


@dataclass(frozen=True, kw_only=True)
class Awkward:
    """A file, and the table that is meant by it: the cells below all sums."""

    path: Path
    by: Codes
    value: str | None
    cells: Mapping[Codes, float]
    counts: Mapping[Codes, int] | None = None
    """Contributors of the cells, where the file tells."""
    answers: Mapping[str, Any] = field(default_factory=dict)
    """What the office answers if it is asked, by the keys of a job."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """What the office says beforehand, by the keys of a job: no file tells it."""
    refused: str = ""
    """A code of an error where no answer helps: the file has to be made anew."""


@dataclass(frozen=True, kw_only=True)
class Records:
    """Rows of firms, and what they add up to."""

    names: Codes
    rows: Sequence[tuple[Any, ...]]
    """Codes, then the value."""

    def truth(self) -> tuple[dict[Codes, float], dict[Codes, int]]:
        """Cells and counts, added up one by one."""
        cells: dict[Codes, float] = {}
        counts: dict[Codes, int] = {}
        for *codes, value in self.rows:
            at = tuple(map(str, codes))
            cells[at] = cells.get(at, 0.0) + float(value)
            counts[at] = counts.get(at, 0) + 1
        return cells, counts

    def meant(self, path: Path, **more: Any) -> Awkward:
        """The file with its truth."""
        cells, counts = self.truth()
        *by, value = self.names
        return Awkward(path=path, **({"by": tuple(by), "value": value, "cells": cells, "counts": counts} | more))


def firms(
    names: Codes = ("Region", "Branche", "Umsatz"), codes: Sequence[Sequence[str]] = (REGIONS, BRANCHES), each: int = 4
) -> Records:
    """Some firms in every cell, no two with the same turnover."""
    rows = []
    for i, at in enumerate([at for at in product(*codes) for _ in range(each)]):
        rows.append((*at, 1000.25 + 137.5 * ((i * 29) % 97)))
    return Records(names=names, rows=rows)


def cells_of(
    names: Codes = ("Region", "Branche", "Umsatz"), codes: Sequence[Sequence[str]] = (REGIONS, BRANCHES)
) -> Records:
    """One row per cell."""
    return firms(names, codes, each=1)


def lines(rows: Iterable[Sequence[Any]], sep: str = ";", end: str = "\n") -> str:
    """Rows as text."""
    return "".join(sep.join(map(str, row)) + end for row in rows)


def written(path: Path, records: Records, encoding: str = "utf-8", number: Callable[[float], str] = str) -> Path:
    """Records as delimited text."""
    rows = [(*codes, number(value)) for *codes, value in records.rows]
    path.write_bytes(lines([records.names, *rows]).encode(encoding))
    return path


def comma(value: float) -> str:
    """1234.5 as 1234,50."""
    return f"{value:.2f}".replace(".", ",")


def grouped(value: float) -> str:
    """1234.5 as 1.234,50."""
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def sheet(path: Path, rows: Sequence[Sequence[Any]], merged: Sequence[str] = ()) -> Path:
    """A workbook of one sheet."""
    with xlsxwriter.Workbook(path) as book:
        put(book.add_worksheet("Tabelle1"), rows, merged)
    return path


def put(page: Any, rows: Sequence[Sequence[Any]], merged: Sequence[str] = ()) -> None:
    """Rows from the first cell on; None is left empty."""
    for i, row in enumerate(rows):
        for j, each in enumerate(row):
            if each is not None:
                page.write(i, j, each)
    for place in merged:
        first = place.split(":")[0]
        page.merge_range(place, rows[int(first[1:]) - 1][ord(first[0]) - ord("A")])


def with_totals(records: Records, total: str) -> Records:
    """Cells with the sums of both classifications as rows."""
    sums: dict[Codes, float] = {}
    for a, b, value in records.rows:
        for at in ((a, total), (total, b), (total, total)):
            sums[at] = sums.get(at, 0.0) + value
    return Records(names=records.names, rows=[*records.rows, *((*at, v) for at, v in sums.items())])


# --- totals ----------------------------------------------------------------------------------------------------------


def totals_in_cells(folder: Path) -> Awkward:
    """A table was saved with its rows and columns called "Insgesamt"."""
    clean = cells_of()
    path = written(folder / "insgesamt.csv", with_totals(clean, "Insgesamt"))
    both = {f"classifications.{name}.total": "Insgesamt" for name in ("Region", "Branche")}
    return clean.meant(path, counts=None, answers=both)


def totals_called_t(folder: Path) -> Awkward:
    """An international file calls the total "T", after codes in capitals."""
    clean = cells_of(("geo", "nace", "turnover"), (("DE1", "DE2", "DE3"), ("B", "C", "F", "G")))
    path = written(folder / "totals_t.csv", with_totals(clean, "T"))
    return clean.meant(path, counts=None, answers={"classifications.geo.total": "T", "classifications.nace.total": "T"})


def totals_without_a_name(folder: Path) -> Awkward:
    """The total of every branch has the name of the country, which only the numbers betray."""
    clean = cells_of()
    sums = [("Musterland", b, sum(v for _, x, v in clean.rows if x == b)) for b in BRANCHES]
    path = written(folder / "musterland.csv", Records(names=clean.names, rows=[*clean.rows, *sums]))
    return clean.meant(path, counts=None, answers={"classifications.Region.total": "Musterland"})


def totals_in_records(folder: Path) -> Awkward:
    """Somebody added a row of sums for every branch below the firms."""
    clean = firms()
    sums = [("Summe", b, sum(v for _, x, v in clean.rows if x == b)) for b in BRANCHES]
    path = written(folder / "summe.csv", Records(names=clean.names, rows=[*clean.rows, *sums]))
    return clean.meant(path, answers={"classifications.Region.total": "Summe"})


def subtotals(folder: Path) -> Awkward:
    """Districts and their states stand in one column, one after the other."""
    districts = ("01001", "01002", "05111", "05112", "05113")
    clean = cells_of(("AGS", "Branche", "Umsatz"), (districts, BRANCHES))
    rows = list(clean.rows)
    for state, b in product(("01", "05"), BRANCHES):
        rows.append((state, b, sum(v for d, x, v in clean.rows if d[:2] == state and x == b)))
    path = written(folder / "kreise.csv", Records(names=clean.names, rows=rows))
    return clean.meant(path, counts=None, answers={"classifications.AGS.prefixes": [2]})


def footnoted_total(folder: Path) -> Awkward:
    """The total has the sign of a footnote."""
    clean = cells_of()
    path = written(folder / "fussnote.csv", with_totals(clean, "Insgesamt 1)"))
    both = {f"classifications.{name}.total": "Insgesamt 1)" for name in ("Region", "Branche")}
    return clean.meant(path, counts=None, answers=both)


def pivot(folder: Path) -> Awkward:
    """A pivot table of Excel: one column per size class, and one for the total."""
    clean = cells_of(("Branche", "size", "value"), (BRANCHES, SIZES))
    value = {(b, s): v for b, s, v in clean.rows}
    rows = [(b, *(value[b, s] for s in SIZES), sum(value[b, s] for s in SIZES)) for b in BRANCHES]
    path = sheet(folder / "pivot.xlsx", [("Branche", *SIZES, "Insgesamt"), *rows])
    unpivot = {"columns": [*SIZES, "Insgesamt"], "into": "size", "value": "value"}
    answers = {"data.unpivot": unpivot, "classifications.size.total": "Insgesamt"}
    return clean.meant(path, counts=None, answers=answers)


# --- codes -----------------------------------------------------------------------------------------------------------


def codes_with_points(folder: Path) -> Awkward:
    """Industries by number, 10.1 and so on, left of the turnover."""
    clean = firms(("WZ", "Region", "Umsatz"), (("10.1", "10.2", "10.3", "11.0", "13.9"), REGIONS))
    return clean.meant(written(folder / "wz.csv", clean))


def codes_as_numbers(folder: Path) -> Awkward:
    """The same as numbers of a sheet, 101 and so on, more of them than fit on two hands."""
    codes = [str(n) for n in (101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 131, 132, 133, 139, 141, 142, 143, 151,
                              152, 161, 162, 171, 172, 181)]  # fmt: skip
    clean = firms(("NACE", "Region", "turnover"), (codes, ("N", "S")), each=3)
    return clean.meant(sheet(folder / "nace.xlsx", [clean.names, *((int(c), r, v) for c, r, v in clean.rows)]))


def keys_with_zeros(folder: Path) -> Awkward:
    """Official keys of municipalities as text, with their zeros."""
    clean = firms(
        ("AGS", "Branche", "Umsatz"), (("01001000", "01002000", "05111000", "05112000", "11000000"), BRANCHES)
    )
    return clean.meant(written(folder / "ags.csv", clean))


def keys_without_zeros(folder: Path) -> Awkward:
    """The same through Excel, which made numbers of them: the zeros are gone, but each is still one region."""
    clean = firms(("AGS", "Branche", "Umsatz"), (("1001000", "1002000", "5111000", "5112000", "11000000"), BRANCHES))
    return clean.meant(sheet(folder / "ags.xlsx", [clean.names, *((int(a), b, v) for a, b, v in clean.rows)]))


def unknown_code(folder: Path) -> Awkward:
    """The list of codes is older than the data: a branch is not in it."""
    clean = firms()
    (folder / "branchen.csv").write_text("code,parent\nBau,Alle\nHandel,Alle\nVerkehr,Alle\n")
    path = written(folder / "neue_branche.csv", clean)
    known = Records(names=clean.names, rows=[row for row in clean.rows if row[1] != "IT"])
    hierarchy = {"classifications.Branche.hierarchy": "branchen.csv"}
    return known.meant(path, given=hierarchy, answers={"classifications.Branche.unknown": "leave out"})


def codes_that_look_alike(folder: Path) -> Awkward:
    """Two offices wrote "Süd", one with a composed letter and one with a diaeresis behind it."""
    clean = firms()
    rows = [(unicodedata.normalize("NFD", r) if i % 2 else r, b, v) for i, (r, b, v) in enumerate(clean.rows)]
    path = written(folder / "sued.csv", Records(names=clean.names, rows=rows))
    return clean.meant(path, answers={"data.normalise": True})


def blank_codes(folder: Path) -> Awkward:
    """Two firms have no branch; the office leaves them out."""
    clean = firms()
    rows = [*clean.rows, ("Nord", "", 500.0), ("West", "", 700.0)]
    path = written(folder / "ohne_branche.csv", Records(names=clean.names, rows=rows))
    cells, counts = clean.truth()
    cells |= {("Nord", "(missing)"): 500.0, ("West", "(missing)"): 700.0}
    counts |= {("Nord", "(missing)"): 1, ("West", "(missing)"): 1}
    return clean.meant(path, cells=cells, counts=counts)


def days(folder: Path) -> Awkward:
    """Ninety days of reports in a sheet; the table is by month."""
    begin = datetime.date(2024, 1, 1)
    dates = [begin + datetime.timedelta(days=i) for i in range(90)]
    rows = [(d, REGIONS[i // 2 % 3], 100.5 + 7 * i) for i, d in enumerate(d for d in dates for _ in range(4))]
    path = folder / "tage.xlsx"
    with xlsxwriter.Workbook(path) as book:
        page, form = book.add_worksheet(), book.add_format({"num_format": "dd.mm.yyyy"})
        page.write_row(0, 0, ("Meldetag", "Region", "Umsatz"))
        for i, (d, r, v) in enumerate(rows, 1):
            page.write_datetime(i, 0, datetime.datetime.combine(d, datetime.time()), form)
            page.write_row(i, 1, (r, v))
    clean = Records(names=("Meldetag", "Region", "Umsatz"), rows=[(f"{d:%Y-%m}", r, v) for d, r, v in rows])
    return clean.meant(path, answers={"classifications.Meldetag.period": "month"})


def german_dates(folder: Path) -> Awkward:
    """A year of them as text, 31.12.2024."""
    begin = datetime.date(2024, 1, 1)
    rows = [(begin + datetime.timedelta(days=4 * i), REGIONS[i % 3], 100.5 + 7 * i) for i in range(90)]
    path = folder / "datum.csv"
    path.write_text(lines([("Datum", "Region", "Umsatz"), *((f"{d:%d.%m.%Y}", r, v) for d, r, v in rows)]))
    clean = Records(names=("Datum", "Region", "Umsatz"), rows=[(f"{d:%Y-%m}", r, v) for d, r, v in rows])
    return clean.meant(path)


# --- text ------------------------------------------------------------------------------------------------------------


def windows_umlauts(folder: Path) -> Awkward:
    """Excel saved a CSV in the code page of Windows."""
    clean = firms()
    return clean.meant(written(folder / "windows.csv", clean, "cp1252", comma))


def dos_umlauts(folder: Path) -> Awkward:
    """A program from the days of DOS wrote its own code page, which only its owner knows."""
    clean = firms()
    return clean.meant(written(folder / "dos.csv", clean, "cp850"), answers={"data.encoding": "cp850"})


def byte_order_mark(folder: Path) -> Awkward:
    """Excel saved UTF-8 with a mark before the first name."""
    clean = firms()
    return clean.meant(written(folder / "mark.csv", clean, "utf-8-sig"))


def utf_16(folder: Path) -> Awkward:
    """Excel saved "Unicode text"."""
    clean = firms()
    return clean.meant(written(folder / "unicode.txt", clean, "utf-16"))


def thousands_points(folder: Path) -> Awkward:
    """German numbers, 1.234,50."""
    clean = firms()
    return clean.meant(written(folder / "deutsch.csv", clean, number=grouped))


def ambiguous_points(folder: Path) -> Awkward:
    """All turnovers look like 1.234: thousands, as the office knows."""
    rows = [(r, b, 1000 + 7 * i) for i, (r, b, _) in enumerate(firms().rows)]
    clean = Records(names=("Region", "Branche", "Umsatz"), rows=rows)
    path = written(folder / "punkte.csv", clean, number=lambda v: f"{v:,}".replace(",", "."))
    return clean.meant(path, answers={"data.decimal": ","})


def genesis(folder: Path) -> Awkward:
    """A download of a database of tables: title lines above, a footer below, signs for nothing and for unknown."""
    clean = cells_of()
    rows = [(r, b, "-" if i == 3 else comma(v)) for i, (r, b, v) in enumerate(clean.rows)]
    cells, _ = clean.truth()
    cells[clean.rows[3][:2]] = 0.0
    text = "Umsatz der Betriebe\nErhebung der Betriebe\nMusterland\n" + lines([clean.names, *rows])
    text += "__________\n- = nichts vorhanden\n(C)opyright Musteramt 2024\nStand: 16.11.2024 / 07:00:00\n"
    path = folder / "tabelle_42111-0001.csv"
    path.write_text(text, encoding="cp1252")
    footer = {"data.header": 4, "table.without_value": "zero"}
    return clean.meant(path, cells=cells, counts=None, answers=footer)


def breaks_inside(folder: Path) -> Awkward:
    """Lines end as on Windows; a name of a branch has a line break of its own in quotes."""
    clean = firms(codes=(REGIONS, ("Bau", "Handel\nund Kfz", "IT")))
    rows = [(r, f'"{b}"' if "\n" in b else b, v) for r, b, v in clean.rows]
    path = folder / "umbruch.csv"
    path.write_bytes(lines([clean.names, *rows], end="\r\n").encode())
    return clean.meant(path)


def packed(folder: Path) -> Awkward:
    """A compressed CSV."""
    clean = firms()
    path = folder / "firmen.csv.gz"
    path.write_bytes(gzip.compress(written(folder / "firmen.txt", clean, "cp1252", comma).read_bytes(), mtime=0))
    return clean.meant(path)


def blank_values(folder: Path) -> Awkward:
    """Three firms have not answered; the office leaves them out."""
    clean = firms()
    rows = [*clean.rows, *((r, "Bau", "") for r in REGIONS)]
    path = folder / "antwort_fehlt.csv"
    path.write_text(lines([clean.names, *rows]))
    return clean.meant(path, answers={"table.without_value": "leave out"})


def twice(folder: Path) -> Awkward:
    """A list of cells was pasted together, and one cell is there twice."""
    clean = cells_of()
    path = written(folder / "doppelt.csv", Records(names=clean.names, rows=[*clean.rows, clean.rows[0]]))
    return clean.meant(path, counts=None, given={"data": {"cells": "doppelt.csv"}}, refused="T5")


def with_currency(folder: Path) -> Awkward:
    """The turnover has the sign of its currency behind it."""
    clean = firms()
    path = written(folder / "euro.csv", clean, number=lambda v: f"{comma(v)} €")
    return clean.meant(path, refused="T2")


def without_names(folder: Path) -> Awkward:
    """The first row is data already."""
    clean = firms()
    path = folder / "ohne_kopf.csv"
    path.write_text(lines(clean.rows))
    return clean.meant(path, refused="any")


def one_column(folder: Path) -> Awkward:
    """Only the branch of every firm: what can be made of it is how often each occurs."""
    branches = [b for i, b in enumerate(BRANCHES) for _ in range(5 + i)]
    path = folder / "eine_spalte.csv"
    path.write_text("Branche\n" + "".join(f"{b}\n" for b in branches))
    counts: dict[Codes, int] = {(b,): 5 + i for i, b in enumerate(BRANCHES)}
    return Awkward(path=path, by=("Branche",), value=None, cells=counts, counts=counts)


def nothing(folder: Path) -> Awkward:
    """An export failed and left a file of no bytes."""
    path = folder / "leer.csv"
    path.write_bytes(b"")
    return Awkward(path=path, by=(), value=None, cells={}, refused="any")


# --- workbooks -------------------------------------------------------------------------------------------------------


def titles_and_merged_names(folder: Path) -> Awkward:
    """Three rows of title, then names in two rows, of which the upper ones are merged."""
    clean = firms(("Merkmal Region", "Merkmal Branche", "Umsatz Euro"))
    head: list[tuple[Any, ...]] = [
        ("Umsatz der Firmen in Musterland",), ("Stand: November 2024",), (None,),
        ("Merkmal", None, "Umsatz"), ("Region", "Branche", "Euro"),
    ]  # fmt: skip
    path = sheet(folder / "titel.xlsx", [*head, *clean.rows], merged=["A4:B4"])
    return clean.meant(path, answers={"data.header": [4, 5]})


def footnotes(folder: Path) -> Awkward:
    """Footnotes below the table, one row apart."""
    clean = firms()
    below: list[tuple[Any, ...]] = [(None,), ("1) ohne Kleinbetriebe",), ("Quelle: Musteramt",)]
    path = sheet(folder / "fussnoten.xlsx", [clean.names, *clean.rows, *below])
    end = f"A1:C{len(clean.rows) + 1}"
    return clean.meant(path, answers={"data.range": end, "table.without_value": "leave out"})


def empty_first_column(folder: Path) -> Awkward:
    """The table begins in column B, for the looks."""
    clean = firms()
    return clean.meant(sheet(folder / "spalte_b.xlsx", [(None, *row) for row in (clean.names, *clean.rows)]))


def second_sheet(folder: Path) -> Awkward:
    """The first sheet explains, the second has the data."""
    clean = firms()
    path = folder / "blatt2.xlsx"
    with xlsxwriter.Workbook(path) as book:
        put(book.add_worksheet("Hinweise"), [("Bitte lesen",), ("Daten siehe naechstes Blatt",)])
        put(book.add_worksheet("Daten"), [clean.names, *clean.rows])
    return clean.meant(path, answers={"data.sheet": "Daten"})


def numbers_as_text(folder: Path) -> Awkward:
    """Numbers of a sheet are stored as text, with German signs."""
    clean = firms()
    rows = [(r, b, grouped(v)) for r, b, v in clean.rows]
    return clean.meant(sheet(folder / "text.xlsx", [clean.names, *rows]))


def formulas_not_computed(folder: Path) -> Awkward:
    """A program wrote formulas and no results; nobody has opened the file since."""
    clean = firms()
    path = folder / "formeln.xlsx"
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet()
        page.write_row(0, 0, clean.names)
        for i, (r, b, v) in enumerate(clean.rows, 1):
            page.write_row(i, 0, (r, b))
            page.write_formula(i, 2, f"={v}*1", value="")
    return clean.meant(path, refused="any")


def formulas_with_zeros(folder: Path) -> Awkward:
    """Another program wrote zeros in their place, to be computed when somebody opens the file."""
    clean = firms()
    path = folder / "nullen.xlsx"
    with xlsxwriter.Workbook(path) as book:
        page = book.add_worksheet()
        page.write_row(0, 0, clean.names)
        for i, (r, b, v) in enumerate(clean.rows, 1):
            page.write_row(i, 0, (r, b))
            page.write_formula(i, 2, f"={v}*1")
    return clean.meant(path, refused="T8")


def commas_between_thousands(folder: Path) -> Awkward:
    """English numbers without decimals, some of them small: 12 and 1,234."""
    rows = [(r, b, 1234 + i if i % 2 else 12 + i) for i, (r, b, _) in enumerate(firms().rows)]
    clean = Records(names=("Region", "Branche", "Umsatz"), rows=rows)
    path = written(folder / "english.csv", clean, number=lambda v: f"{v:,}")
    return clean.meant(path, answers={"data.thousands": ","})


def percent_column(folder: Path) -> Awkward:
    """Beside the turnover stands its change on the year before, with signs of percent."""
    clean = firms()
    rows = [(r, b, v, f"{i % 7 - 3},{i % 10} %") for i, (r, b, v) in enumerate(clean.rows)]
    path = folder / "prozent.csv"
    path.write_text(lines([(*clean.names, "Veränderung"), *((r, b, comma(v), p) for r, b, v, p in rows)]))
    return clean.meant(path)


# --- other programs --------------------------------------------------------------------------------------------------

NAMES = "urn:oasis:names:tc:opendocument:xmlns"
ODS = """<?xml version="1.0" encoding="UTF-8"?>
<office:document-content xmlns:office="{at}:office:1.0" xmlns:text="{at}:text:1.0" xmlns:table="{at}:table:1.0"
 office:version="1.2"><office:body><office:spreadsheet><table:table table:name="Daten">{rows}</table:table>
</office:spreadsheet></office:body></office:document-content>"""
MANIFEST = """<manifest:manifest xmlns:manifest="{at}:manifest:1.0">
<manifest:file-entry manifest:full-path="/" manifest:media-type="{kind}"/>
<manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>"""


def open_document(folder: Path) -> Awkward:
    """LibreOffice saved its own kind of sheet."""

    def cell(each: Any) -> str:
        kind = f'"float" office:value="{each}"' if isinstance(each, float) else '"string"'
        return f"<table:table-cell office:value-type={kind}><text:p>{each}</text:p></table:table-cell>"

    def row(cells: Sequence[Any]) -> str:
        return f"<table:table-row>{''.join(map(cell, cells))}</table:table-row>"

    clean, kind = firms(), "application/vnd.oasis.opendocument.spreadsheet"
    path = folder / "firmen.ods"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("mimetype", kind)
        file.writestr("content.xml", ODS.format(at=NAMES, rows="".join(map(row, (clean.names, *clean.rows)))))
        file.writestr("META-INF/manifest.xml", MANIFEST.format(at=NAMES, kind=kind))
    return clean.meant(path)


def _coded() -> tuple[Records, pd.DataFrame, dict[str, dict[int | float, str]]]:
    clean = firms(("region", "branche", "umsatz"), (("1", "2", "3"), ("1", "2", "3", "4")))
    frame = pd.DataFrame([(int(r), int(b), v) for r, b, v in clean.rows], columns=list(clean.names))
    labels: dict[str, dict[int | float, str]] = {
        "region": dict(enumerate(REGIONS, 1)), "branche": dict(enumerate(BRANCHES, 1))
    }  # fmt: skip
    return clean, frame, labels


def stata(folder: Path) -> Awkward:
    """Stata holds numbers, and what they mean as labels."""
    clean, frame, labels = _coded()
    pyreadstat.write_dta(frame, str(folder / "firmen.dta"), variable_value_labels=labels)
    return clean.meant(folder / "firmen.dta")


def spss(folder: Path) -> Awkward:
    """SPSS likewise."""
    clean, frame, labels = _coded()
    pyreadstat.write_sav(frame, str(folder / "firmen.sav"), variable_value_labels=labels)
    return clean.meant(folder / "firmen.sav")


def sqlite_file(folder: Path) -> Awkward:
    """A small database with a table."""
    clean = firms()
    base = sqlite3.connect(folder / "firmen.sqlite")
    base.execute("CREATE TABLE firmen (Region TEXT, Branche TEXT, Umsatz REAL)")
    base.executemany("INSERT INTO firmen VALUES (?, ?, ?)", clean.rows)
    base.commit()
    base.close()
    return clean.meant(folder / "firmen.sqlite")


def duckdb_file(folder: Path) -> Awkward:
    """Another database with two tables: one must be named."""
    clean = firms()
    with duckdb.connect(str(folder / "firmen.duckdb")) as base:
        base.execute('CREATE TABLE firmen ("Region" VARCHAR, "Branche" VARCHAR, "Umsatz" DOUBLE)')
        base.executemany("INSERT INTO firmen VALUES (?, ?, ?)", [list(row) for row in clean.rows])
        base.execute("CREATE TABLE notes AS SELECT 'x' AS note")
    return clean.meant(folder / "firmen.duckdb", answers={"data.relation": "firmen", "data.sheet": "firmen"})


def argus(folder: Path) -> Awkward:
    """Fixed width with tau-ARGUS metadata beside it."""
    clean = firms(("Region", "Branche", "Umsatz"), (("N", "S", "W"), ("B", "H", "I")))
    (folder / "firmen.asc").write_text("".join(f"{r}{b}{v:>12.2f}\n" for r, b, v in clean.rows))
    (folder / "firmen.rda").write_text(
        "Region 1 1 9\n  <RECODEABLE>\nBranche 2 1 9\n  <RECODEABLE>\nUmsatz 3 12\n  <NUMERIC>\n  <DECIMALS> 2\n"
    )
    return clean.meant(folder / "firmen.asc", answers={"data.metadata": "firmen.rda"})


FILES: tuple[Callable[[Path], Awkward], ...] = (
    totals_in_cells, totals_called_t, totals_without_a_name, totals_in_records, subtotals, footnoted_total, pivot,
    codes_with_points, codes_as_numbers, keys_with_zeros, keys_without_zeros, unknown_code, codes_that_look_alike,
    blank_codes, days, german_dates, windows_umlauts, dos_umlauts, byte_order_mark, utf_16, thousands_points,
    ambiguous_points, genesis, breaks_inside, packed, blank_values, twice, with_currency, without_names, one_column,
    nothing, titles_and_merged_names, footnotes, empty_first_column, second_sheet, numbers_as_text,
    formulas_not_computed, formulas_with_zeros, commas_between_thousands, percent_column,
    open_document, stata, spss, sqlite_file, duckdb_file, argus,
)  # fmt: skip
