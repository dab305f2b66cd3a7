#!/usr/bin/env bash
# make_dist.sh ARCHIVE NAME TIME: the files of this source tree below the folder NAME, in an archive that is the same
# to the byte whoever makes it. In a clone these are the files that git knows, as they are now; in an unpacked archive
# all but build/.
set -euo pipefail
archive=$1
name=$2
time=$3
mkdir -p "$(dirname "$archive")"
if [ -e .git ]; then
  git ls-files -z
else
  find . -name .pc -prune -o -path ./build -prune -o -path ./debian -prune -o \( -type f -o -type l \) -printf '%P\0'
fi | LC_ALL=C sort -z |
  tar --create --null --no-recursion --files-from=- --transform "flags=r;s|^|$name/|" --format=ustar \
    --owner=0 --group=0 --numeric-owner --mode='u+rwX,go+rX,go-w' --mtime="@$time" |
  gzip -9n >"$archive.new"
mv "$archive.new" "$archive"
echo "$archive"
