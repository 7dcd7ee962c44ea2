"""Writing a safe file of tau-ARGUS with what belongs to it, whole or not at all."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from diskret.auditing.audit import audit
from diskret.auditing.report import AuditReport
from diskret.cellkey.cell_key import KeyedNoise
from diskret.io.files import all_or_none, whole_file
from diskret.model.arrays import Bools, Floats
from diskret.model.errors import BadOption, ProtectionWarning
from diskret.model.table import Table
from diskret.perturbation.changed_table import Perturbation
from diskret.publication.argus import intermediate as everything
from diskret.publication.argus.cells import EMPTY, highest, lowest, nothing_there, own_decimals, status_numbers
from diskret.publication.argus.jj import jj
from diskret.publication.argus.keys import before_of, metadata_of, told
from diskret.publication.argus.layout import Layout, Texts, layout_of, numbers, wholes
from diskret.publication.argus.matrix import matrix
from diskret.publication.argus.options import TELLING, Format, SafeFile, safe_file
from diskret.publication.argus.records import dashed, records, response_name, sbs, with_status
from diskret.publication.argus.summary import summary_text
from diskret.publication.doors import Leaving, refuse_unprotected, tables_leaving
from diskret.publication.options import Publication
from diskret.publication.origin import Origin
from diskret.publication.release import Measure, release
from diskret.suppression.result import Suppression

MARK = "x"
OF_TRUE_VALUES: tuple[Format, ...] = ("sbs", "intermediate", "jj")


@dataclass(frozen=True, eq=False, kw_only=True)
class Written:
    """The lines of a safe file, and the texts of the files beside it by their names."""

    lines: Iterable[str]
    beside: Mapping[str, str] = field(default_factory=dict)


def write_safe_file(
    given: Leaving, path: str | Path, format: Format = "intermediate", *,
    unprotected: bool = False, origin: Origin | None = None, **options: Any,
) -> tuple[Path, ...]:  # fmt: skip
    """Write a table as one of the seven safe files of tau-ARGUS; gives the paths of all files, the safe file first.

    ``format`` is ``csv`` (type 1, a matrix), ``pivot`` (2), ``code-value`` (3), ``sbs`` (4), ``intermediate`` (5, with
    metadata and hierarchies), ``jj`` (6) or ``cell-keys`` (7); options are the fields of `SafeFile`. Types 1, 2, 3 and
    7 are for the public, and refuse a table that nothing is known to protect unless ``unprotected`` says that this is
    meant: these formats have no place for a note. Types 4, 5 and 6 hold every value, and so do 2 and 3 with ``status``,
    as tau-ARGUS writes them: they are confidential, for their owner alone (0600). A page beside the file sums up the
    table by its statuses; it is confidential, too, and tells ``origin`` if it is given.

    >>> import tempfile
    >>> from diskret import suppress
    >>> cells = {"sex": ["m", "w", "d"], "x": [3, 4, 5], "status": ["primary", "open", "open"]}
    >>> table = Table.from_cells(cells, by={"sex": None}, value="x", status="status")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file, *_ = write_safe_file(suppress(table), Path(folder) / "x.txt", "code-value", quotes=False)
    ...     print(file.read_text(encoding="utf-8"), end="")
    Total,12
    d,5
    m,x
    w,x
    """
    chosen, target = safe_file(format=format, **options), Path(path)
    table = tables_leaving(given)
    if isinstance(table, Mapping) or table.linked or not table.by:
        raise BadOption("a safe file holds one table", hint="write the tables of a pool one by one: pool.split().")
    _refuse_other_values(given, table, chosen)
    if chosen.confidential:
        _warn(chosen)
    elif not unprotected:
        refuse_unprotected(given)
    _warn_rounded(table, chosen)
    table.refuse_sparse("a safe file")
    layout = layout_of(table.by, chosen, everything.SEPARATOR if format in ("intermediate", "cell-keys") else ",")
    written = _written(given, table, layout, chosen, target)
    files: dict[Path, tuple[Iterable[str], bool]] = {target: (written.lines, chosen.confidential)}
    page = target.with_suffix(".html")
    if target.name.lower() in {name.lower() for name in (*written.beside, *([page.name] if chosen.report else []))}:
        raise BadOption(
            f"a safe file cannot be called {target.name!r}: a file beside it has this name",
            hint="choose another ending.",
        )
    files |= {target.with_name(name): ([text], chosen.confidential) for name, text in written.beside.items()}
    if chosen.report:
        files[page] = [summary_text(given, table, layout, chosen, [*files, page], origin)], True
    with all_or_none() as meanwhile:
        for file, (lines, private) in files.items():
            with whole_file(meanwhile(file), private=private) as part:
                _write(part, lines)
    return tuple(files)


def _write(part: Path, lines: Iterable[str]) -> None:
    with part.open("w", encoding="utf-8", newline="") as to:
        to.writelines(lines)


def _refuse_other_values(given: Leaving, table: Table, options: SafeFile) -> None:
    """Formats that do not go with changed values, as in tau-ARGUS."""
    if options.format in OF_TRUE_VALUES and table.altered:
        raise BadOption(
            f"a safe file of format {options.format!r} holds true values, and those of this table were changed",
            hint="changed values are written as csv, pivot or code-value; with cell-key noise as cell-keys, too.",
        )
    if options.format == "cell-keys" and not isinstance(given, KeyedNoise):
        raise BadOption(
            "a safe file of format 'cell-keys' holds a table with cell-key noise",
            hint="give what perturb_by_key returns; in a job, add [cell_key].",
        )


def _warn(options: SafeFile) -> None:
    """Say what a file with the name of a safe one holds."""
    if options.format in ("intermediate", "jj"):
        return
    telling = " and ".join(name for name in TELLING if getattr(options, name))
    asked = f"{options.format} with {telling}" if telling else options.format
    warnings.warn(
        f"a safe file of tau-ARGUS, {asked}, holds every value and tells primary from secondary cells: "
        "it is confidential, not for publication",
        ProtectionWarning,
        stacklevel=3,
    )


def _warn_rounded(table: Table, options: SafeFile) -> None:
    """Say that values have more decimals than are written."""
    if options.decimals is not None and (np.round(table.value, options.decimals) != table.value).any():
        own = own_decimals(table)
        if own is None or own > options.decimals:
            warnings.warn(
                f"values of a safe file are rounded to {options.decimals} decimals: they have more, "
                "and rounded sums are not always the sums of rounded values",
                ProtectionWarning,
                stacklevel=3,
            )


def _written(given: Leaving, table: Table, layout: Layout, options: SafeFile, target: Path) -> Written:
    if options.format == "intermediate":
        return _intermediate(given, table, layout, options, target)
    if options.format == "jj":
        return Written(lines=jj(layout, table, options))
    if options.format == "sbs":
        return Written(lines=sbs(layout, table, options))
    if options.format == "cell-keys":
        assert isinstance(given, KeyedNoise)
        return _with_keys(given, layout, options, target)
    if options.status:
        return Written(lines=_telling(given, table, layout, options))
    values = _shown(table, layout, options)[1]
    if options.format == "csv":
        return Written(lines=matrix(layout, values, options))
    left = layout.order(nothing_there(table)) if options.suppress_empty else None
    return Written(lines=records(layout, [(response_name(table), values)], table.names, options, left))


# --- for the public: from what may leave -----------------------------------------------------------------------------


def _shown(table: Table, layout: Layout, options: SafeFile) -> tuple[Measure, Texts]:
    """The values that may leave, marks where they may not, dashes where there is nothing."""
    measure = release(table, Publication(mark=MARK, sums="before")).measures[0]
    if options.decimals is not None:
        measure = replace(measure, decimals=options.decimals)
    empty = layout.order(nothing_there(table))
    return measure, dashed(lambda cells: measure.texts(cells, MARK), empty)


def _with_keys(noise: KeyedNoise, layout: Layout, options: SafeFile, target: Path) -> Written:
    measure, _ = _shown(noise.table, layout, options)
    columns: list[Texts] = [numbers(measure.value, measure.decimals)]
    columns += told(layout, noise, options, measure.decimals)
    left = layout.order(nothing_there(noise.table)) if options.suppress_empty else None
    lines = layout.rows([*layout.codes(), *columns], everything.SEPARATOR, left)
    return Written(lines=lines, beside=metadata_of(noise.table, options, target, measure.decimals))


# --- confidential ----------------------------------------------------------------------------------------------------


def _telling(given: Leaving, table: Table, layout: Layout, options: SafeFile) -> Iterator[str]:
    """Every value with its status; of changed values those before."""
    name = response_name(table)
    columns = with_status(layout, table, name, options)
    if isinstance(given, Perturbation | KeyedNoise):
        before = before_of(given, table)
        found = layout.order(status_numbers(before))
        first = dashed(columns[0][1], found == EMPTY)
        original = with_status(layout, before, f"{before.response}_Orig", options)[0]
        columns = [(name, first), original, ("Status", wholes(found))]
        columns = columns[:2] if table.altered == "rounded" else columns
    left = layout.order(nothing_there(table)) if options.suppress_empty else None
    return records(layout, columns, table.names, options, left)


def _intermediate(given: Leaving, table: Table, layout: Layout, options: SafeFile, target: Path) -> Written:
    found = _possible(given, table) if options.audit else None
    made = everything.intermediate(layout, table, options, target, found)
    left: Bools | None = layout.order(status_numbers(table)) == EMPTY if options.suppress_empty else None
    columns = [texts for _, texts in made.columns]
    return Written(lines=everything.lines(layout, columns, options, left), beside=made.beside)


def _possible(given: Leaving, table: Table) -> tuple[Floats, Floats]:
    """What an attack finds possible for every hidden cell, by the promise the table was protected by."""
    hidden = np.flatnonzero(table.hidden)
    report = given if isinstance(given, AuditReport) else given.audit if isinstance(given, Suppression) else None
    if report is None or any(table.name_of(int(cell)) not in report.intervals for cell in hidden):
        promise = [given.promise] if isinstance(given, Suppression | AuditReport) else []
        report = audit(table, *promise, intervals="hidden")
    lower, upper = table.value.copy(), table.value.copy()
    for cell in hidden.tolist():
        value = table.value.flat[cell]
        # an end that nobody found claims nothing
        low, high = (value if np.isnan(end) else end for end in report.intervals[table.name_of(cell)])
        lower.flat[cell], upper.flat[cell] = max(low, lowest(table)), min(high, highest(table))
    return lower, upper
