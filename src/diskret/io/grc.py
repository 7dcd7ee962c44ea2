"""Recodings of tau-ARGUS: ``.grc`` files that merge codes of a flat classification, or close codes of a hierarchy.

Merging: ``new : old, old - old, - old, old -`` per line, codes with blanks or hyphens in quotation marks; ranges go by
the order of codes as texts aligned to the right. ``<MISSING>`` names the new codes for what is missing, ``<CODELIST>``
a file with labels. Closing: the first line is ``<TREERECODE>``, every further one a code whose parts are closed.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from diskret.io.hrc import read_codelist
from diskret.io.metadata import Metadata
from diskret.io.text import inside, read_text
from diskret.model.closing import Closing, close_codes, merge_codes
from diskret.model.errors import BadOption, EmptyData, ProtectionWarning, UnknownCode, UnreadableFile, listed
from diskret.model.hierarchy import Hierarchy

TREE = "<TREERECODE>"
WORD = r'"[^"]*+"|[^\s,"-][^\s,-]*+'
SOURCE = re.compile(rf"(?P<first>{WORD})?+\s*+(?P<range>-)?+\s*+(?P<last>{WORD})?+")
PARTS = re.compile(r'(?:"[^"]*+"|[^",])++')
HEAD = re.compile(r'(?P<new>"[^"]*+"\s*+|[^:"]++):(?P<old>.*+)')
HINT = "write new : old, old - old."


@dataclass(frozen=True, kw_only=True)
class Source:
    """Old codes: one, or a range that may be open at one end."""

    first: str
    last: str

    @property
    def single(self) -> bool:
        """Whether it is one code."""
        return self.first == self.last != ""

    def __str__(self) -> str:
        return self.first if self.single else f"{self.first} - {self.last}".strip()


@dataclass(frozen=True, kw_only=True)
class Recoding:
    """A recoding as its file says it; `of` is how it changes a classification."""

    path: str
    groups: tuple[tuple[int, str, tuple[Source, ...]], ...] = ()
    """Line, new code and old ones."""
    closed: tuple[tuple[int, str], ...] = ()
    """Line and code of a hierarchy whose parts are closed."""
    missing: tuple[str, ...] = ()
    codelist: str = ""

    @property
    def name(self) -> str:
        """The name of the file."""
        return Path(self.path).name

    def of(self, tree: Hierarchy, column: str, missing: Sequence[str] = ()) -> Closing:
        """How a classification changes; ``missing`` are its codes for what is missing.

        Codes the file does not name stay as they are. How many these are, codes the file names and the classification
        lacks, and codes in several groups (the last counts) are told in a `ProtectionWarning`.

        >>> groups = ((1, "small", (Source(first="1", last="2"),)),)
        >>> found = Recoding(path="x.grc", groups=groups).of(Hierarchy.flat(["1", "2"]), "size")
        >>> dict(found.kept)
        {'small': 'small', 'Total': 'Total'}
        """
        with inside(self.path):
            return self._closing(tree, column) if self.closed else self._merging(tree, column, missing)

    def _merging(self, tree: Hierarchy, column: str, missing: Sequence[str]) -> Closing:
        flat = [code for code in tree.codes[:-1] if code not in missing]
        chosen, unknown, twice = self._chosen(flat, missing)
        left = [code for code in flat if code not in chosen]
        for old, new in zip(missing, [*self.missing, *self.missing[:1]], strict=False):
            chosen.setdefault(old, new)
        groups: dict[str, list[str]] = {}
        for code in tree.codes[:-1]:
            groups.setdefault(chosen.get(code, code), []).append(code)
        late = {*self.missing, *missing}
        width = max(map(len, groups), default=0)
        ordered = dict(sorted(groups.items(), key=lambda each: (each[0] in late, each[0].rjust(width))))
        made = merge_codes(tree, ordered, self._labels())
        self._tell(column, unknown, twice, left)
        return made

    def _chosen(self, flat: Sequence[str], missing: Sequence[str]) -> tuple[dict[str, str], list[str], list[str]]:
        """The new code of every old one that is named, codes that are not there, and codes named twice."""
        ends = [end for _, _, old in self.groups for each in old for end in (each.first, each.last)]
        width = max(map(len, [*flat, *ends]), default=0)
        chosen: dict[str, str] = {}
        unknown: list[str] = []
        twice: list[str] = []
        for line, new, old in self.groups:
            for each in old:
                if each.single and each.first in missing:
                    self._refuse_valid(line, new, each.first)
                    found = [each.first]
                elif each.single:
                    found = [each.first] if each.first in flat else []
                else:
                    first, last = each.first.rjust(width), each.last.rjust(width) if each.last else None
                    found = [c for c in flat if first <= c.rjust(width) and (last is None or c.rjust(width) <= last)]
                unknown += [] if found else [str(each)]
                twice += [code for code in found if chosen.get(code, new) != new]
                chosen |= dict.fromkeys(found, new)
        return chosen, unknown, twice

    def _refuse_valid(self, line: int, new: str, old: str) -> None:
        if new not in self.missing:
            raise BadOption(
                f"code {old!r} for what is missing becomes the code {new!r}",
                where=f"{self.path}, line {line}",
                hint="name the new codes for what is missing after <MISSING>.",
            )

    def _closing(self, tree: Hierarchy, column: str) -> Closing:
        for line, code in self.closed:
            if code not in tree:
                error = UnknownCode.in_column(column, [code], tree.codes)
                error.where = f"{self.path}, line {line}"
                raise error
            if tree.is_leaf[tree.index(code)] or code == tree.total:
                raise BadOption(
                    f"code {code!r} of {column!r} has no parts to close, or is the total",
                    where=f"{self.path}, line {line}",
                    hint="list sums below the total whose parts are not wanted.",
                )
        return close_codes(tree, [code for _, code in self.closed])

    def _tell(self, column: str, unknown: Sequence[str], twice: Sequence[str], left: Sequence[str]) -> None:
        """Say what deserves care; tau-ARGUS counts the same."""
        if unknown:
            warnings.warn(
                f"{self.name} names {len(unknown)} codes or ranges that {column!r} does not have: {listed(unknown)}",
                ProtectionWarning,
                stacklevel=4,
            )
        if twice:
            warnings.warn(
                f"{self.name} names {len(twice)} codes of {column!r} more than once, the last line counts: "
                + listed(twice),
                ProtectionWarning,
                stacklevel=4,
            )
        if left:
            warnings.warn(
                f"{self.name} leaves {len(left)} codes of {column!r} as they are: {listed(left)}",
                ProtectionWarning,
                stacklevel=4,
            )

    def _labels(self) -> dict[str, str] | None:
        if not self.codelist:
            return None
        return read_codelist(Metadata(variables=(), path=Path(self.path)).file(self.codelist))


def read_recoding(path: str | Path) -> Recoding:
    """Read a ``.grc`` file.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "size.grc").write_text("small : - 2\\nlarge : 3, 5 - \\n<MISSING> 99\\n")
    ...     found = read_recoding(Path(folder) / "size.grc")
    >>> [(new, [(each.first, each.last) for each in old]) for _, new, old in found.groups], found.missing
    ([('small', [('', '2')]), ('large', [('3', '3'), ('5', '')])], ('99',))
    """
    text = read_text(path, lines=True).replace("\r\r\n", "\n").replace("\t", " ")
    numbered = [(n, line.strip()) for n, line in enumerate(text.splitlines(), start=1)]
    lines = [(n, line) for n, line in numbered if line and not line.startswith("//")]
    if not lines or (len(lines) == 1 and lines[0][1] == TREE):
        raise EmptyData("the recoding says nothing", where=str(path), hint=HINT)
    if lines[0][1].upper() == TREE:
        return Recoding(path=str(path), closed=tuple((n, _plain(line)) for n, line in lines[1:]))
    missing: tuple[str, ...] = ()
    codelist = ""
    groups = []
    for number, line in lines:
        word, _, rest = line.partition(" ")
        if word.upper() == "<MISSING>":
            missing = tuple(_plain(each) for each in re.findall(r'"[^"]*"|[^\s,]+', rest)[:2])
        elif word.upper() == "<CODELIST>":
            codelist = _plain(rest)
        else:
            groups.append((number, *_group(line, f"{path}, line {number}")))
    if not groups:
        raise EmptyData("the recoding says nothing", where=str(path), hint=HINT)
    return Recoding(path=str(path), groups=tuple(groups), missing=missing, codelist=codelist)


def _plain(text: str) -> str:
    return text.strip().strip('"').strip()


def _group(line: str, where: str) -> tuple[str, tuple[Source, ...]]:
    """The new code of a line and its old ones."""
    head = HEAD.fullmatch(line)
    new = _plain(head["new"]) if head else ""
    if head is None or not new or line.count('"') % 2:
        raise UnreadableFile("a line is not a recoding", where=where, hint=HINT)
    return new, tuple(_source(part.strip(), where) for part in PARTS.findall(head["old"]) or [""])


def _source(text: str, where: str) -> Source:
    """One code, or a range."""
    found = SOURCE.fullmatch(text)
    first, last = (_plain(found[end] or "") if found else "" for end in ("first", "last"))
    ends = 0 if found is None else sum(found[end] is not None for end in ("first", "last"))
    if found is None or not ends or (ends == 2 and not found["range"]):
        raise UnreadableFile(
            "old codes cannot be read",
            where=where,
            hint='codes have commas between them, ranges a hyphen; a code with blanks or hyphens stands in "...".',
        )
    if not found["range"]:
        return Source(first=first or last, last=first or last)
    width = max(len(first), len(last))
    if first and last and first.rjust(width) > last.rjust(width):
        raise UnreadableFile(
            f"the range {first!r} - {last!r} ends before it begins", where=where, hint="write the smaller code first."
        )
    return Source(first=first, last=last)
