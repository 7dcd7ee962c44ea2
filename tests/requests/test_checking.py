"""Output checking: rules on the border and beside it, groups that differ, tables, and the file that is kept."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from typer.testing import CliRunner

import diskret as dk
from diskret.cli import app
from diskret.job.check_file import check_file, read_outputs
from diskret.job.house import read_house
from diskret.ledger import About
from diskret.model.errors import BadJob, BadOption, DamagedLedger
from diskret.requests.answering import answer
from diskret.requests.beside import House
from diskret.requests.checking import check_outputs
from diskret.requests.output_rules import OutputRules
from diskret.requests.outputs import (
    Extreme,
    Group,
    Model,
    Output,
    Percentile,
    Picture,
    Statistic,
    TableOutput,
    Verdict,
)
from diskret.requests.query import Query
from diskret.requests.records import Records
from diskret.rules.rule import AnyOf
from tests.houses import OUTPUTS, house_in

HOUSE = House(rules=dk.rules.MinCount(3) | dk.rules.PPercent(10))
BORDERS: list[tuple[Output, Verdict]] = [
    (Statistic(name="mean", units=3, total=100, largest=(40, 30)), "accept"),
    (Statistic(name="mean", units=2, total=100, largest=(60, 40)), "refuse"),
    # 109 - 100 - 0 is less than 10 % of 100, 110 - 100 is not
    (Statistic(name="mean", units=9, total=109, largest=(100, 0)), "refuse"),
    (Statistic(name="mean", units=9, total=110, largest=(100, 0)), "accept"),
    (Statistic(name="mean", units=9, total=110), "change"),
    (Statistic(name="correlation", units=9, weighs=False), "accept"),
    (Statistic(name="correlation", units=2, weighs=False), "refuse"),
    (Percentile(name="median", at=50, units=10), "accept"),
    (Percentile(name="median", at=50, units=9), "refuse"),
    (Percentile(name="p10", at=10, units=50), "accept"),
    (Percentile(name="p10", at=10, units=49), "change"),
    (Percentile(name="p90", at=90, units=49), "change"),
    (Percentile(name="p90", at=90, units=49, same=3), "accept"),
    (Percentile(name="p90", at=90, units=49, same=2), "change"),
    (Extreme(name="most", same=3), "accept"),
    (Extreme(name="most", same=2), "change"),
    (Model(name="wages", units=20, parameters=10), "accept"),
    (Model(name="wages", units=19, parameters=10), "refuse"),
    (Model(name="wages", units=99, parameters=10, smallest=3), "accept"),
    (Model(name="wages", units=99, parameters=10, smallest=2), "change"),
    (Model(name="wages", units=19, parameters=10, smallest=2), "refuse"),
    (Model(name="wages", units=99, parameters=10, only_categories=True), "change"),
    (Model(name="wages", units=99, parameters=10, r_squared=0.99), "accept"),
    (Model(name="wages", units=99, parameters=10, r_squared=0.995), "refuse"),
    (Model(name="wages", units=99, parameters=10, single_values=True), "change"),
    (Picture(name="histogram", smallest=3), "accept"),
    (Picture(name="points", smallest=1), "change"),
]


@pytest.mark.parametrize(("output", "verdict"), BORDERS, ids=lambda each: getattr(each, "name", each))
def test_every_rule_on_its_border_and_beside_it(output: Output, verdict: Verdict) -> None:
    found = check_outputs([output], HOUSE).findings[0]
    assert found.verdict == verdict
    assert bool(found.reasons) == (verdict != "accept")
    assert bool(found.changes) == (verdict == "change")


def test_the_minimum_count_of_the_house_holds_where_outputs_ask_for_less() -> None:
    ten = House(rules=AnyOf((dk.rules.MinCount(10),)))
    assert check_outputs([Statistic(name="mean", units=9, weighs=False)], ten).verdict == "refuse"
    assert check_outputs([Extreme(name="least", same=9)], ten).verdict == "change"


def test_groups_of_which_one_contains_the_other_may_not_differ_by_few_units() -> None:
    whole = Statistic(name="all", units=20, weighs=False)
    part = Statistic(name="without one", units=19, weighs=False, group=Group(at_least={"employees": 10}))
    other = Statistic(name="elsewhere", units=19, weighs=False, group=Group(population="persons"))
    found = check_outputs([whole, part, other], HOUSE)
    assert [each.verdict for each in found.findings] == ["accept", "refuse", "accept"]
    assert "differs from all by too few units" in found.findings[1].reasons[0]
    again = check_outputs([part], HOUSE, earlier=found.groups)
    assert again.verdict == "refuse"
    assert check_outputs([part], HOUSE).verdict == "accept"


def table(**columns: list[object]) -> dk.Table:
    """Turnover of four regions."""
    cells = {"region": list("abcd"), "x": [100, 90, 80, 70], "n": [9, 9, 2, 9], "x1": [30, 30, 60, 20],
             "x2": [20, 20, 20, 20], **columns}  # fmt: skip
    status = {"status": "st"} if "st" in columns else {}
    return dk.Table.from_cells(cells, by={"region": None}, value="x", count="n", largest=["x1", "x2"], **status)


def test_a_table_is_accepted_with_the_cells_hidden_that_must_be() -> None:
    bare = check_outputs([TableOutput(name="t", table=table())], HOUSE)
    assert bare.verdict == "change"
    assert "region=c" in bare.findings[0].changes[0]
    hidden = bare.tables["t"].name_cells(bare.tables["t"].hidden)
    marks: list[object] = ["secondary" if f"region={c}" in hidden else "" for c in "abcd"]
    assert check_outputs([TableOutput(name="t", table=table(st=marks))], HOUSE).verdict == "accept"
    alone: list[object] = ["", "", "secondary", ""]
    assert check_outputs([TableOutput(name="t", table=table(st=alone))], HOUSE).verdict == "change"


def test_a_table_that_does_not_say_who_is_behind_its_cells_is_refused() -> None:
    cells = {"region": list("ab"), "x": [100, 90], "n": [9, 9]}
    bare = dk.Table.from_cells(cells, by={"region": None}, value="x")
    assert check_outputs([TableOutput(name="t", table=bare)], HOUSE).verdict == "refuse"
    counted = dk.Table.from_cells(cells, by={"region": None}, value="x", count="n")
    said = check_outputs([TableOutput(name="t", table=counted)], HOUSE).findings[0]
    assert said.verdict == "refuse"
    assert "largest contributions" in said.reasons[0]


def test_counts_of_few_units_are_hidden() -> None:
    counts = dk.Table.from_cells({"s": list("abc"), "n": [1, 8, 9]}, by={"s": None}, value="n", frequency=True)
    assert check_outputs([TableOutput(name="t", table=counts)], HOUSE).verdict == "change"


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(BadOption):
        OutputRules(degrees=0)
    with pytest.raises(BadOption):
        OutputRules(r_squared=1.5)
    with pytest.raises(BadOption):
        Percentile(name="p", at=101, units=9)


def test_the_file_for_the_records_is_for_its_owner_alone_and_says_everything(tmp_path: Path) -> None:
    done = check_file(house_in(tmp_path, 9), tmp_path / "kept.json")
    assert [each.verdict for each in done.findings] == ["accept", "accept", "change"]
    assert stat.S_IMODE((tmp_path / "kept.json").stat().st_mode) == 0o600
    kept = json.loads((tmp_path / "kept.json").read_text(encoding="utf-8"))
    assert kept["who"] == "project 12"
    assert [each["verdict"] for each in kept["outputs"]] == ["accept", "accept", "change"]
    assert set(kept["files"]) == {"table1.csv"}


def test_what_is_accepted_is_remembered_and_the_next_check_stands_beside_it(tmp_path: Path) -> None:
    outputs = house_in(tmp_path, 9)
    check_file(outputs, remember=True)
    ledger = dk.open_ledger(tmp_path / "ledger")
    assert [entry.name for entry in ledger.entries] == ["output 1: turnover by region"]
    later = outputs.with_name("later.toml")
    text = OUTPUTS.replace('kind = "model"\nunits = 812', 'kind = "model"\nat_least = { age = 20 }\nunits = 811')
    later.write_text(text.partition("[[output]]")[0] + "[[output]]" + text.split("[[output]]")[2], encoding="utf-8")
    assert check_file(later).findings[0].verdict == "refuse"


def test_the_command_says_the_same_and_ends_with_1_unless_all_are_accepted(tmp_path: Path) -> None:
    outputs = house_in(tmp_path)
    done = CliRunner().invoke(app, ["check-output", str(outputs), "--out", str(tmp_path / "kept.json")])
    assert done.exit_code == 1
    assert check_file(outputs).report() in done.output
    said = CliRunner().invoke(app, ["check-output", str(outputs), "--json"])
    assert json.loads(said.output) == check_file(outputs).summary()


def test_mistakes_in_files_are_told_all_at_once(tmp_path: Path) -> None:
    path = house_in(tmp_path, 9)
    path.write_text(OUTPUTS.replace("parameters = 14", "parametres = 14").replace('who = "project 12"', "whom = 1"))
    with pytest.raises(BadJob) as caught:
        read_outputs(path)
    assert "parametres" in str(caught.value)
    assert "did you mean 'who'" in str(caught.value)
    path.write_text(OUTPUTS.replace('name = "wages"', 'name = "oldest"'))
    with pytest.raises(BadJob, match="one name"):
        read_outputs(path)


@pytest.mark.parametrize(
    "line",
    [
        "[table]\nweight = 'w'", "[table]\nholding = 'owner'", "[table]\nwaiver = 'w'", "[table]\npublic = 'w'",
        "[table]\nshadow = 'w'", "[rules]\none_category = true",
        "[classifications.region]\nlevels = 1",
    ],
)  # fmt: skip
def test_a_house_whose_words_requests_would_not_heed_is_refused(tmp_path: Path, line: str) -> None:
    """Weights and owners change what is safe: silence would be a promise nobody keeps."""
    section = line.partition("\n")[0]
    house_in(tmp_path)
    said = (tmp_path / "house.toml").read_text(encoding="utf-8")
    text = said.replace(section, line, 1) if section in said else said + line + "\n"
    (tmp_path / "house.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadJob, match="do not heed"):
        read_house(tmp_path / "house.toml").desk()


def test_rules_that_cannot_judge_groups_of_records_are_refused() -> None:
    records = Records.of({"region": list("aabb"), "x": [1, 2, 3, 4]}, ["region"], ["x"])
    with pytest.raises(BadOption, match="not judged by"):
        answer(records, Query(value="x"), House(rules=dk.rules.MinCount(3) | dk.rules.OneCategory()))
    with pytest.raises(BadOption, match="no rule about them"):
        answer(records, Query(value="x"), House(rules=AnyOf((dk.rules.SmallCells(3),))))


def two_tables() -> tuple[TableOutput, TableOutput]:
    """By regions and by zones that cut across them; each is safe by itself, and one less the other is a single firm."""
    cells = {
        "region": list("abcd"),
        "x": [10, 20, 30, 40],
        "n": [1, 5, 5, 5],
        "x1": [10, 5, 8, 10],
        "x2": [0, 5, 8, 10],
    }
    found = []
    for name, tree, hidden in (
        ("regions", {"N": ["a", "b"], "S": ["c", "d"]}, "ab"), ("zones", {"wet": ["a", "c"], "dry": ["b", "d"]}, "ac"),
    ):  # fmt: skip
        marks = ["secondary" if code in hidden else "" for code in "abcd"]
        by = {"region": dk.Hierarchy.from_nested({"DE": tree})}
        made = dk.Table.from_cells(
            {**cells, "st": marks}, by=by, value="x", count="n", largest=["x1", "x2"], status="st"
        )
        about = About(population="firms", period="2024", unit="EUR", value="x")
        found.append(TableOutput(name=name, table=made, about=about))
    return found[0], found[1]


@pytest.mark.parametrize("remembers", [True, False])
def test_tables_of_one_file_are_attacked_together(tmp_path: Path, remembers: bool) -> None:
    one, other = two_tables()
    ledger = dk.open_ledger(tmp_path / "ledger", create=True) if remembers else None
    for alone in (one, other):
        assert check_outputs([alone], HOUSE, ledger=ledger).verdict == "accept"
    found = check_outputs([one, other], HOUSE, ledger=ledger)
    assert [each.verdict for each in found.findings] == ["accept", "change"]
    assert [each.verdict for each in check_outputs([other, one], HOUSE, ledger=ledger).findings] == ["accept", "change"]
    if ledger is not None:
        assert ledger.entries == ()


def test_outputs_are_not_judged_beside_a_ledger_that_lost_an_entry(tmp_path: Path) -> None:
    one, other = two_tables()
    assert one.about is not None
    ledger = dk.open_ledger(tmp_path / "ledger", create=True)
    ledger.add(one.table, one.about, name="one")
    (ledger.folder / "entries" / "000001.parquet").unlink()
    with pytest.raises(DamagedLedger):
        check_outputs([other], HOUSE, ledger=dk.open_ledger(ledger.folder))


def test_a_minimum_count_of_the_house_holds_for_every_kind() -> None:
    ten = House(rules=AnyOf((dk.rules.MinCount(10),)))
    for few, enough in (
        (Percentile(name="p90", at=90, units=99, same=9), Percentile(name="p90", at=90, units=99, same=10)),
        (Percentile(name="p90", at=90, units=99), Percentile(name="p90", at=90, units=100)),
        (Model(name="m", units=9, parameters=1), Model(name="m", units=11, parameters=1)),
        (Picture(name="h", smallest=9), Picture(name="h", smallest=10)),
        (Extreme(name="e", same=9), Extreme(name="e", same=10)),
    ):
        assert check_outputs([few], ten, OutputRules(degrees=5)).verdict != "accept"
        assert check_outputs([enough], ten, OutputRules(degrees=5)).verdict == "accept"
