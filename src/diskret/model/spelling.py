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

INVISIBLE = (
    "\\u00AD\\u034F\\u061C\\u115F\\u1160\\u17B4\\u17B5\\u180B-\\u180F\\u200B-\\u200F\\u202A-\\u202E\\u2060-\\u206F\\u3164"
    "\\uFE00-\\uFE0F\\uFEFF\\uFFA0\\uFFF0-\\uFFF8\\U0001BCA0-\\U0001BCA3\\U0001D173-\\U0001D17A\\U000E0000-\\U000E0FFF"
)
"""What Unicode calls default ignorable: zero-width characters, soft hyphens, marks of direction, byte order marks."""
BLANKS = "\\u0009-\\u000D\\u001C-\\u0020\\u0085\\u00A0\\u1680\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000"
TURNING = re.compile("[\\u061C\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]")
"""Marks that change the direction of writing, so that a text is read in another order than it has."""
_INVISIBLE = re.compile(f"[{INVISIBLE}]")
_BLANKS = re.compile(f"[{BLANKS}]+")
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
    return _BLANKS.sub(" ", composed).strip(" ")


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
