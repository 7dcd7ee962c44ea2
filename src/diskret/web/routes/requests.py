"""Requests, outputs to be checked, and the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from diskret.io.toml import toml_key, toml_value
from diskret.job.request_file import request_content
from diskret.model.errors import BadOption
from diskret.publication.publish import WRITERS
from diskret.web import request_desk
from diskret.web.answers import Json, attachment, body_of
from diskret.web.reading import LONG
from diskret.web.routes.exports import made_apart, saved, stem
from diskret.web.workbench import session, workbench


def listed(request: Request) -> Response:
    """Houses, outputs and ledgers of the workspace."""
    bench = workbench(request)
    return Json(bench.reading.do(request_desk.houses, bench.workspace))


async def house(request: Request) -> Response:
    """What may be asked of a house."""
    return await _done(request, request_desk.house_in, "house")


async def asked(request: Request) -> Response:
    """The answer to a request; it is remembered."""
    said, internal = await body_of(request), session(request).internal
    name, plain = _text(said, "house"), _plain(said)
    bench = workbench(request)

    def work() -> Any:
        return bench.reading.do(
            request_desk.asked, bench.workspace, name, plain, internal, where=name, seconds=LONG
        )  # fmt: skip

    return Json(await run_in_threadpool(work))


async def answer_file(request: Request) -> Response:
    """The answer as a file."""
    said, ending = await body_of(request), f".{request.path_params['ending']}"
    if ending not in WRITERS:
        raise BadOption(f"tables are not published as {ending}", hint=f"endings: {', '.join(WRITERS)}.")
    name, plain, bench = _text(said, "house"), _plain(said), workbench(request)

    def work() -> bytes:
        with made_apart(f"answer{ending}") as path:
            return bench.reading.do(
                request_desk.answer_bytes, bench.workspace, name, plain, path, where=name, seconds=LONG
            )  # fmt: skip

    return attachment(await run_in_threadpool(work), f"answer{ending}")


async def save(request: Request) -> Response:
    """Write the request into the workspace, as a file that `diskret ledger answer` reads."""
    bench, said = workbench(request), await body_of(request)
    name, plain = _text(said, "house"), _plain(said)
    found = request_desk.request_of(plain, name)
    file, replace = stem(str(said.get("name") or "request")), said.get("replace") is True
    content = request_content(found.query(), name, found.who)
    return await run_in_threadpool(saved, bench, file, lambda: request_text(content), replace=replace)


def request_text(content: Mapping[str, Any]) -> str:
    """A request as TOML.

    >>> print(request_text({"house": "house.toml", "by": ["region"], "where": {"sector": ["C"]}}), end="")
    house = "house.toml"
    by = ["region"]
    <BLANKLINE>
    [where]
    sector = ["C"]
    """
    plain = [f"{key} = {toml_value(each)}" for key, each in content.items() if not isinstance(each, Mapping)]
    for key, each in content.items():
        if isinstance(each, Mapping):
            plain += ["", f"[{key}]", *(f"{toml_key(name)} = {toml_value(value)}" for name, value in each.items())]
    return "\n".join(plain) + "\n"


async def check(request: Request) -> Response:
    """Outputs of a file, judged; accepted ones are remembered if that is asked for."""
    said, bench = await body_of(request), workbench(request)
    name, remember = _text(said, "file"), said.get("remember") is True

    def work() -> Any:
        return bench.reading.do(request_desk.checked, bench.workspace, name, remember, where=name, seconds=LONG)

    return Json(await run_in_threadpool(work))


async def ledger(request: Request) -> Response:
    """The entries of a ledger."""
    said, internal, bench = await body_of(request), session(request).internal, workbench(request)
    folder = _text(said, "folder")

    def work() -> Any:
        return bench.reading.do(request_desk.ledger_in, bench.workspace, folder, internal, where=folder)

    return Json(await run_in_threadpool(work))


async def entry(request: Request) -> Response:
    """An entry as it was published."""
    said, bench = await body_of(request), workbench(request)
    folder, number = _text(said, "folder"), said.get("number")
    if not isinstance(number, int):
        raise BadOption("no number of an entry", hint="reload the page.")

    def work() -> Any:
        return bench.reading.do(request_desk.entry_in, bench.workspace, folder, number, where=folder)

    return Json(await run_in_threadpool(work))


async def _done(request: Request, what: Callable[..., Any], key: str) -> Response:
    bench, name = workbench(request), _text(await body_of(request), key)
    return Json(await run_in_threadpool(lambda: bench.reading.do(what, bench.workspace, name, where=name)))


def _text(said: Mapping[str, Any], key: str) -> str:
    found = said.get(key)
    if not isinstance(found, str) or not found:
        raise BadOption(f"nothing is chosen: {key}", hint="choose one of the list.")
    return found


def _plain(said: Mapping[str, Any]) -> dict[str, Any]:
    found = said.get("request")
    if not isinstance(found, dict):
        raise BadOption("the request is not a JSON object", hint="reload the page.")
    return {key: each for key, each in found.items() if key not in ("house", "output")}


ROUTES = [
    Route("/api/request", listed, methods=["GET"]),
    Route("/api/request/house", house, methods=["POST"]),
    Route("/api/request/answer", asked, methods=["POST"]),
    Route("/api/request/answer.{ending}", answer_file, methods=["POST"]),
    Route("/api/request/save", save, methods=["POST"]),
    Route("/api/request/check", check, methods=["POST"]),
    Route("/api/ledger", ledger, methods=["POST"]),
    Route("/api/ledger/entry", entry, methods=["POST"]),
]
