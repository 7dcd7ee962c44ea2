"""The page shows a rule's numbers and changes nothing else about it; rules without a form stay in the job."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

import diskret.web

FORMS = Path(diskret.web.__file__).parent / "static" / "pages" / "table" / "rule_forms.js"
NODE = shutil.which("node")
PLAIN: dict[str, Any] = {
    "min_count": 3,
    "p_percent": 10,
    "dominance": [[1, 85]],
    "pq": [5, 50],
    "small_cells": 3,
    "small_margin": True,
}
RICH: dict[str, Any] = {
    "min_count": {"n": 3, "margin": 30, "zeros": True, "weighted": True}, "p_percent": {"p": 20, "n": 2},
    "dominance": [[1, 85], [2, 90]], "pq": {"p": 5, "q": 50, "n": 3}, "zeros": 0, "given": 20,
    "small_margin": {"most": 1}, "one_category": {"sensitive": ["s"]},
}  # fmt: skip
SEVERAL = {
    "p_percent": [5, {"p": 20, "n": 2}],
    "pq": [{"p": 5, "q": 50, "n": 2}, {"p": 6, "q": 60}],
    "min_count": {"margin": 8},
}
UNSEEN = {"request": {"percent": 20}, "holding": {"p_percent": 5}, "missing": "safe"}


def in_the_page(script: str, given: dict[str, Any]) -> Any:
    if NODE is None:
        pytest.skip("no node to run the page's own code with")
    source = (
        f"import {{ RULES, kept, on }} from {json.dumps(FORMS.as_uri())};\nconst given = {json.dumps(given)};\n{script}"
    )
    done = subprocess.run(
        [NODE, "--input-type=module", "-e", source], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


AGAIN = """
const again = { ...given };
for (const rule of RULES) if (on(rule, given)) again[rule.key] = rule.set(rule.get(given[rule.key]), given[rule.key]);
console.log(JSON.stringify(again));
"""
CHANGED = """
const again = { ...given };
for (const key of ["min_count", "p_percent", "dominance", "pq"]) {
  const rule = RULES.find((each) => each.key === key);
  if (on(rule, given)) again[key] = rule.set([7, ...rule.get(given[key]).slice(1)], given[key]);
}
console.log(JSON.stringify([again, kept(given)]));
"""


def test_a_rule_that_is_looked_at_stays_as_it_is() -> None:
    for rules in (PLAIN, RICH, UNSEEN):
        assert in_the_page(AGAIN, rules) == rules
    said = in_the_page(AGAIN, SEVERAL)
    assert said == SEVERAL | {"min_count": {"n": 3, "margin": 8}}


def test_changing_one_number_keeps_the_others_and_the_other_rules() -> None:
    assert in_the_page(CHANGED, RICH | UNSEEN) == [
        RICH | UNSEEN | {
            "min_count": {"n": 7, "margin": 30, "zeros": True, "weighted": True}, "p_percent": {"p": 7, "n": 2},
            "dominance": [[7, 85], [2, 90]], "pq": {"p": 7, "q": 50, "n": 3},
        },
        ["request", "holding", "missing"],
    ]  # fmt: skip
    several, _ = in_the_page(CHANGED, SEVERAL)
    assert several["p_percent"] == [7, {"p": 20, "n": 2}]
    assert several["pq"] == [{"p": 7, "q": 50, "n": 2}, {"p": 6, "q": 60}]
