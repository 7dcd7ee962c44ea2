"""Three or more zonings at once: what only all of them together give away.

Unknown is how many units lie in every combination of zones. For two zonings these are flows, and one by one they are
exact; for more of them a programme says how many units a combination may have at most. What it says is less than the
smallest number is known to be too few. Where it says more, only with fractions of units, whole numbers are asked for;
what they leave open is undecided.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, UnknownCode
from diskret.model.given import whole
from diskret.model.lp import ALL_BUT_OPTIMAL, Answer, Matrix, Programme, Way
from diskret.model.source import open_source

NODES = 2_000
"""Nodes after which the whole numbers of one combination stay undecided."""
NEAR = 1e-6
"""Up to which a number of units is whole."""
MOST_NAMED = 20


@dataclass(frozen=True, eq=False, kw_only=True)
class Combinations:
    """Units in every combination of the zones of several zonings.

    >>> people = {"district": list("AAABB"), "grid": list("11222"), "school": list("xyxyx")}
    >>> Combinations.of(people, ["district", "grid", "school"])
    Combinations('district', 'grid', 'school': 5 combinations, 5 units)
    """

    names: tuple[str, ...]
    codes: tuple[tuple[str, ...], ...]
    at: tuple[Ints, ...]
    """Per zoning the zone of every combination."""
    units: Ints
    withheld: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Per zoning the zones whose totals are not published."""

    @classmethod
    def of(cls, data: Any, names: Sequence[str], withheld: Mapping[str, Sequence[str]] | None = None) -> Combinations:
        """From records with the codes of all zonings, one row per unit."""
        if len(set(names)) < 2 or len(set(names)) < len(names):
            raise BadOption("fewer than two zonings", hint="name each zoning once.")
        relation = open_source(data)
        relation.require(names)
        shown = ", ".join(f"{relation.code(name)} AS z{i}" for i, name in enumerate(names))
        keys = ", ".join(str(i + 1) for i in range(len(names)))
        query = f"SELECT {shown}, count(*) AS n FROM {relation.view} GROUP BY {keys} ORDER BY {keys}"
        rows = relation.query(query)
        if any(code is None for row in rows for code in row):
            raise BadOption(
                "rows without a code of a zoning", where=relation.where,
                hint="units outside all zones need a code of their own, such as 'outside': they are in the total.",
            )  # fmt: skip
        codes, at = [], []
        for i in range(len(names)):
            known, place = np.unique(np.array([row[i] for row in rows], dtype=object).astype(str), return_inverse=True)
            codes.append(tuple(known.tolist()))
            at.append(place.astype(np.int64).reshape(-1))
        for name, zones in (withheld or {}).items():
            unknown = [zone for zone in zones if name not in names or zone not in codes[list(names).index(name)]]
            if unknown:
                raise UnknownCode.in_column(name, unknown, codes[list(names).index(name)] if name in names else ())
        return cls(
            names=tuple(names), codes=tuple(codes), at=tuple(at),
            units=np.array([row[-1] for row in rows], dtype=np.int64), withheld=withheld or {},
        )  # fmt: skip

    def name_of(self, combination: int) -> str:
        """A combination in words."""
        zones = zip(self.names, self.codes, self.at, strict=True)
        return " with ".join(f"{name} {codes[at[combination]]}" for name, codes, at in zones)

    def __repr__(self) -> str:
        named = ", ".join(map(repr, self.names))
        return f"Combinations({named}: {self.units.size:,} combinations, {int(self.units.sum()):,} units)"


@dataclass(frozen=True, eq=False, kw_only=True)
class Together:
    """What the totals of all zonings together say of combinations with few units."""

    combinations: Combinations
    exposed: Ints
    """Combinations that everybody knows to have too few units."""
    because: tuple[tuple[tuple[str, str], ...], ...]
    """For each of them the zones whose totals say so."""
    undecided: Ints
    checked: int

    @property
    def safe(self) -> bool:
        """Whether nothing is known to have too few units, and nothing is undecided."""
        return not self.exposed.size and not self.undecided.size

    def report(self, most: int = MOST_NAMED) -> str:
        """What was found, in words."""
        lines = [f"{self.checked:,} small combinations checked against all zonings at once: "]
        if self.safe:
            return lines[0] + "none is known to have too few units"
        lines[0] += f"{self.exposed.size:,} are known to have too few units, {self.undecided.size:,} are undecided"
        for combination, zones in list(zip(self.exposed.tolist(), self.because, strict=True))[:most]:
            named = ", ".join(f"{name} {code}" for name, code in zones[:most])
            lines.append(f"  {self.combinations.name_of(combination)}: by the totals of {named or 'everything'}")
        lines += [f"  undecided: {self.combinations.name_of(c)}" for c in self.undecided[:most].tolist()]
        more = max(self.exposed.size - most, 0) + max(self.undecided.size - most, 0)
        return "\n".join([*lines, *([f"  and {more:,} more"] if more else [])])

    def __str__(self) -> str:
        return self.report()


