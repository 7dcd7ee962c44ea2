"""The promise as it is asked of a system of published tables, and what everybody knows of its cells."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diskret.ledger.linked import Linked
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise


def known_besides(cells: Linked, knowledge: Knowledge) -> Linked:
    """The system with what a promise takes everybody to know, beside what was published.

    Its bounds hold what was published besides, and that values are not negative where none is. Whoever does not know
    the signs has no such bounds; whoever knows every value to within an error knows that, too.
    """
    assert cells.lower is not None
    assert cells.upper is not None
    lower, upper = cells.lower, cells.upper
    ordinary = ~cells.differences
    if knowledge.kind == "none":
        lower = np.where(ordinary & (lower == 0), -np.inf, lower)
    elif knowledge.kind == "relative":
        error = np.maximum(knowledge.error * np.abs(cells.value), knowledge.absolute)
        lower = np.where(ordinary, np.maximum(lower, cells.value - error), lower)
        upper = np.where(ordinary, np.minimum(upper, cells.value + error), upper)
    return replace(cells, lower=lower, upper=upper)


def asked_of(promise: Promise) -> Promise:
    """The same promise with what everybody knows as the intervals of the system."""
    return replace(promise, knowledge=Knowledge.intervals())
