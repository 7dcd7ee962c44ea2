"""What an audit found, in numbers and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from diskret.model.framed import Frame, Framed
from diskret.model.promise import Promise
from diskret.model.scale import Scale
from diskret.model.table import Table
from diskret.moves.move import MoveSet


@dataclass(frozen=True, kw_only=True)
class Exposure:
    """A primary cell that can be found out too closely, by everybody or by one insider."""

    cell: str
    index: tuple[int, ...]
    lower: float = field(repr=False)
    upper: float = field(repr=False)
    exact: bool
    by: str = ""
    """The insider who finds it out; empty: everybody."""
    proof: str = ""
    """The published lines that expose it, added and subtracted; empty where no proof could be verified."""
    required: tuple[float, float] = field(default=(0.0, 0.0), repr=False)
    """How far down and up the interval should reach at least: secret, like the parameters of the rules."""

    def words(self, *, internal: bool) -> list[str]:
        """What is found out and how; the interval only if ``internal``."""
        how = "can be computed exactly" if self.exact else "can be computed too closely"
        line = f"exposed: {self.cell} {how}{f' by {self.by}' if self.by else ''}"
        if internal:
            line += f": [{self.lower:.10g}; {self.upper:.10g}]"
            if self.required != (0.0, 0.0):
                line += f", required {self.required[0]:.10g} below and {self.required[1]:.10g} above"
        return [line, f"  follows from {self.proof}"] if self.proof else [line]


Node = tuple[int, tuple[int, ...], tuple[int, ...]] | tuple[int, int]
"""A leaf (q, rows of the table's equations, how many times each) or a split (cell, the largest deviation below it)."""


@dataclass(frozen=True, kw_only=True)
class Shortfall:
    """Why a primary cell cannot go far enough one way, in whole numbers (see docs/certificate.md)."""

    cell: int
    knows: tuple[int, ...] = ()
    """Cells the insider who finds it out knows something about; none: everybody finds it out."""
    coalition: str = ""
    """His name, if he is one."""
    upward: bool
    tree: tuple[Node, ...] = field(repr=False)


@dataclass(frozen=True)
class ClosestCall:
    """The protected cell with the least to spare, as far as the witnesses show."""

    cell: str
    times: float = field(repr=False)
    """At least how many times the demanded range is possible."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AuditReport(Framed):
    """What the attack found."""

    table: Table
    promise: Promise
    exposed: tuple[Exposure, ...]
    undecided: tuple[str, ...]
    programmes: int
    checked: int
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict, repr=False)
    """Exact intervals of the cells that were asked for; internal, like every interval."""
    without_solver: int = 0
    """Primary cells that are settled by moves re-checked in plain arithmetic."""
    insiders: int = 0
    """How many insiders were let loose on the table."""
    unions: tuple[str, ...] = ()
    """Lines whose hidden cells together break the primary rule."""
    zeros: tuple[str, ...] = ()
    """Lines of a frequency table whose hidden cells must all be zero."""
    moves: MoveSet = field(default_factory=MoveSet.none, repr=False)
    """Witnesses, in whole numbers; internal."""
    proofs: tuple[Shortfall, ...] = field(default=(), repr=False)
    """Why exposed cells are; internal."""
    close_calls: tuple[ClosestCall, ...] = field(default=(), repr=False)
    """The protected cells with the least to spare, the closest first."""

    @property
    def closest(self) -> ClosestCall | None:
        """The protected cell with the least to spare."""
        return self.close_calls[0] if self.close_calls else None

    @property
    def safe(self) -> bool:
        """Whether nothing is exposed and nothing left undecided."""
        return not (self.exposed or self.undecided or self.unions or self.zeros)

    @property
    def open_to(self) -> frozenset[tuple[str, str]]:
        """Every exposed cell with who finds it out; what is undecided counts as exposed."""
        return frozenset({(e.cell, e.by) for e in self.exposed} | {(name, "?") for name in self.undecided})

    @property
    def open(self) -> int:
        """Number of cells and lines that are exposed or undecided."""
        cells = {e.cell for e in self.exposed} | set(self.undecided)
        return len(cells) + len(self.unions) + len(self.zeros)

    def written_in(self, table: Table, promise: Promise, scale: Scale) -> AuditReport:
        """The same about a table whose numbers are not in its own unit."""

        def up(*numbers: float) -> tuple[float, ...]:
            return tuple(scale.up(np.array(numbers)).tolist())

        exposed = [
            replace(e, lower=ends[0], upper=ends[1], required=(ends[2], ends[3]))
            for e in self.exposed
            for ends in [up(e.lower, e.upper, *e.required)]
        ]
        intervals = {name: (ends[0], ends[1]) for name, each in self.intervals.items() for ends in [up(*each)]}
        return replace(
            self, table=table, promise=promise, exposed=tuple(exposed), intervals=intervals,
            moves=self.moves.written_in(scale),
        )  # fmt: skip

    def summary(self) -> dict[str, Any]:
        """Counts only: fit to be printed or logged."""
        counts = {
            "checked": self.checked,
            "exposed": len({e.cell for e in self.exposed}),
            "exactly": len({e.cell for e in self.exposed if e.exact}),
            "to insiders only": len({e.cell for e in self.exposed} - {e.cell for e in self.exposed if not e.by}),
            "undecided": len(self.undecided),
            "insiders": self.insiders,
            "settled without solver": self.without_solver,
            "linear programmes": self.programmes,
        }
        extra = {"lines breaking the rule": len(self.unions), "lines of zeros": len(self.zeros)}
        return counts | {name: n for name, n in extra.items() if n}

    def plain(self) -> dict[str, Any]:
        """As plain data without values and without what was required: what is exposed is named, not shown.

        How many times over a cell keeps what is required is left out: with the interval, which every reader can
        compute, it would give the secret range away.
        """
        return {
            "safe": self.safe,
            "summary": self.summary(),
            "exposed": [{"cell": e.cell, "exact": e.exact, "by": e.by, "proof": e.proof} for e in self.exposed],
            "undecided": list(self.undecided),
            "lines": [*self.unions, *self.zeros],
            "closest": self.closest.cell if self.closest else None,
            "close calls": [call.cell for call in self.close_calls],
        }

    def shown(self, *, internal: bool = False) -> Frame:
        """What was found, one row each: the cell or line, what is wrong, who finds it out; intervals if internal."""
        found = [(e.cell, "exactly" if e.exact else "too closely", e.by, e.lower, e.upper) for e in self.exposed]
        rest = {"undecided": self.undecided, "together": self.unions, "all zero": self.zeros}
        found += [(name, why, "", np.nan, np.nan) for why, names in rest.items() for name in names]
        columns = dict(zip(("cell", "exposed", "by", "lower", "upper"), zip(*found, strict=True), strict=False))
        texts = {name: np.array(columns.get(name, ()), dtype=object) for name in ("cell", "exposed", "by")}
        ends = {name: np.array(columns.get(name, ()), dtype=np.float64) for name in ("lower", "upper")}
        return texts | ends if internal else texts

    def _repr_html_(self) -> str:
        from diskret.model.notebook import as_html, paragraphs

        verdict = "✓ nothing is exposed" if self.safe else f"✗ {self.open} exposed or undecided"
        return as_html(verdict, paragraphs(self.report().splitlines()))

    def report(self, *, internal: bool = False) -> str:
        """In words: the exposed cells by name and how they are found out; intervals (values) only if ``internal``."""
        share = f"{100 * self.without_solver / self.checked:.1f} %" if self.checked else "none"
        lines = [
            f"{self.checked} primary {'cell' if self.checked == 1 else 'cells'} checked against everybody"
            + (f" and {self.insiders} {'insider' if self.insiders == 1 else 'insiders'}" if self.insiders else "")
            + f": {share} settled by re-checked moves, the rest with {self.programmes} linear "
            + ("programme" if self.programmes == 1 else "programmes")
        ]
        lines += [line for e in self.exposed for line in e.words(internal=internal)]
        lines += [f"undecided: {name} (the solver gave up; do not treat it as safe)" for name in self.undecided]
        lines += [f"exposed: the hidden cells of {name} together break the primary rule" for name in self.unions]
        lines += [f"exposed: the hidden cells of {name} must all be zero" for name in self.zeros]
        if self.checked:
            lines.append(f"assumed: {self.promise.assumed(self.table)}")
        if internal and self.closest is not None:
            lines.append(f"closest call: {self.closest.cell}, {self.closest.times:.4g} times what is required")
        return "\n".join([*lines, *(["nothing is exposed"] if self.safe else [])])
