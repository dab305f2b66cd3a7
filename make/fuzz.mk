# Any bytes as a profile, a line table, a program, an unwind table (tests/fuzz/README.md). libFuzzer, which comes with
# clang, finds more because it watches what code an input reaches. Without it, and in `make test`, a small driver of our
# own compiled by gcc is used.

FUZZ_SOURCES := $(sort $(filter-out linetable/main.cpp,$(HELPER_SOURCES)) $(COMMON_SOURCES) $(call find_sources,libcoz/unwind))
FUZZ_TARGETS := $(patsubst tests/fuzz/%_target.cpp,%,$(sort $(wildcard tests/fuzz/*_target.cpp)))
FUZZ_CHECKS  := -fsanitize=address$(comma)undefined -fno-sanitize-recover=undefined
FUZZ_DRIVEN  := $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%_driven)
FUZZ_GUIDED  := $(FUZZ_TARGETS:%=$(BUILD)/fuzz/%_guided)
# clang++, if its fuzzer is there: Debian's clang comes without.
FUZZ_CLANG   := $(shell command -v clang++ >/dev/null && \
                  ls $$(clang++ -print-resource-dir)/lib/*/libclang_rt.fuzzer*.a >/dev/null 2>&1 && command -v clang++)

# The objects are those of the unit tests under ASan and UBSan.
FUZZ_OBJECTS := $(call objects,asan,$(FUZZ_SOURCES))
$(BUILD)/obj/asan/fuzzed.a: $(FUZZ_OBJECTS)
	@rm -f $@
	@ar rcs $@ $^
$(FUZZ_DRIVEN): $(BUILD)/fuzz/%_driven: $(BUILD)/obj/asan/tests/fuzz/%_target.o $(BUILD)/obj/asan/tests/fuzz/driver.o \
    $(BUILD)/obj/asan/fuzzed.a
	@mkdir -p $(@D)
	$(call show,LINK,$@)
	$(Q)$(CXX) $(FUZZ_CHECKS) $(LDFLAGS) -o $@ $^ $(HELPER_LIBS)

$(eval $(call object_set,fuzz_clang,$$(filter-out -Werror,$$(COMMON)) -O1 -g $$(FUZZ_CHECKS) -fsanitize=fuzzer-no-link))
$(BUILD)/obj/fuzz_clang/%.o $(FUZZ_GUIDED): CXX := $(FUZZ_CLANG)
$(BUILD)/obj/fuzz_clang/fuzzed.a: $(call objects,fuzz_clang,$(FUZZ_SOURCES))
	@rm -f $@
	@ar rcs $@ $^
$(FUZZ_GUIDED): $(BUILD)/fuzz/%_guided: $(BUILD)/obj/fuzz_clang/tests/fuzz/%_target.o $(BUILD)/obj/fuzz_clang/fuzzed.a
	@mkdir -p $(@D)
	$(call show,LINK,$@)
	$(Q)$(CXX) $(FUZZ_CHECKS) -fsanitize=fuzzer $(LDFLAGS) -o $@ $^ $(HELPER_LIBS)

FUZZ_MAIN := $(FUZZ_TARGETS:%=tests/fuzz/%_target.cpp) tests/fuzz/driver.cpp
-include $(call headers_of,$(FUZZ_OBJECTS) $(call objects,asan,$(FUZZ_MAIN)) $(call objects,fuzz_clang,$(FUZZ_SOURCES) $(FUZZ_MAIN)))

##@ Test
.PHONY: fuzz fuzz-targets
fuzz-targets: $(FUZZ_DRIVEN)
fuzz: $(if $(FUZZ_CLANG),$(FUZZ_GUIDED),$(FUZZ_DRIVEN)) $(HELPER) $(DEV_STAMP) ## read damaged profiles, line tables, programs for FUZZ_SECONDS each
	$(BIN)/python tests/fuzz/all_targets.py --seconds $(FUZZ_SECONDS)
