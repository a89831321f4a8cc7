# Each target does its own set-up: a virtual environment in .venv, bound by constraints.txt.
#
#   make demo      what the tool does, on the shipped sample, in a minute
#   make test      the test-suite (make test-long: with the tests that take minutes)
#   make check     everything that must hold before a commit, cheapest first
#   make bench     what probing and searching cost on this machine
#   make bench-causes  natural faults of many trainers: are component and cause right (an hour)
#   make samples   record the sample runs again
#   make screenshots   paint the screens in docs/tui.md again
#   make format    let ruff lay out the code
#   make clean     remove what was built (make distclean: and .venv)
#
# PYTHON=python3.12   another interpreter than the first that is new enough
# PYTEST_ARGS="-k x"  handed to pytest
# PIP_ARGS="..."      handed to pip install

PYTHON ?=
PIP_ARGS ?=
PYTEST_ARGS ?=
CAUSES_ARGS ?=
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
# A stamp is newer than what it was installed from, or the install is done again.
RUN_READY := $(VENV)/.ready-to-run
DEV_READY := $(VENV)/.ready-to-develop
INSTALLED_FROM := pyproject.toml constraints.txt
INSTALL := $(BIN)/python -m pip install --disable-pip-version-check --constraint constraints.txt $(PIP_ARGS)

CHECKED := bisect_debugger probes tests sample_runs $(wildcard benchmarks/*.py scripts/*.py)

.DEFAULT_GOAL := help
# The gate goes from cheap to dear, and its last line is that of pytest.
.NOTPARALLEL:
.PHONY: help setup demo test test-long check format-check lint contracts types bench bench-causes samples screenshots format clean distclean

help:
	@sed -n 's/^#   *make /make /p' Makefile

$(RUN_READY): $(INSTALLED_FROM)
	@sh scripts/make_venv.sh $(VENV) "$(PYTHON)"
	@echo "Installing what bisect-debugger needs to run into $(VENV) (once; torch is large)"
	@$(INSTALL) --editable .
	@touch $@

# The development tools come on top of what is needed to run, so both stamps hold afterwards.
$(DEV_READY): $(INSTALLED_FROM)
	@sh scripts/make_venv.sh $(VENV) "$(PYTHON)"
	@echo "Installing bisect-debugger with its development tools into $(VENV) (once; torch is large)"
	@$(INSTALL) --editable ".[dev,integration]"
	@touch $(RUN_READY) $@

setup: $(DEV_READY)

demo: $(RUN_READY)
	@$(BIN)/bisect-debugger demo

test: $(DEV_READY)
	$(BIN)/python -m pytest -n $(WORKERS) $(PYTEST_ARGS)

test-long: $(DEV_READY)
	$(BIN)/python -m pytest -n $(WORKERS) -m "long or not long" $(PYTEST_ARGS)

check: format-check lint contracts types test

format-check: $(DEV_READY)
	$(BIN)/ruff format --check .

lint: $(DEV_READY)
	$(BIN)/ruff check .

contracts: $(DEV_READY)
	$(BIN)/lint-imports --no-logo

types: $(DEV_READY)
	$(BIN)/mypy $(CHECKED)

bench: $(RUN_READY)
	@ls benchmarks/bench_*.py >/dev/null 2>&1 || { echo "make: no benchmarks in this checkout." >&2; exit 1; }
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python "$$script" || exit 1; done

bench-causes: $(DEV_READY)
	$(BIN)/python -m tests.causes --jobs $(WORKERS) $(CAUSES_ARGS)

samples: $(RUN_READY)
	$(BIN)/python -m sample_runs.regenerate

screenshots: $(RUN_READY)
	$(BIN)/python -m sample_runs.screenshots

format: $(DEV_READY)
	$(BIN)/ruff check --fix-only --exit-zero .
	$(BIN)/ruff format .

clean:
	rm -rf build dist .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -path ./$(VENV) -prune -o -type d -name __pycache__ -exec rm -rf {} +

distclean: clean
	rm -rf $(VENV)
