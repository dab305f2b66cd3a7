# Compilers, flags, and the rules that every object is compiled by.

# One short line for each step; V=1 shows the commands.
Q := $(if $(V),,@)
show = $(if $(V),,@printf '  %-6s %s\n' $(1) $(2))
comma := ,

# STRICT=1, as in .ci/run, takes warnings for errors. Later compilers have others, false ones too.
WARNINGS := -Wall -Wextra -Wpedantic -Wconversion -Wshadow $(if $(STRICT),-Werror)
INCLUDES := -I. -Ilibcoz -Iinclude
COMMON   := -std=c++20 -fno-omit-frame-pointer $(INCLUDES) $(WARNINGS)

find_sources = $(sort $(shell find $(1) -name '*.cpp' 2>/dev/null))

# The list of all sources. Every other list is taken from these.
COMMON_SOURCES := $(call find_sources,common)
LIBCOZ_SOURCES := $(call find_sources,libcoz)
LIBHEAP_SOURCES := $(call find_sources,libheap)
LAYOUT_SOURCES := $(call find_sources,liblayout)
HELPER_SOURCES := $(call find_sources,linetable) libcoz/unwind/frame_description.cpp
TEST_SOURCES   := $(call find_sources,tests/common tests/libcoz tests/libheap tests/liblayout tests/linetable tests/oracle tests/allocation)

# Says which packages are missing instead of leaving it to an error of the compiler.
PREREQUISITES := $(BUILD)/.prerequisites
$(PREREQUISITES): scripts/check_prerequisites.sh
	@CXXFLAGS='$(CXXFLAGS)' scripts/check_prerequisites.sh '$(CXX)'
	@mkdir -p $(@D)
	@touch $@

# $(call objects,SET,SOURCES): the objects of SOURCES that are compiled with the flags of SET.
objects = $(patsubst %.cpp,$(BUILD)/obj/$(1)/%.o,$(2))

# $(eval $(call object_set,SET,FLAGS)): the rule for the objects of SET.
# Without link-time optimisation, which some distributions set: it loses the symbols of assembler in the runtime.
define object_set
OBJECT_SETS += $(1)
$$(BUILD)/obj/$(1)/%.o: %.cpp make/compile.mk | $$(PREREQUISITES)
	@mkdir -p $$(@D)
	$$(call show,CXX,$$@)
	$$(Q)$$(CXX) $(2) -fno-lto -MMD -MP -c $$< -o $$@
endef

# $(call headers_of,OBJECTS): the files in which the compiler noted what an object includes.
headers_of = $(patsubst %.o,%.d,$(1))

##@ Build
.PHONY: compile-commands
compile-commands:                     ## write build/compile_commands.json, which clangd and other tools read
	@mkdir -p $(BUILD)
	@$(MAKE) --always-make --dry-run V=1 $(LIBCOZ_OBJECTS) $(LIBHEAP_OBJECTS) $(LAYOUT_OBJECTS) $(HELPER_OBJECTS) $(UNIT_OBJECTS) 2>/dev/null | \
	  $(PYTHON) scripts/compile_commands.py > $(BUILD)/compile_commands.json
