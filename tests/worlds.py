"""Small worlds: cells of every kind made from firms, and an attacker who shares no code with the package.

A world knows the firms behind its cells. What adds up is written down from the codes alone, who is alone is concluded
from counts, and one linear (for counts: integer) programme per cell and side says what remains possible for whom.
Nothing here asks the package for an equation, a demand, an insider or a programme.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product

import highspy
import numpy as np

from diskret import Hierarchy, Knowledge, Pool, Promise, Status, System, Table, tabulate
from diskret.model.arrays import Floats

CLOSE = 1e-6
UNBOUNDED = (highspy.HighsModelStatus.kUnbounded, highspy.HighsModelStatus.kUnboundedOrInfeasible)
Groups = Mapping[str, list[list[str]]]
"""Every sum of a classification with its parts, once per grouping."""
Sum = tuple[int, tuple[int, ...]]
"""A sum and its parts."""
Leaders = Mapping[int, tuple[int, bool]]
"""For some cells who contributes most (by the finest cell he is in), and whether nobody else contributes as much."""

TREE: Groups = {"A": [["a1", "a2"]], "B": [["b1", "b2"]], "T": [["A", "B"]]}
TYPED: Groups = {
    "A": [["a1", "a2"]], "B": [["b1", "b2"]], "town": [["a1", "b1"]], "land": [["a2", "b2"]],
    "T": [["A", "B"], ["town", "land"]],
}  # fmt: skip
SIZE: Groups = {"T": [["s", "m", "l"]]}
KIND: Groups = {"T": [["u", "v"]]}
BRANCH: Groups = {"P": [["p1", "p2"]], "T": [["P", "q"]]}
KINDS = ("table", "groupings", "pool", "system", "counts")


@dataclass(frozen=True, eq=False, kw_only=True)
class World:
    """Cells, everything that adds up among them, and further equations with several cells on both sides."""

    cells: Table
    sums: tuple[Sum, ...]
    further: tuple[Mapping[int, float], ...] = ()
    leaders: tuple[Leaders, ...] = ()
    """One for every table the cells were made from: numbers of different tables mean different people."""

    def hidden_as(self, status: Iterable[int]) -> World:
        """The same with another pattern."""
        given = np.array(list(status), dtype=np.uint8).reshape(self.cells.shape)
        return replace(self, cells=replace(self.cells, status=given))

    def showing(self, cells: Table) -> World:
        """The same equations with what a method made of the cells."""
        return replace(self, cells=cells)

    @cached_property
    def value(self) -> Floats:
        return self.cells.value.reshape(-1)

    @cached_property
    def hidden(self) -> frozenset[int]:
        status = self.cells.status.reshape(-1)
        return frozenset(np.flatnonzero((status == Status.PRIMARY) | (status == Status.SECONDARY)).tolist())

    @cached_property
    def primary(self) -> tuple[int, ...]:
        return tuple(np.flatnonzero(self.cells.status.reshape(-1) == Status.PRIMARY).tolist())

    @cached_property
    def equations(self) -> tuple[Mapping[int, float], ...]:
        """All of it: cells with coefficients, adding up to zero."""
        return (*({whole: -1.0} | dict.fromkeys(parts, 1.0) for whole, parts in self.sums), *self.further)

    def above(self, cells: Iterable[int]) -> frozenset[int]:
        """Cells, and all sums they are in."""
        found: set[int] = set(cells)
        fresh = True
        while fresh:
            fresh = False
            for whole, parts in self.sums:
                if whole not in found and found & {*parts}:
                    found.add(whole)
                    fresh = True
        return frozenset(found)

    @cached_property
    def people(self) -> tuple[frozenset[int], ...]:
        """Who is alone, each with all cells in which he is: by counts, a part and its sum have the same one person."""
        count = self.value if self.cells.respondents is None else self.cells.respondents.count.reshape(-1)
        if self.cells.respondents is None and not self.cells.frequency:
            return ()
        groups = {c: {c} for c in np.flatnonzero(count == 1).tolist()}
        same = [(whole, part) for whole, parts in self.sums for part in parts]
        same += [(one, other) for cells in self.owners for one in sorted(cells) for other in sorted(cells)]
        for one, other in same:
            if one in groups and other in groups and groups[one] is not groups[other]:
                joined = groups[one] | groups[other]
                groups |= dict.fromkeys(joined, joined)
        return tuple({id(g): frozenset(g) for g in groups.values()}.values())

    @cached_property
    def owners(self) -> tuple[frozenset[int], ...]:
        """Who contributes most somewhere, each with all cells to which he does.

        A cell that two tables show has one largest contributor, whatever number he has in them, unless two are equal.
        """
        leads: dict[tuple[int, int], set[int]] = {}
        for table, leaders in enumerate(self.leaders):
            for cell, (who, _) in leaders.items():
                leads.setdefault((table, who), set()).add(cell)
        for (one, first), (other, second) in product(enumerate(self.leaders), repeat=2):
            for cell in first.keys() & second.keys():
                mine, his = leads[one, first[cell][0]], leads[other, second[cell][0]]
                if first[cell][1] and second[cell][1]:
                    joined = mine | his
                    leads |= {key: joined for key, cells in leads.items() if cells is mine or cells is his}
                elif one < other:
                    his.discard(cell)
        return tuple({id(g): frozenset(g) for g in leads.values()}.values())

    def share_of(self, cells: Iterable[int]) -> frozenset[int]:
        """Cells to which somebody is known to contribute, given some of them."""
        known = frozenset(cells)
        return self.above(known.union(*(owner for owner in self.owners if owner & known)))

    # --- the attack --------------------------------------------------------------------------------------------------

    def exposed(self, promise: Promise) -> tuple[set[int], set[int]]:
        """Primary cells that everybody finds out too closely, and those that anybody does who is guarded against."""
        found: list[set[int]] = []
        for attacker, spared in self.attackers(promise):
            asked = [c for c in self.primary if c not in spared]
            found.append({c for c in asked if not self.kept(promise, c, *attacker.interval(c))})
        return found[0], set().union(*found)

    def attackers(self, promise: Promise) -> Iterator[tuple[Attacker, frozenset[int]]]:
        """Everybody first, then all who know more, with the cells nobody asks them about: their own."""
        yield self.attacker(promise.knowledge), frozenset()
        for known in promise.coalitions:
            cells = frozenset(int(np.ravel_multi_index(self.cells.index(*c), self.cells.shape)) for c in known)
            yield self.attacker(promise.knowledge, cells), cells
        if promise.guard == "public":
            return
        for person in self.people:
            led = self._led(person) if promise.guard == "largest" else frozenset()
            if (person | led) & self.hidden:
                yield self.attacker(promise.knowledge, person, at_least=led), self.share_of(person)
        if promise.guard == "largest":
            alone = frozenset[int]().union(*self.people)
            owners = [owner for owner in self.owners if not owner & alone]
            strangers = self.hidden.difference(alone, *self.owners)
            for owner in (*owners, *(frozenset([c]) for c in sorted(strangers))):
                led = self._led(owner)
                if led & self.hidden:
                    yield self.attacker(promise.knowledge, at_least=led), self.share_of(owner)

    def _led(self, cells: frozenset[int]) -> frozenset[int]:
        """Hidden cells of several to which somebody contributes most, who is alone in some of the cells, or leads."""
        leads = cells.union(*(owner for owner in self.owners if owner & cells))
        count = np.zeros(self.value.size) if self.cells.respondents is None else self.cells.count.reshape(-1)
        return frozenset(c for c in leads & self.hidden if count[c] > 1)

    @cached_property
    def _known_attackers(self) -> dict[tuple[Knowledge, frozenset[int], frozenset[int]], Attacker]:
        return {}

    def attacker(
        self, knowledge: Knowledge, known: frozenset[int] = frozenset(), *, at_least: frozenset[int] = frozenset()
    ) -> Attacker:
        """Somebody who knows some cells, and contributed the most to others."""
        key = knowledge, known & self.hidden, at_least
        if key not in self._known_attackers:
            low, high = self.bounds(knowledge)
            for cell in at_least:
                assert self.cells.largest is not None
                own, x = float(self.cells.largest.reshape(self.value.size, -1)[cell, 0]), self.value[cell]
                if x < 0:
                    high[cell] = max(x, min(high[cell], -own))
                else:
                    low[cell] = min(x, max(low[cell], own))
            self._known_attackers[key] = Attacker(self, low, high, self.hidden - known)
        return self._known_attackers[key]

    def bounds(self, knowledge: Knowledge) -> tuple[Floats, Floats]:
        """What is known about every cell beforehand."""
        x, table = self.value, self.cells
        low, high = np.full(x.size, -np.inf), np.full(x.size, np.inf)
        if knowledge.kind == "relative":
            error = np.maximum(knowledge.error * np.abs(x), knowledge.absolute)
            low, high = x - error, x + error
        if knowledge.kind == "intervals":
            low = low if table.lower is None else table.lower.reshape(-1).copy()
            high = high if table.upper is None else table.upper.reshape(-1).copy()
        if table.positive or knowledge.kind == "positive" or (knowledge.kind == "usual" and not (x < 0).any()):
            low = np.maximum(low, 0.0)
        return low, high

    def kept(self, promise: Promise, cell: int, low: float, high: float) -> bool:
        """Whether an interval is as wide as promised."""
        x = float(self.value[cell])
        need = max(promise.min_relative_range * abs(x), promise.min_range or 0.0)
        if promise.min_range is None and promise.min_relative_range > 0 and x == 0:
            others = [abs(v) for c, v in enumerate(self.value.tolist()) if v != 0 and c not in self.primary]
            need = min(others, default=0.0)
        below, above = (
            0.0 if level is None or not promise.levels else float(level.reshape(-1)[cell])
            for level in (self.cells.below, self.cells.above)
        )
        if not high - low > need + CLOSE:
            return False
        if promise.sliding:
            return high - low >= below + above - CLOSE
        return high - x >= above - CLOSE and x - low >= below - CLOSE


@dataclass(frozen=True, eq=False)
class Attacker:
    """Somebody with bounds for every cell; unknown to him are some of the hidden ones."""

    world: World
    low: Floats
    high: Floats
    unknown: frozenset[int]
    found: dict[int, tuple[float, float]] = field(default_factory=dict)

    @cached_property
    def _columns(self) -> dict[int, int]:
        return {cell: k for k, cell in enumerate(sorted(self.unknown))}

    @cached_property
    def _model(self) -> highspy.Highs:
        """One programme for all questions: bounds for the unknown cells, the others moved to the right."""
        model, at = highspy.Highs(), self._columns
        for option, value in (("output_flag", False), ("threads", 1), ("mip_rel_gap", 0.0), ("mip_abs_gap", 0.1)):
            model.setOptionValue(option, value)
        for cell, column in at.items():
            low, high = float(self.low[cell]), float(self.high[cell])
            if self.world.cells.frequency:
                low, high = np.ceil(low - CLOSE), np.floor(high + CLOSE)
            model.addVar(low, high)
            if self.world.cells.frequency:
                model.changeColIntegrality(column, highspy.HighsVarType.kInteger)
        for equation in self.world.equations:
            terms = {at[c]: f for c, f in equation.items() if c in at}
            if terms:
                right = -sum(f * float(self.world.value[c]) for c, f in equation.items() if c not in at)
                model.addRow(right, right, len(terms), np.array([*terms], np.int32), np.array([*terms.values()]))
        return model

    def interval(self, cell: int) -> tuple[float, float]:
        """What a hidden cell can be."""
        x = float(self.world.value[cell])
        if cell not in self.unknown:
            return x, x
        if cell not in self.found:
            self.found[cell] = self._end(cell, 1.0), self._end(cell, -1.0)
        return self.found[cell]

    def _end(self, cell: int, sense: float) -> float:
        model, column = self._model, self._columns[cell]
        model.changeColCost(column, sense)
        model.clearSolver()
        model.run()
        status = model.getModelStatus()
        model.changeColCost(column, 0.0)
        if status == highspy.HighsModelStatus.kOptimal:
            return float(model.getSolution().col_value[column])
        assert status in UNBOUNDED, status  # the true values are possible: it can only be unbounded
        return -sense * np.inf


# --- how worlds are made ---------------------------------------------------------------------------------------------


def finest(groups: Groups) -> list[str]:
    """Codes that are not a sum of others."""
    parts = dict.fromkeys(part for lists in groups.values() for each in lists for part in each)
    return [part for part in parts if part not in groups]


def hierarchy(groups: Groups) -> Hierarchy:
    """As the package takes it: the first grouping as a tree, the others beside it."""
    tree = {part: whole for whole, lists in groups.items() for part in lists[0] if whole not in ("town", "land")}
    further = [{w: lists[-1]} for w, lists in groups.items() if w in ("town", "land") or len(lists) > 1]
    first = Hierarchy.from_parents({p: w for p, w in tree.items() if p not in ("town", "land")})
    return Hierarchy.from_groupings(first, *further) if further else first


def sums_of(codes: list[tuple[str, ...]], classes: tuple[Groups, ...]) -> tuple[Sum, ...]:
    """Every sum whose parts are all shown, along every classification and grouping."""
    at = {c: i for i, c in enumerate(codes)}
    found: list[Sum] = []
    for cell, axis in product(codes, range(len(classes))):
        for parts in classes[axis].get(cell[axis], []):
            others = [(*cell[:axis], part, *cell[axis + 1 :]) for part in parts]
            if all(o in at for o in others):
                found.append((at[cell], tuple(at[o] for o in others)))
    return tuple(found)


def records(rng: np.random.Generator, classes: Mapping[str, Groups], negative: bool) -> dict[str, list[object]]:
    """Firms: cells of none, one and several, some of them giants; every code of some axis is met."""
    rows: list[tuple[object, ...]] = []
    for codes in product(*(finest(groups) for groups in classes.values())):
        for _ in range(int(rng.choice([0, 1, 1, 2, 3]))):
            amount = int(rng.integers(1, 40)) * (8 if rng.random() < 0.15 else 1)
            rows.append((*codes, -amount if negative and rng.random() < 0.4 else amount))
    return {name: [row[i] for row in rows] for i, name in enumerate([*classes, "x"])}


def world(kind: str, seed: int, *, negative: bool = False, secondary: float = 0.3) -> World:
    """A small random world of some kind, a third of it hidden, with levels and prior intervals."""
    rng = np.random.default_rng([seed, KINDS.index(kind)])
    made = MAKERS[kind](rng, negative)
    table = made.cells
    value = table.value
    draw = rng.random(value.shape)
    status = np.where(draw < 0.2, Status.PRIMARY, np.where(draw < 0.2 + secondary, Status.SECONDARY, Status.OPEN))
    status[(value == 0) & (rng.random(value.shape) < 0.7)] = Status.OPEN
    status[(status == Status.OPEN) & (rng.random(value.shape) < 0.08)] = Status.NEVER
    size = np.abs(value)
    level = rng.choice([0.0, 0.1, 0.4], value.shape)
    room = np.ceil(size * rng.choice([0.3, 1.0, 3.0], value.shape)) + rng.integers(0, 3, value.shape)
    below = np.floor(size * level)
    return replace(
        made,
        cells=replace(
            table, status=status.astype(np.uint8), below=below, above=np.ceil(size * level), lower=value - room,
            upper=value + np.floor(1.5 * room),
        ),
    )  # fmt: skip


def _table(rng: np.random.Generator, negative: bool) -> World:
    classes = (TREE, SIZE) if rng.random() < 0.5 else (BRANCH, KIND, SIZE)
    return _tabulated(rng, classes, negative)


def _groupings(rng: np.random.Generator, negative: bool) -> World:
    return _tabulated(rng, (TYPED, KIND), negative)


def _counts(rng: np.random.Generator, negative: bool) -> World:
    return _tabulated(rng, (TREE, KIND), negative, value=None)


def _tabulated(rng: np.random.Generator, classes: tuple[Groups, ...], negative: bool, value: str | None = "x") -> World:
    named = {f"d{i}": groups for i, groups in enumerate(classes)}
    by = {name: hierarchy(groups) for name, groups in named.items()}
    rows = records(rng, named, negative)
    table = tabulate(rows, by=by, value=value, largest=2 if value else 0)
    sums = sums_of(_codes(table), classes)
    leaders = (leading(rows, _codes(table), [*named], sums),) if value else ()
    return World(cells=table, sums=sums, leaders=leaders)


def leading(
    rows: Mapping[str, list[object]], codes: list[tuple[str, ...]], by: list[str], sums: Iterable[Sum]
) -> Leaders:
    """Who contributes most to every cell of a table; of equal ones whose finest cell comes first."""
    at = {c: i for i, c in enumerate(codes)}
    above: dict[int, set[int]] = {c: {c} for c in at.values()}
    fresh = True
    while fresh:
        fresh = False
        for whole, parts in sums:
            for part in parts:
                fresh |= not above[part] >= above[whole]
                above[part] |= above[whole]
    gave: dict[int, list[tuple[float, int]]] = {}
    for *code, x in zip(*(rows[name] for name in (*by, "x")), strict=True):
        finest_cell = at[tuple(str(c) for c in code)]
        for cell in above[finest_cell]:
            gave.setdefault(cell, []).append((-abs(float(str(x))), finest_cell))
    ranked = {cell: sorted(given) for cell, given in gave.items()}
    return {cell: (first[1], not more or more[0][0] > first[0]) for cell, (first, *more) in ranked.items()}


def _pool(rng: np.random.Generator, negative: bool) -> World:
    named: dict[str, Groups] = {"r": TREE, "s": SIZE, "k": KIND}
    rows = records(rng, named, negative)
    by = {name: hierarchy(groups) for name, groups in named.items()}
    one = tabulate(rows, by={n: by[n] for n in "rs"}, value="x", largest=2)
    two = tabulate(rows, by={n: by[n] for n in "rk"}, value="x", largest=2)
    pool = Pool.of({"sizes": one, "kinds": two})
    leaders = []
    for table, names in ((one, "rs"), (two, "rk")):
        cells = pool.cells_of["sizes" if table is one else "kinds"].tolist()
        sums = sums_of(_codes(table), tuple(named[n] for n in names))
        found = leading(rows, _codes(table), [*names], sums)
        leaders.append({cells[cell]: (cells[who], clear) for cell, (who, clear) in found.items()})
    return World(cells=pool, sums=sums_of(_codes(pool), tuple(named[n] for n in pool.names)), leaders=tuple(leaders))


def _system(rng: np.random.Generator, negative: bool) -> World:
    """A table with holes and without codes, and two of its equations told as one."""
    made = _tabulated(rng, (TREE, KIND), negative)
    shown = np.flatnonzero(rng.random(made.value.size) < 0.85)
    at = {cell: i for i, cell in enumerate(shown.tolist())}
    sums = tuple(
        (at[whole], tuple(at[p] for p in parts)) for whole, parts in made.sums if {whole, *parts} <= at.keys()
    )  # fmt: skip
    two: list[Mapping[int, float]] = []
    for (whole, parts), (other, others) in zip(sums, sums[::-1], strict=True):
        if whole != other and not {whole, *parts} & {other, *others}:
            two.append({whole: 1.0, other: 1.0} | dict.fromkeys((*parts, *others), -1.0))
            break
    made = World(cells=made.cells, sums=sums, further=tuple(two))
    named = [{f"c{c}": f for c, f in equation.items()} for equation in made.equations]
    count = made.cells.count.reshape(-1)[shown]
    system = System.of(
        [f"c{i}" for i in range(len(at))], made.cells.value.reshape(-1)[shown], named, count=count,
        positive=made.cells.positive,
    )  # fmt: skip
    return World(cells=system, sums=made.sums, further=made.further)


def _codes(cells: Table) -> list[tuple[str, ...]]:
    return [tuple("T" if c == "Total" else c for c in cells.codes(i)) for i in np.ndindex(*cells.shape)]


MAKERS: dict[str, Callable[[np.random.Generator, bool], World]] = {
    "table": _table, "groupings": _groupings, "pool": _pool, "system": _system, "counts": _counts
}  # fmt: skip
