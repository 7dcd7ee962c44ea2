"""Cells in the order of tau-ARGUS: totals first, every sum before its parts; lines of codes and columns of texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from diskret.model.arrays import Bools, Floats, Ints
from diskret.model.errors import BadOption, listed
from diskret.model.hierarchy import Hierarchy
from diskret.publication.argus.options import CONFIDENTIAL, SafeFile
from diskret.publication.axes import Axis, arranged, axis_of
from diskret.publication.formulas import escaped
from diskret.publication.numbers import number_words

END = "\r\n"
"""tau-ARGUS is a program of Windows."""
CHUNK = 65_536
Of = TypeVar("Of", bound=np.generic)
Texts = Callable[[Any], list[str]]
"""Some cells of a column as texts."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Layout:
    """Where every cell of a table stands in a file, and how its codes are written."""

    by: Mapping[str, Axis]
    written: tuple[npt.NDArray[np.object_], ...]
    """The codes of each classification as they stand in the file."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of codes on each axis."""
        return tuple(len(axis) for axis in self.by.values())

    @property
    def size(self) -> int:
        """Number of cells."""
        return prod(self.shape)

    def order(self, array: npt.NDArray[Of]) -> npt.NDArray[Of]:
        """An array over the cells of the table in the order of the file, flat."""
        return arranged(array, tuple(self.by.values()))

    def codes(self) -> list[Texts]:
        """One column per classification."""
        return [self._axis(number, texts) for number, texts in enumerate(self.written)]

    def levels(self) -> list[Texts]:
        """The level of every code; 0 for totals, and throughout a classification without subtotals."""
        shown = [d if a.depth > 2 else 0 * d for d, a in zip(self.depths(), self.by.values(), strict=True)]
        return [self._axis(number, level.astype(str).astype(object)) for number, level in enumerate(shown)]

    def depths(self) -> list[Ints]:
        """How far below the total every code stands, for each classification."""
        found = []
        for axis in self.by.values():
            depth = np.zeros(len(axis), np.int64)
            for place, parts in enumerate(axis.parts):
                depth[parts] = depth[place] + 1
            found.append(depth)
        return found

    def _axis(self, number: int, texts: npt.NDArray[np.object_]) -> Texts:
        def column(cells: Any) -> list[str]:
            found: list[str] = texts[np.unravel_index(cells, self.shape)[number]].tolist()
            return found

        return column

    def rows(self, columns: Sequence[Texts], separator: str, left: Bools | None = None) -> Iterator[str]:
        """The lines of a file, some at a time; ``left`` says which cells are left out."""
        cells = np.arange(self.size) if left is None else np.flatnonzero(~left)
        for start in range(0, cells.size, CHUNK):
            some = cells[start : start + CHUNK]
            texts = [column(some) for column in columns]
            yield END.join(map(separator.join, zip(*texts, strict=True))) + END


def layout_of(by: Mapping[str, Hierarchy], options: SafeFile, separator: str) -> Layout:
    """How a table stands in a file.

    >>> found = layout_of({"s": Hierarchy.flat(["m", "w"])}, SafeFile(format="csv", widths={"s": 3}), ",")
    >>> list(found.rows(found.codes(), ","))
    ['"Total"\\r\\n"  m"\\r\\n"  w"\\r\\n']
    """
    strange = [name for name in (*options.widths, *options.unpadded) if name not in by]
    if strange:
        raise BadOption(f"widths: no classification {listed(strange)}", hint=f"the table has {listed(by)}.")
    axes = {name: axis_of(hierarchy, "before") for name, hierarchy in by.items()}
    written = tuple(
        np.array(_codes(name, axis, options, separator), dtype=object) for name, axis in axes.items()
    )  # fmt: skip
    return Layout(by=axes, written=written)


def _codes(name: str, axis: Axis, options: SafeFile, separator: str) -> list[str]:
    total, asked = axis.codes[axis.total], options.widths.get(name, 0)
    width = max(len(code) for code in axis.codes if code != total) if asked == "longest" else asked
    bare = {total, *options.unpadded.get(name, ())}
    padded = [c if c in bare else c.rjust(width) for c in axis.codes]
    # as tau-ARGUS does
    texts = [code.replace('"', "'") for code in padded]
    if options.format not in CONFIDENTIAL:
        texts = [escaped(text) for text in texts]
    broken = [c for c, text in zip(axis.codes, texts, strict=True) if "\n" in text or "\r" in text]
    if not options.quotes:
        broken += [c for c, text in zip(axis.codes, texts, strict=True) if separator in text]
    if broken or len({*texts}) < len(texts):
        raise BadOption(
            f"codes {listed(broken or axis.codes)} of {name!r} cannot be written for tau-ARGUS",
            hint="without quotes codes have no separator; no two may differ in quotation marks or outer blanks only.",
        )
    return [f'"{text}"' for text in texts] if options.quotes else texts


def numbers(values: Floats, decimals: int | None) -> Texts:
    """A column of numbers with a decimal point, never with an exponent."""

    def column(cells: Any) -> list[str]:
        # adding zero turns -0.0 into 0.0
        return number_words(values[cells] + 0.0, decimals)

    return column


def wholes(values: npt.NDArray[Any]) -> Texts:
    """A column of whole numbers."""
    return lambda cells: list(map(str, values[cells].astype(np.int64).tolist()))


def words(texts: npt.NDArray[np.object_]) -> Texts:
    """A column of texts."""

    def column(cells: Any) -> list[str]:
        found: list[str] = texts[cells].tolist()
        return found

    return column
