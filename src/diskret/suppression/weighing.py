"""What suppressing one more cell would cost, what it would be good for, and who needs the cell open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from diskret.auditing.audit import audit
from diskret.auditing.report import AuditReport
from diskret.model.arrays import Bools, Ints
from diskret.model.errors import BadOption
from diskret.model.pool import Pool
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.suppression.explanation import cell_name

if TYPE_CHECKING:
    from diskret.suppression.result import Suppression

MOST_NAMES = 6
CANDIDATES = 4
"""How many secondaries are tried at most, the dearest first."""


@dataclass(frozen=True)
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


@dataclass(frozen=True)
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
        """At least so many further cells must go with it, or it is computed back.

        Lines of one table meet in this cell only, so every bare line needs a cell of its own.
        """
        return min(1, len(self.bare)) if self.tables else len(self.bare)

    def words(self, language: str = "en") -> list[str]:
        """In sentences."""
        say = _DE if language == "de" else _EN
        name = "; ".join(self.codes)
        lines = [say["cost"].format(cell=name, value=f"{self.value:,.10g}")]
        if self.share is not None:
            lines[0] = say["cost and share"].format(
                cell=name, value=f"{self.value:,.10g}", share=f"{100 * self.share:.3g}"
            )
        if self.contributors is not None:
            lines.append(say["contributors"].format(n=self.contributors))
        if not self.allowed:
            lines.append(say[self.status])
        if self.tables:
            lines.append(say["tables"].format(tables=", ".join(self.tables)))
        if self.margin:
            lines.append(say["margin"].format(along=", ".join(self.margin), n=self.parts))
        if self.value == 0 and self.allowed:
            lines.append(say["zero"])
        if self.bare:
            bare = ", ".join(f"{line.sum} [{line.along}]" for line in self.bare[:MOST_NAMES])
            lines.append(say["bare"].format(lines=bare, n=self.partners))
        elif self.lines:
            lines.append(say["hidden"])
        if self.primaries:
            lines.append(say["beside"].format(cells=", ".join(self.primaries)))
        elif self.allowed:
            lines.append(say["useless"])
        lines.append(say["nobody"])
        return lines

    def plain(self) -> dict[str, Any]:
        """As plain data for a page."""
        return asdict(self) | {"bare": [asdict(line) for line in self.bare], "partners": self.partners}


def weigh(done: Suppression, cell: int) -> Weighed:
    """Put the open cell at a flat position on the scales; looks only at the lines it stands in."""
    table = done.table
    at = tuple(int(i) for i in np.unravel_index(cell, table.shape))
    status = Status(int(table.status[at]))
    if status.hidden:
        raise BadOption(f"the cell {table.name_of(cell)} is hidden already", hint="ask explanation(...) about it.")
    value = float(table.value[at])
    whole = _shown_whole(table)
    lines = tuple(_around(table, cell))
    near = [c for _, _, cells in lines_of(table, cell) for c in cells.tolist()]
    flat = table.status.reshape(-1)
    primaries = [c for c in dict.fromkeys(near) if flat[c] == Status.PRIMARY]
    allowed = status in (Status.OPEN, Status.ZERO)
    margin, parts = _margin(table, at)
    return Weighed(
        cell, table.codes(at), status.text, value, None if whole is None else abs(value) / whole if whole else 0.0,
        int(table.count[at]) if table.respondents is not None else None, allowed, margin, parts, lines,
        _tables(table, cell), tuple(cell_name(table, c) for c in primaries[:MOST_NAMES]),
    )  # fmt: skip


def _shown_whole(table: Table) -> float | None:
    """All that adds up in a table, if a reader knows it; else a share of it would tell of hidden values."""
    inner = inner_cells(table)
    known = not table.hidden[inner].any()
    if not known and not isinstance(table, Pool) and not (table.value < 0).any():
        known = not table.hidden[table.index(*(h.total for h in table.hierarchies))]  # it is the total itself
    return float(np.abs(table.value[inner]).sum()) if known else None


def inner_cells(table: Table) -> Bools:
    """Cells that are no sums, whose values make up the whole table."""
    inner = np.ones(table.shape, dtype=np.bool_)
    if isinstance(table, Pool):
        inner[table.system.sum_cell] = False
        return inner
    for axis, hierarchy in enumerate(table.hierarchies):
        shape = [1] * len(table.shape)
        shape[axis] = -1
        inner &= hierarchy.is_leaf.reshape(shape)
    return inner


def _margin(table: Table, at: tuple[int, ...]) -> tuple[tuple[str, ...], int]:
    if isinstance(table, Pool):
        return (), 0
    sums = [(n, h, i) for (n, h), i in zip(table.by.items(), at, strict=True) if not h.is_leaf[i]]
    return tuple(n for n, _, _ in sums), prod(h.part_index[i].size for _, h, i in sums) if sums else 0


def _tables(table: Table, cell: int) -> tuple[str, ...]:
    if not isinstance(table, Pool):
        return ()
    return tuple(name for name, cells in table.cells_of.items() if (cells == cell).any())


def lines_of(table: Table, cell: int) -> Iterator[tuple[str, int, Ints]]:
    """The lines a cell stands in: along which classification, their sum, and all their cells but this one."""
    if isinstance(table, Pool):
        start, rows, _ = table.by_cell
        for row in rows[start[cell] : start[cell + 1]].tolist():
            cells = table.system.columns[table.system.start[row] : table.system.start[row + 1]]
            axis = int(table.system.axis[row])
            yield table.axes[axis][0], int(table.system.sum_cell[row]), cells[cells != cell]
        return
    at = [int(i) for i in np.unravel_index(cell, table.shape)]
    for axis, (name, hierarchy) in enumerate(table.by.items()):
        stride = prod(table.shape[axis + 1 :])
        here = at[axis]
        parent = int(hierarchy.parent_index[here])
        for total in ([parent] if parent >= 0 else []) + ([here] if not hierarchy.is_leaf[here] else []):
            codes = np.append(hierarchy.part_index[total], total)
            cells = cell + (codes[codes != here] - here) * stride
            yield name, cell + (total - here) * stride, cells.astype(np.int64)


def _around(table: Table, cell: int) -> Iterator[LineAround]:
    hidden = table.hidden.reshape(-1)
    for along, total, cells in lines_of(table, cell):
        found = cells[hidden[cells]]
        names = tuple(cell_name(table, int(c)) for c in found[:MOST_NAMES])
        yield LineAround(along, cell_name(table, total), total == cell, names, int(found.size))


@dataclass(frozen=True)
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
    """Try whether suppressing an open cell would let a dearer secondary beside it open again.

    Secondaries in one line with the cell are tried one by one, the dearest first, ``most`` of them: with the cell
    hidden and the secondary open the table is attacked again (with the promise of its
    audit). As slow as an attack with known moves.
    """
    report = audited or done.audit
    if report is None:
        raise BadOption("the table was not attacked", hint="suppress it by the method Moves, or audit it first.")
    table = done.table
    flat = table.status.reshape(-1)
    near = np.unique(np.concatenate([cells for _, _, cells in lines_of(table, cell)] or [np.empty(0, np.int64)]))
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
    return Openings(names, tuple(opened), saved, min(most, candidates.size), int(candidates.size))


def opening_words(found: Openings, language: str = "en") -> str:
    """In one sentence, without a hidden value.

    >>> opening_words(Openings((), (), 0.0, 0, 0))
    'There is no dearer hidden cell beside it that could open in its place.'
    """
    say: dict[str, str] = _DE if language == "de" else _EN
    if not found.candidates:
        return say["no candidates"]
    if not found.opened:
        return say["none opens"].format(n=found.tried, of=found.candidates)
    return say["opens"].format(cells=_joined(found.opened), n=found.tried, of=found.candidates)


def _joined(names: Sequence[str]) -> str:
    return "; ".join(names)


_EN = {
    "cost": "Suppressing {cell} would take {value} from the reader.",
    "cost and share": "Suppressing {cell} would take {value} from the reader, {share} % of all that adds up in this "
    "table.",
    "contributors": "{n} contributors stand behind it.",
    "never": "It is to stay open: somebody said so (status never).",
    "published": "It was published earlier, so hiding it now would protect nobody.",
    "structural zero": "Everybody knows that it is zero, so hiding it would protect nobody.",
    "tables": "Linked tables show it too and would lose it as well: {tables}.",
    "margin": "It is a sum along {along} ({n} parts): margins are what most readers look for, and barriers keep them "
    "visible.",
    "bare": "On its own that would be in vain: nothing else is hidden in {lines}, so a reader would compute it back. "
    "At least {n} further cells would have to go with it.",
    "zero": "It is zero: it can be a partner only where zeros may be suppressed.",
    "hidden": "Every line it stands in has hidden cells already, so no single line would give it away.",
    "beside": "It could be a partner of the primary cells beside it: {cells}.",
    "useless": "No primary cell stands in a line with it: at most it could serve as a far corner of a cuboid.",
    "nobody": "No protected cell needs it open: hiding more never weakens protection. Readers need it, as said above.",
    "no candidates": "There is no dearer hidden cell beside it that could open in its place.",
    "none opens": "None of the dearer hidden cells beside it could open in its place ({n} of {of} tried).",
    "opens": "In its place one of these could open, and everything would stay protected: {cells} ({n} of {of} tried).",
}
_DE = {
    "cost": "Wer {cell} sperrt, nimmt dem Leser {value}.",
    "cost and share": "Wer {cell} sperrt, nimmt dem Leser {value}, das sind {share} % von allem, was sich in dieser "
    "Tabelle summiert.",
    "contributors": "Dahinter stehen {n} Befragte.",
    "never": "Sie soll offen bleiben: So ist es festgelegt (Status „never“).",
    "published": "Sie ist schon veröffentlicht; sie jetzt zu sperren schützt niemanden.",
    "structural zero": "Jeder weiß, dass sie null ist; sie zu sperren schützt niemanden.",
    "tables": "Verknüpfte Tabellen zeigen sie auch und würden sie ebenfalls verlieren: {tables}.",
    "margin": "Sie ist eine Summe über {along} ({n} Teile): Randsummen suchen die meisten Leser, Barrieren halten sie "
    "sichtbar.",
    "bare": "Allein wäre das vergeblich: In {lines} ist sonst nichts gesperrt, ein Leser würde sie zurückrechnen. "
    "Mindestens {n} weitere Zellen müssten mit ihr fallen.",
    "zero": "Sie ist null: Partner kann sie nur sein, wo Nullen gesperrt werden dürfen.",
    "hidden": "In jeder Zeile, in der sie steht, ist schon etwas gesperrt; keine einzelne Zeile würde sie verraten.",
    "beside": "Sie könnte Partner der primär gesperrten Zellen neben ihr sein: {cells}.",
    "useless": "Keine primär gesperrte Zelle steht in einer Zeile mit ihr: Sie könnte höchstens ferne Ecke eines "
    "Quaders sein.",
    "nobody": "Keine geschützte Zelle braucht sie offen: Mehr zu sperren schwächt den Schutz nie. Leser brauchen sie, "
    "wie oben gesagt.",
    "no candidates": "Neben ihr ist keine teurere Zelle gesperrt, die an ihrer Stelle offen sein könnte.",
    "none opens": "Keine der teureren gesperrten Zellen neben ihr könnte an ihrer Stelle offen sein ({n} von {of} "
    "versucht).",
    "opens": "An ihrer Stelle könnte eine von diesen offen sein, und alles bliebe geschützt: {cells} ({n} von {of} "
    "versucht).",
}
