"""Files of statistical programs: Stata (.dta), SPSS (.sav), SAS transport (.xpt), by pyreadstat."""

from __future__ import annotations

import errno
import os
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from diskret.model.errors import BadOption, MissingExtra, listed
from diskret.publication.long_columns import Numbers, Texts, long_columns, notes
from diskret.publication.options import Publication
from diskret.publication.release import Release

LONGEST = 32
"""Characters of a variable's name, in all three."""


@dataclass(frozen=True, kw_only=True)
class Format:
    """What one format can hold, and the dates in it, which are made the same for every file."""

    function: str
    title: int
    """Bytes of the title of a file."""
    label: int
    """Bytes of the label of a variable."""
    text: int
    """Bytes of a text."""
    ascii_names: bool = False
    dates: Sequence[tuple[re.Pattern[bytes], bytes]] = ()
    """Where its writer puts the present time near the beginning of the file, and what stands there instead."""
    options: Mapping[str, Any] = field(default_factory=dict)


_STAMP = re.compile(rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d")
FORMATS: Mapping[str, Format] = {
    ".dta": Format(
        function="write_dta", title=80, label=80, text=2045,
        dates=[(re.compile(rb"(?<=<timestamp>\x11).{17}"), b"01 Jan 1980 00:00")],
        options={"version": 14},  # as every Stata since 14 reads it
    ),
    ".sav": Format(
        function="write_sav", title=64, label=255, text=32_767,
        dates=[(re.compile(rb"\d\d [A-Z][a-z]{2} \d\d\d\d:\d\d:\d\d"), b"01 Jan 8000:00:00")],
    ),
    ".xpt": Format(
        function="write_xport", title=40, label=255, text=32_767, ascii_names=True,
        dates=[(_STAMP, b"01JAN80:00:00:00")], options={"file_format_version": 8, "table_name": "TABLE"},
    ),
}  # fmt: skip
HEAD = 1024
"""Bytes at the beginning of a file in which its dates stand."""


def statistical_writer(ending: str) -> Callable[[Release, Publication, Path], None]:
    """The writer of one of the formats."""

    def write(release: Release, options: Publication, path: Path) -> None:
        _write(release, options, path, ending)

    return write


def _write(release: Release, options: Publication, path: Path, ending: str) -> None:
    """Write codes, labels, values and statuses; a hidden value is missing. Names that cannot stand are respelled."""
    try:
        import pandas as pd
        import pyreadstat
    except ImportError as e:
        raise MissingExtra.needed("stats", f"writing {ending} files") from e
    form = FORMATS[ending]
    columns = list(long_columns(release, options))
    names = spelled([each.name for each in columns], ascii_only=form.ascii_names)
    frame = pd.DataFrame({name: _values(each, form, ending) for name, each in zip(names, columns, strict=True)})
    note = "; ".join(notes(release, options))
    # titles are short: what must not be cut off stands beside the numbers too
    labels = [f"{each.name}: {note}" if note and isinstance(each, Numbers) else each.name for each in columns]
    given: dict[str, Any] = {
        "file_label": cut(note or options.title, form.title),
        "column_labels": [cut(label, form.label) for label in labels],
        **form.options,
    }
    try:
        getattr(pyreadstat, form.function)(frame, str(path), **given)
    except pyreadstat.ReadstatError as e:
        _refused_by_the_system(path)
        raise BadOption(f"the table cannot be written as {ending}: {e}", hint="publish it in another format.") from e
    widths = [each.longest if isinstance(each, Texts) else 8 for each in columns]
    if path.stat().st_size < release.size * sum(widths):  # one of the writers says nothing about a full disk
        _refused_by_the_system(path)
        raise OSError(errno.EIO, os.strerror(errno.EIO))
    _undated(path, form)


def _refused_by_the_system(path: Path) -> None:
    """What a writer does not tell: a full disk refuses a little more, too, and says why."""
    with path.open("ab") as file:
        file.write(bytes(1 << 16))
        file.flush()
        os.fsync(file.fileno())


def _values(column: Texts | Numbers, form: Format, ending: str) -> Any:
    if isinstance(column, Numbers):
        return column.values
    if column.longest > form.text:
        raise BadOption(
            f"a text of {column.name!r} has {column.longest:,} bytes, more than {ending} files hold",
            hint="publish without labels, or in another format.",
        )
    return np.array(column.different, dtype=object)[column.at]


def spelled(names: Sequence[str], *, ascii_only: bool) -> list[str]:
    """Names as these formats take them; two that become one are refused.

    >>> spelled(["size class", "2024", "größe"], ascii_only=True)
    ['size_class', '_2024', 'gr_e']
    """
    other = r"[^A-Za-z0-9_]+" if ascii_only else r"\W+"
    plain = [re.sub(other, "_", name) for name in names]
    made = [name if re.match(r"[^\W\d]", name) else f"_{name}" for name in plain]
    # what is too long keeps its end, which tells a status from its value
    made = [name if len(name) <= LONGEST else name[: LONGEST - 9] + "_" + name[-8:] for name in made]
    times = Counter(name.casefold() for name in made)
    if double := [said for said, name in zip(names, made, strict=True) if times[name.casefold()] > 1]:
        raise BadOption(
            f"the columns {listed(double)} would have one name in this format",
            hint="rename a response or classification, or publish in another format.",
        )
    return made


def cut(text: str, most: int) -> str:
    """A text in so many bytes.

    >>> cut("Größe", 4)
    'Grö'
    """
    return text.encode()[:most].decode(errors="ignore")


def _undated(path: Path, form: Format) -> None:
    """Put a fixed date where the present one stands: equal tables give equal bytes."""
    with path.open("r+b") as file:
        head = file.read(HEAD)
        fixed = head
        for place, date in form.dates:
            fixed = place.sub(lambda found, date=date: date[: len(found[0])].ljust(len(found[0])), fixed)  # type: ignore[misc]
        file.seek(0)
        file.write(fixed)
