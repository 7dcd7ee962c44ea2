"""Who may ask: this machine, by its own name, from our own page, with the token of this start."""

from __future__ import annotations

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from diskret.web.workbench import Workbench
from tests.web.case import ORIGIN, PORT

API = ["/api/state", "/api/files", "/api/draft", "/api/draft/marks", "/api/runs", "/api/tables/draft", "/api/recognise"]


@pytest.mark.parametrize("path", API)
def test_without_the_token_nothing_is_told(stranger: TestClient, path: str) -> None:
    answer = stranger.get(path)
    assert answer.status_code == 401
    assert answer.json()["error"]["what"] == "the token is missing or of an earlier start"


@pytest.mark.parametrize("token", ["", "wrong", "0" * 43])
def test_a_wrong_token_opens_nothing(stranger: TestClient, token: str) -> None:
    assert stranger.post("/api/session", json={"token": token}).status_code == 401
    assert not stranger.cookies
    assert stranger.get("/api/state").status_code == 401


def test_a_made_up_cookie_opens_nothing(stranger: TestClient, bench: Workbench) -> None:
    for value in ("x", bench.sessions.token, ""):
        headers = {"cookie": f"{bench.place.cookie}={value}"}
        assert stranger.get("/api/state", headers=headers).status_code == 401


def test_the_cookie_is_kept_from_scripts_and_other_sites(stranger: TestClient, bench: Workbench) -> None:
    cookie = stranger.post("/api/session", json={"token": bench.sessions.token}).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=strict" in cookie
    assert bench.sessions.token.lower() not in cookie
    assert str(PORT) in cookie.split("=")[0]  # cookies are shared by all ports of a machine


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", f"127.0.0.1:{PORT + 1}", ""])
def test_a_name_bent_towards_us_is_refused(page: TestClient, host: str) -> None:
    for path in ("/", "/static/js/main.js", "/api/state"):
        answer = page.get(path, headers={"host": host})
        assert answer.status_code == 421, path
        assert "workspace" not in answer.text


def test_localhost_is_us_too(page: TestClient) -> None:
    assert page.get("/", headers={"host": f"localhost:{PORT}", "origin": f"http://localhost:{PORT}"}).status_code == 200


FOREIGN = [
    "http://evil.example",
    "null",
    f"http://127.0.0.1:{PORT + 1}",
    f"https://127.0.0.1:{PORT}",
    "http://localhost",
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_page_of_another_origin_is_refused_even_with_the_cookie(page: TestClient, origin: str) -> None:
    before = page.get("/api/draft").json()
    for method, path in (
        ("GET", "/api/draft"),
        ("PUT", "/api/draft"),
        ("POST", "/api/runs"),
        ("PUT", "/api/files/x.csv"),
    ):
        answer = page.request(method, path, headers={"origin": origin}, content=b"{}")
        assert answer.status_code == 403, (method, path)
        assert "access-control-allow-origin" not in answer.headers
    assert page.get("/api/draft").json() == before


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_the_browser_calls_foreign_is_refused(page: TestClient, site: str) -> None:
    assert page.get("/api/state", headers={"sec-fetch-site": site}).status_code == 403


@pytest.mark.parametrize(("name", "said"), [("origin", ORIGIN), ("sec-fetch-site", "same-origin")])
@pytest.mark.parametrize("other", ["http://evil.example", "cross-site", "same-origin", ORIGIN])
def test_whoever_says_twice_where_he_comes_from_is_refused(page: TestClient, name: str, said: str, other: str) -> None:
    headers = [("origin", ORIGIN)] * (name != "origin") + [(name, said), (name, other)]
    del page.headers["origin"]
    assert page.get("/api/state", headers=headers).status_code == 403


def test_the_empty_page_may_be_entered_from_a_file_and_not_framed(page: TestClient) -> None:
    """The browser is started with a file that leads to the page, since all users can see with what it is started."""
    entering = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
    del page.headers["origin"]
    assert page.get("/", headers=entering | {"sec-fetch-dest": "document"}).status_code == 200
    assert page.get("/", headers=entering | {"sec-fetch-dest": "iframe"}).status_code == 403
    assert page.get("/api/state", headers=entering | {"sec-fetch-dest": "document"}).status_code == 403


def test_nothing_is_changed_by_a_request_that_does_not_say_where_it_comes_from(
    bench: Workbench, page: TestClient
) -> None:
    del page.headers["origin"]
    assert page.get("/api/draft").status_code == 200
    assert page.put("/api/draft", json={}).status_code == 403
    assert page.post("/api/draft/undo").status_code == 403


@pytest.mark.parametrize(
    "path", ["/", "/static/js/main.js", "/static/i18n/de.json", "/api/state", "/nothing", "/api/nothing"]
)
def test_every_answer_tells_the_browser_to_be_strict(page: TestClient, path: str) -> None:
    headers = page.get(path).headers
    policy = headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert "unsafe" not in policy
    assert "http" not in policy
    assert "frame-ancestors 'none'" in policy
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"


def test_a_refusal_is_strict_too(stranger: TestClient) -> None:
    answer = stranger.get("/api/state", headers={"host": "evil.example"})
    assert "default-src 'none'" in answer.headers["content-security-policy"]


FILES = ["../app.py", "%2e%2e/app.py", "..%2fapp.py", "/etc/passwd", "%2e%2e%2f%2e%2e%2fmodel/errors.py"]


@pytest.mark.parametrize("path", [f"/static/{name}" for name in FILES])
def test_only_the_page_is_served_as_a_file(page: TestClient, path: str) -> None:
    answer = page.get(path)
    assert answer.status_code == 404
    assert "import" not in answer.text


def test_a_mistake_in_diskret_tells_its_kind_and_nothing_else(
    page: TestClient, bench: Workbench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(tab: str, copy: str) -> None:
        raise RuntimeError("the value is 4711.08")

    monkeypatch.delenv("DISKRET_DEBUG", raising=False)
    monkeypatch.setattr(bench.tabs, "choices", broken)
    answer = page.get("/api/draft")
    assert answer.status_code == 500
    assert "RuntimeError" in answer.json()["error"]["what"]
    assert "4711" not in answer.text


def test_more_than_a_page_ever_says_is_not_read(page: TestClient) -> None:
    assert page.put("/api/draft", content=b"[" * 2_000_000).status_code == 413
    assert page.put("/api/draft", content=b"[1, 2]").status_code == 422
    assert page.put("/api/draft", content=b"{" * 100_000).json()["error"]["what"] == "the request is not a JSON object"


def test_there_are_no_web_sockets(page: TestClient) -> None:
    with pytest.raises(WebSocketDisconnect), page.websocket_connect("/api/state"):
        pass
