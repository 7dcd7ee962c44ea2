"""A job with linked tables: every table is loaded as by a job of its own, then all of them are one pool per response.

What `[data]`, `[table]` and `[classifications.NAME]` say holds for every table that does not say it itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from pydantic import Field

from diskret.io.files import all_or_none
from diskret.io.hierarchies import read_hierarchy
from diskret.job.apriori import AprioriFile, in_pool
from diskret.job.data_section import Data
from diskret.job.form import Problem, Section, named
from diskret.job.loading import load_tables, set_by_hand
from diskret.job.outcome import JobResult, Running
from diskret.job.output_sections import PoolOutput, TableOutput
from diskret.job.outputs import write_certificates, write_tables
from diskret.job.perturbation import adjust_tables, attack_tables
from diskret.job.pool_cures import cures_of_table
from diskret.job.protection_sections import PromiseSection, SuppressionSection
from diskret.job.release_warnings import unguarded
from diskret.job.rules import rules_of
from diskret.job.suppression import intervals_of, suppress_tables
from diskret.job.table_job import TableJob, unknown_classifications, without_subject
from diskret.job.table_sections import (
    AdjustmentSection,
    CellStatus,
    Classification,
    PoolSection,
    PoolTable,
    Rules,
    TableSection,
)
from diskret.model.errors import BadOption, listed
from diskret.model.hierarchy import TOTAL, Hierarchy
from diskret.model.pool import Pool
from diskret.model.table import Table
from diskret.rules.rule import largest_needed
from diskret.suppression.result import Suppression

FILES = ("publish", "working", "tau_argus", "apriori", "safe_files", "transmission")
"""Outputs that every table of a pool has for itself."""


class PoolJob(Section):
    """Linked tables, protected together."""

    kind: Literal["pool"] = Field("pool", description="kind of the job; recognised by its sections if left out")
    data: Data | None = Field(None, description="data of the tables that name none of their own")
    classifications: dict[str, Classification] = Field(default_factory=dict)
    table: TableSection = Field(default_factory=lambda: TableSection())
    tables: dict[str, PoolTable] = Field(min_length=1, description="linked tables, protected together")
    pool: PoolSection = Field(default_factory=lambda: PoolSection(), description="how linked tables add up")
    rules: Rules = Field(default_factory=lambda: Rules())
    promise: PromiseSection = Field(default_factory=lambda: PromiseSection(), description="what is kept, against whom")
    suppression: SuppressionSection | None = Field(None, description="secondary suppression; none if left out")
    adjustment: AdjustmentSection | None = Field(None, description="the nearest table outside protection intervals")
    status: list[CellStatus] = Field(default_factory=list)
    apriori: list[AprioriFile] = Field(
        default_factory=list, description="files about single cells, which overrule the rules"
    )
    output: PoolOutput = Field(default_factory=lambda: PoolOutput())

    def alone(self, name: str) -> TableJob:
        """The job of one table, as if it stood in a file of its own; suppression is the pool's business."""
        asked = self.tables[name]
        said = {key: getattr(asked, key) for key in asked.model_fields_set & TableSection.model_fields.keys()}
        # a table with data of its own says everything itself: columns of [table] are columns of [data]
        data = asked.data or self.data
        assert data is not None
        # linked tables are held whole; what is no file of records is so anyway
        whole = {"sparse": False} if data.microdata else {}
        table = (TableSection() if asked.data else self.table).model_copy(update=whole | said)
        common = {n: c for n, c in self.classifications.items() if n in table.by}
        look = {key: getattr(self.output, key) for key in self.output.model_fields_set - {"certificate", "plain"}}
        look |= {key: getattr(asked.output, key) for key in asked.output.model_fields_set}
        if look.get("sdmx") is not None:
            look["sdmx"] = look["sdmx"].among(table.by)
        return TableJob(
            data=data, table=table, classifications=common | asked.classifications,
            rules=asked.rules or self.rules, output=TableOutput.model_validate(look),
            apriori=[each for each in self.apriori if each.table == name],
        )  # fmt: skip

    # --- what is wrong -----------------------------------------------------------------------------------------------

    def problems(self) -> Iterator[Problem]:
        """Mistakes of the pool, and of each of its tables as if it stood alone."""
        yield from self._as_a_whole()
        yield from self._classifications()
        for name, asked in self.tables.items():
            yield from self._in_the_pool(name, asked)
            if asked.data or self.data:
                yield from self._by_itself(name, asked)
        runs = dict.fromkeys(n for t in self.tables.values() for n in (*self._by(t), *t.fixed))
        listing = all(self._by(t) for t in self.tables.values())
        if self.output.sdmx is not None and listing:
            yield from self.output.sdmx.unknown(list(runs))
        yield from unknown_classifications(self.suppression, list(runs) if listing else [])
        yield from without_subject(self.output, self.suppression)

    def _by(self, asked: PoolTable) -> list[str]:
        return asked.by or self.table.by

    def _described(self, asked: PoolTable) -> bool:
        """Whether the classifications of a table are known only when its data are read."""
        data = asked.data or self.data
        return data is not None and data.described

    def _as_a_whole(self) -> Iterator[Problem]:
        for number, each in enumerate(self.status):
            if each.table is not None and each.table not in self.tables:
                hint = f"the job has {listed(self.tables)}"
                yield Problem(f"status.{number}.table", f"no table {each.table!r}", hint)
        for number, said in enumerate(self.apriori):
            hint, missing = f"the job has {listed(self.tables)}", said.table is None
            what = "missing" if missing else f"no table {said.table!r}"
            yield from named((said.table not in self.tables, f"apriori.{number}.table", what, hint))
        asked, out = self.suppression, all(t.published for t in self.tables.values())
        yield from named(
            (len(self.tables) == 1, "tables", "a pool of one table", "a single table is described in [table]"),
            (out, "tables", "all of them are published already", "there is nothing left to protect"),
            (
                asked is not None and self.adjustment is not None,
                "adjustment",
                "cannot be combined with [suppression]",
                "[suppression] hides values, [adjustment] changes values: choose one of them",
            ),
            (
                self.output.intervals and self.adjustment is not None,
                "output.intervals",
                "cannot be combined with [adjustment]",
                "nothing is hidden",
            ),
        )
        if asked is not None:
            several = "cannot be combined with several tables"
            yield from named(
                (
                    asked.method == "complete",
                    "suppression.method", "'complete' is for single tables", "'moves', or 'cuboids' as printed",
                ),
                (asked.previous, "suppression.previous", several, "write [tables.NAME] previous = ..."),
            )  # fmt: skip

    def _classifications(self) -> Iterator[Problem]:
        """Classifications that no table has, and those along which tables add up."""
        used = {n for t in self.tables.values() for n in self._by(t)} | {*self.pool.over}
        told = any(self._described(t) for t in self.tables.values())
        for name in () if told else sorted(self.classifications.keys() - used):
            yield Problem(
                f"classifications.{name}", "is in no table of the pool", f"the tables are classified by {listed(used)}"
            )
        for name in self.pool.over:
            if not any(name in t.fixed for t in self.tables.values()):
                hint = f"write fixed = {{ {name} = ... }}"
                yield Problem("pool.over", f"no table is fixed at a code of {name!r}", hint)

    def _in_the_pool(self, name: str, asked: PoolTable) -> Iterator[Problem]:
        """How a table stands in the pool."""
        key = f"tables.{name}"
        yield from named(
            (
                not (asked.data or self.data),
                f"{key}.data",
                "missing",
                "give every table its data, or all of them [data]",
            ),
            (asked.previous and self.suppression is None, f"{key}.previous", "needs [suppression]", ""),
        )
        for each in asked.fixed:
            if each in self._by(asked):
                yield Problem(
                    f"{key}.fixed", f"the table is classified by {each!r}", "name it in by or in fixed, not in both"
                )
        if asked.published:
            late = [f"{key}.output.{wanted}" for wanted in asked.output.saying(*FILES)]
            late += [f"apriori.{number}.table" for number, each in enumerate(self.apriori) if each.table == name]
            yield from (Problem(k, "the table is published already", "nothing in it changes") for k in late)

    def _by_itself(self, name: str, asked: PoolTable) -> Iterator[Problem]:
        """Mistakes of a table alone: those in sections of its own under its name, others as of the job."""
        own = {"table", "output", *(["data"] if asked.data else []), *(["rules"] if asked.rules else [])}
        for p in self.alone(name).problems():
            section, _, rest = p.key.partition(".")
            mine = section in own or (section == "classifications" and rest.split(".")[0] in asked.classifications)
            inner = rest if section == "table" else p.key
            yield Problem(f"tables.{name}.{inner}", p.what, p.hint) if mine else p

    # --- what is done ------------------------------------------------------------------------------------------------

    def run(self, running: Running) -> JobResult:
        """Marked one by one, protected together, written one by one."""
        pools: dict[str, Table] = dict(self._pools(running))
        suppressions = suppress_tables(self, running, pools)
        pools |= {r: done.table for r, done in suppressions.items()}
        adjusted = adjust_tables(self, pools)
        pools |= {r: done.table for r, done in adjusted.items()}
        tables = _by_table(pools)
        shown = {name: _named(name, several) for name, several in tables.items()}
        asked = {name: self.alone(name) for name, each in self.tables.items() if not each.published}
        if not suppressions and any(one.output.leaves for one in asked.values()):
            running.warn(unguarded(_together(shown[name] for name in asked)))
        files = self._written(running, asked, tables, pools, suppressions) if running.write else ()
        return JobResult(
            tables=_together(shown.values()), files=files, suppressions=suppressions, pools=pools,
            perturbations=adjusted, perturbation_attacks=attack_tables(self.adjustment, adjusted),
        )  # fmt: skip

    def _pools(self, running: Running) -> dict[str, Pool]:
        """One pool per response of the tables, marked."""
        # whoever is behind a union of hidden cells may be asked about by the rules of any table
        needed = max(largest_needed(rules_of(self.alone(name))) for name in self.tables)
        alone = {name: replace(running, prices={}, largest=max(running.largest, needed)) for name in self.tables}
        loaded = {name: self._loaded(name, each) for name, each in alone.items()}
        responses = _responses(loaded)
        for number in range(len(self.status)):
            self._set_by_hand(number, loaded)
        fixed = {name: asked.fixed for name, asked in self.tables.items() if asked.fixed}
        over = {name: self._hierarchy_over(name, running.here) for name in self.pool.over}
        published = [name for name, asked in self.tables.items() if asked.published]
        by_response = {r: {name: self._priced(tables[r]) for name, tables in loaded.items()} for r in responses}
        pools = {r: Pool.of(each, fixed=fixed, over=over, published=published) for r, each in by_response.items()}
        for r, pool in pools.items():
            prices = in_pool(pool, {name: each.prices[r] for name, each in alone.items() if r in each.prices})
            running.prices.update({} if prices is None else {r: prices})
        return pools

    def _priced(self, table: Table) -> Table:
        """A table without prices of its own pays its values where others pay what they are given."""
        given = self.suppression is not None and self.suppression.made().price.by == "given"
        return replace(table, weight=np.abs(table.value)) if given and table.weight is None else table

    def _loaded(self, name: str, running: Running) -> dict[str, Table]:
        """The tables of one name; what is out already was judged when it was published."""
        one = self.alone(name)
        with cures_of_table(name, self.tables[name]):
            return self._read(name, one, running)

    def _read(self, name: str, one: TableJob, running: Running) -> dict[str, Table]:
        return load_tables(one, running.here, running.progress) if self.tables[name].published else one.marked(running)

    def _set_by_hand(self, number: int, loaded: Mapping[str, dict[str, Table]]) -> None:
        """One status the job sets by hand, in every table that shows the cell."""
        each, used = self.status[number], False
        for name, tables in loaded.items():
            fixed = self.tables[name].fixed
            cell = {n: code for n, code in each.cell.items() if fixed.get(n) != code}
            stands = fixed.keys() <= each.cell.keys()
            for response in tables if each.table in (None, name) else ():
                shown = each.table == name or (stands and _shows(tables[response], cell))
                if shown and each.response in (None, response):
                    status = each.model_copy(update={"cell": cell})
                    tables[response], used = set_by_hand(tables[response], [status]), True
        if not used:
            raise BadOption(
                f"status.{number}: no table of the pool shows this cell",
                where=", ".join(f"{n}={c}" for n, c in each.cell.items()),
                hint="check its codes; name the code of a table that stands at one (fixed).",
            )

    def _hierarchy_over(self, name: str, here: Path) -> Hierarchy:
        """How whole tables add up: by the hierarchy of the classification, or all of them to its total."""
        said = self.classifications.get(name, Classification())
        if said.hierarchy:
            found = read_hierarchy(here / said.hierarchy, total=said.total, lead=said.lead)
            return found.normalised() if self.data is not None and self.data.normalise else found
        total = said.total or TOTAL
        codes = dict.fromkeys(t.fixed[name] for t in self.tables.values() if name in t.fixed)
        return Hierarchy.flat([c for c in codes if c != total], total=total)

    def _written(
        self, running: Running, asked: Mapping[str, TableJob], tables: Mapping[str, Mapping[str, Table]],
        pools: Mapping[str, Table], suppressions: Mapping[str, Suppression],
    ) -> tuple[Path, ...]:  # fmt: skip
        """What is asked for of every table, or nothing."""
        found = {r: each.split() for r, each in intervals_of(self, pools, running.progress).items()}
        files: list[Path] = []
        with all_or_none() as meanwhile:
            for name, one in asked.items():
                intervals = {r: each[name] for r, each in found.items()}
                files += write_tables(
                    one.output, running, tables[name], intervals, meanwhile, suppressed=bool(suppressions)
                )
            files += write_certificates(self.output, running.here, suppressions, meanwhile)
        return tuple(files)


