"""Type 1: a matrix of comma-separated values, one layer below the other."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from diskret.publication.argus.layout import END, Layout, Texts
from diskret.publication.argus.options import SafeFile


def matrix(layout: Layout, values: Texts, options: SafeFile) -> Iterator[str]:
    """The last classification across, the one before it down, and a layer for every cell of the others.

    tau-ARGUS 3 ends lines of values and heads of layers with a separator; a table of one classification is two lines,
    of which the second never ends.
    """
    old = options.version == 3
    across = layout.written[-1].tolist()
    head = "," + ",".join(across) + END
    last = "," if old else ""
    if len(layout.shape) == 1:
        yield head + "," + ",".join(values(np.arange(layout.size))) + last
        return
    down = layout.written[-2].tolist()
    size = len(down) * len(across)
    for layer in range(prod(layout.shape[:-2])):
        texts = values(np.arange(layer * size, (layer + 1) * size))
        rows = (texts[i : i + len(across)] for i in range(0, size, len(across)))
        lines = [f"{code},{','.join(row)}{last}{END}" for code, row in zip(down, rows, strict=True)]
        yield _layer(layout, layer, old=old) + head + "".join(lines) + END


def _layer(layout: Layout, layer: int, *, old: bool) -> str:
    """Which cell of the other classifications a layer is about; nothing where there are none."""
    outer = layout.shape[:-2]
    if not outer:
        return ""
    at = np.unravel_index(layer, outer)
    named = [f"Var {i + 1},{layout.written[i][place]}" for i, place in enumerate(at)]
    return ", ".join(named) + (", " if old else "") + END
