"""Metadata of tau-ARGUS: fixed width, separated, lists of cells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from diskret.io.metadata import Metadata, Role, classification, source
from diskret.io.rda import rda_text, read_metadata
from diskret.model.errors import BrokenLevels, DiskretError, EmptyData, MissingColumn, UnknownCode, UnreadableFile
from diskret.model.source import Delimited, FixedWidth, open_source
from diskret.model.statistical import Statistical

FIXED = """\
// written by hand
Year 1 2 99
  <RECODEABLE>
  <DISTANCE> 1 2 3
Industry 4 3 "999" 998
  <Recodable>
  <HIERARCHICAL>
  <HIERLEVELS> 2 1 0
Region 8 2 99
  <recodeable>
  <CODELIST> "REGION.CDL"
  <HIERARCHICAL>
  <HIERCODELIST> "C:\\data\\Region.hrc"
  <HIERLEADSTRING> "@"
Wgt 11 3
  <DECIMALS> 1
  <WEIGHT>
Var1 14 6
  <NUMERIC>
  <CKM> T(3)
  <INCLUDEZEROS> N
  <SEPARATION> Y
  <SCALING> F(0.03, 0.30,1000,3,0.5,0.2)
Ent 21 1
  <HOLDING>
Ask 22 1
  <REQUEST> "1" "2"
  <TRUNCABLE>
