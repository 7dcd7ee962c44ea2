"""Hierarchies in files: what is written is read back, and what cannot be read is refused by name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.io.hierarchies import read_hierarchy
from diskret.io.hrc import hrc_text, read_codelist, read_hrc, write_hrc
from diskret.model.errors import (
    BadOption,
    BrokenLevels,
    DuplicateCode,
    EmptyData,
    MissingCode,
    MissingColumn,
    UnreadableFile,
)
from diskret.model.hierarchy import Hierarchy

REGION = Hierarchy.from_nested({"DE": {"05": ["05111", "05112"], "11": None}}, labels={"05": "NRW"})


@st.composite
def ragged_trees(draw: st.DrawFn) -> Hierarchy:
    """A tree in which every new code hangs below any earlier one."""
    codes = st.text("ab1 @.ä", min_size=1, max_size=4).map(str.strip).filter(bool)
    names = draw(st.lists(codes, min_size=2, unique=True))
    above = [draw(st.integers(0, i - 1)) for i in range(1, len(names))]
    return Hierarchy.from_parents([(names[i], names[p]) for i, p in enumerate(above, start=1)])


@given(ragged_trees(), st.sampled_from(["@", "..", "~"]))
def test_a_written_hierarchy_reads_back_with_the_same_codes_in_the_same_order(
    tmp_path_factory: pytest.TempPathFactory, tree: Hierarchy, lead: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "tree.hrc"
    if any(code.startswith(lead) for code in tree.codes[:-1]):
        with pytest.raises(BadOption):
            write_hrc(tree, path, lead)
        return
    write_hrc(tree, path, lead)
    assert read_hrc(path, lead, total=tree.total) == tree


def test_sums_stand_before_their_parts_and_the_total_not_at_all() -> None:
    assert hrc_text(REGION) == "05\n@05111\n@05112\n11\n"


def test_latin_1_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    path = tmp_path / "region.hrc"
    path.write_bytes("Köln\n@1\n".encode("latin-1"))
    assert read_hrc(path).codes == ("1", "Köln", "Total")
    path.write_bytes("\ufeffKöln\r\n@1\r\n".encode())
    assert read_hrc(path).codes == ("1", "Köln", "Total")


def test_errors_of_a_hrc_file_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "region.hrc"
    with pytest.raises(UnreadableFile, match="no such file"):
        read_hrc(path)
    path.write_text("")
    with pytest.raises(EmptyData):
        read_hrc(path)
    path.write_text("A\n@@1\n")
    with pytest.raises(BrokenLevels) as caught:
        read_hrc(path)
    assert caught.value.where == f"{path}, line 2"
    path.write_bytes(b"A\0\0")
    with pytest.raises(UnreadableFile, match="plain text"):
        read_hrc(path)
    with pytest.raises(UnreadableFile):
        read_hrc(tmp_path)


def test_codes_that_could_not_be_read_back_are_not_written(tmp_path: Path) -> None:
    path = tmp_path / "out.hrc"
    for codes in (["@1"], [" 1"], ["1\n2"]):
        with pytest.raises(BadOption):
            write_hrc(Hierarchy.flat(codes), path)
    with pytest.raises(EmptyData):
        write_hrc(Hierarchy.flat([]), path)
    assert not path.exists()


def test_labels_come_from_the_code_list(tmp_path: Path) -> None:
    (tmp_path / "r.cdl").write_text(' 1,Groningen\nNr,"North"\n\nx,\n')
    assert read_codelist(tmp_path / "r.cdl") == {"1": "Groningen", "Nr": "North", "x": "x"}
    (tmp_path / "r.cdl").write_text("1;Groningen\n")
    with pytest.raises(UnreadableFile):
        read_codelist(tmp_path / "r.cdl")
    (tmp_path / "r.cdl").write_text("1,a\n1,b\n")
    with pytest.raises(DuplicateCode):
        read_codelist(tmp_path / "r.cdl")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("r.csv", "code,parent,label\n05111,05,\n05112,05,\n05,DE,NRW\n11,DE,\nDE,,\n"),
        ("r.csv", "Label;Code;Parent\n;05111;05\n;05112;05\nNRW;05;DE\n;11;DE\n"),
        ("r.tsv", "code\tlevel\tlabel\n05111\t1\n05112\t1\n05\t2\tNRW\n11\t2\nDE\t3\n"),
        ("r.JSON", json.dumps(REGION.describe())),
        ("r.json", json.dumps({"codes": REGION.codes, "levels": [1, 1, 2, 2, 3], "labels": {"05": "NRW"}})),
    ],
)
def test_every_notation_gives_the_same_hierarchy(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_hierarchy(tmp_path / name) == REGION


def test_nested_json_and_hrc_take_labels_and_a_total(tmp_path: Path) -> None:
    (tmp_path / "r.json").write_text('{"05": ["05111", "05112"], "11": null}')
    assert read_hierarchy(tmp_path / "r.json", total="DE", labels={"05": "NRW"}) == REGION
    (tmp_path / "r.hrc").write_text("05\n*05111\n*05112\n11\n")
    assert read_hierarchy(tmp_path / "r.hrc", lead="*", total="DE", labels={"05": "NRW"}) == REGION
    (tmp_path / "r.csv").write_text("code,parent\n05111,05\n05112,05\n05,\n11,\n")
    assert read_hierarchy(tmp_path / "r.csv", total="DE", labels={"05": "NRW"}) == REGION


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("r.xlsx", "x", UnreadableFile),
        ("r.pdf", "x", BadOption),
        ("r", "x", BadOption),
        ("r.csv", "a,b\n1,2\n", MissingColumn),
        ("r.csv", "code,name\n1,2\n", MissingColumn),
        ("r.csv", "code,parent\n", EmptyData),
        ("r.csv", "code,parent\n,A\n", MissingCode),
        ("r.csv", "code,parent\na,A\nb,\n", BrokenLevels),
        ("r.csv", "code,parent\na,A\na,A\n", DuplicateCode),
        ("r.csv", "code,level\na,x\n", BrokenLevels),
        ("r.json", "{", UnreadableFile),
        ("r.json", "[1]", UnreadableFile),
        ("r.json", '{"a": "b"}', UnreadableFile),
        ("r.json", '{"a": [["b"]]}', UnreadableFile),
        ("r.json", '{"a": {"b": null, "b": null}}', DuplicateCode),
        ("r.json", '{"codes": "a", "levels": [1]}', UnreadableFile),
        ("r.json", '{"codes": [1.5], "levels": [1]}', UnreadableFile),
        ("r.json", '{"codes": ["a"], "levels": [true]}', BrokenLevels),
        ("r.json", '{"codes": ["a", "b"], "parents": ["b"]}', BrokenLevels),
        ("r.json", '{"a": null, "b": null}', BrokenLevels),
    ],
)
def test_other_files_are_refused_with_their_path(tmp_path: Path, name: str, text: str, error: type[Exception]) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(error) as caught:
        read_hierarchy(tmp_path / name)
    assert str(tmp_path / name) in str(caught.value)
