"""Nested data from JSON and TOML, within limits: what comes out can be walked through and written again."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from itertools import chain
from typing import Any

from diskret.model.errors import TooLarge, UnreadableFile
from diskret.model.limits import limits, refuse_more

_PART = r"""(?:[\w-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
DOTTED = re.compile(rf"(?<![\w-]){_PART}(?:[ \t]*+\.[ \t]*+{_PART}){{2,}}+")
"""Keys of several parts, and texts that look so."""


def from_json(text: str, **hooks: Any) -> Any:
    """What stands in a JSON text; ``hooks`` are those of Python's own module.

    Refuses nesting and texts beyond the limits, and halves of characters, which no file can hold. A text that is not
    JSON raises ValueError: whoever reads knows what it should have been.

    >>> from_json('{"a": [1, null]}')
    {'a': [1, None]}
    """
    content = _parsed(lambda: json.loads(text, **hooks))
    _refuse_beyond_limits(content)
    if "\\u" in text:
        try:
            json.dumps(content, ensure_ascii=False).encode()
        except UnicodeEncodeError as e:
            raise UnreadableFile("a text has half a character", hint="save the file again in UTF-8.") from e
    return content


def from_toml(text: str, parse_float: Callable[[str], Any] = float) -> dict[str, Any]:
    """What stands in a TOML text, within the limits; one that is not TOML raises ValueError.

    >>> from_toml("a.b = [1]")
    {'a': {'b': [1]}}
    """
    # Python's reader takes gigabytes for a key of many parts: look first
    parts = max((each.group().count(".") for each in DOTTED.finditer(text)), default=0)
    refuse_more("depth", parts, "a key has {} dots")
    content: dict[str, Any] = _parsed(lambda: tomllib.loads(text, parse_float=parse_float))
    _refuse_beyond_limits(content)
    return content


def _parsed(parse: Callable[[], Any]) -> Any:
    try:
        return parse()
    except RecursionError:
        pass
    raise TooLarge(
        f"lists or tables stand too deep inside each other; the limit 'depth' is {limits().depth:,}",
        hint="is it the right file? Python itself reads no deeper nesting, so a higher limit does not help.",
    )


def _refuse_beyond_limits(content: Any) -> None:
    """Walk through level by level, so that no nesting is too deep for the walk itself."""
    depth, level, most = 0, [content], limits().text
    while level:
        for each in level:
            if isinstance(each, str) and len(each) > most:
                refuse_more("text", len(each), "a text has {} characters")
        nested = [each for each in level if isinstance(each, dict | list)]
        depth += bool(nested)
        inner = ([*each, *each.values()] if isinstance(each, dict) else each for each in nested)
        level = list(chain.from_iterable(inner))
    refuse_more("depth", depth, "{} lists or tables stand inside each other")
