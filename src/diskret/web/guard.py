"""Who may ask: only this machine, by its own name, from our own page, with the token; and what browsers are told."""

from __future__ import annotations

import hmac
import os
from collections.abc import Mapping
from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from diskret.model.errors import DiskretError, UploadTooLarge
from diskret.web.answers import BROKEN, TOO_LARGE, our_mistake, refused
from diskret.web.sessions import Sessions

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=(), clipboard-read=()",
}
SAFE = ("GET", "HEAD")
PROGRAMS = "/v1/"
"""Where programs ask, each time with their token; browsers never do."""
OF_BROWSERS = ("origin", "sec-fetch-site", "sec-fetch-mode", "sec-fetch-dest")
MOST_JSON, MOST_TREE = 1 << 20, 1 << 25
"""Bytes of a question; of one that brings a tree of codes along."""


@dataclass(frozen=True)
class Place:
    """Where the page lives, and what it calls itself."""

    port: int

    @property
    def hosts(self) -> tuple[str, ...]:
        """Names of this machine; any other name was bent towards us (DNS rebinding)."""
        return f"127.0.0.1:{self.port}", f"localhost:{self.port}"

    @property
    def origins(self) -> tuple[str, ...]:
        """Our own pages."""
        return tuple(f"http://{host}" for host in self.hosts)

    @property
    def cookie(self) -> str:
        """Cookies are shared by all ports of a machine: the name keeps two workbenches apart."""
        return f"diskret-{self.port}"


class Guard:
    """Stands before everything: refuses, limits what is sent in, and adds the headers to every answer."""

    def __init__(
        self, app: ASGIApp, place: Place, sessions: Sessions, most_upload: int, key: str | None = None
    ) -> None:
        self.app, self.place, self.sessions, self.most_upload, self.key = app, place, sessions, most_upload, key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close"})  # there are none
            return
        if scope["type"] != "http":  # the start and end of the server
            await self.app(scope, receive, send)
            return
        started = False

        async def answered(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                MutableHeaders(scope=message).update(HEADERS)
            await send(message)

        headers = Headers(scope=scope)
        why = self._objection(scope, headers)
        if why is not None:
            await refused(*why)(scope, receive, answered)
            return
        most = self._most(scope)
        try:
            length = headers.get("content-length") or "0"
            if len(length) > 18 or (length.isascii() and length.isdecimal() and int(length) > most):
                raise UploadTooLarge.over(most)
            await self.app(scope, _limited(receive, most), answered)
        except UploadTooLarge as e:
            if not started:
                await refused(TOO_LARGE, e)(scope, receive, answered)
        except Exception as e:
            if os.environ.get("DISKRET_DEBUG"):
                raise
            if not started:
                await refused(BROKEN, our_mistake(e, "start again"))(scope, receive, answered)

    def _most(self, scope: Scope) -> int:
        """How many bytes may be sent along."""
        if scope["method"] == "PUT" and scope["path"].startswith(("/api/files/", f"{PROGRAMS}files/")):
            return self.most_upload
        return MOST_TREE if scope["path"].startswith("/api/trees/") else MOST_JSON

    def _objection(self, scope: Scope, headers: Headers) -> tuple[int, DiskretError] | None:
        """Why a request is not answered, if it is not."""
        hint = "open the address that `diskret serve` printed."
        if headers.getlist("host") not in [[h] for h in self.place.hosts]:
            return 421, DiskretError("this server does not have that name", hint=hint)
        if scope["path"].startswith(PROGRAMS):
            return self._objection_to_a_program(scope, headers)
        if self._is_foreign(scope, headers):
            return 403, DiskretError("the request comes from a page of another origin", hint=hint)
        path = scope["path"]
        if path.startswith("/api/") and path != "/api/session":
            scope["session"] = self.sessions.get(_cookie(headers, self.place.cookie))
            if scope["session"] is None:
                return 401, DiskretError("the token is missing or of an earlier start", hint=hint)
        return None

    def _objection_to_a_program(self, scope: Scope, headers: Headers) -> tuple[int, DiskretError] | None:
        """The same for programs: they carry no cookie that a page could send for them, and no browser asks for them."""
        if any(name in headers for name in OF_BROWSERS):
            return 403, DiskretError("pages in a browser are not answered here", hint="this is for programs only.")
        given = headers.getlist("authorization")
        wanted = f"Bearer {self.key}".encode()
        if self.key is None or len(given) != 1 or not hmac.compare_digest(given[0].encode("latin-1"), wanted):
            hint = "send Authorization: Bearer TOKEN, with the token of the file that `diskret serve --api` names."
            return 401, DiskretError("the token is missing or of an earlier start", hint=hint)
        scope["session"] = PROGRAMS  # known: it may take its time
        return None

    def _is_foreign(self, scope: Scope, headers: Headers) -> bool:
        """Whether a request comes from a page that is not ours, or changes something without saying whose it is."""
        said = {name: headers.getlist(name) for name in ("origin", "sec-fetch-site", "sec-fetch-dest")}
        if any(len(each) > 1 for each in said.values()):  # whoever says it twice means us to hear one of them
            return True
        origin, site, dest = (next(iter(each), None) for each in said.values())
        if origin is None and scope["method"] not in SAFE:
            return True
        # whoever goes to the page from elsewhere, such as from the file that opens it, sees a page without data
        if origin is None and scope["path"] == "/" and dest == "document":
            return False
        other_site = site not in (None, "none", "same-origin")
        return other_site or origin not in (None, *self.place.origins)


def _cookie(headers: Mapping[str, str], name: str) -> str | None:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        return None
    return found.value if found else None


def _limited(receive: Receive, most: int) -> Receive:
    """What is sent in, up to a limit, whatever the sender said about its length."""
    taken = 0

    async def limited() -> Message:
        nonlocal taken
        message = await receive()
        taken += len(message.get("body", b""))
        if taken > most:
            raise UploadTooLarge.over(most)
        return message

    return limited
