"""Anonymous objects go back to original records as alike as possible."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.model.errors import BadOption
from diskret.safe import _rematch_kernels
from diskret.safe.anonymise import anonymise
from diskret.safe.rematch import rematch

Rows = list[tuple[int, ...]]


def literally(anonymous: Rows, original: Rows) -> list[tuple[int, int, int]]:
    """The eight steps of the description, word by word; partner, level and equal columns per anonymous row."""
    m = len(anonymous[0])
    found: dict[int, tuple[int, int, int]] = {}
    left = list(range(len(original)))
    for i in range(m, -1, -1):
        keys = sorted({row[:i] for a, row in enumerate(anonymous) if a not in found})
        for key in keys:
            group = [a for a, row in enumerate(anonymous) if a not in found and row[:i] == key]
            others = [b for b in left if original[b][:i] == key]
            while group and others:
                a = group.pop(0)
                agree = [sum(x == y for x, y in zip(anonymous[a], original[b], strict=True)) for b in others]
                best = others[int(np.argmax(agree))]
                found[a] = best, i, max(agree)
                others.remove(best)
                left.remove(best)
    return [found[a] for a in range(len(anonymous))]


def compiled(anonymous: Rows, original: Rows) -> list[tuple[int, int, int]]:
    n = len(anonymous)
    partner, level, equal = (np.empty(n, dtype=np.int64) for _ in range(3))
    given = [np.array(rows, dtype=np.int32).reshape(n, -1) for rows in (anonymous, original)]
    _rematch_kernels.match(*given, partner, level, equal)
    return list(zip(partner.tolist(), level.tolist(), equal.tolist(), strict=True))


def test_the_example(golden: Callable[[str], Any]) -> None:
    example = golden("safe/rematching_small")
    named = {
        side: sorted((tuple(v), k) for k, v in example["input"][side].items()) for side in ("anonymous", "original")
    }
    codes = sorted({c for side in named.values() for row, _ in side for c in row})
    rows = {side: [tuple(codes.index(c) for c in row) for row, _ in each] for side, each in named.items()}
    order = {side: sorted(range(len(r)), key=lambda i, r=r: r[i]) for side, r in rows.items()}  # type: ignore[misc]
    found = compiled(*([rows[s][i] for i in order[s]] for s in ("anonymous", "original")))
    expected = {e["anonymous"]: (e["original"], e["matched_at_i"], e["equal_features"]) for e in example["expected"]}
    names = {side: [named[side][i][1] for i in order[side]] for side in named}
    got = {names["anonymous"][a]: (names["original"][p], i, e) for a, (p, i, e) in enumerate(found)}
    assert got == expected


pairs_of_files = st.integers(1, 12).flatmap(
    lambda n: st.tuples(*[st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=n, max_size=n)] * 2)
)


@given(pairs_of_files)
def test_the_kernel_does_what_the_steps_say(files: tuple[Rows, Rows]) -> None:
    anonymous, original = (sorted(rows) for rows in files)
    assert compiled(anonymous, original) == literally(anonymous, original)


@pytest.fixture(scope="module")
def persons() -> dict[str, Any]:
    random = np.random.default_rng(5)
    n = 400
    return {
        "region": random.choice(["N1", "N2", "S1", "S2"], n),
        "age": random.choice(["young", "middle", "old"], n, p=[0.2, 0.5, 0.3]),
        "job": random.choice(list("abcdefg"), n),
        "id": [f"p{i}" for i in range(n)],
        "income": random.normal(2000, 500, n),
    }


REGION = dk.Hierarchy.from_nested({"All": {"N": ["N1", "N2"], "S": ["S1", "S2"]}})


def test_the_result_joins_back_to_identifiers_and_quantities(persons: dict[str, Any]) -> None:
    anon = anonymise(persons, {"region": REGION, "age": None, "job": None})
    pairs = rematch(persons, anon, ["region:2", "age"])
    joined = pairs.join()
    assert joined["id"].tolist() == persons["id"]
    assert np.array_equal(joined["income"], persons["income"])
    assert sorted(zip(*(joined[n] for n in anon.attributes), strict=True)) == sorted(
        zip(*(anon.frame[n] for n in anon.attributes), strict=True)
    )
    same = np.mean([joined["age"][i] == persons["age"][i] for i in range(400)])
    assert same > 0.9  # what stands first in the priority order is kept longest
    assert pairs.summary()["records"] == 400


def test_other_data_are_refused(persons: dict[str, Any]) -> None:
    anon = anonymise(persons, ["age", "job"])
    fewer = {name: column[:-1] for name, column in persons.items()}
    with pytest.raises(BadOption, match="399 records, the anonymous file 400"):
        rematch(fewer, anon)
    with pytest.raises(BadOption, match="'age' is anonymised"):
        rematch(persons, anon).join(["age"])
    with pytest.raises(BadOption, match="twice"):
        rematch(persons, anon, ["age", "age"])
