"""README says what was measured."""

from __future__ import annotations

import argparse
import re
import tomllib
from dataclasses import replace

import pytest

from benchmarks import figures
from benchmarks.__main__ import chosen
from benchmarks.cases import CASES

README = figures.README.read_text(encoding="utf-8")
LINE = figures.Line("cells", "{ours} s", "none", "python -m benchmarks", {"ours": lambda found: "4.9"})
OLD = "| a | b | c | d |\n| --- | --- | --- | --- |\n| cells | 5.5 s | none | x |"
TEXT = f"before\n{figures.BEGIN}\n{OLD}\n{figures.END}\n"
MOST_LETTERS = 2 * 120
"""Letters of a sentence of two lines."""


def test_the_figures_of_readme_are_those_that_were_measured() -> None:
    assert not figures.differences(README, figures.tables())
    assert figures.written(README, figures.tables()) == README


def test_a_figure_that_differs_is_named_and_replaced() -> None:
    assert figures.differences(TEXT, {}, [LINE]) == [
        "python -m benchmarks measured: | cells | 4.9 s | none | `python -m benchmarks` |"
    ]
    assert "4.9 s" in figures.written(TEXT, {}, [LINE])
    assert "5.5" not in figures.written(TEXT, {}, [LINE])


def test_a_figure_that_was_not_measured_stays() -> None:
    unknown = replace(LINE, measured={"ours": lambda found: None})
    assert not figures.differences(TEXT, {}, [unknown])
    assert "| cells | 5.5 s | none | x |" in figures.written(TEXT, {}, [unknown])


def test_a_readme_without_a_place_for_the_table_is_an_error() -> None:
    with pytest.raises(ValueError, match="between"):
        figures.written("no table", {}, [LINE])


def test_every_command_of_the_table_measures_what_stands_beside_it() -> None:
    for line in figures.LINES:
        module, *words = line.command.removeprefix("python -m ").split()
        if module == "benchmarks":
            given = argparse.Namespace(long="--long" in words, words=[w for w in words if w != "--long"], go_on=False)
            assert {"diskret"} < {CASES[name].program.split(",")[0] for name in chosen({}, given)}, line.command
        else:
            assert (figures.HERE / f"{module.removeprefix('benchmarks.')}.py").is_file()


def test_no_number_of_readme_was_written_by_hand() -> None:
    """Figures with a unit stand in the table and nowhere else."""
    before, _, rest = README.partition(figures.BEGIN)
    text = before + rest.partition(figures.END)[2]
    assert not re.search(r"\d[\d.,]* (%|million|CPU|seconds|s)\b", text)


def test_no_sentence_of_readme_is_longer_than_two_lines() -> None:
    text = re.sub(r"(?s)```.*?```|<!--.*?-->", "", README)
    blocks = [
        block for block in re.split(r"\n\s*\n|\n(?=[-|#])", text) if not block.lstrip().startswith(("|", "#", "    "))
    ]
    sentences = [each for block in blocks for each in re.split(r"(?<=[.:?!])\s+", re.sub(r"\]\([^)]*\)", "]", block))]
    assert [each for each in sentences if len(" ".join(each.split())) > MOST_LETTERS] == []
    assert max(len(line) for line in README.splitlines() if not line.startswith("|")) <= 120


def test_readme_names_every_extra() -> None:
    project = tomllib.loads((figures.README.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(re.findall(r"`(\w+)`", README.partition("Extras: ")[2])) == set(project["optional-dependencies"])
