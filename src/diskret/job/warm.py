"""Compiling ahead, for images and for whoever does not want to wait: every kind of job is done once on made-up records.

Compiled kernels are code of this machine's processor. They are kept where `kept_in` says, and nothing else is.
"""

from __future__ import annotations

import tempfile
import time
import tomllib
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from diskret.job.prepare import compiling_said
from diskret.job.read import job_from
from diskret.job.run import run_job
from diskret.model.errors import BadOption
from diskret.tabulation.tabulate import Progress

RECORDS = 96
"""Made-up records: every industry, region and size, and holdings of several firms."""


@dataclass(frozen=True, kw_only=True)
class Warmed:
    """What was compiled."""

    kinds: tuple[str, ...]
    compiled: int
    """Kernels that were not there before."""
    seconds: float
    """Processor time it took."""
    place: Path | None
    """Where they are kept; nowhere if no folder can be written to."""

    def summary(self) -> dict[str, Any]:
        """The same as plain data."""
        place = None if self.place is None else str(self.place)
        return {"kinds": list(self.kinds), "compiled": self.compiled, "seconds": self.seconds, "place": place}

    def in_words(self) -> str:
        """The same for readers.

        >>> print(Warmed(kinds=("table",), compiled=21, seconds=4.25, place=None).in_words())
        compiled 21 functions in 4.2 CPU seconds for jobs of the kind table
        kept nowhere: no folder can be written to; name one by NUMBA_CACHE_DIR
        """
        kept = "kept nowhere: no folder can be written to; name one by NUMBA_CACHE_DIR"
        return (
            f"compiled {self.compiled} functions in {self.seconds:.1f} CPU seconds for jobs of the kind "
            f"{', '.join(self.kinds)}\n{kept if self.place is None else f'kept in {self.place}'}"
        )


def jobs() -> dict[str, list[dict[str, Any]]]:
    """The jobs of every kind.

    >>> sorted(jobs())
    ['anonymise', 'attack', 'compare', 'pool', 'records', 'risk', 'table']
    """
    return tomllib.loads(Path(__file__).with_name("warm.toml").read_text(encoding="utf-8"))


def warm(kinds: Sequence[str] = (), say: Progress | None = None) -> Warmed:
    """Compile what jobs of some kinds, or of all, need; what is compiled already is left as it is."""
    chosen = tuple(kinds) or tuple(jobs())
    if unknown := [kind for kind in chosen if kind not in jobs()]:
        kinds_known = ", ".join(jobs())
        raise BadOption(f"there is no kind of job {unknown[0]!r}", hint=f"give some of {kinds_known}.")
    start, count = time.process_time(), 0

    def counted() -> None:
        nonlocal count
        count += 1

    todo = [(kind, content) for kind in chosen for content in jobs()[kind]]
    with compiling_said(counted), tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "records.csv").write_text(_records(), encoding="utf-8", newline="")
        for done, (kind, content) in enumerate(todo):
            if say is not None:
                say(kind, done, len(todo))
            _do(content, folder)
        if "table" in chosen:
            _make_large_patterns_cheaper()
    return Warmed(kinds=chosen, compiled=count, seconds=time.process_time() - start, place=kept_in())


def first_steps() -> None:
    """Compile what most begin with: a table of records, protected by moves and attacked."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        (folder / "records.csv").write_text(_records(), encoding="utf-8", newline="")
        for content in jobs()["table"][:3]:
            _do(content, folder)


def kept_in() -> Path | None:
    """The folder below which compiled kernels are kept; None if there is none."""
    from diskret.moves import _cover_kernels

    stats = getattr(_cover_kernels.judge, "stats", None)  # numba may be switched off
    found = stats and stats.cache_path
    if not found:
        return None
    # beside every module there is one, elsewhere one folder holds those of all
    package = Path(__file__).parent.parent
    return package if Path(found).is_relative_to(package) else Path(found).parent


def _do(content: dict[str, Any], folder: Path) -> None:
    job = job_from({"data": {"microdata": "records.csv"}, **content}, "warm.toml", folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        run_job(job, folder, write=False)


def _make_large_patterns_cheaper() -> None:
    """Compile what only patterns of thousands of cells need, on one of a few: adding up moves, judging many at once."""
    from diskret.model.hierarchy import Hierarchy
    from diskret.model.promise import Promise
    from diskret.model.status import Status
    from diskret.model.table import Table
    from diskret.moves.cover import Cover
    from diskret.moves.demands import demands_of
    from diskret.moves.insiders import insiders_of
    from diskret.moves.pattern import Pattern, build
    from diskret.moves.router import Router
    from diskret.moves.sparing import spare_cells

    cells = {"r": [*"aaabbbccc"], "s": [*"xyz"] * 3, "v": [7, 9, 8, 6, 5, 9, 8, 7, 6], "n": [1, 2, 3, 1, 2, 3, 1, 2, 3]}
    by = {"r": Hierarchy.flat("abc"), "s": Hierarchy.flat("xyz")}
    table = Table.from_cells(cells, by=by, value="v", count="n").with_status(Status.PRIMARY, [["a", "x"]])
    promise, price = Promise(), table.value.reshape(-1)
    up, down = promise.knowledge.room(table)
    cover = Cover(demands_of(table, promise), insiders_of(table, promise), up, down, table.shape)
    hidden = table.hidden.reshape(-1)
    pattern = Pattern(cover, Router(table, price > 0, up, down), price, hidden, price)
    build(pattern, range(cover.ways.size), lambda done, of: None)
    spare_cells(pattern, np.inf, lambda: True)
    moves = pattern.cover.gathered()
    cover.take(moves, np.zeros(len(moves), dtype=np.int64), alone=True)
    cover.take(moves)
    cover.standing()


def _records() -> str:
    """Records that have whatever jobs ask for, the same at any time."""
    lines = ["unit,year,region,industry,size,owner,weight,turnover,employees,wages"]
    for i in range(RECORDS):
        region, industry, size = f"{'AB'[i % 2]}{i % 3}", f"{10 + i * i % 7}", "smlx"[i * 5 % 4]
        owner = f"h{i % 9}" if i % 4 == 0 else ""
        turnover, employees = 50 + i * i * 37 % 911, 1 + i * 13 % 47
        who, numbers = f"u{i // 2},{2024 + i % 2}", f"{1 + i % 3},{turnover}.5,{employees},{9 * employees}"
        lines.append(f"{who},{region},{industry},{size},{owner},{numbers}")
    return "\n".join(lines) + "\n"
