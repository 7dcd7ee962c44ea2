"""What an attack achieved: correct and usable assignments, by value and by combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.exact_sums import ExactSum, exact_sum
from diskret.model.notebook import Told
from diskret.risk.classes import Column
from diskret.risk.linkage import Links
from diskret.risk.options import LinkageOptions
from diskret.risk.section import Section

SHOWN = 30
SLACK = 1e-9
"""A deviation of exactly the tolerance is usable; the last bits of a float do not decide."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Evidence:
    """Who is who: for every external unit its row in the released file and in the file its values are judged by."""

    released: Ints
    truth: Ints
    checkable: int
    known: bool = True


@dataclass(frozen=True, kw_only=True)
class Combination:
    """Units with the same codes, and how many of them were found."""

    codes: tuple[str, ...]
    units: int
    """External units whose true record is in the released file."""
    correct: int
    usable: Mapping[str, int]
    """Correct assignments with a usable value, by value."""

    @property
    def risk(self) -> float:
        """Correct and usable assignments over checkable units; the value that tells most counts.

        >>> Combination(codes=("Ost", "500-999", "13"), units=4, correct=3, usable={"turnover": 3}).risk
        0.75
        """
        return max(self.usable.values(), default=self.correct) / self.units


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Attack(Told):
    """Outcome of an attack. Rows and partners are confidential; numbers are for the office, not for the public."""

    method: str
    units: int
    """External units."""
    checkable: int
    """External units whose true record is in the released file."""
    assigned: int
    correct: int
    usable: Mapping[str, int]
    """Correct assignments whose value is usable, by value."""
    near: int
    """Units whose true record is among the nearest candidates."""
    perturbation: Mapping[str, float]
    """Mean relative change of the values of true pairs; zeros left out."""
    usable_values: Mapping[str, float]
    """Share of values of true pairs within the tolerance, whether or not anybody finds them."""
    by: tuple[str, ...]
    combinations: tuple[Combination, ...]
    """Combinations, the riskiest first."""
    usable_within: float
    cap: float
    truth_known: bool
    partner: Ints
    """Row in the released file assigned to every external unit, -1 if none."""
    distance: Floats
    candidates: Ints
    blocks: int
    optimal: int

    @property
    def true_match_rate(self) -> float:
        """Correct assignments over checkable units."""
        return self.correct / self.checkable if self.checkable else 0.0

    @property
    def precision(self) -> float:
        """Correct assignments over all assignments: how far the attacker may trust one."""
        return self.correct / self.assigned if self.assigned else 0.0

    @property
    def exceeding(self) -> tuple[Combination, ...]:
        """Combinations with a risk above the cap; exactly the cap passes."""
        return tuple(c for c in self.combinations if c.risk > self.cap + SLACK)

    @property
    def safe(self) -> bool:
        """Whether who is who was known, and no combination exceeds the cap."""
        return self.truth_known and not self.exceeding

    def summary(self) -> dict[str, object]:
        """Counts and rates only."""
        return {
            "method": self.method,
            "units": self.units,
            "checkable": self.checkable,
            "assigned": self.assigned,
            "correct": self.correct,
            "true match rate": round(self.true_match_rate, 6),
            "precision": round(self.precision, 6),
            "among the nearest": self.near,
            "usable": dict(self.usable),
            "mean perturbation": {k: round(v, 6) for k, v in self.perturbation.items()},
            "usable values": {k: round(v, 6) for k, v in self.usable_values.items()},
            "combinations": len(self.combinations),
            "exceeding": len(self.exceeding),
            "safe": self.safe,
        }

    def __str__(self) -> str:
        head = f"{self.method}: {self.units:,} external units, {self.assigned:,} assigned"
        if not self.truth_known:
            return f"{head}; who is who is not known, so nothing is judged: name it with unit=... or aligned=True"
        lines = [
            f"{head}; {self.checkable:,} checkable, {self.correct:,} correct: true match rate "
            f"{self.true_match_rate:.3f}, precision {self.precision:.3f}"
        ]
        for name, count in self.usable.items():
            lines.append(
                f"  {name}: {count:,} correct and within {100 * self.usable_within:g} %; mean perturbation "
                f"{100 * self.perturbation[name]:.1f} %, {100 * self.usable_values[name]:.0f} % of values usable"
            )
        if self.combinations:
            lines.append(
                f"  {len(self.combinations):,} combinations of {', '.join(self.by)}: {len(self.exceeding):,} above "
                f"the cap of {self.cap:g}, highest risk {self.combinations[0].risk:.2f}"
            )
        return "\n".join(lines)

    def section(self) -> Section:
        """What a report says about it: the riskiest combinations."""
        text = str(self).replace("\n  ", ". ") + "."
        if len(self.combinations) > SHOWN:
            text += f" The table shows the {SHOWN} riskiest of {len(self.combinations):,} combinations."
        columns = (*self.by, "checkable units", "correct", *(f"{n} usable" for n in self.usable), "risk", "passes")
        rows = tuple(
            (
                *c.codes,
                c.units,
                c.correct,
                *c.usable.values(),
                round(c.risk, 3),
                "yes" if c.risk <= self.cap + SLACK else "no",
            )
            for c in self.combinations[:SHOWN]
        )
        return Section(
            title="Attack by record linkage",
            text=text,
            columns=columns,
            rows=rows,
            chart=self.chart() if rows else None,
        )

    def chart(self) -> dict[str, object]:
        """Risk of the combinations over their number of units, with the cap, as a Vega-Lite chart."""
        points = [
            {"units": c.units, "risk": c.risk, "combination": " / ".join(c.codes)} for c in self.combinations[:2000]
        ]
        y = {"field": "risk", "type": "quantitative", "scale": {"domain": [0, 1]}}
        return {
            "title": "Risk by combination",
            "width": 520,
            "height": 280,
            "layer": [
                {
                    "data": {"values": points},
                    "mark": {"type": "circle", "opacity": 0.6},
                    "encoding": {
                        "x": {
                            "field": "units",
                            "type": "quantitative",
                            "scale": {"type": "log"},
                            "title": "checkable units",
                        },
                        "y": y,
                        "tooltip": [{"field": "combination"}, {"field": "units"}, {"field": "risk"}],
                    },
                },
                {
                    "data": {"values": [{"risk": self.cap}]},
                    "mark": {"type": "rule", "strokeDash": [4, 4]},
                    "encoding": {"y": y},
                },
            ],
        }


