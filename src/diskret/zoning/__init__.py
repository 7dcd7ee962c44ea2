"""Several zonings of the same units: what differences of unions give away, and how to close them."""

from diskret.model.lazy import names_of

__getattr__, __dir__ = names_of(
    __name__,
    {
        "closing": "Closed close_differences zoning_system",
        "differences": "Difference Differences find_differences",
        "together": "Combinations Together find_together",
        "zones": "Zoning",
    },
)
