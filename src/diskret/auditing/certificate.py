"""A certificate: what was promised about which table, with the moves and proofs that show it, for anybody to check.

It names the table by a hash of its plain form, so that every change is noticed. Moves tell something about hidden
values: a certificate is as confidential as the table. ``docs/certificate.md`` is the format.
"""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from math import lcm
from typing import Any

import numpy as np

from diskret.auditing.checking import WholeMove, Witness, bounds_of, exposed_to, steps_of
from diskret.auditing.exact_proof import (
    EVERYBODY,
    Leaf,
    Refutation,
    Split,
    equation_numbers,
    equations_by_number,
)
from diskret.auditing.grounds import Impossible, grounds_of
from diskret.auditing.knowing import knowing
from diskret.auditing.lines import unions_in, zeros_in
from diskret.auditing.plain import Plain, hash_of, plain_table
from diskret.auditing.report import AuditReport, Node
from diskret.model.cells import Cells
from diskret.model.errors import BadOption, listed
from diskret.model.exact import exact
from diskret.model.notebook import Told
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.moves.move import Move


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Certificate(Told):
    """What was promised, and the moves and proofs that show it."""

    table: str
    """Hash of the plain form of the table."""
    promise: Promise
    moves: tuple[WholeMove, ...]
    proofs: tuple[Refutation, ...] = ()
    """Why cells that are exposed cannot go far enough."""
    versions: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{len(self.moves)} moves and {len(self.proofs)} proofs, confidential"


@dataclass(frozen=True, kw_only=True, repr=False)
class Verification(Told):
    """What a certificate proves about a table."""

    promise: Promise
    """What was checked: the promise that was demanded, or else the one the certificate names."""
    demanded: bool = False
    """Whether somebody demanded it."""
    same_table: bool = True
    impossible: str = ""
    """Why the promise cannot be made about this table at all."""
    checked: int = 0
    """Primary cells."""
    open: tuple[str, ...] = ()
    """Those about which nothing is proven: an audit has to decide."""
    exposed: tuple[tuple[str, str], ...] = ()
    """Those that are proven to be exposed, and to whom."""
    broken_moves: int = 0
    broken_proofs: int = 0
    unions: tuple[str, ...] = ()
    """Lines whose hidden cells together break a primary rule, although the promise says that none do."""
    assumed: str = ""
    """What is taken to be known about those behind the cells, in words."""
    zeros: tuple[str, ...] = ()
    """Lines of hidden zeros about which no move shows that they could be anything else."""

    @property
    def proven(self) -> int:
        """Primary cells that keep what was promised."""
        return self.checked - len(self.open) - len({cell for cell, _ in self.exposed})

    @property
    def holds(self) -> bool:
        """Whether everything that was promised is proven."""
        wrong = self.impossible or self.open or self.exposed or self.unions or self.zeros
        return self.same_table and not (wrong or self.broken_moves or self.broken_proofs)

    def __str__(self) -> str:
        return self.report()

    def __repr__(self) -> str:
        return f"Verification({self.proven} of {self.checked} primary cells proven)"

    def summary(self) -> dict[str, Any]:
        """Counts only."""
        return {
            "holds": self.holds, "same table": self.same_table, "promise was demanded": self.demanded,
            "checked": self.checked, "proven": self.proven, "open": len(self.open), "exposed": len(self.exposed),
            "broken moves": self.broken_moves, "broken proofs": self.broken_proofs,
            "lines breaking the rule": len(self.unions), "lines of zeros": len(self.zeros),
        }  # fmt: skip

    def report(self, *, internal: bool = False) -> str:
        """In words; no values, and the ranges of the promise only if ``internal``."""
        if not self.same_table:
            return "the certificate belongs to another table, or the table was changed"
        promised = " ".join(f"{self.promise.describe(internal=internal)} {self.assumed}".split())
        lines = [f"{'demanded' if self.demanded else 'promised, by the certificate itself'}: {promised}"]
        if self.impossible:
            return "\n".join([*lines, f"this cannot be promised: {self.impossible}"])
        lines.append(f"{self.proven} of {self.checked} primary cells are proven to keep it, in whole numbers")
        broken = [f"{n} {what}" for what, n in (("moves", self.broken_moves), ("proofs", self.broken_proofs)) if n]
        lines += [f"{what} do not hold: the certificate was damaged or tampered with" for what in broken]
        lines += [f"not proven: {name} (audit the table)" for name in self.open]
        lines += [f"exposed: {name}, to {by}" for name, by in self.exposed]
        lines += [f"the hidden cells of {name} together break a primary rule" for name in self.unions]
        lines += [f"not proven: that the hidden cells of {name}, all zero, could be more" for name in self.zeros]
        if self.holds:
            lines.append("the certificate holds")
            if not self.demanded:
                lines.append("it proves what it says itself; demand a promise to have that proven")
        return "\n".join(lines)


