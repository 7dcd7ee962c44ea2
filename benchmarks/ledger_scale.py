"""`python -m benchmarks.ledger_scale [--tables 10000] [--whole]`: checking a table of 10,000 cells in a large ledger.

The ledger holds tables of 5,050 cells (100 regions, 49 branches), 50 for each of several values and years: one for each
of 49 kinds of firms, and one for all. Hidden are cuboids of eight cells over two regions, two branches and two kinds.
The new table shows regions by 98 kinds of owners. It is checked, checked again, entered, and then a second one by other
kinds of owners is checked beside all of them. With ``--whole`` every table is written in full; otherwise those of other
values and years, which are not loaded for the check, hold one row only, so that building takes minutes.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import diskret as dk
from diskret.ledger import About, Ledger, index
from diskret.ledger.check import LedgerCheck
from diskret.ledger.entry import Entry, cells_of
from diskret.ledger.lock import alone_in
from diskret.ledger.storage import say_last, write_entry

REGIONS, BRANCHES, KINDS, OWNERS, CUBOIDS = 100, 49, 49, 98, 40


def main() -> None:
    """Build a ledger, open it, check a table."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--tables", type=int, default=10_000)
    asked.add_argument("--whole", action="store_true")
    asked.add_argument("--keep", default="", help="a folder in which the ledger stays; a later run goes on with it")
    asked.add_argument("--kinds", type=int, default=KINDS, help="tables that hang together, but for one")
    given = asked.parse_args()
    place = Path(given.keep or tempfile.mkdtemp()) / "ledger"
    clock = _Clock()
    cells = _built(place, given.tables, given.whole, given.kinds)
    print(f"built: {cells} cells in {clock}", flush=True)
    size = sum(each.stat().st_size for each in place.rglob("*") if each.is_file())
    clock = _Clock()
    ledger = dk.open_ledger(place)
    print(
        f"opened: {ledger}, {sum(e.cells for e in ledger.entries)} cells, {size / 1e6:.0f} MB, in {clock}", flush=True
    )
    table, about = _new(99, "owner", given.kinds)
    _check(ledger, table, about, "first")
    _check(ledger, table, about, "again")
    fresh = dk.open_ledger(place)
    found = _check(fresh, table, about, "in a ledger opened anew")
    clock = _Clock()
    fresh.add(table, about, name="by owners", settled=found.audit)
    print(f"entered in {clock}", flush=True)
    other, about = _new(98, "form", given.kinds)
    _check(fresh, other, about, "second table, after the first was entered")
    clock = _Clock()
    print(f"verified: {len(fresh.verify())} flaws in {clock}")
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


class _Clock:
    """CPU seconds and seconds since it was made."""

    def __init__(self) -> None:
        self.cpu, self.wall = time.process_time(), time.monotonic()

    def __str__(self) -> str:
        return f"{time.process_time() - self.cpu:.1f} CPU s, {time.monotonic() - self.wall:.1f} s"


def _check(ledger: Ledger, table: dk.Table, about: About, which: str) -> LedgerCheck:
    clock = _Clock()
    found = ledger.check(table, about, name="by owners")
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"checked {which}: {table.size} cells beside {len(found.connected)} tables, {found.audit.table.size} cells "
        f"connected, {found.audit.checked} primary, {found.audit.without_solver} settled by moves, safe: {found.safe}, "
        f"{clock}, {memory:.2f} GB so far",
        flush=True,
    )
    return found


def _world(seed: int, kinds: int) -> tuple[np.ndarray, np.ndarray]:
    """Values of all finest cells, and which are hidden (1 primary, 2 secondary)."""
    draw = np.random.default_rng(seed)
    value = np.rint(draw.lognormal(6, 1, (REGIONS, BRANCHES, kinds))) + 1
    hidden = np.zeros(value.shape, dtype=np.uint8)
    for _ in range(CUBOIDS):
        corner = np.ix_(*(draw.choice(n, 2, replace=False) for n in value.shape))
        hidden[corner] = np.where(hidden[corner] > 0, hidden[corner], 2)
        first = tuple(each.reshape(-1)[0] for each in corner)
        hidden[first] = 1
    return value, hidden


def _tree(name: str, size: int) -> dk.Hierarchy:
    return dk.Hierarchy.flat([f"{name}{i}" for i in range(size)], total=f"all {name}")


def _summed(value: np.ndarray) -> np.ndarray:
    for axis in range(value.ndim):
        value = np.concatenate([value, value.sum(axis=axis, keepdims=True)], axis=axis)
    return value


def _built(place: Path, tables: int, whole: bool, kinds: int) -> int:
    """A ledger, entry by entry, without the checks that entering makes; gives the number of cells that were written."""
    ledger = dk.open_ledger(place, create=True)
    by = {"region": _tree("r", REGIONS), "branch": _tree("b", BRANCHES)}
    small = {"region": _tree("r", REGIONS)}
    total, number, previous = 0, len(ledger.entries), ledger.last_hash
    made = (-1, np.empty(0), np.empty(0))
    with alone_in(place):
        while number < tables:
            block, kind = divmod(number, kinds + 1)
            if made[0] != block:
                made = (block, *_world(block, kinds))
            _, value, hidden = made
            number += 1
            own = value.sum(axis=2) if kind == kinds else value[:, :, kind]
            status = np.zeros(own.shape, np.uint8) if kind == kinds else hidden[:, :, kind]
            full = whole or block == 0
            data = _summed(own) if full else _summed(own.sum(axis=1))
            marks = np.zeros(data.shape, np.uint8)
            if full:
                marks[:-1, :-1] = status
            table = dk.Table(by=by if full else small, response="turnover", value=data, status=marks)
            fixed = {} if kind == kinds else {"kind": f"k{kind}"}
            if not full:
                fixed |= {"branch": "b0"}
            about = About(
                population=f"firms {block // 10}", period=str(2015 + block % 10), fixed=fixed, apart="other",
                groupings={"kind": {"all k": [f"k{i}" for i in range(kinds)]}},
            )  # fmt: skip
            cells = cells_of(table, about)
            entry = Entry(
                number=number, name=f"table {number}", on="2026-01-01", about=about, response="turnover",
                by=table.by, cells=cells.size, hidden=int(cells.hidden.sum()), decimals=0, frequency=False,
                nonnegative=True, told=True, previous=previous,
            )  # fmt: skip
            written = write_entry(place, entry.head(), cells)
            say_last(place, written)
            previous = written.hash
            total += cells.size
    index.chain_of(place, keep=True)
    return total


def _new(seed: int, axis: str, kinds: int) -> tuple[dk.Table, About]:
    """Regions by kinds of owners: a table of 10,000 cells of the first value and year."""
    value, _ = _world(0, kinds)
    draw = np.random.default_rng(seed)
    share = draw.multinomial(1000, np.full(OWNERS, 1 / OWNERS), REGIONS) / 1000
    rows = value.sum(axis=(1, 2))
    inner = np.floor(rows[:, None] * share)
    inner[:, 0] += rows - inner.sum(axis=1)
    data = _summed(inner)
    table = dk.Table(
        by={"region": _tree("r", REGIONS), axis: _tree(axis[0], OWNERS)}, response="turnover", value=data,
        status=np.zeros(data.shape, np.uint8),
    )  # fmt: skip
    table = table.with_status("primary", [[f"r{i}", f"{axis[0]}{i}"] for i in range(0, 90, 3)])
    done = dk.suppress(table, method=dk.methods.Cuboids()).table
    return done, About(population="firms 0", period="2015")


if __name__ == "__main__":
    main()
