"""Rows without a number or a code: refused unless the user says otherwise, and counted whatever the user says.

The SQL is understood by DuckDB and by Spark. Whatever holds a digit could be a number that is written in another way
(``1.234,5``): it is never taken for a gap.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np

from diskret.model.cures import Cure, key_of
from diskret.model.engine import identifier, literal, readable
from diskret.model.errors import BadOption, EmptyData, NotANumber, NotFinite, ProtectionWarning, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.source import UNDEFINED, Relation

WithoutValue = Literal["refuse", "zero", "leave out"]
Without = Literal["refuse", "leave out"]
KEPT, NUMBERED = "kept_data", "numbered_kept_data"
INFINITE = tuple(word for word in UNDEFINED if "inf" in word)
Lookup = Callable[[str, Sequence[str]], None]
"""Makes a table of codes under a name, where the engine finds it."""


@dataclass(frozen=True, kw_only=True)
class Gaps:
    """What becomes of rows without a number, and per classification of rows without a code or with an unknown one.

    >>> Gaps(without_code={"region": "leave out"}).asked
    True
    """

    without_value: WithoutValue = "refuse"
    without_code: Mapping[str, Without] = field(default_factory=dict)
    unknown: Mapping[str, Without] = field(default_factory=dict)

    def __post_init__(self) -> None:
        _refuse_words("without_value", [self.without_value], get_args(WithoutValue))
        for key in ("without_code", "unknown"):
            _refuse_words(key, getattr(self, key).values(), get_args(Without))

    @property
    def asked(self) -> bool:
        """Whether anything is not refused."""
        said = [self.without_value, *self.without_code.values(), *self.unknown.values()]
        return any(each != "refuse" for each in said)

    def left_out(self, key: Literal["without_code", "unknown"]) -> list[str]:
        """Classifications whose rows are left out."""
        return [name for name, said in getattr(self, key).items() if said == "leave out"]


def _refuse_words(key: str, said: object, known: Sequence[str]) -> None:
    wrong = [each for each in said if each not in known]  # type: ignore[attr-defined]
    if wrong:
        raise BadOption(f"{key} is {listed(wrong)}", hint=f"one of {listed(known)}.")


# --- what is a gap, in SQL -------------------------------------------------------------------------------------------


def blank(data: Relation, name: str) -> str:
    """The condition that nothing is said: missing, undefined, or a text without any digit."""
    absent = f"{data.is_absent(name)} OR " if name in data.absent else ""
    if not data.is_text(name):
        number = f"CAST({data.column(name)} AS DOUBLE)"
        return f"({absent}{number} IS NULL OR isnan({number}))"
    text = _text(data, name)
    words = ", ".join(map(literal, INFINITE))
    return f"({absent}regexp_replace({text}, '^[^0-9]*$', '') = '' AND lower({text}) NOT IN ({words}))"


def gap(data: Relation, name: str) -> str:
    """The condition that no number is said: blank, or infinite."""
    if not data.is_text(name):
        return data.bad_number(name)
    number = data.number(name)
    return f"({blank(data, name)} OR ({number} IS NOT NULL AND {data.bad_number(name)}))"


def _text(data: Relation, name: str) -> str:
    return f"coalesce(trim(CAST({data.column(name)} AS STRING)), '')"


def _unknown(data: Relation, name: str, table: str) -> str:
    code = data.code(name)
    return f"({code} IS NOT NULL AND {code} NOT IN (SELECT {table}.code FROM {table}))"


# --- rows that stay --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Measured:
    """Columns of numbers: those without which a row means nothing, and those that may count as zero."""

    row: Sequence[str]
    zero: Sequence[str]

    @property
    def every(self) -> list[str]:
        """All of them, each once."""
        return list(dict.fromkeys((*self.row, *self.zero)))


def without_gaps(
    data: Relation, gaps: Gaps, numbers: Measured, by: Mapping[str, Hierarchy | None], lookup: Lookup
) -> Relation:
    """The rows that stay, and zeros where they are asked for; how many were concerned is told in warnings."""
    if not gaps.asked:
        return data
    every = int(data.query(f"SELECT count(*) FROM {data.view}")[0][0])
    leaving = _leaving(data, gaps, numbers, by, lookup)
    for words, condition in leaving.items():
        _tell(data, condition, f"rows are left out: {words}", every)
    zeros = numbers.zero if gaps.without_value == "zero" else ()
    for name in zeros:
        _tell(data, blank(data, name), f"rows count as zero: column {name!r} holds no number there", every)
    kept = _views(data, zeros, list(leaving.values()))
    if not kept.query(f"SELECT 1 FROM {kept.view} LIMIT 1"):
        raise EmptyData("all rows are left out", where=data.where, hint="look at the data: is it the right column?")
    return kept


def _leaving(
    data: Relation, gaps: Gaps, numbers: Measured, by: Mapping[str, Hierarchy | None], lookup: Lookup
) -> dict[str, str]:
    """Which rows are left out: in words, and as a condition."""
    found: dict[str, str] = {}
    for name in numbers.row if gaps.without_value == "leave out" else ():
        found[f"column {name!r} holds no number there"] = gap(data, name)
    for name in gaps.left_out("without_code"):
        found[f"column {name!r} holds no code there"] = f"({data.code(name)} IS NULL)"
    for axis, name in enumerate(gaps.left_out("unknown")):
        hierarchy = by.get(name)
        if hierarchy is not None:
            lookup(f"diskret_known_{axis}", hierarchy.codes)
            words = f"their code of {name!r} is not in its hierarchy"
            found[words] = _unknown(data, name, f"diskret_known_{axis}")
    return found


def _tell(data: Relation, condition: str, words: str, every: int) -> None:
    found = int(data.query(f"SELECT count(*) FROM {data.view} WHERE {condition}")[0][0])
    if found:
        warnings.warn(f"{found:,} of {every:,} {words}", ProtectionWarning, stacklevel=4)


def _views(data: Relation, zeros: Sequence[str], leaving: Sequence[str]) -> Relation:
    """The rows that stay as a view, and once more with the numbers they have in the data, for messages."""
    shown = [_shown(data, name, name in zeros) for name in data.columns]
    columns = ", ".join([*shown, *(data.column(name) for name in data.told)])
    where = f" WHERE NOT ({' OR '.join(leaving)})" if leaving else ""
    number = "diskret_row"
    while number in {name.lower() for name in data.columns}:
        number += "_"
    rows = f"(SELECT {data.row_number} AS {number}, {data.view}.* FROM {data.view}) AS {data.view}"
    data.query(f"CREATE OR REPLACE TEMP VIEW {KEPT} AS SELECT {columns} FROM {data.view}{where}")
    data.query(f"CREATE OR REPLACE TEMP VIEW {NUMBERED} AS SELECT {number}, {columns} FROM {rows}{where}")
    types = {name: "VARCHAR" if name in zeros and data.is_text(name) else each for name, each in data.types.items()}
    absent = {name: flag for name, flag in data.absent.items() if name not in zeros}
    kept = replace(data, view=KEPT, types=types, absent=absent)
    return replace(kept, numbered=replace(kept, view=NUMBERED, row_number=number))


def _shown(data: Relation, name: str, zero: bool) -> str:
    column, shown = data.column(name), f"{data.quote}{name.replace(data.quote, data.quote * 2)}{data.quote}"
    if zero:
        nothing = "'0'" if data.is_text(name) else f"CAST(0 AS {data.types[name]})"
        other = f"CAST({column} AS STRING)" if data.is_text(name) else column
        column = f"CASE WHEN {blank(data, name)} THEN {nothing} ELSE {other} END"
    return f"{column} AS {shown}"


def embedded_lookup(data: Relation) -> Lookup:
    """Codes as a table of the embedded engine."""

    def make(name: str, codes: Sequence[str]) -> None:
        with readable(data.where):
            data.connection.register("given_codes", {"code": np.array(codes, dtype=object)})
            data.connection.execute(f"CREATE OR REPLACE TEMP TABLE {identifier(name)} AS SELECT code FROM given_codes")
            data.connection.unregister("given_codes")

    return make


# --- what cures a gap ------------------------------------------------------------------------------------------------

LEAVE_OUT = "leave those rows out"


def refuse_numbers(data: Relation, numbers: Measured) -> None:
    """Refuse rows without a number, with what would cure them."""
    for name in numbers.every:
        try:
            data.refuse_bad_numbers([name])
        except (NotFinite, NotANumber) as e:
            raise e.cured_by(*_value_cures(data, name, numbers)) from None


def _value_cures(data: Relation, name: str, numbers: Measured) -> list[Cure]:
    """What makes every bad number of a column a good one, or leaves it out."""
    conditions = (data.bad_number(name), gap(data, name), blank(data, name))
    counts = ", ".join(f"count(CASE WHEN {each} THEN 1 END)" for each in conditions)
    bad, gaps, blanks = data.query(f"SELECT {counts} FROM {data.view}")[0]
    key, cures = key_of("table", "without_value"), []
    if gaps == bad and name in numbers.row:
        cures.append(Cure(key=key, value="leave out", label=LEAVE_OUT))
    if blanks == bad and name in numbers.zero:
        cures.append(Cure(key=key, value="zero", label="take them as zero"))
    return cures


def code_cures(name: str, *, of: Literal["without_code", "unknown"]) -> list[Cure]:
    """What cures codes that are missing, or that the hierarchy lacks."""
    cures = [Cure(key=key_of("classifications", name, of), value="leave out", label=LEAVE_OUT)]
    if of == "unknown":
        cures.append(Cure(key=key_of("classifications", name, "hierarchy"), value=None, label="edit the hierarchy"))
    return cures


UNKNOWN = {
    "unknown", "unbekannt", "missing", "not stated", "not known", "n/a", "na", "none", "k.a.", "k. a.", "o.a.", "o. a.",
    "keine angabe", "ohne angabe", "nicht zuordenbar", "not specified", "unspecified", "(missing)",
}  # fmt: skip
"""How classifications call what is not known."""
NEGATIVE_ALLOWED = Cure(key="table.positive", value=False, label="allow negative values")


def missing_cures(name: str, hierarchy: Hierarchy) -> list[Cure]:
    """The code under which rows without one could be counted, where a classification has one for that.

    >>> [cure.value for cure in missing_cures("region", Hierarchy.flat(["N", "S", "Unknown"]))]
    ['Unknown']
    """
    leaves = [code for code, leaf in zip(hierarchy.codes, hierarchy.is_leaf.tolist(), strict=True) if leaf]
    found = [code for code in leaves if code.strip().lower() in UNKNOWN]
    key = key_of("classifications", name, "missing")
    return [Cure(key=key, value=code, label="count them under the code for unknown") for code in found[:1]]


def refuse_both(missing: Mapping[str, str], gaps: Gaps) -> None:
    """Refuse to leave rows out that are to be counted under a code."""
    both = [name for name in gaps.left_out("without_code") if name in missing]
    if both:
        raise BadOption(
            f"rows without a code in {listed(both)} are left out and counted under a code",
            hint="give either missing or without_code.",
        )
