"""Tiny made-up ledgers, and an attacker who takes everything published of them at its word.

    python -m benchmarks.ledger_worlds --worlds 300

Each world has a dozen firms in three to five regions and two or three kinds, with values by quarters of two years.
Tables of it are released one after the other beside a ledger: by other regions every time, by kinds, by both, of one
code or of several together, of years and quarters, rounded, as growth rates, provisional and revised. What is refused
is not released. Then an attacker who shares no code with the package asks scipy's solver, over all originals that are
consistent with everything published, how small and how large each sensitive cell may be: as everybody, and as whoever
is alone in a published cell. He asks the same of every refusal: whether the cell it names is exposed without the table,
and whether the published cells it blames expose it while fewer of them do not. (Not where values were revised: how near
he takes revised values to be is the ledger's assumption, he has none.)
"""

from __future__ import annotations

import argparse
import tempfile
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog

import diskret as dk
from diskret.ledger import About, Ledger, Ratio
from diskret.ledger.refusing import coarser
from diskret.model.errors import Contradiction, MeaningUnknown, NotBeside

Cells = frozenset[tuple[int, int, int]]
"""A cell: the finest cells (region, kind, quarter of two years) it counts."""
YEARS = ("2023", "2024")
HAIR = 1e-6


@dataclass
class Told:
    """One thing that everybody knows: the sum over some cells lies between two numbers."""

    source: str
    vintage: int
    cells: Cells
    low: float
    high: float
    under: Cells | None = None
    """Of a rate: what stands below the line; the sum lies between two multiples of that."""


@dataclass
class Secret:
    """A sensitive cell."""

    name: str
    source: str
    vintage: int
    cells: Cells
    value: float
    below: float
    above: float
    released: bool


@dataclass
class World:
    """Firms, what was published of them, and what is sensitive."""

    rng: np.random.Generator
    regions: int
    kinds: int
    region: npt.NDArray[np.int64]
    kind: npt.NDArray[np.int64]
    values: list[npt.NDArray[np.int64]]
    """Vintages of the values of every firm by quarter."""
    rule: Any
    told: list[Told] = field(default_factory=list)
    secrets: list[Secret] = field(default_factory=list)
    lone: list[tuple[int, Cells]] = field(default_factory=list)
    """Cells that somebody is alone in, of tables that were released."""

    def inside(self, cells: Cells) -> frozenset[int]:
        """The firms behind a cell."""
        places = {(r, k) for r, k, _ in cells}
        return frozenset(
            i for i, at in enumerate(zip(self.region.tolist(), self.kind.tolist(), strict=True)) if at in places
        )

    def true(self, vintage: int, cells: Cells) -> float:
        """What a cell is."""
        return float(sum(
            self.values[vintage][(self.region == r) & (self.kind == k), q].sum() for r, k, q in cells
        ))  # fmt: skip

    def known_to(self, lone: tuple[int, Cells]) -> list[Told]:
        """What whoever is alone in a cell knows of it: all of it."""
        vintage, cells = lone
        return [
            Told("own", vintage, frozenset({c}), x, x)
            for c in sorted(cells)
            for x in [self.true(vintage, frozenset({c}))]
        ]


def world(seed: int) -> World:
    """A small one."""
    rng = np.random.default_rng(seed)
    regions, kinds = int(rng.integers(3, 6)), int(rng.integers(2, 4))
    firms = int(rng.integers(8, 26))
    level = np.rint(np.exp(rng.normal(3, 0.8, firms)))[:, None] + 1
    values = np.rint(level * rng.uniform(0.6, 1.4, (firms, 8))).astype(np.int64)
    rule = [
        dk.rules.MinCount(2),
        dk.rules.MinCount(3),
        dk.rules.PPercent(10),
        dk.rules.MinCount(3) | dk.rules.PPercent(15),
    ]
    return World(
        rng=rng, regions=regions, kinds=kinds, region=rng.integers(0, regions, firms),
        kind=rng.integers(0, kinds, firms), values=[values], rule=rule[int(rng.integers(4))],
    )  # fmt: skip


