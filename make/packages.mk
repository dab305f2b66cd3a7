# What is handed to users: a source archive, Debian packages, a wheel.

DEBIAN_CHANGES := packaging/debian/changelog
# The time of every file in them is that of the release, so that two builds are the same to the byte.
SOURCE_DATE_EPOCH ?= $(shell date -d "$$(sed -n 's/^ -- .*>  //p' $(DEBIAN_CHANGES) | head -n 1)" +%s)
RELEASE := coz-$(VERSION)
DIST    := $(BUILD)/dist/$(RELEASE).tar.gz
DEB     := $(BUILD)/deb

##@ Packages
.PHONY: dist deb wheel rpm-source
dist:                                 ## write build/dist/coz-VERSION.tar.gz from the committed files
	@scripts/make_dist.sh $(DIST) $(RELEASE) $(SOURCE_DATE_EPOCH)

deb: dist                             ## build Debian packages below build/deb (needs debhelper, dh-python)
	@rm -rf $(DEB) && mkdir -p $(DEB)
	@cp $(DIST) $(DEB)/coz_$(VERSION).orig.tar.gz
	@tar -C $(DEB) -xf $(DIST)
	@cp -r packaging/debian $(DEB)/$(RELEASE)/debian
	@case ' $(DEB_OPTIONS) ' in *' -d '*) ;; *) dpkg-checkbuilddeps $(DEB)/$(RELEASE)/debian/control || { \
	  echo "Please install them as root: apt-get build-dep $(abspath $(DEB)/$(RELEASE))" >&2; exit 1; } ;; esac
	cd $(DEB)/$(RELEASE) && env -u MAKEFLAGS -u MAKELEVEL dpkg-buildpackage -us -uc $(DEB_OPTIONS)
	@ls $(DEB)/*.deb

# It brings the libraries of the helper, so it is built where they are old enough for its users.
wheel: native                         ## build a wheel with runtime and helper below build/wheel (needs patchelf)
	@rm -rf $(BUILD)/wheel && $(MAKE) stage TO=$(BUILD)/wheel/stage PYCACHE=
	@SOURCE_DATE_EPOCH=$(SOURCE_DATE_EPOCH) $(PYTHON) scripts/make_wheel.py $(BUILD)/wheel/stage $(BUILD)/wheel
