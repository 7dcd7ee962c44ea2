"""`python -m benchmarks.ledger_years [--years 10]`: ten years of releases, with and without a ledger, then attacked.

Every table is protected and published as it comes: once on its own, once beside the ledger. Then a reader who shares no
code with the package (`ledger_reader`) takes all files of both and computes what he can.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import diskret as dk
from benchmarks.ledger_reader import attack
from benchmarks.ledger_world import AREAS, BRANCHES, GROUPS, SIZES, Issue, issues
from diskret.ledger.refusing import coarser
from diskret.model.errors import NotBeside
from diskret.model.status import Status

SLOW = 10.0
"""Seconds worth a line."""


def main() -> None:
    """Release, attack, and say what came of it."""
    asked = argparse.ArgumentParser()
    asked.add_argument("--years", type=int, default=10)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--only", default="")
    asked.add_argument("--keep", default="")
    given = asked.parse_args()
    warnings.simplefilter("ignore")
    place = Path(given.keep or tempfile.mkdtemp())
    for way in ("alone", "ledger"):
        if given.only and way != given.only:
            continue
        start = time.process_time()
        told = released(place / way, given.seed, given.years, way == "ledger")
        print(f"{way}: {told} in {time.process_time() - start:.0f} CPU s", flush=True)
        start = time.process_time()
        found = attack(place / way)
        print(f"{way}: {found} in {time.process_time() - start:.0f} CPU s", flush=True)
    print(f"peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")


def released(folder: Path, seed: int, years: int, with_ledger: bool) -> dict[str, Any]:
    """Protect and publish everything in order; gives counts."""
    folder.mkdir(parents=True, exist_ok=True)
    ledger = dk.open_ledger(folder / "ledger", create=True) if with_ledger else None
    told = {"tables": 0, "cells": 0, "primary": 0, "hidden": 0, "value hidden": 0.0, "refused": 0, "slowest": 0.0}
    catalogue: list[dict[str, Any]] = []
    asked: dict[str, Issue] = {}
    value = 0.0
    for issue in issues(seed, years):
        asked[issue.name] = issue
        begin = time.process_time()
        table = _protected(issue, ledger)
        took = time.process_time() - begin
        told["slowest"] = max(told["slowest"], round(took, 2))
        if took > SLOW:
            print(f"{issue.name}: {took:.1f} CPU s", file=sys.stderr)
        if table is None:
            told["refused"] += 1
            catalogue.append(_published(folder, issue, None, len(catalogue)) | _corrected(issue, asked))
            continue
        told["tables"] += 1
        if issue.ratio_of is None:
            told["cells"] += table.size
            told["primary"] += int((issue.table.status == Status.PRIMARY).sum())
            told["hidden"] += int(table.hidden.sum())
            told["value hidden"] += float(table.value[table.hidden].sum())
            value += float(table.value.sum())
        catalogue.append(_published(folder, issue, table, len(catalogue)) | _corrected(issue, asked))
    told["value hidden"] = round(told["value hidden"] / value, 4)
    (folder / "catalogue.json").write_text(
        json.dumps(
            {"groups": GROUPS, "finest": {"area": AREAS, "branch": BRANCHES, "size": SIZES}, "tables": catalogue}
        )
    )
    return told


def _protected(issue: Issue, ledger: Any) -> dk.Table | None:
    """A table as it is released; None if it is refused."""
    if ledger is None:
        if issue.ratio_of is None:
            return dk.suppress(issue.table).table
        # as is done: a rate is withheld where one of its values is sensitive
        over, under = issue.ratio_of
        hidden = (over.status == Status.PRIMARY) | (under.status == Status.PRIMARY) | (issue.table.status > 0)
        return _with(issue.table, hidden)
    memory = ledger.about(issue.about, issue.name)
    ways = [("", issue.table)]
    while ways:
        words, table = ways.pop(0)
        try:
            done = dk.suppress(table, ledger=replace(memory, proposing=False))
        except NotBeside as error:
            if not words and issue.ratio_of is None:
                ways = [*coarser(table, error.lost)]
            continue
        if done.exposed:
            continue
        settled = None if done.beside is None else done.beside.audit
        ledger.add(done.table, issue.about, name=issue.name, on="2026-01-01", settled=settled)
        if words:
            print(f"{issue.name}: {words}", file=sys.stderr)
        return done.table
    print(f"refused: {issue.name}", file=sys.stderr)
    return None


def _with(table: dk.Table, hidden: np.ndarray) -> dk.Table:
    return replace(table, status=np.where(hidden, np.uint8(1), np.uint8(0)))


def _corrected(issue: Issue, asked: dict[str, Issue]) -> dict[str, Any]:
    """By which factors values of a revised table were corrected at least and at most, and its finest codes."""
    if not issue.about.revises:
        return {}
    before = asked[issue.about.revises].table
    parts = issue.table.inner & (before.value > 0)
    factor = issue.table.value[parts] / before.value[parts]
    codes = {name: [code for code in tree.codes if code != tree.total] for name, tree in issue.table.by.items()}
    return {"corrected": [float(factor.min()) - 1e-9, float(factor.max()) + 1e-9], "asked": codes}


def _published(folder: Path, issue: Issue, table: dk.Table | None, number: int) -> dict[str, Any]:
    """A file for everybody, and what it says of itself; what is sensitive stands in a file for the referee."""
    file = folder / f"{number:04d}.csv"
    if table is not None:
        dk.publish(table, file, unprotected=True)
    shown = issue.table if table is None else table
    said = issue.about
    if issue.ratio_of is None:
        marked = np.flatnonzero(issue.table.status.reshape(-1) == Status.PRIMARY)
        assert issue.table.below is not None
        assert issue.table.above is not None
        truth = [
            {
                "codes": dict(zip(issue.table.names, issue.table.codes(issue.table.place(int(c))), strict=True)),
                "value": float(issue.table.value.reshape(-1)[c]),
                "below": float(issue.table.below.reshape(-1)[c]),
                "above": float(issue.table.above.reshape(-1)[c]),
            }
            for c in marked
        ]
        (folder / f"{number:04d}.secret.json").write_text(json.dumps(truth))
    ratio = None if said.ratio is None else said.ratio.to_dict()
    return {
        "file": file.name, "name": issue.name, "response": shown.response, "period": said.period,
        "axes": {n: h.total for n, h in shown.by.items()}, "fixed": dict(said.fixed),
        "groups": {c: list(p) for g in said.groupings.values() for c, p in g.items()},
        "revised": bool(said.revises), "ratio": ratio, "released": table is not None,
    }  # fmt: skip


if __name__ == "__main__":
    main()
