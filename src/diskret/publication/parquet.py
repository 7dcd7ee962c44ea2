"""Parquet: one row per cell, values as numbers, NULL where suppressed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from diskret.io.columns import copy_columns
from diskret.model.engine import identifier, literal
from diskret.publication.options import Publication
from diskret.publication.release import Release


def write_parquet(release: Release, options: Publication, path: Path) -> None:
    """Write codes, labels, values and for each response a column that says published or suppressed."""
    names = iter(release.long_names(labels=options.labels, statuses=True))
    data: dict[str, Any] = {}
    chosen: list[str] = []

    def choose(sql: str) -> None:
        chosen.append(f"{sql} AS {identifier(next(names))}")

    positions = release.positions(slice(0, release.size))
    for i, (_, axis, texts) in enumerate(release.columns_of_codes(labels=options.labels)):
        data[f"code{i}"] = np.array(texts, dtype=object)[positions[axis]]
        choose(f"code{i}::VARCHAR")
    for i, measure in enumerate(release.measures):
        data[f"value{i}"] = measure.value
        if measure.is_count:
            choose(f"value{i}::BIGINT")
            continue
        data[f"hidden{i}"] = measure.hidden
        choose(f"CASE WHEN hidden{i} THEN NULL ELSE value{i}::DOUBLE END")
        choose(f"CASE WHEN hidden{i} THEN 'suppressed' ELSE {literal(measure.altered or 'published')} END")
    footer = {"note": "; ".join(options.words[each] for each in release.care)} if release.care else {}
    copy_columns(data, f"SELECT {', '.join(chosen)} FROM leaving", path, footer=footer)
