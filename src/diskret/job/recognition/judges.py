"""What a column is, by its name and its entries: the first judge that knows it decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from diskret.job.recognition.column import Column, Role
from diskret.job.recognition.facts import FEW_NUMBERS, MOST_CODES, Facts
from diskret.job.recognition.known import known_classification
from diskret.job.recognition.names import CLASSIFYING
from diskret.job.recognition.prefixes import prefix_levels
from diskret.model.errors import BadOption
from diskret.model.periods import DATES, PERIODS
from diskret.model.status import CONFIDENTIALITY, CONFIDENTIALITY_COLUMNS, Status

OWN_ROW = 0.9
"""From this share of distinct texts on, a column names the rows."""
KEYS = ("industry", "region", "country", "postcode", "occupation", "goods", "consumption", "sex")
"""Meanings of columns that hold keys even where a program wrote them with decimals."""
MANY_YEARS = 120
"""More whole numbers are no ages."""
MOST_PERIODS = 24
"""Up to this many codes a finer period is proposed."""
AGAIN = 4
"""Rows per code from which on a few whole numbers are probably codes."""
OFTEN = 20
"""Rows per code from which on whole numbers of equal length are probably codes."""
GAPS = 3
"""How far a value that lacks some numbers stands behind a whole one."""
LONG_NUMBER = 6
"""Digits from which on whole numbers of equal length that all differ are names."""

Judgement = tuple[Role, str, dict[str, Any]]
"""Role, reason, and what else a column gets."""


def judged(facts: Facts) -> Column:
    """One column by its name and its entries: the first judge that knows it."""
    role, reason, more = next(found for judge in JUDGES if (found := judge(facts)))
    return Column(
        name=facts.name, role=role, reason=reason, codes=facts.codes, blanks=facts.rows - facts.entries,
        rows=facts.rows, **more,
    )  # fmt: skip


def _as_nothing(facts: Facts) -> Judgement | None:
    if not facts.entries:
        return "other", "empty", {"chosen": False}
    same = facts.codes == 1 and facts.rows > 2 and (facts.entries == facts.rows or facts.all_numbers)
    told = facts.meaning in ("value", "count", "weight")
    return ("other", "same", {"chosen": False, "alternatives": ("classification",)}) if same and not told else None


def _by_name(facts: Facts) -> Judgement | None:
    if facts.meaning == "weight" and facts.all_numbers:
        return "weight", "weight", {}
    # a group of a few codes is a class
    owners = facts.meaning == "holding" or (facts.low == "group" and facts.codes > FEW_NUMBERS)
    return ("holding", "holding", {}) if owners and not _decimals(facts) else None


def _as_date(facts: Facts) -> Judgement | None:
    if facts.dates is None:
        clock = facts.kind.upper().startswith((*DATES, "TIME"))
        return ("other", "many", {"chosen": False}) if clock and not facts.few else None
    codes = facts.dates.codes
    if facts.few and max(codes.values()) == 1:
        return None  # a table by days
    small = [period for period in PERIODS if 1 < codes.get(period, 0) <= MOST_PERIODS]
    period = small[-1] if small and facts.dates.told else "year"
    several = period != "year" and codes["year"] > 1
    return "classification", "dates" if facts.dates.told else "order", {
        "period": period, "periods": dict(codes), "prefixes": (4,) if several else (), "sure": facts.dates.told,
        "chosen": codes[period] > 1,
    }  # fmt: skip


def _as_year(facts: Facts) -> Judgement | None:
    years = facts.all_whole and facts.smallest is not None and facts.largest is not None
    if not years or not (1900 <= facts.smallest <= facts.largest <= 2100) or not facts.few:  # type: ignore[operator]
        return None
    if facts.meaning in ("value", "count", "ratio"):
        return None
    named = facts.meaning == "time"
    return "classification", "year", {"sure": named, "alternatives": () if named else ("value",)}


def _as_status(facts: Facts) -> Judgement | None:
    if facts.words and facts.low in CONFIDENTIALITY_COLUMNS and CONFIDENTIALITY.keys() >= {*facts.words}:
        return "status", "status", {}
    named = facts.low in ("status", "state", "geheim") and facts.text
    return ("status", "status", {}) if named and _are_statuses(facts.words) else None


def _as_known(facts: Facts) -> Judgement | None:
    if facts.meaning == "age" and facts.all_numbers and facts.codes <= MANY_YEARS:
        return "classification", "age", {"chosen": facts.few and facts.codes <= FEW_NUMBERS, "alternatives": ("value",)}
    found = known_classification(facts)
    if found is None or not (facts.few or found.by_name):
        return None
    sure = found.by_name or not facts.all_numbers or facts.zeros > 0
    return (
        "classification",
        found.known.key,
        {
            "prefixes": found.prefixes, "notes": found.notes, "sure": sure and "zeros" not in found.notes,
            "alternatives": () if sure else ("value",), "chosen": facts.few or facts.codes <= FEW_NUMBERS,
        },
    )  # fmt: skip


def _as_identifier(facts: Facts) -> Judgement | None:
    """Names of rows, households, firms: called so, running through, or long and all different."""
    if facts.all_whole and facts.named and facts.differ:
        return "identifier", "counted", {}
    if not facts.all_numbers and not facts.named:
        return None
    one_each = facts.codes >= OWN_ROW * facts.entries
    if facts.named and (not _decimals(facts) or one_each) and facts.codes > FEW_NUMBERS:
        return "identifier", "called", {"sure": facts.meaning == "identifier"}
    if facts.meaning is not None or not facts.all_whole or not facts.all_numbers:
        return None
    if facts.running and facts.codes > MOST_CODES:
        return "identifier", "running", {"sure": False, "alternatives": ("value",)}
    long = facts.shortest == facts.longest >= LONG_NUMBER and one_each
    return ("identifier", "own", {"sure": False, "alternatives": ("value",)}) if long and facts.rows > 50 else None


def _as_value(facts: Facts) -> Judgement | None:
    if not facts.all_numbers or _are_codes(facts):
        return None
    if facts.meaning == "ratio":
        return "value", "ratio", {"chosen": False, "sure": False, "alternatives": ("other",)}
    named = facts.meaning in ("value", "count")
    rank = 4 * (facts.meaning == "value") + 2 * _decimals(facts) + (facts.codes * 10 >= facts.entries)
    doubt = not named and not _decimals(facts) and facts.few
    more: dict[str, Any] = {"rank": rank, "sure": not doubt, "alternatives": ("classification",) if doubt else ()}
    if facts.entries < facts.rows:
        return "value", "gaps", more | {"rank": rank - GAPS}
    return "value", "amounts" if facts.meaning == "value" else "numbers", more


def _as_named_value(facts: Facts) -> Judgement | None:
    """What is called a value and is nearly one: the job that adds it up asks about the signs, nobody leaves it out."""
    return _as_nearly_value(facts) if facts.meaning == "value" else None


def _as_nearly_value(facts: Facts) -> Judgement | None:
    """Numbers with other signs beside or among them: units, currencies, footnotes, marks for nothing and unknown."""
    if not facts.text or not facts.nearly:
        return None
    if facts.meaning == "ratio" or facts.shares:
        return "value", "ratio", {"chosen": False, "sure": False, "alternatives": ("other",)}
    rank = 4 * (facts.meaning == "value") + 1 - GAPS
    return "value", "signs", {"rank": rank, "sure": False, "alternatives": ("classification",)}


def _are_codes(facts: Facts) -> bool:
    """Whether numbers are probably codes, if the name does not say that they are values."""
    if facts.padded and facts.few:
        return True
    if facts.meaning in ("value", "count", "ratio") or not (facts.all_whole or facts.meaning in KEYS):
        return False
    if facts.meaning in CLASSIFYING:
        return facts.codes <= MOST_CODES and (facts.all_whole or facts.few)
    few = facts.codes <= FEW_NUMBERS and facts.codes * AGAIN <= facts.rows
    return facts.few and (few or _equal(facts))


def _equal(facts: Facts) -> bool:
    """Whole numbers of equal length that come again and again."""
    return facts.shortest == facts.longest > 1 and facts.codes * OFTEN <= facts.rows


def _decimals(facts: Facts) -> bool:
    return facts.all_numbers and not facts.all_whole


def _as_classification(facts: Facts) -> Judgement | None:
    several = facts.codes <= FEW_NUMBERS and facts.codes < OWN_ROW * facts.entries and not facts.all_numbers
    named = facts.meaning in CLASSIFYING and facts.codes <= MOST_CODES and facts.codes < OWN_ROW * facts.entries
    if not (facts.few or several or named):
        return None
    reason = "codes"
    if facts.all_numbers and facts.kind.upper() != "BOOLEAN":
        reason = "padded" if facts.padded else "named" if facts.meaning in CLASSIFYING else "few"
        reason = "equal" if reason == "few" and facts.codes > FEW_NUMBERS else reason
    sure = reason in ("codes", "padded", "named")
    more: dict[str, Any] = {
        "alternatives": () if sure else ("value",),
        "chosen": facts.codes > 1 and (facts.few or named),
        "sure": sure,
    }
    if _shortened(facts):
        return "classification", reason, more | {"notes": ("zeros",), "sure": False}
    return "classification", reason, more | {"prefixes": prefix_levels(facts.words) if facts.text else ()}


def _shortened(facts: Facts) -> bool:
    """Whether keys of regions or goods have lost leading zeros: two lengths, one digit apart, and no zero in front."""
    keys = facts.meaning in ("region", "postcode", "goods", "industry") and facts.all_whole and not facts.zeros
    return keys and 3 <= facts.shortest == facts.longest - 1


def _as_rest(facts: Facts) -> Judgement:
    own = facts.codes >= OWN_ROW * facts.entries
    return ("identifier", "own", {}) if own else ("other", "many", {"chosen": False})


def _are_statuses(words: Sequence[str]) -> bool:
    try:
        for word in words[:50]:
            Status.from_text(word)
    except BadOption:
        return False
    return bool(words)


JUDGES: tuple[Callable[[Facts], Judgement | None], ...] = (
    _as_nothing, _by_name, _as_date, _as_year, _as_status, _as_known, _as_identifier, _as_value, _as_named_value,
    _as_classification, _as_nearly_value, _as_rest,
)  # fmt: skip
