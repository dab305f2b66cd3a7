#!/bin/sh
# build/bin/coz: runs the coz of this checkout without installing it.
# The profiled program inherits this environment, so nothing is added to it here.
root=$0
[ -L "$root" ] && root=$(readlink -f -- "$root")
case $root in */*) root=${root%/*}/../.. ;; *) root=../.. ;; esac
python=${COZ_PYTHON:-$root/build/venv/bin/python}
[ -n "$COZ_PYTHON" ] || [ -x "$python" ] || python=python3
# Without a redirection, for which the shell would need more descriptors than some programs are given.
if [ -z "$(command -v "$python")" ]; then
  echo "coz: error: there is no Python interpreter $python." >&2
  echo "coz: hint: run make, or name an interpreter by the variable COZ_PYTHON." >&2
  exit 2
fi
# `coz run` needs the standard library only, and starts sooner if Python looks for nothing else.
case ${1-} in run) isolated="-I -S" ;; *) isolated=-P ;; esac
exec "$python" $isolated \
  -c 'import gc; gc.disable(); import os, sys; root = os.path.realpath(sys.argv.pop(1)); sys.pycache_prefix = root + "/build/pycache"
sys.path.insert(0, root); from cozcli.cli import start; start()' \
  "$root" "$@"
