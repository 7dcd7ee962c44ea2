"""Writing TOML: what Python's own module only reads."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from diskret.model.errors import BadOption

WIDE = 100
"""Longer lists stand one entry per line."""
BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_key(name: str) -> str:
    """A key, in quotes where it needs them.

    >>> toml_key("nace"), toml_key("Größe")
    ('nace', '"Größe"')
    """
    return name if BARE.fullmatch(name) else toml_value(name)


def toml_value(value: Any, indent: str = "") -> str:
    """A text, number, truth, date, list or (inline) table.

    >>> toml_value({"codes": ["05", 'a"b'], "share": 0.5, "open": True})
    '{ codes = ["05", "a\\\\"b"], share = 0.5, open = true }'
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float | Decimal):
        return str(value)  # inf and nan are spelled alike
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Mapping):
        entries = [f"{toml_key(str(k))} = {toml_value(v)}" for k, v in value.items() if v is not None]
        return "{ " + ", ".join(entries) + " }" if entries else "{}"
    if isinstance(value, Sequence):
        return _list([toml_value(v) for v in value], indent)
    raise BadOption(f"TOML has no {type(value).__name__}", hint="give text, numbers, true or false, lists, tables.")


def _list(entries: Sequence[str], indent: str) -> str:
    """In one line, or one entry per line if that is too long."""
    line = "[" + ", ".join(entries) + "]"
    if len(line) <= WIDE:
        return line
    return "[\n" + "".join(f"{indent}  {entry},\n" for entry in entries) + f"{indent}]"


def _text(value: str) -> str:
    try:
        value.encode("utf-8")
    except UnicodeEncodeError as e:
        raise BadOption("a text has a character that no file can hold", hint="save it again in UTF-8.") from e
    # JSON spells texts as TOML does, but for one control character
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
