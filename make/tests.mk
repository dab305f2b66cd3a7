# Tests in C++ and Python. tests/README.md describes the tiers.

UNIT   := $(BUILD)/tests/unit_tests
ORACLE := $(BUILD)/tests/oracle
ALLOCATION := $(BUILD)/tests/allocation

# Catch2 v3 (Debian 13) has other headers than v2, and a library. The tests are written for v2.
CATCH3      := $(wildcard /usr/include/catch2/catch_all.hpp /usr/local/include/catch2/catch_all.hpp)
CATCH_FLAGS := $(if $(CATCH3),-isystem tests/compat_catch3)
CATCH_LIBS  := $(if $(CATCH3),-lCatch2Main -lCatch2)
TEST_FLAGS  := $(COMMON) $(CATCH_FLAGS)

# Catch2 registers its cases when a program starts, so the linker must be given every file that has cases. What the
# cases use is taken from a library, as far as it is used.
TEST_CASES   := $(filter %_test.cpp,$(TEST_SOURCES))
TEST_SUPPORT := $(filter-out %_test.cpp %/main.cpp,$(TEST_SOURCES))
TEST_MAIN    := tests/libcoz/main.cpp
# The C library comes before the tested objects, so that the program uses its functions and not libcoz's wrappers.
# It is named by an option of the linker, since g++ moves a plain -lc to the end.
LIBRARIES_BEFORE := -Wl,-lc,-lpthread,-ldl

# $(call unit_tests,SET,FLAGS,PROGRAM,OBJECTS TO TEST,CASES): a program of unit tests.
define unit_tests
$(call object_set,$(1),$$(TEST_FLAGS) $(2) $$(if $$(filter %_test.cpp,$$<),-include $$(BUILD)/obj/$(1)/catch_compiled.h))
# Compiling Catch2's header beforehand saves a third of the time of most tests.
$$(BUILD)/obj/$(1)/catch_compiled.h.gch: make/compile.mk | $$(PREREQUISITES)
	@mkdir -p $$(@D)
	@echo '#include <catch2/catch.hpp>' > $$(@:.gch=)
	$$(call show,CXX,$$@)
	$$(Q)$$(CXX) $$(TEST_FLAGS) $(2) -x c++-header $$(@:.gch=) -o $$@
$$(call objects,$(1),$(5)): $$(BUILD)/obj/$(1)/catch_compiled.h.gch
$$(BUILD)/obj/$(1)/tested.a: $(4) $$(call objects,$(1),$$(TEST_SUPPORT))
	@rm -f $$@
	@ar rcs $$@ $$^
$(3): $$(call objects,$(1),$(5) $$(TEST_MAIN)) $$(BUILD)/obj/$(1)/tested.a
	@mkdir -p $$(@D)
	$$(call show,LINK,$$@)
	$$(Q)$$(CXX) $(2) $$(LDFLAGS) -o $$@ $$(filter %.o,$$^) $$(CATCH_LIBS) $$(LIBRARIES_BEFORE) $$(filter %.a,$$^) \
	  $$(LIBCOZ_LIBS) $$(TESTED_LIBS)
-include $$(call headers_of,$$(call objects,$(1),$(5) $$(TEST_MAIN) $$(TEST_SUPPORT)) $(4))
endef
TESTED_LIBS = $(HELPER_LIBS)

# The unit tests are linked with the very objects of libcoz.so and coz-linetable: nothing is compiled twice.
UNIT_FLAGS := -O1 -g1
# The rest moves the functions of the process that it is in.
LAYOUT_LOGIC := $(addprefix liblayout/,placement.cpp rewriting.cpp switching.cpp)
# The rest stands in for libc's functions.
LIBHEAP_LOGIC := $(addprefix libheap/,heap.cpp offset_blocks.cpp settings.cpp shuffler.cpp)
TESTED_OBJECTS := $(call objects,helper,$(filter-out linetable/main.cpp,$(HELPER_SOURCES)) $(COMMON_SOURCES)) \
                  $(call objects,libcoz,$(filter-out $(HELPER_SOURCES),$(LIBCOZ_SOURCES))) \
                  $(call objects,libheap,$(LIBHEAP_LOGIC)) $(call objects,layout,$(LAYOUT_LOGIC))
UNIT_OBJECTS   := $(call objects,unit,$(TEST_SOURCES))
$(eval $(call unit_tests,unit,$(UNIT_FLAGS),$(UNIT),$(TESTED_OBJECTS),$(TEST_CASES)))

# Under the sanitizers everything is compiled anew, and runs without the oracle, whose fibers they cannot follow.
SANITIZED       := $(filter-out linetable/main.cpp,$(sort $(LIBCOZ_SOURCES) $(LIBHEAP_LOGIC) $(LAYOUT_LOGIC) $(HELPER_SOURCES) $(COMMON_SOURCES)))
SANITIZED_CASES := $(filter-out tests/oracle/%,$(TEST_CASES))
# gcc 12 takes parts of std::regex for uninitialised when it adds checks to them.
ASAN_FLAGS  := -O1 -g -Wno-maybe-uninitialized -fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined
TSAN_FLAGS  := -O1 -g -Wno-maybe-uninitialized -Wno-tsan -fsanitize=thread
$(eval $(call unit_tests,asan,$(ASAN_FLAGS),$(BUILD)/tests/unit_tests_asan,$(call objects,asan,$(SANITIZED)),$(SANITIZED_CASES)))
$(eval $(call unit_tests,tsan,$(TSAN_FLAGS),$(BUILD)/tests/unit_tests_tsan,$(call objects,tsan,$(SANITIZED)),$(SANITIZED_CASES)))

