"""diskret writes where docs/security.md says and nowhere else, and what is confidential is for its owner alone."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
JOBS = ("turnover.toml", "diagnoses.toml", "care.toml", "risk/attack.toml", "linked/pool.toml")
PUBLIC = ("publish", "records", "microdata", "report")
PROGRAM = """
import json, os, sys
written = []
def hook(event, given):
    if event == "open" and isinstance(given[0], (str, bytes)) and given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT):
        written.append(os.fsdecode(given[0]))
    elif event in ("os.mkdir", "tempfile.mkdtemp", "tempfile.mkstemp"):
        written.append(os.fsdecode(given[0]))
    elif event in ("os.rename", "os.link", "os.symlink"):
        written.append(os.fsdecode(given[1]))
sys.addaudithook(hook)
os.umask(0)
from pathlib import Path
from diskret.job.read import read_job
from diskret.job.run import run_job
for name in sys.argv[2:]:
    run_job(read_job(Path(name)), Path(name).parent)
Path(sys.argv[1]).write_text(json.dumps(written))
"""


@pytest.mark.slow
def test_jobs_write_their_outputs_and_private_folders_and_nothing_else(tmp_path: Path) -> None:
    places = {name: tmp_path / name for name in ("home", "tmp")}
    for place in places.values():
        place.mkdir()
    examples = tmp_path / "examples"
    shutil.copytree(ROOT / "examples", examples, ignore=shutil.ignore_patterns("out"))
    before = {*examples.rglob("*")}
    told = tmp_path / "told.json"
    environment = {**os.environ, "HOME": str(places["home"]), "TMPDIR": str(places["tmp"])}
    environment |= {"PYTHONDONTWRITEBYTECODE": "1"}
    words = [sys.executable, "-W", "ignore", "-c", PROGRAM, str(told), *(str(examples / name) for name in JOBS)]
    subprocess.run(words, check=True, env=environment, cwd=places["home"], timeout=600)
    written = json.loads(told.read_text())
    assert any(p.startswith(str(examples)) for p in written)
    allowed = (str(examples), str(places["tmp"]), str(told), "/dev/", "/proc/")
    assert [p for p in written if os.path.isabs(p) and not p.startswith(allowed) and "__pycache__" not in p] == []
    # nothing is left but what was asked for
    assert list(places["home"].iterdir()) == []
    assert list(places["tmp"].iterdir()) == []
    new = {*examples.rglob("*")} - before
    assert {path for path in new if path.is_file()} == asked_for(examples).keys()
    # under a umask that hides nothing, what is confidential is hidden
    for path, public in asked_for(examples).items():
        assert (path.stat().st_mode & 0o077 == 0) != public, path


def asked_for(examples: Path) -> dict[Path, bool]:
    """Every output of the jobs, and whether it is for everybody."""
    found: dict[Path, bool] = {}
    for name in JOBS:
        job = tomllib.loads((examples / name).read_text(encoding="utf-8"))
        sections = [job.get("output", {}), *(each.get("output", {}) for each in job.get("tables", {}).values())]
        for key, said in ((key, said) for section in sections for key, said in section.items()):
            for file in said if isinstance(said, list) else [said]:
                if isinstance(file, str) and "/" in file:
                    found[(examples / name).parent / file] = key in PUBLIC
    return found
