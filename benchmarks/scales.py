"""The verdict of a table does not depend on its unit: random tables at many scales, judged by an attacker of our own.

    python -m benchmarks.scales --pairs 10000

Every table is multiplied by each scale as a user would, in floating point, and audited; some are suppressed first. On
small tables rational numbers decide about every primary cell against everybody and everybody who is alone somewhere;
on larger ones the verdict at scale 1 is what the others must repeat. Prints disagreements by kind; ends with 1 if there
are any.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

import diskret as dk
from benchmarks.rational import GaveUp
from benchmarks.small_worlds import Attack, Cell, World, on_the_border, random_world

SCALES = (1.0, 1e-6, 0.01, 1e3, 1e7, 1e9, 1e12)
OF_MIXED = (1.0, 1e-6, 0.01)
"""Larger ones would need more digits than a double has."""


@dataclass(kw_only=True)
class Tally:
    """What was compared, and what did not agree."""

    pairs: int = 0
    tables: int = 0
    verdicts: int = 0
    decided: int = 0
    """Verdicts that rational numbers confirmed or refuted."""
    wrong: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)

    def note(self, kind: str, seed: int, scale: float, cell: str = "") -> None:
        """One disagreement; the first of each kind is kept to be repeated."""
        self.wrong[f"{kind} at {scale:g}"] += 1
        self.examples.setdefault(f"{kind} at {scale:g}", f"seed {seed} {cell}".strip())

    def __str__(self) -> str:
        lines = [
            f"{self.pairs:,} pairs of a table and a scale ({self.tables:,} tables), {self.verdicts:,} primary cells "
            f"judged, {self.decided:,} of them by rational numbers as well: {sum(self.wrong.values()):,} disagreements"
        ]
        lines += [f"  {n:>7,}  {kind}  (first: {self.examples[kind]})" for kind, n in sorted(self.wrong.items())]
        return "\n".join(lines)


def drawn(seed: int) -> tuple[World, bool, bool]:
    """A table, whether rational numbers judge it, and whether it is suppressed first."""
    rng = np.random.default_rng([seed, 15])
    small, mixed = bool(rng.random() < 0.8), bool(rng.random() < 0.2)
    world = random_world(rng, small=small, mixed=mixed)
    suppressed = bool(rng.random() < 0.3)
    if suppressed:
        primaries = [c for c, s in world.status.items() if s == "primary"][:3]
        world = replace(world, status=dict.fromkeys(primaries, "primary"))
    elif small and rng.random() < 0.5:
        try:
            world = on_the_border(rng, world)
        except GaveUp:
            small = False
    return world, small, suppressed


def scales_of(world: World) -> tuple[float, ...]:
    """Counts have one scale; values of all sizes leave no digits for large ones."""
    if world.frequency:
        return (1.0,)
    return OF_MIXED if max(map(abs, world.leaf.values())) > 1e7 else SCALES


def compare(seed: int, tally: Tally) -> None:
    """One table at all of its scales."""
    world, small, suppressed = drawn(seed)
    tally.tables += 1
    if suppressed:
        world = _suppressed(world, seed, tally)
    truth = _truth(world) if small else None
    first: frozenset[tuple[str, str]] | None = None
    for scale in scales_of(world):
        tally.pairs += 1
        try:
            report = dk.audit(world.table(scale), world.promise(scale))
        except Exception as e:
            tally.note(f"audit refused ({type(e).__name__})", seed, scale)
            continue
        tally.verdicts += report.checked
        for name in report.undecided:
            tally.note("undecided", seed, scale, name)
        found = frozenset((e.cell, e.by) for e in report.exposed)
        if truth is not None:
            tally.decided += report.checked
            _judge(world, truth, found, frozenset(report.undecided), (seed, scale), tally)
        first = found if first is None else first
        if found != first:
            tally.note("another verdict than at scale 1", seed, scale)


def _truth(world: World) -> dict[Cell, tuple[frozenset[Cell], ...]] | None:
    try:
        return Attack(world).exposed()
    except GaveUp:
        return None


def _judge(
    world: World, truth: dict[Cell, tuple[frozenset[Cell], ...]], found: frozenset[tuple[str, str]],
    undecided: frozenset[str], where: tuple[int, float], tally: Tally,
) -> None:  # fmt: skip
    """Every primary cell: exposed or not, to everybody or to whom."""
    name = {world.name(cell): cell for cell in world.status}
    told = {name[cell]: {by for other, by in found if other == cell} for cell, _ in found}
    for cell, status in world.status.items():
        if status != "primary" or world.name(cell) in undecided:
            continue
        if cell in truth and cell not in told:
            tally.note("exposed, called safe", *where, world.name(cell))
        elif cell in told and cell not in truth:
            tally.note("safe, called exposed", *where, world.name(cell))
        elif cell in told and not _same(world, told[cell], truth[cell]):
            tally.note("exposed to others than said", *where, world.name(cell))


def _same(world: World, by: set[str], persons: tuple[frozenset[Cell], ...]) -> bool:
    """Whether those who are said to find a cell out do; who finds it out beside everybody needs not be said."""
    if "" in by or not persons:
        return "" in by and not persons
    own = [[world.name(cell) for cell in person] for person in persons]
    return all(any(name in each for names in own for name in names) for each in by)


def _suppressed(world: World, seed: int, tally: Tally) -> World:
    """The table with the pattern diskret finds at scale 1; it must find the same at every scale."""
    first: World | None = None
    for scale in scales_of(world):
        try:
            table = dk.suppress(world.table(scale), world.promise(scale)).table
        except Exception as e:
            tally.note(f"suppress refused ({type(e).__name__})", seed, scale)
            continue
        words = {int(dk.Status.PRIMARY): "primary", int(dk.Status.SECONDARY): "secondary"}
        flat = {
            table.codes(tuple(at)): words[int(table.status[tuple(at)])] for at in np.argwhere(table.hidden).tolist()
        }
        done = replace(world, status=flat)
        first = done if first is None else first
        if done.status != first.status:
            tally.note("another pattern than at scale 1", seed, scale)
    return world if first is None else first


def campaign(pairs: int, start: int = 0, seconds: float = float("inf")) -> Tally:
    """As many tables as it takes for so many pairs."""
    tally, seed, begin = Tally(), start, time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        while tally.pairs < pairs and time.monotonic() - begin < seconds:
            compare(seed, tally)
            seed += 1
    return tally


def main(words: Sequence[str] | None = None) -> int:
    """Run the campaign; 1 if anything disagrees."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--pairs", type=int, default=10_000)
    asked.add_argument("--seed", type=int, default=0, help="the first table")
    asked.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    given = asked.parse_args(words)
    tally = campaign(given.pairs, given.seed, given.seconds)
    print(tally)
    return 1 if tally.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
