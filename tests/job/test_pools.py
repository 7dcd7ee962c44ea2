"""Linked tables in one job: protected together, written one by one, refused with the reason."""

from __future__ import annotations

import csv
import json
import shutil
import sys
from collections.abc import Callable
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import diskret as dk
from diskret import Status, Table
from diskret.auditing.certificate import verify
from diskret.auditing.certificate_files import read_certificate
from diskret.cli import main
from diskret.io.hierarchies import read_hierarchy
from diskret.job.outcome import JobResult
from diskret.job.read import read_job
from diskret.job.run import run_job
from diskret.model.errors import BadJob, BadOption, LateTable, NothingShared, ProtectionWarning, SharedCellsDiffer
from diskret.publication.working import load_working, save_working

Run = Callable[..., JobResult]
EXAMPLES = Path(__file__).parents[2] / "examples"

CELLS = """region,size,x,status
a,k,10,primary
a,l,20,
b,k,30,
b,l,40,
c,k,50,
c,l,60,
d,k,70,
d,l,80,
"""
DISTRICTS = "code,parent\na,N\nb,N\nc,S\nd,S\nN,Total\nS,Total\n"
ZONES = "code,parent\na,wet\nb,dry\nc,wet\nd,dry\nwet,Total\ndry,Total\n"
TWO = """
[data]
cells = "cells.csv"
[table]
by = ["region", "size"]
value = "x"
status = "status"
[tables.districts]
classifications.region.hierarchy = "districts.csv"
output.publish = "out/districts.csv"
output.working = "out/districts.parquet"
[tables.zones]
classifications.region.hierarchy = "zones.csv"
output.publish = "out/zones.csv"
output.working = "out/zones.parquet"
"""
PROTECTED = TWO + "[suppression]\n"
LEAVING = "[output]\nunprotected = true\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("cells.csv", CELLS), ("districts.csv", DISTRICTS), ("zones.csv", ZONES)):
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def rows(path: Path) -> dict[tuple[str, str], str]:
    with path.open(encoding="utf-8", newline="") as file:
        return {(r[0], r[1]): r[2] for r in list(csv.reader(file))[1:]}


def hidden(table: Table) -> set[tuple[str, ...]]:
    return {table.codes(tuple(at)) for at in np.argwhere(table.hidden).tolist()}