def partition(rng: np.random.Generator, size: int) -> list[list[int]]:
    """Numbers in groups."""
    group = rng.integers(0, max(2, size - 1), size)
    return [np.flatnonzero(group == g).tolist() for g in np.unique(group).tolist()]


def code(axis: str, members: Sequence[int]) -> str:
    """A name for some codes together: the same for the same."""
    return "+".join(f"{axis[0]}{i}" for i in sorted(members))


def tree(rng: np.random.Generator, axis: str, size: int) -> dk.Hierarchy:
    """All codes of a classification, mostly in groups of this table's own."""
    nested: Any = {}
    groups = partition(rng, size) if rng.random() < 0.7 else [[i] for i in range(size)]
    if len(groups) == 1:
        groups = [[i] for i in range(size)]
    for members in groups:
        if len(members) == 1:
            nested[code(axis, members)] = None
        else:
            nested[code(axis, members)] = [code(axis, [i]) for i in members]
    parents: dict[str, str] = {}
    for group, below in nested.items():
        parents[group] = f"all {axis}s"
        parents |= dict.fromkeys(below or (), group)
    return dk.Hierarchy.from_parents(parents)


@dataclass
class Plan:
    """A table that is asked for."""

    name: str
    by: dict[str, dk.Hierarchy]
    fixed: dict[str, list[int]]
    period: str
    vintage: int
    about: About
    ratio: bool = False


def plans(made: World, many: int) -> Iterator[Plan]:
    """Tables that are asked for, one after the other."""
    rng, sizes = made.rng, {"region": made.regions, "kind": made.kinds}
    every = {a: {f"all {a}s": [code(a, [i]) for i in range(n)]} for a, n in sizes.items()}
    full: dict[str, tuple[str, int]] = {}
    for number in range(many):
        axes = [["region"], ["kind"], ["region", "kind"], ["region", "kind"]][int(rng.integers(4))]
        year = YEARS[int(rng.integers(2))]
        period = year if rng.random() < 0.7 else f"{year}-Q{int(rng.integers(1, 5))}"
        fixed: dict[str, list[int]] = {}
        groupings: dict[str, dict[str, list[str]]] = {a: dict(g) for a, g in every.items()}
        for axis in sizes:
            if axis not in axes and rng.random() < 0.5:
                members = sorted(rng.choice(sizes[axis], int(rng.integers(1, sizes[axis])), replace=False).tolist())
                fixed[axis] = members
                if len(members) > 1:
                    groupings[axis][code(axis, members)] = [code(axis, [i]) for i in members]
        more: dict[str, Any] = {}
        kind = rng.random()
        name = f"table {number + 1}"
        vintage, ratio = 0, False
        if kind < 0.15:
            more["rounded"] = float([1, 5, 10][int(rng.integers(3))])
        elif kind < 0.3 and not fixed:
            ratio, year = True, "2024"
            period = year
            more["ratio"] = Ratio(under={"period": "2023"}, times=100, plus=-100)
        elif kind < 0.45 and full:
            of = list(full)[int(rng.integers(len(full)))]
            period, _ = full.pop(of)
            late = made.values[-1].copy()
            quarters = columns(period)
            some = rng.choice(late.shape[0], 2, replace=False)
            late[some[:, None], quarters] = np.rint(late[some[:, None], quarters] * rng.uniform(0.8, 1.3)) + 1
            made.values.append(late)
            vintage = len(made.values) - 1
            more["revises"] = of
        elif kind < 0.55:
            more["provisional"] = True
        if not more.get("revises"):
            vintage = len(made.values) - 1
        if not ratio and not more.get("rounded") and not fixed:
            full[name] = (period, vintage)
        about = About(
            population="firms", value="x", period=period, unit="EUR", groupings=groupings,
            fixed={a: code(a, m) for a, m in fixed.items()}, **more,
        )  # fmt: skip
        by = {axis: tree(rng, axis, sizes[axis]) for axis in axes}
        yield Plan(name=name, by=by, fixed=fixed, period=period, vintage=vintage, about=about, ratio=ratio)


