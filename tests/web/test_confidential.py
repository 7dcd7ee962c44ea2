"""No hidden value in any answer or file, unless the internal view is on; what leaves is what the CLI writes."""

from __future__ import annotations

import itertools
import re
import struct
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from starlette.testclient import TestClient

from diskret.model.table import Table
from diskret.publication.working import load_working
from diskret.web.reading import Here
from diskret.web.server import make_app
from diskret.web.workbench import Workbench
from tests.web import case
from tests.web.case import ORIGIN, PORT, ended, firms

JOB = case.JOB | {"output": case.JOB["output"] | {"sdmx": {"dataflow": "XX:FIRMS(1.0)"}}}
FORMATS = ("csv", "xlsx", "json", "px", "parquet", "sdmx.csv", "sdmx.xml")
SECRETS = ("13.37",)


class Recorder:
    """The page, with everything it was ever told."""

    def __init__(self, page: TestClient) -> None:
        self.page = page
        self.told: dict[str, bytes] = {}

    def __call__(self, method: str, path: str, **given: Any) -> Any:
        answer = self.page.request(method, path, **given)
        self.told[f"{method} {path} {given.get('params', '')}"] = answer.content + repr(answer.headers).encode()
        return answer


def hidden_texts(table: Table) -> set[bytes]:
    """Every hidden value as somebody might write it, and as it stands in memory."""
    texts: set[bytes] = set()
    for value in table.value[table.hidden].tolist():
        plain = f"{value:.2f}"
        whole, cents = plain.split(".")
        english, german = f"{value:,.2f}", f"{int(whole):,}".replace(",", ".") + f",{cents}"
        texts |= {
            t.encode() for t in (plain, plain.replace(".", ","), english, german, whole, f"{value:.1f}", f"{value:.6g}")
        }
        texts.add(struct.pack("<d", value))
    return texts


def unpacked(name: str, content: bytes, folder: Path) -> bytes:
    """Everything in a file, taken out of its wrapping."""
    path = folder / name
    path.write_bytes(content)
    if name.endswith(".xlsx"):
        with zipfile.ZipFile(path) as book:
            content += b"".join(book.read(each) for each in book.namelist())
    if name.endswith(".parquet"):
        file = pq.ParquetFile(path)
        content += repr(file.read().to_pydict()).encode() + repr(file.metadata.metadata).encode()
        for g, c in itertools.product(range(file.metadata.num_row_groups), range(file.metadata.num_columns)):
            content += repr(file.metadata.row_group(g).column(c).to_dict()).encode()
    if name.endswith(".pdf"):
        for stream in re.findall(rb"stream\r?\n(.*?)endstream", content, re.DOTALL):
            try:
                content += zlib.decompress(stream)
            except zlib.error:
                continue
    return content


@pytest.fixture(scope="module")
def protected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Workbench, TestClient, str]]:
    """One run for all of these tests."""
    folder = tmp_path_factory.mktemp("workspace")
    firms(folder / "firms.csv")
    bench = Workbench.at(folder, PORT, reading=Here())
    page = TestClient(make_app(bench), base_url=ORIGIN, headers={"origin": ORIGIN})
    page.post("/api/session", json={"token": bench.sessions.token})
    page.put("/api/draft", json=JOB)
    run: str = page.post("/api/runs", json={"name": "firms"}).json()["id"]
    assert ended(page, run)["state"] == "finished"
    yield bench, page, run
    bench.runs.close()


@pytest.fixture
def bench(protected: tuple[Workbench, TestClient, str]) -> Workbench:
    return protected[0]


@pytest.fixture
def chosen(protected: tuple[Workbench, TestClient, str]) -> TestClient:
    """The page, with the internal view off."""
    protected[1].put("/api/view", json={"internal": False})
    protected[1].put("/api/draft", json=JOB)
    return protected[1]


@pytest.fixture
def finished(protected: tuple[Workbench, TestClient, str]) -> str:
    return protected[2]


