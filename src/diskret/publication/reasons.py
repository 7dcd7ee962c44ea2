"""Why cells are hidden, in the codes of CL_CONF_STATUS (SDMX) for those who may know: never for the public.

The flags of Eurostat's records for structural business statistics are those of tau-ARGUS, in `argus.records`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum

import numpy as np
import numpy.typing as npt

from diskret.model.status import Status
from diskret.model.table import Table


class Reason(IntEnum):
    """Why a cell is hidden; of several reasons the one with the greatest number counts.

    Few contributors come first: a cell of one or two is caught by every other rule as well, so only this tells
    something. A cell that a person set by hand comes last, for whatever rule caught it says more.
    """

    OPEN = 0
    SECONDARY = 1
    OTHER = 2
    """Set by hand, by a file, by request, or by a rule of the user's own."""
    CONCENTRATED = 3
    """More than two units dominate, or all units fall into one category."""
    ESTIMATED = 4
    """One contributor can estimate another too closely: p% and (p,q)."""
    TWO = 5
    """Two units dominate."""
    ONE = 6
    """One unit dominates."""
    ONE_OR_TWO = 7
    """One unit dominates, and two do by the rule for two."""
    FEW = 8
    """Few contributors, or few units."""


CONF_STATUS: Mapping[Reason, str] = {
    Reason.OPEN: "F", Reason.SECONDARY: "D", Reason.OTHER: "C", Reason.CONCENTRATED: "M", Reason.ESTIMATED: "M",
    Reason.TWO: "T", Reason.ONE: "O", Reason.ONE_OR_TWO: "G", Reason.FEW: "A",
}  # fmt: skip
"""Codes of CL_CONF_STATUS."""

BY_NAME: Mapping[str, Reason] = {
    "minimum count": Reason.FEW, "small cells": Reason.FEW, "small margin": Reason.FEW,
    "one category": Reason.CONCENTRATED, "p%": Reason.ESTIMATED, "(p,q)": Reason.ESTIMATED,
    "(1,k) dominance": Reason.ONE, "(2,k) dominance": Reason.TWO,
}  # fmt: skip
DOMINANCE = re.compile(r"\([0-9]+,k\) dominance")
NAME = re.compile(r"(?P<rule>.+?)(?: of holdings)?(?: \[[0-9]+\])?")
"""A rule as `Table.rules` names it: with whom it counts, and a number where it occurs twice."""


def reason_of(rule: str) -> Reason:
    """What a rule catches cells for, by its name.

    >>> [reason_of(rule).name for rule in ("minimum count of holdings [2]", "(3,k) dominance", "given")]
    ['FEW', 'CONCENTRATED', 'OTHER']
    """
    found = NAME.fullmatch(rule)
    name = found["rule"] if found else rule
    return BY_NAME.get(name, Reason.CONCENTRATED if DOMINANCE.fullmatch(name) else Reason.OTHER)


def reasons(table: Table) -> npt.NDArray[np.uint8]:
    """Why each cell is hidden, as numbers of `Reason`.

    >>> from diskret import MinCount, PPercent, mark
    >>> cells = {"s": ["a", "b", "c"], "x": [95, 80, 60], "n": [4, 5, 2], "x1": [90, 30, 50], "x2": [4, 20, 10]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", count="n", largest=["x1", "x2"])
    >>> [Reason(each).name for each in reasons(mark(table, MinCount(3) | PPercent(10)))]
    ['ESTIMATED', 'OPEN', 'FEW', 'OPEN']
    """
    strongest = np.full(table.shape, np.uint8(Reason.OTHER))
    caught = np.zeros(table.shape, dtype=np.uint32) if table.rule is None else table.rule
    both = np.ones(table.shape, dtype=np.bool_)
    for reason in (Reason.ONE, Reason.TWO):
        both &= _caught(table, caught, reason)
    for reason in sorted({reason_of(rule) for rule in table.rules}):
        strongest[_caught(table, caught, reason) & (strongest < reason)] = reason
    strongest[both & (strongest < Reason.ONE_OR_TWO)] = Reason.ONE_OR_TWO
    found = np.where(table.status == Status.PRIMARY, strongest, np.uint8(Reason.OPEN))
    return np.where(table.status == Status.SECONDARY, np.uint8(Reason.SECONDARY), found).astype(np.uint8)


def _caught(table: Table, bits: npt.NDArray[np.uint32], reason: Reason) -> npt.NDArray[np.bool_]:
    """Cells that a rule of this reason caught."""
    mask = sum(1 << bit for bit, rule in enumerate(table.rules) if reason_of(rule) == reason)
    return (bits & np.uint32(mask)) > 0
