"""The ledger as protecting sees it: a memory that knows what the new table counts."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Never

import numpy as np

from diskret.auditing.audit import audit, verdicts_on
from diskret.auditing.report import AuditReport
from diskret.ledger.about import About
from diskret.ledger.asking import asked_of
from diskret.ledger.boxes import FEW_PARTS, MOST_PARTS
from diskret.ledger.linked import Linked
from diskret.ledger.linking import Link
from diskret.ledger.refusing import MOST_REASONS, blamed, coarser
from diskret.ledger.withholding import asking, with_hidden, withheld_beside
from diskret.model.beside import Beside
from diskret.model.errors import DiskretError, NotBeside, ProtectionWarning, listed
from diskret.model.promise import Promise
from diskret.model.table import Table
from diskret.suppression.widening import places_of

if TYPE_CHECKING:
    from diskret.ledger.ledger import Ledger


@dataclass(frozen=True, kw_only=True, eq=False)
class Remembering:
    """A ledger that knows what a new table counts; `Ledger.about` makes it, `suppress` takes it."""

    ledger: Ledger
    about: About
    name: str
    proposing: bool = True
    """Whether a refusal says which published cells are to blame, and what could be released instead; looking for both
    takes many attacks, and a suppression for each try."""

    def beside(self, table: Table, promise: Promise, *, nearly: bool = False) -> Beside:
        """What `suppress` protects in the place of the table, or ``nearly`` so, which is searched sooner."""
        parts = FEW_PARTS if nearly else MOST_PARTS
        link = self._link(promise, parts, table)
        if link.hidden_shown:
            self._refuse_public(table, promise, link)
        return Beside(
            cells=link.cells, own=link.own, promise=asked_of(promise), given=promise, notes=link.notes,
            nearly=nearly and link.left > 0,
        )  # fmt: skip

    def withheld(self, table: Table, promise: Promise) -> Table | None:
        """A table of ratios or rounded values without those that tell too much; None for other tables."""
        if self.about.ratio is None and not self.about.rounded:
            return None
        # first among nearly all that adds up, which is sooner done; then what is left among all of it
        for parts in (FEW_PARTS, MOST_PARTS):
            table = with_hidden(table, withheld_beside(table, promise, partial(self._link, promise, parts)))
        return table

    def _link(self, promise: Promise, parts: int, table: Table) -> Link:
        return self.ledger.link(table, self.about, promise, name=self.name, parts=parts)[1]

    def told_of(self, table: Table, beside: Beside, report: AuditReport) -> AuditReport:
        """What an audit says of the table alone; a table that exposes more than is exposed without it is refused.

        So is one that holds sensitive cells that are exposed in any case.
        """
        bare = self.beside(with_hidden(table, np.ones(table.size, dtype=np.bool_)), beside.given)
        cells = beside.cells
        assert isinstance(cells, Linked)
        assert isinstance(bare.cells, Linked)
        # to show less exposes nothing: only what is exposed now is asked for again
        places = places_of(cells, report)
        names = {cells.name_of(cell) for cell in places.tolist()}
        alone = asking(bare.cells, cells.identity[places], names)
        without = verdicts_on(alone, bare.promise)
        before = without.open_to
        own = {cells.name_of(int(cell)) for cell in beside.own if cell >= 0}
        found = report.open_to
        fresh = sorted({cell for cell, by in found if cell in own or (cell, by) not in before})
        older = sorted({cell for cell, _ in found} - {*fresh})
        if older:
            warnings.warn(
                f"{len(older)} cells are exposed by what is published already, with or without this table: "
                f"{listed(older, most=5)}",
                ProtectionWarning,
                stacklevel=6,
            )
        if not fresh:
            return replace(report, exposed=(), undecided=())
        without = audit(alone, bare.promise) if self.proposing else without
        shown = [each for each in without.exposed if each.cell in fresh][: MOST_REASONS if self.proposing else 0]
        reasons = [(each, blamed(alone, without, each)) for each in shown]
        because = tuple(f"{e.cell}: {'; '.join(why.cells)}" for e, why in reasons if why.cells)
        blame = "), (".join(because)
        fewest = bool(because) and all(why.smallest for _, why in reasons if why.cells)
        lost = tuple(i for i, cell in enumerate(beside.own.tolist()) if cell >= 0 and cells.name_of(cell) in fresh)
        instead = self._instead(table, beside.given, lost)
        error = NotBeside(
            f"{self.name} cannot be protected beside what is published: {len(fresh)} "
            f"{'cell stays' if len(fresh) == 1 else 'cells stay'} exposed",
            where=listed(fresh, most=10),
            hint=(
                f"what is published makes it impossible ({blame}). no fewer published cells do. "
                if fewest
                else f"what is published makes it impossible ({blame}). "
                if because
                else ""
            )
            + (f"could be released instead: {', or '.join(instead)}. " if instead else "")
            + "rounding or intervals do not help: the exposed cells follow without the table. what is already "
            "published cannot be hidden any more: publish less detail.",
        )
        error.because, error.instead, error.lost = because, instead, lost
        raise error

    def _refuse_public(self, table: Table, promise: Promise, link: Link) -> Never:
        """Refuse a table with sensitive cells that are shown openly elsewhere."""
        names = [link.cells.name_of(int(link.own[cell])) for cell, _ in link.hidden_shown]
        by = [each for _, each in link.hidden_shown]
        lost = tuple(cell for cell, _ in link.hidden_shown)
        instead = self._instead(table, promise, lost)
        error = NotBeside(
            f"{self.name} has {len(names)} sensitive cells whose values are public",
            where=listed(names, most=10),
            hint=f"they stand openly in {listed(dict.fromkeys(by))}, and what is already published cannot be hidden "
            "any more. "
            + (f"could be released instead: {', or '.join(instead)}." if instead else "publish less detail."),
        )
        error.because = tuple(f"{name}: {entry}, {name}" for name, entry in zip(names, by, strict=True))
        error.instead, error.lost = instead, lost
        raise error

    def _instead(self, table: Table, promise: Promise, lost: tuple[int, ...]) -> tuple[str, ...]:
        """Tables with less detail that can be protected."""
        from diskret.suppression.suppress import suppress

        found: list[str] = []
        quiet = replace(self, proposing=False)
        for words, smaller in coarser(table, lost) if self.proposing else ():
            try:
                with warnings.catch_warnings(action="ignore"):
                    done = suppress(smaller, promise, ledger=quiet)
            except DiskretError:
                continue
            if not done.exposed:
                found.append(words)
        return tuple(found)
