"""What the columns of a file are, with the reason in words: a proposal that a person looks through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from diskret.model.errors import BadOption
from diskret.model.source import WHOLE, Relation, open_source
from diskret.model.status import Status

Role = Literal["classification", "value", "weight", "count", "status", "holding", "identifier", "other"]
Kind = Literal["microdata", "cells"]

MOST_CODES = 2000
MOST_CELLS = 1_000_000
FIRST = 3
FEW_NUMBERS = 20
"""Up to so many whole numbers may be codes."""
OWN_ROW = 0.9
"""From this share of distinct texts on, a column names the rows."""
GRID = 0.5
"""From this share of all combinations on, rows that never repeat one are the cells of a table."""
LIKELY_WEIGHTS = ("weight", "wgt", "gewicht", "hochrechnungsfaktor")
LIKELY_HOLDINGS = ("holding", "owner", "group", "enterprise", "unternehmen", "konzern")
LIKELY_COUNTS = ("count", "n", "firms", "persons", "cases", "units", "contributors", "respondents", "anzahl",
                 "faelle", "fälle", "personen", "betriebe", "firmen", "einheiten", "melder")  # fmt: skip
LIKELY_NAMES = ("id", "nr", "no", "number", "nummer", "key", "firm", "person", "record", "unit", "kennung", "lfdnr")

WHY: Mapping[str, tuple[str, str]] = {
    "weight": ("named like a sampling weight", "heißt wie ein Hochrechnungsfaktor"),
    "holding": ("named like what joins records of one owner", "heißt wie das Merkmal, das Einheiten eines Inhabers verbindet"),  # noqa: E501
    "count": ("whole numbers, named like a number of contributors", "ganze Zahlen, heißt wie eine Fallzahl"),
    "frequency": ("whole numbers, named like a number of units", "ganze Zahlen, heißt wie eine Anzahl von Einheiten"),
    "status": ("holds words for the status of cells", "enthält Wörter für den Status von Zellen"),
    "codes": ("{codes} distinct codes in {rows} rows", "{codes} verschiedene Schlüssel in {rows} Zeilen"),
    "padded": ("{codes} numbers of equal length, some with a leading zero", "{codes} gleich lange Zahlen, manche mit führender Null"),  # noqa: E501
    "few": ("only {codes} distinct whole numbers: probably codes", "nur {codes} verschiedene ganze Zahlen: wohl Schlüssel"),  # noqa: E501
    "numbers": ("numbers, {codes} distinct", "Zahlen, {codes} verschiedene"),
    "gaps": ("numbers, but {blanks} rows have none: fill them before adding up", "Zahlen, aber in {blanks} Zeilen fehlt sie: vor dem Summieren füllen"),  # noqa: E501
    "own": ("almost every row has its own: it names the rows", "fast jede Zeile hat einen eigenen: bezeichnet die Zeilen"),  # noqa: E501
    "counted": ("every row has its own whole number: it numbers the rows", "jede Zeile hat ihre eigene ganze Zahl: nummeriert die Zeilen"),  # noqa: E501
    "many": ("{codes} distinct texts are too many to classify by", "{codes} verschiedene Texte sind zu viele für eine Gliederung"),  # noqa: E501
    "dates": ("dates or times, {codes} distinct", "Zeitangaben, {codes} verschiedene"),
    "empty": ("nothing in it", "leer"),
}  # fmt: skip


@dataclass(frozen=True)
class Column:
    """One column: what it is, and why."""

    name: str
    role: Role
    reason: str
    codes: int
    """Distinct entries, roughly where there are many."""
    blanks: int
    rows: int
    prefixes: tuple[int, ...] = ()
    """Lengths of code prefixes that group the codes: a hierarchy may lie in them."""
    chosen: bool = True
    """Whether a first table should use it; a further classification may make the table too large."""

    def why(self, language: str = "en") -> str:
        """The reason in words.

        >>> Column("sex", "classification", "codes", 2, 0, 40).why("de")
        '2 verschiedene Schlüssel in 40 Zeilen'
        """
        words = WHY[self.reason][language == "de"]
        return words.format(codes=self.codes, blanks=self.blanks, rows=self.rows)


@dataclass(frozen=True)
class Recognised:
    """The columns of a file, and whether its rows are records or the cells of a table."""

    columns: tuple[Column, ...]
    kind: Kind
    rows: int
    decimal: str = "."
    """Decimal sign of a text file: a comma where only that makes numbers of a column."""

    def named(self, role: Role) -> list[str]:
        """Columns of a role that a first table should use, in the order of the file."""
        return [c.name for c in self.columns if c.role == role and c.chosen]

    @property
    def frequency(self) -> bool:
        """Whether the values of a list of cells are counts of units."""
        return self.kind == "cells" and any(c.reason == "frequency" for c in self.columns)

    def content(self, file: str) -> dict[str, Any]:
        """A first job as plain data, for a file of this name; records by three classifications at most."""
        by = self.named("classification")
        table: dict[str, Any] = {"by": by if self.kind == "cells" else by[:FIRST]}
        values = self.named("value")
        if values:
            table["value"] = values[:1]
        if self.kind == "cells":
            roles = {"count": self.named("count"), "status": self.named("status")}
            table |= {role: names[0] for role, names in roles.items() if names}
            table |= {"frequency": True} if self.frequency else {}
        magnitude = values and not self.frequency
        counted = self.kind == "microdata" or "count" in table
        rules: dict[str, Any] = {"p_percent": 10.0} if magnitude and self.kind == "microdata" else {}
        rules |= {"min_count": 3} if magnitude and counted else {}
        rules |= {} if magnitude else {"small_cells": 3}
        data = {self.kind: file} | ({"decimal": ","} if self.decimal == "," else {})
        return {"data": data, "table": table, "rules": rules, "suppression": {}}


def recognise(source: object, kind: Kind | None = None) -> Recognised:
    """What the columns of a file or frame are; ``kind`` says it where the rows do not tell.

    >>> firms = {"firm": [f"F{i}" for i in range(40)], "region": ["05111", "05112", "06111", "06112"] * 10,
    ...          "turnover": [1.5 * i for i in range(40)]}
    >>> [(c.name, c.role, c.prefixes) for c in recognise(firms).columns]
    [('firm', 'identifier', ()), ('region', 'classification', (2,)), ('turnover', 'value', ())]
    """
    if kind not in (None, "microdata", "cells"):
        raise BadOption(f"kind {kind!r}", hint="'microdata' or 'cells'.")
    data = source if isinstance(source, Relation) else open_source(source)
    if data.decimal == "." and _with_commas(data):
        data = replace(data, decimal=",")
    facts = _facts(data)
    columns: list[Column] = []
    cells = 1
    for name in data.columns:
        found = _judged(data, name, facts[name])
        if found.role == "classification":
            if cells * (found.codes + 1) > MOST_CELLS:
                found = replace(found, chosen=False)
            else:
                cells *= found.codes + 1
        columns.append(found)
    rows = columns[0].rows if columns else 0
    columns = _one_per_row(columns, kind)
    by = [c for c in columns if c.role == "classification" and c.chosen]
    guess: Kind = kind or ("cells" if _are_cells(data, by, columns, rows) else "microdata")
    return Recognised(tuple(_of_kind(columns, guess)), guess, rows, data.decimal)


def _with_commas(data: Relation) -> bool:
    """Whether a column of text is all numbers with decimal commas, and no column loses its numbers by that."""
    texts = [name for name in data.columns if data.is_text(name)]
    if not texts:
        return False
    commas = replace(data, decimal=",")
    parts = []
    for name in texts:
        code = data.code(name)
        parts += [f"count({code})", f"count(CASE WHEN {code} LIKE '%,%' THEN 1 END)"]
        parts += [f"count(CASE WHEN NOT {each.bad_number(name)} THEN 1 END)" for each in (data, commas)]
    (row, *_) = data.query(f"SELECT {', '.join(parts)} FROM {data.view}")
    found = [tuple(map(int, row[4 * i : 4 * i + 4])) for i in range(len(texts))]
    gained = any(entries and comma and points < entries == as_commas for entries, comma, points, as_commas in found)
    lost = any(entries and points == entries > as_commas for entries, _, points, as_commas in found)
    return gained and not lost


Facts = tuple[int, ...]


def _facts(data: Relation) -> dict[str, Facts]:
    """In one pass: distinct entries, entries, numbers, whole numbers, shortest and longest, leading zeros, rows."""
    parts = []
    for name in data.columns:
        code, text = data.code(name), data.is_text(name)
        good = f"NOT {data.bad_number(name)}" if text or is_number(data.types[name]) else "false"
        whole = f"NOT regexp_matches({code}, '[^0-9]')" if text else str(data.is_whole(name)).lower()
        parts += [
            f"approx_count_distinct({code})", f"count({code})", f"count(CASE WHEN {good} THEN 1 END)",
            f"count(CASE WHEN {whole} THEN 1 END)", f"coalesce(min(length({code})), 0)",
            f"coalesce(max(length({code})), 0)",
            f"count(CASE WHEN {code} LIKE '0%' THEN 1 END)" if text else "0",
        ]  # fmt: skip
    (row, *_) = data.query(f"SELECT {', '.join([*parts, 'count(*)'])} FROM {data.view}")
    each = 7
    return {n: (*map(int, row[i * each : (i + 1) * each]), int(row[-1])) for i, n in enumerate(data.columns)}


def _judged(data: Relation, name: str, facts: Facts) -> Column:
    """One column by its name and its entries."""
    codes, entries, numbers, whole, shortest, longest, zeros, rows = facts
    text = data.is_text(name)
    low = name.lower()

    def column(role: Role, reason: str, **more: Any) -> Column:
        return Column(name, role, reason, codes, rows - entries, rows, **more)

    if not entries:
        return column("other", "empty", chosen=False)
    if low in LIKELY_WEIGHTS:
        return column("weight", "weight")
    if low in LIKELY_HOLDINGS:
        return column("holding", "holding")
    few = codes <= MOST_CODES and codes * 2 <= rows
    padded = text and shortest == longest and zeros > 0
    all_numbers = numbers == entries
    as_codes = few and (padded or (whole == entries and codes <= FEW_NUMBERS and low not in LIKELY_COUNTS))
    if all_numbers and not as_codes:
        if entries < rows:
            return column("value", "gaps", chosen=False)
        if whole == entries and (low in LIKELY_NAMES or low.endswith(("_id", "_nr"))) and _all_differ(data, name):
            return column("identifier", "counted")
        return column("value", "numbers")
    if low in ("status", "state", "geheim") and text and _are_statuses(data, name):
        return column("status", "status")
    if few or (codes <= FEW_NUMBERS and not all_numbers and codes < OWN_ROW * entries):
        reason = "padded" if padded and all_numbers else "few" if all_numbers else "codes"
        if not text and not is_number(data.types[name]) and data.types[name].upper().startswith(("DATE", "TIME")):
            reason = "dates"
        return column("classification", reason, prefixes=_prefixes(data, name) if text else (), chosen=few)
    if codes >= OWN_ROW * entries:
        return column("identifier", "own")
    return column("other", "many", chosen=False)


def is_number(kind: str) -> bool:
    """Whether a column type of the engine holds numbers."""
    return kind.upper() in WHOLE or kind.upper().startswith(("DOUBLE", "FLOAT", "DECIMAL", "HUGEINT", "UBIGINT"))


def _all_differ(data: Relation, name: str) -> bool:
    (found, *_) = data.query(f"SELECT count(DISTINCT {data.code(name)}) = count(*) FROM {data.view}")
    return bool(found[0])


def _are_statuses(data: Relation, name: str) -> bool:
    code = data.code(name)
    words = [c for (c,) in data.query(f"SELECT DISTINCT {code} FROM {data.view} WHERE {code} IS NOT NULL LIMIT 50")]
    try:
        for word in words:
            Status.from_text(word)
    except BadOption:
        return False
    return bool(words)


def _prefixes(data: Relation, name: str) -> tuple[int, ...]:
    """Lengths of prefixes that make a hierarchy of the codes."""
    code = data.code(name)
    found = data.query(f"SELECT DISTINCT {code} FROM {data.view} WHERE {code} IS NOT NULL LIMIT {MOST_CODES + 1}")
    return prefix_levels([c for (c,) in found])


def prefix_levels(codes: Sequence[str]) -> tuple[int, ...]:
    """Lengths of prefixes that group codes: the shortest ones at which new groups appear.

    Only lengths at which groups have several codes on average are proposed, and only for codes of digits and capital
    letters: words share beginnings by chance. The first digit alone hardly ever means something. A code may be as short
    as a group (a city that is its own district).

    >>> prefix_levels(["01101", "01102", "02101", "02102", "02103", "04"]), prefix_levels(["male", "mode", "bold"])
    ((2,), ())
    """
    if len(codes) < 4 or not all(c.isalnum() and c == c.upper() for c in codes):
        return ()
    shortest, longest = min(map(len, codes)), max(map(len, codes))
    digits = all(c.isdigit() for c in codes)
    beginnings = {o[:length] for length in range(shortest, longest) for o in codes if len(o) > length}
    if not beginnings.isdisjoint(codes):
        return ()  # sums stand among the codes: that is another kind of list
    levels: list[int] = []
    before = 1
    for length in range(2 if digits else 1, min(longest - 1, shortest) + 1):
        groups = len({c[:length] for c in codes})
        if groups >= 1.5 * before and len(codes) >= 1.5 * groups:
            levels.append(length)
            before = groups
    return tuple(levels)


def _one_per_row(columns: list[Column], kind: Kind | None) -> list[Column]:
    """Without any classification, codes that occur once each are those of a list of cells in one classification."""
    own = [c for c in columns if c.reason == "own" and c.codes <= MOST_CODES]
    if kind == "microdata" or len(own) != 1 or any(c.role == "classification" for c in columns):
        return columns
    return [replace(c, role="classification", reason="codes") if c is own[0] else c for c in columns]


def _are_cells(data: Relation, by: Sequence[Column], columns: Sequence[Column], rows: int) -> bool:
    """Whether no combination of codes occurs twice and the rows fill a good part of the grid."""
    numbers = [c for c in columns if c.role == "value" and c.chosen]
    if not by or not numbers or any(c.role == "identifier" for c in columns):
        return False
    grid = 1
    for c in by:
        grid *= c.codes
    if rows < GRID * grid:
        return False
    names = ", ".join(data.code(c.name) for c in by)
    (found, *_) = data.query(f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM {data.view})")
    return int(found[0]) == rows


def _of_kind(columns: Sequence[Column], kind: Kind) -> list[Column]:
    """Counts are a role of cells only; the only number of a list of cells, named like a count, is its value."""
    if kind != "cells":
        return [replace(c, role="other", chosen=False) if c.role == "status" else c for c in columns]
    values = [c for c in columns if c.role == "value" and c.chosen]
    counts = [c.name for c in values if c.name.lower() in LIKELY_COUNTS]
    if not counts:
        return list(columns)
    if len(values) == len(counts):
        return [replace(c, reason="frequency") if c.name == counts[0] else c for c in columns]
    return [replace(c, role="count", reason="count") if c.name == counts[0] else c for c in columns]
