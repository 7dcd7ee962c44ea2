"""The promise of the methods Complete and Moves, and of pools, on random ragged tables in all generality.

One to three ragged classifications; empty and zero cells, respondents who are alone, negative values; an attacker who
knows nothing, the signs, or every value roughly. The attacker here is written from the definition: every equation cell
by cell, every end of an interval by a linear programme of its own.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import highspy
import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import diskret as dk
from diskret import Hierarchy, Knowledge, Pool, Promise, Status, Table
from diskret.suppression.methods import AnyMethod, Complete, Cuboids, Moves

Key = tuple[str, ...]
Leaf = tuple[str, ...]
FAR = 1e7
"""Beyond this an end counts as open."""
HAIR = 1e-4


@dataclass(frozen=True, eq=False)
class World:
    """What is behind the tables: values and numbers of respondents of the finest cells."""

    by: Mapping[str, Hierarchy]
    value: Mapping[Leaf, float]
    count: Mapping[Leaf, int]

    def table(self, runs: Mapping[str, Hierarchy], marked: set[Leaf]) -> Table:
        """A table over some classifications, in these groupings; cells with one or two respondents are primary."""
        names = list(self.by)
        finest = list(
            product(*([c for c, leaf in zip(h.codes, h.is_leaf, strict=True) if leaf] for h in runs.values()))
        )
        columns: dict[str, Any] = {n: [f[i] for f in finest] for i, n in enumerate(runs)}
        at = {f: k for k, f in enumerate(finest)}
        x, n = np.zeros(len(finest)), np.zeros(len(finest), dtype=np.int64)
        zero = np.zeros(len(finest), dtype=bool)
        for leaf, value in self.value.items():
            place = at[tuple(leaf[names.index(name)] for name in runs)]
            x[place] += value
            n[place] += self.count[leaf]
            zero[place] |= leaf in marked
        columns |= {"x": x, "n": n, "st": np.where((x == 0) & zero, "zero", "open").tolist()}
        table = Table.from_cells(columns, by=dict(runs), value="x", count="n", status="st")
        few = [table.codes(tuple(i)) for i in np.argwhere((table.count > 0) & (table.count < 3)).tolist()]
        return table.with_status(Status.PRIMARY, few)


def below(hierarchy: Hierarchy, code: str) -> set[str]:
    """The finest codes of a code."""
    parts = hierarchy.parts(code)
    return {leaf for part in parts for leaf in below(hierarchy, part)} if parts else {code}


@dataclass(frozen=True, eq=False)
class Published:
    """All cells of one or several tables by their codes, what adds up, and who stands behind them."""

    value: dict[Key, float]
    hidden: set[Key]
    primary: set[Key]
    rows: set[tuple[tuple[Key, int], ...]]
    people: dict[Key, frozenset[Leaf]]
    """The finest cells with respondents below each cell."""

    @classmethod
    def of(cls, world: World, tables: Mapping[str, Table]) -> Published:
        """From tables; a classification a table does not run over stands at its total."""
        found = cls({}, set(), set(), set(), {})
        for table in tables.values():
            for codes in product(*(h.codes for h in table.by.values())):
                key = _key(world, table, codes)
                at = table.index(*codes)
                found.value[key] = float(table.value[at])
                if table.hidden[at]:
                    found.hidden.add(key)
                if table.status[at] == Status.PRIMARY:
                    found.primary.add(key)
                found.people[key] = _people(world, table, codes)
                for axis, h in enumerate(table.by.values()):
                    if h.parts(codes[axis]):
                        parts = [(*codes[:axis], p, *codes[axis + 1 :]) for p in h.parts(codes[axis])]
                        line = [(_key(world, table, p), 1) for p in parts]
                        found.rows.add(tuple(sorted([*line, (key, -1)])))
        return found

    def ends(self, key: Key, known: set[Key], room: Any) -> tuple[float, float]:
        """What somebody who knows some cells can say about another."""
        unknown = self.hidden - known
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        variables = {}
        for k in sorted(unknown):
            low, high = room(self.value[k])
            variables[k] = model.addVariable(lb=max(low, -2 * FAR), ub=min(high, 2 * FAR))
        for row in sorted(self.rows):
            inside = [(k, c) for k, c in row if k in unknown]
            if inside:
                rest = sum(c * self.value[k] for k, c in row if k not in unknown)
                model.addConstr(sum(c * variables[k] for k, c in inside) == -rest)
        model.minimize(variables[key])
        low = float(model.variableValue(variables[key]))
        model.maximize(variables[key])
        return low, float(model.variableValue(variables[key]))


def _key(world: World, table: Table, codes: tuple[str, ...]) -> Key:
    own = dict(zip(table.by, codes, strict=True))
    return tuple(own.get(n, h.total) for n, h in world.by.items())


def _people(world: World, table: Table, codes: tuple[str, ...]) -> frozenset[Leaf]:
    own = {n: below(h, c) for (n, h), c in zip(table.by.items(), codes, strict=True)}
    return frozenset(
        leaf
        for leaf, n in world.count.items()
        if n and all(name not in own or leaf[i] in own[name] for i, name in enumerate(world.by))
    )


def rooms(knowledge: Knowledge) -> Any:
    """Bounds of a value by what is known beforehand."""
    if knowledge.kind == "positive":
        return lambda value: (0.0, np.inf)
    if knowledge.kind == "relative":

        def error(value: float) -> float:
            return max(knowledge.error * abs(value), knowledge.absolute)

        return lambda value: (value - error(value), value + error(value))
    return lambda value: (-np.inf, np.inf)


def check_promise(
    world: World, tables: Mapping[str, Table], left: set[Key], knowledge: Knowledge, q: float, seed: int
) -> None:
    """Neither the public nor anybody who is alone somewhere comes closer to a primary cell than asked."""
    seen = Published.of(world, tables)
    room = rooms(knowledge)
    rng = np.random.default_rng(seed)
    asked = sorted(seen.primary - left)
    asked = [asked[i] for i in rng.permutation(len(asked))[:8]]
    alone = sorted({min(p) for k, p in seen.people.items() if len(p) == 1 and sum(world.count[f] for f in p) == 1})
    insiders: list[Leaf | None] = [None, *(alone[i] for i in rng.permutation(len(alone))[:2])]
    for who in insiders:
        known = {k for k, p in seen.people.items() if who is not None and p == {who}}
        for key in asked:
            if key in known or (who is not None and who in seen.people[key]):
                continue  # what a contributor of a cell knows about it is the business of the primary rule
            low, high = seen.ends(key, known, room)
            value = seen.value[key]
            assert low - HAIR <= value <= high + HAIR
            wide = high - low > FAR or high - low > q * abs(value) + HAIR * (q == 0)
            assert wide, (key, low, value, high, who)


KNOWLEDGE = [Knowledge.positive(), Knowledge.none(), Knowledge.relative(0.6, 2.0)]


@st.composite
def worlds(draw: st.DrawFn, trees: Any, least: int = 1) -> tuple[World, bool]:
    """One to three ragged classifications with something in their finest cells; maybe negative."""
    by = {f"d{i}": Hierarchy.from_parents(t) for i, t in enumerate(draw(st.lists(trees, min_size=least, max_size=3)))}
    assume(np.prod([len(h) for h in by.values()]) <= 250)
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    negative = draw(st.booleans())
    leaves = list(product(*([c for c, leaf in zip(h.codes, h.is_leaf, strict=True) if leaf] for h in by.values())))
    count = rng.integers(0, 6, len(leaves))
    value = np.where(count > 0, rng.integers(-60 if negative else 0, 100, len(leaves)), 0)
    return World(
        by, dict(zip(leaves, map(float, value), strict=True)), dict(zip(leaves, count.tolist(), strict=True))
    ), (negative and bool((value < 0).any()))


def suppressed(table: Table, promise: Promise, method: AnyMethod) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", dk.ProtectionWarning)
        return dk.suppress(table, promise, method)


COMPLETE: list[AnyMethod] = [
    Complete(), Complete(stages=2), Complete(totals_last=True), Complete(deformations=2, thin=False),
    Complete(deformations=0),
]  # fmt: skip
BY_MOVES: list[AnyMethod] = [Moves(), Moves(effort="quick"), Moves(barriers="off"), Moves(cost=dk.Cost("unity"))]
ZEROS = ["marked", "allowed", "forbidden"]


def test_no_primary_cell_of_a_table_is_found_out(small_trees: Any) -> None:
    @settings(deadline=None)
    @given(
        worlds(small_trees),
        st.sampled_from(COMPLETE + BY_MOVES),
        st.sampled_from(KNOWLEDGE),
        st.sampled_from([0.0, 0.3, 1.0]),
        st.sampled_from(ZEROS),
        st.integers(0, 10**6),
    )
    def check(made: Any, method: AnyMethod, knowledge: Knowledge, q: float, zeros: Any, seed: int) -> None:
        world, negative = made
        knowledge = Knowledge.none() if negative and knowledge.kind == "positive" else knowledge
        marked = set(list(world.value)[:: 1 + seed % 3])
        table = world.table(world.by, marked)
        assume((table.status == Status.PRIMARY).any())
        asked = Promise(min_relative_range=q, min_range=1.0 if q else None, levels=False, knowledge=knowledge)
        result = suppressed(table, asked, replace(method, zeros=zeros))
        left = {_key(world, table, table.codes(u.index)) for u in result.unprotected}
        check_promise(world, {"t": result.table}, left, knowledge, q, seed)
        # open cells that may not be used were not
        assert not (result.table.hidden & (table.status == Status.NEVER)).any()
        if zeros == "forbidden":
            assert not (result.secondary & (table.value == 0)).any()

    check()


def test_no_primary_cell_of_a_pool_is_found_out(small_trees: Any) -> None:
    """Regions regrouped at random, with another choice of classifications beside them."""

    @settings(deadline=None)
    @given(
        worlds(small_trees, least=2),
        st.sampled_from([Moves, Cuboids]),
        st.sampled_from(KNOWLEDGE),
        st.sampled_from([0.0, 0.5]),
        st.integers(0, 10**6),
    )
    def check(made: Any, method: type[AnyMethod], knowledge: Knowledge, q: float, seed: int) -> None:
        world, negative = made
        knowledge = Knowledge.none() if negative and knowledge.kind == "positive" else knowledge
        rng = np.random.default_rng(seed)
        first = next(iter(world.by))
        tables = {"as given": world.table(world.by, set(world.value))}
        kept = [n for n in world.by if n != first and rng.random() < 0.6]
        runs = {first: regrouped(world.by[first], rng)} | {n: world.by[n] for n in kept}
        tables["regrouped"] = world.table(runs, set(world.value))
        assume(any((t.status == Status.PRIMARY).any() for t in tables.values()))
        pool = Pool.of(tables)
        asked = Promise(min_relative_range=q, min_range=1.0 if q else None, levels=False, knowledge=knowledge)
        result = suppressed(pool, asked, method(zeros="allowed"))
        left = {_of_pool(world, pool, u.index[0]) for u in result.unprotected if u.index}
        assert all(u.index for u in result.unprotected)  # nothing undecided in tables this small
        check_promise(world, result.table.split(), left, knowledge, q, seed)

    check()


def regrouped(hierarchy: Hierarchy, rng: np.random.Generator) -> Hierarchy:
    """The same finest codes in two or three other groups."""
    leaves = sorted(below(hierarchy, hierarchy.total))
    groups = rng.integers(0, 1 + int(rng.integers(1, 3)), len(leaves))
    up = {leaf: f"g{g}" for leaf, g in zip(leaves, groups.tolist(), strict=True)}
    return Hierarchy.from_parents(up | dict.fromkeys(dict.fromkeys(up.values()), hierarchy.total))


def _of_pool(world: World, pool: Pool, cell: int) -> Key:
    own = dict(zip(pool.names, pool.codes((cell,)), strict=True))
    return tuple(own.get(n, h.total) for n, h in world.by.items())
