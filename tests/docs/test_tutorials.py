"""Every tutorial can be followed in an empty folder, and does what it says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

import diskret
from tests.docs.walk import Reader, blocks_of

DOCS = Path(__file__).parents[2] / "docs"
AGAIN = "\nif that is right, run `python -m tests.docs.walk PAGE`"
TUTORIALS = sorted([*(DOCS / "start").glob("*.md"), *(DOCS / "de").rglob("*.md")])


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_the_page_can_be_followed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISKRET_DEBUG", raising=False)
    reader = Reader(tmp_path)
    for block in blocks_of(page):
        wrong = reader.follow(block)
        assert not wrong, f"{page.name}, line {block.line}:\n" + "\n".join(wrong) + AGAIN


def test_readme_can_be_followed(tmp_path: Path) -> None:
    page = DOCS.parent / "README.md"
    reader = Reader(tmp_path)
    for command in re.findall(r"^    (diskret (?:examples|init|run).*)$", page.read_text(encoding="utf-8"), re.M):
        reader.done(shlex.split(command, comments=True))
        assert reader.code == 0, command
    for block in blocks_of(page):
        assert not reader.follow(block)
    assert (tmp_path / "turnover.xlsx").is_file()


@pytest.mark.parametrize("said", ["CITATION.cff", "r/diskret/DESCRIPTION"])
def test_the_version_is_said_alike(said: str) -> None:
    path = DOCS.parent / said
    found = re.findall(r"^[Vv]ersion: (\S+)$", path.read_text(encoding="utf-8"), re.M)
    assert found == [diskret.__version__]
    assert f"## [{diskret.__version__}]" in (DOCS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
