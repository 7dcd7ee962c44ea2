"""One table of a batch as the sections of a job that say what is tabulated, and by which rules it is judged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from diskret.argus.course import Asked
from diskret.argus.methods import price
from diskret.argus.rules import USUAL_MARGIN, Judged, judged, largest_of, values_of, whole
from diskret.argus.work import Content, Made, Work
from diskret.io.arb_commands import OpenMicrodata, ReadTable
from diskret.io.metadata import Metadata, Role, Variable
from diskret.io.text import read_text
from diskret.model.errors import DiskretError


@dataclass(frozen=True, kw_only=True)
class TableOfBatch:
    """One table of a batch with its metadata and rules."""

    asked: Asked
    metadata: Metadata | None
    judged: Judged

    @classmethod
    def of(cls, work: Work, asked: Asked) -> TableOfBatch:
        """The table, with what is wrong with its rules noted."""
        rules = judged(asked.rules)
        if asked.rules is not None:
            hint = "two P and two NK, one FREQ and one REQ for respondents, and as many for holdings."
            for name in rules.wrong:
                work.wrong(asked.rules, f"too many {name} rules", hint)
        if rules.weighted and not isinstance(asked.data, OpenMicrodata):
            rules.respondents.get("min_count", {}).pop("weighted", None)
            work.places.say(f"table {asked.number}: WGT has no effect on a list of cells")
        return cls(asked=asked, metadata=work.described(asked), judged=rules)

    @property
    def records(self) -> bool:
        """Whether the data are records, not cells."""
        return isinstance(self.asked.data, OpenMicrodata)

    @property
    def priced(self) -> bool:
        """Whether its cells come with prices."""
        return not self.records and self.metadata is not None and bool(self.metadata.having(Role.COST))

    def data(self, work: Work, made: Made, section: str = "data") -> Content:
        """Where the data are."""
        made.note(section, self.asked.data)
        made.note(section, self.asked.metadata)
        key = "microdata" if self.records else "cells"
        file = work.reads(self.asked.data, self.asked.data.file)
        return {key: file, "metadata": work.reads(self.asked.metadata, self.asked.metadata.file)}

    def table(self, work: Work, made: Made, section: str = "table") -> Content:
        """What is tabulated."""
        said = self.asked.specified
        content: Content = {"by": [self._named(work, name) for name in said.by]}
        if said.response is not None:
            content["value"] = [self._response(work, said.response)]
        elif not self.records and self.metadata and (counts := self.metadata.having(Role.FREQUENCY)):
            content["value"] = [counts[0].name]
        if said.shadow and said.shadow.lower() != (said.response or "").lower():
            content["shadow"] = self._named(work, said.shadow)
        if self.records and (column := price(said, {}).column):
            content["cost"] = self._named(work, column)
        self._refuse_unmarked_costs(work)
        self._refuse_unknown_contributors(work)
        content |= dict(self._roles(work))
        made.note(section, said)
        if self.asked.read is not None:
            made.note(section, self.asked.read, *self._sums(content), *self._statuses(work, content))
        return content

    def _refuse_unmarked_costs(self, work: Work) -> None:
        """Costs of cells are read from the column that the metadata call so."""
        column = price(self.asked.specified, {}).column
        if self.records or column is None or self.metadata is None:
            return
        name = self._named(work, column)
        if name not in {v.name for v in self.metadata.having(Role.COST)}:
            hint = "mark it with <NUMERIC> <COSTVAR> in the metadata, or leave it out."
            work.wrong(self.asked.specified, f"the metadata do not call {name!r} a cost variable", hint)

    def _refuse_unknown_contributors(self, work: Work) -> None:
        """Rules ask who stands behind the cells of a list: the metadata must say who does."""
        said = self.asked.rules
        if said is None or self.metadata is None:
            return
        for name in sorted(values_of(said)) if self.asked.specified.response is None else ():
            hint = "name a response, or leave the rule out: FREQ is for frequencies."
            work.wrong(said, f"the rule {name} cannot judge a table of frequencies", hint)
        if self.records:
            return
        if self.judged.holdings or self.judged.asks_requests:
            hint = "such rules are for records; leave them out (tau-ARGUS ignores them)."
            work.wrong(said, "a list of cells knows nothing of holdings and requests", hint)
        wanted, known = largest_of(said), len(self.metadata.having(Role.MAXSCORE))
        if wanted > known:
            what = f"the rules look at the {wanted} largest contributions, the metadata name {known}"
            work.wrong(said, what, "mark their columns with <MAXSCORE>, or choose another rule.")
        if "min_count" in self.judged.content and not self.metadata.having(Role.FREQUENCY):
            hint = "mark its column with <FREQUENCY>, or leave the rule out."
            work.wrong(said, "the rules ask for contributors (FREQ), the metadata name no frequencies", hint)

    def _sums(self, content: Content) -> Iterator[str]:
        read = self.asked.read
        if isinstance(read, ReadTable) and read.sums == 2:
            content["sums"] = "keep"
            yield "wrong sums stay as they are in what is written"
        elif isinstance(read, ReadTable) and read.sums == 1:
            content["sums"] = "compute"
            yield "wrong sums are computed anew, as missing ones are in any case"

    def _statuses(self, work: Work, content: Content) -> Iterator[str]:
        """As in tau-ARGUS the statuses of a file count where no rule judges its cells."""
        if self.records or not self.judged.judges or self.metadata is None:
            return
        if any(self.metadata.having(role) for role in (Role.STATUS, Role.LOWER_LEVEL, Role.UPPER_LEVEL)):
            content["statuses"] = False
            words = "the statuses and protection levels of the file do not count, because rules are given"
            work.places.say(f"table {self.asked.number}: {words}")
            yield words

    def _roles(self, work: Work) -> Iterator[tuple[str, Any]]:
        """Columns that the rules need."""
        if not self.records or self.metadata is None or self.asked.rules is None:
            return
        wanted = [
            ("weight", Role.WEIGHT, self.judged.weighted, "weights (WGT)"),
            ("holding", Role.HOLDING, bool(self.judged.holdings), "holdings"),
            ("request", Role.REQUEST, self.judged.asks_requests, "requests (REQ)"),
        ]
        for key, role, asked, words in wanted:
            if not asked:
                continue
            found = self.metadata.having(role)
            if not found:
                hint = f"mark its column with <{role}>, or leave the rule out."
                work.wrong(self.asked.rules, f"the rules ask for {words}, the metadata name none", hint)
            elif role is Role.REQUEST:
                yield key, {"column": found[0].name, "codes": list(found[0].request)}
            else:
                yield key, found[0].name

    def _named(self, work: Work, name: str) -> str:
        """A variable as the metadata spell it."""
        try:
            return self.metadata.variable(name).name if self.metadata else name
        except DiskretError as e:
            work.wrong(self.asked.specified, e.what, e.hint)
            return name

    def _response(self, work: Work, name: str) -> str:
        found = self._named(work, name)
        roles = {v.name: v.roles for v in self.metadata.variables}.get(found) if self.metadata else None
        if roles is not None and not roles & {Role.NUMERIC, Role.FREQUENCY}:
            hint = "mark it with <NUMERIC> in the metadata, or name another."
            work.wrong(self.asked.specified, f"the response {found!r} is not a number", hint)
        return found

    def classifications(self, work: Work, made: Made, section: str = "") -> Content:
        """Codes for what is missing, which tau-ARGUS shows always, and recodings."""
        found: dict[str, Content] = {v.name: {"missing_codes": list(v.missing)} for v in self._by if v.missing}
        for each in self.asked.recodes:
            if not self.asked.has(each.variable):
                work.wrong(each, f"table {each.table} has no variable {each.variable!r}", "name one of its own.")
            name = self._named(work, each.variable)
            where = ".".join(filter(None, (section, "classifications", name)))
            if each.level is not None:
                found.setdefault(name, {})["levels"] = each.level
                made.note(where, each, "deeper levels are closed")
            elif each.file is not None:
                found.setdefault(name, {})["recode"] = work.reads(each, each.file)
                made.note(where, each)
        return found

    def rules(self, made: Made, section: str = "rules", *, given: bool = False) -> Content:
        """By which rules it is marked; ``given`` if files make cells of this table or a linked one unsafe."""
        content = self.judged.content
        if "min_level" in content:  # one unit of the last decimal
            content["min_level"] = whole(10.0 ** -self._decimals().get("decimals", 0))
        words = []
        if given or not self.records or self.asked.apriori:
            usual = content.setdefault("given", USUAL_MARGIN)
            words = [f"given = {usual}: the margin of cells that are unsafe because a file says so"]
        if self.asked.rules is not None:
            made.note(section, self.asked.rules, *words)
        return content

    def apriori(self, work: Work, made: Made) -> list[Content]:
        """What is known of single cells."""
        found = []
        for each in self.asked.apriori:
            made.note("apriori", each)
            errors = "ignore" if each.ignore_errors else "refuse"
            file = work.reads(each, each.file)
            if not work.is_empty(each, file):
                found.append({"file": file, "separator": each.separator, "expand": each.expand, "errors": errors})
        return found

    @property
    def _by(self) -> list[Variable]:
        """The classifications, as far as the metadata know them."""
        known = {v.name.lower(): v for v in self.metadata.variables} if self.metadata else {}
        return [known[name.lower()] for name in self.asked.specified.by if name.lower() in known]

    @property
    def layout(self) -> Content:
        """How codes and values are written: as wide, with as many decimals and at the cost that the metadata say."""
        if self.metadata is None:
            return {}
        merged = {each.variable.lower() for each in self.asked.recodes if each.file}
        widths: Content = {}
        unpadded: Content = {}
        for v in self._by:
            if v.hierarchy:
                filled = filled_up(self.metadata, v)
                widths |= {v.name: filled.width} if filled.width else {}
                unpadded |= {v.name: list(filled.others)} if filled.width and filled.others else {}
            elif not any(v.digits):
                plain = self.records and v.width and v.name.lower() not in merged
                widths[v.name] = v.width if plain else "longest"
        found = {"widths": widths, "unpadded": unpadded}
        return {key: each for key, each in found.items() if each} | self._decimals() | self._costs()

    def _decimals(self) -> Content:
        """Decimals of the response, as the metadata say."""
        asked = (self.asked.specified.response or "").lower()
        found = [v.decimals for v in self.metadata.variables if v.name.lower() == asked] if self.metadata else []
        return {"decimals": min(found[0], 9)} if found else {}

    def _costs(self) -> Content:
        """What cells cost, as a file says it."""
        found = price(self.asked.specified, {}, priced=self.priced).cost
        said = found if isinstance(found, dict) else {"by": found} if found else {}
        return {key: said[name] for key, name in (("cost", "by"), ("power", "power")) if name in said}

    def distances(self) -> dict[str, float]:
        """The distances the metadata give to classifications, as powers."""
        if self.metadata is None:
            return {}
        named = {name.lower() for name in self.asked.specified.by}
        return {v.name: float(v.distance[0]) for v in self.metadata.variables if v.distance and v.name.lower() in named}


@dataclass(frozen=True, kw_only=True)
class FilledUp:
    """To how many characters the file of a hierarchy fills codes up, and which codes it does not; 0: none."""

    width: int = 0
    others: tuple[str, ...] = ()


def filled_up(metadata: Metadata, variable: Variable) -> FilledUp:
    """How the file of a hierarchy writes its codes: tau-ARGUS takes the blanks before them as parts of them."""
    try:
        text = read_text(metadata.file(variable.hierarchy or ""))
    except DiskretError:
        return FilledUp()  # whoever reads the hierarchy says so
    codes = [line.rstrip().rsplit(variable.lead, 1)[-1] for line in text.splitlines() if line.strip()]
    width = max(variable.width or 0, *map(len, codes))
    if not any(code != code.lstrip() for code in codes) and all(len(code) >= width for code in variable.missing):
        return FilledUp()
    return FilledUp(width=width, others=tuple(code for code in codes if code == code.lstrip() and len(code) < width))
