"""docs/errors.md explains every error, and its example messages are what diskret says."""

from __future__ import annotations

import errno
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import diskret as dk
from diskret.io.files import whole_file
from diskret.io.hierarchies import read_hierarchy
from diskret.job.read import read_job
from diskret.ledger.about import About
from diskret.ledger.ledger import Ledger
from diskret.ledger.lock import alone_in
from diskret.model import errors
from diskret.model.errors import DiskretError
from diskret.model.memory import refuse_short
from diskret.web.run_folders import Runs
from diskret.web.workspace import Workspace

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
FIRMS = {"region": ["N1", "N2", "S1"], "turnover": [10.5, 2.0, 7.25]}
REGION = dk.Hierarchy.from_nested({"All": {"N": ["N1", "N2"], "S": ["S1"]}})
HUGE = dk.Hierarchy.flat(map(str, range(99_999)))


def classes() -> list[type[DiskretError]]:
    found = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, DiskretError)]
    return sorted(found, key=lambda c: (c.code[0], int(c.code[1:])))


def section(code: str) -> str:
    """The text below a code's heading."""
    found = re.search(rf"^### {code}\n(.*?)(?=^##|\Z)", PAGE.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert found, f"docs/errors.md has no section '### {code}'"
    return found[1]


# --- one mistake per code, made in an empty folder -------------------------------------------------------------------


def unknown_code() -> None:
    dk.tabulate({"region": ["N1", "N3"], "turnover": [1, 2]}, by={"region": REGION}, value="turnover")


def duplicate_code() -> None:
    Path("region.hrc").write_text("N\n@N1\n@N2\n@N1\n")
    read_hierarchy("region.hrc")


def two_parents() -> None:
    dk.Hierarchy.from_parents([("N1", "N"), ("N1", "S"), ("N", "All"), ("S", "All")])


def hierarchy_cycle() -> None:
    dk.Hierarchy.from_parents({"N1": "N", "N": "S", "S": "N"})


def broken_levels() -> None:
    Path("region.hrc").write_text("N\n@@N1\n")
    read_hierarchy("region.hrc")


def sum_in_records() -> None:
    dk.tabulate({"region": ["N1", "N"], "turnover": [1, 2]}, by={"region": REGION}, value="turnover")


def total_in_data() -> None:
    dk.tabulate({"region": ["N", "S", "Insgesamt"], "x": [1, 2, 3]}, by={"region": None}, value="x")


def missing_code() -> None:
    Path("firms.csv").write_text("region,turnover\nN1,10\n,2\n")
    dk.tabulate("firms.csv", by={"region": REGION}, value="turnover")


def unclear_file() -> None:
    Path("firms.csv").write_text("Turnover,in 1000 EUR\nregion,turnover,n\nN1,10,2\n")
    dk.tabulate("firms.csv", by={"region": REGION}, value="turnover")


def not_exact() -> None:
    Path("firms.csv").write_text("region,turnover\nN1,90000000000000.01\n")
    dk.tabulate("firms.csv", by={"region": REGION}, value="turnover")


def missing_column() -> None:
    Path("firms.csv").write_text("region,turnover\nN1,10\n")
    dk.tabulate("firms.csv", by={"region": REGION}, value="turnovr")


def not_a_number() -> None:
    Path("firms.csv").write_text("region,turnover\nN1,10\nN2,1234 EUR\n")
    dk.tabulate("firms.csv", by={"region": REGION}, value="turnover")


def not_finite() -> None:
    Path("firms.csv").write_text("region,turnover\nN1,10\nN2,\n")
    dk.tabulate("firms.csv", by={"region": REGION}, value="turnover")


def negative_value() -> None:
    Path("firms.csv").write_text("region,turnover\nN1,10\nN2,-3\n")
    dk.tabulate("firms.csv", by={"region": REGION}, value="turnover", options=dk.TabulationOptions(positive=True))


def duplicate_cell() -> None:
    Path("cells.csv").write_text("region,turnover\nN1,10\nN2,3\nN1,5\n")
    dk.Table.from_cells("cells.csv", by={"region": REGION}, value="turnover")


def wrong_sum() -> None:
    Path("cells.csv").write_text("region,turnover\nN1,60\nN2,30\nN,100\n")
    dk.Table.from_cells("cells.csv", by={"region": REGION}, value="turnover")


def empty_data() -> None:
    Path("firms.csv").write_text("")
    dk.tabulate("firms.csv", by={"region": REGION}, value="turnover")


def unreadable_file() -> None:
    Path("firms.csv").write_text("region,turnover\nN1,10\n")
    dk.tabulate("firm.csv", by={"region": REGION}, value="turnover")


def table_too_large() -> None:
    columns = {"product": ["1"], "origin": ["1"], "destination": ["1"], "value": [1]}
    by, whole = dict.fromkeys(("product", "origin", "destination"), HUGE), dk.TabulationOptions(sparse=False)
    dk.tabulate(columns, by=by, value="value", options=whole)


def not_enough_memory() -> None:
    refuse_short(10**15, "protecting a table")


def bad_prior_knowledge() -> None:
    Path("cells.csv").write_text("region,turnover,low,high\nN1,60,70,90\nN2,30,20,40\n")
    dk.Table.from_cells("cells.csv", by={"region": REGION}, value="turnover", lower="low", upper="high")


def too_large() -> None:
    Path("region.json").write_text('{"a":' * 200 + "null" + "}" * 200)
    read_hierarchy("region.json")


def too_few_units() -> None:
    dk.microaggregate({"subsidies": [7.5, 3.0, 0, 0]}, ["subsidies"])


def constant_column() -> None:
    dk.add_noise({"rate": [4.5, 4.5, 4.5]}, ["rate"], sd=0.1, seed=1)


def not_positive_definite() -> None:
    """Each pair of columns over records of its own."""
    rise, fall, none = [1, 2, 3, 4, 5], [5, 4, 3, 2, 1], [None] * 5
    columns = {"a": rise + rise + none, "b": [1, 3, 2, 5, 4] + none + rise, "c": none + fall + [2, 1, 4, 3, 5]}
    dk.add_noise(columns, list(columns), sd=0.1, seed=1)


def infeasible_noise() -> None:
    columns = {"a": [1, 2, 3, 4, 5], "b": [2, 1, 4, 3, 5]}
    dk.add_noise(columns, list(columns), sd=0.1, shift=0.099, seed=1)


def bad_shares() -> None:
    dk.estimate_reidentifiable({"sex": [0.5, 0.4]}, n=100)


def nothing_to_link() -> None:
    dk.attack(FIRMS, {"land": ["N1"], "umsatz": [10.0]}, keys=["region"], values=["turnover"])


def bad_p_table() -> None:
    Path("p_table.txt").write_text("i;j;p;v;p_int_ub\n0;0;1;0;1\n1;0;0.5;-1;0.5\n1;2;0.4;1;0.9\n")
    dk.read_p_table("p_table.txt")


def bad_record_keys() -> None:
    dk.tabulate(FIRMS | {"rkey": [17, 201, 96]}, by={"region": REGION}, value="turnover", roles=dk.Roles(key="rkey"))


def in_two_years(value: float, status: dk.Status = dk.Status.OPEN) -> dict[str, dk.Table]:
    cells: dict[str, list[Any]] = {"region": ["N1", "N2", "S1"], "turnover": [10.5, 2.0, 7.25]}
    one = dk.Table.from_cells(cells, by={"region": REGION}, value="turnover")
    cells["turnover"][0] = value
    two = dk.Table.from_cells(cells, by={"region": REGION}, value="turnover")
    return {"spring": one, "autumn": two.with_status(status, [["N1"]])}


def shared_cells_differ() -> None:
    dk.Pool.of(in_two_years(11.0))


def nothing_shared() -> None:
    dk.Pool.of(in_two_years(11.0), fixed={"spring": {"year": "2025"}, "autumn": {"year": "2026"}})


def late_table() -> None:
    dk.Pool.of(in_two_years(10.5, dk.Status.PRIMARY), published=["spring"])


def change_out_of_reach() -> None:
    cells = {"region": ["N", "S"], "turnover": [10, 20], "status": ["primary", "published"]}
    table = dk.Table.from_cells(cells, by={"region": None}, value="turnover", status="status")
    dk.perturb(table.with_status(dk.Status.NEVER, [["Total"]]))


def rounding_out_of_reach() -> None:
    def pair(one: str, two: str) -> dk.Table:
        by = {"s": dk.Hierarchy.flat([one, two], total=one + two)}
        return dk.Table.from_cells({"s": [one, two], "n": [1, 1]}, by=by, value="n", frequency=True)

    dk.round_table(dk.Pool.of({"one": pair("a", "b"), "two": pair("b", "c"), "three": pair("a", "c")}), 2)


def bad_option() -> None:
    dk.mark(dk.tabulate(FIRMS, by={"region": REGION}, value="turnover", largest=2), dk.Dominance(3, 90))


def missing_package() -> None:
    dk.Table.from_cells({"s": ["m"], "x": [1]}, by="s", value="x").sealed().to_polars()


def missing_extra() -> None:
    dk.tabulate(FIRMS, by={"region": REGION}, value="turnover", options=dk.TabulationOptions(engine="spark"))


def bad_job() -> None:
    Path("firms.csv").write_text("region,turnover\nN1,10\n")
    Path("job.toml").write_text(
        '[data]\nmicrodata = "firms.csv"\n[table]\nby = ["region"]\nvalu = "turnover"\n[rules]\np_percent = -5\n'
    )
    read_job("job.toml")


def cannot_write() -> None:
    with whole_file("turnover.csv"):
        raise OSError(errno.ENOSPC, "No space left on device")


def outside_workspace() -> None:
    Workspace.at(Path("workspace")).path("../firms.csv")


def upload_too_large() -> None:
    raise errors.UploadTooLarge.over(1_000_000)  # tests/web sends too much to a server


def not_protected() -> None:
    cells = {"s": ["a", "b"], "x": [1, 2], "st": ["primary", "open"]}
    dk.publish(dk.Table.from_cells(cells, by={"s": None}, value="x", status="st"), "t.csv")


def no_such_run() -> None:
    Runs(Workspace.at(Path("workspace"))).folder("20260101-120000-abcd")


def damaged_run() -> None:
    runs = Workspace.at(Path("workspace")).runs / "20260101-120000-abcd"
    runs.mkdir(parents=True)
    (runs / "status.json").write_text("[]")
    Runs(Workspace.at(Path("workspace"))).finished(runs.name)


def reading_failed() -> None:
    raise errors.ReadingFailed.ended("crashed", "firms.csv")  # tests/web lets a process crash


def changed_elsewhere() -> None:
    raise errors.ChangedElsewhere.choice()  # tests/web lets two tabs do it


def yearbook(x: list[int], **about: str) -> tuple[dk.Table, About]:
    table = dk.Table.from_cells({"region": ["N1", "N2"], "turnover": x}, by={"region": None}, value="turnover")
    return table, About(**{"population": "firms", "period": "2024"} | about)  # type: ignore[arg-type]


def no_ledger() -> None:
    dk.open_ledger("nowhere")


def with_yearbook() -> Ledger:
    ledger = dk.open_ledger("ledger", create=True)
    ledger.add(*yearbook([1, 2]), name="yearbook")
    return ledger


def damaged_ledger() -> None:
    with_yearbook()
    Path("ledger/entries/000001.parquet").unlink()
    dk.open_ledger("ledger").add(*yearbook([1, 2]), name="again")


def ledger_busy() -> None:
    Path("ledger").mkdir()
    times = iter([0.0, 1000.0])
    with alone_in(Path("ledger")), alone_in(Path("ledger"), clock=lambda: next(times)):
        pass


def contradiction() -> None:
    with_yearbook().add(*yearbook([3, 2]), name="corrected")


def meaning_unknown() -> None:
    with_yearbook().add(*yearbook([1, 2], population="farms"), name="request")


def no_such_entry() -> None:
    with_yearbook().entry("yearbok")


def not_beside() -> None:
    ledger = with_yearbook()
    about = {"population": "firms", "period": "2024"}
    large = dk.Table.from_cells({"kind": ["k"], "turnover": [0.75]}, by={"kind": None}, value="turnover")
    fixed = {"region": "N1", "size": "l"}
    ledger.add(large, About(**about, fixed=fixed), name="earlier request")  # type: ignore[arg-type]
    cells = {"region": ["N1", "N1", "N2", "N2"], "size": ["s", "l", "s", "l"], "turnover": [0.25, 0.75, 1, 1]}
    table = dk.Table.from_cells(cells, by={"region": None, "size": None}, value="turnover")
    marked = table.with_status("primary", [["N1", "s"]])
    dk.suppress(marked, ledger=ledger.about(About(**about), "request"))  # type: ignore[arg-type]


MISTAKES: dict[str, Callable[[], None]] = {
    "K1": bad_p_table,
    "K2": bad_record_keys,
    "H1": unknown_code,
    "H2": duplicate_code,
    "H3": two_parents,
    "H4": hierarchy_cycle,
    "H5": broken_levels,
    "H6": sum_in_records,
    "H8": total_in_data,
    "H7": missing_code,
    "T1": missing_column,
    "T2": not_a_number,
    "T3": not_finite,
    "T4": negative_value,
    "T5": duplicate_cell,
    "T6": wrong_sum,
    "T7": empty_data,
    "T8": unreadable_file,
    "T9": table_too_large,
    "T10": bad_prior_knowledge,
    "T11": too_large,
    "T12": not_enough_memory,
    "T13": not_exact,
    "T14": unclear_file,
    "L1": shared_cells_differ,
    "L2": nothing_shared,
    "L3": late_table,
    "B1": no_ledger,
    "B2": damaged_ledger,
    "B3": ledger_busy,
    "B4": contradiction,
    "B5": meaning_unknown,
    "B6": no_such_entry,
    "B7": not_beside,
    "M1": too_few_units,
    "M2": constant_column,
    "M3": not_positive_definite,
    "M4": infeasible_noise,
    "P1": change_out_of_reach,
    "P2": rounding_out_of_reach,
    "R1": bad_shares,
    "R2": nothing_to_link,
    "O1": bad_option,
    "O2": missing_extra,
    "O3": missing_package,
    "J1": bad_job,
    "W1": cannot_write,
    "W2": outside_workspace,
    "W3": upload_too_large,
    "W4": no_such_run,
    "W5": not_protected,
    "W6": damaged_run,
    "W7": reading_failed,
    "W8": changed_elsewhere,
}
NEVER_RAISED = {"D0"}
"""The common base, and a class no function raises yet."""


@pytest.mark.parametrize("kind", classes(), ids=lambda c: c.code)
def test_every_error_has_its_section(kind: type[DiskretError]) -> None:
    assert kind("something").docs == f"docs/errors.md#{kind.code.lower()}"
    assert f"`{kind.__name__}`" in section(kind.code)


def test_no_code_is_used_twice_and_none_is_explained_that_does_not_exist() -> None:
    codes = [c.code for c in classes()]
    assert len(set(codes)) == len(codes)
    assert re.findall(r"^### ([A-Z]\d+)$", PAGE.read_text(encoding="utf-8"), re.MULTILINE) == codes_in_order(codes)


def codes_in_order(codes: list[str]) -> list[str]:
    return sorted(codes, key=lambda c: ("DHTLBMPRKOJW".index(c[0]), int(c[1:])))


def test_every_error_that_can_be_raised_has_an_example() -> None:
    assert {c.code for c in classes()} == MISTAKES.keys() | NEVER_RAISED


@pytest.mark.parametrize("code", MISTAKES)
def test_example_message_is_what_diskret_says(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for package in ("pyspark.sql", "polars"):  # as if they were not installed
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(DiskretError) as caught:
        MISTAKES[code]()
    assert caught.value.code == code
    assert f"```text\n{caught.value}\n```" in section(code)
