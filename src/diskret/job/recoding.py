"""Classifications a job makes coarser: codes that are merged, levels that are closed."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from diskret.io.grc import read_recoding
from diskret.io.metadata import Metadata
from diskret.job.table_sections import Classification
from diskret.model.closing import Closing, close_levels
from diskret.model.hierarchy import Hierarchy


def closings_of(
    said: Mapping[str, Classification], here: Path, by: Mapping[str, Hierarchy | None], described: Metadata | None
) -> dict[str, Closing]:
    """How classifications become coarser, of those the job makes so."""
    found: dict[str, Closing] = {}
    for name, tree in by.items():
        each = said.get(name)
        if each is None or tree is None:
            continue
        if each.levels:
            found[name] = close_levels(tree, each.levels)
        elif each.recode:
            found[name] = read_recoding(here / each.recode).of(tree, name, missing_of(each, described, name))
    return found


def missing_of(said: Classification, described: Metadata | None, name: str) -> list[str]:
    """Codes of a classification for what is missing, as the job or its metadata say."""
    told = described.variable(name).missing if described is not None else ()
    return [*(said.missing_codes or told), *([said.missing] if said.missing is not None else [])]
