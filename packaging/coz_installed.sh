#!/bin/sh
# The installed coz. The program to be profiled inherits this environment, so nothing is added to it here.
prefix=$(dirname -- "$(dirname -- "$(readlink -f -- "$0")")")
python=${COZ_PYTHON:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
  echo "coz: $python was not found. On Debian: apt-get install python3 python3-numpy python3-matplotlib python3-rich" >&2
  exit 1
fi
if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "coz: Python 3.11 or newer is needed; name one by the variable COZ_PYTHON." >&2
  exit 1
fi
if ! "$python" -P -c '
import importlib.util, sys
missing = [n for n in ("numpy", "matplotlib", "rich") if importlib.util.find_spec(n) is None]
if missing:
    sys.exit("coz: Python lacks " + ", ".join(missing) + ". On Debian: apt-get install "
             + " ".join("python3-" + n for n in missing))'; then
  exit 1
fi
exec "$python" -P \
  -c 'import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module("cozcli", run_name="__main__", alter_sys=True)' \
  "$prefix/share/coz" "$@"
