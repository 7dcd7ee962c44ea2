"""What people look at: frames of pandas, polars and Arrow, with nothing in them that may not leave.

Frames and notebooks are passed on: what they show by default is what may be published. ``internal=True`` says that all
values are meant.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Floats
from diskret.model.errors import MissingPackage, ProtectionWarning

if TYPE_CHECKING:
    from diskret.model.table import Table

Frame = Mapping[str, npt.NDArray[Any]]


class Framed:
    """Results that can be looked at as a frame of pandas, polars or Arrow, whichever is installed."""

    def shown(self, *, internal: bool = False) -> Frame:
        """The columns of the frame; those of numbers are undefined (NaN) where nothing may be shown."""
        raise NotImplementedError

    def to_pandas(self, *, internal: bool = False) -> Any:
        """A frame of pandas; with ``internal`` all values, which are confidential."""
        return _package("pandas").DataFrame(dict(self.shown(internal=internal)))

    def to_polars(self, *, internal: bool = False) -> Any:
        """A frame of polars; with ``internal`` all values, which are confidential."""
        package, columns = _package("polars"), self.shown(internal=internal)
        return package.DataFrame({name: _texts(column) for name, column in columns.items()}, nan_to_null=True)

    def to_arrow(self, *, internal: bool = False) -> Any:
        """An Arrow table of pyarrow; with ``internal`` all values, which are confidential."""
        package, columns = _package("pyarrow"), self.shown(internal=internal)
        return package.table({name: package.array(_texts(c), from_pandas=True) for name, c in columns.items()})


def _texts(column: npt.NDArray[Any]) -> Any:
    """A column of texts as a list: both packages would take it for one of any objects."""
    return column.tolist() if column.dtype == object else column


def _package(name: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        raise MissingPackage.needed(name) from None


def shown_values(table: Table) -> Floats:
    """The values that may be shown, flat: undefined where hidden, and everywhere in a table nothing protects yet.

    >>> from diskret.model.table import Table
    >>> cells = {"s": ["a", "b", "c"], "x": [10, 20, 70], "st": ["primary", "secondary", "open"]}
    >>> shown_values(Table.from_cells(cells, by={"s": None}, value="x", status="st").sealed()).tolist()
    [nan, nan, 70.0, 100.0]
    """
    hidden = table.hidden.reshape(-1) | (not may_be_shown(table))
    return np.where(hidden, np.nan, table.published_value.reshape(-1))


def may_be_shown(table: Table) -> bool:
    """Whether open values may be looked at: somebody marked the table, and what needs protection has it."""
    return table.protected and not table.unmarked


def columns_of(table: Table, internal: bool) -> Frame:
    """The columns of a table: all of them, or codes and the values that may be shown."""
    columns = table.columns()
    if internal:
        return columns
    if not may_be_shown(table):
        warnings.warn(
            f"{table.response!r} is not protected yet: no value is shown; mark and suppress it first, or look at all "
            "values with internal=True",
            ProtectionWarning,
            stacklevel=4,
        )
    return {name: columns[name] for name in table.names} | {table.response: shown_values(table)}
