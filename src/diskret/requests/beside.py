"""A table beside all tables that were released: one system of atoms and cells, protected like any other."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from diskret.auditing.report import AuditReport
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.contributors import Contributors
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.exact import decimals_of
from diskret.model.knowledge import Knowledge
from diskret.model.promise import Promise
from diskret.model.rule import Rule
from diskret.model.status import Status
from diskret.model.system import System
from diskret.model.table import Table
from diskret.requests.shown import Atoms, Shown, added, atoms_of, members
from diskret.requests.unions import Undecided, broken_union, computable
from diskret.rules.frequency import SmallCells
from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent
from diskret.rules.mark import mark
from diskret.rules.rule import AnyOf, largest_needed
from diskret.suppression.methods import AnyMethod, Moves
from diskret.suppression.suppress import suppress

Rows = npt.NDArray[np.bool_]
Rounding = Literal["give", "propose", "never"]
MOST_GROUPS = 40
"""Groups that break a rule only together, after which a table is not given."""


@dataclass(frozen=True, eq=False, kw_only=True)
class House:
    """The rules and the promise of the house, which nobody who asks can change."""

    rules: AnyOf
    promise: Promise = Promise()
    method: AnyMethod = Moves()
    rounding: Rounding = "propose"
    """What is done where nothing can be given exactly: rounded values are given, proposed to the house, or neither."""

    def refuse_others(self) -> None:
        """Refuse rules that look at more than how many there are and what they contribute."""
        others = [rule.name for rule in self.rules if not judges_atoms(rule)]
        if others:
            raise BadOption(
                f"requests are not judged by {listed(others)}",
                hint="use MinCount, Dominance, PPercent, PQ of respondents, and SmallCells.",
            )

    def promised(self, frequency: bool = False) -> Promise:
        """What is promised about answers: the largest contributor of whatever can be subtracted is guarded against.

        Differences of answers are cells nobody listed; that each contributor protects the others in all of them holds
        only if those who know a large part of one are taken for attackers.
        """
        return replace(self.promise, guard="single" if frequency else "largest")


@dataclass(frozen=True, eq=False, kw_only=True)
class Beside:
    """A new table beside released ones."""

    table: Shown
    value: Floats
    """The value of every cell of the new table (flat)."""
    count: Ints
    hidden: Bools
    """Cells of the new table that must not be shown (flat)."""
    known: Bools
    """Cells that were released before, in whatever table (flat)."""
    sensitive: Bools
    """Cells that are sensitive by themselves (flat)."""
    audit: AuditReport | None
    """The attack on everything released and the new table; none if nothing is sensitive."""
    safe: bool
    """Whether nothing is exposed."""
    revised: bool = False
    """Whether a cell could be computed that was released with another value: then everybody knows the difference."""


def beside_released(
    released: Sequence[Shown], new: Shown, contributions: Floats, house: House, *, frequency: bool = False
) -> Beside:
    """Protect a new table beside all that was released; only cells of its own are hidden."""
    house.refuse_others()
    rules = for_counts(house.rules) if frequency else of_values(house.rules)
    ranked = max(2, largest_needed(rules))
    atoms = atoms_of([*released, new], contributions, ranked)
    own = members(new, atoms)
    out = [members(each, atoms)[each.open.reshape(-1)] for each in released]
    out = [rows[rows.any(axis=1)] for rows in out]
    full = own.any(axis=1)
    cells = _Cells(atoms=atoms, out=np.vstack([own[:0], *out]), own=own[full], told=_told(released, atoms))
    groups: list[Rows] = []
    while True:
        found = _protected(cells, groups, house, rules, frequency)
        if frequency or not found.safe:
            break
        union = broken_union(found.seen, atoms, rules)
        if union is None:
            break
        if isinstance(union, Undecided) or len(groups) == MOST_GROUPS:
            found = replace(found, safe=False)
            break
        # a group that breaks a rule only together is a cell like any other from now on
        groups.append(union[None])
    size = own.shape[0]
    hidden, seen, caught = (np.zeros(size, dtype=np.bool_) for _ in range(3))
    value, count = np.zeros(size), np.zeros(size, dtype=np.int64)
    hidden[full], value[full], count[full] = found.hidden, found.value, found.count
    changed, still = _changed(released, atoms)
    seen[full], caught[full] = found.known & _among(own[full], still), found.sensitive & ~found.known
    shown = np.vstack([still, own[full][~found.hidden]])
    revised = bool((computable(changed, shown) & ~computable(changed, still)).any())
    return Beside(
        table=new, value=value, count=count, hidden=hidden, known=seen, sensitive=caught, audit=found.audit,
        safe=found.safe and not revised, revised=revised,
    )  # fmt: skip


def _changed(released: Sequence[Shown], atoms: Atoms) -> tuple[Rows, Rows]:
    """Cells that were released with another value than they have now, and those that still have theirs."""
    changed, still = ([np.zeros((0, atoms.size), dtype=np.bool_)] for _ in range(2))
    for each in released:
        rows = members(each, atoms)
        other = np.zeros(each.shape, dtype=np.bool_) if each.changed is None else each.changed
        changed.append(rows[other.reshape(-1)])
        still.append(rows[(each.open & ~other).reshape(-1)])
    rows = np.vstack(still)
    return np.vstack(changed), rows[rows.any(axis=1)]


def _among(rows: Rows, others: Rows) -> Bools:
    """Which rows are among others."""
    known = {row.tobytes() for row in others}
    return np.array([row.tobytes() in known for row in rows], dtype=np.bool_)


@dataclass(frozen=True, eq=False, kw_only=True)
class _Cells:
    """Cells that were released, and the occupied ones of a new table, over atoms."""

    atoms: Atoms
    out: Rows
    own: Rows
    told: tuple[Rows, Floats, Floats]
    """Cells of which intervals were released, with their ends."""


def _told(released: Sequence[Shown], atoms: Atoms) -> tuple[Rows, Floats, Floats]:
    """Cells of released tables of which not the value is known but between which ends it lies."""
    rows, ends = [np.zeros((0, atoms.size), dtype=np.bool_)], [np.zeros((2, 0))]
    for each in released:
        if each.bounds is None:
            continue
        both = np.array([bound.reshape(-1) for bound in each.bounds])
        inside = members(each, atoms)
        told = np.isfinite(both).any(axis=0) & inside.any(axis=1)
        rows.append(inside[told])
        ends.append(both[:, told])
    lower, upper = np.hstack(ends)
    return np.vstack(rows), lower, upper


@dataclass(frozen=True, eq=False, kw_only=True)
class _Protected:
    """The occupied cells of a new table after protecting."""

    hidden: Bools
    value: Floats
    count: Ints
    known: Bools
    sensitive: Bools
    audit: AuditReport | None
    safe: bool
    seen: Rows
    """All cells anybody sees, over atoms."""


def _protected(cells: _Cells, groups: Sequence[Rows], house: House, rules: AnyOf, frequency: bool) -> _Protected:
    """Protect the cells of a new table; atoms, and ``groups`` of them, are cells that nobody is shown."""
    atoms = cells.atoms
    ranked = atoms.largest.shape[1]
    vague, lower, upper = cells.told
    inner = np.vstack([np.eye(atoms.size, dtype=np.bool_), *groups, vague])
    every, place = _distinct(np.vstack([inner, cells.out, cells.own]))
    at = place[len(inner) + len(cells.out) :]
    known, mine = (np.zeros(len(every), dtype=np.bool_) for _ in range(2))
    known[place[len(inner) : len(inner) + len(cells.out)]] = True
    mine[at] = True
    system, people = _system(every, atoms, place[: atoms.size], ranked, frequency)
    marked = _marked(system, rules, frequency)
    sensitive = marked.status.reshape(-1) == Status.PRIMARY
    status = np.where(sensitive, np.uint8(Status.PRIMARY), np.uint8(Status.OPEN))
    status[~(mine | known) & ~sensitive] = Status.SECONDARY
    status[known] = Status.PUBLISHED
    marked = replace(marked, status=status, seal="")
    promise = house.promised(frequency)
    if len(vague):
        bounded = place[len(inner) - len(vague) : len(inner)]
        marked, promise = _bounded(marked, promise, bounded, lower, upper)
    with warnings.catch_warnings():
        # what cannot be protected is not given: there is nothing to warn of
        warnings.simplefilter("ignore", ProtectionWarning)
        asked = (status == Status.PRIMARY).any()
        done = suppress(marked, promise, house.method) if asked else None
    pattern = marked.hidden if done is None else done.table.hidden
    return _Protected(
        hidden=pattern[at], value=system.value[at], count=people[at], known=known[at], sensitive=sensitive[at],
        audit=None if done is None else done.audit,
        safe=done is None or (done.audit is not None and done.audit.safe and not done.unprotected),
        seen=every[known | (mine & ~pattern)],
    )  # fmt: skip


def _bounded(marked: Table, promise: Promise, at: Ints, lower: Floats, upper: Floats) -> tuple[Table, Promise]:
    """The system with what was told of some cells beside what everybody knows, all of it as intervals."""
    value = marked.value.reshape(-1)
    up, down = promise.knowledge.room(marked)
    least, most = value - down, value + up
    # what was published is true up to the last digit of binary fractions
    np.maximum.at(least, at, np.minimum(lower, value[at]))
    np.minimum.at(most, at, np.maximum(upper, value[at]))
    return replace(marked, lower=least, upper=most), replace(promise, knowledge=Knowledge.intervals())


def judges_atoms(rule: Rule) -> bool:
    """Whether a rule can judge any group of records: by how many there are, and by what they contribute."""
    if isinstance(rule, SmallCells):
        return True
    if isinstance(rule, MinCount):
        return rule.counted_by == "respondent" and not rule.weighted
    return isinstance(rule, Dominance | PPercent | PQ) and rule.counted_by == "respondent"


def for_counts(rules: AnyOf) -> AnyOf:
    """What the house's rules say of counts: the largest of its smallest numbers of units."""
    least = [rule.n for rule in rules if isinstance(rule, SmallCells | MinCount)]
    if not least:
        raise BadOption(
            "counts are asked for, and the house has no rule about numbers of units",
            hint="give the house a minimum count, such as min_count = 3.",
        )
    return AnyOf((SmallCells(max(least), margins=True),))


