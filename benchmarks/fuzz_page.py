"""`python -m benchmarks.fuzz_page [TRIES] [SEED]`: hostile questions to every route of the workbench.

Asked in this process, in a workspace with pipes, links and names that are no text. A refusal is an answer; 500, a
broken connection, an answer that is no JSON and one that takes more than ten seconds are not.
"""

from __future__ import annotations

import copy
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import numpy as np
from starlette.testclient import TestClient

from diskret.model.errors import DiskretError
from diskret.web import run_folders
from diskret.web.inspector import explained
from diskret.web.reading import Here
from diskret.web.routes import ALL
from diskret.web.routes.exports import made_export
from diskret.web.routes.record_files import made_report
from diskret.web.run_differences import compared
from diskret.web.run_files import RunStatus, read_json, read_status, sizes, write_json
from diskret.web.run_folders import RunProgress
from diskret.web.server import make_app
from diskret.web.table_runs import findings, load, run_tables
from diskret.web.workbench import Workbench

PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"
RUN = "20260102-030405-aaaa"
SLOW = 10.0
JOB: dict[str, Any] = {
    "data": {"microdata": "firms.csv"},
    "table": {"by": ["industry", "region"], "value": ["turnover"], "positive": True},
    "classifications": {"region": {"prefixes": [1]}},
    "rules": {"min_count": 3, "p_percent": 10.0},
    "suppression": {"effort": "quick"},
    "promise": {"levels": True},
    "output": {"title": "Firms"},
    "status": [{"cell": {"industry": "A"}, "status": "open"}],
}
RECORDS: dict[str, Any] = {
    "data": {"microdata": "firms.csv"},
    "microdata": {"values": ["turnover"], "seed": 5, "steps": [{"do": "microaggregate", "m": 3}]},
    "attack": {"keys": ["industry"], "values": ["turnover"]},
}
SAFE: dict[str, Any] = {"data": {"microdata": "firms.csv"}, "anonymise": {"attributes": ["industry", "region"], "k": 3}}
PLAN: dict[str, Any] = {"n": [100, 1000], "shares": {"sex": [0.5, 0.5], "age": {"old": 0.2, "young": 0.8}}}
TREE = {
    "codes": ["N1", "N2", "N", "S1", "Total"],
    "parents": [2, 2, 4, 4, -1],
    "labels": ["N1", "N2", "N", "S1", "Total"],
}
OPENED: dict[str, Any] = {"content": JOB, "column": "region"}
EDITS: list[dict[str, Any]] = [
    {"do": "move", "codes": ["N1"], "under": "Total", "before": "S1"}, {"do": "merge", "codes": ["N", "S1"]},
    {"do": "group", "codes": ["S1"], "name": "S", "label": "South"}, {"do": "dissolve", "codes": ["N"]},
    {"do": "rename", "code": "N", "to": "North"}, {"do": "label", "code": "N", "label": "North"},
    {"do": "remove", "codes": ["N1"]}, {"do": "single"},
]  # fmt: skip
MADE: list[dict[str, Any]] = [
    {"prefixes": [1]}, {"separator": " "}, {"file": "firms.csv", "code": "region", "levels": ["industry"]},
    {"file": "firms.csv", "code": "firm", "parent": "region", "label": "industry", "sheet": "x"},
]  # fmt: skip
TREES: list[dict[str, Any]] = [
    OPENED, OPENED | {"tree": TREE, "name": "tree.csv", "replace": True, "anyway": True},
    OPENED | {"tree": TREE, "name": "tree.hrc", "replace": True}, *({"tree": TREE, "edit": edit} for edit in EDITS),
    *({"codes": ["N1", "S1"], "how": how, "total": "Total"} for how in MADE), {"content": JOB, "file": "firms.csv"},
]  # fmt: skip
BODIES: list[dict[str, Any]] = [
    JOB, RECORDS, SAFE, PLAN, {"plan": PLAN, "name": "plan"}, {"token": "x"}, {"internal": True}, {"name": "one"},
    {"run": RUN, "name": "job", "replace": True}, {"of": "records", "name": "job"},
]  # fmt: skip
VALUES: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, -(2**63) - 1, 10**17, 10**400, 0.1, -0.0, 1e308, float("nan"),
    float("inf"),
    "", " ", "x", "\ud800", "a\udfffb", "\0", "a\0b", "../x", "/etc/passwd", "firms.csv", "pipe.csv", "folder.csv",
    "no.csv",
    "loop.csv", "*", "[1]", "%00", "'; DROP TABLE x; --",
    '"', "\u202e", "\N{GRINNING FACE}" * 100, "x" * 100_000, "industry", "code",
    [], [None], [[]], [1, "a"], ["x"] * 1000, {}, {"x": None}, {"": {}}, {"\ud800": 1}, {"kind": "x"}, {"do": "drop"},
]  # fmt: skip
RAW: list[bytes] = [
    b"", b"{", b"[]", b"null", b"1", b'"x"', b"\xff\xfe{}", b"\xef\xbb\xbf{}", b"{}" * 9, b"\0" * 99, b'{"a":' * 9000,
    b'{"a":' * 300 + b"1" + b"}" * 300, b'{"a":' * 90 + b"1" + b"}" * 90, b'{"token": "\\ud800"}', b'{"token": NaN}',
    b'{"n": ' + b"9" * 5000 + b"}", b'{"n": 1e999}', b'{"a":1,"a":2}', '{"a":"ü"}'.encode("utf-16"),
    random.Random(0).randbytes(300),
]  # fmt: skip
PARTS: list[str] = [
    RUN, "draft", "20990101-000000-0000", "undo", "redo", "records", "plan", "table", "turnover", "large-not", "csv",
    "html",
    "job.toml", "broken.toml", "pipe.toml", "folder.toml", "firms.csv", "x.csv", "%ff", "%ff.csv", "..%2f", "%2e%2e",
    "..%2f..%2fetc%2fpasswd",
    "%00", "%00.csv", "a" * 250 + ".csv", "a" * 5000 + ".csv", quote("ü" * 120) + ".csv",
    quote("\N{GRINNING FACE}" * 60) + ".csv", ".", "~",
    "%ed%a0%80.csv", "%5c..%5cx.csv", "pipe.csv", "loop.csv", "folder.csv", "link.csv", ".diskret-runs",
    ".diskret-runs%2fdraft.json", "*.csv", "con.csv",
]  # fmt: skip
ASKED = (
    "file",
    "kind",
    "sheet",
    "language",
    "response",
    "rows",
    "columns",
    "r",
    "c",
    "at",
    "cell",
    "one",
    "two",
    "replace",
    "reading",
    "encoding",
    "where",
    "for",
    "sums",
)
WORDS: list[str] = [
    "", "firms.csv", "pipe.csv", "link.csv", "folder.csv", "book.xlsx", "turnover", "industry", "region", "0", "0,1",
    "0,0", "3,7", "-1", "9" * 30,
    "1e5", "0,", ",", "٣", "de", "xx", "yes", "microdata", "cells", RUN, "draft", "../x", "%00", "%ff", "\0",
    "x" * 5000, "0," * 3000, "Ä\u202e", "{}", '{"header": [4, 5]}', '{"header": 0}', '{"unpivot": {"columns": []}}',
    "[", "null", "utf-8", "utf-16", "rot13", "turnover > 5 AND", "((((", "before", "internal", "1,2,3",
]  # fmt: skip
HEADERS: list[dict[str, bytes]] = [
    {"cookie": b"\xff\xfe=\xe4"}, {"cookie": b"a=b; " * 3000}, {"content-type": b"\xff"}, {"content-length": b"-1"},
    {"content-length": b"1e9"}, {"content-length": b"9" * 40}, {"origin": b"\xff"}, {"sec-fetch-site": b"\xff"},
    {"range": b"bytes=9-1"},
    {"accept-encoding": b"\xff" * 999}, {"expect": b"x"}, {"if-none-match": b"*"},
    {"content-length": "²".encode("latin-1")}, {"x-diskret-tab": b"../../x"}, {"x-diskret-tab": b"\xff" * 99},
    {"x-diskret-tab": b"00000001-0000-0000-0000-000000000000"}, {"x-diskret-seen": b"table=;;=.=\xff"},
    {"x-diskret-tab": b"00000002-0000-0000-0000-000000000000", "x-diskret-copy": b"../../.."},
]  # fmt: skip


