"""Trees of codes on the page: what a classification has now, edits, what is made of prefixes, tables and labels.

The page keeps the tree that is being changed and sends it along: nothing here is kept between two requests.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diskret.io.hierarchies import read_hierarchy
from diskret.io.lookup import Lookup
from diskret.job.loading import classified_source, hierarchies_of
from diskret.job.read import job_from
from diskret.job.table_job import TableJob
from diskret.model import tree_edits
from diskret.model.errors import BadOption, DiskretError, EmptyData
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.source import open_source

MOST_CODES = 100_000
"""Codes of a tree that is changed by hand."""
Content = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Opened:
    """The codes of a column with the number of their rows, and the tree they have."""

    codes: tuple[str, ...]
    counts: tuple[int, ...]
    tree: Hierarchy
    totals: tuple[str, ...]
    """Sums that rows of the data may carry, as the choice says."""
    problem: DiskretError | None
    """Why the hierarchy that is named could not be taken."""


def opened(content: Content, root: Path, column: str) -> Opened:
    """A column of the data of a choice, and how its codes add up by now."""
    said = _said(content, column)
    # what codes are is said beside how they add up, which may be wrong
    job = _job(content, root, column, {key: each for key, each in said.items() if key not in ("hierarchy", "prefixes")})
    data, described = classified_source(job.data, job.classifications, root)
    relation = open_source(data)
    relation.require([column])
    code = relation.code(column)
    found = relation.query(
        f"SELECT {code} AS c, count(*) FROM {relation.view} GROUP BY 1 HAVING c IS NOT NULL ORDER BY 1"
    )
    if not found:
        raise EmptyData(f"column {column!r} has no codes", where=relation.where, hint="choose another column.")
    _refuse_many(len(found))
    codes, counts = [str(c) for c, _ in found], [int(n) for _, n in found]
    blank = said.get("missing")
    if isinstance(blank, str) and blank not in codes:
        codes, counts = [*codes, blank], [*counts, 0]
    named, problem = said.get("total"), None
    total = named if isinstance(named, str) and named else TOTAL
    tree = Hierarchy.flat([c for c in codes if c != total], total=total)
    try:
        given = hierarchies_of(_job(content, root, column, said), root, [column], data, described)[column]
        if given is not None and (said.get("hierarchy") or said.get("prefixes") or described is not None):
            given.refuse_overlapping("the editor of trees")
            tree = given
    except DiskretError as e:
        problem = e
    totals = [named, *(said.get("subtotals") or ())]
    return Opened(
        codes=tuple(codes), counts=tuple(counts), tree=tree, totals=tuple(filter(None, totals)), problem=problem
    )


def _job(content: Content, root: Path, column: str, said: Content) -> TableJob:
    """A job that reads one column, whatever else of the choice is not complete yet; cells are read as records are."""
    data = dict(content.get("data") or {})
    if "table" in data:
        raise BadOption("a working file says what its tables are", hint="choose the data it was made of.")
    if "cells" in data:
        data["microdata"] = data.pop("cells")
    made = {"data": data, "table": {"by": [column]}, "classifications": {column: dict(said)}}
    return job_from(made, "the page", root, TableJob)


def _said(content: Content, column: str) -> Content:
    said = (content.get("classifications") or {}).get(column)
    return said if isinstance(said, Mapping) else {}


def _refuse_many(found: int) -> None:
    if found > MOST_CODES:
        raise BadOption(
            f"there are {found:,} codes, and a tree of more than {MOST_CODES:,} is not changed by hand",
            hint="is the column a classification? Give its hierarchy as a file.",
        )


# --- trees as plain data ---------------------------------------------------------------------------------------------


def as_plain(tree: Hierarchy) -> dict[str, Any]:
    """A tree for the page."""
    return {"codes": tree.codes, "parents": tree.parents, "labels": tree.labels}


def from_plain(given: Any) -> Hierarchy:
    """A tree from the page; refused unless it is one."""
    said = given if isinstance(given, Mapping) else {}
    codes, parents, labels = (said.get(key) for key in ("codes", "parents", "labels"))
    if not (isinstance(codes, list) and isinstance(parents, list) and isinstance(labels, list)):
        raise BadOption("the request holds no tree", hint="reload the page.")
    _refuse_many(len(codes))
    return Hierarchy.restored(codes, parents, labels)


# --- edits -----------------------------------------------------------------------------------------------------------

Edit = Callable[[Hierarchy, Mapping[str, Any]], Hierarchy]
EDITS: Mapping[str, Edit] = {
    "move": lambda tree, said: tree_edits.place(
        tree, _codes(said), _text(said, "under"), _text(said, "before") if said.get("before") else None
    ),
    "group": lambda tree, said: tree_edits.group(tree, _codes(said), _text(said, "name"), said.get("label") or None),
    "dissolve": lambda tree, said: tree_edits.dissolve(tree, _codes(said)),
    "merge": lambda tree, said: tree_edits.merge(tree, _codes(said)),
    "rename": lambda tree, said: tree_edits.rename(tree, _text(said, "code"), _text(said, "to")),
    "label": lambda tree, said: tree_edits.relabel(tree, {_text(said, "code"): _text(said, "label")}),
    "remove": lambda tree, said: tree_edits.remove(tree, _codes(said)),
    "single": lambda tree, said: tree.without_single_children(),
}


def edited(tree: Hierarchy, said: Any) -> Hierarchy:
    """A tree after one edit of the page.

    >>> edited(Hierarchy.flat(["a", "b"]), {"do": "group", "codes": ["a"], "name": "A"}).codes
    ('a', 'A', 'b', 'Total')
    """
    if not isinstance(said, Mapping) or said.get("do") not in EDITS:
        raise BadOption("there is no such edit of a tree", hint="reload the page.")
    return EDITS[said["do"]](tree, said)


def _codes(said: Mapping[str, Any]) -> list[str]:
    codes = said.get("codes")
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        raise BadOption("codes are a list of texts", hint="reload the page.")
    return codes


def _text(said: Mapping[str, Any], key: str) -> str:
    found = said.get(key)
    if not isinstance(found, str):
        raise BadOption(f"{key} is a text", hint="reload the page.")
    return found


# --- making trees ----------------------------------------------------------------------------------------------------


def made(codes: Sequence[str], how: Content, total: str, file: Path | None) -> Hierarchy:
    """A tree of prefixes of codes, of a lookup table, or of labels."""
    if "prefixes" in how:
        lengths = how["prefixes"]
        if not isinstance(lengths, list) or not all(type(n) is int for n in lengths):
            raise BadOption("prefix lengths are whole numbers", hint="for example 2, 3.")
        return Hierarchy.from_prefixes([c for c in codes if c != total], lengths, total=total)
    if file is None:
        own = {code: code for code in codes if code != total}
        return Hierarchy.from_labels(own, separator=_text(how, "separator"), total=total)
    texts = {key: _text(how, key) for key in ("parent", "label", "separator", "sheet") if how.get(key)}
    levels = _codes({"codes": how.get("levels") or []})
    lookup = Lookup(code=_text(how, "code"), levels=tuple(levels), **texts)
    return read_hierarchy(file, lookup=lookup, total=None if total == TOTAL else total)
