"""How safe it is: estimates before collection, measures on files, and the attack by record linkage."""

from diskret.model.lazy import names_of

__getattr__, __dir__ = names_of(
    __name__,
    {
        "anonymity": "measure_anonymity",
        "estimate": "estimate_reidentifiable",
        "linkage_attack": "attack",
        "measure": "measure_risk",
        "options": "LinkageOptions",
        "planning": "plan_merges",
    },
)
