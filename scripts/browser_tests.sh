#!/usr/bin/env bash
# browser_tests.sh BUILD: runs tests/viewer, which needs Chromium. It makes an environment for that: BUILD/viewer-venv
# has playwright in addition to what BUILD/venv has.
set -euo pipefail
build=$1
for name in chromium chromium-browser google-chrome; do
  command -v "$name" >/dev/null && chromium=$name
done
if [ -z "${chromium:-}" ]; then
  echo "There is no Chromium, so the page cannot be tested in a browser. On Debian: apt-get install chromium" >&2
  exit 1
fi
venv=$build/viewer-venv
if [ ! -e "$venv/.installed" ]; then
  "$build/venv/bin/python" -m venv "$venv"
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check 'playwright>=1.40'
  # What the tests need beside it is in the other environment.
  "$build/venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' \
    >"$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/build.pth"
  touch "$venv/.installed"
fi
PYTHONPYCACHEPREFIX=$PWD/$build/pycache "$venv/bin/python" -m pytest -q -o "cache_dir=$PWD/$build/pytest_cache" tests/viewer
