"""A commented job file from a data file, for `diskret init`."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskret.io.metadata import source as told_source
from diskret.io.rda import read_metadata
from diskret.io.toml import toml_value
from diskret.job.described import metadata_beside, recognise_described
from diskret.job.pivots import Pivot, pivot_of
from diskret.job.questions import totals_asked
from diskret.job.recognise import Kind, Recognised, recognise
from diskret.job.recognition.column import Column
from diskret.model.databases import FILES as DATABASES
from diskret.model.encoding import ENCODINGS
from diskret.model.errors import BadOption, TotalInData, listed
from diskret.model.numerals import DECIMALS, THOUSANDS
from diskret.model.sheet import Box
from diskret.model.sheets import header_rows, header_value
from diskret.model.source import EXCEL, file_source, open_source
from diskret.model.unpivot import unpivoted

MOST_REASONS = 10


def job_text(
    data_path: str | Path, relative_to: str | Path, reading: Mapping[str, Any] | None = None, kind: Kind | None = None
) -> str:
    """A job file for a data file, with what `recognise` makes of its columns.

    ``reading`` says how the file is read, by the keys of ``[data]``; what it leaves out is found, and written down.
    """
    path = Path(data_path)
    said = {key: value for key, value in (reading or {}).items() if value is not None}
    beside = metadata_beside(path)
    if beside is not None:
        path, metadata = beside
        found, pivot = recognise_described(path, metadata, **said), None
        question = totals_asked(told_source(read_metadata(metadata), path, **_of_text(said)), found)
        said["metadata"] = _relative(metadata, relative_to)
    else:
        source, found, pivot = _proposed(file_source(path, **said), kind)
        question = totals_asked(source, found)
    by, values = found.named("classification"), found.named("value")
    return _TEMPLATE.format(
        kind=found.kind,
        data=_quoted(_relative(path, relative_to)),
        guessed=_AS_CELLS if found.kind == "cells" and kind is None and beside is None else "",
        extra="".join(f"{key} = {_quoted(value)}\n" for key, value in {**found.found, **said}.items()),
        by=", ".join(_quoted(c) for c in by),
        value=", ".join(_quoted(c) for c in values[:1]),
        others=", ".join(_quoted(c) for c in values[1:]) or "none",
        doubts=_doubts(found),
        roles=_roles(found),
        sections="\n".join(_section(found, c) + _totals(question, c) for c in by),
        unpivot=_unpivot(pivot),
        rules=_rules(found),
        holding="" if found.kind == "cells" else '# counted_by = "holding"\n',
        stem=re.sub(r"[^\w.-]+", "_", path.stem),
    )  # fmt: skip


def _proposed(source: object, kind: Kind | None) -> tuple[object, Recognised, Pivot | None]:
    """A file, long if it is certainly wide, with what its columns are; what is not certain about numbers is asked."""
    relation = open_source(source)
    found = recognise(relation, kind)
    pivot = pivot_of(relation, found.named("value"))
    if pivot is not None and pivot.sure:
        source = unpivoted(source, pivot.columns, into=pivot.into, value=pivot.value)
        relation = open_source(source)
        found = recognise(relation, kind)
    for value in found.named("value"):
        if relation.is_text(value):
            relation.numerals_of(value)  # asks here, not when the job runs
    return source, found, pivot


def _relative(path: Path, base: str | Path) -> str:
    """A path as a job file in a folder names it."""
    name, here = path.resolve(), Path(base).resolve()
    return (name.relative_to(here) if name.is_relative_to(here) else name).as_posix()


def _of_text(said: Mapping[str, Any]) -> dict[str, Any]:
    return {key: said[key] for key in ("decimal", "encoding") if key in said}


def _doubts(found: Recognised) -> str:
    """Numbers that may be codes after all, and classifications that a first table does without."""
    unsure = [c for c in found.columns if c.role == "value" and c.chosen and not c.sure]
    further = [c for c in found.columns if c.role == "classification" and not c.chosen]
    lines = [f"# not sure: {_quoted(c.name)} ({c.why()}): {_doubt(c)}\n" for c in unsure]
    return "".join([*lines, *(f"# further classification: {_quoted(c.name)} ({c.why()})\n" for c in further)])


def rows_said(text: str | None) -> int | list[int] | None:
    """Rows of names as a command line says them.

    >>> rows_said("4"), rows_said("4,5"), rows_said(None)
    (4, [4, 5], None)
    """
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdecimal() and len(part) < 8 for part in parts):
        raise BadOption(f"header {text[:80]!r} is not a row", hint="count rows from 1: --header 4, or --header 4,5.")
    return header_value(header_rows([int(part) for part in parts]))


def refuse_reading(path: Path, reading: Mapping[str, Any]) -> None:
    """Refuse signs, encodings and ranges that there are not, and sheets of what has none."""
    parted = {"sheet": {*EXCEL, *DATABASES}, "range": EXCEL}
    for key, endings in parted.items():
        if reading.get(key) is not None and path.suffix.lower() not in endings:
            raise BadOption(f"--{key} needs a workbook", where=str(path), hint="leave it out.")
    known = {"decimal": DECIMALS, "thousands": THOUSANDS, "encoding": ENCODINGS}
    for key, choices in known.items():
        if reading.get(key) is not None and reading[key] not in choices:
            raise BadOption(f"--{key} {reading[key][:40]!r} is not known", hint=f"one of {listed(choices)}.")
    if reading.get("range") is not None:
        Box.of(reading["range"])


def _roles(found: Recognised) -> str:
    """Further columns of the table: what cells have, or what records may have."""
    if found.kind == "cells":
        lines = [f"{role} = {_quoted(n)}\n" for role in ("count", "status") for n in found.named(role)[:1]]
        return "".join(lines) + ("frequency = true              # the values are counts of units\n" * found.frequency)
    if found.further:
        return "".join(f"{key} = {toml_value(value)}\n" for key, value in found.further.items())
    weight, holding = ((found.named(role) or [role])[0] for role in ("weight", "holding"))
    return _RECORD_ROLES.format(weight=_quoted(weight), holding=_quoted(holding))


def _section(found: Recognised, name: str) -> str:
    (column,) = (c for c in found.columns if c.name == name)
    lengths = list(column.prefixes) or ([4] if column.period else [2, 3])
    doubt = "" if column.sure else f"# not sure: {_doubt(column)}\n"
    text = _CLASSIFICATION.format(name=_quoted(name), why=column.why(), prefixes=lengths)
    return (
        doubt + text + _PERIOD.format(period=_quoted(column.period or ""), among=_among(column)) * bool(column.period)
    )


def _doubt(column: Column) -> str:
    """What a person should decide."""
    if column.reason == "order":
        return 'say dates = "day first" or "month first" for quarters and months'
    others = " or ".join(column.alternatives)
    return f"it could be a {others} instead" if others else "please look at its codes"


def _among(column: Column) -> str:
    return ", ".join(f"{codes} by {period}" for period, codes in column.periods.items())


def _totals(question: TotalInData | None, name: str) -> str:
    """The question about totals of one classification: answered where name and numbers agree, for a person to check."""
    own = [s for s in question.suspects if s.classification == name] if question else []
    if question is None or not own:
        return ""
    reasons = "".join(f"# {_quoted(s.code)} {s.why}\n" for s in own[:MOST_REASONS])
    sure = all(s.named and s.others and not s.parts for s in own)
    cures = [c for c in question.cures if c.path[1] == name]
    first = "checked and not counted" if sure else "remove the # of the answer; without one nothing runs"
    answers = [f"{cure.path[2]} = {toml_value(cure.value)}  # {cure.label}" for cure in cures]
    answers[0] += f"; {first}"
    lines = [answer if sure and i == 0 else f"# {answer}" for i, answer in enumerate(answers)]
    return "\n".join(["# Totals in the data?", f"{reasons}{lines[0]}", *lines[1:], ""])


def _unpivot(pivot: Pivot | None) -> str:
    """Columns that become rows: done where their names say so, for a person to check, else only offered."""
    if pivot is None:
        return ""
    lines = [f"[data.unpivot]  # {pivot.why}: they become rows; leave this out if they are different things"]
    lines += [f"{key} = {toml_value(value)}" for key, value in pivot.content.items()]
    return "".join(f"{'' if pivot.sure else '# '}{line}\n" for line in lines) + "\n"


def _rules(found: Recognised) -> str:
    if found.frequency or not found.named("value"):
        return _FREQUENCY_RULES
    if found.kind == "microdata":
        return _MAGNITUDE_RULES
    return _COUNT_RULES if found.named("count") else _NO_RULES


def _quoted(value: object) -> str:
    """A text or a list of numbers as TOML writes it."""
    return json.dumps(value, ensure_ascii=False)


_AS_CELLS = """# read as a list of cells, because no combination of codes stands in two rows;
# if the rows are firms or persons, write the job anew: diskret init --kind microdata
"""

_CLASSIFICATION = """[classifications.{name}]  # {why}
# hierarchy = "codes.hrc"     # .hrc, .csv with code,parent or code,level, or .json
# prefixes = {prefixes}       # or: this many first characters make sums
# total = "Total"             # code of the total
# missing = "unknown"         # code under which records without one are counted
"""

_PERIOD = """period = {period}            # codes of the dates: {among}
"""

_MAGNITUDE_RULES = """min_count = 3                 # fewest contributors of an open cell
p_percent = 10                # p of the p% rule
# dominance = [[1, 85], [2, 90]]
"""

_COUNT_RULES = """min_count = 3                 # fewest contributors of an open cell; hidden values get a margin
"""

_NO_RULES = """# min_count = 3               # needs table.count, a column with contributor counts
"""

_RECORD_ROLES = """# weight = {weight}           # sampling weights
# holding = {holding}         # joins records of one owner
# positive = true             # refuse negative values
"""

_FREQUENCY_RULES = """small_cells = 3               # smallest count that may be shown
# small_margin = true         # lines with one or two units
# one_category = true         # lines with all units in one category
"""

_TEMPLATE = """# A job for diskret. Run it with: diskret run THIS_FILE
# Everything behind a # is a comment; remove the # to use a line.

[data]
{kind} = {data}
{guessed}{extra}# engine = "spark"            # where the data are: duckdb (here), spark, or a master URL

{unpivot}[table]
by = [{by}]        # columns that classify
value = [{value}]  # columns to add up; leave out for a frequency table. Other number columns: {others}
{doubts}{roles}
{sections}
[rules]                       # parameters are secret: do not publish this file
{rules}{holding}
[promise]                     # what is kept about primary cells, and against whom
# min_relative_range = 0.5    # interval over value must be greater; otherwise as wide as the rules demand; secret too
# guard = "largest"           # against the largest contributor of every hidden cell as well

[suppression]                 # hides further cells so that nothing can be computed back, and attacks the result
# effort = "economy"          # look longer for a cheaper pattern

[output]
publish = ["out/{stem}.csv", "out/{stem}.xlsx"]   # for the public, suppressed values as marks
working = "out/{stem}.working.parquet"            # to go on with; holds all values, confidential
"""
