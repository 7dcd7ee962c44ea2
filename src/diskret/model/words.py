"""What diskret says to readers, in their language: one file per language in ``diskret/words``, one table per paper."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

LANGUAGES = ("en", "de")


def words(paper: str, language: str = "en") -> Mapping[str, str]:
    """The words of one kind of paper, by what they stand for.

    >>> words("legend")["unit"], words("legend", "de")["unit"]
    ('Unit', 'Einheit')
    """
    return _language(language)[paper]


def number_in(number: str, language: str = "en") -> str:
    """A number as it is written in a language, from how Python writes it.

    >>> number_in("1,234.5"), number_in("1,234.5", "de")
    ('1,234.5', '1.234,5')
    """
    return number.translate(str.maketrans(",.", ".,")) if language == "de" else number


@cache
def _language(language: str) -> Mapping[str, Mapping[str, str]]:
    """All tables of a language, read once."""
    found: Mapping[str, Mapping[str, str]] = tomllib.loads(
        files("diskret").joinpath("words", f"{language}.toml").read_text(encoding="utf-8")
    )
    return found
