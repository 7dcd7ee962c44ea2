#!/usr/bin/env python3
"""What an office without a network needs to install diskret, in one folder: wheels, hashes, licences, a bill.

python tools/bundle.py FOLDER [--extras web,plots] [--platform win_amd64 --python-version 3.12] builds diskret and
fetches the wheels of all it needs from the index that pip is set up for; what is written names no index. Then it
installs them into a new environment from these files alone, unless they are for another platform. Needs pip, `build`,
and uv for another platform.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import Distribution, PackageNotFoundError, PathDistribution
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
import sbom

HERE = Path(__file__).parents[1]
EXTRAS = ("web", "plots", "report", "stats")
WHEELS, BACKEND, SOURCE = "wheels", "backend", "source"
SUMS, REQUIREMENTS, LICENCES, BILL, HOW = (
    "SHA256SUMS", "requirements.txt", "LICENCES.txt", "sbom.json", "INSTALL.txt",
)  # fmt: skip
LICENCE_FILE = re.compile(r"(^|/)(licen[sc]es?/.+|(licen[sc]e|copying|notice|authors)[^/]*)$", re.IGNORECASE)
INSTALL = """diskret {version}, to be installed without a network.

  python -m venv diskret
  diskret/bin/python -m pip install --no-index --find-links wheels --require-hashes -r requirements.txt
  diskret/bin/diskret warm            # compiles once what the first job would wait for
  diskret/bin/diskret examples first
  diskret/bin/diskret run first/turnover.toml --show

On Windows it is diskret\\Scripts\\python and diskret\\Scripts\\diskret. Python must be {python}.

wheels            diskret and all it needs: {extras}
requirements.txt  their versions and hashes, which pip compares
SHA256SUMS        hashes of all files here: sha256sum -c SHA256SUMS
LICENCES.txt      under which licence each is, with its text
sbom.json         the software bill of materials, CycloneDX
source            diskret as source, from which its wheel was built
backend           what builds the source; whoever trusts no wheel of ours installs it so:

  diskret/bin/python -m pip install --no-index --find-links wheels --find-links backend source/diskret-{version}.tar.gz
"""


def distributions(folder: Path) -> dict[str, tuple[Distribution, Path]]:
    """What lies in a folder of wheels: by name what each says of itself, and its file."""
    found = {}
    for wheel in sorted(folder.glob("*.whl")):
        with zipfile.ZipFile(wheel) as packed:
            inner = next(n.split("/")[0] for n in packed.namelist() if n.split("/")[0].endswith(".dist-info"))
        said = PathDistribution(zipfile.Path(wheel, f"{inner}/"))
        found[sbom.normal(said.metadata["Name"])] = said, wheel
    return found


def digest(path: Path) -> str:
    """The hash of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


def requirements(found: Mapping[str, tuple[Distribution, Path]], extras: Sequence[str]) -> str:
    """All of them with versions and hashes, as pip takes them."""
    lines = []
    for name, (each, wheel) in found.items():
        more = f"[{','.join(extras)}]" if name == sbom.ROOT and extras else ""
        lines.append(f"{name}{more}=={each.version} --hash=sha256:{digest(wheel)}")
    return "\n".join(lines) + "\n"


def bill(found: Mapping[str, tuple[Distribution, Path]], extras: Iterable[str]) -> dict[str, Any]:
    """The bill of materials of a folder of wheels, with their hashes."""

    def find(name: str) -> Distribution:
        try:
            return found[sbom.normal(name)][0]
        except KeyError:
            raise PackageNotFoundError(name) from None

    made = sbom.bill(set(extras), find)
    for part in (made["metadata"]["component"], *made["components"]):
        if part["name"] in found:
            part["hashes"] = [{"alg": "SHA-256", "content": digest(found[part["name"]][1])}]
    return made


def licences(found: Mapping[str, tuple[Distribution, Path]]) -> str:
    """Under which licence each is, and the texts that lie in its wheel."""
    parts = []
    for name, (each, wheel) in found.items():
        said = sbom.licences(each)
        words = "; ".join(entry.get("expression") or entry["license"]["name"] for entry in said) or "not said"
        with zipfile.ZipFile(wheel) as packed:
            texts = [
                f"--- {inner.split('/', 1)[-1]}\n\n{packed.read(inner).decode(errors='replace').strip()}\n"
                for inner in packed.namelist()
                if ".dist-info/" in inner and LICENCE_FILE.search(inner.split(".dist-info/", 1)[1])
            ]
        parts.append(f"{'=' * 100}\n{name} {each.version}: {words}\n\n" + "\n".join(texts))
    return "\n".join(parts)