def is_usable(released: Floats, true: Floats, within: float = 0.10) -> Bools:
    """Whether a released value tells the true one: off by at most ``within`` of it.

    >>> is_usable(np.array([110.0, 110.5, 0.0]), np.array([100.0, 100.0, 0.0]))
    array([ True, False,  True])
    """
    with np.errstate(invalid="ignore"):
        close: Bools = np.abs(released - true) <= within * np.abs(true) * (1 + SLACK)
    return close


@dataclass(frozen=True, eq=False, kw_only=True)
class Seen:
    """What is known of some external units: their true records, the values there and as they are, their codes."""

    record: Ints
    """Row of the true record in the released file, -1 if it is not there."""
    judged: Bools
    """Whether the true values are known as well."""
    values: Mapping[str, tuple[Floats, Floats]]
    """Values of the true record as released, and as they are."""
    groups: Mapping[str, Column]


@dataclass(frozen=True, eq=False, kw_only=True)
class Value:
    """How one value of true pairs changed."""

    known: int = 0
    """Pairs that have it in both files."""
    close: int = 0
    usable: int = 0
    """Pairs that were found, and have it close."""
    change: ExactSum = field(default_factory=ExactSum)

    def __add__(self, other: Value) -> Value:
        return Value(
            known=self.known + other.known, close=self.close + other.close, usable=self.usable + other.usable,
            change=self.change + other.change,
        )  # fmt: skip


@dataclass(frozen=True, eq=False, kw_only=True)
class Tally:
    """What an attack achieved against some of the units; those of all units add up, in any order."""

    units: int = 0
    assigned: int = 0
    correct: int = 0
    near: int = 0
    checkable: int = 0
    optimal: int = 0
    values: Mapping[str, Value] = field(default_factory=dict)
    shapes: Mapping[tuple[str | None, ...], Ints] = field(default_factory=dict)
    """By combination of codes: units, correct ones, and of these the usable ones by value."""

    def __add__(self, other: Tally) -> Tally:
        shapes = dict(self.shapes)
        for codes, counts in other.shapes.items():
            shapes[codes] = shapes[codes] + counts if codes in shapes else counts
        values = {name: self.values.get(name, Value()) + value for name, value in other.values.items()}
        numbers = {
            name: getattr(self, name) + getattr(other, name)
            for name in ("units", "assigned", "correct", "near", "checkable", "optimal")
        }
        return Tally(**numbers, values={**self.values, **values}, shapes=shapes)


