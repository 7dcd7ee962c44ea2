"""Notebooks run, show their results, and are stored without what came out."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module")
def runner() -> Any:
    spec = importlib.util.spec_from_file_location("notebooks", ROOT / "tools" / "site" / "notebooks.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["attack", "records", "tables"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_nothing_that_came_out_is_stored(path: Path, runner: Any) -> None:
    code = [cell for cell in runner.cells_of(path) if cell["cell_type"] == "code"]
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in code)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_the_notebook_runs_and_its_results_show_themselves(path: Path, runner: Any, tmp_path: Path) -> None:
    values = [cell.value for cell in runner.run(path, tmp_path) if cell.value is not None]
    ours = [value for value in values if type(value).__module__.startswith("diskret.")]
    assert len(ours) >= 4
    assert all(hasattr(value, "_repr_html_") for value in ours)
    assert all(len(repr(value)) < 2000 for value in ours)


def test_no_hidden_value_stands_in_the_page_of_the_tables(runner: Any, tmp_path: Path) -> None:
    path = next(path for path in NOTEBOOKS if path.stem == "tables")
    cells = runner.run(path, tmp_path)
    done = next(cell.value for cell in cells if type(cell.value).__name__ == "Suppression")
    changed = next(cell.value for cell in cells if type(cell.value).__name__ == "Perturbation")
    shown = "".join(cell.html for cell in cells if cell.value is not changed)
    hidden = {f"{value:,.1f}" for value in done.table.value[done.table.hidden]}
    published = {f"{value:,.1f}" for value in done.table.value[~done.table.hidden]}
    assert not {value for value in hidden - published if len(value) > 6 and value in shown}


def test_a_kernel_of_jupyter_runs_them_too(tmp_path: Path) -> None:
    """DuckDB behaves otherwise inside of one, and nothing else finds that out."""
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = nbformat.read(ROOT / "docs" / "notebooks" / "tables.ipynb", 4)
    nbformat.validate(book)
    client = nbclient.NotebookClient(book, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    views = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs if "data" in out]
    assert sum("text/html" in out["data"] for out in views) >= 5
