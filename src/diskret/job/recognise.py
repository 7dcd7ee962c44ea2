"""What the columns of a file are, with the reason in words: a proposal that a person looks through."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

from diskret.model.errors import BadOption
from diskret.model.numerals import Evidence
from diskret.model.source import WHOLE, Relation, open_source
from diskret.model.status import Status
from diskret.model.wide import Asking, by_column, evidence_by_column

Role = Literal["classification", "value", "weight", "count", "status", "holding", "identifier", "other"]
Kind = Literal["microdata", "cells"]

MOST_CODES = 2000
MOST_DIGITS = 50
"""Longer beginnings of codes are proposed to nobody."""
MOST_CELLS = 1_000_000
FIRST = 3
FEW_NUMBERS = 20
"""Up to this many whole numbers may be codes."""
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
    "told": ("as the metadata say", "wie es die Metadaten sagen"),
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
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

        >>> Column(name="sex", role="classification", reason="codes", codes=2, blanks=0, rows=40).why("de")
        '2 verschiedene Schlüssel in 40 Zeilen'
        """
        words = WHY[self.reason][language == "de"]
        return words.format(codes=self.codes, blanks=self.blanks, rows=self.rows)


@dataclass(frozen=True, kw_only=True)
class Recognised:
    """The columns of a file, and whether its rows are records or the cells of a table."""

    columns: tuple[Column, ...]
    kind: Kind
    rows: int
    decimal: str = "."
    """Decimal sign of a text file: a comma where only that makes numbers of a column."""
    found: Mapping[str, Any] = field(default_factory=dict)
    """What else was found of how the file is to be read, by the keys a job has for it."""
    further: Mapping[str, Any] | None = None
    """Further roles of columns that metadata tell, by the keys of a table; None where there are no metadata."""

    def named(self, role: Role) -> list[str]:
        """Columns of a role that a first table should use, in the order of the file."""
        return [c.name for c in _chosen(self.columns, role)]

    @property
    def frequency(self) -> bool:
        """Whether the values of a list of cells are counts of units."""
        return self.kind == "cells" and any(c.reason == "frequency" for c in self.columns)

    def content(self, file: str) -> dict[str, Any]:
        """A first job as plain data, for a file of this name; records by three classifications at most."""
        by, values = self.named("classification"), self.named("value")
        table: dict[str, Any] = {"by": by if self.kind == "cells" else by[:FIRST]}
        table |= {"value": values[:1]} if values else {}
        if self.further is not None:
            table |= self.further
        elif self.kind == "cells":
            table |= {role: names[0] for role in ("count", "status") if (names := self.named(role))}
            table |= {"frequency": True} if self.frequency else {}
        data = {self.kind: file, **self.found}
        return {"data": data, "table": table, "rules": self._rules(), "suppression": {}}

    def _rules(self) -> dict[str, Any]:
        """First rules: by contributors where they are known, by counts in a frequency table."""
        if self.frequency or not self.named("value"):
            return {"small_cells": 3}
        if self.kind == "microdata":
            return {"p_percent": 10.0, "min_count": 3}
        return {"min_count": 3} if self.named("count") else {}


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
    with by_column(data) as asking:
        seen = evidence_by_column(data, asking)
        judged = [_judged(facts) for facts in _facts(data, asking, seen)]
    columns = _one_per_row(_small_enough(judged), kind)
    rows = columns[0].rows if columns else 0
    guess: Kind = kind or ("cells" if _are_cells(data, columns, rows) else "microdata")
    signs = _signs([seen[c.name] for c in columns if c.name in seen and c.role in ("value", "weight", "count")])
    return Recognised(
        columns=tuple(_of_kind(columns, guess)), kind=guess, rows=rows, decimal=signs.get("decimal", "."),
        found={**data.found, **signs},
    )  # fmt: skip


def _small_enough(columns: Sequence[Column]) -> list[Column]:
    """Classifications that would make the first table too large are not chosen."""
    found, cells = [], 1
    for column in columns:
        classifies = column.role == "classification"
        if classifies and cells * (column.codes + 1) <= MOST_CELLS:
            cells *= column.codes + 1
        elif classifies:
            column = replace(column, chosen=False)
        found.append(column)
    return found


def _signs(seen: Sequence[Evidence]) -> dict[str, str]:
    """The signs in numbers, as the keys of a job, where they are not what is meant without them."""
    found = [each.numerals for each in seen if each.numerals and not each.mixed]
    commas = any(each.only_commas for each in seen) and not any(each.only_points for each in seen)
    others = {n.thousands for n in found} & {" ", "'"}
    if commas:
        return {"decimal": ","} | ({"thousands": min(others)} if others else {})
    grouped = sorted(others | ({n.thousands for n in found} & {","}))
    return {"decimal": ".", "thousands": grouped[0]} if len(grouped) == 1 else {}


