# `make test` is all a new machine needs: it makes .venv, installs, checks and tests.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: setup test lint demo serve clean

setup: $(READY)

# Rebuilt only when what is installed changes; otherwise `make setup` has nothing to do.
$(READY): pyproject.toml setup.py constraints.txt $(wildcard src/mute/*.c src/mute/model/kernels/*.[ch])
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--constraint constraints.txt --editable '.[dev]'
	touch $@

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: lint
	$(BIN)/pytest

demo: setup
	$(BIN)/mute demo

serve: setup
	@test -f runs/demo/run/model/config.json || { \
		echo "There is no model yet: run 'make demo' first, it takes a few minutes." >&2; exit 2; }
	$(BIN)/mute serve runs/demo/run

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
