"""Kills at random moments: what a run leaves, and whether doing it again gives what it would have given.

``python -m benchmarks.kills --kills 100 --seed 1``. Every run has a temporary folder of its own and the umask of a
careless machine (000). A third each: jobs of tables with several outputs over older ones, searches of SAFE with a
checkpoint, runs of the page (its worker or the whole server). After each kill nobody else may read anything that is
not published, every output is one of the older set or one of the new set, never a mixture; then the run is done again,
and everything must be as without the kill, with nothing left over. ``--only pairs`` kills nobody: two runs write the
same outputs at once, and those of one of them must remain.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RUN = (
    "import os; os.umask(0); import diskret.safe.checkpoint as kept; kept.SAVE_EVERY = 0.05; "
    "import diskret.cli as c; c.main()"
)
TABLE = """
[data]
microdata = "firms.parquet"
[table]
by = ["region", "branch"]
value = "turnover"
[rules]
min_count = 3
p_percent = 10
[suppression]
[output]
publish = ["out/t.csv", "out/t.xlsx", "out/t.json", "out/t.px", "out/t.parquet"]
working = "out/w.parquet"
certificate = "out/c.json"
report = "out/r.html"
"""
SAFE = """
[data]
microdata = "persons.parquet"
[anonymise]
attributes = ["a", "b", "c", "d"]
effort = 3
checkpoint = "run.checkpoint"
[output]
microdata = "out/anonymous.csv"
quality = "out/quality.json"
rematched = "out/internal.csv"
"""
PUBLISHED = ("t.csv", "t.xlsx", "t.json", "t.px", "t.parquet", "r.html", "anonymous.csv", "quality.json")
FIRMS = (
    "SELECT 'r' || lpad((hash(i) % {regions})::VARCHAR, 2, '0') AS region, 'b' || (hash(i + 7) % 23) AS branch, "
    "1 + hash(i + 3) % 90000 AS turnover FROM range({n}) t(i)"
)
PERSONS = (
    "SELECT 'a' || (hash(i) % 9) AS a, 'b' || (hash(i + 1) % 7) AS b, 'c' || (hash(i + 2) % 6) AS c, "
    "'d' || (hash(i + 3) % 4) AS d, i AS person FROM range({n}) t(i)"
)


@dataclass
class Campaign:
    """Where it takes place, and what went wrong."""

    place: Path
    random: random.Random
    wrong: list[str] = field(default_factory=list)
    moments: Counter[str] = field(default_factory=Counter)

    def expect(self, holds: bool, what: str) -> None:
        """Note what does not hold."""
        if not holds:
            self.wrong.append(what)
            print("WRONG:", what, flush=True)

    def start(self, folder: Path, *words: str) -> subprocess.Popen[bytes]:
        """The command in a folder, with a temporary folder beside it."""
        temporary = folder.parent / "tmp"
        temporary.mkdir(exist_ok=True)
        temporary.chmod(0o777)
        environment = os.environ | {"TMPDIR": str(temporary)}
        return subprocess.Popen(
            [sys.executable, "-c", RUN, *words], cwd=folder, env=environment, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip

    def done(self, folder: Path, *words: str) -> float:
        """Let the command finish; seconds."""
        begun = time.monotonic()
        running = self.start(folder, *words)
        said, _ = running.communicate(timeout=300)
        self.expect(running.returncode == 0, f"{words}: exit {running.returncode}: {said.decode()[-400:]}")
        return time.monotonic() - begun

    def private(self, folder: Path, when: str, mine: set[str]) -> None:
        """Nobody else can read anything but the published files, and what the user put there."""
        for path in _files(folder):
            parts = [folder / Path(*path.relative_to(folder).parts[:n]) for n in range(1, len(path.parts) + 1)]
            hidden = any(p.is_dir() and p.stat().st_mode & 0o077 == 0 for p in parts if p.exists())
            known = path.name in PUBLISHED and path.parent.name == "out"
            open_to_others = path.exists() and path.stat().st_mode & 0o077 != 0
            if open_to_others and not hidden and not known and path.relative_to(folder).as_posix() not in mine:
                self.expect(False, f"{when}: others can read {path.relative_to(folder)}")

    def clean(self, folder: Path, when: str) -> None:
        """Nothing is left over."""
        left = [p for p in folder.rglob("*") if p.name.startswith((".diskret.", "diskret-"))]
        self.expect(not left, f"{when}: left over {[str(p.relative_to(folder)) for p in left][:5]}")


def _files(folder: Path) -> Iterator[Path]:
    for base, _, names in os.walk(folder):
        yield from (Path(base) / name for name in names)


def _contents(folder: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted(folder.iterdir()) if p.is_file()} if folder.is_dir() else {}


def _query(sql: str, target: Path) -> None:
    import duckdb

    duckdb.connect().execute(f"COPY ({sql} ORDER BY ALL) TO '{target}' (FORMAT parquet)")


def killed(campaign: Campaign, running: subprocess.Popen[bytes], seconds: float) -> bool:
    """Kill after a while; false if it was over before."""
    try:
        running.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(running.pid, signal.SIGKILL)
    running.communicate()
    return running.returncode == -signal.SIGKILL


def jobs(campaign: Campaign, kills: int, *, kind: str) -> None:
    """Kills of a job; older outputs of other data stand there already."""
    folder = campaign.place / kind / "work"
    folder.mkdir(parents=True)
    data = folder / ("firms.parquet" if kind == "table" else "persons.parquet")
    sizes = (4000, 5000) if kind == "table" else (1500, 2500)
    sql = FIRMS.replace("{regions}", "40") if kind == "table" else PERSONS
    (folder / "job.toml").write_text(TABLE if kind == "table" else SAFE)
    sets = []
    for n in sizes:
        _query(sql.format(n=n), data)
        longest = max(campaign.done(folder, "run", "job.toml", "-q") for _ in range(2))
        sets.append(_contents(folder / "out"))
    old, new = sets
    mine = {"job.toml", data.name}
    for number in range(kills):
        shutil.rmtree(folder / "out")
        (folder / "out").mkdir()
        for name, content in old.items():
            (folder / "out" / name).write_bytes(content)
            (folder / "out" / name).chmod(0o666 if name in PUBLISHED else 0o600)
        when = f"{kind} kill {number}"
        # the second half of the time, in which things are written, gets most of the kills
        share = campaign.random.betavariate(3, 1.2)
        was_killed = killed(campaign, campaign.start(folder, "run", "job.toml", "-q"), 1.1 * share * longest)
        found = {n: c for n, c in _contents(folder / "out").items() if not n.startswith(".")}
        campaign.moments[f"{kind} {'old' if found == old else 'new' if found == new else 'mixed'}"] += 1
        campaign.expect(found in (old, new), f"{when}: outputs of two runs, or half of one")
        campaign.expect(was_killed or found == new, f"{when}: finished without its outputs")
        campaign.private(folder.parent, when, {f"work/{m}" for m in mine})
        campaign.moments[f"{kind} checkpoint"] += (folder / "run.checkpoint").exists()
        if campaign.random.random() < 0.3 and kind == "safe":  # killed again while it goes on
            killed(campaign, campaign.start(folder, "run", "job.toml", "-q"), campaign.random.random() * longest)
        campaign.done(folder, "run", "job.toml", "-q")
        campaign.expect(_contents(folder / "out") == new, f"{when}: done again, it is not the same")
        campaign.clean(folder.parent, when)
        campaign.private(folder.parent, f"{when}, done again", {f"work/{m}" for m in mine})


def pairs(campaign: Campaign, count: int) -> None:
    """Two runs of different data with the same outputs, begun together: the files of one of them remain."""
    folder = campaign.place / "pairs" / "work"
    folder.mkdir(parents=True)
    sets = []
    for name, n in (("one", 4000), ("two", 4001)):
        _query(FIRMS.format(n=n, regions=12), folder / f"{name}.parquet")
        (folder / f"{name}.toml").write_text(TABLE.replace("firms.parquet", f"{name}.parquet"))
        campaign.done(folder, "run", f"{name}.toml", "-q")
        sets.append(_contents(folder / "out"))
    for number in range(count):
        both = [campaign.start(folder, "run", f"{name}.toml", "-q") for name in ("one", "two")]
        for each in both:
            each.communicate()
            campaign.expect(each.returncode == 0, f"pair {number}: exit {each.returncode}")
        found = _contents(folder / "out")
        campaign.moments[f"pairs {'one' if found == sets[0] else 'two' if found == sets[1] else 'mixed'}"] += 1
        campaign.expect(found in sets, f"pair {number}: files of both runs")
    campaign.clean(folder.parent, "pairs")


class Page:
    """A server and a browser's side of the talk."""

    def __init__(self, campaign: Campaign, folder: Path) -> None:
        self.process = campaign.start(folder, "serve", "--workspace", ".", "--no-open")
        assert self.process.stdout is not None
        self.address = self.token = ""
        for raw in self.process.stdout:
            line = raw.decode()
            if line.startswith("open "):
                self.address, self.token = line.split()[1].split("/#token=")
                break
        answer = self._send("POST", "/api/session", {"token": self.token}, cookie="")
        self.cookie = answer.headers["set-cookie"].split(";")[0]

    def _send(self, method: str, path: str, body: Any = None, cookie: str | None = None) -> Any:
        headers = {"Origin": self.address, "Cookie": self.cookie if cookie is None else cookie}
        data = None if body is None else json.dumps(body).encode()
        return urllib.request.urlopen(
            urllib.request.Request(self.address + path, data=data, method=method, headers=headers), timeout=60
        )

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """One request."""
        with self._send(method, path, body) as answer:
            return json.loads(answer.read())

    def wait(self, run: str) -> dict[str, Any]:
        """Until a run has ended."""
        while True:
            status: dict[str, Any] = self.ask("GET", f"/api/runs/{run}")
            if status["state"] != "running":
                return status
            time.sleep(0.1)

    def end(self, number: int = signal.SIGTERM) -> None:
        """End the server."""
        os.kill(self.process.pid, number)
        self.process.communicate(timeout=20)


