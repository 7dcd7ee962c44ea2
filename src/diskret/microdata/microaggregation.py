"""Microaggregation: values are replaced by what they have in common with at least m - 1 others.

Univariate (each column on its own): sorted values are cut into groups of m neighbours, or optimally into groups of
m to 2m - 1 (Hansen and Mukherjee 2003); a group gets its mean, or two values with the group's mean and variance.
Multivariate (MDAV): whole records are grouped. Zeros and missing values of the univariate methods keep their state.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from diskret.microdata import _kernels as kernels
from diskret.microdata._mdav_kernels import mdav
from diskret.microdata.columns import Column, Protected, Records, read_records
from diskret.microdata.cuts import cuts_of
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption, NotFinite, ProtectionWarning, TooFewUnits, listed

MOST_TOGETHER, BLOCK = 50_000, 5_000
"""Records among which MDAV looks for groups, as the effort grows with the square; larger files are cut into blocks of
similar records. On 30,000 made-up firms with five columns blocks of 10,000, 5,000 and 2,000 lose 5.09, 5.12 and 5.14 %
of the variance, one block 4.96 %."""
Method = Literal["optimal", "fixed", "mdav"]
EXTREME = 400
"""Exponents from which squares come near the end of the numbers."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Grouping:
    """One column, or one wave of it, after grouping: the values in their places and what happened inside."""

    values: Floats
    groups: int = 0
    total: float = 0.0
    """Squared deviations of all grouped values from their mean (SST); values scaled down where they are extreme."""
    lost: float = 0.0
    """Squared deviations that are gone from the result, likewise."""
    ruled: int = 0
    fallen: int = 0


def microaggregate(
    source: object,
    columns: Sequence[str],
    *,
    m: int | None = None,
    method: Method = "optimal",
    keep_variance: bool = False,
    wave: str | None = None,
) -> Protected:
    """Replace the values of ``columns`` by values that at least ``m`` records share (half a group: ``keep_variance``).

    ``method`` is ``"optimal"`` (groups of m to 2m - 1 with the smallest variance inside), ``"fixed"`` (m each from the
    largest down, the last group takes the remainder) or ``"mdav"`` (whole records, groups of m to 2m - 1, columns
    standardised). ``m`` is 3, or 4 with ``keep_variance``. With ``wave``, the waves of a panel are grouped separately;
    without, several records of one unit can make up a group by themselves.

    >>> done = microaggregate({"turnover": [100.0, 98, 97, 51, 50, 49, 0, None]}, ["turnover"])
    >>> done.frame["turnover"].round(2).tolist()
    [98.33, 98.33, 98.33, 50.0, 50.0, 50.0, 0.0, nan]
    """
    size = m if m is not None else 4 if keep_variance else 3
    refuse_bad_grouping(size, method, keep_variance, columns)
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
    method_words = f"{words}{', variance kept' * keep_variance})"
    return Protected(frame=records.with_columns(changed), method=method_words, facts=facts)


def group_column(x: Floats, m: int, fixed: bool = False, keep_variance: bool = False) -> Grouping:
    """Group one column; zeros and missing values stay what they are.

    >>> group_column(np.array([1.0, 2, 3, 10, 11, 12]), 3).values.tolist()
    [2.0, 2.0, 2.0, 11.0, 11.0, 11.0]
    """
    ascending, place = kernels.sorted_usable(np.ascontiguousarray(x))
    if not ascending.size:
        return Grouping(values=x)
    # a power of two is exact; without it squares of extreme values would leave the range of numbers
    exponent = int(np.frexp(max(abs(ascending[0]), abs(ascending[-1])))[1])
    extreme = abs(exponent) > EXTREME
    if extreme:
        ascending = np.ldexp(ascending, -exponent)
    starts = fixed_starts(ascending.size, m) if fixed else optimal_starts(ascending, m)
    new = np.empty_like(ascending)
    within, lost, ruled, fallen = kernels.group_values(ascending, starts, keep_variance, new)
    out = x.copy()
    out[place] = np.ldexp(new, exponent) if extreme else new
    return Grouping(
        values=out, groups=starts.size, total=float(kernels.moments(ascending)[1]),
        lost=lost if keep_variance else within, ruled=int(ruled), fallen=int(fallen),
    )  # fmt: skip


def group_stretch(ascending: Floats, m: int, most: float, *, fixed: bool, keep_variance: bool) -> Floats:
    """The new values of one stretch of a column between two cuts; ``most`` is the column's largest absolute value."""
    exponent = int(np.frexp(most)[1])
    extreme = abs(exponent) > EXTREME
    values = np.ldexp(ascending, -exponent) if extreme else ascending
    starts = fixed_starts(values.size, m) if fixed else _stretch_starts(values, m)
    new = np.empty_like(values)
    kernels.group_values(values, starts, keep_variance, new)
    return np.ldexp(new, exponent) if extreme else new


def optimal_starts(ascending: Floats, m: int) -> Ints:
    """Where the groups of an optimal grouping start; a long column is cut where that loses nothing.

    >>> optimal_starts(np.array([1.0, 2, 3, 10, 11, 12, 13]), 3).tolist()
    [0, 3]
    """
    cuts = cuts_of(ascending, m)
    return np.concatenate([a + _stretch_starts(ascending[a:b], m) for a, b in pairwise(cuts.tolist())])


