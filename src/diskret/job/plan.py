"""A plan file: shares of a population, a number of persons, and what is tolerated. No data yet.

n = [100, 200]
tolerated = 0.05
ordered = ["age"]

[shares]
sex = [0.5, 0.5]
age = { "under 20" = 0.2, "20-40" = 0.3, "41-60" = 0.3, "over 60" = 0.2 }

[[joint]]
attributes = ["sex", "education"]
shares = [[0.2, 0.2, 0.1], [0.25, 0.15, 0.1]]
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from diskret.io.structured import from_toml
from diskret.io.text import inside, read_text
from diskret.job.form import Names, Section
from diskret.model.errors import BadJob, BadOption
from diskret.risk.estimate import Reidentifiable, estimate_reidentifiable
from diskret.risk.planning import MergePlan, plan_merges

Numbers = Annotated[list[int], BeforeValidator(lambda given: given if isinstance(given, list) else [given])]


class Joint(Section):
    """A joint table of correlated attributes."""

    attributes: list[str] = Field(min_length=2, description="attributes of the table, in the order of its axes")
    shares: list[Any] = Field(description="shares, lists in lists")


class PlanFile(Section):
    """Everything `diskret plan` needs to know."""

    n: Numbers = Field(min_length=1, description="numbers of persons")
    tolerated: float | None = Field(None, description="share of persons that may be re-identifiable, such as 0.05")
    ordered: Names = Field(default_factory=list, description="attributes whose levels merge with neighbours only")
    freely: Names = Field(default_factory=list, description="attributes whose levels may merge with any other")
    keep: Names = Field(default_factory=list, description="attributes that stay as they are, like all not named")
    by: Literal["orwell", "expected"] = Field("orwell", description="estimate to plan by")
    worst: bool = Field(False, description="whether the true worst case is computed (few cells)")
    fixed: list[list[str]] = Field(default_factory=list, description="combinations whose numbers the worst case keeps")
    shares: dict[str, Any] = Field(default_factory=dict, description="shares of each attribute: a list, or by level")
    joint: list[Joint] = Field(default_factory=list, description="joint tables")

    def distributions(self) -> dict[Any, Any]:
        """Shares as the estimators take them."""
        return {**self.shares, **{tuple(j.attributes): j.shares for j in self.joint}}


@dataclass(frozen=True, eq=False)
class Planned:
    """Estimates, and for the first number of persons what to merge."""

    estimate: Reidentifiable
    merges: MergePlan | None

    def summary(self) -> dict[str, Any]:
        """Numbers as plain data."""
        found: dict[str, Any] = {
            "cells": self.estimate.cells,
            "orwell": round(self.estimate.orwell, 6),
            "estimates": [],
        }
        for e in self.estimate.estimates:
            row: dict[str, Any] = {
                "n": e.n,
                "singles": dict(e.singles),
                "percent": {k: e.percent(k) for k in e.singles},
            }
            row["expected"] = None if e.expected is None else round(e.expected, 6)
            if e.worst is not None:
                row["worst"] = {"most": e.worst.most, "fewest": e.worst.fewest, "proven": e.worst.proven}
            found["estimates"].append(row)
        if self.merges is not None:
            found["merges"] = [
                {"attribute": m.attribute, "levels": m.levels, "percent": m.percent} for m in self.merges.merges
            ]
            found["reached"] = self.merges.reached
            found["persons needed"] = self.merges.persons_needed
        return found


def read_plan(path: str | Path) -> PlanFile:
    """The plan in a TOML file; shares are read as printed."""
    try:
        with inside(path):
            content = from_toml(read_text(path), parse_float=str)
    except ValueError as e:
        said = str(e) if isinstance(e, tomllib.TOMLDecodeError) else "a number is too large"
        raise BadJob(
            f"the plan is not valid TOML: {said}", where=str(path), hint="text needs quotes; see docs/risk.md."
        ) from e
    return plan_from(content, str(path))


def plan_from(content: Mapping[str, Any], where: str) -> PlanFile:
    """A plan from plain data; refuses with every mistake found."""
    try:
        return PlanFile.model_validate(content)
    except ValidationError as e:
        lines = "".join(f"\n    {'.'.join(map(str, p['loc'])) or '(plan)'}: {_said(p)}" for p in e.errors())
        raise BadJob(
            f"{len(e.errors())} mistake{'s' * (len(e.errors()) > 1)} in the plan{lines}",
            where=where,
            hint=f"the keys are {', '.join(PlanFile.model_fields)}; see docs/risk.md.",
        ) from None


def _said(problem: Any) -> str:
    if problem["type"] == "extra_forbidden":
        return "unknown key"
    if problem["type"] == "missing":
        field = PlanFile.model_fields.get(str(problem["loc"][0]))
        return f"missing ({field.description})" if field and len(problem["loc"]) == 1 else "missing"
    return str(problem["msg"]).removeprefix("Value error, ").replace("Input should be", "should be")


def run_plan(plan: PlanFile) -> Planned:
    """Estimate, and where something is tolerated say what to merge."""
    shares = plan.distributions()
    estimate = estimate_reidentifiable(shares, n=plan.n, worst=plan.worst, fixed=plan.fixed)
    if plan.tolerated is None:
        if plan.ordered or plan.freely or plan.keep:
            raise BadOption(
                "ordered, freely and keep say how to merge, but nothing is tolerated", hint="give tolerated = 0.05."
            )
        return Planned(estimate, None)
    may = {"ordered": plan.ordered, "freely": plan.freely, "keep": plan.keep}
    merges = plan_merges(shares, n=plan.n[0], tolerated=plan.tolerated, by=plan.by, **may)
    return Planned(estimate, merges)


def shares_from_options(options: Sequence[str]) -> dict[str, list[str]]:
    """Shares from options such as "sex=0.5,0.5".

    >>> shares_from_options(["sex=0.5,0.5"])
    {'sex': ['0.5', '0.5']}
    """
    made = {}
    for text in options:
        name, sign, numbers = text.partition("=")
        if not sign or not name.strip():
            raise BadOption(f"{text!r} are not shares", hint="write --shares sex=0.5,0.5")
        made[name.strip()] = [part.strip() for part in numbers.split(",")]
    return made
