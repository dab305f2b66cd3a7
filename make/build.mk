# The profiler itself: the runtime, the library that moves functions, the helper, the command and its Python
# environment.

LIBCOZ := $(BUILD)/lib/libcoz.so
LAYOUT := $(BUILD)/lib/libcoz-layout.so
HELPER := $(BUILD)/libexec/coz-linetable
COZ    := $(BUILD)/bin/coz
CARGO_COZ := $(BUILD)/bin/cargo-coz
VENV   := $(BUILD)/venv
BIN    := $(VENV)/bin
RUN_PYTHON := $(BIN)/python -X pycache_prefix=$(CURDIR)/$(BUILD)/pycache

# --- libcoz.so is loaded into other people's programs. So it brings its own C++ runtime and exports only what it must.
LIBCOZ_FLAGS := $(COMMON) -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti -ftls-model=initial-exec
LIBCOZ_LIBS  ?=
LIBCOZ_MAP   := libcoz/libcoz.map
LIBCOZ_LINK  := -shared -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL -Wl,-z,defs -Wl,-z,now \
                -Wl,--version-script=$(LIBCOZ_MAP)
LIBCOZ_OBJECTS := $(call objects,libcoz,$(LIBCOZ_SOURCES) $(COMMON_SOURCES))
$(eval $(call object_set,libcoz,$$(LIBCOZ_FLAGS) $$(CXXFLAGS)))

# A running program may have the old library mapped. So the new one replaces it by a rename.
$(LIBCOZ): $(LIBCOZ_OBJECTS) $(LIBCOZ_MAP) make/build.mk
	@mkdir -p $(@D)
	$(call show,LINK,$@)
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) $(LIBCOZ_LINK) -o $@.$$$$ $(LIBCOZ_OBJECTS) $(LIBCOZ_LIBS) -ldl -lpthread && \
	  mv -f $@.$$$$ $@

# --- libcoz-heap.so is preloaded for other layouts of heap and stacks, and needs nothing of libcoz.so.
LIBHEAP := $(BUILD)/lib/libcoz-heap.so
LIBHEAP_MAP  := libheap/libcoz-heap.map
# gcc would make a malloc that is followed by memset into calloc: within calloc, endlessly.
LIBHEAP_FLAGS := $(LIBCOZ_FLAGS) -fno-builtin-malloc -fno-builtin-calloc
LIBHEAP_LINK := $(subst $(LIBCOZ_MAP),$(LIBHEAP_MAP),$(LIBCOZ_LINK))
LIBHEAP_OBJECTS := $(call objects,libheap,$(LIBHEAP_SOURCES))
$(eval $(call object_set,libheap,$$(LIBHEAP_FLAGS) $$(CXXFLAGS)))

$(LIBHEAP): $(LIBHEAP_OBJECTS) $(LIBHEAP_MAP) make/build.mk
	@mkdir -p $(@D)
	$(call show,LINK,$@)
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) $(LIBHEAP_LINK) -o $@.$$$$ $(LIBHEAP_OBJECTS) -ldl -lpthread && mv -f $@.$$$$ $@

# --- libcoz-layout.so is preloaded by coz compare and coz layout. It uses libc alone and exports nothing.
LAYOUT_FLAGS   := $(COMMON) -fPIC -fvisibility=hidden -fno-exceptions -fno-rtti
LAYOUT_OBJECTS := $(call objects,layout,$(LAYOUT_SOURCES) common/layout_plan.cpp)
$(eval $(call object_set,layout,$$(LAYOUT_FLAGS) $$(CXXFLAGS)))

$(LAYOUT): $(LAYOUT_OBJECTS) make/build.mk
	@mkdir -p $(@D)
	$(call show,LINK,$@)
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) -shared -nodefaultlibs -Wl,--exclude-libs,ALL -Wl,-z,defs -Wl,-z,now \
	  -o $@.$$$$ $(LAYOUT_OBJECTS) -lc -ldl && mv -f $@.$$$$ $@

# --- coz-linetable is an ordinary program.
HELPER_FLAGS   := $(COMMON) -DCOZ_VERSION='"$(VERSION)"'
HELPER_LIBS    := -ldw -lelf -liberty -lZydis -ldl
HELPER_OBJECTS := $(call objects,helper,$(HELPER_SOURCES) $(COMMON_SOURCES))
$(eval $(call object_set,helper,$$(HELPER_FLAGS) $$(CXXFLAGS)))

$(HELPER): $(HELPER_OBJECTS) make/build.mk
	@mkdir -p $(@D)
	$(call show,LINK,$@)
	$(Q)$(CXX) $(CXXFLAGS) $(LDFLAGS) -o $@ $(HELPER_OBJECTS) $(HELPER_LIBS)

-include $(call headers_of,$(LIBCOZ_OBJECTS) $(LIBHEAP_OBJECTS) $(LAYOUT_OBJECTS) $(HELPER_OBJECTS))

# --- coz
$(COZ): packaging/coz_checkout.sh
$(CARGO_COZ): packaging/cargo_coz.py
$(COZ) $(CARGO_COZ):
	@mkdir -p $(@D)
	@install -m 755 $< $@

RUNTIME_STAMP := $(VENV)/.installed
DEV_STAMP     := $(VENV)/.installed-dev
$(RUNTIME_STAMP): requirements.txt scripts/make_venv.sh
	@echo "Python packages for coz -> $(VENV)"
	@PYTHON=$(PYTHON) scripts/make_venv.sh $(VENV) requirements.txt
	@touch $@
$(DEV_STAMP): requirements-dev.txt $(RUNTIME_STAMP)
	@echo "Python packages for tests and lint -> $(VENV)"
	@PYTHON=$(PYTHON) scripts/make_venv.sh $(VENV) requirements-dev.txt
	@touch $@
