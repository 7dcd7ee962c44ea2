"""Where independent parts of a task are worked on: threads of this machine, or a Spark session.

A part brings along everything its work needs, or takes it from what all parts share. Results come back in the order of
the parts, so it never matters who worked on which, nor when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.errors import BadOption, MissingExtra
from diskret.model.processes import cores
from diskret.model.spark_session import python_of_workers, session_of

Part = TypeVar("Part")
Shared = TypeVar("Shared")
Result = TypeVar("Result")
PARTS_EACH = 4
"""Parts for every worker: they are never equally large."""


class Workers(Protocol):
    """Whoever works on parts side by side."""

    @property
    def count(self) -> int:
        """How many parts are worked on at a time."""
        ...

    @property
    def far(self) -> bool:
        """Whether they have no memory in common with whoever asks: what they change comes back only as a result."""
        ...

    def map(self, work: Callable[[Shared, Part], Result], shared: Shared, parts: Sequence[Part]) -> list[Result]:
        """The results of all parts, in their order; ``work`` is a function of a module."""
        ...


@dataclass(frozen=True)
class Threads:
    """Threads of this machine.

    >>> Threads(2).map(pow, 2, [1, 2, 3])
    [2, 4, 8]
    """

    count: int = 1
    far: bool = False

    def map(self, work: Callable[[Shared, Part], Result], shared: Shared, parts: Sequence[Part]) -> list[Result]:
        """One after the other, or side by side."""
        if self.count == 1 or len(parts) < 2:
            return [work(shared, part) for part in parts]
        with ThreadPoolExecutor(min(self.count, len(parts))) as pool:
            return list(pool.map(lambda part: work(shared, part), parts))


@dataclass(frozen=True, eq=False)
class OnSpark:
    """The worker processes of a Spark session, on which diskret is installed too."""

    session: Any
    far: bool = True

    @property
    def count(self) -> int:
        """How many tasks the session works on at a time."""
        return int(self.session.sparkContext.defaultParallelism)

    def map(self, work: Callable[[Shared, Part], Result], shared: Shared, parts: Sequence[Part]) -> list[Result]:
        """What is shared goes to every worker once, a part to one of them."""
        if not parts:
            return []
        context = self.session.sparkContext
        everywhere = context.broadcast(shared)
        try:
            with python_of_workers(self.session):
                asked = context.parallelize(list(parts), len(parts))
                found: list[Result] = asked.map(lambda part: work(everywhere.value, part)).collect()
        finally:
            everywhere.destroy()
        return found


@contextmanager
def workers_of(engine: object = None, threads: int | None = None) -> Iterator[Workers]:
    """Threads of this machine, or those of a Spark session if one is meant, as tabulation names it.

    A session that has to be started is stopped at the end.

    >>> with workers_of(threads=2) as workers:
    ...     workers.count
    2
    """
    if engine is None or engine == "duckdb":
        yield Threads(threads or cores())
        return
    try:
        from pyspark.sql import SparkSession
    except ImportError as e:
        raise MissingExtra.needed("spark", "engine='spark'") from e
    session, own = session_of(SparkSession, engine)
    try:
        if not hasattr(session, "sparkContext"):
            raise BadOption("a session of Spark Connect", hint="protecting needs a session with workers of its own.")
        yield OnSpark(session)
    finally:
        if own:
            session.stop()


def shares(sizes: Ints, workers: Workers) -> list[Ints]:
    """The places of parts with so much work each, put together into about equal shares, in their order.

    >>> [share.tolist() for share in shares(np.array([5, 1, 1, 1, 1, 1]), Threads(1))]
    [[0], [1, 2], [3, 4, 5]]
    """
    if not sizes.size:
        return []
    share = max(1.0, float(sizes.sum()) / (PARTS_EACH * workers.count))
    before = np.cumsum(sizes) - sizes
    cuts = np.flatnonzero(np.diff((before + sizes / 2) // share)) + 1
    return np.split(np.arange(sizes.size), cuts)