def tally(links: Links, seen: Seen, within: float) -> Tally:
    """Compare what was assigned with who is who."""
    checkable = seen.record >= 0
    correct = checkable & (links.partner == seen.record)
    near = checkable & (links.candidates == seen.record[:, None]).any(axis=1)
    usable, values = [], {}
    for name, (theirs, own) in seen.values.items():
        close = is_usable(theirs, own, within)
        usable.append(correct & seen.judged & close)
        known = seen.judged & ~np.isnan(theirs) & ~np.isnan(own)
        moved = known & (own != 0)
        change = exact_sum(np.abs(theirs[moved] - own[moved]) / np.abs(own[moved]))
        values[name] = Value(
            known=int(known.sum()), close=int((close & known).sum()), usable=int(usable[-1].sum()), change=change
        )
    return Tally(
        units=int(links.partner.size), assigned=int((links.partner >= 0).sum()), correct=int(correct.sum()),
        near=int(near.sum()), checkable=int(checkable.sum()), optimal=links.optimal, values=values,
        shapes=_shapes(list(seen.groups.values()), seen.judged, [correct, *usable]),
    )  # fmt: skip


def _shapes(groups: Sequence[Column], judged: Bools, masks: Sequence[Bools]) -> dict[tuple[str | None, ...], Ints]:
    """By combination of codes how many units are judged, and how many of them each mask holds for."""
    if not groups or not judged.any():
        return {}
    rows = np.stack([column.codes[judged] for column in groups], axis=1)
    shapes, place = np.unique(rows, axis=0, return_inverse=True)
    place = place.reshape(-1)
    counts = [np.bincount(place[mask[judged]], minlength=len(shapes)) for mask in (judged, *masks)]
    codes = [tuple(g.labels[c] if c >= 0 else None for c, g in zip(shape, groups, strict=True)) for shape in shapes]
    return dict(zip(codes, np.stack(counts, axis=1), strict=True))


def judge(
    links: Links,
    evidence: Evidence,
    targets: Mapping[str, tuple[Floats, Floats]],
    groups: Mapping[str, Column],
    options: LinkageOptions,
) -> Attack:
    """What an attack achieved.

    ``targets`` are values as released and as they are, ``groups`` the columns that form combinations.
    """
    record, in_truth = np.maximum(evidence.released, 0), np.maximum(evidence.truth, 0)
    seen = Seen(
        record=evidence.released,
        judged=(evidence.released >= 0) & (evidence.truth >= 0),
        values={name: (released[record], true[in_truth]) for name, (released, true) in targets.items()},
        groups={name: replace(column, codes=column.codes[in_truth]) for name, column in groups.items()},
    )
    return judged(tally(links, seen, options.usable_within), links, options, by=tuple(groups), known=evidence.known)


def judged(counted: Tally, links: Links, options: LinkageOptions, *, by: tuple[str, ...], known: bool) -> Attack:
    """The outcome of an attack from the tally of all units."""
    names = tuple(counted.values)
    combinations = [
        Combination(
            codes=tuple("missing" if code is None else code for code in codes),
            units=int(counts[0]),
            correct=int(counts[1]),
            usable={name: int(n) for name, n in zip(names, counts[2:], strict=True)},
        )
        for codes, counts in counted.shapes.items()
    ]
    return Attack(
        method=options.method, units=counted.units, checkable=counted.checkable, assigned=counted.assigned,
        correct=counted.correct, near=counted.near,
        usable={name: value.usable for name, value in counted.values.items()},
        perturbation={name: value.change.mean for name, value in counted.values.items()},
        usable_values={name: v.close / v.known if v.known else 0.0 for name, v in counted.values.items()},
        by=by, combinations=tuple(sorted(combinations, key=lambda c: (-c.risk, -c.units, c.codes))),
        usable_within=options.usable_within, cap=options.cap, truth_known=known, **vars(links),
    )  # fmt: skip