def of_values(rules: AnyOf) -> AnyOf:
    """The house's rules of values; a smallest count alone says nothing of them."""
    found = AnyOf(tuple(rule for rule in rules if not isinstance(rule, SmallCells)))
    if not found.rules:
        raise BadOption(
            "values are asked for, and the house has no rule about them",
            hint="give the house a minimum count, dominance, p% or (p,q).",
        )
    return found


def _distinct(rows: Rows) -> tuple[Rows, Ints]:
    """Cells that are made of the same atoms, once each; and for every row its number."""
    packed = np.packbits(rows, axis=1)
    _, first, place = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    # in the order in which they come, so that atoms stand first
    order = np.argsort(first, kind="stable")
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size)
    return rows[first[order]], rank[place.reshape(-1)]


def _system(every: Rows, atoms: Atoms, at: Ints, ranked: int, frequency: bool) -> tuple[System, Ints]:
    """All cells with what adds up, every cell being the sum of its atoms; and how many units they count."""
    size = len(every)
    row, part = np.nonzero(every)
    value = added(atoms.value[part], row, size, decimals_of(atoms.value))
    count = np.bincount(row, weights=atoms.count[part], minlength=size).astype(np.int64)
    largest = np.zeros((size, ranked))
    for cell in range(size):
        tops = atoms.largest[every[cell]].reshape(-1)
        best = np.sort(tops)[::-1][:ranked]
        largest[cell, : best.size] = best
    several = np.flatnonzero(every.sum(axis=1) > 1)
    number = np.full(size, -1, dtype=np.int64)
    number[several] = np.arange(several.size)
    parts = number[row] >= 0
    entries = (
        np.concatenate([number[row[parts]], np.arange(several.size)]),
        np.concatenate([at[part[parts]], several]),
        np.concatenate([np.ones(int(parts.sum())), -np.ones(several.size)]),
    )
    order = np.lexsort((entries[1], entries[0]))
    system = System.from_entries(
        [f"cell {i}" for i in range(size)], value, (entries[0][order], entries[1][order], entries[2][order]),
        count=count.tolist(), frequency=frequency, positive=bool((atoms.value >= 0).all()),
    )  # fmt: skip
    # who is alone in a group of units does not know that he is: counts are guarded by numbers of units
    absolute = added(atoms.absolute[part], row, size, decimals_of(atoms.absolute))
    people = Contributors(count, largest, None if (absolute == np.abs(value)).all() else absolute)
    return replace(system, respondents=None if frequency else people), count


def _marked(system: System, rules: AnyOf, frequency: bool) -> Table:
    """The system with what is sensitive; of counts nobody may be able to say that there are too few units."""
    if not frequency:
        return mark(system, rules, special_cases=False)
    (rule,) = rules.rules
    assert isinstance(rule, SmallCells)
    few = (system.value > 0) & (system.value < rule.n)
    status = np.where(few, np.uint8(Status.PRIMARY), system.status)
    judges: tuple[Rule, ...] = (rule,)
    return replace(
        system, status=status, above=np.where(few, rule.n - system.value, 0.0), below=np.zeros(system.size),
        judges=judges, rules=("given", rule.name),
    )  # fmt: skip
