"""The notation of tau-ARGUS batch files (``.arb``): one command per line; what it means is told elsewhere.

Keywords may be written in any case, lines may end as on any system, and options at the end of a line may be missing, as
in what tau-ARGUS, SAS macros, R and Python packages write.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from diskret.io.arb_commands import (
    Apriori,
    Batch,
    Clear,
    Command,
    Cover,
    GoInteractive,
    Logbook,
    Named,
    OpenMetadata,
    OpenMicrodata,
    OpenTable,
    Other,
    ReadMicrodata,
    ReadTable,
    Recode,
    Remark,
    Rule,
    SafetyRule,
    Solver,
    SpecifyTable,
    Suppress,
    VersionInfo,
    WriteTable,
)
from diskret.io.arb_words import Words
from diskret.io.text import read_text
from diskret.model.errors import UnreadableFile
from diskret.model.limits import refuse_more
from diskret.model.spelling import nearest

Known = TypeVar("Known")
FREQUENCY = "<freq>"
LETTERS = ("HL", "SO", "AR", "HI", "AS", "SE", "FL", "QU", "TR", "AO", "AD", "AC")
"""Options of a file that is written, each followed by + or -."""
DIGITS: Mapping[int, Sequence[Mapping[str, bool]]] = {
    1: ({},),
    2: ({}, {"AS": True}),
    3: ({}, {"AS": True}, {"SE": True}, {"AS": True, "SE": True}),
    4: ({}, {"HL": True}),
    5: ({"SO": True}, {}),
}
"""What the single digit of older batches asks for, by the type of the file; other digits ask for nothing."""
ONE, TWO = (1, 1), (2, 2)
ARGUMENTS = {"P": (1, 3), "NK": TWO, "FREQ": TWO, "ZERO": ONE, "REQ": (4, 4), "WGT": ONE, "MIS": ONE, "MAN": ONE}
"""How many numbers a safety rule has, at least and at most."""
METHODS = {"GH": 4, "MOD": 6, "OPT": 2, "NET": 1, "RND": 7, "CTA": 1, "CKM": 1}
"""How many numbers a method of protection has at most, the table among them."""
MOST_SHOWN = 40
"""Mistakes that a refusal names."""
_KEYWORD = re.compile(r"<\s*(\w+)\s*>")
_ENDS = re.compile(r"\r*\n|\r+")


def read_batch(path: str | Path) -> Batch:
    """Read a batch file; every mistake in it is told at once, with its line.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "job.arb").write_text("<openmicrodata> a.as\\r\\r\\n// later\\n<SUPPRESS> MOD(1, 5)\\n")
    ...     batch = read_batch(Path(folder) / "job.arb")
    >>> [type(each).__name__ for each in batch.commands], batch.commands[2].number(0)
    (['OpenMicrodata', 'Remark', 'Suppress'], 5.0)
    """
    text = read_text(path, lines=True)
    commands: list[Command] = []
    mistakes: list[tuple[int, UnreadableFile]] = []
    for number, line in enumerate(_ENDS.split(text), start=1):
        refuse_more("columns", len(commands), "the batch has {} commands", str(path))
        try:
            commands += _command(number, line)
        except UnreadableFile as e:
            mistakes.append((number, e))
    if len(mistakes) > 1 and not _KEYWORD.search(text):
        raise UnreadableFile(
            "the file is not a batch of tau-ARGUS: no line has a keyword",
            where=f"{path}, line {mistakes[0][0]}",
            hint='a batch (.arb) has lines such as <OPENMICRODATA> "firms.asc".',
        )
    if mistakes:
        raise refused(path, [(number, e.what, e.hint) for number, e in mistakes])
    return Batch(path=Path(path), commands=tuple(commands))


def refused(path: str | Path, mistakes: Sequence[tuple[int, str, str]]) -> UnreadableFile:
    """One refusal for all mistakes of a batch, each with its line, what is wrong and what to do."""
    if len(mistakes) == 1:
        ((number, what, hint),) = mistakes
        return UnreadableFile(what, where=f"{path}, line {number}", hint=hint)
    shown = mistakes[:MOST_SHOWN]
    lines = "\n".join(f"    line {number}: {what} ({hint.rstrip('.')})" for number, what, hint in shown)
    begin = "" if len(shown) == len(mistakes) else f", the first {MOST_SHOWN} of them"
    return UnreadableFile(
        f"{len(mistakes)} mistakes in the batch file{begin}\n{lines}",
        where=f"{path}, lines {', '.join(str(number) for number, _, _ in shown)}",
        hint="correct them and run again; docs/argus.md lists every keyword.",
    )


def _command(line: int, written: str) -> Iterator[Command]:
    """The command of a line; blank lines have none."""
    text = written.strip().strip("\ufeff\x1a").strip()
    if not text:
        return
    if text.startswith(("//", "\\\\")):
        yield Remark(line=line, text=text)
        return
    found = _KEYWORD.match(text)
    if not found:
        raise UnreadableFile(
            "a line begins without a keyword", hint="every line is <KEYWORD> ..., or a remark that begins with //."
        )
    keyword = found[1].upper()
    if keyword not in READERS:
        near = nearest(keyword, [*READERS])
        raise UnreadableFile(
            f"there is no keyword <{keyword[:40]}>", hint=f"did you mean <{near}>?" if near else "see docs/argus.md."
        )
    yield READERS[keyword](line, text, text[found.end() :])


# --- a reader for every keyword --------------------------------------------------------------------------------------


def _named(kind: type[Named]) -> Callable[[int, str, str], Command]:
    return lambda line, text, rest: kind(line=line, text=text, file=_file(rest))


def _bare(kind: type[Command]) -> Callable[[int, str, str], Command]:
    return lambda line, text, rest: kind(line=line, text=text)


def _file(rest: str) -> str:
    """The rest of a line as the name of a file, in quotes or not."""
    text = rest.strip()
    if text[:1] in Words.QUOTES:
        return Words(text).file()
    name = text.partition(" //")[0].strip().rstrip(",").strip().strip('"')
    if not name:
        raise UnreadableFile("no file is named", hint='write its name in quotes: "firms.asc".')
    return name


def _table(line: int, text: str, rest: str) -> Command:
    words = Words(rest)
    by = list(words.names())
    if not by:
        raise UnreadableFile("the table has no explanatory variable", hint='for example "Size""Region"|"Turnover".')
    words.expect("|")
    response = words.text()
    if not response:
        raise UnreadableFile("the table has no response", hint="name a variable, or <freq> for a table of frequencies.")
    shadow = words.text() if words.take("|") else ""
    cost = words.text() if words.take("|") else ""
    power = words.number() if words.take(",", "|") else None
    words.end()
    return SpecifyTable(
        line=line, text=text, by=tuple(by), response=None if response.lower() == FREQUENCY else response,
        shadow=shadow or None, cost=cost or None, power=power,
    )  # fmt: skip


def _rules(line: int, text: str, rest: str) -> Command:
    words, rules = Words(rest), []
    while words:
        if words.take("|"):
            continue
        name = words.text().upper()
        least, most = _known(name, ARGUMENTS, "safety rule")
        numbers = [_given(each, f"safety rule {name}") for each in words.numbers()]
        if not least <= len(numbers) <= most:
            raise UnreadableFile(
                f"the safety rule {name} has {len(numbers)} numbers",
                hint=f"it takes {least}." if least == most else f"it takes {least} to {most}.",
            )
        if name in ("WGT", "MIS") and numbers[0] not in (0, 1):
            raise UnreadableFile(f"the safety rule {name} is neither 0 nor 1", hint=f"{name}(0) or {name}(1).")
        rules.append(Rule(name=name, numbers=tuple(numbers)))
        if words:
            words.expect("|")
    return SafetyRule(line=line, text=text, rules=tuple(rules))


def _known(name: str, known: Mapping[str, Known], what: str) -> Known:
    if name not in known:
        raise UnreadableFile(f"there is no {what} {name[:40]!r}", hint=f"there are {', '.join(known)}.")
    return known[name]


def _given(number: float | None, what: str) -> float:
    if number is None:
        raise UnreadableFile(f"a number of the {what} is missing", hint="write one between the commas.")
    return number


def _read_table(line: int, text: str, rest: str) -> Command:
    found = re.fullmatch(r"([012]?)\s*,?\s*([TF]?)\s*,?", rest.partition("//")[0].strip().strip('"').upper())
    if not found:
        raise UnreadableFile("<READTABLE> has an option that is not known", hint="0, 1 or 2, then perhaps T or F.")
    return ReadTable(line=line, text=text, sums=int(found[1] or 0), keep_status=found[2] == "T")


def _apriori(line: int, text: str, rest: str) -> Command:
    words = Words(rest)
    file = words.file_word()
    words.expect(",")
    table = words.whole("table")
    separator = words.quoted() if words.take(",") else ""
    if not separator:
        raise UnreadableFile("the a-priori file has no separator", hint='write it in quotes after the table: 1,";".')
    if len(separator) != 1:
        hint = 'one character in double quotes: ";".'
        raise UnreadableFile("the separator of the a-priori file is not one character", hint=hint)
    ignore, expand = (words.flag(default) if words.take(",") else default for default in (True, False))
    words.end()
    return Apriori(
        line=line, text=text, file=file, table=table, separator=separator, ignore_errors=ignore, expand=expand
    )


def _recode(line: int, text: str, rest: str) -> Command:
    words = Words(rest)
    table = words.whole("table")
    words.expect(",")
    variable = words.text()
    words.expect(",")
    target = words.file_word()
    words.end()
    if not variable:
        raise UnreadableFile("no variable to recode", hint='for example <RECODE> 1,"Region","region.grc".')
    if re.fullmatch("[1-9]", target):
        return Recode(line=line, text=text, table=table, variable=variable, level=int(target))
    return Recode(line=line, text=text, table=table, variable=variable, file=target)


def _suppress(line: int, text: str, rest: str) -> Command:
    words = Words(rest)
    method = words.text().upper()
    most = _known(method, METHODS, "method of protection")
    first, *numbers = words.numbers() or [None]
    if first is None or first < 0 or first != int(first):
        raise UnreadableFile(
            f"{method} names no table", hint=f"its number comes first: {method}(1), 0 for all of them."
        )
    if len(numbers) >= most:
        raise UnreadableFile(f"{method} has {len(numbers) + 1} numbers", hint=f"it takes {most} at most.")
    files, extra = _p_tables(words) if method == "CKM" else ((), None)
    words.end()
    return Suppress(
        line=line, text=text, method=method, table=int(first), numbers=tuple(numbers), files=files, extra=extra
    )


def _p_tables(words: Words) -> tuple[tuple[str, ...], float | None]:
    """The perturbation tables behind CKM(1): of counts or values, of small values, and additional noise."""
    files = [words.text()]
    while words.take("|") and len(files) < 2:
        files.append(words.text())
    return tuple(files) if any(files) else (), words.number() if words else None


def _write(line: int, text: str, rest: str) -> Command:
    words = Words(rest)
    words.expect("(")
    table = words.whole("table")
    words.expect(",")
    kind = words.whole("type of file")
    if not 1 <= kind <= 7:
        raise UnreadableFile(f"there is no type of file {kind}", hint="1 to 7; see docs/argus.md.")
    words.expect(",")
    # quoted text is the file already: some leave the options out altogether
    said = "" if words.is_quoted and not words.before(",") else re.sub(r"\s", "", words.text()).upper()
    options, older = _options(said, kind), said.isdecimal()
    words.take(",")
    file = words.file_word()
    words.expect(")")
    words.end()
    return WriteTable(line=line, text=text, table=table, kind=kind, file=file, options=options, older=older)


def _options(said: str, kind: int) -> dict[str, bool]:
    """Letters with + or -, or the one digit of older batches."""
    if re.fullmatch("[0-9]", said):
        known = DIGITS.get(kind, ())
        return dict(known[int(said)]) if int(said) < len(known) else {}
    found = re.findall(r"([A-Z]{2})([+-])", said)
    if "".join(letters + sign for letters, sign in found) != said:
        raise UnreadableFile("the options of a file are not known", hint="two letters and + or -, such as AS+SE-.")
    for letters, _ in found:
        _known(letters, dict.fromkeys(LETTERS), "option of a file")
    return {letters: sign == "+" for letters, sign in found}


def _solver(line: int, text: str, rest: str) -> Command:
    words = Words(rest)
    name = words.text().upper()
    _known(name, dict.fromkeys(("FREE", "CPLEX", "XPRESS")), "solver")
    licence = words.text() if words.take(",") else ""
    words.end()
    return Solver(line=line, text=text, name=name, licence=licence)


def _other(keyword: str) -> Callable[[int, str, str], Command]:
    return lambda line, text, rest: Other(line=line, text=text, keyword=keyword)


READERS: Mapping[str, Callable[[int, str, str], Command]] = {
    "LOGBOOK": _named(Logbook), "VERSIONINFO": _named(VersionInfo), "OPENMICRODATA": _named(OpenMicrodata),
    "OPENTABLEDATA": _named(OpenTable), "OPENMETADATA": _named(OpenMetadata), "SPECIFYTABLE": _table,
    "SAFETYRULE": _rules, "READMICRODATA": _bare(ReadMicrodata), "READTABLE": _read_table, "APRIORI": _apriori,
    "APRIORY": _apriori, "RECODE": _recode, "SUPPRESS": _suppress, "WRITETABLE": _write, "SOLVER": _solver,
    "CLEAR": _bare(Clear), "GOINTERACTIVE": _bare(GoInteractive), "COVER": _bare(Cover), "SILENT": _other("SILENT"),
    "ANCO": _other("ANCO"), "JJ": _other("JJ"),
}  # fmt: skip
"""Every keyword, and how its line is read."""