Key 23 1
\t<RECORDKEY>
\t<PFILE> "p.txt"
\t<PFILE_CONT> "c.txt"
\t<PFILE_SEP> s.txt
"""
DATA = "84 101  1 2.2  28.5a0\r\n85 102 10 1.0    12b1\r\n84 110 99 1.0     7c2\r\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "firms.rda").write_text(FIXED)
    (tmp_path / "firms.asc").write_text(DATA, newline="")
    (tmp_path / "region.cdl").write_text(" 1,Groningen\nNr,North\n")
    (tmp_path / "region.HRC").write_text("Nr\n@ 1\nZd\n@10\n")
    return tmp_path


def test_fixed_width_metadata_say_where_and_what_every_variable_is(folder: Path) -> None:
    metadata = read_metadata(folder / "firms.rda")
    assert metadata.separator is None
    assert not metadata.tabular
    industry = metadata.variable("INDUSTRY")
    assert (industry.first, industry.width, industry.missing, industry.digits) == (4, 3, ("999", "998"), (2, 1, 0))
    assert metadata.variable("Year").distance == (1, 2, 3)
    assert metadata.variable("Ask").request == ("1", "2")
    assert metadata.variable("Wgt").decimals == 1
    assert [v.name for v in metadata.having(Role.EXPLANATORY)] == ["Year", "Industry", "Region"]
    assert [v.name for v in metadata.variables if v.response] == ["Var1"]
    assert [metadata.having(r)[0].name for r in (Role.WEIGHT, Role.HOLDING, Role.REQUEST)] == ["Wgt", "Ent", "Ask"]
    assert metadata.ignored == ("<TRUNCABLE>",)
    noise = metadata.variable("Var1").noise
    assert noise is not None
    assert (noise.kind, noise.zeros, noise.separation, noise.weights) == ("T", False, True, (1.0, 0.5, 0.2))
    assert noise.shares == {"small": 0.3, "large": 0.03, "flex_point": 1000, "q": 3}
    assert metadata.variable("Key").p_tables == {"counts": "p.txt", "values": "c.txt", "small_values": "s.txt"}


def test_the_data_open_as_the_metadata_describe_them(folder: Path) -> None:
    metadata = read_metadata(folder / "firms.rda")
    described = source(metadata, folder / "firms.asc")
    assert isinstance(described, FixedWidth)
    data = open_source(described)
    assert data.query(f"SELECT {data.code('Region')}, {data.number('Wgt')}, {data.number('Var1')} FROM data") == [
        ("1", 2.2, 28.5),
        ("10", 1.0, 12.0),
        ("99", 1.0, 7.0),
    ]


def test_a_missing_fixed_width_file_is_refused_by_its_own_name(folder: Path) -> None:
    (folder / "gone.txt").write_text("a,b\n1,2\n")
    with pytest.raises(UnreadableFile, match=r"gone\.asc"):
        open_source(source(read_metadata(folder / "firms.rda"), folder / "gone.asc"))


def test_classifications_come_from_digits_from_a_file_or_from_the_data(folder: Path) -> None:
    metadata = read_metadata(folder / "firms.rda")
    assert classification(metadata, "Year", ["85", "84", "85"]).codes == ("85", "84", "Total")
    industry = classification(metadata, "Industry", ["101", "102", "110", "999"])
    assert industry.codes == ("101", "102", "10", "110", "11", "999", "Total")
    region = classification(metadata, "Region", [" 1", "10", "99"])
    assert region.codes == ("1", "Nr", "10", "Zd", "99", "Total")
    assert region.parts("Total") == ("Nr", "Zd", "99")
    assert region.labels[:2] == ("Groningen", "North")
    with pytest.raises(UnknownCode):
        classification(metadata, "Region", ["7"])
    with pytest.raises(MissingColumn):
        classification(metadata, "Regoin", ["7"])


def test_a_tag_that_does_not_exist_is_refused_with_the_one_that_was_meant(tmp_path: Path) -> None:
    (tmp_path / "m.rda").write_text("Size 1 2\n  <HIERCODLIST> size.hrc\n")
    with pytest.raises(UnreadableFile, match=r"no tag <HIERCODLIST>[\s\S]*line 2[\s\S]*mean <HIERCODELIST>"):
        read_metadata(tmp_path / "m.rda")


def test_any_line_ends_tabs_and_quotes_do(tmp_path: Path) -> None:
    plain = 'Size 1 2 99\n  <RECODEABLE>\n  <TOTCODE> "Total"\nX 3 4\n  <NUMERIC>\n'
    read = []
    for number, text in enumerate([
        plain, plain.replace("\n", "\r\r\n"), plain.replace("\n", "\r\n").replace(" ", "\t"),
        plain.replace('"', "").replace("Size", '"Size"'),
    ]):  # fmt: skip
        (tmp_path / f"{number}.rda").write_bytes(text.encode())
        read.append(read_metadata(tmp_path / f"{number}.rda").variables)
    assert read[1:] == [read[0]] * 3


def test_files_of_spss_are_known_by_the_names_of_their_columns(tmp_path: Path) -> None:
    (tmp_path / "m.rda").write_text("<SPSS>\nSize 1 2\n  <RECODEABLE>\nX 3 4\n  <NUMERIC>\n")
    metadata = read_metadata(tmp_path / "m.rda")
    assert metadata.spss
    assert source(metadata, "firms.sav") == Statistical(path=Path("firms.sav"))


def test_a_file_the_metadata_name_and_nobody_has_is_refused(folder: Path) -> None:
    (folder / "region.HRC").unlink()
    with pytest.raises(UnreadableFile, match="does not lie beside"):
        classification(read_metadata(folder / "firms.rda"), "Region", ["1"])


def test_separated_microdata_have_widths_and_no_header(tmp_path: Path) -> None:
    (tmp_path / "m.rda").write_text('<SEPARATOR> ";"\nSex 1\n <RECODEABLE>\nIncome 4\n <NUMERIC>\n')
    (tmp_path / "m.csv").write_text("2;12,5\n1;28,0\n")
    metadata = read_metadata(tmp_path / "m.rda")
    assert (metadata.separator, metadata.tabular, metadata.variable("Sex").width) == (";", False, 1)
    described = source(metadata, tmp_path / "m.csv", decimal=",")
    assert isinstance(described, Delimited)
    data = open_source(described)
    assert data.query(f"SELECT {data.code('Sex')}, {data.number('Income')} FROM data") == [("2", 12.5), ("1", 28.0)]


def test_a_first_line_that_is_too_short_is_not_taken_for_a_title(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("2\n1;28\n2;30\n")
    with pytest.raises(UnreadableFile):
        open_source(Delimited(path=tmp_path / "m.csv", delimiter=";", names=("Sex", "Income")))


def test_metadata_of_cells_are_known_by_their_tags(tmp_path: Path) -> None:
    path = tmp_path / "t.rda"
    head = '<SEPARATOR> ","\n<UNSAFE> "x"\n'
    path.write_text(head + 'Size 99\n<RECODEABLE>\n<TOTCODE> "All"\nX\n<NUMERIC>\nC\n<NUMERIC> <COST>\n')
    metadata = read_metadata(path)
    assert (metadata.tabular, metadata.separator, metadata.unsafe) == (True, ",", "x")
    assert metadata.variable("Size").missing == ("99",)
    assert metadata.variable("Size").total == "All"
    assert metadata.variable("C").roles == {Role.NUMERIC, Role.COST}
    assert not metadata.variable("C").response


def test_written_metadata_read_back_the_same(folder: Path) -> None:
    metadata = read_metadata(folder / "firms.rda")
    (folder / "again.rda").write_text(rda_text(metadata))
    again = read_metadata(folder / "again.rda")
    assert again == replace(metadata, path=folder / "again.rda", ignored=())


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("  <NUMERIC>\n", UnreadableFile),
        ("// nothing\n", EmptyData),
        ("Size 9\n", UnreadableFile),
        ("Size x 2\n", UnreadableFile),
        ("Size 0 2\n", UnreadableFile),
        ("Size 1 2\nsize 3 2\n", UnreadableFile),
        ("Size 1 2\n<CODELIST>\n", UnreadableFile),
        ("Size 1 2\n<DECIMALS> two\n", UnreadableFile),
        ("Nace 1 5\n<HIERLEVELS> 3 1\n", BrokenLevels),
        ('"" 1 2\n', UnreadableFile),
        ("Size 1 2\n<RECODEBLE>\n", UnreadableFile),
        ("X 1 2\n<NUMERIC>\n<CKM> Q\n", UnreadableFile),
        ("X 1 2\n<NUMERIC>\n<CKM> T(0)\n", UnreadableFile),
        ("X 1 2\n<NUMERIC>\n<CKM> T(nan)\n", UnreadableFile),
        ("X 1 2\n<NUMERIC>\n<CKM> T(1.5)\n", UnreadableFile),
        ("X 1 2\n<NUMERIC>\n<CKM> T(2)\n<SCALING> N(0.3)\n", UnreadableFile),
        ("X 1 2\n<NUMERIC>\n<SCALING> N(a)\n", UnreadableFile),
        ("X 1 2\n<NUMERIC>\n<PARITY>\n", UnreadableFile),
    ],
)
def test_broken_metadata_are_refused_with_their_place(tmp_path: Path, text: str, error: type[DiskretError]) -> None:
    (tmp_path / "m.rda").write_text(text)
    with pytest.raises(error) as caught:
        read_metadata(tmp_path / "m.rda")
    assert str(tmp_path / "m.rda") in caught.value.where


@pytest.mark.parametrize(
    "name",
    [
        "/etc/passwd", "../secret.hrc", "..\\secret.hrc", "C:\\secret.hrc", "\\\\server\\share\\secret.hrc",
        "/", "..", "sub/../../secret.hrc",
    ],
)  # fmt: skip
def test_metadata_name_no_file_elsewhere(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.hrc").write_text("root\n")
    (tmp_path / "in" / "sub").mkdir(parents=True)
    (tmp_path / "in" / "firms.rda").write_text(f'Size 1 2\n<RECODEABLE>\n<HIERCODELIST> "{name}"\n')
    with pytest.raises(UnreadableFile, match="does not lie beside them"):
        classification(read_metadata(tmp_path / "in" / "firms.rda"), "Size", ["1"])


def test_a_link_in_the_folder_of_the_metadata_does_not_lead_out_of_it(tmp_path: Path) -> None:
    (tmp_path / "secret.hrc").write_text("root\n")
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "link.hrc").symlink_to(tmp_path / "secret.hrc")
    (tmp_path / "in" / "up").symlink_to(tmp_path)
    for name in ("link.hrc", "LINK.hrc", "up/secret.hrc"):
        (tmp_path / "in" / "firms.rda").write_text(f'Size 1 2\n<RECODEABLE>\n<CODELIST> "{name}"\n')
        with pytest.raises(UnreadableFile, match="does not lie beside them"):
            classification(read_metadata(tmp_path / "in" / "firms.rda"), "Size", ["1"])


@pytest.mark.parametrize("name", ["", ".", "./", " ", "..."])
def test_metadata_that_name_no_file_learn_nothing_about_the_folder(name: str, tmp_path: Path) -> None:
    (tmp_path / "secret.hrc").write_text("root\n")
    with pytest.raises(UnreadableFile, match="does not lie beside them") as caught:
        Metadata(variables=(), path=tmp_path / "firms.rda").file(name)
    assert "secret" not in str(caught.value)


def test_a_file_in_a_folder_below_the_metadata_is_found(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "size.hrc").write_text("1\n2\n")
    for name in ("sub\\SIZE.hrc", "sub/size.hrc"):
        (tmp_path / "firms.rda").write_text(f'Size 1 2\n<RECODEABLE>\n<HIERCODELIST> "{name}"\n<HIERLEADSTRING> "@"\n')
        assert classification(read_metadata(tmp_path / "firms.rda"), "Size", ["1"]).codes == ("1", "2", "Total")
