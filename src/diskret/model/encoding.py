"""How a text file is encoded, found by looking at all of it: a wrong guess would silently change its codes.

What is valid UTF-8 is UTF-8. Of the encodings of one byte per letter, those are taken whose letters stand where words
have them; what two encodings explain, or what holds two encodings, is asked for.
"""

from __future__ import annotations

import codecs
import gzip
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from diskret.model.cures import Cure
from diskret.model.damage import reading
from diskret.model.errors import TooLarge, UnclearFile, UnreadableFile
from diskret.model.limits import limits
from diskret.model.packed import FREE

ENCODINGS = ("utf-8", "latin-1", "windows-1252", "cp850", "utf-16")
CHUNK = 1 << 20
END = 1 << 16
"""Bytes in which the notes below a table stand."""
BOMS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
GZIP, ZSTD = ".gz", ".zst"
SIGNS: dict[str, re.Pattern[bytes]] = {
    # the second byte of a letter in UTF-8 is a sign in all others: Ã¼ and â‚¬ stand in no honest text
    "utf-8": re.compile(rb"\xc3[\x80-\xbf]|\xc2[\xa0-\xbf]|\xe2[\x80-\x82][\x80-\xbf]"),
    # umlauts of DOS between letters, where Windows has quotation marks; 81 means nothing to Windows
    "dos": re.compile(rb"[A-Za-z][\x84\x94\x8e\x99](?=[A-Za-z])|[A-Za-z]\x82|\x81"),
    # letters of Windows beside letters, where DOS has lines and fractions
    "windows": re.compile(rb"[A-Za-z][\xe4\xf6\xfc\xdf\xe9\xe8\xe0\xea\xe7\xf3\xf1]|[\xc4\xd6\xdc][a-z]"),
    "high": re.compile(rb"[\x80-\x9f]"),
    "undefined": re.compile(rb"[\x81\x8d\x8f\x90\x9d]"),
    "sharp s": re.compile(rb"[aeiouAEIOU]\xe1"),
    "acute a": re.compile(rb"(?<![aeiouAEIOU])\xe1"),
}
MARKS = re.compile(
    rb"(?<![A-Za-z\x80-\xff])[\x80\x84\x89\x8b\x91-\x94\x96\x99\x9b](?![A-Za-z\x80-\xff])"
    rb"|(?<=[A-Za-z])\x92(?=[A-Za-z])|\x84[A-Za-z0-9 .-]{1,60}[\x93\x94]"
)
"""Signs of Windows where letters of DOS would stand alone: the euro, dashes, apostrophes, quotations."""

HOLLOW = re.compile(rb"[\r\n]\0?[;,|\t][;,|\t \"\0]*(?:[\r\n]|\Z)")
"""A line of nothing but delimiters; zeros are those of UTF-16."""
HOLLOW_BEGINS = [
    line + zero + sign for line in (b"\n", b"\r") for zero in (b"", b"\0") for sign in (b";", b",", b"|", b"\t")
]
LONGEST_HOLLOW = 1 << 12
"""Bytes of such a line that are looked for over the end of what was read."""


@dataclass(frozen=True, kw_only=True)
class TextFacts:
    """What a look at a whole text file tells."""

    encoding: str
    """One of `ENCODINGS`."""
    breaks: frozenset[str]
    """The line breaks in it: LF, CRLF, CR."""
    hollow: bool = False
    """Whether lines may hold nothing but delimiters, as spreadsheets write blank rows."""
    end: bytes = field(default=b"", repr=False)
    """Its last bytes."""


def unpacked(path: Path) -> Iterator[bytes]:
    """The bytes of a text file piece by piece; out of a packed one comes no more than it can be worth."""
    most = max(FREE, limits().unpacked * path.stat().st_size)
    taken, is_packed = 0, path.suffix.lower() == GZIP
    opening: Callable[..., Any] = gzip.open if is_packed else open
    with reading(path, "the packed file is damaged, or not complete", "pack it again."), opening(path, "rb") as file:
        while chunk := file.read(CHUNK):
            taken += len(chunk)
            if is_packed and taken > most:
                what = "the file unpacks to many times its size"
                raise TooLarge.over("unpacked", limits().unpacked, what, str(path))
            yield chunk


def text_facts(path: Path, encoding: str | None = None) -> TextFacts:
    """How a text file is encoded, if nobody says it, and how its lines end.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = (Path(folder) / "firms.csv").write_bytes("K\xf6ln;\u20ac\\r\\n".encode("cp1252"))
    ...     text_facts(Path(folder) / "firms.csv")
    TextFacts(encoding='windows-1252', breaks=frozenset({'CRLF'}), hollow=False)
    """
    if path.suffix.lower() == ZSTD:  # only the engine unpacks it, and refuses what is not as it is told
        return TextFacts(encoding=encoding or "utf-8", breaks=frozenset())
    found = _first_look(path, encoding)
    return found if found.encoding else replace(found, encoding=_of_one_byte(path))


