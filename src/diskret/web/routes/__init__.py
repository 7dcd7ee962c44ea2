"""Answers to requests, one module per subject; add the routes of a new page here."""

from __future__ import annotations

from starlette.routing import Route

from diskret.web.routes import (
    choices,
    column_roles,
    exports,
    next_file,
    preview,
    record_files,
    requests,
    run_control,
    session,
    survey_plan,
    table_cells,
    trees,
    trouble,
    workspace_files,
)

ALL: list[Route] = [
    *session.ROUTES,
    *workspace_files.ROUTES,
    *column_roles.ROUTES,
    *trouble.ROUTES,
    *next_file.ROUTES,
    *trees.ROUTES,
    *preview.ROUTES,
    *choices.ROUTES,
    *table_cells.ROUTES,
    *run_control.ROUTES,
    *exports.ROUTES,
    *record_files.ROUTES,
    *survey_plan.ROUTES,
    *requests.ROUTES,
]
