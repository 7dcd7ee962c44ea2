"""Batches that others wrote run as they are, with their primaries and no more hidden than tau-ARGUS hides."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import diskret as dk

SUITES = Path(__file__).parents[3] / "shared" / "data" / "tables" / "argus-suites"


@pytest.mark.skipif(not SUITES.is_dir(), reason="the suites are not here")
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")
@pytest.mark.parametrize(
    ("batch", "primaries", "value"),
    [("sweden/Example1.ARB", 15, 4954), ("sweden/Example3.ARB", 260, 25149), ("checkTauArgus/batch_ex1.arb", 1, 1950)],
)
def test_a_published_batch_runs_unchanged_and_hides_no_more(
    batch: str, primaries: int, value: float, tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree((SUITES / batch).parent, folder)
    done = dk.run_argus(folder / Path(batch).name, out=tmp_path / "out")
    ((table,),) = ([*result.tables.values()] for result in done.results)
    assert int((table.status == dk.Status.PRIMARY).sum()) == primaries
    assert table.value[table.status == dk.Status.SECONDARY].sum() <= value
    assert not done.exposed