def columns(period: str) -> list[int]:
    """Quarters of a period."""
    first = 4 * YEARS.index(period[:4])
    return [first + int(period[-1]) - 1] if "Q" in period else list(range(first, first + 4))


def table_of(made: World, plan: Plan, period: str) -> dk.Table:
    """The table, marked by the rules."""
    chosen = np.ones(made.region.size, dtype=bool)
    for axis, members in plan.fixed.items():
        chosen &= np.isin(getattr(made, axis), members)
    value = made.values[plan.vintage][:, columns(period)].sum(axis=1)[chosen]
    data: dict[str, Any] = {a: [code(a, [i]) for i in getattr(made, a)[chosen].tolist()] for a in plan.by}
    data["x"] = value.tolist()
    return dk.mark(dk.tabulate(data, by=plan.by, value="x"), made.rule, special_cases=False)


def members_of(made: World, plan: Plan, codes: dict[str, str], period: str) -> Cells:
    """The finest cells behind a cell of a table, by its codes."""
    own = []
    for axis, size in (("region", made.regions), ("kind", made.kinds)):
        text = codes.get(axis)
        if text is not None and not text.startswith("all "):
            own.append([int(each[1:]) for each in text.split("+")])
        else:
            own.append(plan.fixed.get(axis, list(range(size))))
    return frozenset((r, k, q) for r in own[0] for k in own[1] for q in columns(period))


def walk(table: dk.Table) -> Iterator[tuple[int, dict[str, str]]]:
    """Every cell with its codes."""
    for cell in range(table.size):
        yield cell, dict(zip(table.names, table.codes(table.place(cell)), strict=True))


def learn(made: World, plan: Plan, marked: dk.Table, shown: dk.Table | None) -> None:
    """What everybody knows now, and what is sensitive."""
    if plan.ratio:
        if shown is not None:
            assert shown.given is not None
            for cell, codes in walk(shown):
                if shown.hidden.reshape(-1)[cell]:
                    continue
                rate = float(shown.published_value.reshape(-1)[cell])
                made.told.append(Told(
                    plan.name, plan.vintage, members_of(made, plan, codes, "2024"), (rate - 0.05 + 100) / 100,
                    (rate + 0.05 + 100) / 100, members_of(made, plan, codes, "2023"),
                ))  # fmt: skip
        return
    below, above = marked.below, marked.above
    people = marked.respondents
    assert people is not None
    for cell, codes in walk(marked):
        own = members_of(made, plan, codes, plan.period)
        true = float(marked.value.reshape(-1)[cell])
        if marked.status.reshape(-1)[cell] == 1:
            down, up = (0.0 if each is None else float(each.reshape(-1)[cell]) for each in (below, above))
            name = ", ".join(f"{a}={c}" for a, c in codes.items())
            made.secrets.append(Secret(name, plan.name, plan.vintage, own, true, down, up, shown is not None))
        if people.count.reshape(-1)[cell] == 1 and shown is not None:
            made.lone.append((plan.vintage, own))
    if shown is None:
        return
    step = plan.about.rounded
    for cell, codes in walk(shown):
        if shown.hidden.reshape(-1)[cell]:
            continue
        own = members_of(made, plan, codes, plan.period)
        value = float(shown.published_value.reshape(-1)[cell])
        if step:
            middle = np.rint(value / step) * step
            made.told.append(Told(plan.name, plan.vintage, own, middle - step / 2, middle + step / 2))
        else:
            made.told.append(Told(plan.name, plan.vintage, own, value, value))


