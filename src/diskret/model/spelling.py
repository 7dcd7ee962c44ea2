"""Texts that look alike and are not equal, how to show what cannot be seen, and the nearest of many words.

A letter may be composed (ö) or written as two signs (o and a diaeresis), a blank may not break, and some characters
have no width at all. Codes that differ by nothing else are meant to be one code, and no person sees that they are two.
Capital letters and letters of other alphabets are different codes: those are decisions, not accidents of a keyboard.
"""

from __future__ import annotations

import difflib
import heapq
import re
import unicodedata
from collections.abc import Collection, Iterable
from itertools import islice

Ranges = tuple[tuple[int, int], ...]
INVISIBLE: Ranges = (
    (0xAD, 0xAD), (0x34F, 0x34F), (0x61C, 0x61C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
"""What Unicode calls default ignorable: zero-width characters, soft hyphens, marks of direction, byte order marks."""
BLANKS: Ranges = (
    (0x9, 0xD), (0x1C, 0x20), (0x85, 0x85), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A), (0x2028, 0x2029),
    (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000),
)  # fmt: skip
TURNING: Ranges = ((0x61C, 0x61C), (0x200E, 0x200F), (0x202A, 0x202E), (0x2066, 0x2069))
"""Marks that change the direction of writing, so that a text is read in another order than it has."""

SHOWN = 120
"""Characters of a text that a message shows."""


def any_of(ranges: Ranges, form: str = "\\U{:08x}") -> str:
    """A set of characters in a regular expression."""
    return "[" + "".join(f"{form.format(first)}-{form.format(last)}" for first, last in ranges) + "]"


_INVISIBLE, _BLANKS, _TURNING = (re.compile(any_of(each)) for each in (INVISIBLE, BLANKS, TURNING))
SQL_FORM = "\\x{{{:x}}}"
LONGEST = 100
"""Longer words are not compared letter by letter."""
COMPARED = 100


def plain(text: str) -> str:
    """A text as it looks: letters composed, nothing invisible, every run of blanks one blank, none outside.

    >>> ascii(plain(" Ko\\u0308ln\\u200b\\u00a0 West")), plain("05 111")
    ("'K\\\\xf6ln West'", '05 111')
    """
    if text.isascii():
        return " ".join(text.split())
    composed = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return " ".join(filter(None, _BLANKS.split(composed)))


def plain_sql(text: str) -> str:
    """The same in the SQL of DuckDB, for a text that is the expression of a column."""
    seen = f"regexp_replace({text}, '{any_of(INVISIBLE, SQL_FORM)}', '', 'g')"
    blanks = f"trim(regexp_replace(nfc_normalize({seen}), '{any_of(BLANKS, SQL_FORM)}+', ' ', 'g'))"
    # most codes are visible ASCII through and through
    return f"CASE WHEN regexp_matches({text}, '[^!-~]') THEN {blanks} ELSE {text} END"


def visible(text: str) -> str:
    """A text in quotation marks, with what cannot be seen written out.

    >>> visible("Ko\\u0308ln"), visible("a\\u00a0b"), visible("Ko\\u200bln")
    ("'Ko\\\\u0308ln'", "'a\\\\xa0b'", "'Ko\\\\u200bln'")
    """
    shown = repr(text)
    if text.isascii() or (unicodedata.is_normalized("NFC", text) and not _INVISIBLE.search(text)):
        return shown
    return "".join(ascii(c)[1:-1] if unicodedata.combining(c) or _INVISIBLE.match(c) else c for c in shown)


def alike(texts: Iterable[str]) -> list[tuple[str, ...]]:
    """Different texts that look the same, in the order they come.

    >>> alike(["A", "B", "A\\u200b"]) == [("A", "A\\u200b")]
    True
    """
    found: dict[str, dict[str, None]] = {}
    for text in texts:
        found.setdefault(plain(text), {})[text] = None
    return [tuple(spellings) for spellings in found.values() if len(spellings) > 1]


def invisible(texts: Iterable[str], *, turning: bool = False) -> list[str]:
    """Those texts that hold something nobody sees; with ``turning`` only marks of direction count.

    >>> invisible(["a", "b\\u00ad", "c\\u202e"]) == ["b\\u00ad", "c\\u202e"], invisible(["b\\u00ad"], turning=True)
    (True, [])
    """
    sought = _TURNING if turning else _INVISIBLE
    return [text for text in texts if not text.isascii() and sought.search(text)]


def spelled(texts: Iterable[str], known: Iterable[str]) -> tuple[str, str] | None:
    """The first text that a known one looks like and is not, with that one; None if there is none.

    >>> spelled(["b", "a "], ["a"])
    ('a ', 'a')
    """
    there = {plain(each): each for each in known}
    return next(((text, there[look]) for text in texts if there.get(look := plain(text), text) != text), None)


def again(texts: Iterable[str]) -> list[int]:
    """Where a text stands that stood before, in one pass.

    >>> again(["a", "b", "a", "a"])
    [2, 3]
    """
    seen: set[str] = set()
    return [at for at, text in enumerate(texts) if text in seen or seen.add(text)]  # type: ignore[func-returns-value]


def nearest(word: str, known: Collection[str]) -> str | None:
    """The known word that was probably meant, None if none is near.

    Of many words only those that begin and end most like the given one are compared letter by letter.

    >>> nearest("05999", ["05911", "12345"]), nearest("x", ["05911"])
    ('05911', None)
    """
    if len(word) > LONGEST:
        return None
    candidates = [each for each in known if len(each) <= LONGEST]
    if len(candidates) > COMPARED:
        candidates = heapq.nlargest(COMPARED, candidates, key=lambda each: _ends_alike(word, each))
    return next(iter(difflib.get_close_matches(word, candidates, n=1, cutoff=0.6)), None)


def _ends_alike(one: str, other: str) -> int:
    """How many characters at the beginning and at the end are the same."""
    shortest = min(len(one), len(other))
    first = next((i for i in range(shortest) if one[i] != other[i]), shortest)
    return first + next((i for i in range(shortest - first) if one[-1 - i] != other[-1 - i]), shortest - first)


# --- in messages ------------------------------------------------------------------------------------------------------


def masked(text: str, most: int = 24) -> str:
    """The shape of a text without its digits, so that no value reaches a message.

    >>> masked("1.234,50 EUR")
    '#.###,## EUR'
    """
    shown = re.sub(r"\d", "#", text)
    return shown if len(shown) <= most else shown[: most - 1] + "…"


def listed(items: Iterable[object], most: int = 10) -> str:
    """The first few items in a sentence.

    >>> listed(["a", "b"]), listed(range(4), most=2)
    ("'a', 'b'", '0, 1 and 2 more')
    """
    rest = iter(items)
    shown = ", ".join(_short(i) for i in islice(rest, most))
    more = sum(1 for _ in rest)
    return f"{shown} and {more} more" if more else shown


def _short(item: object) -> str:
    """An item of a list in a message; a text in quotation marks, and not all of a very long one."""
    if not isinstance(item, str):
        return str(item)
    return visible(item) if len(item) <= SHOWN else visible(item[: SHOWN - 1]) + "…"
