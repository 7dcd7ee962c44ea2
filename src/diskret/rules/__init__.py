"""Which cells and lines are sensitive."""

from diskret.model.lazy import names_of

__getattr__, __dir__ = names_of(
    __name__,
    {
        "compare": "compare_rules",
        "frequency": "OneCategory SmallCells SmallMargin",
        "further": "Given Request ZeroCells",
        "magnitude": "Dominance MinCount PPercent PQ",
    },
)
