#!/bin/sh
# The installed coz. The profiled program inherits this environment, so nothing is added to it here.
prefix=$(readlink -f -- "$0")
prefix=${prefix%/*/*}
python=${COZ_PYTHON:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
  echo "coz: error: there is no Python interpreter $python." >&2
  echo "coz: hint: on Debian: apt-get install python3 python3-numpy python3-scipy python3-matplotlib" \
    "python3-rich; or name an interpreter by the variable COZ_PYTHON." >&2
  exit 2
fi
# `coz run` needs the standard library only, and starts sooner if Python looks for nothing else. The other
# commands check themselves for what they need. Python 2 and old Python 3 must be able to read the lines below,
# so -P is not used.
case ${1-} in run) isolated="-I -S" ;; *) isolated= ;; esac
exec "$python" $isolated -c '
import sys
if sys.version_info < (3, 11):
    sys.stderr.write("coz: error: Python 3.11 or newer is needed, and " + sys.executable + " is not.\n"
                     "coz: hint: name another interpreter by the variable COZ_PYTHON.\n")
    sys.exit(2)
sys.path[:] = [sys.argv.pop(1)] + [folder for folder in sys.path if folder]
import gc
gc.disable()
from cozcli.cli import start
start()' "$prefix/share/coz" "$@"
