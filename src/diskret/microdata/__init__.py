"""Microdata that may leave: coarsening, microaggregation, noise, swapping, post-randomisation, and what they cost."""

from diskret.model.lazy import names_of

__getattr__, __dir__ = names_of(
    __name__,
    {
        "by_column": "Part protect_by_column",
        "coarsening": "Drop Recode ReleaseUnits Withhold coarsen",
        "microaggregation": "microaggregate",
        "noise": "add_noise",
        "pram": "post_randomise",
        "swapping": "swap_records",
        "utility": "Regression measure_utility",
        "options": "NoiseOptions",
    },
)
