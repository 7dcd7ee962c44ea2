"""Coarser classifications: codes that are merged, or closed with all that stands below them.

Nothing is added up here. A table is made with the sums that are to stay, which knows its contributors exactly, and is
then left with those only.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table


@dataclass(frozen=True, kw_only=True, eq=False)
class Closing:
    """How a classification becomes coarser: the tree a table is made with, and the codes that stay."""

    tree: Hierarchy
    kept: Mapping[str, str]
    """Codes that stay with all their sums, and what they are called then."""
    labels: Mapping[str, str] | None = None
    """Labels of what they are called then; left out: those they had."""


def close_levels(tree: Hierarchy, levels: int) -> Closing:
    """Keep so many levels below the total; what is finer is closed.

    >>> region = Hierarchy.from_nested({"DE": {"05": ["05111", "05112"], "11": None}})
    >>> list(close_levels(region, 1).kept)
    ['05', '11', 'DE']
    """
    if levels < 1:
        raise BadOption(f"{levels} levels", hint="at least 1: the codes below the total.")
    tree.refuse_overlapping("closing levels")
    depth = tree.levels[-1] - tree.levels
    return Closing(
        tree=tree, kept={code: code for code, d in zip(tree.codes, depth.tolist(), strict=True) if d <= levels}
    )


def close_codes(tree: Hierarchy, codes: Sequence[str]) -> Closing:
    """Close codes: they stay, what stands below them goes.

    >>> region = Hierarchy.from_nested({"DE": {"05": ["05111", "05112"], "11": ["11000"]}})
    >>> list(close_codes(region, ["11"]).kept)
    ['05111', '05112', '05', '11', 'DE']
    """
    tree.refuse_overlapping("closing codes")
    closed = {tree.index(code) for code in codes}
    gone = np.zeros(len(tree), dtype=np.bool_)
    for code in range(len(tree) - 2, -1, -1):  # sums before their parts
        above = tree.parents[code]
        gone[code] = above in closed or gone[above]
    return Closing(tree=tree, kept={code: code for code, no in zip(tree.codes, gone.tolist(), strict=True) if not no})


def merge_codes(
    tree: Hierarchy, groups: Mapping[str, Sequence[str]], labels: Mapping[str, str] | None = None
) -> Closing:
    """Merge codes of a flat classification; a code in no group stays.

    >>> size = merge_codes(Hierarchy.flat(["1", "2", "3"]), {"1": ["1", "2"]})
    >>> size.kept, size.tree.parts("1 (merged)")
    ({'1 (merged)': '1', '3': '3', 'Total': 'Total'}, ('1', '2'))
    """
    if tree.depth > 2 or tree.overlapping:
        raise BadOption(
            "codes of a hierarchy are merged like those of a flat classification",
            hint="close codes of the hierarchy instead: a file with <TREERECODE>, or levels = ....",
        )
    group_of = {code: new for new, codes in groups.items() for code in codes}
    parents: list[tuple[str, str]] = []
    kept: dict[str, str] = {}
    for new in [*groups, *(code for code in tree.codes[:-1] if code not in group_of)]:
        codes = groups.get(new, [new])
        if list(codes) == [new]:
            parents.append((new, tree.total))
            kept[new] = new
        elif codes:
            name = _unused(new, tree)
            parents += [*((code, name) for code in codes), (name, tree.total)]
            kept[name] = new
    taken = [new for new in kept.values() if new == tree.total]
    if taken:
        raise BadOption(f"codes become {listed(taken)}, the code of the total", hint="call them otherwise.")
    known = dict(zip(tree.codes, tree.labels, strict=True))
    fine = Hierarchy.from_parents(parents, labels=known)
    return Closing(
        tree=fine, kept={c: kept.get(c, c) for c in fine.codes if c in kept or c == tree.total}, labels=labels
    )


def _unused(name: str, tree: Hierarchy) -> str:
    """A name no code has, for a sum that is called otherwise afterwards."""
    while name in tree:
        name += " (merged)"
    return name


def closed(table: Table, by: Mapping[str, Closing]) -> Table:
    """The table with coarser classifications.

    >>> region = Hierarchy.from_nested({"DE": {"05": ["a", "b"], "11": None}})
    >>> cells = {"region": ["a", "b", "11"], "x": [1, 2, 4]}
    >>> table = Table.from_cells(cells, by={"region": region}, value="x")
    >>> coarse = closed(table, {"region": close_levels(region, 1)})
    >>> coarse.by["region"].codes, coarse.value.tolist()
    (('05', '11', 'DE'), [3.0, 4.0, 7.0])
    """
    for name, closing in by.items():
        table = _closed(table, name, closing)
    return table


def _closed(table: Table, name: str, closing: Closing) -> Table:
    tree, axis = table.by[name], table.names.index(name)
    stays = [i for i, code in enumerate(tree.codes) if code in closing.kept]
    if len(stays) == len(tree) and all(old == new for old, new in closing.kept.items()):
        return table
    _tell_statuses(table, np.delete(table.status, stays, axis=axis), name)
    place = {old: new for new, old in enumerate(stays)}
    codes = [closing.kept[tree.codes[i]] for i in stays]
    labels = dict(closing.labels or {})
    named = [
        labels.get(new, new if tree.codes[i] != new else tree.labels[i]) for i, new in zip(stays, codes, strict=True)
    ]
    coarse = Hierarchy.restored(codes, [place.get(tree.parents[i], -1) for i in stays], named)

    def taken(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return np.take(array, stays, axis=axis)

    changed: dict[str, Any] = {"by": {n: coarse if n == name else h for n, h in table.by.items()}}
    for field in fields(table):
        held = getattr(table, field.name)
        if isinstance(held, np.ndarray):
            changed[field.name] = taken(held)
        elif isinstance(held, Contributors):
            changed[field.name] = held.each(taken)
    return replace(table, **changed | {"creator": None, "seal": ""})


def _tell_statuses(table: Table, gone: npt.NDArray[np.uint8], name: str) -> None:
    """Say that statuses of cells that are no longer shown tell nothing of their sums."""
    said = int((gone != Status.OPEN).sum())
    if said:
        warnings.warn(
            f"{said} cells with a status of their own are closed with codes of {name!r}; their sums are judged anew",
            ProtectionWarning,
            stacklevel=4,
        )