@dataclass(frozen=True, kw_only=True)
class _Facts:
    """What one pass over the data tells of a column."""

    name: str
    low: str
    """Its name in small letters."""
    kind: str
    """Its type in the engine."""
    text: bool
    codes: int
    entries: int
    numbers: int
    whole: int
    shortest: int
    longest: int
    zeros: int
    """Entries with a leading zero."""
    rows: int
    words: tuple[str, ...] = ()
    """The different entries of a text, where they are few."""
    differ: bool = False
    """Whether no two rows have the same entry; looked at only where a column may number the rows."""

    @property
    def few(self) -> bool:
        """Few enough entries, often enough, to classify by."""
        return self.codes <= MOST_CODES and self.codes * 2 <= self.rows

    @property
    def named(self) -> bool:
        """Whether it is called like a name of the rows."""
        return self.low in LIKELY_NAMES or self.low.endswith(("_id", "_nr"))

    @property
    def padded(self) -> bool:
        return self.text and self.shortest == self.longest and self.zeros > 0

    @property
    def all_numbers(self) -> bool:
        return self.numbers == self.entries

    @property
    def all_whole(self) -> bool:
        return self.whole == self.entries

    @property
    def measured(self) -> bool:
        """Numbers that are not codes."""
        few_whole = self.all_whole and self.codes <= FEW_NUMBERS and self.low not in LIKELY_COUNTS
        return self.all_numbers and not (self.few and (self.padded or few_whole))


def _facts(data: Relation, asking: Asking, seen: Mapping[str, Evidence]) -> list[_Facts]:
    """The facts of all columns: counts in one pass, the entries of those that may be codes in another."""

    def ask(part: Relation, name: str) -> list[str]:
        code, text = part.code(name), part.is_text(name)
        judged = is_number(part.types[name]) or (text and not seen)
        good = f"NOT {part.bad_number(name)}" if judged else "false"
        whole = f"NOT regexp_matches({code}, '[^0-9]')" if text else str(part.is_whole(name)).lower()
        return [
            f"approx_count_distinct({code})", f"count({code})", f"count(CASE WHEN {good} THEN 1 END)",
            f"count(CASE WHEN {whole} THEN 1 END)", f"coalesce(min(length({code})), 0)",
            f"coalesce(max(length({code})), 0)",
            f"count(CASE WHEN {code} LIKE '0%' THEN 1 END)" if text else "0", "count(*)",
        ]  # fmt: skip

    keys = ("codes", "entries", "numbers", "whole", "shortest", "longest", "zeros", "rows")
    found = []
    for name, row in asking(data.columns, ask).items():
        counts: dict[str, Any] = dict(zip(keys, map(int, row), strict=True))
        if name in seen:  # numbers by whatever signs they are written with
            counts["numbers"] = max(seen[name].points, seen[name].commas) + seen[name].native
        found.append(_Facts(name=name, low=name.lower(), kind=data.types[name], text=data.is_text(name), **counts))
    return _closer(found, asking)


def _closer(found: Sequence[_Facts], asking: Asking) -> list[_Facts]:
    """The facts with the entries of texts that are few, and whether whole numbers that may be names all differ."""

    def words(part: Relation, name: str) -> list[str]:
        return [f"list(DISTINCT {part.code(name)})"]

    def differ(part: Relation, name: str) -> list[str]:
        return [f"count(DISTINCT {part.code(name)}) = count(*)"]

    few = asking([f.name for f in found if f.text and f.codes <= MOST_CODES], words)
    own = asking([f.name for f in found if f.named and f.all_whole and f.measured], differ)
    entries = {name: tuple(sorted(word for word in row[0] or () if word is not None)) for name, row in few.items()}
    return [replace(f, words=entries.get(f.name, ()), differ=own.get(f.name, (False,))[0]) for f in found]


Judgement = tuple[Role, str, dict[str, Any]]
"""Role, reason, and what else a column gets."""


def _judged(facts: _Facts) -> Column:
    """One column by its name and its entries: the first judge that knows it."""
    role, reason, more = next(found for judge in JUDGES if (found := judge(facts)))
    return Column(
        name=facts.name, role=role, reason=reason, codes=facts.codes, blanks=facts.rows - facts.entries,
        rows=facts.rows, **more,
    )  # fmt: skip


