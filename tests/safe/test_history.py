"""The course of a search: the same for any number of threads, and watching changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from diskret import AnonymiseOptions, LadderSearch, anonymise
from diskret.safe.history import Moment

rng = np.random.default_rng(11)
PERSONS = {
    "region": rng.choice(["N", "E", "S", "W"], 300).tolist(),
    "age": rng.choice(list("abcde"), 300).tolist(),
    "sex": rng.choice(list("mw"), 300).tolist(),
}


@pytest.mark.parametrize("search", [LadderSearch(effort=0.2), "printed"])
def test_watching_changes_nothing_and_threads_tell_the_same_story(search: str | LadderSearch) -> None:
    seen: list[Moment] = []
    one = anonymise(
        PERSONS, ["region", "age", "sex"], search=search, seed=3, options=AnonymiseOptions(threads=1, watch=seen.append)
    )
    two = anonymise(PERSONS, ["region", "age", "sex"], search=search, seed=3, options=AnonymiseOptions(threads=2))
    assert np.array_equal(one.frequency, two.frequency)
    assert one.history == two.history == tuple(seen)
    groups = [m.groups for m in seen]
    assert groups == sorted(groups)


def test_the_last_bounds_are_those_of_the_file() -> None:
    done = anonymise(PERSONS, ["region", "age", "sex"], search=LadderSearch(effort=0.5))
    last = done.history[-1]
    assert last.stage == "polishing"
    assert all(m <= max(limit, 2) for m, limit in zip(done.quality.maxima.values(), last.limits, strict=True))
