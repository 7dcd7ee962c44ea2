"""A comparison of methods as a file: table, plot or report."""

from __future__ import annotations

import csv
import json
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from diskret.io.files import whole_file
from diskret.model.errors import BadOption
from diskret.publication.origin import Origin
from diskret.publication.phrases import in_german, section_in_german
from diskret.publication.plots import save_chart
from diskret.publication.report_file import write_report
from diskret.publication.report_head import head_of
from diskret.publication.sections import ReportSection
from diskret.publication.verdict import Verdict

if TYPE_CHECKING:
    from diskret.comparison.compare import Comparison

ENDINGS = (".csv", ".json", ".txt", ".html", ".svg", ".png")
TITLE = "Comparison of methods"
NOTE = "These numbers tell where each method is weak."


def write_comparison(
    comparison: Comparison, path: str | Path, *, language: str = "en", origin: Origin | None = None
) -> None:
    """Write a comparison: .csv, .json or .txt as a table, .html as a report, .svg or .png as a plot.

    ``language`` and ``origin`` are those of the report.

    >>> import tempfile
    >>> from diskret import SmallCells, compare_methods
    >>> people = {"region": ["N"] * 9 + ["S"] * 2}
    >>> found = compare_methods(people, by={"region": None}, rules=SmallCells(3), methods=["suppression"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_comparison(found, Path(folder) / "methods.csv")
    ...     (Path(folder) / "methods.csv").read_text().splitlines()[1][:16]
    'suppression,3,2,'
    """
    target = Path(path)
    if target.suffix not in ENDINGS:
        raise BadOption(
            f"comparisons are not written as {target.suffix!r}",
            where=str(target),
            hint=f"choose {', '.join(ENDINGS)}.",
        )
    if target.suffix == ".html":
        sections = [ReportSection.from_plain(each) for each in comparison.sections()]
        title, note = TITLE, NOTE
        if language == "de":
            sections, title, note = [section_in_german(each) for each in sections], in_german(TITLE), in_german(NOTE)
        head = head_of(Verdict(release=False), origin, language, note=note)
        write_report(target, f"{title}: {comparison.table.response}", sections, language=language, head=head)
    elif target.suffix in (".svg", ".png"):
        save_chart(comparison.chart(), target)
    else:
        with whole_file(target, private=True) as part:
            part.write_text(_text(comparison, target.suffix), encoding="utf-8", newline="")


def _text(comparison: Comparison, ending: str) -> str:
    if ending == ".json":
        return json.dumps(comparison.plain(), ensure_ascii=False, indent=1) + "\n"
    if ending == ".txt":
        return str(comparison) + "\n"
    rows = comparison.rows()

    text = StringIO()
    writer = csv.DictWriter(text, list(rows[0]) if rows else ["method"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()
