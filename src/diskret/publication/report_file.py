"""A report as one file that needs nothing else, HTML or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from diskret.io.files import whole_file
from diskret.model.errors import BadOption, listed
from diskret.publication.report_html import report_text
from diskret.publication.sections import ReportSection

ENDINGS = (".html", ".pdf")


def write_report(
    path: str | Path, title: str, sections: Sequence[ReportSection], *,
    note: str = "", language: str = "en", internal: bool = True,
) -> None:  # fmt: skip
    """Write sections as one HTML or PDF file, by its ending.

    Every page carries its mark: ``internal``, which is for its owner alone (0600), or public. Public is what somebody
    vouches for; so a report is internal unless the caller says otherwise.

    PDF needs the extra ``report``. Charts of the extra ``plots`` need it too; without it the report says so.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_report(Path(folder) / "r.html", "Panel", [ReportSection(title="Utility", text=("All is well.",))])
    ...     "<h2 id='s1'>Utility</h2>" in (Path(folder) / "r.html").read_text(encoding="utf-8")
    True
    """
    target = Path(path)
    if target.suffix.lower() not in ENDINGS:
        raise BadOption(
            f"reports are not written as {target.suffix or 'a file without ending'}",
            where=str(target),
            hint=f"choose an ending of {listed(ENDINGS)}.",
        )
    if target.suffix.lower() == ".pdf":
        from diskret.publication.report_pdf import report_pdf

        content = report_pdf(title, sections, note, language, internal=internal)
    else:
        content = report_text(title, sections, note, language, internal=internal).encode("utf-8")
    with whole_file(target, private=internal) as part:
        part.write_bytes(content)
