"""Answers to requests, one module per subject; add the routes of a new page here."""

from __future__ import annotations

from starlette.routing import Route

from diskret.web.routes import cells, drafts, exports, files, plan, recognise, records, runs, session

ALL: list[Route] = [
    *session.ROUTES,
    *files.ROUTES,
    *recognise.ROUTES,
    *drafts.ROUTES,
    *cells.ROUTES,
    *runs.ROUTES,
    *exports.ROUTES,
    *records.ROUTES,
    *plan.ROUTES,
]
