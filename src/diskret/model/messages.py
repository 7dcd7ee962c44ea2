"""Messages in German: a book of sentences, each as the code writes it in English with {places} for what it names.

Rooms speak English; whoever shows a message to a reader of another language looks it up at the last moment. What stands
in a place is a name, a number or a message itself. What the book does not know stays as it is.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from diskret.model.words import number_in

PLACE = re.compile(r"\{(\w+)\}")
NUMBER = re.compile(r"-?\d{1,3}(?:,\d{3})*(?:\.\d+)?|-?\d+(?:\.\d+)?")
KEYED = re.compile(r"(?P<key>[\w.()\[\]\"-]+): (?P<what>.+?)(?: \((?P<hint>.+)\))?")
MORE = re.compile(r" and ([\d,]+) more\b")


@dataclass(frozen=True, kw_only=True)
class Phrase:
    """A sentence in English, what finds it, and the sentence in German."""

    english: re.Pattern[str]
    german: str
    letters: int
    """How much of it is words rather than places: what says more is tried first."""


@dataclass(frozen=True, kw_only=True)
class Book:
    """All phrases: those without a place by their words, the others in the order in which they are tried."""

    plain: dict[str, str]
    phrases: tuple[Phrase, ...]

    def sentence(self, english: str) -> str | None:
        """A sentence the book knows, else None."""
        if english in self.plain:
            return self.plain[english]
        for phrase in self.phrases:
            found = phrase.english.fullmatch(english)
            if found:
                return self.filled(phrase.german, found.groupdict())
        return None

    def filled(self, german: str, said: Mapping[str, str]) -> str:
        """A German sentence with what stands in its places."""
        return PLACE.sub(lambda place: self.placed(said[place[1]]), german)

    def placed(self, said: str) -> str:
        """What stands in a place: a number with German signs, a message of its own, or a name."""
        if NUMBER.fullmatch(said):
            return number_in(said, "de")
        if said[:1] in "'\"":
            return MORE.sub(r" und \1 weitere", said)
        return self.sentence(said) or MORE.sub(r" und \1 weitere", said)

    def line(self, english: str) -> str:
        """A line: a sentence, a mistake under the key of a job, or several sentences."""
        known = self.sentence(english)
        if known is not None:
            return known
        keyed = KEYED.fullmatch(english)
        if keyed and (what := self.sentence(keyed["what"])):
            return f"{keyed['key']}: {what}" + (f" ({self.line(keyed['hint'])})" if keyed["hint"] else "")
        for between in (r"(?<=[.?!]) ", r"(?<=;) "):
            parts = re.split(between, english)
            if len(parts) > 1:
                return " ".join(self.line(part) for part in parts)
        return (self.sentence(english[:-1]) or english[:-1]) + english[-1:] if english[-1:] in ".;" else english


@cache
def book() -> Book:
    """The book, read once."""
    text = files("diskret").joinpath("words", "de_messages.toml").read_text(encoding="utf-8")
    pairs = {english: german for room in tomllib.loads(text).values() for english, german in room.items()}
    phrases = [_phrase(english, german) for english, german in pairs.items() if PLACE.search(english)]
    return Book(
        plain={english: german for english, german in pairs.items() if not PLACE.search(english)},
        phrases=tuple(sorted(phrases, key=lambda phrase: -phrase.letters)),
    )


def _phrase(english: str, german: str) -> Phrase:
    parts = PLACE.split(english)  # words and names of places by turns
    pattern = "".join(f"(?P<{part}>.+?)" if i % 2 else re.escape(part) for i, part in enumerate(parts))
    return Phrase(english=re.compile(pattern), german=german, letters=sum(map(len, parts[::2])))


def message_in(message: str, language: str) -> str:
    """A message in the language of a reader.

    >>> message_in("column 'turnover' has 1,200 negative cells in a table declared positive", "de")
    "Spalte 'turnover' hat 1.200 negative Zellen in einer Tabelle, die als positiv erklärt ist"
    >>> message_in("no such words", "de"), message_in("there are no rows", "en")
    ('no such words', 'there are no rows')
    """
    if language != "de":
        return message
    lines = (re.fullmatch(r"(\s*)(.*)", line) for line in message.split("\n"))
    return "\n".join(found[1] + book().line(found[2]) for found in lines if found)
