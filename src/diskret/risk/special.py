"""Special uniques (SUDA): records that few keys single out, hence likely to be alone in the population as well.

A minimal sample unique is a set of keys on which a record is alone, while on no smaller set it is. The fewer keys it
takes, and the more such sets a record has, the higher its score (Elliot, Manning, Haglin, Keane).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption
from diskret.risk._unique_kernels import first_uniques, minimal
from diskret.risk.classes import Classes, Column

MOST_KEYS = 20


@dataclass(frozen=True, eq=False, kw_only=True)
class SpecialUniques:
    """Minimal sample uniques of every record, and the scores they make."""

    score: Floats
    """SUDA score of every record, 0 where nothing singles it out: confidential."""
    dis_score: Floats
    """The score as a probability of being found, scaled to the risk of the file (DIS-SUDA)."""
    sets: Ints
    """How many minimal sets of 1, 2, ... keys every record has; shape (records, sizes)."""
    contribution: Mapping[str, float]
    """Share of the total score in which each key takes part."""
    dis: float
    """Probability that a unique match of a sample unique is correct (Skinner and Elliot)."""

    @property
    def records(self) -> int:
        """How many records have at least one minimal unique."""
        return int((self.score > 0).sum())

    @property
    def by_size(self) -> tuple[int, ...]:
        """How many minimal uniques of 1, 2, ... keys the file has."""
        return tuple(int(x) for x in self.sets.sum(axis=0))


def special_uniques(
    columns: Sequence[Column], names: Sequence[str], classes: Classes, fraction: float, largest: int | None = None
) -> SpecialUniques:
    """Minimal sample uniques of up to ``largest`` keys, and their scores.

    A set of s out of m keys scores (m - s) (m - s - 1) ... down to the largest size looked at. ``fraction`` is the
    sampling fraction for the DIS score.

    >>> def column(*codes): return Column(codes=np.array(codes, dtype=np.int32), labels=np.array([], dtype=object))
    >>> sex, age, school = column(0, 1, 1, 1), column(0, 0, 1, 1), column(0, 0, 1, 1)
    >>> from diskret.risk.classes import classes_of
    >>> found = special_uniques([sex, age, school], ["sex", "age", "school"], classes_of([sex, age, school]), 0.1)
    >>> found.score, found.by_size
    (array([2., 2., 0., 0.]), (1, 2, 0))
    """
    m, n = len(columns), columns[0].codes.size
    most = m if largest is None else largest
    if not 1 <= most <= m:
        raise BadOption(f"the largest set has {most} keys", hint=f"choose 1 to {m}.")
    if m > MOST_KEYS and most > 4:
        raise BadOption(
            f"{m} keys have too many subsets", hint=f"use at most {MOST_KEYS} keys, or look at sets of up to 4 keys."
        )
    kept = _two_of_each(classes)
    codes = np.stack([np.unique(c.codes, return_inverse=True)[1][kept] for c in columns]).astype(np.int32)
    record, keys = first_uniques(codes, codes.max(axis=1).astype(np.int64) + 1, most)
    order = np.argsort(record, kind="stable")
    record, keys = record[order], keys[order]
    keep = minimal(np.searchsorted(record, np.arange(kept.size + 1)), keys)
    record, keys = kept[record[keep]], keys[keep]
    size = np.bitwise_count(keys).astype(np.int64)
    worth = np.array([0.0, *(float(prod(m - i for i in range(s, min(most, m - 1) + 1))) for s in range(1, m + 1))])
    score: Floats = np.bincount(record, weights=worth[size], minlength=n).astype(np.float64)
    sets = np.zeros((n, most), np.int64)
    np.add.at(sets, (record, size - 1), 1)
    total = score.sum() or 1.0
    dis = _dis(classes, fraction)
    return SpecialUniques(
        score=score,
        dis_score=_dis_scores(score, dis, int((classes.sizes == 1).sum()), m),
        sets=sets,
        contribution={n: float(worth[size][(keys >> i) & 1 == 1].sum() / total) for i, n in enumerate(names)},
        dis=dis,
    )


def _two_of_each(classes: Classes) -> Ints:
    """At most two records of every class: a third one equal to them can make no difference."""
    order = np.argsort(classes.ids, kind="stable")
    start = np.cumsum(classes.sizes) - classes.sizes
    rank = np.arange(order.size) - np.repeat(start, classes.sizes)
    return np.sort(order[rank < 2])


def _dis(classes: Classes, fraction: float) -> float:
    alone, pairs = int((classes.sizes == 1).sum()), int((classes.sizes == 2).sum())
    if not alone:
        return 0.0
    return alone * fraction / (alone * fraction + 2 * pairs * (1 - fraction))


def _dis_scores(score: Floats, dis: float, alone: int, keys: int) -> Floats:
    """Spread the risk of the file over its uniques, by their scores."""
    made = np.zeros(score.size)
    special = score > 0
    if dis > 0 and special.any():
        power = score[special] ** (1 + (8 - keys) / 20)
        made[special] = 1 / (1 + (alone / dis - alone) / (power * (1 / power).sum()))
    return made
