"""A plan as the text of a plan file, which `diskret plan` reads back to the same estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from diskret.io.toml import toml_key, toml_value
from diskret.job.plan import PlanFile
from diskret.model.exact import short_decimal

HEAD = "# A plan for diskret. Run it with: diskret plan THIS_FILE\n"


def plan_as_text(plan: PlanFile) -> str:
    """A plan with what every key is for; shares stay as they were printed.

    >>> from diskret.job.plan import plan_from
    >>> print(plan_as_text(plan_from({"n": [100], "shares": {"sex": ["0.5", "0.50"]}}, "here")))
    # A plan for diskret. Run it with: diskret plan THIS_FILE
    <BLANKLINE>
    n = [100]  # numbers of persons
    <BLANKLINE>
    [shares]
    sex = [0.5, 0.50]
    <BLANKLINE>
    """
    lines = [HEAD]
    for key, field in PlanFile.model_fields.items():
        if key in plan.model_fields_set and key not in ("shares", "joint") and getattr(plan, key) is not None:
            # only shares are numbers that were read as text: an attribute may be called 2026
            lines.append(f"{key} = {toml_value(getattr(plan, key))}  # {field.description}")
    if plan.shares:
        lines += ["\n[shares]"]
        lines += [f"{toml_key(name)} = {toml_value(_numbers(each))}" for name, each in plan.shares.items()]
    for joint in plan.joint:
        lines += ["\n[[joint]]", f"attributes = {toml_value(joint.attributes)}"]
        lines.append(f"shares = {toml_value(_numbers(joint.shares))}")
    return "\n".join(lines) + "\n"


def _numbers(given: Any) -> Any:
    """Shares that were read as text are numbers in the file; other texts stay texts."""
    if isinstance(given, Mapping):
        return {key: _numbers(each) for key, each in given.items()}
    if isinstance(given, str):
        return _number(given)
    return [_numbers(each) for each in given] if isinstance(given, Sequence) else given


def _number(text: str) -> Decimal | str:
    try:
        number = short_decimal(text)
    except ValueError:
        return text
    return number if text.strip()[:1].isdigit() and "_" not in text else text
