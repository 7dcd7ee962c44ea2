"""Statistical confidentiality: protect tables and microdata, attack them before release, prove what is promised."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from diskret.auditing.audit import audit
    from diskret.model.errors import DiskretError, ProtectionWarning
    from diskret.model.hierarchy import Hierarchy
    from diskret.model.protection import Knowledge, Protection
    from diskret.model.status import Status
    from diskret.model.table import Table
    from diskret.publication.publish import publish
    from diskret.rules.compare import compare_rules
    from diskret.rules.frequency import OneCategory, SmallCells, SmallMargin
    from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent
    from diskret.rules.mark import mark
    from diskret.safe.anonymise import anonymise
    from diskret.safe.control import Control
    from diskret.safe.options import LadderSearch, PrintedSearch
    from diskret.safe.rematch import rematch
    from diskret.suppression.options import Cost
    from diskret.suppression.suppress import suppress
    from diskret.tabulation.tabulate import tabulate

__version__ = "0.1.0"

__all__ = [
    "Control",
    "Cost",
    "DiskretError",
    "Dominance",
    "Hierarchy",
    "Knowledge",
    "LadderSearch",
    "MinCount",
    "OneCategory",
    "PPercent",
    "PQ",
    "PrintedSearch",
    "Protection",
    "ProtectionWarning",
    "SmallCells",
    "SmallMargin",
    "Status",
    "Table",
    "anonymise",
    "audit",
    "compare_rules",
    "mark",
    "publish",
    "rematch",
    "suppress",
    "tabulate",
]

# Names are looked up on first use: `diskret --help` must not wait for the compiler and the database.
_HOME = {
    "DiskretError": "model.errors",
    "ProtectionWarning": "model.errors",
    "Hierarchy": "model.hierarchy",
    "Status": "model.status",
    "Table": "model.table",
    "publish": "publication.publish",
    "compare_rules": "rules.compare",
    "OneCategory": "rules.frequency",
    "SmallCells": "rules.frequency",
    "SmallMargin": "rules.frequency",
    "PQ": "rules.magnitude",
    "Dominance": "rules.magnitude",
    "MinCount": "rules.magnitude",
    "PPercent": "rules.magnitude",
    "mark": "rules.mark",
    "audit": "auditing.audit",
    "Cost": "suppression.options",
    "Knowledge": "model.protection",
    "Protection": "model.protection",
    "suppress": "suppression.suppress",
    "tabulate": "tabulation.tabulate",
    "Control": "safe.control",
    "LadderSearch": "safe.options",
    "PrintedSearch": "safe.options",
    "anonymise": "safe.anonymise",
    "rematch": "safe.rematch",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'diskret' has no attribute {name!r}")
    return getattr(import_module(f"diskret.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