def refusal(folder: Path, text: str) -> str:
    (folder / "job.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadJob) as caught:
        read_job(folder / "job.toml")
    return str(caught.value)


def called(
    folder: Path, capsys: pytest.CaptureFixture[str], text: str, *more: str, command: str = "run"
) -> tuple[int, str, str]:
    """Exit code, standard output and standard error of a command."""
    (folder / "job.toml").write_text(text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["diskret", command, str(folder / "job.toml"), *more])
        with pytest.raises(SystemExit) as ended:
            main()
    said = capsys.readouterr()
    return int(ended.value.code or 0), said.out, said.err


# --- what comes out --------------------------------------------------------------------------------------------------


def test_a_region_in_two_groupings_is_hidden_in_both_files_or_in_none(run: Run, folder: Path) -> None:
    result = run(PROTECTED)
    assert list(result.tables) == ["districts", "zones"]
    assert not result.exposed
    one, two = rows(folder / "out/districts.csv"), rows(folder / "out/zones.csv")
    shared = one.keys() & two.keys()
    assert {r for r, _ in shared} == {"a", "b", "c", "d", "Total"}
    assert all((one[cell] == "x") == (two[cell] == "x") for cell in shared)
    assert one["a", "k"] == "x"
    assert dk.audit(result.pools["x"]).safe
    for name in ("districts", "zones"):
        assert hidden(load_working(folder / f"out/{name}.parquet")["x"]) == hidden(result.tables[name])


def test_the_job_does_what_the_pool_does_in_python(run: Run, folder: Path) -> None:
    result = run(PROTECTED)
    tables = {
        name: Table.from_cells(
            folder / "cells.csv", by={"region": read_hierarchy(folder / f"{name}.csv"), "size": None}, value="x",
            status="status",
        )
        for name in ("districts", "zones")
    }  # fmt: skip
    again = dk.suppress(dk.Pool.of(tables)).table
    assert (again.status == result.pools["x"].status).all()


def test_the_certificate_of_a_pool_holds_for_this_pool_and_no_other(run: Run, folder: Path) -> None:
    result = run(PROTECTED + '[output]\ncertificate = "out/c.json"\n')
    assert folder / "out/c.json" in result.files
    certificate = read_certificate(folder / "out/c.json")["x"]
    pool = result.pools["x"]
    assert verify(pool, certificate).holds
    other = {**pool.split(), "third": pool.split()["zones"]}
    assert verify(dk.Pool.of(other), certificate).holds  # the same cells and equations
    assert not verify(dk.Pool.of({"one": pool.split()["zones"], "two": pool.split()["zones"]}), certificate).same_table


def test_both_ways_to_protect_a_pool_can_be_asked_for(run: Run) -> None:
    printed = run(TWO + '[suppression]\nguarantee = "subtables"\n')
    audited = run(PROTECTED)
    for result in (printed, audited):
        done = result.suppressions["x"]
        assert done.audit is not None
        assert done.audit.safe
    assert printed.suppressions["x"].passes >= 2  # tables take turns; the other way needs none
    assert audited.suppressions["x"].passes == 1


def test_without_suppression_the_tables_are_marked_and_a_warning_says_so(run: Run, folder: Path) -> None:
    result = run(TWO + LEAVING)
    assert any("do not release" in w for w in result.warnings)
    assert hidden(result.tables["zones"]) == {("a", "k")}


def test_several_responses_are_pools_of_their_own_and_one_may_lead(run: Run, folder: Path) -> None:
    lines = CELLS.splitlines()
    wages = [f"{line},{i + 2}" for i, line in enumerate(lines[1:])]
    (folder / "cells.csv").write_text("\n".join([lines[0] + ",wages", *wages]), encoding="utf-8")
    text = TWO.replace('value = "x"', 'value = ["x", "wages"]')
    result = run(text + '[suppression]\nleading = "x"\n')
    assert list(result.tables) == ["districts, x", "districts, wages", "zones, x", "zones, wages"]
    for name in ("districts", "zones"):
        assert hidden(result.tables[f"{name}, x"]) <= hidden(result.tables[f"{name}, wages"])
        assert list(load_working(folder / f"out/{name}.parquet")) == ["x", "wages"]


def test_whole_tables_add_up_over_a_classification_none_of_them_shows(run: Run, folder: Path) -> None:
    for name, values, marks in (("n", (5, 7, 9), ("primary", "secondary", "")), ("s", (8, 9, 4), ("", "", ""))):
        lines = [f"{wz},{v},{m}" for wz, v, m in zip("123", values, marks, strict=True)]
        (folder / f"{name}.csv").write_text("\n".join(["wz,x,status", *lines]), encoding="utf-8")
    (folder / "all.csv").write_text("wz,x,status\n1,13,\n2,16,\n3,13,\n", encoding="utf-8")
    text = "".join(
        f'[tables.{name}]\ndata.cells = "{name}.csv"\nby = ["wz"]\nvalue = "x"\nstatus = "status"\n'
        + ("" if name == "all" else f'fixed = {{ state = "{name}" }}\n')
        for name in ("n", "s", "all")
    )
    loose = run(text + '[pool]\nover = "state"\n')
    assert [e.cell for e in dk.audit(loose.pools["x"]).exposed] == ["wz=1, state=n"]
    done = run(text + '[pool]\nover = "state"\n[suppression]\n')
    assert not done.exposed
    assert ("1",) in hidden(done.tables["s"]) | hidden(done.tables["all"])


def test_a_status_by_hand_holds_in_every_table_that_shows_the_cell(run: Run) -> None:
    by_hand = '[[status]]\ncell = { region = "d", size = "l" }\nstatus = "primary"\n'
    result = run(TWO + LEAVING + by_hand)
    assert all(("d", "l") in hidden(t) for t in result.tables.values())
    never = '[[status]]\ncell = { region = "wet" }\nstatus = "never"\n'
    result = run(TWO + LEAVING + never)
    assert result.tables["zones"].status[result.tables["zones"].index("wet", "Total")] == Status.NEVER
    with pytest.raises(BadOption, match=r"no table of the pool shows this cell"):
        run(TWO + '[[status]]\ncell = { region = "e" }\nstatus = "never"\n')


def test_last_periods_pattern_is_kept_table_by_table(run: Run, folder: Path) -> None:
    run(PROTECTED)
    for name in ("districts", "zones"):
        shutil.copy(folder / f"out/{name}.parquet", folder / f"old-{name}.parquet")
    before = {name: load_working(folder / f"old-{name}.parquet")["x"] for name in ("districts", "zones")}
    (folder / "cells.csv").write_text(CELLS.replace("50", "5000").replace("a,l,20", "a,l,2000"), encoding="utf-8")
    text = PROTECTED + "at_most = inf\n"
    for name in ("districts", "zones"):
        text = text.replace(f"[tables.{name}]\n", f'[tables.{name}]\nprevious = "old-{name}.parquet"\n')
    result = run(text)
    for name, old in before.items():
        assert hidden(old) == hidden(result.tables[name])
    told = result.suppressions["x"].consistency
    assert told is not None
    assert told.taken.kept > 0
    assert told.at_most == inf


# --- late tables, and what is known from those that are out ----------------------------------------------------------

SIZES = """region,size,sector,x,status
a,k,m,4,primary
a,k,n,6,
a,l,m,9,
a,l,n,11,
b,k,m,14,
b,k,n,16,
b,l,m,19,
b,l,n,21,
c,k,m,24,
c,k,n,26,
c,l,m,29,
c,l,n,31,
d,k,m,34,
d,k,n,36,
d,l,m,39,
d,l,n,41,
"""
LATE = """
[tables.districts]
data.table = "out/districts.parquet"
published = true
[tables.late]
data.cells = "late.csv"
by = ["region", "size", "sector"]
value = "x"
status = "status"
classifications.region.hierarchy = "districts.csv"
output.publish = "out/late.csv"
[suppression]
"""


def test_a_late_table_hides_cells_of_its_own_only(run: Run, folder: Path) -> None:
    run(PROTECTED)
    before = load_working(folder / "out/districts.parquet")["x"]
    (folder / "late.csv").write_text(SIZES, encoding="utf-8")
    result = run(LATE)
    assert (result.tables["districts"].status == before.status).all()
    assert result.files == (folder / "out/late.csv",)
    assert not result.exposed
    late = result.tables["late"]
    assert all(codes[2] != "Total" or codes[:2] in hidden(before) for codes in hidden(late))


def test_a_late_table_that_cannot_be_protected_ends_with_exit_code_2_and_writes_nothing(
    run: Run, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(PROTECTED)
    (folder / "late.csv").write_text(SIZES.replace(",n,6,", ",n,6,never"), encoding="utf-8")
    opened = CELLS.replace("primary", "")
    (folder / "cells.csv").write_text(opened, encoding="utf-8")
    run(PROTECTED)
    code, _, err = called(folder, capsys, LATE)
    assert code == 2
    assert "[L3]" in err
    assert "region=a, size=k, sector=m" in err
    assert "what is already published cannot be hidden any more" in err
    assert not (folder / "out/late.csv").exists()


def test_intervals_that_were_published_are_known_when_the_next_table_is_made(run: Run, folder: Path) -> None:
    square = "s,t,x,status\n" + "".join(
        f"{s},{t},{x},{'primary' if i == 0 else 'secondary'}\n"
        for i, (s, t, x) in enumerate(zip("aaabbbccc", "uvw" * 3, (13, 94, 40, 21, 32, 50, 60, 25, 70), strict=True))
    )
    (folder / "square.csv").write_text(square, encoding="utf-8")
    (folder / "parts.csv").write_text("z,x,status\nk,6,primary\nl,7,secondary\n", encoding="utf-8")
    first = (
        '[data]\ncells = "square.csv"\n[table]\nby = ["s", "t"]\nvalue = "x"\nstatus = "status"\n[suppression]\n'
        '[output]\npublish = "square-out.csv"\nworking = "square.parquet"\nintervals = {}\n'
    )
    late = (
        '[tables.square]\ndata.table = "square.parquet"\npublished = true\n'
        '[tables.parts]\ndata.cells = "parts.csv"\nby = ["z"]\nvalue = "x"\nstatus = "status"\n'
        'fixed = { s = "a", t = "u" }\noutput.publish = "parts-out.csv"\n[[status]]\n'
        'cell = { s = "a", t = "u" }\ntable = "parts"\nstatus = "secondary"\n'
        "[suppression]\nmin_range = 80\nlevels = false\n"
    )
    run(first.format("false"))
    assert not run(late).exposed  # between nothing and the whole column: 94
    run(first.format("true"))
    assert "a,u,x,0,94" in (folder / "square-out.csv").read_text(encoding="utf-8").splitlines()
    working = load_working(folder / "square.parquet")["x"]
    assert working.upper is not None
    assert working.upper[working.index("a", "u")] == 94
    assert not run(late).exposed  # everybody could compute that
    # other intervals that went out, by the printed rule, narrow what everybody knows
    with pytest.warns(ProtectionWarning, match="made from hidden values"):
        save_working({"x": dk.printed_intervals(working).known()}, folder / "square.parquet")
    wider = late.replace("min_range = 80", "min_range = 60")
    again = run(
        wider.replace('"parts-out.csv"', '"parts-out.csv"\noutput.working = "parts.parquet"')
        + "[output]\nintervals = true\n"
    )
    assert not again.exposed
    total = load_working(folder / "parts.parquet")["x"]
    assert total.upper is not None
    assert total.upper[total.index("Total")] == 73  # what is known of the shared cell goes on to the next table
    (folder / "parts-out.csv").unlink()
    with pytest.raises(LateTable, match="'parts' cannot be protected"):
        run(late)
    assert not (folder / "parts-out.csv").exists()


def test_intervals_of_a_pool_are_published_table_by_table_and_agree_on_shared_cells(run: Run, folder: Path) -> None:
    (folder / "late.csv").write_text(SIZES, encoding="utf-8")
    text = PROTECTED.replace('[tables.zones]\nclassifications.region.hierarchy = "zones.csv"\n', LATE_AS_SECOND)
    run(text + "[output]\nintervals = true\n")
    given = []
    for name in ("zones", "districts"):
        with (folder / f"out/{name}.csv").open(encoding="utf-8", newline="") as file:
            rows = [r for r in csv.DictReader(file) if r["x"] == "x" and r["x_lower"] != "x"]
        total = [r for r in rows if r.get("sector", "Total") == "Total"]
        given.append({(r["region"], r["size"]): (r["x_lower"], r["x_upper"]) for r in total})
        assert rows
    shared = given[0].keys() & given[1].keys()
    assert shared
    assert all(given[0][cell] == given[1][cell] for cell in shared)


LATE_AS_SECOND = """[tables.finer]
data.cells = "late.csv"
by = ["region", "size", "sector"]
value = "x"
status = "status"
classifications.region.hierarchy = "districts.csv"
"""


# --- what is refused -------------------------------------------------------------------------------------------------


def test_tables_from_different_data_are_refused_with_the_cells(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "other.csv").write_text(CELLS.replace("30", "31"), encoding="utf-8")
    other = 'data.cells = "other.csv"\nby = ["region", "size"]\nvalue = "x"\nstatus = "status"\n'
    text = PROTECTED.replace("[tables.zones]\n", f"[tables.zones]\n{other}")
    code, _, err = called(folder, capsys, text)
    assert code == 2
    assert "[L1] 4 shared cells have different values" in err
    assert "region=b, size=k" in err
    assert not (folder / "out").exists()


def test_tables_that_share_nothing_are_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    years = PROTECTED.replace("[tables.zones]\n", '[tables.zones]\nfixed = { year = "2024" }\n')
    years = years.replace("[tables.districts]\n", '[tables.districts]\nfixed = { year = "2025" }\n')
    code, _, err = called(folder, capsys, years)
    assert code == 2
    assert "[L2]" in err
    assert "share no cell" in err


def test_a_cell_hidden_in_one_table_and_open_for_good_in_the_other_is_refused(run: Run) -> None:
    text = PROTECTED + '[[status]]\ntable = "zones"\ncell = { region = "a", size = "k" }\nstatus = "never"\n'
    with pytest.raises(SharedCellsDiffer, match="hidden in one table and known from another"):
        run(text)


def test_errors_of_pools_are_errors_of_diskret() -> None:
    assert {e.code for e in (SharedCellsDiffer, NothingShared, LateTable)} == {"L1", "L2", "L3"}


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("[tables.zones]\n", '[tables.zones]\nby = ["region"]\nfixed = { region = "a" }\n',
         "tables.zones.fixed: the table is classified by 'region'"),
        ("[tables.zones]\n", "[tables.zones]\npublished = true\n",
         "tables.zones.output.publish: the table is published already"),
        ("[tables.zones]\n", '[tables.zones]\nhierarchy = "zones.csv"\n', "tables.zones.hierarchy: unknown key"),
        ("[tables.zones]\n", '[tables.zones]\nvaleu = "x"\n', "tables.zones.valeu: unknown key (did you mean 'value'?"),
        ('"zones.csv"\noutput', '"zone.csv"\noutput',
         "tables.zones.classifications.region.hierarchy: there is no file 'zone.csv' (looked in the folder of the job "
         "file; did you mean 'zones.csv'?)"),
        ('"out/zones.csv"', '"out/districts.csv"',
         "tables.zones.output.publish: 'out/districts.csv' is tables.districts.output.publish too"),
        ('"out/zones.csv"', '"out/zones.doc"', "tables.zones.output.publish: cannot write 'out/zones.doc'"),
        ("[tables.zones]\n", '[tables.zones]\nweight = "w"\n', "tables.zones.weight: belongs to data.microdata"),
        ('cells = "cells.csv"', 'cells = "cell.csv"', "data.cells: there is no file 'cell.csv'"),
        ("[suppression]", '[suppression]\nguarantee = "complete"', "suppression.guarantee: 'complete' is for single"),
        ("[suppression]", '[suppression]\nprevious = "x.parquet"', "suppression.previous: cannot be combined with"),
        ("[suppression]", '[suppression]\nbarriers = { sice = 1 }', "suppression.barriers: no classification 'sice'"),
        ("[suppression]", '[output]\npublish = "t.csv"', "output.publish: belongs to a job of kind 'table'"),
        ("[suppression]", '[pool]\nover = "state"', "pool.over: no table is fixed at a code of 'state'"),
        ("[suppression]", "[classifications.sector]", "classifications.sector: is in no table of the pool"),
        ("[suppression]", "[attack]\n",
         "attack: belongs to a job of kind 'records' or 'attack' (this job is of kind 'pool', as it has [tables]"),
        ("[suppression]", '[[status]]\ntable = "x"\ncell = {}\nstatus = "open"', "status.0.table: no table 'x'"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_with_its_key(folder: Path, before: str, after: str, said: str) -> None:
    assert before in PROTECTED
    message = refusal(folder, PROTECTED.replace(before, after, 1))
    assert said in message
    assert message.startswith("[J1] 1 mistake ") or "previous" in said or "published" in said


def test_a_pool_needs_several_tables_data_and_something_left_to_protect(folder: Path) -> None:
    single = PROTECTED[: PROTECTED.index("[tables.zones]")]
    assert "tables: a pool of one table (a single table is described in [table])" in refusal(folder, single)
    without = PROTECTED.replace('[data]\ncells = "cells.csv"\n', "")
    message = refusal(folder, without)
    assert "tables.districts.data: missing" in message
    assert "tables.zones.data: missing" in message
    published = TWO.replace("output.", "# output.").replace(".hierarchy", ".hierarchy")
    published = published.replace("[tables.districts]\n", "[tables.districts]\npublished = true\n")
    published = published.replace("[tables.zones]\n", "[tables.zones]\npublished = true\n")
    assert "tables: all of them are published already" in refusal(folder, published)
    assert "pool: belongs to a job of kind 'pool'" in refusal(
        folder, '[data]\ncells = "cells.csv"\n[table]\nby = ["region"]\nvalue = "x"\n[pool]\n'
    )
    assert "data: missing" in refusal(folder, '[table]\nby = ["region"]\n')


# --- as a user calls it ----------------------------------------------------------------------------------------------


def test_the_summary_tells_of_the_pool_and_of_no_value(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = called(folder, capsys, PROTECTED)
    assert (code, err) == (0, "")
    assert "x in all tables: 27 cells, 15 shared" in out
    assert "attacked with a solver: nothing is exposed" in out
    code, out, _ = called(folder, capsys, PROTECTED, "--json")
    found = json.loads(out)
    assert found["pools"]["x"]["cells"] == 27
    assert found["pools"]["x"]["suppression"]["audit"]["exposed"] == 0
    assert "suppression" not in found["tables"]["zones"]


def test_check_writes_nothing(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = called(folder, capsys, PROTECTED, command="check")
    assert code == 0
    assert "in all tables" in out
    assert not (folder / "out").exists()


def test_the_example_of_linked_tables_and_of_a_late_one_run_as_they_stand_there(tmp_path: Path) -> None:
    folder = tmp_path / "examples"
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("out"))
    first = run_job(read_job(folder / "linked/pool.toml"), folder / "linked")
    assert len(first.files) == 6
    assert not first.exposed
    pool: Any = first.pools["turnover"]
    assert len(pool.tables) == 3
    assert (pool.status == Status.SECONDARY).any()
    late = run_job(read_job(folder / "linked/late.toml"), folder / "linked")
    assert late.tables["late"].hidden.any()
    for name in ("districts", "sizes"):
        assert (late.tables[name].status == first.tables[name].status).all()
