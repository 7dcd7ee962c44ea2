"""The sample files of tau-ARGUS and sdcHierarchies, where they are at hand; they are not part of this project."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from diskret.io.cell_list import read_cell_list
from diskret.io.hrc import read_hrc
from diskret.io.metadata import Role, classification, source
from diskret.io.rda import read_metadata
from diskret.model.errors import ProtectionWarning, WrongSum
from diskret.model.source import open_source

SAMPLES = Path(os.environ.get("DISKRET_SAMPLES", Path(__file__).parents[3] / "shared" / "data")) / "tables"


@pytest.fixture
def argus() -> Path:
    if not (SAMPLES / "tau-argus").is_dir():
        pytest.skip("the sample files are not here")
    return SAMPLES / "tau-argus"


def test_the_tutorial_microdata_open_with_their_hierarchies(argus: Path) -> None:
    metadata = read_metadata(argus / "Tau_TestW.rda")
    data = open_source(source(metadata, argus / "tau_testW.asc"))
    data.refuse_bad_numbers([v.name for v in metadata.variables if v.response or Role.WEIGHT in v.roles])
    assert data.query("SELECT count(*), sum(Var2::DOUBLE) FROM data") == [(42723, pytest.approx(16847646.84))]
    depth = {}
    for v in metadata.having(Role.EXPLANATORY):
        codes = [c for (c,) in data.query(f"SELECT DISTINCT {data.code(v.name)} FROM data ORDER BY 1")]
        depth[v.name] = classification(metadata, v.name, codes).depth
    assert depth == {"Year": 2, "IndustryCode": 4, "Size": 2, "Region": 3}


def test_separated_microdata_open(argus: Path) -> None:
    metadata = read_metadata(argus / "cellkey-magnitude" / "microdata.rda")
    data = open_source(source(metadata, argus / "cellkey-magnitude" / "microdata.csv"))
    assert data.query("SELECT count(*) FROM data") == [(4580,)]


def test_the_sample_table_has_sums_that_are_one_off(argus: Path) -> None:
    files = argus / "tableinput" / "pp.tab", argus / "tableinput" / "pp.rda"
    with pytest.raises(WrongSum):
        read_cell_list(*files)
    with pytest.warns(ProtectionWarning):
        table = read_cell_list(*files, tolerance=1)
    assert table.shape == (9, 18)
    assert table.by["Region"].parts("Total") == ("Nr", "Os", "Ws", "Zd", "99")
    assert int((table.status == 1).sum()) == 9


def test_ragged_hierarchies_of_other_programs_are_read() -> None:
    if not (SAMPLES / "hierarchies").is_dir():
        pytest.skip("the sample files are not here")
    assert read_hrc(SAMPLES / "hierarchies" / "hrc1.hrc").depth == 4
    assert read_hrc(SAMPLES / "hierarchies" / "hrc2.hrc").parts("Total") == ("1.", "2.", "3.")
