#!/bin/sh
# build/bin/coz: runs the coz of this checkout without installing it.
# The profiled program inherits this environment, so nothing is added to it here.
root=$(readlink -f -- "$0")
root=${root%/*/*/*}
python=${COZ_PYTHON:-$root/build/venv/bin/python}
[ -n "$COZ_PYTHON" ] || [ -x "$python" ] || python=python3
# `coz run` needs the standard library only, and starts sooner if Python looks for nothing else.
case ${1-} in run) isolated="-I -S" ;; *) isolated=-P ;; esac
exec "$python" $isolated -X "pycache_prefix=$root/build/pycache" \
  -c 'import sys; sys.path.insert(0, sys.argv.pop(1)); from cozcli.cli import main; sys.exit(main())' \
  "$root" "$@"
