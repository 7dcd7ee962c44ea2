"""Output checking: accept, change or refuse, each with the reason, alone, beside each other and beside the ledger."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from diskret.auditing.audit import audit
from diskret.ledger.about import About
from diskret.ledger.ledger import Ledger
from diskret.model.errors import DamagedLedger, DiskretError, ProtectionWarning, listed
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.requests.beside import House, for_counts, of_values
from diskret.requests.output_rules import OutputRules, minimum_count
from diskret.requests.outputs import Finding, Group, Output, TableOutput, Verdict
from diskret.rules.mark import mark
from diskret.rules.rule import largest_needed
from diskret.suppression.suppress import suppress

ORDER: tuple[Verdict, ...] = ("accept", "change", "refuse")


@dataclass(frozen=True, kw_only=True)
class Counted:
    """A group with the number of its units, and where it is shown."""

    group: Group
    units: int
    where: str


@dataclass(frozen=True, kw_only=True, eq=False)
class OutputCheck:
    """What is said of a set of outputs."""

    findings: tuple[Finding, ...]
    tables: dict[str, Table]
    """Tables as they would be accepted: with the cells hidden that must be."""
    groups: tuple[Counted, ...] = ()
    """The groups that accepted outputs show, for the next check."""

    @property
    def verdict(self) -> Verdict:
        """The hardest of all."""
        return ORDER[max((ORDER.index(f.verdict) for f in self.findings), default=0)]

    def report(self) -> str:
        """In words: every output with its verdict, reasons and changes."""
        lines = []
        for finding in self.findings:
            lines.append(f"{finding.name}: {finding.verdict}")
            lines += [f"  {each}" for each in finding.reasons]
            lines += [f"  to do: {each}" for each in finding.changes]
        return "\n".join(lines)

    def summary(self) -> dict[str, Any]:
        """As plain data."""
        told = [
            {"name": f.name, "verdict": f.verdict, "reasons": list(f.reasons), "changes": list(f.changes)}
            for f in self.findings
        ]
        return {"verdict": self.verdict, "outputs": told}

    def __str__(self) -> str:
        return self.report()


def check_outputs(
    outputs: Sequence[Output], house: House, rules: OutputRules = OutputRules(), *,
    ledger: Ledger | None = None, earlier: Iterable[Counted] = (),
) -> OutputCheck:  # fmt: skip
    """Judge outputs made elsewhere by the house's rules, beside each other, and beside the ledger.

    ``earlier`` are groups shown by outputs that were accepted before. Groups are compared where their filters say that
    one contains the other; whether others do, nobody can tell from descriptions.

    >>> from diskret import rules as primary
    >>> from diskret.requests.outputs import Extreme, Model
    >>> from diskret.rules.rule import AnyOf
    >>> house = House(rules=AnyOf((primary.MinCount(3),)))
    >>> print(check_outputs([Model(name="wages", units=200, parameters=12), Extreme(name="oldest")], house))
    wages: accept
    oldest: change
      it is the value of too few units
      to do: give a percentile with enough units beyond it, or classes in the place of values
    """
    if ledger is not None and ledger.flaws:
        raise DamagedLedger(
            f"outputs cannot be judged beside this ledger: {ledger.flaws[0]}", where=str(ledger.folder),
            hint="put the files back from a copy: nobody can say what the lost ones told.",
        )  # fmt: skip
    known, beside = list(earlier), ledger
    findings: list[Finding] = []
    tables: dict[str, Table] = {}
    shown: list[Counted] = []
    for output in outputs:
        if isinstance(output, TableOutput):
            finding, table = judge_table(output, house, beside)
        else:
            finding, table = rules.judge(output, house), None
        own = [] if finding.verdict == "refuse" else list(_groups(output, table))
        near = _differing(own, known, max(rules.difference, minimum_count(house)))
        if near:
            finding = replace(finding, verdict="refuse", reasons=(*finding.reasons, *near), changes=())
        findings.append(finding)
        if table is not None and finding.verdict != "refuse":
            tables[output.name] = table
            if isinstance(output, TableOutput) and output.about is not None:
                beside = _and(beside, table, output.about, output.name)
        if finding.verdict != "refuse":
            known += own
            shown += own
    return OutputCheck(findings=tuple(findings), tables=tables, groups=tuple(shown))


def _and(ledger: Ledger | None, table: Table, about: About, name: str) -> Ledger:
    """A ledger that knows one table more, which is not entered: it would be published together with the next ones."""
    known = Ledger(folder=Path(), entries=()) if ledger is None else ledger
    return known.supposing(table, apart_in(known, table, about), name=_unused(known, name))


def _unused(ledger: Ledger, name: str) -> str:
    """A name that no entry has, for an output that has that of one."""
    taken = {entry.name for entry in ledger.entries}
    names = (f"{name}{'' if turn == 1 else f' ({turn})'}" for turn in count(1))
    return next(each for each in names if each not in taken)


def apart_in(ledger: Ledger, table: Table, about: About) -> About:
    """The same, with a reason where a ledger knows nothing of this value."""
    known = {entry.subject for entry in ledger.entries}
    own = (about.population, about.value or table.response, about.scale[1])
    return (
        about if about.apart or not known or own in known else replace(about, apart="another value of the same units")
    )


def judge_table(output: TableOutput, house: House, ledger: Ledger | None = None) -> tuple[Finding, Table | None]:
    """What is said of a table: accepted, or with which cells hidden it would be."""
    table = output.table
    rules = for_counts(house.rules) if table.frequency else of_values(house.rules)
    people = table.respondents
    if not table.frequency and (people is None or not table.counted):
        return _refused(output, "the table does not say how many units stand behind its cells"), None
    if not table.frequency and people is not None and people.ranked < largest_needed(rules):
        return _refused(
            output, f"the {largest_needed(rules)} largest contributions of every cell are not given: nobody can say "
            "whether one dominates",
        ), None  # fmt: skip
    given = table.hidden
    bare = replace(table, status=np.where(given, np.uint8(Status.OPEN), table.status), seal="")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ProtectionWarning)
            marked = mark(bare, rules, special_cases=False)
            caught = marked.status == Status.PRIMARY
            status = np.where(given & ~caught, np.uint8(Status.SECONDARY), marked.status)
            marked = replace(marked, status=status)
            memory = None
            if ledger is not None and output.about is not None:
                memory = ledger.about(apart_in(ledger, table, output.about), output.name)
            if memory is None and not caught.any():
                return Finding(name=output.name, verdict="accept"), replace(table, status=status)
            if memory is None and given[caught].all() and audit(marked, house.promise).safe:
                return Finding(name=output.name, verdict="accept"), marked
            done = suppress(marked, house.promise, house.method, ledger=memory)
    except DiskretError as e:
        return _refused(output, e.what, *([e.where] if e.where and e.where != output.name else [])), None
    if done.unprotected or (done.audit is not None and not done.audit.safe):
        cells = [u.cell for u in done.unprotected] or ["see the audit"]
        return _refused(output, f"cells cannot be protected: {listed(cells)}"), None
    more = done.table.hidden & ~given
    if not more.any():
        return Finding(name=output.name, verdict="accept"), done.table
    alone, rest = more & caught, more & ~caught
    reasons = [f"{int(alone.sum())} open cells have too few units or are dominated"] if alone.any() else []
    if rest.any():
        reasons.append(f"{int(rest.sum())} open cells could be used to compute hidden ones")
    if not _something_left(done.table):
        return _refused(output, *reasons, "with them hidden nothing is left"), None
    hide = f"hide {listed(done.table.name_cells(more, most=1000), most=1000)}"
    return Finding(name=output.name, verdict="change", reasons=tuple(reasons), changes=(hide,)), done.table


def _something_left(table: Table) -> bool:
    return bool((~table.hidden & ~table.empty).any())


def _refused(output: Output, *reasons: str) -> Finding:
    return Finding(name=output.name, verdict="refuse", reasons=reasons)


def _groups(output: Output, table: Table | None) -> Iterable[Counted]:
    """The groups an output shows numbers of; of a table every open cell."""
    if not isinstance(output, TableOutput):
        units = getattr(output, "units", None)
        if units is not None:
            yield Counted(group=output.group, units=units, where=output.name)
        return
    shown = output.table if table is None else table
    units = shown.value if shown.frequency else shown.count
    for cell in np.flatnonzero(~shown.hidden.reshape(-1) & (units.reshape(-1) > 0)).tolist():
        named = zip(shown.names, shown.codes(shown.place(cell)), shown.tops, strict=True)
        codes = {name: code for name, code, top in named if code != top}
        yield Counted(
            group=output.group.within(codes), units=int(units.reshape(-1)[cell]),
            where=f"{shown.name_of(cell)} of {output.name}",
        )  # fmt: skip


def _differing(own: Sequence[Counted], known: Sequence[Counted], least: int, most: int = 3) -> list[str]:
    """Pairs of groups, one inside the other by what their filters say, with too few units in the difference."""
    ordered = sorted(known, key=lambda each: each.units)
    sizes = np.array([each.units for each in ordered], dtype=np.int64)
    said: list[str] = []
    for mine in own:
        low, high = np.searchsorted(sizes, [mine.units - least + 1, mine.units + least])
        for other in ordered[low:high]:
            apart = mine.units - other.units
            contained = mine.group.inside(other.group) if apart < 0 else other.group.inside(mine.group)
            if apart and contained:
                said.append(f"{mine.where} differs from {other.where} by too few units")
                break
        if len(said) == most:
            break
    return said
