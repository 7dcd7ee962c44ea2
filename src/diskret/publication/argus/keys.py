"""Type 7: a table with cell-key noise; on request the values before it, the noise and the keys, confidential."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from diskret.cellkey.cell_key import DECIMALS, KeyedNoise
from diskret.io.metadata import Metadata, Role, Variable
from diskret.model.errors import BadOption
from diskret.model.exact import decimals_of
from diskret.model.table import Table
from diskret.perturbation.changed_table import Perturbation
from diskret.publication.argus.intermediate import SEPARATOR, describe, metadata_text
from diskret.publication.argus.layout import END, Layout, Texts, numbers
from diskret.publication.argus.options import SafeFile
from diskret.publication.doors import Leaving


def before_of(given: Leaving, table: Table) -> Table:
    """The table with its true values."""
    if isinstance(given, Perturbation):
        return given.before
    return given.original if isinstance(given, KeyedNoise) else table


def told(layout: Layout, noise: KeyedNoise, options: SafeFile, decimals: int | None) -> list[Texts]:
    """What is asked for besides the values: those before the noise, the noise, and the keys."""
    before = noise.original
    columns = [numbers(layout.order(before.value), decimals)] if options.original else []
    columns += [numbers(layout.order(noise.deviation), decimals)] if options.differences else []
    if options.keys:
        if before.key is None:
            raise BadOption("the table has no cell keys", hint="tabulate it with the keys of the records.")
        key = layout.order(before.key)
        columns.append(numbers(np.round(key, DECIMALS), decimals_of(key)))
    return columns


def metadata_of(table: Table, options: SafeFile, target: Path, decimals: int | None) -> dict[str, str]:
    """The files that describe it, by their names."""
    referred = describe(table, target)
    name = "Freq" if table.frequency else table.response
    value = Variable(name=name, roles=frozenset({Role.NUMERIC}), decimals=decimals or 0)
    further = [("OrigVar", options.original), ("Difference", options.differences)]
    variables = [Variable(name=n, roles=frozenset({Role.NUMERIC})) for n, asked in further if asked]
    described = Metadata(
        variables=(*referred.variables, value, *variables),
        path=target.with_suffix(".rda"),
        separator=SEPARATOR,
        tabular=True,
    )
    text = metadata_text(described, options)
    if options.keys:
        text += f"CellKey{END}    <CELLKEY>{END}"
    return {described.path.name: text, **referred.files}
