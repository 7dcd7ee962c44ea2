"""Marking: every rule judges the table, and each primary cell remembers who caught it and what it needs."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats
from diskret.model.errors import BadOption, ProtectionWarning, listed
from diskret.model.given import refuse_no_table, refuse_other
from diskret.model.grid import level_of
from diskret.model.rule import Rule, Verdict
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.rules.further import Given, Request, ZeroCells
from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent, not_negative
from diskret.rules.rule import AnyOf, rules_in
from diskret.rules.special import notices

GIVEN = "given"
MOST_RULES = 31
COMPARING = (Dominance, PPercent, PQ, Request)
"""Rules that compare contributions with the whole."""


def mark(
    table: Table,
    rules: Rule | AnyOf,
    *,
    ordered: Sequence[str] = (),
    missing: Mapping[str, Sequence[str]] | None = None,
    min_level: float = 0.0,
    signed: bool = False,
    first_level: bool = False,
    special_cases: bool = True,
) -> Table:
    """The table with every sensitive cell primary, the rules that caught it and the protection it needs.

    Cells set primary by hand stay primary; marks of an earlier call are replaced, levels the table came with stay. A
    sensitive cell that must be published is named in a `ProtectionWarning`, and so are the special cases no rule
    decides; ``ordered`` names classifications with ordered classes. ``missing`` names codes that stand for an unknown
    category: no rule judges their cells. `Given` catches no cell; it gives levels to those that are primary already and
    have none. ``min_level`` is the smallest level of a primary cell that is not zero, where the rules demand less.
    Where contributions are negative, ``signed`` compares the largest, by size, with the value as it is, as tau-ARGUS
    does, and not with the sum of all sizes. A cell that several rules catch has the largest of their levels, or with
    ``first_level``, as in tau-ARGUS, that of the rules that compare contributions, else of requests, else of counts,
    else of zeros.

    >>> from diskret import Table, PPercent, MinCount
    >>> cells = {"s": ["a", "b", "c"], "x": [95, 80, 60], "n": [4, 5, 2], "x1": [90, 30, 50], "x2": [4, 20, 10]}
    >>> table = Table.from_cells(cells, by={"s": None}, value="x", count="n", largest=["x1", "x2"])
    >>> marked = mark(table, MinCount(3) | PPercent(10))
    >>> [(marked.codes((i,))[0], marked.rules_of((i,)), marked.above[i].item()) for i in np.flatnonzero(marked.hidden)]
    [('a', ('p%',), 8.0), ('c', ('minimum count', 'p%'), 5.0)]
    """
    refuse_no_table(table)
    judged = rules_in(rules)
    for one in judged:
        if isinstance(one, type) or not isinstance(one, Rule):
            refuse_other(one, (), "a rule", "rules are such as rules.MinCount(3), joined with |.")
    if not judged or len(judged) > MOST_RULES:
        raise BadOption(f"{len(judged)} rules", hint=f"give between 1 and {MOST_RULES}.")
    earlier, table = table.judges, _unmarked(table)
    given = table.status == Status.PRIMARY
    catching = tuple(r for r in judged if not isinstance(r, Given))
    names = [GIVEN] + _distinct([r.name for r in catching])
    rule = np.where(given, np.uint32(1), np.uint32(0)).astype(np.uint32)
    needed = Levels(np.zeros(table.shape), np.zeros(table.shape))
    status = table.status.copy()
    passed = _passed_over(table, missing or {})
    said = verdicts(table, catching, signed)
    for bit, verdict in enumerate(said, start=1):
        _record(verdict, bit, rule, needed, status, passed, _before(catching, said, bit - 1) if first_level else None)
    for margin in (r for r in judged if isinstance(r, Given)):
        needed.raised(margin.judge(_without_margins(table, earlier)), given)
    _at_least_for(table, needed, rule > 0, min_level)
    caught = (rule > 0) & ~given
    must_show = caught & ((table.status == Status.NEVER) | (table.status == Status.PUBLISHED))
    if must_show.any():
        number = int(must_show.sum())
        warnings.warn(
            (
                f"{number} sensitive cell must be published by its status and is not protected: "
                if number == 1
                else f"{number} sensitive cells must be published by their status and are not protected: "
            )
            + listed(table.name_cells(must_show)),
            ProtectionWarning,
            stacklevel=2,
        )
    status[caught & ~must_show] = Status.PRIMARY
    below = _at_least(table.below, level_of(needed.below, table.value))
    above = _at_least(table.above, level_of(needed.above, table.value))
    marked = replace(
        table, status=status, rules=tuple(names), rule=rule, below=below, above=above, judges=judged, seal=""
    )
    if special_cases:
        for notice in notices(marked, ordered):
            warnings.warn(str(notice), ProtectionWarning, stacklevel=2)
    return marked


def verdicts(table: Table, rules: Sequence[Rule], signed: bool = False) -> list[Verdict]:
    """What each rule says; how far a minimum count reaches depends on what the others say."""
    seen = _as_is(table) if signed else table
    others = {at: rule for at, rule in enumerate(rules) if not isinstance(rule, MinCount)}
    said = {at: rule.judge(seen if isinstance(rule, COMPARING) else table) for at, rule in others.items()}
    # zeros and requests say nothing of values and contributors in general
    close = [verdict for at, verdict in said.items() if not isinstance(rules[at], ZeroCells | Request)]
    return [
        rule.beside(close).judge(table) if isinstance(rule, MinCount) else said[at] for at, rule in enumerate(rules)
    ]


def _as_is(table: Table) -> Table:
    """The table with its values in the place of the sums of the sizes of contributions."""
    own, holdings = (None if p is None else p.signed(table.value) for p in (table.respondents, table.holdings))
    return replace(table, respondents=own, holdings=holdings)


def _unmarked(table: Table) -> Table:
    """The table without the marks of earlier rules; what was set by hand stays."""
    if table.rule is None:
        return table
    by_rule = (table.status == Status.PRIMARY) & (table.rule & 1 == 0)
    status = np.where(by_rule, np.uint8(Status.OPEN), table.status)
    # levels the table came with stay, and nothing tells them from those of rules where both speak of a cell
    keep = table.rule & 1 > 0 if not _own_levels(table) else np.ones(table.shape, dtype=np.bool_)
    below, above = (None if a is None else np.where(keep, a, 0.0) for a in (table.below, table.above))
    return replace(table, status=status, rules=(), rule=None, below=below, above=above, judges=())


def _own_levels(table: Table) -> bool:
    """Whether cells that nobody set by hand have levels beyond what the rules of an earlier call demand."""
    assert table.rule is not None
    demanded = Levels(np.zeros(table.shape), np.zeros(table.shape))
    catching = tuple(r for r in table.judges if not isinstance(r, Given))
    for bit, verdict in enumerate(verdicts(table, catching), start=1):
        demanded.raised(verdict, table.rule & np.uint32(1 << bit) > 0)
    by_hand = table.rule & 1 > 0
    levels = ((table.below, demanded.below), (table.above, demanded.above))
    return any(
        bool(((level > level_of(least, table.value)) & ~by_hand).any()) for level, least in levels if level is not None
    )


def _without_margins(table: Table, earlier: Sequence[Rule]) -> Table:
    """The table without the levels that a margin of an earlier call gave to cells set by hand."""
    for each in (r for r in earlier if isinstance(r, Given)):
        bare = replace(table, below=None, above=None)
        margin = level_of(np.asarray(each.judge(bare).needed), table.value)
        given = [np.zeros(table.shape) if level is None else level for level in (table.below, table.above)]
        same = (given[0] == margin) & (given[1] == margin)
        below, above = (np.where(same, 0.0, level) for level in given)
        table = replace(table, below=below, above=above)
    return table


@dataclass(frozen=True, eq=False)
class Levels:
    """What the rules demand so far, below and above the value."""

    below: Floats
    above: Floats

    def raised(self, verdict: Verdict, cells: Bools) -> None:
        """Demand for some cells what a rule says they need."""
        if verdict.needed is not None:
            np.maximum(self.above, verdict.needed, out=self.above, where=cells)
            least = verdict.needed if verdict.below is None else verdict.below
            np.maximum(self.below, least, out=self.below, where=cells)


def _at_least_for(table: Table, needed: Levels, primary: Bools, least: float) -> None:
    """Raise the levels of primary cells that are not zero to the smallest one; nothing lies below zero."""
    if not not_negative(least):
        raise BadOption(
            "the smallest level is negative or not a number", hint="an amount in units of the value, such as 10."
        )
    cells = primary & (table.value != 0)
    np.maximum(needed.above, least, out=needed.above, where=cells)
    below = np.minimum(np.abs(table.value), least) if table.positive else np.full(table.shape, float(least))
    np.maximum(needed.below, below, out=needed.below, where=cells)


def _passed_over(table: Table, missing: Mapping[str, Sequence[str]]) -> Bools:
    """Cells with a code that stands for an unknown category; a code the table does not have is in none."""
    unknown = [name for name in missing if name not in table.by]
    if unknown:
        raise BadOption(f"no classification {listed(unknown)}", hint=f"the table has {listed(table.names)}.")
    passed = np.zeros(table.shape, dtype=np.bool_)
    for axis, (name, hierarchy) in enumerate(table.by.items()):
        known = [hierarchy.index(code) for code in missing.get(name, ()) if code in hierarchy]
        if known:
            passed |= np.isin(table.code_numbers[axis], known).reshape(table.shape)
    return passed


def _before(rules: Sequence[Rule], said: Sequence[Verdict], at: int) -> Bools:
    """Cells that a rule catches which tau-ARGUS asks before another one."""

    def turn(rule: Rule) -> int:
        return next((i for i, kind in enumerate((ZeroCells, MinCount, Request)) if isinstance(rule, kind)), 3)

    found = np.zeros(said[at].primary.shape, dtype=np.bool_)
    for rule, verdict in zip(rules, said, strict=True):
        found |= verdict.primary & (turn(rule) > turn(rules[at]))
    return found


def _record(
    verdict: Verdict, bit: int, rule: npt.NDArray[np.uint32], needed: Levels,
    status: npt.NDArray[np.uint8], passed: Bools, before: Bools | None,
) -> None:  # fmt: skip
    caught = verdict.primary & ~passed
    rule[caught] |= np.uint32(1 << bit)
    needed.raised(verdict, caught if before is None else caught & ~before)
    if verdict.partners is not None:
        status[verdict.partners & (status == Status.OPEN)] = Status.ZERO


def _at_least(old: Floats | None, new: Floats) -> Floats:
    return new if old is None else np.maximum(old, new)


def _distinct(names: Sequence[str]) -> list[str]:
    """The same rule with other parameters gets a number, since parameters stay secret."""
    seen: dict[str, int] = {}
    result = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        result.append(name if seen[name] == 1 else f"{name} [{seen[name]}]")
    return result
