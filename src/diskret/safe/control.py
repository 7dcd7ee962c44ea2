"""Which tables the anonymous file has to keep, key levels of attributes crossed, and how closely."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, listed
from diskret.model.hierarchy import Hierarchy

Levels = Mapping[str, Sequence["KeyLevel"]]
VARIANT_1 = tuple(10**i for i in range(1, 10))
"""Decadic: the number of digits less one, at most 9."""
VARIANT_2 = (10, 20, 50, 100, 200, 1_000, 10_000, 100_000, 1_000_000)
"""Finer between 10 and 1,000, where one unit of deviation is a larger relative error."""

Weights = Literal[0, 1, 2] | Sequence[int]
"""No weights, variant 1, variant 2, or the counts from which a cell gets one more."""


@dataclass(frozen=True, order=True, kw_only=True)
class KeyLevel:
    """One recoding of an attribute: level 1 are its finest codes, the next level their sums, and so on."""

    attribute: str
    level: int = 1

    def __str__(self) -> str:
        return self.attribute if self.level == 1 else f"{self.attribute}:{self.level}"


@dataclass(frozen=True, kw_only=True)
class ControlTable:
    """A table over key levels of different attributes; of the objects with counter 1 only, where one is named."""

    levels: tuple[KeyLevel, ...]
    counter: str | None = None

    @property
    def dimension(self) -> int:
        """Number of attributes crossed, the counter not among them."""
        return len(self.levels)

    def __str__(self) -> str:
        crossed = " x ".join(str(each) for each in self.levels)
        return f"{crossed} of {self.counter}" if self.counter else crossed


@dataclass(frozen=True, kw_only=True)
class Control:
    """What is controlled: all tables up to a dimension over all key levels, and listed ones.

    ``tables`` lists further tables, each by its key levels: ``"region"`` for the finest codes, ``"region:2"`` for
    their sums. ``counters`` maps the counter of a larger statistical unit (1 on one object of each unit, 0 elsewhere)
    to the attributes its tables are about. ``weights`` allow large cells a larger deviation: 0 none, 1 and 2 the
    printed variants, or the counts from which it is one more.

    >>> Control(up_to=1, tables=[["region:2", "sex"]]).tables
    (('region:2', 'sex'),)
    """

    up_to: int = 3
    tables: Sequence[Sequence[str]] = ()
    counters: Mapping[str, Sequence[str]] = field(default_factory=dict)
    weights: Weights = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "tables", tuple(tuple(each) for each in self.tables))
        object.__setattr__(self, "counters", {name: tuple(of) for name, of in self.counters.items()})


def weight_borders(weights: Weights) -> tuple[int, ...]:
    """The counts from which g is one higher.

    >>> weight_borders(2)[:3], weight_borders([100, 1000])
    ((10, 20, 50), (100, 1000))
    """
    if isinstance(weights, int):
        if weights not in (0, 1, 2):
            raise BadOption(f"weights = {weights}", hint="0, 1, 2, or a list of rising counts.")
        return ((), VARIANT_1, VARIANT_2)[weights]
    borders = tuple(int(w) for w in weights)
    if any(b < 1 for b in borders) or list(borders) != sorted(set(borders)):
        raise BadOption("the borders of the weights do not rise", hint="for example [10, 100, 1000].")
    return borders


def weight_classes(original: npt.NDArray[Any], weights: Weights) -> npt.NDArray[np.int32]:
    """The weight g of each cell. Cells that no object is in have weight 0.

    >>> weight_classes(np.array([0, 9, 10, 99, 1000]), 1).tolist()
    [0, 0, 1, 1, 3]
    """
    return np.searchsorted(np.array(weight_borders(weights), dtype=np.int64), original, side="right").astype(np.int32)


def key_levels(name: str, hierarchy: Hierarchy) -> dict[KeyLevel, Ints]:
    """Every key level of an attribute with the code that each finest code has there; the total is none.

    A leaf of a coarser level, such as a city that is its own district, stands for itself below it. A level that
    merges nothing is left out.

    >>> region = Hierarchy.from_nested({"DE": {"05": ["05111", "05112"], "11": None}})
    >>> {str(level): code.tolist() for level, code in key_levels("region", region).items()}
    {'region': [0, 1, -1, 3, -1], 'region:2': [2, 2, -1, 3, -1]}
    """
    found: dict[KeyLevel, Ints] = {}
    here = np.where(hierarchy.is_leaf, np.arange(len(hierarchy)), -1)
    before = -1
    for level in range(1, hierarchy.depth):
        lower = (here >= 0) & (hierarchy.levels[here] < level)
        here = np.where(lower, hierarchy.parent_index[here], here)
        number = np.unique(here).size
        if number != before:
            found[KeyLevel(attribute=name, level=level)] = here.copy()
        before = number
    return found


def control_tables(control: Control, attributes: Mapping[str, Hierarchy]) -> tuple[ControlTable, ...]:
    """All control tables, by dimension; refuses an empty set and what is not a key level.

    >>> two = {"sex": Hierarchy.flat("mw"), "age": Hierarchy.from_nested({"all": {"young": "ab", "old": "c"}})}
    >>> [str(t) for t in control_tables(Control(up_to=2), two)]
    ['sex', 'age', 'age:2', 'sex x age', 'sex x age:2']
    """
    levels = _all_levels(attributes)
    unique = dict.fromkeys(_tables(control, attributes, levels))
    for table in unique:
        if len({each.attribute for each in table.levels}) < table.dimension:
            hint = "cross different attributes; the finer level contains the coarser."
            raise BadOption(f"control table {table} crosses two levels of one attribute", hint=hint)
    if not any(t.levels for t in unique):
        raise BadOption("there is no table to control", hint="set up_to to 1 or more, or list tables.")
    return tuple(sorted(unique, key=lambda t: t.dimension))


def _tables(control: Control, attributes: Mapping[str, Hierarchy], levels: Levels) -> Iterator[ControlTable]:
    for counter, of in control.counters.items():
        _require(levels, [counter, *of], "control.counters")
        if "1" not in attributes[counter]:
            hint = "a counter holds 1 on one object of each unit and 0 elsewhere."
            raise BadOption(f"the counter {counter!r} has no code 1", hint=hint)
    plain = [name for name in attributes if name not in control.counters]
    yield from _all_up_to(control.up_to, plain, levels)
    for counter, of in control.counters.items():
        yield ControlTable(levels=(), counter=counter)
        yield from _all_up_to(control.up_to, of, levels, counter)
    for given in control.tables:
        yield ControlTable(levels=tuple(_parsed(each, levels) for each in given))


def _all_up_to(
    dimension: int, names: Sequence[str], levels: Levels, counter: str | None = None
) -> Iterator[ControlTable]:
    for r in range(1, min(dimension, len(names)) + 1):
        for chosen in combinations(names, r):
            for each in product(*(levels[name] for name in chosen)):
                yield ControlTable(levels=each, counter=counter)


def _all_levels(attributes: Mapping[str, Hierarchy]) -> Levels:
    return {name: tuple(key_levels(name, h)) for name, h in attributes.items()}


def _require(levels: Levels, names: Sequence[str], where: str) -> None:
    missing = [name for name in names if name not in levels]
    if missing:
        raise BadOption(f"{listed(missing)} is not an attribute", where=where, hint=f"attributes: {listed(levels)}.")


def parsed_level(text: str, attributes: Mapping[str, Hierarchy]) -> KeyLevel:
    """A key level by its name: ``region``, or ``region:2`` for the sums of the finest codes."""
    return _parsed(text, _all_levels(attributes))


def _parsed(text: str, levels: Levels) -> KeyLevel:
    name, _, number = text.rpartition(":")
    if text in levels or not name:
        name, number = text, "1"
    _require(levels, [name], "control.tables")
    known = [each for each in levels[name] if str(each.level) == number]
    if not known:
        hint = f"one of {listed(map(str, levels[name]))}."
        raise BadOption(f"{text!r} is not a key level", where="control.tables", hint=hint)
    return known[0]
