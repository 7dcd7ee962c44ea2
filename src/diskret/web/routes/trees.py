"""The editor of trees: open a classification, change its tree, make one of prefixes, tables or labels, save it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.io.hierarchy_kind import ENDINGS, is_hierarchy
from diskret.io.hierarchy_writer import hierarchy_text
from diskret.job.paths import paths_in
from diskret.model.errors import BadOption, DiskretError, MissingCode, listed
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.tree_edits import fit
from diskret.web import trees
from diskret.web.answers import Json, body_of, plain
from diskret.web.incoming import incoming_file
from diskret.web.workbench import Workbench, session, workbench


def offered(request: Request) -> Response:
    """The files of the workspace that are hierarchies; each is looked at once as long as it stays as it is."""
    bench = workbench(request)
    names = [each["name"] for each in bench.workspace.files() if Path(each["name"]).suffix.lower() in ENDINGS]
    return Json({"files": [name for name in names if _is_hierarchy(bench, name)]})


def _is_hierarchy(bench: Workbench, name: str) -> bool:
    try:
        place = bench.workspace.path(name)
        found = place.stat()
        version = (found.st_mtime_ns, found.st_size)
        if bench.hierarchies.get(name, (None, False))[0] != version:
            bench.hierarchies[name] = (version, bench.reading.do(is_hierarchy, place, where=name))
        return bench.hierarchies[name][1]
    except (DiskretError, OSError):  # whoever chooses it by name is told why
        return False


async def open_tree(request: Request) -> Response:
    """The codes of a column, the tree they have, and how many rows have each code, in the internal view only."""
    bench, asked, internal = workbench(request), await body_of(request), session(request).internal
    if not internal:
        trees.refuse_values(_content(asked), str(asked.get("column", "")))
    found = await run_in_threadpool(_opened, bench, asked)
    return Json(
        {
            "codes": found.codes,
            "counts": found.counts if internal else None,
            "tree": trees.as_plain(found.tree),
            "totals": found.totals,
            "problem": plain(found.problem) if found.problem else None,
        }
    )


def _opened(bench: Workbench, asked: Mapping[str, Any]) -> trees.Opened:
    content, column = _content(asked), str(asked.get("column", ""))
    bench.workspace.refuse_outside(content)
    return bench.reading.do(trees.opened, content, bench.workspace.root, column, where=column)


def _content(asked: Mapping[str, Any]) -> Mapping[str, Any]:
    content = asked.get("content")
    if not isinstance(content, Mapping) or not isinstance(content.get("data"), Mapping):
        raise BadOption("no data are chosen", hint="choose a file first.")
    return content


async def edit(request: Request) -> Response:
    """A tree after one edit."""
    asked = await body_of(request)
    tree = await run_in_threadpool(lambda: trees.edited(trees.from_plain(asked.get("tree")), asked.get("edit")))
    return Json({"tree": trees.as_plain(tree)})


async def make(request: Request) -> Response:
    """A new tree of prefixes, of a lookup table of the workspace, or of labels."""
    return await run_in_threadpool(_made, workbench(request), await body_of(request))


def _made(bench: Workbench, asked: Mapping[str, Any]) -> Response:
    how, total = asked.get("how"), str(asked.get("total") or TOTAL)
    if not isinstance(how, Mapping):
        raise BadOption("the request does not say how", hint="reload the page.")
    codes = asked.get("codes")
    if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
        raise BadOption("codes are a list of texts", hint="reload the page.")
    name = str(how.get("file") or "")
    place = bench.workspace.path(name) if name else None
    tree = bench.reading.do(trees.made, codes, how, total, place, where=name)
    return Json({"tree": trees.as_plain(tree)})


async def save(request: Request) -> Response:
    """Write a tree into the workspace; gives what the classification says then."""
    return await run_in_threadpool(_saved, workbench(request), await body_of(request))


def _saved(bench: Workbench, asked: Mapping[str, Any]) -> Response:
    tree, name = trees.from_plain(asked.get("tree")), str(asked.get("name", ""))
    place = bench.workspace.new(name)
    if any(place == bench.workspace.path(used) for used in paths_in({"data": _content(asked)["data"]})):
        raise BadOption(f"{name!r} holds the data", hint="give the tree another name.")
    text = hierarchy_text(tree, place.suffix)
    if asked.get("anyway") is not True:
        _refuse_unfit(tree, _opened(bench, asked), place.suffix, cells="cells" in _content(asked)["data"])
    with incoming_file(place, bench.placing, replace=asked.get("replace") is True) as part:
        part.write_text(text, encoding="utf-8", newline="")
    said = (_content(asked).get("classifications") or {}).get(asked.get("column"))
    return Json({"name": place.name, "classification": _classified(said, place.name, tree)}, status_code=201)


def _refuse_unfit(tree: Hierarchy, found: trees.Opened, ending: str, *, cells: bool) -> None:
    """Refuse a tree by which the data could not be tabulated, and labels that would be lost."""
    fits = fit(tree, found.codes)
    if fits.missing:
        what = f"the tree lacks {len(fits.missing)} codes of the data: {listed(fits.missing)}"
        raise MissingCode(what, hint="put them under a sum, or say that you want to save it without them.")
    sums = [code for code in fits.sums if code not in found.totals]
    if sums and not cells:
        what = f"records carry {listed(sums)}, which is a sum in the tree"
        raise BadOption(what, hint="move the parts elsewhere, or say that you want to save it all the same.")
    if ending.lower() == ".hrc" and tree.labels != tree.codes:
        raise BadOption("a .hrc file keeps no labels", hint="save as .csv, or say that you want to save without them.")


def _classified(said: Any, name: str, tree: Hierarchy) -> dict[str, Any]:
    """What a classification says with a saved tree: what it said of other things stays."""
    kept = {
        key: each for key, each in dict(said or {}).items() if key not in ("hierarchy", "prefixes", "lead", "total")
    }
    needed = "total" in (said or {}) or (name.lower().endswith(".hrc") and tree.total != TOTAL)
    return kept | {"hierarchy": name} | ({"total": tree.total} if needed else {})


ROUTES = [
    Route("/api/hierarchies", offered, methods=["GET"]),
    Route("/api/trees/open", open_tree, methods=["POST"]),
    Route("/api/trees/edit", edit, methods=["POST"]),
    Route("/api/trees/make", make, methods=["POST"]),
    Route("/api/trees/save", save, methods=["POST"]),
]
