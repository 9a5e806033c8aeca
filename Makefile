# `make test` is all a new machine needs: it makes .venv, installs, checks and tests.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: setup test lint demo clean

setup: $(READY)

# Rebuilt only when what is installed changes; otherwise `make setup` has nothing to do.
$(READY): pyproject.toml constraints.txt
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

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
