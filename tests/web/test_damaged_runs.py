"""Each run is judged for itself: whatever stands in the folder of one, all others are there and can be used."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from diskret.model.errors import UnreadableFile
from diskret.web.run_files import sizes, write_json
from diskret.web.run_folders import RunProgress
from diskret.web.stored_moves import load_moves
from diskret.web.table_runs import load, run_tables
from diskret.web.workbench import Workbench
from tests.web import case

GOOD, BAD = "20260102-030405-aaaa", "20260102-030406-bbbb"
STATUS: dict[str, Any] = {
    "kind": "job", "of": "", "state": "finished", "started": 1767323045.5, "ended": 1767323047.5, "pid": 1,
    "progress": {"what": "writing", "done": 0, "of": 1},
}  # fmt: skip


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """The result of a run and what its process says of it."""
    folder = tmp_path_factory.mktemp("run")
    case.firms(folder / "firms.csv")
    (folder / "result").mkdir()
    found = run_tables(case.JOB, folder, folder / "result", RunProgress(lambda said: None))
    return folder / "result", json.loads(json.dumps(found))


@pytest.fixture
def runs(bench: Workbench, result: tuple[Path, dict[str, Any]]) -> Callable[[], Path]:
    """Puts two finished runs into the workspace; gives the folder of the one that is to be damaged."""

    def put() -> Path:
        for name in (GOOD, BAD):
            folder = bench.workspace.runs / name
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(result[0], folder / "result")
            write_json(folder / "job.json", case.JOB)
            more = {"files": sizes(folder / "result")}
            write_json(folder / "status.json", STATUS | result[1] | more | {"id": name, "name": name})
        return bench.workspace.runs / BAD

    return put


def cut_off(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def replaced(make: Callable[[Path], object]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        path.unlink()
        make(path)

    return damage


def wrong_types(path: Path) -> None:
    """Every value of a file is of another type."""
    try:
        found = json.loads(path.read_bytes())
    except ValueError:
        with path.open("wb") as file:
            np.savez(file, start=np.array(["x"]), before=np.zeros(3))
        return
    path.write_text(json.dumps({key: 1 if isinstance(each, str) else "1" for key, each in found.items()}))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut off": cut_off,
    "binary": lambda path: path.write_bytes(bytes(range(256)) * 4),
    "a list": lambda path: path.write_text("[]"),
    "null": lambda path: path.write_text("null"),
    "halves of characters": lambda path: path.write_text('{"id": "\\ud800"}'),
    "nested": lambda path: path.write_text('{"a":' * 5000 + "1" + "}" * 5000),
    "wrong types": wrong_types,
    "a pipe": replaced(os.mkfifo),
    "a folder": replaced(Path.mkdir),
    "a link out": replaced(lambda path: path.symlink_to("/etc/hostname")),
    "a link in a circle": replaced(lambda path: path.symlink_to(path.name)),
    "missing": Path.unlink,
}
FILES = ["status.json", "job.json", "result/findings.json", "result/moves-0.npz", "result/working.parquet"]


def code(answer: Any) -> str:
    assert answer.status_code == 422, answer.text
    return str(answer.json()["error"]["code"])


def refuse_everywhere(page: TestClient) -> None:
    """Nothing but a refusal comes out of the damaged run; the other one, and the list, are there."""
    assert code(page.get(f"/api/tables/{BAD}")) == "W6"
    assert page.get(f"/api/tables/{GOOD}").status_code == 200
    listed = {run["id"]: run for run in page.get("/api/runs").json()["runs"]}
    assert (listed[GOOD]["state"], listed[BAD]["state"]) == ("finished", "damaged")
    assert listed[BAD]["error"]["hint"].startswith("delete it")
    for path in ("export.csv", "report.html", "job.toml"):
        assert code(page.get(f"/api/runs/{BAD}/{path}")) == "W6"
    for path in ("audit", "repair"):
        assert code(page.post(f"/api/runs/{BAD}/{path}")) == "W6"
    assert code(page.get("/api/compare", params={"one": GOOD, "two": BAD})) == "W6"
    assert page.post(f"/api/runs/{BAD}/cancel").json()["state"] == "damaged"


@pytest.mark.parametrize("name", FILES)
def test_a_damaged_run_is_called_damaged_and_all_others_are_there(
    page: TestClient, runs: Callable[[], Path], name: str
) -> None:
    damage = dict(zip(FILES, ("cut off", "wrong types", "empty", "a pipe", "a link out"), strict=True))[name]
    DAMAGES[damage](runs() / name)
    refuse_everywhere(page)
    assert page.delete(f"/api/runs/{BAD}").status_code == 200
    assert [run["id"] for run in page.get("/api/runs").json()["runs"]] == [GOOD]


def test_a_result_of_an_earlier_diskret_shows_its_damage_when_it_is_opened(
    page: TestClient, runs: Callable[[], Path]
) -> None:
    """It does not say how large its files were."""
    bad = runs()
    status = json.loads((bad / "status.json").read_bytes())
    del status["files"]
    for name, damage in zip(FILES[2:], ("wrong types", "binary", "cut off"), strict=True):
        runs()
        write_json(bad / "status.json", status)
        DAMAGES[damage](bad / name)
        refuse_everywhere(page)
        page.delete(f"/api/runs/{BAD}")


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("sized", [True, False])
def test_every_damage_to_every_file_is_called_so(
    page: TestClient, runs: Callable[[], Path], bench: Workbench, name: str, sized: bool
) -> None:
    for damage in DAMAGES.values():
        bad = runs()
        if not sized:
            status = json.loads((bad / "status.json").read_bytes())
            write_json(bad / "status.json", {key: each for key, each in status.items() if key != "files"})
        damage(bad / name)
        bench.tables.kept.clear()
        refuse_everywhere(page)
        assert page.delete(f"/api/runs/{BAD}").status_code == 200
        assert Path("/etc/hostname").exists()


def test_a_folder_that_is_none_is_damaged_and_what_a_link_leads_to_stays(
    page: TestClient, runs: Callable[[], Path], tmp_path: Path
) -> None:
    bad = runs()
    other = tmp_path / "other"
    bad.rename(other)
    puts: list[Callable[[], object]] = [lambda: bad.symlink_to(other), bad.touch, lambda: os.mkfifo(bad), bad.mkdir]
    for put in puts:
        put()
        assert page.get(f"/api/runs/{BAD}").json()["state"] == "damaged"
        assert page.delete(f"/api/runs/{BAD}").status_code == 200
        assert not os.path.lexists(bad)
    assert {p.name for p in other.iterdir()} == {"job.json", "status.json", "result"}


def test_a_run_that_could_not_protect_a_cell_is_not_damaged(runs: Callable[[], Path]) -> None:
    found = runs() / "result" / "findings.json"
    said = json.loads(found.read_bytes())
    said["tables"]["turnover"]["unprotected"] = [["A, N1", [0, 1], 0.5, "why"], ["A, N2", [], float("nan"), "why"]]
    found.write_text(json.dumps(said))
    assert [u.index for u in load(found.parent)["turnover"].unprotected] == [(0, 1), ()]


STATES: list[tuple[str, Any]] = [
    ("kind", "other"), ("state", "damaged"), ("state", ["finished"]), ("id", GOOD), ("started", 1e300), ("started", -1),
    ("progress", None), ("progress", {"what": 1, "done": 0, "of": 0}), ("pid", 0), ("pid", -1), ("pid", 10**12),
    ("summary", {"tables": {"x": {}}}), ("summary", {"tables": []}), ("promises", {"en": [1]}), ("error", "words"),
    ("audits", {"x": {"safe": True}}), ("name", None), ("of", 7), ("files", {"../../job.json": 3}),
]  # fmt: skip


def test_every_word_of_a_state_is_what_the_page_can_show(page: TestClient, runs: Callable[[], Path]) -> None:
    bad = runs()
    status = json.loads((bad / "status.json").read_bytes())
    for key, said in STATES:
        write_json(bad / "status.json", status | {key: said})
        assert page.get(f"/api/runs/{BAD}").json()["state"] == "damaged", (key, said)


def test_moves_that_cannot_be_are_not_loaded(runs: Callable[[], Path]) -> None:
    """A cell that is not in the table, parts that overlap: whatever computes with moves trusts them."""
    bad = runs() / "result"
    path = bad / "moves-0.npz"
    shape = load(bad)["turnover"].table.shape
    with np.load(path) as arrays:
        given = {name: arrays[name] for name in arrays.files}
    cells, start, up = given["cells"], given["start"], given["up"]
    wrong = [
        {"cells": cells + 10**6}, {"cells": -cells - 1}, {"cells": cells.astype(float)}, {"cells": cells[:-1]},
        {"start": start[::-1].copy()}, {"start": start + 1}, {"start": start[:0]}, {"up": up[:-1]}, {"up": up * np.nan},
        {"coefficients": given["coefficients"] * np.inf}, {"cuboids": np.array("yes")}, {"subtable": up},
        {"before": given["before"] + 100}, {"before": given["before"].ravel()}, {"start": None},
    ]  # fmt: skip
    for change in wrong:
        np.savez(
            path, allow_pickle=False, **{name: each for name, each in (given | change).items() if each is not None}
        )
        with pytest.raises(UnreadableFile, match="moves"):
            load_moves(path, shape)


def test_what_a_killed_server_left_is_swept_at_the_next_start(
    bench: Workbench, runs: Callable[[], Path], page: TestClient
) -> None:
    bad = runs()
    write_json(bad / "status.json", json.loads((bad / "status.json").read_bytes()) | {"state": "running", "pid": None})
    old = bench.workspace.runs / f".new-{GOOD}"
    for folder in (bad / "result.part", bad / "tmp", bad.with_name(GOOD) / "tmp", old):
        folder.mkdir()
        (folder / "spilled").write_text("4711", encoding="utf-8")
    os.utime(old, (time.time() - 1000,) * 2)
    bench.runs.sweep()
    assert {p.name for p in bad.iterdir()} == {"job.json", "status.json"}
    assert {p.name for p in bad.with_name(GOOD).iterdir()} == {"job.json", "status.json", "result"}
    assert not old.exists()
    assert page.get(f"/api/runs/{BAD}").json()["state"] == "interrupted"


@pytest.mark.parametrize("name", ["status.json", "job.json"])
def test_a_file_far_too_large_is_refused_before_it_is_opened(
    page: TestClient, runs: Callable[[], Path], name: str
) -> None:
    with (runs() / name).open("r+b") as file:
        file.truncate(10**9)  # a hole: it takes no room on the disk
    said = page.get(f"/api/runs/{BAD}").json()
    assert said["state"] == "damaged"
    assert f"{name} has 1,000,000,000 bytes" in said["error"]["what"]


def test_findings_far_too_large_are_refused_before_they_are_opened(page: TestClient, runs: Callable[[], Path]) -> None:
    bad = runs()
    with (bad / "result" / "findings.json").open("r+b") as file:
        file.truncate(10**9)
    status = json.loads((bad / "status.json").read_bytes())
    write_json(bad / "status.json", status | {"files": sizes(bad / "result")})
    answer = page.get("/api/compare", params={"one": GOOD, "two": BAD})
    assert code(answer) == "W6"
    assert "1,000,000,000 bytes" in answer.json()["error"]["what"]


def test_a_run_from_the_future_can_be_deleted(page: TestClient, runs: Callable[[], Path]) -> None:
    """Its process, as it says, is at work, and its last word is still to come."""
    bad = runs()
    status = json.loads((bad / "status.json").read_bytes())
    write_json(bad / "status.json", status | {"state": "running", "pid": 1})
    os.utime(bad / "status.json", (time.time() + 10**6,) * 2)
    assert page.delete(f"/api/runs/{BAD}").status_code == 200


WRONG_JOBS: list[dict[str, Any]] = [
    {"suppression": ["x"]}, {"classifications": []}, {"classifications": {"region": {}, "n": 5}}, {"promise": ["x"]},
    {"promise": [["levels", 1]]}, {"rules": ["x"]}, {"output": [1]}, {"data": []}, {"table": {"by": 5}},
]  # fmt: skip


@pytest.mark.parametrize("change", WRONG_JOBS)
def test_a_job_of_a_run_that_is_none_is_refused_in_words_everywhere(
    page: TestClient,
    bench: Workbench,
    runs: Callable[[], Path],
    change: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("diskret.web.run_folders._process", lambda folder, kind: _Ended())
    write_json(runs() / "job.json", case.JOB | change)
    asked = [page.post(f"/api/runs/{BAD}/{path}") for path in ("repair", "audit")]
    asked += [page.get(f"/api/runs/{BAD}/{path}") for path in ("export.csv", "report.html", "job.toml", "figures")]
    asked += [page.get(f"/api/tables/{BAD}/cell", params={"response": "turnover", "cell": "0,0"})]
    asked += [page.get("/api/compare", params={"one": GOOD, "two": BAD})]
    asked += [page.post("/api/savejob", json={"run": BAD, "name": "again"})]
    assert {each.status_code for each in asked} <= {200, 201, 422}, [each.text for each in asked]


class _Ended:
    """A process that has ended before it began."""

    stdin = None

    def poll(self) -> int:
        return 1

    def wait(self) -> int:
        return 1


@pytest.mark.parametrize("change", [{"summary": {}}, {"times": None}, {"closest": "A, N1"}])
def test_findings_without_what_is_compared_are_refused_in_words(
    page: TestClient, runs: Callable[[], Path], change: dict[str, Any]
) -> None:
    bad = runs()
    said = json.loads((bad / "result" / "findings.json").read_bytes())
    facts = {"safe": True, "exposed": [], "undecided": [], "lines": [], "closest": None}
    facts |= {"summary": {"exposed": 0, "undecided": 0}} | change
    said["tables"]["turnover"]["audit"] = facts
    (bad / "result" / "findings.json").write_text(json.dumps(said))
    status = json.loads((bad / "status.json").read_bytes())
    write_json(bad / "status.json", status | {"files": sizes(bad / "result")})
    page.put("/api/view", json={"internal": True})
    assert page.get("/api/compare", params={"one": GOOD, "two": BAD}).status_code in (200, 422)


DRAFTS = ["", "null", "[]", '{"states": 1}', '{"states": [1], "at": 0}', '{"states": [{}], "at": -5}', "\x00", '{"at":']


@pytest.mark.parametrize("text", DRAFTS)
def test_a_damaged_choice_is_an_empty_one(page: TestClient, bench: Workbench, text: str) -> None:
    page.put("/api/draft", json=case.JOB)
    bench.tabs.choices()["table"].path.write_text(text, encoding="utf-8")
    assert page.get("/api/draft").json()["content"] == {}
    assert page.post("/api/draft/undo").status_code == 200
    assert page.put("/api/draft", json=case.JOB).json()["content"] == case.JOB


def nested(depth: int) -> dict[str, Any]:
    content: dict[str, Any] = {}
    for _ in range(depth - 1):
        content = {"a": content}
    return content


def test_a_choice_that_could_not_be_read_again_leaves_the_history_as_it_is(page: TestClient) -> None:
    page.put("/api/draft", json=case.JOB)
    for depth in range(90, 104):
        taken = page.put("/api/draft", json=nested(depth)).status_code == 200
        assert taken == (depth <= 98)
    kept = page.get("/api/draft").json()
    assert (kept["content"], kept["undo"], kept["redo"]) == (nested(98), True, False)


def test_the_oldest_choices_are_forgotten_before_the_history_is_too_large_to_be_read(
    page: TestClient, bench: Workbench
) -> None:
    for number in range(8):
        page.put("/api/draft", json={"a": [str(number) * 900_000]})
    assert bench.tabs.choices()["table"].path.stat().st_size < 4_000_000
    back = [page.post("/api/draft/undo").json()["content"]["a"][0][0] for _ in range(4)]
    assert back == ["6", "5", "5", "5"]


def test_a_choice_that_is_larger_on_disk_than_sent_is_refused(page: TestClient) -> None:
    """Numbers may be short to send and long to write."""
    page.put("/api/draft", json=case.JOB)
    assert code(page.put("/api/draft", content=b'{"a":[' + b"9e15," * 200_000 + b"1]}")) == "T8"
    assert page.get("/api/draft").json()["content"] == case.JOB