def describe(folder: Path, extras: Sequence[str]) -> None:
    """Write everything about a folder of wheels: hashes, licences, the bill, how to install."""
    found = distributions(folder / WHEELS)
    own = found[sbom.ROOT][0]
    texts = {
        REQUIREMENTS: requirements(found, extras),
        LICENCES: licences(found | distributions(folder / BACKEND)),
        BILL: json.dumps(bill(found, extras), indent=2, ensure_ascii=False) + "\n",
        HOW: INSTALL.format(
            version=own.version, extras=", ".join(extras) or "no extras",
            python=own.metadata.get("Requires-Python", "any"),
        ),
    }  # fmt: skip
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    files = sorted(p for p in folder.rglob("*") if p.is_file() and p.name != SUMS)
    lines = [f"{digest(path)}  {path.relative_to(folder).as_posix()}" for path in files]
    (folder / SUMS).write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def gather(folder: Path, extras: Sequence[str], platform: Sequence[str], python_version: str | None) -> None:
    """Build diskret, and fetch the wheels of all it needs."""
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    _run(sys.executable, "-m", "build", "--outdir", str(folder / SOURCE), str(HERE))
    (wheel,) = (folder / SOURCE).glob("diskret-*.whl")
    (folder / WHEELS).mkdir()
    wheel = wheel.rename(folder / WHEELS / wheel.name)
    target = [word for each in platform for word in ("--platform", each)]
    target += ["--python-version", python_version] if python_version else []
    download = [*pip, "download", "--quiet", "--only-binary", ":all:", *target]
    backend = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    _run(*download, "--dest", str(folder / BACKEND), *backend)
    fetch = [*download, "--dest", str(folder / WHEELS)]
    if not target:
        _run(*fetch, f"{wheel}[{','.join(extras)}]" if extras else str(wheel))
        return
    with tempfile.TemporaryDirectory() as place:  # pip asks this machine what another one needs; uv does not
        chosen = Path(place) / "chosen.txt"
        more = [word for each in extras for word in ("--extra", each)]
        more += ["--python-platform", system_of(platform)] if platform else []
        more += ["--python-version", python_version] if python_version else []
        words = [str(HERE / "tools" / "uv_like_pip.py"), "pip", "compile", "--quiet", "--no-header", "--no-annotate"]
        words += ["--only-binary", ":all:", *more]
        _run(sys.executable, *words, "-o", str(chosen), str(HERE / "pyproject.toml"))
        _run(*fetch, "--no-deps", "-r", str(chosen))


def system_of(platform: Sequence[str]) -> str:
    """What uv calls a platform.

    >>> system_of(["win_amd64"]), system_of(["manylinux_2_28_aarch64"]), system_of(["macosx_14_0_arm64"])
    ('x86_64-pc-windows-msvc', 'aarch64-unknown-linux-gnu', 'aarch64-apple-darwin')
    """
    name = platform[0]
    machine = "aarch64" if name.endswith(("arm64", "aarch64")) else "x86_64"
    system = "pc-windows-msvc" if name.startswith("win") else "apple-darwin" if name.startswith("mac") else None
    return f"{machine}-{system or 'unknown-linux-gnu'}"


def try_out(folder: Path) -> None:
    """Install from these files alone, as wheels and from the source, and protect a table."""
    alone = {name: said for name, said in os.environ.items() if not name.startswith(("PIP_", "UV_"))}
    alone |= {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    (source,) = (folder / SOURCE).glob("diskret-*.tar.gz")
    with tempfile.TemporaryDirectory() as place:
        venv.create(Path(place) / "env", with_pip=True)
        programs = Path(place) / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        pip, files = [str(programs / "python"), "-m", "pip"], ["--quiet", "--no-index", "--find-links", WHEELS]
        _run(*pip, "install", *files, "--require-hashes", "-r", REQUIREMENTS, at=folder, environment=alone)
        _run(*pip, "check", at=folder, environment=alone)
        again = ["--find-links", BACKEND, "--no-deps", "--force-reinstall", f"{SOURCE}/{source.name}"]
        _run(*pip, "install", *files, *again, at=folder, environment=alone)
        _run(str(programs / "diskret"), "examples", "first", "-q", at=Path(place))
        _run(str(programs / "diskret"), "run", "first/turnover.toml", "-q", at=Path(place))


def _run(*words: str, at: Path | None = None, environment: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(words, cwd=at, env=environment, check=False)
    if done.returncode:
        sys.exit(f"bundle: this failed: {' '.join(words)}")


def main(words: Sequence[str]) -> None:
    """Make the folder."""
    say = argparse.ArgumentParser(description=__doc__)
    say.add_argument("folder", type=Path)
    say.add_argument("--extras", default=",".join(EXTRAS), help=f"extras of diskret, {','.join(EXTRAS)} if left out")
    say.add_argument("--platform", action="append", default=[], help="such as win_amd64; of Linux several")
    say.add_argument("--python-version", help="such as 3.12, with --platform")
    asked = say.parse_args(words)
    extras = [each for each in asked.extras.split(",") if each]
    if asked.folder.exists() and any(asked.folder.iterdir()):
        sys.exit(f"bundle: {asked.folder} is not empty")
    asked.folder.mkdir(parents=True, exist_ok=True)
    gather(asked.folder, extras, asked.platform, asked.python_version)
    describe(asked.folder, extras)
    if asked.platform or asked.python_version:
        print(f"wrote {asked.folder}; it is for another machine, so nothing was installed here")
        return
    try_out(asked.folder)
    print(f"wrote {asked.folder}; installed from it without an index, as wheels and from source, and protected a table")


if __name__ == "__main__":
    main(sys.argv[1:])
