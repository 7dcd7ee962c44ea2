"""Calls of `suppress` and `thin` as they were: every option a keyword of its own. They keep working until 1.0."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from diskret.model.errors import BadOption
from diskret.model.older import older_promise, warn_of_older
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.suppression.methods import AnyMethod, Complete, Cuboids, Moves, Optimal

PROMISED = ("protection", "knowledge", "single_contributors", "largest_contributors", "coalitions", "rule")
METHODS: dict[str, type[AnyMethod]] = {
    "subtables": Cuboids, "complete": Complete, "audit": Moves, "optimal": Optimal
}  # fmt: skip
OPTIONS = tuple(dict.fromkeys(f.name for method in METHODS.values() for f in fields(method)))


def older_suppression(
    table: Table, promise: Promise, method: AnyMethod | str, given: Mapping[str, Any]
) -> tuple[Table, Promise, AnyMethod]:
    """The promise and the method that older keywords mean, and the table with the rule they named."""
    named = {"method": method} if isinstance(method, str) else {}
    warn_of_older({**given, **named}, (*PROMISED, *OPTIONS, "guarantee", "method"), "a promise and a method")
    guarantee = _guarantee(given.get("guarantee", "subtables"), method)
    single, largest = given.get("single_contributors", True), given.get("largest_contributors", False)
    guard = "largest" if largest else "single" if single else "public"
    levels = guarantee != "subtables" and table.below is not None
    table, promise = older_promise(table, promise, {**given, "guard": guard}, levels=levels)
    chosen = METHODS[guarantee]
    known = {f.name for f in fields(chosen)}
    options = {name: given[name] for name in OPTIONS if name in known and given.get(name) is not None}
    if "non_additive" in options:
        options["non_additive"] = tuple(options["non_additive"])
    return table, promise, chosen(**options)


def _guarantee(given: str, method: AnyMethod | str) -> str:
    if given not in ("subtables", "complete", "audit"):
        raise BadOption(f"guarantee {given!r}", hint="'subtables', 'complete' or 'audit'.")
    if isinstance(method, str) and method not in ("moves", "optimal"):
        raise BadOption(f"method {method!r}", hint="'moves' or 'optimal'.")
    if method != "optimal":
        return given
    if given != "audit":
        raise BadOption(f"method 'optimal' with guarantee {given!r}", hint="'optimal' needs guarantee='audit'.")
    return "optimal"