def _stretch_starts(ascending: Floats, m: int) -> Ints:
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
    found = records.classes(wave, "say for every record to which wave it belongs.")
    return [np.flatnonzero(found.index == number) for number in range(len(found.codes))]


def refuse_bad_grouping(m: int, method: str, keep_variance: bool, columns: Sequence[str]) -> None:
    """Refuse groups that cannot be made."""
    if not columns:
        raise BadOption("no column to microaggregate", hint="name at least one.")
    if method not in ("optimal", "fixed", "mdav"):
        raise BadOption(f"method {method!r} is not known", hint="one of 'optimal', 'fixed', 'mdav'.")
    if m < 2:
        raise BadOption("a group needs at least two units", hint="m is 3 or more; 3 is usual.")
    if keep_variance and m < 3:
        raise BadOption("a group that keeps its variance needs at least three units", hint="4 is usual.")
    if keep_variance and method == "mdav":
        raise BadOption("keep_variance cannot be combined with method 'mdav'", hint="choose method 'optimal'.")


def _refuse_small(records: Records, columns: Sequence[str], m: int, waves: Sequence[Ints | slice]) -> None:
    for name in columns:
        for rows in waves:
            found = int(np.count_nonzero(np.nan_to_num(records[name][rows], nan=0.0)))
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
    groups, total, fallen = (
        {name: sum(getattr(p, what) for p in parts) for name, parts in found.items()}
        for what in ("groups", "total", "fallen")
    )
    constant = [name for name in found if groups[name] and not total[name]]
    if constant:
        words = f"column {listed(constant)} is constant: microaggregation leaves it as it is"
        warnings.warn(words, ProtectionWarning, stacklevel=3)
    told = ", ".join(f"{name!r} {number}" for name, number in fallen.items() if number)
    if told:
        words = f"groups whose lower values would be negative got their mean, and lost their variance: {told}"
        warnings.warn(words, ProtectionWarning, stacklevel=3)


def _multivariate(records: Records, columns: Sequence[str], m: int, waves: Sequence[Ints | slice]) -> Protected:
    matrix = np.column_stack([records[name] for name in columns])
    hint = "leave these records out, or group each column on its own with method 'optimal'."
    what = "MDAV groups whole records, and some have missing values"
    records.refuse(np.isnan(matrix).any(axis=1), what, hint, NotFinite)
    for rows in waves:
        if len(matrix[rows]) < m:
            raise TooFewUnits.in_column(listed(columns), len(matrix[rows]), m, records.where)
    groups = blocks = 0
    total = lost = 0.0
    new = np.empty_like(matrix)
    for rows in waves:
        here = matrix[rows]
        apart = similar_blocks(here, BLOCK if len(here) > MOST_TOGETHER else len(here))
        made = np.empty_like(here)
        for block in apart:
            made[block], number = mdav_values(here[block], m)
            groups += number
        new[rows], blocks = made, blocks + len(apart)
        sd = here.std(axis=0)
        scale = np.where(sd > 0, sd, 1.0)
        total += float((((here - here.mean(axis=0)) / scale) ** 2).sum())
        lost += float((((here - made) / scale) ** 2).sum())
    changed: dict[str, Column] = {name: np.ascontiguousarray(new[:, k]) for k, name in enumerate(columns)}
    facts: dict[str, float | int] = {"groups": groups, "variance lost": round(lost / total, 6) if total > 0 else 0.0}
    if blocks > len(waves):
        facts["blocks"] = blocks
    return Protected(frame=records.with_columns(changed), method="microaggregation (MDAV)", facts=facts)


def similar_blocks(matrix: Floats, most: int) -> list[Ints | slice]:
    """Records in blocks of at most ``most``: halved at the median of the column that varies most, again and again.

    >>> [block.tolist() for block in similar_blocks(np.array([[1.0], [9], [2], [8]]), 2)]
    [[0, 2], [1, 3]]
    """
    if len(matrix) <= most:
        return [slice(None)]
    sd = matrix.std(axis=0)
    scaled = matrix / np.where(sd > 0, sd, 1.0)
    done: list[Ints | slice] = []
    waiting = [np.arange(len(matrix))]
    while waiting:
        block = waiting.pop()
        if block.size <= most:
            done.append(block)
            continue
        values = scaled[block]
        column = values[:, int(np.argmax(values.std(axis=0)))]
        order = np.argsort(column, kind="stable")
        waiting += [np.sort(block[order[block.size // 2 :]]), np.sort(block[order[: block.size // 2]])]
    return done


def mdav_values(matrix: Floats, m: int) -> tuple[Floats, int]:
    """Every record replaced by the mean of its group of m to 2m - 1 similar ones, and the number of groups.

    Distances are between columns standardised to variance one; constant columns do not count.

    >>> values, groups = mdav_values(np.array([[1.0, 1], [2, 2], [3, 3], [10, 10], [11, 11], [12, 12]]), 3)
    >>> values[:, 0].tolist(), groups
    ([2.0, 2.0, 2.0, 11.0, 11.0, 11.0], 2)
    """
    sd = matrix.std(axis=0)
    scaled = (matrix - matrix.mean(axis=0)) / np.where(sd > 0, sd, 1.0)
    group, groups = mdav(np.ascontiguousarray(scaled), m)
    members = np.bincount(group, minlength=groups)
    out = np.empty_like(matrix)
    for k in range(matrix.shape[1]):
        out[:, k] = (np.bincount(group, weights=matrix[:, k], minlength=groups) / members)[group]
    return out, int(groups)
