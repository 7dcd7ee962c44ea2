"""How risky a file is: individual risk, population uniques by several models, special uniques, in one look."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.errors import BadOption, ProtectionWarning
from diskret.model.notebook import Told
from diskret.model.source import Relation
from diskret.risk.classes import Classes, Column, classes_of, coded, keys_given, numbered, numbers_of, open_records
from diskret.risk.individual import IndividualRisk, individual_risk, refuse_bad_weights
from diskret.risk.section import Section
from diskret.risk.special import SpecialUniques, special_uniques
from diskret.risk.uniqueness import (
    MOST_CELLS,
    Frequencies,
    Uniques,
    cells_of,
    ewens,
    frequencies,
    log_linear,
    pitman,
    poisson_gamma,
    zayatz,
)

APART = 3.0
THRESHOLDS = (0.01, 0.05, 0.1, 0.2, 0.5)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class FileRisk(Told):
    """Risk of a file: numbers per record are confidential, the summary is not."""

    keys: tuple[str, ...]
    records: int
    population: float
    alone: int
    """Records alone in the sample."""
    individual: IndividualRisk
    uniques: Mapping[str, Uniques]
    special: SpecialUniques | None

    def __str__(self) -> str:
        lines = [
            f"{self.records:,} records of {self.population:,.0f} units by {', '.join(self.keys)}: {self.alone:,} alone"
            f", {self.individual.expected:,.1f} re-identifications expected ({100 * self.individual.share:.2f} %)"
        ]
        lines += [
            f"  {name}: {u.population:,.0f} alone in the population, {u.sample:,.1f} of them in the file"
            for name, u in self.uniques.items()
        ]
        if self.special is not None:
            sizes = ", ".join(f"{n:,} of {s} keys" for s, n in enumerate(self.special.by_size, start=1) if n)
            found = f"{self.special.records:,} record{'s' if self.special.records != 1 else ''}"
            lines.append(f"  special uniques: {found}; minimal sets: {sizes or 'none'}")
        return "\n".join(lines)

    def section(self) -> Section:
        """What a report says about it."""
        above = ", ".join(f"{self.individual.above(t):,} above {t:g}" for t in THRESHOLDS)
        text = (
            f"{self.records:,} records stand for {self.population:,.0f} units; {self.alone:,} are alone by "
            f"{', '.join(self.keys)}. Expected re-identifications: {self.individual.expected:,.1f} "
            f"({100 * self.individual.share:.2f} %). Records by individual risk: {above}."
        )
        if self.special is not None:
            shares = ", ".join(f"{n} {100 * c:.0f} %" for n, c in self.special.contribution.items())
            text += f" Special uniques: {self.special.records:,} records; keys take part in their scores: {shares}."
        rows = tuple(
            (name, round(u.population, 1), round(u.sample, 1), "" if u.matches is None else round(u.matches, 1))
            for name, u in self.uniques.items()
        )
        columns = ("model", "alone in the population", "of them in the file", "expected correct matches")
        return Section(title="Risk of the file", text=text, columns=columns, rows=rows, chart=self.chart())

    def chart(self) -> dict[str, object]:
        """How many records have which individual risk, as a Vega-Lite chart."""
        edges = np.linspace(0, 1, 21)
        counts, _ = np.histogram(self.individual.risk, bins=edges)
        values = [
            {"from": float(a), "to": float(b), "records": int(c)}
            for a, b, c in zip(edges[:-1], edges[1:], counts, strict=True)
        ]
        return {
            "title": "Records by individual risk",
            "width": 520,
            "height": 240,
            "data": {"values": values},
            "mark": "bar",
            "encoding": {
                "x": {"field": "from", "type": "quantitative", "bin": {"binned": True}, "title": "individual risk"},
                "x2": {"field": "to"},
                "y": {"field": "records", "type": "quantitative", "scale": {"type": "symlog"}},
            },
        }


def measure_risk(
    data: object,
    *,
    keys: Sequence[str],
    weight: str | None = None,
    population: float | None = None,
    household: str | None = None,
    special: bool = True,
    largest: int | None = None,
) -> FileRisk:
    """Measure the risk of a file: who could be found by the keys, here and in the population it comes from.

    ``weight`` names the column with sampling weights; ``population`` is the number of units where there are none. With
    neither, the file is the whole population. ``household`` names a column that joins records; ``largest`` limits the
    size of the key sets looked at for special uniques.

    >>> file = {"sex": ["f", "f", "m", "m"], "age": [30, 30, 40, 50], "w": [10, 10, 10, 10]}
    >>> found = measure_risk(file, keys=["sex", "age"], weight="w")
    >>> found.alone, found.individual.risk.round(3)
    (2, array([0.083, 0.083, 0.256, 0.256]))
    """
    names = keys_given(keys)
    relation = open_records(data, [*names, *(c for c in (weight, household) if c)])
    columns = coded(relation, names)
    classes = classes_of(columns)
    records = int(classes.ids.size)
    weights, size = _weights(relation, weight, population, records)
    homes = numbered([coded(relation, [household])[0].codes])[0] if household else None
    sample = frequencies(classes, size)
    uniques = _uniques(columns, classes, sample)
    if uniques:
        _warn_disagreement(uniques)
    return FileRisk(
        keys=tuple(names),
        records=records,
        population=size,
        alone=int((classes.sizes == 1).sum()),
        individual=individual_risk(classes, weights, homes),
        uniques=uniques,
        special=special_uniques(columns, names, classes, sample.fraction, largest) if special else None,
    )


def _weights(
    relation: Relation, weight: str | None, population: float | None, records: int
) -> tuple[Floats | None, float]:
    """Sampling weights, if the file is not a whole population, and how many units they stand for."""
    if population is not None and population < records:
        raise BadOption(
            f"a population of {population:g} has fewer units than the file records", hint="give the number of units."
        )
    if weight is None:
        return (None, float(records)) if population is None else (np.full(records, population / records), population)
    weights = numbers_of(relation, [weight])[:, 0]
    refuse_bad_weights(weights)
    return weights, population or float(weights.sum())


def _uniques(columns: Sequence[Column], classes: Classes, sample: Frequencies) -> dict[str, Uniques]:
    """Population uniques by every model; none if the file is the whole population."""
    if sample.fraction >= 1:
        return {}
    cells = max(cells_of(columns), sample.classes)
    found = {
        "Poisson-gamma": poisson_gamma(sample, cells),
        "Ewens": ewens(sample),
        "Pitman": pitman(sample),
        "Zayatz": zayatz(sample),
        "log-linear, main effects": log_linear(columns, classes, sample.fraction),
    }
    if len(columns) > 2 and cells <= MOST_CELLS:
        found["log-linear, two-way"] = log_linear(columns, classes, sample.fraction, pairs=True)
    return found


def _warn_disagreement(uniques: Mapping[str, Uniques]) -> None:
    found = sorted((u.sample, name) for name, u in uniques.items())
    (low, least), (high, most) = found[0], found[-1]
    if high > APART * max(low, 1.0):
        warnings.warn(
            f"the models of population uniqueness are far apart: {least} expects {low:,.0f} records, "
            f"{most} {high:,.0f}",
            ProtectionWarning,
            stacklevel=3,
        )
