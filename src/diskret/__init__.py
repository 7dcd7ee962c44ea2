"""Statistical confidentiality: protect tables and microdata, attack them before release, prove what is promised.

The names to begin with stand here; what a method can be told, the rules and everything about records stand in
namespaces: `diskret.rules.PPercent`, `diskret.methods.Cuboids`, `diskret.cellkey.design_p_table`. Names of earlier
versions stay importable from here until 1.0. Types are in `__init__.pyi`.
"""

from importlib import import_module

__version__ = "0.2.0"

__all__ = (
    "Hierarchy", "Table", "Pool", "System", "Status", "Promise", "Knowledge", "tabulate", "mark", "suppress",
    "thin", "audit", "verify", "publish", "perturb", "round_table", "anonymise", "coarsen", "measure_risk",
    "compare_methods", "DiskretError", "ProtectionWarning",
)  # fmt: skip
_NAMESPACES = {"methods": "suppression.methods", "tree_edits": "model.tree_edits"} | {
    room: room
    for room in (
        "cellkey",
        "comparison",
        "ledger",
        "microdata",
        "perturbation",
        "requests",
        "risk",
        "rules",
        "safe",
        "zoning",
    )
}
# Names are looked up on first use: `diskret --help` must not wait for the compiler and the database.
_HOMES = {
    "argus.run": "explain_argus run_argus",
    "auditing.audit": "audit",
    "auditing.certificate": "verify",
    "auditing.certificate_files": "read_certificate write_certificate",
    "auditing.plain": "write_plain",
    "auditing.printed_intervals": "printed_intervals",
    "auditing.published_intervals": "if_range_is_known publishable_intervals",
    "cellkey.cell_key": "draw_keys perturb_by_key",
    "cellkey.cell_key_attack": "attack_cell_keys",
    "cellkey.options": "Scaling",
    "cellkey.p_table": "PTable",
    "cellkey.p_table_design": "design_p_table",
    "cellkey.p_table_files": "read_p_table write_p_table",
    "comparison.compare": "compare_methods",
    "comparison.options": "ComparisonOptions Settings",
    "io.grc": "read_recoding",
    "io.hierarchies": "read_hierarchy",
    "io.hierarchy_writer": "write_hierarchy",
    "io.hst": "read_apriori write_apriori",
    "io.jj": "read_jj write_jj",
    "io.lookup": "Lookup",
    "ledger.ledger": "open_ledger",
    "microdata.coarsening": "Drop Recode Release ReleaseUnits Withhold coarsen",
    "microdata.microaggregation": "microaggregate",
    "microdata.noise": "add_noise",
    "microdata.options": "NoiseOptions",
    "microdata.pram": "post_randomise",
    "microdata.swapping": "swap_records",
    "microdata.utility": "Regression measure_utility",
    "model.closing": "close_codes close_levels closed merge_codes",
    "model.errors": "DiskretError ProtectionWarning",
    "model.hierarchy": "Hierarchy",
    "model.knowledge": "Knowledge",
    "model.older": "Protection",
    "model.periods": "in_periods",
    "model.pool": "Pool",
    "model.promise": "Promise",
    "model.status": "Status",
    "model.system": "System",
    "model.table": "Table",
    "model.unpivot": "unpivoted",
    "perturbation.adjusted_table": "Adjustment",
    "perturbation.adjustment": "adjust",
    "perturbation.contributions": "suppress_contributions",
    "perturbation.merging": "propose_merging",
    "perturbation.options": "CuboidOptions",
    "perturbation.perturb": "perturb",
    "perturbation.perturbation_attack": "attack_perturbed",
    "perturbation.rounding": "round_table",
    "publication.argus.write": "write_safe_file",
    "publication.comparison_files": "write_comparison",
    "publication.publish": "publish",
    "publication.sdmx": "Sdmx",
    "publication.transmission": "write_transmission",
    "publication.working": "load_working save_working",
    "risk.anonymity": "measure_anonymity",
    "risk.linkage_attack": "attack",
    "risk.estimate": "estimate_reidentifiable",
    "risk.measure": "measure_risk",
    "risk.options": "LinkageOptions",
    "risk.planning": "plan_merges",
    "rules.apriori": "apply_apriori",
    "rules.compare": "compare_rules",
    "rules.frequency": "OneCategory SmallCells SmallMargin",
    "rules.magnitude": "Dominance MinCount PPercent PQ",
    "rules.mark": "mark",
    "safe.anonymise": "anonymise",
    "safe.control": "Control",
    "safe.file_attack": "attack_anonymous",
    "safe.options": "AnonymiseOptions LadderSearch PrintedSearch",
    "safe.published": "FileKnowledge Published",
    "safe.rematch": "rematch",
    "suppression.complete.intervals": "printed_protection_intervals protection_intervals",
    "suppression.complete.raising": "raise_table",
    "suppression.difference": "compare_suppressions",
    "suppression.prices": "Cost",
    "suppression.responses": "apart follow jointly leading_of",
    "suppression.suppress": "suppress thin",
    "tabulation.options": "Roles TabulationOptions",
    "tabulation.plan": "RecordKey",
    "tabulation.tabulate": "tabulate",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name in _NAMESPACES:
        return import_module(f"diskret.{_NAMESPACES[name]}")
    if name not in _HOME:
        raise AttributeError(f"module 'diskret' has no attribute {name!r}")
    return getattr(import_module(f"diskret.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return [*__all__, *_NAMESPACES, "__version__"]
