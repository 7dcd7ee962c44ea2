"""What a table gives away together with everything published before it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from diskret.auditing.audit import audit
from diskret.auditing.report import AuditReport
from diskret.ledger.asking import asked_of
from diskret.ledger.entry import Entry
from diskret.ledger.linked import Linked
from diskret.ledger.linking import Link
from diskret.model.promise import Promise
from diskret.moves.move import MoveSet


@dataclass(frozen=True, eq=False, kw_only=True)
class LedgerCheck:
    """The verdict on a table beside everything that was published."""

    name: str
    audit: AuditReport
    """What the attack on all of it found."""
    shown_hidden: tuple[str, ...]
    """Cells that the table shows although an entry hides them as sensitive."""
    hidden_shown: tuple[str, ...]
    """Sensitive cells of the table that an entry shows openly."""
    connected: tuple[str, ...]
    """The entries that are connected with the table."""
    notes: tuple[str, ...]
    """What could not be looked at; with any of them nothing is called safe."""
    derived: int
    """Cells that nobody published but everybody can compute."""

    @property
    def safe(self) -> bool:
        """Whether nothing is exposed, and nothing was left undecided."""
        return self.audit.safe and not (self.shown_hidden or self.hidden_shown or self.notes)

    @property
    def exposed(self) -> int:
        """How many cells and lines are exposed or undecided."""
        return self.audit.open + len(self.shown_hidden) + len(self.hidden_shown)

    def report(self, *, internal: bool = False) -> str:
        """In words: how each exposed cell is found out, from which tables."""
        lines = [f"{self.name}: {'safe' if self.safe else 'not safe'} beside {_entries(self.connected)}"]
        lines += [f"exposed: {cell}" for cell in (*self.shown_hidden, *self.hidden_shown)]
        lines += self.audit.report(internal=internal).splitlines()[1:]
        lines += [f"note: {note}" for note in self.notes]
        return "\n".join(lines)

    def summary(self) -> dict[str, Any]:
        """As plain data, without any value."""
        return {
            "safe": self.safe, "exposed": self.exposed, "connected": list(self.connected),
            "cells": [*self.shown_hidden, *self.hidden_shown, *(e.cell for e in self.audit.exposed)],
            "undecided": list(self.audit.undecided), "notes": list(self.notes), "derived": self.derived,
        }  # fmt: skip


def _entries(names: tuple[str, ...]) -> str:
    if not names:
        return "nothing that is connected with it"
    return names[0] if len(names) == 1 else f"{len(names)} entries that are connected with it"


def checked(link: Link, entry: Entry, promise: Promise, moves: MoveSet) -> LedgerCheck:
    """Attack a table and everything connected with it; ``moves`` are proposals of earlier checks."""
    report = audit(link.cells, asked_of(promise), moves=moves)
    cells = link.cells
    shown = [f"{_own(link, i)} is sensitive and hidden in {by}, and shown here" for i, by in link.shown_hidden]
    open_before = [f"{_own(link, i)} is sensitive, and shown openly in {by}" for i, by in link.hidden_shown]
    assert isinstance(cells, Linked)
    return LedgerCheck(
        name=entry.name, audit=report, shown_hidden=tuple(shown), hidden_shown=tuple(open_before),
        connected=link.connected, notes=link.notes, derived=link.derived,
    )  # fmt: skip


def _own(link: Link, cell: int) -> str:
    return link.cells.name_of(int(link.own[cell]))
