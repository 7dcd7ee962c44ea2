"""Calls as they were before there was a promise: its parts one by one. They keep working until version 1.0."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

from diskret.model.errors import BadOption, listed
from diskret.model.promise import Promise
from diskret.model.table import Table

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Options = TypeVar("Options", bound="DataclassInstance")
GUARD_OF = {"none": "public", "single": "single", "largest": "largest"}


@dataclass(frozen=True)
class Protection:
    """The part of a `Promise` that says how wide intervals must stay; give a promise instead."""

    min_relative_range: float = 0.0
    min_range: float | None = None
    levels: bool = False
    sliding: bool = False


def warn_of_older(given: Mapping[str, Any], known: tuple[str, ...], instead: str) -> None:
    """Refuse keywords that never were, and say what to write for those that were."""
    unknown = [name for name in given if name not in known]
    if unknown:
        raise TypeError(f"unexpected keyword {listed(unknown)}")
    warnings.warn(f"{listed(given)}: give {instead} instead", DeprecationWarning, stacklevel=4)


def older_attack(table: Table, promise: Promise, given: Mapping[str, Any]) -> tuple[Table, Promise]:
    """The promise that older keywords of an attack mean, and the table with the rule they named."""
    known = ("protection", "knowledge", "insiders", "coalitions", "rule")
    warn_of_older(given, known, "a promise")
    insiders = given.get("insiders", "single")
    if insiders not in GUARD_OF:
        raise BadOption(f"insiders {insiders!r}", hint="'none', 'single' or 'largest'.")
    return older_promise(table, promise, {**given, "guard": GUARD_OF[insiders]}, levels=table.below is not None)


def older_promise(table: Table, promise: Promise, given: Mapping[str, Any], *, levels: bool) -> tuple[Table, Promise]:
    """The same from the guard and the parts of the promise that are given."""
    asked = given.get("protection") or Protection(levels=levels)
    parts: dict[str, Any] = {each.name: getattr(asked, each.name) for each in fields(Protection)}
    if given.get("knowledge") is not None:
        parts["knowledge"] = given["knowledge"]
    rule = given.get("rule")
    if rule is not None:
        table = replace(table, judges=tuple(getattr(rule, "rules", (rule,))))
    return table, replace(
        promise, **parts, guard=given["guard"], coalitions=tuple(given.get("coalitions", ())), unions=rule is not None
    )


def with_older(options: Options, older: Mapping[str, Any], call: str, keyword: str = "options") -> Options:
    """The options with keywords from before; what never was a keyword is refused as Python does.

    ``call`` and ``keyword`` say where the keyword was given and where it belongs, for the warning. To be called
    by the public function itself, so that the warning points to its caller.
    """
    unknown = [name for name in older if name not in {f.name for f in fields(options)}]
    if unknown:
        raise TypeError(f"{call}() got an unexpected keyword argument {unknown[0]!r}")
    if older:
        said = ", ".join(f"{name}=..." for name in older)
        words = f"{call}({said}) is deprecated: say {keyword}={type(options).__name__}({said})"
        warnings.warn(words, DeprecationWarning, stacklevel=3)
    return replace(options, **older)
