"""Microaggregation: values are replaced by what they have in common with at least m - 1 others.

Univariate (each column on its own): sorted values are cut into groups of m neighbours, or optimally into groups of
m to 2m - 1 (Hansen and Mukherjee 2003); a group gets its mean, or two values with the group's mean and variance.
Multivariate (MDAV): whole records are grouped. Zeros and missing values of the univariate methods keep their state.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from diskret.microdata import _kernels as kernels
from diskret.microdata.mdav import mdav_values
from diskret.microdata.protected import Protected
from diskret.microdata.records import Column, Records, coded, read_records
from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, NotFinite, ProtectionWarning, TooFewUnits, listed

Method = Literal["optimal", "fixed", "mdav"]


@dataclass(frozen=True, eq=False)
class Grouping:
    """One column, or one wave of it, after grouping: the values in their places and what happened inside."""

    values: Floats
    groups: int
    within: float
    """Squared deviations inside the groups (SSE); like the next two, of values scaled down where they are extreme."""
    total: float
    """Squared deviations of all grouped values from their mean (SST)."""
    lost: float
    """Squared deviations that are gone from the result."""
    ruled: int
    fallen: int


def microaggregate(
    source: object,
    columns: Sequence[str],
    *,
    m: int | None = None,
    method: Method = "optimal",
    keep_variance: bool = False,
    wave: str | None = None,
) -> Protected:
    """Replace the values of ``columns`` by values shared by at least ``m`` units (half a group with ``keep_variance``).

    ``method`` is ``"optimal"`` (groups of m to 2m - 1 with the smallest variance inside), ``"fixed"`` (m each from the
    largest down, the last group takes the remainder) or ``"mdav"`` (whole records, groups of m to 2m - 1, columns
    standardised). ``m`` is 3, or 4 with ``keep_variance``. With ``wave``, the waves of a panel are grouped separately.

    >>> done = microaggregate({"turnover": [100.0, 98, 97, 51, 50, 49, 0, None]}, ["turnover"])
    >>> done.frame["turnover"].round(2).tolist()
    [98.33, 98.33, 98.33, 50.0, 50.0, 50.0, 0.0, nan]
    """
    size = m if m is not None else 4 if keep_variance else 3
    _refuse_bad_options(size, method, keep_variance, columns)
    records = read_records(source, columns)
    waves = _waves(records, wave)
    if method == "mdav":
        return _multivariate(records, columns, size, waves)
    if keep_variance and size < 4:
        warnings.warn(
            "groups of three with keep_variance give one unit of each group a value of its own; use m=4 or more",
            ProtectionWarning,
            stacklevel=2,
        )
    _refuse_small(records, columns, size, waves)
    changed: dict[str, Column] = {}
    found: dict[str, list[Grouping]] = {}
    for name in columns:
        changed[name] = out = records[name].copy()
        found[name] = []
        for rows in waves:
            part = group_column(records[name][rows], size, method == "fixed", keep_variance)
            out[rows] = part.values
            found[name].append(part)
    _warn(found)
    facts = {name: _facts(parts, keep_variance) for name, parts in found.items()}
    words = f"microaggregation ({'fixed groups' if method == 'fixed' else 'optimal groups'}"
    return Protected(records.with_columns(changed), f"{words}{', variance kept' * keep_variance})", facts)


def group_column(x: Floats, m: int, fixed: bool = False, keep_variance: bool = False) -> Grouping:
    """Group one column; zeros and missing values stay what they are.

    >>> group_column(np.array([1.0, 2, 3, 10, 11, 12]), 3).values.tolist()
    [2.0, 2.0, 2.0, 11.0, 11.0, 11.0]
    """
    ascending, place = kernels.sorted_usable(np.ascontiguousarray(x))
    if not ascending.size:
        return Grouping(x, 0, 0.0, 0.0, 0.0, 0, 0)
    # a power of two is exact; without it squares of extreme values would leave the range of numbers
    exponent = int(np.frexp(max(abs(ascending[0]), abs(ascending[-1])))[1])
    extreme = abs(exponent) > 400
    if extreme:
        ascending = np.ldexp(ascending, -exponent)
    starts = fixed_starts(ascending.size, m) if fixed else optimal_starts(ascending, m)
    new = np.empty_like(ascending)
    within, lost, ruled, fallen = kernels.group_values(ascending, starts, keep_variance, new)
    out = x.copy()
    kernels.put(np.ldexp(new, exponent) if extreme else new, place, out)
    total = float(kernels.squares_around_mean(ascending))
    return Grouping(out, starts.size, within, total, lost if keep_variance else within, int(ruled), int(fallen))


def usable(x: Floats) -> Bools:
    """Values that are grouped: neither zero nor missing."""
    keep: Bools = ~np.isnan(x) & (x != 0)
    return keep


def optimal_starts(ascending: Floats, m: int) -> Ints:
    """Where the groups of an optimal grouping start.

    >>> optimal_starts(np.array([1.0, 2, 3, 10, 11, 12, 13]), 3).tolist()
    [0, 3]
    """
    size = np.zeros(ascending.size + 1, dtype=np.uint8 if m <= 128 else np.int32)
    kernels.optimal_sizes(ascending, m, size)
    starts: Ints = kernels.starts_from(size, ascending.size)
    return starts


def fixed_starts(n: int, m: int) -> Ints:
    """Groups of m from the largest value down; the lowest group takes the remainder."""
    starts = np.arange(n // m, dtype=np.int64) * m + n % m
    starts[0] = 0
    return starts


def _waves(records: Records, wave: str | None) -> list[Ints | slice]:
    if wave is None:
        return [slice(None)]
    records.require([wave])
    found = coded(records[wave])
    if (found.index < 0).any():
        rows = np.flatnonzero(found.index < 0) + 1
        hint = "say for every record to which wave it belongs."
        raise BadOption(f"column {wave!r} is blank", where=f"{records.where}, rows {listed(rows.tolist())}", hint=hint)
    return [np.flatnonzero(found.index == number) for number in range(len(found.codes))]


def _refuse_bad_options(m: int, method: str, keep_variance: bool, columns: Sequence[str]) -> None:
    if not columns:
        raise BadOption("no column to microaggregate", hint="name at least one.")
    if method not in ("optimal", "fixed", "mdav"):
        raise BadOption(f"method {method!r} is not known", hint="one of 'optimal', 'fixed', 'mdav'.")
    if m < 2:
        raise BadOption("a group needs at least two units", hint="m is 3 or more; 3 is usual.")
    if keep_variance and m < 3:
        raise BadOption("a group that keeps its variance needs at least three units", hint="4 is usual.")
    if keep_variance and method == "mdav":
        raise BadOption("keep_variance does not go with method 'mdav'", hint="choose method 'optimal'.")


def _refuse_small(records: Records, columns: Sequence[str], m: int, waves: Sequence[Ints | slice]) -> None:
    for name in columns:
        for rows in waves:
            found = int(usable(records[name][rows]).sum())
            if 0 < found < m:
                raise TooFewUnits.in_column(name, found, m, records.where)


def _facts(parts: Sequence[Grouping], keep_variance: bool) -> dict[str, float | int]:
    total = sum(p.total for p in parts)
    facts: dict[str, float | int] = {
        "groups": sum(p.groups for p in parts),
        "variance lost": round(sum(p.lost for p in parts) / total, 6) if total > 0 else 0.0,
    }
    if keep_variance:
        facts |= {"groups split 2 to rest": sum(p.ruled for p in parts)}
        facts |= {"groups at their mean": sum(p.fallen for p in parts)}
    return facts


def _warn(found: dict[str, list[Grouping]]) -> None:
    constant = [n for n, parts in found.items() if any(p.groups for p in parts) and all(p.total == 0 for p in parts)]
    if constant:
        warnings.warn(
            f"column {listed(constant)} is constant: microaggregation leaves it as it is",
            ProtectionWarning,
            stacklevel=3,
        )
    fallen = {n: sum(p.fallen for p in parts) for n, parts in found.items()}
    if any(fallen.values()):
        told = ", ".join(f"{n!r} {number}" for n, number in fallen.items() if number)
        warnings.warn(
            f"groups whose lower values would be negative got their mean, and lost their variance: {told}",
            ProtectionWarning,
            stacklevel=3,
        )


def _multivariate(records: Records, columns: Sequence[str], m: int, waves: Sequence[Ints | slice]) -> Protected:
    matrix = np.column_stack([records[name] for name in columns])
    blank = np.flatnonzero(np.isnan(matrix).any(axis=1)) + 1
    if blank.size:
        raise NotFinite(
            "MDAV groups whole records, and some have missing values",
            where=f"{records.where}, rows {listed(blank.tolist())}",
            hint="leave these records out, or group each column on its own with method 'optimal'.",
        )
    for rows in waves:
        if len(matrix[rows]) < m:
            raise TooFewUnits.in_column(listed(columns), len(matrix[rows]), m, records.where)
    groups = 0
    new = np.empty_like(matrix)
    for rows in waves:
        new[rows], number = mdav_values(matrix[rows], m)
        groups += number
    changed: dict[str, Column] = {name: np.ascontiguousarray(new[:, k]) for k, name in enumerate(columns)}
    return Protected(records.with_columns(changed), "microaggregation (MDAV)", {"groups": groups})
