"""Classifications that official statistics knows: how their codes look, and at which lengths they have levels."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from diskret.job.recognition.facts import Facts
from diskret.job.recognition.names import Meaning
from diskret.job.recognition.prefixes import prefix_levels

MOST_OTHERS = 0.1
"""Share of codes that may be none of the classification: totals, "unknown"."""
TOTALS = ("total", "insgesamt", "gesamt", "summe", "zusammen", "alle", "all", "t", "_t", "tot", "sum")

# Divisions of NACE Rev. 2 and 2.1 (and so of WZ 2008 and WZ 2025) with the last digits of their groups.
_GROUPS = (
    "01:1234567 02:1234 03:123 05:12 06:12 07:12 08:19 09:19 10:123456789 11:0 12:0 13:1239 14:123 15:12 16:12 17:12 "
    "18:12 19:12 20:123456 21:12 22:12 23:12345679 24:12345 25:12345679 26:12345678 27:123459 28:12349 29:123 30:12349 "
    "31:0 32:123459 33:12 35:1234 36:0 37:0 38:123 39:0 41:012 42:129 43:1234569 45:1234 46:123456789 47:123456789 "
    "49:12345 50:1234 51:12 52:123 53:123 55:12349 56:1234 58:12 59:12 60:123 61:1239 62:0129 63:19 64:1239 65:123 "
    "66:123 68:123 69:12 70:12 71:12 72:12 73:123 74:1239 75:0 77:12345 78:123 79:19 80:0123 81:123 82:12349 84:123 "
    "85:1234569 86:1269 87:12349 88:19 90:0123 91:01234 92:0 93:12 94:129 95:1234 96:01239 97:0 98:12 99:0"
)
GROUPS: Mapping[str, str] = dict(each.split(":") for each in _GROUPS.split())
_INDUSTRY = re.compile(r"[A-V]?([0-9]{2})(?:[.]([0-9])(?:[0-9](?:[.][0-9])?)?|([0-9])(?:[0-9]{1,2})?)?")
_LOST = re.compile(r"[1-9](?:[.][0-9]{1,2}(?:[.][0-9])?)?")
_NUTS = re.compile(
    "(AL|AT|BE|BG|CH|CY|CZ|DE|DK|EE|EL|ES|FI|FR|HR|HU|IE|IS|IT|LI|LT|LU|LV|ME|MK|MT|NL|NO|PL|PT|RO|RS|SE|SI|SK|TR|UK)"
    "[0-9A-Z]{1,3}"
)
_ISO2 = (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA "
    "CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH EL ER ES ET FI FJ FK FM FO FR "
    "GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO "
    "JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR "
    "MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO "
    "RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV "
    "TW TZ UA UG UK UM US UY UZ VA VC VE VG VI VN VU WF WS XK YE YT ZA ZM ZW"
)
COUNTRIES = frozenset(_ISO2.split())
_SEXES = frozenset(
    ("m", "w", "f", "d", "x", "male", "female", "man", "woman", "men", "women", "maennlich", "männlich", "weiblich",
     "divers", "other", "mann", "frau")
)  # fmt: skip
_RANGE = re.compile(
    r"[^0-9]{0,12}[0-9][0-9.,]*\s*_?(?:-|–|_|bis|to|,|\s)_?\s*(?:unter|under|<)?\s*[0-9][0-9.,]*[^0-9]{0,12}"
    r"|(?:<|>|<=|>=|≥|≤|unter|under|ueber|über|over|bis|ab|from)\s*[0-9][0-9.,]*.{0,20}|[0-9]+\s*(?:\+|u\.|und|and|_and).*"
)


@dataclass(frozen=True, kw_only=True)
class Known:
    """A classification whose codes can be told by their look, their column's name, or both."""

    key: str
    meaning: Meaning
    """What a column of it is called."""
    fits: Callable[[str], bool]
    digits: tuple[int, ...] = ()
    """Numbers of letters and digits at which it has levels."""
    alone: Callable[[Sequence[str]], bool] | None = None
    """Whether codes that fit need no name, looked at all together."""
    figures: bool = False
    """Whether its codes are figures, of which numbers lose leading zeros."""
    named: Callable[[Sequence[str]], bool] = bool
    """Whether codes that fit are of it if the name says so, looked at all together."""


@dataclass(frozen=True, kw_only=True)
class Recognition:
    """What is known of the codes of a column."""

    known: Known
    by_name: bool
    by_look: bool
    prefixes: tuple[int, ...]
    notes: tuple[str, ...]


def is_industry(code: str) -> bool:
    """Whether NACE or WZ has such a division, group or class; a section where it is one letter.

    >>> [is_industry(c) for c in ("C", "01", "10.1", "0111", "C10.11", "01.11.2", "1.11", "34.1", "100")]
    [True, True, True, True, True, True, True, False, False]
    """
    if re.fullmatch("[A-V]", code):
        return True
    padded = f"0{code}" if _LOST.fullmatch(code) else code
    found = _INDUSTRY.fullmatch(padded)
    return found is not None and found[1] in GROUPS and (found[2] or found[3] or "") in GROUPS[found[1]]


