#!/usr/bin/env bash
# fetch.sh DIRECTORY: puts sqlite3.c and sqlite3.h there. No foreign source is kept in this repository.
#
# Sources, in this order:
#   1. SQLITE_AMALGAMATION=DIR, if set: a folder with both files
#   2. Debian's source package sqlite3, by apt (its signature is checked by apt, and the release's known
#      checksum here); the amalgamation is made from it by tclsh
#   3. the npm package better-sqlite3, if npm is installed
#   4. the crate libsqlite3-sys, if cargo is installed
# The last two carry the amalgamation as it is; no code of theirs is run.
set -euo pipefail

target=${1:?usage: fetch.sh DIRECTORY}
mkdir -p "$target"
target=$(cd "$target" && pwd)
work=$(mktemp -d "$target/fetch.XXXXXX")
trap 'rm -rf "$work"' EXIT
log=$target/fetch.log
: >"$log"

# sha256 of Debian's orig tarballs, one a release.
declare -A known_tarballs=(
  [sqlite3_3.40.1.orig.tar.xz]=aaa776260ab4dc976db34aa7891819484c8676b5b2783123ebc6301e2ca5d655 # Debian 12
  [sqlite3_3.46.1.orig.tar.xz]=d0cdd2ece271b29e7ce18095745d892517ee26d0f270065b3a25c2e9eb11639c # Debian 13
)
npm_package=better-sqlite3@12.4.1
npm_sha256=90b7189566ea710ee18361b25d893f5cda3fcf43033223a16384762f53e99a85
crate=libsqlite3-sys
crate_version=0.30.1
crate_sha256=c01235302fe80da901fb70c7622c39147e29d9f29b7f6eb746b23517f320c90d

say() { echo "sqlite: $*"; }

check_sum() { # FILE SHA256
  echo "$2  $1" | sha256sum --check --status
}

deliver() { # FOLDER
  [ -s "$1/sqlite3.c" ] && [ -s "$1/sqlite3.h" ] || return 1
  cp "$1/sqlite3.h" "$target/sqlite3.h"
  cp "$1/sqlite3.c" "$target/sqlite3.c.new"
  mv "$target/sqlite3.c.new" "$target/sqlite3.c"
  say "$(sed -n 's/^#define SQLITE_VERSION  *"\(.*\)"/\1/p' "$target/sqlite3.h" | head -1) from $2 -> $target"
}

from_folder() {
  [ -n "${SQLITE_AMALGAMATION:-}" ] || return 1
  deliver "$SQLITE_AMALGAMATION" "$SQLITE_AMALGAMATION"
}

# A private apt state with source entries beside the system's binary ones: /etc/apt is left as it is,
# and no special rights are needed.
from_debian() {
  command -v apt-get >/dev/null && command -v tclsh >/dev/null || return 1
  local apt=$work/apt source
  mkdir -p "$apt/sources.list.d" "$apt/lists/partial" "$apt/cache/archives/partial"
  for source in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
    [ -r "$source" ] && sed -n 's/^deb\(-src\)\?[ \t]/deb-src /p' "$source" >>"$apt/sources.list"
  done
  for source in /etc/apt/sources.list.d/*.sources; do
    [ -r "$source" ] && sed 's/^Types:.*/Types: deb-src/' "$source" >"$apt/sources.list.d/$(basename "$source")"
  done
  touch "$apt/sources.list"
  local options=(
    -o "Dir::Etc::SourceList=$apt/sources.list" -o "Dir::Etc::SourceParts=$apt/sources.list.d"
    -o "Dir::State::Lists=$apt/lists" -o "Dir::Cache=$apt/cache" -o APT::Sandbox::User=root
    -o Acquire::Languages=none
  )
  apt-get "${options[@]}" update >>"$log" 2>&1 || true # one source that fails is no reason to give up
  (cd "$work" && apt-get "${options[@]}" source --download-only sqlite3) >>"$log" 2>&1 || return 1

  local tarball
  tarball=$(find "$work" -maxdepth 1 -name 'sqlite3_*.orig.tar.*' ! -name '*.asc' | head -1)
  [ -n "$tarball" ] || return 1
  local name expected
  name=$(basename "$tarball")
  expected=${known_tarballs[$name]:-}
  if [ -z "$expected" ]; then
    say "$name is a version we have no checksum of; apt has checked its signature" | tee -a "$log"
  elif ! check_sum "$tarball" "$expected"; then
    say "$name does not have the checksum we know; not used" | tee -a "$log" >&2
    return 1
  fi
  mkdir "$work/source"
  tar -xf "$tarball" -C "$work/source" --strip-components=1 || return 1
  # Options decide nothing here: sqlite3.c is only put together, not compiled.
  (cd "$work/source" && ./configure --disable-shared && make -j1 MAKEFLAGS= sqlite3.c) >>"$log" 2>&1 || return 1
  deliver "$work/source" "Debian's source package"
}

from_npm() {
  command -v npm >/dev/null || return 1
  (cd "$work" && npm pack --ignore-scripts --silent "$npm_package") >>"$log" 2>&1 || return 1
  mkdir "$work/npm"
  tar -xzf "$work"/better-sqlite3-*.tgz -C "$work/npm" || return 1
  local folder=$work/npm/package/deps/sqlite3
  check_sum "$folder/sqlite3.c" "$npm_sha256" || { say "$npm_package: unexpected checksum" >&2; return 1; }
  deliver "$folder" "the npm package $npm_package"
}

from_crate() {
  command -v cargo >/dev/null || return 1
  mkdir -p "$work/crate/src"
  printf '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[dependencies]\n%s = "=%s"\n' \
    "$crate" "$crate_version" >"$work/crate/Cargo.toml"
  : >"$work/crate/src/lib.rs"
  (cd "$work/crate" && cargo vendor --quiet "$work/vendor") >>"$log" 2>&1 || return 1
  local folder=$work/vendor/$crate/sqlite3
  check_sum "$folder/sqlite3.c" "$crate_sha256" || { say "$crate $crate_version: unexpected checksum" >&2; return 1; }
  deliver "$folder" "the crate $crate $crate_version"
}

if from_folder || from_debian || from_npm || from_crate; then
  exit 0
fi
{
  echo "sqlite: the SQLite amalgamation could not be had (details: $log)."
  echo "  It is taken from Debian's source package (apt-get, tclsh and a network), or from a package by npm or cargo."
  echo "  Without them: put sqlite3.c and sqlite3.h into a folder and say SQLITE_AMALGAMATION=FOLDER make demo"
} >&2
exit 1
