"""The desk: requests answered beside everything a ledger knows, and remembered there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import count
from typing import Any

import numpy as np

from diskret.ledger.about import About
from diskret.ledger.ledger import Ledger
from diskret.ledger.lock import alone_in
from diskret.model.errors import BadOption, Contradiction, DamagedLedger, LedgerBusy
from diskret.model.hierarchy import Hierarchy
from diskret.model.table import Table
from diskret.requests.answering import Answer, answer, answer_table
from diskret.requests.beside import House
from diskret.requests.located import about_of, located
from diskret.requests.query import Query
from diskret.requests.records import Records
from diskret.requests.register import Register
from diskret.requests.rounding import rounded_table
from diskret.requests.shown import ALL, trees_of


@dataclass(frozen=True, eq=False, kw_only=True)
class Desk:
    """Where requests are answered: records, the rules of the house, what is counted, and the ledger.

    >>> import tempfile
    >>> from diskret import open_ledger, rules
    >>> firms = {"region": list("AAAABBBB"), "x": [5, 6, 7, 8, 5, 6, 7, 8]}
    >>> with tempfile.TemporaryDirectory() as place:
    ...     desk = Desk(
    ...         records=Records.of(firms, ["region"], ["x"]), house=House(rules=rules.MinCount(3) | rules.PPercent(10)),
    ...         about=About(population="firms", period="2024", unit="EUR"), ledger=open_ledger(place, create=True),
    ...     )
    ...     first = desk.answer(Query(by=("region",), value="x"), who="project 12")
    ...     again = desk.answer(Query(by=("region",), value="x"))
    ...     first.kind, again.kind, again.earlier, desk.ledger
    ('table', 'table', 'request 1', Ledger: 1 entries)
    """

    records: Records
    house: House
    about: About
    """What all tables of these records count: population, period and unit."""
    ledger: Ledger

    def answer(self, query: Query, *, who: str = "", reduce: bool = True, on: str = "") -> Answer:
        """Answer a request and remember it; the same question is given the same answer again."""
        register = Register(self.ledger.folder)
        if self.ledger.flaws or self.ledger.read_only:
            raise DamagedLedger(
                "the ledger cannot be written, so no answer could be remembered", where=str(self.ledger.folder),
                hint="an answer that nobody remembers is a hole for all later ones: mend the ledger first.",
            )  # fmt: skip
        register.place.mkdir(mode=0o700, exist_ok=True)
        with alone_in(register.place):
            earlier = register.entries()
            for before in earlier:
                if before["key"] == query.key() and before["data"] == self.records.fingerprint:
                    return self._again(query, before)
            known = len(self.ledger.entries)
            done = self._judged(query, reduce)
            name = self._name(len(earlier) + 1)
            on = on or datetime.now(UTC).date().isoformat()
            table = _kept(done)
            if table is not None:
                self.ledger.add(
                    table, self._about(done), name=name, promise=self.house.promised(query.value is None),
                    data=self.records.fingerprint, on=on,
                )  # fmt: skip
                if len(self.ledger.entries) != known + 1:
                    raise LedgerBusy(
                        "other tables were entered while the request was answered", where=str(self.ledger.folder),
                        hint="ask again: the answer is remembered as given, and was not looked at beside those.",
                    )  # fmt: skip
            register.add(self._remembered(query, done, name, who, on), len(earlier))
            return done

    def _judged(self, query: Query, reduce: bool) -> Answer:
        """The answer beside what the records can tell, and beside the rest by the check of the ledger."""
        known = located(self.ledger, self.records, self.about, query.value)
        done = answer(self.records, query, self.house, known.shown, reduce=reduce)
        table = _kept(done)
        if not known.beyond or table is None:
            return done
        try:
            checked = self.ledger.check(table, self._about(done), self.house.promise, name="the answer")
            if checked.safe:
                return done
            said = checked.report().splitlines()[1:]
        except Contradiction as e:
            # the records were revised: the change of one of them would be the difference of two answers
            said = [e.what, *([e.where] if e.where else [])]
        reasons = (*done.reasons, *said)
        return Answer(kind="refused", asked=query, given=None, table=None, reasons=reasons)

    def _about(self, done: Answer) -> About:
        """What the table of an answer counts."""
        assert done.given is not None
        return replace(self._apart(about_of(self.about, self.records, done.given)), rounded=done.rounded)

    def _name(self, number: int) -> str:
        """A name that no entry has: an answer may have been entered whose request was cut off."""
        taken = {entry.name for entry in self.ledger.entries}
        names = (f"request {number}{'' if turn == 1 else f' ({turn})'}" for turn in count(1))
        return next(name for name in names if name not in taken)

    def _apart(self, about: About) -> About:
        """The same, with a reason where the ledger knows nothing of this value."""
        subjects = {entry.subject for entry in self.ledger.entries}
        own = (about.population, about.value, about.scale[1])
        return about if not subjects or own in subjects else replace(about, apart="another value of the same records")

    def _remembered(self, query: Query, done: Answer, name: str, who: str, on: str) -> dict[str, Any]:
        return {
            "on": on, "who": who, "asked": query.to_dict(), "key": query.key(), "data": self.records.fingerprint,
            "answer": done.kind, "given": None if done.given is None else done.given.to_dict(),
            "entry": name if done.table is not None else "", "reasons": list(done.reasons),
        } | ({"rounded": done.rounded} if done.rounded else {})  # fmt: skip

    def _again(self, query: Query, before: Mapping[str, Any]) -> Answer:
        """The answer that was given to the same question."""
        earlier, reasons = f"request {before['number']}", tuple(before["reasons"])
        if not before["entry"]:
            return Answer(kind="refused", asked=query, given=None, table=None, reasons=reasons, earlier=earlier)
        given = Query.from_dict(before["given"])
        cells = self.ledger.cells(self.ledger.entry(before["entry"]))
        by = trees_of(self.records, given) or {ALL: Hierarchy.flat([ALL])}
        shape = tuple(len(tree) for tree in by.values())
        scale = 1.0 if given.value is None else self.about.scale[0]
        at = tuple(cells.at)
        value, count = np.zeros(shape), np.zeros(shape, dtype=np.int64)
        status = np.zeros(shape, dtype=np.uint8)
        value[at], count[at], status[at] = cells.value / scale, np.maximum(cells.count, 0), cells.status
        if np.isnan(value).any():
            raise BadOption("the entry of the answer holds no values", hint="it was not entered by a request.")
        table = answer_table(given, trees_of(self.records, given), value, count, status)
        said = Answer(kind=before["answer"], asked=query, given=given, table=table, reasons=reasons, earlier=earlier)
        base = float(before.get("rounded", 0.0))
        return replace(said, table=rounded_table(table, base), rounded=base, kept=table) if base else said


def _kept(done: Answer) -> Table | None:
    """The table of an answer with its true values."""
    return done.table if done.kept is None else done.kept
