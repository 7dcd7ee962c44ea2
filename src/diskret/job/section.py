"""What every part of a job file shares: unknown keys are mistakes, one name may stand for a list of one."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema


def _as_list(given: Any) -> Any:
    return [given] if isinstance(given, str) else given


_TEXT_OR_LIST = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}
Names = Annotated[list[str], BeforeValidator(_as_list), WithJsonSchema(_TEXT_OR_LIST)]


class Section(BaseModel):
    """A part of a job file; unknown keys are mistakes."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=False)


class RelativeKnowledge(Section):
    """Every value known beforehand to within an error."""

    relative: float = Field(gt=0, description="relative error to which every value is known, such as 0.5")
    absolute: float = Field(0.0, ge=0, description="absolute error for small values and zeros")
