# Coz: a causal profiler for Linux. `make help` explains the targets. All output goes to build/.

BUILD   := build
PREFIX  ?= /usr/local
DESTDIR ?=
PYTHON  ?= python3
VERSION := $(shell sed -n 's/^__version__[^"]*"\([^"]*\)".*/\1/p' cozcli/__init__.py 2>/dev/null)

# To be set on the command line; what the sources need is added to it.
CXXFLAGS ?= -O2 -g
CFLAGS   ?= -O2 -g
LDFLAGS  ?=

# One job per processor unless told otherwise, on the command line or by a calling make, whose jobs a make
# below shares.
ifeq (0,$(MAKELEVEL))
ifeq (,$(filter -j% --jobserver%,$(MAKEFLAGS)))
MAKEFLAGS += -j$(shell nproc)
endif
endif
MAKEFLAGS += --no-print-directory

# One short line for each step; V=1 shows the commands.
Q := $(if $(V),,@)
show = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2))

.DELETE_ON_ERROR:
.SUFFIXES:
.DEFAULT_GOAL := all

comma := ,
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror
COMMON   := -std=c++20 -fno-omit-frame-pointer -Ilibcoz -I. -Iinclude $(WARNINGS) -MMD -MP

## ---------------------------------------------------------------------------------------------------
## Sources

LIBCOZ_SOURCES := $(sort $(shell find libcoz common -name '*.cpp' 2>/dev/null))
HELPER_SOURCES := $(sort $(shell find linetable common -name '*.cpp' 2>/dev/null)) \
                  libcoz/patch/instruction.cpp libcoz/patch/opcode_form.cpp libcoz/patch/jumped_over.cpp
