"""Files that a batch writes, as those of a job: a format and its options in words."""

from __future__ import annotations

from typing import Any

from diskret.io.arb_commands import Suppress, WriteTable

FORMATS = {1: "csv", 2: "pivot", 3: "code-value", 4: "sbs", 5: "intermediate", 6: "jj", 7: "cell-keys"}
OPTIONS = {
    "AS": "status", "SE": "suppress_empty", "FL": "names_first", "QU": "quotes", "HL": "hierarchical_levels",
    "SO": "status_only", "AR": "audit", "HI": "holding", "TR": "remove_trivial", "AO": "original", "AD": "differences",
    "AC": "keys",
}  # fmt: skip
"""Letters of a batch as keys of a job."""
OF_A_FORMAT = {
    1: ("QU",), 2: ("AS", "SE", "FL", "QU"), 3: ("AS", "SE", "FL", "QU"), 4: ("HL", "QU"),
    5: ("SO", "AR", "HI", "SE", "QU"), 6: ("TR",), 7: ("AO", "AD", "AC", "SE", "QU"),
}  # fmt: skip
"""Letters that mean something to a type of file; tau-ARGUS passes over the others."""
Wrong = tuple[str, str]


def safe_file(asked: WriteTable, by: Suppress | None) -> tuple[dict[str, Any], Wrong | None]:
    """The format of a file and its options, and what is wrong with asking for it.

    >>> asked = WriteTable(line=1, text="", table=1, kind=3, file="t.txt", options={"AS": True, "HL": True})
    >>> safe_file(asked, None)
    ({'format': 'code-value', 'status': True}, None)
    """
    options = {OPTIONS[letters]: on for letters, on in asked.options.items() if letters in OF_A_FORMAT[asked.kind]}
    version = {"version": 3} if asked.older else {}
    return {"format": FORMATS[asked.kind], **version, **options}, _wrong(asked, by)


def _wrong(asked: WriteTable, by: Suppress | None) -> Wrong | None:
    """Files that cannot show what was done; tau-ARGUS refuses most of them as well."""
    method = by.method if by else ""
    impossible = {4: ("CKM", "CTA", "RND"), 5: ("CKM", "CTA", "RND"), 6: ("RND", "CKM", "CTA")}
    if method in impossible.get(asked.kind, ()):
        return f"a file of type {asked.kind} cannot show what {method} does", "choose another type, such as 2 or 3."
    if asked.kind == 7 and method != "CKM":
        return "a file of type 7 is for the cell-key method", "choose another type, or protect with CKM."
    return None
