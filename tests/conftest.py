"""What all rooms' tests share: golden files, random hierarchies, one Spark session."""

from __future__ import annotations

import json
import signal
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

GOLDEN = Path(__file__).parent / "golden"
Parents = dict[str, str]

settings.register_profile(
    "house", deadline=None, max_examples=60, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("house"), max_examples=20)  # `make test`
settings.load_profile("house")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests with Spark come first: of two workers one gets them all, and starts the only session."""
    items.sort(key=lambda item: item.get_closest_marker("spark") is None)


@pytest.fixture(scope="session", autouse=True)
def as_in_a_terminal() -> None:
    """Tests started in the background ignore Ctrl-C and closed terminals, and so would the commands they start."""
    for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, usual)


@pytest.fixture(scope="session")
def golden() -> Callable[[str], Any]:
    """Read a golden file by its path below tests/golden, without the ending."""

    def read(name: str) -> Any:
        return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))

    return read


@st.composite
def _trees(draw: st.DrawFn, most: int = 12) -> Parents:
    """Child-to-parent pairs of a random tree of any shape: ragged, with single parts, in any order."""
    size = draw(st.integers(2, most))
    pairs = [(f"c{i}", f"c{draw(st.integers(0, i - 1))}") for i in range(1, size)]
    return dict(draw(st.permutations(pairs)))


@pytest.fixture(scope="session")
def trees() -> st.SearchStrategy[Parents]:
    """Random child-to-parent pairs with the total 'c0'."""
    return _trees()


@pytest.fixture(scope="session")
def small_trees() -> st.SearchStrategy[Parents]:
    """The same with few codes, for products of several."""
    return _trees(most=6)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """One local Spark session for all tests, stopped at the end."""
    pytest.importorskip("pyspark")
    from pyspark.sql import SparkSession

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        warnings.simplefilter("ignore", ResourceWarning)
        session = (
            SparkSession.builder.master("local[2]")
            .appName("diskret tests")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            # Tiny data: compiling a query costs more than running it.
            .config("spark.sql.codegen.wholeStage", "false")
            .config("spark.sql.codegen.factoryMode", "NO_CODEGEN")
            .config("spark.sql.adaptive.enabled", "false")
            .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("OFF")
        yield session
        session.stop()
