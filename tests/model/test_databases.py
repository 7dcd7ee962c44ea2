"""Tables of databases: DuckDB and SQLite files, and a real PostgreSQL server where one is installed."""

from __future__ import annotations

import os
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

import diskret as dk
from diskret.model.databases import Database, table_names
from diskret.model.errors import BadOption, EmptyData, MissingExtra, UnclearFile, UnreadableFile
from diskret.model.source import file_source, open_source

ROWS = [("05111", 10.5, 3), ("05112", 2.0, 1), ("05111", 7.25, None)]


def lite(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE firms (region TEXT, turnover REAL, n INTEGER)")
        made.executemany("INSERT INTO firms VALUES (?, ?, ?)", ROWS)
        for statement in statements:
            made.execute(statement)
        made.commit()
    return path


def duck(path: Path, *statements: str) -> Path:
    with duckdb.connect(str(path)) as made:
        made.execute("CREATE TABLE firms (region TEXT, turnover DECIMAL(9, 2), n INTEGER)")
        made.executemany("INSERT INTO firms VALUES (?, ?, ?)", ROWS)
        for statement in statements:
            made.execute(statement)
    return path


@pytest.fixture(params=["firms.sqlite", "firms.db", "firms.duckdb"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / request.param
    return duck(path) if path.suffix == ".duckdb" else lite(path)


def test_the_only_table_of_a_file_is_read_and_codes_keep_their_zeros(database: Path) -> None:
    table = dk.tabulate(database, by="region", value="turnover")
    assert table.hierarchies[0].codes == ("05111", "05112", "Total")
    assert table.value.tolist() == [17.75, 2.0, 19.75]


def test_several_tables_are_a_question(tmp_path: Path) -> None:
    path = lite(tmp_path / "a.sqlite", "CREATE TABLE persons (sex TEXT)")
    assert table_names(path) == ["firms", "persons"]
    with pytest.raises(BadOption, match="has 2 tables") as asked:
        open_source(path)
    assert [cure.value for cure in asked.value.cures] == ["firms", "persons"]
    assert open_source(Database(place=path, table="firms")).columns == ("region", "turnover", "n")
    with pytest.raises(BadOption, match="no table 'Firms'"):
        open_source(Database(place=path, table="Firms"))


def test_a_view_of_duckdb_is_not_read_for_it_may_read_other_files(tmp_path: Path) -> None:
    other = tmp_path / "secret.csv"
    other.write_text("a\n1\n")
    path = duck(tmp_path / "a.duckdb", f"CREATE VIEW peep AS SELECT * FROM read_csv('{other}')")
    assert table_names(path) == ["firms"]
    with pytest.raises(BadOption, match="no table 'peep'"):
        open_source(Database(place=path, table="peep"))


def test_a_column_of_sqlite_with_numbers_and_texts_is_read_as_text(tmp_path: Path) -> None:
    path = lite(tmp_path / "a.sqlite", "CREATE TABLE mixed (code, x)", "INSERT INTO mixed VALUES ('05', 1), (7, 2.5)")
    data = open_source(Database(place=path, table="mixed"))
    assert data.types["code"] == "VARCHAR"
    assert data.columns == ("code", "x")
    assert data.query(f"SELECT code, x FROM {data.view} ORDER BY ALL") == [("05", 1.0), ("7", 2.5)]


@pytest.mark.parametrize("name", ["a.sqlite", "a.duckdb", "a.parquet"])
def test_signs_in_numbers_of_texts_are_asked_about_as_in_any_file(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    if path.suffix == ".parquet":
        duckdb.sql("SELECT 'N' AS region, unnest(['1.234', '7']) AS x").write_parquet(str(path))
    else:
        table = "CREATE TABLE texts AS SELECT 'N' AS region, '1.234' AS x UNION ALL SELECT 'N', '7'"
        (duck if path.suffix == ".duckdb" else lite)(path, table, "DROP TABLE firms")
    with pytest.raises(UnclearFile):
        dk.tabulate(path, by="region", value="x")
    for decimal, total in ((",", 1241.0), (".", 8.234)):
        assert dk.tabulate(file_source(path, decimal=decimal), by="region", value="x").value[-1] == total


def test_numbers_of_sqlite_say_nothing_about_texts_beside_them(tmp_path: Path) -> None:
    texts = (
        "CREATE TABLE t (region, x)",
        "INSERT INTO t VALUES (5, '1.234'), (5.0, 2.5), ('5', 3)",
        "DROP TABLE firms",
    )
    path = lite(tmp_path / "a.db", *texts)
    with pytest.raises(UnclearFile):
        dk.tabulate(path, by="region", value="x")
    table = dk.tabulate(Database(place=path, decimal=","), by="region", value="x")
    assert (table.hierarchies[0].codes, table.value.tolist()) == (("5", "Total"), [1239.5, 1239.5])


def test_a_column_of_sqlite_may_begin_with_thousands_of_gaps(tmp_path: Path) -> None:
    numbers = "WITH RECURSIVE r(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 2000)"
    gaps = f"INSERT INTO t {numbers} SELECT NULL, 1 FROM r"
    path = lite(
        tmp_path / "a.db", "CREATE TABLE t (region, x)", gaps, "INSERT INTO t VALUES ('N', 0.5)", "DROP TABLE firms"
    )
    told = dk.TabulationOptions(missing={"region": "unknown"})
    assert dk.tabulate(path, by="region", value="x", options=told).value.tolist() == [0.5, 2000.0, 2000.5]


def test_no_table_hides_behind_the_name_of_another(tmp_path: Path) -> None:
    lite(tmp_path / "a.db", "CREATE TABLE sqlite1 (x)")
    assert table_names(tmp_path / "a.db") == ["firms", "sqlite1"]
    duck(tmp_path / "b.duckdb", "CREATE SCHEMA s", "CREATE TABLE s.t (x INT)", 'CREATE TABLE "s.t" (x INT, y INT)')
    assert table_names(tmp_path / "b.duckdb") == ["main.firms", "main.s.t", "s.t"]


def test_names_that_look_like_statements_are_names(tmp_path: Path) -> None:
    path = lite(
        tmp_path / "it's.sqlite", 'CREATE TABLE "x"" DROP --" ("a ""b" TEXT)', 'INSERT INTO "x"" DROP --" VALUES (1)'
    )
    assert open_source(Database(place=path, table='x" DROP --')).columns == ('a "b',)


def test_nothing_is_written_into_a_database(database: Path) -> None:
    before = database.read_bytes()
    os.chmod(database, 0o444)
    dk.tabulate(database, by="region", value="turnover")
    assert database.read_bytes() == before
    assert [each.name for each in database.parent.iterdir()] == [database.name]


@pytest.mark.parametrize("damage", ["cut", "other", "empty"])
def test_a_damaged_database_is_refused(database: Path, damage: str) -> None:
    whole = database.read_bytes()
    database.write_bytes({"cut": whole[: len(whole) // 3], "other": b"region;x\n", "empty": b""}[damage])
    with pytest.raises((UnreadableFile, EmptyData)):
        open_source(database)


def test_without_its_driver_a_database_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "adbc_driver_sqlite.dbapi", None)
    with pytest.raises(MissingExtra, match="'databases'"):
        open_source(lite(tmp_path / "a.sqlite"))


# --- a real server ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """A PostgreSQL server of its own, with a password."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs:
        pytest.skip("PostgreSQL is not installed: Debian's package postgresql has it")
    user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.getuid() == 0 else []
    folder = Path(tempfile.mkdtemp())
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    (folder / "password").write_text("geheim")
    for place in (folder, folder / "password"):
        if user:
            shutil.chown(place, "postgres", "postgres")

    def call(program: str, *words: str) -> None:
        command = [*user, str(programs[-1] / program), *words]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    data = str(folder / "data")
    call("initdb", "-D", data, "-A", "scram-sha-256", "-U", "office", "--pwfile", str(folder / "password"), "-N")
    asked = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    call("pg_ctl", "-D", data, "-o", asked, "-w", "start")
    try:
        yield f"postgresql://office@127.0.0.1:{port}/postgres"
    finally:
        call("pg_ctl", "-D", data, "-m", "immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def filled(server: str, monkeypatch: pytest.MonkeyPatch) -> str:
    import adbc_driver_postgresql.dbapi as driver

    monkeypatch.setenv("PGPASSWORD", "geheim")
    with driver.connect(server) as session, session.cursor() as cursor:
        for statement in (
            "DROP SCHEMA IF EXISTS survey CASCADE", "CREATE SCHEMA survey",
            "CREATE TABLE survey.firms (region char(6), turnover numeric(12, 2), n int, begun date)",
            "INSERT INTO survey.firms VALUES ('05111', 10.50, 3, '2025-01-31'), ('05112', 2, 1, NULL), "
            "('05111', 7.25, NULL, '2025-02-28')",
        ):  # fmt: skip
            cursor.execute(statement)
        session.commit()
    return server


def test_a_table_of_a_server_is_tabulated_exactly(filled: str) -> None:
    table = dk.tabulate(Database(place=filled, table="survey.firms"), by="region", value="turnover")
    assert table.hierarchies[0].codes == ("05111", "05112", "Total")
    assert table.value.tolist() == [17.75, 2.0, 19.75]
    assert table.decimals == 2


def test_a_server_that_refuses_is_not_quoted(filled: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", "wrong")
    with pytest.raises(UnreadableFile, match="does not answer") as refused:
        open_source(Database(place=filled, table="survey.firms"))
    assert "office" not in str(refused.value)


def test_a_password_does_not_stand_in_an_address() -> None:
    for address in (
        "postgresql://office:geheim@127.0.0.1/db", "postgresql://127.0.0.1/db?password=geheim",
        "postgresql://127.0.0.1/db?%70assword=geheim", "postgresql://office:[geheim@127.0.0.1/db",
        "postgresql://office:a/geheim@127.0.0.1/db", "postgresql://office:a#geheim@127.0.0.1/db",
    ):  # fmt: skip
        with pytest.raises(BadOption, match="holds a password") as refused:
            open_source(Database(place=address, table="firms"))
        assert "geheim" not in str(refused.value)


def test_a_job_reads_from_a_server(filled: str, tmp_path: Path) -> None:
    from diskret.job.read import read_job
    from diskret.job.run import run_job

    job: Any = tmp_path / "job.toml"
    job.write_text(
        f'[data]\nmicrodata = "{filled}"\nsheet = "survey.firms"\n[table]\nby = ["region"]\nvalue = "turnover"\n'
        '[rules]\nmin_count = 1\n[output]\npublish = "out.csv"\n'
    )
    run_job(read_job(job), tmp_path)
    assert (tmp_path / "out.csv").read_text().splitlines()[1:] == ["05111,17.75", "05112,2.00", "Total,19.75"]
