#!/usr/bin/env bash
# demo.sh BUILD: profiles the two example programs and draws their causal profiles. `make demo` builds them first.
set -euo pipefail
build=$1
out=$build/demo
mkdir -p "$out"
pictures=()

profile() { # NAME SECONDS WHAT [COZ OPTION...] --- PROGRAM...
  local name=$1 seconds=$2 what=$3
  shift 3
  printf '\n=== %s: %s, for %s s\n' "$name" "$what" "$seconds"
  rm -f "$out/$name.coz" "$out/$name.png"
  "$build/bin/coz" run --output "$out/$name.coz" "$@"
  # The output goes through files, since a pipe to tee could mix the table with its warnings.
  "$build/bin/coz" report "$out/$name.coz" > "$out/$name.txt" 2> "$out/$name.warnings"
  cat "$out/$name.txt"
  cat "$out/$name.warnings" >&2
  "$build/bin/coz" plot "$out/$name.coz" --output "$out/$name.png"
  [ -s "$out/$name.png" ]
  pictures+=("$PWD/$out/$name.png")
}

profile two_threads "$DEMO_TWO_THREADS" "the dissertation's example, two threads in rounds" \
  --- "$build/examples/two_threads" "$DEMO_TWO_THREADS"
profile sqlite "$DEMO_SQLITE" "two threads insert rows into SQLite" \
  --source-scope '%/sqlite3.c' --- "$build/examples/sqlite_insert" "$DEMO_SQLITE"

printf '\nPictures:\n'
printf '  %s\n' "${pictures[@]}"
