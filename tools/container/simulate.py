#!/usr/bin/env python3
"""Follows the recipe of the container without an engine: each step in a folder of its own, and with no network.

python tools/container/simulate.py BUNDLE runs what `Dockerfile` says, its absolute paths put below a temporary folder,
in a network namespace of its own (util-linux), in which even the name server is out of reach; then a job, as the
container would run it. Needs the Python that the bundle is for.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

RECIPE = Path(__file__).parent / "Dockerfile"
ALONE = ("unshare", "--map-root-user", "--net")
PLACES = ("/opt/diskret", "/bundle", "/work")


def main(bundle: Path) -> None:
    """Follow the recipe."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place)

        def there(text: str) -> str:
            for each in PLACES:
                text = re.sub(rf"(?<![\w/]){re.escape(each)}(?![\w-])", f"{root}{each}", text)
            return text

        # as in the base image: nothing of this machine's own settings, such as the index of pip
        environment = {"PATH": os.environ["PATH"], "HOME": place, "PIP_CONFIG_FILE": os.devnull}
        at = root
        for line in re.sub(r"\\\n", " ", RECIPE.read_text(encoding="utf-8")).splitlines():
            word, _, rest = line.partition(" ")
            if word == "WORKDIR":
                at = Path(there(rest))
                at.mkdir(parents=True, exist_ok=True)
            elif word == "COPY":
                shutil.copytree(bundle, at, dirs_exist_ok=True)
            elif word == "ENV":
                pairs = dict(part.split("=", 1) for part in there(rest).split())
                environment |= {k: v.replace("$PATH", environment["PATH"]) for k, v in pairs.items()}
            elif word == "RUN":
                _run(["sh", "-c", there(rest)], at, environment)
        (at / "firms.csv").write_text("nace,turnover\nA,1\nA,2\nA,3\nB,9\n", encoding="utf-8")
        table = ["--by", "nace", "--value", "turnover", "--out", "w.parquet"]
        _run(["diskret", "tabulate", "firms.csv", *table], at, environment)
        _run(["diskret", "suppress", "w.parquet", "--out", "s.parquet"], at, environment)
        probe = "import socket; socket.create_connection(('192.0.2.1', 9), 1)"  # an address nobody has
        done = subprocess.run([*ALONE, sys.executable, "-c", probe], capture_output=True, text=True, check=False)
        if "unreachable" not in done.stderr:
            sys.exit("simulate: there was a network, so nothing was shown")
    print("every step of the recipe was done, and a table protected, without a network")


def _run(words: list[str], at: Path, environment: dict[str, str]) -> None:
    print("+", " ".join(words), flush=True)
    if subprocess.run([*ALONE, *words], cwd=at, env=environment, check=False).returncode:
        sys.exit("simulate: this step failed")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
