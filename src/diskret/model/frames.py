"""Frames as the engine takes them: pandas, polars, Arrow, anything with an Arrow stream, dicts of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret.model.engine import readable
from diskret.model.errors import BadOption, EmptyData
from diskret.model.sheets import unique_names


def names_of_frame(source: object) -> list[str]:
    """The names of a frame's columns; none if it does not tell them."""
    if isinstance(source, Mapping):
        return [str(name) for name in source]
    # an Arrow table calls its columns themselves so; a pandas frame would give a column of that name
    told = "column_names" if type(source).__module__.startswith("pyarrow") else "columns"
    return [str(name) for name in getattr(source, told, ())]


def register(connection: Any, source: object, where: str = "the dict of columns") -> object:
    """Make a frame known to the engine as ``given``; what is returned must live as long as it is used."""
    module = type(source).__module__.split(".")[0]
    if isinstance(source, Mapping):
        names = unique_names([str(name) for name in source])
        given: object = dict(zip(names, map(_column, source.values()), strict=True))
        if len({len(v) for v in given.values()}) > 1:  # type: ignore[attr-defined]
            raise BadOption("the columns have different lengths", hint="give one value per row in every column.")
        if not given or not len(next(iter(given.values()))):  # type: ignore[attr-defined]
            raise EmptyData("there are no rows", where=where, hint="give at least one row.")
    elif module == "pandas":
        given = source
    elif hasattr(source, "__arrow_c_stream__"):
        given = _Stream(source)
    else:
        raise BadOption(
            f"cannot read a {type(source).__name__} as data",
            hint="give a path, a pandas or polars frame, an Arrow table, or a dict of columns.",
        )
    with readable(f"the {type(source).__name__}"):
        connection.register("given", given)
    return given


def _column(values: Any) -> npt.NDArray[Any]:
    if isinstance(values, np.ma.MaskedArray):
        shown = values.data.astype(object)
        shown[np.ma.getmaskarray(values)] = None  # what stands below the mask is no value
        values = shown
    array = np.ascontiguousarray(values)  # the engine cannot read a reversed view
    return array.astype(object) if array.dtype.kind == "U" else array


class _Stream:
    """Anything with an Arrow stream, wrapped so that DuckDB takes it by the stream and needs no pyarrow."""

    def __init__(self, source: Any) -> None:
        self.source = source

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.source.__arrow_c_stream__(requested_schema)
