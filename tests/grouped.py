"""Scenarios of tests say one by one what calls take together."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from diskret import LinkageOptions, Roles, TabulationOptions


def tabulated(**said: Any) -> dict[str, Any]:
    """Keywords of `tabulate`, roles and options put together."""
    return _grouped(said, roles=Roles, options=TabulationOptions)


def attacked(**said: Any) -> dict[str, Any]:
    """Keywords of `attack`, options put together."""
    return _grouped(said, options=LinkageOptions)


def _grouped(said: dict[str, Any], **kinds: Any) -> dict[str, Any]:
    made = dict(said)
    for keyword, kind in kinds.items():
        made[keyword] = kind(**{each.name: made.pop(each.name) for each in fields(kind) if each.name in made})
    return made
