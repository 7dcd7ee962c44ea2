"""JSON-stat 2.0: a cube with its classifications; suppressed cells are null and carry the mark as status."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from diskret.publication.axes import Axis
from diskret.publication.options import Publication
from diskret.publication.release import CHUNK, Measure, Release


def write_jsonstat(release: Release, options: Publication, path: Path) -> None:
    """Write one dataset; several measures make a first dimension with the role of a metric."""
    release.refuse_sparse("JSON-stat")
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(_text(_head(release, options))[:-1])
        file.write(',"value":[')
        comma = ""
        for measure in release.measures:
            for cells in release.chunks():
                file.write(comma + ",".join(measure.texts(cells, "null")))
                comma = ","
        file.write("]")
        if release.any_hidden:
            _write_status(release, options, file)
        file.write("}\n")


def _write_status(release: Release, options: Publication, file: TextIO) -> None:
    """The mark of every suppressed cell, by its number in the cube."""
    file.write(',"status":{')
    mark, comma = _text(options.mark), ""
    for number, measure in enumerate(release.measures):
        hidden = np.flatnonzero(measure.hidden) + number * release.size
        for start in range(0, hidden.size, CHUNK):
            file.write(comma + ",".join([f'"{i}":{mark}' for i in hidden[start : start + CHUNK].tolist()]))
            comma = ","
    file.write("}")


def _head(release: Release, options: Publication) -> dict[str, Any]:
    responses = [m.name for m in release.measures]
    head: dict[str, Any] = {
        "version": "2.0",
        "class": "dataset",
        "label": options.title_of(responses, release.names),
    }
    if options.source:
        head["source"] = options.source
    if options.updated is not None:
        head["updated"] = options.updated.isoformat()
    if release.noted:
        head["note"] = options.legend(
            suppressed=release.any_hidden, zeros=False, altered=release.altered, care=release.care
        )
    if release.any_hidden:
        head["extension"] = {"status": {"label": {options.mark: options.words["suppressed"]}}}
    dimensions = {name: _dimension(name, h) for name, h in release.by.items()}
    if len(responses) > 1:
        contents = contents_name(release, options)
        head["role"] = {"metric": [contents]}
        dimensions = {contents: _metric(contents, release.measures, options), **dimensions}
    head["id"] = list(dimensions)
    head["size"] = [len(d["category"]["index"]) for d in dimensions.values()]
    head["dimension"] = dimensions
    return head


def contents_name(release: Release, options: Publication) -> str:
    """A name for the classification of the measures that no other classification has."""
    name = options.words["contents"]
    while name in release.by:
        name += "_"
    return name


def _dimension(name: str, axis: Axis) -> dict[str, Any]:
    codes = axis.codes
    parts = {codes[i]: [codes[j] for j in below.tolist()] for i, below in enumerate(axis.parts) if below.size}
    category: dict[str, Any] = {"index": list(codes), "label": dict(zip(codes, axis.labels, strict=True))}
    if parts:
        category["child"] = parts
    return {"label": name, "category": category}


def _metric(name: str, measures: tuple[Measure, ...], options: Publication) -> dict[str, Any]:
    units: dict[str, dict[str, Any]] = {}
    for m in measures:
        unit = options.words["number"] if m.is_count else options.unit
        units[m.name] = ({"label": unit} if unit else {}) | ({} if m.decimals is None else {"decimals": m.decimals})
    names = [m.name for m in measures]
    return {"label": name, "category": {"index": names, "label": {n: n for n in names}, "unit": units}}


def _text(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
