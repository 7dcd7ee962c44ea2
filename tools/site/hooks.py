"""What mkdocs is told page by page: German pages speak German around the text, and every page knows its twin."""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
from notebooks import page_of, run

NOTEBOOK = re.compile(r"<!-- the notebook (\S+), run when the site is built -->")
NAMES = {"en": "English", "de": "Deutsch"}


def on_page_context(context: dict[str, Any], page: Any, config: Any, nav: Any) -> dict[str, Any]:
    """The language of a page, and where the same stands in the other one."""
    here = page.file.src_uri
    language = "de" if here.startswith("de/") else "en"
    config.theme["language"] = language
    bare = here.removeprefix("de/")
    known = {each.file.src_uri: each.file.url for each in nav.pages}
    twins = {"en": bare, "de": f"de/{bare}"}
    first = {"en": "index.md", "de": "de/index.md"}
    config.extra["alternate"] = [
        {"name": name, "lang": key, "link": known[twins[key] if twins[key] in known else first[key]]}
        for key, name in NAMES.items()
    ]
    return context


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """A notebook in its place, run now: what it shows is what the code does."""
    here = Path(page.file.abs_src_path).parent

    def shown(found: re.Match[str]) -> str:
        with tempfile.TemporaryDirectory() as empty:
            return page_of(run(here / found[1], Path(empty)))

    return NOTEBOOK.sub(shown, markdown)
