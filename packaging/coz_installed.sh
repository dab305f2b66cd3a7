#!/bin/sh
# The installed coz. The program to be profiled inherits this environment, so nothing is added to it here.
prefix=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
python=${COZ_PYTHON:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
  echo "coz: error: there is no Python interpreter $python." >&2
  echo "coz: hint: on Debian: apt-get install python3 python3-numpy python3-matplotlib python3-rich; or name an" \
    "interpreter by the variable COZ_PYTHON." >&2
  exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "coz: error: Python 3.11 or newer is needed, and $python is not." >&2
  echo "coz: hint: name another interpreter by the variable COZ_PYTHON." >&2
  exit 1
fi
# What a command needs beyond that, it looks for itself: coz run needs nothing.
exec "$python" -P \
  -c 'import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module("cozcli", run_name="__main__", alter_sys=True)' \
  "$prefix/share/coz" "$@"
