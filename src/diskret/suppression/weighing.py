"""What suppressing one more cell would cost, what it would be good for, and who needs the cell open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.auditing.audit import audit
from diskret.auditing.report import AuditReport
from diskret.model.errors import BadOption
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.model.words import number_in, words
from diskret.suppression.explanation import cell_name

if TYPE_CHECKING:
    from diskret.suppression.result import Suppression

MOST_NAMES = 6
CANDIDATES = 4
"""How many secondaries are tried at most, the most valuable first."""


@dataclass(frozen=True, kw_only=True)
class LineAround:
    """One line (a sum with its parts) the cell stands in."""

    along: str
    """The classification along which it adds up."""
    sum: str
    """The sum, in words."""
    is_sum: bool
    """Whether the cell is the sum of the line."""
    hidden: tuple[str, ...]
    """Hidden cells of the line, the first ones."""
    count: int
    """How many are hidden."""


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """One open cell on the scales. Values of open cells are published; the share needs no hidden value."""

    cell: int
    codes: tuple[str, ...]
    status: str
    value: float
    share: float | None
    """Of the table's total; None where a reader does not know it."""
    contributors: int | None
    allowed: bool
    """Whether the cell may be suppressed at all."""
    margin: tuple[str, ...]
    """Classifications of which it shows a sum: margins are what most readers look for."""
    parts: int
    """Cells that add up to it along these classifications."""
    lines: tuple[LineAround, ...]
    tables: tuple[str, ...] = ()
    """Tables of a pool that show it too."""
    primaries: tuple[str, ...] = ()
    """Primary cells beside it: it could be a partner of theirs."""

    @property
    def bare(self) -> tuple[LineAround, ...]:
        """Lines without any hidden cell: from each of them a reader would compute it back at once."""
        return tuple(line for line in self.lines if line.count == 0)

    @property
    def partners(self) -> int:
        """At least this many further cells must go with it, or it is computed back.

        Lines of one table meet in this cell only, so every bare line needs a cell of its own.
        """
        return min(1, len(self.bare)) if self.tables else len(self.bare)

    def words(self, language: str = "en") -> list[str]:
        """In sentences."""
        say, value = words("weighing", language), number_in(f"{self.value:,.10g}", language)
        share = None if self.share is None else number_in(f"{100 * self.share:.3g}", language)
        bare = ", ".join(f"{line.sum} [{line.along}]" for line in self.bare[:MOST_NAMES])
        beside = "beside" if self.primaries else "useless"
        # what is said, and when
        said = {
            "cost" if share is None else "cost and share": True,
            "contributors": self.contributors is not None,
            self.status: not self.allowed,
            "tables": bool(self.tables),
            "margin": bool(self.margin),
            "zero": self.value == 0 and self.allowed,
            "bare": bool(self.bare),
            "hidden": bool(self.lines) and not self.bare,
            beside: bool(self.primaries) or self.allowed,
            "nobody": True,
        }
        numbers = {"contributors": self.contributors, "margin": self.parts, "bare": self.partners}
        return [
            say[key].format(
                cell="; ".join(self.codes), value=value, share=share, n=numbers.get(key), lines=bare,
                tables=", ".join(self.tables), along=", ".join(self.margin), cells=", ".join(self.primaries),
            )
            for key, wanted in said.items()
            if wanted
        ]  # fmt: skip

    def plain(self) -> dict[str, Any]:
        """As plain data for a page."""
        return asdict(self) | {"bare": [asdict(line) for line in self.bare], "partners": self.partners}


def weigh(done: Suppression, cell: int) -> Weighed:
    """Put the open cell at a flat position on the scales; looks only at the lines it stands in."""
    table = done.table
    at = table.place(cell)
    status = Status(int(table.status[at]))
    if status.hidden:
        raise BadOption(f"the cell {table.name_of(cell)} is hidden already", hint="ask explanation(...) about it.")
    value = float(table.value[at])
    whole = _shown_whole(table)
    lines = tuple(_around(table, cell))
    near = [c for _, _, cells in table.lines(cell) for c in cells.tolist()]
    flat = table.status.reshape(-1)
    primaries = [c for c in dict.fromkeys(near) if flat[c] == Status.PRIMARY]
    allowed = status in (Status.OPEN, Status.ZERO)
    margin, parts = _margin(table, at)
    return Weighed(
        cell=cell, codes=table.codes(at), status=status.text, value=value, share=_share(value, whole),
        contributors=int(table.count[at]) if table.respondents is not None and table.counted else None,
        allowed=allowed, margin=margin, parts=parts, lines=lines, tables=_tables(table, cell),
        primaries=tuple(cell_name(table, c) for c in primaries[:MOST_NAMES]),
    )  # fmt: skip


