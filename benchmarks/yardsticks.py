"""Tables with a known optimum, or nearly, and what every method makes of them.

Made tables are protected here. Those of the shared folder (mid, h3 and the classical instances of csp, which belong to
others and are read where they lie) are protected in a process of their own, which is ended when a run, or the attack on
its pattern, takes more CPU seconds than it may: `python -m benchmarks.yardsticks FOLDER NAME ASKED` prints one line of
JSON per finding.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from benchmarks import grids, lone, systems
from diskret.suppression.methods import AnyMethod, Cuboids, Moves, Optimal
from diskret.suppression.prices import Cost

KINDS = ("flat", "cubes", "trees")
GUARDS = ("public", "single")
COSTS = ("value", "cells")
METHODS = ("cuboids", "quick", "default", "economy", "optimal")
SMALL = ("targus", "table7", "table8", "table1", "osorio")
LARGE = ("hie1372d", "hier133a", "jjtabel3", "table3", "cbs", "dale")
"""The classical instances: small enough for a proof, or nearly, and the others that are tables. The bounds of their
files are left aside, as in the optima that are printed: an attacker knows that no value is negative."""
LITTLE = {"costs": ("value",), "methods": ("default", "optimal"), "limit": 120, "seconds": 20.0}
"""What is asked of the larger ones: a pattern and a bound."""
SAMPLE, SECONDS = 100, 20.0
"""Persons and demands of the independent attack on h3, and its CPU seconds; everywhere else all of them attack."""


@dataclass(frozen=True, kw_only=True)
class Yardstick:
    """One table to be protected, how its patterns are judged, and what is worth asking."""

    name: str
    kind: str
    fingerprint: str
    table: Callable[[], dk.Table]
    exposed: Callable[[Any, bool], int]
    """Primary cells that are exposed if these cells are hidden, to single contributors too if that is said."""
    given: bool = False
    """Whether cells have prices of their own, which take the place of values."""
    guards: tuple[str, ...] = GUARDS
    costs: tuple[str, ...] = COSTS
    methods: tuple[str, ...] = METHODS
    limit: int = 0
    """CPU seconds of a run, in a process of its own; 0: it runs here, to its end."""
    seconds: float = 0.0
    """Seconds for a bound by Optimal, if that is more than those that are asked for."""


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One run: against whom, at which cost, by which method, and seconds for a proof."""

    guard: str
    cost: str
    method: str
    seconds: float


@dataclass(frozen=True, kw_only=True)
class Made:
    """What a run made of a table: its price, secondaries, CPU seconds, and the bound that it says itself."""

    price: float
    secondaries: int
    cpu: float
    bound: float | None
    unprotected: int
    exposed: int | None = None
    """Found by the independent attack; None: that did not end in time."""


# --- tables -----------------------------------------------------------------------------------------------------------


def made(number: int, kinds: Sequence[str], first: int) -> Iterator[Yardstick]:
    """The tables of seeded firms."""
    for kind in KINDS:
        for grid in grids.seeded(kind, number if kind in kinds else 0, first):
            yield of_grid(grid)


def shared(kinds: Sequence[str], folder: Path) -> Iterator[Yardstick]:
    """The tables of the shared folder."""
    for name in ("mid", "h3", *SMALL, *LARGE):
        if name in kinds or ("csp" in kinds and name in SMALL + LARGE):
            found = read(name, folder)
            if found is not None:
                yield found


def read(name: str, folder: Path) -> Yardstick | None:
    """One table of the shared folder, if it is there."""
    if name in ("mid", "h3"):
        grid = grids.read(name, folder)
        if grid is None or name == "mid":
            return None if grid is None else replace(of_grid(grid), limit=60)
        asked = {"guards": ("single",), "costs": ("value",), "methods": METHODS[:-1]}
        return replace(of_grid(grid, SAMPLE), limit=240, **asked)  # type: ignore[arg-type]
    if not (folder / "csp" / f"{name}.jj.gz").exists():
        return None
    few: dict[str, Any] = {"limit": 60} if name in SMALL else LITTLE
    return Yardstick(
        name=name, kind="csp", fingerprint=f"csp {name}", table=partial(_classical, name, folder / "csp"),
        exposed=partial(_classical_exposed, name, folder / "csp"), given=True, guards=("public",), **few,
    )  # fmt: skip


