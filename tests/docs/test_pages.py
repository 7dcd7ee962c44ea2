"""The examples in docs/*.md run, the links resolve, and nothing points outside of the project."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").rglob("*.md"))
FOLLOWED = ("start", "de")
"""Folders of pages that are followed from top to bottom (`test_tutorials.py`)."""
OTHERS = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")]
FENCE = re.compile(r"^```.*$", re.MULTILINE)


def name_of(page: Path) -> str:
    """Where a page stands."""
    return page.relative_to(ROOT).with_suffix("").as_posix()


class Markdown(doctest.DocTestParser):
    """Reads examples in fenced blocks; a fence ends the expected output."""

    def parse(self, string: str, name: str = "<string>") -> list[str | doctest.Example]:
        return super().parse(FENCE.sub("", string), name)


def without_code(page: Path) -> str:
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(page: Path) -> set[str]:
    """Anchors of the headings, as Markdown makes them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"\s+", "-", re.sub(r"[^\w\s-]", "", h).strip().lower()) for h in headings}


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name not in FOLLOWED], ids=name_of)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testfile(str(page), module_relative=False, parser=Markdown(), encoding="utf-8")
    assert result.failed == 0


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_python_block_is_an_example_that_runs(page: Path) -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    assert all(block.startswith(">>> ") for block in blocks)


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=name_of)
def test_links_between_pages_resolve(page: Path) -> None:
    for target in re.findall(r"\[[^\]]*\]\(([^)\s]+)\)", without_code(page)):
        name, _, anchor = target.partition("#")
        found = (page.parent / name).resolve() if name else page
        assert found.is_relative_to(ROOT), target
        assert found.is_file(), target
        assert not anchor or anchor in anchors(found), target


@pytest.mark.parametrize("page", [*PAGES, *OTHERS], ids=name_of)
def test_pages_name_no_address_and_no_machine(page: Path) -> None:
    assert not re.search(r"https?://|www\.|(?<![\w.])/(?:home|work|tmp|usr|root)\b", page.read_text(encoding="utf-8"))


def test_every_page_is_in_the_navigation() -> None:
    listed = re.findall(r"^ +- (?:.+: )?(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(listed) == sorted(page.relative_to(ROOT / "docs").as_posix() for page in PAGES)
