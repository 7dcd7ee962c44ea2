"""Every block of code in the documents is held against the code: jobs are valid, commands exist with their options."""

from __future__ import annotations

import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from pydantic import ValidationError

from diskret.cli import app
from diskret.job.models import job_of

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
KINDS = {"", "text", "console", "python", "toml", "csv", "r"}
"""Kinds of blocks, each of which something checks; R by the tests of its package."""
TOML = re.compile(r"^```toml[^\n]*\n(.*?)^```", re.DOTALL | re.MULTILINE)
SHELL = re.compile(r"^```(?:text|console)[^\n]*\n(.*?)^```|((?:^    \S[^\n]*\n)+)", re.DOTALL | re.MULTILINE)
REST = {"data": {"microdata": "firms.csv"}, "table": {"by": ["region"]}}
"""What stands around a section that is shown alone."""
WRONG_ON_PURPOSE = "p_percnt"


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).with_suffix("").as_posix()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_of_kinds_that_are_checked(page: Path) -> None:
    opened = re.findall(r"^```(.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    assert {fence.split(" ")[0] for fence in opened} <= KINDS
    assert len(opened) % 2 == 0


@pytest.mark.parametrize("page", [page for page in PAGES if "```toml" in page.read_text("utf-8")], ids=name_of)
def test_jobs_and_their_sections_are_valid(page: Path) -> None:
    for text in TOML.findall(page.read_text(encoding="utf-8")):
        if WRONG_ON_PURPOSE in text:
            continue
        content = tomllib.loads(text)
        if "house" in content:  # a house or a query, which are no jobs: tests/requests reads them
            continue
        try:
            job_of(content)
        except ValidationError:
            job_of(REST | content)


def commands_in(page: Path) -> Iterator[list[str]]:
    """The words of every command that stands in a block."""
    for found in SHELL.finditer(page.read_text(encoding="utf-8")):
        block = re.sub(r"\s*\\\n\s*", " ", found[1] or found[2])
        for line in re.findall(r"^(?: {4}|\$ )?diskret (\S.*)$", block, re.MULTILINE):
            yield shlex.split(re.split(r" {3,}", line)[0], comments=True)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_exist_with_their_options(page: Path) -> None:
    group: Any = typer.main.get_command(app)
    for words in commands_in(page):
        if words[0].startswith("-"):
            continue
        context = group.context_class(group, info_name="diskret")
        name, command, rest = group.resolve_command(context, words)
        assert command is not None, words
        command.make_context(name, rest, parent=context)