def _share(value: float, whole: float | None) -> float | None:
    """Of the whole, if that is known."""
    if whole is None:
        return None
    return abs(value) / whole if whole else 0.0


def _shown_whole(table: Table) -> float | None:
    """All that adds up in a table, if a reader knows it; else a share of it would tell of hidden values."""
    inner = table.inner
    known = not table.hidden[inner].any()
    if not known and table.total is not None and not (table.value < 0).any():
        known = not table.hidden.reshape(-1)[table.total]  # it is the total itself
    return float(np.abs(table.value[inner]).sum()) if known else None


def _margin(table: Table, at: tuple[int, ...]) -> tuple[tuple[str, ...], int]:
    if not table.product:
        return (), 0
    sums = [(n, h, i) for (n, h), i in zip(table.by.items(), at, strict=True) if not h.is_leaf[i]]
    return tuple(n for n, _, _ in sums), prod(h.part_index[i].size for _, h, i in sums) if sums else 0


def _tables(table: Table, cell: int) -> tuple[str, ...]:
    return tuple(name for name, (_, cells) in table.linked.items() if (cells == cell).any())


def _around(table: Table, cell: int) -> Iterator[LineAround]:
    hidden = table.hidden.reshape(-1)
    for along, total, cells in table.lines(cell):
        found = cells[hidden[cells]]
        names = tuple(cell_name(table, int(c)) for c in found[:MOST_NAMES])
        yield LineAround(
            along=along, sum=cell_name(table, total), is_sum=total == cell, hidden=names, count=int(found.size)
        )


@dataclass(frozen=True, kw_only=True)
class Openings:
    """What could open again if a cell were suppressed instead."""

    opened: tuple[str, ...]
    """Secondaries of which any one (not all at once) could be opened, and everything would stay protected."""
    cells: tuple[int, ...]
    saved: float = field(repr=False)
    """Largest value that would be shown again, minus what would be lost; internal, it tells a hidden value."""
    tried: int
    candidates: int


def openings(done: Suppression, cell: int, audited: AuditReport | None = None, most: int = CANDIDATES) -> Openings:
    """Try whether suppressing an open cell would let a more valuable secondary beside it open again.

    Secondaries in one line with the cell are tried one by one, the most valuable first, ``most`` of them: with the cell
    hidden and the secondary open the table is attacked again (with the promise of its
    audit). As slow as an attack with known moves.
    """
    report = audited or done.audit
    if report is None:
        raise BadOption("the table was not attacked", hint="suppress it by the method Moves, or audit it first.")
    table = done.table
    flat = table.status.reshape(-1)
    near = np.unique(np.concatenate([cells for _, _, cells in table.lines(cell)] or [np.empty(0, np.int64)]))
    size = np.abs(table.value.reshape(-1))
    candidates = near[(flat[near] == Status.SECONDARY) & (size[near] > size[cell])]
    candidates = candidates[np.lexsort((candidates, -size[candidates]))]
    opened = []
    for other in candidates[:most].tolist():
        status = table.status.copy().reshape(-1)
        status[cell], status[other] = Status.SECONDARY, Status.OPEN
        changed = replace(table, status=status.reshape(table.shape))
        again = audit(changed, report.promise, moves=report.moves.without(other))
        if again.safe:
            opened.append(other)
    saved = float(size[opened[0]] - size[cell]) if opened else 0.0
    names = tuple(cell_name(table, c) for c in opened)
    return Openings(
        opened=names,
        cells=tuple(opened),
        saved=saved,
        tried=min(most, candidates.size),
        candidates=int(candidates.size),
    )


def opening_words(found: Openings, language: str = "en") -> str:
    """In one sentence, without a hidden value.

    >>> opening_words(Openings(opened=(), cells=(), saved=0.0, tried=0, candidates=0))
    'There is no more valuable hidden cell beside it that could open in its place.'
    """
    say = words("weighing", language)
    if not found.candidates:
        return say["no candidates"]
    if not found.opened:
        return say["none opens"].format(n=found.tried, of=found.candidates)
    return say["opens"].format(cells=_joined(found.opened), n=found.tried, of=found.candidates)


def _joined(names: Sequence[str]) -> str:
    return "; ".join(names)
