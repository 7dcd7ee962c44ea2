"""What a cuboid perturbation may be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from diskret.model.errors import BadOption
from diskret.model.older import older_promise, warn_of_older
from diskret.model.promise import Promise
from diskret.model.table import Table

PROMISED = ("protection", "knowledge", "single_contributors")
OPTIONS = ("max_relative_change", "distribution", "min_count")

SD_SHARE = 0.5
"""Standard deviation of normal errors, as a share of the largest change: they are cut at two of them."""


@dataclass(frozen=True, kw_only=True)
class CuboidOptions:
    """How primary values are changed along cuboids. Confidential, like the parameters of rules.

    A value changes by at most ``max_relative_change`` of itself or twice what is demanded (None: as far as the cuboid
    goes). ``min_count`` rebooks contributors along the cuboids, so that no primary cell is left with fewer.
    """

    max_relative_change: float | None = 0.5
    distribution: Literal["uniform", "normal"] = "uniform"
    min_count: int | None = None

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


def older_perturbation(
    table: Table, promise: Promise | str, options: CuboidOptions, given: Mapping[str, Any]
) -> tuple[Promise, CuboidOptions]:
    """The promise and the options that older keywords of `perturb` mean; a method by its name was the second."""
    said = {**given, "method": promise} if isinstance(promise, str) else dict(given)
    chosen = Promise() if isinstance(promise, str) else promise
    warn_of_older(said, (*PROMISED, *OPTIONS, "method"), "a promise and CuboidOptions")
    if said.get("method", "cuboid") != "cuboid":
        raise BadOption(f"method {said['method']!r}", hint="'cuboid'; to round use round_table.")
    if any(name in said for name in PROMISED):
        guard = "single" if said.get("single_contributors", True) else "public"
        _, chosen = older_promise(table, chosen, {**said, "guard": guard}, levels=table.below is not None)
    return chosen, replace(options, **{name: said[name] for name in OPTIONS if name in said})