def of_grid(grid: grids.Grid, most: int | None = None) -> Yardstick:
    """A table of firms; at ``most`` so many persons attack it."""
    return Yardstick(
        name=grid.name, kind=grid.kind, fingerprint=grid.fingerprint, table=lambda: grid.table,
        exposed=lambda hidden, singles: len(
            lone.attacked(
                grid, grid.own(hidden), singles=singles, most=most, seconds=np.inf if most is None else SECONDS
            ).exposed
        ),
    )  # fmt: skip


def _classical(name: str, folder: Path) -> dk.Table:
    found = systems.table(name, folder)
    assert found is not None
    return found


def _classical_exposed(name: str, folder: Path, hidden: Any, singles: bool) -> int:
    assert not singles
    as_there = systems.as_in_file(name, _classical(name, folder), hidden, folder)
    return systems.exposed(folder / f"{name}.jj.gz", as_there, bounds=False)


# --- runs -------------------------------------------------------------------------------------------------------------


def method_of(asked: Asked, given: bool) -> AnyMethod:
    """A method with nothing but the objective that is asked for."""
    by = Cost(by="unity", weighted=False) if asked.cost == "cells" else Cost(by="given" if given else "value")
    options: dict[str, Any] = {"cost": by, "barriers": "off"}
    if asked.method == "cuboids":
        return Cuboids(**options)
    if asked.method == "optimal":
        return Optimal(**options, seconds=asked.seconds)
    return Moves(**options, effort=asked.method)  # type: ignore[arg-type]


def run(stick: Yardstick, asked: Asked, begin: Callable[[], object] = lambda: None) -> Iterator[Made]:
    """One table protected and timed, then attacked; ``begin`` is called before each of the two."""
    begin()
    table = stick.table()
    method = method_of(asked, stick.given)
    promise = dk.Promise(guard=asked.guard, knowledge=dk.Knowledge.positive())  # type: ignore[arg-type]
    start = time.process_time()
    done = dk.suppress(table, promise, method)
    cpu = time.process_time() - start
    new = done.secondary.reshape(-1)
    found = Made(
        price=float(method.price.of(table)[new].sum()), secondaries=int(new.sum()), cpu=cpu, bound=done.bound,
        unprotected=len(done.unprotected),
    )  # fmt: skip
    yield found
    begin()
    yield replace(found, exposed=stick.exposed(done.table.hidden, asked.guard == "single"))


def runs(stick: Yardstick, asked: Sequence[Asked], folder: Path) -> list[Made | None]:
    """What came of every run; None for those that did not end in time or failed."""
    if not stick.limit:
        return [list(run(stick, each))[-1] for each in asked]
    found: list[Made | None] = []
    while len(found) < len(asked):
        found += _elsewhere(stick, asked[len(found) :], folder)
    return found


def _elsewhere(stick: Yardstick, asked: Sequence[Asked], folder: Path) -> list[Made | None]:
    """As many runs as a process of its own gets through, the one it was ended in included."""
    words = [str(folder), stick.name, str(stick.limit), json.dumps([asdict(each) for each in asked])]
    command = [sys.executable, "-m", "benchmarks.yardsticks", *words]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[1], check=False)
    if done.returncode not in (0, -signal.SIGPROF):
        print(f"{stick.name}: {(done.stderr.strip().splitlines() or ['no message'])[-1]}", file=sys.stderr)
    found: list[Made | None] = []
    for line in done.stdout.splitlines():
        made = Made(**json.loads(line))
        last = found[-1] if found else None
        # the second line of a run says what the attack found
        if last is not None and last.exposed is None and replace(made, exposed=None) == last:
            found[-1] = made
        else:
            found.append(made)
    ended_protecting = not found or (found[-1] is not None and found[-1].exposed is not None)
    return [*found, None] if done.returncode and ended_protecting else found


@cache
def warm() -> None:
    """Everything compiled."""
    small = of_grid(grids.filled("small", "flat", [(3, 2), (4,)], 60, skew=1.3, seed=1))
    for guard in GUARDS:
        for name in METHODS:
            list(run(small, Asked(guard=guard, cost="value", method=name, seconds=5.0)))
    dk.audit(dk.suppress(small.table(), dk.Promise(), Cuboids()).table)


def main(words: Sequence[str]) -> None:
    """One table of the shared folder, run by run."""
    warnings.simplefilter("ignore")
    stick = read(words[1], Path(words[0]))
    assert stick is not None
    stick.table()
    warm()
    for each in json.loads(words[3]):
        # the signal ends the process, whatever it is doing
        for found in run(stick, Asked(**each), partial(signal.setitimer, signal.ITIMER_PROF, float(words[2]))):
            print(json.dumps(asdict(found)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
