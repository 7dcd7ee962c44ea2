"""What docs/contract.md promises to programs that call the command: codes, streams, the keys of --json."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from diskret.cli.app import BROKEN, EXPOSED, REFUSED, STOPPED, UNREAD
from tests.cli.conftest import COMMAND, Call

PAGE = (Path(__file__).parents[2] / "docs" / "contract.md").read_text(encoding="utf-8")
KEYS = {key for row in re.findall(r"^\| (`[^|]+) \|", PAGE, re.MULTILINE) for key in re.findall(r"`([^`]+)`", row)}
CODES = {int(n) for row in re.findall(r"^\| ([\d, ]+) \|", PAGE, re.MULTILINE) for n in row.split(",")}
BY = ("--by", "region", "--by", "size")
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "job.toml"),
    "check": ("check", "job.toml"),
    "tabulate": ("tabulate", "firms.csv", *BY, "--value", "wages", "--out", "n.parquet"),
    "mark": ("mark", "w.parquet", "--min-count", "3", "--unprotected", "--out", "n.csv"),
    "suppress": ("suppress", "w.parquet", "--out", "s.parquet"),
    "anonymise": ("anonymise", "firms.csv", "--attribute", "region", "--attribute", "size", "--out", "a.csv"),
    "risk": ("risk", "firms.csv", "--key", "region", "--key", "size"),
}


@pytest.fixture
def work(folder: Path, typed: Call) -> Path:
    assert typed("run", "job.toml").code == 0
    (folder / "out" / "w.parquet").rename(folder / "w.parquet")
    return folder


def test_every_code_of_the_command_is_explained() -> None:
    assert {0, EXPOSED, REFUSED, BROKEN, STOPPED, UNREAD, 129, 143} == CODES


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_one_object_with_the_keys_of_the_page(work: Path, typed: Call, name: str) -> None:
    done = typed(*COMMANDS[name], "--json")
    assert done.code == 0, done.said
    said = json.loads(done.out)
    assert set(said) <= KEYS, set(said) - KEYS
    assert set(said) & {"tables", "anonymisation", "anonymity", "risk"}


@pytest.mark.parametrize("name", [n for n in COMMANDS if n != "check"])
def test_a_refusal_is_one_object_too_its_words_on_the_other_stream(work: Path, typed: Call, name: str) -> None:
    words = [word.replace("firms.csv", "none.csv").replace("w.parquet", "none.parquet") for word in COMMANDS[name]]
    words = [word.replace("job.toml", "none.toml") for word in words]
    done = typed(*words, "--json")
    assert done.code == REFUSED, done.said
    error: dict[str, Any] = json.loads(done.out)["error"]
    assert list(error) == ["code", "what", "where", "hint", "docs", "cures", "rows"]
    assert done.err.startswith(f"diskret: [{error['code']}] {error['what'].splitlines()[0]}")
    assert error["docs"].endswith(error["code"].lower())


def test_a_refusal_without_json_says_nothing_on_standard_output(work: Path, typed: Call) -> None:
    done = typed("run", "none.toml")
    assert (done.code, done.out) == (REFUSED, "")


def test_what_is_refused_changes_no_file(work: Path, typed: Call) -> None:
    before = {p: p.read_bytes() for p in work.rglob("*") if p.is_file()}
    text = (work / "job.toml").read_text(encoding="utf-8")
    (work / "bad.toml").write_text(text.replace('"region"', '"land"'), encoding="utf-8")
    assert typed("run", "bad.toml", "--json").code == REFUSED
    assert {p: p.read_bytes() for p in work.rglob("*") if p.is_file() and p.name != "bad.toml"} == before


def test_the_schemas_for_editors_and_programs_are_those_that_are_published(folder: Path, typed: Call) -> None:
    docs = Path(__file__).parents[2] / "docs"
    for of, name in (("job", "job.schema.json"), ("api", "openapi.json")):
        said = json.loads(typed("schema", of).out)
        assert said == json.loads((docs / name).read_text(encoding="utf-8"))
    assert typed("schema", "summary").code == REFUSED


def test_a_job_as_json_is_the_job(work: Path, typed: Call) -> None:
    import tomllib

    content = tomllib.loads((work / "job.toml").read_text(encoding="utf-8"))
    (work / "job.json").write_text(json.dumps(content), encoding="utf-8")
    assert typed("check", "job.json", "--json").out == typed("check", "job.toml", "--json").out
    for wrong in ("[1]", "{", '"job"'):
        (work / "job.json").write_text(wrong, encoding="utf-8")
        assert "[J1]" in typed("check", "job.json").err


def test_whoever_reads_only_the_first_line_gets_it_and_no_traceback(work: Path) -> None:
    done = subprocess.run(
        f"{COMMAND} run job.toml --json | head -n 1", shell=True, cwd=work, capture_output=True, text=True, check=False
    )
    assert done.stdout == "{\n"
    assert "Traceback" not in done.stderr
