"""Secondary suppression of the shared tables: ours, GHMITER's stored patterns, and programs that still run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import diskret as dk
from benchmarks import peers, printed
from benchmarks.case import Case
from benchmarks.given import MISSING, given, here
from benchmarks.pattern import judged

SHAPES = {"small": "13 x 9", "mid": "25 x 16 x 7", "h3": "131 x 29 x 11"}
Q = 0.2
"""2p/100 for the p% rule with p = 10."""
SETTINGS = {
    "both": ("interval, singles", Q, True, "ghmiter"),
    "interval": ("interval", Q, False, "ghmiter_nosing"),
    "singles": ("singles", 0.0, True, "ghmiter_noint"),
    "neither": ("neither", 0.0, False, "ghmiter_plain"),
}
# as written in the README beside the tables; for small only a range for all settings is known
GHMITER_CPU = {
    "small": ("0.03-0.05",) * 4,
    "mid": ("0.21", "0.28", "0.33", "0.27"),
    "h3": ("5.8", "4.9", "5.5", "3.6"),
}
PROCEDURES: dict[str, tuple[str, dict[str, Any]]] = {
    "printed": ("diskret, as printed", {"thin": False}),
    "thinned": ("diskret, thinned", {"thin": True}),
    "audited": ("diskret, audited", {"thin": True, "guarantee": "audit"}),
}


def cases() -> Iterator[Case]:
    """Shared tables in four settings and by protection levels, then the shapes of the source."""
    for table, shape in SHAPES.items():
        for setting, stored in zip(SETTINGS, GHMITER_CPU[table], strict=True):
            words, q, singles, column = SETTINGS[setting]
            what = f"suppress {table} ({shape}): {words}"
            wanted = dk.Promise(min_relative_range=q, levels=False)
            for procedure, (program, options) in PROCEDURES.items():
                name = f"suppress-{table}-{setting}-{procedure}"
                yield _ours(name, what, program, table, wanted, singles, options)
            judge = partial(_stored, table, column, stored)
            yield Case(f"suppress-{table}-{setting}-ghmiter", what, "GHMITER (stored)", _nothing, judge=judge)
        what = f"suppress {table} ({shape}): p% levels"
        for singles, (procedure, (program, options)) in product((False, True), PROCEDURES.items()):
            name = f"suppress-{table}-levels-{procedure}{'-singles' if singles else ''}"
            said = f"{program}, singles" if singles else program
            yield _ours(name, what, said, table, dk.Promise(), singles, options)
        yield from peers.cases(table, what)
    yield from printed.cases()


def _ours(
    name: str, what: str, program: str, table: str, protection: dk.Promise, singles: bool, options: Mapping[str, Any]
) -> Case:
    return Case(
        name,
        what,
        program,
        partial(run, table, protection, singles, **options),
        partial(_load, table),
        printed.warm,
        partial(_judge, table),
        repeats=1 if table == "h3" and "guarantee" in options else 5,
    )


def _nothing() -> None:
    """Stored: nothing runs."""


def _load(table: str) -> None:
    if here():
        given(table)


def run(table: str, protection: dk.Promise, singles: bool, **options: Any) -> Any:
    """One table protected."""
    if not here():
        return None
    known = dk.Knowledge.positive()
    return dk.suppress(
        given(table).table, protection=protection, knowledge=known, single_contributors=singles, **options
    )


def _judge(table: str, result: Any) -> str:
    if result is None:
        return MISSING
    failed = f", {len(result.unprotected)} unprotected" if result.unprotected else ""
    return judged(table, result.secondary) + failed


def _stored(table: str, column: str, cpu: str, _: object) -> Mapping[str, str]:
    quality = judged(table, given(table).pattern(column)) if here() else MISSING
    return {"CPU s": f"{cpu} (stored)", "wall s": "", "peak GB": "", "compile s": "", "quality": quality}
