# Verbs only: each calls Meson or a script in tools/. "make help" lists them.

ONLY ?=
JSON ?=
REV ?=
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
PYTHON := $(firstword $(wildcard /usr/bin/python3) python3)
export PYTHON FUZZ_SECONDS

all: ## build/prony and the library beside it
	@tools/deps build extra
	@tools/build build -Dtests=false

demo: all ## build, then run the main job
	@build/prony demo

check: ## build and test, in at most 8 minutes; ends with the counts
	@tools/deps build extra check
	@$(PYTHON) tools/check

check-all: ## and sanitizers, lint, peers, fuzzing, long tests; an hour
	@tools/deps build extra check fuzz
	@$(PYTHON) tools/check all

check-distros: ## demo and check in bare Debian 12, 13, Ubuntu 24.04; needs root
	@tools/deps distros
	@$(PYTHON) tools/check-distros

check-models: all ## every model: the native engine against PyTorch
	@PRONY=build/prony $(PYTHON) tests/peers/native_vs_torch.py --all

install: ## PREFIX=/usr/local DESTDIR=
	@tools/deps build extra
	@tools/install "$(PREFIX)" "$(DESTDIR)"

san: ## tests under the address and undefined-behaviour sanitizers
	@tools/deps build extra check
	@$(PYTHON) tools/check sanitizers

tsan: ## tests under the thread sanitizer
	@tools/deps build extra check
	@$(PYTHON) tools/check threads

fuzz: ## each fuzz target for FUZZ_SECONDS=60
	@tools/deps build extra fuzz
	@tools/fuzz "$(FUZZ_SECONDS)"

cov: ## line coverage of the tests
	@tools/deps build extra check cov
	@tools/cov

lint: ## formatting and static analysis
	@tools/deps build extra check
	@$(PYTHON) tools/check lint

format: ## lay out all C files as .clang-format says
	@git ls-files -co --exclude-standard '*.c' '*.h' | xargs clang-format -i

docs: all ## regenerate man pages, completions, schema and reference
	@tools/gen_docs build/prony .

bench: all ## the figures of bench/ against their peers; ONLY=emulate,read JSON=file
	@tools/deps bench
	@$(PYTHON) bench/run.py --only "$(ONLY)" --json "$(JSON)"

bench-record: all ## the same, written to bench/RESULTS.md
	@tools/deps bench
	@$(PYTHON) bench/run.py --record

bench-against: all ## this program against an older one: REV=commit ONLY=plan,run
	@$(PYTHON) bench/against.py --only "$(ONLY)" $(REV)

python: ## the Python package, in build/venv
	@tools/deps build extra
	@tools/python build

python-deps: ## what the Python parts need, in build/venv
	@tools/python deps

clean: ## everything that was built
	@rm -rf build build-check build-san build-min build-tsan build-fuzz build-cov \
		build-pysan build-bench

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /  make \1 - /p' Makefile

.PHONY: all demo check check-all check-distros check-models install san tsan fuzz cov lint format docs \
	bench bench-record bench-against python python-deps clean help
