"""The course of a batch: which tables there are, and what is done with them, in steps that are jobs of their own.

A table is protected anew by every command that says so; what is written before the first shows it as it is marked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from diskret.io.arb_commands import (
    Apriori,
    Batch,
    Clear,
    Command,
    Cover,
    GoInteractive,
    OpenMetadata,
    OpenMicrodata,
    OpenTable,
    ReadMicrodata,
    ReadTable,
    Recode,
    SafetyRule,
    SpecifyTable,
    Suppress,
    WriteTable,
)

Mistake = tuple[int, str, str]
"""Line, what is wrong, what to do."""
MOST_TABLES = 100
"""Tables between one <CLEAR> and the next; tau-ARGUS itself takes ten."""
LINKED = ("GH", "MOD")
"""Methods for all tables at once."""
Handler = Callable[[Any], None]


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A table of a batch, and what is said about it before anything protects it."""

    number: int
    data: OpenMicrodata | OpenTable
    metadata: OpenMetadata
    specified: SpecifyTable
    rules: SafetyRule | None = None
    read: ReadMicrodata | ReadTable | None = None
    apriori: tuple[Apriori, ...] = ()
    recodes: tuple[Recode, ...] = ()

    @property
    def name(self) -> str:
        """How jobs call it."""
        return f"table{self.number}"

    def has(self, variable: str) -> bool:
        """Whether a variable classifies it."""
        return variable.lower() in {name.lower() for name in self.specified.by}

    @property
    def commands(self) -> tuple[Command, ...]:
        """What is said about it, in the order of the batch."""
        said = (self.data, self.metadata, self.specified, self.rules, self.read, *self.apriori, *self.recodes)
        return tuple(sorted((each for each in said if each is not None), key=lambda each: each.line))


