"""A report on protected tables for everybody: what a reader of the published table can see, and how it was protected.

It is made from a `Release`, in which everything hidden is gone, and from choices of the method. So it cannot depend on
hidden values, on which hidden cells are primary or how many, on who contributes, or on what the attack came upon.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from diskret.model.arrays import Bools, Ints
from diskret.model.promise import Promise
from diskret.model.words import words
from diskret.publication.axes import Axis, cross
from diskret.publication.drawing import Plot
from diskret.publication.numbers import grouped
from diskret.publication.options import Publication
from diskret.publication.release import Measure, Release
from diskret.publication.sections import Cell, ReportSection, ReportTable, number_text

MOST_CELLS = 2_000
"""Larger tables appear as a summary."""
MOST_ROWS, MOST_COLUMNS, MOST_BARS = 60, 9, 24
PUBLIC = ("source", "gaps", "guarantee", "knowledge", "insiders")
"""What of the choices is told."""


@dataclass(frozen=True, kw_only=True)
class PublicFacts:
    """What a public report says besides the published table."""

    attacked: Mapping[str, bool]
    """Per response whether the attack found nothing; none if there was no attack."""
    asked: Sequence[tuple[str, str]] = ()
    """Keys and choices of the protection."""
    rules: Sequence[str] = ()
    """Names of the primary rules, without their parameters."""
    exposed: bool = False
    """Whether anything can be computed back, or may be."""
    promised: Sequence[Promise] = ()
    """What is kept, without numbers; none if no attack showed it."""


def public_sections(leaving: Release, facts: PublicFacts, options: Publication) -> list[ReportSection]:
    """All sections, in the language of the publication."""
    say = words("table_report", options.language)
    tables = [published_section(leaving, measure, options) for measure in leaving.measures]
    sections = [_overview(leaving, facts, options), *tables, where_section(leaving, options.language)]
    if facts.promised:
        text = tuple(dict.fromkeys(" ".join(promise.describe(options.language).split()) for promise in facts.promised))
        sections.append(ReportSection(title=say["promise"], text=text))
    rows: list[tuple[Cell, ...]] = [(say["rules"], ", ".join(_rules(facts, say)))] if facts.rules else []
    rows += classification_rows(leaving.by, say)
    rows += [(say[f"asked {k}"], say.get(f"{k} {choice}", choice)) for k, choice in facts.asked if k in PUBLIC]
    table = ReportTable(head=(say["what"], ""), rows=tuple(rows))
    return [*sections, ReportSection(title=say["protection"], text=(say["secret"],), tables=(table,))]


def public_note(facts: PublicFacts, language: str) -> str:
    """What stands at the top: whether the table is fit to leave at all."""
    return words("table_report", language)["public exposed note" if facts.exposed else "public note"]


def _overview(leaving: Release, facts: PublicFacts, options: Publication) -> ReportSection:
    say = words("table_report", options.language)
    rows: list[tuple[Cell, ...]] = []
    text = []
    for m in leaving.measures:
        hidden, shown = int(m.hidden.sum()), int(_not_zero(m).sum())
        share = f"{100 * hidden / max(1, shown):.1f} %"
        rows.append((m.name, leaving.size, shown, hidden, decimal(share, options.language)))
        if m.name in facts.attacked:
            text.append(say["public safe" if facts.attacked[m.name] else "public not safe"].format(table=m.name))
        elif hidden:
            text.append(say["public not attacked"].format(table=m.name))
    head = ("", *(say[key] for key in ("cells", "not zero", "suppressed cells", "share")))
    table = ReportTable(head=head, rows=tuple(rows), right=(1, 2, 3, 4))
    return ReportSection(title=say["overview"], text=tuple(text), tables=(table,))


def _not_zero(measure: Measure) -> Bools:
    """Cells with something in them, as far as a reader sees."""
    found: Bools = measure.hidden | (measure.value != 0)
    return found


def _rules(facts: PublicFacts, say: Mapping[str, str]) -> dict[str, None]:
    """Names of rules, each once; n of a dominance rule is a parameter."""
    names = [rule.partition(" of ")[0] for rule in facts.rules]
    plain = [say["public rule dominance"] if n.endswith(" dominance") else say.get(f"rule {n}", n) for n in names]
    return dict.fromkeys(plain)


def classification_rows(by: Mapping[str, Axis], say: Mapping[str, str]) -> list[tuple[Cell, ...]]:
    """How large the classifications are."""
    return [(n, say["classification"].format(codes=len(h), levels=h.depth - 1)) for n, h in by.items()]


def decimal(text: str, language: str) -> str:
    """A number with the decimal sign of the language."""
    return text.replace(".", ",") if language == "de" else text


def where_section(leaving: Release, language: str) -> ReportSection:
    """Share of hidden cells along every classification; primary and secondary together, as in the published table."""
    say = words("table_report", language)
    plots = []
    for axis, (name, hierarchy) in enumerate(leaving.by.items()):
        kept = _coarse(hierarchy, MOST_BARS)
        at = leaving.positions(slice(0, leaving.size))[axis]
        series = {}
        for m in leaving.measures:
            hidden, shown = (np.bincount(at[a], minlength=len(hierarchy)) for a in (m.hidden, _not_zero(m)))
            share = hidden / np.maximum(shown, 1)
            series[m.name] = tuple(float(f"{share[i]:.4f}") for i in kept)
        names = tuple(hierarchy.names[i] for i in kept)
        title = say["by"].format(name=name)
        plots.append(
            Plot(kind="bars", title=title, x=names, series=series, x_title=name, y_title=say["of cells"], percent=True)
        )
    return ReportSection(title=say["where"], text=(say["where text"],), plots=tuple(plots))


# --- the table as it is published ------------------------------------------------------------------------------------


def published_section(leaving: Release, measure: Measure, options: Publication) -> ReportSection:
    """One response as it is published: whole, or if it is too large for a report, its coarsest levels as a summary."""
    say = words("table_report", options.language)
    beside, across = cross(leaving.by)
    whole = prod(leaving.shape) <= MOST_CELLS
    columns = np.arange(leaving.width) if across is None or whole else _coarse(across, MOST_COLUMNS)
    kept = [np.arange(len(axis)) for axis in beside.values()] if whole else _rows(list(beside.values()))
    positions = np.stack(np.meshgrid(*kept, indexing="ij"), axis=-1).reshape(-1, len(kept))
    outer = np.ravel_multi_index(tuple(positions.T), tuple(len(h) for h in beside.values()))
    cells = (np.array(outer)[:, None] * leaving.width + columns).reshape(-1).astype(np.int64)
    shown = [grouped(w, options.language) for w in leaving.texts_at(measure, cells, options)]
    rows = []
    for i, at in enumerate(positions.tolist()):
        named = [_named(h, p) for h, p in zip(beside.values(), at, strict=True)]
        rows.append((*named, *shown[i * columns.size : (i + 1) * columns.size]))
    heads = [across.labels[c] for c in columns] if across is not None else [measure.name]
    by_default = options.title_of([measure.name], leaving.names)
    table = ReportTable(
        head=(*beside, *heads),
        rows=tuple(rows),
        caption=f"{options.title}: {measure.name}" if options.title else by_default,
        right=tuple(range(len(kept), len(kept) + columns.size)),
        stub=len(kept),
    )
    altered = [measure.altered] if measure.altered else []
    text = options.legend(suppressed=bool(measure.hidden.any()), altered=altered, care=leaving.care)
    if cells.size < leaving.size:
        part, of = (number_text(n, options.language) for n in (cells.size, leaving.size))
        text.append(say["part"].format(n=part, of=of))
    if across is not None:
        text.append(say["across"].format(name=leaving.names[-1]))
    return ReportSection(title=say["published"].format(name=measure.name), text=tuple(text), tables=(table,))


def _named(hierarchy: Axis, position: int) -> str:
    """A code, indented by its level, with its label."""
    deep = int(hierarchy.depth - hierarchy.levels[position])
    return "\u00a0\u00a0" * deep + hierarchy.full_name(position)


def _coarse(hierarchy: Axis, most: int) -> Ints:
    """The codes of the coarsest levels that fit, in their order; at least the total and the first codes."""
    for level in range(int(hierarchy.levels.min()), int(hierarchy.levels.max()) + 1):
        kept = np.flatnonzero(hierarchy.levels >= level)
        if kept.size <= most:
            return kept
    top = np.flatnonzero(hierarchy.levels == hierarchy.levels.max())
    return top[:most]


def _rows(beside: Sequence[Axis]) -> list[Ints]:
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