TEST_SOURCES   := $(sort $(shell find tests/common tests/libcoz tests/linetable -name '*.cpp' 2>/dev/null))
# The model: part of the unit tests, but for the sanitizers, which do not follow fibers; and a program.
ORACLE_SOURCES := $(sort $(filter-out tests/oracle/main.cpp %_test.cpp, $(wildcard tests/oracle/*.cpp)))
ORACLE_TESTS   := $(sort $(wildcard tests/oracle/*_test.cpp))
# What the unit tests are linked with: everything that does not take over the process it is loaded into.
TAKES_OVER     := libcoz/interpose/% libcoz/lifecycle/runtime%.cpp libcoz/lifecycle/forked_start.cpp libcoz/lifecycle/last_thread.cpp libcoz/lifecycle/thread_lifecycle.cpp libcoz/kernel/real.cpp \
                  $(addprefix libcoz/signals/,sample_signal.cpp signals.cpp signal_masks.cpp old_signals.cpp)
TESTED_SOURCES := $(filter-out $(TAKES_OVER) linetable/main.cpp, $(sort $(LIBCOZ_SOURCES) $(HELPER_SOURCES)))
HEADERS        := $(shell find common libcoz linetable include -name '*.h' 2>/dev/null)
FORMATTED      := $(LIBCOZ_SOURCES) $(HELPER_SOURCES) $(HEADERS) $(TEST_SOURCES) \
                  $(sort $(shell find examples tests benchmarks \( -name '*.c' -o -name '*.cpp' -o -name '*.h' \) 2>/dev/null))
FORMATTED      := $(sort $(FORMATTED))

LIBCOZ  := $(BUILD)/lib/libcoz.so
HELPER  := $(BUILD)/libexec/coz-linetable
COZ     := $(BUILD)/bin/coz
UNIT    := $(BUILD)/tests/unit_tests
ORACLE  := $(BUILD)/tests/oracle
VENV    := $(BUILD)/venv
RUNTIME_STAMP := $(VENV)/.installed
DEV_STAMP     := $(VENV)/.installed-dev
BIN     := $(VENV)/bin

.PHONY: foreign-helper all native help demo test unit-tests transparency survival oracle fuzz fuzz-targets aarch64 aarch64-compile lint format sanitize bench bench-accuracy bench-overhead bench-amp \
        bench-programs bench-programs-dwarf3 install clean dependencies examples example-redis \
        lint-format lint-tidy lint-python lint-header lint-shell

## ---------------------------------------------------------------------------------------------------
## all

all: native $(RUNTIME_STAMP)          ## build everything: build/bin/coz then works from here
	@$(if $(filter 0,$(MAKELEVEL)),echo "$(COZ) is ready",:)
native: $(LIBCOZ) $(HELPER) $(COZ)    ## build all but the Python environment

help:                                 ## explain the targets
	@echo "make [TARGET] [VARIABLE=...]"
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  %-16s %s\n", $$1, $$2}' Makefile
	@echo
	@echo "  PREFIX=$(PREFIX)  DESTDIR=$(DESTDIR)  where install puts things"
	@echo "  CXXFLAGS='$(CXXFLAGS)'  CXX=$(CXX)  PYTHON=$(PYTHON)"
	@echo "  DEMO_TWO_THREADS=$(DEMO_TWO_THREADS)  DEMO_SQLITE=$(DEMO_SQLITE)  seconds that the demo profiles each program;"
	@echo "                    below 60, most results are marked \"few data\""
	@echo "  OVERHEAD=''  arguments for bench-overhead, for example OVERHEAD='--only startup --rows 5000000'"
	@echo "  BENCH=''  arguments for bench-accuracy, for example BENCH='--seconds 60 --coz /usr/bin/coz serial pipeline'"
	@echo "  CASE=''      arguments for case-study-NAME, for example CASE='--only report --only measure'"
	@echo "  PYTEST=''  arguments for pytest, for example PYTEST='-k report -x'"

# --- libcoz.so: loaded into foreign programs, so it brings its own C++ runtime and exports only what it must.
LIBCOZ_FLAGS := $(COMMON) -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti -ftls-model=initial-exec
LIBCOZ_LIBS  ?=
LIBCOZ_MAP   := $(wildcard libcoz/libcoz.map)
LIBCOZ_LINK  := -shared -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,defs -Wl,-z,now \
                $(if $(LIBCOZ_MAP),-Wl$(comma)--version-script=$(LIBCOZ_MAP))
LIBCOZ_OBJECTS := $(LIBCOZ_SOURCES:%.cpp=$(BUILD)/obj/libcoz/%.o)

# What every visit by a jump does: vector registers are not saved around it.
ifneq (,$(findstring x86_64,$(shell $(CXX) -dumpmachine)))
$(BUILD)/obj/libcoz/libcoz/interpose/jump_visit.o: LIBCOZ_FLAGS += -mgeneral-regs-only
endif

$(LIBCOZ_OBJECTS): $(BUILD)/obj/libcoz/%.o: %.cpp Makefile
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(LIBCOZ_FLAGS) $(CXXFLAGS) -c $< -o $@

# Put in place by a rename: a running program may have the old one mapped.
$(LIBCOZ): $(LIBCOZ_OBJECTS) $(LIBCOZ_MAP)
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) $(LIBCOZ_LINK) -o $@.$$$$ $(LIBCOZ_OBJECTS) $(LIBCOZ_LIBS) -ldl -lpthread && \
	  mv -f $@.$$$$ $@

# --- coz-linetable: an ordinary program
HELPER_FLAGS   := $(COMMON) -DCOZ_VERSION='"$(VERSION)"'
HELPER_OBJECTS := $(HELPER_SOURCES:%.cpp=$(BUILD)/obj/helper/%.o)

$(HELPER_OBJECTS): $(BUILD)/obj/helper/%.o: %.cpp Makefile
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(HELPER_FLAGS) $(CXXFLAGS) -c $< -o $@

$(HELPER): $(HELPER_OBJECTS)
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $(HELPER_OBJECTS) -ldw -lelf -liberty -ldl

$(COZ): packaging/coz_checkout.sh
	@mkdir -p $(@D)
	@install -m 755 $< $@

$(RUNTIME_STAMP): requirements.txt scripts/make_venv.sh
	@echo "Python packages for coz -> $(VENV)"
	@PYTHON=$(PYTHON) scripts/make_venv.sh $(VENV) requirements.txt
	@touch $@

$(DEV_STAMP): requirements-dev.txt $(RUNTIME_STAMP)
	@echo "Python packages for tests and lint -> $(VENV)"
	@PYTHON=$(PYTHON) scripts/make_venv.sh $(VENV) requirements-dev.txt
	@touch $@

dependencies:                         ## install what is missing, by apt
	@scripts/install_dependencies.sh

## ---------------------------------------------------------------------------------------------------
## examples, demo

DEMO_TWO_THREADS ?= 120
DEMO_SQLITE      ?= 180
EXAMPLES := $(BUILD)/examples/two_threads $(BUILD)/examples/serial $(BUILD)/examples/queue \
            $(BUILD)/examples/producer_consumer
SQLITE_EXAMPLE := $(BUILD)/examples/sqlite_insert

examples: $(EXAMPLES)                 ## build the example programs (but for SQLite, which is fetched first)

$(BUILD)/examples/two_threads: examples/two_threads/two_threads.cpp include/coz.h
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) -std=c++17 -O2 -g -Iinclude -o $@ $< -lpthread
$(BUILD)/examples/serial: examples/serial/serial.cpp include/coz.h
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) -std=c++17 -O2 -g -Iinclude -o $@ $< -lpthread
$(BUILD)/examples/producer_consumer: examples/producer_consumer/producer_consumer.cpp include/coz.h
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) -std=c++17 -O2 -g -Iinclude -o $@ $< -lpthread
$(BUILD)/examples/redis_requests.so: examples/redis/requests.cpp include/coz.h
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) -std=c++17 -O2 -g -shared -fPIC -fvisibility=hidden -Iinclude -o $@ $< -lpthread -ldl
$(BUILD)/examples/queue: examples/c_program/queue.c include/coz.h
	@mkdir -p $(@D)
	$(call show,CC,$@)
	$(Q)$(CC) -std=gnu11 -O2 -g -Iinclude -o $@ $< -lpthread

AMALGAMATION := $(BUILD)/sqlite/sqlite3.c
$(AMALGAMATION): | examples/sqlite/fetch.sh
	@examples/sqlite/fetch.sh $(BUILD)/sqlite
$(SQLITE_EXAMPLE): examples/sqlite/insert.c $(AMALGAMATION) include/coz.h
	@mkdir -p $(@D)
	$(call show,CC,$@)
	$(Q)$(CC) -O2 -g -DSQLITE_OMIT_LOAD_EXTENSION -I$(BUILD)/sqlite -Iinclude -o $@ $< $(AMALGAMATION) -lpthread -lm

example-redis: all $(BUILD)/examples/redis_requests.so ## predicted against real capacity of Debian's redis-server (3 minutes)
	@examples/redis/capacity.sh $(BUILD)

demo: dependencies                    ## install what is missing, build, profile two programs, draw pictures
	@$(MAKE) all $(BUILD)/examples/two_threads $(SQLITE_EXAMPLE)
	@DEMO_TWO_THREADS=$(DEMO_TWO_THREADS) DEMO_SQLITE=$(DEMO_SQLITE) scripts/demo.sh $(BUILD)

# Each in examples/NAME/study.py; its results in docs/case_studies/NAME.md.
CASE ?=
CASE_STUDIES := $(sort $(patsubst examples/%/study.py,%,$(filter-out examples/case_studies/%, \
                  $(wildcard examples/*/study.py))))
