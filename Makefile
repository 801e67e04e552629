# Every target sets up what it needs on a bare Debian 12 machine with Rust and Python 3.11 or later, shows what it does, and is incremental.
#
#   make demo         example programs under Tierup beside plain Python
#   make test         the tests, Rust and Python; of what is generated a sample that changes by the day
#   make test-pythons the tests on every Python from 3.11 on: all on the newest, one of ten on the others
#   make test-debuggers what gdb and perf see of compiled code; asks for both
#   make test-ecosystem pandas, xarray, Arrow, Awkward and SciPy beside Tierup, in an environment of their own
#   make test-types   stubs and examples under mypy and pyright, both strict, in an environment of their own
#   make test-site    the site and a cell of a notebook in Chromium, at two widths; pictures in target/shots
#   make test-all     all of them, with LLVM and without: hours
#   make bench-quick  ratios to Numba in about a minute
#   make bench        every measurement; writes target/bench/report.html and report.json
#   make wheel        wheels for the Pythons that are here, with LLVM and without, tried out: target/wheels
#   make docs         the documentation as a site with a search, into target/docs
#   make setup        environments and the release extension, nothing else
#
# Where LLVM 22 is neither installed nor among the machine's packages, everything is built and tested without it and runs on tier 0, and the
# command says so at its end; `LLVM=0` asks for that, `LLVM=1` insists on LLVM.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.PHONY: demo test test-all test-types test-debuggers test-ecosystem test-site test-pythons test-newest test-rust test-python fuzz bench bench-quick docs wheel setup help clean-venvs

VENV := .venv
BENCH_VENV := .venv-bench
PY := $(VENV)/bin/python
SAY := @printf '\033[1m==\033[0m %s\n'

# What the extension is built from. `find` also sees files that make would not know of.
RUST_CRATES := core tier0-cranelift runtime pybind
ifndef LLVM
LLVM := $(if $(filter-out help,$(or $(MAKECMDGOALS),help)),$(shell scripts/setup.sh llvm),1)
# Only who did not ask for it is told that there is none.
SAY_WITHOUT_LLVM := $(if $(filter 0,$(LLVM)),@scripts/setup.sh without-llvm)
endif
# What is installed depends on what is wanted.
SYSTEM := target/.stamp-system-llvm$(LLVM)
EXT_SOURCES := Cargo.toml pyproject.toml $(shell find $(RUST_CRATES) -name '*.rs' -o -name 'Cargo.toml' -o -name 'build.rs' 2>/dev/null)

# One interpreter for every build, or PyO3 would be compiled again for each.
export PYO3_PYTHON := $(CURDIR)/$(PY)
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help:
	@sed -n 's/^#   //p' Makefile

$(SYSTEM): scripts/setup.sh
	@LLVM=$(LLVM) scripts/setup.sh system
	@mkdir -p target && touch $@

$(VENV)/.stamp-packages: requirements/test.txt $(SYSTEM)
	@scripts/setup.sh venv $(VENV) requirements/test.txt
	@touch $@

$(VENV)/.stamp-demo: requirements/demo.txt $(VENV)/.stamp-packages
	@scripts/setup.sh without-deps $(VENV) requirements/demo.txt
	@touch $@

$(BENCH_VENV)/.stamp-packages: requirements/bench.txt $(SYSTEM)
	@scripts/setup.sh venv $(BENCH_VENV) requirements/bench.txt
	@touch $@

# Without it the tests that assemble PTX are skipped.
$(VENV)/.stamp-gpu: requirements/gpu.txt $(VENV)/.stamp-packages
	@scripts/setup.sh without-deps $(VENV) requirements/gpu.txt || echo 'setup: no ptxas: its tests will be skipped'
	@touch $@

# Without it the tests of notebooks are skipped.
$(VENV)/.stamp-notebooks: requirements/notebooks.txt $(VENV)/.stamp-packages
	@scripts/setup.sh without-deps $(VENV) requirements/notebooks.txt || echo 'setup: no IPython: its tests will be skipped'
	@touch $@

$(VENV)/.stamp-docs: requirements/docs.txt $(VENV)/.stamp-packages
	@scripts/setup.sh without-deps $(VENV) requirements/docs.txt
	@touch $@

# LLVM is a library of its own beside the extension.
TIER1 := pybind/python/tierup/libtierup_tier1.so
TIER1_SOURCES := Cargo.toml $(shell find core tier1-llvm -name '*.rs' -o -name 'Cargo.toml' 2>/dev/null)
ifeq ($(LLVM),0)
TIER1_WANTED :=
CARGO_FEATURES := --no-default-features
else
TIER1_WANTED := $(TIER1)
CARGO_FEATURES :=
endif

$(TIER1): $(SYSTEM) $(TIER1_SOURCES)
	$(SAY) 'LLVM library'
	@cargo build --release -p tierup-tier1-library
	@cp target/release/libtierup_tier1_library.so $@

