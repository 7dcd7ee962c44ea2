"""Examples to begin with: small made-up data with their jobs, and one large table to scroll through."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Iterator
from typing import Any

import numpy as np

from diskret.io.files import whole_file
from diskret.job.examples import here
from diskret.job.paths import paths_in
from diskret.job.read import job_from
from diskret.job.write import moved
from diskret.model.errors import BadOption, listed
from diskret.web.workspace import Workspace

FOLDER = "examples"
EXAMPLES = {"turnover": "turnover.toml", "diagnoses": "diagnoses.toml"}
"""Examples of tables, by their job files."""
LARGE = "large"
LEAVES = 900


def take(name: str, workspace: Workspace, jobs: dict[str, str] | None = None) -> dict[str, Any]:
    """Copy an example into the workspace; gives its job as seen from there, without outputs."""
    if name == LARGE:
        return _large(workspace)
    known = EXAMPLES | (jobs or {})
    if name not in known:
        raise BadOption(f"there is no example {name!r}", hint=f"there are {listed([*known, LARGE])}.")
    content = tomllib.loads((here() / known[name]).read_text(encoding="utf-8"))
    title = content.pop("output", {}).get("title")
    target = workspace.path(FOLDER)
    for each in paths_in(content):
        with whole_file(target / each, private=True) as part:
            shutil.copyfile(here() / each, part)
    job = moved(job_from(content, known[name], target), target, workspace.root)
    plain: dict[str, Any] = job.model_dump(mode="json", exclude_unset=True)
    return plain | ({"output": {"title": title}} if title else {})


def _large(workspace: Workspace) -> dict[str, Any]:
    """A table of a million cells: sparse, skewed records of a made-up trade, always the same."""
    path = workspace.path(f"{FOLDER}/trade.csv")
    if not path.exists():
        with whole_file(path, private=True) as part, part.open("w", encoding="utf-8", newline="") as file:
            file.write("product,country,trade\n")
            file.writelines(_records())
    by = ["product", "country"]
    return {
        "data": {"microdata": f"{FOLDER}/trade.csv"},
        "table": {"by": by, "value": ["trade"], "positive": True},
        "classifications": {name: {"prefixes": [1, 2]} for name in by},
        "rules": {"min_count": 3, "p_percent": 10},
        "suppression": {"method": "cuboids"},
        "promise": {"levels": False},
        "output": {"title": "Trade of a made-up country"},
    }


def _records(pairs: int = 30_000) -> Iterator[str]:
    """Codes of three digits, 000 to 899: with their sums by prefixes 1000 in each classification.

    Some ten records for each of the pairs that trade at all; every code has a partner.
    """
    random = np.random.default_rng(9)
    trading = np.minimum(LEAVES * random.power(0.7, (pairs, 2)), LEAVES - 1).astype(int)
    trading[:LEAVES, 0] = trading[LEAVES : 2 * LEAVES, 1] = np.arange(LEAVES)
    codes = np.repeat(trading, random.geometric(0.1, pairs), axis=0).tolist()
    values = np.exp(random.normal(3.0, 1.0, len(codes))).tolist()
    return (f"{a:03d},{b:03d},{x + 0.1:.1f}\n" for (a, b), x in zip(codes, values, strict=True))
