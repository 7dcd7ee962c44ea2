"""What the inspector says about a cell; values of hidden cells only in the internal view."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from diskret.auditing.report import AuditReport
from diskret.model.errors import BadOption
from diskret.model.hierarchy import TOTAL
from diskret.model.table import Index, Table
from diskret.model.words import words
from diskret.suppression.explanation import remaining_interval
from diskret.suppression.result import Suppression
from diskret.suppression.weighing import opening_words, openings
from diskret.web.grid import is_unnamed

MOST_CELLS = 200
MOST_TRIED = 20_000
"""Beyond this many cells of a table an attack takes too long to wait for."""
CODE_OF_TOTAL = re.compile(rf"(?:(?<=^)|(?<=[(])|(?<=; )|(?<=^Wer ))(?<!\w){TOTAL}(?=; |[):]| sperrt|$)")
"""The code of a total among the codes of a cell, which have semicolons between them."""


def explained(
    done: Suppression, at: Index, *, internal: bool, protected: bool, counts: bool, language: str
) -> dict[str, Any]:
    """Status, rules, moves, whom a hidden cell helps, what remains possible; what hiding an open one would cost.

    ``counts``: whether contributor counts are published.
    """
    table = done.table
    hidden = bool(table.hidden[at])
    shown = internal or (protected and not hidden)
    counted = table.respondents is not None and table.counted
    facts: dict[str, Any] = {
        "index": list(at),
        "status": int(table.status[at]),
        "value": float(table.value[at]) if shown else None,
        "count": int(table.count[at]) if counted and (internal or (counts and shown)) else None,
        "rules": list(table.rules_of(at)),
        "words": [],
        "moves": [],
        "interval": None,
        "unprotected": False,
    }
    if not hidden and shown:
        return facts | {"words": _named(done.weigh(*table.codes(at)).words(language), table, language)}
    if not protected:
        return facts
    return facts | _hidden(done, at, internal, language)


def _hidden(done: Suppression, at: Index, internal: bool, language: str) -> dict[str, Any]:
    """What the inspector adds about a hidden cell of a protected table."""
    found = done.explanation(*done.table.codes(at))
    interval = _shown(found.interval, found.exact, internal)
    if interval is None:
        found = replace(found, interval=None)
    moves = [
        {
            "protects": move.protects,
            "cuboid": move.cuboid,
            "helped": list(move.helped),
            "cells": [
                {"index": _index(done.table, c.cell), "sign": c.sign}
                | ({"value": c.value, "change": c.change} if internal else {})
                for c in move.cells[:MOST_CELLS]
            ],
        }
        for move in found.moves
    ]
    return {
        "words": _named(found.words(language, internal=internal), done.table, language),
        "moves": moves,
        "further": found.further,
        "helped": list(found.helped),
        "interval": interval,
        "exact": found.exact,
        "unprotected": bool(found.unprotected),
    }


def _named(sentences: Sequence[str], table: Table, language: str) -> list[str]:
    """Sentences with a total that nobody named in the reader's language, where it stands as the code of a cell."""
    if not any(map(is_unnamed, table.by.values())):
        return list(sentences)
    name = words("legend", language)["total"]
    return [CODE_OF_TOTAL.sub(lambda _: name, each) for each in sentences]


def remaining(done: Suppression, at: Index, *, internal: bool) -> dict[str, Any] | None:
    """The interval of a hidden cell that anybody can work out."""
    cell = int(np.ravel_multi_index(at, done.table.shape))
    return _shown(*remaining_interval(done, cell), internal)


def could_open(done: Suppression, at: Index, language: str) -> str:
    """Whether a more expensive secondary could open if an open cell were hidden in its place, in one sentence."""
    if done.table.size > MOST_TRIED:
        raise BadOption(
            f"the table has more than {MOST_TRIED:,} cells: trying would take long",
            hint="set the cell's status to secondary in a job file, and compare the two runs.",
        )
    cell = int(np.ravel_multi_index(at, done.table.shape))
    return _named([opening_words(openings(done, cell, _as_attacked(done)), language)], done.table, language)[0]


def _as_attacked(done: Suppression) -> AuditReport:
    """What an attack on the run's table starts from: its promise, and the moves that settle its demands."""
    return AuditReport(
        table=done.table, promise=done.promise, exposed=(), undecided=(), programmes=0, checked=0, moves=done.moves
    )


def _shown(interval: tuple[float, float] | None, exact: bool, internal: bool) -> dict[str, float | None] | None:
    """An interval everybody can compute; not one that shows a value: where both ends meet, the cell is exposed."""
    if interval is None or (not internal and (not exact or interval[0] == interval[1])):
        return None
    lower, upper = (end if np.isfinite(end) else None for end in interval)
    return {"lower": lower, "upper": upper}


def _index(table: Table, cell: int) -> list[int]:
    return [int(i) for i in np.unravel_index(cell, table.shape)]
