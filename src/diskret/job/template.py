"""A commented job file from a data file, for `diskret init`."""

from __future__ import annotations

import json
import re
from pathlib import Path

from diskret.model.source import PARQUET, WHOLE, Delimited, Relation, open_source

MOST_CODES = 2000
MOST_CELLS = 1_000_000
LIKELY_WEIGHTS = ("weight", "wgt", "gewicht", "hochrechnungsfaktor")
LIKELY_HOLDINGS = ("holding", "owner", "group", "enterprise", "unternehmen", "konzern")


def job_text(data_path: str | Path, relative_to: str | Path, delimiter: str | None = None, decimal: str = ".") -> str:
    """A job file for microdata, with a guess at which columns classify and which add up."""
    path = Path(data_path)
    data = open_source(path if path.suffix.lower() in PARQUET else Delimited(path, delimiter, decimal))
    by, values = guess_roles(data)
    name = Path(data_path).resolve()
    base = Path(relative_to).resolve()
    shown = name.relative_to(base) if name.is_relative_to(base) else name
    return _TEMPLATE.format(
        data=_quoted(shown.as_posix()),
        extra=(f"delimiter = {_quoted(delimiter)}\n" if delimiter else "") + ('decimal = ","\n' * (decimal == ",")),
        by=", ".join(_quoted(c) for c in by),
        value=", ".join(_quoted(c) for c in values[:1]),
        others=", ".join(_quoted(c) for c in values[1:]) or "none",
        sections="\n".join(_CLASSIFICATION.format(name=_quoted(c)) for c in by),
        rules=_MAGNITUDE_RULES if values else _FREQUENCY_RULES,
        weight=_first(data, LIKELY_WEIGHTS, "weight"),
        holding=_first(data, LIKELY_HOLDINGS, "holding"),
        stem=re.sub(r"[^\w.-]+", "_", path.stem),
    )  # fmt: skip


def guess_roles(data: Relation) -> tuple[list[str], list[str]]:
    """Columns that look like classifications (text with few codes) and like values (numbers)."""
    by: list[str] = []
    values: list[str] = []
    cells = 1
    for name in data.columns:
        if name.lower() in (*LIKELY_WEIGHTS, *LIKELY_HOLDINGS):
            continue
        code, text = data.code(name), data.is_text(name)
        good = f"NOT {data.bad_number(name)}" if text or _is_number(data.types[name]) else "false"
        whole = f"NOT regexp_matches({code}, '[^0-9]')" if text else str(data.is_whole(name)).lower()
        (codes, coded, numbers, digits, rows), *_ = data.query(
            f"SELECT approx_count_distinct({code}), count({code}), count(CASE WHEN {good} THEN 1 END), "
            f"count(CASE WHEN {whole} THEN 1 END), count(*) FROM {data.view}"
        )
        few = 0 < codes <= MOST_CODES and codes * 2 <= rows
        as_codes = few and ((text and _padded(data, name)) or (digits == coded and codes <= 20))
        if numbers == coded and not as_codes:
            values += [name] if coded == rows else []
        elif few and cells * (codes + 1) <= MOST_CELLS:
            by.append(name)
            cells *= codes + 1
    return by, values


def _is_number(kind: str) -> bool:
    return kind.upper() in WHOLE or kind.upper().startswith(("DOUBLE", "FLOAT", "DECIMAL", "HUGEINT", "UBIGINT"))


def _padded(data: Relation, name: str) -> bool:
    """Numbers of equal length that start with a zero are codes."""
    column = data.column(name)
    found = data.query(
        f"SELECT count(DISTINCT length({column})), count(CASE WHEN {column} LIKE '0%' THEN 1 END) FROM {data.view}"
    )
    lengths, zeros = found[0]
    return bool(lengths == 1 and zeros)


def _first(data: Relation, likely: tuple[str, ...], fallback: str) -> str:
    return _quoted(next((c for c in data.columns if c.lower() in likely), fallback))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_CLASSIFICATION = """[classifications.{name}]
# hierarchy = "codes.hrc"     # .hrc, .csv with code,parent or code,level, or .json
# prefixes = [2, 3]           # or: the first 2 and the first 3 characters are sums
# total = "Total"             # code of the total
# missing = "unknown"         # code under which records without one are counted
"""

_MAGNITUDE_RULES = """min_count = 3                 # fewest contributors of an open cell
p_percent = 10                # p of the p% rule
# dominance = [[1, 85], [2, 90]]
"""

_FREQUENCY_RULES = """small_cells = 3               # smallest count that may be shown
# small_margin = true         # lines with one or two units
# one_category = true         # lines with all units in one category
"""

_TEMPLATE = """# A job for diskret. Run it with: diskret run THIS_FILE
# Everything behind a # is a comment; remove the # to use a line.

[data]
microdata = {data}
{extra}# engine = "spark"            # where the data are: duckdb (here), spark, or a master URL

[table]
by = [{by}]        # columns that classify
value = [{value}]  # columns to add up; leave out for a frequency table. Other number columns: {others}
# weight = {weight}           # sampling weights
# holding = {holding}         # joins records of one owner
# positive = true             # refuse negative values

{sections}
[rules]                       # parameters are secret: do not publish this file
{rules}# counted_by = "holding"

[suppression]                 # hides further cells so that nothing can be computed back, and attacks the result
# min_relative_range = 0.5    # interval over value must be greater; otherwise as wide as the rules demand; secret too
# effort = "economy"          # look longer for a cheaper pattern

[output]
publish = ["out/{stem}.csv", "out/{stem}.xlsx"]   # for the public, suppressed values as marks
working = "out/{stem}.working.parquet"            # to go on with; holds all values, confidential
"""