def look_at_everything(ask: Recorder, run: str, shape: tuple[int, ...]) -> None:
    """All the page can ask about a run: every cell, every interval, every explanation in both languages."""
    for path in (
        "/api/state",
        "/api/files",
        "/api/draft",
        "/api/draft/marks",
        "/api/draft/rows?rows=1,2,3",
        "/api/runs",
        f"/api/runs/{run}",
        f"/api/runs/{run}/settings",
    ):
        ask("GET", path)
    rows, columns = (",".join(map(str, range(n))) for n in shape)
    for key in (run, "draft"):
        ask("GET", f"/api/tables/{key}")
        window = {"response": "turnover", "rows": "industry", "columns": "region", "r": rows, "c": columns}
        assert ask("GET", f"/api/tables/{key}/cells", params=window).status_code == 200
        for at in itertools.product(*map(range, shape)):
            for language in ("en", "de"):
                given = {"response": "turnover", "cell": ",".join(map(str, at)), "language": language}
                assert ask("GET", f"/api/tables/{key}/cell", params=given).status_code == 200
            ask("GET", f"/api/tables/{key}/interval", params=given)
    audit = ask("POST", f"/api/runs/{run}/audit").json()["id"]
    ended(ask.page, audit)
    ask("GET", f"/api/runs/{audit}")
    ask("GET", "/api/compare", params={"one": run, "two": run})
    ask("GET", f"/api/tables/{run}/instead", params={"response": "turnover", "cell": "3,0"})
    ask("GET", "/api/recognise", params={"file": "firms.csv"})
    assert ask("GET", "/api/preview", params={"file": "firms.csv"}).status_code == 200
    ask("GET", f"/api/runs/{run}/job.toml")
    ask("POST", "/api/savejob", json={"run": run, "replace": True})


def produced(ask: Recorder, run: str) -> Iterator[tuple[str, bytes]]:
    for ending in FORMATS:
        answer = ask("GET", f"/api/runs/{run}/export.{ending}")
        assert answer.status_code == 200, answer.text
        yield f"table.{ending}", answer.content
    for ending, language in itertools.product(("html", "pdf"), ("en", "de")):
        answer = ask("GET", f"/api/runs/{run}/report.{ending}", params={"language": language})
        assert answer.status_code == 200, answer.text
        yield f"report-{language}.{ending}", answer.content
        asked = {"language": language, "for": "internal"}
        yield f"internal-{language}.{ending}", ask("GET", f"/api/runs/{run}/report.{ending}", params=asked).content


def test_no_answer_and_no_file_holds_a_hidden_value(
    chosen: TestClient, bench: Workbench, finished: str, tmp_path: Path
) -> None:
    table = load_working(bench.runs.finished(finished) / "working.parquet")["turnover"]
    secret = hidden_texts(table)
    assert len(secret) > 50
    ask = Recorder(chosen)
    look_at_everything(ask, finished, table.shape)
    files = dict(produced(ask, finished))
    for what, content in ask.told.items():
        found = [text for text in secret if text in content]
        assert not found, f"{what}: {found}"
    for name, content in files.items():
        inside = unpacked(name, content, tmp_path)
        assert len(content) > 100
        assert not [text for text in secret if text in inside], name
        if not name.endswith(".pdf"):  # where numbers are places on the paper
            assert not any(each.encode() in inside for each in SECRETS), name
    status = (bench.runs.folder(finished) / "status.json").read_bytes()
    assert not any(text in status for text in secret)


def test_the_search_above_would_find_a_hidden_value(chosen: TestClient, bench: Workbench, finished: str) -> None:
    """With the internal view on, the same questions tell the hidden values: and say that they do."""
    table = load_working(bench.runs.finished(finished) / "working.parquet")["turnover"]
    assert chosen.put("/api/view", json={"internal": True}).json() == {"internal": True}
    ask = Recorder(chosen)
    look_at_everything(ask, finished, table.shape)
    everything = b"".join(ask.told.values())
    for value in table.value[table.hidden].tolist():
        assert str(value).encode() in everything
    window = {"response": "turnover", "rows": "industry", "columns": "region", "r": "0", "c": "0"}
    assert chosen.get(f"/api/tables/{finished}/cells", params=window).json()["internal"] is True


