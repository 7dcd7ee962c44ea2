"""What holds for every file: k-anonymous, total kept, inside the reported bound, the same for any number of threads."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diskret as dk
from diskret.model.errors import BadOption, ProtectionWarning, UnreadableFile
from diskret.safe import _search_kernels
from diskret.safe.anonymisation import Anonymisation
from diskret.safe.anonymise import anonymise
from diskret.safe.checkpoint import Keeper, LadderState
from diskret.safe.clock import Clock
from diskret.safe.control import Control
from diskret.safe.options import AnonymiseOptions, LadderSearch, PrintedSearch
from tests.safe.conftest import ATTRIBUTES, REGION, killed_after, made_persons

QUICK = LadderSearch(effort=0.05)
Call = Callable[..., Any]


def rows_of(frame: dict[str, Any]) -> Counter[tuple[str, ...]]:
    return Counter(zip(*frame.values(), strict=True))


def above(code: str, level: int) -> str:
    at = REGION.index(code)
    while REGION.levels[at] < level:
        at = REGION.parents[at]
    return str(REGION.codes[at])


def check(persons: dict[str, Any], anon: Anonymisation, k: int) -> None:
    """Counted again from the rows of both files, with nothing of the search's own figures."""
    rows = rows_of(anon.frame)
    assert min(rows.values()) >= k
    assert rows.total() == len(persons["sex"]) == anon.objects
    for table in anon.control.tables:

        def of(frame: dict[str, Any], table: Any = table) -> Counter[tuple[str, ...]]:
            columns = [
                [above(c, lv.level) for c in frame["region"]] if lv.attribute == "region" else list(frame[lv.attribute])
                for lv in table.levels
            ]
            return Counter(zip(*columns, strict=True))

        before, after = of(persons), of(anon.frame)
        worst = max(abs(after[c] - before[c]) for c in before | after)
        assert worst <= anon.quality.maxima[table.dimension] <= anon.bounds[table.dimension]


@given(
    n=st.integers(20, 150), seed=st.integers(0, 10_000), k=st.integers(2, 5), up_to=st.integers(1, 3),
    weights=st.sampled_from([0, 1, 2, [5, 20]]),
    search=st.sampled_from([QUICK, PrintedSearch(part=30), PrintedSearch(group=4)]),
)  # fmt: skip
@settings(max_examples=25)
def test_every_file_is_anonymous_and_as_good_as_reported(
    n: int, seed: int, k: int, up_to: int, weights: Any, search: Any
) -> None:
    persons = made_persons(n, seed)
    control = Control(up_to=up_to, weights=weights)
    anon = anonymise(persons, ATTRIBUTES, control=control, k=k, search=search, options=AnonymiseOptions(threads=1))
    check(persons, anon, k)


@pytest.mark.parametrize("rows", [["a"] * 3, ["a", "b", "b"], ["a", "a", "b", "b"], list("abcdef")])
@pytest.mark.parametrize("search", ["ladder", "printed"])
def test_the_smallest_files(rows: list[str], search: str) -> None:
    anon = anonymise({"x": rows}, ["x"], search=search)
    counts = Counter(anon.frame["x"])
    assert counts.total() == len(rows)
    assert min(counts.values()) >= 3


def test_the_result_does_not_depend_on_the_number_of_threads(persons: dict[str, Any]) -> None:
    search = LadderSearch(effort=0.1)
    runs = (
        anonymise(persons, ATTRIBUTES, search=search, seed=4, options=AnonymiseOptions(threads=n)) for n in (1, 2, 5)
    )
    found = [run.frequency for run in runs]
    assert np.array_equal(found[0], found[1])
    assert np.array_equal(found[0], found[2])


def test_the_seed_decides(persons: dict[str, Any]) -> None:
    one, again, other = (anonymise(persons, ATTRIBUTES, search=QUICK, seed=s).frequency for s in (3, 3, 4))
    assert np.array_equal(one, again)
    assert not np.array_equal(one, other)


def test_the_default_search_beats_the_printed_one_and_simple_ways(persons: dict[str, Any]) -> None:
    default, printed = (anonymise(persons, ATTRIBUTES, search=s) for s in (LadderSearch(), "printed"))
    assert all(default.quality.maxima[d] <= printed.quality.maxima[d] for d in (1, 2, 3))
    # every third object tripled
    every = default.original.copy()
    tripled = np.bincount(np.repeat(np.arange(every.size), every)[1::3], minlength=every.size) * 3
    naive = np.abs(default.control.deviation(tripled))
    assert naive.max() > 2 * max(default.quality.maxima.values())


