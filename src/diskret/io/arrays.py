"""Arrays from NumPy's packed files (``.npz``): only the types that are expected, and no larger than they may be.

What is read here stands in no pickle. Types and sizes are looked at before a byte of the numbers is unpacked.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from diskret.model.limits import refuse_more

Array = npt.NDArray[Any]


def read_arrays(path: str | Path, kinds: Mapping[str, str], most: int | None = None) -> dict[str, Array]:
    """Those of the named arrays that a file holds; ``kinds`` are letters of the types each may have.

    ``most`` is how many bytes an array can have, where that is known.

    Whatever is not so raises ValueError or the like: read inside `reading`, and look at shapes and numbers there.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez_compressed(Path(folder) / "a.npz", x=np.arange(3), said=np.array("so"))
    ...     found = read_arrays(Path(folder) / "a.npz", {"x": "i", "said": "U", "y": "f"})
    >>> found["x"].tolist(), str(found["said"])
    ([0, 1, 2], 'so')
    """
    found: dict[str, Array] = {}
    if not Path(path).is_file():  # a pipe would be waited for
        raise ValueError("this is not a file")
    with zipfile.ZipFile(path) as file:
        for info in file.infolist():
            name = info.filename.removesuffix(".npy")
            if name not in kinds:
                continue
            if name in found or info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise ValueError("an array comes twice, or is packed in a way that nobody uses")
            with file.open(info) as part:
                found[name] = _array(part, kinds[name], most)
    return found


def _array(part: IO[bytes], kinds: str, most: int | None) -> Array:
    version = np.lib.format.read_magic(part)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, turned, dtype = readers[version](part)
    if dtype.kind not in kinds or dtype.hasobject or any(length < 0 for length in shape):
        raise ValueError("an array of another type or form")
    size = prod(shape) * dtype.itemsize
    refuse_more("bytes", size, "an array has {} bytes")
    if most is not None and size > most:
        raise ValueError("an array that is too large")
    content = part.read(size + 1)
    if len(content) != size:
        raise ValueError("an array is longer or shorter than it says")
    return np.frombuffer(content, dtype=dtype, count=prod(shape)).reshape(shape, order="F" if turned else "C").copy()
