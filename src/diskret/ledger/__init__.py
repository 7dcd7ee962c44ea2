"""The ledger: everything ever published, as a memory that new tables are held against."""

from diskret.model.lazy import names_of

__getattr__, __dir__ = names_of(
    __name__,
    {
        "about": "About Ratio",
        "check": "LedgerCheck",
        "entry": "Entry",
        "ledger": "Ledger open_ledger",
    },
)
