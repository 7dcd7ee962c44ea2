"""Targeted record swapping: units that stand out where they live change places with similar ones from elsewhere.

Every table that does not cross the region stays as it was, and so does every table of region by columns on which
partners agree by every list. An attacker who finds a rare unit in a region cannot know whether it lives there.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diskret.microdata._swap_kernels import pair_targets
from diskret.microdata.columns import Column, Protected, Records, coded, crossed, generator, read_records
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption, ProtectionWarning


@dataclass(frozen=True, eq=False, kw_only=True)
class _Units:
    """What is swapped, households or single records: for each its size, its areas by level, its classes, its risk."""

    unit: Ints
    """Unit of every record."""
    first: Ints
    """First record of every unit."""
    areas: tuple[Ints, ...]
    profiles: tuple[Ints, ...]
    fewest: tuple[Floats, ...]
    """By level: the smallest number of records that share region and risk columns with a record of the unit."""


def swap_records(
    source: object,
    regions: Sequence[str],
    *,
    risk: Sequence[str],
    similar: Sequence[Sequence[str]],
    seed: int,
    k: int = 3,
    rate: float = 0.0,
    household: str | None = None,
) -> Protected:
    """Swap the regions of units at risk with those of similar units.

    ``regions`` are columns from the coarsest to the finest; they alone change. A record is at risk on a level if fewer
    than ``k`` records share its region on that level and its values of ``risk``; it must then be swapped over the
    border of a region of that level, inside the same higher region if a partner is there. Partners agree in the
    columns of the first list of ``similar``, or of the next if there is none; rare ones are preferred. Further units
    are swapped on the finest level until a share ``rate`` of all units is. With ``household``, whole households of the
    same size are swapped.

    >>> people = {"region": ["N", "N", "N", "S", "S", "S"], "age": ["o", "y", "y", "y", "y", "o"],
    ...           "job": ["a", "b", "b", "b", "b", "c"]}
    >>> swap_records(people, ["region"], risk=["age", "job"], similar=[["age"]], k=2, seed=1).frame["region"].tolist()
    ['S', 'N', 'N', 'S', 'S', 'N']
    """
    _refuse_bad_options(regions, risk, similar, k, rate)
    records = read_records(source)
    every = [c for listing in similar for c in listing]
    records.require([*regions, *risk, *every, *([household] if household else [])])
    units = _units(records, regions, risk, similar, household)
    numbers = generator(seed)
    partner = np.full(len(units.first), -1, dtype=np.int64)
    facts: dict[str, object] = {"units": len(units.first)}
    alone = 0
    for level, name in enumerate(regions):
        targets = np.flatnonzero((units.fewest[level] < k) & (partner < 0))
        targets = numbers.permutation(targets)
        _swap(targets, len(targets), units, level, partner, numbers)
        facts[f"at risk by {name}"] = len(targets)
        alone = int((partner[targets] < 0).sum())
    wanted = int(rate * len(partner)) - int((partner >= 0).sum())
    if wanted > 1:
        free = _preferred(np.flatnonzero(partner < 0), units.fewest[-1], numbers)
        _swap(free, wanted // 2, units, len(regions) - 1, partner, numbers)
    facts |= {"units swapped": int((partner >= 0).sum()), "units at risk without a partner": alone}
    if alone:
        warnings.warn(
            f"{alone} units at risk found no partner and stay where they are; give a shorter list in similar",
            ProtectionWarning,
            stacklevel=2,
        )
    whose = np.where(partner >= 0, partner, np.arange(len(partner)))[units.unit]
    changed: dict[str, Column] = {name: records[name][units.first[whose]] for name in regions}
    return Protected(frame=records.with_columns(changed), method="targeted record swapping", facts=facts)


def _swap(targets: Ints, most: int, units: _Units, level: int, partner: Ints, numbers: np.random.Generator) -> None:
    """Partners inside the higher region, by one list of agreement after the other; then anywhere."""
    area = units.areas[level]
    inside = units.areas[level - 1] if level else np.zeros_like(area)
    for higher in (inside, np.zeros_like(area)) if level else (inside,):
        for profile in units.profiles:
            _, key = np.unique(higher * (profile.max() + 1) + profile, return_inverse=True)
            order = _preferred(np.arange(len(key)), units.fewest[level], numbers)
            pool = order[np.argsort(key[order], kind="stable")]
            start = np.concatenate([[0], np.cumsum(np.bincount(key))])
            most -= int(pair_targets(targets, most, key, area, pool, start, partner))


def _preferred(units: Ints, fewest: Floats, numbers: np.random.Generator) -> Ints:
    """A random order in which rare units tend to come first: drawn without replacement with weights 1 / count."""
    drawn = numbers.exponential(size=len(units)) * fewest[units]
    ordered: Ints = units[np.argsort(drawn, kind="stable")]
    return ordered


def _units(
    records: Records,
    regions: Sequence[str],
    risk: Sequence[str],
    similar: Sequence[Sequence[str]],
    household: str | None,
) -> _Units:
    unit = np.arange(records.rows)
    if household:
        unit = records.classes(household, "every record belongs to a household.").index
    _, first = np.unique(unit, return_index=True)
    size = np.bincount(unit)
    areas = tuple(crossed(records, regions[: level + 1]) for level in range(len(regions)))
    profiles = tuple(crossed(records, list(listing)) for listing in similar)
    if household:
        _refuse_mixed(records, [*regions, *(c for listing in similar for c in listing)], unit, first)
    at_risk = crossed(records, risk)
    fewest = []
    for area in areas:
        _, cell = np.unique(area * (at_risk.max() + 1) + at_risk, return_inverse=True)
        lowest = np.full(len(first), np.inf)
        np.minimum.at(lowest, unit, np.bincount(cell)[cell].astype(np.float64))
        fewest.append(lowest)
    sized = tuple(p[first] * (size.max() + 1) + size for p in profiles)
    of_units = tuple(a[first] for a in areas)
    return _Units(unit=unit, first=first, areas=of_units, profiles=sized, fewest=tuple(fewest))


def _refuse_mixed(records: Records, names: Sequence[str], unit: Ints, first: Ints) -> None:
    for name in dict.fromkeys(names):
        code = coded(records[name]).index
        hint = "regions and columns of agreement describe the household, and are the same for its members."
        records.refuse(code != code[first][unit], f"column {name!r} differs inside a household", hint)


def _refuse_bad_options(
    regions: Sequence[str], risk: Sequence[str], similar: Sequence[Sequence[str]], k: int, rate: float
) -> None:
    if not regions or not risk:
        raise BadOption("swapping needs regions and risk columns", hint="regions from the coarsest to the finest.")
    if not similar:
        raise BadOption(
            "swapping needs columns on which partners agree", hint="such as similar=[['age', 'sex'], ['age']]."
        )
    if k < 2 or not 0 <= rate <= 1:
        raise BadOption("k is 2 or more, rate a share from 0 to 1", hint="such as k=3, rate=0.05.")
