"""What cures the errors of one table of a pool: keys of that table, where it says them itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from diskret.job.table_sections import PoolTable
from diskret.model.cures import key_of
from diskret.model.errors import DiskretError


@contextmanager
def cures_of_table(name: str, asked: PoolTable) -> Iterator[None]:
    """Errors of one table of a pool carry their cures as keys of that table."""
    try:
        yield
    except DiskretError as e:
        e.cures = tuple(replace(cure, key=_in_pool(name, asked, cure.path)) for cure in e.cures)
        raise


def _in_pool(name: str, asked: PoolTable, path: tuple[str, ...]) -> str:
    own = {"data"} if asked.data is not None else set()
    if path[0] == "table":
        return key_of("tables", name, *path[1:])
    mine = path[0] in own or (path[0] == "classifications" and path[1] in asked.classifications)
    return key_of("tables", name, *path) if mine else key_of(*path)