class Attack:
    """Everything published as rows over the finest cells of all vintages."""

    def __init__(self, made: World, told: Sequence[Told], truth: bool = True) -> None:
        self.made = made
        self.shape = (made.regions, made.kinds, 8)
        self.per = int(np.prod(self.shape))
        self.size = self.per * len(made.values)
        self.equal: list[npt.NDArray[np.float64]] = []
        self.right: list[float] = []
        self.upper: list[npt.NDArray[np.float64]] = []
        self.most: list[float] = []
        for each in told:
            self.say(each)
        self._quarters_that_nobody_revised()

    def row(self, vintage: int, cells: Cells) -> npt.NDArray[np.float64]:
        """A sum over cells."""
        row = np.zeros(self.size)
        at = np.array(sorted(cells))
        row[vintage * self.per + np.ravel_multi_index(at.T, self.shape)] = 1.0
        return row

    def say(self, each: Told) -> None:
        """One more thing everybody knows."""
        row = self.row(each.vintage, each.cells)
        if each.under is not None:
            other = self.row(each.vintage, each.under)
            self.upper += [row - each.high * other, each.low * other - row]
            self.most += [0.0, 0.0]
        elif each.low == each.high:
            self.equal.append(row)
            self.right.append(each.low)
        else:
            self.upper += [row, -row]
            self.most += [each.high, -each.low]

    def _quarters_that_nobody_revised(self) -> None:
        """Vintages are alike where nobody revised anything: other quarters."""
        for v in range(1, len(self.made.values)):
            same = (self.made.values[v] == self.made.values[v - 1]).all(axis=0)
            for q in np.flatnonzero(same).tolist():
                for r in range(self.shape[0]):
                    for k in range(self.shape[1]):
                        cell = frozenset({(r, k, q)})
                        self.equal.append(self.row(v, cell) - self.row(v - 1, cell))
                        self.right.append(0.0)

    def reach(self, vintage: int, cells: Cells, known: Sequence[Told] = ()) -> tuple[float, float]:
        """How small and how large a cell may be."""
        cost = self.row(vintage, cells)
        equal = [*self.equal, *(self.row(each.vintage, each.cells) for each in known)]
        right = [*self.right, *(each.low for each in known)]
        ends = []
        for sign in (1.0, -1.0):
            # presolving takes rates that lie near their ends for contradictions now and then
            for presolve in (True, False):
                done = linprog(
                    sign * cost, A_ub=np.array(self.upper) if self.upper else None, b_ub=self.most or None,
                    A_eq=np.array(equal) if equal else None, b_eq=right or None, bounds=(0, None), method="highs",
                    options={"presolve": presolve},
                )  # fmt: skip
                if done.status in (0, 3):
                    break
            if done.status == 3:
                ends.append(sign * -np.inf)
            elif done.status == 0:
                ends.append(sign * done.fun)
            else:
                msg = f"no original is consistent with what was published: {done.message}"
                raise RuntimeError(msg)
        return ends[0], ends[1]

    def exposed_to_lone(self, secret: Secret, lone: Sequence[tuple[int, Cells]]) -> tuple[str, Cells]:
        """Whether somebody who is alone in a cell finds out what others contribute to a sensitive one."""
        theirs, when = self.made.inside(secret.cells), {q for _, _, q in secret.cells}
        for each in dict.fromkeys(lone):
            # nobody finds himself out; who is alone in a cell of another year is somebody else as far as anybody knows
            if theirs <= self.made.inside(each[1]) and when <= {q for _, _, q in each[1]}:
                continue
            found = self.exposed(secret, self.made.known_to(each))
            if found:
                return found, each[1]
        return "", frozenset()

    def exposed(self, secret: Secret, known: Sequence[Told] = ()) -> str:
        """Whether a sensitive cell is computed exactly, or too closely; empty if not."""
        least, most = self.reach(secret.vintage, secret.cells, known)
        hair = HAIR * max(1.0, secret.value)
        if most - least <= hair and secret.value > 0:
            return "exact"
        if secret.value - least < min(secret.below, secret.value) - hair or most - secret.value < secret.above - hair:
            return "too close"
        return ""


