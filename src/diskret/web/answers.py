"""What the server says: JSON, and errors with the same words as everywhere."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from diskret.io.structured import from_json
from diskret.model.errors import BadOption, ChangedElsewhere, DiskretError, NoSuchRun, UnreadableFile, UploadTooLarge
from diskret.model.messages import message_in
from diskret.model.words import LANGUAGES
from diskret.publication.phrases import warning_in

MOST_DIGITS = 18
"""Whole numbers with more digits are none that an array can hold."""
REFUSED, CHANGED, TOO_LARGE, BROKEN, NOT_THERE = 422, 409, 413, 500, 404
ERRORS = ("error", "problem")
"""Keys of answers under which an error stands."""
KINDS = {
    ".csv": "text/csv",
    ".html": "text/html",
    ".json": "application/json",
    ".pdf": "application/pdf",
    ".toml": "application/toml",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
"""What a browser is told about a file to be saved."""


class Json(Response):
    """Plain data; a number that is not finite becomes null."""

    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200) -> None:
        super().__init__(content, status_code)
        self.content = content

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer in the language that the page asks for: here, so that nobody else has to think of it."""
        language = language_of(Headers(scope=scope))
        if language != LANGUAGES[0] and (told := spoken(self.content, language)) != self.content:
            self.body = self.render(told)
            self.headers["content-length"] = str(len(self.body))
        await super().__call__(scope, receive, send)

    def render(self, content: Any) -> bytes:
        """The bytes."""
        text = json.dumps(_finite(content), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        return text.encode(errors="replace")  # names of files may hold what is no text


def _finite(content: Any) -> Any:
    if isinstance(content, float):
        return content if math.isfinite(content) else None
    if isinstance(content, Mapping):
        return {str(key): _finite(each) for key, each in content.items()}
    if isinstance(content, list | tuple):
        return [_finite(each) for each in content]
    return content


def language_of(headers: Mapping[str, str]) -> str:
    """The language a page asks for, if we speak it."""
    asked = headers.get("x-diskret-language", "")[:2].lower()
    return asked if asked in LANGUAGES else LANGUAGES[0]


def spoken(content: Any, language: str) -> Any:
    """An answer with its errors and warnings in the language of the page; names, codes and numbers stay.

    >>> spoken({"error": {"what": "there are no rows", "cures": []}}, "de")["error"]["what"]
    'es gibt keine Zeilen'
    """
    if isinstance(content, Mapping):
        return {key: _told(key, each, language) for key, each in content.items()}
    if isinstance(content, list) and content and isinstance(content[0], Mapping):
        return [spoken(each, language) for each in content]
    return content


def _told(key: object, said: Any, language: str) -> Any:
    if key in ERRORS and isinstance(said, Mapping):
        texts = {part: message_in(said[part], language) for part in ("what", "where", "hint") if said.get(part)}
        cures = [{**cure, "words": message_in(cure["words"], language)} for cure in said.get("cures", ())]
        return {**said, **texts, "cures": cures}
    if key == "warnings" and isinstance(said, list):
        return [warning_in(each, language) for each in said]
    return spoken(said, language)


def refused(status: int, error: DiskretError) -> Json:
    """A refusal: what, where, what to do."""
    return Json({"error": plain(error)}, status_code=status)


def plain(error: DiskretError) -> dict[str, Any]:
    """An error as data, with what cures it: the path of a key, what to set it to, a label and its words.

    >>> said = plain(BadOption("no rule", hint="give one."))
    >>> said["code"], said["what"], said["hint"], said["docs"], said["cures"]
    ('O1', 'no rule', 'give one.', 'docs/errors.md#o1', [])
    """
    said = error.plain()
    return said | {"cures": [{**cure, "words": cure["label"]} for cure in said["cures"]]}


class OurMistake(DiskretError):
    """A mistake in diskret itself that another process made."""


def our_mistake(error: BaseException, then: str) -> DiskretError:
    """A mistake in diskret itself: its kind only, for its words may quote the data."""
    return DiskretError(
        f"a mistake in diskret itself ({type(error).__name__}); please report it",
        hint=f"set DISKRET_DEBUG=1 and {then} to see where.",
    )


def on_refusal(request: Request, error: Exception) -> Response:
    """The handler of `DiskretError`."""
    assert isinstance(error, DiskretError)
    if isinstance(error, OurMistake):
        return refused(BROKEN, error)
    if isinstance(error, ChangedElsewhere):
        return refused(CHANGED, error)
    if isinstance(error, NoSuchRun) and request.url.path.startswith("/v1/"):
        return refused(NOT_THERE, error)
    return refused(TOO_LARGE if isinstance(error, UploadTooLarge) else REFUSED, error)


def on_no_access(request: Request, error: Exception) -> Response:
    """The handler of `OSError`: what the system refuses, without the place it speaks of."""
    assert isinstance(error, OSError)
    why = error.strerror or type(error).__name__
    return refused(REFUSED, UnreadableFile(f"cannot read or write: {why}", hint="is the file there, and yours?"))


async def body_of(request: Request) -> dict[str, Any]:
    """The JSON object a request carries: text that can be written again, numbers that a number can hold."""
    body = await request.body() or b"{}"
    try:
        content = from_json(body.decode(), parse_int=_whole, parse_float=_number, parse_constant=_number)
    except (ValueError, DiskretError):
        content = None
    if not isinstance(content, dict) or b"\\u0000" in body:
        raise BadOption("the request is not a JSON object", hint="reload the page.")
    return content


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError
    return int(text)


def _number(text: str) -> float:
    if not math.isfinite(found := float(text)):
        raise ValueError
    return found


def attachment(content: bytes, name: str) -> Response:
    """A file to be saved; whatever is in it is never run as part of our page."""
    quoted = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name)
    headers = {"Content-Disposition": f'attachment; filename="{quoted}"'}
    return Response(content, media_type=KINDS.get(Path(name).suffix, "application/octet-stream"), headers=headers)
