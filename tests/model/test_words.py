"""Both languages say the same things with the same gaps."""

from __future__ import annotations

from string import Formatter

import pytest

from diskret.model.words import words

PAPERS = ["legend", "report", "table_report", "safe_report"]
SPELLED_ALIKE = "rule "
"""Names of rules that are left as they are in English need no entry there."""


def gaps(text: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(text) if name}


@pytest.mark.parametrize("paper", PAPERS)
def test_german_says_what_english_says_with_the_same_gaps(paper: str) -> None:
    english, german = words(paper, "en"), words(paper, "de")
    assert set(english) <= set(german)
    assert all(key.startswith(SPELLED_ALIKE) for key in set(german) - set(english))
    assert {key: gaps(text) for key, text in english.items()} == {key: gaps(german[key]) for key in english}
