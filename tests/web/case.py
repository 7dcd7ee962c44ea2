"""What the tests of the page share: firms, jobs, a server in a process of its own."""

from __future__ import annotations

import csv
import os
import random
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import httpx2
import numpy as np

PORT = 8765
ORIGIN = f"http://127.0.0.1:{PORT}"
SCREENSHOTS = Path(__file__).parent / "screenshots"
JOB: dict[str, Any] = {
    "data": {"microdata": "firms.csv"},
    "table": {"by": ["industry", "region"], "value": ["turnover"], "positive": True},
    "classifications": {"region": {"prefixes": [1]}},
    "rules": {"min_count": 3, "p_percent": 13.37},
    "suppression": {"effort": "quick"},
    "output": {"title": "Firms of Musterland"},
}


def firms(path: Path, seed: int = 1) -> None:
    """Firms with turnovers of nine digits: no hidden value looks like anything else."""
    chance = random.Random(seed)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["firm", "industry", "region", "turnover"])
        for industry in "ABC":
            for region in ("N1", "N2", "S1", "S2", "S3"):
                for _ in range(chance.choice([1, 2, 5, 6, 7])):
                    turnover = chance.randrange(100_000_000, 999_999_999) / 100
                    writer.writerow([f"F{chance.randrange(10**6)}", industry, region, f"{turnover:.2f}"])


def many_firms(path: Path) -> None:
    """So many that protecting their table begins at once and takes most of a minute: enough to be cancelled."""
    random = np.random.default_rng(1)
    codes = random.integers(0, 100, (8_000, 2)).tolist()
    values = random.lognormal(3, 2, 8_000).tolist()
    rows = [f"{a:03d},{b:03d},{x:.2f}" for (a, b), x in zip(codes, values, strict=True)]
    path.write_text("product,country,trade\n" + "\n".join(rows) + "\n", encoding="utf-8")


LONG_JOB: dict[str, Any] = {
    "data": {"microdata": "trade.csv"},
    "table": {"by": ["product", "country"], "value": ["trade"], "positive": True},
    "classifications": {"product": {"prefixes": [1, 2]}, "country": {"prefixes": [1, 2]}},
    "rules": {"min_count": 3},
    "suppression": {"effort": "economy"},
}


def ended(page: httpx2.Client, run: str, seconds: float = 120) -> dict[str, Any]:
    """Wait until a run is no longer at work."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        status: dict[str, Any] = page.get(f"/api/runs/{run}").json()
        if status["state"] != "running":
            return status
        time.sleep(0.05)
    raise AssertionError(f"{run} is still running")


class Served:
    """`diskret serve` in a process of its own, as a user starts it."""

    def __init__(self, folder: Path, *more: str) -> None:
        words = [sys.executable, "-c", "from diskret.cli import main; main()", "serve", "--no-open", *more]
        self.process = subprocess.Popen(
            [*words, "--workspace", str(folder)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.said = ""
        while not (found := re.search(r"open (http://(127\.0\.0\.1:\d+)/#token=(\S+))", self.said)):
            line = self.process.stdout.readline()
            assert line, self.process.stderr and self.process.stderr.read()
            self.said += line
        self.address, self.host, self.token = found[1], found[2], found[3]

    def kill(self) -> None:
        """End it as a crash does."""
        self.end(signal.SIGKILL)

    def end(self, how: int = signal.SIGTERM) -> str:
        """End it; gives all it said."""
        if self.process.poll() is None:
            os.kill(self.process.pid, how)
        out, err = self.process.communicate(timeout=30)
        return self.said + out + err
