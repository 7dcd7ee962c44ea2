"""Nothing needs POSIX: jobs and the page run without its names; paths of both styles mean what they say."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
import threading
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path, PureWindowsPath
from typing import Any

import httpx2
import pytest

from diskret.io.files import all_or_none
from diskret.model import locks
from diskret.model.processes import apart, ask_to_stop
from diskret.web.workspace import refused_by_windows

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "diskret").rglob("*.py"))
NEVER = {
    "fork", "forkpty", "killpg", "setsid", "setpgid", "setpgrp", "mkfifo", "fchmod", "fchown", "chown", "preexec_fn",
    "send_signal", "SIGKILL", "SIGUSR1", "SIGUSR2", "SIGALRM", "SIGCHLD", "alarm", "pwd", "grp", "termios",
}  # fmt: skip
"""Names of POSIX that nothing here uses, however guarded."""
GUARDED = {"fcntl": "model/locks.py", "resource": "web/confined.py model/memory.py"}
"""Modules of POSIX and where they are imported, by code that does without them."""


@pytest.fixture
def like_windows(tmp_path: Path) -> dict[str, str]:
    """The environment of a process, and of all it starts, in which the names of POSIX are gone."""
    place = tmp_path / "without"
    place.mkdir()
    shutil.copy(ROOT / "tests" / "like_windows.py", place)
    (place / "sitecustomize.py").write_text("import like_windows\nlike_windows.take_away()\n", encoding="utf-8")
    return os.environ | {"PYTHONPATH": str(place)}


def called(words: list[str], at: Path, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from diskret.cli import main; main()", *words]
    return subprocess.run(command, cwd=at, env=environment, capture_output=True, text=True, check=False, timeout=300)


def test_no_name_that_only_posix_has_is_used() -> None:
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            name = node.attr if isinstance(node, ast.Attribute) else node.arg if isinstance(node, ast.keyword) else None
            names = [a.name for a in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else [name]
            found += [f"{path.name}: {each}" for each in names if each in NEVER]
            for module in set(names) & set(GUARDED):
                if isinstance(node, ast.Import):
                    where = path.relative_to(ROOT / "src" / "diskret").as_posix()
                    assert where in str(GUARDED[str(module)]).split(), where
    assert found == []


def test_text_is_written_with_the_same_ends_of_lines_everywhere() -> None:
    """Where a call says nothing about them, a line ends in two characters on Windows: other bytes, another hash."""
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and "newline" not in {each.arg for each in node.keywords}:
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                modes = [each.value for each in node.args if isinstance(each, ast.Constant)]
                writing = any(isinstance(m, str) and m[:1] in tuple("wxa") and "b" not in m for m in modes)
                if name == "write_text" or (name in ("open", "fdopen") and writing):
                    found.append(f"{path.name}, line {node.lineno}")
    assert found == []


def test_the_names_are_gone_in_every_process(like_windows: dict[str, str], tmp_path: Path) -> None:
    code = (
        "import os, signal, pathlib\nassert not hasattr(os, 'getuid') and not hasattr(signal, 'SIGHUP')\n"
        f"pathlib.Path({str(tmp_path / 'lines')!r}).write_text('a\\n', encoding='utf-8')\nimport fcntl"
    )
    done = subprocess.run([sys.executable, "-c", code], env=like_windows, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "fcntl" in done.stderr
    assert (tmp_path / "lines").read_bytes() == b"a\r\n"


def as_written(file: Path) -> bytes:
    """The bytes of a file; of a workbook those of its parts, whose lines end as the system has it."""
    if file.suffix != ".xlsx":
        return file.read_bytes()
    with zipfile.ZipFile(file) as parts:
        return b"".join(name.encode() + parts.read(name).replace(b"\r\n", b"\n") for name in parts.namelist())


def test_a_job_gives_the_same_bytes_without_posix(like_windows: dict[str, str], tmp_path: Path) -> None:
    made: list[dict[str, bytes]] = []
    for number, environment in enumerate((None, like_windows)):
        place = tmp_path / str(number)
        assert called(["examples", str(place)], tmp_path, environment).returncode == 0
        done = called(["run", "turnover.toml", "-q"], place, environment)
        assert done.returncode == 0, done.stderr
        made.append({p.relative_to(place).as_posix(): as_written(p) for p in place.rglob("*") if p.is_file()})
    assert made[0].keys() == made[1].keys()
    assert {name for name in made[0] if made[0][name] != made[1][name]} <= {n for n in made[0] if n.endswith(".html")}


@pytest.fixture
def served(like_windows: dict[str, str], tmp_path: Path) -> Iterator[tuple[Path, httpx2.Client]]:
    """The page and the interface for programs, without POSIX."""
    import json

    folder = tmp_path / "workspace"
    command = [sys.executable, "-c", "from diskret.cli import main; main()", "serve", "--api", "-w", str(folder)]
    process = subprocess.Popen(command, env=like_windows, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    while "programs:" not in (line := process.stdout.readline()):
        assert line, process.stderr and process.stderr.read()
    said = json.loads((folder / ".diskret-api.json").read_text(encoding="utf-8"))
    bearer = {"authorization": f"Bearer {said['token']}"}
    with httpx2.Client(base_url=said["address"], headers=bearer, timeout=120) as client:
        yield folder, client
    process.terminate()
    process.communicate(timeout=30)


def test_programs_are_served_without_posix(served: tuple[Path, httpx2.Client]) -> None:
    _, client = served
    client.put("/v1/files/p.csv", content=b"sex,x\n" + b"m,1\nw,2\nm,3\nw,4\nm,5\n" * 3 + b"d,7\n").raise_for_status()
    job = {"data": {"microdata": "p.csv"}, "table": {"by": ["sex"], "value": "x"}, "rules": {"min_count": 3},
           "suppression": {}, "output": {"publish": "t.csv", "working": "w.parquet"}}  # fmt: skip
    run = client.post("/v1/runs", json={"job": job}).json()
    ended = client.get(f"/v1/runs/{run['id']}", params={"wait": 60}).json()
    assert ended["state"] == "finished", ended
    assert client.get(ended["files"][0]["href"]).text.startswith("sex,x\n")


def test_a_process_stops_by_a_word_and_not_by_a_signal(tmp_path: Path) -> None:
    code = (
        "import sys, time\nfrom diskret.model.processes import heed\nheed(sys.stdin.buffer)\n"
        "try:\n    print('on', flush=True)\n    for _ in range(600): time.sleep(0.1)\n"
        "except KeyboardInterrupt:\n    print('stopped')\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, **apart(), bufsize=0
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"on\n"
    ask_to_stop(process)
    assert process.stdout.read() == b"stopped\n"
    process.wait(timeout=30)
    ask_to_stop(process)  # one that has ended needs no word
    assert process.stdin is not None
    process.stdout.close()
    process.stdin.close()


class Msvcrt:
    """The locks of Windows: one holder, and everybody else is refused."""

    LK_NBLCK = 2

    def __init__(self) -> None:
        self.holder: int | None = None

    def locking(self, handle: int, mode: int, count: int) -> None:
        found = os.fstat(handle).st_ino
        if self.holder not in (None, found):
            raise OSError
        if os.lseek(handle, 0, os.SEEK_CUR) != locks.FAR:
            raise ValueError("what is locked cannot be read there")
        if self.holder is not None:
            raise OSError
        self.holder = found


def test_locks_of_windows_let_one_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Msvcrt()
    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.setattr(locks, "msvcrt", there)
    with (tmp_path / "lock").open("w+b") as file:
        assert locks.locked(file.fileno(), wait=False) is True
        assert locks.locked(file.fileno(), wait=False) is False
        let_in: list[bool | None] = []
        waiting = threading.Thread(target=lambda: let_in.append(locks.locked(file.fileno(), wait=True)))
        waiting.start()
        time.sleep(0.05)
        assert let_in == []
        there.holder = None
        waiting.join(10)
        assert let_in == [True]
        assert file.tell() == 0
    monkeypatch.setattr(locks, "msvcrt", None)
    with (tmp_path / "lock").open("w+b") as file:
        assert locks.locked(file.fileno(), wait=True) is None


def test_files_take_their_places_under_the_locks_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = Msvcrt()
    close = os.close

    def closed(handle: int) -> None:
        if there.holder == os.fstat(handle).st_ino:
            there.holder = None
        close(handle)

    monkeypatch.setattr(locks, "fcntl", None)
    monkeypatch.setattr(locks, "msvcrt", there)
    monkeypatch.setattr(os, "close", closed)
    monkeypatch.setattr("diskret.model.private.locked", lambda handle, wait: True)  # of the hidden folder
    for text in ("one", "two"):
        with all_or_none() as meanwhile:
            meanwhile(tmp_path / "a.txt").write_text(text, encoding="utf-8")
        assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text(encoding="utf-8") == "two"


WRONG = ["CON", "con.csv", "NUL.txt", "LPT1.csv", "COM9", "a.csv:stream", "C:x.csv", "C:\\x.csv", "a/aux.csv",
         "a\\prn.txt", "x.csv.", "x.csv ", "a<b.csv", "a|b.csv", 'a"b.csv', "CONIN$", "COM¹.csv"]  # fmt: skip
RIGHT = [
    "firms.csv",
    "data/firms.csv",
    "data\\firms.csv",
    "console.csv",
    "a.con",
    "Köln 2024.csv",
    "lpt.csv",
    "com10.csv",
]


@pytest.mark.parametrize("name", WRONG)
def test_names_that_mean_a_device_or_a_stream_on_windows_are_refused_there(name: str) -> None:
    assert refused_by_windows(name)


@pytest.mark.parametrize("name", RIGHT)
def test_other_names_are_not(name: str) -> None:
    assert not refused_by_windows(name)


def test_jobs_name_files_by_either_style(monkeypatch: pytest.MonkeyPatch) -> None:
    """A job that was written on Windows names its outputs by backslashes; into a folder goes the name alone."""
    from diskret.job import next_file

    monkeypatch.setattr(next_file, "Path", PureWindowsPath)
    content: dict[str, Any] = {"output": {"publish": ["out\\table.csv", "C:\\other\\t.xlsx", "out/u.json"]}}
    moved = next_file.into_folder(content, "C:\\runs\\2024")["output"]["publish"]
    assert moved == ["C:/runs/2024/table.csv", "C:/runs/2024/t.xlsx", "C:/runs/2024/u.json"]
