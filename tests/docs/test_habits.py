"""What is checked before a commit is what CI checks, and who takes part finds forms to fill in."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
HOOKS = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")


def test_hooks_run_what_ci_runs() -> None:
    in_ci = re.findall(r"^make (\w+)$", (ROOT / ".ci" / "run").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(re.findall(r"entry: make (\w+)", HOOKS)) == set(in_ci)
    assert set(re.findall(r"- repo: (\S+)", HOOKS)) == {"local"}


def test_every_target_that_is_named_exists() -> None:
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    pages = [
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        *(ROOT / ".github").rglob("*.md"),
        *(ROOT / "docs").rglob("*.md"),
    ]
    named = {name for page in pages for name in re.findall(r"`make ([\w-]+)`", page.read_text(encoding="utf-8"))}
    assert named <= targets, named - targets


def test_forms_ask_for_no_confidential_data() -> None:
    forms = list((ROOT / ".github").rglob("*.md"))
    assert len(forms) == 3
    assert all("confidential" in form.read_text(encoding="utf-8") for form in forms if form.stem != "wish")
