"""The promise as it is asked of a system of published tables."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from diskret.ledger.linked import Linked
from diskret.model.errors import BadOption
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise


def asked_of(cells: Linked, promise: Promise) -> Promise:
    """The same promise with what is published besides as prior knowledge.

    Whoever knows every value to within an error knows that, and what was published, too.
    """
    known = promise.knowledge
    if known.kind == "none" and cells.lower is not None and np.isfinite(cells.lower).any():
        raise BadOption(
            "beside a ledger everybody is taken to know that no value is negative",
            hint="leave the knowledge out, or enter tables with negative values.",
        )
    return replace(promise, knowledge=Knowledge.intervals())
