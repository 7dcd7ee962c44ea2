"""Programs are answered with their token and nothing else; browsers, other tokens and hostile requests are not."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import httpx2
import pytest
from starlette.testclient import TestClient

from benchmarks.fuzz_page import furnish
from diskret.web.api.routes import ROUTES
from diskret.web.reading import Here
from diskret.web.server import make_app
from diskret.web.workbench import Workbench
from tests.web import case
from tests.web.api.conftest import TOKEN, client

EVERY = sorted({(m, r.path) for r in ROUTES for m in (r.methods or ()) if m != "HEAD"})


def filled(path: str) -> str:
    return path.replace("{run}", "20260101-000000-abcd").replace("{name:any}", "x.csv").replace("{name}", "t.csv")


@pytest.mark.parametrize(("method", "path"), EVERY)
def test_without_the_token_nothing_is_told(bench: Workbench, method: str, path: str) -> None:
    for token in (None, "", "wrong", TOKEN[:-1], TOKEN + "x", bench.sessions.token):
        answer = client(bench, token).request(method, filled(path))
        assert answer.status_code == 401, token
        assert str(bench.workspace.root) not in answer.text


@pytest.mark.parametrize(
    "header", [b"Bearer \xff\xfe", b"bearer " + TOKEN.encode(), b"Basic " + TOKEN.encode(), b"\x80"]
)
def test_a_token_said_otherwise_opens_nothing(bench: Workbench, header: bytes) -> None:
    answer = client(bench, None).get("/v1/about", headers={b"authorization": header})
    assert answer.status_code == 401


def test_a_token_said_twice_opens_nothing(bench: Workbench) -> None:
    said = [("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer other")]
    assert client(bench, None).get("/v1/about", headers=said).status_code == 401


def test_the_token_of_the_page_is_none_of_programs_and_theirs_opens_no_page(bench: Workbench) -> None:
    page = TestClient(make_app(bench), base_url=case.ORIGIN, headers={"origin": case.ORIGIN})
    assert page.post("/api/session", json={"token": TOKEN}).status_code == 401
    assert page.post("/api/session", json={"token": bench.sessions.token}).status_code == 200
    without = {"origin": ""}
    assert page.get("/v1/about", headers=without).status_code in (401, 403)  # with the cookie of the page
    assert client(bench).get("/api/state").status_code == 401
    assert client(bench).put("/api/view", json={"internal": True}).status_code == 403


@pytest.mark.parametrize("name", ["origin", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest"])
@pytest.mark.parametrize("said", ["http://evil.example", case.ORIGIN, "null", "same-origin", ""])
def test_a_page_in_a_browser_is_refused_even_with_the_token(program: TestClient, name: str, said: str) -> None:
    for method, path in EVERY:
        answer = program.request(method, filled(path), headers={name: said})
        assert answer.status_code == 403
        assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{case.PORT}", "127.0.0.1", ""])
def test_a_name_bent_towards_us_is_refused(program: TestClient, host: str) -> None:
    assert program.get("/v1/about", headers={"host": host}).status_code == 421


def test_nobody_is_answered_unless_it_was_asked_for(tmp_path: Path) -> None:
    bench = Workbench.at(tmp_path / "w", case.PORT, reading=Here())
    assert client(bench).get("/v1/about").status_code == 401
    assert client(bench, "None").get("/v1/about").status_code == 401


def test_huge_bodies_are_refused_whatever_they_say_of_their_length(program: TestClient, folder: Path) -> None:
    long = b'{"job": "' + b"x" * (1 << 20) + b'"}'
    assert program.post("/v1/runs", content=long).status_code == 413
    pieces = (b"a,b\n" * 25_000 for _ in range(20))
    assert program.put("/v1/files/large.csv", content=pieces).status_code == 413
    assert program.put("/v1/files/large.csv", content=b"", headers={"content-length": "9" * 30}).status_code == 413
    assert not (folder / "large.csv").exists()


BODIES: list[Any] = [
    b"", b"[]", b"{", b'{"job": 1}', b'{"job": {}, "check": "yes"}', b'{"job": {}, "more": 1}', b'{"name": "x"}',
    b'{"job": {"data": NaN}}', b'{"job": ' + b"[" * 200 + b"]" * 200 + b"}", b'{"job": {"\\ud800": 1}}', b"\xff",
    json.dumps({"job": {}, "name": "x" * 81}).encode(), b'{"job": {"kind": "job"}}', b'{"job": {"audit": "x"}}',
]  # fmt: skip


@pytest.mark.parametrize("body", BODIES)
def test_what_is_no_job_is_refused_with_words(program: TestClient, bench: Workbench, body: bytes) -> None:
    before = len(bench.runs.all())
    answer = program.post("/v1/runs", content=body)
    assert answer.status_code == 422
    assert answer.json()["error"]["what"]
    assert len(bench.runs.all()) == before


OUTSIDE = [
    "/etc/passwd",
    "../firms.csv",
    "a/../../x.csv",
    "http://evil.example/x.csv",
    "s3://x/y.csv",
    "postgresql://h/d",
]


@pytest.mark.parametrize("name", OUTSIDE)
def test_no_job_leads_out_of_the_workspace(program: TestClient, name: str) -> None:
    inside = {"data": {"microdata": "firms.csv"}, "table": {"by": ["industry"]}}
    for job in (
        inside | {"data": {"microdata": name}},
        inside | {"classifications": {"industry": {"hierarchy": name}}},
        inside | {"suppression": {"previous": name}},
    ):
        answer = program.post("/v1/runs", json={"job": job})
        assert answer.status_code == 422, job
    if "://" not in name:  # what looks like an address is a name here, of a file in the folder of the run
        assert program.post("/v1/runs", json={"job": inside | {"output": {"publish": name}}}).status_code == 422


@pytest.mark.parametrize("name", ["..", ".", ".hidden.csv", "a/..", "x\n.csv", "x" * 250 + ".csv", ""])
def test_outputs_have_names_that_stay_in_the_folder_of_the_run(program: TestClient, folder: Path, name: str) -> None:
    job = {"data": {"microdata": "firms.csv"}, "table": {"by": ["industry"]}}
    before = {each.name for each in folder.iterdir()}
    for output in ({"publish": [name]}, {"tau_argus": name}):
        answer = program.post("/v1/runs", json={"job": job | {"output": output}})
        assert answer.status_code == 422 or name == "", answer.text  # an empty name is none
    assert {each.name for each in folder.iterdir()} == before


NAMES = ["../firms.csv", "%2e%2e%2ffirms.csv", "..%5cfirms.csv", "/etc/passwd", ".diskret-api.json", "%00.csv",
         "a%0a.csv", ".diskret-runs%2fx", "C:%5cx.csv", "CON.csv%20/../../x", "firms.csv%00",
         "open-workbench.html"]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_no_name_reads_writes_or_removes_elsewhere(program: TestClient, folder: Path, name: str) -> None:
    before = {each: each.stat().st_mtime_ns for each in folder.parent.rglob("*")}
    for method in ("PUT", "DELETE"):
        answer = program.request(method, f"/v1/files/{name}", content=b"a\n1\n")
        assert answer.status_code in (404, 405, 422), answer.status_code
    for place in (f"/v1/runs/{name}", f"/v1/runs/{name}/files/t.csv", f"/v1/runs/20260101-000000-abcd/files/{name}"):
        assert program.get(place).status_code in (404, 405, 422)
    assert {each: each.stat().st_mtime_ns for each in folder.parent.rglob("*")} == before


def test_links_and_pipes_are_neither_removed_nor_followed(program: TestClient, folder: Path) -> None:
    furnish(folder)
    (folder / "other.csv").symlink_to("firms.csv")
    for name in ("other.csv", "pipe.csv"):
        assert program.delete(f"/v1/files/{name}").status_code == 422
        assert os.path.lexists(folder / name)
    job = {"data": {"microdata": "pipe.csv"}, "table": {"by": ["industry"]}}
    assert program.post("/v1/runs", json={"job": job}).json()["error"]["what"] == "this is not a file"


@pytest.mark.parametrize("wait", ["-1", "x", "1e9", "9999", "٣"])
def test_a_wait_that_is_no_number_is_refused(program: TestClient, wait: str) -> None:
    assert program.get("/v1/runs/20260101-000000-abcd", params={"wait": wait}).status_code in (404, 422)


def test_whoever_tampers_with_a_run_gets_no_confidential_file(program: TestClient, bench: Workbench) -> None:
    """A folder of a run is read as if anybody had written it; a link in it leads nowhere."""
    job = {"data": {"microdata": "firms.csv"}, "table": {"by": ["industry"]}, "rules": {"min_count": 3},
           "suppression": {}, "output": {"publish": "t.csv"}}  # fmt: skip
    run = program.post("/v1/runs", json={"job": job}).json()["id"]
    assert program.get(f"/v1/runs/{run}", params={"wait": 60}).json()["state"] == "finished"
    place = bench.runs.folder(run) / "result" / "t.csv"
    size = place.stat().st_size
    place.unlink()
    (bench.workspace.root / "secret.csv").write_bytes(b"s" * size)
    place.symlink_to(bench.workspace.root / "secret.csv")
    answer = program.get(f"/v1/runs/{run}/files/t.csv")
    assert answer.status_code in (404, 422)
    assert b"sss" not in answer.content


def test_the_token_stands_in_a_file_of_its_owner_as_long_as_it_is_served(tmp_path: Path) -> None:
    served = case.Served(tmp_path / "w", "--api")
    try:
        file = tmp_path / "w" / ".diskret-api.json"
        line = served.process.stdout.readline() if served.process.stdout else ""
        assert str(file) in line
        assert file.stat().st_mode & 0o077 == 0
        said = json.loads(file.read_text(encoding="utf-8"))
        assert said["token"] not in served.said + line
        assert said["token"] != served.token
        bearer = {"authorization": f"Bearer {said['token']}"}
        assert httpx2.get(f"{said['address']}/v1/about", headers=bearer).json()["name"] == "diskret"
        assert httpx2.get(f"{said['address']}/v1/about").status_code == 401
    finally:
        served.end()
    assert served.process.returncode == 0
    assert list((tmp_path / "w").iterdir()) == []
