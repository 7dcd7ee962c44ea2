"""Cell-key noise as a job asks for it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from diskret.cellkey.cell_key import KeyedNoise, perturb_by_key
from diskret.cellkey.options import Scaling
from diskret.cellkey.p_table import PTable
from diskret.cellkey.p_table_design import design_p_table
from diskret.cellkey.p_table_files import read_p_table
from diskret.io.metadata import Metadata, Role
from diskret.job.table_sections import CellKeySection
from diskret.model.errors import BadOption
from diskret.model.table import Table
from diskret.tabulation.plan import RecordKey

RANKED = 3
"""Largest contributions that cell-key noise of values looks at."""


def record_key(asked: CellKeySection | None, described: Metadata | None) -> RecordKey | None:
    """The record keys a table is tabulated with: the column named in the job, or the one its metadata call so."""
    if asked is None:
        return None
    marked = described.having(Role.RECORD_KEY) if described is not None else ()
    column = asked.key or (marked[0].name if marked else None)
    return None if column is None else RecordKey(column, asked.modulus, asked.zeros)


def add_noise_by_key(asked: CellKeySection | None, here: Path, tables: Mapping[str, Table]) -> dict[str, KeyedNoise]:
    """Every table with cell-key noise; nothing if the job does not ask for it."""
    if asked is None:
        return {}
    if any(table.key is None for table in tables.values()):
        raise BadOption(
            "the table has no cell keys",
            where="[cell_key]",
            hint="name the column of record keys: cell_key.key; a working file must have been tabulated with it.",
        )
    small = read_p_table(here / asked.small_values) if asked.small_values else None
    scaling = Scaling(
        small=asked.small,
        large=min(asked.large, asked.small),
        flex_point=asked.flex_point,
        weights=tuple(asked.weights),
        extra=asked.extra,
    )
    return {
        name: perturb_by_key(table, _p_table(asked, here, table.frequency), scaling=scaling, small_values=small)
        for name, table in tables.items()
    }


def _p_table(asked: CellKeySection, here: Path, frequency: bool) -> PTable:
    if asked.p_table:
        return read_p_table(here / asked.p_table)
    if frequency:
        return design_p_table(
            deviation=asked.deviation, variance=asked.variance or 2.0, smallest=asked.smallest, stay=asked.stay
        )
    return design_p_table(
        deviation=asked.deviation, variance=asked.variance or 1.0, step=0.5, cells=(1, asked.deviation)
    )