def _by_table(pools: Mapping[str, Table]) -> dict[str, dict[str, Table]]:
    """The tables of pools by their names, each by its responses."""
    found: dict[str, dict[str, Table]] = {}
    for response, pool in pools.items():
        for name, table in pool.split().items():
            found.setdefault(name, {})[response] = table
    return found


def _together(several: Iterable[Mapping[str, Table]]) -> dict[str, Table]:
    return {name: table for tables in several for name, table in tables.items()}


def _responses(loaded: Mapping[str, Mapping[str, Table]]) -> list[str]:
    """The responses of a pool, which all of its tables have."""
    responses = list(dict.fromkeys(r for tables in loaded.values() for r in tables))
    for name, tables in loaded.items():
        missing = [r for r in responses if r not in tables]
        if missing:
            raise BadOption(
                f"table {name!r} has no response {listed(missing)}",
                hint=f"the tables of a pool show the same responses; it has {listed(tables)}.",
            )
    return responses


def _named(name: str, tables: Mapping[str, Table]) -> dict[str, Table]:
    """The tables of one name; with its response where there are several."""
    return {name if len(tables) == 1 else f"{name}, {response}": table for response, table in tables.items()}


def _shows(table: Table, cell: Mapping[str, str]) -> bool:
    return all(n in table.by and c in table.by[n] for n, c in cell.items())
