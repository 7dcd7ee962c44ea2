"""What mkdocs is told page by page: German pages speak German around the text, and every page knows its twin."""

from __future__ import annotations

from typing import Any

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
