"""What was found in a zoning as plain data, and the file that keeps it; for its owner alone."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from diskret.io.files import whole_file
from diskret.model.errors import BadOption
from diskret.model.source import open_source
from diskret.zoning.closing import Closed
from diskret.zoning.differences import Differences
from diskret.zoning.together import Together


def plain_findings(found: Differences, closed: Closed | None = None) -> dict[str, Any]:
    """Differences with their zones, and the zones to withhold, as plain data; confidential."""
    zoning = found.zoning
    told: dict[str, Any] = {
        "zonings": list(zoning.names), "zones": [len(codes) for codes in zoning.codes],
        "overlaps": int(zoning.units.size), "checked": found.checked, "exposed": int(found.exposed.size),
        "estimated": zoning.estimated,
        "differences": [
            {
                "added": [list(zone) for zone in each.added],
                "taken": [list(zone) for zone in each.taken],
                "overlaps": [[zoning.codes[0][zoning.first[o]], zoning.codes[1][zoning.second[o]]]
                             for o in each.overlaps.tolist()],
                "units": each.units,
            }
            for each in found.list
        ],
    }  # fmt: skip
    if closed is not None:
        names = zip(zoning.names, closed.withheld, strict=True)
        told["withhold"] = {name: list(zones) for name, zones in names}
        told["left"] = int(closed.left.exposed.size)
    return told


def plain_together(found: Together) -> dict[str, Any]:
    """What all zonings at once give away, as plain data; confidential."""
    where = found.combinations
    zones = [[codes[at[c]] for codes, at in zip(where.codes, where.at, strict=True)] for c in found.exposed.tolist()]
    return {
        "zonings": list(where.names), "checked": found.checked, "exposed": zones,
        "because": [[list(zone) for zone in each] for each in found.because], "undecided": int(found.undecided.size),
        "withheld": {name: list(each) for name, each in where.withheld.items()},
    }  # fmt: skip


def write_findings(said: Sequence[dict[str, Any]], path: str | Path) -> None:
    """Write what was found as JSON, for its owner alone."""
    if Path(path).suffix != ".json":
        raise BadOption(f"findings as {Path(path).suffix!r}", where=str(path), hint="choose .json.")
    with whole_file(path, private=True) as part:
        part.write_text(json.dumps(list(said), ensure_ascii=False, indent=1) + "\n", encoding="utf-8", newline="")


def read_totals(path: str | Path) -> dict[str, float]:
    """Units of zones: a table with the columns ``code`` and ``units``."""
    relation = open_source(path)
    relation.require(["code", "units"])
    relation.refuse_bad_numbers(["units"])
    rows = relation.query(f"SELECT {relation.code('code')}, {relation.number('units')} FROM {relation.view}")
    return {str(code): float(units) for code, units in rows}
