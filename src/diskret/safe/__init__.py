"""SAFE: k-anonymous microdata that keep their tables."""

from diskret.model.lazy import names_of

__getattr__, __dir__ = names_of(
    __name__,
    {
        "control": "Control",
        "options": "AnonymiseOptions LadderSearch PrintedSearch",
    },
)