$(ORACLE) $(ALLOCATION): $(BUILD)/tests/%: $(BUILD)/obj/unit/tests/%/main.o $(BUILD)/obj/unit/tested.a
	@mkdir -p $(@D)
	$(call show,LINK,$@)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $< $(LIBRARIES_BEFORE) $(BUILD)/obj/unit/tested.a
-include $(BUILD)/obj/unit/tests/oracle/main.d $(BUILD)/obj/unit/tests/allocation/main.d

# Bytecode is kept even where the environment says that none be: what a test starts would be compiled anew each time.
PYTEST_RUN := PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX=$(CURDIR)/$(BUILD)/pycache \
              HYPOTHESIS_STORAGE_DIRECTORY=$(CURDIR)/$(BUILD)/hypothesis \
              $(BIN)/python -m pytest -o cache_dir=$(CURDIR)/$(BUILD)/pytest_cache
# Status 5 says that PYTEST selects no test.
run_pytest = $(PYTEST_RUN) $(1) $(PYTEST) || [ $$? -eq 5 ]
# What tests/system and tests/transparency run is compiled by them; the others read what they need from the checkout.
PYTEST_FAST := $(wildcard tests/cozcli tests/lint tests/benchmarks tests/examples)
PYTEST_ALL  := $(PYTEST_FAST) $(wildcard tests/viewer tests/fuzz tests/system tests/transparency)

##@ Test
.PHONY: check test test-long unit-tests oracle oracle-crowds transparency survival sanitize real-programs soak
check: all $(UNIT) $(DEV_STAMP)       ## run unit tests, tests of the command line and one of the whole (2 minutes)
	$(UNIT)
	$(call run_pytest,-n auto $(PYTEST_FAST))
	$(call run_pytest,-m first tests/system)

# First what may run side by side, twice as much as there are processors, since most tests wait most of the time. Then,
# alone, what compares times and shares with a number.
SIDE_BY_SIDE := -n $(shell expr 2 '*' $$(nproc)) --dist worksteal
test: dependencies                    ## install what is missing, build, run every test that guards behaviour (10 minutes)
	@$(MAKE) all $(UNIT) $(DEV_STAMP) bench-programs
	$(UNIT)
	$(call run_pytest,$(SIDE_BY_SIDE) -m 'not measured and not long' $(PYTEST_ALL))
	$(call run_pytest,-m 'measured and not long' tests/system)

test-long: dependencies               ## run what make test leaves out: whole matrices, many rounds, sanitizers (an hour)
	@$(MAKE) all $(DEV_STAMP)
	$(call run_pytest,-m long tests/system)
	@$(MAKE) sanitize transparency

unit-tests: $(UNIT)                   ## build and run the C++ unit tests only
	$(UNIT)

oracle: $(ORACLE)                     ## run the model: predicted beside true effects, for our rules and the classic ones
	$(ORACLE)

oracle-crowds: $(ORACLE) $(DEV_STAMP) ## compare reports with the truth of simulated programs with more threads than cores (20 minutes)
	@rm -rf $(BUILD)/crowds && mkdir -p $(BUILD)/crowds
	$(ORACLE) --crowds --profiles $(BUILD)/crowds $(CROWDS)
	PYTHONPATH=. $(BIN)/python tests/oracle/profiles.py $(BUILD)/crowds

transparency: native $(DEV_STAMP)     ## run programs that must not notice the profiler, many times, in all sampling modes
	COZ_TRANSPARENCY_ROUNDS=$(TRANSPARENCY_ROUNDS) $(PYTEST_RUN) tests/transparency $(PYTEST)
	COZ_TRANSPARENCY_OPTIONS=--tree $(PYTEST_RUN) tests/transparency $(PYTEST)
survival: transparency                # the name that it had before

sanitize: $(BUILD)/tests/unit_tests_asan $(BUILD)/tests/unit_tests_tsan ## run the unit tests under ASan, UBSan and TSan
	$(BUILD)/tests/unit_tests_asan
	@# gcc 12's TSan does not know the kernel's newer address layouts, so their randomisation is off.
	setarch -R $(BUILD)/tests/unit_tests_tsan "[threads]"

real-programs: all                    ## run test suites of real programs, plain and under coz run (an hour; REAL: some)
	@$(RUN_PYTHON) tests/real_programs/run.py $(REAL)

soak: all                             ## watch a server's memory and speed under experiments for SOAK_SECONDS
	@$(RUN_PYTHON) tests/soak/soak.py $(SOAK_SECONDS)
