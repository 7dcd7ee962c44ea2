"""The sections of a report on protected tables: what is hidden, the table as published, how it was attacked.

No suppressed value and no secret parameter stands in it: the table comes from a `Release`, the audit as plain facts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from diskret.model.arrays import Ints
from diskret.model.hierarchy import Hierarchy
from diskret.model.promise import Promise
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.model.words import words
from diskret.publication.drawing import Plot
from diskret.publication.options import Publication
from diskret.publication.release import Measure, Release, cross, labelled, release
from diskret.publication.sections import Cell, ReportSection, ReportTable, number_text

MOST_ROWS, MOST_COLUMNS, MOST_BARS = 60, 9, 24
MOST_EXPOSED = 50


@dataclass(frozen=True, kw_only=True)
class ReportFacts:
    """What a report says besides the tables: how they were protected, without numbers that are secret."""

    audits: Mapping[str, Mapping[str, Any]]
    """Per response what `AuditReport.plain` gave; none if it was not attacked."""
    asked: Sequence[tuple[str, str]] = ()
    """Keys and choices of the protection, such as ("guarantee", "audit"); no parameter of a rule, no range."""
    unprotected: Mapping[str, Sequence[str]] | None = None
    warnings: Sequence[str] = ()

    @property
    def exposed(self) -> bool:
        """Whether anything can be computed back."""
        return any(not facts["safe"] for facts in self.audits.values()) or any((self.unprotected or {}).values())


def table_sections(tables: Mapping[str, Table], facts: ReportFacts, options: Publication) -> list[ReportSection]:
    """All sections, in the language of the publication."""
    say = words("table_report", options.language)
    sections = [_overview(tables, facts, options, say)]
    leaving = release(dict(tables), options)
    sections += [_published(leaving, measure, options, say) for measure in leaving.measures]
    sections.append(_where(tables, say))
    if facts.asked or any(t.rules for t in tables.values()):
        sections.append(_protection(tables, facts, say, options.language))
    if facts.audits:
        sections.append(_attack(facts, say))
    if facts.warnings:
        sections.append(ReportSection(title=say["care"], text=tuple(facts.warnings)))
    return sections


def report_note(tables: Mapping[str, Table], facts: ReportFacts, language: str) -> str:
    """What stands at the top: whether the report may leave the office."""
    exposed = facts.exposed or not all(table.protected for table in tables.values())
    return words("table_report", language)["exposed note" if exposed else "note"]


def _overview(
    tables: Mapping[str, Table], facts: ReportFacts, options: Publication, say: Mapping[str, str]
) -> ReportSection:
    rows: list[tuple[Cell, ...]] = []
    text = []
    for name, table in tables.items():
        primary, secondary = (int((table.status == s).sum()) for s in (Status.PRIMARY, Status.SECONDARY))
        occupied = int((~table.empty).sum())
        share = f"{100 * (primary + secondary) / max(1, occupied):.1f} %"
        rows.append((name, table.size, occupied, primary, secondary, _decimal(share, options.language)))
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
        text.append(say["unprotected"].format(table=name, n=len(lost), cells=", ".join(lost[:MOST_EXPOSED])))
    return text


def _decimal(text: str, language: str) -> str:
    return text.replace(".", ",") if language == "de" else text


# --- the table as it is published ------------------------------------------------------------------------------------


def _published(leaving: Release, measure: Measure, options: Publication, say: Mapping[str, str]) -> ReportSection:
    beside, across = cross(leaving.by)
    columns = _coarse(across, MOST_COLUMNS) if across is not None else np.zeros(1, dtype=np.int64)
    kept = _rows(list(beside.values()))
    positions = np.stack(np.meshgrid(*kept, indexing="ij"), axis=-1).reshape(-1, len(kept))
    outer = np.ravel_multi_index(tuple(positions.T), tuple(len(h) for h in beside.values()))
    cells = (np.array(outer)[:, None] * leaving.width + columns).reshape(-1).astype(np.int64)
    shown = [_grouped(w, options) for w in measure.texts(cells, options.mark, options.zero)]
    rows = []
    for i, at in enumerate(positions.tolist()):
        named = [_named(h, p) for h, p in zip(beside.values(), at, strict=True)]
        rows.append((*named, *shown[i * columns.size : (i + 1) * columns.size]))
    heads = [_head(across, int(c)) for c in columns] if across is not None else [measure.name]
    by_default = options.title_of([measure.name], leaving.names)
    table = ReportTable(
        head=(*beside, *heads),
        rows=tuple(rows),
        caption=f"{options.title}: {measure.name}" if options.title else by_default,
        right=tuple(range(len(kept), len(kept) + columns.size)),
    )
    text = options.legend(suppressed=bool(measure.hidden.any()), care=leaving.care)
    if cells.size < leaving.size:
        part, whole = (number_text(n, options.language) for n in (cells.size, leaving.size))
        text.append(say["part"].format(n=part, of=whole))
    if across is not None:
        text.append(say["across"].format(name=leaving.names[-1]))
    return ReportSection(title=say["published"].format(name=measure.name), text=tuple(text), tables=(table,))


def _grouped(word: str, options: Publication) -> str:
    """A number with groups of three digits; marks stay as they are."""
    try:
        float(word)
    except ValueError:
        return word
    whole, point, rest = word.partition(".")
    if "e" in word or "n" in whole:
        return word
    text = f"{int(whole):,}" + point + rest
    text = f"-{text}" if whole.startswith("-") and int(whole) == 0 else text
    return text.translate(str.maketrans(",.", ".,")) if options.language == "de" else text


def _named(hierarchy: Hierarchy, position: int) -> str:
    """A code, indented by its level, with its label."""
    deep = int(hierarchy.depth - hierarchy.levels[position])
    label = f" {hierarchy.labels[position]}" if labelled(hierarchy) else ""
    return "\u00a0\u00a0" * deep + hierarchy.codes[position] + label


def _head(hierarchy: Hierarchy, position: int) -> str:
    return hierarchy.labels[position] if labelled(hierarchy) else hierarchy.codes[position]


def _coarse(hierarchy: Hierarchy, most: int) -> Ints:
    """The codes of the coarsest levels that fit, in their order; at least the total and the first codes."""
    for level in range(int(hierarchy.levels.min()), int(hierarchy.levels.max()) + 1):
        kept = np.flatnonzero(hierarchy.levels >= level)
        if kept.size <= most:
            return kept
    top = np.flatnonzero(hierarchy.levels == hierarchy.levels.max())
    return top[:most]


def _rows(beside: Sequence[Hierarchy]) -> list[Ints]:
    """Codes of the classifications beside, coarsened from the last on until their combinations fit."""
    most = [len(h) for h in beside]
    kept = [_coarse(h, m) for h, m in zip(beside, most, strict=True)]
    axis = len(beside) - 1
    while prod(k.size for k in kept) > MOST_ROWS and any(k.size > 1 for k in kept):
        while kept[axis].size == 1:
            axis -= 1
        kept[axis] = _coarse(beside[axis], kept[axis].size - 1)
        axis = (axis - 1) % len(beside)
    return kept


# --- where cells are hidden, and how it was done ---------------------------------------------------------------------


def _where(tables: Mapping[str, Table], say: Mapping[str, str]) -> ReportSection:
    """Share of hidden cells along every classification; primary and secondary together, as in the published table."""
    plots = []
    first = next(iter(tables.values()))
    for axis, (name, hierarchy) in enumerate(first.by.items()):
        kept = _coarse(hierarchy, MOST_BARS)
        others = tuple(i for i in range(len(first.shape)) if i != axis)
        series = {}
        for response, table in tables.items():
            hidden, occupied = (np.sum(a, axis=others) for a in (table.hidden, ~table.empty | table.hidden))
            share = hidden / np.maximum(occupied, 1)
            series[response] = tuple(float(f"{share[i]:.4f}") for i in kept)
        names = tuple(hierarchy.codes[i] for i in kept)
        title = say["by"].format(name=name)
        plots.append(
            Plot(kind="bars", title=title, x=names, series=series, x_title=name, y_title=say["of cells"], percent=True)
        )
    return ReportSection(title=say["where"], text=(say["where text"],), plots=tuple(plots))


def _protection(
    tables: Mapping[str, Table], facts: ReportFacts, say: Mapping[str, str], language: str
) -> ReportSection:
    rules = {rule: _rule_words(rule, say) for table in tables.values() for rule in table.rules}
    rows: list[tuple[Cell, ...]] = []
    if rules:
        rows.append((say["rules"], ", ".join(rules.values())))
    first = next(iter(tables.values()))
    for name, hierarchy in first.by.items():
        rows.append((name, say["classification"].format(codes=len(hierarchy), levels=hierarchy.depth - 1)))
    rows += [(say.get(f"asked {key}", key), say.get(f"{key} {choice}", choice)) for key, choice in facts.asked]
    rows += _behind(tables, dict(facts.asked).get("insiders", ""), say, language)
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


def _attack(facts: ReportFacts, say: Mapping[str, str]) -> ReportSection:
    audits = facts.audits
    shown = [key for key in AUDITED if any(key in a["summary"] for a in audits.values())]
    rows = tuple((say[f"audit {key}"], *(a["summary"].get(key, 0) for a in audits.values())) for key in shown)
    tables = [ReportTable(head=("", *audits), rows=rows, right=tuple(range(1, len(audits) + 1)))]
    tables += [_exposed(name, audit, say) for name, audit in audits.items() if audit["exposed"]]
    text = [say["attack text"]]
    for name, audit in audits.items():
        if audit["close calls"]:
            text.append(say["close"].format(table=name, cells="; ".join(audit["close calls"])))
        text += [
            say[f"audit names {key}"].format(table=name, cells="; ".join(audit[key][:MOST_EXPOSED]))
            for key in ("undecided", "lines")
            if audit[key]
        ]
    return ReportSection(title=say["attack"], text=tuple(text), tables=tuple(tables))


def _exposed(name: str, audit: Mapping[str, Any], say: Mapping[str, str]) -> ReportTable:
    """The cells that can be computed back: how well, by whom, and from what."""
    rows = tuple(
        (e["cell"], say["exact"] if e["exact"] else say["near"], e["by"] or say["everybody"], e["proof"])
        for e in audit["exposed"][:MOST_EXPOSED]
    )
    head = tuple(say[key] for key in ("cell", "how", "who", "proof"))
    return ReportTable(head=head, rows=rows, caption=say["exposed cells"].format(table=name))
