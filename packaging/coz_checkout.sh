#!/bin/sh
# build/bin/coz: runs the coz of this checkout without installing it.
# The program to be profiled inherits this environment, so nothing is added to it here.
root=$(dirname -- "$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")")
python=${COZ_PYTHON:-$root/build/venv/bin/python}
[ -n "$COZ_PYTHON" ] || [ -x "$python" ] || python=python3
exec "$python" -P -X "pycache_prefix=$root/build/pycache" \
  -c 'import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module("cozcli", run_name="__main__", alter_sys=True)' \
  "$root" "$@"
