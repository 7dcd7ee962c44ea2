"""What the pages of requests and of the ledger ask for: read and computed in the process apart."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from diskret.job.check_file import check_file, read_outputs
from diskret.job.house import Office, read_house, section_from
from diskret.job.paths import seen_from, with_paths
from diskret.job.read import job_content
from diskret.job.request_file import RequestFile, answered
from diskret.ledger.ledger import HEAD, open_ledger
from diskret.ledger.looking import line_of, shown_of
from diskret.model.errors import BadOption, DiskretError
from diskret.model.table import Table
from diskret.requests.answering import Answer
from diskret.requests.query import Query
from diskret.requests.register import Register
from diskret.web.workspace import Workspace

MOST_CODES = 300
"""Codes of a column that the page lists."""
MOST_ROWS = 2_000
"""Cells of an answer that the page shows."""


def houses(workspace: Workspace) -> dict[str, Any]:
    """Files of houses and of outputs, and folders of ledgers, by what stands in them."""
    found: dict[str, list[str]] = {"houses": [], "outputs": []}
    for each in workspace.files():
        if each["kind"] != "job":
            continue
        try:
            content = job_content(workspace.path(each["name"]))
        except DiskretError:
            continue
        for kind, section in (("houses", "house"), ("outputs", "output")):
            said = content.get(section)
            if isinstance(said, Mapping if kind == "houses" else list):
                found[kind].append(each["name"])
    return {**found, "ledgers": ledgers(workspace)}


def ledgers(workspace: Workspace) -> list[str]:
    """Folders of the workspace that hold a ledger."""
    found = []
    for folder, folders, names in os.walk(workspace.root):
        folders[:] = sorted(f for f in folders if not f.startswith((".", "__")))
        depth = len(Path(folder).relative_to(workspace.root).parts)
        if depth > 2:
            folders[:] = []
        if HEAD in names and depth:
            found.append(Path(folder).relative_to(workspace.root).as_posix())
    return found


def office_in(workspace: Workspace, name: str) -> Office:
    """A house of the workspace; refused if it reads or writes outside."""
    path = workspace.path(name)
    content = job_content(path)
    said = content.pop("house", {})
    workspace.refuse_outside(with_paths(content, seen_from(path.parent, workspace.root)))
    folder = said.get("ledger") if isinstance(said, Mapping) else None
    if isinstance(folder, str):
        workspace.path(os.path.relpath(path.parent / folder, workspace.root))
    return read_house(path)


def house_in(workspace: Workspace, name: str) -> dict[str, Any]:
    """What may be asked of a house: columns with their codes, values, what it counts."""
    office = office_in(workspace, name)
    desk = office.desk()
    columns = []
    for column in office.job.table.by:
        tree = desk.records.tree(column)
        numbers = all(_is_number(code) for code in desk.records.codes[column])
        depth = int(tree.levels[-1] - tree.levels.min())
        shown = [] if numbers else [code for code in tree.codes if code != tree.total][:MOST_CODES]
        columns.append({"name": column, "codes": shown, "numbers": numbers, "levels": depth})
    return {
        "name": name, "columns": columns, "values": list(office.job.table.value), "population": office.said.population,
        "period": office.said.period, "unit": office.said.unit, "ledger": office.said.ledger,
        "entries": len(desk.ledger.entries),
    }  # fmt: skip


def _is_number(code: str) -> bool:
    try:
        float(code)
    except ValueError:
        return False
    return True


def request_of(plain: Mapping[str, Any], house: str) -> RequestFile:
    """A request as the page says it."""
    return section_from(RequestFile, {**plain, "house": house}, "the page")


def asked(workspace: Workspace, house: str, plain: Mapping[str, Any], internal: bool) -> dict[str, Any]:
    """The answer to a request, as the page shows it."""
    office = office_in(workspace, house)
    done, _ = answered(request_of(plain, house), office)
    opened = office.open_ledger()
    return shown_answer(done, internal) | {"entries": 0 if opened is None else len(opened.entries)}


def shown_answer(done: Answer, internal: bool) -> dict[str, Any]:
    """An answer as plain data: hidden cells without their values; reasons only where hidden values may be seen."""
    told: dict[str, Any] = {
        "answer": done.kind, "asked": done.asked.words(), "given": None if done.given is None else done.given.words(),
        "warnings": list(done.words), "earlier": done.earlier, "table": None,
    }  # fmt: skip
    if internal:
        told["reasons"] = {"warnings": list(done.reasons)}
    if done.table is not None:
        told["table"] = _cells(done.table)
    return told


def _cells(table: Table) -> dict[str, Any]:
    columns = table.columns()
    names = list(table.by)
    rows = [[str(columns[name][i]) for name in names] for i in range(min(table.size, MOST_ROWS))]
    hidden, value = table.hidden.reshape(-1), table.value.reshape(-1)
    values = [None if hidden[i] else float(value[i]) for i in range(len(rows))]
    return {
        "names": names, "response": table.response, "rows": rows, "values": values, "cells": table.size,
        "hidden": int(hidden.sum()), "decimals": table.decimals or 0,
    }  # fmt: skip


def answer_bytes(workspace: Workspace, house: str, plain: Mapping[str, Any], path: Path) -> bytes:
    """The answer as a file for whoever asked; the same question is given the same answer."""
    _, files = answered(request_of(plain, house), office_in(workspace, house), path)
    if not files:
        raise BadOption("the request was refused: there is nothing to save", hint="ask for less.")
    return path.read_bytes()


def checked(workspace: Workspace, name: str, remember: bool) -> dict[str, Any]:
    """Outputs of a file, judged."""
    path = workspace.path(name)
    said = read_outputs(path)
    root = os.path.relpath(path.parent, workspace.root)
    office_in(workspace, os.path.normpath(os.path.join(root, said.house)))
    for each in said.output:
        named = [getattr(each, "cells", None), *getattr(each, "hierarchies", {}).values()]
        for file in filter(None, named):
            workspace.path(os.path.normpath(os.path.join(root, file)))
    done = check_file(path, remember=remember)
    told = done.summary()
    outputs = [
        {"name": o["name"], "verdict": o["verdict"], "reasons": {"warnings": o["reasons"]},
         "changes": {"warnings": o["changes"]}}
        for o in told["outputs"]
    ]  # fmt: skip
    return {"verdict": told["verdict"], "outputs": outputs}


def ledger_in(workspace: Workspace, folder: str, internal: bool) -> dict[str, Any]:
    """A ledger: its entries, what is wrong with it, and what was asked of it."""
    place = workspace.path(folder)
    opened = open_ledger(place, read_only=True)
    requests: list[dict[str, Any]] = []
    trouble = ""
    try:
        requests = [_line(each, internal) for each in Register(place).entries()]
    except DiskretError as e:
        trouble = e.what
    lines = [{name: said for name, said in line_of(entry).items() if name != "hash"} for entry in opened.entries]
    return {"folder": folder, "entries": lines, "flaws": list(opened.flaws), "requests": requests, "trouble": trouble}


def _line(entry: Mapping[str, Any], internal: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"number": entry["number"], "on": entry["on"], "who": entry["who"]}
    if "asked" in entry:
        told |= {"kind": "request", "asked": Query.from_dict(entry["asked"]).words(), "answer": entry["answer"]}
        if internal:
            told["reasons"] = {"warnings": entry["reasons"]}
    else:
        names = [each["name"] for each in entry["outputs"]] if entry.get("outputs") else []
        told |= {"kind": "outputs", "asked": ", ".join(names), "answer": entry.get("verdict", "")}
    return told


def entry_in(workspace: Workspace, folder: str, number: int) -> dict[str, Any]:
    """An entry as it was published."""
    opened = open_ledger(workspace.path(folder), read_only=True)
    entry = opened.entry(number)
    found = shown_of(opened, entry)
    cells = found.pop("cells")
    shown = cells.pop("shown")
    rows = [list(row) for row in zip(*cells.values(), strict=True)][:MOST_ROWS]
    return {
        "name": found["name"], "on": found["on"], "counts": found["counts"], "period": found["period"],
        "names": list(cells), "rows": rows, "values": shown[: len(rows)], "cells": entry.cells,
        "hidden": entry.hidden, "about": json.loads(json.dumps(found["about"])),
    }  # fmt: skip
