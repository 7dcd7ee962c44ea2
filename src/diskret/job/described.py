"""Files of tau-ARGUS with the metadata beside them: what their columns are is told, not guessed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from diskret.io.metadata import Metadata, Role, Variable, source
from diskret.io.rda import read_metadata
from diskret.job.recognise import Recognised, recognise
from diskret.job.recognition.column import Column
from diskret.job.recognition.column import Role as ColumnRole
from diskret.model.errors import UnreadableFile, listed

METADATA = ".rda"
DATA = (".asc", ".tab", ".txt", ".dat", ".csv")
"""Endings of data beside metadata of the same name, the likeliest first."""
TOLD: dict[Role, ColumnRole] = {
    Role.EXPLANATORY: "classification", Role.WEIGHT: "weight", Role.HOLDING: "holding", Role.FREQUENCY: "count",
    Role.STATUS: "status",
}  # fmt: skip


def metadata_beside(path: Path) -> tuple[Path, Path] | None:
    """A data file and its metadata, whichever of the two is named; None if the file has none, or needs none.

    A file of text with names of its own needs none, unless its metadata are chosen.
    """
    if path.suffix.lower() == METADATA:
        found = [each for ending in DATA for each in _beside(path, ending)]
        if not found:
            raise UnreadableFile(
                "the data that these metadata describe do not lie beside them",
                where=str(path),
                hint=f"put them there, as {listed([path.stem + ending for ending in DATA[:2]])}, and choose them.",
            )
        return found[0], path
    metadata = _beside(path, METADATA) if path.suffix.lower() in DATA[:2] else []
    return (path, metadata[0]) if metadata else None


def _beside(path: Path, ending: str) -> list[Path]:
    """Files of the same name with another ending, upper or lower case."""
    wanted = f"{path.stem}{ending}".lower()
    return sorted(each for each in path.parent.iterdir() if each.name.lower() == wanted and each.is_file())


def recognise_described(data: Path, metadata: Path, **reading: Any) -> Recognised:
    """The columns of a file as its metadata say; how many codes and rows there are, as the file says."""
    told = read_metadata(metadata)
    given = {key: value for key, value in reading.items() if key in ("decimal", "encoding")}
    found = recognise(source(told, data, **given), "cells" if told.tabular else "microdata")
    columns = tuple(_as_told(told.variable(column.name), column) for column in found.columns)
    return replace(found, columns=columns, further=_further(told))


def _as_told(variable: Variable, column: Column) -> Column:
    role: ColumnRole = "value" if variable.response else "other"
    role = next((each for tag, each in TOLD.items() if tag in variable.roles), role)
    return replace(column, role=role, reason="told", prefixes=(), chosen=role in ("classification", "value"))


def _further(told: Metadata) -> dict[str, Any]:
    """Roles of columns of records, as the keys of ``[table]``; a list of cells is read with all of its columns."""
    if told.tabular:
        return {}
    keys = {"weight": Role.WEIGHT, "holding": Role.HOLDING}
    found: dict[str, Any] = {key: vs[0].name for key, role in keys.items() if (vs := told.having(role))}
    asked = told.having(Role.REQUEST)
    if asked and asked[0].request:
        found["request"] = {"column": asked[0].name, "codes": list(asked[0].request)}
    return found
