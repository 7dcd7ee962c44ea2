"""`python -m benchmarks.figures [--check]`: the figures of README as they were measured last.

Every figure there comes from a row of results.md, quality.md or speed.md; what stands around it in the text says where
it belongs. Without ``--check`` they are written, with it a difference is named and the answer is 1. What was not
measured yet stays as it is.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
Row = Mapping[str, str]
Tables = Mapping[str, Sequence[Row]]


@dataclass(frozen=True)
class Figure:
    """A figure: the words it stands in, with ``{}`` in its place, and how it follows from what was measured."""

    words: str
    said: Callable[[Tables], str | None]

    @property
    def pattern(self) -> re.Pattern[str]:
        """The words over any line breaks, with the figure as the second of three groups."""
        before, after = (
            r"\s+".join(re.escape(word) for word in part.split()) for part in self.words.split("{}", maxsplit=1)
        )
        gaps = [
            r"\s*" if self.words[at] == " " else "" for at in (self.words.index("{}") - 1, self.words.index("{}") + 2)
        ]
        return re.compile(f"({before}{gaps[0]})([0-9][0-9.,]*[0-9]|[0-9])({gaps[1]}{after})")


# --- what was measured ------------------------------------------------------------------------------------------------


def tables(folder: Path = HERE) -> dict[str, list[Row]]:
    """All rows of the three files that are there."""
    names = ("results", "quality", "speed")
    found = {name: folder / f"{name}.md" for name in names}
    return {name: list(rows_of(path.read_text(encoding="utf-8"))) for name, path in found.items() if path.exists()}


def rows_of(text: str) -> Iterator[Row]:
    """The rows of every table in a text, by the names of their columns.

    >>> list(rows_of("| a | b |\\n|---|---|\\n| 1 | 2 |"))
    [{'a': '1', 'b': '2'}]
    """
    names: list[str] = []
    for line in text.splitlines():
        if not line.startswith("|"):
            names = []
            continue
        words = [word.strip() for word in line.strip().strip("|").split("|")]
        if not names:
            names = words
        elif not set(line) <= set("|-: ") and len(words) == len(names):
            yield dict(zip(names, words, strict=True))


def _result(case: str, program: str, column: str) -> Callable[[Tables], str | None]:
    """What a row of results.md says."""

    def said(found: Tables) -> str | None:
        rows = [r for r in found.get("results", ()) if (r.get("case"), r.get("program")) == (case, program)]
        return next((r[column] for r in rows), None)

    return said


def _speed(table: str, program: str, column: str) -> Callable[[Tables], str | None]:
    def said(found: Tables) -> str | None:
        rows = [r for r in found.get("speed", ()) if r.get("table") == table]
        return next((r[column] or None for r in rows if r.get("program", "").startswith(program)), None)

    return said


def _gap(method: str) -> Callable[[Tables], str | None]:
    """Mean gap in value over all made tables whose optimum is proved, whoever is guarded against."""

    def said(found: Tables) -> str | None:
        rows = [
            (int(r["optimum known"]), float(r["mean gap %"]))
            for r in found.get("quality", ())
            if r.get("method") == method
            and r["cost"] == "value"
            and r["tables"].split(",")[0] in ("flat", "cubes", "trees")
            and r["mean gap %"]
        ]
        known = sum(number for number, _ in rows)
        return f"{sum(number * gap for number, gap in rows) / known:.1f}" if known else None

    return said


def _as(change: Callable[[str], str], said: Callable[[Tables], str | None]) -> Callable[[Tables], str | None]:
    def changed(found: Tables) -> str | None:
        text = said(found)
        return None if text is None else change(text)

    return changed


def _up(text: str) -> str:
    """Whole seconds that were not reached."""
    return str(ceil(float(text)))


def _millions(text: str) -> str:
    return f"{float(text.replace(',', '')) / 1e6:.1f}"


def _part(number: int) -> Callable[[str], str]:
    """One of the deviations in words like 2/6/6."""
    return lambda text: text.split(",")[0].split("/")[number]


CENSUS = _result("anonymise census1m, tables up to 3 ways", "diskret, ladder to 2/6/6", "quality")
FIGURES = (
    Figure(
        "in under {} CPU seconds)", _as(_up, _result("tabulate 10M records, 80 level combinations", "diskret", "CPU s"))
    ),
    Figure("with 5,598 marked ones hides {} million", _as(_millions, _speed("h3", "diskret, default", "value"))),
    Figure("million in {} further cells,", _speed("h3", "diskret, default", "secondaries")),
    Figure("further cells, in {} CPU seconds", _as(_up, _speed("h3", "diskret, default", "CPU s"))),
    Figure("same promise hides {} million", _as(_millions, _speed("h3", "GHMITER", "value"))),
    Figure("can be proved, ours is {} % dearer", _gap("default")),
    Figure("deviations of at most {} in one-way", _as(_part(0), CENSUS)),
    Figure("in one-way and {} in two- and three-way", _as(_part(1), CENSUS)),
    Figure(
        "exact optimum in under {} seconds)", _as(_up, _result("microaggregate 10M values, m = 3", "diskret", "CPU s"))
    ),
)


def written(text: str, found: Tables, figures: Sequence[Figure] = FIGURES) -> str:
    """The text with the figures as they were measured."""
    for figure in figures:
        places = figure.pattern.findall(text)
        if len(places) != 1:
            raise ValueError(f"{len(places)} places for {figure.words!r}")
        said = figure.said(found)
        if said is not None:
            text = figure.pattern.sub(rf"\g<1>{said}\g<3>", text)
    return text


def differences(text: str, found: Tables) -> list[str]:
    """Figures of a text that are not those that were measured."""
    return [
        f"{figure.words!r}: {stands[1]} stands there, {said} was measured"
        for figure in FIGURES
        for stands in figure.pattern.findall(text)
        if (said := figure.said(found)) is not None and stands[1] != said
    ]


def main(words: Sequence[str] | None = None) -> int:
    """Write the figures, or say which differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing")
    given = parser.parse_args(words)
    text, found = README.read_text(encoding="utf-8"), tables()
    wrong = differences(text, found)
    print("\n".join(wrong) or "README's figures are those that were measured")
    if not given.check:
        README.write_text(written(text, found), encoding="utf-8")
    return int(given.check and bool(wrong))


if __name__ == "__main__":
    raise SystemExit(main())
