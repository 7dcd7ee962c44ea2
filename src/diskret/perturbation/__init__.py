"""Changing values instead of hiding them."""

from diskret.model.lazy import names_of

__getattr__, __dir__ = names_of(
    __name__,
    {
        "adjusted_table": "Adjustment",
        "adjustment": "adjust",
        "contributions": "suppress_contributions",
        "merging": "propose_merging",
        "options": "CuboidOptions",
        "perturbation_attack": "attack_perturbed",
        "rounding": "round_table",
    },
)
