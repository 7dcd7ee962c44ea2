"""SDMX-ML as data: the observations of a structure-specific message, flat or in series, as columns of text.

The file is walked through, never built in memory as a tree; document types, whose entities can explode, are refused.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from diskret.model.damage import reading
from diskret.model.errors import EmptyData, UnreadableFile
from diskret.model.limits import refuse_more
from diskret.model.places import plain_file

MESSAGES = {".xml"}
CHUNK = 1 << 20
NO_MESSAGE = "the file is not an SDMX-ML message"
SAVE = "ask for structure-specific data, or SDMX-CSV."


@dataclass(frozen=True, kw_only=True)
class Message:
    """A file with an SDMX-ML message."""

    path: Path


@dataclass(kw_only=True)
class _Observations:
    """What was seen of a message so far; what stands at a series holds for its observations."""

    where: str
    columns: dict[str, list[str | None]] = field(default_factory=dict)
    series: dict[str, str] = field(default_factory=dict)
    rows: int = 0
    begun: bool = False

    def start(self, element: str, given: dict[str, str]) -> None:
        name = element.rpartition(":")[2]
        if not self.begun:
            self.begun = True
            if name.startswith("Generic"):
                raise UnreadableFile("generic SDMX-ML is not read", where=self.where, hint=SAVE)
            if not name.startswith("StructureSpecific") or not name.endswith("Data"):
                raise UnreadableFile(NO_MESSAGE, where=self.where, hint=SAVE)
        elif name == "Series":
            self.series = given
        elif name == "Obs":
            self._observe(self.series | given)

    def end(self, element: str) -> None:
        if element.rpartition(":")[2] == "Series":
            self.series = {}

    def _observe(self, given: dict[str, str]) -> None:
        for name, text in given.items():
            if ":" not in name:
                column = self.columns.setdefault(name, [])
                column.extend([None] * (self.rows - len(column)))
                column.append(text or None)
        self.rows += 1
        refuse_more("columns", len(self.columns), "the message has {} columns", self.where)
        refuse_more("rows", self.rows, "the message has {} observations", self.where)


def read_message(source: Message) -> dict[str, list[str | None]]:
    """The observations of a message; every dimension, measure and attribute is a column.

    >>> import tempfile
    >>> head, tail = "<m:StructureSpecificData xmlns:m='x'><DataSet>", "</DataSet></m:StructureSpecificData>"
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "t.xml"
    ...     _ = path.write_text(f"{head}<Series S='m'><Obs T='2025' OBS_VALUE='1'/></Series><Obs S='w'/>{tail}")
    ...     read_message(Message(path=path))
    {'S': ['m', 'w'], 'T': ['2025', None], 'OBS_VALUE': ['1', None]}
    """
    path = plain_file(source.path)
    where = str(path)
    refuse_more("bytes", path.stat().st_size, "the file has {} bytes", where)
    found = _Observations(where=where)
    with reading(where, NO_MESSAGE, SAVE):
        _walk(path, found)
    if not found.rows:
        raise EmptyData("the message has no observations", where=where, hint="was it written completely?")
    for column in found.columns.values():
        column.extend([None] * (found.rows - len(column)))
    return found.columns


def _walk(path: Path, found: _Observations) -> None:
    parser = expat.ParserCreate()

    def refuse_doctype(*_: object) -> None:
        raise UnreadableFile("the message has a document type, which none has", where=found.where, hint=SAVE)

    parser.StartDoctypeDeclHandler = refuse_doctype
    parser.StartElementHandler = found.start
    parser.EndElementHandler = found.end
    fed = 0
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                parser.Parse(chunk, False)
                fed += len(chunk)
                # a tag that does not end is read from its beginning again and again
                behind = fed - max(parser.CurrentByteIndex, 0) - len(chunk)
                refuse_more("text", behind, "a tag has {} characters", found.where)
        parser.Parse(b"", True)
    except expat.ExpatError as e:
        where = f"{found.where}: line {e.lineno}"
        raise UnreadableFile("the message is damaged", where=where, hint="was it written completely?") from e
