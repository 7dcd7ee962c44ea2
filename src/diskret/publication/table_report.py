"""The sections of an internal report on protected tables: what is hidden, the table as published, how it was attacked.

No suppressed value and no secret parameter stands in it: the table comes from a `Release`, the audit as plain facts.
But it counts primary cells and names those that came close; what others may read is `public_report`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.model.words import words
from diskret.publication.options import Publication
from diskret.publication.phrases import attacker_in, warning_in
from diskret.publication.price_section import price_section
from diskret.publication.public_report import (
    PublicFacts,
    classification_rows,
    decimal,
    public_note,
    public_sections,
    published_section,
    where_section,
)
from diskret.publication.release import Release, release
from diskret.publication.sections import Cell, ReportSection, ReportTable

MOST_NAMED = 50
"""Cells that a sentence names; of more it says how many."""


@dataclass(frozen=True, kw_only=True)
class ReportFacts:
    """What a report says besides the tables: how they were protected, without numbers that are secret."""

    audits: Mapping[str, Mapping[str, Any]]
    """Per response what `AuditReport.plain` gave; none if it was not attacked."""
    asked: Sequence[tuple[str, str]] = ()
    """Keys and choices of the protection, such as ("guarantee", "audit"); no parameter of a rule, no range."""
    unprotected: Mapping[str, Sequence[str]] | None = None
    warnings: Sequence[str] = ()
    promises: Mapping[str, Promise] = field(default_factory=dict)
    """Per response what was asked for."""
    too_close: Mapping[str, int] | None = None
    """Per attacked response how many changed values the attack found too closely."""
    priced: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """Per response what is known of its price, in shares: see `price_section`."""
    unmarked: Sequence[str] = ()
    """Responses in which nobody had marked what was to be changed."""

    @property
    def exposed(self) -> bool:
        """Whether anything can be computed back."""
        lost = any((self.unprotected or {}).values()) or any((self.too_close or {}).values())
        return lost or any(not facts["safe"] for facts in self.audits.values())

    def public(self, tables: Mapping[str, Table]) -> PublicFacts:
        """What of it others may know: choices and verdicts, no cell and no count of cells."""
        return PublicFacts(
            attacked={name: facts["safe"] for name, facts in self.audits.items()},
            asked=self.asked,
            rules=tuple(dict.fromkeys(rule for table in tables.values() for rule in table.rules)),
            exposed=self.exposed or not all(table.protected for table in tables.values()),
            promised=tuple(dict.fromkeys(map(_without_numbers, self.promises.values()))) if self.kept else (),
        )

    @property
    def kept(self) -> bool:
        """Whether attacks show that everything holds that was asked for."""
        return all(name in self.audits and self.audits[name]["safe"] for name in self.promises) and not self.exposed


def _without_numbers(promise: Promise) -> Promise:
    """What others may know of a promise: that there are ranges, errors or named coalitions is told to nobody."""
    known = replace(promise.knowledge, absolute=0.0) if promise.knowledge.absolute else promise.knowledge
    return replace(promise, min_relative_range=0.0, min_range=None, coalitions=(), knowledge=known)


def table_sections(
    tables: Mapping[str, Table], facts: ReportFacts, options: Publication, *, internal: bool = False
) -> list[ReportSection]:
    """All sections, in the language of the publication; names of cells and counts of primary ones only if internal."""
    if not internal:
        return public_sections(release(dict(tables), options), facts.public(tables), options)
    say = words("table_report", options.language)
    sections = [_overview(tables, facts, options, say)]
    leaving = release(dict(tables), options)
    sections += [published_section(leaving, measure, options) for measure in leaving.measures]
    sections.append(where_section(leaving, options.language))
    if facts.promises:
        sections.append(_promised(tables, facts, options.language))
    if facts.asked or any(t.rules for t in tables.values()):
        sections.append(_protection(tables, leaving, facts, options))
    priced = price_section(facts.priced, options.language)
    if priced is not None:
        sections.append(priced)
    if facts.audits:
        sections.append(_attack(facts, options.language))
    if facts.warnings:
        said = tuple(warning_in(warning, options.language) for warning in facts.warnings)
        sections.append(ReportSection(title=say["care"], text=said))
    return sections


def report_note(tables: Mapping[str, Table], facts: ReportFacts, language: str, *, internal: bool = False) -> str:
    """What stands at the top: what the report holds, and whether the table may leave the office."""
    if not internal:
        return public_note(facts.public(tables), language)
    return words("table_report", language)["exposed note" if facts.public(tables).exposed else "note"]


def _overview(
    tables: Mapping[str, Table], facts: ReportFacts, options: Publication, say: Mapping[str, str]
) -> ReportSection:
    rows: list[tuple[Cell, ...]] = []
    text = []
    for name, table in tables.items():
        primary, secondary = (int((table.status == s).sum()) for s in (Status.PRIMARY, Status.SECONDARY))
        occupied = int((~table.empty).sum())
        share = f"{100 * (primary + secondary) / max(1, occupied):.1f} %"
        rows.append((name, table.size, occupied, primary, secondary, decimal(share, options.language)))
        text += _judged(name, facts, say, anything=primary > 0)
    head = ("", *(say[key] for key in ("cells", "occupied", "primary", "secondary", "share")))
    table_of_cells = ReportTable(head=head, rows=tuple(rows), right=(1, 2, 3, 4, 5))
    return ReportSection(title=say["overview"], text=tuple(text), tables=(table_of_cells,))


def _judged(name: str, facts: ReportFacts, say: Mapping[str, str], *, anything: bool) -> list[str]:
    """Whether a table was attacked, with what success, and what could not be protected."""
    text = []
    audit = facts.audits.get(name)
    if audit is not None:
        key = "safe" if audit["safe"] else "not safe"
        text.append(say[key].format(table=name, n=audit["summary"]["checked"], of=audit["summary"]["insiders"]))
    elif anything:
        text.append(say["not attacked"].format(table=name))
    lost = (facts.unprotected or {}).get(name, ())
    if lost:
        text.append(say["unprotected"].format(table=name, n=len(lost), cells=_named(lost, say, ", ")))
    return text


def _promised(tables: Mapping[str, Table], facts: ReportFacts, language: str) -> ReportSection:
    """The promise in words, with what the tables tell about those behind their cells; ranges stay secret."""
    said = dict.fromkeys(
        " ".join(promise.describe(language, table=tables[name]).split()) for name, promise in facts.promises.items()
    )
    title = words("table_report", language)["promise" if facts.kept else "promise asked"]
    return ReportSection(title=title, text=tuple(said))


# --- how it was done --------------------------------------------------------------------------------------------------


def _protection(
    tables: Mapping[str, Table], leaving: Release, facts: ReportFacts, options: Publication
) -> ReportSection:
    say = words("table_report", options.language)
    rules = {rule: _rule_words(rule, say) for table in tables.values() for rule in table.rules}
    rows: list[tuple[Cell, ...]] = []
    if rules:
        rows.append((say["rules"], ", ".join(rules.values())))
    rows += classification_rows(leaving.by, say)
    rows += [(say.get(f"asked {key}", key), say.get(f"{key} {choice}", choice)) for key, choice in facts.asked]
    rows += _behind(tables, dict(facts.asked).get("insiders", ""), say, options.language)
    table = ReportTable(head=(say["what"], ""), rows=tuple(rows))
    return ReportSection(title=say["protection"], text=(say["secret"],), tables=(table,))


def _behind(tables: Mapping[str, Table], guard: str, say: Mapping[str, str], language: str) -> list[tuple[str, str]]:
    """Whether the tables say who is behind their cells, if anybody is guarded against."""
    if not guard:
        return []
    promise = Promise.from_dict({"guard": "public" if guard == "none" else guard})
    said = dict.fromkeys(promise.assumed(table, language) for table in tables.values())
    return [(say["asked people"], " ".join(said))]


def _rule_words(rule: str, say: Mapping[str, str]) -> str:
    """The name of a rule in the language of the report; dominance rules carry their n in it."""
    name, _, level = rule.partition(" of ")
    if name.endswith(" dominance"):
        said = say["rule dominance"].format(pair=name.removesuffix(" dominance"))
    else:
        said = say.get(f"rule {name}", name)
    return said + (f" ({say['by holdings']})" if level else "")


AUDITED = ("checked", "exposed", "exactly", "to insiders only", "undecided", "insiders", "settled without solver",
           "linear programmes", "lines breaking the rule", "lines of zeros")  # fmt: skip
"""What of the summary of an audit is shown, in this order."""


def _attack(facts: ReportFacts, language: str) -> ReportSection:
    say, audits = words("table_report", language), facts.audits
    shown = [key for key in AUDITED if any(key in a["summary"] for a in audits.values())]
    rows = tuple((say[f"audit {key}"], *(a["summary"].get(key, 0) for a in audits.values())) for key in shown)
    tables = [ReportTable(head=("", *audits), rows=rows, right=tuple(range(1, len(audits) + 1)))]
    tables += [_exposed(name, audit, language) for name, audit in audits.items() if audit["exposed"]]
    text = [say["attack text"]]
    for name, audit in audits.items():
        if audit["close calls"]:
            text.append(say["close"].format(table=name, cells="; ".join(audit["close calls"])))
        text += [
            say[f"audit names {key}"].format(table=name, cells=_named(audit[key], say))
            for key in ("undecided", "lines")
            if audit[key]
        ]
    return ReportSection(title=say["attack"], text=tuple(text), tables=tuple(tables))


def _named(cells: Sequence[str], say: Mapping[str, str], comma: str = "; ") -> str:
    """Cells in a sentence, and how many more there are."""
    more = [say["and more"].format(n=len(cells) - MOST_NAMED)] if len(cells) > MOST_NAMED else []
    return comma.join([*cells[:MOST_NAMED], *more])


def _exposed(name: str, audit: Mapping[str, Any], language: str) -> ReportTable:
    """The cells that can be computed back: how well, by whom, and from what."""
    say = words("table_report", language)
    rows = tuple(
        (
            e["cell"],
            say["exact"] if e["exact"] else say["near"],
            attacker_in(e["by"], language) or say["everybody"],
            e["proof"],
        )
        for e in audit["exposed"]
    )
    head = tuple(say[key] for key in ("cell", "how", "who", "proof"))
    return ReportTable(head=head, rows=rows, caption=say["exposed cells"].format(table=name))