@dataclass
class Count:
    """What was found in all worlds."""

    asked: int = 0
    released: int = 0
    coarser: int = 0
    refused: int = 0
    failed: int = 0
    secrets: int = 0
    exact: int = 0
    close: int = 0
    alone: int = 0
    never: int = 0
    """Sensitive cells of tables that were refused, exposed by what was published before anybody asked for them."""
    groundless: int = 0
    """Refusals of tables all of whose sensitive cells are safe while nothing of the table is published."""
    blamed: int = 0
    blamed_wrong: int = 0
    blamed_too_many: int = 0


def released(made: World, plan: Plan, ledger: Ledger, count: Count, say: Any) -> tuple[dk.Table, dk.Table | None]:
    """A table as it is released beside the ledger, None if it is refused; and as marked."""
    if plan.ratio:
        old, new = table_of(made, plan, "2023"), table_of(made, plan, "2024")
        under = np.where(old.value > 0, old.value, 1)
        rate = np.where(old.value > 0, np.round(100 * new.value / under - 100, 1), 0.0)
        marked = dk.Table(
            by=new.by, response="x", value=rate, status=np.where(old.value > 0, 0, 1).astype(np.uint8),
            given=rate, decimals=1,
        )  # fmt: skip
    else:
        marked = table_of(made, plan, plan.period)
    ways = [("", marked)]
    first: NotBeside | None = None
    memory = replace(ledger.about(plan.about, plan.name), proposing=True)
    while ways:
        words, table = ways.pop(0)
        if words and first is not None and words not in first.instead:
            continue
        try:
            done = dk.suppress(table, ledger=memory)
        except NotBeside as error:
            if words:
                say(f"{plan.name}: the proposal {words!r} is refused")
                count.failed += 1
            else:
                first = error
                ways = [] if plan.ratio else [*coarser(marked, error.lost)]
                count.refused += 1
                judge(made, plan, marked, error, count, say)
                memory = replace(memory, proposing=False)
            continue
        if done.exposed:
            continue
        ledger.add(done.table, plan.about, name=plan.name, on="2026-01-01")
        count.released += 1
        count.coarser += bool(words)
        return table, done.table
    return marked, None


def judge(made: World, plan: Plan, marked: dk.Table, error: NotBeside, count: Count, say: Any) -> None:
    """Whether what is refused is exposed without the table, and by the cells that are blamed."""
    if len(made.values) > 1:
        return
    before = World(**{**made.__dict__, "secrets": [], "lone": list(made.lone), "told": list(made.told)})
    learn(before, plan, marked, None)
    attack = Attack(made, made.told)
    # what was not revised is sensitive in what was published before, too
    mine = [
        replace(s, vintage=v)
        for s in before.secrets
        for v in range(len(made.values))
        if made.true(v, s.cells) == s.value
    ]
    found = [s for s in mine if attack.exposed(s)]
    lone = [(plan.vintage, cells) for cells in boxes(made)]
    if not found:
        found = [s for s in mine if attack.exposed_to_lone(s, lone)[0]]
    if not found:
        say(f"{plan.name}: refused without need: {error.where}")
        count.groundless += 1
    for because in error.because:
        blame(made, mine, because, count, say)


def boxes(made: World) -> Iterator[Cells]:
    """Every cell of a year anybody could name that one firm is alone in."""
    for region in range(1, 1 << made.regions):
        for kind in range(1, 1 << made.kinds):
            own = (region >> made.region & 1) & (kind >> made.kind & 1)
            if own.sum() == 1:
                rows = [r for r in range(made.regions) if region >> r & 1]
                columns_in = [k for k in range(made.kinds) if kind >> k & 1]
                for year in YEARS:
                    yield frozenset((r, k, q) for r in rows for k in columns_in for q in columns(year))


