"""The Spark session that is meant by its name, or started."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from diskret.model.errors import BadOption
from diskret.model.private import private_folder, remove_with


def session_of(spark: Any, engine: object) -> tuple[Any, bool]:
    """The session to use, and whether it was started here."""
    if not isinstance(engine, str):
        if not hasattr(engine, "createDataFrame"):
            raise BadOption(f"engine of type {type(engine).__name__}", hint="'duckdb', 'spark' or a Spark session.")
        return engine, False
    if engine != "spark" and not engine.startswith(("local", "spark://", "yarn", "k8s://", "sc://")):
        raise BadOption(
            f"engine {engine!r} is not known",
            hint="'duckdb', 'spark', a Spark session or a master URL such as 'local[4]'.",
        )
    # Spark has one session at a time: a running one is used, and left running, whatever the URL says.
    active = spark.getActiveSession()
    return active or _start(spark, "local[*]" if engine == "spark" else engine), active is None


@contextmanager
def python_of_workers(session: Any) -> Iterator[None]:
    """Workers on this machine run the Python that runs here, for which diskret is installed, not the first on the path.

    What workers elsewhere run is said by PYSPARK_PYTHON or the session.
    """
    if not hasattr(session, "sparkContext"):
        raise BadOption("a session of Spark Connect", hint="this needs a session with workers of its own.")
    context = session.sparkContext
    python = context.pythonExec
    if context.master.startswith("local") and "PYSPARK_PYTHON" not in os.environ:
        context.pythonExec = sys.executable
    try:
        yield
    finally:
        context.pythonExec = python


def _start(builder: Any, master: str) -> Any:
    begun = (
        builder.builder.master(master)
        .appName("diskret")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.session.timeZone", "UTC")
    )
    if not master.startswith("local"):
        return begun.getOrCreate()
    # what a session on this machine spills, and frames on their way to it, are for their owner alone and gone with it
    folder = private_folder()
    local = begun.config("spark.local.dir", str(folder.path))
    session = local.config("spark.sql.warehouse.dir", str(folder.path / "warehouse")).getOrCreate()
    remove_with(session, folder)
    return session
