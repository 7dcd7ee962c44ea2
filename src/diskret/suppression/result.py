"""What a suppression gives back: the table, why each cell is hidden, and what could not be protected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from diskret.auditing.report import AuditReport
from diskret.model.equations import Equations, equations_of
from diskret.model.framed import Frame, Framed
from diskret.model.promise import Promise
from diskret.model.scale import Scale
from diskret.model.status import Status
from diskret.model.table import Index, Table
from diskret.moves.move import Move, MoveSet
from diskret.suppression.consistency import Consistency
from diskret.suppression.explanation import Explanation, explanation_of
from diskret.suppression.weighing import CANDIDATES, Openings, Weighed, openings, weigh


@dataclass(frozen=True, kw_only=True)
class Unprotected:
    """A cell no cuboid can protect, with the widest interval that was reached."""

    cell: str
    index: Index
    reached: float
    why: str


@dataclass(frozen=True, eq=False, kw_only=True)
class Suppression(Framed):
    """A protected table with the moves that protect it."""

    table: Table
    before: Table
    promise: Promise
    """What was asked for, and what everything said about this result refers to."""
    moves: MoveSet
    unprotected: tuple[Unprotected, ...] = ()
    passes: int = 1
    notes: tuple[str, ...] = ()
    consistency: Consistency | None = None
    """With last period's table: how far its pattern was kept, at what price, and what else was tried."""
    audit: AuditReport | None = None
    """What the attack on the finished table found, if there was one."""
    cost: float = 0.0
    """What the secondary cells cost together, by the `Cost` of the method. Internal: mostly a sum of hidden values."""
    beside: Suppression | None = None
    """Where the table was protected beside others: what came of all of them together, with the moves."""
    bound: float | None = None
    """What every pattern costs at least that keeps the promise, where that is known. Internal like the cost."""

    @property
    def gap(self) -> float | None:
        """Which share of the cost another pattern could save at most; 0 if none is cheaper, None if nothing is known.

        >>> from diskret import methods, suppress
        >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "open", "open"]}
        >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
        >>> done = suppress(table, method=methods.Optimal())
        >>> done.cost, done.bound, done.gap
        (20.0, 20.0, 0.0)
        """
        if self.bound is None:
            return None
        return max(self.cost - self.bound, 0.0) / self.cost if self.cost > 0 else 0.0

    @property
    def exposed(self) -> int:
        """Number of cells and lines that could not be protected, or that the attack did not find protected."""
        found = {u.cell for u in self.unprotected}
        return len(found) if self.audit is None else max(len(found), self.audit.open)

    def sealed(self) -> Suppression:
        """The same result, its table sealed for publication unless something in it is exposed or nobody marked it."""
        if self.exposed or self.table.unmarked or (self.before.altered and not self.before.sealable):
            return self
        return replace(self, table=self.table.sealed())

    @property
    def secondary(self) -> Any:
        """Cells suppressed by this run."""
        return (self.table.status == Status.SECONDARY) & (self.before.status != Status.SECONDARY)

    def written_in(self, table: Table, promise: Promise, scale: Scale) -> Suppression:
        """The same about a table whose numbers are not in its own unit."""
        hidden = replace(table, status=self.table.status, creator=self.table.creator)
        return replace(
            self,
            table=hidden,
            before=replace(table, status=self.before.status, creator=self.before.creator),
            promise=promise,
            moves=self.moves.written_in(scale),
            unprotected=tuple(
                replace(each, reached=float(scale.up(np.array([each.reached]))[0])) for each in self.unprotected
            ),
            audit=None if self.audit is None else self.audit.written_in(hidden, promise, scale),
        )

    def interval(self, *codes: str) -> tuple[float, float] | None:
        """What remains possible for a suppressed cell, as far as its cuboids say; None if it is in none.

        In a table with subtotals this holds inside the subtables of the cuboids; an audit says what holds overall.
        """
        at = self.table.index(*codes)
        cell = int(np.ravel_multi_index(at, self.table.shape))
        value = float(self.table.value[at])
        inside: dict[int, tuple[float, float]] = {}
        for k in self.moves.using(cell):
            low, high = self.moves[int(k)].interval(cell, value)
            where = self.moves.where(int(k))
            before = inside.get(where, (low, high))
            inside[where] = min(low, before[0]), max(high, before[1])
        # inside one subtable the widest cuboid counts; every subtable is another thing an attacker knows
        return (max(low for low, _ in inside.values()), min(high for _, high in inside.values())) if inside else None

    def moves_of(self, *codes: str) -> tuple[Move, ...]:
        """The cuboids that protect a cell."""
        cell = int(np.ravel_multi_index(self.table.index(*codes), self.table.shape))
        return tuple(self.moves[int(k)] for k in self.moves.protecting(cell))

    def explain(self, *codes: str) -> str:
        """In words why a cell is hidden: its rules, the cuboids that protect it, and whom it protects."""
        at = self.table.index(*codes)
        cell = int(np.ravel_multi_index(at, self.table.shape))
        status = Status(int(self.table.status[at]))
        lines = [f"{self._name(cell)}: {status.text}"]
        rules = self.table.rules_of(at)
        if rules:
            lines.append(f"  caught by {', '.join(rules)}")
        for k in self.moves.protecting(cell):
            others = self.moves[int(k)].cells
            partners = ", ".join(self._name(int(c)) for c in others if c != cell)
            lines.append(f"  protected together with {partners}")
        using = self.moves.using(cell)
        helped = sorted({p for k in using for p in self.moves.protected(int(k))} - {cell})
        if helped:
            lines.append(f"  needed to protect {', '.join(self._name(p) for p in helped[:10])}")
        lines += [f"  not protected: {u.why}" for u in self.unprotected if u.index == at]
        return "\n".join(lines)

    def explain_table(self, *codes: str) -> dict[str, list[Any]]:
        """The moves behind a cell as a small table: one row per cell of every move that protects or needs it.

        ``change`` is what a cell moves by when the move goes as far as it can in its own direction, ``lower`` and
        ``upper`` are what it can be by this move. Internal: it shows hidden values.

        >>> from diskret import suppress
        >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "open", "open"]}
        >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
        >>> shown = suppress(table).explain_table("a")
        >>> shown["s"], shown["why"], shown["change"], shown["lower"], shown["upper"]
        (['a', 'b'], ['protects it', 'protects it'], [20.0, -20.0], [0.0, 0.0], [30.0, 30.0])
        """
        cell = int(np.ravel_multi_index(self.table.index(*codes), self.table.shape))
        mine = set(self.moves.protecting(cell).tolist())
        columns = ("move", "why", *self.table.names, "status", "value", "change", "lower", "upper")
        shown: dict[str, list[Any]] = {name: [] for name in columns}
        for k in sorted(mine | set(self.moves.using(cell).tolist())):
            move = self.moves[k]
            helped = sorted(self.moves.protected(k) - {cell})
            why = "protects it" if k in mine else f"protects {', '.join(self._name(p) for p in helped[:3])}"
            step = move.up if np.isfinite(move.up) else 1.0
            for other, coefficient in zip(move.cells.tolist(), move.coefficients.tolist(), strict=True):
                at = self.table.place(other)
                value = float(self.table.value[at])
                row = (k, why, *self.table.codes(at), Status(int(self.table.status[at])).text, value)
                for name, entry in zip(columns, (*row, coefficient * step, *move.interval(other, value)), strict=True):
                    shown[name].append(entry)
        return shown

    def explanation(self, *codes: str) -> Explanation:
        """Why a cell is hidden, as data: the moves behind it cell by cell with their signs, and what remains possible.

        >>> from diskret import suppress
        >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "open", "open"]}
        >>> found = suppress(Table.from_cells(cells, by={"s": None}, value="x", status="st")).explanation("a")
        >>> [(c.codes, c.sign) for c in found.moves[0].cells], found.interval, found.exact
        ([(('a',), 1), (('b',), -1)], (0.0, 30.0), True)
        >>> print(found.words()[-1])
        Whoever reads the published table can only say that it lies between 0 and 30.
        """
        return explanation_of(self, self._flat(codes))

    def weigh(self, *codes: str) -> Weighed:
        """What suppressing an open cell would cost, what it would be good for, and who needs it open.

        >>> from diskret import suppress
        >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "open", "open"]}
        >>> found = suppress(Table.from_cells(cells, by={"s": None}, value="x", status="st")).weigh("c")
        >>> found.share, found.primaries, found.bare
        (0.7, ('(a)',), ())
        """
        return weigh(self, self._flat(codes))

    def openings(self, *codes: str, most: int = CANDIDATES) -> Openings:
        """Which more valuable secondaries could open again if an open cell were hidden instead; slower than `weigh`."""
        return openings(self, self._flat(codes), most=most)

    @cached_property
    def hidden_system(self) -> tuple[Equations, Any]:
        """The equations of the hidden cells, and which of them are connected; made on first use."""
        system = equations_of(self.table)
        return system, system.components()

    def _flat(self, codes: Sequence[str]) -> int:
        return int(np.ravel_multi_index(self.table.index(*codes), self.table.shape))

    def _name(self, cell: int) -> str:
        return "(" + "; ".join(self.table.codes(self.table.place(cell))) + ")"

    def summary(self) -> dict[str, Any]:
        """Counts and shares only: fit to be printed or logged."""
        return {
            "primary": int((self.table.status == Status.PRIMARY).sum()),
            "secondary": int((self.table.status == Status.SECONDARY).sum()),
            "new": int(self.secondary.sum()),
            "passes": self.passes,
            "moves": len(self.moves),
            "unprotected": len(self.unprotected),
            **({} if self.gap is None else {"gap": self.gap}),
            **({} if self.consistency is None else {"consistency": self.consistency.plain()}),
            **({} if self.audit is None else {"audit": self.audit.summary()}),
        }

    def hidden_share(self) -> float:
        """Share of the absolute values that is hidden. Internal: with few hidden cells it may tell one of them."""
        whole = float(np.abs(self.table.value).sum())
        return float(np.abs(self.table.value[self.table.hidden]).sum()) / whole if whole else 0.0

    def shown(self, *, internal: bool = False) -> Frame:
        """The protected table in long form; nothing but codes where something in it is exposed, unless ``internal``."""
        table = replace(self.table, seal="") if self.exposed else self.table
        return table.shown(internal=internal)

    def _repr_html_(self) -> str:
        from diskret.model.notebook import as_html, table_html

        return as_html(repr(self), table_html(replace(self.table, seal="") if self.exposed else self.table))

    def __repr__(self) -> str:
        s = self.summary()
        return f"Suppression({s['primary']} primary, {s['secondary']} secondary, {s['unprotected']} unprotected)"
