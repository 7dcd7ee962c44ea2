"""What codes are made of: every code of a classification as a set of the finest codes anybody ever named.

Two codes with the same set are the same, whatever they are called. Sets are whole numbers, one bit for each of the
finest codes; the total of a classification is the set of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache

from diskret.ledger.about import PERIOD
from diskret.model.errors import MeaningUnknown, listed
from diskret.model.hierarchy import Hierarchy

Parts = tuple[str, ...]
REST = "all others"
"""What is left of everything as long as nobody said what that is made of."""
QUARTERS = ("Q1", "Q2", "Q3", "Q4")
MONTHS = tuple(f"{month:02d}" for month in range(1, 13))


@dataclass(frozen=True, eq=False)
class Scheme:
    """A classification of a ledger: its total, and what its codes are made of."""

    name: str
    total: str
    """The code of the total; every table that does not run over the classification shows it."""
    said: Mapping[str, Mapping[Parts, str]]
    """Per code the parts it was said to have, and by whom."""
    sets: dict[str, int] = field(default_factory=dict)
    """The set of every code."""
    finest: tuple[str, ...] = ()

    @property
    def whole(self) -> int:
        """The set of everything."""
        return (1 << len(self.finest)) - 1

    def set_of(self, code: str) -> int:
        """The set of a code."""
        return self.whole if code == self.total else self.sets[code]

    def __contains__(self, code: object) -> bool:
        return code == self.total or code in self.sets

    def members(self, chosen: int) -> list[str]:
        """The finest codes of a set."""
        return [code for i, code in enumerate(self.finest) if chosen >> i & 1]

    def words(self, chosen: int) -> str:
        """A set in words: a code if there is one, else what it is made of."""
        if chosen == self.whole and self.total:
            return self.total
        named = self._names.get(chosen)
        if named is not None:
            return named
        parts = self.members(chosen)
        return "+".join(parts) if len(parts) <= 4 else f"{'+'.join(parts[:3])}+{len(parts) - 3} more"

    @cached_property
    def _names(self) -> dict[int, str]:
        found: dict[int, str] = {}
        for code, own in self.sets.items():
            found.setdefault(own, code)
        return found

    def groupings(self) -> dict[int, list[tuple[int, ...]]]:
        """For every set the ways it was said to add up."""
        found: dict[int, list[tuple[int, ...]]] = {}
        for code, ways in self.said.items():
            whole = self.set_of(code)
            for parts in ways:
                sets = tuple(sorted(self.set_of(p) for p in parts))
                if len(sets) > 1 and sets not in found.setdefault(whole, []):
                    found[whole].append(sets)
        return found


@lru_cache(maxsize=256)
def sums_in(hierarchy: Hierarchy) -> tuple[tuple[str, Parts], ...]:
    """Every sum of a hierarchy with its parts, in all groupings."""
    found: list[tuple[str, Parts]] = []
    for parents in (hierarchy.parents, *hierarchy.further):
        parts: dict[int, list[str]] = {}
        for code, parent in zip(hierarchy.codes, parents, strict=True):
            if parent >= 0:
                parts.setdefault(parent, []).append(code)
        found += [(hierarchy.codes[whole], tuple(below)) for whole, below in parts.items()]
    return tuple(found)


def codes_of(axis: str, hierarchy: Hierarchy) -> tuple[str, ...]:
    """The codes of a classification of a table as the ledger knows them.

    The total of a series of periods goes by what it is the sum of: other tables may have other periods under the same
    word.

    >>> codes_of("period", Hierarchy.flat(["2023", "2024"]))
    ('2023', '2024', '2023+2024')
    """
    if axis != PERIOD or is_calendar(hierarchy.total):
        return tuple(hierarchy.codes)
    total = len(hierarchy) - 1
    parts = [code for code, parent in zip(hierarchy.codes, hierarchy.parents, strict=True) if parent == total]
    return (*hierarchy.codes[:-1], "+".join(parts))


@lru_cache(maxsize=256)
def sums_of(axis: str, hierarchy: Hierarchy) -> tuple[tuple[str, Parts], ...]:
    """Every sum of a classification of a table with its parts, by the codes that the ledger knows."""
    own = dict(zip(hierarchy.codes, codes_of(axis, hierarchy), strict=True))
    return tuple((own[whole], parts) for whole, parts in sums_in(hierarchy) if parts != (own[whole],))


Said = tuple[str, tuple[tuple[str, Parts], ...], tuple[str, ...]]
"""Who says it, which codes add up how, and which codes are used besides."""


def scheme_of(name: str, statements: Sequence[Said], total: str) -> Scheme:
    """A classification from all that was said about it; refuses what contradicts itself.

    >>> region = scheme_of("region", [("one", (("DE", ("a", "b")), ("a", ("a1", "a2"))), ())], "DE")
    >>> region.finest, region.words(region.set_of("a")), region.words(region.set_of("a") | region.set_of("b"))
    (('b', 'a1', 'a2'), 'a', 'DE')
    """
    said: dict[str, dict[Parts, str]] = {}
    used: dict[str, str] = {}
    for who, sums, codes in statements:
        for whole, parts in sums:
            said.setdefault(whole, {}).setdefault(tuple(parts), who)
            used |= {p: who for p in parts if p not in used}
        used |= {c: who for c in codes if c not in used}
        if name == PERIOD:
            for code in [*codes, *(c for w, p in sums for c in (w, *p))]:
                for whole, parts in _calendar(code):
                    said.setdefault(whole, {}).setdefault(parts, "the calendar")
                    used |= {p: who for p in parts if p not in used}
    codes_in = dict.fromkeys([*used, *said])
    finest = tuple(code for code in codes_in if code not in said and code != total)
    if total not in said:
        # nobody said what everything is made of: there is more than the codes that were named
        finest = (*finest, REST)
    bit = {code: 1 << i for i, code in enumerate(finest)}
    scheme = Scheme(name, total, said, {}, finest)
    for code in codes_in:
        if code != total:
            scheme.sets[code] = _resolved(scheme, code, bit, ())
    return scheme


def _resolved(scheme: Scheme, code: str, bit: Mapping[str, int], above: Parts) -> int:
    """The set of a code by the first way it is said to add up; all other ways must give the same."""
    if code in scheme.sets:
        return scheme.sets[code]
    if code in bit:
        return bit[code]
    if code in above:
        raise MeaningUnknown(f"{scheme.name} {code} is a part of itself", hint="correct the grouping.")
    if code == scheme.total:
        return scheme.whole
    found: dict[int, tuple[Parts, str]] = {}
    for parts, who in scheme.said[code].items():
        own = 0
        for part in parts:
            own |= _resolved(scheme, part, bit, (*above, code))
        found.setdefault(own, (parts, who))
    if len(found) > 1:
        (_, one), (_, other) = list(found.values())[:2]
        raise MeaningUnknown(
            f"{scheme.name} {code} is made of other codes in {other!r} than in {one!r}",
            hint="give the code another name in one of them, or say in groupings how the parts of one relate to those "
            "of the other; classifications that have no part in common are two classifications.",
        )
    return next(iter(found))


def refuse_unknown(scheme: Scheme, before: Scheme | None, who: str) -> None:
    """Refuse a table that brings codes of which nobody said what they are part of."""
    if before is None or REST in before.finest:
        return
    grown = {code for code in scheme.finest if code not in before.sets and code != REST}
    explained = 0
    for code in before.finest:
        explained |= scheme.set_of(code)
    fresh = [code for code in scheme.finest if code in grown and not scheme.set_of(code) & explained]
    if fresh and scheme.name != PERIOD:
        raise MeaningUnknown(
            f"the ledger does not know what {scheme.name} {listed(fresh)} is part of",
            where=who,
            hint="give a grouping: the code's parts, or the known code that it is a part of, as in "
            f"groupings={{{scheme.name!r}: {{{before.finest[0]!r}: [...]}}}}.",
        )


def is_calendar(code: str) -> bool:
    """Whether a code is a year, a quarter or a month.

    >>> [is_calendar(code) for code in ("2024", "2024-Q3", "2024-07", "2024Q3", "2024-13")]
    [True, True, True, False, False]
    """
    year, sign, rest = code.partition("-")
    return year.isdecimal() and len(year) == 4 and (not sign or rest in QUARTERS + MONTHS)


def refuse_strange_periods(scheme: Scheme, codes: Iterable[str], who: str) -> None:
    """Refuse periods of which nobody can say how they add up with years, quarters and months."""
    told = {*scheme.said, *(part for ways in scheme.said.values() for parts in ways for part in parts)}
    strange = [code for code in dict.fromkeys(codes) if not is_calendar(code) and code not in told]
    if strange:
        raise MeaningUnknown(
            f"the ledger does not know what {scheme.name} {listed(strange)} is part of",
            where=who,
            hint="years are written 2024, quarters 2024-Q3, months 2024-07. for others, say what they are made of or "
            "part of, as in groupings={'period': {'2024-H1': ['2024-Q1', '2024-Q2']}}; or that values are of a day: "
            "stock=True.",
        )


def _calendar(code: str) -> list[tuple[str, Parts]]:
    """What a year or quarter is made of.

    >>> _calendar("2024-Q1")
    [('2024', ('2024-Q1', '2024-Q2', '2024-Q3', '2024-Q4'))]
    """
    year, _, rest = code.partition("-")
    if not (year.isdecimal() and len(year) == 4):
        return []
    found = [(year, tuple(f"{year}-Q{q}" for q in range(1, 5)))] if rest in QUARTERS + MONTHS else []
    if rest in MONTHS:
        found += [(f"{year}-Q{q}", tuple(f"{year}-{3 * q - 3 + m:02d}" for m in (1, 2, 3))) for q in range(1, 5)]
    return found
