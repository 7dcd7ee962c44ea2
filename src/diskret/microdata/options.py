"""How noise is laid over records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from diskret.model.errors import BadOption

Gaps = Literal["pairwise", "complete"]
Pairing = Literal["auto", "exact", "blocks", "none"]


@dataclass(frozen=True, kw_only=True)
class NoiseOptions:
    """How `add_noise` treats records and correlations.

    ``pairing`` gives similar records opposite noise, so that means of the values are kept: "exact" (effort grows with
    the square of the units), "blocks" (fast), "auto" (exact up to 5,000 units) or "none". With ``unit`` and ``wave``
    the records are a panel; a unit's direction is the same in all waves. ``gaps`` says over which records a correlation
    is taken: "pairwise" all that have both columns, "complete" all that have every column. With ``nearest``
    correlations give way where no noise can have them.
    """

    pairing: Pairing = "auto"
    unit: str | None = None
    wave: str | None = None
    gaps: Gaps = "pairwise"
    nearest: bool = False

    def __post_init__(self) -> None:
        if self.pairing not in ("auto", "exact", "blocks", "none"):
            hint = "one of 'auto', 'exact', 'blocks', 'none'."
            raise BadOption(f"pairing {self.pairing!r} is not known", hint=hint)
        if self.gaps not in ("pairwise", "complete"):
            raise BadOption(f"gaps {self.gaps!r} is not known", hint="one of 'pairwise', 'complete'.")
