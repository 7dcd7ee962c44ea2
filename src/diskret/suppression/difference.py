"""Two runs side by side: what each hides, what only one of them hides, and how close each came to failing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diskret.auditing.report import AuditReport
from diskret.model.errors import BadOption, listed
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.model.words import words
from diskret.suppression.explanation import cell_name
from diskret.suppression.result import Suppression

MOST_NAMES = 20
Run = Table | Suppression


@dataclass(frozen=True, kw_only=True)
class RunFacts:
    """One of the two runs."""

    cells: int
    occupied: int
    primary: int
    secondary: int
    share: float = field(repr=False)
    """Of all that adds up, as values of cells that are not sums, how much is hidden. Internal: with few hidden cells it
    may tell one of them."""
    margins: int = 0
    """Hidden cells that are sums: those readers miss most."""
    audit: Mapping[str, Any] | None = None
    """Counts of the attack, if there was one."""
    closest: tuple[str, float] | None = field(default=None, repr=False)
    """The protected cell with the least to spare, and how many times what is asked for remains: secret like that."""

    @property
    def hidden(self) -> int:
        """All hidden cells."""
        return self.primary + self.secondary


@dataclass(frozen=True, kw_only=True)
class RunDifference:
    """Two runs over the same cells."""

    response: str
    one: RunFacts
    two: RunFacts
    only_one: tuple[int, ...]
    """Cells (flat positions) that only the first run hides."""
    only_two: tuple[int, ...]
    names_one: tuple[str, ...]
    """Their names, the first ones."""
    names_two: tuple[str, ...]
    both: int
    """Cells both hide."""
    changed: int
    """Cells with another value: the runs are not about the same data."""

    def plain(self, *, internal: bool = False) -> dict[str, Any]:
        """As plain data; the hidden share and the closest calls only if ``internal``."""
        found: dict[str, Any] = {
            "response": self.response, "both": self.both, "changed": self.changed,
            "only one": len(self.only_one), "only two": len(self.only_two),
            "cells only one": list(self.names_one), "cells only two": list(self.names_two),
        }  # fmt: skip
        for name, run in (("one", self.one), ("two", self.two)):
            facts: dict[str, Any] = {
                "cells": run.cells, "occupied": run.occupied, "primary": run.primary, "secondary": run.secondary,
                "hidden": run.hidden, "hidden margins": run.margins, "audit": run.audit and dict(run.audit),
            }  # fmt: skip
            if internal:
                facts |= {"hidden share": run.share, "closest call": run.closest}
            found[name] = facts
        return found

    def words(self, language: str = "en", *, internal: bool = False) -> list[str]:
        """As lines of text, a small table first."""
        say = words("difference", language)
        pair = self.one, self.two
        shown = [
            (key, tuple(of(run) for run in pair))
            for key, of, wanted in (
                ("primary", lambda run: f"{run.primary:,}", True),
                ("secondary", lambda run: f"{run.secondary:,}", True),
                ("margins", lambda run: f"{run.margins:,}", True),
                ("share", lambda run: f"{100 * run.share:.4g} %", internal),
                ("exposed", _exposed, any(run.audit for run in pair)),
                ("closest", _closest, internal and any(run.closest for run in pair)),
            )
            if wanted
        ]
        rows = [("", say["one"], say["two"]), *((say[key], *two) for key, two in shown)]
        widths = [max(len(row[i]) for row in rows) for i in range(3)]
        lines = [f"{a.ljust(widths[0])}  {b.rjust(widths[1])}  {c.rjust(widths[2])}" for a, b, c in rows]
        lines += [say["changed"].format(n=self.changed)] if self.changed else []
        lines += [] if self.only_one or self.only_two else [say["same"]]
        only = ("only one", self.only_one, self.names_one), ("only two", self.only_two, self.names_two)
        for key, cells, names in only:
            more = f" + {len(cells) - len(names)}" if len(cells) > len(names) else ""
            lines += [say[key].format(n=len(cells), cells=", ".join(names) + more)] if cells else []
        return [self.response, *("  " + line for line in lines)]


def compare_suppressions(
    one: Run, two: Run, *, audits: tuple[AuditReport | None, AuditReport | None] = (None, None)
) -> RunDifference:
    """Compare two protected versions of one table, results of `suppress` or tables; ``audits`` where known.

    >>> from diskret import suppress
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> found = compare_suppressions(suppress(table), table.with_status(Status.SECONDARY, [["c"]]))
    >>> found.names_one, found.names_two, found.one.hidden, found.two.hidden
    (('(b)',), ('(c)',), 2, 2)
    """
    (first, said), (second, again) = (_parts(run, given) for run, given in zip((one, two), audits, strict=True))
    if first.names != second.names or first.shape != second.shape or list(first.by.items()) != list(second.by.items()):
        raise BadOption(
            f"the runs are about different tables: {_over(first)} and {_over(second)}",
            hint="compare runs over the same classifications.",
        )
    a, b = first.hidden.reshape(-1), second.hidden.reshape(-1)
    only_one, only_two = np.flatnonzero(a & ~b), np.flatnonzero(b & ~a)
    return RunDifference(
        response=first.response,
        one=_facts(first, said),
        two=_facts(second, again),
        only_one=tuple(only_one.tolist()),
        only_two=tuple(only_two.tolist()),
        names_one=tuple(cell_name(first, int(c)) for c in only_one[:MOST_NAMES]),
        names_two=tuple(cell_name(first, int(c)) for c in only_two[:MOST_NAMES]),
        both=int((a & b).sum()),
        changed=int((first.value != second.value).sum()),
    )


def _parts(run: Run, given: AuditReport | None) -> tuple[Table, AuditReport | None]:
    return (run.table, given or run.audit) if isinstance(run, Suppression) else (run, given)


def _over(table: Table) -> str:
    return f"{table.response!r} by {listed(table.names)}"


def _facts(table: Table, report: AuditReport | None) -> RunFacts:
    inner = table.inner
    size = np.abs(table.value)
    whole = float(size[inner].sum())
    return RunFacts(
        cells=table.size,
        occupied=int((~table.empty).sum()),
        primary=int((table.status == Status.PRIMARY).sum()),
        secondary=int((table.status == Status.SECONDARY).sum()),
        share=float(size[inner & table.hidden].sum()) / whole if whole else 0.0,
        margins=int((table.hidden & ~inner).sum()),
        audit=None if report is None else report.summary(),
        closest=None if report is None or report.closest is None else (report.closest.cell, report.closest.times),
    )


def _exposed(run: RunFacts) -> str:
    return "–" if run.audit is None else f"{run.audit['exposed'] + run.audit['undecided']:,}"


def _closest(run: RunFacts) -> str:
    return "–" if run.closest is None else f"{run.closest[0]}: {run.closest[1]:.3g} ×"
