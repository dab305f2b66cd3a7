# The build for aarch64 by a cross compiler (docs/decisions/architectures.md). libcoz.so is compiled and linked; the
# helper is compiled only, since linking it would need libdw for that machine. qemu runs the unit tests of libcoz.

AARCH64      := $(BUILD)/aarch64
AARCH64_CXX  ?= aarch64-linux-gnu-g++
AARCH64_ROOT ?= /usr/aarch64-linux-gnu
AARCH64_FLAGS ?= -O2 -g
AARCH64_MAKE  = $(MAKE) BUILD=$(AARCH64) CXX='$(AARCH64_CXX)' CXXFLAGS='$(AARCH64_FLAGS) -isystem $(AARCH64)/include' CATCH3=

##@ Test
.PHONY: aarch64 aarch64-compile foreign-helper
aarch64-compile: $(AARCH64)/include/.copied
	+@$(AARCH64_MAKE) $(AARCH64)/lib/libcoz.so foreign-helper

aarch64: aarch64-compile              ## build for aarch64 by g++-aarch64-linux-gnu; run unit tests by qemu-aarch64
	+@if command -v qemu-aarch64 >/dev/null; then $(AARCH64_MAKE) $(AARCH64)/tests/foreign_tests && \
	  qemu-aarch64 -L $(AARCH64_ROOT) $(AARCH64)/tests/foreign_tests "~[native]"; \
	  else echo "qemu-aarch64 (qemu-user) is not there: the unit tests were not run"; fi

# Headers that are the same for every machine. Those of libc beside them are not.
$(AARCH64)/include/.copied:
	@command -v $(AARCH64_CXX) >/dev/null || \
	  { echo "$(AARCH64_CXX) is missing. On Debian: scripts/install_dependencies.sh aarch64" >&2; exit 1; }
	@mkdir -p $(@D)
	@cd /usr/include && cp -r elfutils libelf.h gelf.h dwarf.h libiberty Zydis Zycore catch2 $(CURDIR)/$(@D)
	@touch $@

foreign-helper: $(HELPER_OBJECTS)

# The tests of libcoz use no part of the helper that reads debug information, so they link without libdw.
$(eval $(call unit_tests,foreign,$$(CXXFLAGS) -O1 -g0,$(BUILD)/tests/foreign_tests,$(TESTED_OBJECTS),$(filter tests/libcoz/% tests/common/%,$(TEST_CASES))))
$(BUILD)/tests/foreign_tests: TESTED_LIBS := -ldl
