# Measurements of accuracy and overhead (docs/accuracy.md, docs/overhead.md).

BENCH_SOURCES  := $(sort $(wildcard benchmarks/programs/*.cpp))
BENCH_PROGRAMS := $(BENCH_SOURCES:benchmarks/programs/%.cpp=$(BUILD)/bench/programs/%)
# For tools that read no debug information newer than DWARF 3 and know only the macros of the classic header.
BENCH_DWARF3   := $(BENCH_SOURCES:benchmarks/programs/%.cpp=$(BUILD)/bench/programs-dwarf3/%)
BENCH_FLAGS    := -std=c++20 -O2 $(WARNINGS) -Iinclude -MMD -MP
OVERHEAD_PROGRAMS := $(patsubst benchmarks/overhead/%.cpp,$(BUILD)/bench/%,$(wildcard benchmarks/overhead/*.cpp))

##@ Measure
.PHONY: bench bench-accuracy bench-doubling bench-overhead bench-insight bench-amp bench-bias bench-bias-programs bench-compare bench-hardening bench-cfi bench-levels bench-layouts bench-programs bench-programs-dwarf3
bench: all $(BENCH_PROGRAMS)          ## compare predicted with true effects of three simple programs (10 minutes)
	@benchmarks/run

bench-accuracy: all $(BENCH_PROGRAMS) $(if $(findstring --coz,$(BENCH)),$(BENCH_DWARF3)) ## the same for all ground-truth programs (90 minutes)
	@$(RUN_PYTHON) benchmarks/accuracy.py $(BENCH)

bench-doubling: all                   ## predict what a function costs that runs twice in real programs (40 minutes)
	@PYTHONPATH=benchmarks:. $(RUN_PYTHON) -m doubling $(DOUBLING)

bench-overhead: all $(OVERHEAD_PROGRAMS) ## measure what profiling costs: programs, start-up, threads, visits
	@$(BIN)/python benchmarks/overhead.py $(OVERHEAD)

bench-insight: all                    ## measure how soon a profile knows every line of generated programs (15 minutes)
	@$(BIN)/python benchmarks/insight.py $(INSIGHT)

bench-amp: all $(BUILD)/examples/producer_consumer ## compare load amplification with real scalability (10 minutes)
	@$(BIN)/python benchmarks/amp.py $(AMP)

bench-compare: all                    ## compare programs with themselves, and with more work, by coz compare (2 minutes)
	@PYTHONPATH=$(CURDIR) $(RUN_PYTHON) benchmarks/compare.py $(COMPARE)

bench-bias: all                       ## see whether coz bias finds kernels that alias, and leaves others alone (6 minutes a repeat)
	@PYTHONPATH=$(CURDIR) $(RUN_PYTHON) benchmarks/bias_kernels.py $(BIAS)

bench-bias-programs: all              ## show what coz bias says about four programs of Debian, under two seeds (20 minutes)
	@PYTHONPATH=$(CURDIR) $(RUN_PYTHON) benchmarks/bias_programs.py $(BIAS_PROGRAMS)

bench-hardening: all                  ## measure what options against attacks cost in twelve programs of Debian (15 minutes)
	@$(RUN_PYTHON) examples/hardening/fetch.py $(BUILD)/hardening
	@$(BUILD)/bin/coz compare --suite $(BUILD)/hardening/hardening.toml $(HARDENING)

bench-cfi: all                        ## measure what clang's checks of control flow cost there; needs clang and lld (10 minutes)
	@$(RUN_PYTHON) examples/hardening/fetch.py $(BUILD)/hardening
	@$(BUILD)/bin/coz compare --suite $(BUILD)/hardening/cfi.toml $(HARDENING)

bench-levels: all                     ## measure what -O1 and -O3 bring against -O2 in the same programs, by gcc and clang (10 minutes)
	@$(RUN_PYTHON) examples/hardening/fetch.py $(BUILD)/hardening
	@$(BUILD)/bin/coz compare --suite $(BUILD)/hardening/levels.toml $(LEVELS)
	@$(BUILD)/bin/coz compare --suite $(BUILD)/hardening/levels-clang.toml $(LEVELS)

bench-layouts: all                    ## measure what layouts cost there, and whether times are normal (5 minutes)
	@$(RUN_PYTHON) examples/hardening/fetch.py $(BUILD)/hardening
	@PYTHONPATH=$(CURDIR) $(RUN_PYTHON) benchmarks/layouts.py $(BUILD)/hardening $(LAYOUTS)

bench-programs: $(BENCH_PROGRAMS)     ## build the ground-truth programs only
bench-programs-dwarf3: $(BENCH_DWARF3)

# OpenMP only where the name says so.
openmp_flag = $(if $(filter openmp%,$*),-fopenmp)

$(BENCH_PROGRAMS): $(BUILD)/bench/programs/%: benchmarks/programs/%.cpp make/bench.mk
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(BENCH_FLAGS) $(openmp_flag) -g -o $@ $< -lpthread

$(BENCH_DWARF3): $(BUILD)/bench/programs-dwarf3/%: benchmarks/programs/%.cpp make/bench.mk
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) $(BENCH_FLAGS) $(openmp_flag) -gdwarf-3 -gstrict-dwarf -DGROUND_TRUTH_CLASSIC_MACROS -Itests/programs -o $@ $< -lpthread

$(OVERHEAD_PROGRAMS): $(BUILD)/bench/%: benchmarks/overhead/%.cpp include/coz.h
	@mkdir -p $(@D)
	$(call show,CXX,$@)
	$(Q)$(CXX) -std=c++20 -O2 -g $(WARNINGS) -Iinclude -o $@ $< -lpthread

-include $(BENCH_PROGRAMS:=.d) $(BENCH_DWARF3:=.d)
