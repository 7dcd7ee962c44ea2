"""k-anonymity, l-diversity, t-closeness: against their definitions, and known examples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from math import exp, inf, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diskret as dk
from diskret.model.errors import BadOption, MissingColumn
from diskret.risk.anonymity import Diversity


def twin(keys: Sequence[object], values: Sequence[object]) -> Diversity:
    """All measures from their definitions, one class after the other."""
    everything = sorted(set(values), key=lambda v: (isinstance(v, str), v))
    p = {v: sum(x == v for x in values) / len(values) for v in everything}
    rows: list[dict[str, Any]] = []
    for key in dict.fromkeys(keys):
        own = [v for k, v in zip(keys, values, strict=True) if k == key]
        q = {v: own.count(v) / len(own) for v in everything}
        here = [v for v in everything if q[v] > 0]
        running, ordered = 0.0, 0.0
        for v in everything:
            running += q[v] - p[v]
            ordered += abs(running)
        gains = {v: (q[v] - p[v]) / p[v] for v in here}
        rows.append(
            {
                "distinct": len(here),
                "entropy": -sum(q[v] * log(q[v]) for v in here),
                "alpha": max(q.values()),
                "equal": sum(abs(q[v] - p[v]) for v in everything) / 2,
                "ordered": ordered / max(1, len(everything) - 1),
                "beta": max(gains.values()),
                "over": max((g + log(p[v]) for v, g in gains.items() if q[v] > p[v]), default=-inf),
                "delta": max(abs(log(q[v] / p[v])) for v in here),
                "counts": sorted((own.count(v) for v in here), reverse=True),
            }
        )
    fewest = min(r["distinct"] for r in rows)
    c = max(r["counts"][0] / sum(r["counts"][fewest - 1 :]) for r in rows)
    beta, over = max(r["beta"] for r in rows), max(r["over"] for r in rows)
    return Diversity(
        distinct=fewest, entropy=exp(min(r["entropy"] for r in rows)), recursive=c,
        alpha=max(r["alpha"] for r in rows), t_equal=max(r["equal"] for r in rows),
        t_ordered=max(r["ordered"] for r in rows), beta=beta,
        enhanced_beta=beta if over <= 1e-12 else inf, delta=max(r["delta"] for r in rows),
    )  # fmt: skip


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=40))
def test_measures_equal_their_definitions(rows: list[tuple[int, int]]) -> None:
    keys, values = [k for k, _ in rows], [v for _, v in rows]
    found = dk.measure_anonymity({"key": keys, "value": values}, keys=["key"], sensitive=["value"])
    assert found.k == min(keys.count(k) for k in keys)
    assert found.alone == sum(keys.count(k) == 1 for k in keys)
    assert asdict(found.sensitive["value"]) == pytest.approx(asdict(twin(keys, values)), abs=1e-12)


HOSPITAL: dict[str, list[Any]] = {
    "zip": ["476**", "476**", "476**", "4790*", "4790*", "4790*", "476**", "476**", "476**"],
    "age": ["2*", "2*", "2*", ">=40", ">=40", ">=40", "3*", "3*", "3*"],
    "salary": [3, 4, 5, 6, 11, 8, 7, 9, 10],
    "disease": ["ulcer", "gastritis", "cancer", "gastritis", "flu", "bronchitis", "bronchitis", "pneumonia", "cancer"],
}
"""Table 3 of Li, Li and Venkatasubramanian (2007): 3-diverse, yet salaries of the first class lie close together."""


def test_the_salaries_of_the_article_on_t_closeness() -> None:
    salaries = dk.measure_anonymity(HOSPITAL, keys=["zip", "age"], sensitive=["salary"]).sensitive["salary"]
    assert salaries.distinct == 3
    assert salaries.t_ordered == pytest.approx(0.375)


def test_numbers_are_ordered_as_numbers_wherever_they_come_from() -> None:
    as_text = HOSPITAL | {"salary": [str(s) for s in HOSPITAL["salary"]]}
    one, other = (dk.measure_anonymity(d, keys=["zip", "age"], sensitive=["salary"]) for d in (HOSPITAL, as_text))
    assert one.sensitive == other.sensitive


def test_an_attacker_who_knows_the_other_attributes_sees_smaller_classes() -> None:
    both = ["salary", "disease"]
    usual = dk.measure_anonymity(HOSPITAL, keys=["zip"], sensitive=both)
    knowing = dk.measure_anonymity(HOSPITAL, keys=["zip"], sensitive=both, others_known=True)
    again = dk.measure_anonymity(HOSPITAL, keys=["zip", "disease"], sensitive=["salary"])
    assert knowing.sensitive["salary"] == again.sensitive["salary"]
    assert knowing.sensitive["salary"].distinct < usual.sensitive["salary"].distinct


def test_the_same_numbers_as_pycanon() -> None:
    """Computed once by pycanon 1.3.6 on these records."""
    generator = np.random.default_rng(3)
    file = {"a": generator.integers(0, 3, 400), "b": generator.integers(0, 3, 400)}
    file |= {"s": generator.choice(list("uvwxyz"), 400), "n": generator.integers(0, 9, 400)}
    found = dk.measure_anonymity(file, keys=["a", "b"], sensitive=["s", "n"])
    s, n = found.sensitive["s"], found.sensitive["n"]
    assert found.k == 39
    assert (s.distinct, int(s.entropy), n.distinct, int(n.entropy)) == (6, 5, 9, 7)
    assert (s.t_equal, n.t_ordered) == pytest.approx((0.18634615384615388, 0.09130434782608696))
    assert (s.alpha, s.beta, s.delta) == pytest.approx((0.32608695652173914, 0.7106200997861725, 0.7631395523799803))
    assert (n.alpha, n.beta, n.delta) == pytest.approx((0.2682926829268293, 1.051282051282051, 1.6582280766035324))


def test_missing_is_a_code_of_its_own() -> None:
    found = dk.measure_anonymity({"sex": ["f", None, "", "f"]}, keys=["sex"])
    assert (found.k, found.classes) == (2, 2)


def test_the_order_of_records_does_not_matter() -> None:
    generator = np.random.default_rng(2)
    a, b, s = (generator.integers(0, 6, 300) for _ in range(3))
    order = generator.permutation(300)
    one = dk.measure_anonymity({"a": a, "b": b, "s": s}, keys=["a", "b"], sensitive=["s"])
    other = dk.measure_anonymity({"a": a[order], "b": b[order], "s": s[order]}, keys=["a", "b"], sensitive=["s"])
    assert asdict(one.sensitive["s"]) == pytest.approx(asdict(other.sensitive["s"]), rel=1e-12)
    assert (one.sizes[order] == other.sizes).all()


@pytest.mark.parametrize(
    ("options", "kind"),
    [({"keys": []}, BadOption), ({"keys": ["a", "a"]}, BadOption), ({"keys": ["b"]}, MissingColumn)],
)
def test_refusals(options: Any, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        dk.measure_anonymity({"a": [1, 2]}, **options)


def test_report_section_is_plain_data() -> None:
    section = dk.measure_anonymity(HOSPITAL, keys=["zip"], sensitive=["salary"]).section()
    assert section.rows[0][0] == "salary"
    assert len(section.rows[0]) == len(section.columns)


@pytest.mark.spark
def test_measures_counted_on_a_cluster_are_the_same(spark: Any) -> None:
    """Combinations are counted there; every measure is the same number, blanks and numbers among the codes."""
    random = np.random.default_rng(1)
    people = {
        "age": random.integers(0, 12, 800), "sex": random.choice(np.array(["m", "w", None], dtype=object), 800),
        "illness": random.choice(list("abcd"), 800), "pay": random.integers(0, 30, 800),
    }  # fmt: skip
    asked: dict[str, Any] = {"keys": ["age", "sex"], "sensitive": ["illness", "pay"], "others_known": True}
    here, there = dk.measure_anonymity(people, **asked), dk.measure_anonymity(people, **asked, engine=spark)
    assert str(here) == str(there)
    assert here.sensitive == there.sensitive
    assert here.smaller == there.smaller
    assert sorted(here.sizes) == sorted(there.sizes)
