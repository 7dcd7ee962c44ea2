"""All classifications of a ledger, from what every entry says of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from diskret.ledger.about import PERIOD
from diskret.ledger.codes import Parts, Said, Scheme, codes_of, scheme_of, sums_of
from diskret.ledger.entry import Entry
from diskret.ledger.ratios import SUBJECT


def schemes_of(entries: Sequence[Entry]) -> dict[str, Scheme]:
    """Every classification with its codes, and what they are made of."""
    said: dict[str, dict[Said, None]] = {}
    roots: dict[str, dict[str, None]] = {}
    totals: dict[str, str] = {}
    for entry in entries:
        for axis, code in entry.about.totals.items():
            totals.setdefault(axis, code)
        for axis, hierarchy in entry.by.items():
            sums, codes = sums_of(axis, hierarchy), codes_of(axis, hierarchy)
            if axis != PERIOD:
                roots.setdefault(axis, {}).setdefault(hierarchy.total)
            said.setdefault(axis, {}).setdefault((_first(said, axis, sums, codes) or entry.name, sums, codes))
        for axis, code in _single_codes(entry):
            said.setdefault(axis, {}).setdefault(("", (), (code,)))
        for axis, groups in entry.about.groupings.items():
            sums = tuple((code, tuple(parts)) for code, parts in groups.items())
            said.setdefault(axis, {}).setdefault((_first(said, axis, sums, ()) or entry.name, sums, ()))
    return {
        axis: scheme_of(axis, tuple(each), totals.get(axis) or _total(each, roots.get(axis, ())))
        for axis, each in said.items()
    }


def _first(said: Mapping[str, Mapping[Said, None]], axis: str, sums: object, codes: object) -> str:
    """Who said the same before: thousands of tables share a few hierarchies."""
    return next((who for who, s, c in said.get(axis, ()) if s == sums and c == codes), "")


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
