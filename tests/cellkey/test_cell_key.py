"""Cell-key noise: unbiased, as large as its table says, the same for the same records wherever they are counted."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import diskret as dk
from diskret.cellkey import _key_kernels as kernels
from diskret.cellkey.options import Scaling
from diskret.model.errors import BadOption, BadRecordKeys
from tests import grouped
from tests.present import present

SHARED = Path(__file__).parents[3] / "shared" / "data" / "tables"
COUNTS = dk.design_p_table(deviation=5, variance=2, smallest=3)
VALUES = dk.design_p_table(deviation=5, variance=1, step=0.5, cells=(1, 5))
SMALL = dk.design_p_table(deviation=8, variance=(1.2, 2), step=0.5, cells=(1, 8))


def people(records: int = 2000, seed: int = 3) -> dict[str, Any]:
    dice = np.random.default_rng(seed)
    return {
        "region": dice.choice(["N1", "N2", "S1", "S2", "S3"], records, p=[0.5, 0.3, 0.15, 0.04, 0.01]),
        "age": dice.integers(0, 9, records).astype(str),
        "sex": dice.choice(["m", "w"], records),
        "income": np.round(dice.lognormal(7, 1.5, records), 2) * (dice.random(records) > 0.1),
        "weight": dice.choice([1.0, 2.5], records),
        "rkey": dk.draw_keys(records, seed),
    }


REGION = dk.Hierarchy.from_nested({"All": {"N": ["N1", "N2"], "S": ["S1", "S2", "S3"]}})


# --- keys ------------------------------------------------------------------------------------------------------------


def test_a_cell_key_is_the_sum_of_its_record_keys_modulo_one() -> None:
    data = people()
    table = dk.tabulate(data, by={"region": REGION, "sex": None}, roles=dk.Roles(key="rkey"))
    units = np.rint(data["rkey"] * 1e15).astype(np.int64)
    for code, chosen in (("N", ("N1", "N2")), ("S3", ("S3",)), ("All", ("N1", "N2", "S1", "S2", "S3"))):
        behind = np.isin(data["region"], chosen) & (data["sex"] == "w")
        whole = sum(units[behind].tolist()) % 10**15
        assert present(table.key)[table.index(code, "w")] == whole / 1e15


@pytest.mark.slow
@pytest.mark.spark
def test_both_engines_give_the_same_keys_in_every_bit(spark: Any) -> None:
    data = people() | {"whole": np.random.default_rng(1).integers(0, 2**32, 2000)}
    by = {"region": REGION, "age": None}
    for key in ("rkey", dk.RecordKey("whole", modulus=2**32), dk.RecordKey("rkey", zeros=False)):
        chosen: list[dict[str, Any]] = [
            {"value": "income"},
            {},
            {"value": "income", "holding": "sex", "weight": "weight"},
        ]
        for options in chosen:
            one, other = (
                dk.tabulate(data, by=by, **grouped.tabulated(key=key, engine=e, **options)) for e in ("duckdb", spark)
            )
            assert one.key.tobytes() == other.key.tobytes()


def test_keys_depend_neither_on_the_order_of_records_nor_on_threads() -> None:
    data = people()
    order = np.random.default_rng(0).permutation(2000)
    mixed = {name: column[order] for name, column in data.items()}
    by = {"region": REGION, "age": None}
    one = dk.tabulate(data, by=by, roles=dk.Roles(key="rkey"), options=dk.TabulationOptions(threads=1))
    other = dk.tabulate(mixed, by=by, roles=dk.Roles(key="rkey"), options=dk.TabulationOptions(threads=2))
    assert present(one.key).tobytes() == present(other.key).tobytes()


def test_whole_keys_add_up_modulo_their_modulus() -> None:
    data = {"s": ["a", "a", "b"], "k": [200, 100, 255]}
    table = dk.tabulate(data, by={"s": None}, roles=dk.Roles(key=dk.RecordKey("k", modulus=256)))
    assert (present(table.key) * 256).tolist() == [44, 255, 43]


def test_records_with_a_zero_do_not_count_where_zeros_do_not() -> None:
    data = {"s": ["a", "a", "b"], "x": [5, 0, 7], "y": [1, 2, 0], "k": [0.25, 0.5, 0.125]}
    with_zeros = dk.tabulate(data, by={"s": None}, value=["x", "y"], roles=dk.Roles(key="k"))
    assert present(with_zeros["x"].key).tolist() == present(with_zeros["y"].key).tolist() == [0.75, 0.125, 0.875]
    without = dk.tabulate(data, by={"s": None}, value=["x", "y"], roles=dk.Roles(key=dk.RecordKey("k", zeros=False)))
    assert present(without["x"].key).tolist() == [0.25, 0.125, 0.375]
    assert present(without["y"].key).tolist() == [0.75, 0.0, 0.75]


@pytest.mark.parametrize(
    ("keys", "key"),
    [
        ([0.5, 1.0], "k"),
        ([-0.1, 0.5], "k"),
        ([3, 256], dk.RecordKey("k", modulus=256)),
        ([3.5, 2], dk.RecordKey("k", modulus=256)),
        ([0.3, 0.3], "k"),
    ],
)
def test_keys_out_of_their_range_or_all_equal_are_refused(keys: list[float], key: Any) -> None:
    with pytest.raises(BadRecordKeys):
        dk.tabulate({"s": ["a", "b"], "k": keys}, by={"s": None}, roles=dk.Roles(key=key))


def test_missing_keys_are_refused_and_an_impossible_modulus_too() -> None:
    with pytest.raises(dk.DiskretError, match="T3"):
        dk.tabulate({"s": ["a", "b"], "k": [0.1, float("nan")]}, by={"s": None}, roles=dk.Roles(key="k"))
    with pytest.raises(BadOption):
        dk.RecordKey("k", modulus=1)


def test_drawn_keys_are_uniform_and_the_same_for_the_same_seed() -> None:
    keys = dk.draw_keys(200_000, seed=5)
    assert keys.tobytes() == dk.draw_keys(200_000, seed=5).tobytes()
    assert keys.min() >= 0
    assert keys.max() < 1
    cells = np.bincount((keys * 100).astype(int), minlength=100)
    chi2 = float(((cells - 2000) ** 2 / 2000).sum())
    assert 60 < chi2 < 145  # 99 degrees of freedom: 0.1 % to 99.8 %


def test_cell_keys_survive_a_working_file(tmp_path: Path) -> None:
    from diskret.publication.working import load_working, save_working

    table = dk.tabulate(people(50), by={"region": None}, roles=dk.Roles(key="rkey"))
    save_working(table, tmp_path / "w.parquet")
    assert present(load_working(tmp_path / "w.parquet")["count"].key).tobytes() == present(table.key).tobytes()


# --- counts ----------------------------------------------------------------------------------------------------------


def by_hand(p_table: dk.PTable, count: int, key: float) -> float:
    """The readable twin of the kernel."""
    rows = p_table.rows()
    r = min(count, rows.cell.size - 1)
    for e in range(rows.start[r], rows.start[r + 1]):
        if key < rows.upper[e]:
            return float(rows.deviation[e])
    raise AssertionError("a key below 1 finds its deviation")


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.floats(0, 1, exclude_max=True)), min_size=1, max_size=20))
def test_the_kernel_looks_up_what_the_table_says(cells: list[tuple[int, float]]) -> None:
    rows = COUNTS.rows()
    found = np.empty(len(cells))
    count, key = np.array([c for c, _ in cells]), np.array([k for _, k in cells])
    kernels.deviations_of_counts(count, key, rows.start, rows.upper, rows.deviation, found)
    assert found.tolist() == [by_hand(COUNTS, c, k) for c, k in cells]


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 1000])
def test_noise_of_counts_is_unbiased_and_has_the_designed_distribution(count: int) -> None:
    """Cells of the same size with keys of their own records: mean, variance and the whole distribution."""
    cells = 40_000
    keys = dk.draw_keys(cells * min(count, 8), seed=count).reshape(cells, -1).sum(axis=1) % 1
    rows = COUNTS.rows()
    found = np.empty(cells)
    kernels.deviations_of_counts(np.full(cells, count), keys, rows.start, rows.upper, rows.deviation, found)
    error = np.sqrt(2 / cells)
    assert abs(found.mean()) < 4 * error
    v, p = rows.row(min(count, 8))
    fourth = float(p @ v**4)
    assert abs(found.var() - 2) < 4 * np.sqrt((fourth - 4) / cells)
    observed = np.array([(found == x).sum() for x in v])
    often = p * cells > 5
    wanted = p[often] * cells
    chi2 = float(((observed[often] - wanted) ** 2 / wanted).sum())
    assert chi2 < 35  # at most 10 degrees of freedom: 99.99 %


def test_zeros_stay_zero_nothing_is_negative_and_ones_and_twos_are_gone() -> None:
    table = dk.tabulate(people(400), by={"region": REGION, "age": None, "sex": None}, roles=dk.Roles(key="rkey"))
    noisy = dk.perturb_by_key(table, COUNTS)
    value = noisy.table.value
    assert (value[table.value == 0] == 0).all()
    assert value.min() == 0
    assert not np.isin(value, (1, 2)).any()
    assert np.abs(noisy.deviation).max() <= 5
    assert (value == np.rint(value)).all()


def test_the_same_cell_gets_the_same_noise_in_every_table() -> None:
    """The women of N1 by themselves, beside the men, by region, and in a table of another order."""
    data = people()
    tables = [
        dk.tabulate(data, by={"region": REGION, "sex": None}, roles=dk.Roles(key="rkey")),
        dk.tabulate(data, by={"sex": None, "age": None, "region": None}, roles=dk.Roles(key="rkey")),
    ]
    one, other = (dk.perturb_by_key(t, COUNTS).table for t in tables)
    for region in ("N1", "N2", "S3"):
        for sex in ("m", "w", "Total"):
            assert one.value[one.index(region, sex)] == other.value[other.index(sex, "Total", region)]
    women = {name: column[data["sex"] == "w"] for name, column in data.items()}
    alone = dk.perturb_by_key(dk.tabulate(women, by={"region": REGION}, roles=dk.Roles(key="rkey")), COUNTS).table
    assert alone.value.tolist() == one.value[:, one.by["sex"].index("w")].tolist()


def test_what_is_published_holds_nothing_secret_and_the_input_is_untouched() -> None:
    table = dk.mark(
        dk.tabulate(people(300), by={"region": REGION}, value="income", roles=dk.Roles(key="rkey"), largest=3),
        dk.MinCount(3),
    )
    before = table.value.copy()
    result = dk.perturb_by_key(table, VALUES, scaling=Scaling())
    assert table.value.tobytes() == before.tobytes()
    shown = result.table
    assert (shown.respondents, shown.key, shown.rule, shown.below, shown.lower, shown.weight) == (None,) * 6
    assert not shown.hidden.any()
    assert "cell-key" in shown.altered
    with pytest.raises(BadOption, match="already"):
        dk.perturb_by_key(shown, VALUES, scaling=Scaling())


def test_weighted_counts_move_by_whole_units_of_their_mean_weight() -> None:
    table = dk.tabulate(people(), by={"region": REGION}, roles=dk.Roles(weight="weight", key="rkey"))
    noisy = dk.perturb_by_key(table, COUNTS)
    mean_weight = table.value / table.count
    steps = noisy.deviation / mean_weight
    assert steps == pytest.approx([by_hand(COUNTS, c, k) for c, k in zip(table.count, present(table.key), strict=True)])


def test_the_result_says_how_much_was_changed() -> None:
    noisy = dk.perturb_by_key(
        dk.tabulate(people(), by={"region": REGION, "age": None}, roles=dk.Roles(key="rkey")), COUNTS
    )
    said = noisy.summary()
    assert said["cells"] == 80
    assert said["changed"] == int((noisy.deviation != 0).sum())
    assert said["sums that are not the sum of their parts"] > 0
    assert "mean absolute deviation" in str(noisy)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"value": "income"}, "no cell keys"),
        ({"value": "income", "key": "rkey"}, "holds values"),
        ({"key": "rkey", "wrong": True}, "not one for counts"),
    ],
)
def test_what_does_not_go_together_is_refused(options: dict[str, Any], words: str) -> None:
    p_table = VALUES if options.pop("wrong", False) else COUNTS
    table = dk.tabulate(people(20), by={"region": None}, **grouped.tabulated(**options))
    with pytest.raises(BadOption, match=words):
        dk.perturb_by_key(table, p_table)


# --- magnitudes ------------------------------------------------------------------------------------------------------


def magnitude_by_hand(value: float, largest: list[float], key: float, scaling: Scaling, sensitive: bool) -> float:
    """The readable twin of the kernel, without a separation point."""
    rows = VALUES.rows()

    def looked_up(r: int, u: float) -> float:
        e = next(e for e in range(rows.start[r], rows.start[r + 1]) if u < rows.upper[e])
        return float(rows.deviation[e])

    noise = 0.0
    for j, (x, weight) in enumerate(zip(largest, scaling.weights, strict=False)):
        if x <= 0:
            break
        share = scaling.small * weight
        if scaling.flex_point is not None and x > scaling.flex_point:
            passage = (scaling.small * x / (scaling.large * scaling.flex_point) - 1) * (
                2 * scaling.flex_point / (scaling.flex_point + x)
            ) ** scaling.q
            share = scaling.large * (1 + passage) * weight
        u = kernels.mixed(key, j + 1)
        below = max(r for r in range(rows.cell.size) if rows.cell[r] <= 1 / share)
        v = looked_up(below, u)
        if below + 1 < rows.cell.size:
            along = (1 / share - rows.cell[below]) / (rows.cell[below + 1] - rows.cell[below])
            v = (1 - along) * v + along * looked_up(below + 1, u)
        if j == 0 and sensitive:
            v += np.sign(v) * scaling.extra
        noise += x * share * v
    return noise


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.floats(0, 1e6), min_size=3, max_size=3).map(lambda x: sorted(x, reverse=True)),
    st.floats(0, 1, exclude_max=True), st.booleans(), st.sampled_from([None, 10.0, 1000.0]), st.floats(0, 2),
)  # fmt: skip
def test_the_noise_of_magnitudes_is_what_its_twin_computes(
    largest: list[float], key: float, sensitive: bool, flex_point: float | None, extra: float
) -> None:
    scaling = Scaling(flex_point=flex_point, extra=extra)
    table = dk.tabulate(
        {"s": ["a", "b"], "x": [1, 2], "k": [0.1, 0.2]}, by={"s": None}, value="x", largest=3, roles=dk.Roles(key="k")
    )
    people_ = replace(present(table.respondents), largest=np.array([largest] * 3))
    status = np.full(3, dk.Status.PRIMARY if sensitive else dk.Status.OPEN, dtype=np.uint8)
    whole = np.full(3, sum(largest) * 100)
    table = replace(table, respondents=people_, value=whole, key=np.full(3, key), status=status, decimals=None)
    found = dk.perturb_by_key(table, VALUES, scaling=scaling).deviation[0]
    expected = magnitude_by_hand(whole[0], largest, key, scaling, sensitive)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-9 * max(1.0, whole[0]))


def test_noise_of_magnitudes_is_unbiased_with_the_variance_of_its_parts() -> None:
    cells = 60_000
    x = np.array([100.0, 60.0, 10.0])
    table = dk.tabulate(
        {"s": ["a", "b"], "x": [1, 2], "k": [0.1, 0.2]}, by={"s": None}, value="x", largest=3, roles=dk.Roles(key="k")
    )
    many = dk.Hierarchy.flat([str(i) for i in range(cells - 1)])
    table = replace(
        table, by={"s": many}, value=np.full(cells, 1000.0), key=dk.draw_keys(cells, 11), decimals=None,
        respondents=replace(present(table.respondents), count=np.full(cells, 9), largest=np.tile(x, (cells, 1))),
        status=np.zeros(cells, dtype=np.uint8),
    )  # fmt: skip
    scaling = Scaling(small=0.2, large=0.2)
    found = dk.perturb_by_key(table, VALUES, scaling=scaling).deviation
    share = 0.2 * np.array(scaling.weights) * x
    spread = float((share**2).sum())  # the p-table has variance 1 from its last row on, where 1/0.2 = 5 lies
    assert abs(found.mean()) < 4 * np.sqrt(spread / cells)
    assert found.var() == pytest.approx(spread, rel=0.03)


def test_a_single_contributor_never_becomes_negative_and_is_unbiased() -> None:
    """One contributor: the rows of the p-table are narrow enough that nothing has to be cut off at zero."""
    cells = 40_000
    table = dk.tabulate(
        {"s": ["a", "b"], "x": [1, 2], "k": [0.1, 0.2]}, by={"s": None}, value="x", largest=3, roles=dk.Roles(key="k")
    )
    table = replace(
        table, by={"s": dk.Hierarchy.flat([str(i) for i in range(cells - 1)])}, value=np.full(cells, 50.0),
        respondents=replace(present(table.respondents), count=np.ones(cells, dtype=np.int64),
                            largest=np.tile([50.0, 0, 0], (cells, 1))),
        key=dk.draw_keys(cells, 2), status=np.zeros(cells, dtype=np.uint8), decimals=None,
    )  # fmt: skip
    found = dk.perturb_by_key(table, VALUES, scaling=Scaling(small=0.3, large=0.3))
    assert found.table.value.min() >= 0
    assert abs(found.deviation.mean()) < 4 * found.deviation.std() / np.sqrt(cells)


def test_small_values_are_treated_like_counts_below_the_separation_point() -> None:
    data = {"s": ["a", "a", "b"], "x": [2.0, 1.0, 5000.0], "k": [0.3, 0.9, 0.45]}
    table = dk.tabulate(data, by={"s": None}, value="x", largest=3, roles=dk.Roles(key="k"))
    found = dk.perturb_by_key(table, VALUES, scaling=Scaling(), small_values=SMALL).deviation
    plain = dk.perturb_by_key(table, VALUES, scaling=Scaling()).deviation
    assert found[0] != plain[0]
    assert found[1] == plain[1]


def test_even_and_odd_numbers_of_contributors_have_rows_of_their_own() -> None:
    kinds = ["even"] * 3 + ["odd"] * 3
    parity = dk.PTable.of([0, 1, 1] * 2, [0, -0.5, 0.5, 0, -1, 1], [1, 0.5, 0.5] * 2, kind=kinds)
    data = {"s": ["a", "a", "b"], "x": [100.0, 100.0, 100.0], "k": [0.3, 0.9, 0.45]}
    table = dk.tabulate(data, by={"s": None}, value="x", largest=3, roles=dk.Roles(key="k"))
    even, odd, _ = dk.perturb_by_key(table, parity, scaling=Scaling(small=0.1, large=0.1, weights=(1.0,))).deviation
    assert (abs(even), abs(odd)) == (5.0, 10.0)


def test_noise_of_sums_tells_nothing_about_noise_of_counts() -> None:
    """Magnitudes use keys of their own: the correlation of both noises is that of chance."""
    cells = 20_000
    keys = dk.draw_keys(cells, 8)
    others = np.array([kernels.mixed(k, 1) for k in keys])
    assert abs(np.corrcoef(keys, others)[0, 1]) < 4 / np.sqrt(cells)
    assert np.abs(np.histogram(others, 20, (0, 1))[0] - cells / 20).max() < 5 * np.sqrt(cells / 20)


@pytest.mark.parametrize(
    "options",
    [{"small": 0.1, "large": 0.2}, {"flex_point": -1}, {"weights": (0.5,)}, {"weights": (1, 2)}, {"q": 0.5},
     {"extra": -1}],
)  # fmt: skip
def test_impossible_scalings_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadOption):
        Scaling(**options)


# --- public data -----------------------------------------------------------------------------------------------------


@pytest.mark.skipif(not SHARED.exists(), reason="the public files are not here")
def test_public_microdata_with_the_public_p_tables() -> None:
    """The magnitude example of tau-ARGUS: counts and savings by sex and age, with the keys of its file."""
    from diskret.model.source import Delimited

    folder = SHARED / "tau-argus" / "cellkey-magnitude"
    names = ("Sex", "Age", "HighIncome", "Savings", "Weight", "Key")
    data = Delimited(path=folder / "microdata.csv", delimiter=";", names=names)
    by = {"Sex": None, "Age": None}
    counts = dk.perturb_by_key(
        dk.tabulate(data, by=by, roles=dk.Roles(key="Key")), dk.read_p_table(folder / "ptab_freq.txt")
    )
    assert not np.isin(counts.table.value, (1, 2)).any()
    assert np.abs(counts.deviation).max() <= 5
    table = dk.tabulate(data, by=by, value="Savings", largest=3, roles=dk.Roles(key=dk.RecordKey("Key", zeros=False)))
    scaling = Scaling(small=0.3, large=0.03, flex_point=1000, q=3, weights=(1.0, 0.5, 0.2))
    savings = dk.perturb_by_key(
        table, dk.read_p_table(folder / "ptab_savings_all.txt"), scaling=scaling,
        small_values=dk.read_p_table(folder / "ptab_savings_smallcells.txt"),
    )  # fmt: skip
    assert (savings.deviation != 0).mean() > 0.5
    assert np.abs(savings.deviation / table.value).max() < 0.1
