# `make demo` and `make test` set themselves up; all they need is Python 3.11+ and make.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready

.PHONY: help demo test check format bench clean

help:  ## say what can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

$(STAMP): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "MoVE needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	@touch $@

demo: $(STAMP)  ## three vehicles for a minute, recorded
	$(BIN)/mve run configs/three_vehicles.toml

test: check  ## lint, types and all tests
	$(BIN)/python -m pytest

check: $(STAMP)  ## lint, format and types only
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(STAMP)  ## put the code into the agreed form
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(STAMP)  ## speed and memory, the short set
	$(BIN)/python -m bench

clean:  ## remove the environment and what tools left behind
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache build *.egg-info
