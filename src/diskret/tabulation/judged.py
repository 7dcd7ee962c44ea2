"""What the rules look at besides the value: a shadow variable, and sums of weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from diskret.model.arrays import Floats
from diskret.model.errors import BadOption, listed
from diskret.model.table import Table
from diskret.tabulation.options import Roles


def with_shadow(values: tuple[str, ...], roles: Roles) -> tuple[str, ...]:
    """The columns to add up, with the one the rules look at."""
    if roles.shadow is None:
        return values
    if not values:
        raise BadOption("a shadow variable without a value", hint="a frequency table is judged by its counts.")
    others = [name for name in ("waiver", "request", "public") if getattr(roles, name) is not None]
    if others:
        raise BadOption(
            f"a shadow variable cannot be combined with {listed(others)}",
            hint="what is public or needs no protection is a contribution to the value.",
        )
    return values if roles.shadow in values else (*values, roles.shadow)


def judged_by(
    tables: list[Table], value: str | Sequence[str] | None, shadow: str | None, weights: Floats | None
) -> list[Table]:
    """The tables that were asked for, each knowing the contributions its rules look at."""
    by_name = {table.response: table for table in tables}
    seen = by_name[shadow] if shadow is not None else None
    wanted = tables if value is None else [by_name[name] for name in ([value] if isinstance(value, str) else value)]

    def judged(table: Table) -> Table:
        own: dict[str, Any] = {}
        for level in ("respondents", "holdings"):
            people = getattr(table, level)
            if people is None:
                continue
            if seen is not None and seen is not table:
                other = getattr(seen, level)
                absolute = np.abs(seen.value) if other.absolute is None else other.absolute
                people = replace(
                    people, asked=other.asked, shadow_largest=other.largest, shadow_absolute=absolute,
                    shadow_total=None if other.absolute is None else seen.value,
                )  # fmt: skip
            own[level] = replace(people, weight=weights) if level == "respondents" else people
        return replace(table, **own)

    return [judged(table) for table in wanted]
