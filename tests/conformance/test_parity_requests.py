"""A request by Python, file, command and page: the same answer, the same bytes, the same ledger; and nothing secret."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from typer.testing import CliRunner

import diskret as dk
from diskret.cli import app
from diskret.io.toml import toml_value
from diskret.job.house import read_house
from diskret.job.request_file import answer_file, request_content
from diskret.publication.publish import publish
from diskret.requests import Query
from diskret.requests.register import Register
from diskret.web.reading import Here
from diskret.web.routes.requests import request_text
from diskret.web.server import make_app
from diskret.web.workbench import Workbench
from tests.houses import PERCENT, house_in
from tests.leaks import Secrets
from tests.web.case import ORIGIN, PORT

QUERIES = (
    Query(by=("region", "sector"), value="turnover"),
    Query(value="turnover"),
    Query(value="turnover", at_most={"employees": 57}),
    Query(by=("sector",), where={"region": ("N1", "S")}),
    Query(by=("region", "sector"), value="turnover"),
)
"""A table, a total, a total without a few, a count, and the first again."""
Kept = tuple[list[bytes], str, list[tuple[str, Any]]]
Ask = Callable[[Path, Query, Path], None]


def by_python(folder: Path, query: Query, out: Path) -> None:
    done = read_house(folder / "house.toml").desk().answer(query, who="one")
    if done.table is not None:
        publish(done.table, out)


def by_file(folder: Path, query: Query, out: Path) -> None:
    (folder / "query.toml").write_text(request_text(request_content(query, "house.toml", "one")), encoding="utf-8")
    answer_file(folder / "query.toml", out)


def by_command(folder: Path, query: Query, out: Path) -> None:
    text = f"output = {toml_value(out.name)}\n" + request_text(request_content(query, "house.toml", "one"))
    (folder / "query.toml").write_text(text, encoding="utf-8")
    said = CliRunner().invoke(app, ["ledger", "answer", str(folder / "query.toml")])
    assert said.exit_code == (0 if out.exists() else 1), said.output


def by_page(folder: Path, query: Query, out: Path) -> None:
    bench = Workbench.at(folder, PORT, reading=Here())
    with TestClient(make_app(bench), base_url=ORIGIN, headers={"origin": ORIGIN}) as page:
        assert page.post("/api/session", json={"token": bench.sessions.token}).status_code == 200
        request = {**query.to_dict(), "who": "one"}
        told = page.post("/api/request/answer.csv", json={"house": "house.toml", "request": request})
        if told.status_code == 200:
            out.write_bytes(told.content)
    bench.close()


def asked(folder: Path, ask: Ask) -> Kept:
    """All requests in a folder of their own: what was given, the ledger's last hash, the register."""
    folder.mkdir()
    house_in(folder)
    given = []
    for number, query in enumerate(QUERIES):
        out = folder / f"answer{number}.csv"
        ask(folder, query, out)
        given.append(out.read_bytes() if out.exists() else b"")
    register = [(each["answer"], each["asked"]) for each in Register(folder / "ledger").entries()]
    return given, dk.open_ledger(folder / "ledger").last_hash, register


@pytest.fixture(scope="module")
def ways(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Kept]]:
    place = tmp_path_factory.mktemp("requests")
    means: dict[str, Ask] = {"python": by_python, "file": by_file, "command": by_command, "page": by_page}
    return {name: (place / name, asked(place / name, ask)) for name, ask in means.items()}


def test_four_ways_give_the_same_bytes_and_the_same_ledger(ways: dict[str, tuple[Path, Kept]]) -> None:
    _, (given, last, register) = ways["python"]
    assert [answer for answer, _ in register] == ["reduced", "table", "refused", "table"]
    assert given[0] == given[4]
    assert given[2] == b""
    for name, (_, other) in ways.items():
        assert other == (given, last, register), name


def test_what_is_kept_of_requests_is_for_its_owner_alone_and_what_is_given_holds_nothing_hidden(
    ways: dict[str, tuple[Path, Kept]],
) -> None:
    folder, (given, _, _) = ways["command"]
    kept = [each for place in ("requests", "entries") for each in (folder / "ledger" / place).iterdir()]
    assert len([each for each in kept if each.suffix]) == 4 + 3
    assert {stat.S_IMODE(each.stat().st_mode) for each in kept} == {0o600}
    ledger = dk.open_ledger(folder / "ledger", read_only=True)
    cells = [ledger.cells(entry) for entry in ledger.entries]
    turnover = [float(line.rpartition(",")[2]) for line in (folder / "people.csv").read_text().splitlines()[1:]]
    hidden = [float(x) for each in cells for x in each.value[each.hidden]]
    assert len(hidden) > 3
    shown = [float(x) for each in cells for x in each.shown[~each.hidden]]
    secrets = Secrets.of([*turnover, *hidden, PERCENT * 1e5], [], told=shown)
    for number, content in enumerate(given):
        assert secrets.found_in(f"answer {number}", content) == []
    # reasons name cells, for the house, but no number of theirs
    for each in (folder / "ledger" / "requests").glob("*.json"):
        assert secrets.found_in(each.name, each.read_bytes()) == []
    for words in (["ledger", "answer", str(folder / "query.toml"), "--internal", "--json"],
                  ["check-output", str(folder / "outputs.toml"), "--out", str(folder / "kept.json")]):  # fmt: skip
        said = CliRunner().invoke(app, words)
        assert secrets.found_in(words[1], said.output.replace(str(folder), "").encode()) == []
    assert stat.S_IMODE((folder / "kept.json").stat().st_mode) == 0o600
