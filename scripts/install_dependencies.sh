#!/usr/bin/env bash
# install_dependencies.sh [WHAT]: installs by apt what is missing, with sudo unless root.
#
# If nothing is missing, it does nothing, and needs neither network nor rights. WHAT is one of:
#   (nothing)        what building, testing and the demo need
#   viewer           what a change of viewer/ needs (docs/decisions/viewer.md)
#   aarch64          what `make aarch64` needs
#   aarch64-compile  the same without qemu
#   fuzz             the first set and clang, with which `make fuzz` finds more
#   ci               programs and libraries without which some tests are skipped
#   --only PACKAGE…  these packages
#   --list           nothing: prints the first set
set -euo pipefail

packages=(
  g++ make pkg-config binutils     # compiler and linker
  libdw-dev libelf-dev             # coz-linetable reads debug information with them
  libiberty-dev                    # and names of functions in Rust
  libzydis-dev                     # and decodes instructions
  catch2                           # unit tests
  python3 python3-venv             # the command line tool
  ca-certificates                  # pip
  tcl xz-utils                     # examples/sqlite: makes the amalgamation from Debian's source package
  git                              # tests: what belongs to a clone; a copy of one may come without
  util-linux procps                # tests: setarch, kill
)

has() { command -v "$1" >/dev/null; }

if [ "${1:-}" = viewer ]; then
  packages=()
  # A Node from elsewhere has its own npm, and does not work with Debian's.
  has node && has npm || packages+=(nodejs npm)
  has chromium || has chromium-browser || has google-chrome || packages+=(chromium) # tests show the page in it
fi

foreign=(g++ make libdw-dev libelf-dev libiberty-dev libzydis-dev catch2 g++-aarch64-linux-gnu)
case "${1:-}" in
  aarch64) packages=("${foreign[@]}" qemu-user) ;;
  aarch64-compile) packages=("${foreign[@]}") ;;
  fuzz) packages+=(clang libclang-rt-dev) ;;
  ci)
    # Allocators of tests/transparency, programs for musl, in Fortran, and by LLVM with its OpenMP.
    packages=(libjemalloc2 libtcmalloc-minimal4 musl-tools gfortran clang libomp-dev)
    # Only Debian 12 has this version of mimalloc, which the tests look for.
    if grep -q '^VERSION_ID="12"' /etc/os-release 2>/dev/null; then packages+=(libmimalloc2.0); fi
    ;;
esac
if [ "${1:-}" = --only ]; then # for the programs of case studies
  shift
  packages=("$@")
fi

if [ "${1:-}" = --list ]; then
  printf '%s\n' ${packages[@]+"${packages[@]}"}
  exit 0
fi

if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
  echo "This is not Debian or a derivative of it; please see to these packages, or what is like them here:" >&2
  echo "  ${packages[*]}" >&2
  exit 0
fi

missing=()
for package in ${packages[@]+"${packages[@]}"}; do
  status=$(dpkg-query -W -f='${db:Status-Status}\n' "$package" 2>/dev/null || true)
  case "$status" in
    *installed*) [[ "$status" == *not-installed* ]] && missing+=("$package") ;;
    *) missing+=("$package") ;;
  esac
done
if [ ${#missing[@]} -eq 0 ]; then
  exit 0
fi

as_root=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing packages: ${missing[*]}" >&2
    echo "Please install them as root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

echo "Installing: ${missing[*]}"
${as_root[@]+"${as_root[@]}"} apt-get update -qq
${as_root[@]+"${as_root[@]}"} env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