def _by_name(facts: _Facts) -> Judgement | None:
    if not facts.entries:
        return "other", "empty", {"chosen": False}
    if facts.low in LIKELY_WEIGHTS:
        return "weight", "weight", {}
    return ("holding", "holding", {}) if facts.low in LIKELY_HOLDINGS else None


def _as_value(facts: _Facts) -> Judgement | None:
    if not facts.measured:
        return None
    if facts.entries < facts.rows:
        return "value", "gaps", {"chosen": False}
    counted = facts.all_whole and facts.named and facts.differ
    return ("identifier", "counted", {}) if counted else ("value", "numbers", {})


def _as_status(facts: _Facts) -> Judgement | None:
    named = facts.low in ("status", "state", "geheim") and facts.text
    return ("status", "status", {}) if named and _are_statuses(facts.words) else None


def _as_classification(facts: _Facts) -> Judgement | None:
    several = facts.codes <= FEW_NUMBERS and not facts.all_numbers and facts.codes < OWN_ROW * facts.entries
    if not (facts.few or several):
        return None
    reason = "codes"
    if facts.all_numbers:
        reason = "padded" if facts.padded else "few"
    if facts.kind.upper().startswith(("DATE", "TIME")):
        reason = "dates"
    return (
        "classification",
        reason,
        {"prefixes": prefix_levels(facts.words) if facts.text else (), "chosen": facts.few},
    )


def _as_rest(facts: _Facts) -> Judgement:
    own = facts.codes >= OWN_ROW * facts.entries
    return ("identifier", "own", {}) if own else ("other", "many", {"chosen": False})


JUDGES: tuple[Callable[[_Facts], Judgement | None], ...] = (
    _by_name, _as_value, _as_status, _as_classification, _as_rest
)  # fmt: skip


def is_number(kind: str) -> bool:
    """Whether a column type of the engine holds numbers."""
    return kind.upper() in WHOLE or kind.upper().startswith(("DOUBLE", "FLOAT", "DECIMAL", "HUGEINT", "UBIGINT"))


def _are_statuses(words: Sequence[str]) -> bool:
    try:
        for word in words[:50]:
            Status.from_text(word)
    except BadOption:
        return False
    return bool(words)


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
    if _sums_among(codes):
        return ()  # that is another kind of list
    levels: list[int] = []
    before = 1
    for length in range(2 if all(c.isdigit() for c in codes) else 1, min(longest - 1, shortest, MOST_DIGITS) + 1):
        groups = len({c[:length] for c in codes})
        if groups >= 1.5 * before and len(codes) >= 1.5 * groups:
            levels.append(length)
            before = groups
    return tuple(levels)


def _sums_among(codes: Sequence[str]) -> bool:
    """Whether some codes are beginnings of others, which then come next in their order."""
    return any(longer.startswith(short) for short, longer in pairwise(sorted(set(codes))))


def _one_per_row(columns: list[Column], kind: Kind | None) -> list[Column]:
    """Without any classification, codes that occur once each are those of a list of cells in one classification."""
    own = [c for c in columns if c.reason == "own" and c.codes <= MOST_CODES]
    if kind == "microdata" or len(own) != 1 or any(c.role == "classification" for c in columns):
        return columns
    return [replace(c, role="classification", reason="codes") if c is own[0] else c for c in columns]


def _chosen(columns: Sequence[Column], role: Role) -> list[Column]:
    return [c for c in columns if c.role == role and c.chosen]


def _are_cells(data: Relation, columns: Sequence[Column], rows: int) -> bool:
    """Whether no combination of codes occurs twice and the rows fill a good part of the grid."""
    by = _chosen(columns, "classification")
    if not by or not _chosen(columns, "value") or _chosen(columns, "identifier"):
        return False
    if rows < GRID * math.prod(c.codes for c in by):
        return False
    names = ", ".join(data.code(c.name) for c in by)
    (found, *_) = data.query(f"SELECT count(*) FROM (SELECT DISTINCT {names} FROM {data.view})")
    return int(found[0]) == rows


def _of_kind(columns: Sequence[Column], kind: Kind) -> list[Column]:
    """Counts are a role of cells only; the only number of a list of cells, named like a count, is its value."""
    if kind != "cells":
        return [replace(c, role="other", chosen=False) if c.role == "status" else c for c in columns]
    values = _chosen(columns, "value")
    counts = [c for c in values if c.name.lower() in LIKELY_COUNTS]
    found: dict[str, Any] = {"reason": "frequency"} if counts == values else {"role": "count", "reason": "count"}
    return [replace(c, **found) if c in counts[:1] else c for c in columns]