def test_limits_asked_for_end_the_ladder(persons: dict[str, Any]) -> None:
    anon = anonymise(persons, ATTRIBUTES, search=LadderSearch(limits=(2, 5)))
    assert anon.quality.maxima[1] <= 2
    assert max(anon.quality.maxima[2], anon.quality.maxima[3]) <= 5


def test_weights_let_large_cells_deviate_more(persons: dict[str, Any]) -> None:
    anon = anonymise(persons, ATTRIBUTES, control=Control(weights=2), search=LadderSearch(effort=0.2))
    for table in anon.quality.by_dimension.values():
        spare = table.maxima - np.arange(table.maxima.size)
        assert spare[0] >= spare.max() - 1  # b + g: no class is further beyond its weight than small cells are


def test_fictitious_rows_may_appear(persons: dict[str, Any]) -> None:
    real = rows_of(persons)
    made = anonymise(persons, ATTRIBUTES, search=QUICK, seed=1, options=AnonymiseOptions(fictitious=200))
    given_rows = {"region": ["S1"], "age": ["a0"], "job": ["j6"], "sex": ["m"]}
    named = anonymise(persons, ATTRIBUTES, search=QUICK, seed=1, options=AnonymiseOptions(fictitious=given_rows))
    for anon in (made, named):
        check(persons, anon, 3)
    assert (made.original == 0).sum() == 200
    assert any(row not in real for row in rows_of(made.frame))
    assert (named.original == 0).sum() == (tuple(v[0] for v in given_rows.values()) not in real)


def test_counters_control_the_tables_of_a_larger_unit(golden: Callable[[str], Any]) -> None:
    """Institutions are counted on one person each; tables about them look at these persons only."""
    example = golden("safe/several_units")
    columns = dict(zip(example["columns"], zip(*example["records"], strict=True), strict=True))
    persons = {name: [str(v) for v in columns[name]] * 12 for name in ("carrier", "counter_inst", "care_level")}
    control = Control(up_to=2, counters={"counter_inst": ["carrier"]})
    anon = anonymise(persons, ["carrier", "counter_inst", "care_level"], control=control)
    by_table = {str(t): i for i, t in enumerate(anon.control.tables)}
    assert "carrier of counter_inst" in by_table
    at = by_table["carrier of counter_inst"]
    cells = slice(int(anon.control.first[at]), int(anon.control.first[at + 1]))
    wanted = [12 * v for v in example["expected"]["institutions_by_carrier"].values()]
    assert anon.control.original[cells].tolist() == wanted
    frame = anon.frame
    counted = Counter(c for c, one in zip(frame["carrier"], frame["counter_inst"], strict=True) if one == "1")
    deviation = np.array([counted["2"], counted["3"]]) - wanted
    assert deviation.tolist() == anon.deviations[cells].tolist()


# --- interrupting ----------------------------------------------------------------------------------------------------


def stopping(stage: str, at: int) -> Callable[[str, int, int], None]:
    """The user presses Ctrl-C at the n-th sign of life of a stage."""
    calls = iter(range(10**9))

    def say(what: str, done: int, of: int) -> None:
        if what.startswith(stage) and next(calls) == at:
            raise KeyboardInterrupt

    return say


@pytest.mark.parametrize(
    ("stage", "at"),
    [("annealing", 0), ("annealing", 7), ("limits", 0), ("limits", 40), ("polishing", 0), ("polishing", 2)],
)
def test_interrupted_and_resumed_ends_as_if_it_had_not_been(
    persons: dict[str, Any], tmp_path: Path, stage: str, at: int
) -> None:
    file = tmp_path / "run.checkpoint"
    options: dict[str, Any] = {"search": LadderSearch(effort=0.05), "seed": 9}
    whole = anonymise(persons, ATTRIBUTES, **options)
    stopped = AnonymiseOptions(checkpoint=file, progress=stopping(stage, at))
    with pytest.warns(ProtectionWarning, match="stopped by the user"):
        first = anonymise(persons, ATTRIBUTES, **options, options=stopped)
    check(persons, first, 3)
    assert not first.complete
    assert file.exists()
    resumed = anonymise(persons, ATTRIBUTES, **options, options=AnonymiseOptions(checkpoint=file))
    assert resumed.complete
    assert np.array_equal(resumed.frequency, whole.frequency)
    assert not file.exists()


