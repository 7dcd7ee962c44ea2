"""A certificate: what was promised about which table, with the moves that prove it, for anybody in the office to check.

It names the table by a fingerprint, so that a changed value, status or hierarchy is noticed, and holds the moves. Moves
tell something about hidden values: a certificate is as confidential as the table.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from diskret.auditing.report import AuditReport
from diskret.auditing.unions import unions_breaking
from diskret.io.files import whole_file
from diskret.model.arrays import Ints
from diskret.model.cells import Cells
from diskret.model.equations import equations_of
from diskret.model.errors import BadOption, UnreadableFile, listed
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.moves.cover import Cover
from diskret.moves.demands import demands_of
from diskret.moves.insiders import insiders_of
from diskret.moves.move import Move, MoveSet
from diskret.moves.recheck import hold

FORMAT = "diskret certificate 2"
PEOPLE = ("count", "largest", "absolute", "public_count", "public_value", "owner")
"""What is known about those behind the cells: rooms and insiders come from it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Certificate:
    """What was promised, and the moves that prove it."""

    table: str
    """Fingerprint of hierarchies, values, statuses and who is behind the cells."""
    promise: Promise
    exposed: tuple[str, ...]
    """Cells that were found exposed or undecided, and lines of zeros: no promise is made about them."""
    moves: MoveSet
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Verification:
    """What a certificate proves about a table."""

    promise: Promise
    """What the certificate says was promised."""
    same_table: bool = True
    enough: bool = True
    """Whether that covers the promise that was asked for."""
    checked: int
    """Primary cells about which something was promised."""
    proven: int = 0
    """Those that the moves alone prove, re-checked without a solver."""
    open: tuple[str, ...] = ()
    """Those the moves do not prove: an audit has to decide."""
    broken_moves: int = 0
    unions: tuple[str, ...] = ()
    """Lines whose hidden cells together break a primary rule, although the promise says that none do."""
    exposed: tuple[str, ...] = ()
    assumed: str = ""
    """What is taken to be known about those behind the cells, in words."""

    @property
    def holds(self) -> bool:
        """Whether every promise is proven and nothing is exposed."""
        sound = self.same_table and self.enough and not self.broken_moves
        return sound and not (self.open or self.unions or self.exposed)

    def summary(self) -> dict[str, Any]:
        """Counts only."""
        return {
            "holds": self.holds, "same table": self.same_table, "promise is enough": self.enough,
            "checked": self.checked, "proven": self.proven, "open": len(self.open),
            "broken moves": self.broken_moves, "lines breaking the rule": len(self.unions),
            "exposed": len(self.exposed),
        }  # fmt: skip

    def report(self) -> str:
        """In words; no values."""
        if not self.same_table:
            return "the certificate belongs to another table, or the table was changed"
        lines = ["promised: " + " ".join(f"{self.promise.describe()} {self.assumed}".split())]
        if not self.enough:
            lines.append("that is less than the promise asked for")
        lines.append(f"{self.proven} of {self.checked} primary cells are proven by moves that were checked again")
        if self.broken_moves:
            lines.append(f"{self.broken_moves} moves do not hold: the certificate was damaged or tampered with")
        lines += [f"not proven by moves: {name} (audit the table)" for name in self.open]
        lines += [f"the hidden cells of {name} together break a primary rule" for name in self.unions]
        lines += [f"exposed already when the certificate was made: {name}" for name in self.exposed]
        if self.holds:
            lines.append("the certificate holds")
        return "\n".join(lines)


def certificate_of(report: AuditReport) -> Certificate:
    """The certificate of an audit."""
    packages = {name: version(name) for name in ("diskret", "numpy", "highspy")}
    # lines of zeros need a solver: what the audit found is kept, and no certificate holds over it
    zeros = [f"the hidden cells of {line}, all zero" for line in report.zeros]
    names = dict.fromkeys([*(e.cell for e in report.exposed), *report.undecided, *zeros])
    return Certificate(
        table=fingerprint(report.table), promise=report.promise, exposed=tuple(names), moves=report.moves,
        intervals=report.intervals, versions=packages | {"python": platform.python_version()},
    )  # fmt: skip


