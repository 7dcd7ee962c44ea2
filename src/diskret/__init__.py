"""Statistical confidentiality: protect tables and microdata, attack them before release, prove what is promised."""

from diskret.model.errors import DiskretError, ProtectionWarning
from diskret.model.hierarchy import Hierarchy
from diskret.model.status import Status
from diskret.model.table import Table
from diskret.rules.compare import compare_rules
from diskret.rules.frequency import OneCategory, SmallCells, SmallMargin
from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent
from diskret.rules.mark import mark
from diskret.tabulation.tabulate import tabulate

__version__ = "0.1.0"

__all__ = [
    "DiskretError",
    "Dominance",
    "Hierarchy",
    "MinCount",
    "OneCategory",
    "PPercent",
    "PQ",
    "ProtectionWarning",
    "SmallCells",
    "SmallMargin",
    "Status",
    "Table",
    "compare_rules",
    "mark",
    "tabulate",
]
