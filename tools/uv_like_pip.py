#!/usr/bin/env python3
"""uv with the index, the files and the certificates that pip is set up for: an office says it once, to pip.

python tools/uv_like_pip.py pip compile ... does what `uv pip compile ...` does. Needs pip and uv.
"""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterable

SAID = {
    "index-url": "UV_DEFAULT_INDEX", "extra-index-url": "UV_INDEX", "find-links": "UV_FIND_LINKS",
    "no-index": "UV_NO_INDEX", "cert": "SSL_CERT_FILE",
}  # fmt: skip
"""What pip is told, and the variable by which uv is told the same."""


def told(lines: Iterable[str]) -> dict[str, str]:
    """Variables for uv from what `pip config list` prints; of what is said twice, the variables of pip count.

    >>> told(["global.cert='/etc/ca.pem'", "global.index-url='file:///a'", "global.timeout='9'",
    ...       ":env:.index-url='file:///b'"])
    {'UV_INDEX_STRATEGY': 'unsafe-best-match', 'SSL_CERT_FILE': '/etc/ca.pem', 'UV_DEFAULT_INDEX': 'file:///b'}
    """
    found = {"UV_INDEX_STRATEGY": "unsafe-best-match"}  # as pip: the best of all of them
    for line in sorted(lines, key=lambda line: line.startswith(":env:")):
        section, _, rest = line.partition(".")
        key, _, value = rest.partition("=")
        if key in SAID and section in ("global", "install", ":env:"):
            words = str(ast.literal_eval(value)).split()
            found[SAID[key]] = ("," if key == "find-links" else " ").join(words)
    return found


def environment() -> dict[str, str]:
    """The environment for uv; what it says of uv itself stays."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return told(said.splitlines()) | os.environ


if __name__ == "__main__":
    sys.exit(subprocess.run([sys.executable, "-m", "uv", *sys.argv[1:]], env=environment(), check=False).returncode)
