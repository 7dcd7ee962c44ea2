"""All methods side by side on the same microdata: what they protect, and what they cost."""

from diskret.model.lazy import names_of

__getattr__, __dir__ = names_of(
    __name__,
    {
        "compare": "compare_methods",
        "options": "ComparisonOptions",
    },
)
