#!/bin/sh
# install_tree.sh install STAGE ROOT PREFIX: copies the files below STAGE/PREFIX to ROOT/PREFIX, and lists them there.
# install_tree.sh uninstall ROOT PREFIX: removes what is listed, and the folders that an installation made.
#
# The list, PREFIX/share/coz/installed, has paths relative to PREFIX: "d PATH" for a folder that was not there before,
# "f PATH" for a file. A folder in which somebody else has put something stays. ROOT is DESTDIR, often empty.
set -eu
umask 022
list=share/coz/installed

# What an earlier installation put there and this one has not.
remove_old() {
  sed -n 's/^f //p' "$list.old" | while IFS= read -r file; do
    grep -qxF "f $file" "$list" || rm -f "$file"
  done
  sed -n 's/^d //p' "$list.old" | sort -r | while IFS= read -r folder; do
    grep -qxF "d $folder" "$list" || rmdir "$folder" 2>/dev/null || true
  done
}

# Python compiles for each of its versions; only root may write there, and may have done so at a later run.
remove_caches() {
  sed -n 's/^f \(.*\)\/[^/]*\.py$/\1/p' "$1" | sort -u | while IFS= read -r folder; do
    rm -rf "$folder/__pycache__"
  done
}

install_tree() {
  stage=$1$(printf '%s' "$3" | sed 's|/*$||') target=$2$3
  if [ -d "$target" ]; then cd "$target"; else mkdir -p "$target" && cd "$target"; fi
  mkdir -p "$stage/share/coz"
  if [ -f "$list" ]; then cp "$list" "$stage/list.old"; fi
  (cd "$stage" && find . -mindepth 1 -type d | sed 's|^\./||' | sort) >"$stage.folders"
  while IFS= read -r folder; do
    if [ ! -d "$folder" ] || grep -qxF "d $folder" "$list" 2>/dev/null; then echo "d $folder"; fi
    [ -d "$folder" ] || install -d "$folder"
  done <"$stage.folders" >"$stage.list"
  (cd "$stage" && find . -type f ! -name list.old | sed 's|^\./|f |' | sort) >>"$stage.list"
  echo "f $list" >>"$stage.list"
  if [ -f "$stage/list.old" ]; then remove_caches "$stage/list.old"; fi
  # A program may have the old library mapped, and a page of a manual may be open: each is replaced by a rename.
  sed -n 's/^f //p' "$stage.list" | while IFS= read -r file; do
    [ -f "$stage/$file" ] || continue
    if ! cp -p "$stage/$file" "$file.new" || ! mv -f "$file.new" "$file"; then
      rm -f "$file.new"
      exit 1
    fi
  done
  cp "$stage.list" "$list"
  if [ -f "$stage/list.old" ]; then
    mv "$stage/list.old" "$list.old"
    remove_old
    rm -f "$list.old"
  fi
  rm -f "$stage.folders" "$stage.list"
}

uninstall() {
  target=$1$2
  if [ ! -f "$target/$list" ]; then
    echo "There is no list of what was installed below $target ($list), so nothing was removed." >&2
    echo "Name the same PREFIX and DESTDIR as for make install. Versions up to 0.9.0 made no list: run make install" >&2
    echo "once more, then make uninstall." >&2
    exit 1
  fi
  cd "$target"
  remove_caches "$list"
  folders=$(sed -n 's/^d //p' "$list" | sort -r)
  sed -n 's/^f //p' "$list" | while IFS= read -r file; do rm -f "$file"; done
  printf '%s\n' "$folders" | while IFS= read -r folder; do
    [ -z "$folder" ] || rmdir "$folder" 2>/dev/null || true
  done
}

case "$1" in
  install) install_tree "$2" "$3" "$4" ;;
  uninstall) uninstall "$2" "$3" ;;
esac
