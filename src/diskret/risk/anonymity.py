"""k-anonymity, l-diversity, t-closeness and their relatives, on a file as it would be released.

A class is a set of records with equal keys. Definitions follow the literature; where a widespread program computes
something else under the same name, docs/risk.md says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import exp, inf

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.notebook import Told
from diskret.risk._class_kernels import bucket, diversity, recursive_c
from diskret.risk.classes import Classes, Column, classes_of, coded, counted, keys_given, open_records
from diskret.risk.section import Section

SIZES_SHOWN = (2, 3, 5, 10)
SHOWN = {
    "entropy": "l entropy", "recursive": "c recursive", "t_equal": "t equal", "t_ordered": "t ordered",
    "alpha": "alpha", "beta": "beta", "delta": "delta",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Diversity:
    """How much the classes tell about one sensitive attribute; the worst class counts."""

    distinct: int
    """Fewest different values in a class: l of distinct l-diversity."""
    entropy: float
    """exp of the smallest entropy of a class: l of entropy l-diversity."""
    recursive: float
    """Smallest c so that recursive (c,l)-diversity holds for every larger one, with l = distinct."""
    alpha: float
    """Largest share of one value in a class: alpha of (alpha,k)-anonymity."""
    t_equal: float
    """t of t-closeness, every two different values equally far apart."""
    t_ordered: float
    """t of t-closeness, values as far apart as their ranks."""
    beta: float
    """Largest relative gain (q - p) / p: beta of basic beta-likeness."""
    enhanced_beta: float
    """Smallest beta of enhanced beta-likeness; infinite if some gain exceeds -ln p."""
    delta: float
    """Largest |ln(q / p)| over the values of a class: delta of delta-disclosure privacy."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Anonymity(Told):
    """Classes of equal keys, and what they tell about sensitive attributes."""

    keys: tuple[str, ...]
    records: int
    classes: int
    k: int
    """Size of the smallest class."""
    alone: int
    """Records that are alone in their class."""
    smaller: Mapping[int, int]
    """How many records lie in classes with fewer than this many records."""
    sizes: Ints
    """Size of the class of every record."""
    sensitive: Mapping[str, Diversity]

    def __str__(self) -> str:
        lines = [
            f"{self.records:,} records in {self.classes:,} classes by {', '.join(self.keys)}: k = {self.k}, "
            f"{self.alone:,} alone"
        ]
        for name, d in self.sensitive.items():
            lines.append(
                f"  {name}: l = {d.distinct} (entropy {d.entropy:.2f}, recursive c {d.recursive:.3g}), "
                f"t = {d.t_equal:.3f} (ordered {d.t_ordered:.3f}), alpha {d.alpha:.3g}, beta {d.beta:.3g}, "
                f"delta {d.delta:.3g}"
            )
        return "\n".join(lines)

    def section(self) -> Section:
        """What a report says about it."""
        text = (
            f"{self.records:,} records fall into {self.classes:,} classes of equal {', '.join(self.keys)}; the "
            f"smallest has {self.k}, {self.alone:,} records are alone. "
            + ", ".join(f"{n:,} records in classes below {size}" for size, n in self.smaller.items() if size > 2)
            + "."
        )
        columns = ("sensitive", "l distinct", *SHOWN.values())
        rows = tuple(
            (name, d.distinct, *(round(float(getattr(d, f)), 4) for f in SHOWN)) for name, d in self.sensitive.items()
        )
        return Section(title="k-anonymity, l-diversity, t-closeness", text=text, columns=columns, rows=rows)


def measure_anonymity(
    data: object, *, keys: Sequence[str], sensitive: Sequence[str] = (), others_known: bool = False,
    engine: object = "duckdb",
) -> Anonymity:  # fmt: skip
    """Measure how well records hide behind others with the same keys.

    ``keys`` are what an attacker may know, ``sensitive`` what is to be learnt; numbers are ordered as numbers. With
    ``others_known`` the other sensitive attributes are known as well. A missing key or value is a code of its own. On a
    Spark ``engine`` (as in `tabulate`) records stay where they are: combinations are counted there, measured here, and
    ``sizes`` has no order.

    >>> file = {"age": [20, 20, 20, 30, 30], "illness": ["flu", "flu", "cold", "flu", "cancer"]}
    >>> found = measure_anonymity(file, keys=["age"], sensitive=["illness"])
    >>> found.k, found.sensitive["illness"].distinct, round(found.sensitive["illness"].t_equal, 3)
    (2, 2, 0.3)
    """
    names = keys_given(keys)
    wanted = keys_given(sensitive, "sensitive attributes") if len(sensitive) else []
    every = [*names, *wanted]
    if engine == "duckdb":
        made = coded(open_records(data, every), every)
        frequency = np.ones(made[0].codes.size, dtype=np.int64)
    else:
        made, frequency = counted(data, every, engine)
    columns = dict(zip(every, made, strict=True))
    own = [columns[n] for n in names]
    classes = classes_of(own, frequency)
    found = {}
    for name in wanted:
        more = [columns[other] for other in wanted if other != name] if others_known else []
        found[name] = _diversity(classes_of([*own, *more], frequency) if more else classes, columns[name], frequency)
    sizes = classes.sizes[classes.ids] if engine == "duckdb" else np.repeat(classes.sizes, classes.sizes)
    smaller = {size: int((sizes < size).sum()) for size in SIZES_SHOWN}
    return Anonymity(
        keys=tuple(names), records=int(sizes.size), classes=classes.count, k=int(classes.sizes.min()),
        alone=int((classes.sizes == 1).sum()), smaller=smaller, sizes=sizes, sensitive=found,
    )  # fmt: skip


def _diversity(classes: Classes, column: Column, frequency: Ints) -> Diversity:
    present = column.codes.astype(np.int64) + 1  # 0 is missing
    counts = np.bincount(present, weights=frequency, minlength=column.size + 1).astype(np.int64)
    used = np.flatnonzero(counts)
    place = np.cumsum(counts > 0) - 1
    start, values, often = bucket(classes.ids, classes.count, place[present], used.size, frequency)
    found = diversity(start, values, often, counts[used] / frequency.sum())
    distinct = int(found[:, 0].min())
    beta, over = float(found[:, 5].max()), float(found[:, 7].max())
    return Diversity(
        distinct=distinct, entropy=exp(float(found[:, 2].min())),
        recursive=float(recursive_c(start, values, often, distinct)), alpha=float(found[:, 1].max()),
        t_equal=float(found[:, 3].max()), t_ordered=float(found[:, 4].max()), beta=beta,
        enhanced_beta=beta if over <= 1e-12 else inf, delta=float(found[:, 6].max()),
    )  # fmt: skip
