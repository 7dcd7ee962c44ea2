"""All classifications of a ledger, from what every entry says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from diskret.ledger.about import PERIOD
from diskret.ledger.codes import Parts, Said, Scheme, codes_of, scheme_of, sums_of
from diskret.ledger.entry import Entry
from diskret.ledger.ratios import SUBJECT

Way = tuple[tuple[tuple[str, Parts], ...], tuple[str, ...]]
"""Which codes add up how, and which are used besides."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Statements:
    """What entries say of every classification, each statement once: thousands of tables share a few hierarchies.

    >>> nothing = Statements()
    >>> nothing.schemes
    {}
    """

    said: Mapping[str, Mapping[Way, str]] = field(default_factory=dict)
    """Per classification every statement, and who said it first."""
    roots: Mapping[str, Mapping[str, None]] = field(default_factory=dict)
    totals: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> Statements:
        """What some entries say, one after the other."""
        said: dict[str, dict[Way, str]] = {}
        roots: dict[str, dict[str, None]] = {}
        totals: dict[str, str] = {}
        for entry in entries:
            _note(entry, said, roots, totals)
        return cls(said=said, roots=roots, totals=totals)

    def and_also(self, entry: Entry) -> Statements:
        """What one more entry says besides; the same object where that is nothing new."""
        said = {axis: dict(each) for axis, each in self.said.items()}
        roots = {axis: dict(each) for axis, each in self.roots.items()}
        totals = dict(self.totals)
        if not _note(entry, said, roots, totals):
            return self
        return Statements(said=said, roots=roots, totals=totals)

    @cached_property
    def schemes(self) -> dict[str, Scheme]:
        """Every classification with its codes, and what they are made of."""
        return {axis: self._scheme(axis, each) for axis, each in self.said.items()}

    def _scheme(self, axis: str, each: Mapping[Way, str]) -> Scheme:
        said: tuple[Said, ...] = tuple((who, *way) for way, who in each.items())
        return scheme_of(axis, said, self.totals.get(axis) or _total(said, self.roots.get(axis, ())))


def _note(
    entry: Entry, said: dict[str, dict[Way, str]], roots: dict[str, dict[str, None]], totals: dict[str, str]
) -> bool:
    """Write down what an entry says; tells whether anything of it is new."""
    before = (_many(said), _many(roots), len(totals))
    for axis, code in entry.about.totals.items():
        totals.setdefault(axis, code)
    for axis, hierarchy in entry.by.items():
        if axis != PERIOD:
            roots.setdefault(axis, {}).setdefault(hierarchy.total)
        said.setdefault(axis, {}).setdefault((sums_of(axis, hierarchy), codes_of(axis, hierarchy)), entry.name)
    for axis, code in _single_codes(entry):
        said.setdefault(axis, {}).setdefault(((), (code,)), "")
    for axis, groups in entry.about.groupings.items():
        sums = tuple((code, tuple(parts)) for code, parts in groups.items())
        said.setdefault(axis, {}).setdefault((sums, ()), entry.name)
    return (_many(said), _many(roots), len(totals)) != before


def _many(of: Mapping[str, Mapping[Any, Any]]) -> int:
    """How much there is of it, classifications included."""
    return len(of) + sum(map(len, of.values()))


def _single_codes(entry: Entry) -> Iterable[tuple[str, str]]:
    """Codes an entry is about."""
    yield from entry.about.codes.items()
    if entry.about.ratio is not None:
        yield from ((axis, code) for axis, code in entry.about.ratio.under.items() if axis not in SUBJECT)


def _total(said: Iterable[Said], roots: Iterable[str]) -> str:
    """The code of everything: the total of a hierarchy that is part of nothing and holds all there is.

    >>> one, two = ("one", (("3", ("1", "2")),), ("1", "2", "3")), ("two", (("7", ("3", "6")),), ("3", "6", "7"))
    >>> _total([one], ["3"]), _total([one, two], ["3", "7"])
    ('3', '7')
    """
    sums: dict[str, list[Parts]] = {}
    for _, each, _ in said:
        for whole, parts in each:
            sums.setdefault(whole, []).append(parts)
    below = {part for ways in sums.values() for parts in ways for part in parts}
    tops = [root for root in roots if root not in below]
    if len(tops) < 2:
        return tops[0] if tops else ""
    reached = {top: _below(top, sums) for top in tops}
    every = set().union(*reached.values()) - {*tops}
    return next((top for top in tops if reached[top] >= every), "")


def _below(top: str, sums: Mapping[str, Sequence[Parts]]) -> set[str]:
    """All codes a code is made of."""
    found: set[str] = set()
    waiting = [top]
    while waiting:
        for parts in sums.get(waiting.pop(), ()):
            waiting += [part for part in parts if part not in found]
            found |= {*parts}
    return found