def _many_industries(codes: Sequence[str]) -> bool:
    """Whether codes finer than divisions come from so many divisions that no numbers fall so by chance."""
    digits = [re.sub("[^0-9]", "", c) for c in codes]
    fine = sum(3 <= len(d) <= 5 for d in digits)
    return fine >= 0.8 * len(codes) and len(codes) >= 6 and len({d[:2] for d in digits}) >= 4


def _is_region(code: str) -> bool:
    """A German key of regions: Land, Regierungsbezirk, Kreis, Gemeinde, with or without Verband.

    >>> [_is_region(c) for c in ("05", "05111", "16077", "17001", "05111000", "5111")]
    [True, True, True, False, True, False]
    """
    return len(code) in (2, 3, 5, 8, 9, 12) and code.isdecimal() and "01" <= code[:2] <= "16"


def _padded_regions(codes: Sequence[str]) -> bool:
    return len(codes) >= 4 and {len(c) for c in codes} <= {5, 8, 12} and any(c[0] == "0" for c in codes)


def _digits(*lengths: int) -> Callable[[str], bool]:
    return lambda code: len(code) in lengths and code.isdecimal()


KNOWN = (
    Known(key="nuts", meaning="region", fits=lambda c: _NUTS.fullmatch(c) is not None, digits=(2, 3, 4),
          alone=lambda codes: len(codes) >= 3 and any(any(map(str.isdigit, c)) for c in codes)),
    Known(key="industry", meaning="industry", fits=lambda c: c[0].isalpha() and is_industry(c), digits=(1, 3, 4, 5),
          alone=_many_industries),
    Known(key="industry", meaning="industry", fits=is_industry, digits=(2, 3, 4), alone=_many_industries, figures=True),
    Known(key="regions", meaning="region", fits=_is_region, digits=(2, 3, 5, 8), alone=_padded_regions, figures=True,
          named=lambda codes: any(len(c) > 3 or c[0] == "0" for c in codes)),
    Known(key="country", meaning="country", fits=COUNTRIES.__contains__, alone=lambda codes: len(codes) >= 6),
    Known(key="country", meaning="region", fits=COUNTRIES.__contains__),
    Known(key="postcode", meaning="postcode", fits=_digits(5), digits=(1, 2), figures=True),
    Known(key="occupation", meaning="occupation", fits=_digits(1, 2, 3, 4, 5), digits=(1, 2, 3, 4)),
    Known(key="goods", meaning="goods", fits=_digits(2, 4, 6, 8, 9, 10), digits=(2, 4, 6, 8), figures=True),
    Known(key="consumption", meaning="consumption", digits=(2, 3, 4),
          fits=lambda c: re.fullmatch(r"(0[1-9]|1[0-5])([.]?[0-9])*", c) is not None),
    Known(key="consumption", meaning="consumption", digits=(4, 5, 6), alone=lambda codes: len(codes) >= 3,
          fits=lambda c: re.fullmatch(r"CP(0[1-9]|1[0-5])([.]?[0-9])*", c) is not None),
    Known(key="sex", meaning="sex", fits=lambda c: c.lower() in _SEXES,
          alone=lambda codes: 2 <= len(codes) <= 4 and not all(c.lower() in "fxd" for c in codes)),
    Known(key="classes", meaning="size", fits=lambda c: _RANGE.fullmatch(c.strip().lower()) is not None,
          alone=lambda codes: len(codes) >= 2),
)  # fmt: skip


def known_classification(facts: Facts) -> Recognition | None:
    """The classification that the codes of a column belong to, by their look and the column's name."""
    codes = [word for word in facts.words if word.lower() not in TOTALS]
    if not codes or facts.meaning in ("value", "count", "ratio", "weight"):
        return None
    for known in KNOWN:
        if known.key == "classes" and facts.all_numbers:
            continue
        by_name = facts.meaning == known.meaning and known.named(codes)
        fitting = [code for code in codes if known.fits(code)]
        shortened = [code for code in codes if by_name and not known.fits(code) and known.fits(f"0{code}")]
        if len(codes) - len(fitting) - len(shortened) > MOST_OTHERS * len(codes):
            continue
        by_look = known.alone is not None and len(fitting) == len(codes) and known.alone(codes)
        if by_name or by_look:
            notes = _notes(facts, known, codes, bool(shortened))
            prefixes = () if {"zeros", "ends"} & {*notes} else prefix_levels(fitting, known.digits, 1.1)
            return Recognition(
                known=known, by_name=by_name, by_look=by_look, prefixes=prefixes if known.digits else (), notes=notes
            )
    return None


def _notes(facts: Facts, known: Known, codes: Sequence[str], shortened: bool) -> tuple[str, ...]:
    """What the codes may have lost on their way: leading zeros, zeros behind a point."""
    if not known.figures or not any(c[0].isdigit() for c in codes):
        return ()
    heads = {len(c.partition(".")[0]) for c in codes}
    behind = [c.partition(".")[2] for c in codes if "." in c]
    single = known.key == "industry" and any(_LOST.fullmatch(c) for c in codes)
    zeros = shortened or single or (facts.stored and len(heads) > 1)
    ends = len({len(each) for each in behind}) > 1 and not any(each.endswith("0") for each in behind)
    return ("zeros",) * zeros + ("ends",) * ends or ("number",) * facts.stored
