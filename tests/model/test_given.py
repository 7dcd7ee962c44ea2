"""Typical mistakes of a first call: each is answered in words, none by a Python error from deep inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import diskret as dk
from diskret.model.errors import BadOption
from diskret.rules import PQ, Dominance, MinCount, PPercent, SmallCells

FIRMS: dict[str, Any] = {"Kreis": ["a", "b", "b", "a", "c", "c"], "sex": ["m", "w"] * 3, "x": [1.0, 2, 3, 4, 5, 6]}


def table() -> dk.Table:
    return dk.tabulate(FIRMS, by=["Kreis", "sex"], value="x")


def test_names_of_columns_are_enough_for_flat_classifications() -> None:
    one, several = dk.tabulate(FIRMS, by="Kreis", value="x"), table()
    assert one.names == ("Kreis",)
    assert several.value.tolist() == dk.tabulate(FIRMS, by={"Kreis": None, "sex": None}, value="x").value.tolist()
    assert dk.Table.from_cells({"Kreis": ["a"], "x": [1]}, by="Kreis", value="x").names == ("Kreis",)
    assert dk.anonymise(FIRMS, "sex", k=2).objects == 6


MISTAKES: dict[str, tuple[Callable[[], Any], str]] = {
    "by a number": (lambda: dk.tabulate(FIRMS, by=3, value="x"), "by is an int"),  # type: ignore[call-overload]
    "a file for a hierarchy": (
        lambda: dk.tabulate(FIRMS, by={"Kreis": "kreis.hrc"}, value="x"),
        "the hierarchy of 'Kreis' is a str",
    ),
    "a number for a column": (lambda: dk.tabulate(FIRMS, by="Kreis", value=3), "not the name of"),  # type: ignore[call-overload]
    "text for a number": (lambda: dk.anonymise(FIRMS, "sex", k="3"), "k is a str, not a whole number"),  # type: ignore[arg-type]
    "half a person": (lambda: dk.anonymise(FIRMS, "sex", k=2.5), "k is a float"),  # type: ignore[arg-type]
    "an unknown column": (lambda: dk.Table.from_cells(FIRMS, by="Kreis", value="x", cuont="n"), "no option 'cuont'"),
    "a share for p": (lambda: PPercent(0.1), "less than 1 percent"),
    "a share for k": (lambda: Dominance(1, 0.85), "less than 1 percent"),
    "no p": (lambda: PPercent(None), "out of range"),  # type: ignore[arg-type]
    "text for a count": (lambda: MinCount("3"), "minimum count is a str"),  # type: ignore[arg-type]
    "half a contributor": (lambda: MinCount(2.5), "minimum count is a float"),  # type: ignore[arg-type]
    "text for a small count": (lambda: SmallCells("3"), "smallest count is a str"),  # type: ignore[arg-type]
    "the name of a rule": (lambda: dk.mark(table(), "p%"), "a str is not a rule"),  # type: ignore[arg-type]
    "a rule without its parameter": (lambda: dk.mark(table(), MinCount), "the class MinCount is not a rule"),  # type: ignore[arg-type]
    "records for a table": (lambda: dk.suppress(FIRMS), "a dict is not a table"),  # type: ignore[arg-type]
    "records to attack": (lambda: dk.audit(FIRMS), "a dict is not a table"),  # type: ignore[arg-type]
    "a word for a promise": (lambda: dk.suppress(table(), "strong"), "a str is not a promise"),  # type: ignore[arg-type]
    "a word for a base": (lambda: dk.round_table(table(), base="5"), "base of rounding"),  # type: ignore[arg-type]
    "tables without names": (lambda: dk.Pool.of([table(), table()]), "a list is not tables by their names"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_typical_mistake_is_answered_in_words(mistake: str) -> None:
    call, words = MISTAKES[mistake]
    with pytest.raises(BadOption, match=words) as refused:
        call()
    assert refused.value.hint


def test_the_unknown_column_is_answered_with_the_one_that_was_meant() -> None:
    with pytest.raises(BadOption, match="did you mean 'count'"):
        dk.Table.from_cells(FIRMS, by="Kreis", value="x", cuont="n")


def test_a_secret_parameter_is_not_repeated_in_the_message() -> None:
    with pytest.raises(BadOption) as refused:
        PPercent(0.137)
    assert "13.7" not in str(refused.value)
    assert PQ(0.05, 0.5).border() == pytest.approx(PPercent(10).border())
