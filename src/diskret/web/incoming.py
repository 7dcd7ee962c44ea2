"""Files that come into the workspace: whole, for their owner alone, over an older one only if that is asked for."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from threading import Lock
from typing import TypeVar

from starlette.concurrency import run_in_threadpool

from diskret.io.files import whole_file
from diskret.model.errors import BadOption

T = TypeVar("T")


@contextmanager
def incoming_file(place: Path, placing: Lock, *, replace: bool) -> Iterator[Path]:
    """Where to write a file until it is whole; of two that come at once under a new name, the second is refused."""
    _refuse_taken(place, replace)
    with ExitStack() as alone, whole_file(place, private=True) as part:
        yield part
        alone.enter_context(placing)  # until it has its place
        _refuse_taken(place, replace)


def _refuse_taken(place: Path, replace: bool) -> None:
    if place.exists() and not replace:
        raise BadOption(f"there is a file {place.name!r} already", hint="replace it, or choose another name.")


@asynccontextmanager
async def in_threads(block: AbstractContextManager[T]) -> AsyncIterator[T]:
    """A block that is entered and left in other threads: whatever it waits for, all other requests go on."""
    found = await run_in_threadpool(block.__enter__)
    try:
        yield found
    except BaseException as e:
        if not await run_in_threadpool(block.__exit__, type(e), e, e.__traceback__):
            raise
    else:
        await run_in_threadpool(block.__exit__, None, None, None)
