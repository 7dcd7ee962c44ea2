"""Owners of several cells and public values attack protected tables: ``python -m benchmarks.owners --tables 1000``.

Random firms, some of which belong to one owner and some of which publish their values, are tabulated, marked and
protected. The attackers here know the records and nothing of diskret but the published pattern and what every primary
cell demands: equations are written down from the codes, who knows what is read off the records, and scipy solves the
programmes. Everybody knows what is published; an owner knows all cells in which only he does not publish (with
``largest`` also that a cell is at least what he gave, wherever nobody gave as much), all at once, and is let loose on
the primary cells he has no share in. Nothing may come below its demand that is not named as unprotected.

A second count hides random cells and compares verdicts: what these attackers find and the audit does not (must be
none), and what the audit finds and they do not (false alarms: a table knows owners only where they
contribute most, and takes the largest contributor to know more where contributions may be negative).
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
from scipy.optimize import linprog

import diskret as dk
from diskret.suppression.methods import AnyMethod

Cell = tuple[str, ...]
CLOSE = 1e-6
TREES: tuple[dict[str, str], ...] = (
    {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "b3": "b", "a": "T", "b": "T"},
    {"x": "T", "y": "T", "z": "T"},
    {"u": "T", "v": "T"},
)
"""Parents of the codes."""
METHODS: dict[str, AnyMethod] = {
    "moves": dk.methods.Moves(),
    "optimal": dk.methods.Optimal(seconds=5),
    "complete": dk.methods.Complete(),
}


@dataclass(frozen=True)
class Firm:
    """One record."""

    codes: Cell
    amount: int
    owner: str
    public: bool


@dataclass(frozen=True, eq=False)
class Attack:
    """Everything the attackers have: the firms, what adds up, and the pattern."""

    firms: list[Firm]
    cells: list[Cell]
    behind: Mapping[Cell, list[Firm]]
    sums: list[tuple[Cell, list[Cell]]]
    status: Mapping[Cell, int]
    demand: Mapping[Cell, tuple[float, float]]

    def value(self, cell: Cell) -> int:
        """What the firms add up to."""
        return sum(f.amount for f in self.behind.get(cell, []))

    @property
    def hidden(self) -> list[Cell]:
        """Cells whose value is withheld."""
        return [c for c in self.cells if self.status[c] in (dk.Status.PRIMARY, dk.Status.SECONDARY)]

    def bounds(self, owner: str | None, largest: bool) -> dict[Cell, tuple[float, float]]:
        """What somebody (None: everybody) knows about the hidden cells before he looks at the sums."""
        known: dict[Cell, tuple[float, float]] = {}
        some_negative = any(f.amount < 0 for f in self.firms)
        for cell in self.hidden:
            firms, value = self.behind.get(cell, []), float(self.value(cell))
            others = {f.owner for f in firms if not f.public}
            published = sum(f.amount for f in firms if f.public)
            low = -np.inf if some_negative else float(published)
            if firms and others <= {owner}:
                known[cell] = value, value
                continue
            if largest and owner in others and not some_negative:
                gave = {o: sum(f.amount for f in firms if f.owner == o and not f.public) for o in others}
                if all(gave[owner or ""] > g for o, g in gave.items() if o != owner):
                    low = max(low, gave[owner or ""] + published)
            known[cell] = low, np.inf
        return known

    def exposed(self, largest: bool = False) -> set[Cell]:
        """Primary cells that somebody narrows down too far."""
        owners = sorted({f.owner for f in self.firms})
        found: set[Cell] = set()
        everybody = self.bounds(None, largest)
        for who in (None, *owners):
            known = self.bounds(who, largest)
            if who is not None and known == everybody:
                continue
            for cell in self.hidden:
                mine = any(f.owner == who for f in self.behind.get(cell, []))
                if self.status[cell] == dk.Status.PRIMARY and cell not in found and not mine:
                    low, high = self.interval(cell, known)
                    below, above = self.demand[cell]
                    value = self.value(cell)
                    if value - low < below - CLOSE or high - value < above - CLOSE or high - low < CLOSE:
                        found.add(cell)
        return found

    def interval(self, cell: Cell, known: Mapping[Cell, tuple[float, float]]) -> tuple[float, float]:
        """The values a cell can have."""
        at = {c: k for k, c in enumerate(known)}
        rows, right = [], []
        for whole, parts in self.sums:
            row = np.zeros(len(at))
            for c, sign in [(whole, -1.0), *((p, 1.0) for p in parts)]:
                if c in at:
                    row[at[c]] = sign
            if row.any():
                rows.append(row)
                right.append(
                    sum(sign * self.value(c) for c, sign in [(whole, 1.0), *((p, -1.0) for p in parts)] if c not in at)
                )
        ends = []
        for sign in (1.0, -1.0):
            goal = np.zeros(len(at))
            goal[at[cell]] = sign
            done = linprog(
                goal, A_eq=np.array(rows), b_eq=np.array(right), bounds=[known[c] for c in at], method="highs"
            )
            ends.append(float(done.fun) * sign if done.status == 0 else -sign * np.inf)
        return ends[0], ends[1]


def chain(code: str, parents: Mapping[str, str]) -> list[str]:
    """A code with everything above it."""
    return [code] + (chain(parents[code], parents) if code in parents else [])


def firms_of(rng: np.random.Generator, trees: list[dict[str, str]]) -> list[Firm]:
    """Random firms: every third cell has one, owners have firms here and there, some firms publish."""
    leaves = [[c for c in tree if c not in tree.values()] for tree in trees]
    owned, published = rng.choice([0.0, 0.3, 0.6]), rng.choice([0.0, 0.0, 0.25])
    negative = rng.random() < 0.15
    found: list[Firm] = []
    for codes in product(*leaves):
        for _ in range(int(rng.choice([0, 1, 1, 2, 3, 4]))):
            amount = int(rng.integers(1, 60)) * (9 if rng.random() < 0.15 else 1)
            amount = -amount if negative and rng.random() < 0.3 else amount
            owner = f"owner {rng.integers(6)}" if rng.random() < owned else f"firm {len(found)}"
            found.append(Firm(codes, amount, owner, bool(rng.random() < published)))
    return found


def made(seed: int) -> tuple[dk.Table, Attack]:
    """A marked table, and those who attack it."""
    rng = np.random.default_rng(seed)
    trees = [TREES[i] for i in ((0, 1), (1, 2), (0,), (0, 2), (1, 2, 2))[seed % 5]]
    firms: list[Firm] = []
    while len(firms) < 3:
        firms = firms_of(rng, trees)
    names = [f"d{i}" for i in range(len(trees))]
    rows: dict[str, list[object]] = {n: [f.codes[i] for f in firms] for i, n in enumerate(names)}
    rows |= {"x": [f.amount for f in firms], "owner": [f.owner for f in firms]}
    rows["public"] = ["yes" if f.public else "no" for f in firms]
    by = {n: dk.Hierarchy.from_parents(tree) for n, tree in zip(names, trees, strict=True)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = dk.tabulate(rows, by=by, value="x", roles=dk.Roles(holding="owner", public="public"))
        rules = dk.rules.MinCount(2, counted_by="holding") | dk.rules.PPercent(10, counted_by="holding")
        table = dk.mark(table, rules)
    behind: dict[Cell, list[Firm]] = {}
    for firm in firms:
        for cell in product(*(chain(c, t) for c, t in zip(firm.codes, trees, strict=True))):
            behind.setdefault(cell, []).append(firm)
    cells = list(product(*([*t, "T"] for t in trees)))
    return table, pattern(table, Attack(firms, cells, behind, list(sums_of(cells, trees)), {}, {}))


def sums_of(cells: list[Cell], trees: list[dict[str, str]]) -> Iterator[tuple[Cell, list[Cell]]]:
    """Every sum with its parts."""
    for cell in cells:
        for axis, tree in enumerate(trees):
            parts = [c for c, parent in tree.items() if parent == cell[axis]]
            if parts:
                yield cell, [(*cell[:axis], part, *cell[axis + 1 :]) for part in parts]


def pattern(table: dk.Table, attack: Attack) -> Attack:
    """The same attackers, with what is hidden in a table and what its primary cells demand."""
    assert table.below is not None
    assert table.above is not None
    at = {c: table.index(*c) for c in attack.cells}
    demand = {c: (float(table.below[i]), float(table.above[i])) for c, i in at.items()}
    return replace(attack, status={c: int(table.status[i]) for c, i in at.items()}, demand=demand)


def broken(seed: int, guard: str = "single", method: str = "moves") -> tuple[int, int]:
    """How many primary cells a protected table has, and how many are exposed and not said to be."""
    table, attack = made(seed)
    promise = dk.Promise.from_dict({"guard": guard, "unions": False})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = dk.suppress(table, promise, METHODS[method])
    named = {done.table.codes(u.index) for u in done.unprotected}
    found = pattern(done.table, attack).exposed(guard == "largest") - named
    return int((table.status == dk.Status.PRIMARY).sum()), len(found)


def compared(seed: int, guard: str = "single") -> tuple[int, int, int]:
    """Cells exposed in a random pattern by both, by these attackers only, by the audit only."""
    table, attack = made(seed)
    rng = np.random.default_rng(seed)
    more = (table.status == dk.Status.OPEN) & (rng.random(table.shape) < 0.35)
    table = replace(table, status=np.where(more, np.uint8(dk.Status.SECONDARY), table.status))
    promise = dk.Promise.from_dict({"guard": guard, "unions": False})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = dk.audit(table, promise)
    theirs = {table.codes(e.index) for e in report.exposed}
    mine = pattern(table, attack).exposed(guard == "largest")
    return len(mine & theirs), len(mine - theirs), len(theirs - mine)


def main() -> None:
    """Count over many tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0)
    given = parser.parse_args()
    seeds = range(given.first, given.first + given.tables)
    for guard in ("single", "largest"):
        both, missed, alarms = (sum(n) for n in zip(*(compared(seed, guard) for seed in seeds), strict=True))
        print(
            f"random patterns, {guard}: {both} exposed to both, {missed} missed by the audit, {alarms} false alarms",
            flush=True,
        )
    for guard, method, share in (
        ("single", "moves", 1),
        ("largest", "moves", 1),
        ("single", "complete", 2),
        ("single", "optimal", 10),
    ):
        chosen = seeds[::share]
        primary, open_to = (sum(n) for n in zip(*(broken(seed, guard, method) for seed in chosen), strict=True))
        print(
            f"{method}, {guard}: {len(chosen)} tables, {primary} primary cells, {open_to} exposed and not named",
            flush=True,
        )


if __name__ == "__main__":
    main()