def _result(folder: Path, run: str) -> dict[str, bytes]:
    """The table and its moves; findings tell seconds."""
    found = _contents(folder / ".diskret-runs" / run / "result")
    return {n: c for n, c in found.items() if n.endswith((".parquet", ".npz"))}


def pages(campaign: Campaign, kills: int) -> None:
    """Kills of the page's worker, and of the server."""
    folder = campaign.place / "page" / "work"
    folder.mkdir(parents=True)
    _query(FIRMS.format(n=4000, regions=40), folder / "firms.parquet")
    mine = {"firms.parquet"}
    draft = {
        "data": {"microdata": "firms.parquet"},
        "table": {"by": ["region", "branch"], "value": ["turnover"]},
        "rules": {"min_count": 3, "p_percent": 10},
    }
    page = Page(campaign, folder)
    page.ask("PUT", "/api/draft", draft)
    for name in ("cold", "first"):  # the first of all loads and compiles, and takes far longer than the others
        begun = time.monotonic()
        first = page.ask("POST", "/api/runs", {"name": name})["id"]
        campaign.expect(page.wait(first)["state"] == "finished", "the first run of the page")
    longest, reference = time.monotonic() - begun, _result(folder, first)
    for number in range(kills):
        when = f"page kill {number}"
        run = page.ask("POST", "/api/runs", {"name": when})["id"]
        time.sleep(campaign.random.betavariate(2, 1.2) * longest)
        whole = campaign.random.random() < 0.5
        if whole:
            page.end(signal.SIGKILL)
            time.sleep(0.3)  # the worker sees the end of its input
        else:
            status = json.loads((folder / ".diskret-runs" / run / "status.json").read_text())
            if "pid" in status:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(status["pid"], signal.SIGKILL)
        campaign.private(folder.parent, when, {f"work/{m}" for m in mine})
        if whole:
            page = Page(campaign, folder)
        state = page.wait(run)["state"]
        campaign.moments[f"page {state}"] += 1
        has_result = (folder / ".diskret-runs" / run / "result").is_dir()
        campaign.expect(has_result == (state == "finished"), f"{when}: {state}, result {has_result}")
        if has_result:
            campaign.expect(_result(folder, run) == reference, f"{when}: the result is not whole")
        campaign.expect(len(page.ask("GET", "/api/runs")["runs"]) >= 1, f"{when}: the list of runs")
        again = page.ask("POST", "/api/runs", {"name": "again"})["id"]
        campaign.expect(page.wait(again)["state"] == "finished", f"{when}: done again")
        campaign.expect(_result(folder, again) == reference, f"{when}: done again, it is not the same")
        campaign.private(folder.parent, f"{when}, done again", {f"work/{m}" for m in mine})
        for each in (run, again):
            page.ask("DELETE", f"/api/runs/{each}")
        if whole:
            campaign.clean(folder, when)
    page.end()
    left = [p.name for p in (folder.parent / "tmp").iterdir()]
    campaign.expect(not left, f"page: left in the temporary folder {left}")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--kills", type=int, default=100)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--only", choices=("table", "safe", "page", "pairs"))
    given = asked.parse_args()
    with tempfile.TemporaryDirectory() as place:
        campaign = Campaign(Path(place), random.Random(given.seed))
        parts = [given.only] if given.only else ["table", "safe", "page"]
        for number, part in enumerate(parts):
            kills = given.kills // len(parts) + (number < given.kills % len(parts))
            if part in ("page", "pairs"):
                {"page": pages, "pairs": pairs}[part](campaign, kills)
            else:
                jobs(campaign, kills, kind=part)
            print(part, dict(campaign.moments), flush=True)
        print(f"{given.kills} kills, {len(campaign.wrong)} wrong")
        raise SystemExit(1 if campaign.wrong else 0)


if __name__ == "__main__":
    main()
