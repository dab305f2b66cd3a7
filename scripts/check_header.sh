#!/usr/bin/env bash
# Compiles a user of every macro of coz.h in each language it promises, with all warnings as errors.
set -euo pipefail
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cat >"$work/use.c" <<'CODE'
#define unused __attribute__((__unused__)) /* as kernels' headers define it */
#define noinline __attribute__((__noinline__))
#include <coz.h>
#include <coz.h> /* twice does no harm */
int use(int x);
int use(int x) {
  COZ_BEGIN("operation");
  if (x > 0) COZ_PROGRESS;
  else
    COZ_PROGRESS_NAMED("other");
  COZ_ARRIVAL;
  COZ_ARRIVAL_NAMED("request");
  COZ_REGION_BEGIN("region");
  if (x > 1) COZ_REGION_END("region");
  else
    COZ_REGION_END("region");
#ifdef __cplusplus
  COZ_REGION("scope"); COZ_REGION("another");
  COZ_SCOPE("first"); COZ_SCOPE("second");
#endif
  COZ_BEGIN_ID("with an address", &x);
  COZ_END_ID("with an address", &x);
  COZ_BEGIN_ID("with a number", x);
  COZ_END_ID("with a number", x);
  COZ_CATCH_UP;
  COZ_PRE_BLOCK;
  COZ_POST_BLOCK(1);
  COZ_POST_BLOCK(0);
  COZ_CALL_("_coz_end", coz_call_t, ()); /* as coz_mpi.c does */
  COZ_END("operation");
  return x;
}
CODE
cp "$work/use.c" "$work/use.cpp"
printf '#include <coz.h>\n' >"$work/unused.c"
cp "$work/unused.c" "$work/unused.cpp"

warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror)
check() { # COMPILER STANDARD SUFFIX [FLAG...]
  local compiler=$1 standard=$2 suffix=$3
  shift 3
  command -v "$compiler" >/dev/null || return 0
  for source in use unused; do
    for level in -O0 -O2; do
      "$compiler" -std="$standard" "$level" "${warnings[@]}" "$@" -Iinclude -c "$work/$source.$suffix" -o "$work/out.o" || {
        echo "coz.h: $compiler -std=$standard does not accept it (see above)" >&2
        exit 1
      }
    done
  done
}
for standard in c99 c11 c17; do
  check gcc "$standard" c
  check clang "$standard" c
done
for standard in c++11 c++17 c++20; do
  check g++ "$standard" cpp -Wold-style-cast
  check clang++ "$standard" cpp -Wold-style-cast
done
