"""SDMX-CSV 2.0: one row per observation, comma and decimal point, codes exactly as they are."""

from __future__ import annotations

from pathlib import Path

from diskret.model.errors import BadOption, masked
from diskret.publication.delimited import field
from diskret.publication.formulas import Formulas, escaped
from diskret.publication.observations import Observations, public_observations
from diskret.publication.options import Publication
from diskret.publication.release import Release
from diskret.publication.sdmx import VALUE

STRUCTURE, ACTION = "dataflow", "I"
"""What the identifier is of, and what the rows are: information, to be added or to replace what is known."""


def write_sdmx_csv(release: Release, options: Publication, path: Path) -> None:
    """Write a table for the public."""
    write_observations_csv(public_observations(release, options), path, options.formulas)


def write_observations_csv(observations: Observations, path: Path, formulas: Formulas) -> None:
    """Write observations; codes that a spreadsheet would compute are refused or kept, never changed."""

    def put(name: str, text: str) -> str:
        if name != VALUE and formulas == "escape" and escaped(text) != text:
            raise BadOption(
                f"a spreadsheet would take {masked(text)!r} for a formula, and codes of SDMX are not marked as text",
                hint="give it another code with sdmx codes, or keep it: formulas = 'keep'.",
            )
        return field(text) if text else ""

    head = ["STRUCTURE", "STRUCTURE_ID", "ACTION", *observations.names]
    lead = f"{STRUCTURE},{field(observations.sdmx.dataflow)},{ACTION},"
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(head) + "\n")
        file.writelines(f"{lead}{','.join(row)}\n" for row in observations.rows(put))
