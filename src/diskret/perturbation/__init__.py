"""Changing values instead of hiding them."""

from diskret.model.lazy import names_of

__getattr__, __dir__ = names_of(
    __name__,
    {
        "attack": "attack_perturbed",
        "contributions": "suppress_contributions",
        "merging": "propose_merging",
        "rounding": "round_table",
    },
)
