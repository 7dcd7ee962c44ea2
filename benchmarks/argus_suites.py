"""Batches of tau-ARGUS that others wrote, run as they are, and compared with what tau-ARGUS made of them.

    python -m benchmarks.argus_suites [FOLDER]

Every batch below the folder runs in a copy of its own folder. Where an intermediate file that it writes lies published
beside it, primaries are compared cell by cell, and both patterns are counted, priced and attacked by the same promise.
Other published files are compared field by field. Nothing is asserted.
"""

from __future__ import annotations

import csv
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import diskret as dk
from diskret.argus.run import ArgusResult
from diskret.io.arb import read_batch
from diskret.io.arb_commands import WriteTable
from diskret.io.cell_list import read_cell_list
from diskret.suppression.result import Suppression

SUITES = Path(__file__).parents[2] / "shared" / "data" / "tables" / "argus-suites"
INTERMEDIATE = 5
CLOSE = 1e-9


@dataclass(frozen=True, kw_only=True)
class Pattern:
    """What is hidden beyond the primaries, and whether an attack finds anything."""

    cells: int
    value: float
    safe: bool

    def __str__(self) -> str:
        return f"{self.cells:,} ({self.value:,.0f}), {'safe' if self.safe else 'EXPOSED'}"


def pattern_of(table: dk.Table, promise: dk.Promise) -> Pattern:
    """A pattern with the verdict of the attack on it."""
    hidden = table.status == dk.Status.SECONDARY
    return Pattern(cells=int(hidden.sum()), value=float(table.value[hidden].sum()), safe=dk.audit(table, promise).safe)


def as_published(ours: dk.Table, file: Path) -> dk.Table:
    """Our table with the statuses of a published intermediate file."""
    theirs = read_cell_list(file, next(each for each in file.parent.iterdir() if each.name == f"{file.stem}.rda"))
    status = np.zeros_like(ours.status)
    axes = [[ours.by[n].index(code.strip()) for code in theirs.by[n].codes] for n in theirs.names]
    status[np.ix_(*axes)] = theirs.status
    return replace(ours, status=status)


def fields(path: Path) -> list[list[str]]:
    """A file in fields; blanks behind a separator do not count, those inside quotes do."""
    text = path.read_bytes().decode("utf-8", "replace").splitlines()
    separator = ";" if text and text[0].count(";") >= text[0].count(",") else ","
    return list(csv.reader(text, delimiter=separator, skipinitialspace=True))


def same(one: str, other: str) -> bool:
    """Whether two fields say the same; a number may be written with more digits."""
    if one == other:
        return True
    try:
        return abs(float(one) - float(other)) <= CLOSE * max(1.0, abs(float(one)))
    except ValueError:
        return False


def compared(published: Path, written: Path) -> str:
    """How many fields of two files differ."""
    one, two = fields(published), fields(written)
    if [len(row) for row in one] != [len(row) for row in two]:
        return f"other shape: {len(one)} lines published, {len(two)} written"
    pairs = [(a, b) for rows in zip(one, two, strict=True) for a, b in zip(*rows, strict=True)]
    different = sum(not same(a, b) for a, b in pairs)
    return f"{different:,} of {len(pairs):,} fields differ"


def comparisons(batch: Path, done: ArgusResult, out: Path) -> Iterator[str]:
    """What is known of every file that lies published beside the batch."""
    tables = [
        (table, result.suppressions.get(name)) for result in done.results for name, table in result.tables.items()
    ]
    for asked in (each for each in read_batch(batch).commands if isinstance(each, WriteTable)):
        name = asked.file.replace("\\", "/").split("/")[-1]
        published = next((each for each in batch.parent.iterdir() if each.name.lower() == name.lower()), None)
        if published is None or not (out / name).is_file():
            continue
        yield f"  {name}: {compared(published, out / name)}"
        if asked.kind == INTERMEDIATE and asked.table <= len(tables):
            yield from patterns(*tables[asked.table - 1], published)


def patterns(ours: dk.Table, by: Suppression | None, published: Path) -> Iterator[str]:
    """Primaries and patterns, ours and those of a published file."""
    theirs = as_published(ours, published)
    wrong = int(((ours.status == dk.Status.PRIMARY) != (theirs.status == dk.Status.PRIMARY)).sum())
    yield f"    primaries {int((ours.status == dk.Status.PRIMARY).sum()):,}, of which {wrong} differ"
    if by is not None:
        yield f"    secondaries ours   {pattern_of(ours, by.promise)}"
        yield f"    secondaries theirs {pattern_of(theirs, by.promise)}"


def run(batch: Path) -> Iterator[str]:
    """One batch, in a copy of its folder."""
    with tempfile.TemporaryDirectory() as folder:
        copy, out = Path(folder) / batch.parent.name, Path(folder) / "out"
        shutil.copytree(batch.parent, copy)
        start = time.perf_counter()
        try:
            done = dk.run_argus(copy / batch.name, out=out)
        except dk.DiskretError as e:
            yield f"{batch.name}: refused\n{e}"
            return
        yield f"{batch.name}: {time.perf_counter() - start:.1f} s, {len(done.files)} files, {len(done.notes)} notes"
        for result in done.results:
            for name, table in result.tables.items():
                counts = {s.text: int((table.status == s).sum()) for s in dk.Status if (table.status == s).any()}
                yield f"  {name}: {counts}, exposed: {result.exposed}"
        yield from comparisons(batch, done, out)


def main() -> None:
    """Every batch below a folder."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else SUITES
    batches = sorted(each for each in folder.rglob("*") if each.suffix.lower() == ".arb")
    for batch in batches:
        for line in run(batch):
            print(line)
    print(f"{len(batches)} batches below {folder}")


if __name__ == "__main__":
    main()
