"""Statistical confidentiality: protect tables and microdata, attack them before release, prove what is promised."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from diskret.auditing.audit import audit
    from diskret.auditing.certificate import verify
    from diskret.auditing.published_intervals import if_range_is_known, publishable_intervals
    from diskret.cellkey.cell_key import draw_keys, perturb_by_key
    from diskret.cellkey.cell_key_attack import attack_cell_keys
    from diskret.cellkey.options import Scaling
    from diskret.cellkey.p_table import PTable
    from diskret.cellkey.p_table_design import design_p_table
    from diskret.cellkey.p_table_files import read_p_table, write_p_table
    from diskret.comparison.compare import compare_methods
    from diskret.comparison.options import ComparisonOptions
    from diskret.microdata.coarsening import Drop, Recode, Release, Withhold, coarsen
    from diskret.microdata.microaggregation import microaggregate
    from diskret.microdata.noise import add_noise
    from diskret.microdata.pram import post_randomise
    from diskret.microdata.swapping import swap_records
    from diskret.microdata.utility import Regression, measure_utility
    from diskret.model.errors import DiskretError, ProtectionWarning
    from diskret.model.hierarchy import Hierarchy
    from diskret.model.pool import Pool
    from diskret.model.protection import Knowledge, Protection
    from diskret.model.status import Status
    from diskret.model.table import Table
    from diskret.perturbation.contributions import suppress_contributions
    from diskret.perturbation.merging import propose_merging
    from diskret.perturbation.options import CuboidOptions
    from diskret.perturbation.perturb import perturb
    from diskret.perturbation.perturbation_attack import attack_perturbed
    from diskret.perturbation.rounding import round_table
    from diskret.publication.comparison_files import write_comparison
    from diskret.publication.publish import publish
    from diskret.risk.anonymity import measure_anonymity
    from diskret.risk.attack import attack
    from diskret.risk.estimate import estimate_reidentifiable
    from diskret.risk.measure import measure_risk
    from diskret.risk.planning import plan_merges
    from diskret.rules.compare import compare_rules
    from diskret.rules.frequency import OneCategory, SmallCells, SmallMargin
    from diskret.rules.magnitude import PQ, Dominance, MinCount, PPercent
    from diskret.rules.mark import mark
    from diskret.safe.anonymise import anonymise
    from diskret.safe.control import Control
    from diskret.safe.options import LadderSearch, PrintedSearch
    from diskret.safe.rematch import rematch
    from diskret.suppression.complete.intervals import protection_intervals
    from diskret.suppression.complete.raising import raise_table
    from diskret.suppression.difference import compare_suppressions
    from diskret.suppression.options import Cost
    from diskret.suppression.responses import apart, follow, jointly, leading_of
    from diskret.suppression.suppress import suppress, thin
    from diskret.tabulation.plan import RecordKey
    from diskret.tabulation.tabulate import tabulate

__version__ = "0.1.0"

__all__ = [
    "Control",
    "Cost",
    "DiskretError",
    "Dominance",
    "Drop",
    "Hierarchy",
    "Knowledge",
    "LadderSearch",
    "MinCount",
    "OneCategory",
    "PPercent",
    "PQ",
    "PrintedSearch",
    "Pool",
    "Protection",
    "ProtectionWarning",
    "Recode",
    "Regression",
    "Release",
    "SmallCells",
    "SmallMargin",
    "Status",
    "Table",
    "Withhold",
    "add_noise",
    "attack",
    "attack_perturbed",
    "anonymise",
    "audit",
    "coarsen",
    "compare_rules",
    "compare_suppressions",
    "estimate_reidentifiable",
    "apart",
    "follow",
    "if_range_is_known",
    "jointly",
    "leading_of",
    "mark",
    "measure_utility",
    "microaggregate",
    "post_randomise",
    "measure_anonymity",
    "measure_risk",
    "perturb",
    "CuboidOptions",
    "plan_merges",
    "publish",
    "rematch",
    "round_table",
    "publishable_intervals",
    "protection_intervals",
    "raise_table",
    "suppress",
    "suppress_contributions",
    "swap_records",
    "tabulate",
    "thin",
    "verify",
    "PTable",
    "RecordKey",
    "Scaling",
    "ComparisonOptions",
    "attack_cell_keys",
    "compare_methods",
    "design_p_table",
    "draw_keys",
    "perturb_by_key",
    "propose_merging",
    "read_p_table",
    "write_comparison",
    "write_p_table",
]

# Names are looked up on first use: `diskret --help` must not wait for the compiler and the database.
_HOME = {
    "DiskretError": "model.errors",
    "ProtectionWarning": "model.errors",
    "Hierarchy": "model.hierarchy",
    "Status": "model.status",
    "Table": "model.table",
    "perturb": "perturbation.perturb",
    "CuboidOptions": "perturbation.options",
    "attack_perturbed": "perturbation.perturbation_attack",
    "suppress_contributions": "perturbation.contributions",
    "round_table": "perturbation.rounding",
    "publish": "publication.publish",
    "measure_anonymity": "risk.anonymity",
    "attack": "risk.attack",
    "estimate_reidentifiable": "risk.estimate",
    "measure_risk": "risk.measure",
    "plan_merges": "risk.planning",
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
    "if_range_is_known": "auditing.published_intervals",
    "publishable_intervals": "auditing.published_intervals",
    "protection_intervals": "suppression.complete.intervals",
    "raise_table": "suppression.complete.raising",
    "compare_suppressions": "suppression.difference",
    "Cost": "suppression.options",
    "Knowledge": "model.protection",
    "Pool": "model.pool",
    "Protection": "model.protection",
    "apart": "suppression.responses",
    "jointly": "suppression.responses",
    "follow": "suppression.responses",
    "leading_of": "suppression.responses",
    "suppress": "suppression.suppress",
    "tabulate": "tabulation.tabulate",
    "thin": "suppression.suppress",
    "verify": "auditing.certificate",
    "Drop": "microdata.coarsening",
    "Recode": "microdata.coarsening",
    "Release": "microdata.coarsening",
    "Withhold": "microdata.coarsening",
    "coarsen": "microdata.coarsening",
    "microaggregate": "microdata.microaggregation",
    "add_noise": "microdata.noise",
    "post_randomise": "microdata.pram",
    "swap_records": "microdata.swapping",
    "Regression": "microdata.utility",
    "measure_utility": "microdata.utility",
    "Control": "safe.control",
    "LadderSearch": "safe.options",
    "PrintedSearch": "safe.options",
    "anonymise": "safe.anonymise",
    "rematch": "safe.rematch",
    "PTable": "cellkey.p_table",
    "RecordKey": "tabulation.plan",
    "Scaling": "cellkey.options",
    "ComparisonOptions": "comparison.options",
    "Settings": "comparison.options",
    "compare_methods": "comparison.compare",
    "attack_cell_keys": "cellkey.cell_key_attack",
    "design_p_table": "cellkey.p_table_design",
    "draw_keys": "cellkey.cell_key",
    "propose_merging": "perturbation.merging",
    "perturb_by_key": "cellkey.cell_key",
    "read_p_table": "cellkey.p_table_files",
    "write_comparison": "publication.comparison_files",
    "write_p_table": "cellkey.p_table_files",
}


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'diskret' has no attribute {name!r}")
    return getattr(import_module(f"diskret.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
