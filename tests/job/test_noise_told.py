"""Cell-key noise as tau-ARGUS metadata describe it."""

from __future__ import annotations

from pathlib import Path

import pytest

from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.model.errors import BadOption

METADATA = """\
<SEPARATOR> ";"
Sex 1
  <RECODEABLE>
Savings 4
  <NUMERIC>
  <CKM> T(2)
  <INCLUDEZEROS> N
  <SCALING> F(0.05,0.5,100,2,0.5)
Key 10
  <RECORDKEY>
  <PFILE_FREQ> "C:\\other\\counts.txt"
  <PFILE_CONT> "values.txt"
"""
VALUES = "i;j;p;v;p_int_ub;type\n0;0;1;0;1;all\n1;0;0.5;-1;0.5;all\n1;2;0.5;1;1;all\n"
COUNTS = "value;new;share;plus;limit\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.5;1;1\n2;0;0.5;-2;0.5\n2;4;0.5;2;1\n"
SAID = """
key = "Key"
zeros = false
p_table = "values.txt"
small = 0.5
large = 0.05
flex_point = 100
q = 2
weights = [1.0, 0.5]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "m.rda").write_text(METADATA)
    (tmp_path / "m.csv").write_text("".join(f"{i % 2};{7 * i};0.{i * 37 % 100:02d}\n" for i in range(40)))
    (tmp_path / "values.txt").write_text(VALUES)
    (tmp_path / "counts.txt").write_text(COUNTS)
    return tmp_path


def published(folder: Path, value: str, said: str) -> str:
    (folder / "job.toml").write_text(
        f'[data]\nmicrodata = "m.csv"\nmetadata = "m.rda"\n[table]\nby = ["Sex"]\n{value}\n[cell_key]\n{said}\n'
        '[output]\npublish = "t.csv"\n'
    )
    run_job(read_job(folder / "job.toml"), folder)
    return (folder / "t.csv").read_text()


def test_what_the_metadata_say_of_noise_holds_where_the_job_says_nothing(folder: Path) -> None:
    value = 'value = "Savings"'
    assert published(folder, value, "") == published(folder, value, SAID)
    assert published(folder, value, "small = 0.9") != published(folder, value, "")


def test_tables_of_counts_have_a_perturbation_table_of_their_own_whatever_its_columns_are_called(folder: Path) -> None:
    assert published(folder, "", "") == published(folder, "", 'p_table = "counts.txt"')


def test_noise_that_is_no_share_of_contributions_is_named(folder: Path) -> None:
    (folder / "m.rda").write_text(METADATA.replace("T(2)", "V").replace("2,0.5)", "2)"))
    with pytest.raises(BadOption, match="shares of something other"):
        published(folder, 'value = "Savings"', "")
