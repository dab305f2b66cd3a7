#!/usr/bin/env bash
# check_prerequisites.sh CXX: fails, and says which packages are missing, if the compiler CXX or a header is not there.
# It needs a twentieth of a second, and make runs it before it first compiles anything.
set -euo pipefail
compiler=${1:-c++}

# What has to be there, and the package of Debian that brings it. Fedora has the third without its folder.
headers=(
  "elfutils/libdw.h      libdw-dev"
  "libelf.h              libelf-dev"
  "libiberty/demangle.h  libiberty-dev  demangle.h"
  "Zydis/Zydis.h         libzydis-dev"
)

has_header() {
  # shellcheck disable=SC2086 # several words
  $compiler ${CXXFLAGS:-} -E -x c++ - <<<"#include <$1>" >/dev/null 2>&1
}

missing=()
if ! command -v "${compiler%% *}" >/dev/null; then
  missing+=("$compiler (g++)")
elif ! $compiler -fsyntax-only -x c++ - <<<'#include <string>' 2>/dev/null; then
  missing+=("the headers of the C++ library (g++)")
else
  for line in "${headers[@]}"; do
    read -r header package other <<<"$line"
    has_header "$header" || { [ -n "$other" ] && has_header "$other"; } || missing+=("<$header> ($package)")
  done
fi
if [ ${#missing[@]} -gt 0 ]; then
  {
    echo "To build Coz, this is missing (in brackets: Debian's package):"
    printf '  %s\n' "${missing[@]}"
    echo "Install what is missing by: make dependencies"
  } >&2
  exit 1
fi
