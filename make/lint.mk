# Style, types, warnings and architecture. Every step is a target of its own.

FORMATTED := $(sort $(shell find common libcoz libheap liblayout linetable include examples tests benchmarks \
               \( -name '*.c' -o -name '*.cpp' -o -name '*.h' \) 2>/dev/null))
HEADERS   := $(filter common/%.h libcoz/%.h libheap/%.h liblayout/%.h linetable/%.h include/%.h,$(FORMATTED))
PYTHON_CODE   := cozcli tests benchmarks examples $(wildcard scripts/*.py)
SHELL_SCRIPTS := $(wildcard scripts/*.sh packaging/*.sh examples/*/*.sh) .ci/run

##@ Check the code
.PHONY: lint lint-format lint-tidy lint-length lint-layers lint-docs lint-python lint-imports lint-header lint-shell format
lint: lint-format lint-tidy lint-length lint-layers lint-docs lint-python lint-imports lint-header lint-shell ## check style, types and warnings
	@echo "lint: no findings"

lint-format: $(DEV_STAMP)
	@$(BIN)/clang-format --dry-run --Werror $(FORMATTED)

# There is one stamp per source, so that only what has changed is looked at again.
TIDY_STAMPS := $(patsubst %,$(BUILD)/tidy/%.ok,$(sort $(LIBCOZ_SOURCES) $(LIBHEAP_SOURCES) $(LAYOUT_SOURCES) $(HELPER_SOURCES) $(COMMON_SOURCES)))
$(TIDY_STAMPS): $(BUILD)/tidy/%.ok: % $(HEADERS) .clang-tidy | $(DEV_STAMP)
	@mkdir -p $(@D)
	@echo "clang-tidy $<"
	@$(BIN)/clang-tidy --quiet $< -- -std=c++20 $(INCLUDES) -Wall -Wextra -Wno-deprecated-declarations \
	  -Wfunction-effects -Xclang -analyzer-config -Xclang max-nodes=30000 \
	  2>$@.log || { cat $@.log >&2; exit 1; }
	@touch $@
lint-tidy: $(TIDY_STAMPS)

# A file that has grown too long has more than one concern.
lint-length:
	@find common libcoz libheap liblayout linetable include cozcli viewer tests benchmarks examples scripts make Makefile -type f \
	  \( -name '*.cpp' -o -name '*.c' -o -name '*.h' -o -name '*.py' -o -name '*.ts' -o -name '*.sh' -o -name '*.mk' \) \
	  -exec awk 'FNR == 401 {print FILENAME ": more than 400 lines" > "/dev/stderr"; found = 1} END {exit found}' {} +

# Which folder of C++ may include which, where globals are, and who calls the kernel.
lint-layers:
	@$(PYTHON) scripts/check_layers.py

# Links, the width of prose, and the length of decisions.
lint-docs:
	@$(PYTHON) scripts/check_docs.py

lint-python: $(DEV_STAMP)
	@$(BIN)/ruff check --quiet --cache-dir $(BUILD)/ruff_cache $(PYTHON_CODE)
	@$(BIN)/ruff format --quiet --check --cache-dir $(BUILD)/ruff_cache $(PYTHON_CODE)
	@$(BIN)/mypy --strict --no-error-summary --cache-dir $(BUILD)/mypy_cache cozcli
	@MYPYPATH=benchmarks:examples/case_studies $(BIN)/mypy --strict --no-error-summary \
	  --cache-dir $(BUILD)/mypy_cache benchmarks/accuracy.py benchmarks/ground_truth benchmarks/doubling

# The contracts about which package imports which are in pyproject.toml.
lint-imports: $(DEV_STAMP)
	@$(BIN)/lint-imports --cache-dir $(BUILD)/import_linter_cache >$(BUILD)/lint-imports.log || \
	  { cat $(BUILD)/lint-imports.log >&2; exit 1; }

lint-header:
	@scripts/check_header.sh

lint-shell:
	@for script in $(SHELL_SCRIPTS); do bash -n $$script || exit 1; done

format: $(DEV_STAMP)                  ## put all code into its standard form
	@$(BIN)/clang-format -i $(FORMATTED)
	@$(BIN)/ruff check --quiet --fix --cache-dir $(BUILD)/ruff_cache $(PYTHON_CODE) || true
	@$(BIN)/ruff format --quiet --cache-dir $(BUILD)/ruff_cache $(PYTHON_CODE)