THEN: list[tuple[str, str, dict[str, Any]]] = [
    ("GET", "/api/draft/marks", {}),
    ("GET", "/api/tables/draft", {}),
    ("GET", "/api/tables/draft/cells", {"params": {"response": "turnover", "rows": "industry", "r": "0", "c": "0"}}),
    ("GET", "/api/recognise", {"params": {"file": "firms.csv"}}),
    ("POST", "/api/runs", {"content": b"{}"}),
    ("POST", "/api/records/runs", {"content": b"{}"}),
    ("POST", "/api/savejob", {"content": b'{"replace": true}'}),
    ("POST", "/api/savejob", {"content": b'{"replace": true, "of": "records"}'}),
    ("GET", "/api/plan/plan.toml", {}),
]
"""What is asked after a choice was taken."""


@dataclass
class Count:
    """What a campaign found."""

    asked: int = 0
    by_status: dict[int, int] = field(default_factory=dict)
    unanswered: list[str] = field(default_factory=list)


def furnish(folder: Path) -> None:
    """A workspace with files that nobody should open."""
    rows = [f"F{i},{'ABC'[i % 3]},{('N1', 'N2', 'S1')[i % 7 % 3]},{100 + 17 * i % 900}.25" for i in range(60)]
    (folder / "firms.csv").write_text("\n".join(["firm,industry,region,turnover", *rows, ""]), encoding="utf-8")
    (folder / "job.toml").write_text('[data]\nmicrodata = "firms.csv"\n[table]\nby = ["region"]\n', encoding="utf-8")
    (folder / "broken.toml").write_bytes(b"[data\n\xff")
    (folder / "book.xlsx").write_bytes(b"PK\3\4 no book")
    for name in ("pipe.csv", "pipe.toml"):
        os.mkfifo(folder / name)
    for name in ("folder.csv", "folder.toml"):
        (folder / name).mkdir()
    (folder / "link.csv").symlink_to("/etc/passwd")
    (folder / "loop.csv").symlink_to("loop.csv")
    (folder / "nowhere.csv").symlink_to("absent.csv")
    with open(os.fsencode(folder) + b"/no\xfftext.csv", "wb") as file:
        file.write(b"a\n1\n")


