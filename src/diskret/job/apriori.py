"""What a-priori files say about single cells of a job's tables: set after the rules, which they overrule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import numpy as np
from pydantic import Field

from diskret.io.hst import Errors, read_apriori
from diskret.job.form import Reads, Section
from diskret.model.arrays import Floats
from diskret.model.table import Table
from diskret.rules.apriori import apply_apriori
from diskret.suppression.methods import AnyMethod
from diskret.suppression.prices import Cost


class AprioriFile(Section):
    """An a-priori file (.hst): statuses, protection levels and costs of single cells, which overrule the rules."""

    file: Annotated[str, Reads()] = Field(description="file with one statement about a cell per line, .hst")
    separator: str | None = Field(
        None, min_length=1, max_length=1, description="separator of its fields; left out: detected in its first line"
    )
    expand: bool = Field(
        False, description="whether statements hold for all cells that are the same because a sum has a single part"
    )
    errors: Errors = Field(
        "refuse", description="lines with unknown codes, or that do not fit the cell: 'refuse', or 'ignore' and count"
    )
    table: str | None = Field(None, description="the table of a pool to which it applies")


def set_beforehand(table: Table, asked: Iterable[AprioriFile], here: Path) -> tuple[Table, Floats | None]:
    """The table with what the files say, one after the other, and the prices they give to cells (nan: none)."""
    prices: Floats | None = None
    for each in asked:
        said = read_apriori(
            here / each.file, separator=each.separator, classifications=len(table.names), errors=each.errors
        )
        nowhere = np.full(table.shape, np.nan)
        done = apply_apriori(table, said, expand=each.expand, errors=each.errors, prices=nowhere)
        if "c" in said.words and done.weight is not None:
            prices = done.weight if prices is None else np.where(np.isnan(done.weight), prices, done.weight)
        table = replace(done, weight=table.weight)
    return table, prices


def in_pool(pool: Table, prices: Mapping[str, Floats]) -> Floats | None:
    """Prices of cells of a pool that its tables are given; the highest where they differ."""
    if not prices:
        return None
    found = np.full(pool.size, np.nan)
    for name, (_, cells) in pool.linked.items():
        if name in prices:
            np.fmax.at(found, cells, prices[name].reshape(-1))
    return found.reshape(pool.shape)


def with_prices(table: Table, method: AnyMethod, prices: Floats | None, usual: Cost) -> tuple[Table, AnyMethod]:
    """A table whose cells have the prices of a method, but for those a file gives, and the method that takes them."""
    if prices is None:
        return table, method
    cost = method.cost or usual
    own = replace(cost, power=1.0, per_cell=0.0).of(table).reshape(table.shape)
    weight = np.where(np.isnan(prices), own, prices)
    return replace(table, weight=weight), replace(method, cost=replace(cost, by="given"))
