"""The sections of a job that change values, by perturbation or by cell keys, and that compare all methods."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from diskret.job.section import Names, RelativeKnowledge, Section

Method = Literal[
    "suppression", "intervals", "cuboid perturbation", "random rounding", "controlled rounding", "cell key", "merging",
    "SAFE",
]  # fmt: skip


class PerturbationSection(Section):
    """Changing values instead of hiding them. Everything here is secret, the seed above all."""

    method: Literal["cuboid", "rounding"] = Field(
        "cuboid", description="move primary values along cuboids, or round all values"
    )
    seed: int | None = Field(None, ge=0, description="start of the random numbers; long, and secret; left out: drawn")
    min_relative_range: float = Field(0.0, ge=0, description="cuboid: twice the change over the value must be greater")
    min_range: float | None = Field(None, ge=0, description="cuboid: the same for zero and tiny values, absolute")
    levels: bool | None = Field(
        None, description="cuboid: change as much as the primary rules demand; left out: if they demand something"
    )
    max_relative_change: float | None = Field(
        0.5, gt=0, description="cuboid: largest change over the value, if the demand is not larger"
    )
    distribution: Literal["uniform", "normal"] = Field("uniform", description="cuboid: distribution of the errors")
    min_count: int | None = Field(None, ge=1, description="cuboid: rebook contributors up to this count, such as 3")
    single_contributors: bool = Field(
        True, description="cuboid: a second error where somebody alone in a cell could compute the first"
    )
    knowledge: Literal["none", "positive", "intervals"] | RelativeKnowledge | None = Field(
        None, description="cuboid: what everybody knows; left out: that values are positive, if they are"
    )
    base: float | None = Field(None, gt=0, description="rounding: values become multiples of it, such as 5")
    rounding: Literal["controlled", "random", "deterministic"] = Field(
        "controlled", description="rounding: so that sums hold, at random without bias, or to the nearest multiple"
    )
    attack: bool = Field(False, description="attack the changed table as somebody who knows the method, and report it")

    @model_validator(mode="after")
    def _needs(self) -> PerturbationSection:
        if (self.method == "rounding") != (self.base is not None):
            raise ValueError("rounding needs a base, and only rounding has one")
        return self


class CellKeySection(Section):
    """Cell-key noise instead of suppression. Keys, perturbation table and shares are secret."""

    key: str | None = Field(
        None, description="column of record keys (microdata); that of the metadata (<RECORDKEY>) if left out"
    )
    modulus: int | None = Field(None, ge=2, description="modulus of whole keys, such as 256; none for fractions")
    zeros: bool = Field(True, description="whether records with the value zero count for the key")
    p_table: str | None = Field(None, description="file of the perturbation table; designed if left out")
    deviation: float = Field(5, gt=0, description="largest deviation of a designed table")
    variance: float | None = Field(None, gt=0, description="its variance; 2 for counts, 1 for values if left out")
    smallest: int = Field(3, ge=1, description="smallest positive count that is published")
    stay: float | None = Field(None, ge=0, lt=1, description="probability that a count is published as it is")
    small: float = Field(0.3, gt=0, le=1, description="share of small contributions by which values change")
    large: float = Field(0.03, gt=0, le=1, description="share of very large ones, with flex_point")
    flex_point: float | None = Field(None, gt=0, description="contribution up to which the share is that of small ones")
    weights: list[float] = Field([1.0, 0.5, 0.2], description="how the largest contributions count, from 1 down")
    extra: float = Field(0.0, ge=0, description="added to the deviation of primary cells")
    small_values: str | None = Field(None, description="file of the perturbation table for very small values")


class CompareSection(Section):
    """All methods on the same microdata, side by side, instead of a table."""

    methods: list[Method] = Field(default_factory=list, description="methods to compare; all if left out")
    percent: float = Field(10.0, gt=0, le=100, description="how close an attacker must come, in percent")
    seed: int = Field(1, ge=0, description="start of the random numbers")
    base: float | None = Field(None, gt=0, description="base of rounding")
    key: str | None = Field(None, description="column of record keys; drawn if left out")
    p_table: str | None = Field(None, description="file of the perturbation table of the cell key")
    k: int = Field(3, ge=2, le=100, description="fewest objects of a combination (SAFE)")
    merge: str | None = Field(None, description="classification to merge; the best one if left out")
    files: Names = Field(default_factory=list, description="files to write: .csv .json .txt .html .svg .png; internal")
