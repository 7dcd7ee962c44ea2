"""Whether protected tables may leave, and if not, why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from diskret.cellkey.cell_key import ALTERED as NOISE
from diskret.model.table import Table
from diskret.publication.doors import care
from diskret.publication.table_report import ReportFacts
from diskret.publication.verdict import Reason, Verdict


def table_verdict(tables: Mapping[str, Table], facts: ReportFacts) -> Verdict:
    """What speaks against the release of tables: what is exposed, what nobody marked, protected or attacked.

    >>> table = Table.from_cells({"s": ["a", "b"], "x": [1, 2]}, by={"s": None}, value="x")
    >>> table_verdict({"x": table}, ReportFacts(audits={})).words("en", internal=True)
    'Not yet: x: no rule was applied.'
    """
    against = tuple(reason for name, table in tables.items() for reason in _against(name, table, facts))
    look: tuple[Reason, ...] = (("warnings", {"n": len(facts.warnings)}),) if facts.warnings else ()
    return Verdict(against=against, look=look)


def _against(name: str, table: Table, facts: ReportFacts) -> Iterator[Reason]:
    """What speaks against one table; there is no attack on noise by cell keys that could be missing."""
    audit, lost = facts.audits.get(name), (facts.unprotected or {}).get(name, ())
    close = (facts.too_close or {}).get(name, 0)
    if audit is not None:
        counts = {key: len(audit.get(key, ())) for key in ("exposed", "undecided", "lines")}
        found = {key: n for key, n in counts.items() if n}
        yield from ((key, {"table": name, "n": n}) for key, n in found.items())
        if not audit["safe"] and not found:
            yield "unguarded", {"table": name}
    if lost and (audit is None or audit["safe"]):
        yield "unprotected", {"table": name, "n": len(lost)}
    if close:
        yield "too close", {"table": name, "n": close}
    if table.altered not in ("", NOISE) and name not in (facts.too_close or {}):
        yield "changed", {"table": name}
    reason = care(table)
    if reason == "unmarked" or name in facts.unmarked:
        yield "unmarked", {"table": name}
    elif reason and not lost and (audit is None or audit["safe"]):
        yield "unguarded", {"table": name}
    elif audit is None and table.hidden.any() and not lost:
        yield "not attacked", {"table": name}
