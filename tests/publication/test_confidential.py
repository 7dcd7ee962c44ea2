"""Nothing hidden leaves, in no format, by no way."""

from __future__ import annotations

import struct
import tempfile
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pyreadstat
from hypothesis import given, settings
from hypothesis import strategies as st

from diskret.model.contributors import Contributors
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.publication.text import show, table_text
from tests.present import present
from tests.publication.leaving import publish

FORMATS = [".csv", ".parquet", ".xlsx", ".json", ".px", ".sdmx.csv", ".sdmx.xml", ".arrow", ".dta", ".sav", ".xpt"]


@st.composite
def hierarchies(draw: st.DrawFn) -> Any:
    leaves = draw(st.integers(1, 4))
    groups = draw(st.lists(st.integers(0, 2), min_size=leaves, max_size=leaves))
    pairs = {f"c{i}": f"g{g}" if g else "all" for i, g in enumerate(groups)}
    pairs |= {f"g{g}": "all" for g in groups if g}
    return Hierarchy.from_parents(pairs, labels={"c0": "first"})


@st.composite
def secret_tables(draw: st.DrawFn) -> Any:
    """A table in which every number is ten digits long and occurs once."""
    by = {f"v{i}": draw(hierarchies()) for i in range(draw(st.integers(1, 3)))}
    shape = tuple(len(h) for h in by.values())
    size = int(np.prod(shape))
    decimals = draw(st.sampled_from([0, 2, None]))
    numbers = np.random.default_rng(draw(st.integers(0, 2**32))).choice(8_999_999_999, 8 * size, replace=False) + 10**9
    columns = (numbers / (100.0 if decimals == 2 else 1.0)).reshape(8, *shape)
    status = np.array(draw(st.lists(st.sampled_from(list(Status)), min_size=size, max_size=size)), dtype=np.uint8)
    value, biggest, absolute, below, above, lower, upper, weight = columns
    people = Contributors(numbers[:size].reshape(shape), biggest[..., None], absolute)
    return Table(
        by, "x", value, status.reshape(shape), people, rules=("secret_rule",), rule=np.ones(shape, dtype=np.uint32),
        below=below, above=above, lower=lower, upper=upper, weight=weight, decimals=decimals,
    )  # fmt: skip


def contents(path: Path) -> bytes:
    """Everything in a file, unpacked."""
    found = path.read_bytes()
    if path.suffix == ".xlsx":
        with zipfile.ZipFile(path) as book:
            found += b"".join(book.read(name) for name in book.namelist())
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        found += repr(file.read().to_pydict()).encode() + repr(file.metadata.metadata).encode()
        for g in range(file.metadata.num_row_groups):
            for c in range(file.metadata.num_columns):
                found += repr(file.metadata.row_group(g).column(c).to_dict()).encode()
    if path.suffix == ".xpt":  # whose numbers are those of other machines
        found += repr(pyreadstat.read_xport(path, output_format="dict")).encode()
    return found


def spellings(number: float) -> list[bytes]:
    return [f"{number:.0f}".encode(), repr(float(number)).encode(), f"{number:.2f}".encode(), struct.pack("<d", number)]


@settings(deadline=None)
@given(secret_tables())
def test_no_hidden_number_appears_anywhere(table: Table) -> None:
    absolute = present(table.respondents).absolute
    kept = [table.value[table.hidden], table.largest, absolute, table.count.astype(float)]
    kept += [table.below, table.above, table.lower, table.upper, table.weight]
    secrets = {float(x) for array in kept for x in np.asarray(array).reshape(-1)} - set(
        table.value[~table.hidden].tolist()
    )
    with tempfile.TemporaryDirectory() as folder:
        for ending in FORMATS:
            path = Path(folder) / f"t{ending}"
            publish({"x": table, "y": replace(table, response="y")}, path)
            found = contents(path)
            assert not [s for s in secrets for text in spellings(s) if text in found]
            assert b"secret_rule" not in found
            assert b"primary" not in found.lower()
            assert b"secondary" not in found.lower()
    text = table_text(table, rows=1000, columns=1000).encode()
    assert not [s for s in secrets for spelled in spellings(s)[:3] if spelled in text]


@settings(deadline=None)
@given(secret_tables(), st.integers(0, 2**32))
def test_files_do_not_depend_on_anything_hidden(table: Table, seed: int) -> None:
    """Other hidden values, other reasons, other contributors: the same bytes."""
    rng = np.random.default_rng(seed)
    value = np.where(table.hidden, rng.random(table.shape), table.value)
    status = np.where(table.hidden, rng.integers(1, 3, table.shape), Status.NEVER).astype(np.uint8)
    other = Table(table.by, "x", value, status, decimals=table.decimals, positive=True)
    with tempfile.TemporaryDirectory() as folder:
        for ending in FORMATS:
            one, two = Path(folder) / f"one{ending}", Path(folder) / f"two{ending}"
            publish(table, one)
            publish(other, two)
            assert one.read_bytes() == two.read_bytes()
    assert table_text(table) == table_text(other)
    assert show(table).row_count == show(other).row_count
