"""What a ledger says when it is asked: of all entries, of one, of a cell. Nothing of it was hidden anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.ledger.about import PERIOD
from diskret.ledger.codes import codes_of
from diskret.ledger.entry import Entry
from diskret.model.errors import NoSuchEntry, listed

if TYPE_CHECKING:
    from diskret.ledger.ledger import Ledger


def line_of(entry: Entry) -> dict[str, Any]:
    """An entry in one line, as plain data."""
    return {
        "number": entry.number, "name": entry.name, "on": entry.on,
        "counts": ", ".join(part for part in entry.subject if part),
        "period": entry.about.period or ("several" if PERIOD in entry.by else ""),
        "by": list(entry.by), "cells": entry.cells, "hidden": entry.hidden, "hash": entry.hash,
    }  # fmt: skip


def shown_of(ledger: Ledger, entry: Entry) -> dict[str, Any]:
    """An entry as it was published: what it counts, and its cells with no value where one was hidden."""
    cells = ledger.cells(entry)
    codes = {
        name: [hierarchy.codes[i] for i in at.tolist()]
        for (name, hierarchy), at in zip(entry.by.items(), cells.at, strict=True)
    }
    shown = [None if np.isnan(x) else x for x in cells.shown.tolist()]
    return line_of(entry) | {"about": entry.about.to_dict(), "cells": {**codes, "shown": shown}}


def history_of(ledger: Ledger, codes: Mapping[str, str], value: str = "") -> list[dict[str, Any]]:
    """Everything that was ever published about one cell, in order; cells are the same by what they count."""
    schemes = ledger.schemes
    unknown = [f"{axis} {code}" for axis, code in codes.items() if axis not in schemes or code not in schemes[axis]]
    if unknown:
        raise NoSuchEntry(
            f"the ledger knows no {listed(unknown)}", where=str(ledger.folder), hint="see ledger.schemes."
        )
    wanted = {axis: scheme.set_of(codes[axis]) if axis in codes else scheme.whole for axis, scheme in schemes.items()}
    told = []
    for entry in ledger.entries:
        if value and entry.subject[1] != value:
            continue
        if entry.about.ratio is None and not _may_show(entry, wanted, schemes):
            continue
        cells = ledger.cells(entry)
        found = np.ones(cells.size, dtype=np.bool_)
        for axis, own in wanted.items():
            found &= _same(entry, cells.at, axis, own, schemes)
        at = np.flatnonzero(found).tolist()
        told += [_told(entry, cells.shown[cell], cells.lower[cell], cells.upper[cell]) for cell in at]
    return told


def _may_show(entry: Entry, wanted: Mapping[str, int], schemes: Mapping[str, Any]) -> bool:
    """Whether an entry can hold the cell, by what it says of itself: nothing is loaded for that."""
    for axis, own in wanted.items():
        scheme = schemes[axis]
        fixed = entry.about.codes.get(axis)
        if axis in entry.by:
            if not any(_set(scheme, code) == own for code in codes_of(axis, entry.by[axis])):
                return False
        elif (scheme.whole if fixed is None else scheme.set_of(fixed)) != own:
            return False
    return True


def _set(scheme: Any, code: str) -> int:
    return scheme.set_of(code) if code in scheme else 0


def _same(entry: Entry, at: tuple[Any, ...], axis: str, own: int, schemes: Mapping[str, Any]) -> Any:
    scheme = schemes[axis]
    if axis in entry.by:
        fits = np.array([_set(scheme, code) == own for code in codes_of(axis, entry.by[axis])])
        return fits[at[list(entry.by).index(axis)]]
    fixed = entry.about.codes.get(axis)
    return np.bool_((scheme.whole if fixed is None else scheme.set_of(fixed)) == own)


def _told(entry: Entry, shown: float, lower: float, upper: float) -> dict[str, Any]:
    """What one entry said of a cell."""
    said: dict[str, Any] = {"number": entry.number, "name": entry.name, "on": entry.on, "counts": entry.subject[1]}
    said |= {"shown": None if np.isnan(shown) else float(shown)}
    said |= {} if np.isinf(lower) and np.isinf(upper) else {"interval": [float(lower), float(upper)]}
    notes = [
        *(["ratio"] if entry.about.ratio is not None else []),
        *(["provisional"] if entry.about.provisional else []),
        *([f"revises {entry.about.revises}"] if entry.about.revises else []),
    ]
    return said | ({"notes": notes} if notes else {})
