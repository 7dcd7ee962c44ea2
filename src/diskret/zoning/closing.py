"""Closing geographic differences: zone totals are withheld until no region of few units can be computed.

Overlaps and zone totals are the cells of a system, and `suppress` protects it like any other. In a large zoning only
the neighbourhood of a small region is protected, the overlaps around it being taken as known: what holds there holds
everywhere, because those amounts may simply stay as they are. The whole zoning is attacked afterwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.system import System
from diskret.suppression.methods import AnyMethod, Moves
from diskret.suppression.suppress import suppress
from diskret.zoning.differences import Differences, find_differences
from diskret.zoning.zones import FIRST, SECOND, Zoning

STEPS = (1, 2, 4, 8, 16)
"""How far around small regions zones are looked at, in steps from zone to zone; in the end everywhere."""
REST = "all units"


@dataclass(frozen=True, eq=False, kw_only=True)
class Closed:
    """A zoning with further totals withheld."""

    before: Zoning
    zoning: Zoning
    left: Differences
    """What is still found: nothing, unless it could not be closed."""

    @property
    def withheld(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The zones of both zonings that were withheld for it."""
        new = [now & ~old for now, old in zip(self.zoning.withheld, self.before.withheld, strict=True)]
        return tuple(
            tuple(np.array(codes, dtype=object)[mask]) for codes, mask in zip(self.zoning.codes, new, strict=True)
        )  # type: ignore[return-value]

    @property
    def safe(self) -> bool:
        """Whether all differences are closed."""
        return self.left.safe

    def __str__(self) -> str:
        parts = zip(self.zoning.names, self.withheld, self.zoning.codes, strict=True)
        said = " and ".join(f"{len(new):,} of {len(codes):,} zones of {name!r}" for name, new, codes in parts)
        return f"withheld: {said}\n{self.left}"


def zoning_system(zoning: Zoning, min_units: int = 3, chosen: Bools | None = None) -> System:
    """The system of equations behind a zoning: overlaps (hidden), zone totals, and all units.

    Overlaps with few units are primary; nobody may be able to say that they have fewer than ``min_units``. With
    ``chosen`` the other overlaps are taken as known.

    >>> zoning = Zoning.of({"district": list("AAAABBBB"), "grid": list("11122222")}, "district", "grid")
    >>> zoning_system(zoning)
    System('units': 8 cells, 6 equations, 1 primary, 2 secondary)
    """
    inside = np.arange(zoning.units.size) if chosen is None else np.flatnonzero(chosen)
    units = zoning.units[inside]
    small = (units > 0) & (units < min_units)
    names = [zoning.overlap_name(int(o)) for o in inside]
    value, status = [units], [np.where(small, np.uint8(Status.PRIMARY), np.uint8(Status.SECONDARY))]
    above, weight = [np.where(small, min_units - units, 0)], [units]
    row, cell, sign = [], [], []
    at, number = inside.size, 0
    whole = inside.size + sum(np.unique(z[inside]).size for z in (zoning.first, zoning.second))
    for which, zone_of in enumerate((zoning.first[inside], zoning.second[inside])):
        zones, place = np.unique(zone_of, return_inverse=True)
        total = np.bincount(place, weights=units).astype(np.int64)
        few = (total > 0) & (total < min_units) & (total == zoning.totals[which][zones])
        names += [f"{zoning.names[which]} {zoning.codes[which][z]}" for z in zones.tolist()]
        value.append(total)
        shown = np.where(zoning.withheld[which][zones], np.uint8(Status.SECONDARY), np.uint8(Status.OPEN))
        status.append(np.where(few, np.uint8(Status.PRIMARY), shown))
        above.append(np.where(few, min_units - total, 0))
        weight.append(zoning.totals[which][zones])
        row += [number + place, number + np.arange(zones.size), np.full(zones.size + 1, number + zones.size)]
        cell += [np.arange(inside.size), at + np.arange(zones.size), np.append(at + np.arange(zones.size), whole)]
        sign += [np.ones(inside.size), -np.ones(zones.size), np.append(np.ones(zones.size), -1.0)]
        at, number = at + zones.size, number + zones.size + 1
    entries = (np.concatenate(row), np.concatenate(cell), np.concatenate(sign))
    order = np.argsort(entries[0], kind="stable")
    return System.from_entries(
        [*names, REST], np.append(np.concatenate(value), units.sum()),
        (entries[0][order].astype(np.int64), entries[1][order].astype(np.int64), entries[2][order]), "units",
        status=np.append(np.concatenate(status), np.uint8(Status.NEVER)).tolist(),
        above=np.append(np.concatenate(above), 0), below=np.zeros(whole + 1),
        weight=np.append(np.concatenate(weight), units.sum()), frequency=True,
    )  # fmt: skip


def close_differences(
    zoning: Zoning, min_units: int = 3, promise: Promise = Promise(), method: AnyMethod = Moves()
) -> Closed:
    """Withhold zone totals so that no sums and differences of the others leave fewer than ``min_units`` units.

    >>> records = {"district": ["A"] * 7 + ["B"] * 6 + ["C"] * 9, "grid": ["1"] * 5 + ["2"] * 5 + ["3"] * 12}
    >>> done = close_differences(Zoning.of(records, "district", "grid"))
    >>> done.safe, len(done.withheld[0]) + len(done.withheld[1])
    (True, 2)
    """
    before = zoning
    found = find_differences(zoning, min_units)
    for steps in (*STEPS, None):
        if found.safe:
            break
        chosen = None if steps is None else around(zoning, found.exposed, steps)
        system = zoning_system(zoning, min_units, chosen)
        done = suppress(system, promise, method)
        zoning = _withholding(zoning, system, done.table.hidden.reshape(-1), chosen)
        found = find_differences(zoning, min_units)
        if chosen is not None and chosen.all():
            break
    return Closed(before=before, zoning=zoning, left=found)


def around(zoning: Zoning, overlaps: Ints, steps: int) -> Bools:
    """The overlaps within some steps, from zone to zone, of others."""
    chosen = np.zeros(zoning.units.size, dtype=np.bool_)
    chosen[overlaps] = True
    for _ in range(steps):
        for zone_of, codes in ((zoning.first, zoning.codes[FIRST]), (zoning.second, zoning.codes[SECOND])):
            zones = np.zeros(len(codes), dtype=np.bool_)
            zones[zone_of[chosen]] = True
            chosen = chosen | zones[zone_of]
    return chosen


def _withholding(zoning: Zoning, system: System, hidden: Bools, chosen: Bools | None) -> Zoning:
    """The zoning with the totals withheld that a pattern of its system hides."""
    inside = np.arange(zoning.units.size) if chosen is None else np.flatnonzero(chosen)
    at, new = inside.size, []
    for zone_of, codes in ((zoning.first, zoning.codes[FIRST]), (zoning.second, zoning.codes[SECOND])):
        zones = np.unique(zone_of[inside])
        new.append([codes[z] for z in zones[hidden[at : at + zones.size]].tolist()])
        at += zones.size
    return zoning.withholding(new[0], new[1])
