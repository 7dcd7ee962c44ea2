"""Protecting a complete table that is really stored, as the older programs did (Quaderverfahren, 6.2.2.2)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.errors import BadOption
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.suppression.complete.by_complete import moves_of, task_of
from diskret.suppression.complete.engine import CompleteTask, Search, in_turn, secure
from diskret.suppression.complete.raising import Raised
from diskret.suppression.complete.space import IndexSpace
from diskret.suppression.methods import Complete, Method
from diskret.suppression.result import Suppression, Unprotected

UNUSED = 1e6
"""A star sum that no cuboid uses yet comes before every rank of margins."""


def by_raised(
    raised: Raised, promise: Promise, method: Method = Complete(), *, prefer_used: bool = True
) -> Suppression:
    """Protect the cells of a raised table by rigid cuboids; the result is a result of the raised table.

    ``prefer_used`` reproduces the printed weight of dummies, which makes star sums that an earlier cuboid used more
    attractive than others; without it all count like hidden cells (the printed improvement, 6.2.2.2).
    """
    if any(h.depth > 2 for h in raised.table.hierarchies):
        raise BadOption("a table that is raised in part only", hint="raise all classifications that have subtotals.")
    task = _task(raised, promise, method, prefer_used)
    search = Search(
        spaces=[IndexSpace.of(h) for h in raised.table.hierarchies], task=task, deformations=0, strands=False
    )
    pivots = raised.cells[in_turn(task_of(raised.origin, promise, method))]
    protecting, failed = secure(search, pivots)
    status = raised.table.status.reshape(-1).copy()
    status[task.hidden & (status != Status.PRIMARY)] = Status.SECONDARY
    protected = replace(raised.table, status=status.reshape(raised.table.shape))
    why = "no rigid cuboid of the raised table protects it"
    unprotected = tuple(
        Unprotected(
            cell=raised.table.name_of(c),
            index=raised.table.place(c),
            reached=np.nan,
            why=why,
        )
        for c in failed
    )
    return Suppression(
        table=protected, before=raised.table, promise=promise, moves=moves_of(protecting), unprotected=unprotected
    )


def _task(raised: Raised, promise: Promise, method: Method, prefer_used: bool) -> CompleteTask:
    """The cells of the origin at their places; dummies cost nothing and never shorten a range."""
    origin = task_of(raised.origin, promise, method)
    dummy = raised.dummy

    def placed(given: npt.NDArray[Any], at_dummies: float) -> npt.NDArray[Any]:
        found = np.zeros(raised.table.size, dtype=given.dtype)
        found[dummy] = at_dummies
        found[raised.cells] = given
        return found

    need, need_down, need_up = (placed(n, 0.0) for n in origin.needs)
    return CompleteTask(
        shape=raised.table.shape, primary=placed(origin.primary, False), usable=placed(origin.usable, True),
        hidden=placed(origin.hidden, not prefer_used), unit=placed(origin.unit, 0.0),
        rank=placed(origin.rank, UNUSED * prefer_used), cost=placed(origin.cost, 0.0), up=placed(origin.up, np.inf),
        down=placed(origin.down, np.inf), person=placed(origin.person, -1), needs=(need, need_down, need_up),
        barriers=origin.barriers,
    )  # fmt: skip