def test_the_internal_view_is_of_one_browser_only(chosen: TestClient, bench: Workbench) -> None:
    chosen.put("/api/view", json={"internal": True})
    other = TestClient(chosen.app, base_url=str(chosen.base_url), headers={"origin": chosen.headers["origin"]})
    other.post("/api/session", json={"token": bench.sessions.token})
    assert other.get("/api/state").json()["internal"] is False
    assert other.put("/api/view", json={"internal": "yes"}).json() == {"internal": False}


def test_exports_ignore_the_internal_view(chosen: TestClient, finished: str) -> None:
    before = dict(produced(Recorder(chosen), finished))
    chosen.put("/api/view", json={"internal": True})
    after = dict(produced(Recorder(chosen), finished))
    assert before["table.csv"] == after["table.csv"]
    assert before["report-en.html"] == after["report-en.html"]


def test_a_report_for_everybody_says_so_and_so_does_the_internal_one(chosen: TestClient, finished: str) -> None:
    files = dict(produced(Recorder(chosen), finished))
    assert b"Public" in files["report-en.html"]
    assert b"closest first" not in files["report-en.html"]
    assert b"closest first" in files["internal-en.html"]
    assert b"Internal: confidential" in files["internal-en.html"]


def test_a_saved_job_repeats_the_page_to_the_byte(chosen: TestClient, bench: Workbench, finished: str) -> None:
    """What `diskret run` writes by the saved job file is what the page exports."""
    saved = chosen.post("/api/savejob", json={"run": finished, "name": "again"}).json()
    words = [sys.executable, "-c", "from diskret.cli import main; main()", "run", saved["path"], "--quiet"]
    subprocess.run(words, check=True, timeout=120)
    out = bench.workspace.root / "out"
    for ending in ("csv", "xlsx"):
        assert (out / f"again.{ending}").read_bytes() == chosen.get(f"/api/runs/{finished}/export.{ending}").content
    assert (out / "again-report.html").read_bytes() == chosen.get(f"/api/runs/{finished}/report.html").content
    mine = load_working(bench.runs.finished(finished) / "working.parquet")["turnover"]
    theirs = load_working(out / "again.working.parquet")["turnover"]
    assert np.array_equal(mine.status, theirs.status)
    assert chosen.post("/api/savejob", json={"run": finished, "name": "again"}).json()["error"]["code"] == "O1"
    reopened = chosen.post("/api/jobs/again.toml").json()["content"]
    assert reopened["rules"] == JOB["rules"]


def test_an_explanation_names_the_cells_that_move_together(chosen: TestClient, bench: Workbench, finished: str) -> None:
    table = load_working(bench.runs.finished(finished) / "working.parquet")["turnover"]
    at = tuple(int(i) for i in np.argwhere(table.status == 1)[0])
    asked = {"response": "turnover", "cell": ",".join(map(str, at))}
    facts = chosen.get(f"/api/tables/{finished}/cell", params=asked).json()
    assert facts["value"] is None
    assert facts["rules"]
    move = facts["moves"][0]
    assert list(at) in [c["index"] for c in move["cells"]]
    assert all(table.hidden[tuple(c["index"])] for c in move["cells"])
    assert facts["interval"]["lower"] < table.value[at] < facts["interval"]["upper"]
    total = tuple(n - 1 for n in table.shape)
    asked["cell"] = ",".join(map(str, total))
    cost = chosen.get(f"/api/tables/{finished}/cell", params=asked).json()
    assert cost["value"] == table.value[total]
    assert any("would take" in line for line in cost["words"])


def test_contributor_counts_are_shown_where_they_are_published(chosen: TestClient, finished: str) -> None:
    asked = {"response": "turnover", "cell": "3,0"}
    facts = chosen.get(f"/api/tables/{finished}/cell", params=asked).json()
    assert facts["value"] is not None
    assert facts["count"] is None
    chosen.put("/api/view", json={"internal": True})
    assert chosen.get(f"/api/tables/{finished}/cell", params=asked).json()["count"] > 0
