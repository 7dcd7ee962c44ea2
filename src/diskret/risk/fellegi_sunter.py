"""Probabilistic record linkage after Fellegi and Sunter: splink learns, here on DuckDB, on Spark for large files.

How close two values are falls into a few levels of relative difference. How likely each level is for records of one
unit (m) and of different units (u) is learned from the pairs within the blocks, without knowing who is who. With that
every pair of a block has a weight. Pairs are weighed by a compiled loop (on Spark by splink), which is sooner done than
writing them down. Pairs with the highest weight are made first, one to one; equal weights are told apart by distance.
"""

from __future__ import annotations

import contextlib
import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from math import log2
from typing import Any

import numpy as np

from diskret.model.arrays import Floats, Ints
from diskret.model.engine import connect
from diskret.model.errors import BadOption, MissingExtra
from diskret.risk._linkage_kernels import best_pairs, greedy
from diskret.risk.linkage import CANDIDATES, Links, Side, distances

LEVELS = (0.01, 0.05, 0.1, 0.2, 0.5)
MOST_PAIRS = 2_000_000_000
TRAINING_PAIRS = 5_000_000
"""Pairs from which weights are learned, the same ones every time. With all 84 million of 100,000 x 100,000 firms in
221 blocks learning takes 36 CPU s more, weights change in the second digit, and 28,977 units are found, not 28,854."""
LEAST_PROBABILITY = 0.01
"""Pairs below it are not links, whatever else there is."""


def link_by_probability(
    released: Side, external: Side, own: Floats, other: Floats, blocks: tuple[Ints, Ints, int], engine: object,
    *, compiled: bool | None = None,
) -> Links:  # fmt: skip
    """Partners by match weight. ``own`` and ``other`` are the values as they are, the sides hold them scaled.

    Pairs are weighed by a ``compiled`` loop, or by splink where the engine is a cluster: the same pairs and weights.
    """
    compiled = engine == "duckdb" if compiled is None else compiled
    try:
        import splink
    except ImportError as e:
        raise MissingExtra.needed("linkage", 'method="fellegi_sunter"') from e
    if not own.shape[1]:
        raise BadOption("there are no values to compare", hint="Fellegi and Sunter need values; keys only form blocks.")
    a_block, b_block, count = blocks
    pairs = int((np.bincount(a_block, minlength=count) * np.bincount(b_block, minlength=count)).sum())
    if not pairs:
        return _links(released, external, np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0), count)
    if pairs > MOST_PAIRS and engine == "duckdb":
        raise BadOption(
            f"the blocks make {pairs:,} pairs", hint='add keys, or use engine="spark" with a cluster behind it.'
        )
    tables = {
        "released": _table(released, own, a_block),
        "external": _table(external, other, b_block),
    }
    with _quiet(), _backend(tables, engine) as (registered, run):
        settings = _settings(splink, own.shape[1], min(1.0, min(len(own), len(other)) / pairs))
        linker = splink.Linker(registered, settings, log_level=None)
        linker.training.estimate_parameters_using_expectation_maximisation(
            splink.block_on("block"), fix_u_probabilities=False, estimate_without_term_frequencies=True,
            max_pairs=None if pairs <= TRAINING_PAIRS else TRAINING_PAIRS,
        )  # fmt: skip
        if compiled:
            record, row, weight = _weighed(released, external, own, other, blocks, _learned(linker))
        else:
            scored = linker.inference.predict(LEAST_PROBABILITY)
            found = run(_best_sql(scored.physical_name, own.shape[1]))
            record, row, weight = (np.asarray(found[c]) for c in ("record", "row", "weight"))
    return _links(released, external, record.astype(np.int64), row.astype(np.int64), weight.astype(np.float64), count)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Learned:
    """What splink learned: weights per value and level (the last: further apart than all), and that of any pair."""

    levels: Floats
    prior: float


def _learned(linker: Any) -> _Learned:
    model = linker.misc.save_model_to_json()
    prior = float(model["probability_two_random_records_match"])
    weights = [
        [log2(level["m_probability"] / level["u_probability"]) for level in each["comparison_levels"]
         if not level.get("is_null_level")]
        for each in model["comparisons"]
    ]  # fmt: skip
    return _Learned(levels=np.array(weights, dtype=np.float64), prior=log2(prior / (1 - prior)))


def _weighed(
    released: Side, external: Side, own: Floats, other: Floats, blocks: tuple[Ints, Ints, int], learned: _Learned
) -> tuple[Ints, Ints, Floats]:
    """The best pairs of every external unit within its block: record, row and weight."""
    a_block, b_block, count = blocks
    a_order, b_order = np.argsort(a_block, kind="stable"), np.argsort(b_block, kind="stable")
    start = np.searchsorted(a_block[a_order], np.arange(count + 1))
    record = np.full((b_order.size, CANDIDATES), -1, dtype=np.int64)
    weight = np.full((b_order.size, CANDIDATES), -np.inf)
    least = log2(LEAST_PROBABILITY / (1 - LEAST_PROBABILITY)) - learned.prior
    best_pairs(
        own[a_order], released.points[a_order], start, other[b_order], external.points[b_order], b_block[b_order],
        np.array(LEVELS), learned.levels, least, record, weight,
    )  # fmt: skip
    here, place = np.nonzero(record >= 0)
    return a_order[record[here, place]], b_order[here], weight[here, place] + learned.prior