def test_a_checkpoint_of_other_options_is_refused(persons: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    stopped = AnonymiseOptions(checkpoint=file, progress=stopping("annealing", 5))
    with pytest.warns(ProtectionWarning):
        anonymise(persons, ATTRIBUTES, options=stopped)
    with pytest.raises(BadOption, match="other data or options"):
        anonymise(persons, ATTRIBUTES, k=4, options=AnonymiseOptions(checkpoint=file))
    file.write_bytes(b"something else")
    with pytest.raises(UnreadableFile, match="not a checkpoint"):
        anonymise(persons, ATTRIBUTES, options=AnonymiseOptions(checkpoint=file))


@pytest.mark.parametrize("search", ["ladder", "printed"])
@pytest.mark.parametrize("seconds", [1e-6, 0.05])
def test_a_time_limit_gives_a_valid_file(persons: dict[str, Any], search: str, seconds: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ProtectionWarning)
        check(persons, anonymise(persons, ATTRIBUTES, search=search, options=AnonymiseOptions(time_limit=seconds)), 3)


@pytest.mark.parametrize(
    ("stage", "at"), [("phase 1", 0), ("phase 1", 5), ("phase 1", 20), ("phase 2", 0), ("phase 2", 1)]
)
def test_the_printed_search_can_be_stopped_at_any_moment(persons: dict[str, Any], stage: str, at: int) -> None:
    stopped = AnonymiseOptions(progress=stopping(stage, at))
    with pytest.warns(ProtectionWarning, match="stopped by the user"):
        anon = anonymise(persons, ATTRIBUTES, search=PrintedSearch(part=50), options=stopped)
    check(persons, anon, 3)


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"attributes": ["region", "agee"]}, "no column 'agee'"),
        ({"attributes": {"region": dk.Hierarchy.flat(["N1"])}}, "not in .* hierarchy"),
        ({"attributes": []}, "no attribute"),
        ({"control": Control(up_to=0)}, "no table to control"),
        ({"control": Control(tables=[["age:2"]])}, "'age:2' is not a key level"),
        ({"control": Control(tables=[["colour"]])}, "'colour' is not an attribute"),
        ({"control": Control(tables=[["region", "region:2"]])}, "two levels of one attribute"),
        ({"control": Control(counters={"sex": ["age"]})}, "has no code 1"),
        ({"k": 1}, "k = 1"),
        ({"k": 99, "data": {"region": ["N1"] * 5}, "attributes": ["region"]}, "5 objects cannot be made 99-anonymous"),
        ({"data": {"x": [1.5, 2.25, 3.125]}, "attributes": ["x"]}, "looks quantitative"),
        ({"data": {"x": list(range(2000))}, "attributes": ["x"]}, "2,000 different numbers"),
        ({"search": "best"}, "search = 'best'"),
        ({"control": Control(weights=7)}, "weights = 7"),  # type: ignore[arg-type]
        ({"control": Control(weights=[10, 5])}, "do not rise"),
        ({"options": AnonymiseOptions(time_limit=0)}, "time_limit"),
        ({"seed": -1}, "seed"),
        ({"options": AnonymiseOptions(fictitious=-3)}, "fictitious"),
        ({"search": "printed", "options": AnonymiseOptions(checkpoint="x")}, "no checkpoint"),
    ],
)
def test_bad_input_is_named(persons: dict[str, Any], change: dict[str, Any], said: str) -> None:
    given_: dict[str, Any] = {"data": persons, "attributes": ATTRIBUTES, **change}
    data, attributes = given_.pop("data"), given_.pop("attributes")
    with pytest.raises(dk.DiskretError, match=said) as caught:
        anonymise(data, attributes, **given_)
    assert caught.value.hint


