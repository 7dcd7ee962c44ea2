"""What the data tell of a column, in a few passes: counts, the few different entries, whether they are dates."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from diskret.job.recognition.names import Meaning, meaning_of
from diskret.model.numerals import Evidence
from diskret.model.periods import DAY_FIRST, FORMS, PERIODS, SLASHED, Form, Period, order_told
from diskret.model.source import WHOLE, Relation
from diskret.model.wide import Asking

MOST_CODES = 2000
MOST_DAYS = 100_000
"""More whole numbers are no dates."""
DAY = 10
"""Characters of a day; a time of day follows."""
FEW_NUMBERS = 20
"""Up to this many whole numbers may be codes."""


NEARLY = 0.5
"""From this share of numbers on, a text is nearly one."""
BEFORE, BEHIND = r"([€$£¥(<>≈~*\u2212\u2013\u2014]\s*|[A-Z]{3}\s+)?", r"([€$£¥%‰*)¹²³]|\s[A-Za-z€.]{1,4}|\s?\d\))*"
UNIT = re.compile(BEFORE + r"[+-]?\d[\d.,'’\s]*[-\u2013\u2014]?\s*" + BEHIND)
"""A number with its unit, its currency or the sign of a footnote."""


@dataclass(frozen=True, kw_only=True)
class Dates:
    """What the entries of a column are as dates."""

    codes: Mapping[Period, int]
    """How many codes each period makes; without those finer than what is written."""
    told: bool
    """Whether day and month cannot change places."""


@dataclass(frozen=True, kw_only=True)
class Facts:
    """What a few passes over the data tell of a column."""

    name: str
    kind: str
    """Its type in the engine."""
    text: bool
    codes: int
    """Distinct entries, roughly where there are many."""
    entries: int
    numbers: int
    whole: int
    shortest: int
    longest: int
    zeros: int
    """Entries that begin with a zero and a further digit."""
    rows: int
    native: int = 0
    """Entries of text that are numbers of a sheet."""
    smallest: float | None = None
    largest: float | None = None
    first: str = ""
    """Its first entry in the order of texts; the last is ``last``."""
    last: str = ""
    words: tuple[str, ...] = ()
    """The different entries, where they are few."""
    differ: bool = False
    """Whether no two rows have the same entry; looked at only where a column may number the rows."""
    dates: Dates | None = field(default=None)

    @cached_property
    def meaning(self) -> Meaning | None:
        """What its name means."""
        return meaning_of(self.name)

    @property
    def low(self) -> str:
        """Its name in small letters."""
        return self.name.lower()

    @property
    def few(self) -> bool:
        """Few enough entries, often enough, to classify by."""
        return self.codes <= MOST_CODES and self.codes * 2 <= self.rows

    @property
    def named(self) -> bool:
        """Whether it is called like a name of the rows."""
        unnamed = self.low in ("", "index", "idx") or self.low.startswith("unnamed")
        return unnamed or self.meaning in ("identifier", "number")

    @property
    def padded(self) -> bool:
        """Whether figures of equal length have leading zeros, as only codes do."""
        return self.text and self.shortest == self.longest and self.zeros > 0 and self.all_whole

    @property
    def all_numbers(self) -> bool:
        """Whether every entry is a number."""
        return self.numbers == self.entries

    @property
    def all_whole(self) -> bool:
        """Whether every entry is a whole number."""
        return self.whole == self.entries

    @cached_property
    def nearly(self) -> bool:
        """Whether most entries are numbers, or all are but for a unit behind or before them."""
        if self.numbers >= NEARLY * self.entries > 0:
            return True
        some = self.words or (self.first, self.last)
        marked = [word for word in some if re.search(r"\d", word)]
        # without any sign they are dates, telephones or other names
        units = any(re.search(r"^\D*$|[^\d.,'’\s+-]|[-]$", word) for word in some)
        return units and len(marked) >= NEARLY * len(some) and all(UNIT.fullmatch(word) for word in marked)

    @property
    def shares(self) -> bool:
        """Whether its texts are per cent."""
        return self.text and all(word.endswith(("%", "‰")) for word in (self.first, self.last))

    @property
    def is_number(self) -> bool:
        """Whether its type holds numbers."""
        return is_number(self.kind)

    @property
    def stored(self) -> bool:
        """Whether entries are stored as numbers: zeros before and behind the figures of a code are lost in them."""
        return self.is_number or self.native > 0

    @property
    def running(self) -> bool:
        """Whether its whole numbers leave hardly one out."""
        if not self.all_whole or self.smallest is None or self.largest is None:
            return False
        return self.codes >= 0.8 * (self.largest - self.smallest + 1)


def is_number(kind: str) -> bool:
    """Whether a column type of the engine holds numbers."""
    return kind.upper() in WHOLE or kind.upper().startswith(("DOUBLE", "FLOAT", "DECIMAL", "HUGEINT", "UBIGINT"))


def facts_of(data: Relation, asking: Asking, seen: Mapping[str, Evidence]) -> list[Facts]:
    """The facts of all columns: counts in one pass, the entries of those that may be codes in another."""

    def ask(part: Relation, name: str) -> list[str]:
        code, text, number = part.code(name), part.is_text(name), is_number(part.types[name])
        good = f"NOT {part.bad_number(name)}" if number or (text and not seen) else "false"
        value = part.column(name) if number else f"TRY_CAST({code} AS BIGINT)" if text else "NULL"
        whole = _whole(part, name)
        return [
            f"approx_count_distinct({code})", f"count({code})", f"count(CASE WHEN {good} THEN 1 END)",
            f"count(CASE WHEN {whole} THEN 1 END)", f"coalesce(min(length({code})), 0)",
            f"coalesce(max(length({code})), 0)",
            f"count(CASE WHEN {code} LIKE '0%' AND substr({code}, 2, 1) BETWEEN '0' AND '9' THEN 1 END)"
            if text else "0",
            "count(*)", f"CAST(min({value}) AS DOUBLE)", f"CAST(max({value}) AS DOUBLE)",
            f"min({code})" if not number else "CAST(NULL AS STRING)",
            f"max({code})" if not number else "CAST(NULL AS STRING)",
        ]  # fmt: skip

    keys = ("codes", "entries", "numbers", "whole", "shortest", "longest", "zeros", "rows")
    found = []
    for name, (*row, smallest, largest, first, last) in asking(data.columns, ask).items():
        counts: dict[str, Any] = dict(zip(keys, map(int, row), strict=True))
        if name in seen:  # numbers by whatever signs they are written with
            counts["numbers"] = max(seen[name].points, seen[name].commas) + seen[name].native
            counts["native"] = seen[name].native
        found.append(
            Facts(
                name=name,
                kind=data.types[name],
                text=data.is_text(name),
                smallest=smallest,
                largest=largest,
                first=first or "",
                last=last or "",
                **counts,
            )
        )
    return _with_dates(_closer(found, asking), asking)


def _whole(part: Relation, name: str) -> str:
    if part.is_text(name):
        return f"regexp_matches({part.code(name)}, '^-?[0-9]+$')"
    if part.types[name].upper() in ("DOUBLE", "FLOAT"):
        return f"{part.column(name)} = floor({part.column(name)})"
    return str(part.is_whole(name) or part.scale(name) == 0).lower()


def _closer(found: Sequence[Facts], asking: Asking) -> list[Facts]:
    """The facts with the entries of those that are few, and whether whole numbers that may be names all differ."""

    def words(part: Relation, name: str) -> list[str]:
        return [f"list(DISTINCT {part.column(name) if is_number(part.types[name]) else part.code(name)})"]

    def differ(part: Relation, name: str) -> list[str]:
        return [f"count(DISTINCT {part.code(name)}) = count(*)"]

    few = asking([f.name for f in found if f.codes <= MOST_CODES and (f.text or f.few)], words)
    own = asking([f.name for f in found if f.named and f.all_whole and f.codes * 2 > f.rows], differ)
    entries = {name: tuple(sorted(_coded(row[0] or ()))) for name, row in few.items()}
    return [
        replace(
            f, words=entries.get(f.name, ()), codes=len(entries.get(f.name, ())) or f.codes,
            differ=own.get(f.name, (False,))[0],
        )
        for f in found
    ]  # fmt: skip


def _coded(entries: Sequence[object]) -> set[str]:
    """Different entries as codes, numbers as short as `Relation.code` writes them."""
    found = set()
    for each in entries:
        text = str(int(each)) if isinstance(each, float) and each.is_integer() else str(each).strip()
        if each is not None and text not in ("", "nan"):
            found.add(text)
    return found


def _with_dates(found: Sequence[Facts], asking: Asking) -> list[Facts]:
    """The facts with what columns are as dates whose first and last entry are some."""

    def days(part: Relation, name: str) -> list[str]:
        return [f"list(DISTINCT substr({part.code(name)}, 1, {DAY}))"]

    forms = {f.name: _forms(f) for f in found}
    many = asking([f.name for f in found if forms[f.name] and not f.words], days)
    entries = {name: tuple(word.strip() for word in row[0] or () if word) for name, row in many.items()}
    return [replace(f, dates=_dates(forms[f.name], f.words or entries.get(f.name, ()))) for f in found]


def _forms(facts: Facts) -> tuple[Form, ...]:
    """The ways in which the first and the last entry are written, if they are dates."""
    ends = (facts.first, facts.last)
    if facts.is_number:  # of numbers only 202503 and 20250331 are dates: 2025 is a year
        if not facts.all_whole or facts.smallest is None or facts.largest is None or facts.codes > MOST_DAYS:
            return ()
        ends = (str(int(facts.smallest)), str(int(facts.largest)))
    found = tuple(form for form in (*FORMS, SLASHED) if any(form.fits(end) for end in ends))
    both = all(any(form.fits(end) for form in found) for end in ends)
    return found if both and any(form.grain != "year" or form is SLASHED for form in found) else ()


def _dates(forms: tuple[Form, ...], words: Sequence[str]) -> Dates | None:
    """What entries are as dates, if all of them are."""
    if not forms:
        return None
    slashed = [(int(m[1]), int(m[2])) for word in words if SLASHED in forms and (m := re.match(SLASHED.pattern, word))]
    order = order_told(len(slashed), *(max(each) for each in zip(*slashed, strict=True))) if slashed else None
    ways = [(order or DAY_FIRST) if form is SLASHED else form for form in forms]
    read = [next((codes for form in ways if (codes := form.read(word))), None) for word in words]
    if not read or None in read:
        return None
    counts = {period: len({each[period] for each in read if each and period in each}) for period in PERIODS}
    return Dates(codes={period: n for period, n in counts.items() if n}, told=order is not None or not slashed)
