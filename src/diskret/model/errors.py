"""What can be wrong with what a user hands in: each kind has a class, a code and a place in docs/errors.md.

Every message says what is wrong, where, and what to do. Messages never contain a value of the data: a cell is named by
its codes, a record by its row, a text that should have been a number by its shape (digits become ``#``).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, ClassVar, Self

from diskret.model.cures import Cure as Cure
from diskret.model.spelling import listed as listed
from diskret.model.spelling import masked as masked
from diskret.model.spelling import nearest, spelled, visible

LONGEST = 10_000
"""Characters of a message: a code of a million characters is not repeated."""
NORMALISE = Cure(key="data.normalise", value=True, label="take spellings that look alike as one code")


STANDING_FOR = ("-", "–", "—", ".", "..", "...", "…", "/", "x", "X", "|", "()", "*")
"""Signs of official tables that stand in the place of a number: nothing, unknown, not reliable, secret."""


class DiskretError(Exception):
    """Base of everything diskret refuses; carries the parts of its message separately.

    >>> print(UnknownCode.in_column("region", ["05999"], known=["05911", "12345"]))
    [H1] code '05999' in column 'region' is not in its hierarchy
      what to do: did you mean '05911'? Otherwise add the code to the hierarchy, or correct the data.
    """

    code: ClassVar[str] = "D0"

    def __init__(
        self, what: str, *, where: str = "", hint: str = "", cures: Sequence[Cure] = (), rows: Sequence[int] = ()
    ) -> None:
        what = what if len(what) <= LONGEST else f"{what[:LONGEST]} …"
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint
        self.cures = tuple(cures)
        """Choices that cure it, for those who make them by a button or a key of the job."""
        self.rows = tuple(rows)
        """The first rows of the data it is about, from 1; what stands there is told to nobody."""

    def cured_by(self, *cures: Cure) -> Self:
        """The same error with further cures, for whoever knows more about the job than those who found it."""
        self.cures += tuple(cure for cure in cures if cure not in self.cures)
        return self

    @property
    def docs(self) -> str:
        """The section of docs/errors.md that explains this error."""
        return f"docs/errors.md#{self.code.lower()}"

    def plain(self) -> dict[str, Any]:
        """The same as data, for programs."""
        cures = [{"key": c.key, "path": list(c.path), "value": c.value, "label": c.label} for c in self.cures]
        return {
            "code": self.code, "what": self.what, "where": self.where, "hint": self.hint, "docs": self.docs,
            "cures": cures, "rows": list(self.rows),
        }  # fmt: skip

    def __str__(self) -> str:
        lines = [f"[{self.code}] {self.what}"]
        if self.where:
            lines.append(f"  where: {self.where}")
        if self.hint:
            lines.append(f"  what to do: {self.hint}")
        return "\n".join(lines)


class ProtectionWarning(UserWarning):
    """The software worked, but the result deserves care."""


# --- hierarchies -----------------------------------------------------------------------------------------------------


class UnknownCode(DiskretError):
    """A code in the data that its hierarchy does not know."""

    code = "H1"

    @classmethod
    def in_column(
        cls, column: str, codes: Sequence[str], known: Iterable[str], rows: Sequence[int] = ()
    ) -> UnknownCode:
        """Name up to ten codes, and one that the hierarchy spells in another way, or the nearest to the first."""
        there = list(known)
        return cls(
            f"codes {listed(codes)} in column {column!r} are not in their hierarchy"
            if len(codes) > 1
            else f"code {listed(codes)} in column {column!r} is not in its hierarchy",
            hint=_respelled(codes, there, "the hierarchy") or _missing_code(codes[0], there),
            cures=[NORMALISE] if spelled(codes, there) else (),
            rows=rows,
        )


class DuplicateCode(DiskretError):
    """A code that is listed twice in one hierarchy."""

    code = "H2"


class TwoParents(DiskretError):
    """A code that feeds two sums of one hierarchy."""

    code = "H3"


class HierarchyCycle(DiskretError):
    """Codes that are, over some steps, part of themselves."""

    code = "H4"


class BrokenLevels(DiskretError):
    """Levels, prefixes or indents from which no tree can be read."""

    code = "H5"


class SumInRecords(DiskretError):
    """A record coded to a sum; only the finest codes may carry records."""

    code = "H6"


class MissingCode(DiskretError):
    """A record or cell without a code in one of its classifications."""

    code = "H7"


class TotalInData(DiskretError):
    """A code that looks like a total of its classification, and nobody has said whether it is one."""

    code = "H8"
    suspects: tuple[Any, ...] = ()
    """Each `diskret.model.totals.Suspect`: a code and why it looks so."""


# --- data ------------------------------------------------------------------------------------------------------------


class MissingColumn(DiskretError):
    """A column that was asked for and is not there."""

    code = "T1"
    near: Mapping[str, str] = MappingProxyType({})
    """What such a column may be called in the data."""

    @classmethod
    def named(cls, wanted: Sequence[str], present: Sequence[str], where: str) -> MissingColumn:
        """Name the columns that are missing, the ones that are there, and the nearest match."""
        # A number is not a column name: the first line is a record, and its values must not reach a message.
        # Nor is what follows a line break, where a quotation mark was not closed.
        shown = [name.splitlines()[0] if "\n" in name else name for name in present]
        names = [masked(name) if _is_number(name) else name for name in shown]
        near = nearest(wanted[0], names)
        guess = _respelled(wanted, names, "the file") or (f"did you mean {visible(near)}?" if near else "")
        alike = [name for name in names if name.lower() == wanted[0].lower()]
        if alike:
            guess = f"did you mean {visible(alike[0])}? Names that differ in their capitals only get a number."
        if any(map(_is_number, shown)):
            guess = "the first line must hold the names of the columns."
        error = cls(
            f"no column {listed(wanted)}",
            where=where,
            hint=f"{guess} The columns are {listed(names, most=20)}.".lstrip(),
        )
        error.near = _near_names(wanted, names)
        return error


class NotANumber(DiskretError):
    """Text where a number should stand."""

    code = "T2"

    @classmethod
    def in_column(cls, column: str, text: str, rows: Sequence[int], where: str, decimal: str = ".") -> NotANumber:
        """Name the column and the first rows, and show the shape of the first text."""
        hint = "write numbers with a decimal point and no thousands separator."
        if decimal == ",":
            hint = "write numbers with a decimal comma; points may only stand between groups of three digits."
        elif "," in text:
            hint = 'set decimal = "," if the file uses a decimal comma; otherwise ' + hint
        hint = _sign_hint(text.strip()) or hint
        return cls(
            f"column {column!r} holds text that is not a number, like {masked(text)!r}",
            where=f"{where}, {'rows' if len(rows) > 1 else 'row'} {listed(rows[:10])}",
            hint=hint,
            rows=rows,
        )


class NotFinite(DiskretError):
    """A missing, infinite or undefined number."""

    code = "T3"


class NegativeValue(DiskretError):
    """A negative value in a table declared positive, or a negative count or sampling weight."""

    code = "T4"


class DuplicateCell(DiskretError):
    """Two rows for one cell."""

    code = "T5"


class WrongSum(DiskretError):
    """Sums that do not equal the sum of their parts."""

    code = "T6"


class EmptyData(DiskretError):
    """A file or frame without rows."""

    code = "T7"


class UnreadableFile(DiskretError):
    """A file that is missing, cut off, or not what its name says."""

    code = "T8"


class UnclearFile(UnreadableFile):
    """A file that can be read in more than one way, where a wrong guess would change what it says."""

    code = "T14"


class TableTooLarge(DiskretError):
    """A table that does not fit the memory that is free."""

    code = "T9"


class BadPriorKnowledge(DiskretError):
    """A prior interval that does not cover the value it is about."""

    code = "T10"


class TooLarge(DiskretError):
    """A file that holds more than its kind is allowed to."""

    code = "T11"

    @classmethod
    def over(cls, limit: str, most: int, what: str, where: str = "") -> TooLarge:
        """Say what was found, what is allowed, and how to allow more."""
        return cls(
            f"{what}; the limit {limit!r} is {most:,}",
            where=where,
            hint=f"is it the right file? If so, set DISKRET_LIMITS={limit}=NUMBER and read it again.",
        )


class NotExact(DiskretError):
    """Numbers, or sums of them, that cannot be held to their last decimal."""

    code = "T13"

    @classmethod
    def rows_of(cls, column: str, found: int, first: Sequence[int], where: str) -> NotExact:
        """Say in which rows such numbers stand."""
        return cls(
            f"column {column!r} has {found} {'number' if found == 1 else 'numbers'} with more digits than can be held "
            "exactly",
            where=f"{where}, {'rows' if len(first) > 1 else 'row'} {listed(first[:10])}",
            hint="use a larger unit, such as 1000 EUR, or fewer decimals.",
            rows=first,
        )

    @classmethod
    def sums(cls, column: str, decimals: int, most: int, where: str) -> NotExact:
        """Say how large sums may be."""
        what = f"{decimals} decimals" if decimals else "whole numbers"
        return cls(
            f"sums of {column!r} may exceed {most:,}, beyond which {what} cannot be held exactly",
            where=where,
            hint="use a larger unit, such as 1000 EUR, or fewer decimals.",
        )


class NotEnoughMemory(DiskretError):
    """Work for which the memory does not suffice that is free now."""

    code = "T12"

    @classmethod
    def at(cls, where: str = "") -> NotEnoughMemory:
        """Say so, and what may help."""
        return cls(
            "there is not enough memory",
            where=where,
            hint="end other programs, allow this one more, or use coarser hierarchies and fewer classifications.",
        )


# --- microdata -------------------------------------------------------------------------------------------------------


class SharedCellsDiffer(DiskretError):
    """Linked tables that do not agree about the cells they share."""

    code = "L1"


class NothingShared(DiskretError):
    """A table of a pool that has nothing to do with the others."""

    code = "L2"


class LateTable(DiskretError):
    """A late table that cannot be protected without touching tables that are published."""

    code = "L3"


class TooFewUnits(DiskretError):
    """Fewer units than a group needs."""

    code = "M1"

    @classmethod
    def in_column(cls, column: str, found: int, m: int, where: str) -> TooFewUnits:
        """Say how many values there are to group and how many a group needs."""
        return cls(
            f"column {column!r} has {found} values to group, a group needs {m}",
            where=where,
            hint="leave the column out, drop it from the release, or pool the waves; zeros and missing do not count.",
        )


class ConstantColumn(DiskretError):
    """A column in which all values are equal."""

    code = "M2"

    @classmethod
    def named(cls, columns: Sequence[str], where: str) -> ConstantColumn:
        """Name the columns; a constant has no correlation with anything."""
        return cls(
            f"column {listed(columns)} is constant among the units that have a value, so it has no correlation",
            where=where,
            hint="leave it out of the noise: a constant tells nothing about a single unit.",
        )


class NotPositiveDefinite(DiskretError):
    """Correlations that no random vector can have."""

    code = "M3"


class InfeasibleNoise(DiskretError):
    """A shift of the noise that is too large for its standard deviation and correlations."""

    code = "M4"


class BadOption(DiskretError):
    """A parameter outside what it may be, or parameters that do not go together."""

    code = "O1"


class MissingExtra(DiskretError):
    """An optional part of diskret that is not installed."""

    code = "O2"

    @classmethod
    def needed(cls, extra: str, what: str) -> MissingExtra:
        """Say which extra brings it."""
        return cls(f"{what} needs the extra {extra!r}, which is not installed", hint=f"pip install 'diskret[{extra}]'")

    @classmethod
    def behind(cls, error: ImportError, extra: str, what: str) -> MissingExtra:
        """Say what could not be imported, and which extra brings it; what diskret itself lacks is raised again."""
        name = (error.name or "").partition(".")[0]
        if name in ("", "diskret"):
            raise error
        lacks = f"needs {name!r}, which "
        lacks += "is not installed" if isinstance(error, ModuleNotFoundError) else "is installed in another version"
        return cls(f"{what} {lacks}", hint=f"pip install 'diskret[{extra}]'")


class MissingPackage(DiskretError):
    """A package of others that is not installed."""

    code = "O3"

    @classmethod
    def needed(cls, package: str) -> MissingPackage:
        """Say which one."""
        return cls(f"the package {package!r} is not installed", hint=f"pip install {package}")


class BadJob(DiskretError):
    """A job file with mistakes; all of them at once."""

    code = "J1"


class CannotWrite(DiskretError):
    """Output that could not be written; whatever was there before is untouched."""

    code = "W1"


# --- cell keys -------------------------------------------------------------------------------------------------------


class BadPTable(DiskretError):
    """A perturbation table that is not valid: no distributions, biased, or one that makes zeros positive."""

    code = "K1"


class BadRecordKeys(DiskretError):
    """Record keys out of their range, or all equal."""

    code = "K2"


# --- perturbation ----------------------------------------------------------------------------------------------------


class ChangeOutOfReach(DiskretError):
    """Primary cells that no move can change as much as their rule demands."""

    code = "P1"


class RoundingOutOfReach(DiskretError):
    """Linked tables for which no controlled rounding was found."""

    code = "P2"


class NotProtected(DiskretError):
    """A table that is to leave although nothing shows that it is protected."""

    code = "W5"


class OutsideWorkspace(DiskretError):
    """A file the page was asked for that is not in its workspace."""

    code = "W2"

    @classmethod
    def named(cls, name: str) -> OutsideWorkspace:
        """Name it as it was asked for."""
        return cls(
            f"{name!r} is not inside the workspace",
            hint="put the file into the workspace, or start with another one: diskret serve --workspace FOLDER.",
        )


class UploadTooLarge(DiskretError):
    """A file that is larger than the page takes."""

    code = "W3"

    @classmethod
    def over(cls, most: int) -> UploadTooLarge:
        """Say how large a file may be."""
        return cls(
            f"more than {most:,} bytes were sent",
            hint="put the file into the workspace yourself, or start with diskret serve --most-upload MEGABYTES.",
        )


class NoSuchRun(DiskretError):
    """A run the page was asked for that is not there, or not in the state that is needed."""

    code = "W4"


class DamagedRun(DiskretError):
    """A run of the page whose folder is not as its process left it."""

    code = "W6"

    @classmethod
    def found(cls, run: str, why: str) -> DamagedRun:
        """Say which run, and what is wrong with it."""
        return cls(
            f"the run {run!r} is damaged: {why}", hint="delete it on the page Runs, and start again from its job file."
        )


class ChangedElsewhere(DiskretError):
    """What the page was asked to do belongs to a choice, or to data, that are no longer those that were seen."""

    code = "W8"

    @classmethod
    def choice(cls) -> ChangedElsewhere:
        """Another tab, or another server, changed the choice."""
        return cls("the choice was changed elsewhere, in another tab or by another server", hint="look at it again.")

    @classmethod
    def data(cls) -> ChangedElsewhere:
        """A file that the choice names has changed."""
        return cls("a file of this choice has changed since it was shown", hint="look at it again.")


class ReadingFailed(DiskretError):
    """A file that the page's reader could not cope with: it crashed, took too long or needed too much memory."""

    code = "W7"

    @classmethod
    def ended(cls, how: str, where: str) -> ReadingFailed:
        """Say how it ended."""
        return cls(
            f"reading was given up: the process that reads {how}",
            where=where,
            hint="is it the right file, and whole? Everything else goes on; `diskret run` reads without these limits.",
        )


