"""Limits hold for everybody and can be raised in one place."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

import pytest

from diskret.model.errors import BadOption, TooLarge
from diskret.model.limits import VARIABLE, Limits, limits, refuse_more

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"


def test_a_limit_is_raised_in_the_environment_and_the_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "rows=2_000_000_000, text=5000000")
    assert limits() == Limits(rows=2_000_000_000, text=5_000_000)


@pytest.mark.parametrize("text", ["row=1", "rows", "rows=-1", "rows=0", "rows=1e9", "rows=²", "rows=" + "9" * 5000])
def test_what_is_not_a_limit_is_refused_with_the_names(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, text)
    with pytest.raises(BadOption, match="is not a limit") as caught:
        limits()
    assert "'rows', 'columns'" in str(caught.value)
    assert len(str(caught.value)) < 400


def test_the_refusal_names_the_limit_the_number_and_the_cure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "columns=10")
    refuse_more("columns", 10, "there are {} columns")
    with pytest.raises(TooLarge) as caught:
        refuse_more("columns", 12_345, "there are {} columns", "firms.xlsx")
    assert "12,345 columns; the limit 'columns' is 10\n  where: firms.xlsx" in str(caught.value)
    assert "DISKRET_LIMITS=columns=NUMBER" in str(caught.value)


def test_the_page_of_errors_lists_every_limit_as_it_is() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \| (.+) \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert rows == [(f.name, f"{f.default:,}", f.metadata["description"]) for f in fields(Limits)]
