"""Cell-key noise as a job asks for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskret.io.metadata import Metadata, Role
from diskret.job.table_sections import CellKeySection
from diskret.model.errors import BadOption
from diskret.model.table import Table
from diskret.tabulation.plan import RecordKey

if TYPE_CHECKING:
    from diskret.cellkey.cell_key import KeyedNoise
    from diskret.cellkey.p_table import PTable

RANKED = 3
"""Largest contributions that cell-key noise of values looks at."""


def record_key(asked: CellKeySection | None, described: Metadata | None) -> RecordKey | None:
    """The record keys a table is tabulated with: the column named in the job, or the one its metadata call so."""
    if asked is None:
        return None
    marked = described.having(Role.RECORD_KEY) if described is not None else ()
    column = asked.key or (marked[0].name if marked else None)
    return None if column is None else RecordKey(column, asked.modulus, asked.zeros)


def ranked_for(asked: CellKeySection | None) -> int:
    """Largest contributions a table must know."""
    return 0 if asked is None else max(RANKED, len(asked.weights))


def as_told(asked: CellKeySection | None, described: Metadata | None, values: Sequence[str]) -> CellKeySection | None:
    """What a job asks, and where it says nothing what its metadata say about tables of counts, or of one value.

    Perturbation tables lie beside the metadata. Several values with noise of different kinds have none in common.
    """
    if asked is None or described is None:
        return asked
    told: dict[str, Any] = {}
    files = described.having(Role.RECORD_KEY)[0].p_tables if described.having(Role.RECORD_KEY) else {}
    noise = described.variable(values[0]).noise if len(values) == 1 else None
    if not values:
        told["p_table"] = files.get("counts")
    elif noise is not None and noise.kind != "N":
        if noise.kind != "T" and "small" not in asked.model_fields_set:
            raise BadOption(
                f"the metadata ask for noise of {values[0]!r} in shares of something other than its contributions",
                where=str(described.path),
                hint="noise is a share of the largest contributions: <CKM> T(...); or say the shares in [cell_key].",
            )
        told = {"zeros": noise.zeros, "p_table": files.get("values"), "weights": list(noise.weights), **noise.shares}
        told["small_values"] = files.get("small_values") if noise.separation else None
    for key in ("p_table", "small_values"):
        if told.get(key) and key not in asked.model_fields_set:
            told[key] = str(described.file(told[key]))
    return asked.model_copy(
        update={key: each for key, each in told.items() if each is not None and key not in asked.model_fields_set}
    )


def add_noise_by_key(asked: CellKeySection | None, here: Path, tables: Mapping[str, Table]) -> dict[str, KeyedNoise]:
    """Every table with cell-key noise; nothing if the job does not ask for it."""
    from diskret.cellkey.cell_key import perturb_by_key
    from diskret.cellkey.options import Scaling
    from diskret.cellkey.p_table_files import read_p_table

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
        q=asked.q,
        weights=tuple(asked.weights),
        extra=asked.extra,
    )
    return {
        name: perturb_by_key(table, _p_table(asked, here, table.frequency), scaling=scaling, small_values=small)
        for name, table in tables.items()
    }


def _p_table(asked: CellKeySection, here: Path, frequency: bool) -> PTable:
    from diskret.cellkey.p_table_design import design_p_table
    from diskret.cellkey.p_table_files import read_p_table

    if asked.p_table:
        return read_p_table(here / asked.p_table)
    if frequency:
        return design_p_table(
            deviation=asked.deviation, variance=asked.variance or 2.0, smallest=asked.smallest, stay=asked.stay
        )
    return design_p_table(
        deviation=asked.deviation, variance=asked.variance or 1.0, step=0.5, cells=(1, asked.deviation)
    )
