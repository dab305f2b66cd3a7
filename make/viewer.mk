# The page of `coz view` (docs/decisions/viewer.md). Its template is committed, so only those who change viewer/ need
# Node (18.18 or newer) and npm. They work on a copy, which keeps packages out of the sources.

VIEWER          := $(BUILD)/viewer
VIEWER_SOURCES  := $(sort $(shell find viewer -type f))
VIEWER_TEMPLATE := cozcli/reports/page_template.html
VIEWER_COPY     := $(VIEWER)/.copied
NPM             := npm --no-fund --no-audit --no-update-notifier

##@ The page of coz view
.PHONY: viewer test-viewer format-viewer
viewer: $(VIEWER)/page.html           ## build the page again after a change of viewer/ (needs Node and npm)
	@cp $< $(VIEWER_TEMPLATE)

test-viewer: $(VIEWER)/page.html $(DEV_STAMP) ## check its types, style, unit tests and template, and try it in Chromium
	@cd $(VIEWER) && npm run --silent lint
	@cd $(VIEWER) && npm test --silent
	@cmp $(VIEWER)/page.html $(VIEWER_TEMPLATE) || { echo "$(VIEWER_TEMPLATE) is out of date: make viewer" >&2; exit 1; }
	@scripts/browser_tests.sh $(BUILD)

format-viewer: $(VIEWER_COPY)         ## put the viewer's code into its standard form
	@cd $(VIEWER) && npm run --silent format
	@cd $(VIEWER) && cp -r src test *.mjs tsconfig.json $(CURDIR)/viewer

$(VIEWER)/.installed: viewer/package.json viewer/package-lock.json
	@command -v npm >/dev/null || { echo "npm is missing. On Debian: scripts/install_dependencies.sh viewer" >&2; exit 1; }
	@mkdir -p $(@D)
	@cp viewer/package.json viewer/package-lock.json $(@D)
	@echo "npm packages for the viewer -> $(@D)/node_modules"
	$(Q)cd $(@D) && $(NPM) ci --ignore-scripts --loglevel=error
	@touch $@
# The old copy goes first, so that no deleted file stays.
$(VIEWER_COPY): $(VIEWER)/.installed $(VIEWER_SOURCES)
	@rm -rf $(VIEWER)/src $(VIEWER)/test
	@cp -r viewer/. $(VIEWER)
	@touch $@
$(VIEWER)/page.html: $(VIEWER_COPY)
	$(call show,NODE,$@)
	$(Q)cd $(VIEWER) && node build.mjs page.html
