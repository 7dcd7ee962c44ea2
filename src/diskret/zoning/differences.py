"""Geographic differencing: unions of zones of one zoning, less unions of the other, that leave few units.

Every zone total is an equation about overlaps, every unit of an overlap stands in one equation of each zoning. What an
overlap may hold at most, all totals being known and no overlap being negative, is a maximum flow between its two zones,
and the narrowest cut that bounds it is the smallest region around the overlap that anybody can compute: a union of
zones less a union of others. So one flow per small overlap finds the attacker's exact reach over all unions, and names
the zones that reach it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.given import whole
from diskret.zoning._reach_kernels import slacks
from diskret.zoning.zones import FIRST, SECOND, Zoning

WHOLE = "all units"
MOST_NAMED = 12


@dataclass(frozen=True, eq=False, kw_only=True)
class Difference:
    """Published totals whose sums and differences leave a region of few units."""

    zoning: Zoning
    added: tuple[tuple[str, str], ...]
    """Zones whose totals are added up, each with the name of its zoning."""
    taken: tuple[tuple[str, str], ...]
    """Zones whose totals are taken away."""
    overlaps: Ints
    """The overlaps that make up the region."""
    units: int
    """How many units they hold together."""

    @property
    def alone(self) -> bool:
        """Whether nothing is taken away from a single zone: it has few units by itself."""
        return len(self.added) == 1 and not self.taken

    def describe(self, internal: bool = False, most: int = MOST_NAMED) -> str:
        """In words; how many units are left is internal."""
        left = f"{self.units} unit{'s' if self.units != 1 else ''}" if internal else "too few units"
        words = _joined(self.added, most)
        if self.taken:
            words += f" minus {_joined(self.taken, most)}"
        where = [self.zoning.overlap_name(int(o)) for o in self.overlaps[self.zoning.units[self.overlaps] > 0]]
        more = f" and {len(where) - most:,} more" if len(where) > most else ""
        return f"{words} = {left}, in {'; '.join(where[:most])}{more}"

    def __str__(self) -> str:
        return self.describe()


@dataclass(frozen=True, eq=False, kw_only=True)
class Differences:
    """All small regions that published totals of two zonings leave, and the overlaps in them.

    ``list`` holds for every overlap in danger the smallest region that can be computed around it, each region once.
    """

    zoning: Zoning
    list: tuple[Difference, ...]
    exposed: Ints
    """Overlaps in regions that are too small."""
    least: Ints
    """For each of them the fewest units it may have, as everybody can compute."""
    most: Ints
    """And the most, which is the size of its region."""
    checked: int
    """Overlaps that were looked at: those with few units of their own."""

    @property
    def safe(self) -> bool:
        """Whether nothing was found."""
        return self.exposed.size == 0

    def report(self, internal: bool = False, most: int = 20) -> str:
        """What was found, in words."""
        head = f"{self.checked:,} small overlaps checked against all unions of zones: "
        if self.safe:
            return head + "no sums and differences of published totals leave too few units"
        head += f"{self.exposed.size:,} are in {len(self.list):,} regions with too few units"
        lines = [f"  {each.describe(internal)}" for each in self.list[:most]]
        if len(self.list) > most:
            lines.append(f"  and {len(self.list) - most:,} more")
        if self.zoning.estimated:
            lines.append("  the units of overlaps are estimated from shares: so is what is left")
        return "\n".join([head, *lines])

    def __str__(self) -> str:
        return self.report()

    def __len__(self) -> int:
        return len(self.list)


def find_differences(zoning: Zoning, min_units: int = 3) -> Differences:
    """Sums and differences of published zone totals that leave fewer than ``min_units`` units, but some.

    It finds for every overlap the smallest region around it that can be computed from all totals, over all unions of
    zones. None found means that there is none. The total of everything is taken to be known.

    >>> records = {"district": ["A"] * 7 + ["B"] * 6, "grid": ["1"] * 5 + ["2"] * 2 + ["3"] * 6}
    >>> print(find_differences(Zoning.of(records, "district", "grid")).report(internal=True))
    1 small overlaps checked against all unions of zones: 1 are in 1 regions with too few units
      grid 2 = 2 units, in district A with grid 2
    >>> records = {"district": ["A"] * 7 + ["B"] * 6, "grid": ["1"] * 5 + ["2"] * 2 + ["2"] * 3 + ["3"] * 3}
    >>> print(find_differences(Zoning.of(records, "district", "grid")).report(internal=True))
    1 small overlaps checked against all unions of zones: 1 are in 1 regions with too few units
      district A minus grid 1 = 2 units, in district A with grid 2
    """
    whole("smallest number of units", min_units, 1, "at least 1; 3 is usual.")
    small = np.flatnonzero((zoning.units > 0) & (zoning.units < min_units))
    up = reach(zoning, small, min_units - zoning.units[small])
    exposed = small[zoning.units[small] + up < min_units]
    found = list(_regions(zoning, exposed, min_units))
    found.sort(key=lambda d: (len(d.added) + len(d.taken), d.units, d.added, d.taken))
    down = reach(zoning, exposed, zoning.units[exposed], down=True)
    return Differences(
        zoning=zoning, list=tuple(found), exposed=exposed, least=zoning.units[exposed] - down,
        most=zoning.units[exposed] + up[zoning.units[small] + up < min_units], checked=int(small.size),
    )  # fmt: skip


def reach(zoning: Zoning, overlaps: Ints, limits: Ints, down: bool = False) -> Ints:
    """How far the units of overlaps may rise (or fall) with all published totals as they are, up to limits."""
    found, _ = _reach(zoning, overlaps, limits, down)
    return found


def _reach(zoning: Zoning, overlaps: Ints, limits: Ints, down: bool = False) -> tuple[Ints, Bools]:
    net, found = zoning.network, np.zeros(overlaps.size, dtype=np.int64)
    seen = np.zeros(net.start.size - 1, dtype=np.bool_)
    if overlaps.size:
        slacks(*net, overlaps.astype(np.int64), limits.astype(np.int64), down, seen, found)
    return found, seen


def _regions(zoning: Zoning, exposed: Ints, min_units: int) -> Iterator[Difference]:
    """The smallest region around every exposed overlap, each once."""
    told: set[bytes] = set()
    inside: set[tuple[int, bytes]] = set()
    for overlap in exposed.tolist():
        one = np.array([overlap], dtype=np.int64)
        _, seen = _reach(zoning, one, np.array([min_units], dtype=np.int64))
        key = (int(zoning.component[zoning.network.tail[overlap]]), np.packbits(seen).tobytes())
        if key in inside:
            continue
        inside.add(key)
        found = _difference(zoning, seen, overlap)
        if found.overlaps.tobytes() not in told:
            told.add(found.overlaps.tobytes())
            yield found


def _difference(zoning: Zoning, seen: Bools, overlap: int) -> Difference:
    """The region between the zones of one side of a cut and those of the other, in the fewest words."""
    net = zoning.network
    cut = np.flatnonzero(~seen[net.tail] & seen[net.head])
    # a withheld total in the cut stands for the overlaps of its zone
    zones, size = np.zeros(seen.size, dtype=np.bool_), len(zoning.codes[FIRST])
    totals = cut[cut >= zoning.units.size]
    zones[np.where(net.tail[totals] >= seen.size - 2, net.head[totals], net.tail[totals])] = True
    region = np.union1d(cut[cut < zoning.units.size], np.flatnonzero(zones[zoning.first] | zones[size + zoning.second]))
    here = zoning.component == zoning.component[net.tail[overlap]]
    added, taken = min(
        (_said(zoning, seen & here, SECOND), _said(zoning, ~seen & here, FIRST)), key=lambda s: len(s[0]) + len(s[1])
    )
    return Difference(zoning=zoning, added=added, taken=taken, overlaps=region, units=int(zoning.units[region].sum()))


def _said(zoning: Zoning, side: Bools, plus: int) -> tuple[tuple[tuple[str, str], ...], tuple[tuple[str, str], ...]]:
    """What is added and what is taken away: totals of the zones on one side, those of zoning ``plus`` added."""
    size = [len(codes) for codes in zoning.codes]
    masks = (side[: size[FIRST]], side[size[FIRST] : sum(size)])
    added: list[tuple[str, str]] = []
    taken: list[tuple[str, str]] = []
    for which, mask in enumerate(masks):
        shown = ~zoning.withheld[which]
        into, out = (added, taken) if which == plus else (taken, added)
        if side[sum(size) + which]:
            # the rest of everything is on this side: the whole, less what is published on the other one
            into.append((WHOLE, ""))
            out += _named(zoning, which, ~mask & shown)
        else:
            into += _named(zoning, which, mask & shown)
    both = [each for each in added if each[0] == WHOLE and each in taken]
    return tuple(a for a in added if a not in both), tuple(t for t in taken if t not in both)


def _named(zoning: Zoning, which: int, mask: Bools) -> list[tuple[str, str]]:
    return [(zoning.names[which], zoning.codes[which][i]) for i in np.flatnonzero(mask).tolist()]


def _joined(zones: Sequence[tuple[str, str]], most: int) -> str:
    """Zones as a sum, those of one zoning together."""
    words = []
    for name in dict.fromkeys(name for name, _ in zones):
        codes = [code for each, code in zones if each == name]
        more = f" and {len(codes) - most:,} more" if len(codes) > most else ""
        words.append(f"{name} {' + '.join(codes[:most])}{more}".strip())
    return " plus ".join(words)
