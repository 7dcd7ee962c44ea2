"""Who has shown the token, and what they chose to see."""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field

MOST = 200
"""Tabs of a browser."""


@dataclass
class View:
    """How one tab of a browser wants to see."""

    internal: bool = False
    """Whether hidden values are shown; off until the user switches it on."""
    rows: bool = False
    """Whether the first rows of files are shown; off until the user asks for them."""


@dataclass
class Session:
    """One browser, and the views of its tabs: what is switched on in one of them shows nothing in another."""

    views: dict[str, View] = field(default_factory=dict)

    def view(self, tab: str) -> View:
        """The view of a tab; the oldest of very many are forgotten, and switched off with that."""
        found = self.views.setdefault(tab, View())
        while len(self.views) > MOST:
            self.views.pop(next(iter(self.views)))
        return found


@dataclass
class Sessions:
    """The token of this start, and the browsers that have shown it.

    >>> sessions = Sessions("secret")
    >>> sessions.open("wrong") is None, sessions.get(sessions.open("secret")) is not None
    (True, True)
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    known: dict[str, Session] = field(default_factory=dict, repr=False)

    def open(self, token: str) -> str | None:
        """The name of a new session for whoever has the token."""
        if not hmac.compare_digest(token.encode(), self.token.encode()):
            return None
        name = secrets.token_urlsafe(32)
        self.known[name] = Session()
        return name

    def get(self, name: str | None) -> Session | None:
        """The session of a cookie."""
        return self.known.get(name) if name else None
