"""Workers without common memory find what one machine finds, to the byte."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from diskret import Hierarchy, Promise, Table, audit, methods, suppress
from diskret.auditing.audit import attacked
from diskret.auditing.report import AuditReport
from diskret.model.workers import Threads, Workers, shares
from diskret.suppression.by_cuboids import by_cuboids
from diskret.suppression.by_moves import by_moves
from tests.present import present

pytestmark = pytest.mark.filterwarnings("ignore::diskret.ProtectionWarning")


@dataclass(frozen=True)
class FarAway:
    """Nothing reaches these workers, and nothing comes back, but as bytes."""

    count: int = 3
    far: bool = True

    def map(self, work: Callable[[Any, Any], Any], shared: Any, parts: Sequence[Any]) -> list[Any]:
        def there(part: Any) -> Any:
            return pickle.loads(pickle.dumps(work(*pickle.loads(pickle.dumps((shared, part))))))

        return [there(part) for part in parts]


def firms(seed: int) -> Table:
    """A table with levels, many primary cells and single contributors."""
    rng = np.random.default_rng(seed)
    parents = {f"a{i}{j}": f"a{i}" for i in range(4) for j in range(3)} | {f"a{i}": "all" for i in range(4)}
    region = Hierarchy.from_parents(parents)
    other = Hierarchy.flat([f"b{i}" for i in range(5)])
    size = rng.integers(1, 4, (12, 5))
    leaves = [code for code in parents if len(code) == 3]
    rows = [(a, f"b{j}") for a in leaves for j in range(5)]
    cells = {
        "a": [a for a, _ in rows], "b": [b for _, b in rows],
        "x": np.rint(rng.lognormal(4, 1.5, 60)).tolist(), "n": size.reshape(-1).tolist(),
    }  # fmt: skip
    table = Table.from_cells(cells, by={"a": region, "b": other}, value="x", count="n")
    primary = (table.count > 0) & (table.count < 3)
    return table.with_status("primary", [table.codes(table.place(int(c))) for c in np.flatnonzero(primary)])


@pytest.mark.parametrize("carry", ["off", "once", "always"])
@pytest.mark.parametrize("seed", range(4))
def test_far_workers_secure_subtables_as_one_machine_does(seed: int, carry: Any) -> None:
    table, promise = firms(seed), Promise(min_relative_range=0.3)
    found = [by_cuboids(table, promise, methods.Cuboids(carry=carry), workers=w) for w in (Threads(), FarAway())]
    here, there = found
    assert here.secondary.any()
    assert here.table.status.tobytes() == there.table.status.tobytes()
    assert here.moves.cells.tobytes() == there.moves.cells.tobytes()
    assert here.moves.up.tobytes() == there.moves.up.tobytes()
    assert here.unprotected == there.unprotected
    assert here.passes == there.passes


def same_findings(here: AuditReport, there: AuditReport) -> bool:
    """Whether two audits say the same, to the byte."""
    said = [
        (r.exposed, r.undecided, r.programmes, r.checked, r.without_solver, r.unions, r.close_calls)
        for r in (here, there)
    ]
    moves = [(m.start.tobytes(), m.cells.tobytes(), m.coefficients.tobytes()) for m in (here.moves, there.moves)]
    return said[0] == said[1] and moves[0] == moves[1]


@pytest.mark.parametrize("guard", ["public", "single"])
@pytest.mark.parametrize("hidden", [True, False])
def test_far_workers_attack_as_one_machine_does(guard: Any, hidden: bool) -> None:
    table, promise = firms(5), Promise(guard=guard)
    if hidden:  # a pattern of subtables, which leaves some cells to programmes
        table = by_cuboids(table, promise).table
    here, there = (attacked(table, promise, workers=workers) for workers in (Threads(), FarAway()))
    assert here.safe == hidden or guard == "single"
    assert same_findings(here, there)


@pytest.mark.parametrize("seed", range(2))
def test_far_workers_protect_by_moves_as_one_machine_does(seed: int) -> None:
    here, there = (by_moves(firms(seed), Promise(), workers=workers) for workers in (Threads(), FarAway()))
    assert here.table.status.tobytes() == there.table.status.tobytes()
    assert same_findings(present(here.audit), present(there.audit))


@pytest.mark.spark
def test_a_spark_session_protects_as_this_machine_does(spark: Any) -> None:
    for method in (methods.Cuboids(), methods.Moves(effort="quick")):
        here, there = (suppress(firms(7), Promise(), method, engine=engine) for engine in (None, spark))
        assert here.table.status.tobytes() == there.table.status.tobytes()
        assert here.moves.cells.tobytes() == there.moves.cells.tobytes()
        assert same_findings(audit(here.table), audit(there.table, engine=spark))


def test_shares_are_whole_and_in_order() -> None:
    workers: Workers = FarAway()
    sizes = np.random.default_rng(1).integers(0, 100, 500)
    found = shares(sizes, workers)
    assert np.concatenate(found).tolist() == list(range(500))
    assert max(int(sizes[share].sum()) for share in found) < 2 * sizes.sum() / len(found)
