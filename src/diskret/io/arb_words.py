"""The words of one line of a tau-ARGUS batch: texts, quoted or not, and the signs between them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from diskret.model.errors import UnreadableFile

SIGNS = "(),|"
_WORD = re.compile(r'["“”](?P<quoted>[^"“”]*)(?P<closed>["“”]?)|(?P<sign>[(),|])|(?P<bare>[^"“”(),|]+)')
_NUMBER = re.compile(r"[+-]?(\d{1,15}(\.\d{0,15})?|\.\d{1,15})")
LONGEST = 40
"""Characters of a word that a message shows."""


class Words:
    """What is left of a line; reading a word takes it away.

    >>> words = Words('(1, 3, AS+, "out (2026).txt")')
    >>> words.take("("), words.whole("table"), words.take(","), words.number(), words.take(","), words.text()
    (True, 1, True, 3.0, True, 'AS+')
    >>> words.take(","), words.file_word(), words.take(")"), bool(words)
    (True, 'out (2026).txt', True, False)
    """

    QUOTES = ('"', "“", "”")

    def __init__(self, text: str) -> None:
        self._words: list[tuple[str, str]] = list(_words_in(text))

    def __bool__(self) -> bool:
        return bool(self._words)

    @property
    def is_quoted(self) -> bool:
        """Whether the next word stands in quotes."""
        return bool(self._words) and self._words[0][0] == "quoted"

    def before(self, sign: str) -> bool:
        """Whether a sign follows the next word."""
        return len(self._words) > 1 and self._words[1] == ("sign", sign)

    def take(self, *signs: str) -> bool:
        """Take one of these signs, if it comes next."""
        if self._words and self._words[0][0] == "sign" and self._words[0][1] in signs:
            del self._words[0]
            return True
        return False

    def expect(self, sign: str) -> None:
        """Take a sign that must come next."""
        if not self.take(sign):
            found = f"{self._words[0][1].strip()[:LONGEST]!r} stands there" if self._words else "the line ends there"
            raise UnreadableFile(
                f"a {sign!r} is expected, but {found}", hint="see docs/argus.md for the form of the line."
            )

    def text(self) -> str:
        """The next word, in quotes or not; nothing if a sign comes next."""
        if not self._words or self._words[0][0] == "sign":
            return ""
        return self._words.pop(0)[1].strip()

    def quoted(self) -> str:
        """The next word as it is, blanks and all; a sign without quotes may be meant as one, too."""
        if not self._words:
            return ""
        return self._words.pop(0)[1]

    def names(self) -> Iterator[str]:
        """Names one after another, in quotes, or one without."""
        while self._words and self._words[0][0] != "sign":
            if name := self.text():
                yield name

    def number(self) -> float | None:
        """The next word as a number; None if there is none."""
        text = self.text()
        if not text:
            return None
        if not _NUMBER.fullmatch(text):
            raise UnreadableFile(f"{text[:LONGEST]!r} is not a number", hint="digits, perhaps with a decimal point.")
        return float(text)

    def whole(self, what: str) -> int:
        """The next word as a whole number."""
        number = self.number()
        if number is None or number != int(number):
            raise UnreadableFile(f"the number of the {what} is missing", hint="tables and types are counted from 1.")
        return int(number)

    def flag(self, default: bool) -> bool:
        """The next word as 0 or 1; nothing leaves it at what is usual."""
        text = self.text()
        if text not in ("", "0", "1"):
            raise UnreadableFile(f"{text[:LONGEST]!r} is neither 0 nor 1", hint="1 is yes, 0 is no.")
        return default if not text else text == "1"

    def numbers(self) -> list[float | None]:
        """Numbers in brackets, with commas between them."""
        self.expect("(")
        found = [self.number()]
        while self.take(","):
            found.append(self.number())
        self.expect(")")
        while found and found[-1] is None:  # a comma too many at the end
            found.pop()
        return found

    def file_word(self) -> str:
        """The next word as the name of a file."""
        name = self.text()
        if not name:
            raise UnreadableFile("no file is named", hint='write its name in quotes: "firms.asc".')
        return name

    def file(self) -> str:
        """The only word as the name of a file."""
        name = self.file_word()
        self.end()
        return name

    def end(self) -> None:
        """Refuse what stands behind the end; commas, bars and remarks do not matter."""
        while self.take(",", "|"):
            pass
        if self._words:
            raise UnreadableFile(
                f"{self._words[0][1].strip()[:LONGEST]!r} stands after the end of the command", hint="remove it."
            )


def _words_in(text: str) -> Iterator[tuple[str, str]]:
    """Words and signs; a remark ends the line."""
    for found in _WORD.finditer(text):
        if found["sign"]:
            yield "sign", found["sign"]
        elif found["bare"] is not None:
            bare, remark, _ = found["bare"].partition("//")
            if bare.strip():
                yield "bare", bare
            if remark:
                return
        elif found["closed"]:
            yield "quoted", found["quoted"]
        else:
            raise UnreadableFile("a quote is not closed", hint='write a " at both ends.')
