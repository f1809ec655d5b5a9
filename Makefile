# A fresh machine needs Python 3.11, pip, make and a C compiler. `make evaluate` and `make test` do all the rest.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Where torch comes from. Set TORCH_INDEX=https://download.pytorch.org/whl/cpu if your package index offers CUDA builds only.
TORCH_INDEX ?=
TORCH_OPTIONS := $(if $(TORCH_INDEX),--index-url $(TORCH_INDEX),)
PRESET ?=
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help install models evaluate test lint types smoke task1 task2 task3 benchmarks clean

help:  ## show this list
	@grep -E '^[a-z0-9]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(VENV)/runtime: requirements-cpu.txt
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, this is " + sys.version)'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH_OPTIONS) torch==2.13.0
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-cpu.txt
	@touch $@

$(VENV)/development: $(VENV)/runtime requirements-dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

install: $(VENV)/runtime  ## make the virtual environment for CPU machines

models: install  ## fetch the small models of the cpu preset (once, about 0.8 GB)
	$(BIN)/python -m models.fetch cpu

evaluate: models  ## answer the shipped sample with real models and a knowledge graph; print the CRAG metrics
	$(BIN)/python local_evaluation.py --preset cpu --dataset data/sample/questions.jsonl --mock-kg --output results/sample --overwrite $(ARGS)

test: $(VENV)/development  ## lint, types and the test suite, real small models included
	$(BIN)/python -m models.fetch tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/python -m pytest $(ARGS)

lint: $(VENV)/development  ## ruff and mypy alone
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

smoke: install  ## the whole pipeline without weights, with a fake language model: a minute
	$(BIN)/python local_evaluation.py --preset scripted --limit 4 --output results/smoke --overwrite

task1 task2 task3:  ## switch aicrowd.json and the active preset together (PRESET=... to choose)
	$(PYTHON) scripts/select_task.py $@ $(if $(PRESET),--preset $(PRESET),)

benchmarks: models  ## the figures of the README, measured here
	$(BIN)/python -m benchmarks.front_half --threads 1
	$(BIN)/python -m benchmarks.t4_plan
	$(BIN)/python -m benchmarks.judge_agreement

clean:  ## remove the virtual environment and results, keep fetched models
	rm -rf $(VENV) results .mypy_cache .ruff_cache .pytest_cache
