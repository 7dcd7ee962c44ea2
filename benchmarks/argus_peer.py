"""Batches run by `diskret argus` and by the engine of tau-ARGUS (pytauargus): primaries, levels, files and patterns.

    python -m benchmarks.argus_peer [FIRST [HOW MANY]] [--show]

Every batch runs twice, in folders of their own. Compared are the files written before the table is protected, field by
field, with statuses and protection levels in them; and the patterns: theirs is attacked by our promise, and where it
withstands, ours must not cost more by the cost the batch asks for. TAUARGUS names the program of the peer where it is
not on the path.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

import diskret as dk
from benchmarks.argus_batches import Case, case
from diskret.argus.run import ArgusResult
from diskret.model.arrays import Floats
from diskret.suppression.result import Suppression

PEER = os.environ.get("TAUARGUS", "tauargus")
CLOSE = 1e-6


@dataclass(kw_only=True)
class Outcome:
    """What a comparison found."""

    case: Case
    refused: str = ""
    theirs_refused: str = ""
    fields: int = 0
    differences: list[str] = field(default_factory=list)
    pattern: str = ""
    cost: tuple[float, float] = (0.0, 0.0)


def there() -> bool:
    """Whether the peer is installed."""
    return shutil.which(PEER) is not None


def peer(folder: Path) -> str:
    """Run the batch of a folder by the peer; gives its complaint."""
    try:
        done = subprocess.run(
            [PEER, "run", "job.arb"], cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        return "takes longer than two minutes"
    return "" if done.returncode == 0 else f"{done.returncode}: {(done.stdout + done.stderr).strip()[-200:]}"


def compare(one: Case) -> Outcome:
    """One batch, by both."""
    found = Outcome(case=one)
    with tempfile.TemporaryDirectory() as place:
        ours, theirs = Path(place) / "ours", Path(place) / "theirs"
        for folder in (ours, theirs):
            folder.mkdir()
            one.write(folder)
        found.theirs_refused = peer(theirs)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                done = dk.run_argus(ours / "job.arb")
        except dk.DiskretError as e:
            found.refused = str(e)
            return found
        for name in one.kinds if (theirs / "before.csv").is_file() else ():
            found.fields += _files(name, ours / name, theirs / name, found.differences)
        if not found.theirs_refused:
            found.pattern, found.cost = _patterns(done, theirs / "after.csv", one)
    return found


# --- files -----------------------------------------------------------------------------------------------------------


def rows(path: Path) -> list[list[str]]:
    """A file in fields as they stand there, quotes and blanks included."""
    lines = path.read_text(encoding="utf-8").splitlines()
    separator = ";" if lines and lines[0].count(";") > lines[0].count(",") else ","
    return list(csv.reader(lines, delimiter=separator, quoting=csv.QUOTE_NONE))


def same(one: str, other: str) -> bool:
    """Whether two fields say the same; a number may have more digits."""
    if one == other:
        return True
    try:
        places = len(other.partition(".")[2])
        return abs(float(one) - float(other)) <= 0.51 * 10.0**-places
    except ValueError:
        return False


def _files(name: str, ours: Path, theirs: Path, differences: list[str]) -> int:
    """Note how two files differ; gives the number of fields."""
    if not ours.is_file() or not theirs.is_file():
        differences.append(f"{name}: {'ours' if theirs.is_file() else 'theirs'} is not there")
        return 0
    one, two = rows(ours), rows(theirs)
    if len(one) != len(two):
        differences.append(f"{name}: {len(one)} lines, theirs {len(two)}")
    for number, (a, b) in enumerate(zip(one, two, strict=False), start=1):
        if len(a) != len(b) or not all(map(same, a, b)):
            differences.append(f"{name}:{number}: {a} theirs {b}")
    return sum(map(len, two))


# --- patterns --------------------------------------------------------------------------------------------------------


def _patterns(done: ArgusResult, file: Path, one: Case) -> tuple[str, tuple[float, float]]:
    """What becomes of the two patterns, and what they cost."""
    by = next(s for result in done.results for s in result.suppressions.values())
    theirs, price, other = _as_theirs(by, file)
    if other:
        return f"{other} other primaries", (0.0, 0.0)
    ours_cost, cost = (_cost(table, price) for table in (by.table, theirs))
    verdict = dk.audit(theirs, by.promise).safe
    if by.unprotected or not (by.audit and by.audit.safe):
        return "OURS EXPOSED" if verdict else "both exposed", (ours_cost, cost)
    if not verdict:
        return "theirs exposed", (ours_cost, cost)
    worse = ours_cost > cost * (1 + CLOSE) + CLOSE
    return "OURS DEARER" if worse else "cheaper" if ours_cost < cost * (1 - CLOSE) - CLOSE else "equal", (
        ours_cost,
        cost,
    )


def _cost(table: dk.Table, price: Floats) -> float:
    return float(price[table.status == dk.Status.SECONDARY].sum())


def _as_theirs(by: Suppression, file: Path) -> tuple[dk.Table, Floats, int]:
    """Our table with their secondaries, what they say its cells cost, and how many primaries differ."""
    table = by.before
    status = table.status.copy()
    primary, price = np.zeros(table.shape, np.bool_), np.zeros(table.shape)
    for row in rows(file):
        codes = [code.strip('"').strip() for code in row[: len(table.by)]]
        at = tuple(h.index(c) for h, c in zip(table.by.values(), codes, strict=True) if c in h)
        letter = next(each for each in reversed(row) if each.isalpha())
        if len(at) < len(codes):
            continue
        primary[at], price[at] = letter == "U", float(row[len(codes) + 3])  # behind value, frequency and shadow
        status[at] = dk.Status.SECONDARY if letter == "M" else status[at]
    wrong = primary != (table.status == dk.Status.PRIMARY)
    return replace(table, status=status), price, int(wrong.sum())


# --- report ----------------------------------------------------------------------------------------------------------


def about(each: Outcome, *, show: bool) -> Iterator[str]:
    """A batch whose files or patterns differ."""
    name = f"{each.case.name:>5} {'x'.join(each.case.by):8} {each.case.method:16} {each.case.rules}"
    if each.refused or each.theirs_refused:
        yield f"{name}: {'ours refused: ' + each.refused if each.refused else ''} theirs: {each.theirs_refused}"
    if each.differences or each.pattern.startswith("OURS") or "other" in each.pattern:
        yield f"{name}: {len(each.differences)} lines differ, {each.pattern} {each.cost}"
        yield from (f"        {line}" for line in each.differences[: 8 if show else 2])


def summary(found: list[Outcome]) -> Iterator[str]:
    """What all batches came to."""
    run = [each for each in found if not each.refused and not each.theirs_refused]
    yield f"{len(found)} batches, {len(run)} run by both, {sum(each.fields for each in run):,} fields compared"
    yield f"batches with other files: {sum(bool(each.differences) for each in run)}"
    yield f"patterns: {dict(Counter(each.pattern for each in run))}"
    safe = [each.cost for each in run if each.pattern in ("cheaper", "equal", "OURS DEARER")]
    yield f"cost where theirs is safe: ours {sum(a for a, _ in safe):,.0f}, theirs {sum(b for _, b in safe):,.0f}"


def main() -> None:
    """Batches from a seed on."""
    numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
    first, many = (*numbers, *(0, 40)[len(numbers) :])
    if not there():
        print("pytauargus is not installed: nothing to compare with")
        return
    found = []
    for seed in range(first, first + many):
        found.append(compare(case(seed)))
        for line in about(found[-1], show="--show" in sys.argv):
            print(line, flush=True)
    for line in summary(found):
        print(line)


if __name__ == "__main__":
    main()
