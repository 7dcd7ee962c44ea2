"""The section of a job about the ledger: what its table counts, and under which name it is remembered."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pydantic import Field

from diskret.job.form import Section
from diskret.ledger.about import About, Ratio
from diskret.ledger.ledger import open_ledger
from diskret.ledger.linked import Linked
from diskret.ledger.remembering import Remembering
from diskret.model.table import Table
from diskret.suppression.result import Suppression


class LedgerSection(Section):
    """The ledger beside which the table is protected, and that remembers it when it is written."""

    folder: str = Field(description="folder of the ledger; it is made if there is none")
    name: str = Field(description="what the table is called in proofs, such as 'Yearbook 2024 table 3'")
    population: str = Field("", description="who is counted")
    value: str = Field("", description="what is added up; left out: the name of the column")
    period: str = Field("", description="when, such as 2024, 2024-Q3 or 2024-07")
    unit: str = Field("", description="unit of the values, such as EUR or 1000 EUR")
    fixed: dict[str, str] = Field(
        default_factory=dict, description="classifications that the table does not show, with the code it is about"
    )
    groupings: dict[str, dict[str, list[str]]] = Field(
        default_factory=dict, description="per classification, codes with their parts, if no hierarchy gives them"
    )
    names: dict[str, str] = Field(
        default_factory=dict, description="classifications that have another name in the ledger"
    )
    totals: dict[str, str] = Field(
        default_factory=dict,
        description="per classification, the code that stands for everything, if the table's total covers less",
    )
    apart: str = Field("", description="why it has nothing to do with what the ledger knows")
    revises: str = Field("", description="the entry whose values this table replaces")
    provisional: bool = Field(False, description="whether final values will follow")
    stock: bool = Field(False, description="whether values are those of one day, so that quarters do not add up")
    rounded: float = Field(0.0, ge=0, description="multiple to which published values are rounded; 0: none")
    ratio: RatioKey | None = Field(None, description="for rates, indices and means: the two cells they are made from")
    enter: bool = Field(True, description="whether the table is entered when it is written")

    def about(self) -> About:
        """What the table counts."""
        said = self.model_dump(exclude={"folder", "name", "enter", "ratio"})
        return About(**said, ratio=None if self.ratio is None else Ratio(**self.ratio.model_dump()))


class RatioKey(Section):
    """The two cells of a ratio."""

    under: dict[str, str] = Field(
        description="what is different about the cell below the line, such as period or value"
    )
    times: float = Field(1.0, gt=0, description="such as 100 for percent")
    plus: float = Field(0.0, description="such as -100 for growth rates")


LedgerSection.model_rebuild()


def memory_of(asked: LedgerSection | None, here: Path, name: str, several: bool) -> Remembering | None:
    """The ledger as `suppress` takes it; None if the job names none."""
    if asked is None:
        return None
    ledger = open_ledger(here / asked.folder, create=True)
    return ledger.about(asked.about(), f"{asked.name} ({name})" if several else asked.name)


def enter_tables(
    asked: LedgerSection | None, here: Path, tables: Mapping[str, Table], done: Mapping[str, Suppression], data: str
) -> None:
    """Remember the tables of a job as they are published."""
    if asked is None or not asked.enter:
        return
    ledger = open_ledger(here / asked.folder, create=True)
    for name, table in tables.items():
        suppression = done.get(name)
        together = None if suppression is None else suppression.beside
        ledger.add(
            table, asked.about(), name=f"{asked.name} ({name})" if len(tables) > 1 else asked.name, data=data,
            promise=None if suppression is None else suppression.promise,
            settled=None if together is None else together.audit, beside=_entries_beside(suppression),
        )  # fmt: skip


def _entries_beside(done: Suppression | None) -> tuple[str, ...] | None:
    """The entries beside which a table was protected."""
    if done is None:
        return None
    made = done.beside.table if done.beside is not None else None if done.audit is None else done.audit.table
    return made.sources[:-1] if isinstance(made, Linked) else None
