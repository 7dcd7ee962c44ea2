"""A sample of `benchmarks.fuzz`: whatever is read is taken or refused in words, and crafted files are refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.fuzz import tried
from benchmarks.fuzz_readers import READERS

SAMPLE = 6
SLOW = ("checkpoint", "run status", "run job", "run findings", "run moves")
"""Kinds that search or run a job for every input; the campaign has them."""


@pytest.mark.parametrize("kind", [kind for kind in READERS if kind not in SLOW])
def test_a_file_made_wrong_is_taken_or_refused_in_words(kind: str, tmp_path: Path) -> None:
    found = [tried(kind, 16, number, tmp_path) for number in range(1, SAMPLE + 1)]
    assert {each.outcome for each in found} <= {"accepted", "refused"}, [each.said for each in found]


@pytest.mark.parametrize("kind", READERS)
def test_every_sample_is_valid_before_it_is_made_wrong(kind: str, tmp_path: Path) -> None:
    assert tried(kind, 16, 0, tmp_path).outcome == "accepted"
