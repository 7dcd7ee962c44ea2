"""Older keys of jobs, and what they are called since the promise has a section of its own and reports are two."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskret.job.protection_sections import METHODS

GUARANTEES = {"audit": "moves", "complete": "complete", "subtables": "cuboids"}
PROMISED = ("coalitions", "levels", "sliding", "min_relative_range", "min_range", "knowledge")
"""Keys that [promise] has now, under the same names."""
GUARDS = ("single_contributors", "largest_contributors")
OF_METHODS = {key for section in METHODS.values() for key in section.model_fields}


def translated(content: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """A job with today's keys, and for every key that has moved the one that was written.

    A section that names its ``method`` is of today and left as it is.

    >>> translated({"suppression": {"guarantee": "subtables", "min_range": 5}})[0]
    {'suppression': {'method': 'cuboids'}, 'promise': {'min_range': 5, 'levels': False}}
    """
    content, renamed = _reports(content)
    asked, promise = content.get("suppression"), content.get("promise", {})
    if not isinstance(asked, Mapping) or not isinstance(promise, Mapping) or "method" in asked:
        return dict(content), renamed
    said = {key: each for key, each in asked.items() if each is not None}
    moved = dict(renamed)
    found = _promised(said, promise, moved)
    method = _method(said, moved)
    # a key of another method was passed over as long as all methods shared the section
    passed = OF_METHODS - {*METHODS[method].model_fields} if method in METHODS else set()
    said = {key: each for key, each in said.items() if key not in passed}
    return {**content, "suppression": said} | ({"promise": found} if found else {}), moved


def _reports(content: Mapping[str, Any]) -> tuple[Mapping[str, Any], dict[str, str]]:
    """The report on risk was always internal, and is called so since there are two kinds of reports."""
    output = content.get("output")
    if "risk" not in content or not isinstance(output, Mapping) or "report" not in output:
        return content, {}
    named = {"internal_report" if key == "report" else key: each for key, each in output.items()}
    return {**content, "output": named}, {"output.internal_report": "output.report"}


def _method(said: dict[str, Any], moved: dict[str, str]) -> str:
    """Put method and cost the way they are written today."""
    if "guarantee" in said:
        guarantee = said.pop("guarantee")
        said["method"] = GUARANTEES.get(str(guarantee), guarantee)
        moved["suppression.method"] = "suppression.guarantee"
    if "distance" in said:
        said["cost"] = {"by": said.get("cost", "value"), "distance": said.pop("distance")}
        moved["suppression.cost.distance"] = "suppression.distance"
    return str(said.get("method", "moves"))


def _promised(said: dict[str, Any], promise: Mapping[str, Any], moved: dict[str, str]) -> dict[str, Any]:
    """The promise with what [suppression] said about it, which is taken out there."""
    found = dict(promise)
    for key in PROMISED:
        if key in said and found.get(key, said[key]) == said[key]:
            found[key] = said.pop(key)
            moved[f"promise.{key}"] = f"suppression.{key}"
    older = {key: said.pop(key) for key in GUARDS if key in said and "guard" not in promise}
    if older:
        found["guard"] = _guard(**older)
        moved["promise.guard"] = f"suppression.{next(iter(older))}"
    if said.get("guarantee") == "subtables":
        found.setdefault("levels", False)
    return found


def _guard(single_contributors: Any = True, largest_contributors: Any = False) -> Any:
    """Against whom; what is neither yes nor no is handed on, to be refused."""
    odd = [each for each in (single_contributors, largest_contributors) if each not in (True, False)]
    return odd[0] if odd else "largest" if largest_contributors else "single" if single_contributors else "public"