def verify(table: Table, certificate: Certificate, promise: Promise | None = None) -> Verification:
    """Check a certificate against a table, without any solver: equations are added up, demands made again.

    ``promise`` is what the certificate must prove at least; left out, whatever it says it does.

    >>> from diskret import audit
    >>> cells = {"s": ["a", "b", "c"], "x": [1, 2, 3], "st": ["primary", "secondary", "open"]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", status="st")
    >>> found = verify(table, certificate_of(audit(table)), Promise(guard="public"))
    >>> print(found.report().splitlines()[-1], found.holds)
    the certificate holds True
    """
    primary = np.flatnonzero(table.status.reshape(-1) == Status.PRIMARY)
    names = [n for n in table.name_cells(table.status == Status.PRIMARY, primary.size) if n not in certificate.exposed]
    if fingerprint(table) != certificate.table:
        return Verification(
            promise=certificate.promise, same_table=False, checked=len(names), exposed=certificate.exposed
        )
    good, _ = hold(table, certificate.moves)
    open_cells = _open_cells(table, certificate.promise, certificate.moves, np.flatnonzero(good))
    unproven = tuple(n for n in map(table.name_of, open_cells) if n not in certificate.exposed)
    return Verification(
        promise=certificate.promise, enough=promise is None or certificate.promise.covers(promise),
        checked=len(names), proven=len(names) - len(unproven), open=unproven, broken_moves=int((~good).sum()),
        unions=unions_breaking(table, equations_of(table)) if certificate.promise.unions else (),
        exposed=certificate.exposed, assumed=certificate.promise.assumed(table),
    )  # fmt: skip


def _open_cells(table: Cells, promise: Promise, moves: MoveSet, good: Ints) -> list[int]:
    """Primary cells with a demand that the good ones among the moves do not settle against everybody."""
    up, down = promise.knowledge.room(table)
    cover = Cover(demands_of(table, promise), insiders_of(table, promise), up, down, table.shape)
    for number in good.tolist():
        cover.add(cover.judge(moves[number].cells, moves[number].coefficients))
    return sorted({int(cover.ways.cell[d]) for d in range(cover.ways.size) if not cover.state(d).entirely})


def fingerprint(table: Table) -> str:
    """A hash of everything an attacker's equations are made of.

    >>> one = Table.from_cells({"s": ["a"], "x": [1]}, by={"s": None}, value="x")
    >>> other = Table.from_cells({"s": ["a"], "x": [2]}, by={"s": None}, value="x")
    >>> fingerprint(one) == fingerprint(other)
    False
    """
    content = hashlib.sha256()
    for part in table.structure():
        content.update(part)
    for array in (table.value, table.status, table.below, table.above, table.lower, table.upper):
        content.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    for people in (table.respondents, table.holdings):
        for name in PEOPLE:
            array = None if people is None else getattr(people, name)
            content.update(b"none" if array is None else np.ascontiguousarray(array).tobytes())
    return content.hexdigest()


def verify_tables(
    tables: Mapping[str, Table], certificates: Mapping[str, Certificate], promise: Promise | None = None
) -> dict[str, Verification]:
    """Check the certificates of several tables; every table needs one."""
    missing = [name for name in tables if name not in certificates]
    if missing:
        raise BadOption(f"no certificate for {listed(missing)}", hint=f"there are some for {listed(certificates)}.")
    return {name: verify(table, certificates[name], promise) for name, table in tables.items()}


def write_certificate(certificates: Mapping[str, Certificate], path: str | PathLike[str]) -> None:
    """Write the certificates of one or more tables as JSON, whole or not at all. Confidential."""
    content = {
        "format": FORMAT,
        "note": "confidential: moves tell something about hidden values",
        "tables": {name: _plain(each) for name, each in certificates.items()},
    }
    with whole_file(Path(path)) as part:
        part.write_text(json.dumps(content), encoding="utf-8")


def read_certificate(path: str | PathLike[str]) -> dict[str, Certificate]:
    """Read certificates by the names of their tables; refuses anything else."""
    try:
        content: dict[str, Any] = json.loads(Path(path).read_text(encoding="utf-8"))
        if content["format"] != FORMAT:
            raise ValueError
        return {name: _certificate(each) for name, each in content["tables"].items()}
    except OSError as e:
        raise UnreadableFile("the certificate cannot be read", where=str(path), hint=str(e.strerror or e)) from None
    except (ValueError, KeyError, TypeError, AttributeError, BadOption):
        raise UnreadableFile(
            "this is not a certificate of diskret", where=str(path), hint="write one with diskret audit --certificate."
        ) from None


def _plain(certificate: Certificate) -> dict[str, Any]:
    moves = [[move.cells.tolist(), move.coefficients.tolist()] for move in certificate.moves]
    return {name: getattr(certificate, name) for name in certificate.__dataclass_fields__} | {
        "promise": certificate.promise.to_dict(),
        "moves": moves,
    }


def _certificate(content: dict[str, Any]) -> Certificate:
    plain = dict(content)
    plain["promise"] = Promise.from_dict(plain["promise"])
    plain["exposed"] = tuple(plain["exposed"])
    plain["intervals"] = {name: (float(a), float(b)) for name, (a, b) in plain["intervals"].items()}
    moves = [
        Move(cells=np.array(cells, dtype=np.int64), coefficients=np.array(moved, dtype=np.float64))
        for cells, moved in plain["moves"]
    ]
    plain["moves"] = MoveSet.of(moves)
    return Certificate(**plain)
