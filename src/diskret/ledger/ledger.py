"""The ledger: a folder that remembers every table that was published, and what it tells beside the others."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from diskret.auditing.report import AuditReport
from diskret.io.structured import from_json
from diskret.ledger import index
from diskret.ledger.about import PERIOD, About
from diskret.ledger.asking import known_besides
from diskret.ledger.boxes import MOST_PARTS
from diskret.ledger.check import LedgerCheck, checked
from diskret.ledger.codes import Scheme, refuse_strange_periods, refuse_unknown
from diskret.ledger.contradictions import refuse_contradictions
from diskret.ledger.entry import Entry, EntryCells, cells_of
from diskret.ledger.linked import Linked
from diskret.ledger.linking import Given, Link, linked
from diskret.ledger.lock import alone_in
from diskret.ledger.looking import history_of
from diskret.ledger.published import fingerprint_of, published_cells
from diskret.ledger.related import all_periods, related
from diskret.ledger.remembering import Remembering
from diskret.ledger.schemes import Statements
from diskret.ledger.settled import keep_moves, kept_moves
from diskret.ledger.storage import place_of, read_entry, sweep, write_entry
from diskret.model.arrays import Floats
from diskret.model.errors import (
    BadOption,
    CannotWrite,
    DamagedLedger,
    DiskretError,
    LedgerBusy,
    MeaningUnknown,
    NoLedger,
    NoSuchEntry,
    listed,
)
from diskret.model.given import refuse_no_table
from diskret.model.hierarchy import Hierarchy
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.moves.move import MoveSet

FORMAT = 1
HEAD = "ledger.json"
MOST_HELD = 5_000_000
"""Cells that are kept in memory between checks: some 0.5 GB."""


def open_ledger(folder: str | Path, *, create: bool = False, read_only: bool = False) -> Ledger:
    """The ledger in a folder; with ``create`` a new one if there is none.

    A damaged ledger opens read-only and says in ``flaws`` what is lost.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as place:
    ...     open_ledger(Path(place) / "ledger", create=True)
    Ledger: 0 entries
    """
    path = Path(folder)
    if not (path / HEAD).is_file():
        if not create or read_only:
            raise NoLedger(
                "there is no ledger in this folder", where=str(path), hint="check the path, or make one: create=True."
            )
        _make(path)
    try:
        head = from_json((path / HEAD).read_text(encoding="utf-8"))
        version = int(head["diskret_ledger"])
    except (OSError, ValueError, LookupError, TypeError) as e:
        raise NoLedger("this is not the head of a ledger", where=str(path / HEAD), hint="put the file back.") from e
    if version > FORMAT:
        raise NoLedger(
            f"the ledger has version {version}, this diskret knows {FORMAT}", where=str(path), hint="use a newer one."
        )
    if read_only or not os.access(path, os.W_OK):
        chain = index.chain_of(path, keep=False)
        return Ledger(folder=path, entries=chain.entries, flaws=chain.flaws, read_only=True)
    with alone_in(path):
        sweep(path)
        chain = index.chain_of(path, keep=True)
    return Ledger(folder=path, entries=chain.entries, flaws=chain.flaws, read_only=bool(chain.flaws))


def _make(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        part = path / f"{HEAD}.part"
        if any(each.name not in ("lock", "entries", HEAD, part.name) for each in path.iterdir()):
            raise NoLedger(
                "the folder holds other files",
                where=str(path),
                hint="a ledger has a folder of its own: name a new one.",
            )
        path.chmod(0o700)
        (path / "entries").mkdir(exist_ok=True, mode=0o700)
        # a process that is killed, or makes the same ledger at the same time, leaves a whole head or none
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT, 0o600), "w", encoding="utf-8", newline="") as file:
            file.write(f'{{"diskret_ledger": {FORMAT}}}\n')
        with contextlib.suppress(FileNotFoundError):
            part.replace(path / HEAD)
    except OSError as e:
        raise CannotWrite(f"cannot make a ledger: {e.strerror}", where=str(path), hint="choose another folder.") from e


@dataclass(eq=False, kw_only=True)
class Ledger:
    """Everything that was published of one statistic, or of a family of them.

    It is opened by `open_ledger`. What stands in it is confidential: besides what was published it keeps true values,
    levels and contributions behind hidden cells.
    """

    folder: Path
    entries: tuple[Entry, ...]
    flaws: tuple[str, ...] = ()
    """What is lost or was changed; a ledger with flaws can be read only."""
    read_only: bool = False
    _held: dict[int, EntryCells] = field(default_factory=dict, repr=False)
    """Cells that were read, those read last at the end."""
    _supposed: Mapping[int, EntryCells] = field(default_factory=dict, repr=False)
    """Cells of entries that are not entered, only supposed."""

    # --- what is in it ----------------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        flawed = f", {len(self.flaws)} flaws, read-only" if self.flaws else ", read-only" if self.read_only else ""
        return f"Ledger: {len(self.entries)} entries{flawed}"

    def entry(self, which: str | int) -> Entry:
        """An entry by its name or number."""
        for entry in reversed(self.entries):
            if which in (entry.name, entry.number, str(entry.number)):
                return entry
        raise NoSuchEntry(
            f"no entry {which!r} in the ledger", where=str(self.folder),
            hint=f"it has {listed([e.name for e in self.entries], most=10)}.",
        )  # fmt: skip

    def cells(self, entry: Entry) -> EntryCells:
        """The cells of an entry, held against its hash."""
        if entry.number in self._supposed:
            return self._supposed[entry.number]
        cells = self._held.pop(entry.number, None)
        if cells is None:
            found, cells = read_entry(place_of(self.folder, entry.number))
            if found.hash != entry.hash:
                raise DamagedLedger(
                    f"entry {entry.number} ({entry.name}) is not the one that was entered", where=str(self.folder),
                    hint="put the file back from a copy.",
                )  # fmt: skip
        self._hold(entry.number, cells)
        return cells

    def _hold(self, number: int, cells: EntryCells) -> None:
        """Keep cells for the next check; what was asked for longest ago is let go where they become too many."""
        self._held[number] = cells
        while len(self._held) > 1 and sum(each.size for each in self._held.values()) > MOST_HELD:
            del self._held[next(iter(self._held))]

    @cached_property
    def _statements(self) -> Statements:
        """What all entries say of classifications."""
        return Statements.of(self.entries)

    @property
    def schemes(self) -> dict[str, Scheme]:
        """The classifications with all codes and groupings."""
        return self._statements.schemes

    # --- putting in -------------------------------------------------------------------------------------------------

    def add(
        self,
        table: Table,
        about: About,
        *,
        name: str,
        promise: Promise | None = None,
        intervals: tuple[Floats, Floats] | None = None,
        told: bool = True,
        data: str = "",
        on: str = "",
        settled: AuditReport | None = None,
        beside: Sequence[str] | None = None,
    ) -> Entry:
        """Remember a table as it was published; what contradicts an earlier entry is refused.

        ``settled`` is what the attack on the table beside the ledger found (``check(...).audit``, or that of
        ``suppress(..., ledger=...).beside``): its moves are kept, and need not be looked for in later checks.

        ``intervals`` are lower and upper ends that were published with it. ``told`` says that the values behind hidden
        cells are true ones; a table made elsewhere does not know them. ``data`` is a fingerprint of the data.
        """
        self._refuse_writing()
        with alone_in(self.folder):
            self._refresh()
            self._refuse_taken(name)
            entry, cells = self._prepared(table, about, name, promise, intervals, told, data, on)
            schemes = self._statements.and_also(entry).schemes
            near = self._beside(entry, schemes)
            if beside is not None and [each.name for each, _ in near] != [*beside]:
                raise LedgerBusy(
                    f"other tables were entered while {name!r} was protected", where=str(self.folder),
                    hint="protect it again: it was not looked at beside those.",
                )  # fmt: skip
            refuse_contradictions(near, (entry, cells), schemes)
            written = write_entry(self.folder, entry.head(), cells)
            index.learn(self.folder, written)
            self._accept(written, cells)
            if settled is not None and isinstance(settled.table, Linked):
                keep_moves(self.folder, written.number, settled.table, settled.moves)
        return written

    def add_published(
        self, path: str | Path, about: About, *, by: Mapping[str, Hierarchy | None], value: str, name: str, on: str = ""
    ) -> Entry:
        """Remember a table that was made elsewhere, from its published file: one row per cell, signs for hidden ones.

        ``by`` are the columns of codes with their hierarchies, ``value`` is the column of values; intervals stand in
        columns called like it with ``_lower`` and ``_upper``.
        """
        self._refuse_writing()
        trees, cells, decimals = published_cells(path, by, value, about)
        whole = np.nanmax(cells.shown, initial=0.0)
        entry = Entry(
            number=0, name=name, on=on or _today(), about=about, response=value,
            by={about.names.get(n, n): h for n, h in trees.items()}, cells=cells.size, hidden=int(cells.hidden.sum()),
            decimals=decimals, frequency=False, told=False, data=fingerprint_of(path),
            nonnegative=bool(np.nanmin(cells.shown, initial=whole) >= 0),
        )  # fmt: skip
        with alone_in(self.folder):
            self._refresh()
            last = self.entries[-1] if self.entries else None
            entry = replace(entry, number=1 + (last.number if last else 0), previous=last.hash if last else "")
            self._refuse_taken(name)
            self._refuse_unclear(entry)
            schemes = self._statements.and_also(entry).schemes
            refuse_contradictions(self._beside(entry, schemes), (entry, cells), schemes)
            written = write_entry(self.folder, entry.head(), cells)
            index.learn(self.folder, written)
            self._accept(written, cells)
        return written

    def _refuse_taken(self, name: str) -> None:
        if name in [entry.name for entry in self.entries]:
            raise BadOption(f"there is an entry called {name!r}", hint="give every table a name of its own.")

    def _refuse_writing(self) -> None:
        if self.flaws:
            raise DamagedLedger(
                f"nothing can be added: {self.flaws[0]}", where=str(self.folder),
                hint="put the files back from a copy; until then the ledger can be read and asked.",
            )  # fmt: skip
        if self.read_only:
            raise DamagedLedger("the ledger is open for reading only", where=str(self.folder), hint="open it anew.")

    def _refresh(self) -> None:
        """What other processes entered meanwhile."""
        last = self.entries[-1].number if self.entries else 0
        if not place_of(self.folder, last + 1).exists() and (not last or place_of(self.folder, last).exists()):
            return
        chain = index.chain_of(self.folder, keep=True)
        self.flaws = chain.flaws
        self._refuse_writing()
        if len(chain.entries) != len(self.entries):
            self.entries = chain.entries
            self.__dict__.pop("_statements", None)

    def _accept(self, entry: Entry, cells: EntryCells) -> None:
        self.__dict__["_statements"] = self._statements.and_also(entry)
        self.entries = (*self.entries, entry)
        self._hold(entry.number, cells)

    def _prepared(
        self, table: Table, about: About, name: str, promise: Promise | None,
        intervals: tuple[Floats, Floats] | None, told: bool, data: str, on: str,
    ) -> Given:  # fmt: skip
        """A table as an entry, not written yet."""
        refuse_no_table(table)
        if table.altered and not about.rounded:
            raise BadOption(
                f"values were changed ({table.altered}): the ledger does not know how far",
                hint="tables that were rounded are entered with rounded=...; others cannot be entered yet.",
            )
        unknown = [n for n in about.names if n not in table.by]
        if unknown:
            raise BadOption(
                f"names of classifications that the table does not have: {listed(unknown)}", hint="correct them."
            )
        by = {about.names.get(n, n): h for n, h in table.by.items()}
        twice = [n for n in about.codes if n in by]
        if twice:
            raise BadOption(f"the table is classified by {listed(twice)} and fixed there", hint="leave one out.")
        cells = cells_of(table, about, intervals)
        if not told:
            cells = replace(cells, value=np.where(cells.hidden, np.nan, cells.value), count=np.full(cells.size, -1))
        entry = Entry(
            number=1 + (self.entries[-1].number if self.entries else 0), name=name, on=on or _today(), about=about,
            response=table.response, by=by, cells=cells.size, hidden=int(cells.hidden.sum()), decimals=table.decimals,
            frequency=table.frequency, nonnegative=table.positive or not bool((table.value < 0).any()), told=told,
            promise={} if promise is None else promise.to_dict(), rules=table.rules, data=data,
            previous=self.entries[-1].hash if self.entries else "",
        )  # fmt: skip
        self._refuse_unclear(entry)
        return entry, cells

    def _refuse_unclear(self, entry: Entry) -> None:
        """Refuse what nobody can put beside the rest: new populations or values without a reason, unknown codes."""
        revised = entry.about.revises
        if revised and revised not in [each.name for each in self.entries]:
            raise NoSuchEntry(
                f"{entry.name!r} revises {revised!r}, and the ledger has no such entry", where=str(self.folder),
                hint=f"it has {listed([e.name for e in self.entries], most=10)}.",
            )  # fmt: skip
        known = {e.subject for e in self.entries}
        if known and entry.subject not in known and not entry.about.apart:
            told = [", ".join(part for part in subject if part) for subject in sorted(known)]
            raise MeaningUnknown(
                f"{entry.name!r} counts {', '.join(p for p in entry.subject if p)}; the ledger knows {listed(told)}",
                hint="name population, value and unit as the ledger does; if it is something else, say why: "
                "apart='...'.",
            )
        others = [e for e in self.entries if e.subject == entry.subject and e.about.ratio is None]
        if entry.about.ratio is None and any(each.about.stock != entry.about.stock for each in others):
            raise MeaningUnknown(
                f"{entry.name!r} and {others[0].name!r} do not say alike whether values are of a day (stock)",
                hint="say it of all tables of a value or of none; what is of a day is another value than what adds up.",
            )
        after = self._statements.and_also(entry).schemes
        for axis, scheme in after.items():
            refuse_unknown(scheme, self.schemes.get(axis), entry.name)
        if PERIOD in after and not entry.about.stock:
            refuse_strange_periods(after[PERIOD], all_periods(entry), entry.name)

    def verify(self) -> tuple[str, ...]:
        """Hold every number of every entry against its hash; what is lost or was changed, in words."""
        flaws = list(self.flaws)
        for entry in self.entries:
            try:
                found, _ = read_entry(place_of(self.folder, entry.number))
            except DiskretError as e:
                flaws.append(f"entry {entry.number} ({entry.name}): {e.what}")
                continue
            if found.hash != entry.hash:
                flaws.append(f"entry {entry.number} ({entry.name}) is not the one that was entered")
            elif _said(found) != _said(entry):
                flaws.append(f"the index belies entry {entry.number} ({found.name}): remove the index")
        return tuple(dict.fromkeys(flaws))

    @property
    def last_hash(self) -> str:
        """The hash of the last entry, and so of all of them: whoever keeps it elsewhere notices any change."""
        return self.entries[-1].hash if self.entries else ""

    # --- asking -----------------------------------------------------------------------------------------------------

    def check(
        self, table: Table, about: About, promise: Promise = Promise(), *, name: str = "the new table"
    ) -> LedgerCheck:
        """Attack a table together with everything published that is connected with it."""
        entry, link = self.link(table, about, promise, name=name)
        return checked(link, entry, promise, self.moves_of(link))

    def moves_of(self, link: Link) -> MoveSet:
        """Moves kept of earlier checks, of cells that are there; proposals that nobody believes."""
        near = [each.number for each in self.entries if each.name in link.connected]
        return kept_moves(self.folder, near, link.cells)

    def link(
        self, table: Table, about: About, promise: Promise = Promise(), *, name: str = "the new table",
        parts: int = MOST_PARTS,
    ) -> tuple[Entry, Link]:  # fmt: skip
        """A table and everything connected with it, as one system.

        Groups of cells that overlap are taken apart into so many ``parts`` at most.
        """
        entry, cells = self._prepared(table, about, name, promise, None, True, "", "")
        schemes = self._statements.and_also(entry).schemes
        beside = self._beside(entry, schemes)
        refuse_contradictions(beside, (entry, cells), schemes)
        stocks = [e.subject for e in (*self.entries, entry) if e.about.stock]
        link = linked(beside, (entry, cells), schemes, stocks, table.judges, parts)
        return entry, replace(link, cells=known_besides(link.cells, promise.knowledge), flaws=self.flaws)

    def supposing(self, table: Table, about: About, *, name: str) -> Ledger:
        """The ledger as if one more table stood in it, such as one that is to be published together with the next."""
        entry, cells = self._prepared(table, about, name, None, None, True, "", "")
        schemes = self._statements.and_also(entry).schemes
        refuse_contradictions(self._beside(entry, schemes), (entry, cells), schemes)
        return replace(self, entries=(*self.entries, entry), _supposed={**self._supposed, entry.number: cells})

    def history(self, codes: Mapping[str, str], value: str = "") -> list[dict[str, Any]]:
        """Everything that was ever published about one cell, by what it counts; what was hidden is None."""
        return history_of(self, codes, value)

    def _beside(self, entry: Entry, schemes: Mapping[str, Scheme]) -> list[Given]:
        """All entries that may be connected with a new one, with their cells."""
        return [(each, self.cells(each)) for each in related(self.entries, entry, schemes.get(PERIOD))]

    def about(self, about: About, name: str = "the new table") -> Remembering:
        """The ledger as `suppress` takes it: with what the table counts that is to be protected."""
        return Remembering(ledger=self, about=about, name=name)


def _said(entry: Entry) -> str:
    """What an entry says of itself, to be compared."""
    return json.dumps(entry.head(), sort_keys=True)


def _today() -> str:
    return datetime.now(UTC).date().isoformat()
