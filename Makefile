# Everything happens in .venv, made on first use; only Python and make are needed.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check

# files with a browser are few tests that take long: whoever has nothing left to do takes some over. Hundreds of tests
# start a process, which reads what Python has compiled before
TESTS = PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n 2 --dist worksteal

.PHONY: demo serve test test-all lint types hooks docs pictures bench bench-all sbom clean

demo: $(VENV)/.base
	$(BIN)/diskret run examples/turnover.toml --show

# opens the workbench: a page on this machine, with a folder beside this file as its workspace
serve: $(VENV)/.web
	$(BIN)/diskret serve

test: $(VENV)/.dev chromium
	$(TESTS) -m "not slow" --hypothesis-profile=quick --durations=5

test-all: $(VENV)/.dev chromium
	$(TESTS) --durations=10

.PHONY: r
# the R package: R and what its tests need from Debian's packages, help pages from the comments, the tests, the check
r: $(VENV)/.dev
	@command -v Rscript >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
	  r-base-core r-cran-reticulate r-cran-testthat r-cran-curl r-cran-jsonlite r-cran-knitr r-cran-rmarkdown r-cran-roxygen2 pandoc; }
	cd r/diskret && Rscript -e 'roxygen2::roxygenise(load_code = "source")'
	$(BIN)/python -m pytest tests/r -q
	rm -rf build/r && mkdir -p build/r && cd build/r && R CMD build --no-manual ../../r/diskret && \
	  RETICULATE_PYTHON=$(abspath $(BIN)/python) _R_CHECK_FORCE_SUGGESTS_=false R CMD check --no-manual diskret_*.tar.gz

lint: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.dev
	$(BIN)/mypy

# lint and types before every commit, the tests before every push
hooks: $(VENV)/.dev
	$(BIN)/pre-commit install --hook-type pre-commit --hook-type pre-push

# the documentation as a site in `site`, read from a folder or a server; a broken link or name ends it
docs: $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir site
	@echo "wrote site/index.html"

# every picture of the documentation, anew (those of benchmarks are drawn by `bench`)
pictures: $(VENV)/.dev chromium
	$(BIN)/python docs/picture.py
	$(BIN)/python docs/house.py
	$(BIN)/python -m benchmarks.pictures

# everything but the long cases: about an hour on a quiet machine with two cores; GO=--go-on goes on after a break
bench: $(VENV)/.bench .venv-bench/.peers
	$(BIN)/python -m benchmarks $(GO)
	$(BIN)/python -m benchmarks.quality --tables 6 --seconds 5 --into benchmarks
	$(BIN)/python -m benchmarks.speed --threads --growth --into benchmarks
	$(BIN)/python -m benchmarks.figures

# the long ones too, and more tables of every kind: about three hours
bench-all: $(VENV)/.bench .venv-bench/.peers
	$(BIN)/python -m benchmarks --long $(GO)
	$(BIN)/python -m benchmarks.quality --into benchmarks
	$(BIN)/python -m benchmarks.speed --threads --growth --into benchmarks
	$(BIN)/python -m benchmarks.figures

# what diskret is made of, as installed: a CycloneDX software bill of materials
sbom: $(VENV)/.web
	$(BIN)/python tools/sbom.py > sbom.part && mv sbom.part sbom.json
	@echo "wrote sbom.json"

# what an office without a network installs: wheels, hashes, licences, the bill; FOR="--platform win_amd64 --python-version 3.12"
.PHONY: offline-bundle
offline-bundle: $(VENV)/.base
	$(PIP) build uv
	rm -rf build/bundle
	$(BIN)/python tools/bundle.py build/bundle $(FOR)

# the oldest versions of everything that pyproject.toml allows, and the quick part of the tests with them
.PHONY: test-oldest
test-oldest: UV = .venv-oldest/bin/python tools/uv_like_pip.py
test-oldest:
	$(PYTHON) -m venv .venv-oldest && .venv-oldest/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(UV) pip compile --quiet --upgrade --resolution lowest-direct --all-extras --no-header --no-annotate pyproject.toml -o .venv-oldest/oldest.txt
	$(UV) pip install --quiet --python .venv-oldest/bin/python -r .venv-oldest/oldest.txt
	$(UV) pip install --quiet --python .venv-oldest/bin/python --no-deps -e .
	NUMBA_CACHE_DIR=$(CURDIR)/.venv-oldest/kernels .venv-oldest/bin/python -m pytest -n 2 --dist worksteal -m "not slow and not spark" \
	  --hypothesis-profile=quick -W default tests/cli tests/io tests/job tests/model tests/publication tests/tabulation tests/web/api

clean:
	rm -rf $(VENV)

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.base: pyproject.toml | $(BIN)/python
	$(PIP) -e .
	touch $@

$(VENV)/.web: pyproject.toml | $(BIN)/python
	$(PIP) -e ".[web,plots,report]"
	touch $@ $(VENV)/.base

$(VENV)/.docs: pyproject.toml | $(BIN)/python
	$(PIP) -e ".[docs]"
	touch $@ $(VENV)/.base

$(VENV)/.dev: pyproject.toml | $(BIN)/python
	$(PIP) -e ".[dev,docs,spark,plots,web]"
	touch $@ $(VENV)/.base

# the browser of the page's tests; whoever is not root installs it, or sees those tests skipped with the reason
.PHONY: chromium
chromium:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || test "$$(id -u)" != 0 || ! command -v apt-get >/dev/null || \
	  { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium chromium-driver >/dev/null; } || \
	  echo "chromium could not be installed: the tests that need it are skipped"

# exact intervals for `bench`
$(VENV)/.bench: $(VENV)/.dev
	$(PIP) highspy
	touch $@

# programs to compare with, apart from everything else: never dependencies
.venv-bench/.peers:
	$(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check pytauargus gconfid pandas pyarrow microagg1d pycanon
	touch $@
