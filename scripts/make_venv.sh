#!/usr/bin/env bash
# make_venv.sh VENV REQUIREMENTS: a Python environment with the packages that the file names.
set -euo pipefail
venv=$1
requirements=$2
python=${PYTHON:-python3}

if ! "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
  echo "coz needs Python 3.11 or newer; $("$python" --version 2>&1) was found. Name another one: make PYTHON=..." >&2
  exit 1
fi
if ! "$venv/bin/python" -c 'import pip' 2>/dev/null; then
  rm -rf "$venv"
  mkdir -p "$(dirname "$venv")"
  if ! "$python" -m venv "$venv"; then
    echo "No Python environment could be made. On Debian: apt-get install python3-venv" >&2
    exit 1
  fi
fi
if ! "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement "$requirements"; then
  echo "pip could not install what $requirements names (see above). Is the network reachable?" >&2
  exit 1
fi
