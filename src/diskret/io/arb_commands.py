"""The commands of a tau-ARGUS batch as values, one type each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Command:
    """A line of a batch: where it stands, and as it is written."""

    line: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Remark(Command):
    """A line for readers."""


@dataclass(frozen=True, kw_only=True)
class Named(Command):
    """A command that names a file and nothing else."""

    file: str


class OpenMicrodata(Named):
    """Records are in this file."""


class OpenTable(Named):
    """Cells are in this file."""


class OpenMetadata(Named):
    """What the columns of the data are."""


class Logbook(Named):
    """Where to log."""


class VersionInfo(Named):
    """Where to write which programme runs."""


@dataclass(frozen=True, kw_only=True)
class SpecifyTable(Command):
    """A table: explanatory variables, response, and the variables of rules and costs."""

    by: tuple[str, ...]
    response: str | None
    """None for a table of frequencies."""
    shadow: str | None = None
    cost: str | None = None
    """A variable, or -1, -2 or -3."""
    power: float | None = None
    """Lambda: the power to which costs are raised."""


@dataclass(frozen=True, kw_only=True)
class Rule:
    """A safety rule with its numbers."""

    name: str
    numbers: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class SafetyRule(Command):
    """The rules of the latest table; none: the statuses of its cells are given."""

    rules: tuple[Rule, ...]


class ReadMicrodata(Command):
    """Tabulate."""


@dataclass(frozen=True, kw_only=True)
class ReadTable(Command):
    """Take the cells in: 0 sums are checked, 1 missing ones are computed, 2 they need not be true."""

    sums: int = 0
    keep_status: bool = False


@dataclass(frozen=True, kw_only=True)
class Apriori(Command):
    """A file that says of single cells what they are."""

    file: str
    table: int
    separator: str
    ignore_errors: bool = True
    expand: bool = False


@dataclass(frozen=True, kw_only=True)
class Recode(Command):
    """A coarser classification: by a file, or by closing deeper levels."""

    table: int
    variable: str
    file: str | None = None
    level: int | None = None


@dataclass(frozen=True, kw_only=True)
class Suppress(Command):
    """How a table is protected; table 0 means all of them together."""

    method: str
    table: int
    numbers: tuple[float | None, ...] = ()
    """What stands behind the table; None where nothing stands between two commas."""
    files: tuple[str, ...] = ()
    """Perturbation tables of the cell-key method: of counts or values, and of small values."""
    extra: float | None = None
    """Additional noise of sensitive cells."""

    def number(self, at: int) -> float | None:
        """The number at a place behind the table, from 0."""
        return self.numbers[at] if at < len(self.numbers) else None


@dataclass(frozen=True, kw_only=True)
class WriteTable(Command):
    """A file to write, of one of seven types."""

    table: int
    kind: int
    file: str
    options: Mapping[str, bool] = field(default_factory=dict)
    older: bool = False
    """Whether the options are the one digit of older batches."""


@dataclass(frozen=True, kw_only=True)
class Solver(Command):
    """The solver to take, perhaps with its licence."""

    name: str
    licence: str = ""


class Clear(Command):
    """Forget everything and begin anew."""


class GoInteractive(Command):
    """Go on at the screen."""


class Cover(Command):
    """Protect the cover table of linked tables."""


@dataclass(frozen=True, kw_only=True)
class Other(Command):
    """A command without a meaning here: SILENT, ANCO, JJ."""

    keyword: str


@dataclass(frozen=True, kw_only=True)
class Batch:
    """A batch file, command by command."""

    path: Path
    commands: tuple[Command, ...]
