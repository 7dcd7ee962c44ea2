"""Publishing a protected table as a file, in the format its ending names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from diskret.io.files import whole_file
from diskret.model.errors import BadOption, listed
from diskret.model.places import ending_of
from diskret.publication.arrow import write_arrow
from diskret.publication.delimited import write_csv
from diskret.publication.doors import Leaving, refuse_unprotected, tables_leaving
from diskret.publication.jsonstat import write_jsonstat
from diskret.publication.microdata_files import write_anonymous_file
from diskret.publication.options import Publication, publication
from diskret.publication.parquet import write_parquet
from diskret.publication.px import write_px
from diskret.publication.release import Release, release, responses
from diskret.publication.sdmx_csv import write_sdmx_csv
from diskret.publication.sdmx_ml import write_sdmx_ml
from diskret.publication.statistical import FORMATS, statistical_writer
from diskret.publication.workbook import write_workbook

if TYPE_CHECKING:
    from diskret.safe.anonymisation import Anonymisation

WRITERS: Mapping[str, Callable[[Release, Publication, Path], None]] = {
    ".csv": write_csv,
    ".parquet": write_parquet,
    ".xlsx": write_workbook,
    ".json": write_jsonstat,
    ".px": write_px,
    ".sdmx.csv": write_sdmx_csv,
    ".sdmx.xml": write_sdmx_ml,
    ".arrow": write_arrow,
    **{ending: statistical_writer(ending) for ending in FORMATS},
}


def publish(
    tables: Leaving | Mapping[str, Leaving] | Anonymisation,
    path: str | Path,
    *,
    unprotected: bool = False,
    **options: Any,
) -> None:
    """Write one table, or several responses over the same classifications, for the public.

    Give what protected them (`suppress`, `perturb`, `round_table`, ...), what attacked them in vain (`audit`), or the
    tables themselves. A table that was never marked is refused, and so are primary cells that nothing is known to
    protect, unless ``unprotected`` says that this is meant; the file then says it too. What `anonymise` gave is
    written as records.

    The ending chooses the format: ``.csv`` and ``.parquet`` (one row per cell), ``.xlsx`` (cross tables), ``.json``
    (JSON-stat 2.0), ``.px`` (PC-Axis), ``.sdmx.csv`` and ``.sdmx.xml`` (SDMX, with ``sdmx=Sdmx(...)``), ``.arrow`` (a
    stream), ``.dta``, ``.sav`` and ``.xpt`` (Stata, SPSS and SAS, with the extra ``stats``). Only codes, labels and
    open values leave; every suppressed cell shows the same mark, whatever the reason. Equal tables give equal bytes.
    Options are the fields of `Publication`: ``mark``, ``zero``, ``counts``, ``intervals``, ``labels``, ``title``,
    ``source``, ``unit``, ``subject``, ``language``, ``formulas``, ``updated``, ``sdmx``; of records ``formulas``.

    >>> import tempfile
    >>> from diskret import Table, suppress
    >>> table = Table.from_cells({"sex": ["m", "w"], "x": [3.5, 4], "status": ["primary", "open"]},
    ...                          by={"sex": None}, value="x", status="status")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     publish(suppress(table), Path(folder) / "x.csv", mark=".")
    ...     print((Path(folder) / "x.csv").read_text(encoding="utf-8"), end="")
    sex,x
    m,.
    w,.
    Total,7.5
    """
    from diskret.safe.anonymisation import Anonymisation

    if isinstance(tables, Anonymisation):
        _publish_records(tables, path, options)
        return
    target = Path(path)
    write = WRITERS.get(ending_of(target, WRITERS))
    if write is None:
        raise BadOption(
            f"tables are not published as {target.suffix or 'a file without ending'}",
            where=str(target),
            hint=f"choose an ending of {listed(WRITERS, most=20)}.",
        )
    chosen = publication(**options, unprotected=unprotected)
    several = responses(tables_leaving(tables))
    if not unprotected:
        refuse_unprotected(tables)
    leaving = release(several, chosen)
    with whole_file(target) as part:
        write(leaving, chosen, part)


def _publish_records(done: Anonymisation, path: str | Path, options: Mapping[str, Any]) -> None:
    """An anonymous file; nothing about its looks can be chosen but how formulas stand in it."""
    unknown = [name for name in options if name != "formulas"]
    if unknown:
        raise BadOption(f"no option {listed(unknown)} of an anonymous file", hint="leave it out.")
    write_anonymous_file(done, path, **options)