def certificate_of(report: AuditReport) -> Certificate:
    """The certificate of an audit."""
    packages = {name: version(name) for name in ("diskret", "numpy", "highspy")}
    return Certificate(
        table=hash_of(plain_table(report.table)), promise=report.promise,
        moves=_whole_moves(report), proofs=_refutations(report),
        versions=packages | {"python": platform.python_version()},
    )  # fmt: skip


def _refutations(report: AuditReport) -> tuple[Refutation, ...]:
    """The proofs of a report, with the numbers and names that certificates have for equations and insiders."""
    if not report.proofs:
        return ()
    table, plain = report.table, plain_table(report.table)
    number = equation_numbers(table, table.equations()).tolist()
    leads = knowing(table, plain, report.promise, grounds_of(plain, report.promise)).lead

    def node(each: Node) -> Leaf | Split:
        if len(each) == 2:
            return Split(cell=each[0], at=each[1])
        q, rows, times = each
        return Leaf(q=q, rows=tuple(number[row] for row in rows), times=times)

    return tuple(
        Refutation(
            cell=each.cell, by=each.coalition or (f"person {leads[each.knows[0]]}" if each.knows else EVERYBODY),
            upward=each.upward, tree=tuple(map(node, each.tree)),
        )
        for each in report.proofs
    )  # fmt: skip


def _whole_moves(report: AuditReport) -> tuple[WholeMove, ...]:
    """The moves of a report in whole steps, those that hold."""
    found = tuple(_whole(move) for move in report.moves)
    if not steps_of(report.table, found).broken:
        return found
    return tuple(move for move in found if not steps_of(report.table, [move]).broken)


def _whole(move: Move) -> WholeMove:
    """A move with the smallest whole steps that go the same way.

    >>> _whole(Move(cells=np.array([3, 5]), coefficients=np.array([0.5, -1.25]))).steps
    (2, -5)
    """
    amounts = [exact(c) for c in move.coefficients.tolist()]
    common = lcm(*(a.denominator for a in amounts))
    steps = [int(a * common) for a in amounts]
    divisor = int(np.gcd.reduce(np.array(steps, dtype=object)))
    return WholeMove(cells=tuple(move.cells.tolist()), steps=tuple(step // max(divisor, 1) for step in steps))


def verify(table: Table, certificate: Certificate, promise: Promise | None = None) -> Verification:
    """Check a certificate against a table in whole numbers, without any solver.

    ``promise`` is what it must prove; left out, whatever it says it does. Equations are added up, demands and insiders
    made again from the plain form of the table, by code that neither protecting nor attacking uses.

    >>> from diskret import audit
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> found = verify(table, certificate_of(audit(table)), Promise(guard="public"))
    >>> print(found.report().splitlines()[-1], found.holds)
    the certificate holds True
    """
    asked = certificate.promise if promise is None else promise
    plain = plain_table(table)
    if hash_of(plain) != certificate.table:
        return Verification(promise=asked, demanded=promise is not None, same_table=False)
    try:
        found = checked(table, plain, certificate, asked)
    except Impossible as e:
        return Verification(promise=asked, demanded=promise is not None, impossible=str(e))
    assumed = asked.assumed(table)
    return Verification(promise=asked, demanded=promise is not None, assumed=assumed, **found)


def checked(table: Cells, plain: Plain, certificate: Certificate, promise: Promise) -> dict[str, Any]:
    """What moves, proofs and lines say about the plain form of a table: the fields of a `Verification`."""
    grounds = grounds_of(plain, promise)
    insiders = knowing(table, plain, promise, grounds)
    equations = equations_by_number(table)
    witness = Witness.of(grounds, insiders, steps_of(table, certificate.moves))
    bounds, broken = bounds_of(certificate.proofs, equations, grounds, insiders)
    exposed = {c: exposed_to(c, bounds.get(c, {}), grounds, insiders) for c in grounds.demands}
    unproven = [c for c in grounds.demands if not exposed[c] and not witness.kept(c, insiders)]
    system = table.equations()
    sums = dict(zip(equations, system.sum_cell.tolist(), strict=True))
    lines = dict(zip(equations, zip(system.axis.tolist(), system.sum_cell.tolist(), strict=True), strict=True))
    return {
        "checked": len(grounds.demands),
        "open": tuple(map(table.name_of, unproven)),
        "exposed": tuple((table.name_of(c), who) for c, people in exposed.items() for who in people),
        "broken_moves": witness.moves.broken,
        "broken_proofs": broken,
        "unions": tuple(table.line_name(*lines[n]) for n in (unions_in(plain, equations) if promise.unions else ())),
        "zeros": tuple(
            table.line_name(*lines[n])
            for n, cells in zeros_in(plain, equations, sums).items()
            if not any(witness.rises(c) for c in cells)
        ),
    }


def verify_tables(
    tables: Mapping[str, Table], certificates: Mapping[str, Certificate], promise: Promise | None = None
) -> dict[str, Verification]:
    """Check the certificates of several tables; every table needs one."""
    missing = [name for name in tables if name not in certificates]
    if missing:
        raise BadOption(f"no certificate for {listed(missing)}", hint=f"there are some for {listed(certificates)}.")
    return {name: verify(table, certificates[name], promise) for name, table in tables.items()}