def _first_look(path: Path, given: str | None) -> TextFacts:
    """The encoding, if it is one of Unicode, the line breaks and the end."""
    ends: Counter[str] = Counter()
    decoder = codecs.getincrementaldecoder("utf-8")()
    found, last, end, is_first, hollow = given, b"", b"", True, False
    for chunk in unpacked(path):
        if is_first and found is None:
            found = _by_beginning(chunk)
        is_first = False
        if found is None and not _is_utf8(chunk, decoder):
            found = ""
        hollow = hollow or _has_hollow_lines(end[-LONGEST_HOLLOW:] + chunk)
        end = (end + chunk)[-END:]
        whole = last + chunk
        last = whole[-1:] if whole.endswith(b"\r") else b""
        _count_breaks(whole[: len(whole) - len(last)], ends)
    _count_breaks(last, ends)
    if found is None:
        found = "" if decoder.getstate()[0] else "utf-8"
    breaks = frozenset(kind for kind, count in ends.items() if count)
    return TextFacts(encoding=found, breaks=breaks, hollow=hollow, end=end)


def _has_hollow_lines(text: bytes) -> bool:
    """Whether a line holds nothing but delimiters; most texts have no line that begins with one."""
    return any(begin in text for begin in HOLLOW_BEGINS) and HOLLOW.search(text) is not None


def _is_utf8(chunk: bytes, decoder: codecs.IncrementalDecoder) -> bool:
    if chunk.isascii() and not decoder.getstate()[0]:
        return True
    try:
        decoder.decode(chunk)
    except UnicodeDecodeError:
        return False
    return True


def _count_breaks(text: bytes, ends: Counter[str]) -> None:
    both = text.count(b"\r\n")
    ends.update({"CRLF": both, "LF": text.count(b"\n") - both, "CR": text.count(b"\r") - both})


def _by_beginning(first: bytes) -> str | None:
    """The encoding a mark at the beginning tells, or the zeros in every other byte."""
    for mark, name in BOMS.items():
        if first.startswith(mark):
            return name
    even, odd = first[:1000:2].count(0), first[1:1000:2].count(0)
    enough = min(len(first), 1000) // 8
    return "utf-16" if max(even, odd) > enough and min(even, odd) <= enough // 4 else None


def codec_of(encoding: str, path: Path) -> str:
    """Python's name of an encoding; of UTF-16 the order of its bytes is looked up."""
    if encoding != "utf-16":
        return {"utf-8": "utf-8-sig", "windows-1252": "cp1252"}.get(encoding, encoding)
    first = next(unpacked(path), b"")
    if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    return "utf-16-be" if first[:1000:2].count(0) > first[1:1000:2].count(0) else "utf-16-le"


def _of_one_byte(path: Path) -> str:
    """Which of the encodings of one byte per letter it is; asked for where that is not certain."""
    signs: Counter[str] = Counter()
    before = b""
    for chunk in unpacked(path):
        text = before + chunk
        before = text[-3:]
        if not text.isascii():
            for name, pattern in SIGNS.items():
                signs[name] += len(pattern.findall(text))
            signs["beyond marks"] += len(SIGNS["high"].findall(MARKS.sub(b" ", text)))
    if signs["utf-8"]:
        raise UnclearFile(
            "the file holds text in two encodings, UTF-8 and another",
            where=str(path),
            hint="save it again from the program it comes from; if all of it is in one encoding, say encoding.",
            cures=_choices("windows-1252", "latin-1"),
        )
    return _judged(signs, path)


def _judged(signs: Counter[str], path: Path) -> str:
    if not signs["high"]:
        if signs["sharp s"] and not signs["acute a"] and not signs["windows"]:
            raise _asked(path, "latin-1", "cp850")
        return "latin-1"
    if signs["dos"] and not signs["windows"]:
        return "cp850"
    certain = signs["windows"] or not signs["beyond marks"]
    if certain and not signs["dos"] and not signs["undefined"]:
        return "windows-1252"
    raise _asked(path, "windows-1252", "cp850")


def _asked(path: Path, *names: str) -> UnclearFile:
    return UnclearFile(
        f"the encoding of the text is not certain: it may be {' or '.join(names)}",
        where=str(path),
        hint=f'say encoding = "{names[0]}" or encoding = "{names[1]}", or save the file as UTF-8.',
        cures=_choices(*names),
    )


def _choices(*names: str) -> list[Cure]:
    return [Cure(key="data.encoding", value=name, label="read the text in this encoding") for name in names]


def decoded(path: Path, encoding: str) -> Iterator[str]:
    """The text of a file piece by piece, every line break a line feed."""
    decoder = codecs.getincrementaldecoder(codec_of(encoding, path))()
    held = ""
    try:
        for chunk in unpacked(path):
            text = held + decoder.decode(chunk)
            held = "\r" if text.endswith("\r") else ""
            yield _one_break(text[: len(text) - len(held)])
        yield _one_break(held + decoder.decode(b"", True))
    except UnicodeDecodeError as e:
        raise not_in(encoding, path) from e


def _one_break(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def not_in(encoding: str, path: Path) -> UnreadableFile:
    """The error for a text that is not in the encoding it is said to be in."""
    return UnreadableFile(
        f"the data are not {encoding} text",
        where=str(path),
        hint="save it again as UTF-8, or say which encoding it is in.",
    )
