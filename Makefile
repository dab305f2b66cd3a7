# Coz, a causal profiler for Linux. `make help` lists the targets. All output goes to build/.
#
# This file says what can be built. How it is built is in make/, one file for each concern.

BUILD   := build
PREFIX  ?= /usr/local
DESTDIR ?=
PYTHON  ?= python3
VERSION := $(shell sed -n 's/^__version__[^"]*"\([^"]*\)".*/\1/p' cozcli/__init__.py)

# The user's flags. The flags that the sources need are added to them.
CXXFLAGS ?= -O2 -g
CFLAGS   ?= -O2 -g
LDFLAGS  ?=

# Arguments for the programs that targets run.
PYTEST ?=
BENCH  ?=
CASE   ?=
REAL   ?=
AMP    ?=
OVERHEAD ?=
DOUBLING ?=
DEMO_TWO_THREADS ?= 120
DEMO_SQLITE      ?= 180
FUZZ_SECONDS     ?= 600
SOAK_SECONDS     ?= 3600
SURVIVAL_ROUNDS  ?= 30
TRANSPARENCY_ROUNDS ?= $(SURVIVAL_ROUNDS)

# One job per processor, unless the command line or a calling make says otherwise.
ifeq (0,$(MAKELEVEL))
ifeq (,$(filter -j% --jobserver%,$(MAKEFLAGS)))
MAKEFLAGS += -j$(shell nproc)
endif
endif
MAKEFLAGS += --no-print-directory

.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all
.PHONY: all native help clean dependencies

##@ Build
all: native $(BUILD)/venv/.installed  ## build everything; build/bin/coz then works from here
	@$(if $(filter 0,$(MAKELEVEL)),echo "$(BUILD)/bin/coz is ready",:)

native: $(BUILD)/lib/libcoz.so $(BUILD)/lib/libcoz-heap.so $(BUILD)/lib/libcoz-layout.so $(BUILD)/libexec/coz-linetable $(BUILD)/bin/coz $(BUILD)/bin/cargo-coz ## build all but the Python environment

dependencies:                         ## install the packages that building and testing need, by apt
	@scripts/install_dependencies.sh

clean:                                ## remove build/
	rm -rf $(BUILD)

# Each line `target: ## text` below a line `##@ Group` is shown.
help:                                 ## list the targets
	@echo "make [TARGET] [VARIABLE=...]"
	@awk -F':.*## ' '/^##@ /{if ($$0 != last) printf "\n%s\n", substr($$0, 5); last = $$0} \
	  /^[a-z][a-z0-9-]*:.*## /{printf "  %-22s %s\n", $$1, $$2}' $(MAKEFILE_LIST)
	@echo
	@echo "Variables"
	@echo "  PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)   where install puts things"
	@echo "  CXX=$(CXX) CXXFLAGS='$(CXXFLAGS)' PYTHON=$(PYTHON) V=1 to show commands"
	@echo "  PYTEST='-k report -x'     arguments for pytest in check, test and test-long"
	@echo "  DEMO_TWO_THREADS=$(DEMO_TWO_THREADS) DEMO_SQLITE=$(DEMO_SQLITE)   seconds for which the demo profiles each program;"
	@echo "                            below 60, most results are marked \"few data\""
	@echo "  BENCH='--seconds 60 --coz /usr/bin/coz serial pipeline'   arguments for bench-accuracy"
	@echo "  OVERHEAD='--only startup --rows 5000000'                  arguments for bench-overhead"
	@echo "  DOUBLING='pbzip2 zstd/checksum'                           cases for bench-doubling"
	@echo "  CASE='--only report --only measure'                       arguments for case-study-NAME"
	@echo "  FUZZ_SECONDS=$(FUZZ_SECONDS) SOAK_SECONDS=$(SOAK_SECONDS) TRANSPARENCY_ROUNDS=$(TRANSPARENCY_ROUNDS) REAL='sqlite redis'"

include make/compile.mk   # compilers, flags, the rules for objects, compile_commands.json
include make/build.mk     # libcoz.so, coz-linetable, coz and its Python environment
include make/tests.mk     # unit tests, Python tests and their tiers, sanitizers
include make/fuzz.mk      # damaged profiles, line tables and programs
include make/aarch64.mk   # the build for another architecture
include make/lint.mk      # style, types, warnings, architecture; formatting
include make/viewer.mk    # the page of `coz view`
include make/examples.mk  # example programs, demo, case studies
include make/bench.mk     # measurements of accuracy and overhead
include make/install.mk   # installation and shell completions
include make/packages.mk  # source archive, Debian packages, wheel
