"""Somebody who knows the method: which originals may have given a file with these bounds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

import diskret as dk
from diskret.job.report import safe_verdict
from diskret.publication.safe_report import safe_sections

Given = tuple[tuple[int, ...], tuple[int, ...]]
"""What a run publishes: counts, by code, and bounds."""


def given(held: Mapping[str, int], codes: Sequence[str], k: int, weights: int = 0) -> Iterator[Given]:
    """What the program publishes of a file of one attribute, seed by seed."""
    data = {"x": [code for code, n in held.items() for _ in range(n)]}
    for seed in range(30):
        control = dk.Control(weights=weights)  # type: ignore[arg-type]
        anon = dk.anonymise(data, {"x": dk.Hierarchy.flat(codes)}, k=k, control=control, seed=seed)
        shown = list(anon.frame["x"])
        yield tuple(shown.count(code) for code in codes), tuple(anon.bounds.values())


@pytest.mark.parametrize("k", [3, 4])
def test_a_code_that_is_not_there_may_have_held_any_small_count(k: int) -> None:
    """A list of codes is known. Where one attribute has small counts, nothing is gained by keeping them closer."""
    codes = ("a", "b", "c")
    shown = (12, 8, 0)
    for small in range(k):
        may_give = given({"a": 20 - 7 - small, "b": 7, "c": small}, codes, k)
        assert any(counts == shown for counts, _ in may_give), small


def test_bounds_do_not_tell_how_far_a_table_came() -> None:
    """With weights, a count of 10 and more may deviate by one more: whether one did would tell that there was one."""
    codes = ("a", "b", "c")
    for ten in (9, 10):
        assert {bounds for _, bounds in given({"a": ten, "b": 12 - ten, "c": 1}, codes, 2, weights=2)} == {(2,)}


@pytest.mark.parametrize(("limits", "closer"), [(None, False), ((1, 2), False), ((2, 1), True), ((0,), True)])
def test_limits_below_the_floor_are_named_beside_the_verdict(limits: tuple[int, ...] | None, closer: bool) -> None:
    data = {"x": ["a", "b", "c"] * 9, "y": ["p", "q", "p", "q", "p"] * 5 + ["p", "q"]}
    anon = dk.anonymise(data, ["x", "y"], search=dk.LadderSearch(limits=limits), seed=2**50)
    verdict = safe_verdict(anon, dk.attack_anonymous(anon))
    assert ("below k - 1 were asked for" in verdict.words("en", internal=True)) == closer
    assert "k - 1" not in verdict.words("en", internal=False)


@pytest.mark.parametrize("search", ["ladder", "printed"])
def test_two_combinations_are_drawn_by_either_search(search: str) -> None:
    """Too few for a group of three: the printed method alone would always end with the same file."""
    data = {"x": ["a"] * 10 + ["b"] * 2}
    found = {
        tuple(dk.anonymise(data, ["x"], search=search, seed=seed).frequency.tolist()) for seed in range(40)
    }  # fmt: skip
    assert found == {(12, 0), (9, 3), (8, 4)}


def test_originals_that_give_the_same_file_look_alike_to_everybody() -> None:
    """In one of them a code vanished, in another the records stand in another order."""
    kept: dict[str, list[str]] = {"a": ["x"] * 9 + ["y"] * 5, "b": ["p"] * 6 + ["q"] * 8}
    lost = {"a": ["z", *kept["a"][1:]], "b": ["q", *kept["b"][1:]]}
    turned = {name: column[::-1] for name, column in kept.items()}

    def told(data: dict[str, list[str]], seed: int) -> dict[str, object]:
        anon = dk.anonymise(data, ["a", "b"], seed=seed)
        tables = [anon.table(by) for by in (["a"], ["b"], ["b", "a"])]
        shown = [{name: column.tolist() for name, column in table.frame.items()} for table in tables]
        found = dk.attack_anonymous(anon)
        report = safe_sections(anon, found), safe_verdict(anon, found).words("en", internal=False)
        frame = {name: column.tolist() for name, column in anon.frame.items()}
        return {"file": frame, "rest": [anon.summary(), repr(anon), anon._repr_html_(), repr(tables), shown, report]}

    runs = [[told(data, 2**50 + seed) for seed in range(12)] for data in (kept, lost, turned)]
    of_file = [{str(each["file"]): str(each["rest"]) for each in run} for run in runs]
    common = set(of_file[0]) & set(of_file[1]) & set(of_file[2])
    assert common
    assert all(one[file] == of_file[0][file] for one in of_file for file in common)