# --- the ledger ------------------------------------------------------------------------------------------------------


class NoLedger(DiskretError):
    """A folder that is no ledger, or one of a version this diskret does not know."""

    code = "B1"


class DamagedLedger(DiskretError):
    """A ledger of which something is lost or changed: it can be read and not be written."""

    code = "B2"


class LedgerBusy(DiskretError):
    """A ledger that another process has been writing to for long."""

    code = "B3"


class Contradiction(DiskretError):
    """A cell that was entered before with another value."""

    code = "B4"


class MeaningUnknown(DiskretError):
    """A table of which it is not said how what it counts relates to what the ledger knows."""

    code = "B5"


class NotBeside(DiskretError):
    """A table that cannot be protected beside what is published already."""

    code = "B7"
    because: tuple[str, ...] = ()
    """For the first cells concerned the published cells that make it impossible, none of which could be missing."""
    instead: tuple[str, ...] = ()
    """What could be released instead."""
    lost: tuple[int, ...] = ()
    """The cells of the table that stay exposed."""


class NoSuchEntry(DiskretError):
    """An entry or cell that is not in the ledger."""

    code = "B6"


# --- risk ------------------------------------------------------------------------------------------------------------


class BadShares(DiskretError):
    """Shares of a population that are none: negative, of the wrong form, not summing to one, or contradictory."""

    code = "R1"


