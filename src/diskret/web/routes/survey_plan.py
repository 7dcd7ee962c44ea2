"""Planning a survey: estimates while sliders move, and the plan as a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.job.plan import PlanFile, plan_from, run_plan
from diskret.job.plan_write import plan_as_text
from diskret.model.errors import BadOption
from diskret.web.answers import Json, attachment, body_of
from diskret.web.routes.exports import saved, stem
from diskret.web.workbench import PLAN, choice, workbench

MOST_ATTRIBUTES, MOST_LEVELS, MOST_NUMBERS = 12, 60, 60
MOST_PERSONS = 10**10
MOST_CELLS = 2_000_000
"""More cells than this are estimated on the command line: the page answers while a slider moves."""


def _plan(content: Mapping[str, Any]) -> PlanFile:
    """The plan, if it is small enough to be estimated while somebody waits."""
    given = plan_from(content, "the page")
    sizes = [len(each) for each in given.shares.values() if isinstance(each, list | dict)]
    cells = 1
    for size in sizes:
        cells *= size
    too_many = max(given.n, default=0) > MOST_PERSONS
    if len(sizes) > MOST_ATTRIBUTES or max(sizes, default=0) > MOST_LEVELS or len(given.n) > MOST_NUMBERS or too_many:
        raise BadOption("the plan is too large for the page", hint="save it, and run `diskret plan`.")
    if cells > MOST_CELLS or given.worst:
        raise BadOption(f"{cells:,} cells take too long here", hint="save the plan, and run `diskret plan`.")
    return given


async def estimate(request: Request) -> Response:
    """The share of re-identifiable persons by every estimator, and what to merge."""
    plan = _plan(await body_of(request))
    found = await run_in_threadpool(run_plan, plan)
    shares = [
        {"n": e.n} | {by: e.share(by) for by in (*e.singles, *(["expected"] if e.expected is not None else []))}
        for e in found.estimate.estimates
    ]
    levels = {
        name: {"levels": size, "effective": found.estimate.effective_levels[name]}
        for name, size in found.estimate.levels.items()
    }
    return Json(found.summary() | {"shares": shares, "levels": levels})


async def save(request: Request) -> Response:
    """Write the plan into the workspace."""
    bench, asked = workbench(request), await body_of(request)
    plan = plan_from(asked.get("plan") or {}, "the page")
    name = stem(str(asked.get("name") or "plan"))
    replace = asked.get("replace") is True
    return await run_in_threadpool(saved, bench, name, lambda: plan_as_text(plan), replace=replace)


def text(request: Request) -> Response:
    """The plan that is chosen, as a file."""
    content = choice(request, PLAN).content()
    return attachment(plan_as_text(plan_from(content, "the page")).encode(), "plan.toml")


ROUTES = [
    Route("/api/plan", estimate, methods=["POST"]),
    Route("/api/plan/save", save, methods=["POST"]),
    Route("/api/plan/plan.toml", text, methods=["GET"]),
]