def _table(side: Side, values: Floats, block: Ints) -> dict[str, Any]:
    table: dict[str, Any] = {"unique_id": np.arange(len(values)), "block": block}
    for j in range(values.shape[1]):
        table[f"v{j}"], table[f"p{j}"] = values[:, j], side.points[:, j]
    return table


def _settings(splink: Any, values: int, prior: float) -> Any:
    comparisons = []
    for j in range(values):
        left, right = f"v{j}_l", f"v{j}_r"
        larger = f"greatest(abs({left}), abs({right}))"
        missing = f"{left} IS NULL OR {right} IS NULL OR isnan({left}) OR isnan({right})"
        levels: list[dict[str, Any]] = [
            {"sql_condition": missing, "label_for_charts": "missing", "is_null_level": True}
        ]
        levels += [
            {"sql_condition": f"abs({left} - {right}) <= {level} * {larger}", "label_for_charts": f"within {level:g}"}
            for level in LEVELS
        ]
        levels.append({"sql_condition": "ELSE", "label_for_charts": "apart"})
        comparisons.append({"output_column_name": f"v{j}", "comparison_levels": levels})
    return splink.SettingsCreator(
        link_type="link_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=[splink.block_on("block")],
        probability_two_random_records_match=prior,
        retain_matching_columns=False,
        additional_columns_to_retain=[f"p{j}" for j in range(values)],
        max_iterations=50,
    )


def _best_sql(pairs: str, values: int) -> str:
    """The pairs with the highest weight of every external unit; among equal weights the nearest."""
    gap = " + ".join(f"power(coalesce(p{j}_l, 0) - coalesce(p{j}_r, 0), 2)" for j in range(values))
    turned = "source_dataset_l = 'external'"
    chosen = (
        f"SELECT CASE WHEN {turned} THEN unique_id_r ELSE unique_id_l END AS record, "
        f"CASE WHEN {turned} THEN unique_id_l ELSE unique_id_r END AS row, match_weight AS weight, {gap} AS gap "
        f"FROM {pairs}"
    )
    place = "row_number() OVER (PARTITION BY row ORDER BY weight DESC, gap)"
    ranked = f"SELECT *, {place} AS place FROM ({chosen}) AS c"
    return f"SELECT record, row, weight FROM ({ranked}) AS r WHERE place <= {CANDIDATES} ORDER BY row, place"


def _links(released: Side, external: Side, record: Ints, row: Ints, weight: Floats, count: int) -> Links:
    """Make pairs one to one, the highest weight first; withheld keys that do not agree were let through by blocks."""
    own, other = released.keys[record], external.keys[row]
    fits = ((own == other) | (own < 0) | (other < 0)).all(axis=1)
    record, row, weight = record[fits], row[fits], weight[fits].round(9)
    units = len(external.points)
    near = distances(released, external, record, row)
    best = np.lexsort((record, near, -weight, row))
    place = np.arange(row.size) - np.searchsorted(row[best], row[best])
    kept = place < CANDIDATES
    candidates = np.full((units, CANDIDATES), -1, np.int64)
    candidates[row[best][kept], place[kept]] = record[best][kept]
    partner = np.full(units, -1, np.int64)
    order = np.lexsort((record, row, near, -weight))
    greedy(order, row, record, np.zeros(units, np.bool_), np.zeros(len(released.points), np.bool_), partner)
    gap = np.full(units, np.nan)
    here = partner >= 0
    gap[here] = distances(released, external, partner[here], np.flatnonzero(here))
    return Links(partner=partner, distance=gap, candidates=candidates, blocks=count, optimal=0)


# --- engines ---------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def _backend(tables: dict[str, dict[str, Any]], engine: object) -> Iterator[tuple[list[Any], Any]]:
    """The two tables registered with splink's backend, and a function that runs a statement there."""
    if engine == "duckdb":
        from splink.backends.duckdb import DuckDBAPI

        with connect() as connection:
            for name, table in tables.items():
                connection.register(f"given_{name}", table)
                connection.execute(f"CREATE TABLE {name} AS SELECT * FROM given_{name}")
            api = DuckDBAPI(connection)
            registered = [api.register(name, dataset_display_name=name) for name in tables]
            yield registered, lambda sql: connection.execute(sql).fetchnumpy()
        return
    from diskret.tabulation.spark_backend import open_spark

    spark = open_spark(tables["external"], engine)
    try:
        import pyarrow as pa
        from splink.backends.spark import SparkAPI

        api = SparkAPI(spark_session=spark.session, break_lineage_method="persist", register_udfs_automatically=False)
        frames = {name: spark.session.createDataFrame(pa.table(table)) for name, table in tables.items()}
        registered = [api.register(frame, dataset_display_name=name) for name, frame in frames.items()]
        yield registered, lambda sql: next(spark.batches(sql))
    finally:
        spark.close()


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """splink explains itself at length; its words are not ours."""
    log = logging.getLogger("splink")
    before = log.level
    log.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        log.setLevel(before)