class NothingToLink(DiskretError):
    """Two files that have no keys, codes or units in common, so that an attack has nothing to go by."""

    code = "R2"


def _respelled(texts: Sequence[str], known: Sequence[str], who: str) -> str:
    """What to do about a text that is there in another spelling; empty if none is."""
    found = spelled(texts, known)
    if found is None:
        return ""
    return f"{who} writes {visible(found[1])} for {visible(found[0])}: set normalise = true, or write both alike."


def _missing_code(code: str, known: Sequence[str]) -> str:
    near = nearest(code, known)
    guess = f"did you mean {visible(near)}? Otherwise add" if near else "add"
    return f"{guess} the code to the hierarchy, or correct the data."


def _near_names(wanted: Sequence[str], present: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for name in wanted:
        alike = next((each for each in present if each.lower() == name.lower()), None) or nearest(name, present)
        if alike and alike not in found.values():
            found[name] = alike
    return found


def _sign_hint(text: str) -> str:
    """What to do about a text that is no number by a sign that offices write; empty if there is none."""
    if text in STANDING_FOR:
        return (
            f"{text!r} stands for a number that is zero, unknown, secret or not there: put a number, or leave it out."
        )
    if re.fullmatch(r"[0-9.,\s]+[-−]", text) or re.fullmatch(r"\([0-9.,\s]+\)", text):
        return "write a minus before the number, not after it or as brackets."
    if text.endswith("%"):
        return "write the number without the percent sign."
    if re.search(r"[€$£¥]|\b(EUR|USD|CHF|GBP)\b", text):
        return "write the number without its currency."
    return ""


def _is_number(text: str) -> bool:
    return bool(re.fullmatch(r"[\s+-]*[.,]*\d[\d.,]*([eE][+-]?\d+)?\s*(_\d+)?", text))
