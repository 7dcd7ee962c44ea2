"""Every tutorial can be followed in an empty folder, and does what it says."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.walk import Reader, blocks_of

DOCS = Path(__file__).parents[2] / "docs"
AGAIN = "\nif that is right, run `python -m tests.docs.walk PAGE`"
TUTORIALS = sorted([*(DOCS / "start").glob("*.md"), *(DOCS / "de").glob("*.md")])


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: f"{page.parent.name}-{page.stem}")
def test_the_page_can_be_followed(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISKRET_DEBUG", raising=False)
    reader = Reader(tmp_path)
    for block in blocks_of(page):
        wrong = reader.follow(block)
        assert not wrong, f"{page.name}, line {block.line}:\n" + "\n".join(wrong) + AGAIN
