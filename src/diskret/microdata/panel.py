"""Panels: one row per unit and wave, and the same as one row per unit with every column once per wave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diskret.microdata.records import Column, Records, coded
from diskret.microdata.seed import generator
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption, listed


@dataclass(frozen=True, eq=False)
class Wide:
    """One row per unit; column k of wave w stands at w * (number of columns) + k; NaN where the unit is absent."""

    matrix: Floats
    names: tuple[str, ...]
    unit: Ints
    wave: Ints
    columns: tuple[str, ...]

    def long(self, matrix: Floats) -> dict[str, Column]:
        """The columns of a matrix of this shape, one row per record again."""
        width = len(self.columns)
        return {name: matrix[self.unit, self.wave * width + k] for k, name in enumerate(self.columns)}


def wide(records: Records, columns: Sequence[str], unit: str | None = None, wave: str | None = None) -> Wide:
    """Records of a panel with one row per unit; without ``unit`` and ``wave`` every record is a unit.

    >>> panel = Records({"id": np.array([7, 7, 8]), "year": np.array([1, 2, 1]), "x": np.array([1.0, 2.0, 3.0])})
    >>> wide(panel, ["x"], "id", "year").matrix.tolist()
    [[1.0, 2.0], [3.0, nan]]
    """
    if (unit is None) != (wave is None):
        raise BadOption("a panel needs both, unit and wave", hint="name the column of the unit and that of the wave.")
    width = len(columns)
    if unit is None or wave is None:
        rows = np.arange(records.rows)
        matrix = np.column_stack([records[name] for name in columns])
        return Wide(matrix, tuple(columns), rows, np.zeros_like(rows), tuple(columns))
    records.require([unit, wave])
    units, waves = coded(records[unit]), coded(records[wave])
    for name, found in ((unit, units), (wave, waves)):
        blank = np.flatnonzero(found.index < 0) + 1
        if blank.size:
            where = f"{records.where}, rows {listed(blank.tolist())}"
            raise BadOption(f"column {name!r} is blank", where=where, hint="a record of a panel needs unit and wave.")
    place = units.index * len(waves.codes) + waves.index
    _, first = np.unique(place, return_index=True)
    again = np.setdiff1d(np.arange(records.rows), first) + 1
    if again.size:
        where = f"{records.where}, rows {listed(again.tolist())}"
        raise BadOption("a unit has two records in one wave", where=where, hint="keep one record per unit and wave.")
    matrix = np.full((len(units.codes), len(waves.codes) * width), np.nan)
    for k, name in enumerate(columns):
        matrix[units.index, waves.index * width + k] = records[name]
    names = tuple(f"{name} ({w})" for w in waves.codes for name in columns)
    return Wide(matrix, names, units.index, waves.index, tuple(columns))


def renumber(records: Records, unit: str | None, wave: str | None, seed: int) -> Records:
    """New numbers for the units, drawn at random, and the records in their order: neither tells where one came from.

    Without ``unit`` only the order changes.

    >>> panel = Records({"id": np.array([7, 7, 8, 9]), "year": np.array([2, 1, 1, 1]), "x": np.array([1.0, 2, 3, 4])})
    >>> done = renumber(panel, "id", "year", seed=2)
    >>> done["id"].tolist(), done["x"].tolist()
    ([1, 2, 3, 3], [3.0, 4.0, 2.0, 1.0])
    """
    if unit is None:
        order = generator(seed).permutation(records.rows)
        return Records({name: column[order] for name, column in records.items()}, records.where)
    records.require([unit, *([wave] if wave else [])])
    units = coded(records[unit])
    blank = np.flatnonzero(units.index < 0) + 1
    if blank.size:
        where = f"{records.where}, rows {listed(blank.tolist())}"
        raise BadOption(f"column {unit!r} is blank", where=where, hint="say for every record to which unit it belongs.")
    number = generator(seed).permutation(len(units.codes)) + 1
    new = number[units.index]
    within = coded(records[wave]).index if wave else np.arange(records.rows)
    order = np.lexsort((within, new))
    changed = records.with_columns({unit: new})
    return Records({name: column[order] for name, column in changed.items()}, records.where)
