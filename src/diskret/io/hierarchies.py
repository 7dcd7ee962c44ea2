"""One door for hierarchies in files: ``.hrc``, ``.csv`` or Excel with parents or levels, ``.json``, lookup tables."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diskret.io.hrc import LEAD, read_hrc
from diskret.io.lookup import Lookup, read_lookup
from diskret.io.structured import from_json
from diskret.io.text import inside, read_text
from diskret.model.errors import (
    BadOption,
    BrokenLevels,
    DuplicateCode,
    EmptyData,
    MissingCode,
    MissingColumn,
    TwoParents,
    UnreadableFile,
    listed,
)
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.limits import refuse_more
from diskret.model.sheets import Workbook, read_sheet
from diskret.model.source import EXCEL
from diskret.model.spelling import again

Labels = Mapping[str, str]
EXAMPLE = '{"DE": {"05": ["05111", "05112"], "11": null}}'


def read_hierarchy(
    path: str | Path, *, lead: str = LEAD, total: str | None = None, labels: Labels | None = None,
    lookup: Lookup | None = None,
) -> Hierarchy:  # fmt: skip
    """Read a hierarchy from any file we know, by its ending and its columns.

    ``.hrc`` (tau-ARGUS); ``.csv`` or ``.tsv`` with columns ``code, parent[, label]`` or ``code, level[, label]`` (a
    level list, sums after their parts); ``.json`` with nested dicts, with ``codes`` and ``levels``, or as
    `Hierarchy.describe` gives it. Columns ``parent2``, ``parent3`` and so on are further groupings of the same codes.
    An Excel file (its first sheet) has the same columns as a ``.csv``. A table with other columns is read as its
    ``lookup`` says. ``total`` names the sum of several tops; ``labels`` go before the labels of the file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "region.csv").write_text("code;parent\\n05111;05\\n05;DE\\n11;DE\\nDE;\\n")
    ...     read_hierarchy(Path(folder) / "region.csv").codes
    ('05111', '05', '11', 'DE')
    """
    ending = Path(path).suffix.lower()
    if lookup is not None:
        return read_lookup(path, lookup, total=total, labels=labels)
    if ending == ".hrc":
        return read_hrc(path, lead, total or TOTAL, labels)
    if ending in EXCEL:
        sheet = read_sheet(Workbook(path=Path(path)))
        with inside(sheet.where):
            return _from_sheet(sheet.columns, total, labels or {})
    if ending not in (".csv", ".tsv", ".json"):
        raise BadOption(
            f"hierarchies are not read from files ending in {ending or 'nothing'}",
            where=str(path),
            hint="give .hrc, .csv or .xlsx (code and parent, or code and level) or .json.",
        )
    text = read_text(path, lines=ending != ".json")
    with inside(path):
        if ending == ".json":
            return _from_json(text, total, labels or {})
        return _from_csv(text, "\t" if ending == ".tsv" else None, total, labels or {})


def _from_csv(text: str, delimiter: str | None, total: str | None, labels: Labels) -> Hierarchy:
    return _from_columns(*_columns(text, delimiter), total, labels)


def _from_sheet(sheet: Mapping[str, Sequence[str]], total: str | None, labels: Labels) -> Hierarchy:
    """The columns of a sheet, without its blank rows."""
    rows = [[cell.strip() for cell in row] for row in zip(*sheet.values(), strict=True)]
    numbered = [(n, row) for n, row in enumerate(rows, start=2) if any(row)]
    names = [name.lower() for name in sheet]
    return _from_columns(*_named(names, numbered, "row"), total, labels)


def _from_columns(
    places: Sequence[str], columns: Mapping[str, Sequence[str]], total: str | None, labels: Labels
) -> Hierarchy:
    """One row per code with its parents or its level."""
    codes = columns["code"]
    if "" in codes:
        raise MissingCode("a line has no code", where=places[codes.index("")], hint="fill it or take the line out.")
    named = zip(codes, columns.get("label", [""] * len(codes)), strict=True)
    given = {code: label for code, label in named if label} | dict(labels)
    if "parent" in columns:
        further = [name for name in columns if name.startswith("parent") and name[6:].strip().isdecimal()]
        first, *more = ([p or None for p in columns[name]] for name in ("parent", *further))
        return _from_parents(codes, first, places, total, given, more)
    levels = [_level(level, place) for level, place in zip(columns["level"], places, strict=True)]
    return Hierarchy.from_levels(codes, levels, labels=given)


def _columns(text: str, delimiter: str | None) -> tuple[list[str], dict[str, list[str]]]:
    """Where each row stands, and the columns by their names."""
    (_, first), *body = _rows(text.splitlines(), delimiter)
    return _named([name.lower() for name in first], body, "line")


def _named(
    names: Sequence[str], body: Sequence[tuple[int, list[str]]], unit: str
) -> tuple[list[str], dict[str, list[str]]]:
    """Where each row stands, and the columns of a hierarchy by their names."""
    if "code" not in names or not {"parent", "level"} & set(names):
        missing = ["code"] if "code" not in names else ["parent", "level"]
        raise MissingColumn.named(missing, names, "the first line")
    width = len(names)
    refuse_more("columns", width, "the file has {} columns")
    filled = [(row + [""] * width)[:width] for _, row in body]
    place = {name: at for at, name in reversed([*enumerate(names)])}
    columns = {name: [row[place[name]] for row in filled] for name in dict.fromkeys(names)}
    return [f"{unit} {n}" for n, _ in body], columns


def _rows(lines: Sequence[str], delimiter: str | None) -> list[tuple[int, list[str]]]:
    """The lines that are not blank, in fields, with their numbers."""
    head = next(line for line in lines if line.strip())
    try:
        rows = list(csv.reader(lines, delimiter=delimiter or max(",;\t|", key=head.count)))
    except csv.Error as e:
        raise UnreadableFile("the file is not a table of codes", hint="is it complete, one code per line?") from e
    stripped = [[field.strip() for field in row] for row in rows]
    numbered = [(n, row) for n, row in enumerate(stripped, start=1) if any(row)]
    if not numbered:
        raise EmptyData("the file has no codes", hint="one code per line below the column names.")
    return numbered


def _level(text: str, place: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BrokenLevels("a level is not a whole number", where=place, hint="1 is the finest level.") from None


def _from_parents(
    codes: Sequence[str], parents: Sequence[str | None], places: Sequence[str], total: str | None, labels: Labels,
    further: Sequence[Sequence[str | None]] = (),
) -> Hierarchy:  # fmt: skip
    """One row per code with its parent in the first grouping and in further ones."""
    if not further:
        return _tree(codes, parents, places, total, labels)
    groupings: list[dict[str, list[str]]] = []
    for more in further:
        groupings.append({})
        for code, parent in zip(codes, more, strict=True):
            if parent is not None:
                groupings[-1].setdefault(parent, []).append(code)
    outside = {sum_ for grouping in groupings for sum_ in grouping} - {*parents, total}
    outside = {c for c, parent in zip(codes, parents, strict=True) if parent is None and c in outside}
    rows = [row for row in zip(codes, parents, places, strict=True) if row[0] not in outside]
    if not rows:
        raise EmptyData("no code belongs to the first grouping", hint="fill the column parent.")
    first = _tree([c for c, _, _ in rows], [p for _, p, _ in rows], [at for _, _, at in rows], total, labels)
    return Hierarchy.from_groupings(first, *groupings, labels=labels)


def _tree(
    codes: Sequence[str], parents: Sequence[str | None], places: Sequence[str], total: str | None, labels: Labels
) -> Hierarchy:
    """One row per code; a code without a parent must be the top, or have the top named for it."""
    _refuse_doubles(codes, parents, places)
    ups = [p if p is not None or c == total else total for c, p in zip(codes, parents, strict=True)]
    sums = {*ups, total}
    alone = [c for c, up in zip(codes, ups, strict=True) if up is None and c not in sums]
    if alone:
        raise BrokenLevels(
            f"codes {listed(alone)} have neither a parent nor parts",
            hint="write their parent, or name the total of all tops with total=....",
        )
    pairs = [(c, up) for c, up in zip(codes, ups, strict=True) if up is not None]
    return Hierarchy.from_parents(pairs, labels=labels, total=total)


def _refuse_doubles(codes: Sequence[str], parents: Sequence[str | None], places: Sequence[str]) -> None:
    """A code has one line and one parent; that it has two is the graver mistake."""
    seen: dict[str, str | None] = {}
    for code, parent, place in zip(codes, parents, places, strict=True):
        if seen.setdefault(code, parent) != parent:
            raise TwoParents(
                f"code {code!r} has two parents, {seen[code]!r} and {parent!r}",
                where=place,
                hint="a code adds to one sum of a grouping; write the other grouping into a column parent2.",
            )
    if len(seen) < len(codes):
        at = again(codes)[0]
        raise DuplicateCode(f"code {codes[at]!r} is listed twice", where=places[at], hint="give every code one line.")


def _from_json(text: str, total: str | None, labels: Labels) -> Hierarchy:
    try:
        content = from_json(text, object_pairs_hook=_without_doubles)
    except ValueError as e:
        raise UnreadableFile("the file is not JSON", hint="is it complete?") from e
    if not isinstance(content, dict) or not content:
        raise UnreadableFile("the JSON is not an object with codes", hint=f"for example {EXAMPLE}.")
    if "codes" in content and {"parents", "levels"} & set(content):
        return _from_lists(content, total, labels)
    _refuse_odd_nesting(content)
    nested = {total: content} if total is not None and list(content) != [total] else content
    return Hierarchy.from_nested(nested, labels=labels)


def _from_lists(content: Mapping[str, Any], total: str | None, labels: Labels) -> Hierarchy:
    """Codes in one list, their levels or parents in another."""
    codes = [_code(c) for c in _list(content, "codes")]
    given = _labels(codes, content.get("labels")) | dict(labels)
    if "levels" in content:
        levels = _list(content, "levels")
        if not all(type(level) is int for level in levels):
            raise BrokenLevels("a level is not a whole number", where="'levels'", hint="1 is the finest level.")
        return Hierarchy.from_levels(codes, levels, labels=given)
    parents = [None if p is None else _code(p) for p in _list(content, "parents")]
    if len(codes) != len(parents):
        raise BrokenLevels(f"{len(codes)} codes but {len(parents)} parents", hint="give one parent per code.")
    named = {f"further {i}": more for i, more in enumerate(_list({"further": [], **content}, "further"), 1)}
    further = [[None if p is None else _code(p) for p in _list(named, name)] for name in named]
    if any(len(more) != len(codes) for more in further):
        raise BrokenLevels("a further grouping does not have the length of 'codes'", hint="give one parent per code.")
    return _from_parents(codes, parents, [f"code number {i + 1}" for i in range(len(codes))], total, given, further)


def _without_doubles(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        double = pairs[again(key for key, _ in pairs)[0]][0]
        raise DuplicateCode(f"{double!r} occurs twice in one object", hint="give every code its own name.")
    return found


def _list(content: Mapping[str, Any], key: str) -> list[Any]:
    found = content[key]
    if not isinstance(found, list):
        raise UnreadableFile(f"{key!r} is not a list", hint="see Hierarchy.describe for the form.")
    return found


def _code(found: object) -> str:
    if isinstance(found, str) and found.strip():
        return found
    if type(found) is int:
        return str(found)
    raise UnreadableFile("a code is neither text nor a whole number", hint='write codes in quotes: "05".')


def _labels(codes: Sequence[str], found: object) -> dict[str, str]:
    if isinstance(found, list) and len(found) == len(codes):
        return {c: label for c, label in zip(codes, found, strict=True) if isinstance(label, str)}
    if isinstance(found, dict):
        return {c: label for c, label in found.items() if isinstance(label, str)}
    if found is None:
        return {}
    raise UnreadableFile("'labels' does not fit 'codes'", hint="one label per code, or code: label.")


def _refuse_odd_nesting(content: Mapping[str, Any]) -> None:
    stack: list[Any] = [content]
    while stack:
        inner = stack.pop()
        if isinstance(inner, dict):
            stack.extend(inner.values())
        elif isinstance(inner, list) and all(isinstance(code, str) for code in inner):
            continue
        elif inner is not None:
            raise UnreadableFile("what stands below a code is neither codes nor null", hint=f"for example {EXAMPLE}.")
