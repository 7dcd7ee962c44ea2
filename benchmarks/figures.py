"""`python -m benchmarks.figures [--check]`: README's table of figures, as they were measured last.

Every line comes from rows of results.md, quality.md, speed.md and census.md. Without ``--check`` the table is written,
with it a difference is named and the answer is 1. What was not measured yet stays as it is.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
README = HERE.parent / "README.md"
Row = Mapping[str, str]
Tables = Mapping[str, Sequence[Row]]


Said = Callable[[Tables], str | None]
BEGIN, END = "<!-- written by `python -m benchmarks.figures` -->", "<!-- end of what is written -->"
HEAD = ("what", "diskret", "others", "measured by")


@dataclass(frozen=True)
class Line:
    """A line of the table: what was done, what we and others made of it, and the command that measures it again.

    Names in braces stand for what was measured; a line of which anything was not measured stays as it is.
    """

    what: str
    ours: str
    others: str
    command: str
    measured: Mapping[str, Said]

    def written(self, found: Tables) -> str | None:
        """The line as it was measured."""
        known = {name: said(found) for name, said in self.measured.items()}
        if None in known.values():
            return None
        return _line([*(text.format(**known) for text in (self.what, self.ours, self.others)), f"`{self.command}`"])


def _line(entries: Sequence[str]) -> str:
    return f"| {' | '.join(entries)} |"


# --- what was measured ------------------------------------------------------------------------------------------------


def tables(folder: Path = HERE) -> dict[str, list[Row]]:
    """All rows of the files that are there."""
    names = ("results", "quality", "speed", "census")
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


def _result(case: str, program: str, column: str) -> Said:
    """What a row of results.md says."""

    def said(found: Tables) -> str | None:
        rows = [r for r in found.get("results", ()) if (r.get("case"), r.get("program")) == (case, program)]
        return next((r[column] for r in rows), None)

    return said


def _speed(table: str, program: str, column: str) -> Said:
    def said(found: Tables) -> str | None:
        rows = [r for r in found.get("speed", ()) if r.get("table") == table]
        return next((r[column] or None for r in rows if r.get("program", "").startswith(program)), None)

    return said


def _gap(method: str) -> Said:
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


def _as(change: Callable[[str], str], said: Said) -> Said:
    def changed(found: Tables) -> str | None:
        text = said(found)
        return None if text is None else change(text)

    return changed


def _millions(text: str) -> str:
    return f"{float(text.replace(',', '')) / 1e6:.1f}"


def _seconds(text: str) -> str:
    """Seconds as they are read: two digits.

    >>> _seconds("69.84"), _seconds("4.92"), _seconds("0.83")
    ('70', '4.9', '0.83')
    """
    return f"{float(text):.2g}"


def _speeds(table: str, column: str, change: Callable[[str], str], **programs: str) -> dict[str, Said]:
    """One column of speed.md for several programs."""
    return {name: _as(change, _speed(table, program, column)) for name, program in programs.items()}


def _value(table: str, **programs: str) -> dict[str, Said]:
    return _speeds(table, "value", str, **programs)


def _deviations(program: str) -> Said:
    """The largest deviations of tables of one, two and three ways, such as 2/6/6."""
    return _as(lambda text: text.split(",")[0], _result("anonymise census1m, tables up to 3 ways", program, "quality"))


def _census(column: str, change: Callable[[str], str] = str) -> Said:
    """What census.md says of the largest one."""
    return _as(
        change, lambda found: next((r[column] for r in found.get("census", ()) if r.get("persons") == COUNTRY), None)
    )


COUNTRY = "83,000,000"
RECORDS = "tabulate 10M records, 80 level combinations"
VALUES = "microaggregate 10M values, m = 3"
LINES = (
    Line(
        "10 million records to all sums of {cells} million cells",
        "{ours} CPU s", "DuckDB {duckdb} s, polars {polars} s", "python -m benchmarks --long tabulate-10M",
        {
            "cells": _as(lambda text: text.split(" M")[0], _result(RECORDS, "diskret", "quality")),
            "ours": _as(_seconds, _result(RECORDS, "diskret", "CPU s")),
            "duckdb": _as(_seconds, _result(RECORDS, "DuckDB, grouping sets", "CPU s")),
            "polars": _as(_seconds, _result(RECORDS, "polars, group-bys", "CPU s")),
        },
    ),
    Line(
        "{cells} cells, {primary} of them sensitive: neither a reader nor any single firm can work one out",
        "hides {ours} million, {seconds} CPU s", "GHMITER hides {theirs} million, {their_seconds} s",
        "python -m benchmarks.speed",
        {
            "cells": _speed("h3", "diskret, default", "cells"),
            "primary": _speed("h3", "diskret, default", "primary"),
            **_speeds("h3", "value", _millions, ours="diskret, default", theirs="GHMITER"),
            **_speeds("h3", "CPU s", _seconds, seconds="diskret, default", their_seconds="GHMITER"),
        },
    ),
    Line(
        "{cells} cells, {primary} sensitive: what is hidden, and how many an attack finds",
        "{ours}; {found} found",
        "GHMITER {ghmiter}; gconfid {gconfid}, {gconfid_found} found; "
        "tau-ARGUS modular {modular}, {modular_found} found",
        "python -m benchmarks.speed",
        {
            "cells": _speed("mid", "diskret, default", "cells"),
            "primary": _speed("mid", "diskret, default", "primary"),
            **_value("mid", ours="diskret, default", ghmiter="GHMITER", gconfid="gconfid",
                     modular="tau-ARGUS modular, singles"),
            **_speeds("mid", "exposed", str, found="diskret, default", gconfid_found="gconfid",
                      modular_found="tau-ARGUS modular, singles"),
        },
    ),
    Line(
        "small tables whose cheapest safe pattern is proved",
        "{gap} % above it on average", "not measured", "python -m benchmarks.quality", {"gap": _gap("default")},
    ),
    Line(
        "10 million values in groups of three, the exact optimum",
        "{ours} CPU s", "microagg1d {theirs} s", "python -m benchmarks --long microdata-group-10M",
        {
            "ours": _as(_seconds, _result(VALUES, "diskret", "CPU s")),
            "theirs": _as(_seconds, _result(VALUES, "microagg1d, prefix-sums (simple, stable=2)", "CPU s")),
        },
    ),
    Line(
        "a census of a million persons made 3-anonymous: largest error of tables of one, two and three attributes",
        "{ours}", "k-member grouping {grouped}", "python -m benchmarks safe-census1m",
        {"ours": _deviations("diskret, ladder to 2/6/6"), "grouped": _deviations("k-member grouping")},
    ),
    Line(
        "the same for {persons} persons, a country", "{errors}; {minutes} CPU minutes, {memory} GB", "not measured",
        "python -m benchmarks.census protect 83000000",
        {
            "persons": _census("persons"), "errors": _census("largest deviations in 1/2/3 dimensions"),
            "minutes": _census("CPU s", lambda text: f"{float(text.replace(',', '')) / 60:.0f}"),
            "memory": _census("peak GB"),
        },
    ),
)  # fmt: skip


def written(text: str, found: Tables, lines: Sequence[Line] = LINES) -> str:
    """The text with its table as it was measured."""
    before, begin, rest = text.partition(BEGIN)
    there, end, after = rest.partition(END)
    if not begin or not end or BEGIN in after:
        raise ValueError(f"the table belongs between {BEGIN} and {END}, once")
    old = [row for row in there.splitlines() if row.startswith("|")][2:]
    if len(old) not in (0, len(lines)):
        raise ValueError(f"the table has {len(old)} lines, and {len(lines)} are measured")
    rows = [line.written(found) or kept for line, kept in zip(lines, old or [""] * len(lines), strict=True)]
    table = [_line(HEAD), _line(["---"] * len(HEAD)), *filter(None, rows)]
    return "\n".join([before + begin, *table, end + after])


def differences(text: str, found: Tables, lines: Sequence[Line] = LINES) -> list[str]:
    """Lines of the table that are not those that were measured."""
    there = set(text.splitlines())
    return [
        f"{line.command} measured: {row}"
        for line in lines
        if (row := line.written(found)) is not None and row not in there
    ]


def main(words: Sequence[str] | None = None) -> int:
    """Write the table, or say which lines differ."""
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
