"""Tables for an authority: every cell with the reason why it is hidden, and its value if the authority may have it.

Such files are confidential: they tell primary from secondary cells. They are written for their owner alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date
from pathlib import Path

import numpy as np

from diskret.io.files import whole_file
from diskret.model.errors import BadOption, listed
from diskret.model.places import ending_of
from diskret.model.table import Table
from diskret.publication.axes import arranged
from diskret.publication.doors import Leaving, refuse_unprotected, tables_leaving
from diskret.publication.observations import NORMAL, SUPPRESSED, Flagged, Flags, Observations, note_of
from diskret.publication.options import Publication
from diskret.publication.reasons import CONF_STATUS, Reason, reasons
from diskret.publication.release import release, responses
from diskret.publication.sdmx import Sdmx
from diskret.publication.sdmx_csv import write_observations_csv
from diskret.publication.sdmx_ml import write_observations_ml

WRITERS: Mapping[str, Callable[[Observations, Path], None]] = {
    ".csv": lambda found, path: write_observations_csv(found, path, "keep"),
    ".xml": write_observations_ml,
}
"""SDMX-CSV and SDMX-ML; what programs read is written as it is."""


def write_transmission(
    tables: Leaving | Mapping[str, Leaving],
    path: str | Path,
    *,
    sdmx: Sdmx,
    values: bool = True,
    prepared: date | None = None,
    unprotected: bool = False,
) -> None:
    """Write one table, or several responses, for an authority that collects confidential data.

    Hidden cells carry the code of CL_CONF_STATUS for the reason why they are hidden: ``A`` few contributors, ``O`` one
    unit dominates, ``T`` two, ``G`` one or two, ``M`` another measure of concentration, ``C`` set by hand, ``D``
    secondary. With ``values`` they carry their values, too. The ending chooses SDMX-CSV (``.csv``) or SDMX-ML
    (``.xml``). As when publishing, a table that nothing is known to protect is refused, unless ``unprotected``: its
    open cells would be declared free. The file is for its owner alone.

    >>> import tempfile
    >>> from diskret import suppress
    >>> table = Table.from_cells({"s": ["m", "w"], "x": [3.5, 4], "status": ["primary", "open"]},
    ...                          by={"s": None}, value="x", status="status")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_transmission(suppress(table), Path(folder) / "x.csv", sdmx=Sdmx(dataflow="XX:T(1.0)"))
    ...     print((Path(folder) / "x.csv").read_text(encoding="utf-8"), end="")
    STRUCTURE,STRUCTURE_ID,ACTION,s,OBS_VALUE,OBS_STATUS,CONF_STATUS
    dataflow,XX:T(1.0),I,m,3.5,A,C
    dataflow,XX:T(1.0),I,w,4.0,A,D
    dataflow,XX:T(1.0),I,_T,7.5,A,F
    """
    write = WRITERS.get(ending_of(path))
    if write is None:
        raise BadOption(
            "the ending does not tell the format of the transmission",
            where=str(path),
            hint=f"choose an ending of {listed(WRITERS)}.",
        )
    if not unprotected:
        refuse_unprotected(tables)
    found = _observations(responses(tables_leaving(tables)), Publication(sdmx=sdmx, updated=prepared), values=values)
    with whole_file(path, private=True) as part:
        write(found, part)


def _observations(several: Mapping[str, Table], options: Publication, *, values: bool) -> Observations:
    """All cells with their flags; hidden ones with their values, or without."""
    assert options.sdmx is not None
    public = release(several, options)
    bare = {name: replace(table, status=np.zeros_like(table.status)) for name, table in several.items()}
    shown = release(bare, options) if values else public
    axes = tuple(public.by.values())
    flagged = []
    for table, measure in zip(several.values(), shown.measures, strict=True):
        flagged.append(
            Flagged(
                measure=measure,
                obs_status=Flags(codes=(NORMAL, SUPPRESSED), at=measure.hidden.astype(np.uint8)),
                conf_status=Flags(
                    codes=tuple(CONF_STATUS[reason] for reason in Reason),
                    at=arranged(reasons(table).reshape(-1), axes),
                ),
            )
        )
    return Observations(
        release=public,
        flagged=tuple(flagged),
        sdmx=options.sdmx,
        note=note_of(public, options),
        prepared=options.updated,
    )