.PHONY: case-studies $(CASE_STUDIES:%=case-study-%)
$(CASE_STUDIES:%=case-study-%): case-study-%: dependencies
	@$(MAKE) all
	@$(BIN)/python -X pycache_prefix=$(CURDIR)/$(BUILD)/pycache examples/case_studies/run.py $* $(CASE)
# One after another: each measures.
case-studies:                         ## repeat all case studies (case-study-NAME: one; docs/case_studies)
	@$(foreach study,$(CASE_STUDIES),$(MAKE) case-study-$(study) && ) true

## ---------------------------------------------------------------------------------------------------
## bench, bench-accuracy

BENCH ?=
BENCH_SOURCES  := $(sort $(wildcard benchmarks/programs/*.cpp))
BENCH_PROGRAMS := $(BENCH_SOURCES:benchmarks/programs/%.cpp=$(BUILD)/bench/programs/%)
# For tools that read no debug information newer than DWARF 3, and know only the marks of the classic header.
BENCH_DWARF3   := $(BENCH_SOURCES:benchmarks/programs/%.cpp=$(BUILD)/bench/programs-dwarf3/%)
BENCH_FLAGS    := -std=c++20 -O2 $(WARNINGS) -Iinclude -MMD -MP

bench: all $(BENCH_PROGRAMS)          ## predicted against true effects of three simple programs (10 minutes)
	@benchmarks/run

bench-accuracy: all $(BENCH_PROGRAMS) $(if $(findstring --coz,$(BENCH)),$(BENCH_DWARF3)) ## the same of all ground-truth programs (90 minutes)
	@$(BIN)/python -X pycache_prefix=$(CURDIR)/$(BUILD)/pycache benchmarks/accuracy.py $(BENCH)

bench-amp: all $(BUILD)/examples/producer_consumer ## real scalability beside what load amplification predicts (10 minutes)
	@$(BIN)/python benchmarks/amp.py $(AMP)

bench-programs: $(BENCH_PROGRAMS)     ## build the ground-truth programs only
bench-programs-dwarf3: $(BENCH_DWARF3)

$(BENCH_PROGRAMS): $(BUILD)/bench/programs/%: benchmarks/programs/%.cpp Makefile
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(BENCH_FLAGS) -g -o $@ $< -lpthread

$(BENCH_DWARF3): $(BUILD)/bench/programs-dwarf3/%: benchmarks/programs/%.cpp Makefile
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(BENCH_FLAGS) -gdwarf-3 -gstrict-dwarf -DGROUND_TRUTH_CLASSIC_MARKS -Itests/programs -o $@ $< -lpthread

-include $(BENCH_PROGRAMS:=.d) $(BENCH_DWARF3:=.d)

OVERHEAD_PROGRAMS := $(patsubst benchmarks/overhead/%.cpp,$(BUILD)/bench/%,$(wildcard benchmarks/overhead/*.cpp))
$(OVERHEAD_PROGRAMS): $(BUILD)/bench/%: benchmarks/overhead/%.cpp include/coz.h
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) -std=c++20 -O2 -g $(WARNINGS) -Iinclude -o $@ $< -lpthread

OVERHEAD ?=
bench-overhead: all $(OVERHEAD_PROGRAMS) ## measure what profiling costs: programs, start-up, threads, visits
	@$(BIN)/python benchmarks/overhead.py $(OVERHEAD)

## ---------------------------------------------------------------------------------------------------
## test, sanitize

# Catch2 v3 (Debian 13) has other headers than v2, and a library; tests are written for v2.
CATCH3      := $(wildcard /usr/include/catch2/catch_all.hpp /usr/local/include/catch2/catch_all.hpp)
CATCH_FLAGS := $(if $(CATCH3),-isystem tests/compat_catch3)
CATCH_LIBS  := $(if $(CATCH3),-lCatch2Main -lCatch2)
TEST_FLAGS  := $(COMMON) $(CATCH_FLAGS)

# What takes Catch2's header compiled beforehand, a third of the time of most tests: all but what has its main().
WITH_CATCH  := $(filter-out tests/libcoz/main.cpp,$(TEST_SOURCES))

# $(call unit_tests,NAME,FLAGS,PROGRAM,MORE SOURCES)
define unit_tests
$(1)_OBJECTS := $$(patsubst %.cpp,$$(BUILD)/obj/$(1)/%.o,$$(sort $$(TEST_SOURCES) $$(TESTED_SOURCES) $(4)))
$(1)_CATCH   := $$(BUILD)/obj/$(1)/catch_compiled.h
$$($(1)_CATCH).gch: Makefile
	@mkdir -p $$(@D)
	@echo '#include <catch2/catch.hpp>' > $$(@:.gch=)
	$$(call show,CXX,$$@)
	$$(Q)$$(CXX) $$(TEST_FLAGS) $(2) -x c++-header $$(@:.gch=) -o $$@
$$(patsubst %.cpp,$$(BUILD)/obj/$(1)/%.o,$$(WITH_CATCH)): $$($(1)_CATCH).gch
$$($(1)_OBJECTS): $$(BUILD)/obj/$(1)/%.o: %.cpp Makefile
	@mkdir -p $$(@D)
	$$(call show,CXX,$$@)
	$$(Q)$$(CXX) $$(TEST_FLAGS) $(2) $$(if $$(filter $$(WITH_CATCH),$$<),-include $$($(1)_CATCH)) -c $$< -o $$@
$(3): $$($(1)_OBJECTS)
	@mkdir -p $$(@D)
	$$(call show,CXX,$$@)
	$$(Q)$$(CXX) $(2) $$(LDFLAGS) -o $$@ $$($(1)_OBJECTS) $$(CATCH_LIBS) $$(LIBCOZ_LIBS) -ldw -lelf -liberty -ldl -lpthread
-include $$($(1)_OBJECTS:.o=.d)
endef
$(eval $(call unit_tests,unit,-O1 -g,$(UNIT),$(ORACLE_SOURCES) $(ORACLE_TESTS)))
# gcc 12 takes parts of std::regex for uninitialised when it adds checks to them.
$(eval $(call unit_tests,asan,-O1 -g -Wno-maybe-uninitialized -fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined,$(BUILD)/tests/unit_tests_asan))
$(eval $(call unit_tests,tsan,-O1 -g -Wno-maybe-uninitialized -Wno-tsan -fsanitize=thread,$(BUILD)/tests/unit_tests_tsan))

unit-tests: $(UNIT)                   ## build and run the C++ unit tests only
	$(UNIT)

# Of the objects of the unit tests, as many as it needs.
ORACLE_OBJECTS := $(patsubst %.cpp,$(BUILD)/obj/unit/%.o,$(ORACLE_SOURCES) libcoz/delay/thread_delays.cpp)
ORACLE_MAIN    := $(BUILD)/obj/oracle/main.o
$(ORACLE_MAIN): tests/oracle/main.cpp Makefile
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(TEST_FLAGS) -O1 -g -c $< -o $@
$(ORACLE): $(ORACLE_OBJECTS) $(ORACLE_MAIN)
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $^
-include $(ORACLE_MAIN:.o=.d)

oracle: $(ORACLE)                     ## run the model: predicted beside true effects, for our rules and the classic ones
	$(ORACLE)

PYTEST ?=
PYTEST_RUN := PYTHONPYCACHEPREFIX=$(CURDIR)/$(BUILD)/pycache \
              HYPOTHESIS_STORAGE_DIRECTORY=$(CURDIR)/$(BUILD)/hypothesis \
              $(BIN)/python -m pytest -o cache_dir=$(CURDIR)/$(BUILD)/pytest_cache
# Those that need no processor for themselves, side by side; then the others.
PYTEST_FOLDERS := $(wildcard tests/cozcli tests/lint tests/viewer tests/benchmarks)
PYTEST_ALONE   := $(wildcard tests/examples tests/fuzz tests/system tests/transparency)

test: dependencies                    ## install what is missing, build, run all tests
	@$(MAKE) all $(UNIT) $(DEV_STAMP) bench-programs
	$(UNIT)
	@# Status 5: PYTEST selects none of them.
	$(PYTEST_RUN) -n auto $(PYTEST_FOLDERS) $(PYTEST) || [ $$? -eq 5 ]
	$(PYTEST_RUN) $(PYTEST_ALONE) $(PYTEST) || [ $$? -eq 5 ]

REAL ?=
SOAK_SECONDS ?= 3600
.PHONY: real-programs soak
real-programs: all                    ## test suites of real programs, plain and under coz run (REAL='sqlite redis' for some; an hour)
	@$(BIN)/python -X pycache_prefix=$(CURDIR)/$(BUILD)/pycache tests/real_programs/run.py $(REAL)

soak: all                             ## memory and speed of a server over time under experiments (SOAK_SECONDS=3600)
	@$(BIN)/python -X pycache_prefix=$(CURDIR)/$(BUILD)/pycache tests/soak/soak.py $(SOAK_SECONDS)

SURVIVAL_ROUNDS ?= 30
TRANSPARENCY_ROUNDS ?= $(SURVIVAL_ROUNDS)
transparency: native $(DEV_STAMP)     ## programs that must not notice the profiler, many times, in all sampling modes
	COZ_TRANSPARENCY_ROUNDS=$(TRANSPARENCY_ROUNDS) $(PYTEST_RUN) tests/transparency $(PYTEST)

survival: transparency                # the name that it had before

sanitize: $(BUILD)/tests/unit_tests_asan $(BUILD)/tests/unit_tests_tsan ## run the unit tests under ASan, UBSan and TSan
	$(BUILD)/tests/unit_tests_asan
	@# gcc 12's TSan does not know the kernel's newer address layouts: no randomisation.
	setarch -R $(BUILD)/tests/unit_tests_tsan "[threads]"

## ---------------------------------------------------------------------------------------------------
## fuzz: any bytes as a profile, a line table, a program, an unwind table (tests/fuzz/README.md). By libFuzzer where clang is there,
## whose coverage finds more; else, as in `make test`, by a small driver of our own, built with gcc.

FUZZ_SECONDS  ?= 600
FUZZ_COMMON   := $(filter-out -MMD -MP,$(COMMON)) -O1 -g -Wno-maybe-uninitialized
FUZZ_CHECKS   := -fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined
FUZZ_SOURCES  := $(filter-out linetable/main.cpp,$(HELPER_SOURCES)) $(addprefix libcoz/unwind/,expression.cpp frame_description.cpp \
                   frame_rules.cpp checked_memory.cpp)
FUZZ_TARGETS  := line_table debug_info unwind_table
FUZZ_DRIVEN   := $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%_driven)
FUZZ_GUIDED   := $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%_guided)
# clang++, if its fuzzer is there: Debian's clang comes without.
FUZZ_CLANG    := $(shell command -v clang++ >/dev/null && \
                   ls $$(clang++ -print-resource-dir)/lib/*/libclang_rt.fuzzer*.a >/dev/null 2>&1 && command -v clang++)
FUZZ_OBJECTS  := $(FUZZ_SOURCES:%.cpp=$(BUILD)/obj/fuzz/%.o)
GUIDED_OBJECTS := $(FUZZ_SOURCES:%.cpp=$(BUILD)/obj/fuzz_clang/%.o)

$(FUZZ_OBJECTS) $(FUZZ_TARGETS:%=$(BUILD)/obj/fuzz/tests/fuzz/%_target.o) $(BUILD)/obj/fuzz/tests/fuzz/driver.o: \
    $(BUILD)/obj/fuzz/%.o: %.cpp Makefile
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(FUZZ_COMMON) $(FUZZ_CHECKS) -MMD -MP -c $< -o $@
$(FUZZ_DRIVEN): $(BUILD)/fuzz/%_driven: $(FUZZ_OBJECTS) $(BUILD)/obj/fuzz/tests/fuzz/%_target.o $(BUILD)/obj/fuzz/tests/fuzz/driver.o
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(FUZZ_CHECKS) $(LDFLAGS) -o $@ $^ -ldw -lelf -liberty -ldl

$(GUIDED_OBJECTS) $(FUZZ_TARGETS:%=$(BUILD)/obj/fuzz_clang/tests/fuzz/%_target.o): $(BUILD)/obj/fuzz_clang/%.o: %.cpp Makefile
	@mkdir -p $(@D)
	$(call show,CLANG,$@)
	$(Q)$(FUZZ_CLANG) $(filter-out -Wno-maybe-uninitialized -Werror,$(FUZZ_COMMON)) $(FUZZ_CHECKS) -fsanitize=fuzzer-no-link -MMD -MP -c $< -o $@
$(FUZZ_GUIDED): $(BUILD)/fuzz/%_guided: $(GUIDED_OBJECTS) $(BUILD)/obj/fuzz_clang/tests/fuzz/%_target.o
	@mkdir -p $(@D)
	$(call show,CLANG,$@)
	$(Q)$(FUZZ_CLANG) $(FUZZ_CHECKS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ -ldw -lelf -liberty -ldl

-include $(FUZZ_OBJECTS:.o=.d) $(GUIDED_OBJECTS:.o=.d)

fuzz-targets: $(FUZZ_DRIVEN)          # what `make test` runs for a few seconds
fuzz: $(if $(FUZZ_CLANG),$(FUZZ_GUIDED),$(FUZZ_DRIVEN)) $(DEV_STAMP) ## damaged profiles, line tables and programs for FUZZ_SECONDS (600) each
	$(BIN)/python tests/fuzz/all_targets.py --seconds $(FUZZ_SECONDS)

## ---------------------------------------------------------------------------------------------------
## aarch64, by a cross compiler (docs/decisions/architectures.md): libcoz.so is compiled and linked, the helper compiled
## (libdw for that machine would be needed to link it), and the unit tests of libcoz run by qemu where that is there.

AARCH64      := $(BUILD)/aarch64
AARCH64_CXX  ?= aarch64-linux-gnu-g++
AARCH64_ROOT ?= /usr/aarch64-linux-gnu
AARCH64_FLAGS ?= -O2 -g
AARCH64_MAKE  = $(MAKE) BUILD=$(AARCH64) CXX=$(AARCH64_CXX) CXXFLAGS='$(AARCH64_FLAGS) -isystem $(AARCH64)/include' CATCH3=

aarch64-compile: $(AARCH64)/include/.copied
	+@$(AARCH64_MAKE) $(AARCH64)/lib/libcoz.so foreign-helper

aarch64: aarch64-compile   ## build for aarch64 by g++-aarch64-linux-gnu; run unit tests by qemu-aarch64
	+@if command -v qemu-aarch64 >/dev/null; then $(AARCH64_MAKE) $(AARCH64)/tests/foreign_tests && \
	  qemu-aarch64 -L $(AARCH64_ROOT) $(AARCH64)/tests/foreign_tests "~[native]"; \
	  else echo "qemu-aarch64 (qemu-user) is not there: the unit tests were not run"; fi

# Headers that are the same for every machine; those of libc beside them are not.
$(AARCH64)/include/.copied:
	@command -v $(AARCH64_CXX) >/dev/null || \
	  { echo "$(AARCH64_CXX) is missing. On Debian: scripts/install_dependencies.sh aarch64" >&2; exit 1; }
	@mkdir -p $(@D)
	@cd /usr/include && cp -r elfutils libelf.h gelf.h dwarf.h libiberty catch2 $(CURDIR)/$(@D)
	@touch $@

foreign-helper: $(HELPER_OBJECTS)
# Without what reads debug information.
FOREIGN_SOURCES := $(filter-out $(TAKES_OVER),$(LIBCOZ_SOURCES)) \
                   $(filter tests/libcoz/% tests/common/%,$(TEST_SOURCES)) linetable/table/table_builder.cpp linetable/table/table_file.cpp \
                   tests/linetable/compiled_program.cpp linetable/dwarf/source_path.cpp
FOREIGN_OBJECTS := $(FOREIGN_SOURCES:%.cpp=$(BUILD)/obj/foreign/%.o)
$(FOREIGN_OBJECTS): $(BUILD)/obj/foreign/%.o: %.cpp Makefile
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(COMMON) $(CXXFLAGS) -O1 -g0 -c $< -o $@
$(BUILD)/tests/foreign_tests: $(FOREIGN_OBJECTS)
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) -o $@ $^ -ldl -lpthread

## ---------------------------------------------------------------------------------------------------
## lint, format

lint: lint-format lint-tidy lint-python lint-header lint-shell ## check style, types and warnings
	@echo "lint: no findings"

lint-format: $(DEV_STAMP)
	@$(BIN)/clang-format --dry-run --Werror $(FORMATTED)

# One stamp per source: only what has changed is looked at again.
TIDY_SOURCES := $(sort $(LIBCOZ_SOURCES) $(HELPER_SOURCES))
TIDY_STAMPS  := $(TIDY_SOURCES:%=$(BUILD)/tidy/%.ok)
$(TIDY_STAMPS): $(BUILD)/tidy/%.ok: % $(HEADERS) .clang-tidy | $(DEV_STAMP)
	@mkdir -p $(@D)
	@echo "clang-tidy $<"
	@$(BIN)/clang-tidy --quiet $< -- -std=c++20 -Ilibcoz -I. -Iinclude -Wall -Wextra -Wno-deprecated-declarations \
	  -Wfunction-effects -Xclang -analyzer-config -Xclang max-nodes=30000 \
	  2>$@.log || { cat $@.log >&2; exit 1; }
	@touch $@
lint-tidy: $(TIDY_STAMPS)

PYTHON_CODE := cozcli $(wildcard tests benchmarks examples) scripts/make_completions.py
lint-python: $(DEV_STAMP)
	@$(BIN)/ruff check --quiet --cache-dir $(BUILD)/ruff_cache $(PYTHON_CODE)
	@$(BIN)/ruff format --quiet --check --cache-dir $(BUILD)/ruff_cache $(PYTHON_CODE)
	@$(BIN)/mypy --strict --no-error-summary --cache-dir $(BUILD)/mypy_cache cozcli
	@MYPYPATH=benchmarks $(BIN)/mypy --strict --no-error-summary --cache-dir $(BUILD)/mypy_cache \
	  benchmarks/accuracy.py benchmarks/ground_truth

lint-header:
	@scripts/check_header.sh

SHELL_SCRIPTS := $(wildcard scripts/*.sh packaging/*.sh examples/*/*.sh) .ci/run
lint-shell:
	@for script in $(SHELL_SCRIPTS); do bash -n $$script || exit 1; done

format: $(DEV_STAMP)                  ## put all code into its standard form
	@$(BIN)/clang-format -i $(FORMATTED)
	@$(BIN)/ruff check --quiet --fix --cache-dir $(BUILD)/ruff_cache $(PYTHON_CODE) || true
	@$(BIN)/ruff format --quiet --cache-dir $(BUILD)/ruff_cache $(PYTHON_CODE)

## ---------------------------------------------------------------------------------------------------
## viewer: the page of coz view (docs/decisions/viewer.md). Its template is committed, so that only those who change
## viewer/ need Node (18.18 or newer) and npm. They work on a copy: packages stay out of the sources.

VIEWER          := $(BUILD)/viewer
VIEWER_SOURCES  := $(sort $(shell find viewer -type f 2>/dev/null))
VIEWER_TEMPLATE := cozcli/reports/page_template.html
VIEWER_COPY     := $(VIEWER)/.copied
NPM             := npm --no-fund --no-audit --no-update-notifier

.PHONY: viewer test-viewer format-viewer
viewer: $(VIEWER)/page.html           ## build the page of coz view anew (needs Node and npm)
	@cp $< $(VIEWER_TEMPLATE)

$(VIEWER)/.installed: viewer/package.json viewer/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing. On Debian: scripts/install_dependencies.sh viewer" >&2; exit 1; }
	@mkdir -p $(@D)
	@cp viewer/package.json viewer/package-lock.json $(@D)
	@echo "npm packages for the viewer -> $(@D)/node_modules"
	$(Q)cd $(@D) && $(NPM) ci --ignore-scripts --loglevel=error
	@touch $@
# Nothing that was deleted may stay.
$(VIEWER_COPY): $(VIEWER)/.installed $(VIEWER_SOURCES)
	@rm -rf $(VIEWER)/src $(VIEWER)/test
	@cp -r viewer/. $(VIEWER)
	@touch $@
$(VIEWER)/page.html: $(VIEWER_COPY)
	$(call show,NODE,$@)
	$(Q)cd $(VIEWER) && node build.mjs page.html

test-viewer: $(VIEWER)/page.html $(DEV_STAMP) ## check the viewer: types, style, unit tests, template, and in Chromium if there is one
	@cd $(VIEWER) && npm run --silent lint
	@cd $(VIEWER) && npm test --silent
	@cmp $(VIEWER)/page.html $(VIEWER_TEMPLATE) || { echo "$(VIEWER_TEMPLATE) is out of date: make viewer" >&2; exit 1; }
	@scripts/browser_tests.sh $(BUILD)

format-viewer: $(VIEWER_COPY)         ## put the viewer's code into its standard form
	@cd $(VIEWER) && npm run --silent format
	@cd $(VIEWER) && cp -r src test *.mjs tsconfig.json $(CURDIR)/viewer

## ---------------------------------------------------------------------------------------------------
## completions of bash, zsh and fish: committed, so that installing needs nothing (docs/decisions/completion.md)

.PHONY: completions
completions: $(DEV_STAMP)             ## after a change of options: write packaging/completions anew
	@$(BIN)/python -X pycache_prefix=$(CURDIR)/$(BUILD)/pycache scripts/make_completions.py packaging/completions

## ---------------------------------------------------------------------------------------------------
## install

TO := $(DESTDIR)$(PREFIX)
SUBST := sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@VERSION@|$(VERSION)|g'

install: native                       ## install below PREFIX (and DESTDIR)
	install -d $(TO)/bin $(TO)/lib/coz $(TO)/libexec/coz $(TO)/include $(TO)/share/coz $(TO)/share/man/man1 \
	  $(TO)/lib/pkgconfig $(TO)/lib/cmake/Coz $(TO)/share/bash-completion/completions \
	  $(TO)/share/zsh/site-functions $(TO)/share/fish/vendor_completions.d
	install -m 755 packaging/coz_installed.sh $(TO)/bin/coz
	install -m 755 $(LIBCOZ) $(TO)/lib/coz/libcoz.so
	install -m 755 $(HELPER) $(TO)/libexec/coz/coz-linetable
	install -m 644 include/coz.h $(TO)/include/coz.h
	rm -rf $(TO)/share/coz/cozcli
	cd cozcli && find . -type f -not -path '*/__pycache__/*' -exec install -D -m 644 {} $(abspath $(TO))/share/coz/cozcli/{} \;
	@# Else each run would compile them again, for users who may not write there.
	-$(PYTHON) -m compileall -q $(if $(DESTDIR),-s $(DESTDIR)) $(TO)/share/coz/cozcli
	install -m 644 docs/man/*.1 $(TO)/share/man/man1/
	install -m 644 packaging/completions/bash/coz $(TO)/share/bash-completion/completions/coz
	install -m 644 packaging/completions/zsh/_coz $(TO)/share/zsh/site-functions/_coz
	install -m 644 packaging/completions/fish/coz.fish $(TO)/share/fish/vendor_completions.d/coz.fish
	$(SUBST) packaging/coz.pc.in > $(TO)/lib/pkgconfig/coz.pc
	$(SUBST) packaging/CozConfig.cmake.in > $(TO)/lib/cmake/Coz/CozConfig.cmake
	$(SUBST) packaging/CozConfigVersion.cmake.in > $(TO)/lib/cmake/Coz/CozConfigVersion.cmake
	chmod 644 $(TO)/lib/pkgconfig/coz.pc $(TO)/lib/cmake/Coz/*

clean:                                ## remove build/
	rm -rf $(BUILD)

-include $(LIBCOZ_OBJECTS:.o=.d) $(HELPER_OBJECTS:.o=.d)
