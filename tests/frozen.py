"""Tables that cannot be written to, and all their arrays as bytes: for tests that a method leaves its input alone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from diskret import Table


def arrays_of(thing: Any) -> Iterator[npt.NDArray[Any]]:
    """Every array of a table, of those behind it and of its equations."""
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, Mapping):
        for each in thing.values():
            yield from arrays_of(each)
    elif isinstance(thing, tuple | list):
        for each in thing:
            yield from arrays_of(each)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for each in fields(thing):
            yield from arrays_of(getattr(thing, each.name))


def frozen(table: Table) -> Table:
    """The same with arrays that cannot be written to: a method that tries breaks down."""
    for array in arrays_of(table):
        array.setflags(write=False)
    return table


def content(thing: Any) -> list[bytes]:
    return [array.tobytes() for array in arrays_of(thing)]