def blame(made: World, mine: Sequence[Secret], because: str, count: Count, say: Any) -> None:
    """Whether the published cells that are blamed expose the cell, and fewer of them do not."""
    name, _, rest = because.partition(": ")
    words = rest.split("; ")
    target = _cells_named(made, name)
    known = [s for s in (*made.secrets, *mine) if s.cells == target]
    told = []
    for each in words:
        source, _, cell = each.partition(", ")
        own = _cells_named(made, cell)
        fits = [t for t in made.told if t.source == source and t.under is None and own is not None and t.cells == own]
        if not fits:
            return
        told.append(fits[0])
    if not known:
        return
    secret = known[-1]
    bounds = [t for t in made.told if t.low != t.high]

    def exposed(some: Sequence[Told]) -> bool:
        return bool(Attack(made, [*bounds, *some]).exposed(secret))

    if not Attack(made, made.told).exposed(secret):
        return  # exposed to somebody who is alone in a cell only
    count.blamed += 1
    if not exposed(told):
        count.blamed_wrong += 1
        say(f"blamed for {name}, but do not expose it: {rest}")
        return
    for i in range(len(told)):
        if exposed([*told[:i], *told[i + 1 :]]):
            count.blamed_too_many += 1
            say(f"blamed for {name}, but {words[i]} is not needed: {rest}")
            break


def _cells_named(made: World, name: str) -> Cells | None:
    """The finest cells behind a name in a message; None where it says what is not read here."""
    codes: dict[str, str] = {}
    for each in name.split(", "):
        axis, sign, text = each.partition("=")
        if not sign:
            return None
        codes[axis] = text
    if "what" in codes or "period" not in codes or codes["period"][:4] not in YEARS or " more" in name:
        return None
    own = []
    for axis, size in (("region", made.regions), ("kind", made.kinds)):
        own.append([int(each[1:]) for each in codes[axis].split("+")] if axis in codes else list(range(size)))
    return frozenset((r, k, q) for r in own[0] for k in own[1] for q in columns(codes["period"]))


def one(seed: int, many: int, count: Count, verbose: bool) -> None:
    """One world from its first table to the attack."""
    made = world(seed)

    def say(words: str) -> None:
        if verbose:
            print(f"world {seed}: {words}", flush=True)

    with tempfile.TemporaryDirectory() as place:
        ledger = dk.open_ledger(Path(place) / "ledger", create=True)
        gone: set[str] = set()
        for plan in plans(made, many):
            if plan.about.revises in gone:
                plan = replace(plan, about=replace(plan.about, revises=""))
            count.asked += 1
            try:
                marked, table = released(made, plan, ledger, count, say)
            except (Contradiction, MeaningUnknown) as error:
                say(f"{plan.name}: {error}")
                count.failed += 1
                gone.add(plan.name)
                continue
            if table is None:
                gone.add(plan.name)
            learn(made, plan, marked, table)
    attack = Attack(made, made.told)
    seen: dict[tuple[int, Cells], Secret] = {}
    for secret in made.secrets:
        if secret.released or (secret.vintage, secret.cells) not in seen:
            seen[secret.vintage, secret.cells] = secret
    for secret in seen.values():
        count.secrets += 1
        found = attack.exposed(secret)
        if found and not secret.released:
            count.never += 1
            say(f"{secret.name} of {secret.source}, which was refused: {found}")
        elif found:
            count.exact += found == "exact"
            count.close += found == "too close"
            say(f"{secret.name} of {secret.source}: {found}")
        elif secret.released:
            found, cells = attack.exposed_to_lone(secret, made.lone)
            if found:
                count.alone += 1
                say(f"{secret.name} of {secret.source}: {found} to whoever is alone in {sorted(cells)[:4]}")


def main() -> None:
    """Release, refuse, attack."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--worlds", type=int, default=300)
    asked.add_argument("--first", type=int, default=0)
    asked.add_argument("--tables", type=int, default=8)
    asked.add_argument("--quiet", action="store_true")
    given = asked.parse_args()
    warnings.simplefilter("ignore")
    count, start = Count(), time.process_time()
    for seed in range(given.first, given.first + given.worlds):
        one(seed, given.tables, count, not given.quiet)
    print(f"{given.worlds} worlds: {count} in {time.process_time() - start:.0f} CPU s")


if __name__ == "__main__":
    main()
