"""Merging of categories: the proposal removes all primaries, and no other merging loses less."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.model.errors import UnknownCode
from diskret.perturbation.partitions import best_intervals, best_partition, good_partition
from tests.present import present

Groups = Sequence[tuple[int, ...]]


def firms(seed: int, records: int = 60) -> dict[str, Any]:
    dice = np.random.default_rng(seed)
    return {
        "size": dice.choice(["a", "b", "c", "d", "e"], records, p=[0.35, 0.3, 0.2, 0.1, 0.05]),
        "region": dice.choice(["N", "S"], records),
        "turnover": np.round(dice.lognormal(3, 1, records)),
    }


def set_partitions(things: list[int]) -> Iterator[list[tuple[int, ...]]]:
    if not things:
        yield []
        return
    first, rest = things[0], things[1:]
    for r in range(len(rest) + 1):
        for others in itertools.combinations(rest, r):
            for more in set_partitions([t for t in rest if t not in others]):
                yield [(first, *others), *more]


def tabulated(data: dict[str, Any], mapping: dict[str, str], **options: Any) -> dk.Table:
    recoded = data | {"size": np.array([mapping[c] for c in data["size"].tolist()])}
    order = list(dict.fromkeys(mapping.values()))
    table: dk.Table = dk.tabulate(recoded, by={"size": dk.Hierarchy.flat(order), "region": None}, **options)
    return table


RULES: dict[str, Any] = {
    "minimum count": dk.MinCount(3),
    "p%": dk.PPercent(10) | dk.MinCount(3),
    "dominance": dk.Dominance(1, 75),
}


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("ordered", [True, False])
@pytest.mark.parametrize("seed", [1])
def test_no_other_merging_removes_all_primaries_at_a_smaller_loss(rule: str, ordered: bool, seed: int) -> None:
    """Every partition, tabulated from the microdata and marked anew: none is safe and loses less."""
    data, codes = firms(seed), list("abcd")
    data["size"] = np.where(data["size"] == "e", "d", data["size"])
    options = {"value": "turnover", "largest": 2}
    table = tabulated(data, dict(zip(codes, codes, strict=True)), **options)
    found = dk.propose_merging(table, "size", RULES[rule], ordered=ordered)
    inner = table.value[:4, :2]

    def loss(groups: Groups) -> float:
        def bits(x: np.ndarray) -> float:
            return float(sum(v * np.log2(v) for v in x if v > 0))

        lost = sum(bits(inner[list(g)].sum(axis=0)) - sum(bits(inner[i]) for i in g) for g in groups)
        return float(lost / inner.sum())

    best = np.inf
    for groups in set_partitions(list(range(4))):
        if ordered and any(g[-1] - g[0] + 1 != len(g) for g in groups):
            continue
        mapping = {codes[i]: str(n) for n, g in enumerate(sorted(groups)) for i in g}
        marked = dk.mark(tabulated(data, mapping, **options), RULES[rule], special_cases=False)
        # what the total of the sizes shows cannot be removed by merging sizes
        if not (marked.status[:-1] == dk.Status.PRIMARY).any() or len(groups) == 1:
            best = min(best, loss(groups))
    assert found.exact
    assert found.loss == pytest.approx(best, abs=1e-9)
    if not (found.before.status[-1] == dk.Status.PRIMARY).any() and len(found.hierarchy) > 2:
        assert found.removed


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_the_table_after_merging_is_the_one_tabulated_with_its_hierarchy(seed: int) -> None:
    data = firms(seed)
    tree = dk.Hierarchy.from_nested({"All": {"small": ["a", "b"], "large": ["c", "d", "e"]}})
    roles = {"size": data["size"], "region": data["region"], "turnover": data["turnover"],
             "open": np.random.default_rng(seed).random(60) < 0.2}  # fmt: skip
    options: dict[str, Any] = {"value": "turnover", "largest": 3, "roles": dk.Roles(public="open")}
    table = dk.tabulate(roles, by={"size": tree, "region": None}, **options)
    found = dk.propose_merging(table, "size", dk.PPercent(15))
    recoded = roles | {"size": np.array([found.recode[c] for c in data["size"].tolist()])}
    again = dk.mark(
        dk.tabulate(recoded, by={"size": found.hierarchy, "region": None}, **options),
        dk.PPercent(15),
        special_cases=False,
    )
    assert again.value.tolist() == found.after.value.tolist()
    assert again.count.tolist() == found.after.count.tolist()
    assert present(again.largest).tolist() == present(found.after.largest).tolist()
    assert (
        present(present(again.respondents).public_value).tolist()
        == present(present(found.after.respondents).public_value).tolist()
    )
    assert again.status.tolist() == found.after.status.tolist()


def test_codes_merge_only_under_the_same_sum() -> None:
    tree = dk.Hierarchy.from_nested({"DE": {"N": ["N1", "N2"], "S": ["S1", "S2", "S3"]}})
    cells = {"r": ["N1", "N2", "S1", "S2", "S3"], "x": [50, 60, 10, 70, 80], "n": [9, 9, 2, 9, 9]}
    table = dk.Table.from_cells(cells, by={"r": tree}, value="x", count="n")
    found = dk.propose_merging(table, "r", dk.MinCount(3))
    assert found.groups == (("S1", "S2"),)
    assert found.hierarchy.parts("S") == ("S1+S2", "S3")
    assert found.removed


def test_a_small_subtotal_merges_with_its_neighbours_as_a_whole() -> None:
    tree = dk.Hierarchy.from_nested({"DE": {"N": ["N1", "N2"], "S": ["S1", "S2"], "W": ["W1", "W2"]}})
    cells = {"r": ["N1", "N2", "S1", "S2", "W1", "W2"], "x": [1, 1, 50, 70, 9, 9], "n": [1, 1, 9, 9, 1, 3]}
    table = dk.Table.from_cells(cells, by={"r": tree}, value="x", count="n")
    found = dk.propose_merging(table, "r", dk.MinCount(3))
    assert found.removed
    assert found.hierarchy.parts("DE") == ("N+W", "S")
    assert found.hierarchy.parts("S") == ("S1", "S2")
    assert found.recode == {"N1": "N+W", "N2": "N+W", "S1": "S1", "S2": "S2", "W1": "N+W", "W2": "N+W"}


def test_all_parts_of_a_subtotal_in_one_group_are_the_subtotal() -> None:
    tree = dk.Hierarchy.from_nested({"DE": {"N": ["N1", "N2"], "S": ["S1", "S2"]}})
    cells = {"r": ["N1", "N2", "S1", "S2"], "x": [1, 50, 50, 70], "n": [1, 9, 9, 9]}
    found = dk.propose_merging(dk.Table.from_cells(cells, by={"r": tree}, value="x", count="n"), "r", dk.MinCount(3))
    assert found.hierarchy.codes == ("N", "S1", "S2", "S", "DE")
    assert found.recode["N1"] == "N"


def test_what_merging_cannot_remove_is_named() -> None:
    cells = {"s": ["a", "b"] * 2, "r": ["N", "N", "S", "S"], "x": [5, 5, 60, 70], "n": [1, 1, 9, 9]}
    table = dk.Table.from_cells(cells, by={"s": None, "r": None}, value="x", count="n")
    found = dk.propose_merging(table, "s", dk.MinCount(3))
    assert not found.removed
    assert "s=Total, r=N" in found.remaining
    assert "left" in str(found)
    assert dk.propose_merging(table, "r", dk.MinCount(3)).removed


def test_nothing_to_remove_changes_nothing() -> None:
    cells = {"s": ["a", "b"], "x": [5, 6], "n": [9, 9]}
    table = dk.Table.from_cells(cells, by={"s": None}, value="x", count="n")
    found = dk.propose_merging(table, "s", dk.MinCount(3))
    assert (found.groups, found.loss, found.after.value.tolist()) == ((), 0.0, [5, 6, 11])


def test_rules_over_lines_are_obeyed_too() -> None:
    """All units of a line in one category: a partner category must come in, or the line must go."""
    cells = {"s": ["a", "b", "c"] * 2, "r": ["N"] * 3 + ["S"] * 3, "n": [9, 0, 0, 4, 5, 6]}
    table = dk.Table.from_cells(cells, by={"s": None, "r": None}, value="n", frequency=True, positive=True)
    found = dk.propose_merging(table, "r", dk.OneCategory(sensitive=("s",)))
    assert (found.before.status == dk.Status.PRIMARY).any()
    assert found.removed
    assert found.groups == (("N", "S"),)


def test_the_number_of_cells_lost_is_another_measure() -> None:
    cells = {"s": ["a", "b", "c"], "x": [1, 1000, 5], "n": [1, 50, 9]}
    table = dk.Table.from_cells(cells, by={"s": None}, value="x", count="n")
    found = dk.propose_merging(table, "s", dk.MinCount(3), loss="cells")
    assert found.loss == 1
    assert found.summary()["cells before"] - found.summary()["cells after"] == 1


def test_holdings_that_may_stand_in_two_codes_deserve_care() -> None:
    data = firms(1) | {"owner": ["x", "y", None] * 20}
    table = dk.tabulate(data, by={"size": None, "region": None}, value="turnover", roles=dk.Roles(holding="owner"))
    with pytest.warns(dk.ProtectionWarning, match="one holding may stand"):
        dk.propose_merging(table, "size", dk.MinCount(3, counted_by="holding"))


def test_other_classifications_are_refused() -> None:
    table = dk.tabulate(firms(1), by={"size": None}, value="turnover")
    with pytest.raises(UnknownCode, match="siz"):
        dk.propose_merging(table, "siz", dk.MinCount(3))


# --- partitions ------------------------------------------------------------------------------------------------------


def priced(n: int, seed: int) -> Any:
    """Random costs of groups, superadditive like a loss; small groups may be impossible."""
    weight = np.random.default_rng(seed).integers(1, 9, n)

    def cost(groups: Groups) -> list[float]:
        found = []
        for g in groups:
            whole = int(weight[list(g)].sum())
            possible = whole >= 6 or len(g) == n
            found.append(float(whole**2 - (weight[list(g)] ** 2).sum()) if possible else np.inf)
        return found

    return cost


@given(st.integers(1, 6), st.integers(0, 10**6))
def test_partitions_are_the_cheapest_of_all(n: int, seed: int) -> None:
    cost = priced(n, seed)
    everything = [sum(cost(groups)) for groups in set_partitions(list(range(n)))]
    assert sum(cost(best_partition(n, cost))) == pytest.approx(min(everything))
    runs = [g for g in set_partitions(list(range(n))) if all(x[-1] - x[0] + 1 == len(x) for x in g)]
    assert sum(cost(best_intervals(n, cost))) == pytest.approx(min(sum(cost(g)) for g in runs))


def test_the_search_finds_possible_partitions_near_the_cheapest() -> None:
    ratios = []
    for seed in range(150):
        n = 2 + seed % 9
        cost = priced(n, seed)
        best, good = sum(cost(best_partition(n, cost))), good_partition(n, cost)
        assert sorted(i for g in good for i in g) == list(range(n))
        assert np.isfinite(sum(cost(good)))
        ratios.append((sum(cost(good)) + 1) / (best + 1))
    assert min(ratios) >= 1
    assert np.mean(ratios) < 1.02


def test_many_codes_are_merged_by_the_search_and_the_proposal_says_so() -> None:
    dice = np.random.default_rng(0)
    data = {"s": dice.zipf(1.5, 400).clip(1, 40).astype(str), "x": np.round(dice.lognormal(3, 1, 400))}
    table = dk.tabulate(data, by={"s": None}, value="x")
    found = dk.propose_merging(table, "s", dk.PPercent(10) | dk.MinCount(3))
    assert found.removed
    assert not found.exact
    assert len(found.hierarchy) > 10
