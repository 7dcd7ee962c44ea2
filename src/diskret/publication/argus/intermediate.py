"""Type 5: everything about every cell, with metadata and hierarchies, so that tau-ARGUS can go on with the table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from diskret.io.hrc import LEAD, codelist_text, hrc_text
from diskret.io.metadata import Metadata, Role, Variable
from diskret.io.rda import rda_text
from diskret.model.arrays import Bools, Floats
from diskret.model.errors import BadOption, listed
from diskret.model.hierarchy import Hierarchy
from diskret.model.table import Table
from diskret.publication.argus.audited import audit_columns
from diskret.publication.argus.cells import (
    contributors_of,
    costs_of,
    decimals_in,
    levels_of,
    ranks_of,
    refuse_infinite,
    shadow_of,
    status_letters,
    status_numbers,
)
from diskret.publication.argus.layout import END, Layout, Texts, numbers, wholes, words
from diskret.publication.argus.options import SafeFile
from diskret.publication.numbers import number_words

SEPARATOR = ";"
AUDIT_REMARKS = (
    "//The audit info cannot be read back into TauArgus", "//Lower auditlevel", "//Upper auditlevel", "//Audit range",
    "//Percentage lower auditrange", "//Percentage upper auditrange", "//Percentage audit range",
)  # fmt: skip
Column = tuple[Variable, Texts]


@dataclass(frozen=True, eq=False, kw_only=True)
class Intermediate:
    """The columns behind the codes, and the files that describe them."""

    columns: tuple[Column, ...]
    beside: Mapping[str, str]
    """Texts of the other files, by their names."""


def intermediate(
    layout: Layout, table: Table, options: SafeFile, target: Path, found: tuple[Floats, Floats] | None = None
) -> Intermediate:
    """What an intermediate file holds; ``found`` is what an attack found possible for every cell."""
    _refuse_codes(table)
    columns = _columns(layout, table, options)
    referred = describe(table, target)
    described = Metadata(
        variables=(*referred.variables, *(variable for variable, _ in columns)),
        path=target.with_suffix(".rda"),
        separator=SEPARATOR,
        tabular=True,
    )
    text = metadata_text(described, options)
    if found is not None:
        columns += [(Variable(name=""), column) for column in audit_columns(layout, table, found)]
        text += END.join(AUDIT_REMARKS) + END
    return Intermediate(columns=tuple(columns), beside={described.path.name: text, **referred.files})


def separator_of(options: SafeFile) -> str:
    """What stands between fields; tau-ARGUS 3 puts a blank before numbers and letters."""
    return SEPARATOR + (" " if options.version == 3 else "")


def _columns(layout: Layout, table: Table, options: SafeFile) -> list[Column]:
    """All columns behind the codes, in the order tau-ARGUS writes them."""
    refuse_infinite(table.value, costs_of(table, options))
    decimals = decimals_in(table, options)
    people = contributors_of(table, holding=options.holding)
    counts = only_counts(table)
    name = "FreqVar" if counts else table.response

    def column(called: str, numbers_: Floats, *roles: Role, places: int | None = decimals) -> Column:
        return Variable(name=called, roles=frozenset(roles)), numbers(layout.order(numbers_), places)

    if counts:
        columns = [column(name, table.published_value, Role.FREQUENCY)]
    else:
        value, texts = column(name, table.published_value, Role.NUMERIC)
        columns = [(replace(value, decimals=decimals or 0), texts)]
        if people is not None and table.counted:
            columns.append((_variable("FreqVar", Role.FREQUENCY), wholes(layout.order(people.count))))
        if not options.status_only:
            shadow = shadow_of(table)
            places = _places(shadow, decimals, options)
            columns.append(column(f"{name}_Shadow", shadow, Role.NUMERIC, Role.SHADOW, places=places))
    costs = costs_of(table, options)
    columns.append(column(f"{name}_Cost", costs, Role.NUMERIC, Role.COST, places=_places(costs, decimals, options)))
    # the largest contributions are those to the shadow variable
    largest = None if people is None else people.judged.largest
    if people is not None and largest is not None and not (options.status_only or counts):
        for rank in range(ranks_of(table, people.judged)):
            top = largest[..., rank]
            columns.append(column(f"Top{rank + 1}", top, Role.MAXSCORE, places=_places(top, decimals, options)))
    columns.append((_variable("StatusVar", Role.STATUS), words(layout.order(status_letters(status_numbers(table))))))
    levels = levels_of(table, decimals, options.version)
    written = _as_basic if options.version == 3 else partial(_in_full, decimals=options.decimals or 0)
    for called, level, role in (
        ("LowerProtLevel", levels.below, Role.LOWER_LEVEL), ("UpperProtLevel", levels.above, Role.UPPER_LEVEL),
    ):  # fmt: skip
        columns.append((_variable(called, Role.NUMERIC, role), written(layout.order(level))))
    return columns


def only_counts(table: Table) -> bool:
    """Whether a table shows numbers of units and nothing else."""
    people = table.respondents
    return table.frequency and (people is None or bool((people.count == table.value).all()))


def _variable(name: str, *roles: Role) -> Variable:
    return Variable(name=name, roles=frozenset(roles))


def _places(numbers_: Floats, decimals: int | None, options: SafeFile) -> int | None:
    """Decimals of a further column: those of the values, unless it needs more and nobody said how many."""
    told = options.decimals is not None
    return decimals if told or (decimals is not None and (np.round(numbers_, decimals) == numbers_).all()) else None


def _in_full(level: Floats, decimals: int) -> Texts:
    """Levels with all their digits, and the decimals of values: rounded like these, 0.3 would be read back as none."""
    short = numbers(np.round(level, decimals), decimals)

    def column(cells: Any) -> list[str]:
        longer = (np.round(level, decimals) != level)[cells]
        pairs = zip(short(cells), number_words(level[cells], None), longer, strict=True)
        return [full if more else text for text, full, more in pairs]

    return column


def _as_basic(level: Floats) -> Texts:
    """Levels as Visual Basic writes numbers: fifteen digits, no zero before the point."""

    def column(cells: Any) -> list[str]:
        shown = (np.format_float_positional(float(f"{x:.15g}"), trim="-") for x in level[cells].tolist())
        return [re.sub(r"^0(?=\.)", "", text) for text in shown]

    return column


# --- what describes it -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Referred:
    """Classifications as the metadata describe them, and the files they refer to."""

    variables: tuple[Variable, ...]
    files: Mapping[str, str]


def describe(table: Table, target: Path) -> Referred:
    """The classifications of a table; hierarchies and labels get files of their own beside the target."""
    files: dict[str, str] = {}
    variables = []
    for number, (name, hierarchy) in enumerate(table.by.items(), start=1):
        fields, texts = _referred(hierarchy, f"{target.stem}_{number}")
        variables.append(replace(_variable(name, Role.EXPLANATORY), **fields))
        files |= {file: text.replace("\n", END) for file, text in texts.items()}
    return Referred(variables=tuple(variables), files=files)


def _referred(hierarchy: Hierarchy, base: str) -> tuple[dict[str, Any], dict[str, str]]:
    fields: dict[str, Any] = {"total": hierarchy.total}
    texts: dict[str, str] = {}
    hierarchy.refuse_overlapping("a safe file of tau-ARGUS with metadata")
    if hierarchy.depth > 2:
        free = [lead for lead in (LEAD, "~", "^") if not any(code.startswith(lead) for code in hierarchy.codes)]
        fields |= {"hierarchy": f"{base}.hrc", "lead": free[0] if free else LEAD}
        texts[f"{base}.hrc"] = hrc_text(hierarchy, fields["lead"])
    labels = codelist_text(hierarchy)
    if labels:
        fields["codelist"] = f"{base}.cdl"
        texts[f"{base}.cdl"] = labels
    return fields, texts


def metadata_text(described: Metadata, options: SafeFile) -> str:
    """Metadata as tau-ARGUS writes them."""
    text = rda_text(described)
    if options.version == 3:
        text = text.replace("   <SEPARATOR> ", "<SEPARATOR>  ", 1)
        text = re.sub(r'(?m)^(    <TOTCODE> )"(\S+)"$', r"\1\2", text)
    return text.replace("\n", END)


def _refuse_codes(table: Table) -> None:
    """tau-ARGUS splits lines at the separator even inside quotes, and knows totals in upper and lower case."""
    for name, hierarchy in table.by.items():
        total = hierarchy.total.lower()
        bad = [c for c in hierarchy.codes if re.search(r'^\s|["\r\n;]|\s$|^$', c)]
        bad += [c for c in hierarchy.codes[:-1] if c.lower() == total]
        if bad:
            raise BadOption(
                f"codes {listed(bad)} of {name!r} cannot be written for tau-ARGUS",
                hint="codes have no quotes, semicolons or outer blanks, and do not have the name of the total.",
            )


def lines(layout: Layout, columns: Sequence[Texts], options: SafeFile, left: Bools | None) -> Any:
    """The cells: codes without blanks between them, then everything else."""
    codes = layout.codes()

    def joined(cells: Any) -> list[str]:
        return [SEPARATOR.join(each) for each in zip(*(column(cells) for column in codes), strict=True)]

    return layout.rows([joined, *columns], separator_of(options), left)