# Prerequisites are expanded where they stand, so this comes behind the variable.
setup: $(VENV)/.stamp-ext $(TIER1_WANTED)

.PHONY: without-llvm
without-llvm:
	@[ "$(LLVM)" != 0 ] || rm -f $(TIER1)

$(VENV)/.stamp-ext: $(VENV)/.stamp-packages $(EXT_SOURCES)
	$(SAY) 'extension: release build into $(VENV) (the first one takes some minutes)'
	@VIRTUAL_ENV=$(CURDIR)/$(VENV) $(VENV)/bin/maturin develop --release
	@$(PY) -m compileall -q pybind/python/tierup  # as pip does; some environments forbid Python to keep what it compiles
	@touch $@

demo: without-llvm $(VENV)/.stamp-ext $(VENV)/.stamp-demo $(TIER1_WANTED)
	$(SAY) 'examples'
	@$(PY) examples/run.py
	$(SAY_WITHOUT_LLVM)

test: test-rust test-python
	$(SAY_WITHOUT_LLVM)

test-all: export TIERUP_TESTS := all
test-all: test
	@$(if $(filter 1,$(LLVM)),$(MAKE) test LLVM=0)

# One test of so many, and of the Rust tests those of crates that differ: for a second run of the same code, such as `make test LLVM=0 SHARE=5`.
SHARE ?= 1
export TIERUP_TEST_SHARE := $(SHARE)
RUST_TESTED := $(if $(filter 1,$(SHARE)),--workspace,-p tierup-tests)
# Processes that run Python tests.
JOBS ?= $(shell nproc)

test-rust: $(VENV)/.stamp-packages
	$(SAY) 'Rust tests'
	@cargo test $(RUST_TESTED) $(CARGO_FEATURES)
	@if [ $(SHARE) = 1 ] && cargo clippy --version > /dev/null 2>&1; then cargo clippy -q --workspace --all-targets $(CARGO_FEATURES) -- -A clippy::all; fi

test-python: without-llvm $(VENV)/.stamp-ext $(VENV)/.stamp-notebooks $(TIER1_WANTED) $(if $(TIER1_WANTED),$(VENV)/.stamp-gpu)
	$(SAY) 'Python tests'
	@$(PY) -m pytest -n $(JOBS) --dist worksteal

# What the machine lacks comes from a later Debian into target/pythons.
test-pythons: $(VENV)/.stamp-packages $(TIER1_WANTED)
	@JOBS=$(JOBS) scripts/pythons.sh all

# On the newest Python that the machine has anyway.
test-newest: $(VENV)/.stamp-packages $(TIER1_WANTED)
	@JOBS=$(JOBS) scripts/pythons.sh newest $(SHARE)

# gdb and perf are the machine's own.
test-debuggers: $(VENV)/.stamp-ext $(TIER1_WANTED)
	@$(PY) tests/real/debuggers.py

test-ecosystem: $(VENV)/.stamp-ext $(TIER1_WANTED)
	@$(PY) tests/real/ecosystem.py

test-types: $(VENV)/.stamp-packages
	@$(PY) tests/real/checkers.py

test-site: docs $(VENV)/.stamp-ext $(VENV)/.stamp-notebooks $(TIER1_WANTED)
	@$(PY) tests/real/site.py target/docs target/shots

# A long differential run, by hand: make fuzz FOR=3600 SEED=1; of another kind: KIND=identity, prange, ssa or stencil
FOR ?= 60
SEED ?= 0
KIND ?= python
fuzz: $(VENV)/.stamp-ext $(TIER1_WANTED)
	@$(PY) tests/fuzz/$(KIND)_fuzz.py --seconds $(FOR) --seed $(SEED)

bench-quick: $(VENV)/.stamp-ext $(TIER1_WANTED) $(VENV)/.stamp-demo $(BENCH_VENV)/.stamp-packages
	$(SAY) 'quick benchmarks, both sides in turn'
	@$(PY) benches/harness.py --quick

bench: $(VENV)/.stamp-ext $(TIER1_WANTED) $(VENV)/.stamp-demo $(BENCH_VENV)/.stamp-packages
	$(SAY) 'all benchmarks, both sides in turn'
	@$(PY) benches/harness.py

# VERSIONS="3.11 3.13" makes those of two versions.
wheel: $(VENV)/.stamp-packages $(TIER1_WANTED)
	@scripts/wheels.sh $(VERSIONS)

# A link that leads nowhere is an error.
docs: $(VENV)/.stamp-docs
	$(SAY) 'documentation into target/docs'
	@$(PY) -m sphinx -q -W --keep-going -d target/docs-read -c scripts/site . target/docs
	@cargo doc --workspace --no-deps --quiet --target-dir target
