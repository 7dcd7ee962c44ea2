"""What an office without a network gets: wheels with hashes, licences and a bill; and the recipe of a container."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer

from diskret.cli import app

ROOT = Path(__file__).parents[1]
RECIPE = (ROOT / "tools" / "container" / "Dockerfile").read_text(encoding="utf-8")
HOSTS = re.compile(r"https?://|\b[\w-]+\.(?:org|com|io|net|dev)\b|index-url|pypi|npmjs", re.IGNORECASE)


def tool(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def bundle() -> ModuleType:
    return tool("bundle")


def wheel(folder: Path, name: str, version: str, *lines: str, licence: str = "") -> Path:
    """A small wheel that installs."""
    head = f"{name}-{version}"
    files = {
        f"{name}.py": f"version = {version!r}\n",
        f"{head}.dist-info/METADATA": "\n".join(
            ["Metadata-Version: 2.4", f"Name: {name}", f"Version: {version}", *lines]
        ),
        f"{head}.dist-info/WHEEL": "Wheel-Version: 1.0\nGenerator: tests\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    if licence:
        files[f"{head}.dist-info/licenses/LICENSE"] = licence
    path = folder / f"{head}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        for inner, text in files.items():
            packed.writestr(inner, text)
        packed.writestr(f"{head}.dist-info/RECORD", "".join(f"{n},,\n" for n in [*files, f"{head}.dist-info/RECORD"]))
    return path


@pytest.fixture
def folder(tmp_path: Path, bundle: ModuleType) -> Path:
    """A bundle of a small diskret, which needs two others, one of them for an extra."""
    place = tmp_path / "bundle"
    (place / "wheels").mkdir(parents=True)
    needs = ("Requires-Dist: lp_solver>=1", 'Requires-Dist: paper; extra == "report"', "Provides-Extra: report")
    about = ("License-Expression: Apache-2.0", "Requires-Python: >=3.11")
    wheel(place / "wheels", "diskret", "0.2.0", *about, *needs, licence="of diskret")
    wheel(place / "wheels", "lp_solver", "1.5", "License-Expression: MIT", licence="Permission is granted")
    wheel(place / "wheels", "paper", "3.0", "License-Expression: LGPL-3.0-only", licence="GNU LESSER")
    bundle.describe(place, ["report"])
    return place


def test_every_file_is_there_with_its_hash(folder: Path) -> None:
    lines = (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    told = {name: digest for digest, name in (line.split("  ", 1) for line in lines)}
    files = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()} - {"SHA256SUMS"}
    assert told.keys() == files
    assert all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest for name, digest in told.items())
    assert {"requirements.txt", "LICENCES.txt", "sbom.json", "INSTALL.txt"} < files


def test_the_licences_are_named_with_their_texts(folder: Path) -> None:
    text = (folder / "LICENCES.txt").read_text(encoding="utf-8")
    assert re.findall(r"^(\S+) (\S+): (.+)$", text, re.MULTILINE) == [
        ("diskret", "0.2.0", "Apache-2.0"), ("lp-solver", "1.5", "MIT"), ("paper", "3.0", "LGPL-3.0-only"),
    ]  # fmt: skip
    assert "Permission is granted" in text
    assert "GNU LESSER" in text


def test_the_bill_lists_what_is_in_the_folder_with_hashes(folder: Path) -> None:
    bill = json.loads((folder / "sbom.json").read_text(encoding="utf-8"))
    parts = {part["name"]: part for part in bill["components"]}
    assert parts.keys() == {"lp-solver", "paper", "python"}
    wheel_of = hashlib.sha256((folder / "wheels" / "paper-3.0-py3-none-any.whl").read_bytes()).hexdigest()
    assert parts["paper"]["hashes"] == [{"alg": "SHA-256", "content": wheel_of}]
    (own,) = [each for each in bill["dependencies"] if each["ref"].startswith("pkg:pypi/diskret")]
    assert len(own["dependsOn"]) == 2


def test_nothing_in_it_names_an_index(folder: Path) -> None:
    for name in ("requirements.txt", "INSTALL.txt", "SHA256SUMS"):
        assert not HOSTS.search((folder / name).read_text(encoding="utf-8")), name


def test_the_commands_of_the_instructions_exist_with_their_options(folder: Path) -> None:
    group: Any = typer.main.get_command(app)
    lines = re.findall(r"^  diskret/bin/diskret (.*)$", (folder / "INSTALL.txt").read_text(encoding="utf-8"), re.M)
    assert [line.split()[0] for line in lines] == ["warm", "examples", "run"]
    for line in lines:
        words = shlex.split(line, comments=True)
        context = group.context_class(group, info_name="diskret")
        name, command, rest = group.resolve_command(context, words)
        command.make_context(name, rest, parent=context)


def test_what_builds_the_source_is_told_with_its_licence(folder: Path, bundle: ModuleType) -> None:
    (folder / "backend").mkdir()
    wheel(folder / "backend", "hatch", "1.0", "License-Expression: MIT")
    bundle.describe(folder, ["report"])
    assert "hatch 1.0: MIT" in (folder / "LICENCES.txt").read_text(encoding="utf-8")
    assert "backend/hatch" in (folder / "SHA256SUMS").read_text(encoding="utf-8")
    assert "hatch" not in (folder / "requirements.txt").read_text(encoding="utf-8")


def install(folder: Path, target: Path) -> subprocess.CompletedProcess[str]:
    words = ["install", "--no-index", "--find-links", "wheels", "--require-hashes", "-r", "requirements.txt"]
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *words, "--target", str(target)]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_it_installs_without_an_index_and_a_changed_wheel_does_not(folder: Path, tmp_path: Path) -> None:
    done = install(folder, tmp_path / "there")
    assert done.returncode == 0, done.stderr
    assert {p.name for p in (tmp_path / "there").glob("*.py")} == {"diskret.py", "lp_solver.py", "paper.py"}
    changed = folder / "wheels" / "paper-3.0-py3-none-any.whl"
    with zipfile.ZipFile(changed, "a") as packed:
        packed.writestr("more.py", "")
    done = install(folder, tmp_path / "changed")
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_equal_wheels_give_equal_bytes(folder: Path, bundle: ModuleType) -> None:
    before = {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()}
    bundle.describe(folder, ["report"])
    assert {p.name: p.read_bytes() for p in folder.iterdir() if p.is_file()} == before


PLATFORMS = {
    "win_amd64": "x86_64-pc-windows-msvc", "manylinux_2_28_x86_64": "x86_64-unknown-linux-gnu",
    "manylinux_2_28_aarch64": "aarch64-unknown-linux-gnu", "macosx_14_0_arm64": "aarch64-apple-darwin",
}  # fmt: skip


@pytest.mark.parametrize("platform", PLATFORMS)
def test_what_another_platform_needs_is_asked_of_that_platform(bundle: ModuleType, platform: str) -> None:
    assert bundle.system_of([platform]) == PLATFORMS[platform]


def test_uv_asks_the_index_that_an_office_has_told_pip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "file:///ours")
    monkeypatch.setenv("PIP_CERT", "/etc/ours.pem")
    for name in ("UV_DEFAULT_INDEX", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    asked = tool("uv_like_pip").environment()
    assert (asked["UV_DEFAULT_INDEX"], asked["SSL_CERT_FILE"]) == ("file:///ours", "/etc/ours.pem")


# --- the recipe ------------------------------------------------------------------------------------------------------


def instructions() -> Iterator[tuple[str, str]]:
    for line in re.sub(r"\\\n", " ", RECIPE).splitlines():
        if line.strip() and not line.startswith("#"):
            word, _, rest = line.partition(" ")
            yield word, rest


def test_the_recipe_fetches_nothing_and_does_not_run_as_root() -> None:
    said = list(instructions())
    words = [word for word, _ in said]
    assert set(words) <= {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "ENV", "USER", "ENTRYPOINT", "CMD"}
    assert words.index("FROM") == 1
    assert [rest for word, rest in said if word == "USER"][-1] not in ("root", "0")
    assert not re.search(r"\b(curl|wget|apt-get|apk|git|ADD)\b", RECIPE)
    (pip,) = [rest for word, rest in said if word == "RUN" and " pip install" in rest]
    assert "--no-index" in pip
    assert "--require-hashes" in pip
    assert not HOSTS.search(RECIPE)
    assert all(json.loads(rest) for word, rest in said if word in ("ENTRYPOINT", "CMD"))


def test_the_recipe_copies_what_the_bundle_holds(folder: Path) -> None:
    files = {p.name for p in folder.iterdir()}
    assert {"SHA256SUMS", "requirements.txt", "wheels"} <= files
    done = subprocess.run(["sha256sum", "--quiet", "-c", "SHA256SUMS"], cwd=folder, check=False)
    assert done.returncode == 0


TEXTS = (
    "*.py",
    "*.toml",
    "*.md",
    "*.cfg",
    "*.yml",
    "*.txt",
    "*.R",
    "*.Rmd",
    "Makefile",
    "Dockerfile",
    "DESCRIPTION",
    "run",
)


def test_no_file_of_the_repository_names_a_registry() -> None:
    """An office sets up its own index; nothing here goes past it."""
    said = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False).stdout
    if not said:
        pytest.skip("this is no repository")
    hosts = re.compile(r"\b(?:pypi|pythonhosted|npmjs|conda|debian|r-project|docker|ghcr|quay)\.(?:org|com|io|net)\b")
    found = []
    for name in filter(None, said.split("\0")):
        path = ROOT / name
        if path.is_file() and any(path.match(each) for each in TEXTS) and path != Path(__file__):
            found += [name] if hosts.search(path.read_text(encoding="utf-8", errors="replace")) else []
    assert found == []
