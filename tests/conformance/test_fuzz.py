"""A sample of `benchmarks.fuzz`: whatever is read is taken or refused in words, never more."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fuzz import tried
from benchmarks.fuzz_readers import READERS

SAMPLE = 8
FEW = (
    "csv",
    "cells",
    "parquet",
    "xlsx",
    "mapping",
    "rda",
    "tab",
    "tab metadata",
    "p-table",
    "working",
    "ledger entry",
    "ledger index",
    "ledger moves",
)
"""Kinds that open a database for every input: one each here, the campaign has the rest."""
LONG = ("checkpoint", "run status", "run job", "run findings", "run moves")
"""Kinds that search or run a job for every input."""


@pytest.mark.parametrize("kind", [kind for kind in READERS if kind not in LONG])
def test_a_file_made_wrong_is_taken_or_refused_in_words(kind: str, tmp_path: Path) -> None:
    numbers = range(1 if kind in FEW else SAMPLE + 1)
    found = [tried(kind, 16, number, tmp_path) for number in [*numbers, SAMPLE + 1]]
    assert found[0].outcome == "accepted", "the sample is valid before it is made wrong"
    assert {each.outcome for each in found} <= {"accepted", "refused"}, [each.said for each in found]
