"""What a cuboid perturbation may be told."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from diskret.model.errors import BadOption

SD_SHARE = 0.5
"""Standard deviation of normal errors, as a share of the largest change: they are cut at two of them."""


@dataclass(frozen=True, kw_only=True)
class CuboidOptions:
    """How primary values are changed along cuboids. Confidential, like the parameters of rules.

    A value changes by at most ``max_relative_change`` of itself or twice what is demanded (None: as far as the cuboid
    goes). ``min_count`` rebooks contributors along the cuboids, so that no primary cell is left with fewer. With
    ``single_contributors`` a primary cell gets a second, independent error where whoever is alone in another cell could
    compute the first.
    """

    max_relative_change: float | None = 0.5
    distribution: Literal["uniform", "normal"] = "uniform"
    min_count: int | None = None
    single_contributors: bool = True

    def __post_init__(self) -> None:
        most = self.max_relative_change
        if self.distribution not in ("uniform", "normal"):
            raise BadOption(f"distribution {self.distribution!r}", hint="'uniform' or 'normal'.")
        if most is not None and not most > 0:
            raise BadOption(f"largest relative change {most:g}", hint="more than 0, such as 0.5; None for no limit.")
        if self.min_count is not None and self.min_count < 1:
            raise BadOption(f"minimum count {self.min_count}", hint="at least 1; 3 is usual.")

    @property
    def sd_share(self) -> float:
        """Standard deviation of the errors over their largest size; 0 for uniform ones."""
        return SD_SHARE if self.distribution == "normal" else 0.0


def with_older(options: CuboidOptions | str | None, older: Mapping[str, Any]) -> CuboidOptions:
    """The options, or those given as `perturb` took them before: a method by name, and keywords of their own."""
    said = {"method": options, **older} if isinstance(options, str) else dict(older)
    chosen = options if isinstance(options, CuboidOptions) else CuboidOptions()
    if not said:
        return chosen
    warnings.warn(
        f"perturb({', '.join(said)}=...) is deprecated: give options=CuboidOptions(...)",
        DeprecationWarning,
        stacklevel=3,
    )
    method = said.pop("method", "cuboid")
    if method != "cuboid":
        raise BadOption(f"method {method!r}", hint="'cuboid'; to round use round_table.")
    return replace(chosen, **said)
