"""What every part of a job file shares: unknown keys are mistakes, one name may stand for a list of one."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, WithJsonSchema


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


_TEXT_OR_LIST = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
Names = Annotated[list[str], BeforeValidator(_as_list), WithJsonSchema(_TEXT_OR_LIST)]


class Section(BaseModel):
    """A part of a job file; unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)
