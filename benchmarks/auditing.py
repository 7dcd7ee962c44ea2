"""The attack on patterns of ours and others, repair, and protection over the whole table with an exact guarantee."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np

import diskret as dk
from benchmarks import printed
from benchmarks.case import Case
from benchmarks.given import MISSING, given, here
from benchmarks.shapes import Shape, extract, turnover_tax

PATTERNS = {
    "mid": ("ghmiter", "ghmiter_nosing", "ghmiter_plain", "pytauargus_mod", "gconfid", "gausssuppression"),
    "h3": ("ghmiter", "ghmiter_nosing", "ghmiter_plain"),
}
INSIDERS = {"none": "outsiders", "single": "outsiders and single contributors"}


def cases() -> Iterator[Case]:
    """Audits of stored patterns and of large tables, repair, protection by moves."""
    for table, patterns in PATTERNS.items():
        for pattern in patterns:
            for kind, words in INSIDERS.items():
                yield Case(
                    f"audit-{table}-{pattern}-{kind}", f"audit {table}, pattern {pattern}: {words}", "diskret",
                    partial(_audit_stored, table, pattern, kind), partial(_load, table), _warm, _attacked,
                )  # fmt: skip
    for name in LARGE:
        for kind, words in INSIDERS.items():
            yield Case(
                f"audit-{name}-{kind}", f"audit {name}, cuboid pattern: {words}", "diskret",
                partial(_audit_large, name, kind), partial(_pattern, name), _warm, _attacked,
            )  # fmt: skip
        effort = "quick" if name == "turnover-tax" else "default"
        for kind, words in INSIDERS.items():
            yield Case(
                f"protect-{name}-{kind}", f"protect {name}: {words}", f"diskret, {effort}",
                partial(_protect_large, name, kind, effort), partial(_table, name), _warm, _protected,
            )  # fmt: skip
    for table in PATTERNS:
        for kind, words in INSIDERS.items():
            for effort in ("quick", "default", "economy"):
                yield Case(
                    f"protect-{table}-{kind}-{effort}", f"protect {table}, p% levels: {words}", f"diskret, {effort}",
                    partial(_protect, table, kind, effort), partial(_load, table), _warm, _protected,
                    repeats=3 if table == "mid" and effort != "economy" else 1,
                )  # fmt: skip
    for table, pattern in (("mid", "pytauargus_mod"), ("mid", "ghmiter_plain"), ("h3", "ghmiter_plain")):
        yield Case(
            f"repair-{table}-{pattern}", f"repair {table}, pattern {pattern}: outsiders", "diskret",
            partial(_repair, table, pattern), partial(_load, table), _warm, _protected,
        )  # fmt: skip


LARGE: dict[str, Any] = {
    "extract3": partial(extract, 3),
    "extract4": partial(extract, 4),
    "turnover-tax": turnover_tax,
}


def _warm() -> None:
    """Compile what every audit uses."""
    printed.warm()
    cells = {"r": ["a", "a", "b", "b"], "s": ["x", "y", "x", "y"], "v": [5, 6, 7, 8], "n": [1, 4, 5, 6]}
    table = dk.Table.from_cells(cells, by={"r": None, "s": None}, value="v", count="n")
    hidden = table.with_status(dk.Status.PRIMARY, [["a", "x"]]).with_status(dk.Status.SECONDARY, [["a", "y"]])
    dk.audit(hidden)
    _quietly(hidden)


def _load(table: str) -> None:
    if here():
        given(table)


@cache
def _table(name: str) -> dk.Table:
    shape: Shape = LARGE[name]()
    return shape.table()


@cache
def _pattern(name: str) -> dk.Table:
    """A large table with the pattern of the cuboid method."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        return dk.suppress(_table(name), dk.Promise(levels=False), dk.methods.Cuboids()).table


def _stored(table: str, pattern: str) -> dk.Table:
    one = given(table)
    status = one.table.status.copy()
    status[one.pattern(pattern)] = dk.Status.SECONDARY
    return replace(one.table, status=status)


def _guarding(kind: str) -> dk.Promise:
    return dk.Promise(guard="public" if kind == "none" else "single")


def _audit_stored(table: str, pattern: str, kind: str) -> Any:
    return dk.audit(_stored(table, pattern), _guarding(kind)) if here() else None


def _audit_large(name: str, kind: str) -> Any:
    return dk.audit(_pattern(name), _guarding(kind))


def _attacked(report: Any) -> str:
    if report is None:
        return MISSING
    s = report.summary()
    share = 100 * s["settled without solver"] / max(s["checked"], 1)
    return (
        f"{s['checked']:,} primary, {s['exposed']:,} exposed ({s['exactly']:,} exactly, {s['to insiders only']:,} to "
        f"insiders only), {s['undecided']} undecided; {share:.1f} % by moves, {s['linear programmes']:,} programmes"
    )


def _quietly(table: dk.Table, **options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        return dk.suppress(table, guarantee="audit", **options)


def _protect(table: str, kind: str, effort: str) -> Any:
    return _quietly(given(table).table, single_contributors=kind == "single", effort=effort) if here() else None


def _protect_large(name: str, kind: str, effort: str) -> Any:
    return _quietly(_table(name), single_contributors=kind == "single", effort=effort)


def _repair(table: str, pattern: str) -> Any:
    return _quietly(_stored(table, pattern), single_contributors=False) if here() else None


def _protected(result: Any) -> str:
    if result is None:
        return MISSING
    value = np.abs(result.table.value)
    secondary = result.table.status == dk.Status.SECONDARY
    share = 100 * float(value[secondary].sum() / value.sum())
    fresh = f" ({int(result.secondary.sum()):,} new)" if int(result.secondary.sum()) != int(secondary.sum()) else ""
    return (
        f"{int(secondary.sum()):,} secondary{fresh}, value {value[secondary].sum():,.0f} ({share:.2f} %), "
        f"{len(result.audit.exposed)} exposed, {len(result.audit.undecided)} undecided"
    )
