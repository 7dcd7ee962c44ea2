"""A report as one file that needs nothing else, HTML or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diskret.io.files import whole_file
from diskret.model.errors import BadOption, listed
from diskret.publication.report_head import ReportHead
from diskret.publication.report_html import report_text
from diskret.publication.sections import ReportSection

ENDINGS: tuple[str, ...] = (".html", ".pdf")


def write_report(
    path: str | Path, title: str, sections: Sequence[ReportSection], *,
    language: str = "en", head: ReportHead | None = None,
) -> None:  # fmt: skip
    """Write sections as one HTML or PDF file, by its ending.

    Every page carries the mark of its ``head``: internal, which is for its owner alone (0600), or public. Public is
    what somebody vouches for; so a report is internal unless its head says otherwise.

    PDF needs the extra ``report``. Charts of the extra ``plots`` need it too; without it the report says so.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "r.html", "Panel", [ReportSection(title="Utility", text=("All is well.",))])
    ...     "<h2 id='s1'>Utility</h2>" in (Path(folder) / "r.html").read_text(encoding="utf-8")
    True
    """
    target, head = Path(path), head or ReportHead()
    if target.suffix.lower() not in ENDINGS:
        raise BadOption(
            f"reports are not written as {target.suffix or 'a file without ending'}",
            where=str(target),
            hint=f"choose an ending of {listed(ENDINGS)}.",
        )
    if target.suffix.lower() == ".pdf":
        from diskret.publication.report_pdf import report_pdf

        content = report_pdf(title, sections, language, head)
    else:
        content = report_text(title, sections, language, head).encode("utf-8")
    with whole_file(target, private=head.mark == "internal") as part:
        part.write_bytes(content)