@dataclass(frozen=True, kw_only=True)
class Step:
    """One job: a table, or several together, protected or not, and the files that are written of it."""

    tables: tuple[Asked, ...]
    at: int
    """Line at which it is done."""
    suppress: Suppress | None = None
    writes: tuple[WriteTable, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Course:
    """The steps of a batch in their order, and what is wrong with it."""

    steps: tuple[Step, ...]
    mistakes: tuple[Mistake, ...]
    said: tuple[str, ...] = ()
    """What is not done because nobody would see it."""


def course_of(batch: Batch) -> Course:
    """The steps of a batch; commands that stand in the wrong place are named, all of them."""
    walk = _Walk()
    for command in batch.commands:
        walk.take(command)
    walk.close(batch.commands[-1].line if batch.commands else 1)
    if not walk.steps and not walk.mistakes:
        walk.mistakes.append((walk.last, "the batch makes no table", "add <SPECIFYTABLE> and what belongs to it."))
    kept = [each for at, each in enumerate(walk.steps) if at not in walk.undone]
    said = [f"line {each.specified.line}: nothing is done with table {each.number}" for each in walk.idle]
    for at, by in walk.undone.items():
        said.append(f"line {walk.steps[at].at}: undone by line {by.line} before anything of it is written")
    return Course(steps=tuple(sorted(kept, key=lambda each: each.at)), mistakes=tuple(walk.mistakes), said=tuple(said))


@dataclass
class _Walk:
    """Where a reader of the batch stands."""

    steps: list[Step] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    idle: list[Asked] = field(default_factory=list)
    undone: dict[int, Suppress] = field(default_factory=dict)
    """Steps of which nothing was written before they were undone, and by what."""
    data: OpenMicrodata | OpenTable | None = None
    metadata: OpenMetadata | None = None
    tables: dict[int, Asked] = field(default_factory=dict)
    current: dict[int, int] = field(default_factory=dict)
    """The step in which a table was last protected or written, by the number of the table."""
    touched: set[int] = field(default_factory=set)
    """Tables that something was said about since."""
    last: int = 1

    def take(self, command: Command) -> None:
        """Go on by one command."""
        self.last = command.line
        handlers: Mapping[type[Command], Handler] = {
            OpenMicrodata: self._open, OpenTable: self._open, OpenMetadata: self._describe, SpecifyTable: self._specify,
            SafetyRule: self._rule, ReadMicrodata: self._read, ReadTable: self._read, Apriori: self._prepare,
            Recode: self._recode, Suppress: self._suppress, WriteTable: self._write, Cover: self._cover,
        }  # fmt: skip
        if isinstance(command, Clear):
            self.close(command.line)
        elif type(command) in handlers:
            handlers[type(command)](command)

    def close(self, line: int) -> None:
        """The end of the batch, or of a part of it: if nothing was done with any table, they are marked and counted."""
        if self.tables and not any(each.read for each in self.tables.values()):
            self._wrong(line, "the tables are never read", "add <READMICRODATA> or <READTABLE>.")
        unused = [each for number, each in self.tables.items() if number not in self.current]
        if self.current:
            self.idle += unused
        else:
            self.steps += [Step(tables=(each,), at=each.read.line) for each in unused if each.read]
        self.data = self.metadata = None
        self.tables, self.current, self.touched = {}, {}, set()

    def _wrong(self, line: int, what: str, hint: str) -> None:
        self.mistakes.append((line, what, hint))

    def _open(self, command: OpenMicrodata | OpenTable) -> None:
        again = isinstance(command, OpenTable) and isinstance(self.data, OpenTable) and self.tables
        if self.data is not None and not again:
            self._wrong(command.line, "data are already open", "put <CLEAR> between two jobs.")
            return
        self.data, self.metadata = command, None

    def _describe(self, command: OpenMetadata) -> None:
        if self.data is None or self.metadata is not None:
            hint = "open the data before it: <OPENMICRODATA> or <OPENTABLEDATA>."
            self._wrong(command.line, "<OPENMETADATA> does not follow any data", hint)
            return
        self.metadata = command

    def _specify(self, command: SpecifyTable) -> None:
        if self.data is None or self.metadata is None:
            self._wrong(command.line, "<SPECIFYTABLE> comes before data and metadata", "open both before it.")
            return
        number = len(self.tables) + 1
        if number > MOST_TABLES:
            self._wrong(command.line, f"more than {MOST_TABLES} tables at once", "put <CLEAR> between some of them.")
            return
        self.tables[number] = Asked(number=number, data=self.data, metadata=self.metadata, specified=command)

    def _rule(self, command: SafetyRule) -> None:
        latest = self.tables.get(len(self.tables))
        if latest is None or latest.rules is not None:
            self._wrong(command.line, "<SAFETYRULE> does not follow a table", "put it after its <SPECIFYTABLE>.")
            return
        self.tables[latest.number] = replace(latest, rules=command)

    def _read(self, command: ReadMicrodata | ReadTable) -> None:
        wanted = OpenTable if isinstance(command, ReadTable) else OpenMicrodata
        if not self.tables:
            self._wrong(command.line, "there is no table to read", "put <SPECIFYTABLE> before it.")
        elif not isinstance(self.data, wanted):
            other = "<READMICRODATA>" if wanted is OpenTable else "<READTABLE>"
            self._wrong(command.line, "the open data are of the other kind", f"{other} reads them.")
        else:
            self.tables = {n: replace(each, read=each.read or command) for n, each in self.tables.items()}

    def _table(self, command: Apriori | Recode | Suppress | WriteTable) -> Asked | None:
        """The table a command is about, if there is such a one and it has been read."""
        table = self.tables.get(command.table)
        if table is None:
            there = f"there are {len(self.tables)}." if self.tables else "there is none yet."
            self._wrong(command.line, f"there is no table {command.table}", f"tables are counted from 1; {there}")
        elif table.read is None:
            hint = "put <READMICRODATA> or <READTABLE> before it."
            self._wrong(command.line, f"table {command.table} has not been read", hint)
            return None
        return table

    def _prepare(self, command: Apriori) -> None:
        if (table := self._table(command)) is not None:
            self.tables[table.number] = replace(table, apriori=(*table.apriori, command))
            self.touched.add(table.number)

    def _recode(self, command: Recode) -> None:
        """A variable is recoded in all tables that it classifies: tau-ARGUS knows each once."""
        named = self._table(command)
        for number, table in self.tables.items() if named is not None else ():
            if table is not named and not table.has(command.variable):
                continue
            if self._protected(number):
                hint = "put <RECODE> before <SUPPRESS>."
                self._wrong(command.line, f"table {number} is already protected and cannot be recoded", hint)
                continue
            self.tables[number] = replace(table, recodes=(*table.recodes, command))
            self.touched.add(number)

    def _protected(self, number: int) -> bool:
        return number in self.current and self.steps[self.current[number]].suppress is not None

    def _suppress(self, command: Suppress) -> None:
        if command.table == 0:
            self._together(command)
        elif (table := self._table(command)) is not None:
            self._begin(Step(tables=(table,), at=command.line, suppress=command))

    def _together(self, command: Suppress) -> None:
        unread = [n for n, each in self.tables.items() if each.read is None]
        if command.method not in LINKED:
            hint = "GH and MOD protect all tables together; name one table."
            self._wrong(command.line, f"{command.method} is not for linked tables", hint)
        elif not self.tables or unread:
            self._wrong(command.line, "the tables have not been read", "put <READMICRODATA> or <READTABLE> before it.")
        else:
            self._begin(Step(tables=tuple(self.tables.values()), at=command.line, suppress=command))

    def _begin(self, step: Step) -> None:
        numbers = {table.number for table in step.tables}
        for at in {self.current[number] for number in numbers & self.current.keys()}:
            before = self.steps[at]
            if step.suppress and not before.writes and {table.number for table in before.tables} <= numbers:
                self.undone[at] = step.suppress
        for table in step.tables:
            self.current[table.number] = len(self.steps)
            self.touched.discard(table.number)
        self.steps.append(step)

    def _write(self, command: WriteTable) -> None:
        table = self._table(command)
        if table is None:
            return
        if table.number in self.touched and self._protected(table.number):
            hint = "put <APRIORI> before <SUPPRESS>, or <SUPPRESS> after it once more."
            self._wrong(command.line, f"what is known of table {table.number} has changed since its protection", hint)
            return
        if table.number not in self.current or table.number in self.touched:
            self._begin(Step(tables=(table,), at=command.line))
        at = self.current[table.number]
        self.steps[at] = replace(self.steps[at], writes=(*self.steps[at].writes, command))

    def _cover(self, command: Cover) -> None:
        hint = "tau-ARGUS writes it for itself; here linked tables are protected as one: SUPPRESS with table 0."
        self._wrong(command.line, "<COVER> is not supported", hint)


def interactive(batch: Batch) -> GoInteractive | None:
    """Where the batch goes on at the screen, if it does."""
    return next((each for each in batch.commands if isinstance(each, GoInteractive)), None)