def find_together(combinations: Combinations, min_units: int = 3) -> Together:
    """Combinations of zones that everybody knows to have fewer than ``min_units`` units, by all totals at once.

    The total of everything is taken to be known; of combinations in which nobody is everybody knows that they are
    empty. What two zonings give away is among it.

    >>> people = {"district": list("AAAAABBBBB"), "grid": list("1111222222"), "school": list("xxxyyyyyyy")}
    >>> print(find_together(Combinations.of(people, ["district", "grid", "school"])))
    2 small combinations checked against all zonings at once: 2 are known to have too few units, 0 are undecided
      district A with grid 1 with school y: by the totals of grid 2, school y
      district A with grid 2 with school y: by the totals of district B, grid 2
    """
    whole("smallest number of units", min_units, 1, "at least 1; 3 is usual.")
    units, shown = combinations.units, _published(combinations)
    small = np.flatnonzero((units > 0) & (units < min_units))
    matrix, totals = _rows(shown, units)
    size = units.size
    programme = Programme(
        matrix, totals, lower=np.zeros(size), upper=np.full(size, np.inf), cost=np.zeros(size),
        way=Way(doubted=ALL_BUT_OPTIMAL),
    )  # fmt: skip
    exposed, undecided, because = [], [], []
    settled = np.zeros(size, dtype=np.bool_)
    for one in small.tolist():
        if settled[one]:
            continue
        cost = np.zeros(size)
        cost[one] = -1.0
        programme.set_costs(cost)
        point = programme.best()
        if point is None:
            undecided.append(one)
        elif point[one] < min_units - NEAR:
            exposed.append(one)
            because.append(_zones(combinations, shown, programme.multipliers))
        elif (np.abs(point - np.rint(point)) < NEAR).all():
            # one point in whole numbers settles all that it leaves enough for
            settled |= point >= min_units - NEAR
        else:
            answer = _in_whole_numbers(matrix, totals, one, min_units)
            if answer is Answer.INFEASIBLE:
                exposed.append(one)
                because.append(_zones(combinations, shown, programme.multipliers))
            elif answer is not Answer.OPTIMAL:
                undecided.append(one)
    return Together(
        combinations=combinations, exposed=np.array(exposed, dtype=np.int64), because=tuple(because),
        undecided=np.array(undecided, dtype=np.int64), checked=small.size,
    )  # fmt: skip


def _published(combinations: Combinations) -> list[tuple[str, str, Bools]]:
    """Every published total with the combinations it counts; that of everything last."""
    found = []
    for name, codes, at in zip(combinations.names, combinations.codes, combinations.at, strict=True):
        hidden = set(combinations.withheld.get(name, ()))
        found += [(name, code, np.asarray(at == zone)) for zone, code in enumerate(codes) if code not in hidden]
    return [*found, ("", "everything", np.ones(combinations.units.size, dtype=np.bool_))]


def _rows(shown: Sequence[tuple[str, str, Bools]], units: Ints) -> tuple[Matrix, Floats]:
    places = [np.flatnonzero(inside) for _, _, inside in shown]
    start = np.append(0, np.cumsum([place.size for place in places])).astype(np.int64)
    matrix = Matrix(start, np.concatenate(places).astype(np.int64), np.ones(int(start[-1])), by_rows=True)
    return matrix, np.array([float(units[place].sum()) for place in places])


def _zones(combinations: Combinations, shown: Sequence[tuple[str, str, Bools]], weight: Floats) -> tuple[Any, ...]:
    """The zones whose totals bound a combination."""
    used = np.flatnonzero(np.abs(weight) > NEAR).tolist()
    return tuple((shown[i][0], shown[i][1]) for i in used if shown[i][0])


def _in_whole_numbers(matrix: Matrix, totals: Floats, one: int, least: int) -> Answer:
    """Whether a combination may have so many units if all have whole numbers."""
    size = int(matrix.at.max()) + 1
    lower = np.zeros(size)
    lower[one] = least
    programme = Programme(matrix, totals, lower=lower, upper=np.full(size, np.inf), whole=True, way=Way(nodes=NODES))
    return programme.solve()
