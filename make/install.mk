# Installation, and the shell completions that it installs.

TO := $(DESTDIR)$(PREFIX)
SUBST := sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@VERSION@|$(VERSION)|g'

##@ Install
.PHONY: install completions
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
	@# Users may not write there, so every run of theirs would compile the files again.
	-$(PYTHON) -m compileall -q $(if $(DESTDIR),-s $(DESTDIR)) $(TO)/share/coz/cozcli
	install -m 644 docs/man/*.1 $(TO)/share/man/man1/
	install -m 644 packaging/completions/bash/coz $(TO)/share/bash-completion/completions/coz
	install -m 644 packaging/completions/zsh/_coz $(TO)/share/zsh/site-functions/_coz
	install -m 644 packaging/completions/fish/coz.fish $(TO)/share/fish/vendor_completions.d/coz.fish
	$(SUBST) packaging/coz.pc.in > $(TO)/lib/pkgconfig/coz.pc
	$(SUBST) packaging/CozConfig.cmake.in > $(TO)/lib/cmake/Coz/CozConfig.cmake
	$(SUBST) packaging/CozConfigVersion.cmake.in > $(TO)/lib/cmake/Coz/CozConfigVersion.cmake
	chmod 644 $(TO)/lib/pkgconfig/coz.pc $(TO)/lib/cmake/Coz/*

# Completions are committed, so that installing needs nothing (docs/decisions/completion.md).
completions: $(DEV_STAMP)             ## write packaging/completions again after a change of options
	@$(RUN_PYTHON) scripts/make_completions.py packaging/completions