def finished_run(bench: Workbench) -> None:
    """A run to ask about."""
    folder = bench.workspace.runs / RUN
    (folder / "result").mkdir(parents=True)
    job = {key: each for key, each in JOB.items() if key not in ("status", "promise")}
    found = run_tables(job, bench.workspace.root, folder / "result", RunProgress(lambda said: None))
    write_json(folder / "job.json", job)
    status = {
        "id": RUN, "name": "run", "kind": "job", "of": "", "state": "finished", "started": 1.0, "ended": 2.0,
        "progress": {"what": "", "done": 0, "of": 0}, "files": sizes(folder / "result"),
    }  # fmt: skip
    write_json(folder / "status.json", status | json.loads(json.dumps(found)))


def questions(seed: int) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Questions without end: method, address, what goes with it."""
    chance = random.Random(seed)
    routes = [(method, route.path) for route in ALL for method in sorted((route.methods or set()) - {"HEAD"})]
    while True:
        method, path = chance.choice(routes)
        while "{" in path:
            before, _, rest = path.partition("{")
            name, _, after = rest.partition("}")
            usual = {"run": RUN, "key": chance.choice([RUN, "draft"]), "name": "table", "ending": "csv"}.get(name)
            path = before + (usual if usual and chance.random() < 0.6 else chance.choice(PARTS)) + after
        if (method, path) == ("DELETE", f"/api/runs/{RUN}"):
            continue
        params = {key: chance.choice(WORDS) for key in chance.sample(ASKED, chance.randrange(6))}
        if "/cell" in path and chance.random() < 0.5:
            params |= {"response": "turnover", "rows": "industry", "columns": "region", "r": "0,1", "c": "0"}
        given: dict[str, Any] = {"params": params, "headers": chance.choice(HEADERS) if chance.random() < 0.1 else {}}
        if method in ("POST", "PUT"):
            given["content"] = _body(chance, TREES if path.startswith(("/api/trees", "/api/next")) else BODIES)
        yield method, path, given


def _body(chance: random.Random, bodies: Sequence[dict[str, Any]]) -> bytes:
    if chance.random() < 0.2:
        return chance.choice(RAW)
    content = copy.deepcopy(chance.choice(bodies))
    for _ in range(chance.choice([0, 1, 1, 1, 2, 3])):
        _spoil(content, chance)
    return json.dumps(content).encode()


def _spoil(content: Any, chance: random.Random) -> None:
    """Put something hostile somewhere, however deep, or leave something out."""
    at = content
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        if not keys:
            return
        key = chance.choice(keys)
        if not isinstance(at[key], dict | list) or chance.random() < 0.3:
            break
        at = at[key]
    how = chance.random()
    if how < 0.1:
        del at[key]
    elif how < 0.2 and isinstance(at, dict):
        at[chance.choice(["", "\0", "\ud800", "x" * 999, "kind", "method", "do", "seed"])] = chance.choice(VALUES)
    else:
        at[key] = copy.deepcopy(chance.choice(VALUES))


def campaign(folder: Path, tries: int, seed: int = 1) -> Count:
    """So many questions to a workbench on an empty folder."""
    furnish(folder)
    bench = Workbench.at(folder, PORT, reading=Here())
    finished_run(bench)
    page = TestClient(make_app(bench, most_upload=100_000), base_url=ORIGIN, headers={"origin": ORIGIN})
    page.post("/api/session", json={"token": bench.sessions.token})
    count = Count()
    # runs start as everywhere, and end at once
    with patch.object(run_folders, "_process", _at_once):
        for number, question in zip(range(tries), questions(seed), strict=False):
            if _ask(page, question, count) and question[1].startswith(("/api/draft", "/api/choices", "/api/jobs")):
                for then in THEN:
                    _ask(page, then, count)
            if number % 50 == 0:
                _ask(page, ("PUT", "/api/draft", {"content": json.dumps(JOB).encode()}), count)
            for each in [r for r in bench.runs.workspace.runs.iterdir() if r.is_dir() and r.name != RUN]:
                run_folders.remove(each)
    bench.close()
    return count


def _at_once(folder: Path, kind: str, waits_for: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(["true"])


def _ask(page: TestClient, question: tuple[str, str, Mapping[str, Any]], count: Count) -> bool:
    """Whether something was accepted that changes what later answers are about."""
    method, path, given = question
    said = f"{method} {path[:200]} {str(given)[:600]}"
    count.asked += 1
    start = time.perf_counter()
    try:
        answer = page.request(method, path, **given)
    except Exception as e:
        if "encode" not in str(e):  # what a client cannot even send
            count.unanswered.append(f"{type(e).__name__}: {e}: {said}")
        return False
    count.by_status[answer.status_code] = count.by_status.get(answer.status_code, 0) + 1
    took = time.perf_counter() - start
    plain = answer.headers.get("content-type") != "application/json" or isinstance(answer.json(), dict)
    if answer.status_code >= 500 or took > SLOW or not plain:
        count.unanswered.append(f"{answer.status_code} after {took:.1f} s: {answer.text[:200]}: {said}")
    return answer.status_code == 200 and method != "GET"


# --- run folders -----------------------------------------------------------------------------------------------------


def folders(place: Path, tries: int, seed: int = 1) -> Count:
    """So many damaged folders of a run, each opened and asked everything; anything but a refusal is a mistake."""
    furnish(place)
    bench = Workbench.at(place, PORT, reading=Here())
    finished_run(bench)
    folder, count, chance = bench.workspace.runs / RUN, Count(), random.Random(seed)
    whole = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    status = folder / "status.json"
    unsized = {key: each for key, each in json.loads(whole[status]).items() if key != "files"}
    whole[status] = json.dumps(unsized).encode()  # else every change of a size is found at once
    for _ in range(tries):
        for path, content in whole.items():
            path.write_bytes(content)
        path = chance.choice(list(whole))
        path.write_bytes(_damaged(whole[path], chance))
        count.asked += 1
        start = time.perf_counter()
        try:
            _open_run(folder)
            how = 200
        except DiskretError:
            how = 422
        except Exception as e:
            how = 500
            count.unanswered.append(f"{type(e).__name__}: {e}: {path.name}: {path.read_bytes()[:300]!r}")
        count.by_status[how] = count.by_status.get(how, 0) + 1
        if time.perf_counter() - start > SLOW:
            count.unanswered.append(f"slow: {path.name}: {path.read_bytes()[:300]!r}")
    return count


def _damaged(content: bytes, chance: random.Random) -> bytes:
    if content.startswith(b"{") and chance.random() < 0.7:
        said = json.loads(content)
        for _ in range(chance.choice([1, 1, 2, 5])):
            _spoil(said, chance)
        return json.dumps(said).encode()
    at = chance.randrange(len(content))
    match chance.randrange(4):
        case 0:
            return content[:at]
        case 1:
            return content[:at] + chance.randbytes(chance.randrange(1, 20)) + content[at + 10 :]
        case 2:
            return content[:at] + content[at + chance.randrange(1, 9) :]
    return bytes(b ^ (chance.random() < 0.01) * chance.randrange(256) for b in content)


def _open_run(folder: Path) -> None:
    """What a page may want of a run."""
    status, root = read_status(folder), folder.parent.parent
    RunStatus.model_validate(status)
    found = load(folder / "result")
    audits = findings(folder / "result")
    compared(found, found, (audits, audits), internal=True)
    for each in found.values():
        for at in np.ndindex(*each.table.shape):
            explained(each, at, internal=True, protected=True, counts=True, language="en")
    content = read_json(folder / "job.json")
    made_export(folder / "result", dict(content), root, ".csv")
    summary = status.get("summary", {})
    made_report(folder / "result", dict(content), root, ".html", "en", True, summary, folder / "result")


def main() -> None:
    """Ask, and say what was not answered."""
    tries, seed = (int(each) for each in [*sys.argv[1:], "10000", "1"][:2])
    with tempfile.TemporaryDirectory() as folder:
        said(campaign(Path(folder), tries, seed), "questions")
    with tempfile.TemporaryDirectory() as folder:
        said(folders(Path(folder), tries // 10, seed), "damaged run folders")


def said(count: Count, what: str) -> None:
    """Print what was found."""
    print(f"{count.asked:,} {what}: {dict(sorted(count.by_status.items()))}")
    print(f"{len(count.unanswered)} without an answer")
    for each in count.unanswered[:40]:
        print(each)


if __name__ == "__main__":
    main()
