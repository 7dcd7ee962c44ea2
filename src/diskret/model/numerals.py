"""How numbers are written in text: which sign stands before the decimals, and which between thousands.

Whole columns are looked at, in SQL that DuckDB and Spark understand. Where all numbers look like 1.234, which is one
thousand two hundred and thirty-four to one reader and a little more than one to another, nobody guesses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from diskret.model.cures import Cure
from diskret.model.errors import UnclearFile

DECIMALS = (".", ",")
THOUSANDS = (".", ",", " ", "'", "\u202f")
"""Signs between thousands that can be asked for; a blank stands for those that do not break a line, too."""
BLANKS = " \u00a0\u202f"
APOSTROPHES = "'’"
ALIKE = {" ": BLANKS, "\u202f": BLANKS, "\u00a0": BLANKS, "'": APOSTROPHES, "’": APOSTROPHES}
POWER = "([eE][+-]?[0-9]+)?"
OTHERS = BLANKS + APOSTROPHES
PATTERNS = {
    "points": f"[+-]?([1-9][0-9]{{0,2}}([,{OTHERS}][0-9]{{3}})+|[0-9]*)([.][0-9]*)?{POWER}",
    "commas": f"[+-]?([1-9][0-9]{{0,2}}([.{OTHERS}][0-9]{{3}})+|[0-9]*)(,[0-9]*)?{POWER}",
    "either": "[+-]?[1-9][0-9]{0,2}[.,][0-9]{3}",
}
WITH_POINT, WITH_COMMA = "[+-]?([0-9]+[.][0-9]*|[.][0-9]+)", "[+-]?([0-9]+,[0-9]*|,[0-9]+)"
"""Numbers with one sign and no other."""
PERHAPS = f"[-+.,eE{OTHERS}]*[0-9][-+.,eE0-9{OTHERS}]*"
"""Without this there is no number."""
FAR = f"[+-]?([0-9]{{5,}}|[1-9][0-9]{{0,2}}([,{OTHERS}][0-9]{{3}})+)[.][0-9]+"
"""A number with a decimal point that no code looks like, unlike 10.1."""
FAR_COMMA = f"[+-]?(0,[0-9]+|[0-9]{{3,}},[0-9]{{1,2}}|[1-9][0-9]{{0,2}}([.{OTHERS}][0-9]{{3}})+,[0-9]+)"
"""The same with a comma, unlike 1,2, which may be two answers."""
IS_NUMBER = "\ue000"
"""Begins the name of a column that tells which entries of another are numbers; no keyboard writes it."""


@dataclass(frozen=True, kw_only=True)
class Numerals:
    """The signs in numbers: before decimals, and between thousands (empty: none)."""

    decimal: str = "."
    thousands: str = ""

    @classmethod
    def said(cls, decimal: str | None, thousands: str | None) -> Numerals | None:
        """As a user says it; None where the decimal sign is left to be found.

        Beside a decimal comma points may stand between thousands.

        >>> Numerals.said(",", None), Numerals.said(None, "."), Numerals.said(None, None)
        (Numerals(decimal=',', thousands='.'), Numerals(decimal=',', thousands='.'), None)
        """
        if decimal is None and thousands in DECIMALS:
            decimal = "," if thousands == "." else "."
        if decimal is None:
            return None
        return cls(decimal=decimal, thousands=thousands or ("." if decimal == "," else ""))

    def plain(self, text: str) -> str:
        """A text in SQL as a number is written for computers; NULL where the signs do not stand as they should."""
        signs = ALIKE.get(self.thousands, self.thousands)
        conditions = [f"instr({text}, '_') = 0"]  # 1_000 is a number to engines, not to offices
        if signs:
            bare = f"translate({text}, {_literal(signs)}, '')"
            point = "[.]" if self.decimal == "." else ","
            grouped = fits(text, f"[+-]?[1-9][0-9]{{0,2}}([{signs}][0-9]{{3}})+({point}[0-9]*)?")
            conditions.append(f"({bare} = {text} OR {grouped})")
            text = bare
        if self.decimal == ",":
            conditions.append(f"instr({text}, '.') = 0")
            text = f"replace({text}, ',', '.')"
        return f"CASE WHEN {' AND '.join(conditions)} THEN {text} END"


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """How many entries of a column are numbers with decimal points, with decimal commas, with either meaning."""

    entries: int
    points: int
    """Numbers if the point is the decimal sign."""
    commas: int
    both: int
    """Numbers in both ways."""
    either: int
    """Numbers in both ways that mean different things."""
    far: int
    """Numbers with a decimal point that no code looks like."""
    far_comma: int
    with_comma: int
    with_blank: int
    with_apostrophe: int
    native: int
    """Entries that are numbers, and no text."""

    @property
    def only_points(self) -> bool:
        """Whether some numbers have a decimal point for certain, and none a comma."""
        return self.points > self.both and self.commas == self.both

    @property
    def only_commas(self) -> bool:
        """Whether some numbers have a decimal comma, or points between thousands, for certain."""
        return self.commas > self.both and self.points == self.both

    @property
    def mixed(self) -> bool:
        """Whether some numbers are written in one way and some in the other."""
        return self.commas > self.both and self.points > self.both

    @property
    def numerals(self) -> Numerals | None:
        """How the numbers are written; None if they may mean different things."""
        other = " " if self.with_blank else "'" if self.with_apostrophe else ""
        if self.only_commas:
            return Numerals(decimal=",", thousands=other or ".")
        if self.only_points:
            return Numerals(decimal=".", thousands=other or ("," if self.with_comma else ""))
        return None if self.either or self.mixed else Numerals(decimal=".", thousands=other)


def first_look(text: str) -> list[str]:
    """Aggregates in SQL that cost little: entries with other signs than a point, with one, and with one for certain."""
    point = f"instr({text}, '.')"
    others = _holds(text, "," + OTHERS)
    # three digits behind a point may be thousands; behind a zero, or any other number of digits, they may not
    certain = f"(length({text}) - {point} <> 3 OR {text} LIKE '0.%') AND TRY_CAST({text} AS DOUBLE) IS NOT NULL"
    conditions = [others, f"{point} > 0", f"{point} > 0 AND {certain}"]
    return [f"count(CASE WHEN {condition} THEN 1 END)" for condition in conditions]


def clear_at_first(row: Sequence[int]) -> bool:
    """Whether a first look shows that a point, if there is one, is the decimal sign."""
    others, points, certain = map(int, row)
    return not others and (not points or certain > 0)


def evidence(signs: str, native: str = "false") -> list[str]:
    """Aggregates in SQL, in the order of the fields of `Evidence`.

    ``signs`` is a column of what `signs_of` makes, ``native`` the condition that an entry is a number, not text.
    """
    counted = [f"coalesce(sum({signs} & {1 << bit}), 0) / {1 << bit}" for bit in range(10)]
    return [*counted, f"count(CASE WHEN {native} THEN 1 END)"]


def signs_of(text: str) -> str:
    """What an entry is evidence of, as a sum of powers of two; ``text`` is a column without outer blanks.

    The expression is long: statements make a column of it and count that, for reading it ten times takes engines
    longer than small data do. Plain numbers are told by their signs, patterns are for the rest: they are slow.
    """
    bare = f"(CASE WHEN {text} LIKE '-%' OR {text} LIKE '+%' THEN substr({text}, 2) ELSE {text} END)"
    cases = [
        (f"{text} IS NULL OR {text} = ''", "0"),
        (fits(text, "[+-]?[0-9]+"), "15"),
        (fits(text, WITH_POINT), f"3 + {_grouped(bare, '.', 28)} + {_bit(_far_point(bare), 32)}"),
        (fits(text, WITH_COMMA), f"5 + {_grouped(bare, ',', 154)} + {_bit(_far_comma(bare), 64)}"),
        (f"NOT {fits(text, PERHAPS)}", "1"),
    ]
    return f"CASE {' '.join(f'WHEN {when} THEN {then}' for when, then in cases)} ELSE 1 + {_by_patterns(text)} END"


def _bit(condition: str, bits: int) -> str:
    return f"CASE WHEN {condition} THEN {bits} ELSE 0 END"


def _holds(text: str, signs: str) -> str:
    return " OR ".join(f"instr({text}, {_literal(sign)}) > 0" for sign in signs)


def _grouped(number: str, sign: str, bits: int) -> str:
    """Evidence of 1.234: a number in both ways."""
    at = f"instr({number}, '{sign}')"
    return _bit(f"{at} BETWEEN 2 AND 4 AND length({number}) - {at} = 3 AND {number} NOT LIKE '0%'", bits)


def _far_point(number: str) -> str:
    return f"instr({number}, '.') > 5 AND length({number}) > instr({number}, '.')"


def _far_comma(number: str) -> str:
    at, behind = f"instr({number}, ',')", f"length({number}) - instr({number}, ',')"
    return f"({number} LIKE '0,_%') OR ({at} > 3 AND {behind} BETWEEN 1 AND 2)"


def _by_patterns(text: str) -> str:
    """Evidence of a number with several signs."""
    points, commas, either = (fits(text, PATTERNS[name]) for name in ("points", "commas", "either"))
    blanks = " + ".join(_bit(_holds(text, signs), bits) for signs, bits in ((BLANKS, 256), (APOSTROPHES, 512)))
    # what looks far or like both is a number in these ways
    comma = _bit(fits(text, FAR_COMMA), 64)
    both = f"12 + {_bit(either, 16)} + {comma}"
    point = f"2 + {_bit(fits(text, FAR), 32)} + {_bit(_holds(text, ','), 128)} + {blanks}"
    only_commas = f"CASE WHEN {commas} THEN 4 + {comma} + {blanks} ELSE 0 END"
    return f"CASE WHEN {points} THEN {point} + CASE WHEN {commas} THEN {both} ELSE 0 END ELSE {only_commas} END"


def evidence_of(row: Sequence[int]) -> Evidence:
    """What the aggregates gave."""
    names = (
        "entries",
        "points",
        "commas",
        "both",
        "either",
        "far",
        "far_comma",
        "with_comma",
        "with_blank",
        "with_apostrophe",
        "native",
    )
    return Evidence(**dict(zip(names, map(int, row), strict=True)))


def fits(text: str, pattern: str) -> str:
    """The condition that a text fits a pattern, for every engine."""
    return f"regexp_replace({text}, {_literal(f'^{pattern}$')}, '') = ''"


def decided(name: str, own: Evidence, others: Mapping[str, Evidence], where: str) -> Numerals:
    """How the numbers of a column are written, by itself or, where it does not tell, by other columns; else asked.

    Others tell by numbers that no code looks like: codes such as ``1,2`` and ``123.456.789`` say nothing, for a wrong
    guess is wrong by a factor of thousand.
    """
    if own.numerals is not None:
        return own.numerals
    if own.mixed:
        raise UnclearFile(
            f"column {name!r} holds numbers with decimal points and numbers with decimal commas",
            where=where,
            hint="write all of them alike; a sign between thousands stands between groups of three digits.",
        )
    commas = any(other.only_commas and other.far_comma and other.commas == other.entries for other in others.values())
    points = any(other.far and not other.commas > other.both for other in others.values())
    if commas != points:
        sign = {True: ".", False: ","}
        return Numerals(decimal=sign[points], thousands=sign[commas])
    raise UnclearFile(
        f"the numbers of column {name!r} all look like #.### or #,###: the sign may stand before decimals or between "
        f"thousands",
        where=where,
        hint='say decimal = "." or decimal = ",", and thousands where there is a sign between them.',
        cures=[
            # a comma between thousands has to be said: beside decimal points there is none unless it is
            Cure(key="data.thousands", value=",", label="take points as decimal signs")
            if own.with_comma
            else Cure(key="data.decimal", value=".", label="take points as decimal signs"),
            Cure(key="data.decimal", value=",", label="take commas as decimal signs"),
        ],
    )


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
