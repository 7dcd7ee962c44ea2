"""The notation of tau-ARGUS metadata: ``.rda`` files, one line per variable and its tags below."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from diskret.io.cell_key_tags import NOISE, P_TABLE_TAGS, P_TABLES, Noise, noise_lines, noise_told
from diskret.io.metadata import LONGEST, Metadata, Role, Variable
from diskret.io.text import read_text
from diskret.model.errors import BadOption, BrokenLevels, EmptyData, UnreadableFile, listed
from diskret.model.limits import refuse_more

OTHER_SPELLINGS = {"RECODABLE": "RECODEABLE", "COST": "COSTVAR"}
OF_THE_FILE = {"SEPARATOR": "separator", "SAFE": "safe", "UNSAFE": "unsafe", "PROTECT": "protect"}
OF_A_VARIABLE = {"CODELIST": "codelist", "HIERCODELIST": "hierarchy", "HIERLEADSTRING": "lead", "TOTCODE": "total"}
NUMBERS = {"DISTANCE": "distance", "HIERLEVELS": "digits"}
WITHOUT_EFFECT = {
    "TRUNCABLE": "which digits are left out a recoding says",
    "CELLKEY": "cell keys are made from records",
}
"""Tags that say something we do not need, and why."""
QUIET = {"HIERARCHICAL"}
"""Tags that say nothing others do not say."""
KNOWN = {
    *Role, *OF_THE_FILE, *OF_A_VARIABLE, *NUMBERS, *P_TABLES, *NOISE, *WITHOUT_EFFECT, *QUIET, "DECIMALS", "SPSS",
    *OTHER_SPELLINGS,
}  # fmt: skip
CELLS_ONLY = {"FREQUENCY", "MAXSCORE", "STATUS", "LOWERPL", "UPPERPL", "COSTVAR", "SHADOW", "SAFE", "UNSAFE", "PROTECT"}

READABLE = re.compile(r'(?!<|//)(?=.*\S)[^"\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+')
"""Names that stand in one line, are not blank, and look neither like a tag nor like a remark."""
_WORD = re.compile(r'<(?P<tag>\w+)>|"(?P<quoted>[^"]*)"?|(?P<bare>[^\s"]+)')


@dataclass(frozen=True, kw_only=True)
class _Line:
    """A line in words: a variable with what stands behind its name, then tags with theirs."""

    where: str
    head: tuple[str, ...]
    bare: tuple[bool, ...]
    tags: tuple[tuple[str, tuple[str, ...]], ...]


def read_metadata(path: str | Path, *, tabular: bool | None = None) -> Metadata:
    """Read a ``.rda`` file, for fixed-width or separated microdata or for a list of cells.

    ``tabular`` says which of the two it is about; None finds out from its tags.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "firms.rda").write_text("Size 9 2 99\\n <RECODEABLE>\\nVar1 19 9\\n <NUMERIC>\\n")
    ...     metadata = read_metadata(Path(folder) / "firms.rda")
    >>> [(v.name, v.first, v.width, v.missing, v.response) for v in metadata.variables]
    [('Size', 9, 2, ('99',), False), ('Var1', 19, 9, (), True)]
    """
    texts = enumerate(read_text(path, lines=True).splitlines(), start=1)
    lines = [line for number, text in texts if (line := _line(text, f"{path}, line {number}"))]
    if tabular is None:
        tabular = _about_cells(lines)
    free = tabular or "SEPARATOR" in _tags(lines)
    variables: list[Variable] = []
    told: dict[str, Any] = {}
    ignored: dict[str, None] = {}
    for line in lines:
        if line.head:
            variables.append(_variable(line, free, tabular))
            refuse_more("columns", len(variables), "the metadata name {} variables", str(path))
        for tag, words in line.tags:
            _refuse_unknown(tag, line.where)
            if tag in OF_THE_FILE:
                told[OF_THE_FILE[tag]] = _one(tag, words, line.where)
            elif tag == "SPSS":
                told["spss"] = True
            elif not _tagged(variables, tag, words, line.where):
                ignored[f"<{tag}>"] = None
    given: dict[str, Any] = {"separator": ";" if tabular else None, **told}
    metadata = Metadata(variables=tuple(variables), path=Path(path), tabular=tabular, ignored=tuple(ignored), **given)
    _refuse_unusable(metadata)
    return metadata


def _refuse_unknown(tag: str, where: str) -> None:
    if tag not in KNOWN:
        close = get_close_matches(tag, sorted(KNOWN), 1)
        raise UnreadableFile(
            f"there is no tag <{tag[:LONGEST]}>",
            where=where,
            hint=f"did you mean <{close[0]}>?" if close else "docs/files.md lists the tags.",
        )


def _tags(lines: Sequence[_Line]) -> set[str]:
    return {tag for line in lines for tag, _ in line.tags}


def _about_cells(lines: Sequence[_Line]) -> bool:
    """Whether metadata describe a list of cells: by its tags, or because not every variable has a width."""
    used = _tags(lines)
    widths = [len(line.head) > 1 and line.bare[1] and line.head[1].isdecimal() for line in lines if line.head]
    return bool(used & CELLS_ONLY) or ("SEPARATOR" in used and not all(widths))


def _line(text: str, where: str) -> _Line | None:
    head: list[str] = []
    bare: list[bool] = []
    tags: list[tuple[str, list[str]]] = []
    for found in _WORD.finditer(text):
        tag, quoted, word = found.groups()
        if tag:
            tags.append((OTHER_SPELLINGS.get(tag.upper(), tag.upper()), []))
        elif word and word.startswith("//"):
            break
        elif tags:
            tags[-1][1].append(word or quoted)
        else:
            head.append((word or quoted).strip())
            bare.append(bool(word))
    if not head and not tags:
        return None
    found_tags = tuple((tag, tuple(words)) for tag, words in tags)
    return _Line(where=where, head=tuple(head), bare=tuple(bare), tags=found_tags)


def _variable(line: _Line, free: bool, tabular: bool) -> Variable:
    name, rest = line.head[0], line.head[1:]
    if not name:
        raise UnreadableFile("a variable has no name", where=line.where, hint="write its name first.")
    numbers = 0 if tabular else 1 if free else 2
    if len(rest) < numbers:
        raise UnreadableFile(
            f"variable {name!r} has no {'width' if free else 'first character and width'}",
            where=line.where,
            hint="name, first character, width in a fixed-width file; name, width behind <SEPARATOR>.",
        )
    places = _whole_numbers(rest[:numbers], line.where, least=1)
    first, width = (None, None) if tabular else (None, places[0]) if free else (places[0], places[1])
    missing = tuple(code for code in rest[numbers:] if code)
    return Variable(name=name, first=first, width=width, missing=missing)


def _tagged(variables: list[Variable], tag: str, words: tuple[str, ...], where: str) -> bool:
    """Note what a tag says about the latest variable; whether it says anything."""
    if not variables:
        raise UnreadableFile(f"<{tag}> stands before the first variable", where=where, hint="name a variable first.")
    told = _told(variables[-1], tag, words, where)
    if told:
        variables[-1] = replace(variables[-1], **told)
    return told is not None


def _told(variable: Variable, tag: str, words: tuple[str, ...], where: str) -> dict[str, Any] | None:
    """What a tag says about a variable; None for a tag that has no effect."""
    if tag in set(Role):
        roles = {"roles": variable.roles | {Role(tag)}}
        return roles | ({"request": tuple(word.strip() for word in words)} if tag == Role.REQUEST else {})
    if tag in OF_A_VARIABLE:
        # blanks count in a lead string, nowhere else
        text = _one(tag, words, where)
        return {OF_A_VARIABLE[tag]: text if tag == "HIERLEADSTRING" else text.strip()}
    if tag in NUMBERS:
        return {NUMBERS[tag]: _whole_numbers(words, where)}
    if tag == "DECIMALS":
        return {"decimals": _whole_numbers([_one(tag, words, where)], where)[0]}
    if tag in P_TABLES:
        return {"p_tables": {**variable.p_tables, P_TABLES[tag]: _one(tag, words, where).strip()}}
    if tag in NOISE:
        return {"noise": noise_told(variable.noise or Noise(), tag, words, where)}
    return {} if tag in QUIET else None


def _one(tag: str, words: Sequence[str], where: str) -> str:
    if not words or not words[0]:
        raise UnreadableFile(f"nothing stands after <{tag}>", where=where, hint=f'for example <{tag}> "...".')
    return words[0]


def _whole_numbers(words: Sequence[str], where: str, least: int = 0) -> tuple[int, ...]:
    try:
        numbers = tuple(int(word) for word in words)
    except ValueError:
        raise UnreadableFile("a whole number is expected", where=where, hint="digits only.") from None
    if any(n < least or n > 10**6 for n in numbers):
        raise UnreadableFile(f"a number is not between {least} and 1000000", where=where, hint="check the metadata.")
    return numbers


def _refuse_unusable(metadata: Metadata) -> None:
    where = str(metadata.path)
    if not metadata.variables:
        raise EmptyData("the metadata name no variables", where=where, hint="one line per variable, its tags below.")
    names = Counter(v.name.lower() for v in metadata.variables)
    doubles = sorted({v.name for v in metadata.variables if names[v.name.lower()] > 1})
    if doubles:
        raise UnreadableFile(
            f"variables {listed(doubles)} are listed twice", where=where, hint="give each its own name."
        )
    for variable in metadata.variables:
        if variable.width and variable.digits and sum(variable.digits) != variable.width:
            raise BrokenLevels(
                f"the digits of the levels of {variable.name!r} do not add up to its width",
                where=where,
                hint="<HIERLEVELS> 3 1 1 goes with codes of five characters.",
            )


def rda_text(metadata: Metadata) -> str:
    """The text of a ``.rda`` file, in the order tau-ARGUS writes it.

    >>> size = Variable(name="Size", roles=frozenset({Role.EXPLANATORY}))
    >>> print(rda_text(Metadata(variables=(size,), path=Path(), separator=";", tabular=True)), end="")
       <SEPARATOR> ";"
    Size
        <RECODEABLE>
        <TOTCODE> "Total"
    """
    _refuse_unusable(metadata)
    lines = [f'   <SEPARATOR> "{metadata.separator}"'] if metadata.separator is not None else []
    lines += ["   <SPSS>"] if metadata.spss else []
    for v in metadata.variables:
        if not READABLE.fullmatch(v.name):
            raise BadOption(f"variable {v.name!r} has a name tau-ARGUS cannot read", hint="use letters and digits.")
        places = [str(n) for n in (v.first, v.width) if n is not None]
        lines.append(" ".join([f'"{v.name}"' if " " in v.name else v.name, *places, *(f'"{c}"' for c in v.missing)]))
        lines += [f"    {line}" for line in _tag_lines(v)]
    return "\n".join(lines) + "\n"


def _tag_lines(v: Variable) -> list[str]:
    # tau-ARGUS reads a companion of a number only in one line: <NUMERIC> <COSTVAR>
    others = [f"<{role}>" for role in Role if role in v.roles and role not in (Role.EXPLANATORY, Role.REQUEST)]
    said: list[tuple[object, list[str]]] = [
        (Role.EXPLANATORY in v.roles, ["<RECODEABLE>", f'<TOTCODE> "{v.total}"']),
        (v.distance, ["<DISTANCE> " + " ".join(map(str, v.distance))]),
        (v.codelist, [f'<CODELIST> "{v.codelist}"']),
        (v.digits, ["<HIERARCHICAL>", "<HIERLEVELS> " + " ".join(map(str, v.digits))]),
        (v.hierarchy, ["<HIERARCHICAL>", f'<HIERCODELIST> "{v.hierarchy}"', f'<HIERLEADSTRING> "{v.lead}"']),
        (others, [" ".join(others)]),
        (Role.REQUEST in v.roles, [" ".join(["<REQUEST>", *(f'"{code}"' for code in v.request)])]),
        (v.decimals, [f"<DECIMALS> {v.decimals}"]),
        (v.p_tables, [f'<{P_TABLE_TAGS[of]}> "{name}"' for of, name in v.p_tables.items()]),
        (v.noise, [] if v.noise is None else noise_lines(v.noise)),
    ]
    return [line for holds, lines in said if holds for line in lines]
