# Installation, its removal, and the shell completions that are installed.

TO := $(DESTDIR)$(PREFIX)
# Where pkg-config and CMake look for what belongs to no architecture; packagers may prefer share.
PKGCONFIG ?= lib/pkgconfig
CMAKE     ?= lib/cmake
# Empty where a packager compiles the Python files otherwise.
PYCACHE   ?= yes
SUBST := sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@VERSION@|$(VERSION)|g'

##@ Install
.PHONY: install uninstall stage completions
install: native                       ## install below PREFIX (and DESTDIR)
	@case '$(PREFIX)' in *[[:space:]]*) echo "PREFIX=$(PREFIX): name a path without spaces" >&2; exit 1;; /*) ;; \
	*) echo "PREFIX=$(PREFIX): name the whole path, from / on" >&2; exit 1;; esac
	@umask 022 && stage=$$(mktemp -d) && trap 'rm -rf "$$stage"' EXIT && \
	  $(MAKE) stage TO="$$stage$(PREFIX)" STAGE="$$stage" && \
	  sh packaging/install_tree.sh install "$$stage" '$(DESTDIR)' '$(PREFIX)'

uninstall:                            ## remove what install put below PREFIX (and DESTDIR), and nothing else
	@sh packaging/install_tree.sh uninstall '$(DESTDIR)' '$(PREFIX)'

# Everything below TO, which holds nothing else.
stage: native
	install -d $(TO)/bin $(TO)/lib/coz $(TO)/libexec/coz $(TO)/include $(TO)/share/coz $(TO)/share/man/man1 \
	  $(TO)/$(PKGCONFIG) $(TO)/$(CMAKE)/Coz $(TO)/$(CMAKE)/coz-profiler $(TO)/share/bash-completion/completions \
	  $(TO)/share/zsh/site-functions $(TO)/share/fish/vendor_completions.d
	install -m 755 packaging/coz_installed.sh $(TO)/bin/coz
	install -m 755 $(LIBCOZ) $(TO)/lib/coz/libcoz.so
	install -m 755 $(LIBHEAP) $(TO)/lib/coz/libcoz-heap.so
	install -m 755 $(LAYOUT) $(TO)/lib/coz/libcoz-layout.so
	install -m 755 $(HELPER) $(TO)/libexec/coz/coz-linetable
	install -m 755 packaging/cargo_coz.py $(TO)/bin/cargo-coz
	install -m 644 include/coz.h include/coz.f90 $(TO)/include/
	install -m 644 python/coz.py include/coz_mpi.c $(TO)/share/coz/
	cd rust && find . -type f -not -path '*/target/*' -not -name Cargo.lock -exec install -D -m 644 {} $(abspath $(TO))/share/coz/rust/{} \;
	cd cozcli && find . -type f -not -path '*/__pycache__/*' -exec install -D -m 644 {} $(abspath $(TO))/share/coz/cozcli/{} \;
	@# Users may not write there, so every run of theirs would compile the files again.
	$(if $(PYCACHE),-$(PYTHON) -m compileall -q $(if $(STAGE),-s '$(STAGE)') $(TO)/share/coz/cozcli)
	install -m 644 docs/man/*.1 $(TO)/share/man/man1/
	install -m 644 packaging/completions/bash/coz $(TO)/share/bash-completion/completions/coz
	install -m 644 packaging/completions/zsh/_coz $(TO)/share/zsh/site-functions/_coz
	install -m 644 packaging/completions/fish/coz.fish $(TO)/share/fish/vendor_completions.d/coz.fish
	$(SUBST) packaging/coz.pc.in > $(TO)/$(PKGCONFIG)/coz.pc
	for name in Coz coz-profiler; do \
	  $(SUBST) packaging/$${name}Config.cmake.in > $(TO)/$(CMAKE)/$$name/$${name}Config.cmake && \
	  $(SUBST) packaging/CozConfigVersion.cmake.in > $(TO)/$(CMAKE)/$$name/$${name}ConfigVersion.cmake || exit; \
	done
	chmod 644 $(TO)/$(PKGCONFIG)/coz.pc $(TO)/$(CMAKE)/*/*

# Completions are committed, so that installing needs nothing (docs/decisions/completion.md).
completions: $(DEV_STAMP)             ## write packaging/completions again after a change of options
	@$(RUN_PYTHON) scripts/make_completions.py packaging/completions
