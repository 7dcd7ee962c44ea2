"""What entries are evidence of: the quick way of SQL against patterns, entry by entry."""

from __future__ import annotations

import re
from random import Random

from diskret.model.numerals import APOSTROPHES, BLANKS, FAR, FAR_COMMA, PATTERNS, Evidence
from diskret.model.source import open_source
from diskret.model.wide import by_column, evidence_by_column

ONES = (
    "", "1", "-7", "+", "-", ".", ",", "1.", ".5", ",5", "0,5", "0.123", "1.234", "12,345", "123.456", "1234.567",
    "12345.6", "12345.", "-12345.6", "0,1234", "123,45", "123,456", "-123,4", "1.234,5", "1,234.5", "1 234,567",
    "1'234.5", "1’234", "1e5", "1,5E-3", "e", "1.2.3", "123.456.789", "1,2,3", "--1", "U12", "1_000", "10.1", "١٢",
    "1\n2",
)  # fmt: skip
SIGNS = "0012345" * 2 + ".,+-eE" + BLANKS + APOSTROPHES + "x"


def by_patterns(texts: list[str]) -> Evidence:
    """The twin: every condition as it is described."""

    def count(condition: object) -> int:
        return sum(bool(condition(text)) for text in texts)  # type: ignore[operator]

    def fits(pattern: str, text: str) -> bool:
        return re.fullmatch(pattern, text, re.ASCII) is not None

    def number(text: str, *ways: str) -> bool:
        return bool(re.search("[0-9]", text)) and all(fits(PATTERNS[way], text) for way in ways)

    def any_number(text: str) -> bool:
        return number(text, "points") or number(text, "commas")

    return Evidence(
        entries=count(lambda t: t != ""),
        points=count(lambda t: number(t, "points")),
        commas=count(lambda t: number(t, "commas")),
        both=count(lambda t: number(t, "points", "commas")),
        either=count(lambda t: number(t, "either")),
        far=count(lambda t: fits(FAR, t)),
        far_comma=count(lambda t: fits(FAR_COMMA, t)),
        with_comma=count(lambda t: number(t, "points") and "," in t),
        with_blank=count(lambda t: any_number(t) and set(t) & set(BLANKS)),
        with_apostrophe=count(lambda t: any_number(t) and set(t) & set(APOSTROPHES)),
        native=0,
    )


def found(texts: list[str]) -> Evidence:
    data = open_source({"x": texts})
    with by_column(data) as asking:
        return evidence_by_column(data, asking)["x"]


def test_every_entry_is_told_as_by_patterns() -> None:
    drawn = Random(19)
    made = {"".join(drawn.choices(SIGNS, k=drawn.randint(1, 8))).strip(BLANKS) for _ in range(3000)}
    texts = sorted(made | {*ONES}, key=lambda text: (len(text), text))
    assert found(texts) == by_patterns(texts)
    for text in ONES:
        assert found([text]) == by_patterns([text]), text
