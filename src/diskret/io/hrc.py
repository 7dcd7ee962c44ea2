"""Hierarchies and code lists of tau-ARGUS: ``.hrc`` files, indented by a lead string, and ``.cdl`` files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from diskret.io.files import whole_file
from diskret.io.text import inside, read_text
from diskret.model.errors import BadOption, DuplicateCode, EmptyData, UnreadableFile, listed
from diskret.model.hierarchy import TOTAL, Hierarchy

LEAD = "@"


def read_hrc(
    path: str | Path, lead: str = LEAD, total: str = TOTAL, labels: Mapping[str, str] | None = None
) -> Hierarchy:
    """Read a ``.hrc`` file; the file names no total, ``total`` does.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "region.hrc").write_text("Nr\\n@ 1\\n@ 2\\nZd\\n@ 3\\n")
    ...     read_hrc(Path(folder) / "region.hrc").codes
    ('1', '2', 'Nr', '3', 'Zd', 'Total')
    """
    text = read_text(path, lines=True)
    with inside(path):
        return Hierarchy.from_hrc(text, lead=lead, total=total, labels=labels)


def write_hrc(hierarchy: Hierarchy, path: str | Path, lead: str = LEAD) -> None:
    """Write a ``.hrc`` file, sums before their parts; the total is not in the file.

    >>> import tempfile
    >>> region = Hierarchy.from_nested({"DE": {"05": ["05111", "05112"], "11": None}})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_hrc(region, Path(folder) / "region.hrc")
    ...     read_hrc(Path(folder) / "region.hrc", total="DE") == region
    True
    """
    with inside(path):
        text = hrc_text(hierarchy, lead)
    with whole_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="")


def hrc_text(hierarchy: Hierarchy, lead: str = LEAD) -> str:
    """The lines of a ``.hrc`` file; refuses codes that could not be read back.

    >>> hrc_text(Hierarchy.from_parents({"a": "A", "A": "all", "b": "all"}))
    'A\\n@a\\nb\\n'
    """
    hierarchy.refuse_overlapping("a .hrc file")
    if not lead or lead != lead.lstrip("\r\n") or len(lead.splitlines()) != 1:
        raise BadOption("the lead string of a .hrc file is empty or a line end", hint="it is '@' in most files.")
    refuse_unwritable(hierarchy, hierarchy.codes[:-1], lead)
    lines: list[str] = []
    stack = [(len(hierarchy) - 1, -1)]
    while stack:
        i, depth = stack.pop()
        if depth >= 0:
            lines.append(lead * depth + hierarchy.codes[i] + "\n")
        stack.extend((int(part), depth + 1) for part in hierarchy.part_index[i][::-1])
    return "".join(lines)


def refuse_unwritable(hierarchy: Hierarchy, texts: Iterable[str], lead: str = "") -> None:
    """Refuse a hierarchy without codes, and texts that would not come back from a file of one code per line."""
    if len(hierarchy) < 2:
        raise EmptyData("the hierarchy has no codes below its total", hint="a file needs at least one code.")
    bad = [t for t in dict.fromkeys(texts) if _is_lost(t) or (lead and t.startswith(lead))]
    if bad:
        behind = f" behind the lead string {lead!r}" if lead else ""
        raise BadOption(
            f"codes {listed(bad)} cannot be written{behind}",
            hint=("choose another lead string; " if lead else "") + "codes have no outer blanks and no line ends.",
        )


def _is_lost(text: str) -> bool:
    """Whether a text would be another one, or none, after it was written and read."""
    return text.strip() != text or len(text.splitlines()) != 1 or "\0" in text or text.startswith("\ufeff")


def read_codelist(path: str | Path) -> dict[str, str]:
    """Read a ``.cdl`` file: one code and its label per line, with a comma between.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "region.cdl").write_text(" 1,Groningen\\nNr,North, coast\\n")
    ...     read_codelist(Path(folder) / "region.cdl")
    {'1': 'Groningen', 'Nr': 'North, coast'}
    """
    labels: dict[str, str] = {}
    for number, line in enumerate(read_text(path, lines=True).splitlines(), start=1):
        if not line.strip():
            continue
        code, comma, label = (part.strip().strip('"').strip() for part in line.partition(","))
        if not comma or not code:
            raise UnreadableFile(
                "a line of the code list is not a code with a label",
                where=f"{path}, line {number}",
                hint="write code,label.",
            )
        if labels.get(code, label or code) != (label or code):
            raise DuplicateCode(
                f"code {code!r} is listed twice in the code list, with different labels",
                where=f"{path}, line {number}",
                hint="keep one label.",
            )
        labels[code] = label or code
    return labels


def codelist_text(hierarchy: Hierarchy) -> str:
    """The lines of a ``.cdl`` file; empty where every code is its own label.

    >>> codelist_text(Hierarchy.flat(["1", "2"], labels={"1": "small"}))
    '1,small\\n'
    """
    pairs = zip(hierarchy.codes, hierarchy.labels, strict=True)
    # a comma in a code cannot be told from the comma behind it; such a code goes without its label
    return "".join(f"{c},{' '.join(label.split())}\n" for c, label in pairs if label != c and "," not in c)
