"""What callers give: wrong kinds of things are refused in words, before anything is done with them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from numbers import Integral
from typing import Any

from diskret.model.errors import BadOption, listed
from diskret.model.hierarchy import Hierarchy

By = Mapping[str, Hierarchy | None] | Iterable[str] | str
"""Columns that classify with their hierarchies; or their names alone, for flat classifications."""


def classifications(by: By) -> dict[str, Hierarchy | None]:
    """Columns with their hierarchies; None where a classification is flat.

    >>> classifications("region"), classifications(["region", "sex"])
    ({'region': None}, {'region': None, 'sex': None})
    """
    if isinstance(by, str):
        return {by: None}
    if not isinstance(by, Iterable):
        raise BadOption(
            f"by is {_kind(by)}", hint='name columns: by="region", by=["region", "sex"], by={"region": tree}.'
        )
    found = dict(by) if isinstance(by, Mapping) else dict.fromkeys(by)
    names = [name for name in found if not isinstance(name, str)]
    if names:
        raise BadOption(f"by holds {_kind(names[0])} as the name of a column", hint="names of columns are texts.")
    for name, hierarchy in found.items():
        if not isinstance(hierarchy, Hierarchy | None):
            raise BadOption(
                f"the hierarchy of {name!r} is {_kind(hierarchy)}",
                hint="give a Hierarchy, such as Hierarchy.from_prefixes(...), or None for a flat classification.",
            )
    return found


def whole(name: str, given: object, least: int, hint: str) -> int:
    """A whole number, at least so much.

    >>> whole("k", 3, 2, "2 or more.")
    3
    """
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise BadOption(f"{name} is {_kind(given)}, not a whole number", hint=hint)
    if given < least:
        raise BadOption(f"{name} = {given}", hint=hint)
    return int(given)


def refuse_other(given: object, kind: Any, what: str, hint: str) -> None:
    """Refuse what is not of a kind.

    >>> refuse_other({}, dict, "a mapping", "give one.")
    """
    if not isinstance(given, kind):
        raise BadOption(f"{_kind(given)} is not {what}", hint=hint)


def refuse_no_table(given: object, needs_all: str = "") -> None:
    """Refuse what is not a table, a pool or a system of equations, and a sparse table to what needs all cells."""
    from diskret.model.table import Table

    hint = "make one from records with tabulate, from cells with Table.from_cells."
    refuse_other(given, Table, "a table", hint)
    if needs_all and isinstance(given, Table):
        given.refuse_sparse(needs_all)


def refuse_no_promise(given: object) -> None:
    """Refuse what is not a promise."""
    from diskret.model.promise import Promise

    refuse_other(
        given, Promise, "a promise", "say what is promised: Promise(guard=..., ...); Promise() is the usual one."
    )


def refuse_unknown(given: Iterable[str], known: Iterable[str], what: str) -> None:
    """Refuse keywords that nobody knows, with the one that was probably meant.

    >>> refuse_unknown(["count"], ["count", "status"], "a cell list")
    """
    names = list(known)
    unknown = [name for name in given if name not in names]
    if unknown:
        close = get_close_matches(unknown[0], names, 1)
        meant = f"did you mean {close[0]!r}? " if close else ""
        raise BadOption(f"no option {listed(unknown)} of {what}", hint=f"{meant}There are {listed(names, len(names))}.")


def _kind(given: Any) -> str:
    """What something is, in words without its contents."""
    name = (
        "None" if given is None else f"the class {given.__name__}" if isinstance(given, type) else type(given).__name__
    )
    return name if given is None or isinstance(given, type) else f"{'an' if name[0] in 'aeiou' else 'a'} {name}"
