# Everything happens in .venv, made on first use; only Python and make are needed.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo test test-all lint types bench clean

demo: $(VENV)/.base
	$(BIN)/diskret run examples/turnover.toml --show

test: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow" --durations=5

test-all: $(VENV)/.dev
	$(BIN)/python -m pytest -n 2 --dist loadfile --durations=10

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/mypy

bench: $(VENV)/.bench .venv-bench/.peers
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	touch $@

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) -e ".[dev,spark,plots]"
	touch $@ $(VENV)/.base

# exact intervals for `bench`
$(VENV)/.bench: $(VENV)/.dev
	$(PIP) highspy
	touch $@

# programs to compare with, apart from everything else: never dependencies
.venv-bench/.peers:
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check pytauargus gconfid pandas pyarrow microagg1d pycanon
	touch $@
