"""The door tables leave by: marked, and protected where anything is primary; or somebody says that they are not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from diskret.auditing.report import AuditReport
from diskret.cellkey.cell_key import KeyedNoise
from diskret.model.errors import BadOption, NotProtected, listed
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.perturbation.changed_table import Perturbation
from diskret.perturbation.contributions import ContributionProtection
from diskret.suppression.result import Suppression

Result = Suppression | Perturbation | KeyedNoise | ContributionProtection | AuditReport
"""What protects or attacks a table, and has it."""
Leaving = Table | Result
CURE = (
    "protect it first: publish(suppress(table), ...), [suppression] in a job, diskret suppress; or, if another program "
    "protected it, attack it: publish(audit(table), ...); or say that this is meant: unprotected=True, "
    "output.unprotected, --unprotected."
)


def tables_leaving(given: Leaving | Mapping[str, Leaving]) -> Table | dict[str, Table]:
    """The tables themselves; one that was attacked in vain is protected by whatever hides its cells."""
    if isinstance(given, Mapping):
        return {name: _table(each) for name, each in given.items()}
    return _table(given)


def _table(given: Leaving) -> Table:
    if isinstance(given, Table):
        return given
    if not isinstance(given, Result):
        raise BadOption(
            f"{type(given).__name__} is not a table to publish",
            hint="give a table, what protected it (suppress, perturb, ...), or what attacked it (audit); protected "
            "records are written with diskret.publication.microdata_files.write_records, or by a job with [microdata].",
        )
    if _exposed(given):
        # it may have been sealed before, by what looked less closely
        return replace(given.table, seal="")
    if isinstance(given, AuditReport) and given.safe and given.table.sealable:
        return given.table.sealed()
    return given.table


def _exposed(given: Leaving) -> int:
    """How many cells or lines a result names as exposed."""
    if isinstance(given, ContributionProtection):
        return given.extended.exposed
    return given.exposed if isinstance(given, Suppression) else given.open if isinstance(given, AuditReport) else 0


def refuse_unprotected(given: Leaving | Mapping[str, Leaving]) -> None:
    """Refuse tables that nobody marked, and primary cells that nothing is known to protect."""
    several = given if isinstance(given, Mapping) else {_table(given).response: given}
    for name, each in several.items():
        table = _table(each)
        if table.unmarked:
            raise NotProtected(
                f"{name!r} was never marked: no rule was applied, no cell has a status",
                hint="mark it first, [rules] in a job, and protect it; or say that nothing in it is confidential: "
                "unprotected=True, output.unprotected, --unprotected.",
            )
        if _exposed(each) or not table.protected:
            raise NotProtected(_why(name, table, each), where=_where(each), hint=CURE)


def _why(name: str, table: Table, given: Leaving) -> str:
    exposed = _exposed(given)
    if exposed:
        return f"{name!r} is not protected: {exposed} of its cells or lines {'is' if exposed == 1 else 'are'} exposed"
    if not table.hidden.any():
        return f"{name!r} was changed since it was marked or protected, and nothing shows that it is protected"
    primary = int((table.status == Status.PRIMARY).sum())
    some = "a primary cell" if primary == 1 else f"{primary} primary cells" if primary else "suppressed cells"
    return f"{name!r} has {some}, and nothing shows that it is protected: it was never suppressed, or was changed since"


def _where(given: Leaving) -> str:
    """The exposed cells by their names; they are suppressed cells, so no value is told."""
    if isinstance(given, ContributionProtection):
        return _where(given.extended)
    if isinstance(given, Suppression):
        return listed([u.cell for u in given.unprotected])
    if isinstance(given, AuditReport):
        return listed(dict.fromkeys([*(e.cell for e in given.exposed), *given.undecided]))
    return ""


def care(table: Table) -> str:
    """What readers of an unprotected table must be told, by its key in the legend; empty: nothing."""
    return "unprotected" if not table.protected else "unmarked" if table.unmarked else ""