def test_too_many_cells_are_refused_before_any_work(persons: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("diskret.safe.control_cells.free_memory", lambda: 1)
    with pytest.raises(dk.DiskretError, match="more than the memory that is free"):
        anonymise(persons, ATTRIBUTES)


@pytest.mark.parametrize(
    "options",
    [
        lambda: LadderSearch(effort=0), lambda: LadderSearch(limits=()), lambda: LadderSearch(one_way=-1),
        lambda: LadderSearch(orders=0), lambda: LadderSearch(swaps=2),
        lambda: PrintedSearch(group=5), lambda: PrintedSearch(start=(1, -1)),
        lambda: PrintedSearch(expected=(0.1,) * 3),  # type: ignore[arg-type]
        lambda: PrintedSearch(part=1),
    ],
)  # fmt: skip
def test_options_out_of_range_are_named(options: Callable[[], object]) -> None:
    with pytest.raises(BadOption):
        options()


def test_keywords_from_before_give_the_same_file_with_a_warning(persons: dict[str, Any]) -> None:
    now = anonymise(
        persons,
        ATTRIBUTES,
        search=QUICK,
        seed=1,
        control=Control(weights=2),
        options=AnonymiseOptions(fictitious=20),
    )
    with pytest.warns(DeprecationWarning, match="is deprecated: say") as told:
        before = anonymise(persons, ATTRIBUTES, search=QUICK, seed=1, weights=2, fictitious=20)
    assert np.array_equal(now.frequency, before.frequency)
    assert {str(each.message).split(": say ")[1] for each in told} == {
        "control=Control(weights=...)", "options=AnonymiseOptions(fictitious=...)"
    }  # fmt: skip
    assert all(each.filename == __file__ for each in told)
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour'"):
        anonymise(persons, ATTRIBUTES, colour=1)


# --- steps and tiny files --------------------------------------------------------------------------------------------


def stopped_within_a_round(monkeypatch: pytest.MonkeyPatch, at: int) -> None:
    """The user presses Ctrl-C while groups are priced, in the n-th batch."""
    import signal

    batches = iter(range(10**9))
    price = _search_kernels.run_groups

    def pricing(*given_: Any) -> None:
        if next(batches) == at:
            signal.raise_signal(signal.SIGINT)
        price(*given_)

    monkeypatch.setattr(_search_kernels, "run_groups", pricing)


@pytest.mark.parametrize("at", [3, 40, 61, 70, 97, 134, 300])
def test_ctrl_c_within_a_round_and_resumed_ends_as_if_it_had_not_been(
    persons: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    file = tmp_path / "run.checkpoint"
    options: dict[str, Any] = {"search": LadderSearch(effort=0.05), "seed": 9}
    monkeypatch.setattr("diskret.safe.ladder.BATCH", 64)
    whole = anonymise(persons, ATTRIBUTES, **options)
    once = AnonymiseOptions(checkpoint=file, threads=1)
    with monkeypatch.context() as during:
        stopped_within_a_round(during, at)
        with pytest.warns(ProtectionWarning, match="stopped by the user"):
            first = anonymise(persons, ATTRIBUTES, **options, options=once)
    check(persons, first, 3)
    resumed = anonymise(persons, ATTRIBUTES, **options, options=once)
    assert resumed.complete
    assert np.array_equal(resumed.frequency, whole.frequency)


@pytest.mark.parametrize("at", [1, 5, 30, 60])
def test_a_killed_run_goes_on_to_the_same_file(
    persons: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int
) -> None:
    """What is on disk was written at some moment or other: all of them lead to the same end."""
    file = tmp_path / "run.checkpoint"
    options: dict[str, Any] = {"search": LadderSearch(effort=0.05), "seed": 9}
    whole = anonymise(persons, ATTRIBUTES, **options)
    with killed_after(at, monkeypatch):
        anonymise(persons, ATTRIBUTES, **options, options=AnonymiseOptions(checkpoint=file, threads=1))
    resumed = anonymise(persons, ATTRIBUTES, **options, options=AnonymiseOptions(checkpoint=file, threads=2))
    assert np.array_equal(resumed.frequency, whole.frequency)
    assert not file.exists()


def test_keeping_a_run_takes_a_small_share_of_the_time_however_long_it_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a clock of its own: a round takes a second, writing twenty, remembering half of one."""
    now, spent, written = 0.0, 0.0, 0
    monkeypatch.setattr("diskret.safe.checkpoint.time", SimpleNamespace(monotonic=lambda: now))

    def taking(seconds: float) -> None:
        nonlocal now, spent
        now, spent = now + seconds, spent + seconds

    def write(keeper: Keeper) -> None:
        nonlocal written
        taking(20.0)
        written += 1

    def moment(state: LadderState) -> LadderState:
        taking(0.5)
        return state

    monkeypatch.setattr(LadderState, "moment", moment)
    monkeypatch.setattr(Keeper, "write", write)
    x = np.zeros(3, dtype=np.int32)
    state = LadderState(seed=1, x=x, best=x)
    keeper = Keeper(path=tmp_path / "run.checkpoint", mark="", last=state)
    for _ in range(60_000):
        now += 1.0
        keeper.keep(state)
    assert written > 10
    assert spent < 0.05 * now


def test_an_interrupted_run_goes_on_with_the_seed_that_was_drawn(persons: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    stopped = AnonymiseOptions(checkpoint=file, progress=stopping("annealing", 5))
    with pytest.warns(ProtectionWarning):
        first = anonymise(persons, ATTRIBUTES, search=QUICK, options=stopped)
    resumed = anonymise(persons, ATTRIBUTES, search=QUICK, options=AnonymiseOptions(checkpoint=file))
    assert resumed.seed == first.seed >= 0
    again = anonymise(persons, ATTRIBUTES, search=QUICK, seed=resumed.seed)
    assert np.array_equal(again.frequency, resumed.frequency)


@pytest.mark.filterwarnings("ignore:the search was cut short")
@pytest.mark.parametrize("search", ["ladder", PrintedSearch(part=30)])
@pytest.mark.parametrize("late", [0, 7, 60])
def test_a_time_limit_given_in_steps_repeats_the_file(
    persons: dict[str, Any], monkeypatch: pytest.MonkeyPatch, search: Any, late: int
) -> None:
    """Time is over some steps after the first short search, whenever that is on this machine."""
    spent = iter(range(10**9))
    monkeypatch.setattr(Clock, "seconds", property(lambda clock: 0.0 if next(spent) < late else 2.0))
    monkeypatch.setattr("diskret.safe.printed.CHUNK", 8)
    limited = anonymise(persons, ATTRIBUTES, search=search, seed=6, options=AnonymiseOptions(time_limit=1.0))
    monkeypatch.undo()
    monkeypatch.setattr("diskret.safe.printed.CHUNK", 8)
    again = anonymise(persons, ATTRIBUTES, search=search, seed=6, options=AnonymiseOptions(steps=limited.steps))
    assert limited.steps == again.steps > 0
    assert not limited.complete
    assert np.array_equal(limited.frequency, again.frequency)


@pytest.mark.filterwarnings("ignore:the search was cut short")
def test_the_shortest_time_limit_gives_a_sensible_file(persons: dict[str, Any]) -> None:
    """A first short search is always carried to its end."""
    hasty = anonymise(persons, ATTRIBUTES, seed=6, options=AnonymiseOptions(time_limit=1e-3))
    patient = anonymise(persons, ATTRIBUTES, seed=6)
    assert max(hasty.quality.maxima.values()) <= 2 * max(patient.quality.maxima.values())
    assert all(hasty.quality.means[d] <= 2 * patient.quality.means[d] for d in (2, 3))


@pytest.mark.parametrize(
    ("rows", "limit"), [("aab", 2), ("aaaabb", 2), ("aaaabbb", 1), ("a" * 5, 1), ("abc", 2), ("abcd", 3)]
)
def test_tiny_files_are_searched(rows: str, limit: int) -> None:
    """Every file within the least limit may be drawn; where there are small counts, 2 is as good as 1."""
    found = {
        tuple(anonymise({"x": list(rows)}, ["x"], seed=seed).frequency.tolist()) for seed in range(40)
    }  # fmt: skip
    original = np.array([rows.count(code) for code in sorted({*rows})])
    choices = [x for x in product(range(len(rows) + 1), repeat=original.size) if sum(x) == len(rows)]
    safe = [np.array(x) for x in choices if all(each == 0 or each >= 3 for each in x)]
    floor = 2 if original.min() < 3 else 1
    least = max(floor, min(int(np.abs(x - original).max()) for x in safe))
    assert least == limit
    assert found == {tuple(x.tolist()) for x in safe if np.abs(x - original).max() <= least}
