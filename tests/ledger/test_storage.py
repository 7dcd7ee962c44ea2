"""The folder of a ledger: append-only, in a chain, whole or not at all, for its owner alone."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import duckdb
import numpy as np
import pytest

import diskret as dk
from diskret.ledger import index
from diskret.ledger.about import About
from diskret.ledger.entry import hash_of
from diskret.ledger.ledger import Ledger
from diskret.ledger.migrations import VERSION
from diskret.ledger.storage import HASH, KEY, read_entry
from diskret.model.errors import DamagedLedger, NoLedger
from diskret.model.lazy import names_of

FIRMS = {"r": list("abcd"), "x": [10, 20, 30, 40], "n": [1, 5, 5, 5], "st": ["primary", "secondary", "open", "open"]}


def table(*, scale: float = 1.0) -> dk.Table:
    cells = {**FIRMS, "x": [x * scale for x in (10, 20, 30, 40)]}
    return dk.Table.from_cells(cells, by={"r": None}, value="x", count="n", status="st")


def about(period: str = "2024") -> About:
    return About(population="firms", period=period)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    opened = dk.open_ledger(tmp_path / "ledger", create=True)
    for year in ("2022", "2023", "2024"):
        opened.add(table(scale=int(year) - 2000), about(year), name=f"yearbook {year}", on="2026-01-01")
    return opened


def test_an_opened_ledger_knows_what_was_entered(ledger: Ledger) -> None:
    again = dk.open_ledger(ledger.folder)
    assert [entry.name for entry in again.entries] == ["yearbook 2022", "yearbook 2023", "yearbook 2024"]
    cells = again.cells(again.entry("yearbook 2023"))
    np.testing.assert_array_equal(cells.shown, [np.nan, np.nan, 690, 920, 2300])
    np.testing.assert_array_equal(cells.value, [230, 460, 690, 920, 2300])
    assert again.entries[1].previous == again.entries[0].hash
    assert again.verify() == ()


def test_equal_entries_have_equal_hashes_and_bytes(tmp_path: Path) -> None:
    hashes = []
    for name in "ab":
        opened = dk.open_ledger(tmp_path / name, create=True)
        opened.add(table(), about(), name="yearbook", on="2026-01-01")
        hashes.append((opened.last_hash, (tmp_path / name / "entries" / "000001.parquet").read_bytes()))
    assert hashes[0] == hashes[1]


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_everything_is_for_its_owner_alone(ledger: Ledger) -> None:
    umask = os.umask(0)
    try:
        done = dk.suppress(table(scale=7), ledger=ledger.about(about("2025")))
        assert done.beside is not None
        ledger.add(done.table, about("2025"), name="yearbook 2025", settled=done.beside.audit)
        (ledger.folder / "index.duckdb").unlink()
        dk.open_ledger(ledger.folder)
    finally:
        os.umask(umask)
    names = {path.name for path in ledger.folder.iterdir()}
    assert names == {"ledger.json", "entries", "index.duckdb", "lock", "last", "settled"}
    for path in [ledger.folder, *ledger.folder.rglob("*")]:
        assert stat.S_IMODE(path.stat().st_mode) & 0o077 == 0, path


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_what_the_index_writes_until_it_is_closed_is_for_its_owner_alone(ledger: Ledger) -> None:
    umask = os.umask(0)
    try:
        with index._opened(ledger.folder, read_only=False) as connection:
            connection.execute("DELETE FROM entries WHERE number = 3")
            seen = {each.name: stat.S_IMODE(each.stat().st_mode) for each in ledger.folder.glob("index*")}
        assert os.umask(0) == 0, "the umask of whoever called is as it was"
    finally:
        os.umask(umask)
    assert len(seen) > 1
    assert not any(mode & 0o077 for mode in seen.values()), seen


def test_a_head_that_was_being_written_is_written_again(tmp_path: Path) -> None:
    (tmp_path / "ledger.json.part").write_text("{")
    assert dk.open_ledger(tmp_path, create=True).entries == ()
    assert not (tmp_path / "ledger.json.part").exists()


def test_a_lost_entry_is_named_and_nothing_can_be_added(ledger: Ledger) -> None:
    (ledger.folder / "entries" / "000002.parquet").unlink()
    again = dk.open_ledger(ledger.folder)
    assert "entry 2 (yearbook 2023) is lost" in again.flaws
    checked = again.check(table(scale=30), about("2025"))
    assert checked.exposed == 0, "what is there can still be asked"
    assert not checked.safe, "nobody knows what the lost entry told"
    assert "entry 2 (yearbook 2023) is lost" in checked.report()
    with pytest.warns(dk.ProtectionWarning, match="entry 2"):
        dk.suppress(table(scale=30), ledger=again.about(about("2025")))
    with pytest.raises(DamagedLedger):
        again.add(table(scale=30), about("2025"), name="next")


def test_a_lost_last_entry_is_noticed_too(ledger: Ledger) -> None:
    (ledger.folder / "entries" / "000003.parquet").unlink()
    assert dk.open_ledger(ledger.folder).flaws == ("entry 3 (yearbook 2024) is lost",)


def test_a_lost_last_entry_is_noticed_without_its_index(ledger: Ledger) -> None:
    (ledger.folder / "entries" / "000003.parquet").unlink()
    (ledger.folder / "index.duckdb").unlink()
    assert dk.open_ledger(ledger.folder).flaws == ("entry 3 is lost",)
    assert dk.open_ledger(ledger.folder, read_only=True).flaws == ("entry 3 is lost",)


def test_a_ledger_without_the_file_last_is_one_of_earlier_days(ledger: Ledger) -> None:
    for said in (None, "nonsense", '{"number": 2}'):
        (ledger.folder / "last").unlink(missing_ok=True)
        if said is not None:
            (ledger.folder / "last").write_text(said)
        assert not dk.open_ledger(ledger.folder).flaws
    again = dk.open_ledger(ledger.folder)
    entry = again.add(table(scale=7), about("2025"), name="yearbook 2025")
    assert json.loads((ledger.folder / "last").read_text()) == {"number": 4, "hash": entry.hash}


def test_verify_holds_the_index_against_the_entries(ledger: Ledger) -> None:
    with duckdb.connect(str(ledger.folder / "index.duckdb")) as connection:
        connection.execute("UPDATE entries SET head = replace(head, '2023', '2019') WHERE number = 2")
    again = dk.open_ledger(ledger.folder)
    assert again.entries[1].about.period == "2019"
    assert again.verify() == ("the index belies entry 2 (yearbook 2023): remove the index",)
    (ledger.folder / "index.duckdb").unlink()
    assert dk.open_ledger(ledger.folder).verify() == ()


def test_an_exchanged_entry_is_noticed(ledger: Ledger, tmp_path: Path) -> None:
    other = dk.open_ledger(tmp_path / "other", create=True)
    other.add(table(), about("2023"), name="something else altogether", on="2026-01-01")
    place = ledger.folder / "entries" / "000002.parquet"
    place.write_bytes((tmp_path / "other" / "entries" / "000001.parquet").read_bytes())
    again = dk.open_ledger(ledger.folder)
    assert again.flaws
    assert again.read_only


@pytest.mark.parametrize("index", [True, False], ids=["with its index", "without its index"])
def test_every_changed_byte_of_an_entry_is_noticed(ledger: Ledger, index: bool) -> None:
    place = ledger.folder / "entries" / "000002.parquet"
    good = place.read_bytes()
    for at in range(6, len(good) - 8, max(1, len(good) // 25)):
        place.write_bytes(good[:at] + bytes([good[at] ^ 0x40]) + good[at + 1 :])
        if not index:
            (ledger.folder / "index.duckdb").unlink(missing_ok=True)
        again = dk.open_ledger(ledger.folder, read_only=True)
        assert again.verify() or _reads_the_same(place, ledger), f"byte {at}"
    place.write_bytes(good)


def _reads_the_same(place: Path, ledger: Ledger) -> bool:
    """Some bytes of a Parquet file say nothing that is read, such as statistics."""
    entry, cells = read_entry(place)
    before = ledger.cells(ledger.entries[1])
    return entry.hash == ledger.entries[1].hash and all(
        np.array_equal(one, other, equal_nan=True)
        for one, other in zip(cells.arrays().values(), before.arrays().values(), strict=True)
    )


def test_an_index_that_is_lost_or_nonsense_is_made_again(ledger: Ledger) -> None:
    for nonsense in (None, b"", b"nonsense" * 1000):
        index = ledger.folder / "index.duckdb"
        index.unlink(missing_ok=True)
        if nonsense is not None:
            index.write_bytes(nonsense)
        again = dk.open_ledger(ledger.folder)
        assert len(again.entries) == 3
        assert not again.flaws


@pytest.mark.parametrize(
    "nonsense",
    [
        "UPDATE entries SET head = '{' WHERE number = 2",
        "UPDATE entries SET head = '[]' WHERE number = 2",
        "INSERT INTO entries VALUES (2000000000, 'h', 3, '{}')",
        "DROP TABLE entries",
    ],
)
def test_an_index_that_makes_no_sense_is_made_again(ledger: Ledger, nonsense: str) -> None:
    with duckdb.connect(str(ledger.folder / "index.duckdb")) as connection:
        connection.execute(nonsense)
    again = dk.open_ledger(ledger.folder)
    assert (len(again.entries), again.flaws, again.verify()) == (3, (), ())


def test_however_many_entries_are_lost_they_are_told_at_once(ledger: Ledger) -> None:
    (ledger.folder / "last").write_text('{"number": 1000000000000, "hash": "x"}')
    lost = ("entries 4 to 999999999999 are lost", "entry 1000000000000 is lost")
    assert dk.open_ledger(ledger.folder).flaws == lost


def test_files_that_are_not_called_like_entries_are_none(ledger: Ledger) -> None:
    for name in ("4.parquet", "000000.parquet", "notes.parquet"):
        (ledger.folder / "entries" / name).write_bytes(b"")
    assert (len(dk.open_ledger(ledger.folder).entries), dk.open_ledger(ledger.folder).flaws) == (3, ())


def test_what_is_not_connected_is_not_read(ledger: Ledger) -> None:
    """Of other years nothing is loaded, so it does not matter here that their files are gone."""
    opened = dk.open_ledger(ledger.folder)
    for file in (ledger.folder / "entries").iterdir():
        file.unlink()
    asked = About(population="firms", period="1999")
    assert (
        opened.check(dk.Table.from_cells(FIRMS, by={"r": None}, value="x", count="n", status="st"), asked).connected
        == ()
    )


def test_a_folder_with_other_files_is_no_place_for_a_ledger(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(NoLedger):
        dk.open_ledger(tmp_path, create=True)


def test_a_ledger_of_a_later_version_is_refused(ledger: Ledger) -> None:
    (ledger.folder / "ledger.json").write_text('{"diskret_ledger": 99}')
    with pytest.raises(NoLedger, match="version 99"):
        dk.open_ledger(ledger.folder)


def test_an_entry_of_the_first_version_is_read_as_one_of_today(ledger: Ledger) -> None:
    """Version 1 had no bounds; its hash is over what it holds."""
    from diskret.io.columns import copy_columns
    from diskret.ledger.storage import _Columns

    place = ledger.folder / "entries" / "000001.parquet"
    entry, cells = read_entry(place)
    arrays = {name: array for name, array in cells.arrays().items() if name not in ("lower", "upper")}
    head = entry.head()
    found = hash_of(head, arrays)
    old = ledger.folder.parent / "old.parquet"
    footer = {KEY: json.dumps(head), HASH: found, "diskret_ledger_version": "1"}
    copy_columns(_Columns(arrays), "SELECT * FROM leaving", old, footer=footer)
    read, again = read_entry(old)
    assert VERSION == 2
    assert read.name == entry.name
    assert np.isneginf(again.lower).all()
    np.testing.assert_array_equal(again.value, cells.value)


def test_two_processes_enter_one_after_the_other(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    dk.open_ledger(folder, create=True)
    code = textwrap.dedent(f"""
        import sys, diskret as dk
        from diskret.ledger.about import About
        ledger = dk.open_ledger({str(folder)!r})
        for i in range(4):
            cells = {{"r": list("ab"), "x": [1, 2]}}
            table = dk.Table.from_cells(cells, by={{"r": None}}, value="x")
            period = f"20{{sys.argv[1]}}{{i}}"
            ledger.add(table, About(population="firms", period=period), name=period)
    """)
    running = [subprocess.Popen([sys.executable, "-c", code, number]) for number in "12"]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    again = dk.open_ledger(folder)
    assert not again.flaws
    assert {e.name for e in again.entries} == {f"20{n}{i}" for n in "12" for i in range(4)}
    assert again.verify() == ()


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="kill")
def test_a_kill_at_any_instant_leaves_an_entry_or_none(tmp_path: Path) -> None:
    folder = tmp_path / "ledger"
    dk.open_ledger(folder, create=True).add(table(), about("2000"), name="first")
    code = textwrap.dedent(f"""
        import sys, numpy as np, diskret as dk
        from diskret.ledger.about import About
        ledger = dk.open_ledger({str(folder)!r})
        start = len(ledger.entries)
        print("ready", flush=True)
        for i in range(start, start + 200):
            x = np.arange(3000.0)
            cells = {{"r": [f"c{{k}}" for k in range(3000)], "x": x}}
            table = dk.Table.from_cells(cells, by={{"r": None}}, value="x")
            ledger.add(table, About(population=f"p{{i}}", period="2024", apart="test"), name=f"entry {{i}}")
    """)
    for delay in np.linspace(0.01, 0.6, 12).tolist():
        process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
        with process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"ready\n"
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        again = dk.open_ledger(folder)
        assert not again.flaws
        assert again.verify() == ()
        assert not list((folder / "entries").glob("*.part"))


def test_nothing_is_imported_for_nothing() -> None:
    look_up, _ = names_of("diskret.ledger", {"about": "About"})
    assert look_up("About") is About
