"""The R package: its own tests in R, where R and reticulate are; and what can be said of it without R."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import diskret
from tests.serving import serving

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "r" / "diskret"


@cache
def _lacking() -> str:
    """Why the tests in R cannot run here, if they cannot."""
    if shutil.which("Rscript") is None:
        return "R is not installed: `make r` does it on Debian"
    code = (
        "cat(Filter(function(p) !requireNamespace(p, quietly = TRUE), c('reticulate', 'testthat', 'curl', 'jsonlite')))"
    )
    said = subprocess.run(["Rscript", "-e", code], capture_output=True, text=True, check=False)
    return f"packages of R are missing: {said.stdout}" if said.returncode or said.stdout.strip() else ""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library with the package in it, as `R CMD INSTALL` makes it."""
    if _lacking():
        pytest.skip(_lacking())
    made = tmp_path_factory.mktemp("library")
    command = ["R", "CMD", "INSTALL", "--no-docs", f"--library={made}", str(PACKAGE)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return made


def test_the_tests_in_r_pass(library: Path, tmp_path: Path) -> None:
    code = (
        "library(testthat); library(diskret); "
        f"test_dir({str(PACKAGE / 'tests' / 'testthat')!r}, package = 'diskret', load_package = 'installed', "
        "reporter = 'summary', stop_on_failure = TRUE)"
    )
    known = os.environ | {"R_LIBS": str(library), "RETICULATE_PYTHON": sys.executable}
    done = subprocess.run(
        ["Rscript", "-e", code], capture_output=True, text=True, env=known, cwd=tmp_path, check=False, timeout=600
    )
    assert done.returncode == 0, (done.stdout + done.stderr)[-8000:]
    assert "Skipped" not in done.stdout, done.stdout[-4000:]


R_FIRMS = """
set.seed(7)
firms <- data.frame(nace = sample(c("101", "102", "201", "202"), 200, TRUE),
                    region = sample(c("05111", "05112", "11"), 200, TRUE), turnover = round(exp(rnorm(200, 6, 1.5))))
"""
"""What the reader of the page has: a data frame with the columns that the page names."""


def test_the_page_about_r_can_be_followed(library: Path, tmp_path: Path) -> None:
    page = (ROOT / "docs" / "r.md").read_text(encoding="utf-8")
    inside, outside = re.findall(r"^```r\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    known = os.environ | {"R_LIBS": str(library), "RETICULATE_PYTHON": sys.executable}
    with serving(tmp_path / "protected"):
        done = subprocess.run(
            ["Rscript", "-e", R_FIRMS + inside + outside], capture_output=True, text=True, env=known, cwd=tmp_path,
            check=False, timeout=600,
        )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nothing is exposed" in done.stdout
    assert (tmp_path / "turnover.xlsx").is_file()
    assert (tmp_path / "turnover.csv").read_text(encoding="utf-8").startswith("nace,region,")


def test_the_version_is_that_of_the_python_package() -> None:
    assert f"\nVersion: {diskret.__version__}\n" in (PACKAGE / "DESCRIPTION").read_text(encoding="utf-8")


def test_every_function_for_users_has_a_help_page() -> None:
    exported = set(re.findall(r"^export\((\w+)\)", (PACKAGE / "NAMESPACE").read_text(encoding="utf-8"), re.MULTILINE))
    told = {
        name
        for page in (PACKAGE / "man").glob("*.Rd")
        for name in re.findall(r"\\alias\{(\w+)\}", page.read_text(encoding="utf-8"))
    }
    assert exported - told == set()
    assert len(exported) > 20


def test_values_never_travel_as_arrays_of_another_numpy() -> None:
    """The reticulate of Debian 12 knows NumPy 1 only: whatever it converted by itself would fail there."""
    for file in (PACKAGE / "R").glob("*.R"):
        assert not re.search(r"r_to_py\(array|np_array|import\(\"numpy\"", file.read_text(encoding="utf-8")), file.name
