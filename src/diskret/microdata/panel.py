"""Panels: one row per unit and wave, and the same as one row per unit with every column once per wave."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from diskret.microdata.columns import Column, Records, coded, generator
from diskret.model.arrays import Floats, Ints
from diskret.model.errors import BadOption


@dataclass(frozen=True, eq=False, kw_only=True)
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

    >>> columns = {"id": np.array([7, 7, 8]), "year": np.array([1, 2, 1]), "x": np.array([1.0, 2.0, 3.0])}
    >>> wide(Records(columns=columns), ["x"], "id", "year").matrix.tolist()
    [[1.0, 2.0], [3.0, nan]]
    """
    if (unit is None) != (wave is None):
        raise BadOption("a panel needs both, unit and wave", hint="name the column of the unit and that of the wave.")
    if unit is None or wave is None:
        rows, matrix = np.arange(records.rows), np.column_stack([records[name] for name in columns])
        return Wide(matrix=matrix, names=tuple(columns), unit=rows, wave=np.zeros_like(rows), columns=tuple(columns))
    records.require([unit, wave])
    units, waves = (records.classes(name, "a record of a panel needs unit and wave.") for name in (unit, wave))
    place = units.index * len(waves.codes) + waves.index
    again = np.ones(records.rows, dtype=np.bool_)
    again[np.unique(place, return_index=True)[1]] = False
    records.refuse(again, "a unit has two records in one wave", "keep one record per unit and wave.")
    matrix = np.full((len(units.codes), len(waves.codes) * len(columns)), np.nan)
    for k, name in enumerate(columns):
        matrix[units.index, waves.index * len(columns) + k] = records[name]
    names = tuple(f"{name} ({w})" for w in waves.codes for name in columns)
    return Wide(matrix=matrix, names=names, unit=units.index, wave=waves.index, columns=tuple(columns))


def renumber(records: Records, unit: str | None, wave: str | None, seed: int) -> Records:
    """New numbers for the units, drawn at random, and the records in their order: neither tells where one came from.

    Without ``unit`` only the order changes.

    >>> columns = {"id": np.array([7, 7, 8, 9]), "year": np.array([2, 1, 1, 1]), "x": np.array([1.0, 2, 3, 4])}
    >>> done = renumber(Records(columns=columns), "id", "year", seed=2)
    >>> done["id"].tolist(), done["x"].tolist()
    ([1, 2, 3, 3], [3.0, 4.0, 2.0, 1.0])
    """
    new, order = renumbering(records, unit, wave, seed)
    return (records.with_columns({unit: new}) if unit else records).take(order)


def renumbering(records: Records, unit: str | None, wave: str | None, seed: int) -> tuple[Ints, Ints]:
    """The new number of every record's unit, and the order in which records leave."""
    if unit is None:
        return np.arange(records.rows), generator(seed).permutation(records.rows)
    records.require([unit, *([wave] if wave else [])])
    units = records.classes(unit, "say for every record to which unit it belongs.")
    new: Ints = (generator(seed).permutation(len(units.codes)) + 1)[units.index]
    within = coded(records[wave]).index if wave else np.arange(records.rows)
    return new, np.lexsort((within, new))
