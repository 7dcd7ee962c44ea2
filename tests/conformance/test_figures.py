"""README says what was measured."""

from __future__ import annotations

import pytest

from benchmarks import figures

TEXT = "a table of\n41,789 cells hides 4.8 million in\n5,511 further cells, and so on"


def test_the_figures_of_readme_are_those_that_were_measured() -> None:
    text = figures.README.read_text(encoding="utf-8")
    found = figures.tables()
    assert figures.written(text, found) == text, figures.differences(text, found)


def test_a_figure_is_replaced_where_its_words_stand() -> None:
    figure = figures.Figure("million in {} further cells,", lambda found: "4,900")
    assert figures.written(TEXT, {}, [figure]) == TEXT.replace("5,511", "4,900")


def test_a_figure_that_was_not_measured_stays() -> None:
    assert figures.written(TEXT, {}, [figures.Figure("hides {} million", lambda found: None)]) == TEXT


def test_a_figure_without_its_words_is_an_error() -> None:
    with pytest.raises(ValueError, match="0 places"):
        figures.written(TEXT, {}, [figures.Figure("shows {} million", lambda found: "1")])
