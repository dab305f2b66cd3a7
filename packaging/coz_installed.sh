#!/bin/sh
# The installed coz. The program to be profiled inherits this environment, so nothing is added to it here.
prefix=$(readlink -f -- "$0")
prefix=${prefix%/*/*}
python=${COZ_PYTHON:-python3}
if ! command -v "$python" >/dev/null 2>&1; then
  echo "coz: $python was not found. On Debian: apt-get install python3 python3-numpy python3-matplotlib python3-rich" >&2
  exit 1
fi
# `coz run` needs the standard library only, and starts sooner when Python looks for nothing else.
# What stands here is read by Python 2 and old Python 3, too, and -P is not known to them.
case ${1-} in run) isolated="-I -S" ;; *) isolated= ;; esac
exec "$python" $isolated -c '
import sys
if sys.version_info < (3, 11):
    sys.exit("coz: Python 3.11 or newer is needed; name one by the variable COZ_PYTHON.")
sys.path[:] = [sys.argv.pop(1)] + [folder for folder in sys.path if folder]
if sys.argv[1:2] != ["run"]:
    import importlib.util
    missing = [n for n in ("numpy", "matplotlib", "rich") if importlib.util.find_spec(n) is None]
    if missing:
        sys.exit("coz: Python lacks " + ", ".join(missing) + ". On Debian: apt-get install "
                 + " ".join("python3-" + n for n in missing))
from cozcli.cli import main
sys.exit(main())' "$prefix/share/coz" "$@"
